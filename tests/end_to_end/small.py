"""Small people whose values every model may judge, as flat rows and as trees, and a policy for them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from hierdata.privacy.base import PrivacyModel
from tests.random_collections import KINDS, LEVELS, VALUES

Row = dict[str, Any]

_KNOWN: dict[str, Any] = {
    "age": {"role": "quasi", "interval": {"steps": [1, 5, 20], "domain": [20, 60]}},
    "town": {
        "role": "quasi",
        "missing": ["?"],
        "taxonomy": {"tree": {"*": {"north": ["oslo", "bergen"], "south": ["rome"]}}},
    },
}
_TREE: dict[str, Any] = {"*": {value: None for value, kind in KINDS.items() if kind == "*"}}
for _value, _kind in KINDS.items():
    if _kind != "*":
        _TREE["*"].setdefault(_kind, {})[_value] = None
_SENSITIVE: dict[str, Any] = {
    "role": "sensitive",
    "number": True,
    "levels": {"by": dict(zip(VALUES, LEVELS, strict=True))},
    "taxonomy": {"tree": _TREE},
}
FLAT = {**{f"$.{name}": rule for name, rule in _KNOWN.items()}, "$.score": _SENSITIVE}
NESTED = {**FLAT, "$.visits[*].ward": {"role": "quasi", "flat": True}, "$.visits[*].result": _SENSITIVE}


def _score(rng: Random) -> int | None:
    return None if rng.random() < 0.05 else int(rng.choice(VALUES))


def rows(count: int = 60, seed: int = 1) -> list[Row]:
    """People of one vertex: ages, towns and scores, a few of them missing."""
    rng = Random(seed)
    return [
        {
            "age": rng.randint(20, 45),
            "town": rng.choice(["oslo", "bergen", "rome", "?"]),
            "score": _score(rng),
        }
        for _ in range(count)
    ]


def trees(count: int = 60, seed: int = 1) -> list[Row]:
    """The same people with one to three visits each."""
    rng = Random(seed)
    visits = [
        [{"ward": rng.choice("uv"), "result": _score(rng)} for _ in range(rng.randint(1, 3))]
        for _ in range(count)
    ]
    return [{**row, "visits": own} for row, own in zip(rows(count, seed), visits, strict=True)]


def write_csv(path: Path, table: Sequence[Row]) -> Path:
    """A table as text: an absent value is an empty cell."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    return path


def policy(fields: dict[str, Any], *models: PrivacyModel, folder: Path, **more: Any) -> dict[str, Any]:
    """A policy for these models; for those that ask for a population, each person has a twin in it.

    All people together break some of the models, so nothing is promised about those who are left out.
    """
    stated = {
        "version": 1,
        "suppressed": "as_published",
        "fields": fields,
        "models": [model.model_dump(mode="json", exclude_defaults=True) for model in models],
        **more,
    }
    for model, plain in zip(models, stated["models"], strict=True):
        plain["kind"] = model.kind
    if any(model.needs_population for model in models):
        people = [{name: row[name] for name in _KNOWN} for row in rows()]
        stated["population"] = {"file": str(write_csv(folder / "population.csv", people * 2))}
    return stated
