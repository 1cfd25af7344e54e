"""LE's worked example published again (tables I to V, algorithm 1), and what algorithm 1 suppresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from hierdata.pipeline.anonymize import anonymize
from hierdata.policy.load import from_data
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid, describe_differences, read_grid
from hierdata.reproduction.le_figures import search_classes
from hierdata.reproduction.le_formulas import build_taxonomy, find_buckets, variants
from hierdata.reproduction.small_data import encode_records, list_bucket_rows

SEED = b"sixteen bytes of LE"
"""Fixed, so that each run publishes the same groups; ties are broken by it."""
QUASI = ("Age", "Sex", "Zipcode")
Groups = list[frozenset[int]]
"""The tuples of each group, by their numbers in table I."""


@dataclass(frozen=True)
class PublishedExample:
    """Table I published in groups: both tables, and the tuples of each group."""

    quasi: Grid
    sensitive: Grid
    groups: Groups


def show_l_diverse() -> list[Exhibit]:
    """Return tables I to III."""
    original = Exhibit(
        "Table I",
        "The original table",
        "Nine patients without their names. Disease is sensitive, the rest are quasi-identifiers.",
        read_grid("LE", "table I"),
    )
    return [original, *_show_published("anatomy-l", "II", "III", "3-diverse")]


def show_l_e_diverse() -> list[Exhibit]:
    """Return tables IV and V, and algorithm 1 on table I."""
    return [*_show_published("MBF", "IV", "V", "(3,1)-diverse"), _show_algorithm()]


def _show_published(preset: str, first: str, second: str, promise: str) -> Iterable[Exhibit]:
    quasi, sensitive = read_grid("LE", f"table {first}"), read_grid("LE", f"table {second}")
    ours = publish_example(preset)
    wrong = describe_unknown_rows(quasi)
    yield Exhibit(
        f"Table {first}",
        f"Quasi-identifiers of a {promise} table",
        f"The rows of table I, each with its group; ours is what preset {preset} publishes.",
        quasi,
        ours=ours.quasi,
        differs=f"{wrong} {describe_other_groups(groups_of(quasi), ours.groups)}".strip(),
        errata=("LE-10",) if wrong else (),
    )
    yield Exhibit(
        f"Table {second}",
        f"Sensitive values of a {promise} table",
        f"The diseases of each group of table {first}.",
        sensitive,
        ours=ours.sensitive,
        differs=describe_other_groups(groups_of(quasi), ours.groups),
    )


def _show_algorithm() -> Exhibit:
    printed = read_grid("LE", "algorithm 1")
    values = [str(row[-1]) for row in table_i()]
    positions = find_buckets(variants()["A"], values, Fraction(1))
    buckets = [frozenset(position + 1 for position in bucket) for bucket in positions]
    groups = publish_example("MBF").groups
    rows = [*_rows("bucket", buckets), *_rows("class", groups)]
    ours = Grid(printed.columns, tuple(rows))
    taken = all(len(group & bucket) == 1 for group in groups for bucket in buckets)
    drawn = (
        f"{describe_other_groups(_groups_in(printed, 'class'), groups)} Each of our groups takes one tuple "
        "of each bucket, as algorithm 1 does."
        if taken
        else "Our groups do not take one tuple of each bucket."
    )
    other = describe_differences(_part(printed, "bucket"), _part(ours, "bucket"))
    return Exhibit(
        "Algorithm 1",
        "Maximal bucket first on table I, l = 3 and e = 1",
        "Values at most e apart share a bucket; a class takes one tuple from each of the l largest buckets.",
        printed,
        ours=ours,
        differs=f"{other} {drawn}".strip(),
        errata=("LE-3", "LE-4", "LE-11"),
    )


def table_i() -> tuple[tuple[Cell, ...], ...]:
    """Return the rows of table I."""
    return read_grid("LE", "table I").rows


@cache
def publish_example(preset: str) -> PublishedExample:
    """Publish table I by a preset with l = 3 (and e = 1), and read both tables back."""
    columns = read_grid("LE", "table I").columns
    documents = [dict(zip(columns[1:], row[1:], strict=True)) for row in table_i()]
    tree = build_taxonomy(variants()["A"])
    fields: dict[str, Any] = {
        "$.Age": {"role": "quasi", "interval": {"steps": [1, 5, 10]}},
        "$.Sex": {"role": "quasi", "flat": True},
        "$.Zipcode": {"role": "quasi", "flat": True},
        "$.Disease": {"role": "sensitive", "taxonomy": {"tree": tree}},
    }
    policy = {"version": 1, "fields": fields, "engine": {"preset": preset}}
    release = anonymize(documents, policy, seed=SEED)
    rows: list[Any] = sorted(
        ([row[name] for name in QUASI] + [row["group"]] for row in release.records()),
        key=lambda row: (row[-1], row),
    )
    (other,) = (part for part in release.parts if part != "records")
    diseases: list[Any] = sorted([row["group"], row["Disease"]] for row in release.part(other))
    quasi = Grid((*QUASI, "Group"), tuple(map(tuple, rows)))
    return PublishedExample(quasi, Grid(("Group", "Disease"), tuple(map(tuple, diseases))), groups_of(quasi))


def groups_of(quasi: Grid) -> Groups:
    """Return the tuples of each group of a table of quasi-identifiers.

    A row is that of the tuple with its zip code, else with its age, since table IV has slips (LE-10).
    """
    numbers: dict[Cell, set[int]] = {}
    for age, _, zip_code, group in quasi.rows:
        tuples = sorted(table_i(), key=lambda row: (row[3] != zip_code, row[1] != age))
        numbers.setdefault(group, set()).add(int(str(tuples[0][0])))
    return [frozenset(members) for members in numbers.values()]


def describe_unknown_rows(quasi: Grid) -> str:
    """Return a sentence on the rows that are not in table I, empty if all are."""
    known = {row[1:4]: row[0] for row in table_i()}
    wrong = [row for row in quasi.rows if row[:3] not in known]
    if not wrong:
        return ""
    shown = "; ".join(", ".join(map(str, row[:3])) for row in wrong)
    return f"{len(wrong)} printed rows are not in table I: {shown}."


def describe_other_groups(printed: Groups, ours: Groups) -> str:
    """Return a sentence on how our groups differ from the printed ones, empty if they are the same."""
    if set(printed) == set(ours):
        return ""
    same = len({*printed} & {*ours})
    if sorted(map(len, printed)) != sorted(map(len, ours)):
        return f"Our groups have {_sizes(ours)} tuples, the printed ones {_sizes(printed)}."
    return (
        f"Both have groups of {_sizes(ours)} tuples, and {same} of ours are printed ones: which of several "
        "possible tuples is drawn is left open, and decided by a seed here."
    )


def _sizes(groups: Groups) -> str:
    return ", ".join(str(len(group)) for group in groups)


def _rows(name: str, groups: Groups) -> list[tuple[Cell, ...]]:
    shown = (", ".join(map(str, sorted(group))) for group in sorted(groups, key=min))
    return [(f"{name} {number}", text) for number, text in enumerate(shown, 1)]


def _part(grid: Grid, name: str) -> Grid:
    return Grid(grid.columns, tuple(row for row in grid.rows if str(row[0]).startswith(name)))


def _groups_in(grid: Grid, name: str) -> Groups:
    return [frozenset(map(int, str(row[1]).split(", "))) for row in _part(grid, name).rows]


CASES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((3, 3, 3), 3),
    ((2, 2, 1), 2),
    ((4, 1, 1), 2),
    ((5, 2, 2, 1), 3),
    ((9, 3, 3, 3), 3),
    ((5, 5, 1), 4),
)
"""Sizes of the buckets, and l; the first is the worked example."""


def most_publishable(sizes: Sequence[int], l: int) -> int:  # noqa: E741  (the paper's letter)
    """Return the most rows in classes of l rows or more with at most one row of each bucket (LE-3).

    g classes hold at most g rows of a bucket, and need l g rows.

    >>> most_publishable((9, 3, 3, 3), 3)
    13
    """
    held = [sum(min(size, g) for size in sizes) for g in range(sum(sizes) + 1)]
    return max(rows for g, rows in enumerate(held) if rows >= l * g)


def publish_buckets(sizes: Sequence[int], l: int) -> int:  # noqa: E741
    """Return how many rows MBF publishes of a table with buckets of these sizes."""
    tree = {f"bucket {number}": [f"value {number}"] for number in range(len(sizes))}
    policy = from_data(
        {
            "version": 1,
            "fields": {
                "$.row": {"role": "quasi", "flat": True},
                "$.value": {"role": "sensitive", "taxonomy": {"tree": {"*": tree}}},
            },
            "models": [{"kind": "l-e-diversity", "l": l, "e": 1}],
            "engine": {"preset": "MBF"},
        }
    )
    partition = search_classes(encode_records(list_bucket_rows(sizes), policy), 1)
    return int((partition.equivalence_class >= 0).sum())


def show_suppression() -> Exhibit:
    """Return what is published of small tables, by the sizes of their buckets."""
    columns = ("sizes of buckets, l", "rows", "published", "suppressed")
    derived, ours = (
        Grid(columns, tuple(_row(sizes, l, of(sizes, l)) for sizes, l in CASES))  # noqa: E741
        for of in (most_publishable, publish_buckets)
    )
    return Exhibit(
        "Section III",
        "What algorithm 1 suppresses",
        "Rows that no class can take are suppressed; the paper does not say how many. The first grid is "
        "the most that any method can publish, from the sizes alone.",
        derived=derived,
        ours=ours,
        differs=describe_gap(derived, ours),
        errata=("LE-3", "LE-4"),
    )


def describe_gap(most: Grid, ours: Grid) -> str:
    """Return a sentence on tables of which MBF publishes less than is possible, empty if there is none."""
    less = [str(row[0]) for row, best in zip(ours.rows, most.rows, strict=True) if row != best]
    return f"MBF does not publish what is possible for {'; '.join(less)}." if less else ""


def _row(sizes: Sequence[int], l: int, published: int) -> tuple[Cell, ...]:  # noqa: E741
    return (f"{', '.join(map(str, sizes))}; l = {l}", sum(sizes), published, sum(sizes) - published)
