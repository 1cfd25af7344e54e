"""Random domains of each kind with random observed values, for the contract that all of them keep."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from hierdata.documents.document import Scalar
from hierdata.domains import DOMAINS, Date, Flat, Interval, Prefix, QuasiDomain, Taxonomy

Drawn = tuple[QuasiDomain, dict[Scalar, int]]


@st.composite
def nested_trees(draw: st.DrawFn) -> tuple[dict[str, Any], list[str]]:
    """A nested tree of up to 13 nodes and its leaves, at any depths."""
    children: list[list[int]] = [[]]
    for node in range(1, draw(st.integers(2, 13))):
        children[draw(st.integers(0, node - 1))].append(node)
        children.append([])

    def below(node: int) -> dict[str, Any]:
        return {f"n{child}": below(child) for child in children[node]}

    return {"*": below(0)}, [f"n{node}" for node, own in enumerate(children) if node and not own]


def _height(tree: dict[str, Any]) -> int:
    return 1 + max((_height(below) for below in tree.values()), default=-1)


@st.composite
def taxonomies(draw: st.DrawFn) -> Drawn:
    tree, leaves = draw(nested_trees())
    return Taxonomy(tree=tree, finest=draw(st.integers(0, _height(tree["*"])))), dict.fromkeys(
        draw(st.lists(st.sampled_from(leaves), unique=True)), 1
    )


NUMBERS = st.one_of(
    st.integers(-60, 60),
    st.integers(-600, 600).map(lambda cents: Decimal(cents) / 100),
    st.integers(-60, 60).map(str),
)

WHOLE = st.one_of(st.integers(-60, 60), st.integers(-60, 60).map(str))


@st.composite
def intervals(draw: st.DrawFn) -> Drawn:
    steps = draw(st.lists(st.sampled_from(["0.25", "0.5", 1, 2, 3, 5, 7, 10, 100]), min_size=1, unique=True))
    domain = draw(st.sampled_from([None, [-50, 50], ["-0.5", "9.75"]]))
    decimals = draw(st.booleans())
    stated = {*steps, *(domain or ())}
    numbers = NUMBERS if decimals or any(isinstance(number, str) for number in stated) else WHOLE
    values = draw(st.lists(draw(st.sampled_from([numbers, st.integers(-60, 60)])), max_size=12))
    outside = "clamp" if domain else "refuse"
    return (
        Interval(steps=sorted(steps, key=float), domain=domain, outside=outside, decimals=decimals),
        dict.fromkeys(values, 1),
    )


@st.composite
def dates(draw: st.DrawFn) -> Drawn:
    steps = ["day", "week", "month", "quarter", "year", "decade", "century"]
    chosen = draw(st.lists(st.sampled_from(steps), min_size=1, unique=True))
    first = draw(st.sampled_from([date(1, 1, 1), date(1999, 11, 1), date(9990, 1, 1)]))
    days = draw(st.lists(st.integers(0, 1000), max_size=12))
    observed = {(first + timedelta(days=day)).isoformat(): 1 for day in days}
    return Date(steps=sorted(chosen, key=steps.index)), observed


@st.composite
def prefixes(draw: st.DrawFn) -> Drawn:
    keep = draw(st.lists(st.integers(1, 5), min_size=1, unique=True))
    codes = draw(st.lists(st.text("12", max_size=5) | st.integers(0, 999), max_size=12))
    return Prefix(keep=sorted(keep, reverse=True)), dict.fromkeys(codes, 1)


@st.composite
def flats(draw: st.DrawFn) -> Drawn:
    values = draw(
        st.lists(st.sampled_from(["a", "b", "1", "1.0", "true", 1, Decimal("1.50"), 7]), unique=True)
    )
    return Flat(), dict.fromkeys(values, 1)


STRATEGIES: dict[str, st.SearchStrategy[Drawn]] = {
    "taxonomy": taxonomies(),
    "interval": intervals(),
    "date": dates(),
    "prefix": prefixes(),
    "flat": flats(),
}

assert STRATEGIES.keys() == DOMAINS.keys(), "a domain without a strategy keeps no contract"
