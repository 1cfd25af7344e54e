"""The factors of the comparison, the combinations of them that are valid, and some that cover all pairs."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, groupby, product
from operator import attrgetter
from random import Random
from typing import Any, NamedTuple, TypeAlias

from tests.benchmarks.same_bytes.inputs import TABULAR, WRITERS

Rule: TypeAlias = dict[str, Any]


class Combination(NamedTuple):
    """One value of each factor."""

    shape: str
    search: str
    recoding: str
    format: str
    executor: str
    model: str
    option: str


TREE_ENGINES: dict[str, list[Rule]] = {
    "clustree": [{"kind": "clustree"}],
    "k-member": [{"kind": "k-member"}],
    "local-search": [{"kind": "clustree", "pairing": "benefit"}, {"kind": "local-search", "passes": 2}],
}
ROW_ENGINES: dict[str, list[Rule]] = {
    "compose": [{"kind": "compose", "passes": 5}],
    "full-domain": [{"kind": "full-domain", "suppression": "1/2"}],
    "kaca": [{"kind": "kaca", "beta": 1}],
    "mbf": [{"kind": "mbf"}],
    "mondrian": [{"kind": "mondrian"}],
    "msb": [{"kind": "msb"}],
    "spread": [{"kind": "spread"}],
    "swap": [{"kind": "mondrian"}, {"kind": "swap"}],
    "swarm": [{"kind": "mondrian"}, {"kind": "swarm", "particles": 4, "rounds": 5}],
    "sweep": [{"kind": "sweep"}],
}
PRESETS = {
    "MLevCluTree": "generalization",
    "ClusTree": "generalization",
    "MBF": "anatomy",
    "anatomy-l": "anatomy",
    "MSB-KACA": "slicing_by_table",
    "SLOMS": "slicing_by_table",
    "MSB-KACA with shared groups": "slicing",
    "t-closeness over MSB-KACA with swap": "slicing_by_table",
    "t-closeness over MSB-KACA": "slicing_by_table",
    "t-closeness over MSB-KACA with shared groups": "slicing",
}
"""The presets with the recoding that each fixes."""
DEFAULT = "by default"
"""The search where the policy names none."""
ALPHA = ["0.8", "0.6", "0.4", "0.4", "0.4"]
GROUPS = {"kind": "frequency-l-diversity", "l": 2}
MODELS: dict[str, list[Rule]] = {
    # @text stands for the paths of sensitive texts, @number for that of the sensitive number.
    "k-anonymity": [{"kind": "k-anonymity", "k": 3}],
    "distinct-l-diversity": [{"kind": "distinct-l-diversity", "l": 2}],
    "frequency-l-diversity": [{"kind": "frequency-l-diversity", "l": 2}],
    "entropy-l-diversity": [{"kind": "entropy-l-diversity", "l": "3/2"}],
    "recursive-cl-diversity": [{"kind": "recursive-cl-diversity", "c": 2, "l": 2}],
    "alpha-k": [{"kind": "alpha-k", "k": 3, "alpha": "1/2"}],
    "level-alpha-k": [{"kind": "level-alpha-k", "k": 3, "alpha": ALPHA, "on": "@text"}],
    "l-e-diversity": [{"kind": "l-e-diversity", "l": 2, "e": 1, "on": "@text"}],
    "delta-l-diversity": [{"kind": "delta-l-diversity", "delta": 200, "l": 2, "on": "@number"}],
    "epsilon-m-anonymity": [{"kind": "epsilon-m-anonymity", "epsilon": 300, "m": 2, "on": "@number"}],
    "relative epsilon-m": [
        {"kind": "epsilon-m-anonymity", "epsilon": "0.1", "m": 2, "relative": True, "on": "@number"}
    ],
    "t-closeness": [{"kind": "k-anonymity", "k": 3}, {"kind": "t-closeness", "t": "0.6", "on": "@text"}],
    "ordered t-closeness": [{"kind": "t-closeness", "t": "0.4", "distance": "ordered", "on": "@number"}],
    "hierarchical t-closeness": [
        {"kind": "t-closeness", "t": "0.5", "distance": "hierarchical", "on": "@text"}
    ],
    "basic-beta-likeness": [{"kind": "basic-beta-likeness", "beta": 4, "on": "@text"}],
    "enhanced-beta-likeness": [{"kind": "enhanced-beta-likeness", "beta": 4, "on": "@text"}],
    "delta-disclosure": [{"kind": "delta-disclosure", "delta": 2, "absent": "ignore", "on": "@text"}],
    "p-sensitive-k-anonymity": [{"kind": "p-sensitive-k-anonymity", "p": 2, "k": 3, "on": "@text"}],
    "k-map": [{"kind": "k-anonymity", "k": 2}, {"kind": "k-map", "k": 4}],
    "delta-presence": [{"kind": "k-anonymity", "k": 2}, {"kind": "delta-presence", "delta_max": "1/2"}],
    "of the preset": [],
    "of MBF": [{"kind": "l-e-diversity", "l": 2, "e": 1, "on": "@text"}],
    "of t-closeness over MSB-KACA": [
        {"kind": "k-anonymity", "k": 3},
        {"kind": "frequency-l-diversity", "l": 2},
        {"kind": "t-closeness", "t": "0.5", "on": "@text"},
    ],
    "l-diversity of groups": [
        {**GROUPS, "by": "partition", "partition": {"equal_frequency": 3}, "on": "@number"},
        {"kind": "distinct-l-diversity", "l": 2, "by": "level", "on": "@text"},
        {"kind": "entropy-l-diversity", "l": "5/4", "by": "similarity", "e": 1, "on": "@text"},
    ],
}
OWN_MODELS = {name for name in MODELS if name.startswith("of ")}
"""The models of presets, stated where those that a preset brings would publish next to nothing."""
MONOTONE = {"k-anonymity", "distinct-l-diversity", "frequency-l-diversity", "entropy-l-diversity", "alpha-k"}
REFERENCE = {name for name in MODELS if "likeness" in name or "closeness" in name} | {"delta-disclosure"}
"""Models that compare a class with the whole collection."""
POPULATION = {"k-map", "delta-presence"}
OPTIONS = ("plain", "pseudonym", "shift", "redact", "gates", "kept", "exempt", "blocks")
FACTORS: dict[str, Sequence[str]] = {
    "shape": ("flat", "tree"),
    "search": (DEFAULT, *TREE_ENGINES, *ROW_ENGINES, *PRESETS),
    "recoding": (
        "generalization",
        "full_domain",
        "sets_and_ranges",
        "representatives",
        "anatomy",
        "slicing",
        "slicing_by_table",
    ),
    "format": tuple(WRITERS),
    "executor": ("serial", "processes"),
    "model": tuple(MODELS),
    "option": OPTIONS,
}
OPTIONAL = ({"format", "model"}, {"model", "option"}, {"search", "option"}, {"format", "option"})
"""Pairs of factors with too many pairs of values: they are covered as far as the others leave room."""
SAMPLE = 800
"""The most valid combinations of each search that ``covering`` chooses from."""


def _search_is_valid(shape: str, search: str, recoding: str) -> bool:
    """Engines of trees align whole records, those of rows need a table; a preset fixes its recoding."""
    if search in PRESETS and recoding != PRESETS[search]:
        return False
    if recoding == "slicing_by_table":  # every sensitive field needs a model, and presets have one
        return shape == "flat" and search in PRESETS
    if recoding == "anatomy":
        return search not in (*TREE_ENGINES, "full-domain") and (shape, search) != ("tree", "spread")
    return shape == "flat" or (search not in ROW_ENGINES and PRESETS.get(search) != "slicing")


def _model_is_valid(search: str, recoding: str, model: str) -> bool:
    """A preset has a model of its own, some engines serve some models, and a population needs nodes."""
    if search in PRESETS:
        return model == (own if (own := f"of {search}") in MODELS else "of the preset")
    if model in OWN_MODELS:
        return False
    if model in POPULATION and recoding in ("anatomy", "slicing", "sets_and_ranges"):
        return False
    if search == "spread":
        return model in ("delta-l-diversity", "epsilon-m-anonymity")
    return search not in ("mbf", "msb") or model not in REFERENCE


def _option_is_valid(search: str, recoding: str, model: str, format_name: str, option: str) -> bool:
    """Representatives are no rows of a table and have no pseudonym; blocks need closed models."""
    if recoding == "representatives" and (format_name in TABULAR or option == "pseudonym"):
        return False
    in_blocks = recoding == "generalization" and search != "full-domain" and model in MONOTONE
    return in_blocks or option != "blocks"


@cache
def valid_combinations() -> list[Combination]:
    """All that the policy reference allows and that promise something."""
    return [
        Combination(shape, search, recoding, format_name, executor, model, option)
        for search, recoding, shape in product(*(FACTORS[name] for name in ("search", "recoding", "shape")))
        if _search_is_valid(shape, search, recoding)
        for model in MODELS
        if _model_is_valid(search, recoding, model)
        for format_name, option in product(WRITERS, OPTIONS)
        if _option_is_valid(search, recoding, model, format_name, option)
        for executor in FACTORS["executor"]
    ]


def pairs_of(one: Combination) -> tuple[set[str], set[str]]:
    """The pairs of values in a combination: those to cover, and those of ``OPTIONAL``."""
    required, optional = set(), set()
    for (a, x), (b, y) in combinations(zip(FACTORS, one, strict=True), 2):
        (optional if {a, b} in OPTIONAL else required).add(f"{a} {x}, {b} {y}")
    return required, optional


def covering() -> list[Combination]:
    """Combinations that together have the required pairs; ``coverage`` tells whether none is left out.

    They are chosen from a sample of the valid ones. The next is always the one with the most pairs that are
    new; of equal ones a serial one, since processes take longer to start, then the one with the most new
    optional pairs.
    """
    found: list[Combination] = []
    for _, own in groupby(valid_combinations(), attrgetter("search")):
        every = list(own)
        found += Random(1).sample(every, min(len(every), SAMPLE))
    pairs = [pairs_of(one) for one in found]
    covered: set[str] = set()

    def gain(at: int) -> tuple[int, bool, int]:
        required, optional = (len(own - covered) for own in pairs[at])
        return -required, found[at].executor != "serial", -optional

    # A gain never grows, so one that is still the best after it is worked out anew is the best of all.
    queue = [(gain(at), at) for at in range(len(found))]
    heapq.heapify(queue)
    chosen = []
    while queue:
        before, at = queue[0]
        now = gain(at)
        if now != before:
            heapq.heapreplace(queue, (now, at))
        elif now[0] == 0:
            break
        else:
            heapq.heappop(queue)
            chosen.append(found[at])
            covered.update(*pairs[at])
    return chosen


def coverage(chosen: Iterable[Combination]) -> str:
    """For each pair of factors how many of its valid pairs of values are in a combination."""
    both = (list(chosen), valid_combinations())
    counts = []
    for (a, first), (b, second) in combinations(enumerate(FACTORS), 2):
        found, valid = (len({(one[a], one[b]) for one in own}) for own in both)
        counts.append(f"{first} x {second} {found}/{valid}")
    return ", ".join(counts)
