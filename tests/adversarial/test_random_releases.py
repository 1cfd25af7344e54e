"""Whatever the collection and the policy: a release verifies, or there is none, and formats do not matter."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given

import hierdata
from hierdata.documents.document import Siblings
from hierdata.documents.formats import FORMATS, Layout
from hierdata.judge import Verdict
from hierdata.release.release import Release
from tests.adversarial.random_releases import BY_RECORD, Case, Field, cases, numbered
from tests.adversarial.vocabulary import MISSING, POPULATION
from tests.cases import examples

SEED = b"sixteen bytes or"


def released(case: Case, *, xml: bool = False, **changes: Any) -> Release | None:
    """The release, or None where the promise cannot be met. Nothing else may go wrong."""
    source = case.elements() if xml else case.records
    policy = case.xml_policy(**changes) if xml else case.policy(**changes)
    try:
        return hierdata.anonymize(source, policy, seed=SEED)
    except hierdata.PromiseError:
        return None


def shuffled(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict):
        items = [(key, shuffled(inner, rng)) for key, inner in value.items()]
        return dict(rng.sample(items, len(items)))
    if isinstance(value, list):
        return type(value)(rng.sample([shuffled(inner, rng) for inner in value], len(value)))
    return value


def rewritten(release: Release, name: str, folder: Path, seed: int) -> Path:
    """The released file with its records, the children of each and the keys in another order."""
    documents = list(release.records())
    rng = random.Random(seed)
    place = {"xml": ("list", "item"), "json": ()}[name]
    if name == "xml" and release.report.recoding == "representatives":
        place = ("list", "class")
    target = folder / f"shuffled.{name}"
    with target.open("wb") as stream:
        FORMATS[name]().write(shuffled(documents, rng), stream, Layout(place))
    return target


def in_any_order(verdict: Verdict) -> Verdict:
    """Without the one figure that is about the text as it stands."""
    return replace(verdict, k_raw=0)


def verified(release: Release, case: Case, folder: Path, *, xml: bool) -> Verdict:
    """The verdict on a saved release: it passes, says what the report says, and the original agrees."""
    policy = case.xml_policy() if xml else case.policy()
    counts = release.report.counts
    assert counts.records.input == len(case.records)
    verdict = hierdata.verify(release.save(folder), policy)
    assert verdict.passed
    assert verdict.records == counts.records.published
    assert (verdict.classes, verdict.k) == (counts.classes, counts.smallest_class)
    original = case.elements() if xml else case.records
    assert hierdata.verify(folder, policy, original=original) == verdict
    return verdict


@pytest.mark.full  # a hundred runs from input to verdict, each judged three times
@pytest.mark.parametrize("xml", [False, True], ids=["json", "xml"])
@given(case=cases())
@example(case=numbered(19589343, (*BY_RECORD, "representatives")))  # a field that only `unlisted` keeps
@examples(100)
def test_a_release_verifies_from_the_file_alone_in_any_order(case: Case, xml: bool) -> None:
    release = released(case, xml=xml)
    if release is None:
        return
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "out"
        verdict = verified(release, case, folder, xml=xml)
        assert verdict.k_raw == verdict.k or case.has_exempt(), "classes differ in more than sensitive values"
        another = rewritten(release, "xml" if xml else "json", folder, seed=len(case.records))
        policy = case.xml_policy() if xml else case.policy()
        again = hierdata.verify(another, policy, facts=folder / "steward" / "verification.json")
        assert in_any_order(again) == in_any_order(verdict)


def form(record: dict[str, Any], fields: list[Field]) -> list[Any]:
    """What a record shows beside sensitive and exempt values, in no order; what is missing is not shown."""
    shown: list[Any] = []
    for own in fields:
        value = record.get(own.name)
        role = own.rule.get("role", "quasi")  # an unlisted field that is kept is one too
        if role == "insensitive" and not own.many:
            continue
        if own.value is not None and own.many:
            items = value or []
            shown.append((own.name, sorted(repr(item) if role == "quasi" else "" for item in items)))
        elif own.value is not None:
            if role == "quasi" and value is not None:
                shown.append((own.name, repr(value)))
        elif own.many:
            shown.append((own.name, sorted(repr(form(item, own.fields)) for item in value or [])))
        elif own.rule:
            shown.append((own.name, None if value is None else form(value, own.fields)))
        else:
            shown += [(own.name, part) for part in form(value or {}, own.fields)]
    return sorted(shown, key=repr)


def size_promised(model: dict[str, Any]) -> int:
    if model["kind"] in POPULATION:
        return 1
    return math.ceil(max(Fraction(model.get(letter, 1)) for letter in "klm"))


@given(cases(recodings=BY_RECORD))
@examples(100)
def test_every_class_is_as_large_as_promised_by_a_plain_count(case: Case) -> None:
    release = released(case)
    if release is None:
        return
    published = list(release.records())
    assert not any("f0" in record for record in published), "an identifier is there"
    sizes = Counter(repr(form(record, case.fields)) for record in published)
    promised = max(map(size_promised, case.models))
    assert min(sizes.values()) >= promised
    if not case.has_exempt():
        assert len(sizes) == release.report.counts.classes


def canonical(value: Any) -> Any:
    """A record in no order, with numbers by value, without what says nothing."""
    if isinstance(value, dict):
        parts = {key: canonical(inner) for key, inner in value.items() if inner not in (None, MISSING)}
        return sorted((key, repr(inner)) for key, inner in parts.items() if inner not in ([], None))
    if isinstance(value, list):
        return sorted(repr(canonical(None if inner == MISSING else inner)) for inner in value)
    return Decimal(value).normalize() if isinstance(value, int | Decimal) else value


def loses_exactly_what_it_changes(case: Case) -> bool:
    """Not so where fields are dropped, a domain publishes no leaf, or it has one value (LM 0, ML-14)."""
    if case.unlisted != "error":
        return False
    domains = [
        (rule, set(map(repr, found)))
        for path, rule in case.policy()["fields"].items()
        if rule.get("role") == "quasi" and (found := values_at(case.records, path.split(".")[1:]))
    ]
    return not any(
        rule.get("prefix") == {"keep": [2, 1]}
        or rule.get("interval", {}).get("steps", [1])[0] != 1
        or rule.get("date", {}).get("steps", ["day"])[0] != "day"
        or "finest" in rule.get("taxonomy", {})
        or ("taxonomy" not in rule and len(found - {repr(MISSING)}) < 2)
        for rule, found in domains
    )


def values_at(found: list[Any], keys: list[str]) -> list[Any]:
    for key in keys:
        inner = [value[key.removesuffix("[*]")] for value in found if key.removesuffix("[*]") in value]
        found = [item for value in inner for item in value] if key.endswith("[*]") else inner
    return found


@given(cases(recodings=("generalization",)))
@examples(120)
def test_nothing_is_lost_iff_the_records_are_published_as_they_were(case: Case) -> None:
    engine = None if case.engine == {"steps": [{"kind": "spread"}]} else case.engine  # not for k alone
    release = released(case, models=[{"kind": "k-anonymity", "k": 2}], engine=engine)
    if release is None or not loses_exactly_what_it_changes(case):
        return
    before = Counter(
        repr(canonical({key: value for key, value in record.items() if key != "f0"}))
        for record in case.records
    )
    after = Counter(repr(canonical(record)) for record in release.records())
    report = release.report
    vertices = report.counts.vertices.values()
    lost = report.metrics["lm_cost"].exact["total"] != "0" or any(one.suppressed for one in vertices)
    assert (before == after) == (not lost)


@given(cases())
@examples(100)
def test_the_same_records_in_xml_give_the_same_classes(case: Case) -> None:
    if case.unlisted != "error" or not case.shows_what_is_many():
        return
    from_json, from_xml = released(case), released(case, xml=True)
    if from_json is None or from_xml is None:
        assert from_json is from_xml
        return
    one, other = from_json.report, from_xml.report
    first, second = ([[*own.figures.values()] for own in report.metrics.values()] for report in (one, other))
    assert first == second  # some figures bear a path, which XML spells its way
    assert one.counts.records == other.counts.records
    assert list(one.counts.vertices.values()) == list(other.counts.vertices.values())
    assert (one.counts.classes, one.counts.smallest_class) == (
        other.counts.classes,
        other.counts.smallest_class,
    )


@given(cases())
@examples(40)
def test_the_same_seed_gives_the_same_bytes(case: Case) -> None:
    one, other = released(case), released(case)
    if one is None or other is None:
        assert one is other
        return
    for file in one.folder.rglob("*.*"):
        assert file.read_bytes() == (other.folder / file.relative_to(one.folder)).read_bytes(), file.name
    assert not any(isinstance(value, Siblings) for record in one.records() for value in record.values())
