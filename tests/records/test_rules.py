from __future__ import annotations

import pytest

from hierdata.documents.document import Siblings
from hierdata.records.path import parse
from hierdata.records.rules import problems
from hierdata.records.schema import Role, Rule
from hierdata.records.survey import survey

Q = Role.QUASI


def found(paths, documents, unlisted="error"):
    """Problems of rules for paths; one that ends in `!` drops."""
    policy = [Rule(parse(path.rstrip("!")), None if path.endswith("!") else Q) for path in paths]
    return [(p.kind, p.path, p.message) for p in problems(policy, survey(documents).shape, unlisted)]


def test_nothing_to_say_where_all_fits():
    assert (
        found(["$.a", "$.m[*].k", "$.x!"], [{"a": None, "m": [], "x": 1}, {"m": [{"k": 1}, {}], "x": [2]}])
        == []
    )


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("$.mayor", "; did you mean $.major?"),
        ("mayor", "; did you mean major?"),
        ("$.courses[*].cod", "; did you mean $.courses[*].code?"),
        ("$.course[*].code", "; did you mean $.courses[*].code?"),
        ("$.course[*].kode", "; did you mean $.courses[*].code?"),
        ("course.code", "; did you mean courses.code?"),
        ("$.course[*].grade", "; did you mean $.courses[*]?"),
        ("$.q", ""),
    ],
)
def test_a_rule_that_matches_nothing_names_the_nearest_field(path, hint):
    documents = [{"major": 1, "courses": [{"code": 1}]}]
    assert found([path], documents, "drop") == [
        ("unmatched", path, f"nothing in the records matches this path{hint}")
    ]


VISITS = {"visits": [{"diagnosis": "x", "stay": {"ward": 1}}], "age": 1, "stays": [{"ward": 2}]}


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("$.visits[*].daignosis", "$.visits[*].diagnosis"),
        ("$.diagnosis", "$.visits[*].diagnosis"),
        ("$.visits[*].ward", "$.visits[*].stay.ward"),
        ("$.stay[*].ward", "$.stays[*].ward"),
        ("visits.wards", "visits.stay.ward"),
    ],
)
def test_the_nearest_field_is_named_by_its_whole_path(path, hint):
    declared = ["$.visits[*].stay.bed", "$.age"]
    policy = [Rule(parse(each), Q, optional=each in declared) for each in (path, *declared)]
    ((message, revealed),) = [
        (problem.message, problem.revealed)
        for problem in problems(policy, survey([VISITS]).shape, "drop")
        if problem.kind == "unmatched"
    ]
    assert message == f"nothing in the records matches this path; did you mean {hint}?"
    assert revealed == ()


def test_a_parent_that_no_rule_names_is_not_shown():
    """Keys may be data, such as the number of a record."""
    policy = [Rule(parse(path), Q) for path in ("$.diagnosis", "$.mrns.diagnosis")]
    shape = survey([{"mrn-7319": {"diagnosis": "flu"}}]).shape
    message, near = [problem for problem in problems(policy, shape, "drop") if problem.kind == "unmatched"]
    assert message.message.endswith("did you mean $.<key>.diagnosis?")
    assert message.revealed == ("$['mrn-7319'].diagnosis",)
    assert "7319" not in near.message


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("/theses/thesis/mark", "/theses/thesis/{urn:t}mark"),
        ("/theses/thesis/{urn:u}mark", "/theses/thesis/{urn:t}mark"),
        ("/theses/thesis/@nr", "/theses/thesis/@nro"),
    ],
)
def test_the_nearest_name_in_xml_may_lie_in_another_namespace(path, hint):
    (problem,) = found([path], [{"@nro": "1", "{urn:t}mark": Siblings(["1.3"])}], "drop")
    assert problem == ("unmatched", path, f"nothing in the records matches this path; did you mean {hint}?")


def test_optional_rules_and_empty_collections_match_nothing_in_peace():
    assert found(["$.a"], []) == []
    assert problems([Rule(parse("$.b"), Q, optional=True)], survey([{}]).shape) == []


def test_unlisted_fields_are_counted_by_place_and_named_only_on_request():
    shape = survey([{"a": 1, "b": 2, "m": [{"k": 1, "c": {"d": 1}}]}]).shape
    policy = [Rule(parse("$.m[*].k"), Q)]
    listed = problems(policy, shape)
    assert [(p.kind, str(p), p.revealed) for p in listed] == [
        ("unlisted", "$.<key>: 2 fields are not listed in the policy", ("a", "b")),
        ("unlisted", "$.m[*].<key>: a field is not listed in the policy", ("c",)),
    ]
    assert problems(policy, shape, "drop") == []


def test_bare_content_of_an_element_with_attributes_is_a_field_too():
    documents = [{"gpa": Siblings([{"@scale": "4"}])}, {"gpa": Siblings(["3.7"])}]
    assert found(["/r/s/gpa/@scale"], documents) == [
        ("unlisted", "/r/s/gpa/<key>", "a field is not listed in the policy")
    ]
    assert found(["/r/s/gpa/@scale", "/r/s/gpa/text()"], documents) == []


@pytest.mark.parametrize(
    ("paths", "documents", "kind", "message"),
    [
        (
            ["a"],
            [{"a": [1]}, {"a": 1}],
            "clash",
            "an array in some records and a single value or object in others",
        ),
        (["a"], [{"a": 1}, {"a": {}}], "clash", "a single value in some records and an object in others"),
        (
            ["a.b"],
            [{"a": {"b": 1}}, {"a": 1}],
            "clash",
            "an object in some records and a single value in others",
        ),
        (["$.a[*]"], [{"a": 1}], "misfit", "the policy says [*], but this is never an array"),
        (["$.a"], [{"a": [1]}], "misfit", "this is an array: write [*] after its name"),
        (["$.a"], [{"a": Siblings("xyz")}], "misfit", "this occurs up to 3 times: write [*] after its name"),
        (["$.a"], [{"a": {}}], "misfit", "this is an object: name its fields"),
        (["$.a[*]"], [{"a": [[1]]}], "misfit", "arrays directly inside arrays are not supported"),
        (
            ["/r/s/a"],
            [{"a": Siblings([{"@b": "1"}])}],
            "misfit",
            "the element has attributes or children: give rules for those, and for its text as /text()",
        ),
    ],
)
def test_what_records_say_against_rules(paths, documents, kind, message):
    assert [(k, m) for k, _, m in found(paths, documents)] == [(kind, message)]


def test_fields_below_a_single_value():
    assert found(["$.a.b"], [{"a": 1}])[-1] == (
        "misfit",
        "$.a",
        "this is a single value: there are no fields below it",
    )


@pytest.mark.parametrize(
    ("paths", "path", "message"),
    [
        (["$.a", "a"], "a", "there are two rules for this path"),
        (["$.a[*].b", "$.a.c"], "$.a[*]", "some paths write [*] here and some do not"),
        (["a", "a.b"], "a", "a field with a role cannot have rules below it"),
        (["a!", "a.b"], "a", "this is dropped as a whole, but there are rules below it"),
        (["$"], "$", "a rule cannot name the record itself; name its fields"),
        (["/r/s/a", "/r/t/b"], "/r/t/b", "other rules have a different path of the records"),
    ],
)
def test_rules_that_contradict_each_other(paths, path, message):
    assert found(paths, []) == [("conflict", path, message)]


def test_a_dropped_array_may_have_dropped_fields_and_needs_no_mark():
    assert found(["$.a!", "$.a[*].b!", "$.c"], [{"a": [{"b": 1}], "c": 1}]) == []


def test_every_problem_at_once():
    kinds = [kind for kind, _, _ in found(["a", "a", "b", "c.x"], [{"a": [1], "c": 3, "d": 4}, {"a": 1}])]
    assert kinds == ["conflict", "unmatched", "unmatched", "unlisted", "clash", "misfit"]
