"""Random tables under chains of steps, recodings and models: what is published keeps the definitions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.release.release import Release
from tests.adversarial.plain_judge import holds
from tests.adversarial.vocabulary import MISSING, QUASI, SEMANTICS
from tests.cases import examples

SEED = b"sixteen bytes or"
RECODINGS = ("generalization", "full_domain", "sets_and_ranges", "slicing", "anatomy")
BEGIN: list[dict[str, Any]] = [
    {"kind": "sweep"},
    {"kind": "compose", "passes": 3},
    {"kind": "kaca", "beta": 1},
    {"kind": "mondrian"},
    {"kind": "msb", "order": "multi"},
    {"kind": "msb", "order": "single"},
    {"kind": "full-domain", "suppression": "1/5"},
]
GO_ON: list[dict[str, Any]] = [
    {"kind": "kaca"},
    {"kind": "swap"},
    {"kind": "swap", "window": 4, "passes": 1},
    {"kind": "swarm", "particles": 3, "rounds": 4},
]
MODELS: list[dict[str, Any]] = [
    {"kind": "k-anonymity", "k": 2},
    {"kind": "k-anonymity", "k": 3},
    {"kind": "distinct-l-diversity", "l": 2},
    {"kind": "frequency-l-diversity", "l": "3/2"},
    {"kind": "frequency-l-diversity", "l": 2, "by": "partition", "partition": {"equal_frequency": 3}},
    {"kind": "distinct-l-diversity", "l": 2, "by": "partition", "partition": {"equal_width": 3}},
    {"kind": "alpha-k", "k": 2, "alpha": "2/3"},
    {"kind": "t-closeness", "t": "1/5", "distance": "equal"},
    {"kind": "t-closeness", "t": "1/10", "distance": "ordered"},
    {"kind": "t-closeness", "t": "3/10", "distance": "hierarchical"},
    {"kind": "t-closeness", "t": "3/10"},
    {"kind": "t-closeness", "t": "1/5", "by": "partition", "partition": {"equal_frequency": 3}},
    {"kind": "delta-disclosure", "delta": 2, "absent": "ignore"},
    {"kind": "l-e-diversity", "l": 2, "e": 1},
    {"kind": "delta-l-diversity", "delta": "1/2", "l": 2},
]


@dataclass(frozen=True)
class Case:
    """Rows, of which an exempt field tells in the release which is which, and what is asked for."""

    rows: list[dict[str, Any]]
    quasi: list[str]
    sensitive: list[str]
    policy: dict[str, Any]

    def values(self, name: str, places: list[str]) -> list[int]:
        """The sensitive values that these rows have."""
        return [v for place in places if (v := self.rows[int(place)][name]) != MISSING]


def numbered(number: int) -> Case:
    rng = Random(number)
    domains = {f"q{at}": leaf for at, leaf in enumerate(rng.sample(QUASI, rng.randint(1, 3)))}
    sensitive = [f"s{at}" for at in range(rng.choice((1, 1, 2, 3)))]
    patterns = [{name: value(rng) for name, (_, value) in domains.items()} for _ in range(rng.randint(1, 5))]
    lacking, pool = rng.choice((0, 0, 0.2)), rng.choice(((1, 1, 2, 4, 5, 9), (1, 2), (1, 1, 1, 9), (4,)))
    rows = []
    for place in range(rng.choice((3, 8, 16, 24, 40))):
        row = dict(rng.choice(patterns))
        row |= {name: value(rng) for name, (_, value) in domains.items() if rng.random() < 0.2}
        row |= {name: MISSING for name in domains if rng.random() < lacking / 2}
        row |= {name: MISSING if rng.random() < lacking else rng.choice(pool) for name in sensitive}
        rows.append({**row, "place": str(place)})
    common = {"optional": True, "missing": [MISSING]}
    meaning = {"role": "sensitive", "number": True, "taxonomy": {"tree": SEMANTICS}}
    fields = {f"$.{name}": {"role": "quasi", **common, **rule} for name, (rule, _) in domains.items()}
    fields |= {f"$.{name}": {**meaning, **common} for name in sensitive}
    policy = {
        "version": 1,
        "models": rng.sample(MODELS, rng.choice((1, 2, 2, 3))),
        "fields": fields | {"$.place": {"role": "insensitive", "exempt": "the test asks which is which"}},
        "engine": {"steps": [rng.choice(BEGIN), *rng.sample(GO_ON, rng.choice((0, 1, 1, 2)))]},
        "recoding": rng.choice(RECODINGS),
    }
    if policy["recoding"] == "slicing":
        policy["sensitive_tables"] = rng.choice((None, 1, 2, [[f"$.{name}"] for name in sensitive]))
    return Case(rows, list(domains), sensitive, policy)


Places = dict[Any, list[str]]


def published(release: Release, case: Case) -> tuple[Places, Places]:
    """The rows by what is published of their quasi-identifiers, and by group; values beside are theirs."""
    forms: Places = {}
    groups: Places = {}
    records: list[dict[str, Any]] = [*release.records()]
    for record in records:
        place = str(record["place"])
        forms.setdefault(tuple(repr(record.get(name)) for name in case.quasi), []).append(place)
        if "group" in record:
            groups.setdefault(record["group"], []).append(place)
            continue
        for name in case.sensitive:
            value = record.get(name)
            told = MISSING if value in (None, MISSING) else int(value)
            assert told == case.rows[int(place)][name]
    return forms, groups


def stated(release: Release, case: Case) -> dict[tuple[Any, str], list[int]]:
    """By group and sensitive field, the values that the parts beside the records state."""
    found: dict[tuple[Any, str], list[int]] = defaultdict(list)
    for part in set(release.parts) - {"records"}:
        rows: list[dict[str, Any]] = [*release.part(part)]
        for row, name in product(rows, case.sensitive):
            if row.get(name) is not None:
                found[row["group"], name] += [int(row[name])] * row["count"]
    return found


@given(st.integers(0, 2**48))
@examples(50)
def test_every_class_keeps_every_model_by_its_definition(number: int) -> None:
    case = numbered(number)
    try:
        release = hierdata.anonymize(case.rows, case.policy, seed=SEED)
    except (hierdata.PromiseError, hierdata.PolicyError):
        return
    forms, groups = published(release, case)
    told = stated(release, case) if groups else {}
    for (group, name), values in told.items():
        assert sorted(values) == sorted(case.values(name, groups[group]))
    assert sum(map(len, told.values())) == sum(
        len(case.values(name, places)) for places in groups.values() for name in case.sensitive
    )
    judged = [*groups.values(), *(() if case.policy["recoding"] == "anatomy" else forms.values())]
    everybody = [row["place"] for row in case.rows]
    for places, name, model in product(judged, case.sensitive, case.policy["models"]):
        values, original = case.values(name, places), case.values(name, everybody)
        assert holds(model, len(places), values, original), (model, name, len(places), values)
