"""A policy without its mistakes: every mistake told once, and nothing wrong that the mending brought in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hierdata.policy.lint.lint import lint
from hierdata.policy.lint.partial import Examined, examine
from hierdata.records.survey import survey

RECORDS = [{"id": f"p{n}", "a": n % 3, "s": f"s{n % 4}", "visits": [{"w": n % 2}]} for n in range(12)]


def stated(**changes: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "models": [{"kind": "level-alpha-k", "k": 10}],
        "fields": {
            "$.id": {"role": "identifier"},
            "$.a": {"role": "quasi", "flat": True},
            "$.s": {"role": "sensitive", "levels": {"by": {f"s{n}": n + 1 for n in range(5)}}},
            "$.visits[*].w": {"role": "quasi", "flat": True},
        },
    } | changes


def examined(folder: Path, data: object) -> Examined:
    path = folder / "policy.json"
    path.write_text(json.dumps(data), "utf-8")
    return examine(path)


def rules(**changed: object) -> dict[str, object]:
    return stated()["fields"] | {f"$.{name}": rule for name, rule in changed.items()}


def test_a_policy_without_mistakes_is_what_load_gives(tmp_path: Path) -> None:
    found = examined(tmp_path, stated())
    assert found.policy is not None
    assert (found.mistakes, found.doubtful, found.models_stand) == ((), frozenset(), True)
    assert found.policy.folder == tmp_path


ON = {"kind": "level-alpha-k", "k": 10, "on": ["$.t"]}


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({"version": 2, "dataset": "", "format": "toml"}, ["version", "dataset", "format"]),
        ({"unlistd": "drop"}, [""]),
        ({"unlisted": "drp"}, ["unlisted"]),
        ({"models": [{"kind": "alfa"}, ON]}, ["models[0]", "models[1].on"]),
        ({"models": 5}, ["models"]),
        ({"models": []}, ["models"]),
        ({"engine": {"preset": "MLev"}}, ["engine.preset"]),
        ({"engine": {"preset": "ClusTree"}}, ["models[0]"]),
        ({"engine": {"preset": "MLevCluTree"}, "recoding": "representatives"}, ["recoding"]),
        ({"fields": rules(a={"role": "quas", "flat": True})}, ["fields[$.a].role"]),
        ({"fields": rules(s={"role": "sensitve"})}, ["fields[$.s].role"]),
        ({"fields": rules(s={"role": "sensitive", "levels": {"by": 5}})}, ["fields[$.s].levels.by"]),
        ({"fields": {"$.b[": {"role": "quasi", "flat": True}} | rules()}, ["fields[$.b[]"]),
        ({"fields": rules(a=None)}, ["fields[$.a]"]),
    ],
)
def test_mistakes_are_told_once_and_the_rest_is_sound(
    tmp_path: Path, changes: dict[str, Any], places: list[str]
) -> None:
    found = examined(tmp_path, stated(**changes))
    assert [one.where for one in found.mistakes] == places
    assert found.policy is not None
    surveyed = survey(RECORDS, found.policy.declared_fields(identifiers=True))
    left = lint(found.policy, surveyed, doubtful=found.doubtful)
    assert [str(one) for one in left if one.severity == "error"] == []


def test_a_mistake_below_a_role_leaves_the_role(tmp_path: Path) -> None:
    found = examined(tmp_path, stated(fields=rules(**{"a.b": {"role": "x"}})))
    assert [one.where for one in found.mistakes] == ["fields[$.a.b].role"]
    assert found.policy is not None
    assert found.doubtful == {"$.a.b"}


def test_a_contradiction_that_a_mistake_hid_is_told_too(tmp_path: Path) -> None:
    fields = rules(**{"s.b": {"role": "x"}, "s.c": {"role": "quasi", "flat": True}})
    found = examined(tmp_path, stated(fields=fields, recoding="representatives"))
    assert [one.where for one in found.mistakes] == ["fields[$.s.b].role", "fields[$.s]"]


@pytest.mark.parametrize("changes", [{"records": "$.a["}, {"namespaces": 3}, {"fields": {}}])
def test_without_places_or_fields_too_little_is_left(tmp_path: Path, changes: dict[str, Any]) -> None:
    found = examined(tmp_path, stated(**changes))
    assert found.policy is None
    assert found.mistakes
    assert len(set(found.mistakes)) == len(found.mistakes)


@pytest.mark.parametrize("data", [5, [], None, "x"])
def test_what_is_no_mapping_is_no_policy(tmp_path: Path, data: object) -> None:
    found = examined(tmp_path, data)
    assert found.policy is None
    assert len(found.mistakes) == 1
