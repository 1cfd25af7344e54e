"""Moved dates in every format: one form for each attribute, and nothing of time, fraction or zone."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.cli import main
from hierdata.documents.days import date_of, day_of
from hierdata.domains.date_formats import format_of
from hierdata.ground.errors import InputError
from hierdata.ground.secrets import Key
from hierdata.pipeline.resources import Resources
from hierdata.records.identifiers import Shift
from tests.identifiers.people import KEY

SEED = b"a seed of sixteen bytes"
TIMES = ("T13:37:59Z", " 13:37", "T13:37:59.1337+13:37", "T13:37-0337", "", "Z", "T13:37:59,337")
"""Every way to write what follows the day; 37 occurs in no date below."""
COUNT = 14


def days() -> list[str]:
    return [f"{datetime(2001, 2, 3) + timedelta(days=11 * at):%Y-%m-%d}" for at in range(COUNT)]


def moved(spelled: str = "%Y-%m-%d") -> set[str]:
    offset = Shift(days=40).offsets(Key(KEY))
    return {
        f"{datetime.fromisoformat(day) + timedelta(days=offset(str(at))):{spelled}}"
        for at, day in enumerate(days())
    }


def policy(prefix: str = "$.") -> dict[str, Any]:
    shift = {"shift": {"days": 40, "by": f"{prefix}id"}}
    return {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {
            f"{prefix}id": {"role": "identifier"},
            f"{prefix}sex": {"role": "quasi", "flat": True},
            f"{prefix}seen": {"role": "sensitive", "action": shift},
        },
    }


def publish(source: Path, stated: dict[str, Any], folder: Path) -> tuple[list[Any], str]:
    """The published dates and the text of the file, after everything that verifies it has passed."""
    release = hierdata.anonymize(source, stated, seed=SEED, key=KEY)
    found = [record.get("seen") for record in release.records()]
    release.save(folder / "release")
    assert hierdata.verify(folder / "release", stated).passed
    assert hierdata.verify(folder / "release", stated, original=source, key=KEY).passed
    for path in (folder / "release").rglob("*"):
        if path.is_file():
            assert b"13:37" not in path.read_bytes(), path.name
    (file,) = (one for one in (folder / "release" / "public").glob("records.*") if one.suffix != ".xsd")
    return found, "" if file.suffix == ".parquet" else file.read_text("utf-8")


def people(values: list[Any]) -> list[dict[str, Any]]:
    return [{"id": at, "sex": "fm"[at % 2], "seen": value} for at, value in enumerate(values)]


def test_text_is_a_day_whatever_followed_it(tmp_path: Path) -> None:
    values = [day + TIMES[at % len(TIMES)] for at, day in enumerate(days())]
    rows = people(values)
    (json_file := tmp_path / "a.json").write_text(json.dumps(rows))
    (csv_file := tmp_path / "a.csv").write_text(
        "id,sex,seen\n" + "".join(f'{one["id"]},{one["sex"]},"{one["seen"]}"\n' for one in rows)
    )
    elements = "".join(
        f'<p id="{one["id"]}" sex="{one["sex"]}"><seen>{one["seen"]}</seen></p>' for one in rows
    )
    (xml_file := tmp_path / "a.xml").write_text(f"<ps>{elements}</ps>")
    stated = policy("/ps/p/")
    stated["fields"] = {
        path.replace("/id", "/@id").replace("/sex", "/@sex"): rule for path, rule in stated["fields"].items()
    }
    stated["fields"]["/ps/p/seen"]["action"]["shift"]["by"] = "/ps/p/@id"
    for number, (file, own) in enumerate([(json_file, policy()), (csv_file, policy()), (xml_file, stated)]):
        (folder := tmp_path / str(number)).mkdir()
        found, _ = publish(file, own, folder)
        assert {value[0] if isinstance(value, list) else value for value in found} <= moved()
        assert len(found) == COUNT


def test_timestamps_of_parquet_become_days(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = people([datetime.fromisoformat(f"{day}T13:37:59.133700") for day in days()])
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    found, _ = publish(tmp_path / "a.parquet", policy(), tmp_path)
    assert set(found) == moved()


def test_dates_of_mongodb_are_at_midnight(tmp_path: Path) -> None:
    rows = people([{"$date": f"{day}T13:37:59.133Z"} for day in days()])
    (file := tmp_path / "a.ejson").write_text("".join(json.dumps(one) + "\n" for one in rows))
    found, text = publish(file, policy(), tmp_path)
    assert set(found) == moved("%Y-%m-%dT00:00:00Z")
    assert {json.loads(line)["seen"]["$date"] for line in text.splitlines()} == set(found)


def test_dates_without_separators_get_them(tmp_path: Path) -> None:
    rows = people([day.replace("-", "") + ("133759+0337" if at % 2 else "") for at, day in enumerate(days())])
    (file := tmp_path / "a.json").write_text(json.dumps(rows))
    found, _ = publish(file, policy(), tmp_path)
    assert set(found) == moved()


@pytest.mark.parametrize(
    "odd", [{"$date": "2001-02-03T13:37:00Z"}, {"$timestamp": {"t": 981207420, "i": 9}}, "20010203"]
)
@pytest.mark.parametrize("executor", ["serial", pytest.param("processes", marks=pytest.mark.full)])
def test_one_value_in_another_form_marks_nobody(
    odd: Any, executor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are written as text then, also where a split has only one of the forms."""
    monkeypatch.setattr("hierdata.sources.splits.SIZE", 200)
    rows = people([odd, *days()[1:]])
    (file := tmp_path / "a.ejson").write_text("".join(json.dumps(one) + "\n" for one in rows))
    found, text = publish(file, policy(), tmp_path)
    assert set(found) == moved()
    assert {type(json.loads(line)["seen"]) for line in text.splitlines()} == {str}
    if executor == "processes":
        again = hierdata.anonymize(file, policy(), seed=SEED, key=KEY, resources=Resources("processes", 2))
        assert [record["seen"] for record in again.records()] == found


def test_the_moved_dates_of_a_domain_have_no_time_either(tmp_path: Path) -> None:
    stated = policy()
    stated["fields"]["$.seen"] |= {"role": "quasi", "date": {"steps": ["day", "year", "century"]}}
    rows = people([f"{day}T13:37:59Z" for day in days() for _ in range(2)])
    (file := tmp_path / "a.json").write_text(json.dumps(rows))
    found, _ = publish(file, stated, tmp_path)
    assert all("T" not in value for value in found)


def test_a_moved_date_has_the_form_of_its_value(tmp_path: Path) -> None:
    """In one form each, a stated one: with its names of months, its weekdays, and the time of midnight."""
    forms = {
        "%d.%m.%Y": "%d.%m.%Y",
        "%a %d %b %y": "%a %d %b %y",
        "%m/%d/%Y %I:%M %p": "%m/%d/%Y 12:00 AM",
        "%Y-%j": "%Y-%j",
    }
    for number, (form, published) in enumerate(forms.items()):
        values = [f"{datetime.fromisoformat(day) + timedelta(hours=13, minutes=37):{form}}" for day in days()]
        stated = policy()
        stated["fields"]["$.seen"]["action"]["shift"]["format"] = form
        (folder := tmp_path / str(number)).mkdir()
        (file := folder / "a.json").write_text(json.dumps(people(values)))
        found, _ = publish(file, stated, folder)
        assert set(found) == moved(published)


def test_the_forms_of_a_field_become_one(tmp_path: Path) -> None:
    """Partial dates and days that no calendar has are missing where the policy says so."""
    values: list[Any] = [f"{datetime.fromisoformat(day):%d.%m.%Y}" for day in days()]
    values[3], values[4], values[5] = days()[3], int(days()[4].replace("-", "")), days()[5] + "T13:37"
    stated = policy()
    shift = stated["fields"]["$.seen"]["action"]["shift"]
    shift |= {"format": ["%d.%m.%Y", "iso", "%Y%m%d", "%m.%Y"]}
    (file := tmp_path / "a.json").write_text(json.dumps(people(values)))
    found, _ = publish(file, stated, tmp_path)
    assert set(found) == moved("%d.%m.%Y")
    for odd, key, choice in (("03.2001", "partial", "drop"), ("31.02.2001", "missing", "impossible")):
        file.write_text(json.dumps(people([odd, *values[1:]])))
        with pytest.raises(InputError, match=f"`{key}: {choice}`") as refused:
            hierdata.anonymize(file, stated, seed=SEED, key=KEY)
        assert odd not in str(refused.value)
        shift[key] = choice
        (folder := tmp_path / key).mkdir()
        found, _ = publish(file, stated, folder)
        assert len(found) == COUNT
        assert {value for value in found if value is not None} <= moved("%d.%m.%Y")


def test_a_date_domain_states_the_forms_for_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stated = policy()
    dates = {"steps": ["day", "year", "century"], "format": "%d.%m.%Y", "missing": "impossible"}
    stated["fields"]["$.seen"] |= {"role": "quasi", "date": dates}
    rows = people([f"{datetime.fromisoformat(day):%d.%m.%Y}" for day in days() for _ in range(2)])
    (file := tmp_path / "a.json").write_text(json.dumps([*rows, *people(["31.02.2001"] * 4)]))
    publish(file, stated, tmp_path)
    stated["fields"]["$.seen"]["action"]["shift"]["format"] = "%d.%m.%Y"
    (own := tmp_path / "policy.json").write_text(json.dumps(stated))
    assert main(["lint", str(own)]) == 2
    assert "state `format` and `missing` there only" in " ".join(capsys.readouterr().out.split())


def test_a_form_writes_what_it_reads_or_nothing() -> None:
    """Days around the ends of years and centuries; two digits of the year end at 2068."""
    some = [day_of(year, month, day) for year in (1, 999, 1968, 1969, 2000, 2068, 2069, 9999, 10000)
            for month, day in ((1, 1), (2, 28), (12, 31))]  # fmt: skip
    for text in ("%d.%m.%Y", "%d%m%y", "%j/%Y", "%A, %d %B %Y %H:%M:%S.%f %z", "100%% %d-%b-%y %I %p %Z"):
        form = format_of(text)
        for day in some:
            year = date_of(day)[0]
            written = form.write(day)
            assert (written is None) == (year > 9999 or ("%y" in text and not 1969 <= year <= 2068)), text
            if written is not None:
                assert form.read(written) == (day, day)
                assert re.fullmatch(form.days_pattern, written)
                assert form.write(day, form.times_of(written)) == written


def test_a_choice_without_a_reason_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (data := tmp_path / "a.json").write_text(json.dumps(people(days())))
    for key, value in (("time", "keep"), ("unit", "day"), ("unit", {"day": ""}), ("days", 6)):
        stated = policy()
        stated["fields"]["$.seen"]["action"]["shift"][key] = value
        (file := tmp_path / "policy.json").write_text(json.dumps(stated))
        assert main(["anonymize", str(data), "--policy", str(file), "--out", str(tmp_path / "out")]) == 2
        said = capsys.readouterr().err
        assert "fields" in said
        print(said)


def test_lint_tells_what_moved_dates_give_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(**shift: Any) -> str:
        stated = policy()
        stated["fields"]["$.seen"]["action"]["shift"] |= shift
        (file := tmp_path / "policy.json").write_text(json.dumps(stated))
        main(["lint", str(file)])
        return " ".join(capsys.readouterr().out.split())

    assert "move" not in told(days=28)
    assert "only 3 moves are possible" in told(days=13)
    assert "tell the move modulo 7" in told(unit={"day": "so be it"})
    assert "time of day is published as it is written" in told(time={"keep": "so be it"})
