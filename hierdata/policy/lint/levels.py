"""Sensitivity levels, as lint and the report show them.

Tables of the membership degrees of values in their fuzzy sets, and of how many values of each level a class
may hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from hierdata.documents.document import Scalar
from hierdata.domains.base import Observed, Uncovered
from hierdata.domains.membership import knots
from hierdata.domains.number import canonical, exact
from hierdata.domains.scales import DomainScale, FrequencyScale, LevelScale, SetScale
from hierdata.ground.errors import HierdataError, PolicyError
from hierdata.policy.checks.sensitive import class_size, domain_of, pairs, resolve_readings
from hierdata.policy.policy import Policy
from hierdata.policy.problems import nearest
from hierdata.privacy.base import number
from hierdata.records.survey import Keys, Survey

_SHOWN = 6
"""Decimal places of a degree."""


@dataclass(frozen=True)
class Degrees:
    """Membership degrees of one value, for display: ``degrees[i]`` in the fuzzy set A(i+1), by scikit-fuzzy.

    ``label`` is a point of the policy's domain, or v1, v2 .. for the categories of the data, the most
    frequent first; ``revealed`` is then the category.
    """

    label: str
    level: int
    degrees: tuple[float, ...]
    revealed: str | None = None


def observe_field(survey: Survey | None, keys: Keys) -> Observed:
    """Return the values of a field with their numbers, none without a survey."""
    return {} if survey is None else survey.values.get(keys, {})


def memberships(policy: Policy, survey: Survey | None = None) -> dict[str, list[Degrees]]:
    """Return a table of membership degrees for each sensitive attribute with fuzzy levels, by its path.

    Levels by frequency need a survey. ML section 3.3 prints such a table.
    """
    return {
        path: [
            Degrees(label, scale.level(value), _round_degrees(scale.memberships(value)), revealed)
            for label, value, revealed in points
            if scale.covers(value)
        ]
        for path, scale, points in _fuzzy_levels(policy, survey)
    }


def has_memberships(policy: Policy, survey: Survey | None = None) -> bool:
    """Return whether there are tables of membership degrees, without computing a degree."""
    return any(True for _ in _fuzzy_levels(policy, survey))


def _fuzzy_levels(
    policy: Policy, survey: Survey | None
) -> Iterator[tuple[str, LevelScale, list[tuple[str, Scalar, str | None]]]]:
    """Yield path, scale and points (label, value, revealed category) of each attribute with fuzzy levels."""
    for keys, rule in policy.sensitive.items():
        observed = observe_field(survey, keys)
        scale = rule.scale(observed, policy.folder)
        if isinstance(scale, FrequencyScale):
            counted = sorted(
                ((value, count) for value, count in observed.items() if value is not None),
                key=lambda item: (-item[1], str(item[0])),
            )
            points: list[tuple[str, Scalar, str | None]] = [
                (f"v{rank}", value, str(value)) for rank, (value, _) in enumerate(counted, 1)
            ]
        else:
            points = [(label, corner, None) for label, corner in _corners(scale)]
        if scale is not None and points:
            yield policy.spell_path(keys), scale, points


def degrees_of(
    policy: Policy, asked: Iterable[tuple[str, str]], survey: Survey | None = None
) -> dict[str, list[Degrees]]:
    """Return the membership degrees of the given values, pairs of (path, value), by path.

    This is ML table 1 for any value of any sensitive attribute with levels; where these are stated value by
    value there are no fuzzy sets, and no degrees. Levels by frequency need a survey. Labels are the values as
    they were given. Raises PolicyError for a path without levels, and for a value without one.
    """
    tables: dict[str, list[Degrees]] = {}
    for text, value in asked:
        keys = policy.path(text).keys
        rule = policy.sensitive.get(keys)
        if rule is None or rule.levels is None:
            levelled = [policy.spell_path(path) for path, other in policy.sensitive.items() if other.levels]
            raise PolicyError(f"no sensitive attribute with levels{nearest(text, levelled)}", path=text)
        if rule.levels.by == "frequency" and survey is None:
            raise PolicyError("levels by frequency need the data: name it with --data", path=text)
        scale = rule.scale(observe_field(survey, keys), policy.folder)
        readings = map(rule.sameness.value_of, _readings(value))
        covered = next((reading for reading in readings if scale is not None and scale.covers(reading)), None)
        if scale is None or covered is None:
            why = "does not occur in the data" if rule.levels.by == "frequency" else "has no level"
            raise PolicyError(f"the value given {why}", path=text)
        degrees = _round_degrees(scale.memberships(covered))
        tables.setdefault(policy.spell_path(keys), []).append(Degrees(value, scale.level(covered), degrees))
    return tables


def _readings(text: str) -> Iterator[Scalar]:
    """Yield the values of the data that a text may mean: itself, a number, a truth value."""
    yield text
    with suppress(Uncovered):
        yield canonical(exact(text))
    if text in ("true", "false"):
        yield text == "true"


def _round_degrees(degrees: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(round(degree, _SHOWN) for degree in degrees)


def _corners(scale: LevelScale | None) -> list[tuple[str, int | Decimal]]:
    """Return the points at which degrees of a numeric scale are shown, its ends and knots, as (label, value).

    The label is rounded to four digits of the width, the value so finely that no shown degree changes.
    """
    if isinstance(scale, DomainScale):
        low, high = scale.low, scale.high
        corners = {low, *knots(low, high), high}
    elif isinstance(scale, SetScale):
        corners = {corner for _, shape in scale.shapes for corner in (shape.a, shape.b, shape.c, shape.d)}
        low, high = min(corners), max(corners)
    else:
        return []
    width, digits = high - low, 4
    while width >= 10:
        width, digits = width / 10, digits - 1
    while 0 < width < 1:
        width, digits = width * 10, digits + 1
    digits = max(digits, 0)
    return [
        (str(canonical(round(corner, digits))), canonical(round(corner, digits + 2 * _SHOWN)))
        for corner in sorted(corners)
    ]


_MOST = 12
"""Limit on the rows of a table."""


@dataclass(frozen=True)
class Capacities:
    """For classes of each size, the most values of each level, from level 1 upwards: floor(size * alpha)."""

    sizes: tuple[int, ...]
    by_level: tuple[tuple[int, ...], ...]


def capacities(policy: Policy, least: int) -> dict[str, Capacities]:
    """Return a table for each sensitive attribute whose levels a model limits, by its path.

    Sizes run from ``least``, the smallest class that all models allow, to the size at which every level with
    a positive alpha has room, or to twice ``least`` if that is larger; a table has at most 12 rows. If
    several models limit an attribute, the strictest counts.
    """
    tables = {}
    for keys in policy.sensitive:
        models = [
            model
            for model, scope in policy.scoped_models
            if model.smallest_sizes() and (scope is None or keys in scope)
        ]
        if not models:
            continue
        roomy = max(size or 1 for model in models for size in model.smallest_sizes())
        sizes = tuple(range(least, min(max(2 * least, roomy), least + _MOST - 1) + 1))
        rows = tuple(
            tuple(map(min, zip(*(model.capacities(size) for model in models), strict=True))) for size in sizes
        )
        tables[policy.spell_path(keys)] = Capacities(sizes, rows)
    return tables


def propose_alphas(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield, for each attribute with a level that has too little room, the least alphas with enough.

    A level without any room is reported elsewhere, with the size of classes that it needs.
    Spread evenly, a level with a share s of the values takes at most ceil(k s) places of a class of k. So
    alphas of ceil(k s) / k publish every value in classes of k, and an alpha below s none can keep.
    """
    readings = resolve_readings(policy)
    size = class_size(policy)
    for keys, model in pairs(policy):
        if keys is None or not model.smallest_sizes() or readings[keys].asks == "presence":
            continue
        with suppress(HierdataError):
            domain = domain_of(policy, keys, survey.values.get(keys, {}))
            alphas: tuple[Fraction, ...] = getattr(model, "alpha", ())
            if domain.levels is None or domain.reference is None:
                continue  # the mistake in the field's levels is reported elsewhere
            least = least_alphas(domain.levels, domain.reference, size, len(alphas))
            alphas_by_level = enumerate(zip(alphas, least, strict=True), 1)
            low = [level for level, (alpha, due) in alphas_by_level if alpha * size >= 1 and alpha < due]
            if low and size > 1:
                which = "level" if len(low) == 1 else "levels"
                yield (
                    keys,
                    f"{model.kind}: in classes of {size} records not all values of {which} "
                    f"{', '.join(map(str, low))} have room; the least alphas that leave room for every value "
                    f"are {', '.join(map(number, least))}",
                )


def least_alphas(levels: Sequence[int], counts: Sequence[int], size: int, most: int) -> tuple[Fraction, ...]:
    """Return for each of ``most`` levels the least alpha with which classes of ``size`` can hold its values.

    >>> [str(alpha) for alpha in least_alphas((1, 1, 2, 5), (50, 20, 25, 5), 10, 5)]
    ['7/10', '3/10', '0', '0', '1/10']
    """
    total = max(sum(counts), 1)
    by_level = [0] * most
    for level, count in zip(levels, counts, strict=True):
        by_level[level - 1] += count
    return tuple(Fraction(-(-size * count // total), size) for count in by_level)
