"""What every domain keeps: the contract of ``hierdata.domains.base``."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Scalar
from hierdata.domains import DOMAINS
from hierdata.domains.base import Hierarchy
from tests.domains.hierarchies import STRATEGIES, Drawn

HERE = Path()
every_domain = pytest.mark.parametrize("kind", DOMAINS)


def built(data: st.DataObject, kind: str) -> tuple[Hierarchy, dict[Scalar, int]]:
    domain, observed = data.draw(STRATEGIES[kind])
    return domain.compile(observed, HERE), observed


@every_domain
@given(data=st.data())
def test_rows_name_root_and_node_and_have_one_length(kind: str, data: st.DataObject) -> None:
    tree, _ = built(data, kind)
    assert len(tree.labels) == len(tree.ancestors) == len(tree.lm)
    assert tree.labels[0] == "*"
    assert len({len(row) for row in tree.ancestors}) == 1
    for node, row in enumerate(tree.ancestors):
        named = [entry for entry in row if entry >= 0]
        assert row[0] == 0
        assert named[-1] == node
        assert len(set(named)) == len(named)
        assert set(row) - set(named) <= {-1}


@every_domain
@given(data=st.data())
def test_spelled_labels_are_unique(kind: str, data: st.DataObject) -> None:
    tree, _ = built(data, kind)
    spelled = Counter((type(label), str(label)) for label in tree.labels)
    assert max(spelled.values()) == 1


@every_domain
@given(data=st.data())
def test_losses_lie_in_0_to_1_and_never_fall_upwards(kind: str, data: st.DataObject) -> None:
    tree, observed = built(data, kind)
    assert all(0 <= loss <= 1 for loss in tree.lm)
    for row in tree.ancestors:
        losses = [tree.lm[entry] for entry in row if entry >= 0]
        assert losses == sorted(losses, reverse=True)
    assert all(tree.lm[tree.node_of(value)] == 0 for value in observed)


@every_domain
@given(data=st.data())
def test_missing_hangs_right_under_the_root_at_no_loss(kind: str, data: st.DataObject) -> None:
    tree, observed = built(data, kind)
    missing = tree.node_of(None)
    assert tree.labels[missing] is None
    assert tree.ancestors[missing][:2] == (0, missing)
    assert tree.lm[missing] == 0
    assert all(tree.join(missing, tree.node_of(value)) == 0 for value in observed)


@every_domain
@given(data=st.data())
def test_a_join_is_the_least_common_generalization(kind: str, data: st.DataObject) -> None:
    tree, _ = built(data, kind)
    above = [set(row) - {-1} for row in tree.ancestors]
    for a, b in product(range(len(tree.labels)), repeat=2):
        join = tree.join(a, b)
        assert join == tree.join(b, a)
        assert join in above[a] & above[b]
        assert all(tree.lm[join] <= tree.lm[common] for common in above[a] & above[b])
        assert (join == a) == (a in above[b])


@every_domain
@given(data=st.data())
def test_neither_order_nor_repetition_of_the_values_matters(kind: str, data: st.DataObject) -> None:
    domain, observed = data.draw(STRATEGIES[kind])
    first = domain.compile(observed, HERE)
    again = domain.compile({value: 2 * observed[value] for value in reversed(observed)}, HERE)
    assert [(type(label), str(label)) for label in first.labels] == [
        (type(label), str(label)) for label in again.labels
    ]
    assert (first.ancestors, first.lm) == (again.ancestors, again.lm)
    assert all(first.node_of(value) == again.node_of(value) for value in observed)


@every_domain
@given(data=st.data())
def test_the_codebook_is_plain_data_of_its_kind(kind: str, data: st.DataObject) -> None:
    tree, _ = built(data, kind)
    assert json.loads(json.dumps(tree.codebook)) == tree.codebook
    assert tree.codebook["kind"] == kind


@pytest.mark.parametrize("kind", sorted(DOMAINS.keys() - {"taxonomy"}))
@given(data=st.data())
def test_the_codebook_tells_nothing_that_only_the_data_tell(kind: str, data: st.DataObject) -> None:
    domain, observed = data.draw(STRATEGIES[kind])
    same_form = dict.fromkeys(list(observed)[:1], 1)
    book, other = (domain.compile(values, HERE).codebook for values in (observed, same_form))
    assert {**book, "form": None} == {**other, "form": None}


@every_domain
@given(data=st.data())
def test_a_policy_round_trips(kind: str, data: st.DataObject) -> None:
    drawn: Drawn = data.draw(STRATEGIES[kind])
    stated = drawn[0].model_dump(mode="json")
    assert DOMAINS[kind].model_validate(json.loads(json.dumps(stated))) == drawn[0]
    assert DOMAINS[kind].model_json_schema()
