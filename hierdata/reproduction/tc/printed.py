"""What TC prints: its two tables, the tree of diseases and the worked example, as facts."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from hierdata.domains.sensitive import SensitiveDomain, heights_in, path_in
from hierdata.domains.taxonomy import Taxonomy
from hierdata.reproduction.exhibit import Grid


@cache
def facts() -> dict[str, Any]:
    """Return the data of the paper."""
    text = (files("hierdata.reproduction") / "data" / "TC.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def printed_table(name: str) -> Grid:
    """Return a table as the paper prints it."""
    return Grid(tuple(facts()[name]["columns"]), tuple(map(tuple, facts()[name]["rows"])))


def diseases() -> list[str]:
    """Return the disease of each record of table I, in order."""
    return [str(row[-1]) for row in printed_table("table I").rows]


def disease_domain() -> SensitiveDomain:
    """Return the diseases of table I in the tree of figure 3; codes are places in the table."""
    tree = Taxonomy(tree=facts()["tree"]).compile({}, Path())
    values = diseases()
    paths = tuple(path_in(tree, value) for value in values)
    return SensitiveDomain(
        "$.Disease", tuple(values), paths=paths, reference=(1,) * len(values), heights=heights_in(tree)
    )
