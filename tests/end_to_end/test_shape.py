"""A collection is shaped before anything else sees it: every format, every executor, every command."""

from __future__ import annotations

import json
import re
import stat
import struct
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import bson
import pytest
from lxml import etree

import hierdata
from hierdata import Resources
from hierdata.cli import main
from hierdata.ground.errors import HierdataError, InputError, PolicyError, VerificationError
from hierdata.pipeline.measure import measure_release
from hierdata.policy.load import from_data
from tests import naive_shape
from tests.end_to_end.conftest import SEED, public_bytes
from tests.end_to_end.faulty import small_parts
from tests.naive_witness import HEAD

LIFT = {"lift": {"from": "$.visits[*].codes[*]", "to": "$.codes", "carry": ["day"]}}
STEPS: list[dict[str, Any]] = [
    LIFT,
    {"drop_below": {"path": "$.codes", "by": "code", "k": 5}},
    {"distinct": {"path": "$.codes", "fields": ["code", "day"]}},
]
SAMPLE = {"take": {"path": "$.codes", "sample": 2}}
FIELDS: dict[str, Any] = {
    "$.id": {"role": "identifier"},
    "$.born": {"role": "quasi", "interval": {"steps": [1, 5, 10, 40]}},
    "$.codes[*].code": {"role": "sensitive"},
    "$.codes[*].day": {"role": "quasi", "date": {"steps": ["day", "month", "year"]}},
    "$.visits[*].kind": {"role": "quasi", "flat": True},
    "$.visits[*].day": {"role": "identifier"},
}


def policy(steps: list[dict[str, Any]] = STEPS, **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 3}],
        "shape": steps,
        "fields": FIELDS,
        **more,
    }


def people(count: int = 40, seed: int = 5) -> list[dict[str, Any]]:
    rng = Random(seed)
    found = [
        {
            "id": f"p{at}",
            "born": rng.randint(1950, 1975),
            "visits": [
                {
                    "day": f"2001-0{rng.randint(1, 3)}-1{rng.randint(0, 2)}",
                    "kind": rng.choice("ab"),
                    "codes": [{"code": rng.choice("uvwx")} for _ in range(rng.randint(0, 3))],
                }
                for _ in range(rng.randint(1, 3))
            ],
        }
        for at in range(count)
    ]
    found[7]["visits"][0]["codes"].append({"code": "rare"})
    return found


def write_json(folder: Path, records: list[dict[str, Any]]) -> Path:
    file = folder / "records.json"
    file.write_text(json.dumps(records))
    return file


def write_lines(folder: Path, records: list[dict[str, Any]]) -> Path:
    file = folder / "records.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


def write_extended(folder: Path, records: list[dict[str, Any]]) -> Path:
    file = folder / "export.json"
    file.write_text(
        json.dumps([{**record, "born": {"$numberLong": str(record["born"])}} for record in records])
    )
    return file


def write_xml(folder: Path, records: list[dict[str, Any]]) -> Path:
    root = etree.Element("people")
    for record in records:
        person = etree.SubElement(root, "person", id=record["id"])
        etree.SubElement(person, "born").text = str(record["born"])
        for visit in record["visits"]:
            own = etree.SubElement(person, "visits", kind=visit["kind"])
            etree.SubElement(own, "day").text = visit["day"]
            for code in visit["codes"]:
                etree.SubElement(own, "codes", code=code["code"])
    file = folder / "people.xml"
    file.write_bytes(etree.tostring(root))
    return file


def write_bson(folder: Path, records: list[dict[str, Any]]) -> Path:
    file = folder / "dump.bson"
    file.write_bytes(b"".join(map(bson.encode, records)))
    return file


def as_objects(folder: Path, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return records


XML_POLICY = {
    "shape": [
        {"lift": {"from": "/people/person/visits/codes", "to": "/people/person/codes", "carry": ["day"]}},
        {"drop_below": {"path": "/people/person/codes", "by": "@code", "k": 5}},
        {"distinct": {"path": "/people/person/codes", "fields": ["@code", "day"], "count": "times"}},
    ],
    "fields": {
        "/people/person/@id": FIELDS["$.id"],
        "/people/person/born": FIELDS["$.born"],
        "/people/person/codes/@code": FIELDS["$.codes[*].code"],
        "/people/person/codes/day": FIELDS["$.codes[*].day"],
        "/people/person/codes/times": {"role": "quasi", "interval": {"steps": [1, 2, 8]}},
        "/people/person/visits/@kind": FIELDS["$.visits[*].kind"],
        "/people/person/visits/day": FIELDS["$.visits[*].day"],
    },
}
FORMATS: dict[str, tuple[Callable[[Path, list[dict[str, Any]]], Any], dict[str, Any]]] = {
    "json": (write_json, {}),
    "jsonl": (write_lines, {}),
    "extended": (write_extended, {"format": "extended-json"}),
    "bson": (write_bson, {}),
    "xml": (write_xml, XML_POLICY),
    "objects": (as_objects, {}),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_shaped_and_verified(name: str, tmp_path: Path) -> None:
    write, more = FORMATS[name]
    source, stated = write(tmp_path, people()), policy(**more)
    release = hierdata.anonymize(source, stated, out=tmp_path / "out", seed=SEED)
    published = (next((tmp_path / "out" / "public").glob("records.*"))).read_bytes()
    assert b"rare" not in published
    assert published.count(b"day") > 20
    assert hierdata.verify(tmp_path / "out", stated, original=source).passed
    assert measure_release(tmp_path / "out", stated, original=source).metrics
    first = release.report.shape[0]
    assert (first.step, first.lists, first.items) == ("lift", *count_codes(people(), empty=name != "xml"))


def count_codes(records: list[dict[str, Any]], *, empty: bool) -> tuple[int, int]:
    lists = [visit["codes"] for record in records for visit in record["visits"] if empty or visit["codes"]]
    return len(lists), sum(map(len, lists))


def test_the_release_is_that_of_records_that_were_shaped_by_hand(tmp_path: Path) -> None:
    # Which of equal items stays is free for the twin, so that step is left to others.
    steps = STEPS[:2]
    given = hierdata.anonymize(people(), policy(steps), seed=SEED)
    plain = policy()
    del plain["shape"]
    by_hand = hierdata.anonymize(naive_shape.shape(people(), steps), plain, seed=SEED)
    assert sorted(map(json.dumps, given.records())) == sorted(map(json.dumps, by_hand.records()))


def test_what_was_done_is_told(tmp_path: Path) -> None:
    release = hierdata.anonymize(people(), policy([*STEPS, SAMPLE]), out=tmp_path / "out", seed=SEED)
    codebook = json.loads((tmp_path / "out/public/codebook.json").read_text())
    assert len(codebook["shape"]) == 4
    assert "fewer than 5 individuals" in codebook["shape"][1]
    public = (tmp_path / "out/public/release.json").read_text()
    assert "Lists were shaped before anything else" in public
    assert "shape" not in json.loads(public)  # counts of the input are for the steward
    assert [own.step for own in release.report.shape] == ["lift", "drop_below", "distinct", "take"]
    assert release.report.shape[1].items - release.report.shape[1].used == 1
    assert "Lists shaped" in (tmp_path / "out/steward/report.html").read_text()


def test_the_key_of_a_sample_is_the_stewards_alone(tmp_path: Path) -> None:
    stated = policy([*STEPS, SAMPLE])
    hierdata.anonymize(people(), stated, out=tmp_path / "out", seed=SEED)
    facts = tmp_path / "out/steward/verification.json"
    key = json.loads(facts.read_text())["drawn_by"]
    assert stat.S_IMODE((tmp_path / "out/steward").stat().st_mode) == 0o700
    assert bytes.fromhex(key) != SEED
    for file in (tmp_path / "out/public").iterdir():
        assert key not in file.read_text()
    assert hierdata.verify(tmp_path / "out", stated, original=people()).passed
    assert measure_release(tmp_path / "out", stated, original=people()).metrics
    with pytest.raises(VerificationError, match="drawn at random"):
        hierdata.verify(tmp_path / "out/public/records.json", stated, original=people())
    with pytest.raises(VerificationError, match="drawn at random"):
        measure_release(tmp_path / "out/public/records.json", stated, original=people())


def test_a_forged_key_of_a_sample_fails(tmp_path: Path) -> None:
    stated = policy([LIFT, {"take": {"path": "$.codes", "sample": 1}}])
    hierdata.anonymize(people(), stated, out=tmp_path / "out", seed=SEED)
    facts = tmp_path / "out/steward/verification.json"
    true = json.loads(facts.read_text())
    for forged in ("00" * 32, "not a key", None):
        facts.write_text(json.dumps({**true, "drawn_by": forged}))
        with pytest.raises(VerificationError):
            hierdata.verify(tmp_path / "out", stated, original=people())


def test_sentences_quote_what_a_policy_says(tmp_path: Path) -> None:
    name = "code. All is safe, k = 50"
    records = [{**person, "visits": [{"codes": [{name: 1}]}]} for person in people()]
    stated = policy(
        [{"distinct": {"path": "$.visits[*].codes", "fields": [f"$['{name}']"]}}], unlisted="drop"
    )
    stated["fields"] = {"$.born": FIELDS["$.born"]}
    hierdata.anonymize(records, stated, out=tmp_path / "out", seed=SEED)
    (told,) = json.loads((tmp_path / "out/public/codebook.json").read_text())["shape"]
    assert f"""agree in "$['{name}']" one""" in told


def test_other_seeds_draw_other_samples() -> None:
    def drawn(seed: bytes) -> list[str]:
        found = hierdata.anonymize(people(), policy([LIFT, SAMPLE]), seed=seed)
        return sorted(json.dumps(record.get("codes")) for record in found.records())

    assert drawn(b"one seed of 16 b") != drawn(b"another of 16 by")


@pytest.mark.parametrize("stated", [policy(), policy([*STEPS, SAMPLE])], ids=["fixed", "drawn"])
def test_a_release_of_other_items_fails(stated: dict[str, Any], tmp_path: Path) -> None:
    hierdata.anonymize(people(), stated, out=tmp_path / "out", seed=SEED)
    changed = people()
    for person in changed[:20]:
        for visit in person["visits"]:
            visit["codes"] = [{"code": "u"} for _ in visit["codes"]]
    with pytest.raises(VerificationError):
        hierdata.verify(tmp_path / "out", stated, original=changed)


@pytest.mark.parametrize("recoding", ["generalization", "anatomy", "representatives", "sets_and_ranges"])
def test_recodings_publish_what_was_shaped(recoding: str, tmp_path: Path) -> None:
    stated = policy(
        recoding=recoding, models=[{"kind": "distinct-l-diversity", "l": 2}, {"kind": "k-anonymity", "k": 3}]
    )
    hierdata.anonymize(people(), stated, out=tmp_path / "out", seed=SEED)
    assert hierdata.verify(tmp_path / "out", stated, original=people()).passed


def in_parts(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of people, one for each visit, in no order."""
    found = [{**person, "visits": [visit]} for person in records for visit in person["visits"]]
    Random(2).shuffle(found)
    return found


def test_records_of_one_individual_become_one(tmp_path: Path) -> None:
    parts = in_parts(people())
    stated = policy(individual="$.id")
    release = hierdata.anonymize(parts, stated, out=tmp_path / "out", seed=SEED)
    assert release.report.counts.records.input == 40
    whole = hierdata.anonymize(naive_shape.unite(parts, "id"), policy(), seed=SEED)
    assert sorted(map(json.dumps, release.records())) == sorted(map(json.dumps, whole.records()))
    assert hierdata.verify(tmp_path / "out", stated, original=parts).passed
    assert "were united" in (tmp_path / "out/public/codebook.json").read_text()


def test_several_values_together_say_whose_a_record_is(tmp_path: Path) -> None:
    names = [(given, family) for given in ("Ann", "Bo", "Cy", None) for family in ("Lee", "May", "ab", "b")]
    rows = [
        {"first": names[n % 16][0], "last": names[n % 16][1], "sex": "mf"[n % 2], "ward": n % 3}
        for n in range(48)
    ]
    rows += [{"first": "Annab", "last": None, "sex": "m", "ward": 1}]  # not Ann ab
    stated = {
        "version": 1,
        "individual": {"by": ["$.first", "$.last"], "nest": "$.visits", "own": ["$.sex"]},
        "models": [{"kind": "k-anonymity", "k": 3}],
        "fields": {
            "$.first": {"role": "identifier"},
            "$.last": {"role": "identifier"},
            "$.sex": {"role": "quasi", "flat": True},
            "$.visits[*].ward": {"role": "quasi", "flat": True},
        },
    }
    source = tmp_path / "rows.csv"
    lines = (",".join("" if own is None else str(own) for own in row.values()) for row in rows)
    source.write_text("\n".join(["first,last,sex,ward", *lines]))
    for given, out in ((rows, tmp_path / "objects"), (source, tmp_path / "tables")):
        release = hierdata.anonymize(given, stated, out=out, seed=SEED)
        assert release.report.counts.records.input == 17
        assert hierdata.verify(out, stated, original=given).passed
        shown = "".join(file.read_text() for file in (out / "public").rglob("records*") if file.is_file())
        assert not {"Ann", "Lee", "May"} & set(re.findall("[A-Za-z]+", shown))
    assert (
        "$.first and $.last" in json.loads((tmp_path / "tables/public/codebook.json").read_text())["shape"][0]
    )
    nobody = [*rows, {"first": None, "last": None, "sex": "m", "ward": 1}]
    with pytest.raises(InputError, match="1 records have no value here"):
        hierdata.anonymize(nobody, stated, seed=SEED)


def test_individuals_are_counted_and_not_records() -> None:
    parts = [{"id": "p1", "codes": [{"code": "u"}]}, {"id": "p1", "codes": [{"code": "u"}]}]
    parts += [{"id": "p2", "codes": [{"code": "v"}]}, {"id": "p3", "codes": [{"code": "v"}, {"code": "w"}]}]
    fields = {"$.id": FIELDS["$.id"], "$.codes[*].code": {"role": "quasi", "flat": True}}
    step = {"drop_below": {"path": "$.codes", "by": "code", "k": 2}}
    stated = policy([step], individual="$.id", fields=fields, models=[{"kind": "k-anonymity", "k": 1}])
    found = [record.get("codes", []) for record in hierdata.anonymize(parts, stated, seed=SEED).records()]
    assert sorted(map(len, found)) == [0, 1, 1]
    assert all(item == {"code": "v"} for items in found for item in items)


def test_rows_of_one_individual_must_agree(tmp_path: Path) -> None:
    source, stated = tmp_path / "rows.csv", policy([], individual="$.id")
    stated["fields"] = {"$.id": FIELDS["$.id"], "$.born": FIELDS["$.born"]}
    source.write_text("id,born\n" + "".join(f"p{at % 9},{1950 + at % 9 % 2}\n" for at in range(20)))
    release = hierdata.anonymize(source, stated, out=tmp_path / "out", seed=SEED)
    assert release.report.counts.records.input == 9
    assert hierdata.verify(tmp_path / "out", stated, original=source).passed
    source.write_text("id,born\np1,1950\np1,1951\n")
    with pytest.raises(InputError, match="the documents of 1 individuals have different values here"):
        hierdata.anonymize(source, stated, seed=SEED)


def test_a_witness_that_names_another_individual_fails(tmp_path: Path) -> None:
    parts, stated, out = in_parts(people()), policy(individual="$.id"), tmp_path / "out"
    release = hierdata.anonymize(parts, stated, out=out, seed=SEED)
    united = naive_shape.unite(parts, "id")
    born = next(iter(release.records()))["born"]
    low, high = json.loads(born) if isinstance(born, str) else (born, born)
    witness = out / "steward" / "witness.bin"
    true = witness.read_bytes()
    (own,) = struct.unpack_from("<I", true, HEAD)
    assert low <= united[own]["born"] <= high  # individuals are numbered by their first record
    others = [at for at, person in enumerate(united) if not low <= person["born"] <= high]
    assert others
    for other in others[:5]:
        forged = bytearray(true)
        struct.pack_into("<I", forged, HEAD, other)
        witness.write_bytes(forged)
        with pytest.raises(VerificationError):
            hierdata.verify(out, stated, original=parts)


def test_individuals_are_united_in_xml(tmp_path: Path) -> None:
    stated = policy(individual="/people/person/@id", **XML_POLICY)
    source = write_xml(tmp_path, in_parts(people()))
    with pytest.raises(InputError, match="different values here"):  # a visit occurs once in each record
        hierdata.anonymize(source, stated, seed=SEED)
    stated["fields"] = {**stated["fields"], "/people/person/visits": {"vertex": True}}
    release = hierdata.anonymize(source, stated, out=tmp_path / "out", seed=SEED)
    assert release.report.counts.records.input == 40
    assert hierdata.verify(tmp_path / "out", stated, original=source).passed


@pytest.mark.full
@pytest.mark.parametrize(
    "shaped", [policy([*STEPS, SAMPLE], individual="$.id"), policy()], ids=["united", "as given"]
)
def test_workers_do_not_matter(
    shaped: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_lines(tmp_path, in_parts(people(80)) if "individual" in shaped else people(80))
    small_parts(monkeypatch.setattr)
    monkeypatch.setattr("hierdata.pipeline.reorder.SIZE", 2000)
    releases = [
        hierdata.anonymize(source, shaped, seed=SEED, resources=own)
        for own in (Resources("serial"), Resources("processes", workers=2))
    ]
    assert public_bytes(releases[0]) == public_bytes(releases[1])
    releases[1].save(tmp_path / "out")
    assert hierdata.verify(tmp_path / "out", shaped, original=source).passed


def test_nothing_is_left_of_individuals(tmp_path: Path) -> None:
    (tmp_path / "staging").mkdir()
    release = hierdata.anonymize(
        in_parts(people()), policy(individual="$.id"), seed=SEED, staging=tmp_path / "staging"
    )
    release.save(tmp_path / "out")
    del release
    assert not list((tmp_path / "staging").iterdir())


def test_tables_take_steps_that_keep_rows_as_they_are(tmp_path: Path) -> None:
    people_table = [{"id": at, "born": 1950 + at % 3} for at in range(12)]
    codes = [{"person": at % 12, "code": "uvw"[at % 3], "at": at} for at in range(60)]
    stated = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "tables": {"people": {"key": "id"}, "codes": {"parent": "people", "on": "person"}},
        "shape": [{"take": {"path": "$.codes", "last": 2, "by": "at"}}],
        "fields": {
            "$.born": FIELDS["$.born"],
            "$.codes[*].code": FIELDS["$.codes[*].code"],
            "$.codes[*].at": {"role": "identifier"},
        },
    }
    source = {"people": people_table, "codes": codes}
    release = hierdata.anonymize(source, stated, out=tmp_path / "out", seed=SEED)
    assert release.report.counts.vertices["$.codes[*]"].input == 24
    assert hierdata.verify(tmp_path / "out", stated, original=source).passed


def differ(records: list[dict[str, Any]]) -> None:
    records[0]["id"] = records[1]["id"] = "p1"
    records[0]["born"], records[1]["born"] = 1950, 1951


def lose_id(records: list[dict[str, Any]]) -> None:
    del records[3]["id"]
    records[4]["id"] = None


def nothing(records: list[dict[str, Any]]) -> None:
    pass


WRONG: list[tuple[dict[str, Any], Callable[[list[dict[str, Any]]], None], type[HierdataError], str]] = [
    (
        policy([{"lift": {"from": "$.visits[*].code", "to": "$.code"}}, *STEPS]),
        nothing,
        InputError,
        "$.visits[*].code: lift: no record has a list here",
    ),
    (policy([{"lift": {"from": "$.visits[*].codes", "to": "$.born"}}]), nothing, InputError, "(in 40 cases)"),
    (
        policy([LIFT, {"take": {"path": "$.codes", "first": 1, "by": "when"}}]),
        nothing,
        InputError,
        "$.codes: take: an item has no value in the field of `by` (in ",
    ),
    (
        policy([{"cap": {"path": "$.born", "n": 1}}]),
        nothing,
        InputError,
        "$.born: cap: a value is not a list (in 40 cases)",
    ),
    (
        policy(individual="$.id"),
        differ,
        InputError,
        "$.born: individual: the documents of 1 individuals have different values here",
    ),
    (policy(individual="$.id"), lose_id, InputError, "$.id: individual: 2 records have no value here"),
    (policy([LIFT, LIFT]), nothing, PolicyError, "is lifted twice: a list has one parent"),
    (
        policy([LIFT, {"lift": {"from": "$.visits[*].kinds", "to": "$.codes"}}]),
        nothing,
        PolicyError,
        "two lists are lifted to $.codes",
    ),
    (
        policy([{"lift": {"from": "$.codes", "to": "$.all"}}]),
        nothing,
        PolicyError,
        "must be a list of the record",
    ),
    (
        policy([{"lift": {"from": "$.visits[*].codes", "to": "$.visits"}}]),
        nothing,
        PolicyError,
        "name a list that does not exist",
    ),
    (
        policy([{"lift": {"from": "$.visits[*].codes", "to": "$.a.b.c"}}]),
        nothing,
        PolicyError,
        "must be a list of the record",
    ),
    (policy([{"cut": {"path": "$.codes"}}]), nothing, PolicyError, "unknown key 'cut'"),
    (policy([{"cap": {"path": "$.codes", "n": 1, "m": 2}}]), nothing, PolicyError, "unknown key 'm'"),
    (policy([{"cap": {"path": "$.codes", "n": 0}}]), nothing, PolicyError, "greater than or equal to 1"),
    (
        policy([{**LIFT, "cap": {"path": "$.codes", "n": 1}}]),
        nothing,
        PolicyError,
        "state exactly one of lift",
    ),
    (policy([{"take": {"path": "$.codes", "first": 1}}]), nothing, PolicyError, "state `by`"),
    (
        policy([{"take": {"path": "$.codes", "first": 1, "last": 2, "by": "day"}}]),
        nothing,
        PolicyError,
        "exactly one of first, last, sample",
    ),
    (
        policy([{"take": {"path": "$.codes", "sample": 1, "by": "day"}}]),
        nothing,
        PolicyError,
        "no meaning with `sample`",
    ),
    (policy([{"cap": {"path": "$.codes[0]", "n": 1}}]), nothing, PolicyError, "cannot be read at position"),
    (policy([{"cap": {"path": "$", "n": 1}}]), nothing, PolicyError, "is the record itself"),
    (policy(individual="$.visits[*].kind"), nothing, PolicyError, "must be one value of the record"),
    (
        policy(
            [{"lift": {"from": "$.visits[*].codes", "to": "$.all"}}],
            fields={**FIELDS, "$.visits[*].codes[*].code": {"role": "sensitive"}},
        ),
        nothing,
        PolicyError,
        "`shape` lifts this list to $.all",
    ),
]


@pytest.mark.parametrize(("stated", "spoil", "kind", "message"), WRONG, ids=[own[3][:40] for own in WRONG])
def test_what_is_wrong_is_told_and_nothing_is_written(
    stated: dict[str, Any],
    spoil: Callable[[list[dict[str, Any]]], None],
    kind: type[HierdataError],
    message: str,
    tmp_path: Path,
) -> None:
    records = deepcopy(people())
    spoil(records)
    with pytest.raises(kind) as told:
        hierdata.anonymize(records, stated, out=tmp_path / "out", seed=SEED)
    assert message in str(told.value)
    assert not (tmp_path / "out").exists()
    for secret in ("p1", "1950", "1951", "rare"):
        assert secret not in str(told.value)


def test_a_schema_describes_the_shaped_record(tmp_path: Path) -> None:
    items = {"type": "array", "items": {"required": ["code", "day"]}}
    (tmp_path / "shaped.json").write_text(json.dumps({"required": ["codes"], "properties": {"codes": items}}))
    stated = from_data(policy(schema="shaped.json"), tmp_path)
    assert hierdata.anonymize(people(), stated, seed=SEED).report.passed
    without = from_data(policy([], unlisted="drop", schema="shaped.json"), tmp_path)
    with pytest.raises(InputError, match="record 1"):
        hierdata.anonymize(people(), without, seed=SEED)


def test_rates_are_those_of_shaped_records() -> None:
    # The field `codes` lies in the record only once it was lifted there.
    keys, stated = ["$.codes[*].day"], policy(STEPS[:1])
    found = hierdata.measure(people(), keys=keys, sensitive="$.codes[*].code", policy=stated)
    by_hand = naive_shape.shape(people(), STEPS[:1])
    assert found == hierdata.measure(by_hand, keys=keys, sensitive="$.codes[*].code")


def test_lint_shapes_the_collection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, file = write_json(tmp_path, people()), tmp_path / "policy.json"
    file.write_text(json.dumps(policy()))
    assert main(["lint", str(file), "--data", str(source)]) == 0
    file.write_text(json.dumps(policy([LIFT, {"cap": {"path": "$.code", "n": 1}}])))
    assert main(["lint", str(file), "--data", str(source)]) == 5
    assert "$.code: cap: no record has a list here" in " ".join(capsys.readouterr().err.split())
    file.write_text(json.dumps(policy([LIFT, LIFT])))
    assert main(["lint", str(file)]) == 2
    assert "is lifted twice" in capsys.readouterr().out


def test_init_tells_of_lists_in_lists(tmp_path: Path) -> None:
    assert "`shape` can lift it" in str(hierdata.init(people()))
    assert "`shape`" not in str(hierdata.init(naive_shape.shape(people(), [LIFT])))
