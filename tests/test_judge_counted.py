"""Equal rows of a table are read and judged once: the verdict is that of rows judged one by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.documents.formats import csv as csv_module
from hierdata.documents.formats.csv import Csv
from hierdata.judge import JudgeRules, SensitiveRule, Verdict, judge, judge_counted
from hierdata.privacy import BasicBetaLikeness, DistinctLDiversity, KAnonymity

SCORE = SensitiveRule(("s",), "$.s", number=True, missing=frozenset(["?"]), reference={1: 5, 2: 3, 3: 2})
MODELS = (
    (KAnonymity(k=2), None),
    (DistinctLDiversity(l=2), None),
    (BasicBetaLikeness(beta=2), None),
)
RULES = JudgeRules((SCORE,), MODELS)
EXEMPT = replace(RULES, exempt=frozenset({("e",)}), listed=frozenset({("q",), ("r",), ("s",), ("e",)}))
FORBIDDEN = replace(EXEMPT, forbidden=frozenset({("r",)}))

# Equal and nearly equal: 1, true and 1.0 are one key to a dict, "1" and 1 one text.
cell = st.sampled_from(["1", 1, True, Decimal("1.0"), Decimal(1), None, "x"])
value = st.sampled_from(["1", 1, "2.0", Decimal(2), 3, "?", None])
flat = st.fixed_dictionaries({}, optional={"q": cell, "r": cell, "s": value, "e": cell, "z": cell})
deep = st.fixed_dictionaries({"q": st.sampled_from([[1], {"a": 1}, "1"])}, optional={"s": value})
records = st.lists(st.one_of(flat, flat, deep), max_size=12)


def one_by_one(documents: list[Any], rules: JudgeRules) -> Verdict:
    """Judged with nothing remembered: what is inside an object is walked every time."""
    below = replace(
        rules,
        sensitive=tuple(replace(rule, keys=("o", *rule.keys)) for rule in rules.sensitive),
        exempt=frozenset(("o", *keys) for keys in rules.exempt),
        forbidden=frozenset(("o", *keys) for keys in rules.forbidden),
        listed=None if rules.listed is None else frozenset(("o", *keys) for keys in rules.listed),
        vertices=frozenset({("o",)}),
    )
    return judge([{"o": document} for document in documents], below)


@pytest.mark.parametrize("rules", [RULES, EXEMPT, FORBIDDEN], ids=["plain", "exempt", "forbidden"])
@given(documents=records)
def test_flat_records_are_judged_like_the_same_in_an_object(documents: list[Any], rules: JudgeRules) -> None:
    found, expected = judge(documents, rules), one_by_one(documents, rules)
    forbidden = {path.removeprefix("o."): times for path, times in expected.forbidden.items()}
    judgements = tuple(replace(one, repeats=False) for one in expected.judgements)  # the object is a vertex
    assert found == replace(expected, forbidden=forbidden, judgements=judgements)


@given(records, st.integers(1, 3))
def test_counted_records_are_judged_like_repeated_ones(documents: list[Any], times: int) -> None:
    for rules in (RULES, EXEMPT, FORBIDDEN):
        repeated = [document for document in documents for _ in range(times)]
        assert judge_counted([(document, times) for document in documents], rules) == judge(repeated, rules)


def test_counted_groups_are_those_of_repeated_records() -> None:
    rules = replace(RULES, recoding="anatomy", listed=frozenset({("q",), ("s",)}))
    rows = [{"group": 1, "s": 1, "count": 2}, {"group": 1, "s": 2, "count": 1}]
    counted = judge_counted(
        [({"q": 1, "group": 1}, 2), ({"q": 2, "group": 1}, 1)], rules, {"sensitive": rows}
    )
    plain = judge([{"q": 1, "group": 1}] * 2 + [{"q": 2, "group": 1}], rules, {"sensitive": rows})
    assert counted == plain
    assert (plain.malformed, plain.k, plain.records) == (0, 3, 3)
    wrong = judge_counted([({"q": 1, "x": 1}, 3)], rules, {"sensitive": rows})
    assert (wrong.malformed, wrong.forbidden) == (4, {"<key>": 3})


# CSV: equal lines are parsed once.

line = st.sampled_from(["a,1", "a,1", "b,1", ",2", 'a,"1"', '"a","x\ny"', "a,1\r", ""])


@given(st.lists(line), st.booleans(), st.integers(1, 4), st.integers(0, 3))
def test_counted_lines_are_the_records(lines: list[str], ended: bool, batch: int, distinct: int) -> None:
    data = ("q,s\n" + "\n".join(lines) + ("\n" if ended else "")).encode()
    format = Csv()
    layout = format.layout(BytesIO(data))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(csv_module, "_BATCH", batch)
        patched.setattr(csv_module, "_DISTINCT", distinct)
        found: Counter[str] = Counter()
        for document, times in format.count_documents(BytesIO(data), layout):
            found[repr(document)] += times
    assert found == Counter(map(repr, format.read(BytesIO(data), layout)))


def test_what_is_wrong_in_a_counted_file_is_told_with_its_record(tmp_path: Path) -> None:
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {"$.q": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}},
    }
    file = tmp_path / "records.csv"
    file.write_text("q,s\n" + "a,1\n" * 5 + "a\n" + "a,2\n" * 5, "utf-8")
    with pytest.raises(hierdata.InputError, match="2") as refused:
        hierdata.verify(file, policy)
    assert refused.value.record == 6


def test_equal_lines_of_many_batches_are_one() -> None:
    data = b"q,s\n" + b"a,1\n" * 200_000
    format = Csv()
    layout = format.layout(BytesIO(data))
    assert list(format.count_documents(BytesIO(data), layout)) == [({"q": "a", "s": "1"}, 200_000)]
