"""Recursive cuts against their twin: the same regions on random tables under every kind of constraint."""

from __future__ import annotations

import random
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from hierdata.documents.document import Scalar
from hierdata.domains import DOMAINS
from hierdata.domains.base import QuasiDomain
from hierdata.engines import Constraints
from hierdata.engines.mondrian.run import cut
from hierdata.engines.rows.constraints import ClassConstraints, check_classes, split_decided
from hierdata.engines.rows.table import RowLine, nodes_of
from hierdata.forest.forest import Scope
from hierdata.privacy import MODELS
from hierdata.privacy.base import PrivacyModel
from tests import naive_tables
from tests.cases import in_full
from tests.small_tables import Table, table

TREE = {"*": {"A": ["a", "b", "c"], "B": {"C": ["d", "e"], "f": None}, "D": {"E": ["g"]}, "h": None}}
COLUMNS: list[tuple[QuasiDomain, list[Scalar]]] = [
    (DOMAINS["taxonomy"](tree=TREE, inner=True), [*"abcdefgh", "B", "C", None]),
    (DOMAINS["interval"](steps=[2, 4, 8]), [*range(20), None]),
    (DOMAINS["interval"](steps=[4, 6]), list(range(14))),  # which do not nest
    (DOMAINS["interval"](steps=[2, 6, 9]), list(range(40))),
    (DOMAINS["interval"](steps=[1, 4, 6]), list(range(14))),
    (DOMAINS["prefix"](keep=[3, 1]), ["48123", "48199", "481", "4", "50001", "50002", "61"]),
    (DOMAINS["flat"](), [1, 2, 3, "x"]),
    (
        DOMAINS["date"](steps=["week", "month", "year"]),
        ["2020-02-27", "2020-03-01", "2020-12-31", "2021-01-02"],
    ),
]
SETTINGS: list[list[tuple[str, dict[str, Any]]]] = [
    [("k-anonymity", {"k": 2})],
    [("k-anonymity", {"k": 4})],
    [("frequency-l-diversity", {"l": 2})],
    [("k-anonymity", {"k": 3}), ("frequency-l-diversity", {"l": "3/2"})],
    [("distinct-l-diversity", {"l": 3})],
    [("entropy-l-diversity", {"l": 2})],
    [("delta-l-diversity", {"delta": 1, "l": 2})],
    [("delta-l-diversity", {"delta": "0.5", "l": "3/2"}), ("distinct-l-diversity", {"l": 2})],
    [("alpha-k", {"k": 2, "alpha": "0.5", "values": [3]})],
]


def models(setting: list[tuple[str, dict[str, Any]]]) -> list[PrivacyModel]:
    return [MODELS[kind](**own) for kind, own in setting]


def random_table(seed: int, *, missing: bool = False, below: bool = False) -> Table:
    rng = random.Random(seed)
    columns = rng.sample(COLUMNS, rng.randint(0, 3))
    rows = rng.randint(1, 40)
    pools = [rng.sample(values, rng.randint(1, len(values))) for _, values in columns]
    quasi = [[rng.choice(pool) for pool in pools] for _ in range(rows)]
    most = rng.choice((3, 8, 30))
    gaps = [None] if missing else []
    sensitive: list[list[Scalar]] = [[rng.choice([rng.randint(0, most), *gaps])] for _ in range(rows)]
    owners = sorted(rng.randrange(rows // 2 + 1) for _ in range(rows)) if below else None
    return table([domain for domain, _ in columns], quasi, sensitive, owners)


def judged(own: Table, constraints: Constraints, rows: naive_tables.Rows) -> bool:
    """Whether these rows may be a class: no record twice, and all models hold."""
    scope = Scope.of(own.forest, own.kind)
    classes = np.full(len(scope.rows), -1)
    classes[list(rows)] = 0
    records = scope.records[list(rows)].tolist()
    return len(set(records)) == len(rows) and bool(check_classes(own.forest, scope, constraints, classes)[0])


def regions_of(own: Table, constraints: Constraints) -> tuple[list[naive_tables.Rows], ...]:
    """What the compiled cuts find, in the twin's form."""
    forest, scope = own.forest, Scope.of(own.forest, own.kind)
    caps, open_ones = split_decided(forest, scope, constraints)
    asked = ClassConstraints(forest, scope, open_ones)
    judge = asked if asked.has_constraints else None
    rows, least = np.arange(len(scope.rows)), constraints.min_class_size
    found = cut(RowLine.of(forest, scope), rows, caps, least, judge, lambda done: None)
    regions = [tuple(sorted(found.rows(at).tolist())) for at in range(len(found.starts))]
    return tuple(
        sorted(rows for rows, holds in zip(regions, found.holds.tolist(), strict=True) if holds == wanted)
        for wanted in (True, False)
    )


FORMS = [*product([False, True], repeat=2)]
"""Whether some values are missing, and whether rows are below others."""


@pytest.mark.parametrize(
    ("setting", "form", "worlds"),
    [
        *((setting, FORMS[turn % len(FORMS)], 2) for turn, setting in enumerate(SETTINGS)),
        *(
            pytest.param(setting, form, in_full(40), marks=pytest.mark.full)
            for setting in SETTINGS
            for form in FORMS
        ),
    ],
    ids=str,
)
def test_cuts_and_twin_agree(
    setting: list[tuple[str, dict[str, Any]]], form: tuple[bool, bool], worlds: int
) -> None:
    failing, (missing, below) = 0, form
    for seed in range(worlds):
        own = random_table(seed, missing=missing, below=below)
        constraints = own.bind(*models(setting))
        twin = naive_tables.Mondrian(
            nodes_of(own.forest, Scope.of(own.forest, own.kind)).tolist(),
            own.forest.hierarchies[own.kind],
            [losses.tolist() for losses in own.forest.losses[own.kind]],
            constraints.min_class_size,
            partial(judged, own, constraints),
        )
        good, bad = twin.regions()
        assert regions_of(own, constraints) == (sorted(good), sorted(bad)), seed
        failing += len(bad)
    assert failing or not below
