"""Floors: the first step, keep or ``finest`` is the finest form that is published, in every recoding.

The twin of this file knows the published texts only: regular expressions and arithmetic, no hierarchy.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hierdata
from tests.recodings_of_trees import TREE_RECODINGS

SEED = b"sixteen bytes or"
JOBS = {"*": {"health": {"care": ["nurse", "doctor"], "lab": ["chemist"]}, "school": ["teacher", "tutor"]}}
FIELDS: dict[str, dict[str, Any]] = {
    "$.age": {"role": "quasi", "interval": {"steps": [5, 10]}, "missing": [""]},
    "$.weight": {"role": "quasi", "interval": {"steps": ["2.5", 10]}},
    "$.born": {"role": "quasi", "date": {"steps": ["year", "decade"]}},
    "$.zip": {"role": "quasi", "prefix": {"keep": [3, 2]}},
    "$.job": {"role": "quasi", "taxonomy": {"tree": JOBS, "finest": 1}},
    "$.visits[*].day": {"role": "quasi", "date": {"steps": ["week", "month"]}},
    "$.visits[*].ill": {"role": "sensitive"},
}


def policy(recoding: str, **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "recoding": recoding,
        "models": [{"kind": "distinct-l-diversity", "l": 2}],
        "fields": FIELDS,
    } | more


def people() -> list[dict[str, Any]]:
    """Four times each of ten people, so that classes agree in every field and need no generalization."""
    rng = random.Random(7)
    kinds = [
        {
            "age": rng.randint(20, 60) if at else None,
            "weight": rng.randint(500, 900) / 10,
            "born": f"19{rng.randint(10, 80)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
            "zip": f"4{rng.randint(0, 1)}{rng.randint(0, 999):03}",
            "job": rng.choice(["nurse", "doctor", "chemist", "teacher", "tutor"]),
            "visits": [{"day": f"2001-0{rng.randint(1, 3)}-{rng.randint(1, 28):02}"}],
        }
        for at in range(10)
    ]
    return [
        {**kind, "visits": [{**visit, "ill": "abcd"[at]} for visit in kind["visits"]]}
        for kind in kinds
        for at in range(4)
    ]


# The twin


def is_age(text: str) -> bool:
    ends = re.fullmatch(r"\[(\d+), (\d+)\]", text)
    return ends is not None and int(ends[1]) % 5 == 0 and int(ends[2]) % 5 == 4


def is_weight(text: str) -> bool:
    ends = re.fullmatch(r"\[(\d+(?:\.\d)?), (\d+(?:\.\d)?)\)", text)
    return ends is not None and float(ends[1]) % 2.5 == float(ends[2]) % 2.5 == 0


def is_born(text: str) -> bool:
    return re.fullmatch(r"19\d\d|\[19\d\d-01-01, 19\d\d-12-31\]", text) is not None


def is_zip(text: str) -> bool:
    return re.fullmatch(r"\d\d[\d*]\*\*", text) is not None


def is_job(text: str) -> bool:
    return text in ("care", "lab", "health", "school")


def is_day(text: str) -> bool:
    return re.fullmatch(r"2001-0\d|\[200\d-\d\d-\d\d, 2001-\d\d-\d\d\]", text) is not None


TWIN: dict[str, Callable[[str], bool]] = {
    "age": is_age,
    "weight": is_weight,
    "born": is_born,
    "zip": is_zip,
    "job": is_job,
    "day": is_day,
}


def members(label: str) -> list[str]:
    """The members of a set, or the label alone; ranges have a comma of their own."""
    if not label.startswith("{"):
        return [label]
    return [one for one in re.findall(r"\[[^\])]*[\])]|[^,{} ]+", label) if one != "null"]


def shown(found: Any) -> Iterator[tuple[str, Any]]:
    """Every field of a document with its values, at any depth."""
    if isinstance(found, list):
        for item in found:
            yield from shown(item)
    elif isinstance(found, dict):
        for key, value in found.items():
            if key in TWIN:
                yield key, value
            else:
                yield from shown(value)


def assert_above_the_floor(documents: list[Any]) -> None:
    fields = list(shown(documents))
    assert {key for key, _ in fields} == TWIN.keys()
    for key, value in fields:
        assert value is None or isinstance(value, str), key
        for one in members(value or "*"):
            assert one == "*" or TWIN[key](one), (key, one)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One release of the same people in each recoding."""
    folder = tmp_path_factory.mktemp("floors")
    return {
        name: hierdata.anonymize(people(), policy(name), seed=SEED).save(folder / name)
        for name in TREE_RECODINGS
    }


@pytest.mark.parametrize("recoding", TREE_RECODINGS)
def test_nothing_below_the_floor_is_published(recoding: str, releases: dict[str, Path]) -> None:
    text = (releases[recoding] / "public" / "records.json").read_text("utf-8")
    assert_above_the_floor(json.loads(text))
    assert re.search(r"\d{5}|\d{4}-\d\d-\d\dT|nurse|tutor|chemist", text) is None
    assert hierdata.verify(releases[recoding], policy(recoding), original=people()).passed


FINER: list[tuple[str, Any]] = [
    ("age", 23),
    ("age", "[23, 23]"),
    ("age", "[20, 22]"),
    ("age", "[0, 3]"),
    ("weight", "[70, 75)"),
    ("weight", "[70.0, 71.0)"),
    ("weight", 70.5),
    ("born", "1915-07-03"),
    ("born", "1915-07"),
    ("born", "[1915-07-03, 1941-07-29]"),
    ("zip", "48123"),
    ("zip", "4812*"),
    ("zip", "{48123, 481**}"),
    ("job", "nurse"),
    ("job", "{care, nurse}"),
    ("day", "2001-03-04"),
    ("day", "[2001-03-04, 2001-03-05]"),
]


@pytest.mark.parametrize("recoding", TREE_RECODINGS)
def test_the_judge_refuses_a_label_below_the_floor(
    recoding: str, releases: dict[str, Path], tmp_path: Path
) -> None:
    """The same label everywhere: no class is broken, and only the floor tells."""
    forged = tmp_path / "release"
    shutil.copytree(releases[recoding], forged)
    file = forged / "public" / "records.json"
    text = file.read_text("utf-8")
    for key, finer in FINER:
        records = json.loads(text)
        replaced(records, key, finer)
        file.write_text(json.dumps(records), "utf-8")
        verdict = hierdata.verify(forged, policy(recoding))
        assert not verdict.passed
        (path,) = (path for path in verdict.forbidden if key in path)
        assert "finer than the policy allows" in path
        assert str(finer) not in path


def replaced(found: Any, key: str, value: Any) -> None:
    if isinstance(found, list):
        for item in found:
            replaced(item, key, value)
    elif isinstance(found, dict):
        if key in found:
            found[key] = value
        for below in found.values():
            replaced(below, key, value)


@pytest.mark.parametrize("engine", ["clustree", "full-domain", "sweep", "mondrian", "k-member", "kaca"])
def test_every_engine_searches_above_the_floor(engine: str) -> None:
    rows = [{**one, "ill": one["visits"][0]["ill"]} for one in people()]
    for row in rows:
        row["day"] = row.pop("visits")[0]["day"]
    fields = {path.replace("visits[*].", ""): rule for path, rule in FIELDS.items()}
    stated = policy("generalization", fields=fields, engine={"steps": [{"kind": engine}]})
    release = hierdata.anonymize(rows, stated, seed=SEED)
    assert_above_the_floor([*release.records()])


@pytest.mark.parametrize("engine", ["mondrian", "sweep"])
@pytest.mark.parametrize("steps", [[2, 6, 9], [4, 6], [5, 12, 100]])
def test_steps_that_do_not_nest_hold_what_they_publish(engine: str, steps: list[int]) -> None:
    """A finest bin over the edge of a wider one is in none of that step: a wider label would be untrue."""
    rng = random.Random(str(steps))
    ages = [rng.randint(0, 60) for _ in range(80)]
    stated = policy(
        "generalization",
        models=[{"kind": "k-anonymity", "k": 3}],
        engine={"steps": [{"kind": engine}]},
        fields={
            "$.age": {"role": "quasi", "interval": {"steps": steps}},
            "$.was": {"role": "sensitive"},
        },
    )
    release = hierdata.anonymize([{"age": age, "was": age} for age in ages], stated, seed=SEED)
    for record in release.records():
        if record["age"] != "*":
            low, high = map(int, re.findall(r"\d+", record["age"]))
            assert low <= record["was"] <= high
            assert any(low % step == 0 and high - low + 1 == step for step in steps)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            {"role": "quasi", "taxonomy": {"tree": JOBS, "finest": 4}},
            "finest: 4 lies above the root, whose height is 3",
        ),
        ({"role": "quasi", "taxonomy": {"tree": JOBS, "finest": -1}}, "finest"),
        ({"role": "quasi", "taxonomy": {"tree": JOBS, "finest": 0.5}}, "finest"),
        (
            {"role": "sensitive", "taxonomy": {"tree": JOBS, "finest": 1}},
            "finest does not belong to role sensitive",
        ),
        ({"role": "quasi", "interval": {"steps": [0, 5]}}, "steps must be positive"),
        ({"role": "quasi", "prefix": {"keep": [0]}}, "keep"),
        ({"role": "quasi", "date": {"steps": ["hour", "day"]}}, "steps"),
    ],
)
def test_a_floor_that_no_step_can_be_is_refused(rule: dict[str, Any], message: str) -> None:
    stated = policy("generalization", fields={"$.job": rule, "$.ill": {"role": "sensitive"}})
    with pytest.raises(hierdata.PolicyError, match=message):
        hierdata.anonymize([{"job": "nurse", "ill": "a"}] * 4, stated, seed=SEED)
