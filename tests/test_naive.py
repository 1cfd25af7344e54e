"""The twin itself: what its answers must keep on any collection, and what no worked example touches."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive_levels as levels
from tests.naive import (
    PAIRINGS,
    Closing,
    Schema,
    Taxonomy,
    Tree,
    frequency_l,
    level_alpha,
    mlevclutree,
    pre_order,
)

PLACES = {"*": None, "a": "*", "b": "a", "c": "a", "d": "*"}
SCHEMA = Schema(
    {"root": [Taxonomy(PLACES, missing="?")], "x": [Taxonomy(PLACES), Taxonomy(PLACES)], "y": []},
)
PLACE = st.sampled_from("bcd")
LEVEL = st.sampled_from([None, 1, 1, 2, 3])
Y = st.builds(Tree, st.just("y"), st.just([]), st.lists(LEVEL, min_size=2, max_size=2))
X = st.builds(
    Tree,
    st.just("x"),
    st.lists(PLACE, min_size=2, max_size=2),
    st.just([]),
    st.lists(Y, max_size=2),
)
ROOT = st.builds(
    Tree,
    st.just("root"),
    st.lists(PLACE | st.just("?"), min_size=1, max_size=1),
    st.lists(LEVEL, min_size=1, max_size=1),
    st.lists(X | Y, max_size=3),
)
CAPS = [frequency_l("root", 0, Fraction(4, 3)), frequency_l("y", 0, 2), level_alpha("y", 1)]
SEVERAL = Closing("y", 0, lambda values: len(set(values)) > 1)


@given(
    st.lists(ROOT, max_size=9),
    st.integers(1, 4),
    st.integers(0, 9),
    st.sampled_from(sorted(PAIRINGS)),
    st.lists(st.integers(0, 99), min_size=9, max_size=9),
)
def test_classes_are_isomorphic_and_keep_every_model(records, k, window, pairing, draws):
    before = repr(records)
    result = mlevclutree(records, SCHEMA, k, CAPS, [SEVERAL], iter(draws), window, pairing)
    assert repr(records) == before
    everybody = sorted(result.leftover + [i for c in result.classes for i in c.members])
    assert everybody == list(range(len(records)))
    assert len(result.leftover) < k
    assert all(len(c.members) == k for c in result.classes)

    loss = Fraction(0)
    for c in result.classes:
        if c.representative is not None:
            assert [id(root) for root in c.representative.members] == [id(records[i]) for i in c.members]
        for vertex in pre_order(c.representative) if c.representative else ():
            assert len(vertex.members) == k
            assert all(result.representative_of(original) is vertex for original in vertex.members)
            for original in vertex.members:
                assert SCHEMA.join(vertex.type, original.qi, vertex.qi) == vertex.qi
            for cap in CAPS:
                if cap.type == vertex.type:
                    values = vertex.values[cap.attribute]
                    assert all(
                        sum(cap.group(v) == group for v in values) <= cap.share(group) * len(values)
                        for group in map(cap.group, values)
                    )
            if vertex.type == "y" and vertex.values[0]:
                assert SEVERAL.holds(vertex.values[0])
            loss += k * SCHEMA.lm(vertex.type, vertex.qi)
    suppressed = [v for r in records for v in pre_order(r) if result.representative_of(v) is None]
    assert result.total_loss == loss + sum(len(v.qi) for v in suppressed)


def test_a_model_asked_at_closing_takes_the_vertex_out_and_at_the_root_the_class():
    def pair():
        return [Tree("root", ["b"], [1], [Tree("y", [], [grade, None])]) for grade in (1, 1)]

    def published(closing):
        (only,) = mlevclutree(pair(), SCHEMA, 2, [], [closing], iter([0])).classes
        return only.representative

    assert len(published(Closing("y", 0, lambda values: values == [1, 1])).children) == 1
    assert published(Closing("y", 0, lambda values: len(set(values)) > 1)).children == []
    assert published(Closing("root", 0, lambda values: len(set(values)) > 1)) is None
    # Nobody has a value: nothing to ask.
    assert len(published(Closing("y", 1, lambda values: False)).children) == 1


def test_equal_losses_go_to_the_earlier_record_and_the_earlier_sibling():
    def siblings(*grades):
        return [Tree("x", ["b", "b"], [], [Tree("y", [], [grade, None])]) for grade in grades]

    records = [Tree("root", ["b"], [None], siblings(grade)) for grade in (1, 2)]
    records.append(Tree("root", ["b"], [None], siblings(3, 4)))
    result = mlevclutree(records, SCHEMA, 2, [], [], iter([2]))
    assert result.classes[0].members == [2, 0]
    assert [y.values[0] for y in pre_order(result.classes[0].representative) if y.type == "y"] == [[3, 1]]


def test_a_representative_keeps_the_order_of_the_seed_record_whichever_side_chooses():
    def courses(*codes):
        return [Tree("x", [code, "b"]) for code in codes]

    seed = Tree("root", ["b"], [None], courses("b", "c", "d"))
    other = Tree("root", ["b"], [None], courses("d", "b"))
    (only,) = mlevclutree([seed, other], SCHEMA, 2, [], [], iter([0])).classes
    assert [x.qi[0] for x in only.representative.children] == ["b", "d"]


def test_a_domain_of_one_point_has_level_3():
    assert levels.value_level(Fraction(7), Fraction(7), Fraction(7)) == 3


def test_the_mean_level_distance_lies_between_0_and_1():
    assert levels.mean_level_distance([1, 5]) == 1
    assert levels.mean_level_distance([1, 1, 5]) == Fraction(2, 3)
    assert levels.mean_level_distance([2, 2]) == 0
    assert levels.mean_level_distance([2]) is None


def test_a_missing_value_hangs_under_the_root_and_is_no_leaf():
    taxonomy = Taxonomy({"*": None, "a": "*", "b": "a", "c": "a", "d": "*"}, missing="?")
    assert taxonomy.join("?", "b") == "*"
    assert taxonomy.join("?", "?") == "?"
    assert [taxonomy.lm(node) for node in ("?", "b", "a", "*")] == [0, 0, Fraction(1, 2), 1]


def test_losses_as_integers_must_come_out_even():
    taxonomy = {"*": None, "a": "*", "b": "a", "c": "a", "d": "*"}
    assert Taxonomy(taxonomy, scale=2).lm("a") == 1
    with pytest.raises(ValueError, match="scale 3"):
        Taxonomy(taxonomy, scale=3).lm("a")


def test_losses_may_be_given_where_leaves_do_not_tell_them():
    ages = {"[0, 9]": None, "[0, 4]": "[0, 9]", "3": "[0, 4]"}
    losses = {"[0, 9]": Fraction(1), "[0, 4]": Fraction(4, 9), "3": Fraction(0)}
    assert Taxonomy(ages, losses=losses).lm("[0, 4]") == Fraction(4, 9)
