from __future__ import annotations

import pytest

from hierdata.documents.document import Siblings
from hierdata.records.binding import bind, resolve, unbind
from hierdata.records.path import parse
from hierdata.records.schema import Role, Rule
from hierdata.records.survey import survey
from hierdata.records.unlisted import kept

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
         ["$.a", "$['odd key']", "$.m[*].o.p[*]", "$.m[*].n"]),
        (IN_JSON, {"id": None, "a": Role.QUASI},
         ["$['odd key']", "$.m[*].k", "$.m[*].o.p[*]", "$.m[*].n", "$.raw.q"]),
        (IN_XML, {"/r/s/@id": None, "/r/s/a": Role.QUASI},
         ["/r/s/m/text()", "/r/s/m/@k", "/r/s/m/{urn:x}o", "/r/s/e/@u", "/r/s/e/@{urn:x}w", "/r/s/e/text()"]),
    ],
)  # fmt: skip
def test_what_is_kept_completes_the_policy(document, policy, expected):
    rules = [Rule(parse(path), role) for path, role in policy.items()]
    shape = survey([document]).shape
    more = kept(rules, shape, Role.CARRIED)
    assert [str(rule.path) for rule in more] == expected
    assert {rule.role for rule in more} == {Role.CARRIED}
    binding = resolve([*rules, *more], shape, unlisted="error")
    assert unbind(next(bind([document], binding)), binding.schema)


def test_nothing_is_kept_where_all_is_listed():
    assert kept([Rule(parse("$.a"), Role.QUASI)], survey([{"a": 1, "b": {}}]).shape, Role.QUASI) == []
