"""Two releases together: candidates agree with a twin, and what each promises alone may fail."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.ground.errors import HierdataError, InputError, PolicyError
from hierdata.ground.progress import silent
from hierdata.measurement.adversary.forms import Forms
from hierdata.measurement.adversary.knowledge import Curiosity
from hierdata.measurement.release import Rebuilt
from hierdata.measurement.risks.composition import Composition, ShownRelease
from hierdata.measurement.risks.evidence import Evidence
from hierdata.pipeline.other_release import read_other
from hierdata.pipeline.read_release import ReadRelease, read_release
from tests import naive_composition
from tests.adversary.test_attack import PARENTS, SEED, SHAPE, as_naive, people, policy
from tests.adversary.test_measured_risks import blurred
from tests.cases import with_worlds


def seen(read: ReadRelease, own: Rebuilt) -> ShownRelease:
    return ShownRelease(
        Forms.of(own.forest, own.publication, own.form),
        Evidence.of(read.original, None, own.forest, own.publication, own.form),
    )


@with_worlds(2, 12)
def test_candidates_in_both_are_those_of_the_twin(worlds: int) -> None:
    fewer = compared = 0
    for number in range(worlds):
        records = people(number, 14)
        first, second = blurred(records, number), blurred(records, number + 100)
        second[0]["income"] = None  # left out: it may be anything
        second += blurred(people(number + 50, 2), number)  # persons of the other release alone
        read = read_release(first, policy(), original=records)
        both = Composition(
            read.original,
            seen(read, read.rebuilt),
            seen(read, read_other(second, read.prepared, read.original, silent)),
        )
        trees = [[SHAPE.tree(one) for one in shown] for shown in (first, second)]
        twin = naive_composition.Linked(trees[0], trees[1], PARENTS)
        rng = np.random.default_rng(number)
        for record, document in enumerate(records):
            known = Curiosity(3).learn(read.original, record, rng)
            found = both.attack([known], 3).sizes[:, 0].tolist()
            own = SHAPE.tree(document)
            for count in range(4):
                victim = as_naive(
                    replace(known, facts=known.facts[:count]), own, int(read.original.roots[record])
                )
                expected, alone = twin.count(victim)
                assert found[count] == expected
                fewer += expected < alone
                compared += 1
    assert compared == worlds * 14 * 4
    assert fewer > compared / 5


FIELDS: dict[str, Any] = {
    "$.age": {"role": "quasi", "interval": {"steps": [1, 10, 20]}},
    "$.town": {"role": "quasi", "flat": True},
    "$.wage": {"role": "sensitive", "asks": "value"},
}


def stated(**more: Any) -> dict[str, Any]:
    models = [{"kind": "k-anonymity", "k": 8}]
    return {
        "version": 1,
        "models": models,
        "engine": {"steps": [{"kind": "mondrian"}]},
        "fields": FIELDS,
        **more,
    }


def rows() -> list[dict[str, Any]]:
    return [{"age": 20 + n % 80, "town": "ab"[n % 2], "wage": 100 * n} for n in range(160)]


def test_two_releases_of_one_table_find_a_person_whom_neither_finds(tmp_path: Path) -> None:
    """Wages are all different, so that two classes that overlap have few records in common."""
    records, anonymize = rows(), partial(hierdata.anonymize, rows(), seed=SEED)
    crossing = {**FIELDS, "$.age": {"role": "quasi", "interval": {"steps": [1, 15, 30]}}}
    anonymize(stated(), out=tmp_path / "one")
    anonymize(stated(fields=crossing), out=tmp_path / "two")
    attack = partial(hierdata.attack, original=records, facts=1, victims=30)
    found = attack(tmp_path / "one", stated(), other=tmp_path / "two")
    assert found.both is not None
    assert found.release.candidates[0].smallest >= 8
    assert found.both[0].below > 0.1
    assert found.both[0].smallest < 8
    # The same release once more tells nothing.
    again = attack(tmp_path / "one", stated(), other=tmp_path / "one")
    assert again.both == again.release.candidates
    # By its public files alone, whatever is said of them.
    (tmp_path / "two" / "steward" / "witness.bin").unlink()
    for file in (tmp_path / "two" / "steward").iterdir():
        file.unlink()
    assert attack(tmp_path / "one", stated(), other=tmp_path / "two").both == found.both
    assert "wage" not in json.dumps(found.as_dict()["both"])


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"fields": {**FIELDS, "$.town": {"role": "sensitive"}}}, PolicyError, "1 differ in role"),
        (
            {"fields": {**FIELDS, "$.wage": {"role": "sensitive", "publish": {"interval": 500}}}},
            PolicyError,
            "1 differ",
        ),
        (
            {
                "recoding": "anatomy",
                "engine": {"steps": [{"kind": "mbf"}]},
                "models": [{"kind": "frequency-l-diversity", "l": 2}],
            },
            PolicyError,
            "must have recoding",
        ),
    ],
)
def test_another_release_of_other_fields_is_refused(
    tmp_path: Path, change: dict[str, Any], kind: type[HierdataError], message: str
) -> None:
    hierdata.anonymize(rows(), stated(), out=tmp_path / "one", seed=SEED)
    hierdata.anonymize(rows(), stated(**change), out=tmp_path / "two", seed=SEED)
    for first, policy_of, second in (("one", stated(), "two"), ("two", stated(**change), "one")):
        with pytest.raises(kind, match=message):
            hierdata.attack(tmp_path / first, policy_of, original=rows(), other=tmp_path / second, facts=1)


def test_broken_records_of_another_release_are_told(tmp_path: Path) -> None:
    hierdata.anonymize(rows(), stated(), out=tmp_path / "one", seed=SEED)
    broken = copy.deepcopy(rows()[:3])
    broken[2]["age"] = {"in": "years"}
    attack = partial(hierdata.attack, tmp_path / "one", stated(), original=rows(), facts=1)
    with pytest.raises(InputError, match="this is in the other release"):
        attack(other=broken)
    with pytest.raises(PolicyError, match="state no `person`"):
        attack(other=rows(), person="$.wage")
