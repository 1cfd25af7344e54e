"""References to what is not published: they tell that it exists, and who refers to it."""

from __future__ import annotations

import copy
import json
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata import Resources
from hierdata.ground.errors import PolicyError, PromiseError
from tests.cases import with_worlds
from tests.naive_references import Names, Tree, plain, values_at, without_dangling

SEED, KEY = b"a seed of sixteen bytes", bytes(range(40, 80))
FLAT: dict[str, Any] = {"role": "quasi", "flat": True}
FIELDS: dict[Names, list[Names]] = {
    ("id",): [("friend",), ("knows",)],
    ("doctors", "id"): [("visits", "by"), ("doctors", "chief")],
}
HIDDEN = {"id", "friend", "knows", "ill", "by", "chief", "group"}


def pseudonym(**more: Any) -> dict[str, Any]:
    return {"role": "identifier", "action": {"pseudonym": more}}


def policy(references: str = "drop", **more: Any) -> dict[str, Any]:
    people: dict[str, Any] = {"domain": "people", "links": "who knows whom is on their walls"}
    return {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": "3/2"}],
        "suppressed": "as_published",
        "fields": {
            "$.id": pseudonym(**people, identity=True),
            "$.friend": pseudonym(**people, references=references),
            "$.knows[*]": pseudonym(**people, references=references),
            "$.age": {"role": "quasi", "interval": {"steps": [1, 20]}},
            "$.visits[*].ward": FLAT,
            "$.visits[*].ill": {"role": "sensitive", "asks": "value"},
            "$.visits[*].by": pseudonym(domain="doctors", references=references),
            "$.doctors[*].id": pseudonym(domain="doctors", identity=True),
            "$.doctors[*].chief": pseudonym(domain="doctors", references=references),
            "$.doctors[*].field": FLAT,
        },
        **more,
    }


def people(number: int, count: int | None = None) -> list[Tree]:
    """People who know each other, and who were seen by their own doctors; some refer to nobody there is."""
    draw = Random(number)
    count = draw.randint(8, 18) if count is None else count
    found = []
    for at in range(count):
        doctors = [f"D{at}-{n}" for n in range(draw.randint(1, 3))]
        found.append(
            {
                "id": f"P{at}",
                "friend": f"P{draw.randrange(count)}",
                "knows": [f"P{draw.randrange(count)}" for _ in range(draw.randrange(3))],
                "age": draw.choice([20, 21, 22, 60]),
                "doctors": [
                    {"id": one, "chief": draw.choice(doctors), "field": draw.choice("ab")} for one in doctors
                ],
                "visits": [
                    {"ward": draw.choice("uv"), "ill": draw.choice(["flu", "flu", "hiv"]), "by": by}
                    for by in draw.choices(
                        [*doctors, f"D{at}-x"], [3] * len(doctors) + [1], k=draw.randint(1, 3)
                    )
                ],
            }
        )
    return found


def publish(records: list[Tree], stated: dict[str, Any], **more: Any) -> list[Tree]:
    release = hierdata.anonymize(records, stated, seed=SEED, key=KEY, **more)
    return json.loads(json.dumps(list(release.records()), default=str))


def dangling(published: list[Tree]) -> Counter[Names]:
    """The attack: references that lead to nobody tell who was left out, and who referred to her."""
    found: Counter[Names] = Counter()
    for identity, references in FIELDS.items():
        known = {value for one in published for value in values_at(one, identity)}
        for names in references:
            found[names] += sum(value not in known for one in published for value in values_at(one, names))
    return +found


def keeping(stated: dict[str, Any]) -> dict[str, Any]:
    """The same policy with references kept."""
    kept = copy.deepcopy(stated)
    for rule in kept["fields"].values():
        own = rule.get("action", {}).get("pseudonym")
        if own is not None and not own.get("identity"):
            own["references"] = "keep"
    return kept


def agrees_with_the_twin(records: list[Tree], stated: dict[str, Any], **more: Any) -> tuple[int, int]:
    """Compare with the twin; return how many references dangled and were dropped."""
    kept = publish(records, keeping(stated), **more)
    found = publish(records, stated, **more)
    assert not dangling(found)
    due = without_dangling(kept, FIELDS, HIDDEN)
    assert sorted(map(repr, map(plain, found))) == sorted(map(repr, map(plain, due)))
    names = [names for own in FIELDS.values() for names in own]
    count = [sum(len(list(values_at(one, own))) for one in docs for own in names) for docs in (kept, found)]
    return dangling(kept).total(), count[0] - count[1]


@with_worlds(2, 12)
@pytest.mark.parametrize("recoding", ["generalization", "sets_and_ranges", "slicing"])
def test_nothing_dangles_and_all_of_a_class_lack_what_one_lacks(recoding: str, worlds: int) -> None:
    wrong = dropped = runs = 0
    for number in range(worlds):
        try:
            found = agrees_with_the_twin(people(number), policy(recoding=recoding))
        except PromiseError:
            continue
        runs, wrong, dropped = runs + 1, wrong + found[0], dropped + found[1]
    assert runs > worlds * 2 // 3
    assert dropped > wrong > 50 * worlds // 12, (
        "there was something to drop, and others of the class lost it too"
    )


def test_in_blocks_what_another_block_publishes_does_not_dangle() -> None:
    stated = policy(blocks=40)
    wrong, dropped = agrees_with_the_twin(people(99, 200), stated, resources=Resources("serial"))
    assert dropped > wrong > 50


@pytest.mark.full
def test_in_blocks_references_are_dropped_by_workers_as_in_one_process() -> None:
    stated = policy(blocks=40)
    whole = publish(people(99, 200), stated, resources=Resources("serial"))
    assert publish(people(99, 200), stated, resources=Resources("processes", 2)) == whole


@cache
def suppressing() -> tuple[str, str]:
    """A collection in which one person is suppressed, to whom one other refers, and its policy."""
    records = [{"id": f"P{at}", "friend": f"P{at ^ 1}", "age": 20 + at // 4} for at in range(8)]
    records += [{"id": "P8", "friend": "P0", "age": 90}, {"id": "P9", "friend": "P8", "age": 21}]
    people: dict[str, Any] = {"domain": "people", "links": "known"}
    fields = {
        "$.id": pseudonym(**people, identity=True),
        "$.friend": pseudonym(**people),
        "$.age": {"role": "quasi", "interval": {"steps": [1, 4]}},
    }
    models = [{"kind": "k-anonymity", "k": 4}]
    return json.dumps(records), json.dumps({"version": 1, "models": models, "fields": fields})


def test_a_person_who_was_left_out_is_not_told_by_a_friend(tmp_path: Path) -> None:
    """The files are verified with and without the original, and the counts are the steward's."""
    records, stated = map(json.loads, suppressing())
    stated |= {"engine": {"steps": [{"kind": "clustree"}]}}
    (source := tmp_path / "in.json").write_text(json.dumps(records))
    release = hierdata.anonymize(source, stated, seed=SEED, key=KEY).save(tmp_path / "release")
    published = json.loads((release / "public" / "records.json").read_text())
    known = {one["id"] for one in published}
    if len(published) == len(records):
        pytest.fail("nobody is suppressed: the collection shows nothing")
    assert {one["friend"] for one in published if one.get("friend")} <= known
    assert hierdata.verify(release, stated).passed
    assert hierdata.verify(release, stated, original=source, key=KEY).passed
    report = json.loads((release / "steward" / "report.json").read_text())
    costs = report["costs"]
    assert costs["dangling_references"]["count"] >= 1
    assert costs["references_dropped"]["count"] == sum("friend" not in one for one in published)
    told = (release / "public" / "release.json").read_text()
    assert "dangling" not in told
    assert "Every reference at $.friend leads to something that is published" in told


@pytest.mark.parametrize("form", ["csv", "parquet", "xml"])
def test_other_formats_lose_the_same_references(form: str, tmp_path: Path) -> None:
    records, stated = map(json.loads, suppressing())
    stated |= {"engine": {"steps": [{"kind": "clustree"}]}}
    source = tmp_path / f"in.{form}"
    if form == "csv":
        rows = [f"{one['id']},{one['friend']},{one['age']}" for one in records]
        source.write_text("\n".join(["id,friend,age", *rows]) + "\n")
    elif form == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(records), source)
    else:
        people = (
            f'<p id="{one["id"]}"><age>{one["age"]}</age><friend>{one["friend"]}</friend></p>'
            for one in records
        )
        source.write_text(f"<ps>{''.join(people)}</ps>")
        stated = json.loads(json.dumps(stated).replace("$.id", "/ps/p/@id").replace("$.", "/ps/p/"))
    release = hierdata.anonymize(source, stated, seed=SEED, key=KEY)
    found: list[Any] = list(release.records())
    lacking = sum(not one.get("friend") for one in found)
    assert release.report.costs["references_dropped"].count == lacking >= 4
    folder = release.save(tmp_path / "release")
    for published in (folder, folder / "public"):
        assert hierdata.verify(published, stated).passed
    verdict = hierdata.verify(folder, stated, original=source, key=KEY)
    assert verdict.passed
    assert verdict.k == 4


def test_a_reference_that_was_put_back_is_found(tmp_path: Path) -> None:
    """In a file alone too; and one that a single record lacks marks it, so that no class is left of it."""
    records, stated = map(json.loads, suppressing())
    stated |= {"engine": {"steps": [{"kind": "clustree"}]}}
    published = publish(records, stated)
    (file := tmp_path / "records.json").write_text(json.dumps(published))
    assert hierdata.verify(file, stated).passed
    lacking = next(one for one in published if "friend" not in one)
    lacking["friend"] = "0" * 32
    file.write_text(json.dumps(published))
    verdict = hierdata.verify(file, stated)
    assert not verdict.passed
    assert verdict.forbidden["a reference to what is not published"] == 1
    assert verdict.k == 1
    lacking["friend"] = lacking["id"]
    file.write_text(json.dumps(published))
    assert hierdata.verify(file, stated).k == 1


def test_the_same_attack_succeeds_where_references_are_kept() -> None:
    records, stated = map(json.loads, suppressing())
    stated |= {"engine": {"steps": [{"kind": "clustree"}]}}
    release = hierdata.anonymize(records, keeping(stated), seed=SEED, key=KEY)
    published: list[Any] = list(release.records())
    known = {one["id"] for one in published}
    assert [one["friend"] for one in published if one["friend"] not in known]
    told = json.loads((release.folder / "public" / "release.json").read_text())["limitations"]
    assert [text for text in told if "References at $.friend may lead to nothing that is published" in text]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"$.id": {}}, "say `identity: true` for the one that identifies its vertex"),
        ({"$.id": {"identity": True, "references": "keep"}}, "an identity refers to nothing"),
        ({"recoding": "anatomy"}, "with recoding anatomy records have no classes"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(change: dict[str, Any], message: str) -> None:
    records, stated = map(json.loads, suppressing())
    for path, rule in change.items():
        if path == "recoding":
            stated[path] = rule
            stated["fields"]["$.ill"] = {"role": "sensitive", "optional": True}
        else:
            own = stated["fields"][path]["action"]["pseudonym"]
            del own["identity"]
            own |= rule
    with pytest.raises(PolicyError, match=message):
        hierdata.anonymize(records, stated, seed=SEED, key=KEY)


def test_lint_tells_of_references_that_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hierdata.cli import main

    records, stated = map(json.loads, suppressing())
    (tmp_path / "in.json").write_text(json.dumps(records))
    for kept in (False, True):
        (tmp_path / "p.json").write_text(json.dumps(keeping(stated) if kept else stated))
        main(["lint", str(tmp_path / "p.json"), "--data", str(tmp_path / "in.json"), "--json"])
        assert ("they tell who was left out" in capsys.readouterr().out) == kept
