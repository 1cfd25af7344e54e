"""Sensitive values in a coarser form, through every recoding and format."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import HierdataError, InputError, PolicyError, VerificationError
from hierdata.ground.recodings import TRAITS
from tests.cases import for_each

TREE = {"*": {"lung": ["flu", "tb"], "skin": ["rash", "burn"]}}
BINS = {f"[{low / 2}, {low / 2 + 0.5})" for low in range(8)}
FIELDS: dict[str, Any] = {
    "age": {"role": "quasi", "interval": {"steps": [5, 10]}},
    "ill": {"role": "sensitive", "taxonomy": {"tree": TREE}, "publish": {"depth": 1}},
    "mark": {"role": "sensitive", "number": True, "publish": {"interval": 0.5}},
    "pay": {"role": "sensitive", "number": True, "publish": {"round": 10}},
    "rank": {
        "role": "sensitive",
        "levels": {"by": {"a": 1, "b": 1, "c": 2, "d": 3}},
        "publish": "levels",
    },
}
FORMS: dict[str, set[str]] = {
    "ill": {"lung", "skin"},
    "mark": BINS,
    "pay": {str(10 * number) for number in range(11)},
    "rank": {"level 1", "level 2", "level 3"},
}


def row(random: Random) -> dict[str, str]:
    return {
        "age": str(random.randrange(20, 40)),
        "ill": random.choice(["flu", "tb", "rash", "burn"]),
        "mark": f"{random.randrange(0, 400) / 100:.2f}",
        "pay": str(random.randrange(0, 100)),
        "rank": random.choice("aabbcd"),
    }


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    random = Random(7)
    return [row(random) for _ in range(60)]


def policy(recoding: str, **more: Any) -> dict[str, Any]:
    models: list[Any] = [{"kind": "frequency-l-diversity", "l": 2, "on": ["$.mark"]}]
    if recoding == "slicing_by_table":
        models = [{"kind": "distinct-l-diversity", "l": 2}]
    models.append({"kind": "k-anonymity", "k": 3})
    stated = {"version": 1, "recoding": recoding, "models": models, **more}
    if recoding == "slicing_by_table":
        stated["accept"] = {"group-ids": "a test"}
    return {**stated, "fields": {f"$.{name}": rule for name, rule in FIELDS.items()}}


def text_of(value: Any) -> str:
    """The text of a value, in XML of the only element of its name."""
    return str(value[0] if isinstance(value, list) else value)


@for_each("recoding", [*TRAITS], few=3)
def test_every_recoding_publishes_the_form(
    recoding: str, rows: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp(recoding) / "out"
    release = hierdata.anonymize(rows, policy(recoding), seed=bytes(16), out=out)
    assert hierdata.verify(out, policy(recoding)).passed
    assert hierdata.verify(out, policy(recoding), original=rows).passed
    found: dict[str, Counter[str]] = {name: Counter() for name in FORMS}

    def look(value: Any, name: str = "") -> None:
        if isinstance(value, dict):
            for key, below in value.items():
                look(below, key)
        elif isinstance(value, list):
            for one in value:
                look(one, name)
        elif name in found:
            found[name][str(value)] += 1

    for part in (out / "public").glob("*.json"):
        if part.name not in ("release.json", "codebook.json"):
            look(json.loads(part.read_text("utf-8")))
    for name, forms in FORMS.items():
        assert found[name]
        assert found[name].keys() <= forms
    told = json.loads((out / "public" / "release.json").read_text("utf-8"))
    assert any(one.startswith("$.mark is published in bins of 0.5. ") for one in told["limitations"])
    book = json.loads((out / "public" / "codebook.json").read_text("utf-8"))
    assert {own["path"]: own.get("form") for own in book["fields"]}["$.pay"] == "rounded to 10"
    kept = release.report.kept.fields
    assert float(kept["$.ill"].attainable.value) == pytest.approx(2 / 3)


def test_rows_as_csv_and_xml_give_the_same_values(rows: list[dict[str, str]], tmp_path: Path) -> None:
    names = [*FIELDS]
    csv, xml = tmp_path / "rows.csv", tmp_path / "rows.xml"
    csv.write_text("\n".join([",".join(names), *(",".join(one.values()) for one in rows)]) + "\n", "utf-8")
    persons = "".join(
        "<row>" + "".join(f"<{name}>{value}</{name}>" for name, value in one.items()) + "</row>"
        for one in rows
    )
    xml.write_text(f"<rows>{persons}</rows>", "utf-8")
    stated = policy("generalization")
    of_xml = {**stated, "fields": {f"/rows/row/{name}": rule for name, rule in FIELDS.items()}}
    of_xml["models"] = [
        {**model, **({"on": ["/rows/row/mark"]} if "on" in model else {})} for model in stated["models"]
    ]
    shown = []
    for file, own in ((csv, stated), (xml, of_xml)):
        out = tmp_path / f"{file.suffix[1:]}-out"
        release = hierdata.anonymize(file, own, seed=bytes(16), out=out)
        assert hierdata.verify(out, own, original=file).passed
        shown.append(Counter(tuple(map(text_of, map(record.get, FORMS))) for record in release.records()))
    plain = hierdata.anonymize(rows, stated, seed=bytes(16))
    shown.append(Counter(tuple(map(text_of, map(record.get, FORMS))) for record in plain.records()))
    assert shown[0] == shown[1] == shown[2]


def test_a_finer_value_and_a_wrong_one_are_found(rows: list[dict[str, str]], tmp_path: Path) -> None:
    out, stated = tmp_path / "out", policy("generalization")
    hierdata.anonymize(rows, stated, seed=bytes(16), out=out)
    (file,) = (out / "public").glob("records.*")
    text = file.read_text("utf-8")
    assert not hierdata.verify(rows, stated).passed  # the input is finer than what may be published
    for one, other in (
        ("lung", "skin"),
        ("[1.0, 1.5)", "[1.5, 2.0)"),
        ('"50"', '"60"'),
        ("level 1", "level 2"),
    ):
        assert one in text
        file.write_text(text.replace(one, other, 1), "utf-8")
        with pytest.raises(VerificationError):
            hierdata.verify(out, stated, original=rows)
    file.write_text(text.replace('"50"', '"51"', 1), "utf-8")
    verdict = hierdata.verify(file, stated)
    assert not verdict.passed
    assert verdict.forbidden["$.pay"] == 1


def test_levels_and_references_are_those_of_what_is_published() -> None:
    """Bins of two values each: alike in the reference, whatever the values were."""
    random = Random(1)
    people = [{"age": random.randrange(9), "score": random.choice([1, 2, 3, 4])} for _ in range(40)]
    rule = {
        "role": "sensitive",
        "publish": {"interval": 2},
        "levels": {"by": {"1": 1, "2": 3, "3": 1, "4": 2}},
    }
    models = [
        {"kind": "t-closeness", "t": "0.3", "distance": "equal"},
        {"kind": "level-alpha-k", "k": 2, "alpha": [1, 1, "0.9"]},
    ]
    fields = {"$.age": {"role": "quasi", "interval": {"steps": [1, 3]}}, "$.score": rule}
    stated: dict[str, Any] = {"version": 1, "models": models, "fields": fields}
    release = hierdata.anonymize(people, stated, seed=bytes(16))
    bins = Counter(f"[{one['score'] // 2 * 2}, {one['score'] // 2 * 2 + 1}]" for one in people)
    counted = Counter(record["score"] for record in release.records())
    assert counted == bins  # nobody is suppressed here
    # 1 is in [0, 1], 2 and 3 in [2, 3], 4 in [4, 5]: their most sensitive levels.
    level = {"[0, 1]": 1, "[2, 3]": 3, "[4, 5]": 2}
    by_age: dict[Any, Counter[str]] = {}
    for record in release.records():
        by_age.setdefault(record["age"], Counter())[record["score"]] += 1
    closeness, shares = release.report.promises
    farthest = max(
        sum(abs(Fraction(own[one], own.total()) - Fraction(bins[one], 40)) for one in bins) / 2
        for own in by_age.values()
    )
    assert Fraction(closeness.achieved["t"].exact) == farthest
    for number in (1, 2, 3):
        most = max(
            Fraction(sum(count for one, count in own.items() if level[one] == number), own.total())
            for own in by_age.values()
        )
        assert Fraction(shares.achieved[f"alpha_{number}"].exact) == most


def test_bad_input_is_one_sentence(rows: list[dict[str, str]]) -> None:
    stated = policy("generalization")
    finer = {**stated, "fields": {**stated["fields"], "$.pay": {**FIELDS["pay"], "publish": {"round": 1}}}}
    with pytest.raises(PolicyError, match=r"\$\.pay: publish is not coarser than the input"):
        hierdata.anonymize(rows, finer, seed=bytes(16))
    for rule, message in (
        ({"role": "quasi", "flat": True, "publish": {"round": 2}}, "publish does not belong to role quasi"),
        ({"role": "sensitive", "publish": "levels"}, "publish: levels needs levels"),
        ({"role": "sensitive", "publish": {"depth": 1}}, "needs the taxonomy"),
        ({"role": "sensitive", "publish": {"round": 1, "depth": 2}}, "state exactly one of"),
        (
            {"role": "sensitive", "action": {"shift": {"days": 90}}, "publish": {"round": 1}},
            "publish is for values as they are",
        ),
    ):
        with pytest.raises(PolicyError, match=message):
            hierdata.anonymize(rows, {**stated, "fields": {**stated["fields"], "$.pay": rule}})
    deep = {**FIELDS["ill"], "publish": {"depth": 2}}
    with pytest.raises(PolicyError, match="finer than the taxonomy"):
        hierdata.anonymize(rows, {**stated, "fields": {**stated["fields"], "$.ill": deep}})
    with pytest.raises(InputError, match="no published form") as refused:
        hierdata.anonymize([*rows, {**rows[0], "pay": "many"}], stated, seed=bytes(16))
    assert "many" not in str(refused.value).replace("many records", "")
    named = {**stated["fields"], "$.rank_name": {"derived": "$.rank"}}
    with pytest.raises(HierdataError, match="coarser form, which does not tell the label"):
        hierdata.anonymize(
            [{**one, "rank_name": one["rank"] * 2} for one in rows], {**stated, "fields": named}
        )
