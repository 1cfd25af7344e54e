"""Every sentence of lint, with a collection of which it is true and one of which it is false.

The sentences are found in the source: a new one without its pair of cases fails here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

import hierdata
from hierdata.pipeline.look_over import survey_collection
from hierdata.policy.lint.lint import lint
from hierdata.policy.load import from_data
from tests.cases import for_each

PACKAGE = Path(hierdata.__file__).parent
FILES = (
    *(f"policy/lint/{name}.py" for name in ("lint", "fields", "traces", "attainable", "levels")),
    "policy/checks/persons.py",
    "records/rules.py",
)
FUNCTIONS = {
    "policy/checks/persons.py": {"_describe"},
    "policy/lint/levels.py": {"propose_alphas"},
    "records/rules.py": {"_suggest_nearest", "_walk", "_list_unselected", "_one_or_many", "_leaf", "_object"},
}
"""Files of which only some functions speak for lint."""
_WORDS = 4
"""Texts of fewer words are parts of sentences."""
ELSEWHERE = {
    "times: write [*] after its name": "tests/records/test_rules.py",
    "this is never a single value, only an object": "tests/drafting/test_mixed.py",
}
"""Sentences that need records of a form of their own, and the tests that have them."""


class Shown(NamedTuple):
    """What lint looks at: records, their fields' rules, and other keys of the policy."""

    fields: dict[str, Any]
    records: Any
    more: dict[str, Any]


FLAT = {"role": "quasi", "flat": True}
SENSITIVE = {"role": "sensitive"}
DROP = {"action": "drop"}
K3 = {"kind": "k-anonymity", "k": 3}
ROWS = [{"a": "xy"[n % 2], "s": ("flu", "HIV")[n // 2 % 2], "v": [{"w": "p"}]} for n in range(48)]
TAKEN: dict[str, Any] = {"$.a": FLAT, "$.s": SENSITIVE, "$.v[*].w": FLAT}


def shown(fields: dict[str, Any] | None = None, records: Any = None, **more: Any) -> Shown:
    """Return the usual rows and rules, with what is stated in addition or instead; None takes a rule away."""
    rules = {path: rule for path, rule in (TAKEN | (fields or {})).items() if rule is not None}
    return Shown(rules, ROWS if records is None else records, more)


def rows(**columns: list[Any]) -> list[dict[str, Any]]:
    """Return the usual rows with columns in addition or instead, each repeated to the end."""
    return [{**row, **{key: own[n % len(own)] for key, own in columns.items()}} for n, row in enumerate(ROWS)]


def only(fields: dict[str, Any], records: Any, **more: Any) -> Shown:
    return Shown(fields, records, more)


def messages(case: Shown) -> str:
    policy = from_data({"version": 1, "models": [K3], "fields": case.fields} | case.more)
    return "\n".join(one.message for one in lint(policy, *survey_collection(case.records, policy)))


def model(kind: str, **more: Any) -> list[dict[str, Any]]:
    return [{"kind": kind, **more}]


LEVELS = {**SENSITIVE, "levels": {"by": {"flu": 1, "HIV": 5, "cold": 2}}}
BY_FREQUENCY = {**SENSITIVE, "levels": {"by": "frequency", "sensitive": "rare"}}
CLUSTREE = {"engine": {"preset": "MLevCluTree"}, "models": model("level-alpha-k", k=3)}
TOKEN = {"domain": "d", "identity": True}


def token(**more: Any) -> dict[str, Any]:
    return {"role": "identifier", "action": {"pseudonym": {"domain": "d", **more}}}


def shift(**more: Any) -> dict[str, Any]:
    return {**SENSITIVE, "action": {"shift": {"days": 100, **more}}}


IDS = [f"P{n:02}" for n in range(48)]
OTHERS = [f"Q{n:02}" for n in range(48)]
NEVER = [[{"w": "p"}] if n % 7 else [] for n in range(48)]
TEXTS = {**SENSITIVE, "taxonomy": {"tree": {"*": {"lungs": ["flu", "cold"], "skin": ["HIV"], "none": None}}}}
DAYS = [f"19{40 + n:02}-03-11" for n in range(48)]
QUARTERS = [Decimal(n // 4 * 4 + (n % 12 == 0)) / 4 for n in range(48)]
NAMES = [f"{first} {last}" for first in ("Anna", "Bernd", "Carla", "David") for last in ("Abel", "Brandt")]
PRESENT = only(
    {"$.a": FLAT, "$.d[*].c": SENSITIVE},
    [{"a": 1, "d": [{"c": "HIV"}, *({"c": f"o{n % 9}"} for _ in range(n < 20))]} for n in range(48)],
    models=model("alpha-k", k=2, alpha="0.5"),
)
KNOWN = {"$.a": FLAT, "$.v[*].w": FLAT, "$.v[*].s": SENSITIVE}
SHOWING = [{"a": 1, "v": [{"w": "p", "s": ("flu", "HIV", "cold")[n % 3]}]} for n in range(48)]
ALIKE = [{**row, "v": [{"w": "p", "s": "flu" if n % 4 else "HIV"}]} for n, row in enumerate(SHOWING)]


def known(**more: Any) -> dict[str, Any]:
    return {"models": model("bounded-knowledge", k=3, m=2, **more)}


def table(wide: int) -> Shown:
    """Return records of which one has a list with so many items."""
    records = [{"a": 1, "v": [{"w": k % 5} for k in range(own)]} for own in (wide, 1, 1, 1)]
    return only({"$.a": FLAT, "$.v[*].w": FLAT}, records, models=model("bounded-knowledge", k=2, m=3))


def filtered(kinds: str) -> Shown:
    items = "$.v[?@.k == 'x']"
    fields = {"$.a": FLAT, f"{items}.w": FLAT, f"{items}.k": {"role": "kind"}}
    return only(fields, [{"a": 1, "v": [{"k": kinds[n % len(kinds)], "w": n % 2}]} for n in range(9)])


def elements(text: str, rule: str = "/all/r/t") -> Shown:
    records = [etree.fromstring(f"<r><a>x</a>{text}</r>") for _ in range(9)]
    return only({"/records/r/a": FLAT, rule.replace("/all/", "/records/"): FLAT}, records)


def keyed(name: str, values: list[Any], **more: Any) -> Shown:
    return shown({f"$.{name}": {"role": "identifier"}}, rows(**{name: values}), **more)


CASES: dict[str, tuple[Shown, Shown]] = {
    "every field is dropped": (shown(dict.fromkeys(TAKEN, DROP)), shown()),
    "no model limits what can be guessed": (
        shown(),
        shown(models=[K3, *model("distinct-l-diversity", l=2)]),
    ),
    "or add it to the `on` of a model": (
        shown(
            {"$.t": SENSITIVE}, rows(t=["p", "q"]), models=[*model("distinct-l-diversity", l=2, on=["$.s"])]
        ),
        shown(),
    ),
    "with a decimal comma numbers are read": tuple(
        shown({"$.n": {"role": "quasi", "interval": {"steps": [1]}}}, rows(n=[text])) for text in ("3,5", "x")
    ),
    "which takes": (
        shown({"$.n": {"role": "quasi", "interval": {"steps": [1]}}}, rows(n=["x"])),
        shown({"$.n": {"role": "quasi", "interval": {"steps": [1]}}}, rows(n=[3])),
    ),
    "then no record can be suppressed": (
        shown(models=model("distinct-l-diversity", l=3)),
        shown(models=model("distinct-l-diversity", l=3), suppressed="as_published"),
    ),
    "a field that no rule names is in": (
        shown(records=[*ROWS, {**ROWS[0], "q": 1}], unlisted={"keep": "why"}),
        shown(records=[*ROWS, {**ROWS[0], "q": 1, "r": 1}], unlisted={"keep": "why"}),
    ),
    "fields that no rule names are in": (
        shown(records=[*ROWS, {**ROWS[0], "q": 1, "r": 1}], unlisted={"keep": "why"}),
        shown(records=rows(q=[1], r=[1]), unlisted={"keep": "why"}),
    ),
    "tell whose they are, so they are left out": (
        shown(records=[*ROWS, {**ROWS[0], "q": 1, "r": 1}], unlisted={"keep": "why"}),
        shown(records=[*ROWS, {**ROWS[0], "q": 1}], unlisted={"keep": "why"}),
    ),
    "Its name could tell whose it is, so it is left out": (
        shown(records=[*ROWS, {**ROWS[0], "q": 1}], unlisted={"keep": "why"}),
        shown(records=rows(q=[1]), unlisted={"keep": "why"}),
    ),
    "a class needs at least": (shown(records=ROWS[:2]), shown(records=ROWS[:3])),
    "its alpha is 0": tuple(
        shown({"$.s": LEVELS}, models=model("level-alpha-k", k=9, alpha=[1, 1, 1, 1, alpha]))
        for alpha in (0, 1)
    ),
    "cannot be published in classes of": (
        shown({"$.s": LEVELS}, **CLUSTREE),
        shown({"$.s": LEVELS}, **CLUSTREE | {"models": model("level-alpha-k", k=10)}),
    ),
    "can hold it": (
        shown({"$.s": LEVELS}, **CLUSTREE),
        shown({"$.s": LEVELS}, rows(s=["flu"]), **CLUSTREE),
    ),
    "and this engine makes none": (
        shown({"$.s": LEVELS}, **CLUSTREE),
        shown({"$.s": LEVELS}, models=model("level-alpha-k", k=3)),
    ),
    "are too small": (
        shown({"$.s": LEVELS}, models=model("level-alpha-k", k=3)),
        shown({"$.s": LEVELS}, models=model("level-alpha-k", k=10)),
    ),
    "of this identifier ": (keyed("x1", [*IDS[1:], "P01"]), keyed("x1", IDS)),
    "`individual` unites the records of each": (
        keyed("x1", [*IDS[1:], "P01"]),
        keyed("x1", [*IDS[1:], "P01"], individual={"none": "each row is a person"}),
    ),
    "is not a file": (shown(schema="gone.json"), shown()),
    "without a number where one is required": tuple(
        shown({"$.n": {**SENSITIVE, "number": True}}, rows(n=[own, 2])) for own in ("x", 1)
    ),
    "apart form chains": tuple(
        shown({"$.s": TEXTS}, rows(s=own), models=model("l-e-diversity", l=2, e="1.5"))
        for own in (["flu", "HIV", "none"], ["flu", "HIV"])
    ),
    "because their depths differ": tuple(
        shown({"$.s": TEXTS}, rows(s=["flu", "HIV", "none"]), models=model("l-e-diversity", l=2, e=own))
        for own in ("1.5", 2)
    ),
    "texts differ from others": (
        shown(records=rows(s=["flu", "Flu", "HIV"])),
        shown(records=rows(s=["flu", "HIV"])),
    ),
    "and the policy asks for more": tuple(
        shown(models=model("distinct-l-diversity", l=most)) for most in (3, 2)
    ),
    "by white space, case, form or characters that are not seen": (
        shown(records=rows(s=["flu", "flu ", "HIV"])),
        shown(records=rows(s=["flu", "flue", "HIV"])),
    ),
    "makes them one value for every model": (
        shown(records=rows(s=["flu", "FLU", "HIV"])),
        shown({"$.s": {**SENSITIVE, "same": ["fold"]}}, rows(s=["flu", "FLU", "HIV"])),
    ),
    "only by characters that look alike": (
        shown(records=rows(s=["flu", "f1u", "HIV"])),
        shown(records=rows(s=["flu", "f2u", "HIV"])),
    ),
    "correct the input, since models count them apart": (
        shown(records=rows(s=["HIV", "H\u0406V", "flu"])),
        shown(records=rows(s=["HIV", "HJV", "flu"])),
    ),
    "references are kept where they lead to nothing": tuple(
        shown({"$.i": token(identity=True), "$.r": token(references=own)}, rows(i=IDS, r=IDS))
        for own in ("keep", "drop")
    ),
    "free text is published unchanged": (
        shown({"$.f": {"role": "free_text", "exempt": "short codes"}}, rows(f=["x", "y"])),
        shown({"$.f": {"role": "free_text"}}, rows(f=["x", "y"])),
    ),
    "most of its values also occur at": tuple(
        shown({"$.i": token(identity=True), "$.r": own}, rows(i=IDS, r=IDS))
        for own in ({"role": "identifier"}, token(references="drop"))
    ),
    "none of its values occurs at another field": tuple(
        shown({"$.i": token(identity=True), "$.r": token(references="drop")}, rows(i=IDS, r=own))
        for own in (OTHERS, IDS)
    ),
    "the weekdays of a record with many dates tell": tuple(
        shown({"$.t": shift(**own)}, rows(t=DAYS[:4])) for own in ({"unit": {"day": "why"}}, {})
    ),
    "moves are possible, and not to move is one": tuple(
        shown({"$.t": shift(days=own)}, rows(t=DAYS[:4])) for own in (13, 100)
    ),
    "the time of day is published as it is written": tuple(
        shown({"$.t": shift(**own)}, rows(t=["2001-02-03T10:20:30"]))
        for own in ({"time": {"keep": "why"}}, {})
    ),
    "the finest form is the root of the domain": tuple(
        shown({"$.a": {"role": "quasi", "taxonomy": {"tree": {"*": ["x", "y"]}, **own}}})
        for own in ({"finest": 1}, {})
    ),
    "a record may have several of these lists": tuple(
        only(
            {"$.v[*].y": FLAT, "$.v[*].d[*].c": {**SENSITIVE, **own}},
            [{"v": [{"y": 1, "d": [{"c": "flu"}, {"c": "HIV"}]}]}] * 9,
            models=model("frequency-l-diversity", l=2),
        )
        for own in ({}, {"within": "record"})
    ),
    "its presence could identify a record": (
        shown({"$.u[*].w": FLAT}, [{**ROWS[0], "u": [{"w": 1}]}, *ROWS]),
        shown({"$.u[*].w": FLAT}, rows(u=[[{"w": 1}]])),
    ),
    "which is sensitive: ": (
        shown(records=rows(s=["flu", "HIV"])),
        shown(records=rows(s=["flu", "flu", "HIV"])),
    ),
    "share each go with one value there": (
        shown(records=[{**row, "v": [{"w": "p"}], "s": "flu" if row["a"] == "x" else "HIV"} for row in ROWS]),
        # A column without a repeated value determines all others, and tells nothing.
        shown({"$.a": FLAT}, rows(a=IDS)),
    ),
    "this is not derived from": tuple(
        shown({"$.l": {"derived": "$.a"}}, rows(l=own)) for own in (["X", "Y", "Z"], ["X", "Y"])
    ),
    "names of persons, which would be published": tuple(
        shown({"$.patient_name": FLAT}, rows(patient_name=own)) for own in (NAMES, ["1", "2", "3"])
    ),
    "role: identifier`, or another domain whose steps": (
        shown({"$.u[*].x": FLAT}, rows(u=[[{"x": one}] for one in IDS])),
        shown({"$.u[*].x": {"role": "identifier"}}, rows(u=[[{"x": one}] for one in IDS])),
    ),
    "values belong to one record each": (
        shown({"$.u[*].x": FLAT}, rows(u=[[{"x": one}] for one in IDS])),
        shown({"$.u[*].x": FLAT}, rows(u=[[{"x": one}] for one in IDS[:24]])),
    ),
    "exact days of birth would be published": tuple(
        shown(
            {"$.birth_date": {"role": "quasi", "date": {"steps": steps}}},
            rows(birth_date=DAYS),
            recoding="sets_and_ranges",
        )
        for steps in (["day", "year"], ["month", "year"])
    ),
    "so that all of a class may have one": (
        shown({"$.x17": FLAT}, rows(x17=[one for one in IDS[:12] for _ in range(4)])),
        # As many values, of which each has more records than some classes.
        shown({"$.x17": FLAT}, [{**row, "x17": "xyz"[n % 3]} for n, row in enumerate(ROWS)]),
    ),
    "exact values single out records": (
        shown({"$.t": SENSITIVE}, rows(t=[*range(48)])),
        shown({"$.t": SENSITIVE}, rows(t=[*range(24)])),
    ),
    "publish a coarser form of them": (
        shown({"$.t": SENSITIVE}, rows(t=IDS)),
        shown({"$.t": SENSITIVE}, rows(t=QUARTERS)),
    ),
    "of the detail": (
        shown({"$.t": SENSITIVE}, rows(t=QUARTERS)),
        shown({"$.t": SENSITIVE}, rows(t=IDS)),
    ),
    "with nothing suppressed": tuple(shown(models=model("distinct-l-diversity", l=most)) for most in (3, 2)),
    "for the values that persons show": (
        PRESENT,
        PRESENT._replace(more={"models": model("alpha-k", k=2, alpha=1)}),
    ),
    "in the whole collection": tuple(only(KNOWN, ALIKE, **known(alpha=own)) for own in ("0.5", "0.9")),
    "They are left out first where that keeps more": (
        only({**KNOWN, "$.v[*].w": DROP}, ALIKE, **known(alpha="0.5")),
        only({**KNOWN, "$.v[*].s": {**SENSITIVE, "asks": "value"}}, ALIKE, **known(alpha="0.5")),
    ),
    "of the records that show any": (
        only({**KNOWN, "$.v[*].w": DROP}, ALIKE, **known(alpha="0.5")),
        only({**KNOWN, "$.v[*].s": {**SENSITIVE, "asks": "value"}}, ALIKE, **known(alpha="0.5")),
    ),
    "facts on average, and one has at least": (table(2500), table(30)),
    "are counted. Of a block with more": (table(5000), table(2500)),
    "minutes of a processor": (table(2500), table(5000)),
    "have room; the least alphas that leave room": tuple(
        shown({"$.s": LEVELS}, models=model("level-alpha-k", k=10, alpha=[1, 1, 1, 1, alpha]))
        for alpha in ("0.1", "0.5")
    ),
    "and the name of the field says that it": (keyed("manager", IDS[:24]), keyed("manager", IDS)),
    "while another key of persons never does: find out which is right": (
        shown(
            {"$.patient_id": {"role": "identifier"}, "$.ssn": {"role": "identifier"}},
            rows(patient_id=IDS, ssn=[f"{n:09}" for n in range(24)]),
        ),
        keyed("patient_id", IDS),
    ),
    "with the other parts of the name": (
        shown(
            {"$.first_name": {"role": "identifier"}, "$.last_name": {"role": "identifier"}},
            rows(first_name=["Anna", "Bernd", "Carla", "David"], last_name=["Abel", "Brandt", "Costa"]),
        ),
        keyed("patient_name", NAMES),
    ),
    "the person whom a record is about. So k would count": (
        keyed("patient_name", NAMES),
        keyed("patient_name", NAMES, individual={"none": "each row is a person"}),
    ),
    "nothing in the records matches this path": (shown({"$.gone": FLAT}), shown()),
    "not listed in the policy": (shown(records=rows(q=[1])), shown(records=rows(q=[1]), unlisted="drop")),
    "selected by no filter": (filtered("xy"), filtered("x")),
    "add a filter for them, or leave them out": (filtered("xy"), filtered("x")),
    "items of this list are": (filtered("xy"), filtered("xxxxxxxxy")),
    "1 item of this list is": (filtered("xxxxxxxxy"), filtered("xy")),
    "arrays directly inside arrays": (
        shown({"$.v[*].w": None, "$.v[*]": FLAT}, rows(v=[[[1]]])),
        shown({"$.v[*].w": None, "$.v[*]": FLAT}, rows(v=[[1]])),
    ),
    "an array in some records and a single value": tuple(
        shown({"$.v[*].w": None, "$.v[*]": FLAT}, rows(v=own)) for own in ([[1], 1], [[1], [2]])
    ),
    "but this is never an array": tuple(
        shown({"$.v[*].w": None, "$.v[*]": FLAT}, rows(v=own)) for own in ([1], [[1]])
    ),
    "this is an array: write [*]": tuple(
        shown({"$.v[*].w": None, path: FLAT}, rows(v=[[1]])) for path in ("$.v", "$.v[*]")
    ),
    "a single value in some records and an object": tuple(
        shown({"$.a": FLAT}, rows(a=own)) for own in (["x", {"b": 1}], ["x", "y"])
    ),
    "the element has attributes or children": (elements("<t b='1'>2</t>"), elements("<t>2</t>")),
    "values of MongoDB's Extended JSON": tuple(
        shown({"$.a": FLAT}, rows(a=[own])) for own in ({"$numberInt": "3"}, {"b": 1})
    ),
    "this is an object: name its fields": tuple(
        shown({"$.a": FLAT}, rows(a=[own])) for own in ({"b": 1}, "x")
    ),
    "an object in some records and a single value": tuple(
        shown({"$.a": None, "$.a.b": FLAT}, rows(a=own)) for own in (["x", {"b": 1}], [{"b": 1}])
    ),
    "there are no fields below it": tuple(
        shown({"$.a": None, "$.a.b": FLAT}, rows(a=own)) for own in (["x"], [{"b": 1}])
    ),
}


def sentences() -> Iterator[tuple[str, int, str]]:
    """Yield file, line and text of what lint says; what a value is put in for is ``{}``."""
    for file in FILES:
        tree = ast.parse((PACKAGE / file).read_text("utf-8"))
        skipped: set[ast.AST] = set()
        for node in ast.walk(tree):
            name = node.name if isinstance(node, ast.FunctionDef) else None
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                skipped.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                skipped.update(node.values)
            elif isinstance(node, ast.Raise) or name not in FUNCTIONS.get(file, {name}) | {None}:
                skipped.update(ast.walk(node))
        for node in ast.walk(tree):
            text = "" if node in skipped else _text_of(node)
            if len(re.findall(r"\b[a-z]{2,}\b", text)) >= _WORDS:
                yield file, getattr(node, "lineno", 0), text


def _text_of(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(one) if isinstance(one, ast.Constant) else "{}" for one in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_every_sentence_of_lint_has_its_cases() -> None:
    found = [*sentences()]
    assert len(found) > 50
    missing = [one for one in found if not any(fragment in one[2] for fragment in {**CASES, **ELSEWHERE})]
    assert missing == []


@for_each("fragment", CASES)
def test_a_sentence_is_said_where_it_is_true_and_nowhere_else(fragment: str) -> None:
    true, false = CASES[fragment]
    assert fragment in messages(true), messages(true)
    for part in re.split(r"[.:;] |\n", re.sub(r"`[^`]*`", "code", messages(true))):
        assert len(part.split()) <= 25, part
    assert fragment not in messages(false)
