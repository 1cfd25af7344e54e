"""The draft of a policy: what was seen of a collection, what is proposed, and the file that says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hierdata.document import Document
from hierdata.errors import TargetError
from hierdata.profiling.fields import Below, Field, Notation, fields, vertex_types
from hierdata.profiling.profile import Profile, profile
from hierdata.profiling.promises import K, Promise, guarded, promises
from hierdata.profiling.proposal import Proposal, propose
from hierdata.profiling.risk import PairRisk, Risk, alone, together
from hierdata.profiling.structure import stated_fields
from hierdata.records.survey import Keys


@dataclass(frozen=True)
class Drafted:
    """One field of a draft: what it is, what is proposed, and how far it alone leads to a record."""

    field: Field
    proposal: Proposal
    risk: Risk | None

    @property
    def path(self) -> str:
        """The path as the policy names it."""
        return self.field.path


@dataclass(frozen=True)
class Draft:
    """A policy proposed for a collection. ``str`` of it is the file, without any value of the data.

    ``vertices`` are the vertex types below the record, ``fields`` has the proposal for each field,
    ``promises`` the models, ``pairs`` the risk of every two fields that were measured together, those first
    that tell most beyond either field alone; shares are those of ``records``. ``reveals`` are values for the
    steward's eyes.
    """

    records: int
    vertices: tuple[Below, ...]
    fields: tuple[Drafted, ...]
    promises: tuple[Promise, ...]
    pairs: tuple[PairRisk, ...]
    stated: Mapping[str, Any] = field(default_factory=dict)
    reveals: tuple[str, ...] = field(default=(), repr=False)

    def confirmed(self) -> dict[str, Any]:
        """The policy as a dict that is no draft any more: whoever calls this has looked at it."""
        return {
            "version": 1,
            **self.stated,
            "unlisted": "error",
            "models": [promise.model for promise in self.promises],
            "fields": {one.path: one.proposal.rule for one in self.fields},
        }

    def __str__(self) -> str:
        from hierdata.profiling.writing import written

        return written(self)

    def save(self, path: str | Path) -> None:
        """Write the draft to a new file. Raises TargetError when it exists or cannot be written."""
        try:
            with Path(path).open("x", encoding="utf-8") as file:
                file.write(str(self))
        except FileExistsError:
            raise TargetError("is already there; choose a new name", path=str(path)) from None
        except OSError as error:
            raise TargetError(f"cannot be written ({error.strerror})", path=str(path)) from None

    def paths(self, keys: Sequence[Keys]) -> list[str]:
        """The paths of fields by their keys."""
        known = {one.field.keys: one.path for one in self.fields}
        return [known[one] for one in keys]


def drafted(
    documents: Iterable[Document],
    notation: Notation,
    stated: Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
) -> Draft:
    """Look at documents once and propose a policy.

    ``stated`` are keys of it that are known already, ``schema`` is what a server says of its records.
    """
    found = profile(
        documents,
        lambda seen: _to_pair(seen, notation),
        stated_fields(schema),
        may_have_maps=not notation.place,
    )
    rows, guards = [], []
    for one in fields(found, notation):
        proposal, promise = guarded(one, propose(one, found.records, notation.textual))
        risk = None if one.attribute is None else alone(one.attribute, found.records, K)
        rows.append(Drafted(one, proposal, risk))
        if promise is not None:
            guards.append((one.path, promise))
    return Draft(
        found.records,
        tuple(vertex_types(found, notation)),
        tuple(rows),
        tuple(promises(guards)),
        tuple(pair for pair in together(found, K) if _published(pair, rows)),
        stated,
        tuple(line for one in rows for line in _values(one.field)),
    )


def _to_pair(found: Profile, notation: Notation) -> list[Keys]:
    """The fields that a draft would publish, by what is seen so far."""
    return [
        one.keys
        for one in fields(found, notation)
        if propose(one, found.records, notation.textual).published
        and one.attribute is not None
        and one.attribute.values.distinct > 1
    ]


def _published(pair: PairRisk, drafted: Sequence[Drafted]) -> bool:
    published = {one.field.keys for one in drafted if one.proposal.published}
    return pair.first in published and pair.second in published


def _values(one: Field) -> list[str]:
    """The categories of a field with how often each occurs, one a line, the most frequent first."""
    if one.attribute is None or one.attribute.categories is None:
        return []
    return [f"{one.path}\t{value}\t{times}" for value, times in one.attribute.categories.most_common()]
