"""Bounded knowledge: k records agree with whatever m facts of a person somebody knows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import Field, PrivateAttr, model_validator

from hierdata.domains.bounds import MOST_ENTRIES, MOST_PARTS, Count, PathName
from hierdata.domains.number import plain
from hierdata.domains.semantic_partition import StatedValue
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import ClassView, Constraint, PrivacyModel, Share

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
    pattern speaks of: at the record, at a vertex of a fact, or at an ancestor of one. ``values`` names by
    path the values that it bounds, by default all. ``counts`` gives by vertex type the edges of the bins in
    which the number of its vertices is known too: the bin is a value of the root, published as it is.

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
        if self._rows and self.facts == "quasi":
            values = "one quasi-identifier value" if self.m == 1 else f"any {self.m} quasi-identifier values"
            return (
                f"Whoever knows {values} of a person, or that one is missing, finds at least {self.k} "
                "published records that agree with that."
            )
        facts = "one fact" if self.m == 1 else f"{self.m} facts"
        if self.facts != "quasi":
            return self._state_values(facts)
        if self.root == "known":
            bins = (f", the stated bin of how many {path} it has" for path in self.counts or ())
            known = (
                f"every quasi-identifier value of a person's record itself{''.join(bins)} and up to {facts} "
                "from below it"
            )
        else:
            known = f"up to {facts} of a person, from the record itself or from below it"
        also = " or instead of the facts all that one vertex shows," if self.vertex == "whole" else ""
        return (
            f"Whoever knows {known},{also} finds at least {self.k} published records that agree with that. "
            "A fact is one quasi-identifier value at one vertex, or that it has none, with the vertices that "
            "it shares with the other facts."
        )

    def _state_values(self, facts: str) -> str:
        """Return the promise where sensitive values are facts too."""
        bins = "".join(f", the stated bin of how many {path} it has" for path in self.counts or ())
        root = (
            f"all quasi-identifier values of a person's record itself{bins} and any "
            if self.root == "known"
            else ""
        )
        also = (
            ", or instead of the facts all that one vertex shows,"
            if self.vertex == "whole" and not self._rows
            else ""
        )
        fields = "any sensitive field" if self.facts == "all" else " or ".join(self.facts)
        return (
            f"Someone who knows {root or 'any '}{facts} of a person{also} still finds at least {self.k} "
            "published records that fit. A fact is one published value, of a quasi-identifier or of "
            f"{fields}, or that it is missing, together with the vertices that it shares with other facts."
        )

    def _state_shares(self, sentence: str) -> str:
        if self.alpha is None:
            return sentence
        which = "no sensitive value" if self.values is None else "none of the named sensitive values"
        return (
            f"{sentence} Among the records that agree with the same published pattern and show a sensitive "
            f"value there, {which} has a share above {plain(self.alpha)}: at the vertices that the facts "
            "speak of, at those above them, and in the record as a whole. A record with several values there "
            "is divided among them, or counts in full where presence is asked for."
        )


class _RootClass(Constraint):
    """What is asked of the records of one root vector by their number; the judge asks the rest."""

    closed_under_union = True
    closed_under_pooling = True

    def __init__(self, model: BoundedKnowledge) -> None:
        self.knowledge = model
        self.min_class_size = model.k

    def holds(self, view: ClassView) -> bool:
        return view.records >= self.min_class_size

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        return {"k": Fraction(view.records)}

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return None
