from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Numeral, Siblings
from hierdata.records.survey import Survey, survey
from hierdata.records.values import Missing, Values

SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(0, 2)
    | st.sampled_from(["", "?", "1", Decimal("1.0"), Numeral("1e0")])
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(Siblings)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=12,
)
DOCUMENTS = st.lists(st.dictionaries(st.sampled_from("abc"), VALUE, max_size=3), max_size=6)


def test_what_stands_at_a_path_is_told_apart():
    shape = survey(
        [{"a": None}, {"a": 1}, {"a": {}}, {"a": [1, None, {}, [2]]}, {"a": Siblings(["", "x", {}])}, {}]
    ).shape.children["a"]
    assert (shape.occurrences, shape.nulls, shape.arrays, shape.siblings, shape.bare) == (5, 1, 1, 1, 2)
    assert (shape.objects, shape.scalars, shape.texts, shape.empties) == (3, 3, 1, 1)
    assert (shape.nested, shape.longest) == (1, 4)


def test_values_of_declared_fields_only():
    found = survey([{"a": {"b": [1, 2, 1]}, "c": "x"}, {"a": {"b": 2}}], [("a", "b")])
    assert {keys: dict(values) for keys, values in found.values.items()} == {("a", "b"): {1: 2, 2: 2}}


def test_bare_content_of_an_element_counts_as_its_text():
    found = survey([{"a": Siblings(["x", {"@u": "1", "#text": "y"}, ""])}], [("a", "#text"), ("a", "@u")])
    assert dict(found.values["a", "#text"]) == {"x": 1, "y": 1}
    assert found.shape.find(("a", "#text")).occurrences == 1
    assert survey([{"a": Siblings(["x"])}]).shape.find(("a", "#text")).scalars == 1
    assert found.shape.find(("a", "@v")) is None


def test_types_are_kept_apart_and_spellings_are_not():
    values = Values([True, 1, 1, "1", Decimal("1.0"), Numeral("1e0"), None])
    assert len(values) == 5
    assert [values[key] for key in (True, 1, "1", Decimal(1), Numeral("1.00"), None)] == [1, 2, 1, 2, 2, 1]
    assert sorted(map(repr, values)) == ["'1'", "1", "Decimal('1.0')", "None", "True"]
    assert "2" not in values
    assert 1 not in Values([True])


def test_missing_spellings_are_text_and_numbers_by_value():
    found = survey(
        [{"a": value} for value in ("?", "-9", -9, Decimal("-9.0"), Numeral("-9e0"), None, "9", 9)],
        {("a",): ["?", "-9"]},
    )
    assert dict(found.values["a",]) == {"9": 1, 9: 1, None: 6}
    assert True not in Missing(["1"])
    assert True in Missing(["true"])


@given(DOCUMENTS, st.integers(0, 6))
def test_parts_merge_to_the_whole(documents, cut):
    declared = {("a",): ["?"], ("a", "b"): [], ("b", "c"): ["", "1"]}
    merged = Survey()
    for part in (documents[:cut], documents[cut:]):
        merged.merge(survey(part, declared))
    whole = survey(documents, declared)
    assert merged.shape == whole.shape
    assert merged.records == whole.records == len(documents)
    assert {keys: sorted(map(repr, v.items())) for keys, v in merged.values.items()} == {
        keys: sorted(map(repr, v.items())) for keys, v in whole.values.items()
    }


@given(DOCUMENTS)
def test_batches_do_not_show(documents):
    many = documents * 200
    once, often = survey(documents, [("a",)]), survey(many, [("a",)])
    assert often.records == 200 * once.records
    assert [often.values["a",][value] for value in once.values["a",]] == [
        200 * count for count in once.values["a",].values()
    ]


@given(DOCUMENTS)
def test_counts_agree_with_a_plain_walk(documents):
    def walk(value):
        for item in value if isinstance(value, list) else [value]:
            if not isinstance(item, list | dict):
                yield item

    expected = [scalar for document in documents if "a" in document for scalar in walk(document["a"])]
    assert sum(survey(documents, [("a",)]).values["a",].values()) == len(expected)
