"""What section V of LE claims of (l,e)-diversity against l-diversity, decided by the numbers measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps

from hierdata.release.charts import Point
from hierdata.reproduction.exhibit import point_of

Measured = Mapping[str, Fraction]
"""The figures of one run, by name (see experiment.measure_setting)."""
LONGER = Fraction(11, 10)
"""How many times as long a search must take to count as slower; less is noise."""


@dataclass(frozen=True)
class Repeats:
    """The runs of one setting under one model, which differ by the rows drawn."""

    runs: tuple[Measured, ...]

    def mean(self, name: str) -> Fraction:
        """Return the mean of a figure over the runs."""
        return sum((run[name] for run in self.runs), Fraction(0)) / len(self.runs)

    def point(self, x: float, name: str) -> Point:
        """Return a figure as a point of a chart: its mean, least and most."""
        return point_of(x, [float(run[name]) for run in self.runs])

    @property
    def publishes(self) -> bool:
        """Whether every run published a class."""
        return all(run["classes"] for run in self.runs)


@dataclass(frozen=True)
class Contrast:
    """The two models at one setting; ``x`` is its n or l."""

    x: int
    plain: Repeats
    semantic: Repeats

    @property
    def is_comparable(self) -> bool:
        """Whether both models publish something in every run."""
        return self.plain.publishes and self.semantic.publishes

    def compare(self, name: str) -> int:
        """Return 1 if the figure is larger under (l,e)-diversity, -1 if smaller, 0 if equal."""
        semantic, plain = self.semantic.mean(name), self.plain.mean(name)
        return (semantic > plain) - (semantic < plain)


Describe = Callable[[Sequence[Contrast], str], str]
"""Returns sentences on the contrasts over an axis, n or l."""


def _compare_where_both_publish(describe: Describe) -> Describe:
    """Let ``describe`` have the settings where both models publish a class, and name the others."""

    @wraps(describe)
    def describe_all(contrasts: Sequence[Contrast], axis: str) -> str:
        both = [contrast for contrast in contrasts if contrast.is_comparable]
        lost = [contrast for contrast in contrasts if not contrast.is_comparable]
        sentences = [describe(both, axis)] if both else []
        if lost:
            plain = any(not contrast.plain.publishes for contrast in lost)
            semantic = any(not contrast.semantic.publishes for contrast in lost)
            who = " or ".join(["l-diversity"] * plain + ["(l,e)-diversity"] * semantic)
            values = ", ".join(str(contrast.x) for contrast in lost)
            sentences.append(f"At {axis} = {values} {who} publishes nothing; that is not compared.")
        return " ".join(sentences)

    return describe_all


@_compare_where_both_publish
def describe_loss(both: Sequence[Contrast], axis: str) -> str:
    """Return whether (l,e)-diversity loses more, as the paper counts and with suppressed rows at 1 (LE-6)."""
    as_counted = [contrast.compare("loss_published") for contrast in both]
    charged = [contrast.compare("loss") for contrast in both]
    return (
        f"The claim that (l,e)-diversity loses more {_verdict(as_counted)} as the paper counts, where "
        f"suppressed rows cost nothing: {_count(as_counted, 'more', 'less')}. With 1 for each suppressed row "
        f"it {_verdict(charged)}: {_count(charged, 'more', 'less')}. {_describe_suppression(both)}"
    )


@_compare_where_both_publish
def describe_degree(both: Sequence[Contrast], axis: str) -> str:
    """Return whether the diversity degree is higher, as printed and as the mean distance of a pair (LE-8)."""
    printed, mean = ([contrast.compare(name) for contrast in both] for name in ("degree", "mean_distance"))
    growth = ""
    if axis == "l" and len(both) > 1 and _rises(both, "degree") and not _rises(both, "mean_distance"):
        growth = (
            f" From l = {both[0].x} to {both[-1].x} the degree rises under both models and the mean "
            "distance does not: as printed the degree counts the size of classes."
        )
    return (
        f"The claim that (l,e)-diversity has the higher degree {_verdict(printed)}: "
        f"{_count(printed, 'higher', 'lower')}. The mean distance of two values of a class, which does not "
        f"grow with the class, is {_count(mean, 'higher', 'lower')}.{growth} {_describe_suppression(both)}"
    )


@_compare_where_both_publish
def describe_time(both: Sequence[Contrast], axis: str) -> str:
    """Return whether the search for (l,e)-diversity takes longer."""
    seconds = [(contrast.semantic.mean("seconds"), contrast.plain.mean("seconds")) for contrast in both]
    ratios = [semantic / max(plain, Fraction(1, 10**9)) for semantic, plain in seconds]
    slower = [(ratio > LONGER) - (ratio < 1 / LONGER) for ratio in ratios]
    return (
        f"The claim that (l,e)-diversity takes longer {_verdict(slower)}: its search takes "
        f"{float(min(ratios)):.2f} to {float(max(ratios)):.2f} times the CPU seconds of that for l-diversity "
        f"(within a tenth counts as equal: {_count(slower, 'longer', 'shorter')}). Both run the same engine."
    )


def _verdict(signs: Sequence[int]) -> str:
    if all(sign > 0 for sign in signs):
        return "holds"
    return "holds in part" if any(sign > 0 for sign in signs) else "does not hold"


def _count(signs: Sequence[int], more: str, less: str) -> str:
    named = ((1, more), (-1, less), (0, "equal"))
    counts = [f"{word} at {signs.count(sign)}" for sign, word in named if sign in signs]
    return f"{', '.join(counts)} of {len(signs)} points"


def _describe_suppression(contrasts: Sequence[Contrast]) -> str:
    """Say what shares of the rows each model suppresses."""
    semantic = _range([contrast.semantic for contrast in contrasts])
    plain = _range([contrast.plain for contrast in contrasts])
    return f"(l,e)-diversity suppresses {semantic} of the rows, l-diversity {plain}."


def _range(settings: Sequence[Repeats]) -> str:
    shares = [repeats.mean("suppressed") / repeats.mean("rows") for repeats in settings]
    low, high = (f"{100 * float(end):.1f} %" for end in (min(shares), max(shares)))
    return low if low == high else f"{low} to {high}"


def _rises(contrasts: Sequence[Contrast], name: str) -> bool:
    first, last = contrasts[0], contrasts[-1]
    return all(
        getattr(last, model).mean(name) > getattr(first, model).mean(name) for model in ("plain", "semantic")
    )
