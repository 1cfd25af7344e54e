from __future__ import annotations

import pytest

from hierdata.documents.document import Siblings
from hierdata.records.binding import bind, resolve, unbind
from hierdata.records.path import parse
from hierdata.records.schema import Role, Rule
from hierdata.records.survey import survey
from hierdata.records.unlisted import keep_unlisted

IN_JSON = {"id": "x", "a": 1, "odd key": 2, "m": [{"k": 1, "o": {"p": [3]}, "n": None}], "raw": {"q": 1}}
IN_XML = {
    "@id": "x",
    "a": Siblings(["1"]),
    "m": Siblings([{"@k": "1", "{urn:x}o": Siblings(["2", "3"])}, "text"]),
    "e": Siblings([{"@u": "v", "@{urn:x}w": "z", "#text": "y"}]),
}


@pytest.mark.parametrize(
    ("document", "policy", "expected"),
    [
        (IN_JSON, {"$.id": None, "$.m[*].k": Role.QUASI, "$.raw": None},
         ["$.a", "$.m[*].n", "$.m[*].o.p[*]", "$['odd key']"]),
        (IN_JSON, {"id": None, "a": Role.QUASI},
         ["$.m[*].k", "$.m[*].n", "$.m[*].o.p[*]", "$['odd key']", "$.raw.q"]),
        (IN_XML, {"/r/s/@id": None, "/r/s/a": Role.QUASI},
         ["/r/s/e/text()", "/r/s/e/@u", "/r/s/e/@{urn:x}w", "/r/s/m/text()", "/r/s/m/@k", "/r/s/m/{urn:x}o"]),
    ],
)  # fmt: skip
def test_what_is_kept_completes_the_policy(document, policy, expected):
    rules = [Rule(parse(path), role) for path, role in policy.items()]
    shape = survey([document]).shape
    more = keep_unlisted(rules, shape, Role.CARRIED)
    assert [str(rule.path) for rule in more] == expected
    assert {rule.role for rule in more} == {Role.CARRIED}
    binding = resolve([*rules, *more], shape, unlisted="error")
    assert unbind(next(bind([document], binding)), binding.schema)


def test_a_key_is_kept_if_as_many_records_hold_it():
    """Not as many objects: one record may have it at every visit, as a bare value, in an array or in both."""
    records = [
        {"a": 1, "few": 1, "many": None, "deep": {"in": 1}, "v": [{"w": 1, "x": 1}, {"w": 1, "x": [1]}]},
        {"a": 1, "few": None, "many": [], "deep": {"in": {"side": 1}}, "v": [{"w": 2, "x": 1}]},
        {"a": 1, "many": [{"y": 1}], "deep": {"out": 1}, "v": [{"w": 1}, {"w": 1, "z": 1}, {"w": 1, "z": 1}]},
    ]
    shape = survey(records, holders=True).shape
    assert {key: below.holders for key, below in shape.children.items()} == {
        **{"a": 3, "few": 2, "many": 3, "deep": 3, "v": 3}
    }
    found = {
        at: survey(records, holders=True).shape.find(at).holders
        for at in [("v", "x"), ("v", "z"), ("deep", "in")]
    }
    assert found == {("v", "x"): 2, ("v", "z"): 1, ("deep", "in"): 2}
    rules = [
        Rule(parse("$.a"), Role.QUASI),
        Rule(parse("$.v[*].w"), Role.QUASI),
        Rule(parse("$.deep.out"), Role.QUASI),
    ]
    for least, expected in (
        (0, ["$.deep.in.side", "$.few", "$.many[*].y", "$.v[*].x[*]", "$.v[*].z"]),
        (2, ["$.few", "$.v[*].x[*]"]),
        (3, []),
    ):
        kept = keep_unlisted(rules, shape, Role.QUASI, least=least)
        assert [str(rule.path) for rule in kept] == expected
    merged = survey(records[:1], holders=True)
    merged.merge(survey(records[1:], holders=True))
    assert merged.shape == shape
    assert survey(records).shape.children["a"].holders == 0


def test_nothing_is_kept_where_all_is_listed():
    assert (
        keep_unlisted([Rule(parse("$.a"), Role.QUASI)], survey([{"a": 1, "b": {}}]).shape, Role.QUASI) == []
    )
