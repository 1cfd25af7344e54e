"""What random policies are made of: domains with values, and models."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

MISSING = "?"

Leaf = tuple[dict[str, Any], Callable[[Random], Any]]
"""A rule and how to draw a value."""
TREE: dict[str, Any] = {
    "*": {"warm": {"red": {}, "orange": {}}, "cold": {"blue": {}, "green": {}}, "grey": {}}
}
QUASI: list[Leaf] = [
    ({"taxonomy": {"tree": TREE}}, lambda rng: rng.choice(["red", "orange", "blue", "green", "grey"])),
    ({"interval": {"steps": [1, 2, 5]}}, lambda rng: rng.randint(1, 9)),
    ({"interval": {"steps": ["0.5", 2]}}, lambda rng: Decimal(rng.randint(0, 8)) / 4),
    (
        {"date": {"steps": ["day", "month", "year"]}},
        lambda rng: f"200{rng.randint(1, 2)}-0{rng.randint(1, 2)}-07",
    ),
    ({"prefix": {"keep": [2, 1]}}, lambda rng: f"4{rng.randint(1, 2)}{rng.randint(0, 2)}"),
    ({"flat": True}, lambda rng: rng.choice(["north", "south"])),
    # Floors above the values.
    (
        {"taxonomy": {"tree": TREE, "finest": 1}},
        lambda rng: rng.choice(["red", "orange", "blue", "green", "grey"]),
    ),
    ({"interval": {"steps": [2, 5]}}, lambda rng: rng.randint(1, 9)),
    (
        {"date": {"steps": ["week", "month", "year"]}},
        lambda rng: f"200{rng.randint(1, 2)}-0{rng.randint(1, 2)}-0{rng.randint(1, 9)}",
    ),
]
SEMANTICS = {"*": {"few": ["1", "2"], "some": ["4", "5"], "many": ["9"]}}
LETTERS = {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5}
SENSITIVE: list[Leaf] = [
    ({"levels": {"by": LETTERS}}, lambda rng: rng.choice("AABBCDE")),
    ({"levels": {"domain": [0, 4], "sensitive": "low"}}, lambda rng: Decimal(rng.randint(0, 8)) / 2),
    (
        {"levels": {"by": "frequency", "sensitive": "rare"}},
        lambda rng: rng.choice(["flu", "flu", "cold", "HIV"]),
    ),
]
RICH: list[Leaf] = [
    (
        {
            "number": True,
            "levels": {"by": {"1": 1, "2": 2, "4": 3, "5": 4, "9": 5}},
            "taxonomy": {"tree": SEMANTICS},
        },
        lambda rng: rng.choice((1, 1, 2, 4, 5, 9)),
    )
]
"""Values that every model may judge."""
MODELS: list[dict[str, Any]] = [
    {"kind": "k-anonymity", "k": 2},
    {"kind": "k-anonymity", "k": 3},
    {"kind": "distinct-l-diversity", "l": 2},
    {"kind": "frequency-l-diversity", "l": 2},
    {"kind": "frequency-l-diversity", "l": "3/2"},
    {"kind": "entropy-l-diversity", "l": "3/2"},
    {"kind": "recursive-cl-diversity", "c": 2, "l": 2},
    {"kind": "alpha-k", "k": 2, "alpha": "2/3"},
    {"kind": "level-alpha-k", "k": 2},
    {"kind": "level-alpha-k", "k": 3},
    {"kind": "t-closeness", "t": "3/5"},
    {"kind": "basic-beta-likeness", "beta": 3},
    {"kind": "enhanced-beta-likeness", "beta": 3},
    {"kind": "delta-disclosure", "delta": 2, "absent": "ignore"},
    {"kind": "p-sensitive-k-anonymity", "p": 2, "k": 2},
    {"kind": "k-map", "k": 3},
    {"kind": "delta-presence", "delta_max": "1/2"},
]
"""What may be asked of any values."""
OF_RICH: list[dict[str, Any]] = [
    {"kind": "l-e-diversity", "l": 2, "e": 1},
    {"kind": "l-e-diversity", "l": 2, "e": "1/2", "repeats": "allow"},
    {"kind": "delta-l-diversity", "delta": "1/2", "l": 2},
    {"kind": "delta-l-diversity", "delta": 1, "l": "3/2"},
    {"kind": "epsilon-m-anonymity", "epsilon": 1, "m": 2},
    {"kind": "epsilon-m-anonymity", "epsilon": "1/2", "m": "3/2", "relative": True},
    {"kind": "t-closeness", "t": "2/5", "distance": "ordered"},
    {"kind": "t-closeness", "t": "1/2", "distance": "hierarchical"},
    {"kind": "frequency-l-diversity", "l": "3/2", "by": "similarity", "e": 1},
    {"kind": "alpha-k", "k": 2, "alpha": "2/3", "by": "level"},
    {"kind": "recursive-cl-diversity", "c": 2, "l": 2, "by": "partition", "partition": {"depth": 1}},
]
"""What may be asked of rich values beside."""
POPULATION = ("k-map", "delta-presence")
NEAR = ("delta-l-diversity", "epsilon-m-anonymity")
