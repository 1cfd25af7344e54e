"""DL's definitions, claims and procedure on random classes: points that a study measures, one a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from hierdata.domains.proximity import fullest_window
from hierdata.privacy import FrequencyLDiversity
from hierdata.reproduction.dl.definitions import bound_of_union, largest_l, largest_m, run_printed_check
from hierdata.reproduction.dl.examples import achieved_l, achieved_m
from hierdata.reproduction.one_class import judge_class
from hierdata.reproduction.study import JSON

LARGEST = 20
"""Values are whole, from 0 to this."""
_DELTAS = tuple(Fraction(half, 2) for half in range(1, 9))
_SIZES = range(2, 11)
L = 2
"""The l of the claims on unions and of the procedure's decisions."""


def draw_class(rng: random.Random, size: int) -> list[int]:
    """Return random values, which may repeat."""
    return [rng.randint(0, LARGEST) for _ in range(size)]


def compare_principles(seed: int, count: int) -> JSON:
    """Count over random classes how often both principles agree, and how often the drawback is seen.

    ``definitions`` and ``models``: l at delta is m at epsilon = 2 delta. ``same_width``: l at delta is m at
    epsilon = delta. ``frequency``: l at delta = 0 is that of frequency l-diversity. ``drawback``: some value
    less gives a larger l, as {40, 60} against {40, 50, 60}.
    """
    rng = random.Random(seed)  # noqa: S311
    found = dict.fromkeys(("classes", "definitions", "models", "same_width", "frequency", "drawback"), 0)
    for _ in range(count):
        values, delta = draw_class(rng, rng.choice(_SIZES)), rng.choice(_DELTAS)
        best = largest_l(values, delta)
        frequency = judge_class(FrequencyLDiversity(l=1), values).achieved["l"]
        answers = {
            "classes": True,
            "definitions": best == largest_m(values, 2 * delta),
            "models": achieved_l(values, delta) == achieved_m(values, 2 * delta) == best,
            "same_width": best == largest_m(values, delta),
            "frequency": achieved_l(values, Fraction(0)) == frequency,
            "drawback": any(largest_l(rest, delta) > best for rest in _one_less(values)),
        }
        for name, answer in answers.items():
            found[name] += answer
    return dict(found)


def unite_classes(seed: int, count: int) -> JSON:
    """Count over pairs of (delta,2)-diverse classes how often their union is not, and the least l of one.

    ``below_bound`` counts unions with less than the bound of erratum DL-2.
    """
    rng = random.Random(seed)  # noqa: S311
    failing = below = 0
    least = Fraction(LARGEST)
    for _ in range(count):
        delta = rng.choice(_DELTAS)
        first, second = (_draw_diverse(rng, delta) for _ in range(2))
        united = achieved_l(first + second, delta)
        failing += united < L
        below += united < bound_of_union(len(first), len(second), Fraction(L))
        least = min(least, united)
    return {"pairs": count, "failing": failing, "below_bound": below, "least": str(least)}


def run_checks(seed: int, size: int, count: int) -> JSON:
    """Count over random classes of a size how the printed procedure's l compares with the exact one.

    ``too_high`` and ``too_low`` compare l, ``accepted`` and ``refused`` count wrong decisions on l = 2, and
    ``windows`` how often it is that of the fullest window of width 2 delta.
    """
    rng = random.Random(seed)  # noqa: S311
    found = dict.fromkeys(("too_high", "too_low", "accepted", "refused", "windows"), 0)
    for _ in range(count):
        values, delta = draw_class(rng, size), rng.choice(_DELTAS)
        printed, exact = run_printed_check(values, delta), achieved_l(values, delta)
        answers = {
            "too_high": printed is None or printed > exact,
            "too_low": printed is not None and printed < exact,
            "accepted": (printed is None or printed >= L) and exact < L,
            "refused": printed is not None and printed < L <= exact,
            "windows": printed == Fraction(size, fullest_window(values, 2 * delta)),
        }
        for name, answer in answers.items():
            found[name] += answer
    return dict(found)


def _one_less(values: list[int]) -> Iterator[list[int]]:
    """Yield a class without one of its values, for each of them."""
    yield from (values[:at] + values[at + 1 :] for at in range(len(values)))


def _draw_diverse(rng: random.Random, delta: Fraction) -> list[int]:
    """Return a random class that is (delta,2)-diverse."""
    while True:
        values = draw_class(rng, rng.choice(_SIZES))
        if achieved_l(values, delta) >= L:
            return values
