"""What the judge is told, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from hierdata.privacy.base import PrivacyModel

if TYPE_CHECKING:
    from hierdata.documents.document import Scalar
    from hierdata.domains.base import Hierarchy
    from hierdata.domains.levels import LevelScale
    from hierdata.privacy.population import Population

Keys: TypeAlias = tuple[str, ...]
"""A path without its marks: the keys from the record down."""


@dataclass(frozen=True)
class SensitiveRule:
    """A sensitive path and the facts frozen at publication.

    ``scale`` gives the levels, where the policy states any; ``number`` tells that texts (XML and CSV have no
    other type) are to be read as numbers; ``missing`` are the spellings of a missing value. ``taxonomy`` is
    the tree of the values, where the policy gives one; ``reference`` how often each value occurs in the
    original collection, None where nobody froze it.
    """

    keys: Keys
    path: str
    scale: LevelScale | None = None
    number: bool = False
    missing: frozenset[str] = frozenset()
    taxonomy: Hierarchy | None = None
    reference: Mapping[Scalar, int] | None = None


@dataclass(frozen=True)
class JudgeRules:
    """What the policy promises, in the judge's terms.

    ``models`` come with the sensitive paths they are limited to (None: all). Every scalar that lies neither
    at a sensitive path nor at or below an ``exempt`` one belongs to the form. A ``forbidden`` path must not
    occur (identifiers, dropped fields), nor a field that is not ``listed`` (None: any may): under another
    name a sensitive value would pass for a part of the form. ``vertices`` are paths whose number of items is
    structure even where only sensitive values lie there and the format cannot tell: repeated XML elements,
    ``vertex: true``. JSON arrays always count. ``recoding`` tells in what form: with ``representatives`` a
    document is ``{"records": n, "representative": {...}}``, with multisets of sensitive values; with
    ``anatomy`` and ``slicing`` sensitive values lie in parts of their own, joined by ``group``. With the
    latter ``tables`` tells which attributes share a part: as written out; at most so many parts for each
    vertex type, whatever attributes stand in which; None: each attribute has its own.
    ``population`` counts for models that ask who in a population fits a class. ``patterns`` are regular
    expressions that all values at a path must match: pseudonyms and constants; what does not is forbidden.
    ``tokens`` are the exempt paths among them whose values no two records may share, each with the domain
    within which they must not: comparing these tells nothing.
    ``not_judged`` names models whose facts are missing: they never pass.
    """

    sensitive: tuple[SensitiveRule, ...]
    models: tuple[tuple[PrivacyModel, frozenset[Keys] | None], ...]
    exempt: frozenset[Keys] = frozenset()
    forbidden: frozenset[Keys] = frozenset()
    listed: frozenset[Keys] | None = None
    vertices: frozenset[Keys] = frozenset()
    recoding: str = "generalization"
    tables: int | tuple[frozenset[Keys], ...] | None = None
    not_judged: tuple[str, ...] = ()
    population: Population | None = None
    patterns: Mapping[Keys, str] = field(default_factory=dict)
    tokens: Mapping[Keys, str] = field(default_factory=dict)

    @property
    def pardoned(self) -> frozenset[Keys]:
        """The exempt paths that somebody may compare."""
        return self.exempt - self.tokens.keys()


@dataclass(frozen=True)
class Judgement:
    """One model at one sensitive path (None for models on whole records), over all classes.

    ``held`` is None when it could not be judged; ``reason`` then says why.
    """

    model: str
    path: str | None
    held: bool | None
    achieved: Mapping[str, Fraction] = field(default_factory=dict)
    failing_classes: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """What the judge found. ``k`` is the smallest class; 0 where there are no records.

    With recoding ``anatomy`` a class is a group of one vertex type, and its size the persons in it. With
    ``slicing`` it is the records that are equal with their group ids; ``failing_classes`` counts what looks
    alike without ids as one class more.

    ``k_raw`` is k over the records as written, document order and spelling included, with sensitive values
    removed; ``k_exempt`` is k with the exempt fields counted as form (None where there are none). Neither is
    asked for where quasi-identifiers are published as they are (anatomy).
    ``tables`` tells by part beside the records which sensitive attributes (their paths) it shows.
    ``forbidden`` counts occurrences by path, fields that are not listed as ``<key>``; ``malformed`` counts
    documents that are no class representatives, or show more values at a vertex than they state records; with
    anatomy and slicing vertices without a group or in the group of another one of their record, rows without
    group or count, groups whose counts are not as many as their vertices, parts that belong to no vertices;
    with slicing groups of other vertices than one of each record of a class, and attributes in two parts.
    """

    passed: bool
    records: int
    classes: int
    k: int
    largest_class: int
    k_raw: int | None
    k_exempt: int | None
    judgements: tuple[Judgement, ...]
    forbidden: Mapping[str, int]
    malformed: int
    not_judged: tuple[str, ...]
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; fractions as the exact text beside a float."""
        plain: dict[str, Any] = {**self.__dict__, "forbidden": dict(self.forbidden)}
        plain["tables"] = {part: list(paths) for part, paths in self.tables.items()}
        plain["not_judged"] = list(self.not_judged)
        plain["judgements"] = [
            {
                **judgement.__dict__,
                "achieved": {
                    letter: {"exact": str(value), "value": float(value)}
                    for letter, value in judgement.achieved.items()
                },
            }
            for judgement in self.judgements
        ]
        return plain
