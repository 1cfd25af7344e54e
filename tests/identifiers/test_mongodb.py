"""Values of MongoDB's types: ids become text, dates stay dates, and every form of a collection agrees."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.ground.secrets import Key
from hierdata.records.identifiers import Shift
from tests.identifiers.people import KEY

ROOT = Path(__file__).parents[2]
SEED = b"a seed of sixteen bytes"
FORMS = ("canonical.ejson", "relaxed.ejson", "university")
FLAT = {"role": "quasi", "flat": True}


def policy(fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": fields, **more}


@pytest.mark.parametrize("form", FORMS)
def test_an_object_id_becomes_the_same_pseudonym_in_every_form(form: str) -> None:
    source = ROOT / "fixtures" / "students" / "mongodb" / form
    if source.is_dir():
        (source,) = source.glob("*.bson")
    ids = {"role": "identifier", "action": {"pseudonym": {"domain": "documents"}}}
    stated = policy({"$._id": ids, "$.major": FLAT}, unlisted="drop")
    release = hierdata.anonymize(source, stated, seed=SEED, key=KEY)
    found = {record["_id"] for record in release.records()}
    assert all(type(token) is str and len(token) == 32 for token in found)
    originals = [
        json.loads(line)["_id"]["$oid"]
        for line in (ROOT / "fixtures/students/mongodb/canonical.ejson").read_text().splitlines()
    ]
    from hierdata.records.identifiers import Pseudonym

    replace = Pseudonym(domain="documents").replace("", Key(KEY))
    assert replace is not None
    assert found <= {replace(text, 0) for text in originals}


@pytest.mark.parametrize("timed", [False, True])
def test_dates_are_moved_and_stay_dates(tmp_path: Path, timed: bool) -> None:
    begin = datetime(2001, 3, 4, 5, 6, 7)
    lines = [
        json.dumps(
            {
                "who": number,
                "in": {"$date": f"{begin + timedelta(days=number):%Y-%m-%dT%H:%M:%SZ}"},
                "out": {"$date": f"{begin + timedelta(days=2 * number):%Y-%m-%dT%H:%M:%SZ}"},
                "at": {f"2001-04-1{number % 9}": {"$timestamp": {"t": 1000000000 + number, "i": 7}}},
            }
        )
        for number in range(8)
    ]
    source = tmp_path / "stays.ejson"
    source.write_text("\n".join(lines))
    more = {"time": {"keep": "a robot makes them"}} if timed else {}
    shift = {"shift": {"days": 20, "by": "$.who", **more}}
    fields = {
        "$.who": {"role": "identifier", "action": {"pseudonym": {}}},
        "$.in": {"role": "quasi", "date": {"steps": ["day", "century"]}, "action": shift},
        "$.out": {"role": "sensitive", "action": shift},
        "$.at": {"map": True},
        "$.at[*]~": {"role": "quasi", "date": {"steps": ["day", "month", "decade"]}, "action": shift},
        "$.at[*]": {"role": "sensitive", "action": shift},
    }
    hierdata.anonymize(source, policy(fields), seed=SEED, key=KEY).save(tmp_path / "release")
    assert hierdata.verify(tmp_path / "release", policy(fields), original=source, key=KEY).passed
    (written,) = (tmp_path / "release" / "public").glob("records.*")
    published = [json.loads(line) for line in written.read_text().splitlines()]
    offset = Shift(days=20).offsets(Key(KEY))
    spelled = "%Y-%m-%dT%H:%M:%SZ" if timed else "%Y-%m-%dT00:00:00Z"
    due = {f"{begin + timedelta(days=2 * n + offset(str(n))):{spelled}}" for n in range(8)}
    assert {record["out"]["$date"] for record in published} <= due
    stamps = {tuple(record["at"][0]["value"]["$timestamp"].values()) for record in published}
    times = (1000000000 + n + 86400 * offset(str(n)) for n in range(8))
    assert stamps <= {(time, 7) if timed else (time // 86400 * 86400, 0) for time in times}


@pytest.mark.parametrize("recoding", ["generalization", "sets_and_ranges"])
def test_a_field_that_is_generalized_anywhere_is_text_everywhere(tmp_path: Path, recoding: str) -> None:
    """One type a field: of numbers, dates and booleans; what is nowhere generalized keeps its type."""
    begin = datetime(2001, 3, 4)
    days = [number // 4 if number < 24 else number for number in range(48)]
    rows = [
        {
            "class": {"$numberLong": str(number // 4)},
            "amount": {"$numberInt": str(days[number])},
            "at": {"$date": f"{begin + timedelta(days=days[number]):%Y-%m-%dT00:00:00Z}"},
            "flag": number < 24 or number % 2 == 0,
            "items": [{"size": {"$numberDouble": f"{number // 4}.5"}}, {"size": {"$numberDouble": "2.25"}}],
        }
        for number in range(48)
    ]
    source = tmp_path / "items.ejson"
    source.write_text("\n".join(map(json.dumps, rows)))
    fields = {
        "$.class": FLAT,
        "$.amount": {"role": "quasi", "interval": {"steps": [1, 5, 10]}},
        "$.at": FLAT,
        "$.flag": FLAT,
        "$.items[*].size": FLAT,
    }
    found = {}
    for blocks in ("whole", 16) if recoding == "generalization" else ("whole",):
        stated = policy(fields, recoding=recoding, blocks=blocks)
        stated["models"] = [{"kind": "k-anonymity", "k": 4}]
        release = hierdata.anonymize(source, stated, seed=SEED)
        release.save(tmp_path / f"release-{blocks}")
        verified = hierdata.verify(tmp_path / f"release-{blocks}", stated, original=source)
        assert verified.passed
        (written,) = (tmp_path / f"release-{blocks}" / "public").glob("records.*")
        published = [json.loads(line) for line in written.read_text().splitlines()]
        for name in ("class", "amount", "at", "flag"):
            found[name] = {
                next(iter(value)) if isinstance(value, dict) else type(value).__name__
                for record in published
                for value in [record[name]]
                if value is not None
            }
        assert all(len(kinds) == 1 for kinds in found.values()), found
        assert found["amount"] == {"str"}
