"""The judge's input rules, and its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from hierdata.domains.sensitive import ALL_DIFFER, Sameness
from hierdata.domains.sensitive_forms import SensitiveForm
from hierdata.privacy.base import BY_VALUE, PrivacyModel, SensitiveReading

if TYPE_CHECKING:
    from hierdata.documents.document import Scalar
    from hierdata.domains.base import Hierarchy, Labels
    from hierdata.domains.levels import LevelScale
    from hierdata.privacy.bounded_knowledge import BoundedKnowledge
    from hierdata.privacy.population import Population

Keys: TypeAlias = tuple[str, ...]
"""A path without markers such as ``[*]``: the keys from the record down."""
Link: TypeAlias = tuple[str, bool]
"""The domain of a field's pseudonyms, and whether they identify the vertex or refer to one."""


@dataclass(frozen=True)
class SensitiveRule:
    """A sensitive path and the facts frozen at publication.

    ``scale`` gives the levels, if the policy states any. ``number`` says that text is read as numbers (XML
    and CSV have no other type). ``missing`` are the spellings of a missing value. ``taxonomy`` is the tree of
    the values, if the policy gives one. ``reference`` is how often each value occurs in the original
    collection, None if this was not frozen. ``reading`` says what is asked of the attribute.
    ``pattern`` is a regular expression that all values must match (moved dates without a time of day).
    Texts that are the ``same`` are one value. With ``respelled`` equal values may be spelled differently.
    ``form`` is the one in which values are published, None if they are published as they are.
    """

    keys: Keys
    path: str
    scale: LevelScale | None = None
    number: bool = False
    missing: frozenset[str] = frozenset()
    taxonomy: Hierarchy | None = None
    reference: Mapping[Scalar, int] | None = None
    reading: SensitiveReading = BY_VALUE
    pattern: str | None = None
    same: Sameness = ALL_DIFFER
    respelled: bool = False
    form: SensitiveForm | None = None


@dataclass(frozen=True)
class QuasiRule:
    """A quasi-identifier's path and the labels that its domain may publish.

    ``missing`` are the spellings of a missing value.
    """

    keys: Keys
    path: str
    labels: Labels
    missing: frozenset[str] = frozenset()


@dataclass(frozen=True)
class DerivedRule:
    """The path of a derived field, and the facts by which its labels are checked.

    ``source`` are the keys of the field that it is derived from, ``labels`` the published forms of that
    field's domain. ``pairs`` are the values of the source in the original collection, each with its label;
    None if these were not frozen. ``vertex`` are the keys of the vertices that both belong to. With ``apart``
    they are in tables of sensitive values. With ``sets`` a form may be a set.
    """

    keys: Keys
    path: str
    source: Keys
    labels: Labels
    pairs: tuple[tuple[Scalar, Scalar], ...] | None
    vertex: Keys = ()
    apart: bool = False
    sets: bool = False


@dataclass(frozen=True)
class ItemFilter:
    """One vertex type of a key with several.

    These are the items with the texts of ``conditions`` at their fields; without conditions they are the
    objects, or the single values. ``key`` is what other rules have in place of the key.
    """

    key: str
    conditions: tuple[tuple[Keys, str], ...] = ()
    is_object: bool = False


@dataclass(frozen=True)
class MixedRule:
    """The key ``name`` in the objects at ``holder`` has values of several vertex types, in this order."""

    holder: Keys
    name: str
    path: str
    kinds: tuple[ItemFilter, ...]

    @property
    def is_by_form(self) -> bool:
        """Whether the types are single values and objects."""
        return not self.kinds[0].conditions


@dataclass(frozen=True)
class JudgeRules:
    """What the policy promises, in the judge's terms.

    - ``models``: each with the sensitive paths it is limited to (None: all).
    - ``exempt``: paths that do not belong to the form, with everything below them. Every other scalar, unless
      at a sensitive path, belongs to the form.
    - ``forbidden``: paths that must not occur (identifiers, dropped fields). Nor may a field that is not
      ``listed`` (None: any may): a sensitive value under another name would pass for a part of the form.
    - ``vertices``: paths at which the number of items is structure even if only sensitive values are there
      and the format cannot tell: repeated XML elements, ``vertex: true``. JSON arrays always count.
    - ``recoding``: the form of the release. With ``representatives`` a document is ``{"records": n,
      "representative": {...}}``, with multisets of sensitive values. With ``anatomy`` and ``slicing``
      sensitive values are in separate parts, joined by ``group``.
      With ``slicing_by_table`` a record has one group id for each part.
    - ``tables``, with both kinds of slicing: which attributes share a part. Either as listed, or the
      largest number of parts for each vertex type, with any attributes, or ``correlated``: as many parts as
      there are, with any attributes, or None: each has its own part.
    - ``population``: counts for models that ask how many people of a population fit a class.
    - ``patterns``: regular expressions that all values at a path must match (pseudonyms, constants); a value
      that does not match is forbidden.
    - ``tokens``: the exempt paths among them with values that no two records may share, each with the domain
      within which they must not. Comparing these values reveals nothing.
    - ``identities`` and ``references``: exempt paths with pseudonyms, each with its domain. A reference whose
      domain shows no such identity in any document is forbidden. ``steady`` are the references that all
      records of a class have, or none: whether they are there belongs to the form.
    - ``quasi``: the quasi-identifiers with the labels that may be published: a value in a finer form than the
      policy allows is forbidden.
    - ``bounded_values``: the sensitive values that bounded knowledge bounds, by path; None for all.
    - ``counts``: by the path of vertices the field of the record that has the bin of their number, and where
      bins begin. Any other value there is forbidden.
    - ``known_values``: the sensitive paths with values that somebody may know, under bounded knowledge.
    - ``mixed``: the keys with several vertex types; the keys of all other rules tell them apart.
    - ``not_judged``: models without the facts they need: they never pass.
    """

    sensitive: tuple[SensitiveRule, ...]
    models: tuple[tuple[PrivacyModel, frozenset[Keys] | None], ...]
    exempt: frozenset[Keys] = frozenset()
    forbidden: frozenset[Keys] = frozenset()
    listed: frozenset[Keys] | None = None
    vertices: frozenset[Keys] = frozenset()
    recoding: str = "generalization"
    tables: int | Literal["correlated"] | tuple[frozenset[Keys], ...] | None = None
    not_judged: tuple[str, ...] = ()
    population: Population | None = None
    patterns: Mapping[Keys, str] = field(default_factory=dict)
    tokens: Mapping[Keys, str] = field(default_factory=dict)
    quasi: tuple[QuasiRule, ...] = ()
    identities: Mapping[Keys, str] = field(default_factory=dict)
    references: Mapping[Keys, str] = field(default_factory=dict)
    steady: frozenset[Keys] = frozenset()
    bounded_values: Mapping[Keys, tuple[Scalar, ...]] | None = None
    counts: Mapping[Keys, tuple[Keys, tuple[int, ...]]] = field(default_factory=dict)
    known_values: frozenset[Keys] = frozenset()
    derived: tuple[DerivedRule, ...] = ()
    mixed: tuple[MixedRule, ...] = ()

    @property
    def links(self) -> dict[Keys, Link]:
        """The paths of identities and references."""
        identities: dict[Keys, Link] = {keys: (domain, True) for keys, domain in self.identities.items()}
        return identities | {keys: (domain, False) for keys, domain in self.references.items()}

    @property
    def without_links(self) -> JudgeRules:
        """The rules without those on what identifies and refers."""
        return replace(self, identities={}, references={})

    @property
    def without_pardons(self) -> JudgeRules | None:
        """The rules under which exempt fields are compared, without links; None if there are none."""
        return replace(self.without_links, exempt=frozenset(self.tokens)) if self.pardoned_paths else None

    @property
    def knowledge(self) -> BoundedKnowledge | None:
        """The model that bounds what somebody knows, if there is one: classes are then those of the roots."""
        models = (model for model, _ in self.models if model.bounds_knowledge)
        return cast("BoundedKnowledge | None", next(models, None))

    @property
    def ties_values(self) -> bool:
        """Whether the file ties sensitive values to records."""
        return self.recoding not in ("representatives", "anatomy", "slicing", "slicing_by_table")

    @property
    def pardoned_paths(self) -> frozenset[Keys]:
        """The exempt paths with values that can be compared between records."""
        return self.exempt - self.tokens.keys()


@dataclass(frozen=True)
class Judgement:
    """One model at one sensitive path (None for models on whole records), over all classes.

    ``held`` is None if it could not be judged; ``reason`` then says why. ``reading`` is the question that was
    judged. ``repeats``: a record may show several values there. ``tied``: the file ties them to the record.
    ``resolved`` is the model with what it takes from the attribute stated, None if that could not be told.
    """

    model: str
    path: str | None
    held: bool | None
    achieved: Mapping[str, Fraction] = field(default_factory=dict)
    failing_classes: int = 0
    reason: str = ""
    reading: SensitiveReading = BY_VALUE
    repeats: bool = False
    tied: bool = True
    resolved: PrivacyModel | None = None


@dataclass(frozen=True)
class GroupIdRisk:
    """What the ids of records tell where each sensitive table has groups of its own.

    ``k`` is the smallest number of records that agree in all ids too. ``worst_guess`` is by sensitive path
    the largest share of a value to somebody who knows a person's quasi-identifiers and one other sensitive
    value, or that it is missing; empty with one sensitive attribute.
    """

    k: int
    worst_guess: Mapping[str, Fraction]


MOST_SAMPLED = 500
"""The most persons of whom it is asked whether more knowledge than is promised tells them apart."""
KNOWN_MORE = ("one fact more", "two facts more", "counts", "a fact that is lacking")
"""What somebody knows beside root values and m facts; counts are those of the vertices of each type."""


@dataclass(frozen=True)
class ToldApart:
    """Of sampled persons, whether each kind of knowledge of ``KNOWN_MORE`` leaves her record alone.

    ``persons`` are the hash of each, ascending, and the answers.
    """

    persons: tuple[tuple[int, tuple[bool, ...]], ...] = ()

    def __add__(self, other: ToldApart) -> ToldApart:
        """Return the sample of the records of both."""
        return ToldApart(tuple(sorted(self.persons + other.persons)[:MOST_SAMPLED]))

    def counts(self) -> tuple[int, ...]:
        """Return how many persons each kind of knowledge tells apart."""
        return tuple(sum(answers[kind] for _, answers in self.persons) for kind in range(len(KNOWN_MORE)))


@dataclass(frozen=True)
class Verdict:
    """What the judge found. ``k`` is the size of the smallest class; 0 without records.

    With recoding ``anatomy`` a class is a group of one vertex type, and its size is its number of persons.
    With ``slicing`` it is the records that are equal including their group ids; ``failing_classes`` counts
    records that look alike without ids as one more class. With ``slicing_by_table`` it is the records that
    are equal without their ids; ``failing_classes`` counts a group of a table as one more class.

    ``k_raw`` is k over the records as written, including document order and spelling, with sensitive values
    removed. ``k_exempt`` is k with the exempt fields counted as form (None if there are none). Both are None
    if quasi-identifiers are not generalized (anatomy).
    ``tables`` says for each separate part which sensitive attributes (their paths) it shows.
    ``worst_guess`` is by sensitive path the largest share of a class's records that show one value anywhere;
    where the file does not tie values to records, the largest share that could. ``group_ids`` is what ids
    tell, None but with ``slicing_by_table``. ``told_apart`` is
    what more knowledge than is promised tells, None but where knowledge is bounded.
    ``forbidden`` counts occurrences by path, unlisted fields under ``<key>``, labels that must not be
    published, and different sensitive values that do not match their pattern. ``malformed`` counts

    - documents that are not class representatives, or show more values at a vertex than they state records;
    - with anatomy and slicing: vertices without a group, or in the same group as another vertex of their
      record; rows without group or count; groups with a number of values other than that of their vertices;
      parts that belong to no vertices;
    - with slicing: groups that do not have exactly one vertex of each record of a class, and attributes in
      two parts.
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
    worst_guess: Mapping[str, Fraction] = field(default_factory=dict)
    group_ids: GroupIdRisk | None = None
    told_apart: ToldApart | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; a fraction is given as exact text and as a float."""

        def exact(numbers: Mapping[str, Fraction]) -> dict[str, dict[str, Any]]:
            return {name: {"exact": str(value), "value": float(value)} for name, value in numbers.items()}

        plain: dict[str, Any] = {**self.__dict__, "forbidden": dict(self.forbidden)}
        plain["tables"] = {part: list(paths) for part, paths in self.tables.items()}
        plain["worst_guess"] = exact(self.worst_guess)
        if self.group_ids is not None:
            plain["group_ids"] = {"k": self.group_ids.k, "worst_guess": exact(self.group_ids.worst_guess)}
        if self.told_apart is not None:
            plain["told_apart"] = dict(zip(KNOWN_MORE, self.told_apart.counts(), strict=True))
            plain["told_apart"]["of"] = len(self.told_apart.persons)
        plain["not_judged"] = list(self.not_judged)
        plain["judgements"] = [
            {
                **judgement.__dict__,
                "achieved": exact(judgement.achieved),
                "reading": dict(judgement.reading.__dict__),
                "resolved": judgement.resolved and judgement.resolved.model_dump(mode="json"),
            }
            for judgement in self.judgements
        ]
        return plain
