"""Bounded knowledge of sensitive values too, and a reader who knows how values are left out."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

import hierdata
from hierdata.cli.overview import overview
from hierdata.ground.errors import PolicyError, VerificationError
from hierdata.release.report.page import render_report
from tests import naive_knowledge as naive
from tests.cases import naming, with_worlds
from tests.end_to_end.test_bounded_knowledge import FLAT, TREE, above
from tests.naive_suspects import candidates, knowledge_of

ILL: dict[str, Any] = {"role": "sensitive", "asks": "value"}
FIELDS: dict[str, Any] = {
    "$.town": FLAT,
    "$.mark": {"role": "sensitive", "publish": {"round": 2}},
    "$.visits[*].ward": {"role": "quasi", "taxonomy": {"tree": TREE}},
    "$.visits[*].ill": ILL,
    "$.visits[*].tests[*].result": {"role": "sensitive", "asks": "value"},
}


def outline(facts: Any) -> naive.Outline:
    """How published records are read where these sensitive values are facts."""

    def known(name: str, path: str) -> tuple[str, ...]:
        return (name,) if facts == "all" or path in facts else ()

    test = naive.Outline("test", (), ("result",), None, known("result", "$.visits[*].tests[*].result"))
    visit = naive.Outline("visit", ("ward",), ("ill",), {"tests": test}, known("ill", "$.visits[*].ill"))
    return naive.Outline("", ("town",), ("mark",), {"visits": visit}, known("mark", "$.mark"))


def random_person(random: Random) -> dict[str, Any]:
    visits = [
        {
            "ward": random.choice("1234"),
            "ill": random.choice(["H", "H", "f", "c", None]),
            "tests": [
                {"result": random.choice(["+", "-", None])} for _ in range(random.choice([0, 0, 1, 2]))
            ],
        }
        for _ in range(random.randrange(1, 3))
    ]
    return {"town": random.choice("ab"), "mark": random.choice([1, 2, 3, 5, None]), "visits": visits}


def policy_of(fields: dict[str, Any] = FIELDS, *others: Any, **stated: Any) -> dict[str, Any]:
    models = [{"kind": "bounded-knowledge", "k": 2, "m": 2, "facts": "all", **stated}, *others]
    return {"version": 1, "models": models, "fields": fields}


def published_form(person: dict[str, Any]) -> dict[str, Any]:
    """The original with the mark as it is published."""
    mark = person["mark"]
    return {**person, "mark": None if mark is None else (mark + 1) // 2 * 2}


@with_worlds(3, 60)
def test_nobody_is_found_by_any_facts_whatever_was_left_out(worlds: int) -> None:
    """Every release keeps the definition, and every knowledge of facts fits nobody or at least k records."""
    random = Random(31)
    attacked = told_apart = left_out = 0
    for number in range(worlds):
        people = [random_person(random) for _ in range(random.choice([6, 12, 20]))]
        stated: dict[str, Any] = {
            "k": random.choice([2, 3]),
            "m": random.choice([1, 2]),
            "vertex": random.choice(["whole", "off"]),
            "root": random.choice(["known", "known", "counted"]),
            "facts": random.choice(["all", "all", ["$.mark"], ["$.visits[*].ill"]]),
        }
        whole, counted, k = stated["vertex"] == "whole", stated["root"] == "counted", stated["k"]
        policy = policy_of(**stated)
        with naming(number=number, stated=stated):
            release = hierdata.anonymize(people, policy, seed=bytes(16))
            records: list[Any] = list(release.records())
            assert len(records) == len(people)
            assert hierdata.verify(records, policy).passed
            shown = [outline(stated["facts"]).read(record) for record in records]
            assert naive.keeps_promise(shown, above, k=k, m=stated["m"], whole=whole, counted=counted)
            left_out += sum(own["mark"] is not None for own in people) - sum("mark" in own for own in records)
            for person in random.sample(people, 3):
                original = outline(stated["facts"]).read(published_form(person))
                every = list(knowledge_of(original, stated["m"], whole=whole, counted=counted))
                for known in random.sample(every, min(8, len(every))):
                    for fitting in candidates(
                        known, shown, {"visit", "test"}, above, counted=counted
                    ).values():
                        assert len(fitting) >= k, known.facts
                        attacked += 1
                        told_apart += len(fitting) < len(shown)
    assert attacked > 20 * worlds
    assert told_apart > 5 * worlds
    assert left_out > worlds


@pytest.fixture(scope="module")
def people() -> list[Any]:
    random = Random(5)
    return [random_person(random) for _ in range(40)]


def test_a_release_is_true_of_the_original_and_measured_alike(people: list[Any], tmp_path: Path) -> None:
    out, policy = tmp_path / "out", policy_of()
    beside = policy_of(FIELDS, {"kind": "distinct-l-diversity", "l": 2, "on": ["$.mark"]})
    assert hierdata.verify([*hierdata.anonymize(people, beside, seed=bytes(16)).records()], beside).passed
    release = hierdata.anonymize(people, policy, seed=bytes(16), out=out)
    assert hierdata.verify(out, policy).passed
    assert hierdata.verify(out, policy, original=people).passed
    told = json.loads((out / "public" / "release.json").read_text("utf-8"))
    plain = "a person's basic data and any 2 facts, sensitive ones too, still finds at least 2"
    assert plain in str(told["promises"][0])
    assert "Facts are values of sensitive fields too." in str(told["promises"][0])
    assert not any("none of the sensitive values" in one for one in told["limitations"])
    report = json.loads((out / "steward" / "report.json").read_text("utf-8"))
    measured = hierdata.measure_release(out, policy, original=people).as_dict()
    assert measured["metrics"]["kept"] == report["metrics"]["kept"]
    kept = report["kept"]["fields"]
    there = sum(person["mark"] is not None for person in people)
    shown = sum("mark" in record for record in release.records())
    assert 0 < shown < there
    share = kept["$.mark"]["kept"]["value"] / kept["$.mark"]["attainable"]["value"]
    assert share == pytest.approx(shown / there)
    (file,) = (out / "public").glob("records.*")
    text = file.read_text("utf-8")
    for one, other in (('"mark":2', '"mark":4'), ('"ill":"H"', '"ill":"f"')):
        changed = text.replace(one, other, 1)
        if changed == text:
            changed = text.replace(one.replace(":", ": "), other.replace(":", ": "), 1)
        assert changed != text
        file.write_text(changed, "utf-8")
        with suppress(VerificationError):  # or the judge finds that too few records agree
            assert not hierdata.verify(out, policy, original=people).passed


def test_what_one_sensitive_value_leads_to_is_said_as_it_is(people: list[Any]) -> None:
    """Among the facts it leads to k records at least; where it is none, to fewer, and that is said."""
    for facts, said in (
        ("all", "knows more of a person than the promise says"),
        ("quasi", "knows one of them"),
    ):
        release = hierdata.anonymize(people, policy_of(facts=facts), seed=bytes(16))
        (together,) = (one for one in release.report.limitations if "keeps its own sensitive" in one)
        assert said in together
        fitting = Counter(
            (record["town"], *fact)
            for record in release.records()
            for fact in {one for two in naive.pairs_of(record, ("town", "ward")) for one in two}
        )
        assert (min(fitting.values()) >= 2) == (facts == "all")


def test_the_first_screen_says_who_finds_a_person_and_what_no_promise_limits(people: list[Any]) -> None:
    """The chance is that of whom the promise speaks of; classes of root values would say another one."""
    beside = {"kind": "distinct-l-diversity", "l": 2, "on": ["$.mark"]}
    for others, unlimited in (((), "$.visits[*].ill"), ((beside,), "$.visits[*].ill")):
        report = hierdata.anonymize(people, policy_of(FIELDS, *others), seed=bytes(16)).report
        lines = overview(report, Path("release"))
        text = " ".join(" ".join(lines).split())
        heads = ["Given out", "Finding a person", "Learning about a person", "Kept", "Not promised", "Next"]
        assert sorted(heads, key=text.index) == heads
        assert "with the same basic data" in text
        fewest = min(reached.value for reached in report.promises[0].achieved.values())
        assert f"a chance of at most {100 / fewest:.1f} %" in text
        assert report.counts.smallest_class > fewest
        limits = text.partition("No promise limits it at ")[2].partition(":")[0]
        assert unlimited in limits or "2 others" in limits
        assert ("$.mark" in limits) == (not others)
        assert "Someone who knows more may find a person's record." in text
        assert "100 %" not in text.partition("Kept")[0] + text.partition("Not promised")[2]
        page = render_report(report)
        assert "with a chance of at most " in page
        assert "except sensitive values picks" not in page
        assert "A class of 5 means" not in page


def test_rows_of_a_table_have_facts_too(tmp_path: Path) -> None:
    """Nothing but one sensitive column is known beside the row's values; a missing one is left out alike."""
    random = Random(2)
    rows = [{"town": random.choice("ab"), "ill": random.choice("HHHffc")} for _ in range(30)] + [
        {"town": "a"}
    ]
    file = tmp_path / "rows.csv"
    file.write_text("town,ill\n" + "".join(f"{row['town']},{row.get('ill', '')}\n" for row in rows), "utf-8")
    fields = {"$.town": FLAT, "$.ill": {**ILL, "missing": [""]}}
    for source in (rows, file):
        for root in ("known", "counted"):
            policy = policy_of(fields, k=4, m=1, root=root)
            out = tmp_path / f"{root}-{source is file}"
            release = hierdata.anonymize(source, policy, seed=bytes(16), out=out)
            assert hierdata.verify(out, policy, original=source).passed
            counts: dict[Any, int] = {}
            for record in release.records():
                where = record.get("town") if root == "known" else ""
                key = where, record.get("ill") or None
                counts[key] = counts.get(key, 0) + 1
            assert min(counts.values()) >= 4


def test_a_label_goes_with_the_value_that_it_follows_from(tmp_path: Path) -> None:
    """The name of an illness would tell what was left out."""
    random = Random(1)
    people = [random_person(random) for _ in range(60)]
    named = [
        {**own, "visits": [{**one, "name": one["ill"] and f"name of {one['ill']}"} for one in own["visits"]]}
        for own in people
    ]
    policy = policy_of({**FIELDS, "$.visits[*].name": {"derived": "$.visits[*].ill"}}, k=4)
    out = tmp_path / "out"
    shown = [
        (one.get("ill"), one.get("name"))
        for record in hierdata.anonymize(named, policy, seed=bytes(16), out=out).records()
        for one in record.get("visits", ())
    ]
    assert None in dict(shown)
    assert all(name == (ill and f"name of {ill}") for ill, name in shown)
    assert hierdata.verify(out, policy, original=named).passed


def test_blocks_and_elements(people: list[Any], tmp_path: Path) -> None:
    blocks = {**policy_of(k=2, m=1), "blocks": 10}
    out = tmp_path / "blocks"
    hierdata.anonymize(people * 2, blocks, seed=bytes(16), out=out)
    assert hierdata.verify(out, blocks, original=people * 2).passed
    persons = "".join(
        f'<person town="{own["town"]}">'
        + "".join(f"<visit><ill>{one['ill']}</ill></visit>" for one in own["visits"] if one["ill"])
        + "</person>"
        for own in people
    )
    file = tmp_path / "people.xml"
    file.write_text(f"<people>{persons}</people>", "utf-8")
    fields = {
        "/people/person/@town": FLAT,
        "/people/person/visit": {"vertex": True},
        "/people/person/visit/ill": ILL,
    }
    policy = policy_of(fields)
    hierdata.anonymize(file, policy, seed=bytes(16), out=tmp_path / "xml")
    assert hierdata.verify(tmp_path / "xml", policy, original=file).passed


def test_bad_facts_are_one_sentence() -> None:
    for facts, message in (
        (["$.marks"], r"\$\.marks is not a sensitive field; did you mean \$\.mark\?"),
        (["$.town"], r"\$\.town is not a sensitive field"),
        ([], "facts"),
        ("some", "facts"),
    ):
        with pytest.raises(PolicyError, match=message):
            hierdata.anonymize([], policy_of(facts=facts))
    with pytest.raises(PolicyError, match="no sensitive fields"):
        hierdata.anonymize([], policy_of({"$.town": FLAT, "$.visits[*].ward": FLAT}))


STUDENTS = Path(__file__).parents[2] / "fixtures"


def students_policy(facts: str) -> dict[str, Any]:
    """The bundled policy under bounded knowledge, with exact marks in a coarser form."""
    policy: dict[str, Any] = yaml.safe_load(
        (STUDENTS / "policies" / "students-multilevel.yaml").read_text("utf-8")
    )
    fields = policy["fields"]
    for rule in fields.values():
        if isinstance(rule.get("taxonomy"), str):
            rule["taxonomy"] = str(STUDENTS / "policies" / rule["taxonomy"])
    fields["$.gpa"]["publish"] = {"interval": 0.5}
    fields["$.courses[*].evaluations[*].score"]["publish"] = {"round": 0.2}
    return {**policy, "models": [{"kind": "bounded-knowledge", "k": 5, "m": 2, "facts": facts}]}


@pytest.mark.full
def test_nobody_of_the_bundled_students_is_singled_out_by_two_facts_of_any_kind() -> None:
    students = json.loads((STUDENTS / "students" / "students.json").read_text("utf-8"))
    kept, found = {}, {}
    for facts in ("quasi", "all"):
        policy = students_policy(facts)
        release = hierdata.anonymize(students, policy, seed=bytes(16))
        total = release.report.kept.total
        assert total is not None
        kept[facts] = total.kept.value
        records = [*release.records()]
        assert hierdata.verify(records, policy).passed
        asked = students_policy("all")  # whatever was promised, any two facts are known
        found[facts] = hierdata.attack(records, asked, original=students, facts=2, victims=600).release
    assert all(row.smallest >= 5 and row.below == row.none == 0 for row in found["all"].candidates)
    assert found["quasi"].candidates[2].below > 0.1
    assert (1 - kept["all"]) / (1 - kept["quasi"]) <= 1.8
