"""The worked examples of the paper on similar values that concern algorithm and metrics: package and twin."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from hierdata import anonymize
from hierdata.domains.similarity import diversity_degree
from hierdata.engines.rows.leftovers import attach
from hierdata.measurement.key_values import label_values
from hierdata.measurement.release.measuring import ClassDiversity, list_diversities
from hierdata.metrics import METRICS
from hierdata.privacy import LEDiversity
from tests import naive_mbf as naive
from tests.golden import test_le_models
from tests.golden.cases import Case, agrees, load
from tests.naive_semantics import distance
from tests.semantic_tables import Table, below, classes_of

GOLDEN = load("le_diversity.json")
Parents = Mapping[str, str | None]
SEEDS = range(20)


def tree(taxonomy: str | None = None, inline: Parents | None = None) -> Parents:
    parents: Parents = inline or GOLDEN.inputs["taxonomy_variants"][taxonomy]
    return parents


def flat(values: Sequence[Any]) -> Parents:
    """Every value its own bucket, up to e = 1."""
    parents: dict[str, str | None] = {"r": None}
    for value in values:
        parents |= {f"group {value}": "r", str(value): f"group {value}"}
    return parents


def runs(parents: Parents, values: list[str], least: int, e: Fraction) -> list[list[list[int]]]:
    """The classes that the engine and the twin find, by many tie-breaks."""
    table = Table([parents], [[value] for value in values])
    of_engine = [classes_of(table.mbf(LEDiversity(l=least, e=e), seed=seed)) for seed in SEEDS]
    of_twin = [naive.mbf(parents, values, least, e, random.Random(seed)) for seed in SEEDS]
    return of_engine + of_twin


def same(found: list[Any]) -> Any:
    """What every run answers."""
    assert all(one == found[0] for one in found)
    return found[0]


def mbf_properties(taxonomy: str, records: list[list[Any]], l: int, e: str) -> Any:  # noqa: E741
    parents = tree(taxonomy)
    values = [row[-1] for row in records]

    def properties(classes: list[list[int]]) -> dict[str, Any]:
        buckets = [{parents[values[record]] for record in own} for own in classes]
        return {
            "classes": len(classes),
            "class_sizes": [len(own) for own in classes],
            "suppressed": len(records) - sum(map(len, classes)),
            "each_class_takes_one_record_of_each_bucket": all(len(own) == 3 for own in buckets),
        }

    return same([properties(classes) for classes in runs(parents, values, l, Fraction(e))])


def mbf_bucket_sizes(bucket_sizes: list[int], l: int) -> Any:  # noqa: E741
    values = [f"v{bucket}" for bucket, size in enumerate(bucket_sizes) for _ in range(size)]
    assert naive.closed_form(bucket_sizes, l) == naive.most_publishable(
        values, lambda own: len(own) >= l and len(set(own)) == len(own)
    )
    found = runs(flat(sorted(set(values))), values, l, Fraction(1))
    published = same([sum(map(len, classes)) for classes in found])
    assert published == naive.closed_form(bucket_sizes, l)
    return {
        "classes": same([len(classes) for classes in found]),
        "published": published,
        "suppressed": len(values) - published,
    }


def max_publishable(taxonomy_inline: Parents, values: list[str], l: int, e: str) -> Any:  # noqa: E741
    def accepts(own: Sequence[str]) -> bool:
        return naive.is_class(taxonomy_inline, own, l, Fraction(e))

    found = runs(taxonomy_inline, values, l, Fraction(e))
    return {
        "published": naive.most_publishable(values, accepts),
        "published_by_component_buckets": same([sum(map(len, classes)) for classes in found]),
    }


def leftover_policy(
    values: list[int],
    ages: list[int],
    l: int,  # noqa: E741
    e: str,
    classes_after_step_2: list[list[int]],
    leftover: int,
) -> Any:
    parents, named = flat(sorted(set(values))), [str(value) for value in values]

    def accepts(own: Sequence[int]) -> bool:
        return naive.is_class(parents, [named[record] for record in own], l, Fraction(e))

    def far(record: int, own: Sequence[int]) -> Fraction:
        return min(Fraction(abs(ages[record] - ages[other])) for other in own)

    def of_twin(nearest_only: bool) -> list[list[int]]:
        return naive.attach(classes_after_step_2, [leftover], accepts, far, nearest_only)

    table = Table([parents], [[value] for value in named], ages)
    before = np.full(len(values), -1, np.int64)
    for number, own in enumerate(classes_after_step_2):
        before[own] = number
    bound = table.bind(LEDiversity(l=l, e=e))
    after = attach(table.forest, table.scope, bound, before, np.array([leftover]), np.random.default_rng(0))
    final = same([of_twin(False), [sorted(np.flatnonzero(after == own).tolist()) for own in (0, 1)]])
    return {
        "nearest_class_only_suppresses": len(values) - sum(map(len, of_twin(True))),
        "nearest_feasible_class_suppresses": len(values) - sum(map(len, final)),
        "final_classes": final,
    }


@cache
def anatomy_of_table_i() -> list[dict[str, Any]]:
    """The quasi-identifier table that preset MBF publishes."""
    rows = GOLDEN.inputs["table_I"]
    fields: dict[str, Any] = {
        "$.age": {"role": "quasi", "interval": {"steps": [1, 5, 10]}},
        "$.sex": {"role": "quasi", "flat": True},
        "$.zip": {"role": "quasi", "flat": True},
        "$.disease": {"role": "sensitive", "taxonomy": {"tree": {"*": below(tree("A"), "disease")}}},
    }
    policy = {"version": 1, "fields": fields, "engine": {"preset": "MBF"}}
    columns = GOLDEN.inputs["columns"]
    documents = [dict(list(zip(columns, row, strict=True))[1:]) for row in rows]
    return [dict(record) for record in anonymize(documents, policy, seed=b"table I".ljust(16)).records()]


def row_consistency(tuple: int) -> Any:
    """Table IV as the package publishes it shows the quasi-identifiers of table I (LE-10)."""
    (zip_code,) = (row[3] for row in GOLDEN.inputs["table_I"] if row[0] == tuple)
    (row,) = (row for row in anatomy_of_table_i() if row["zip"] == zip_code)
    return {name: row[name] for name in ("age", "sex", "zip")}


def figure(name: str, parents: Parents, classes: list[list[str]], suppressed: int = 0) -> dict[str, Fraction]:
    """A metric's figures of a table in these classes, and rows of one more value that are suppressed."""
    values = [value for own in classes for value in own]
    gone = [next(iter(values))] * suppressed
    ends = [sum(map(len, classes[: at + 1])) for at in range(len(classes))]
    rows = [list(range(end - len(own), end)) for end, own in zip(ends, classes, strict=True)]
    table = Table([parents], [[value] for value in values + gone])
    return {one.name: one.value for one in METRICS[name]().of(table.published(rows), table.forest)}


def information_loss_tuple(class_values: list[str], tuple_value: str) -> Any:
    """The metric adds up: the twin's losses of all tuples of the class are its total."""
    losses = [naive.information_loss(class_values, value) for value in class_values]
    total = figure("reconstruction_error", flat(sorted(set(class_values))), [class_values])["total"]
    assert total == sum(losses)
    return losses[class_values.index(tuple_value)]


def information_loss_tuple_true_point_only(class_values: list[str], tuple_value: str) -> Any:
    """The reading behind the printed figure, which the package does not have (LE-5)."""
    return naive.information_loss(class_values, tuple_value, true_point_only=True)


def information_loss_total(classes: list[list[str]], suppressed: int) -> Any:
    values = sorted({value for own in classes for value in own})
    total = figure("reconstruction_error", flat(values), classes, suppressed)["total"]
    return same([total, naive.information_loss_total(classes, suppressed)])


def diversities(parents: Parents, classes: list[list[str]]) -> tuple[ClassDiversity, ...]:
    """What each class shows; its difference matrix is that of the twin, definition 6 the sum above."""
    values = [value for own in classes for value in own]
    table = Table([parents], [[value] for value in values])
    ends = [sum(map(len, classes[: at + 1])) for at in range(len(classes))]
    rows = [list(range(end - len(own), end)) for own, end in zip(classes, ends, strict=True)]
    found = list_diversities(table.published(rows), table.forest)["$.s0"]
    for own, held in zip(found, classes, strict=True):
        named = dict(zip(label_values(sorted(set(values))), sorted(set(values)), strict=True))
        listed = [named[label] for label in own.labels]
        assert sorted(listed) == sorted(held)
        matrix = own.difference_matrix
        assert [[*row] for row in matrix] == [[distance(parents, a, b) for b in listed] for a in listed]
        assert own.diversity_degree == diversity_degree(matrix)
    return found


def diversity(name: str, twin: Callable[[Parents, Sequence[str]], Fraction]) -> Callable[..., Any]:
    def of(
        classes: list[list[str]], taxonomy: str | None = None, taxonomy_inline: Parents | None = None
    ) -> Any:
        parents = tree(taxonomy, taxonomy_inline)
        per_class = [
            same([twin(parents, own), figure("diversity_degree", parents, [own])[name]]) for own in classes
        ]
        average = figure("diversity_degree", parents, classes)[name]
        assert average == sum(per_class) / len(per_class)
        listed = {"as_printed": "diversity_degree"}.get(name, name)
        assert [getattr(own, listed) for own in diversities(parents, classes)] == per_class
        return {"per_class": per_class, "average": average}

    return of


KINDS: dict[str, Callable[..., Any]] = {
    "mbf_properties": mbf_properties,
    "mbf_bucket_sizes": mbf_bucket_sizes,
    "max_publishable": max_publishable,
    "leftover_policy": leftover_policy,
    "row_consistency": row_consistency,
    "information_loss_tuple": information_loss_tuple,
    "information_loss_tuple_true_point_only": information_loss_tuple_true_point_only,
    "information_loss_total": information_loss_total,
    "diversity_degree": diversity("as_printed", naive.diversity_degree),
    "mean_pair_distance": diversity("mean_pair_distance", naive.mean_pair_distance),
}
CASES = [case for case in GOLDEN.cases if case.kind in KINDS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    assert agrees(case.expected, KINDS[case.kind](**case.input))


def test_every_kind_of_the_file_is_asserted_by_somebody() -> None:
    asserted = Counter([*KINDS, *test_le_models.KINDS])
    assert asserted == Counter(GOLDEN.by_kind().keys())
    assert len(CASES) + len(test_le_models.CASES) == len(GOLDEN.cases) == 88
