"""Whatever the collection and the policy: values apart by group verify, and tell what the input holds."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given

import hierdata
from hierdata.documents.document import sensitive_part
from hierdata.documents.formats import FORMATS, Layout
from hierdata.release.release import Release
from hierdata.release.report.parts import PublishedFile
from hierdata.release.witness import digest_files
from tests.adversarial.random_releases import Case, Field, cases
from tests.adversarial.test_random_releases import released, verified
from tests.adversarial.vocabulary import MISSING
from tests.cases import examples
from tests.claims import state_claims

APART = cases(recodings=("anatomy", "slicing"))


def rewrite(release: Release, folder: Path, *, xml: bool) -> None:
    """Every part of a saved folder with its documents in another order; keys and siblings have only one.

    The XSD of XML goes: it states an order.
    """
    name = "xml" if xml else "json"
    stated = json.loads((folder / "public" / "release.json").read_text("utf-8"))
    (folder / "public" / "records.xsd").unlink(missing_ok=True)
    stated["files"] = [file for file in stated["files"] if file["name"] != "records.xsd"]
    for file in stated["files"]:
        part = file["name"].removesuffix(f".{name}")
        documents = list(release.part(part))
        documents = random.Random(len(part)).sample(documents, len(documents))
        path = folder / "public" / file["name"]
        record = "item" if part == "records" else "value"
        with path.open("wb") as stream:
            FORMATS[name]().write(documents, stream, Layout(("list", record) if xml else ()))
        file["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    state_claims(folder / "public", json.dumps(stated, ensure_ascii=False, indent=2) + "\n")
    facts = folder / "steward" / "verification.json"
    bound = digest_files([PublishedFile(**file) for file in stated["files"]]).hex()
    facts.write_text(json.dumps(json.loads(facts.read_text("utf-8")) | {"public": bound}), "utf-8")


@pytest.mark.full  # many runs from input to verdict, each judged three times
@pytest.mark.parametrize("xml", [False, True], ids=["json", "xml"])
@given(case=APART)
@examples(120)
def test_a_release_verifies_in_any_order(case: Case, xml: bool) -> None:
    release = released(case, xml=xml)
    if release is None:
        return
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "out"
        verdict = verified(release, case, folder, xml=xml)
        if case.recoding == "slicing" and not case.has_exempt():
            assert verdict.k_raw == verdict.k, "records of a class differ in nothing that is written"
        another = Path(shutil.copytree(folder, Path(temporary) / "another"))
        rewrite(release, another, xml=xml)
        again = hierdata.verify(another, case.xml_policy() if xml else case.policy())
        assert again.passed
        assert replace(again, judgements=(), k_raw=0) == replace(verdict, judgements=(), k_raw=0)
        assert set(map(repr, again.judgements)) == set(map(repr, verdict.judgements))


def sensitive_values(item: Any, fields: list[Field], above: tuple[str, ...] = ()) -> Counter[str]:
    """How often each value occurs at each sensitive place of a JSON record."""
    found: Counter[str] = Counter()
    for own in fields:
        value = item.get(own.name)
        place = (*above, own.name)
        for inner in (value or []) if own.many else [value]:
            if own.value is None:
                found += sensitive_values(inner or {}, own.fields, place)
            elif own.rule.get("role") == "sensitive" and inner not in (None, MISSING):
                found[f"{'.'.join(place)}={inner}"] += 1
    return found


def stated_values(rows: list[Any], keys: tuple[str, ...]) -> Counter[str]:
    """The same of the rows of a part whose vertices lie at these keys."""
    found: Counter[str] = Counter()

    def tell(item: dict[str, Any], place: tuple[str, ...], count: int) -> None:
        for key, value in item.items():
            own = place if key == "value" else (*place, key)
            if isinstance(value, dict):
                tell(value, own, count)
            elif key not in ("group", "count"):
                found[f"{'.'.join(own)}={value}"] += count

    for row in rows:
        tell(row, keys, row["count"])
    return found


@given(APART)
@examples(120)
def test_no_value_is_stated_that_the_input_lacks(case: Case) -> None:
    """And where nothing is suppressed, every one of the input is."""
    release = released(case)
    if release is None:
        return
    vertices = {
        tuple(key.removesuffix("[*]") for key in path.split(".")[1:])
        for path in release.report.counts.vertices
    }
    before: Counter[str] = Counter()
    for record in case.records:
        before += sensitive_values(record, case.fields)
    after: Counter[str] = Counter()
    for keys in vertices:
        for part in (sensitive_part(keys), *(sensitive_part(keys, number) for number in range(1, 10))):
            if part in release.parts:
                after += stated_values(list(release.part(part)), keys)
    assert after <= before
    if not any(tally.suppressed for tally in release.report.counts.vertices.values()):
        assert after == before
    assert release.report.metrics["lm_cost"].exact["total"] is not None
