"""What the judge checks of a value it checks under every recoding, however records are built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hierdata.documents.document import Document, Siblings, Value, list_key
from hierdata.domains.interval import Interval
from hierdata.judge import JudgeRules, QuasiRule, SensitiveRule, Verdict, judge
from hierdata.judge.rule_tree import RuleNode, RuleTree
from hierdata.judge.rules import Keys
from hierdata.privacy import BoundedKnowledge, KAnonymity

RECODINGS = (
    *("generalization", "full_domain", "sets_and_ranges", "representatives"),
    *("anatomy", "slicing", "slicing_by_table", "bounded knowledge"),
)
SHAPES: dict[str, Callable[[dict[str, Value]], Document]] = {
    "flat": lambda own: {**own},
    "object": lambda own: {"at": {**own}},
    "array": lambda own: {"at": [{**own}]},
    "element": lambda own: {"at": Siblings([{**own}])},
    "deeper": lambda own: {"at": {"in": [{**own}]}},
}
WHERE: dict[str, Keys] = {"flat": (), "deeper": ("at", "in")}
ILLNESSES = ("flu", "cold", "flu", "cold")
AGES = Interval(steps=[1, 5, 10]).labels(Path())


def rules_of(recoding: str, shape: str) -> JudgeRules:
    above = WHERE.get(shape, ("at",))
    person, boss, zip_code, name, note = ((*above, key) for key in ("id", "boss", "zip", "name", "note"))
    listed = {("ill",), person, boss, zip_code, note, (*zip_code, "note")}
    models: list[Any] = [(KAnonymity(k=2), None)]
    if recoding == "bounded knowledge":
        models.append((BoundedKnowledge(k=2, m=1), None))
    return JudgeRules(
        (SensitiveRule(("ill",), "$.ill"),),
        tuple(models),
        exempt=frozenset({person, boss}),
        forbidden=frozenset({name}),
        listed=frozenset(listed | {above[:end] for end in (1, 2) if above}),
        vertices=frozenset({above}) if shape in ("array", "deeper") else frozenset(),
        recoding="generalization" if recoding == "bounded knowledge" else recoding,
        patterns={person: "p[0-9]", boss: "p[0-9]"},
        tokens={person: "people"},
        identities={person: "people"},
        references={boss: "people"},
        quasi=(QuasiRule(zip_code, "$.zip", AGES),),
    )


def judged(recoding: str, shape: str, change: Callable[[dict[str, Value]], None] | None = None) -> Verdict:
    """Judge four persons; ``change`` forges what is published of the last one."""
    records: list[Document] = []
    for at, ill in enumerate(ILLNESSES):
        own: dict[str, Value] = {"id": f"p{at}", "boss": "p0", "zip": "[0, 4]", "note": "n"}
        if change is not None and at == len(ILLNESSES) - 1:
            change(own)
        record = SHAPES[shape](own)
        if recoding == "representatives":
            record = {"records": 1, "representative": {**record, list_key("ill"): [ill]}}
        elif recoding in ("anatomy", "slicing"):
            record["group"] = 1
        elif recoding == "slicing_by_table":
            record["group_1"] = 1
        else:
            record["ill"] = ill
        records.append(record)
    rows = [{"group": 1, "ill": ill, "count": 2} for ill in ("flu", "cold")]
    part = "sensitive" if recoding == "anatomy" else "sensitive-1"
    parts: dict[str, Any] = {part: rows} if recoding in ("anatomy", "slicing", "slicing_by_table") else {}
    return judge(records, rules_of(recoding, shape), parts)


def put(key: str, value: Value) -> Callable[[dict[str, Value]], None]:
    return lambda own: own.update({key: value})


FORGERIES: dict[str, tuple[Callable[[dict[str, Value]], None], str]] = {
    "a pseudonym of somebody else": (put("id", "p0"), "a pseudonym in several records"),
    "a pseudonym that is a name": (put("id", "Anna"), "id"),
    "a reference to nobody": (put("boss", "p9"), "a reference to what is not published"),
    "a reference that is a name": (put("boss", "Anna"), "boss"),
    "what is no label": (put("zip", "Oslo"), "finer than the policy allows"),
    "an object as a label": (put("zip", {"note": "n"}), "finer than the policy allows"),
    "a field that is not listed": (put("salary", "n"), "<key>"),
    "a field that must not occur": (put("name", "n"), "name"),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("recoding", RECODINGS)
def test_what_was_not_forged_passes(recoding: str, shape: str) -> None:
    verdict = judged(recoding, shape)
    assert not verdict.forbidden
    assert not verdict.malformed
    assert verdict.passed


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("recoding", RECODINGS)
def test_a_forged_value_is_refused_under_every_recoding(recoding: str, shape: str, forgery: str) -> None:
    change, name = FORGERIES[forgery]
    verdict = judged(recoding, shape, change)
    assert not verdict.passed
    assert any(name in what for what in verdict.forbidden), verdict.forbidden


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("recoding", RECODINGS)
def test_a_new_check_is_asked_under_every_recoding(
    recoding: str, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check of values is written in one place: here one more is put in, and nothing else is changed."""
    check = RuleTree.check

    def check_more(tree: RuleTree, value: Value, node: RuleNode) -> None:
        check(tree, value, node)
        if value == "p7":
            tree.count("seven")

    monkeypatch.setattr(RuleTree, "check", check_more)
    assert not judged(recoding, shape).forbidden
    assert judged(recoding, shape, put("id", "p7")).forbidden == {"seven": 1}


@pytest.mark.parametrize("times", [1, 2])
def test_a_pseudonym_without_a_pattern_is_compared_too(times: int) -> None:
    """Records without objects are remembered by their content: pseudonyms are read in each all the same."""
    rules = JudgeRules((), ((KAnonymity(k=2), None),), exempt=frozenset({("id",)}), tokens={("id",): "all"})
    records: list[Document] = [{"zip": "1*", "id": f"p{at % times}"} for at in range(2)]
    assert judge(records, rules).passed == (times == 2)
