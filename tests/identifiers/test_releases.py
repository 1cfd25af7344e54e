"""Releases with pseudonyms, constants and moved dates: every format, forgeries, a key that is nowhere."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.cli import main
from hierdata.executors import local, processes
from hierdata.ground.errors import HierdataError, InputError, PolicyError
from hierdata.ground.secrets import Key
from hierdata.pipeline.resources import Resources
from hierdata.records.identifiers import Pseudonym, Shift
from tests.identifiers.people import KEY, flat_policy, people, policy, write, write_tables, xml_policy

SEED = b"a seed of sixteen bytes"
FORMS = ("json", "jsonl", "xml", "csv", "parquet")
Document = dict[str, Any]

_of_people = Pseudonym(domain="people").replace("", Key(KEY))
assert _of_people is not None
TOKENS = {who: str(_of_people(who, 0)) for one in people() for who in (one["id"], one["visits"][1]["who"])}


def published(source: object, stated: Document, **more: Any) -> list[Document]:
    release = hierdata.anonymize(source, stated, seed=SEED, key=KEY, **more)
    return list(release.records())


def texts(value: Any) -> Iterator[str]:
    """Every text of a document, whatever the format made of it."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    else:
        yield str(value)


@pytest.mark.parametrize("form", [*FORMS, "tables"])
def test_every_format_has_the_same_pseudonyms_and_nothing_of_what_they_stand_for(
    form: str, tmp_path: Path
) -> None:
    source, stated = write_tables(tmp_path) if form == "tables" else write(tmp_path, form)
    found = {text for record in published(source, stated) for text in texts(record)}
    nested = form not in ("csv", "parquet")
    due = set(TOKENS.values()) if nested else {TOKENS[one["id"]] for one in people()}
    assert {text for text in found if re.fullmatch("[0-9a-f]{32}", text)} == due
    raw = {text for one in people() for text in texts(one) if len(text) > 3}
    originals = {text for text in raw if not re.fullmatch(r"\d{4}-.*", text)}
    assert not {text for text in found if any(original in text for original in originals)}
    assert found & {"[removed]", "*"}


def test_a_reference_leads_within_the_record_to_what_it_named() -> None:
    for record in published(people(), policy()):
        assert record["id"] in [visit["who"] for visit in record["visits"]]


def test_dates_of_a_record_are_moved_alike_and_by_what_the_person_is() -> None:
    shift = Shift(days=40)
    born = {"role": "sensitive", "action": {"shift": {"days": 40, "by": "$.id"}}}
    records = published(people(), policy({"$.born": born}))
    by_token = {record["id"]: record for record in records}
    for one in people():
        record = by_token[TOKENS[one["id"]]]
        offset = shift.offsets(Key(KEY))(one["id"])
        for field in ("born", "seen"):
            moved = date.fromisoformat(record[field]) - date.fromisoformat(one[field])
            assert moved.days == offset


def test_without_by_all_that_a_record_holds_decides() -> None:
    free = {"action": {"shift": {"days": 40}}}
    born, seen = {"role": "sensitive", **free}, {"role": "sensitive", **free}
    stated = policy({"$.born": born, "$.seen": seen})
    known = {one["id"]: one for one in people()}
    names = {token: who for who, token in TOKENS.items()}
    offsets = set()
    for record in published(people(), stated):
        one = known[names[record["id"]]]
        moved = {
            (date.fromisoformat(record[field]) - date.fromisoformat(one[field])).days
            for field in ("born", "seen")
        }
        assert len(moved) == 1
        offsets |= moved
    assert len(offsets) > 4
    assert {days % 7 for days in offsets} == {0}


@pytest.mark.full
@pytest.mark.parametrize("form", ["jsonl", "xml"])
def test_bytes_do_not_depend_on_who_does_the_work(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hierdata.sources.splits.SIZE", 600)
    monkeypatch.setattr("hierdata.sources.form.SIZE", 600)
    source, stated = write(tmp_path, form)
    files = []
    for name, resources in {"a": Resources("serial"), "b": Resources("processes", 2)}.items():
        hierdata.anonymize(source, stated, seed=SEED, key=KEY, resources=resources).save(tmp_path / name)
        public = sorted((tmp_path / name / "public").iterdir())
        files.append([(path.name, path.read_bytes()) for path in public])
    assert files[0] == files[1]


# The key


def shown(key: bytes) -> list[bytes]:
    """What a key may look like, and what is derived from it."""
    known = Key(key)
    secrets = [key, known.derive_key("pseudonym", "people"), known.derive_key("shift", "days")]
    return [
        text
        for secret in secrets
        for text in (
            *(secret, secret.hex().encode(), secret.hex().upper().encode(), base64.b64encode(secret)),
            *(base64.urlsafe_b64encode(secret), repr(secret)[2:-1].encode(), str(list(secret)).encode()),
        )
    ]


def test_the_key_is_in_no_file_and_no_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """All work goes through files here, and every file is read before it is removed."""
    seen: list[bytes] = []
    forget, close = local.LocalExecutor.forget, processes.Processes.close

    def forgetting(self: Any, files: Any, kept: int) -> None:
        files = list(files)
        seen.extend(path.read_bytes() for path in files if path.is_file())
        forget(self, files, kept)

    def closing(self: Any) -> None:
        seen.extend(path.read_bytes() for path in self.folder.rglob("*") if path.is_file())
        close(self)

    monkeypatch.setattr(local.LocalExecutor, "forget", forgetting)
    monkeypatch.setattr(processes.Processes, "close", closing)
    monkeypatch.setattr(processes, "_INLINE", 0)
    monkeypatch.setattr(local, "_KEEP", 0)
    monkeypatch.setattr("hierdata.sources.form.SIZE", 600)
    source, stated = write(tmp_path, "jsonl")
    resources = Resources("processes", 2)
    release = hierdata.anonymize(source, stated, seed=SEED, key=KEY, resources=resources, staging=tmp_path)
    release.save(tmp_path / "release")
    hierdata.verify(tmp_path / "release", stated, original=source, key=KEY, resources=resources)
    assert any(b"Treatment" in content and b"Pseudonym" in content for content in seen)
    seen += [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    out, err = capfd.readouterr()
    seen += [out.encode(), err.encode(), repr(release).encode()]
    assert not [text for text in shown(KEY) for content in seen if text in content]


@pytest.mark.parametrize("how", ["environment", "descriptor"])
def test_the_command_takes_a_key(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    source, stated = write(tmp_path, "json")
    (tmp_path / "policy.json").write_text(json.dumps(stated))
    command = [str(source), "--policy", str(tmp_path / "policy.json"), "--quiet"]
    release = str(tmp_path / "release")

    def run(*arguments: str) -> int:
        if how == "environment":
            return main([*arguments])
        reading, writing = os.pipe()
        os.write(writing, KEY.hex().encode() + b"\n")
        os.close(writing)
        return main([*arguments, "--key-fd", str(reading)])

    assert main(["anonymize", *command, "--out", release]) == 2
    if how == "environment":
        monkeypatch.setenv("HIERDATA_KEY", KEY.hex())
    assert run("anonymize", *command, "--out", release) == 0
    records = json.loads((tmp_path / "release/public/records.json").read_text())
    assert {record["id"] for record in records} <= set(TOKENS.values())
    judged = ["verify", release, "--policy", command[2], "--quiet"]
    assert main(judged) == 0  # the file alone needs no key
    assert run(*judged, "--original", str(source)) == 0
    measured = ["measure", release, "--policy", command[2], "--original", str(source), "--json"]
    assert run(*measured) == 0
    out, err = capfd.readouterr()
    assert not [text for text in shown(KEY) if text in (out + err).encode()]
    assert "HIERDATA_KEY" in err  # of the first run, which had none


def test_a_key_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, stated = write(tmp_path, "json")
    (tmp_path / "policy.json").write_text(json.dumps(stated))
    command = [
        "anonymize",
        str(source),
        "--policy",
        str(tmp_path / "policy.json"),
        "--out",
        str(tmp_path / "r"),
    ]
    assert main([*command, "--key-fd", "977"]) == 6
    monkeypatch.setenv("HIERDATA_KEY", "tooshort")
    assert main(command) == 2
    with pytest.raises(PolicyError, match="at least 32 bytes"):
        hierdata.anonymize(people(), stated, key=b"short")
    for known in (bytes(32), b"hierdata" * 4, b"a secret of us " * 3, b"0123456" * 5):
        with pytest.raises(PolicyError, match="repeats a byte or a short text"):
            hierdata.anonymize(people(), stated, key=known)
    with pytest.raises(PolicyError, match="HIERDATA_KEY"):
        hierdata.anonymize(people(), stated)


def test_a_key_that_nobody_needs_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIERDATA_KEY", "no key at all")
    plain = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {"$.a": {"role": "sensitive"}},
    }
    (tmp_path / "policy.json").write_text(json.dumps(plain))
    (tmp_path / "in.json").write_text('[{"a": 1}, {"a": 2}]')
    command = ["anonymize", str(tmp_path / "in.json"), "--policy", str(tmp_path / "policy.json"), "--quiet"]
    assert main([*command, "--out", str(tmp_path / "release")]) == 0
    assert main([*command, "--out", str(tmp_path / "other"), "--key-fd", "0"]) == 2


def test_a_key_of_the_run_is_another_each_time_and_nobodys() -> None:
    stated = policy(key="per-run")
    runs = [hierdata.anonymize(people(), stated, seed=SEED).records() for _ in range(2)]
    tokens = [{record["id"] for record in records} for records in runs]
    assert tokens[0].isdisjoint(tokens[1])
    assert tokens[0].isdisjoint(TOKENS.values())
    with pytest.raises(PolicyError, match="per-run"):
        hierdata.anonymize(people(), stated, key=KEY)
    release = hierdata.anonymize(people(), stated, seed=SEED)
    with pytest.raises(PolicyError, match="ended with its run"):
        hierdata.verify(release.records(), stated, original=people())


def test_pseudonyms_alone_are_verified_without_the_key(tmp_path: Path) -> None:
    fixed = {"role": "sensitive"}
    stated = policy({"$.born": fixed, "$.seen": fixed}, key="per-run")
    hierdata.anonymize(people(), stated, seed=SEED).save(tmp_path / "release")
    assert hierdata.verify(tmp_path / "release", stated, original=people()).passed


def test_spark_is_refused_before_it_starts() -> None:
    with pytest.raises(PolicyError, match="a key must not be in a file"):
        hierdata.anonymize(people(), policy(), key=KEY, resources=Resources("spark"))


# What pseudonyms must not tell


def test_a_pseudonym_in_two_records_is_refused_and_counted() -> None:
    linked = people()
    for number in (3, 4, 7):
        linked[number]["visits"][1]["who"] = "T0"
    linked[9]["visits"][1]["who"] = linked[8]["id"]
    with pytest.raises(
        PolicyError, match="in the domain people 2 pseudonyms occur in more than one record"
    ) as no:
        published(linked, policy())
    assert "T0" not in str(no.value)


def test_links_are_allowed_with_a_reason_that_the_release_repeats(tmp_path: Path) -> None:
    linked = people()
    linked[4]["visits"][1]["who"] = linked[3]["visits"][1]["who"]
    action = {"pseudonym": {"domain": "people", "links": "rotas are public", "references": "keep"}}
    stated = policy({"$.visits[*].who": {"role": "identifier", "action": action}})
    hierdata.anonymize(linked, stated, seed=SEED, key=KEY).save(tmp_path / "release")
    told = json.loads((tmp_path / "release/public/release.json").read_text())["limitations"]
    assert [text for text in told if "the domain people" in text and "rotas are public" in text]
    verdict = hierdata.verify(tmp_path / "release", stated)
    assert verdict.passed
    assert verdict.k_exempt == 1  # for whoever compares what links records


def test_values_that_are_cut_to_one_pseudonym_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen digits hardly ever coincide; here they do, by force."""
    one = {"role": "identifier", "action": {"pseudonym": {"domain": "people"}}}
    monkeypatch.setattr("hierdata.records.identifiers.actions.text_of", lambda value: str(value)[:2])
    with pytest.raises(PolicyError, match="more than one record"):
        published(
            people(), flat_policy() | {"fields": {**flat_policy()["fields"], "$.id": one}, "unlisted": "drop"}
        )


@pytest.mark.parametrize("form", ["json", "xml", "csv"])
def test_where_some_have_no_pseudonym_a_reason_is_due(form: str, tmp_path: Path) -> None:
    source, stated = write(tmp_path, form)
    there, gone = {"json": ('"S004"', "null"), "xml": (' id="S004"', ""), "csv": ("S004,", ",")}[form]
    source.write_text(source.read_text().replace(there, gone, 1))
    path = next(path for path in stated["fields"] if path.endswith("id"))
    stated["fields"][path] |= {"missing": [""]}
    for rule in stated["fields"].values():
        if "shift" in (rule.get("action") or {}):
            rule["action"] = {"shift": {"days": 40}}
    with pytest.raises(PolicyError, match="1 of 12 have no value"):
        published(source, stated)
    stated["fields"][path]["exempt"] = "visitors have none"
    release = hierdata.anonymize(source, stated, seed=SEED, key=KEY)
    assert [text for text in release.report.limitations if "visitors have none" in text]
    assert release.report.counts.k_exempt is None
    assert release.report.counts.k_raw == release.report.counts.smallest_class


def test_absence_of_a_constant_is_no_secret_kept_from_the_models() -> None:
    """Who knows that somebody has no note must find k records of that form."""
    for record in published(people(), policy()):
        assert "note" in record
    half = policy({"$.sex": {"role": "identifier"}})
    records = published(people(), half)
    shown = [record.get("note") for record in records]
    assert all(shown.count(note) >= 3 for note in set(shown))


# Forged releases


def forged(folder: Path, change: Any) -> None:
    path = folder / "public" / "records.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    change(records)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.mark.parametrize(
    "recoding", ["generalization", "full_domain", "sets_and_ranges", "anatomy", "slicing"]
)
@pytest.mark.parametrize(
    ("where", "value"), [("id", "S001"), ("id", TOKENS["S001"].upper()), ("id", 17), ("note", "Note7")]
)
def test_what_is_no_pseudonym_or_constant_fails(
    recoding: str, where: str, value: object, tmp_path: Path
) -> None:
    source, stated = write(tmp_path, "jsonl")
    stated["recoding"] = recoding
    if recoding == "full_domain":
        stated["fields"] = {path: rule for path, rule in stated["fields"].items() if "visits" not in path}
        stated["unlisted"] = "drop"
    hierdata.anonymize(source, stated, seed=SEED, key=KEY).save(tmp_path / "release")
    verdict = hierdata.verify(tmp_path / "release", stated)
    assert verdict.passed
    assert verdict.k_raw is None or verdict.k_raw >= 3

    def change(records: list[Document]) -> None:
        for record in records:
            record[where] = value

    forged(tmp_path / "release", change)
    verdict = hierdata.verify(tmp_path / "release", stated)
    assert not verdict.passed
    assert verdict.forbidden[where] == len(people())


@pytest.mark.parametrize("row", [0, 5, 11])
def test_a_raw_identifier_in_one_row_of_a_table_fails(row: int, tmp_path: Path) -> None:
    """Rows that show the same are looked at once, but for their pseudonyms."""
    source, stated = write(tmp_path, "csv")
    hierdata.anonymize(source, stated, seed=SEED, key=KEY).save(tmp_path / "release")
    path = tmp_path / "release" / "public" / "records.csv"
    header, *rows = path.read_text().splitlines()
    rows[row] = re.sub("[0-9a-f]{32}", "S005", rows[row])
    path.write_text("\n".join([header, *rows]) + "\n")
    verdict = hierdata.verify(tmp_path / "release", stated)
    assert verdict.forbidden == {"id": 1}
    assert verdict.k == 3


def test_a_raw_identifier_deep_in_a_release_fails(tmp_path: Path) -> None:
    source, stated = write(tmp_path, "jsonl")
    hierdata.anonymize(source, stated, seed=SEED, key=KEY).save(tmp_path / "release")
    forged(tmp_path / "release", lambda records: records[5]["visits"][1].update(who="T5"))
    assert hierdata.verify(tmp_path / "release", stated).forbidden == {"visits.who": 1}


def repeat_a_pseudonym(records: list[Document]) -> None:
    """One person's visit gets the pseudonym of another's."""
    records[3]["visits"][0]["who"] = records[4]["visits"][0]["who"]


@pytest.mark.parametrize("recoding", ["generalization", "anatomy", "slicing"])
def test_a_pseudonym_that_two_records_share_fails(recoding: str, tmp_path: Path) -> None:
    source, stated = write(tmp_path, "jsonl")
    stated["recoding"] = recoding
    hierdata.anonymize(source, stated, seed=SEED, key=KEY).save(tmp_path / "release")
    forged(tmp_path / "release", repeat_a_pseudonym)
    verdict = hierdata.verify(tmp_path / "release", stated)
    assert verdict.forbidden == {"a pseudonym in several records": 1}
    assert not verdict.passed


def test_a_pseudonym_that_two_rows_share_fails_whoever_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, stated = write(tmp_path, "jsonl")
    hierdata.anonymize(source, stated, seed=SEED, key=KEY).save(tmp_path / "release")
    forged(tmp_path / "release", lambda records: records[9].update(id=records[1]["id"]))
    monkeypatch.setattr("hierdata.sources.form.SIZE", 600)
    monkeypatch.setattr("hierdata.sources.splits.SIZE", 600)
    verdicts = [
        hierdata.verify(tmp_path / "release", stated, resources=resources)
        for resources in (Resources("serial"), Resources("processes", 2))
    ]
    assert verdicts[0] == verdicts[1]
    assert "a pseudonym in several records" in verdicts[0].forbidden
    path = tmp_path / "people.csv"
    path.write_text("id,sex\n" + f"{'0' * 32},f\n" * 3)
    rules = flat_policy()["fields"]
    table = flat_policy() | {"fields": {name: rules[name] for name in ("$.id", "$.sex")}}
    assert hierdata.verify(path, table).forbidden == {"a pseudonym in several records": 1}


def test_facts_belong_to_the_actions_too(tmp_path: Path) -> None:
    source, stated = write(tmp_path, "jsonl")
    hierdata.anonymize(source, stated, seed=SEED, key=KEY).save(tmp_path / "release")
    other = policy({"$.note": {"role": "insensitive"}})
    with pytest.raises(HierdataError, match="another policy"):
        hierdata.verify(tmp_path / "release", other)


# Messages


MARK = "Zq" + "x7319"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"seen": MARK}, {}),
        ({"id": None}, {}),
        ({"stays": {MARK: 1}}, {"$.stays": {"map": True}, "$.stays[*]~": {"role": "sensitive"}}),
        ({"stays": MARK}, {"$.stays": {"map": True}, "$.stays[*]~": {"role": "quasi", "flat": True}}),
        ({"stays": [MARK]}, {"$.stays": {"map": True}, "$.stays[*]~": {"role": "quasi", "flat": True}}),
        (
            {"stays": {f"{MARK}{n}": 1 for n in range(40)}},
            {"$.stays.x": {"role": "sensitive", "optional": True}},
        ),
    ],
)
def test_what_is_wrong_is_told_without_a_value(change: Document, rule: Document) -> None:
    wrong = people()
    wrong[5] |= change
    with pytest.raises(HierdataError) as refused:
        published(wrong, policy(rule))
    error: BaseException | None = refused.value
    while error is not None:
        assert MARK not in str(error)
        error = error.__context__
    if isinstance(refused.value, InputError):
        assert refused.value.record == 6


def test_the_parts_of_the_xml_policy_are_those_of_the_others() -> None:
    assert len(xml_policy()["fields"]) == len(policy()["fields"])
