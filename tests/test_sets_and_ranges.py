"""Sets and ranges: what is published reads back as the values of the class, in every format."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.documents.document import Scalar
from hierdata.domains import DOMAINS
from hierdata.domains.base import QuasiDomain
from hierdata.engines.rows.table import partition_of
from hierdata.forest.forest import Scope
from hierdata.forest.publication import Publication
from hierdata.ground.errors import PolicyError
from hierdata.judge.checks import LabelCheck
from hierdata.judge.rules import QuasiRule
from hierdata.metrics import METRICS
from hierdata.privacy import KMap
from hierdata.release.recodings.sets_and_ranges import SetsAndRanges
from tests.domains.hierarchies import STRATEGIES
from tests.end_to_end.conftest import SEED
from tests.end_to_end.small import FLAT, NESTED, policy, rows, trees, write_csv
from tests.naive_penalty import gcp, of_category, of_number
from tests.small_tables import table

FLAT_DOMAIN = DOMAINS["flat"]()
TREE = DOMAINS["taxonomy"](tree={"*": {"A": ["a", "b", "c"], "B": ["d", "e"]}}, inner=True)
YEARS = DOMAINS["interval"](steps=[1, 5, 10], domain=[0, 20])
HALVES = DOMAINS["interval"](steps=["0.5", 1])
DAYS = DOMAINS["date"](steps=["day", "month", "year"])
CODES = DOMAINS["prefix"](keep=[5, 3, 1])
FIVES = DOMAINS["interval"](steps=[5, 10], domain=[0, 20])
MONTHS = DOMAINS["date"](steps=["month", "year"])
SHORT_CODES = DOMAINS["prefix"](keep=[3, 1])
CAPITALS = DOMAINS["taxonomy"](tree={"*": {"A": ["a", "b", "c"], "B": ["d", "e"]}}, finest=1)


def published(
    domain: QuasiDomain, classes: Sequence[Sequence[Scalar]]
) -> tuple[list[Scalar], list[Fraction]]:
    """The label and the LM' of each class of values."""
    own = table([domain], [[value] for values in classes for value in values], [[]] * sum(map(len, classes)))
    of_row = np.array([at for at, values in enumerate(classes) for _ in values])
    forest, partition = SetsAndRanges().prepare(
        own.forest, partition_of(own.forest, Scope.of(own.forest), of_row, Counter())
    )
    ((tree,),) = forest.hierarchies
    nodes = [int(partition.nodes[list(of_row).index(at)]) for at in range(len(classes))]
    return [tree.labels[node] for node in nodes], [tree.lm[node] for node in nodes]


def read(text: str) -> list[str | None]:
    """A set as the codebook says that it reads: the members, texts in quotes as in JSON, null for missing."""
    assert (text[0], text[-1]) == ("{", "}")
    found: list[str | None] = []
    rest = text[1:]
    while True:
        if rest[0] == '"':
            member, end = json.JSONDecoder().raw_decode(rest)
        else:
            end = len(re.split(r"(?<=\])" if rest[0] == "[" else "[,}]", rest)[0])
            member = None if rest[:end] == "null" else rest[:end]
        found.append(member)
        if rest[end:] == "}":
            return found
        assert rest[end : end + 2] == ", "
        rest = rest[end + 2 :]


WORKED: list[tuple[QuasiDomain, list[list[Scalar]], list[Scalar], list[str]]] = [
    (TREE, [["c", "a", "a"], ["b"], ["a", "e"]], ["{a, c}", "b", "{a, e}"], ["1/4", "0", "1/4"]),
    (TREE, [["a", None], [None, None], [*"ab"]], ["{a, null}", None, "{a, b}"], ["1/4", "0", "1/4"]),
    (TREE, [[*"ebdca"], [*"abcde", None]], ["{a, b, c, d, e}", "{a, b, c, d, e, null}"], ["1", "1"]),
    # A value at an inner node has its leaves, and those below it do not count twice.
    (TREE, [["A", "a"], ["A", "d"], ["A"]], ["{A, a}", "{A, d}", "A"], ["1/2", "3/4", "1/2"]),
    (YEARS, [[7, 3, 5], [4], [4, 4, None]], ["[3, 7]", 4, "{4, null}"], ["1/5", "0", "1/3"]),
    (YEARS, [["9", "12", None], ["0"], ["20"]], ["{[9, 12], null}", 0, 20], ["29/60", "0", "0"]),
    (HALVES, [[Decimal("1.5"), Decimal("0.25")], [Decimal("0")]], ["[0.0, 2.0)", "[0.0, 0.5)"], ["1", "1/3"]),
    (DAYS, [["2001-03-04", "2001-03-01"]], ["[2001-03-01, 2001-03-04]"], ["1"]),
    (CODES, [["48123", "48199"], ["481"]], ["{48123, 48199}", "481"], ["1/2", "0"]),
    # The first step, keep or finest is the least that is published: sets and ranges are made of it.
    (FIVES, [[7, 3, 5], [4], [4, 3, None]], ["[0, 9]", "[0, 4]", "{[0, 4], null}"], ["9/20", "1/5", "1"]),
    (
        MONTHS,
        [["2001-03-04", "2001-06-01"], ["2001-03-04"]],
        ["[2001-03-01, 2001-06-30]", "2001-03"],
        ["1", "30/89"],
    ),
    (MONTHS, [["2001-03-04", None]], ["{2001-03, null}"], ["0"]),
    (SHORT_CODES, [["48123", "48199"], ["481", "48"]], ["481**", "{48, 481}"], ["1/3", "1/3"]),
    (CAPITALS, [["a", "e"], ["a", "b"], ["d", None]], ["{A, B}", "A", "{B, null}"], ["1", "1/2", "1/2"]),
    (FLAT_DOMAIN, [[1, 2], ["1", "x"], [1, 2]], ["{1, 2}", '{"1", x}', "{1, 2}"], ["1/3"] * 3),
    (FLAT_DOMAIN, [[True, "x"], [False]], ["{true, x}", False], ["1/2", "0"]),
    (FLAT_DOMAIN, [["{a, b}"], ["a", "b"]], ['{"{a, b}"}', "{a, b}"], ["0", "1/2"]),
    (FLAT_DOMAIN, [["a, b", "c"], ["null", "New York"]], ['{"a, b", c}', '{New York, "null"}'], ["1/3"] * 2),
    (FLAT_DOMAIN, [[" ", 'a"', "b\\c"]], ['{" ", "a\\"", "b\\\\c"}'], ["1"]),
    (FLAT_DOMAIN, [["x", "x", None]], ["{x, null}"], ["0"]),
]


@pytest.mark.parametrize(("domain", "classes", "labels", "losses"), WORKED)
def test_worked_cases(
    domain: QuasiDomain, classes: list[list[Scalar]], labels: list[Scalar], losses: list[str]
) -> None:
    found, lost = published(domain, classes)
    assert found == labels
    assert [type(label) for label in found] == [type(label) for label in labels]
    assert lost == [Fraction(loss) for loss in losses]


TEXTS = st.text(st.sampled_from('ab1 ,{}[]"\\n.-*é\n'), max_size=4).filter(lambda text: text != "*")
VALUES = st.one_of(TEXTS, st.sampled_from(["null", "true", "1", "-1"]), st.integers(-2, 2), st.none())


@given(st.lists(st.lists(VALUES, min_size=1, max_size=5), min_size=1, max_size=4))
def test_a_set_reads_back_as_the_values_of_its_class(classes: list[list[Scalar]]) -> None:
    labels, _ = published(FLAT_DOMAIN, classes)
    spelled = {}
    for values, label in zip(classes, labels, strict=True):
        different = {(type(value), value) for value in values}
        if isinstance(label, str) and label.startswith("{"):
            assert Counter(read(label)) == Counter(None if one is None else str(one) for _, one in different)
        else:
            assert different == {(type(label), label)}
        assert spelled.setdefault((type(label), label), different) == different, "two classes, one label"


@given(st.lists(st.lists(st.integers(0, 20) | st.none(), min_size=1, max_size=4), min_size=1, max_size=4))
def test_ranges_are_those_of_the_class(classes: list[list[int | None]]) -> None:
    labels, losses = published(YEARS, classes)
    values = {value for own in classes for value in own if value is not None}
    for own, label, loss in zip(classes, labels, losses, strict=True):
        numbers = [value for value in own if value is not None]
        if not numbers:
            assert (label, loss) == (None, 0)
            continue
        low, high = min(numbers), max(numbers)
        text = str(low) if low == high else f"[{low}, {high}]"
        assert str(label) == (text if None not in own else "{" + text + ", null}")
        beside = Fraction(None in own, max(len(values) - 1, 1))
        assert loss == min(of_number(low, high, 0, 20) + beside, 1)


@pytest.mark.parametrize("kind", STRATEGIES)
@given(data=st.data())
def test_every_set_and_range_is_made_of_finest_forms(kind: str, data: st.DataObject) -> None:
    """The judge's check, which knows no hierarchy, allows what is published and not the values below it."""
    domain, observed = data.draw(STRATEGIES[kind])
    values = [*observed, None]
    classes = data.draw(st.lists(st.lists(st.sampled_from(values), min_size=1), min_size=1, max_size=4))
    held = {(type(value), value): value for own in classes for value in own}
    tree = domain.compile(dict.fromkeys(held.values(), 1), Path())
    check = LabelCheck(QuasiRule(("q",), "$.q", domain.labels(Path())), sets=True)
    labels, _ = published(domain, classes)
    for own, label in zip(classes, labels, strict=True):
        assert check.matches(label)
        assert check.matches(None if label is None else str(label)), "as CSV and XML spell it"
        for value in own:
            assert check.matches(tree.labels[tree.node_of(value)])
            if tree.lm[tree.node_of(value)]:
                assert not check.matches(value)
                assert not check.matches("{" + str(value) + ", null}")


def test_the_order_of_the_input_changes_no_spelling() -> None:
    classes: list[list[Scalar]] = [["b", "a"], ["c", "a"], ["d", None]]
    one, _ = published(TREE, classes)
    other, _ = published(TREE, [values[::-1] for values in classes[::-1]])
    assert one == other[::-1]


# Penalties


def made(domain: QuasiDomain, classes: list[list[Scalar]], gone: int) -> tuple[Publication, Any]:
    """Classes of values, the last ``gone`` rows suppressed."""
    values = [value for own in classes for value in own]
    own = table([domain], [[value] for value in values], [[]] * len(values))
    of_row = np.array([at for at, held in enumerate(classes) for _ in held])
    of_row[len(of_row) - gone :] = -1
    partition = partition_of(own.forest, Scope.of(own.forest), of_row, Counter())
    forest, partition = SetsAndRanges().prepare(own.forest, partition)
    return SetsAndRanges().publish(forest, [partition], range(len(values))), forest


def test_penalties_by_both_conventions() -> None:
    """Five leaves: {a, c} has 2/5 or 1/4, {a, b, d} 3/5 or 2/4, one leaf 0; two rows are suppressed."""
    publication, forest = made(TREE, [["a", "c"], ["b", "b"], ["a", "b", "d"], ["e", "e"]], gone=2)
    figures = {one.name: one.value for one in METRICS["certainty_penalty"]().of(publication, forest)}
    leaves = [(2, "ac"), (2, "b"), (3, "abd")]
    for name, less_one in (("gcp", False), ("gcp_less_one", True)):
        expected = gcp([(size, [of_category(own, "abcde", less_one=less_one)]) for size, own in leaves], 2)
        assert figures[name] == expected
    assert figures["gcp"] == Fraction(2 * 2 + 0 + 3 * 3 + 2 * 5, 5 * 9)
    assert figures["gcp_less_one"] == METRICS["lm_cost"]().of(publication, forest)[2].value
    assert (figures["$.q0"], figures["$.q0 less_one"]) == (figures["gcp"], figures["gcp_less_one"])


def test_numbers_have_one_penalty() -> None:
    publication, forest = made(YEARS, [[3, 7], [20, 20], [1]], gone=1)
    figures = {one.name: one.value for one in METRICS["certainty_penalty"]().of(publication, forest)}
    expected = gcp([(2, [of_number(3, 7, 0, 20)]), (2, [of_number(20, 20, 0, 20)])], 1)
    assert figures == {"gcp": expected, "gcp_less_one": expected, "$.q0": expected}
    assert expected == Fraction(2 * 4 + 20, 20 * 5)


# Through files


TOWNS = ["a, b", "{x}", '"q"', "plain", "[1]"]


def people() -> list[dict[str, Any]]:
    """Ages, towns with odd names, and days."""
    return [
        {
            "age": 20 + at % 7,
            "town": TOWNS[at // 8],
            "day": f"2001-0{1 + at // 8}-0{1 + at % 8}",
            "score": ["1", "2", "4"][at % 3],
        }
        for at in range(40)
    ]


STATED: dict[str, Any] = {
    "version": 1,
    "recoding": "sets_and_ranges",
    "models": [{"kind": "k-anonymity", "k": 4}, {"kind": "distinct-l-diversity", "l": 2}],
    "fields": {
        "age": {"role": "quasi", "interval": {"steps": [1, 5, 10]}},
        "town": {"role": "quasi", "flat": True},
        "day": {"role": "quasi", "date": {"steps": ["day", "month"]}},
        "score": {"role": "sensitive"},
    },
    "gates": [{"metric": "certainty_penalty", "figure": "gcp", "operator": "<=", "value": 1}],
}


def shown(documents: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    return sorted(
        [
            {
                key: str(*value) if isinstance(value, list) else str(value)
                for key, value in sorted(one.items())
            }
            for one in documents
        ],
        key=lambda d: [*d.values()],
    )


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv", "xml", "parquet"])
def test_every_format_says_the_same(suffix: str, tmp_path: Path) -> None:
    expected = hierdata.anonymize(people(), STATED, seed=SEED)
    assert expected.report.gates[0].passed
    labels = {str(one[key]) for one in expected.records() for key in ("age", "town", "day")}
    assert any(label.startswith("[") for label in labels)
    source, stated = tmp_path / f"people.{suffix}", STATED
    if suffix == "csv":
        write_csv(source, people())
    elif suffix == "parquet":
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pytest.importorskip("pyarrow").Table.from_pylist(people()), source)
    elif suffix == "xml":
        source.write_text(
            "<people>"
            + "".join(f"<p>{''.join(map(element, one.items()))}</p>" for one in people())
            + "</people>"
        )
        stated = {**STATED, "fields": {f"/people/p/{name}": rule for name, rule in STATED["fields"].items()}}
    else:
        lines = [json.dumps(one) for one in people()]
        source.write_text("\n".join(lines) if suffix == "jsonl" else "[" + ",".join(lines) + "]")
    release = hierdata.anonymize(source, stated, seed=SEED)
    assert shown([*release.records()]) == shown([*expected.records()])
    folder = release.save(tmp_path / "out")
    assert hierdata.verify(folder, stated, original=source).passed
    assert hierdata.verify(folder, stated).passed
    codebook = json.loads((folder / "public" / "codebook.json").read_text("utf-8"))
    assert "the set {a, b}" in codebook["generalized"]


def element(field: tuple[str, Any]) -> str:
    return f"<{field[0]}>{field[1]}</{field[0]}>"


def test_trees_have_sets_at_every_vertex(tmp_path: Path) -> None:
    source = tmp_path / "people.json"
    source.write_text(json.dumps(trees()), "utf-8")
    stated = {
        "version": 1,
        "recoding": "sets_and_ranges",
        "engine": {"steps": [{"kind": "clustree"}]},  # quality mode needs no sets here
        "models": [{"kind": "k-anonymity", "k": 4}],
        "fields": NESTED,
    }
    release = hierdata.anonymize(source, stated, seed=SEED)
    verdict = hierdata.verify(release.save(tmp_path / "out"), stated, original=source)
    assert verdict.passed
    assert verdict.k >= 4
    wards = {str(visit.get("ward")) for one in release.records() for visit in one.get("visits", ())}
    assert wards <= {"u", "v", "{u, v}"}
    assert "{u, v}" in wards


def test_models_of_a_population_are_refused(tmp_path: Path) -> None:
    stated = policy(FLAT, KMap(k=2), folder=tmp_path, recoding="sets_and_ranges")
    with pytest.raises(PolicyError, match="fewer fit sets and ranges"):
        hierdata.anonymize(rows(), stated)
