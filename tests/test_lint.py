"""Lint: everything wrong or doubtful at once, and never a raw value in a message."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hierdata.pipeline.look_over import survey_collection
from hierdata.policy.checks.sensitive import class_size
from hierdata.policy.lint.levels import least_alphas, memberships
from hierdata.policy.lint.lint import OTHERS_LIMITED, UNLIMITED, Finding, lint
from hierdata.policy.load import from_data, load
from hierdata.policy.policy import Policy
from hierdata.records.survey import survey

FIXTURES = Path(__file__).parent.parent / "fixtures"
BY = {"by": {"flu": 1, "HIV": 5}}


REMARK = "; then no record can be suppressed, unless with `suppressed: as_published`"


def policy(fields: dict[str, Any], **changes: Any) -> Policy:
    models = [{"kind": "k-anonymity", "k": 3}]
    return from_data({"version": 1, "models": models, "fields": fields} | changes)


def check(policy: Policy, records: list[dict[str, Any]]) -> list[Finding]:
    return lint(policy, survey(records, policy.declared_fields(identifiers=True), holders=True))


def messages(findings: list[Finding], path: str) -> list[str]:
    return [finding.message for finding in findings if finding.path == path]


FLAT = {"role": "quasi", "flat": True}
TREE = {"role": "quasi"}
ROOT_ONLY = {"tree": {"*": ["x", "y"]}, "finest": 1}


def look(stated: Policy, records: list[dict[str, Any]]) -> list[Finding]:
    """Check a policy as ``lint --data`` does."""
    return lint(stated, *survey_collection(records, stated))


def test_everything_is_found_at_once_and_errors_come_first() -> None:
    stated = policy(
        {
            "$.id": {"role": "identifier"},
            "$.major": {"role": "quasi", "taxonomy": {"tree": {"*": ["CS", "EE"]}}},
            "$.year": {"role": "quasi", "interval": {"steps": [1, 5]}},
            "$.gpa": {"role": "sensitive", "levels": {"domain": [0, 4], "sensitive": "low"}},
            "$.visits[*].diagnosis": {"role": "sensitive", "levels": BY},
            "$.adress": FLAT,
        },
        models=[{"kind": "level-alpha-k", "k": 5}],
    )
    records: list[dict[str, Any]] = [
        {"id": n // 2, "major": "CS", "year": 1990, "gpa": Decimal("3.5"), "address": "x"} for n in range(20)
    ]
    records[0] |= {"major": "secret1", "year": "secret2", "gpa": Decimal("4.01")}
    records[1] |= {"major": "secret3", "visits": [{"diagnosis": "secret4"}, {"diagnosis": "HIV"}]}
    found = check(stated, records)
    assert messages(found, "$.adress") == [
        "nothing in the records matches this path; did you mean $.address?"
    ]
    assert messages(found, "$.<key>") == ["a field is not listed in the policy"]
    assert messages(found, "$.major") == ["2 values (2 occurrences) outside the taxonomy"]
    assert messages(found, "$.year") == [
        "1 value (1 occurrence) outside the interval, which takes numbers, only whole ones unless a step, a "
        "bound or `decimals` says otherwise"
    ]
    assert messages(found, "$.gpa") == [
        "1 value (1 occurrence) without a level",
        "level-alpha-k: with nothing suppressed, k = 20, alpha = 1 0 0 0 0 is the strongest that holds, "
        f"and the policy asks for more{REMARK}",
        "level-alpha-k: in classes of 5 records not all values of level 1 have room; the least alphas that "
        "leave room for every value are 1, 0, 0, 0, 0",
    ]
    assert messages(found, "$.visits[*].diagnosis") == [
        "1 value (1 occurrence) without a level",
        "level-alpha-k: with nothing suppressed, k = 20, alpha = 0 0 0 0 1 is the strongest that holds, "
        f"and the policy asks for more{REMARK}",
        "level 5 (1 of 1 values) needs classes of 10 or more: those of 5 are too small",
    ]
    assert messages(found, "$.visits[*]") == [
        "occurs in 1 place only, fewer than the 5 records of a class: its presence could identify a "
        "record, so it will be suppressed"
    ]
    assert messages(found, "$.id") == [
        "10 values (20 occurrences) of this identifier repeat: k counts records, not individuals; "
        "`individual` unites the records of each"
    ]
    assert {finding.severity for finding in found if finding.path == "$.id"} == {"note"}  # it is dropped
    severities = [finding.severity for finding in found]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert severities[-1] == "note"
    assert len(found) == 12
    assert not [finding for finding in found if "secret" in finding.message or "HIV" in finding.message]
    (taxonomy,) = [finding for finding in found if finding.path == "$.major"]
    assert taxonomy.revealed == ("secret1", "secret3")


@pytest.mark.parametrize("name", ["students", "patients"])
def test_the_bundled_policies_have_no_errors(name: str) -> None:
    stated = load(FIXTURES / "policies" / f"{name}.yaml")
    lines = (FIXTURES / name / f"{name}.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line, parse_float=Decimal) for line in lines]
    assert {finding.severity for finding in (*lint(stated), *check(stated, records))} <= {"warning", "note"}


def test_capacities_without_data_name_every_level_that_has_none() -> None:
    fields = {"$.s": {"role": "sensitive", "levels": {"by": "frequency", "sensitive": "rare"}}, "$.a": FLAT}
    model = {"kind": "level-alpha-k", "k": 2}
    found = lint(policy(fields, models=[model]))
    assert [finding.message.split(" classes")[0] for finding in found] == [
        f"level {level} needs" for level in (3, 4, 5)
    ]
    assert [finding.message.rpartition("classes of ")[2].split()[0] for finding in found] == ["3", "5", "10"]
    assert lint(policy(fields, models=[model, {"kind": "k-anonymity", "k": 10}])) == []
    (never,) = lint(policy(fields, models=[{**model, "alpha": [1, 1, 1, 1, 0]}]))
    assert never.message.endswith("its alpha is 0")


def test_class_size_is_what_all_models_allow() -> None:
    fields = {"$.s": {"role": "sensitive"}, "$.a": FLAT}
    assert class_size(policy(fields)) == 3
    assert class_size(policy(fields, models=[{"kind": "frequency-l-diversity", "l": "7/2"}])) == 4


def test_models_and_sensitive_attributes_that_do_not_meet() -> None:
    fields = {
        "$.a": {"role": "sensitive"},
        "$.b": {"role": "sensitive", "levels": {"by": {"x": 1, "y": 7}}},
        "$.c": {"role": "sensitive"},
    }
    found = lint(policy(fields, models=[{"kind": "level-alpha-k", "k": 2, "on": ["$.a", "$.b"]}]))
    assert [(finding.severity, finding.path) for finding in found if "alpha-k" in finding.message] == [
        ("error", "$.a"),
        ("error", "$.b"),
    ]
    assert messages(found, "$.c") == [UNLIMITED.format(nor="") + OTHERS_LIMITED]


def test_fields_without_a_model_are_listed_once() -> None:
    """By the first; of many the first five others."""
    for count, nor in ((1, ""), (2, ", nor of $.s1"), (3, ", nor of $.s1 and $.s2"), (9, ", nor of ")):
        fields = {f"$.s{n}": {"role": "sensitive"} for n in range(count)}
        (found,) = [one for one in lint(policy(fields)) if "no model limits" in one.message]
        assert found.path == "$.s0"
        nor = f"{nor}$.s1, $.s2, $.s3, $.s4, $.s5 and 3 more" if count == 9 else nor
        assert found.message == UNLIMITED.format(nor=nor)


def test_files_that_cannot_be_used_are_errors(tmp_path: Path) -> None:
    stated = policy({"$.a": {"role": "quasi", "taxonomy": "none.csv"}}, schema="none.json")
    assert [(finding.severity, finding.path) for finding in lint(stated)] == [
        ("error", "schema"),
        ("error", "$.a"),
    ]
    (tmp_path / "broken.json").write_text("{", "utf-8")
    (tmp_path / "students.xsd").write_text("<xs/>", "utf-8")
    for name, errors in (("broken.json", 1), ("students.xsd", 0)):
        stated = policy({"$.a": FLAT}, schema=str(tmp_path / name))
        assert [finding.path for finding in lint(stated)] == ["schema"] * errors


RAGGED = {"tree": {"*": {"lungs": ["flu", "cold"], "skin": ["rash"], "fatigue": None}}}


def test_taxonomies_of_sensitive_values_are_looked_into() -> None:
    stated = policy(
        {"$.id": {"role": "identifier"}, "$.d": {"role": "sensitive", "taxonomy": RAGGED}},
        models=[
            {"kind": "l-e-diversity", "l": 2, "e": "1.5"},
            {"kind": "distinct-l-diversity", "l": 2, "by": "similarity", "e": 1},
        ],
    )
    assert lint(stated) == []
    assert class_size(stated) == 2
    records = [{"id": 1, "d": value} for value in ("flu", "rash", "fatigue", "secret")]
    assert messages(check(stated, records), "$.d") == [
        "1 value (1 occurrence) outside the taxonomy",
        "l-e-diversity: values at most 1.5 apart form chains whose ends are further apart, "
        "because their depths differ",
    ]
    assert messages(check(stated, records[:2]), "$.d") == [], "what lies between them does not occur"


def test_a_taxonomy_that_is_missing_or_broken_is_one_error() -> None:
    models = [{"kind": "l-e-diversity", "l": 2, "e": 1}]
    missing = policy({"$.d": {"role": "sensitive"}}, models=models)
    assert messages(lint(missing), "$.d") == [
        "l-e-diversity needs 'taxonomy' on this sensitive attribute: add it, or let the model's `on` name "
        "others"
    ]
    broken = policy({"$.d": {"role": "sensitive", "taxonomy": "gone.csv"}}, models=models)
    (finding,) = lint(broken)
    assert (finding.severity, finding.path) == ("error", "$.d")
    assert "gone.csv: the file cannot be read" in finding.message


def test_exact_values_that_single_out_are_told_with_what_helps_and_what_that_costs() -> None:
    fields = {"$.a": FLAT, "$.s": {"role": "sensitive"}, "$.t": {"role": "sensitive", "number": True}}
    stated = policy(fields)
    records = [{"a": 1, "s": n, "t": n % 5} for n in range(12)]
    records[0]["t"] = "x"
    found = check(stated, records)
    (text,) = (one for one in messages(found, "$.s") if "single out" in one)
    assert text.startswith("exact values single out records: 12 of 12 values (100.0 %) occur once")
    assert {one.severity for one in found if one.message == text} == {"warning"}
    assert [text for text in messages(found, "$.t") if "single out" in text] == []
    assert "1 value (1 occurrence) without a number where one is required" in messages(found, "$.t")

    # 190 shared values and 10 alone: a note, with the finest round numbers that leave at most 1 in 200.
    records = [{"a": 1, "s": n // 10, "t": 1} for n in range(190)] + [
        {"a": 1, "s": Decimal(4 * at + 1) / 4, "t": 1} for at in range(10)
    ]
    (note,) = (one for one in check(stated, records) if "single out" in one.message)
    assert (note.severity, note.path) == ("note", "$.s")
    assert "10 of 200 values (5.0 %) occur once" in note.message
    assert note.message.endswith("`publish: {round: 1}` leaves 0.0 % and loses 5.6 % of the detail")
    texts = [{**record, "s": f"v{record['s']}"} for record in records]
    assert any(
        one.endswith("(`publish`), or leave the field out") for one in messages(check(stated, texts), "$.s")
    )
    loaded = load(FIXTURES / "policies" / "students-multilevel.yaml")
    students, _ = survey_collection(FIXTURES / "students" / "students.json", loaded)
    (gpa,) = (one.message for one in lint(loaded, students) if "single out" in one.message)
    assert "106 of 594 values (17.8 %) occur once, and whoever knows one finds its record" in gpa
    assert gpa.endswith("`publish: {round: 0.1}` leaves 0.2 % and loses 2.6 % of the detail")
    known = [{"kind": "bounded-knowledge", "k": 2, "m": 1, "root": "counted", "facts": "all"}]
    alone = check(policy(fields, models=known), records)
    assert not [text for text in messages(alone, "$.s") if "single out" in text], "left out by the promise"


def test_identifiers_inside_arrays_may_repeat_and_so_may_fields_that_are_dropped() -> None:
    stated = policy(
        {
            "$.a": FLAT,
            "$.b[*].id": {"role": "identifier"},
            "$.c": {"role": "free_text"},
        }
    )
    records = [{"a": 1, "b": [{"id": 1}], "c": "x"}] * 5
    assert check(stated, records) == []


def test_references_may_repeat_and_the_identity_they_refer_to_may_not() -> None:
    own = {"domain": "people", "links": "who refers to whom may be known"}
    fields = {
        "$.age": {"role": "quasi", "flat": True},
        "$.id": {"role": "identifier", "action": {"pseudonym": own | {"identity": True}}},
        "$.friend": {"role": "identifier", "action": {"pseudonym": own | {"references": "drop"}}},
    }
    stated = policy(fields=fields, models=[{"kind": "k-anonymity", "k": 2}])
    friends = [{"id": f"P{at}", "age": 1, "friend": "P0"} for at in range(4)]
    assert not [one for one in check(stated, friends) if "identifier repeat" in one.message]
    twice = check(stated, [*friends, friends[1]])
    assert messages(twice, "$.id") == [
        "1 value (2 occurrences) of this identifier repeats: k counts records, not individuals; "
        "`individual` unites the records of each"
    ]


def test_an_identifier_that_repeats_is_no_news_once_records_are_united() -> None:
    """What still repeats is of other persons, such as a physician; k counts individuals then."""
    fields = {"$.age": FLAT, "$.case": {"role": "identifier"}, "$.physician": {"role": "identifier"}}
    cases = [{"case": f"c{at}", "age": 1, "physician": "Dr. Kern"} for at in range(4)]
    for stated, told in (({}, True), ({"individual": "$.case"}, False)):
        found = check(policy(fields, **stated), cases)
        assert any("identifier repeat" in one.message for one in found) == told


def test_levels_by_frequency_that_are_all_equal_are_told() -> None:
    stated = policy(
        {"$.a": FLAT, "$.s": {"role": "sensitive", "levels": {"by": "frequency", "sensitive": "rare"}}},
        models=[{"kind": "level-alpha-k", "k": 10}],
    )
    found = check(stated, [{"a": 1, "s": s} for s in "xyxyxyxyxyxy"])
    assert [text for text in messages(found, "$.s") if "ML-3" in text]


def test_unlisted_fields_that_are_kept_are_no_finding() -> None:
    records = [{"a": 1, "b": 2, "c": [3, 4]}] * 3
    assert messages(check(policy({"$.a": FLAT}), records), "$.<key>") == [
        "2 fields are not listed in the policy"
    ]
    assert check(policy({"$.a": FLAT}, unlisted={"keep": "harmless"}), records) == []


def test_unlisted_fields_that_few_records_have_are_counted_and_not_named() -> None:
    records = [{"a": 1, "b": 2}, {"a": 1, "b": 3, "c": {"d": 1, "e": 2}}, {"a": 1}]
    stated = policy({"$.a": FLAT}, unlisted={"keep": "harmless"}, models=[{"kind": "k-anonymity", "k": 2}])
    (found,) = check(stated, records)
    assert (found.severity, found.path) == ("warning", "unlisted")
    assert found.message.startswith("2 fields that no rule names are in fewer than 2 records")
    assert found.revealed == ("$.c.d", "$.c.e")


def test_membership_degrees_are_shown_at_points_of_the_policy_and_not_of_the_data() -> None:
    fields = {
        "$.gpa": {"role": "sensitive", "levels": {"domain": [0, 4], "sensitive": "low"}},
        "$.bmi": {
            "role": "sensitive",
            "levels": {
                "sets": [{"level": 1, "shape": [10, 20, 25, 30]}, {"level": 2, "shape": [25, 40, 40]}]
            },
        },
        "$.grade": {"role": "sensitive", "levels": {"by": {"A": 1}}},
        "$.disease": {"role": "sensitive", "levels": {"by": "frequency", "sensitive": "rare"}},
    }
    stated = policy(fields)
    tables = memberships(stated)
    assert tables.keys() == {"$.gpa", "$.bmi"}
    assert [row.label for row in tables["$.gpa"]] == ["0", "0.6667", "1.3333", "2", "2.6667", "3.3333", "4"]
    assert [row.level for row in tables["$.gpa"]] == [5, 5, 4, 3, 2, 1, 1]
    assert tables["$.gpa"][3].degrees == (0, 0, 1, 0, 0)
    assert tables["$.gpa"][1].degrees == (0.5, 0, 0, 0, 0)
    assert tables["$.gpa"][4].degrees == (0, 0, 0, 1, 0)
    assert [(row.label, row.level) for row in tables["$.bmi"]] == [("20", 1), ("25", 1), ("30", 2), ("40", 2)]
    records = [{"disease": disease} for disease in ["flu"] * 7 + ["cold"] * 4 + ["HIV"]]
    rows = memberships(stated, survey(records, stated.declared_fields()))["$.disease"]
    assert [(row.label, row.level, row.revealed) for row in rows] == [
        ("v1", 1, "flu"),
        ("v2", 3, "cold"),
        ("v3", 5, "HIV"),
    ]


def test_points_of_a_wide_domain_are_shown_to_the_unit() -> None:
    levels = {"domain": [0, 100000], "sensitive": "high"}
    stated = policy({"$.salary": {"role": "sensitive", "levels": levels}})
    rows = memberships(stated)["$.salary"]
    assert [row.label for row in rows] == ["0", "16667", "33333", "50000", "66667", "83333", "100000"]
    assert [row.degrees for row in rows[1:3]] == [(0.5, 0, 0, 0, 0), (0, 1, 0, 0, 0)]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ({"kind": "frequency-l-diversity", "l": 3}, "l = 2"),
        ({"kind": "frequency-l-diversity", "l": 2}, None),
        ({"kind": "alpha-k", "k": 2, "alpha": "1/3"}, "k = 8, alpha = 0.5"),
        ({"kind": "l-e-diversity", "l": 3, "e": 1}, "l = 4/3"),
        ({"kind": "l-e-diversity", "l": 2, "e": 0}, None),
        ({"kind": "l-e-diversity", "l": 3, "e": 1, "repeats": "allow"}, None),
        ({"kind": "k-anonymity", "k": 3}, None),
    ],
)
def test_what_holds_with_nothing_suppressed_is_told(model: dict[str, Any], told: str | None) -> None:
    """Four of flu, two of asthma, two of acne; lungs have six of eight."""
    tree = {"tree": {"*": {"lungs": ["flu", "asthma"], "skin": ["acne"]}}}
    stated = policy({"$.a": FLAT, "$.s": {"role": "sensitive", "taxonomy": tree}}, models=[model])
    values = ["flu"] * 4 + ["asthma", "acne"] * 2
    found = [
        one for one in messages(check(stated, [{"a": "x", "s": s} for s in values]), "$.s") if "asks" in one
    ]
    reached = (
        f"with nothing suppressed, {told} is the strongest that holds, and the policy asks for more{REMARK}"
    )
    assert found == ([] if told is None else [f"{model['kind']}: {reached}"])


def test_near_numbers_with_nothing_suppressed() -> None:
    """Of 1, 2, 3, 9 a window of width 2 holds three: 4/3, though 2 lies around all three."""
    model = {"kind": "delta-l-diversity", "delta": 1, "l": 2}
    stated = policy({"$.a": FLAT, "$.s": {"role": "sensitive"}}, models=[model])
    found = messages(check(stated, [{"a": "x", "s": s} for s in (1, 2, 3, 9)]), "$.s")
    assert found[0].startswith("delta-l-diversity: with nothing suppressed, l = 4/3 is the strongest")


@pytest.mark.parametrize("seed", range(20))
def test_alphas_are_proposed_with_which_all_values_fit_and_none_that_is_lower(seed: int) -> None:
    rng = Random(seed)
    k, classes = rng.randint(2, 6), rng.randint(1, 5)
    levels = [min(5, 1 + int(rng.expovariate(0.8))) for _ in range(k * classes)]
    counts = [levels.count(level) for level in range(1, 6)]
    alphas = least_alphas(range(1, 6), counts, k, 5)
    # Dealt to classes of k one after the other, no class has more of a level than its alpha.
    dealt = sorted(levels)
    for at in range(classes):
        own = dealt[at::classes]
        assert len(own) == k
        assert all(own.count(level) <= alphas[level - 1] * k for level in own)
    # With any lower alpha, in steps of one value of a class, some class has more in every way of dealing.
    assert all(
        count > (alpha * k - 1) * classes for count, alpha in zip(counts, alphas, strict=True) if count
    )


def test_alphas_that_leave_no_room_are_told_and_those_that_do_are_not() -> None:
    by = {f"v{level}": level for level in range(1, 6)}
    fields = {"$.a": FLAT, "$.s": {"role": "sensitive", "levels": {"by": by}}}
    values = ["v1"] * 14 + ["v2"] * 5 + ["v5"]
    said = (
        "level-alpha-k: in classes of 10 records not all values of level 2 have room; the least alphas that "
        "leave room for every value are 0.7, 0.3, 0, 0, 0.1"
    )
    for alpha, told in (
        (["0.7", "0.2", 0, 0, "0.1"], True),
        (["0.7", "0.3", 0, 0, "0.1"], False),
        ([1, 1, 1, 1, 1], False),
    ):
        stated = policy(fields, models=[{"kind": "level-alpha-k", "k": 10, "alpha": alpha}])
        found = messages(check(stated, [{"a": "x", "s": value} for value in values]), "$.s")
        assert (said in found) is told, found
        assert any("have room" in one for one in found) is told


def test_a_collection_smaller_than_a_class() -> None:
    stated = policy({"$.a": FLAT})
    found = check(stated, [{"a": "x"}] * 2)
    assert [(one.severity, one.message) for one in found] == [
        ("error", "a class needs at least 3 records, and the collection has 2")
    ]


ICD = "$.visits[*].diagnoses[*].icd"
VISITS = [{"visits": [{"year": 2001, "diagnoses": [{"icd": "HIV"}, {"icd": "flu"}]}]}] * 9


def read_as(recoding: str = "generalization", **reading: str) -> list[str]:
    fields = {"$.visits[*].year": FLAT, ICD: {"role": "sensitive", **reading}}
    models = [{"kind": "frequency-l-diversity", "l": 3}]
    return messages(check(policy(fields, models=models, recoding=recoding), VISITS), ICD)


def test_several_lists_of_a_record_are_better_judged_together() -> None:
    (found,) = read_as()
    assert found == (
        "a record may have several of these lists, and each is judged by itself: state `within: record` to "
        "limit what all of them show, or `within: place`"
    )
    assert read_as(within="record") == []
    assert read_as(within="place") == []
    assert all("lists" not in message for message in read_as(asks="value"))
    assert read_as("anatomy") == []
    assert any("with nothing suppressed, l = 2" in message for message in read_as(asks="value"))


def test_a_floor_that_is_the_root_is_warned_of() -> None:
    records: list[dict[str, Any]] = [{"a": value} for value in ("CS", "EE", "CS", None) * 2]
    tree: dict[str, Any] = {"tree": {"*": ["CS", "EE"]}}
    coarse, fine = ({"$.a": {"role": "quasi", "taxonomy": tree | own}} for own in ({"finest": 1}, {}))
    told = messages(check(policy(coarse), records), "$.a")
    assert [message.partition(",")[0] for message in told] == ["the finest form is the root of the domain"]
    assert messages(check(policy(fine), records), "$.a") == []


@pytest.mark.parametrize(("most", "warned"), [(5, True), (4, False)])
def test_a_value_that_too_many_persons_show_is_foreseen(most: int, warned: bool) -> None:
    """Each of five values has a small share of the values, and one of them is shown by most persons."""
    people = [
        {"d": [{"c": "HIV"}, *({"c": f"other{place}-{other}"} for other in range(4))]}
        for place in range(most)
    ]
    people += [{"d": [{"c": f"more{place}"}]} for place in range(8 - most)]
    fields: dict[str, Any] = {"$.d[*].c": {"role": "sensitive"}}
    stated = policy(fields, models=[{"kind": "alpha-k", "k": 2, "alpha": Decimal("0.5")}])
    found, hints = survey_collection(people, stated)
    told = messages(lint(stated, found, hints), "$.d[*].c")
    foreseen = [message for message in told if "persons show" in message]
    assert bool(foreseen) == warned
    if warned:
        assert foreseen == [
            "alpha-k: for the values that persons show, k = 8, alpha = 0.625 is the strongest that holds "
            "with nothing suppressed. The policy asks for more, so some will be left out"
        ]
    read_by_value = policy({"$.d[*].c": {"role": "sensitive", "asks": "value"}}, models=stated.models)
    found, hints = survey_collection(people, read_by_value)
    assert "persons show" not in str(lint(read_by_value, found, hints))


ROWS = [{"a": "xy"[n % 2], "s": ("flu", "HIV")[n // 2 % 2], "v": [{"w": "p"}]} for n in range(48)]
TAKEN = {"$.a": FLAT, "$.s": {"role": "sensitive"}, "$.v[*].w": FLAT}


@pytest.mark.parametrize(
    ("sentence", "rules", "rows"),
    [
        ("differ from others only by white space", {}, [{"s": "flu "}]),
        ("differ from others only by characters that look alike", {}, [{"s": "f1u"}]),
        ("occurs in 1 place only", {"$.u[*].w": FLAT}, [{"u": [{"w": "p"}]}]),
        ("the finest form is the root", {"$.a": {**TREE, "taxonomy": ROOT_ONLY}}, []),
        ("outside the", {"$.a": {**TREE, "taxonomy": {"tree": {"*": ["x"]}}}}, []),
        ("this tells $.s, which is sensitive", {}, [{"s": ("flu", "HIV")[n % 2]} for n in range(48)]),
        ("exact values single out records", {}, [{"s": f"ill{n}"} for n in range(48)]),
        ("every field is dropped", {path: {"action": "drop"} for path in TAKEN}, []),
    ],
)
def test_a_sentence_is_there_where_it_is_true_and_only_there(
    sentence: str, rules: dict[str, Any], rows: list[dict[str, Any]]
) -> None:
    changed = [row | (rows[n] if n < len(rows) else {}) for n, row in enumerate(ROWS)]
    for stated, records, told in ((TAKEN | rules, changed, True), (TAKEN, ROWS, False)):
        found = look(policy(stated), records)
        assert any(sentence in one.message for one in found) == told, [one.message for one in found]
