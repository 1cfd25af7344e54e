"""Bounded knowledge: k records agree with whatever m facts of a person somebody knows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import Field, PrivateAttr, model_validator

from hierdata.domains.bounds import MOST_ENTRIES, MOST_PARTS, Count, PathName
from hierdata.domains.semantic_partition import StatedValue
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import EXACTLY, Constraint, PrivacyModel, Share, chance
from hierdata.privacy.counting import AtLeastK

MOST_FACTS = 3
"""The largest m: up to three facts, their labels and the depths of pairs tell patterns apart."""
_MOST_OCCURRENCES = 20_000_000_000
"""The most occurrences of patterns that are counted: about half an hour of a processor."""
_MOST_WITH_ALPHA = 2_000_000_000
"""The same where the sensitive values at each pattern are counted too."""


class BoundedKnowledge(PrivacyModel):
    """At least k records match each pattern of the root's values and up to m facts below the root.

    A fact is what one vertex below the root shows for one quasi-identifier of its type: a node of the domain,
    or that there is none; a type without quasi-identifiers shows that the vertex is there. A pattern has a
    root vector, up to m facts, and for each two of them the depth of their vertices' lowest common ancestor.
    It is matched by the records with that root vector in which different facts show all that. After
    k^m-anonymity (Terrovitis, Mamoulis, Kalnis, VLDB 2008) and its form for trees, k^(m,n)-anonymity
    (Gkountouna, Terrovitis, TKDE 2015).

    With ``vertex: whole`` the same is promised of all fields of one vertex, instead of the m facts. With
    ``root: counted`` root values are facts like others, and records of all root vectors are counted together.
    With ``facts`` sensitive values are facts too, in the form in which they are published, or that there is
    none: also those of the root, which are no part of its vector.
    ``alpha`` is the largest share, among the records that match a pattern, of a sensitive value at what the
    pattern speaks of: at the record, at a vertex of a fact, or at an ancestor of one. Values that the pattern
    states are taken out, and one that is absent and may be a fact counts as each value that is bounded.
    ``values`` names by path the values that it bounds, by default all. ``counts`` gives by vertex type the
    edges of the bins in which the number of its vertices is known too: the bin is a value of the root,
    published as it is.

    >>> BoundedKnowledge(k=5, m=2).bind(None).min_class_size
    5
    """

    per_attribute: ClassVar[bool] = False
    bounds_knowledge: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"k": "min", "alpha": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "k": "the least number of records that agree with what somebody knows: k_0 with the record's own "
        "values, k_1, k_2, k_3 with so many facts beside them, k_vertex with all of one vertex",
        "m": "the number of facts below the record that somebody knows",
        "alpha": "the largest share of a sensitive value among the records that agree with what somebody "
        "knows, at the vertices that this speaks of or around them",
    }

    kind: Literal["bounded-knowledge"] = "bounded-knowledge"
    k: Count
    m: Annotated[int, Field(strict=True, ge=1, le=MOST_FACTS)]
    vertex: Literal["whole", "off"] = Field(
        default="whole", description="whether all fields of one vertex may be known too, instead of m facts"
    )
    root: Literal["known", "counted"] = Field(
        default="known",
        description="whether all values of the record itself are known, or are counted among the facts",
    )
    alpha: Share | None = Field(
        default=None, description="the largest share of a sensitive value among records that agree"
    )
    values: (
        Annotated[
            dict[PathName, Annotated[tuple[StatedValue, ...], Field(min_length=1, max_length=MOST_ENTRIES)]],
            Field(min_length=1, max_length=MOST_PARTS),
        ]
        | None
    ) = Field(default=None, description="by sensitive path, the values that alpha bounds; by default all")
    counts: (
        Annotated[
            dict[PathName, Annotated[tuple[Count, ...], Field(min_length=1, max_length=MOST_PARTS)]],
            Field(min_length=1, max_length=MOST_PARTS),
        ]
        | None
    ) = Field(default=None, description="by vertex type, the edges of the bins in which its number is known")

    facts: Annotated[
        Literal["quasi", "all"] | Annotated[tuple[PathName, ...], Field(min_length=1, max_length=MOST_PARTS)],
        Field(exclude_if=lambda facts: facts == "quasi"),
    ] = Field(
        default="quasi",
        description="what may be known: values of quasi-identifiers, of all sensitive fields too, or of the "
        "listed ones",
    )

    _rows: bool = PrivateAttr(default=False)

    @model_validator(mode="after")
    def _consistent(self) -> BoundedKnowledge:
        if self.values is not None and self.alpha is None:
            raise ValueError("`values` are those that alpha bounds: state alpha too")
        for path, edges in (self.counts or {}).items():
            if any(low >= high for low, high in pairwise(edges)):
                raise ValueError(f"counts: the edges of {path} must increase")
        return self

    def __hash__(self) -> int:
        return hash((self.k, self.m, self.vertex, self.root, self.alpha))  # the maps have no hash

    @property
    def most_occurrences(self) -> int:
        """The most occurrences of patterns of up to m facts, in all records, that are counted."""
        return _MOST_OCCURRENCES if self.alpha is None else _MOST_WITH_ALPHA

    def bind(self, domain: SensitiveDomain | None = None) -> Constraint:
        """Build the constraint that engines ask; it needs no domain."""
        return _RootClass(self)

    def of_rows(self) -> BoundedKnowledge:
        """Return the model for records without vertices below: it says nothing of vertices."""
        of_rows = self.model_copy()
        of_rows._rows = True
        return of_rows

    def promise(self, *, apart: bool = False) -> str:
        """Return the promise for the reader."""
        return self._state_shares(self._state_facts())

    def promise_finding(self, *, apart: bool = False) -> str:
        """Return the sentences on who could find a person."""
        return self._state_facts()

    def _state_facts(self) -> str:
        """Return who still finds k records; what a fact is, in sentences of their own."""
        which = {"quasi": "", "all": ", sensitive ones too,"}.get(
            str(self.facts), ", some sensitive ones too,"
        )
        finds = f"still finds at least {self.k} records that fit."
        number = "one" if self.m == 1 else f"any {self.m}"
        facts = "fact" if self.m == 1 else "facts"
        shared = "with the entries that it shares with other facts"
        if self._rows and self.facts == "quasi":
            values = "value" if self.m == 1 else "values"
            return f"Someone who knows {number} {values} of a person, or that one is missing, {finds}"
        if self.root == "counted":
            holder = "the record" if self._rows else "the record or an entry"
            sentences = [
                f"Someone who knows {number} {facts} of a person{which} {finds}",
                f"A fact is one value of {holder}, or that there is none, {shared}.",
            ]
        else:
            below = " from below it" if self.facts == "quasi" else ""
            sentences = [
                f"Someone who knows a person's basic data and {number} {facts}{below}{which} {finds}",
                "Basic data are all values of the record itself that others may know.",
                *(
                    f"The stated bin of how many {path} a person has is known too."
                    for path in self.counts or ()
                ),
                f"A fact is one published value, or that it is missing, {shared}.",
            ]
        if self.facts != "quasi":
            fields = "sensitive fields" if self.facts == "all" else " and ".join(self.facts)
            sentences.append(f"Facts are values of {fields} too.")
        if self.vertex == "whole" and not self._rows:
            sentences.append("The same holds for someone who knows one whole entry instead of the facts.")
        return " ".join(sentences)

    def _state_shares(self, sentence: str) -> str:
        if self.alpha is None:
            return sentence
        value = "sensitive value" if self.values is None else "named value"
        several = (
            f"{sentence} Someone who finds the records that fit the facts as published can guess a {value} "
            f"there with a chance of at most {chance(self.alpha)}. {EXACTLY}among those of them that show a "
            f"sensitive value there, no {value} has a larger share. That is so in the record as a whole, at "
            "the entries of the facts, and at those above them. A record with several values there is "
            "divided among them, or counts in full where presence is asked for."
        )
        if self.facts == "quasi":
            return several
        return (
            f"{several} Values that the facts state are no guesses, and are left out of this. A value that "
            "is missing, and may be a fact, counts as each of the limited ones."
        )


class _RootClass(AtLeastK):
    """What is asked of the records of one root vector by their number; the judge asks the rest."""

    def __init__(self, model: BoundedKnowledge) -> None:
        super().__init__(model.k)
        self.knowledge = model
