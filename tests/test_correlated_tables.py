"""Sensitive tables by correlation: the number of tables that separates the attributes best."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.release.recodings.correlation import cluster_attributes, silhouette

SEED = bytes(32)
PRESETS = ["SLOMS", "MSB-KACA with shared groups", "t-closeness over MSB-KACA with swap"]
Apart = list[list[int]]


def naive_clusters(apart: Apart, count: int) -> list[list[int]]:
    """The clusters around the medoids of the least sum, all sets of medoids tried."""
    everyone = range(len(apart))

    def cost(medoids: tuple[int, ...]) -> int:
        return sum(min(apart[one][own] for own in medoids) for one in everyone)

    medoids = min(combinations(everyone, count), key=cost)
    home = {one: one if one in medoids else min(medoids, key=lambda own: apart[one][own]) for one in everyone}
    return sorted([one for one in everyone if home[one] == own] for own in medoids)


def naive_silhouette(apart: Apart, clusters: list[list[int]]) -> Fraction:
    """The mean of (b - a) / max(a, b) over all attributes, by the words of its definition."""
    told = []
    for own in clusters:
        for one in own:
            means = {
                tuple(other): Fraction(
                    sum(apart[one][at] for at in other if at != one), len(set(other) - {one}) or 1
                )
                for other in clusters
            }
            a = means.pop(tuple(own))
            b = min(means.values(), default=Fraction(0))
            told.append(Fraction(0) if len(own) == 1 or not max(a, b) else (b - a) / max(a, b))
    return sum(told, Fraction(0)) / len(apart)


@pytest.mark.parametrize("seed", range(40))
def test_clusters_and_silhouettes_are_those_of_the_definitions(seed: int) -> None:
    rng = Random(seed)
    size = rng.randint(3, 6)
    apart = np.zeros((size, size), np.int64)
    for one, other in combinations(range(size), 2):
        apart[one, other] = apart[other, one] = rng.choice((0, 1, 3, 4, 5, 9))
    plain = apart.tolist()
    for count in range(2, size):
        found = cluster_attributes(apart, count)
        assert [list(own) for own in found] == naive_clusters(plain, count)
        assert silhouette(apart, found) == naive_silhouette(plain, naive_clusters(plain, count)) * size


def people(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """a and b follow from each other, c and d too, e is independent of all."""
    rng = Random(seed)
    found = []
    for _ in range(count):
        a, c = rng.randrange(6), rng.randrange(6)
        found.append(
            {
                "q": rng.randrange(9),
                "a": f"a{a}",
                "b": f"b{a}",
                "c": f"c{c}",
                "d": f"d{c}",
                "e": rng.choice("vwxyz"),
            }
        )
    return found


def policy(preset: str, *names: str, **changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"$.q": {"role": "quasi", "interval": {"steps": [1, 3]}}}
    fields |= {f"$.{name}": {"role": "sensitive", "optional": True} for name in names}
    fields |= {f"$.{name}": {"role": "identifier", "optional": True} for name in set("abcde") - set(names)}
    accept = {} if "shared" in preset else {"accept": {"group-ids": "a test"}}
    models = [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}]
    return {
        "version": 1,
        "fields": fields,
        "engine": {"preset": preset},
        "models": models,
        **accept,
        **changes,
    }


def division(release: hierdata.Release) -> list[str]:
    return ["".join(path.removeprefix("$.") for path in paths) for paths in release.report.tables.values()]


@pytest.mark.parametrize("preset", PRESETS)
def test_attributes_that_follow_from_each_other_share_a_table(preset: str) -> None:
    asked = policy(preset, *"abcde")
    release = hierdata.anonymize(people(90), asked, seed=SEED)
    assert division(release) == ["ab", "cd", "e"]
    assert hierdata.verify(release.folder, asked, original=people(90)).passed
    assert hierdata.verify(release.folder / "public", asked | {"models": asked["models"]}).tables


def test_classes_are_made_for_k_however_large_the_groups_that_t_needs() -> None:
    close = {"kind": "t-closeness", "t": "1/10"}
    asked = policy(PRESETS[-1], *"ae")
    asked["models"] = [*asked["models"], close]
    rows = [person | {"q": at} for at, person in enumerate(people(120))]
    release = hierdata.anonymize(rows, asked, seed=SEED)
    groups = Counter(record["group_1"] for record in release.records())
    assert release.report.counts.smallest_class < 5 < min(groups.values())
    (told,) = (one for one in release.report.promises if one.kind == "t-closeness")
    assert told.held


def test_two_attributes_have_a_table_each_and_one_a_table() -> None:
    assert division(hierdata.anonymize(people(40), policy("SLOMS", "a", "b"), seed=SEED)) == ["a", "b"]
    assert division(hierdata.anonymize(people(40), policy("SLOMS", "a"), seed=SEED)) == ["a"]


def test_attributes_that_have_nothing_to_do_with_each_other_stay_apart() -> None:
    rows = [{"q": 1, "a": str(a), "b": str(b), "c": str(c)} for a in (1, 2) for b in (1, 2) for c in (1, 2)]
    assert division(hierdata.anonymize(rows, policy("SLOMS", *"abc"), seed=SEED)) == ["a", "b", "c"]


def test_a_policy_may_ask_for_it_without_a_preset_and_state_another_division() -> None:
    asked = {
        "sensitive_tables": "correlated",
        "recoding": "slicing",
        "engine": {"steps": [{"kind": "mondrian"}]},
    }
    own = policy("shared", *"abcde", **asked)
    assert division(hierdata.anonymize(people(60), own, seed=SEED)) == ["ab", "cd", "e"]
    stated = policy("SLOMS", *"abcde", sensitive_tables=[["$.a"], ["$.b", "$.c"], ["$.d", "$.e"]])
    assert division(hierdata.anonymize(people(60), stated, seed=SEED)) == ["a", "bc", "de"]


def test_missing_values_are_a_value_and_the_division_is_frozen() -> None:
    rows = [{k: v for k, v in row.items() if k not in "ab" or at % 3} for at, row in enumerate(people(90))]
    asked = policy("SLOMS", *"abcde")
    release = hierdata.anonymize(rows, asked, seed=SEED)
    assert division(release) == ["ab", "cd", "e"]
    facts = release.folder / "steward" / "verification.json"
    text = facts.read_text()
    assert hierdata.verify(release.folder, asked).passed
    facts.write_text(text.replace('"sensitive-3"', '"sensitive-4"'))
    with pytest.raises(hierdata.VerificationError, match="divided into other tables than were published"):
        hierdata.verify(release.folder, asked)


TREES = [
    {"q": at % 3, "a": f"a{at % 4}", "visits": [{"w": "x", "b": f"b{at % 5}"}, {"w": "y", "b": f"b{at % 3}"}]}
    for at in range(60)
]
NESTED: dict[str, Any] = {
    "$.q": {"role": "quasi", "flat": True},
    "$.a": {"role": "sensitive"},
    "$.visits[*].w": {"role": "quasi", "flat": True},
    "$.visits[*].b": {"role": "sensitive"},
}


@pytest.mark.parametrize("preset", [*PRESETS, "MSB-KACA", "t-closeness over MSB-KACA"])
def test_records_with_vertices_below_them_are_refused_with_what_to_do(preset: str) -> None:
    asked = policy(preset, fields=NESTED)
    with pytest.raises(
        hierdata.PolicyError, match=rf"visits.*the preset {preset} groups the rows of one table"
    ):
        hierdata.anonymize(TREES, asked, seed=SEED)


def test_what_the_refusal_says_works_below_the_root() -> None:
    models = [*policy("SLOMS")["models"], {"kind": "t-closeness", "t": "1/2"}]
    told = {"version": 1, "recoding": "slicing", "models": models, "fields": NESTED}
    release = hierdata.anonymize(TREES, told, seed=SEED)
    (close,) = (one for one in release.report.promises if one.kind == "t-closeness")
    assert close.held
    assert close.paths == ("$.a", "$.visits[*].b")
    assert "equal distance" in close.statement
    assert hierdata.verify(release.folder, told, original=TREES).passed


def test_keyed_tables_take_t_closeness_at_each_table_and_refuse_the_presets(tmp_path: Path) -> None:
    people = [f"{at},{at % 3}" for at in range(60)]
    visits = [f"{at},{'xy'[at % 2]},{at % 5}" for at in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["id,q", *people]) + "\n")
    (tmp_path / "visits.csv").write_text("\n".join(["person,w,b", *visits]) + "\n")
    asked = {
        "version": 1,
        "tables": {"people": {"key": "id"}, "visits": {"parent": "people", "on": "person"}},
        "models": [{"kind": "k-anonymity", "k": 3}, {"kind": "t-closeness", "t": "1/2"}],
        "fields": {
            "$.q": {"role": "quasi", "flat": True},
            "$.visits[*].w": {"role": "quasi", "flat": True},
            "$.visits[*].b": {"role": "sensitive", "number": True},
        },
    }
    release = hierdata.anonymize(tmp_path, asked, seed=SEED)
    (close,) = (one for one in release.report.promises if one.kind == "t-closeness")
    assert (close.held, close.paths) == (True, ("$.visits[*].b",))
    assert "ordered distance" in close.statement
    assert hierdata.verify(release.folder, asked, original=tmp_path).passed
    chain = {**asked, "engine": {"preset": PRESETS[-1]}, "accept": {"group-ids": "a test"}}
    with pytest.raises(hierdata.PolicyError, match="groups the rows of one table, and these records have"):
        hierdata.anonymize(tmp_path, chain, seed=SEED)
