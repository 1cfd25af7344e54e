"""Vertices of which nothing is left: kept, or taken out from below."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.documents.document import Document, Value
from hierdata.records.binding import bind, resolve, unbind
from hierdata.records.path import parse
from hierdata.records.schema import Role, Rule
from hierdata.records.survey import survey

RULES = [
    Rule(parse("$.a[*].q"), Role.QUASI),
    Rule(parse("$.a[*].b[*].s"), Role.SENSITIVE),
    Rule(parse("$.t[*]"), Role.QUASI),
]
VALUES = st.sampled_from([None, "x", "y"])
INNER = st.fixed_dictionaries({}, optional={"s": VALUES})
OUTER = st.fixed_dictionaries({}, optional={"q": VALUES, "b": st.lists(INNER, max_size=3)})
RECORDS = st.fixed_dictionaries(
    {}, optional={"a": st.lists(OUTER, max_size=3), "t": st.lists(VALUES, max_size=3)}
)


def thinned(value: Value) -> Value:
    """The naive twin: a document without empty items."""
    if isinstance(value, dict):
        inner = {key: thinned(item) for key, item in value.items()}
        return {key: item for key, item in inner.items() if item is not None and item != []}
    if isinstance(value, list):
        return [item for item in map(thinned, value) if item is not None and item != {}]
    return value


@given(st.lists(RECORDS, min_size=1, max_size=4))
def test_empty_vertices_go_from_below(documents: list[Document]) -> None:
    full: Document = {"a": [{"q": "x", "b": [{"s": "x"}]}], "t": ["x"]}
    binding = replace(resolve(RULES, survey([full, *documents]).shape), sparse=True)
    bound = [unbind(record, binding.schema) for record in bind(documents, binding)]
    assert bound == [thinned(document) for document in documents]


def test_skeletons_cost_nothing_when_they_are_dropped() -> None:
    policy = {
        "version": 1,
        "unlisted": "drop",
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {"$.a[*].q": {"role": "quasi", "flat": True}},
    }
    documents = [{"a": [{"q": "x"}, *({"z": 1} for _ in range(at))]} for at in range(4)]
    kept = hierdata.anonymize(documents, policy, seed=bytes(16))
    assert sum(count.suppressed for count in kept.report.counts.vertices.values()) > 0
    dropped = hierdata.anonymize(documents, policy | {"empty": "drop"}, seed=bytes(16))
    assert list(dropped.records()) == [{"a": [{"q": "x"}]}] * 4
    assert dropped.report.counts.vertices["$.a[*]"].input == 4
