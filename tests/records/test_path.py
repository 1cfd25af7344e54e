from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.ground.errors import PolicyError
from hierdata.records.path import Step, jsonpath, parse


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("$", []),
        ("$.a.b", [("a", False), ("b", False)]),
        ("$.a[*].b", [("a", True), ("b", False)]),
        ("$['odd name'][*].y", [("odd name", True), ("y", False)]),
        ('$["x"][ * ].y', [("x", True), ("y", False)]),
        (r"$['it\'s \u00e9 \ud83d\ude00']", [("it's \u00e9 \U0001f600", False)]),
        ("$.tags[*]", [("tags", True)]),
        ("$.größe", [("größe", False)]),
        ("courses.code", [("courses", None), ("code", None)]),
        ("/r/s/course/@code", [("course", None), ("@code", None)]),
        ("/r/s/gpa/text()", [("gpa", None), ("#text", None)]),
        ("/r/s/@xml:lang", [("@{http://www.w3.org/XML/1998/namespace}lang", None)]),
        ("/r/s/u:a/@u:b", [("{urn:u/1}a", None), ("@{urn:u/1}b", None)]),
        ("/r/s/{urn:u/1}a", [("{urn:u/1}a", None)]),
    ],
)
def test_the_three_notations(text, steps):
    path = parse(text, namespaces={"u": "urn:u/1"})
    assert [(step.key, step.many) for step in path.steps] == steps
    assert path.keys == tuple(key for key, _ in steps)
    assert str(path) == text


def test_the_first_two_xpath_steps_are_the_place_of_the_records():
    path = parse("/students/student/course/@code")
    assert path.place == ("students", "student")
    assert [path.prefix(i) for i in range(3)] == [
        "/students/student",
        "/students/student/course",
        "/students/student/course/@code",
    ]
    assert parse("/students/student").keys == ()


def test_plain_element_names_take_the_default_namespace_and_attributes_do_not():
    path = parse("/r/s/a/@b", namespaces={"": "urn:d"})
    assert path.place == ("{urn:d}r", "{urn:d}s")
    assert path.keys == ("{urn:d}a", "@b")


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 1),
        ("$.", 3),
        ("$..a", 3),
        ("$.a[0]", 4),
        ("$[*]", 2),
        ("$.a[*]~.b", 7),
        ("$.a~", 4),
        ("$.a.*", 5),
        ("$.a b", 4),
        ("$.zip-code", 6),
        (r"$['\x']", 2),
        (r"$['\ud800']", 2),
        ("a..b", 3),
        ("a.", 3),
        ("a[*].b", 2),
        ("a/b", 2),
        ("/", 1),
        ("/r", 3),
        ("/r/@a/b", 3),
        ("/r/s//a", 5),
        ("/r/s/a[1]", 5),
        ("/r/s/@a/b", 8),
        ("/r/s/text()/b", 12),
        ("/r/s/x:a", 6),
        ("/r/s/../a", 5),
        ("/r/s/child::a", 5),
    ],
)
def test_an_unreadable_path_is_refused_with_its_position(text, position):
    with pytest.raises(PolicyError, match=rf"at position {position}: "):
        parse(text)


def test_an_undeclared_field_is_spelled_without_its_name():
    assert parse("$.a[*].b").below(1) == "$.a[*].<key>"
    assert parse("/r/s/a").below(0) == "/r/s/<key>"
    assert parse("a.b").below(0) == "<key>"


@given(st.lists(st.builds(Step, st.text(st.characters(exclude_categories=["Cs"])), st.booleans())))
def test_jsonpath_is_read_back(steps):
    path = parse(jsonpath(steps))
    assert list(path.steps) == steps
    assert path.prefix(len(steps)) == path.text
