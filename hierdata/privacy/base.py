"""Privacy models: predicates on the sensitive values of one class at one vertex.

The functions at the end write numbers and parameters, on the terminal and in the report alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from hierdata.domains.bounds import MOST_COUNTED, MOST_PARTS, PathName
from hierdata.domains.number import Exact, exact_schema
from hierdata.domains.sensitive import SensitiveDomain


def _share(number: Fraction) -> Fraction:
    if not 0 <= number <= 1:
        raise ValueError("must be between 0 and 1")
    return number


def _positive(number: Fraction) -> Fraction:
    if number <= 0:
        raise ValueError("must be above 0")
    return number


def _not_negative(number: Fraction) -> Fraction:
    if number < 0:
        raise ValueError("must not be negative")
    return number


def _at_least_one(number: Fraction) -> Fraction:
    if not 1 <= number <= MOST_COUNTED:
        raise ValueError(f"must be at least 1 and at most {MOST_COUNTED}")
    return number


Share = Annotated[Exact, AfterValidator(_share), exact_schema(minimum=0, maximum=1)]
"""A share of the values, 0..1, exact."""
Positive = Annotated[Exact, AfterValidator(_positive), exact_schema(exclusiveMinimum=0)]
"""A number above 0, exact."""
NotNegative = Annotated[Exact, AfterValidator(_not_negative), exact_schema(minimum=0)]
"""A number of at least 0, exact."""
Diversity = Annotated[Exact, AfterValidator(_at_least_one), exact_schema(minimum=1, maximum=MOST_COUNTED)]
"""A number of well-represented values, at least 1, exact."""


@dataclass(frozen=True)
class SensitiveReading:
    """What is asked about a sensitive attribute.

    ``asks`` is ``value``: what is the value at this vertex, or ``presence``: is a value among those of the
    person. ``within`` says over which values of the person presence is asked: those at one place, or those at
    all places of the record.
    """

    asks: Literal["value", "presence"] = "value"
    within: Literal["place", "record"] = "place"

    @property
    def of_record(self) -> bool:
        """Whether the values of a record at all its places are taken together."""
        return self.asks == "presence" and self.within == "record"


BY_VALUE = SensitiveReading()
"""The reading of the papers: shares are over the values at a vertex."""


@dataclass(frozen=True)
class ClassView:
    """What a model may see of a class at one vertex of its representative.

    ``records`` is the number of distinct records in the class. ``counts`` maps the code of a sensitive value
    (of the attribute that the constraint is bound to) to its number of occurrences there, pooled over
    identical siblings, without missing values (erratum ML-7). ``population`` is how many rows of the policy's
    population table fit the published quasi-identifiers of the class's root; None without a table. ``sets``
    maps each set of values that a record shows there to the number of such records; None if every record
    shows at most one value, or nothing ties the values to records. ``siblings`` is the largest number of
    vertices that a record has there, whether they show a value or not.
    """

    records: int
    counts: Mapping[int, int]
    population: int | None = None
    sets: Mapping[frozenset[int], int] | None = None
    siblings: int = 1

    @property
    def present(self) -> int:
        """Sensitive values present, with multiplicity."""
        return sum(self.counts.values())

    @property
    def sizes(self) -> list[int]:
        """The positive counts, largest first."""
        return sorted((count for count in self.counts.values() if count), reverse=True)

    @property
    def fewest_showing(self) -> int:
        """The least number of records that can show the values, whichever values are those of a record."""
        return -(-self.present // self.siblings)

    @property
    def record_sets(self) -> Mapping[frozenset[int], int]:
        """The sets of values that the records show, each with its number of records; no empty set."""
        if self.sets is not None:
            return self.sets
        return {frozenset((code,)): count for code, count in self.counts.items() if count}


@dataclass(frozen=True)
class FrequencyCaps:
    """A model in the form "no group has more than its share": ``group_of[code]``, ``share[group]``.

    Among n values at a vertex, a group that is present may have ``min(share * n, most)`` values (``most``
    None for no bound). With ``reach``, the groups from ``reach[group][0]`` to ``reach[group][1]`` count
    together with it. The range includes the group itself and is symmetric: b is in a's reach iff a is in b's.
    (delta,l)-diversity has this form; only values that are present are centres. If ``sufficient`` is False,
    the caps are only necessary, and an engine that closes a class must also ask ``holds``. If ``necessary``
    is False, they ask for more than the model, which has no such form (erratum LE-2): a class that breaks
    them may satisfy it. ``of_records``: they bound records that show a group at vertices alike.
    """

    group_of: tuple[int, ...]
    share: tuple[Fraction, ...]
    most: int | None = None
    reach: tuple[tuple[int, int], ...] | None = None
    sufficient: bool = True
    necessary: bool = True
    of_records: bool = False

    def largest_counts(self, size: int) -> list[int]:
        """Return how many values each group may have among ``size`` values at a vertex."""
        counts = (size * share.numerator // share.denominator for share in self.share)
        return [count if self.most is None else min(count, self.most) for count in counts]


FOREIGN = -2
"""The entry of ``Closeness.set_of`` for a value that does not occur in the original."""


@dataclass(frozen=True)
class Closeness:
    """A model in the form "the shares of a class are near those of the original".

    Its distance is the sum over sets S of values of ``weight[S]`` |q(S) - p(S)| / ``scale``, where q(S) is
    the share of S among the values of the class and p(S) = ``expected[S]`` / ``total`` its share in the
    original. The distance must be at most ``bound``. Any two sets are nested or disjoint, so they form a
    forest: ``set_of[code]`` is the smallest set that contains a value, ``parent[S]`` the smallest that
    contains S; -1 means none. For a value that does not occur in the original, ``set_of`` is FOREIGN: no
    class may hold it.
    """

    set_of: tuple[int, ...]
    parent: tuple[int, ...]
    weight: tuple[int, ...]
    expected: tuple[int, ...]
    total: int
    scale: int
    bound: Fraction

    @property
    def weighted_sets(self) -> tuple[int, ...]:
        """The sets with a weight, which add to the distance."""
        return tuple(index for index, weight in enumerate(self.weight) if weight)

    @property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """By code the positions in ``weighted_sets`` of the sets that hold it, the smallest first."""
        position_of = {index: position for position, index in enumerate(self.weighted_sets)}
        paths = []
        for index in self.set_of:
            path: list[int] = []
            while index >= 0:
                path += [position_of[index]] if index in position_of else []
                index = self.parent[index]
            paths.append(tuple(path))
        return tuple(paths)


class Constraint(ABC):
    """A model bound to one sensitive attribute's domain (or to none, for models on records). Immutable.

    ``closed_under_union``: the union of two classes that satisfy it satisfies it. ``closed_under_pooling``:
    two places of one class that satisfy it do so if they are one place. Both are tested, never
    assumed. ``reading`` is the question that it answers.
    ``min_class_size``: no smaller class can satisfy it at a vertex with one value per record.
    ``needs_population``: it asks for ``ClassView.population``. ``caps``: the model as FrequencyCaps if it has
    that form; the alignment enforces them as classes grow. ``closeness``: as Closeness, alike. ``tied``: it
    may look at ``ClassView.sets``, since the file shows which values are those of one record.
    """

    closed_under_union: bool
    closed_under_pooling: bool
    min_class_size: int
    reading: SensitiveReading = BY_VALUE
    caps: FrequencyCaps | None = None
    closeness: Closeness | None = None
    needs_population: bool = False
    knowledge: PrivacyModel | None = None
    tied: bool = True

    @abstractmethod
    def holds(self, view: ClassView) -> bool:
        """Decide exactly. A vertex without any sensitive value passes (erratum ML-7), except for k."""

    @abstractmethod
    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        """Return the strongest parameters that hold at this vertex, by the papers' letters.

        ``alpha_2`` is the alpha of level 2. Empty if there is nothing to judge.
        """

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        """Return a key that, with the number of records, determines the answers: ask once for each.

        Where ``ClassView.sets`` is given, a constraint on presence depends on it too.
        """
        return tuple(sorted(counts.values()))


class PrivacyModel(ABC, BaseModel):
    """A model's parameters as the policy states them.

    ``kind`` names the model. ``on`` limits it to some sensitive attributes (their paths); None means all.
    ``per_attribute`` is False for models on records alone (k-anonymity), which bind to no domain;
    ``needs_population`` is True for those that need ``ClassView.population``, ``needs_reference`` for
    those that compare with ``SensitiveDomain.reference``, ``bounds_knowledge`` for those on patterns.
    ``limitation`` is the report's sentence on what the model does not protect against, if it has one.
    ``combine`` says for each achieved letter whether the collection's figure is the least (k, l) or the
    largest (alpha) over all vertices.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    per_attribute: ClassVar[bool] = True
    needs_population: ClassVar[bool] = False
    needs_reference: ClassVar[bool] = False
    bounds_knowledge: ClassVar[bool] = False
    limitation: ClassVar[str] = ""
    combine: ClassVar[Mapping[str, Literal["min", "max"]]]
    letters: ClassVar[Mapping[str, str]]
    """The meaning of each letter of its stated and achieved parameters, for a reader of the report."""

    kind: str
    on: Annotated[tuple[PathName, ...], Field(min_length=1, max_length=MOST_PARTS)] | None = None

    @field_validator("on")
    @classmethod
    def _whole_records(cls, on: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if on is not None and not cls.per_attribute:
            kind = cls.model_fields["kind"].default
            raise ValueError(f"{kind} judges whole records: leave 'on' out")
        return on

    @property
    def uses_reference(self) -> bool:
        """Whether it needs the counts of the original, to compare with them or to build bins from them."""
        return self.needs_reference

    @property
    def least_population(self) -> int:
        """The fewest people of the population who must fit a class; 0 if the model does not count them."""
        return 0

    def capacities(self, size: int) -> tuple[int, ...]:
        """Return how many of ``size`` values may be of each level; () if the model does not limit levels."""
        return ()

    def smallest_sizes(self) -> tuple[int | None, ...]:
        """Return the fewest values for each level to occur among, None for never; () like ``capacities``."""
        return ()

    @abstractmethod
    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError if the domain lacks what it needs."""

    def resolve(self, domain: SensitiveDomain) -> PrivacyModel:
        """Return the model with what it takes from this attribute stated, as its sentence needs it."""
        return self

    @property
    def limits_presence(self) -> bool:
        """Whether it can be asked for the presence of a value among those of a person."""
        return False

    def bind_presence(
        self, domain: SensitiveDomain, within: Literal["place", "record"] = "place", *, tied: bool = True
    ) -> Constraint:
        """Build the constraint on presence, of a model that ``limits_presence``.

        ``tied``: the file ties values to records. Where it does not, each occurrence may be that of another
        person. Raises PolicyError if the domain lacks what the model needs, TypeError without presence.
        """
        raise TypeError(f"{self.kind} does not limit presence")

    def bind_reading(
        self, domain: SensitiveDomain | None, reading: SensitiveReading, *, tied: bool = True
    ) -> Constraint:
        """Build the constraint for one attribute as it is read: by value where presence is not limited.

        Raises PolicyError if the domain lacks what the model needs.
        """
        if reading.asks == "presence" and self.limits_presence and domain is not None:
            return self.bind_presence(domain, reading.within, tied=tied)
        return self.bind(domain)

    @abstractmethod
    def promise(self, *, apart: bool = False) -> str:
        """Return the sentences that state the promise to a reader of the report: plain ones, then exact ones.

        The exact ones begin with ``EXACTLY``, if there are any.

        ``apart``: sensitive values are published separately from the records, joined by group. Those of
        ``promise_finding`` come first.
        """

    def promise_finding(self, *, apart: bool = False) -> str:
        """Return the sentences of ``promise`` on who could find the record of a person; '' for none."""
        return ""

    def promise_presence(
        self, within: Literal["place", "record"], *, apart: bool = False, tied: bool = True
    ) -> str:
        """Return the sentence on presence; see ``promise``. ``tied``: the file ties values to records."""
        raise TypeError(f"{self.kind} does not limit presence")

    def weakest(self, left: Mapping[str, Fraction], right: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return the parameters achieved at both of two vertices, from those achieved at each.

        >>> from hierdata.privacy import KAnonymity
        >>> KAnonymity(k=2).weakest({"k": Fraction(5)}, {"k": Fraction(3)})
        {'k': Fraction(3, 1)}
        """
        merged = dict(left)
        for letter, value in right.items():
            stem = letter if letter in self.combine else letter.partition("_")[0]
            pick = min if self.combine[stem] == "min" else max
            merged[letter] = pick(merged.get(letter, value), value)
        return merged


def require_domain(domain: SensitiveDomain | None) -> SensitiveDomain:
    """Return the domain of a model that is bound per attribute. Raises TypeError for None."""
    if domain is None:
        raise TypeError("this model binds to a sensitive attribute's domain")
    return domain


def number(value: Fraction) -> str:
    """Return a fraction in readable form: a short decimal, a small p/q, else four digits.

    >>> [number(Fraction(text)) for text in ("5", "4/5", "1/3", "12345/100003")]
    ['5', '0.8', '1/3', '0.1234']
    """
    if 10_000 % value.denominator == 0:
        return f"{Decimal(value.numerator) / value.denominator:f}"
    return str(value) if value.denominator < 100 else round_value(float(value))


def round_value(value: float) -> str:
    """Return a number with four digits; from 1000 on, the whole number without an exponent.

    >>> round_value(0.123456), round_value(123456.7), round_value(0.0)
    ('0.1235', '123,457', '0')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def describe_achieved(reached: Mapping[str, Fraction]) -> str:
    """Return what was achieved in one line, with the letters of levels (``alpha_1`` ...) joined.

    >>> describe_achieved({"k": Fraction(5), "alpha_1": Fraction(4, 5), "alpha_2": Fraction(0)})
    'k = 5, alpha = 0.8 0'
    """
    together: dict[str, list[str]] = {}
    for letter, value in reached.items():
        together.setdefault(letter.partition("_")[0], []).append(number(value))
    return ", ".join(f"{letter} = {' '.join(values)}" for letter, values in together.items())


def chance(share: Fraction) -> str:
    """Return a share as people say it, and exactly.

    >>> [chance(Fraction(text)) for text in ("1/2", "0.125", "1/3", "2/7")]
    ['50 %', '12.5 %', '1 in 3', '2/7']
    """
    percent = 100 * share
    if 100 % percent.denominator == 0:
        return f"{number(percent)} %"
    return f"1 in {share.denominator}" if share.numerator == 1 else str(share)


EXACTLY = "Exactly: "
"""What stands between the plain sentences of a promise and the exact ones."""


_GROUP, _RECORDS = "a person's group", "the records that look like a person's"


def finder(apart: bool) -> str:
    """Return who may learn something: the beginning of plain sentences (see PrivacyModel.promise)."""
    return f"Someone who finds {_GROUP if apart else _RECORDS}"


def alike(apart: bool) -> str:
    """Return among whom something is as frequent as promised."""
    return "in a group" if apart else "among records that look alike"


def guess(noun: str, most: Fraction, apart: bool) -> str:
    """Return the promise that something, such as a value, can be guessed with a limited chance."""
    return f"{finder(apart)} can guess a {noun} with a chance of at most {chance(most)}."


def share_at_place(noun: str) -> str:
    """Return the exact sentence below ``guess``."""
    return f"{EXACTLY}of the values that a class shows at one place, no {noun} has a larger share."


def among(size: int, apart: bool) -> str:
    """Return the promise of a class of at least ``size`` records (see PrivacyModel.promise)."""
    if apart:
        return f"Each sensitive value could be that of any of at least {size} people."
    others = "1 other" if size == 2 else f"{size - 1} others"
    return f"Every record looks like at least {others} in everything that others may know."
