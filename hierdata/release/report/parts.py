"""The parts of a release's files: promises, counts, figures, costs, levels, and the content of pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hierdata.ground.escaping import escape
from hierdata.records.schema import KeyForm, Weight
from hierdata.release.report.sentences import cost_meaning, state_promise

if TYPE_CHECKING:
    from hierdata.judge.rules import GroupIdRisk, Judgement
    from hierdata.metrics.base import Figure
    from hierdata.privacy.base import PrivacyModel


Whole: TypeAlias = Annotated[int, Field(ge=0)]
Rational: TypeAlias = Annotated[str, Field(pattern="^-?[0-9]+(/[0-9]+)?$")]
Held: TypeAlias = bool | None
Shown: TypeAlias = Annotated[str, AfterValidator(escape)]
"""A text for people, which may quote a policy: safe to print wherever the file is read."""


class Plain(BaseModel):
    """Base of all parts: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Exact(Plain):
    """A number twice: exactly, as the text p/q, and as the nearest float."""

    exact: Rational
    value: float

    @classmethod
    def of(cls, number: Fraction) -> Exact:
        """Build both spellings of a fraction.

        >>> Exact.of(Fraction(3, 4))
        Exact(exact='3/4', value=0.75)
        """
        return cls(exact=str(number), value=float(number))

    @property
    def fraction(self) -> Fraction:
        """The exact number."""
        return Fraction(self.exact)


class Measure(BaseModel):
    """The figures of one metric.

    Besides the keys below, each figure has a key of its own name with a float (``total``, ``per_record``
    ...). ``unit``, ``low`` and ``high`` describe the figures by those names, ``exact`` only the exact ones.
    ``high`` is null where a figure has no upper bound.
    """

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
    __pydantic_extra__: dict[str, float]

    exact: dict[str, Rational]
    unit: dict[str, str]
    low: dict[str, int]
    high: dict[str, int | None]
    better: Literal["lower", "higher"]

    @property
    def figures(self) -> dict[str, float]:
        """The figures by name, in the metric's order."""
        extra = self.__pydantic_extra__
        return {name: extra[name] for name in self.unit}


def measure(figures: Sequence[Figure]) -> Measure:
    """Build the file's form of a metric's figures. Raises ValueError when their better directions differ."""
    (better,) = {figure.better for figure in figures}
    values: dict[str, Any] = {figure.name: float(figure.value) for figure in figures}
    return Measure(
        exact={figure.name: figure.exact for figure in figures if figure.exact is not None},
        unit={figure.name: figure.unit for figure in figures},
        low={figure.name: figure.low for figure in figures},
        high={figure.name: figure.high for figure in figures},
        better=better,
        **values,
    )


def figures(results: Mapping[str, Sequence[Figure]]) -> dict[str, Measure]:
    """Build the ``metrics`` of a report from the figures of each metric, by the metric's name."""
    return {name: measure(measured) for name, measured in results.items()}


class Reached(Plain):
    """What a model achieved at one sensitive attribute, over all classes.

    ``held`` is null where it could not be judged.
    """

    held: Held
    achieved: dict[str, Exact]
    failing_classes: Whole


class GroupIds(Plain):
    """What the group ids of a record tell, where each sensitive table has groups of its own.

    ``k`` is the smallest number of records that agree in all ids too. ``worst_guess`` is by sensitive path
    the largest share of a value to somebody who knows a person's quasi-identifiers and one other sensitive
    value of hers, or that it is missing; empty with one sensitive attribute.
    """

    k: Whole
    worst_guess: dict[str, Exact]

    @classmethod
    def of(cls, risk: GroupIdRisk | None) -> GroupIds | None:
        """Build it from what the judge found; None where records have no such ids."""
        if risk is None:
            return None
        return cls(k=risk.k, worst_guess={path: Exact.of(share) for path, share in risk.worst_guess.items()})


class Promise(Plain):
    """A privacy model of the policy, and what the judge found.

    ``statement`` is the promise in words, ``finding`` those of its sentences, the first, that say who could
    find a person's record. ``parameters`` are the policy's letters. ``on`` are the
    sensitive attributes the policy limits it to (null: all), ``paths`` those it was judged at, empty for a
    model on whole records. ``achieved`` is the strongest parameter that holds at all of ``paths``,
    ``by_path`` has it for each of them. ``failing_classes`` is the largest number of classes that fail at one
    path. ``reason`` says why the promise could not be judged.
    """

    kind: str
    statement: Shown
    finding: Shown = ""
    parameters: dict[str, Any]
    on: tuple[str, ...] | None
    paths: tuple[str, ...]
    held: Held
    achieved: dict[str, Exact]
    failing_classes: Whole
    reason: Shown
    by_path: dict[str, Reached]

    @property
    def learning(self) -> str:
        """What the promise says of what could be learned about a person; '' for nothing."""
        return self.statement.removeprefix(self.finding).lstrip()

    @classmethod
    def of(
        cls,
        model: PrivacyModel,
        judgements: Iterable[Judgement],
        *,
        apart: bool = False,
        ids: bool = False,
        by_root: bool = False,
    ) -> Promise:
        """Build the promise of a model from its judgements: one per sensitive attribute, or a single one.

        ``apart``: sensitive values are published apart from the records; ``ids``: by group ids that are not
        compared; ``by_root``: classes are those of the records' own values.
        """
        judged = tuple(judgements)
        achieved: dict[str, Fraction] = {}
        for judgement in judged:
            achieved = model.weakest(achieved, judgement.achieved)
        answers = {judgement.held for judgement in judged}
        text = state_promise(model, judged, apart=apart, ids=ids, by_root=by_root)
        return cls(
            kind=model.kind,
            statement=text.statement,
            finding=text.finding,
            parameters=model.model_dump(mode="json", exclude={"kind", "on"}),
            on=model.on,
            paths=tuple(judgement.path for judgement in judged if judgement.path is not None),
            held=False if False in answers else None if None in answers or not answers else True,
            achieved=_exact(achieved),
            failing_classes=max((judgement.failing_classes for judgement in judged), default=0),
            reason="; ".join(judgement.reason for judgement in judged if judgement.reason),
            by_path={
                judgement.path: Reached(
                    held=judgement.held,
                    achieved=_exact(judgement.achieved),
                    failing_classes=judgement.failing_classes,
                )
                for judgement in judged
                if judgement.path is not None
            },
        )


def _exact(numbers: Mapping[str, Fraction]) -> dict[str, Exact]:
    return {letter: Exact.of(number) for letter, number in numbers.items()}


class PublicGate(Plain):
    """A gate of the policy, as it is published: what it asks for, and that it passed.

    ``figure`` is the figure that the policy names, if it names one. ``attacker`` is the name the policy
    gives, ``keys`` the quasi-identifiers that the attacker knows, as paths or as one word for them.
    ``semantic`` tells that values were counted by the blocks of a partition, ``weight`` whether each vertex
    or each person counts the same; keys and weight are null where the metric measures the whole release.
    """

    name: Shown | None
    metric: str
    figure: str | None
    operator: Literal["<=", "<", ">=", ">"]
    limit: Exact
    passed: bool
    attacker: Shown | None
    keys: KeyForm | tuple[str, ...] | None
    semantic: bool
    weight: Weight | None
    reason: Shown | None


class GateVerdict(PublicGate):
    """A gate of the policy, and the figure that was judged.

    ``figure`` is the metric's figure, or the path of the sensitive attribute that is worst; ``exact`` is its
    ``value`` as a fraction, null where it is none.
    """

    value: float | None
    exact: Rational | None


class Tally(Plain):
    """The numbers in the input, published, and suppressed."""

    input: Whole
    published: Whole
    suppressed: Whole


class PublishedFile(Plain):
    """A file in ``public/``, by its path there, and the SHA-256 of its bytes."""

    name: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class ClassCounts(Plain):
    """The classes of a release, as the judge finds them in the published files.

    ``k_raw`` is k over the records as written, spelling and order included, without sensitive values;
    ``k_exempt`` is k with the exempt fields compared too (null where there are none). With recoding
    ``anatomy`` classes are the groups of all vertex types, their sizes count persons, and no other k is
    given.
    """

    classes: Whole
    smallest_class: Whole
    largest_class: Whole
    k_raw: Whole | None
    k_exempt: Whole | None


class PublicCounts(ClassCounts):
    """The number of published records, and their classes."""

    records: Whole


class PublishedValues(Plain):
    """The published values of a quasi-identifier: how many there are, and how fine they are.

    ``exact`` are as they were, ``coarser`` stand for several values, ``any`` are * and stand for all.
    """

    exact: Whole
    coarser: Whole
    any: Whole


class Counts(ClassCounts):
    """Records and vertices, before and after; ``vertices`` by path of the vertex type, the root's first.

    ``empty_records`` are the published records that show nothing but the coarsest values.
    """

    records: Tally
    empty_records: Whole
    vertices: dict[str, Tally]


class Cost(Plain):
    """A count of an engine's work or concessions, and what it counts."""

    count: Whole
    meaning: str


def costs(counted: Mapping[str, int]) -> dict[str, Cost]:
    """Build the ``costs`` of a report from an engine's counters, by name."""
    return {name: Cost(count=counted[name], meaning=cost_meaning(name)) for name in sorted(counted)}


class LevelRow(Plain):
    """A sensitivity level: its share of the original values, and the most values a vertex may hold.

    ``capacity`` is for a vertex of a class of the smallest size, null where no model limits levels.
    """

    level: Annotated[int, Field(ge=1)]
    count: Whole
    share: Exact
    capacity: Whole | None


class MembershipRow(Plain):
    """The degree 0..1 to which a number ``at`` belongs to each fuzzy set, in the order of the sets.

    ``level`` is the resulting sensitivity level.
    """

    at: str
    level: Annotated[int, Field(ge=1)]
    degrees: tuple[float, ...]


class LevelTable(Plain):
    """The sensitivity levels of one attribute.

    ``breakpoints`` are the exact numbers where neighbouring levels meet, ``memberships`` the degrees there;
    both are empty where the policy maps values to levels one by one.
    """

    levels: tuple[LevelRow, ...]
    breakpoints: tuple[Rational, ...] = ()
    memberships: tuple[MembershipRow, ...] = ()


class KeptShare(Plain):
    """The share of something that is published, and the largest share that any release could publish."""

    kept: Exact
    attainable: Exact


class KeptShares(Plain):
    """What is kept in total, and by path of the vertex type and of the field.

    Types and fields of which the input has nothing are left out, and types where nothing has a weight.
    """

    total: KeptShare | None = None
    vertices: dict[str, KeptShare] = Field(default={})
    fields: dict[str, KeptShare] = Field(default={})


Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
"""A SHA-256 in hexadecimal digits."""


class Change(Plain):
    """How many values there were in the input, and how many of them are published; ``name`` is ours."""

    name: Shown
    input: Whole
    published: Whole


class ExampleLine(Plain):
    """A line of an invented record: a vertex or a field, before, and as it is published most often.

    ``depth`` is the number of vertices above it, ``name`` what it is called there.
    """

    path: Shown
    name: Shown
    depth: Whole
    before: Shown
    after: Shown


BANDS = ("as they were", "up to a tenth", "up to a third", "more than a third", "everything (*)")
"""How finely a value is published: by the share of its domain that the published form may stand for."""
MISSING, LEFT_OUT = "missing", "left out"


class Pictures(Plain):
    """Counts for pictures.

    ``depths`` has by quasi-identifier how many values are published how finely: by the share of the domain
    that a published form stands for. ``distributions`` has by sensitive attribute its levels, or its most
    frequent values as v1, v2 .., before and after.
    ``class_sizes`` is the number of published records by the size of their class; it is empty where values
    are published apart, so that groups hide values and not records. ``example`` is an invented record, line
    by line from its root down.
    """

    depths: dict[str, dict[str, Whole]] = Field(default={})
    distributions: dict[str, tuple[Change, ...]] = Field(default={})
    class_sizes: dict[str, Whole] = Field(default={})
    example: tuple[ExampleLine, ...] = ()


class Fingerprints(Plain):
    """What a release was made from: SHA-256 of the input's decoded content, and of the policy's promise."""

    input: Digest
    policy: Digest
