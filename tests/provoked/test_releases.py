"""What releases are refused for that were changed, and files in them that belong to another one."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.documents.document import list_key
from hierdata.documents.formats import FORMATS
from hierdata.documents.formats.base import Layout
from hierdata.documents.formats.source import PathSource
from hierdata.forest.published_records import ReleaseGroups, _own
from hierdata.ground.errors import InputError, PolicyError, VerificationError
from hierdata.measurement.release.links import link
from hierdata.measurement.release.suppressed import WithSuppressed
from hierdata.pipeline.block import require_memory
from hierdata.pipeline.control import check_control
from hierdata.pipeline.delivery import Delivery
from hierdata.pipeline.judging import Judged
from hierdata.pipeline.publish import Written
from hierdata.policy.load import from_data
from hierdata.records.flatten import split
from hierdata.records.keyed import Table
from hierdata.records.shape.tables import ShapedTable, lift_table
from hierdata.sources.folders import FilesSplit, _decode, published_files_form
from hierdata.sources.resources import ResourceSpelling
from tests.provoked import SECRET, Act, provoke
from tests.provoked.test_plans import BORN, CODED, FLAT, LETTERS, K, Rule, publish

Change = Callable[[Any], object]


def release(folder: Path, source: object, fields: Rule, **keys: Any) -> tuple[Path, Rule]:
    """Make a release; return its folder and its policy."""
    policy: Rule = {"version": 1, "models": [K], "fields": fields, **keys}
    hierdata.anonymize(source, policy, seed=bytes(16), out=folder)  # type: ignore[arg-type]
    return folder, policy


def test_facts_and_claims_that_were_changed(tmp_path: Path) -> None:
    coded = {"$.a": FLAT, "$.b": {"derived": "$.a"}, "$.s": CODED}
    folder, policy = release(tmp_path / "out", LETTERS, coded)
    facts, claims = folder / "steward" / "verification.json", folder / "public" / "release.json"

    def verify(file: Path, change: Change) -> Act:
        def act() -> object:
            before = file.read_bytes()
            stated = json.loads(before)
            change(stated)
            file.write_text(json.dumps(stated))
            try:
                return hierdata.verify(folder, policy)
            finally:
                file.write_bytes(before)

        return act

    provoke(
        VerificationError,
        ("$.s: these are not facts of this field", verify(facts, lambda one: one["sensitive"].pop("$.s"))),
        ("$.b: these are not facts of this field", verify(facts, lambda one: one["derived"].clear())),
        (
            "$.s: the frozen taxonomy differs",
            verify(facts, lambda one: one["sensitive"]["$.s"].update(taxonomy=None)),
        ),
        ("written by another version of hierdata", verify(claims, lambda one: one.update(version="0.0.1"))),
        ("not judged: ", verify(claims, lambda one: one.update(plugins=[PLUGIN]))),
    )


SECOND = {"resource": {"resourceType": "Patient", "id": "2", "birthDate": "1970"}}
PLUGIN = {"family": "metrics", "name": "none", "distribution": "none", "version": "1"}


def test_bundles_that_were_changed(tmp_path: Path) -> None:
    patients = [
        {
            "resourceType": "Bundle",
            "type": "collection",
            "entry": [
                {"resource": {"resourceType": "Patient", "id": f"p{number}", "birthDate": "1970-01-01"}}
            ],
        }
        for number in range(4)
    ]
    fhir: Rule = {"standard": "fhir-r4", "tables": {"Patient": {}}}
    folder, policy = release(tmp_path / "out", patients, BORN, **fhir)
    (file,) = (folder / "public").glob("records*")
    before = file.read_text().splitlines()

    def verify(change: Change) -> Act:
        def act() -> object:
            stated = json.loads(before[0])
            change(stated)
            file.write_text("\n".join([json.dumps(stated), *before[1:]]) + "\n")
            return hierdata.verify(folder, policy)

        return act

    provoke(
        VerificationError,
        (
            "a resource of a type that the policy does not",
            verify(lambda one: one["entry"][0]["resource"].update(resourceType="Group")),
        ),
        (
            "a Bundle has 2 resources of the type Patient",
            verify(lambda one: one["entry"].append(SECOND)),
        ),
        ("there is something besides the records", verify(lambda one: one.update(total=1))),
        (
            "there is something besides the records",
            verify(lambda one: one["entry"][0].update(x="y")),
        ),
    )


def test_judges_that_do_not_confirm() -> None:
    refusing = SimpleNamespace(passed=False, judgements=[SimpleNamespace(held=False, path="")])

    def refused(**answers: object) -> Act:
        def act() -> object:
            with pytest.MonkeyPatch.context() as patched:
                for name, answer in answers.items():
                    patched.setattr(Judged, name, answer)
                return publish([{"a": 1}] * 4, {"$.a": FLAT})()

        return act

    def deliver() -> object:
        staged = SimpleNamespace(write=lambda *_: None, export=lambda *_: None)
        target: Any = SimpleNamespace(staging=lambda *_, **__: nullcontext(staged))
        form: Any = SimpleNamespace(splits=lambda *_, **__: [], name=str, read_for_store=print)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("hierdata.pipeline.delivery.judge_files", lambda *_: refusing)
            patched.setattr("hierdata.pipeline.delivery.rules_of", lambda *_: None)
            prepared: Any = SimpleNamespace(policy=None)
            spread: Any = SimpleNamespace(folder=None)
            written = Written({"records": Path("records")}, {"records": None})
            return Delivery(target, None, form, prepared, spread).deliver(written, refusing, None)  # type: ignore[arg-type]

    provoke(
        VerificationError,
        ("the judge did not confirm what was written", refused(verdict=refusing)),
        ("its promise towards those who know nothing but", refused(_judge_public=lambda *_: refusing)),
        ("the content on the server differs from what", deliver),
    )


def test_groups_and_links_of_another_release() -> None:
    own = SimpleNamespace(path="$.s", steps=("s",))
    root: Any = SimpleNamespace(index=0, sensitive=(own,), path="$", children=(), attributes=(own,))
    schema: Any = SimpleNamespace(types=(root,), root=root, keys=lambda index: ())
    shown: Any = SimpleNamespace(encoded=SimpleNamespace(size=np.array([1])), words=3)
    aside: Any = SimpleNamespace(_records=1, _aside={}, _groups=[1, 2])
    some: Any = SimpleNamespace(size=np.array([1]))
    none: Any = SimpleNamespace(size=np.array([], np.int64))
    words = np.array([1, 2])
    provoke(
        VerificationError,
        ("belongs to no vertex type of the", lambda: ReleaseGroups({"sensitive-x": []}, schema)),
        ("belongs to no group of the records", lambda: ReleaseGroups({"sensitive": []}, schema, apart=True)),
        (
            "$: a vertex has no valid group",
            lambda: ReleaseGroups({"sensitive": []}, schema).join({"group": f"x{SECRET}"}),
        ),
        ("the witness does not fit the published", lambda: next(link(shown, None, words, 0, words))),  # type: ignore[arg-type]
        ("a class shows more values than it has", lambda: _own(0, 1, root, {list_key("s"): [SECRET, "b"]})),  # type: ignore[arg-type]
        ("no value where one is required", lambda: WithSuppressed._list_marks(aside, some, none)),
    )


def test_what_memory_and_control_lack() -> None:
    spread: Any = SimpleNamespace(memory=1, is_local=True)
    load: Any = SimpleNamespace(records=1, vertices=1)
    policy = from_data({"version": 1, "models": [K], "fields": {"$.a": FLAT}})
    provoke(
        PolicyError,
        ("allow 201 MiB, or cut the records into `blocks`", lambda: require_memory([load], spread)),
    )
    provoke(InputError, ("the control has no records: give the", lambda: check_control([], [], policy)))


def test_rows_that_no_table_can_hold(tmp_path: Path) -> None:
    typed = Table("Visit", parent="Patient", on="patient", typed=True)
    shaped = (
        ShapedTable(Table("Patient", key="id"), "Patient"),
        ShapedTable(Table("Stay", key="id", parent="Patient", on="patient"), "Stay"),
        ShapedTable(replace(typed, parent="Stay", on="stay"), "Visit"),
    )
    tables = [Table("people", key="id"), Table("visits", parent="people", on="person")]

    def cut(document: Any) -> Act:
        return lambda: [*split(tables, [document], {"people", "visits"})]

    lift: Act = partial(lift_table, shaped, ("Stay", "Visit"), ("Visits",), ())
    untagged: Act = lambda: [*ResourceSpelling(None, None).untag("Patient", [{"id": SECRET}])]  # type: ignore[arg-type]  # noqa: E731
    provoke(PolicyError, ("the list has the type Visit, which must", lift))
    provoke(VerificationError, ("a row is no resource of this type", untagged))
    (tmp_path / "empty").mkdir()
    policy = from_data({"version": 1, "models": [K], "fields": {"$.a": FLAT}})
    good, bad = tmp_path / "a.json", tmp_path / "b.json.gz"
    good.write_text('[{"a": 1}]')
    bad.write_bytes(b"\x1f\x8b" + bytes(20))
    files = tuple(map(PathSource, (good, bad)))
    later = FilesSplit(files[1:], FORMATS["json"](), Layout(), 1, files[:1])
    provoke(
        InputError,
        ("a row of a table must be an object", cut(SECRET)),
        ("something else than an array where a table", cut({"visits": SECRET})),
        ("would share one column", cut({"id": SECRET})),
        ("empty: the folder is empty", lambda: published_files_form(tmp_path / "empty", policy)),
        ("file 2 in the order of names: the gzip data", lambda: _decode(2, files[1], policy)),
        ("file 2 in the order of names: the gzip data", lambda: [*later.documents()]),
    )
