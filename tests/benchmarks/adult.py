"""Adult and tables like it, of any size: columns of codes, since millions of rows are not worth parsing."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.policy.load import from_data
from hierdata.policy.plan.plan import Prepared, prepare
from hierdata.policy.policy import Policy
from hierdata.records.survey import survey
from hierdata.reproduction.le_figures import TREE_OF_EDUCATION
from hierdata.reproduction.study import MISSING, synthesize_adult
from tests.benchmarks.data_folder import data_folder

WITHOUT_MISSING, COMPLETE = "adult_arx_30162.csv", "adult.csv"
ROWS = {WITHOUT_MISSING: 30_162, COMPLETE: 32_561}
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
SENSITIVE, WEIGHT = "occupation", "fnlwgt"
_AGES = range(17, 91)


@dataclass(frozen=True)
class Column:
    """One column: its different values, and which of them each row has."""

    values: list[str]
    codes: NDArray[np.int64]


Table = Mapping[str, Column]


def folder() -> Path:
    return data_folder() / "adult"


def is_there() -> bool:
    return folder().exists()


def hierarchy(name: str, within: Path | None = None) -> Path:
    """The file with the hierarchy of a column, in ARX's format, in a folder like ``folder()``."""
    return (within or folder()) / "hierarchies" / f"adult_hierarchy_{name}.csv"


def table(name: str, limit: int | None = None) -> Table:
    """The first rows: the eight quasi-identifiers and occupation, of the complete file the weight too."""
    columns = (*QUASI[:-1], SENSITIVE, QUASI[-1], *([WEIGHT] if name == COMPLETE else []))
    if not is_there():
        return synthetic(columns, min(limit or ROWS[name], ROWS[name]))
    with (folder() / name).open(encoding="utf-8", newline="") as stream:
        rows = list(islice(csv.DictReader(stream, delimiter="," if name == COMPLETE else ";"), limit))
    return {column: _column([own[column] for own in rows], column) for column in columns}


def _column(cells: list[str], name: str) -> Column:
    values = [str(age) for age in _AGES] if name == "age" else sorted(set(cells))
    place = {value: at for at, value in enumerate(values)}
    return Column(values, np.array([place[cell] for cell in cells]))


def synthetic(columns: tuple[str, ...], rows: int) -> Table:
    """A table of Adult's shape; with missing values if it has the weight, as the complete file has."""
    made = synthesize_adult(rows * 5 // 4)
    found = made.draw(columns, complete=WEIGHT not in columns)[:rows]
    return {name: _column([str(own[name]) for own in found], name) for name in columns}


def scaled(own: Table, factor: int, seed: int) -> Table:
    """A table so many times as long, as ``make_scaled.py`` beside the data describes and draws it.

    Rows are drawn with replacement; age gets rounded noise, and every other cell is drawn anew from its
    column with probability 0.05.
    """
    rng = np.random.default_rng(seed)
    rows = len(own["age"].codes)
    drawn = rng.integers(0, rows, rows * factor)
    ages = own["age"].codes[drawn] + np.rint(rng.normal(0, 3, len(drawn))).astype(np.int64)
    found = {"age": Column(own["age"].values, np.clip(ages, 0, len(_AGES) - 1))}
    for name, column in own.items():
        if name != "age":
            codes = column.codes[drawn]
            anew = rng.random(len(drawn)) < 0.05
            codes[anew] = column.codes[rng.integers(0, rows, anew.sum())]
            found[name] = Column(column.values, codes)
    return {name: found[name] for name in own}


def write(own: Table, path: Path, delimiter: str = ";") -> Path:
    """Write a table as CSV; no value has a quote or a delimiter in it."""
    columns = [np.array(column.values, object)[column.codes].tolist() for column in own.values()]
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(delimiter.join(own) + "\n")
        stream.writelines(delimiter.join(cells) + "\n" for cells in zip(*columns, strict=True))
    return path


def policy(sensitive: str, models: list[dict[str, Any]], engine: str | None, **more: Any) -> Policy:
    """The policy of a task: one column is sensitive, the other columns of QUASI are quasi-identifiers."""
    rules: dict[str, dict[str, Any]] = {
        SENSITIVE: {"role": "sensitive", "missing": [MISSING]},
        WEIGHT: {"role": "sensitive", "number": True},
        "education": {"role": "sensitive", "taxonomy": {"tree": {"*": TREE_OF_EDUCATION}}},
    }
    fields = {f"$['{name}']": _quasi(name) for name in QUASI if name != sensitive}
    fields[f"$['{sensitive}']"] = rules[sensitive]
    stated = {"version": 1, "dataset": "adult", "unlisted": "drop", "models": models, "fields": fields}
    searched = {} if engine is None else {"engine": {"steps": [{"kind": engine}]}}
    return from_data({**stated, **searched, **more})


def _quasi(name: str) -> dict[str, Any]:
    """The hierarchy beside the data; without it intervals of ages, all else flat."""
    file = hierarchy(name)
    domain: dict[str, Any] = {"flat": True} if name != "age" else {"interval": {"steps": [1, 5, 10, 20]}}
    if file.exists():
        domain = {"taxonomy": str(file)}
    return {"role": "quasi", "missing": [MISSING], **domain}


@dataclass(frozen=True)
class Encoded:
    """A table ready for an engine."""

    prepared: Prepared
    forest: Forest


def encoded(own: Table, asked: Policy) -> Encoded:
    """A table as the encoder would make it, column by column."""
    longest = max(len(column.values) for column in own.values())
    every = [
        {name: column.values[at % len(column.values)] for name, column in own.items()}
        for at in range(longest)
    ]
    prepared = prepare(asked, survey(every, asked.declared_fields()))
    kind = prepared.schema.root
    rows, trees, (bound,) = len(own["age"].codes), prepared.hierarchies[0], prepared.domains[0]
    nodes = np.empty((rows, len(trees)), np.int32)
    names = [one.steps[0] for one in kind.attributes]
    quasi = [one.role.value == "quasi" for one in kind.attributes]
    for at, (name, tree) in enumerate(zip(compress(names, quasi), trees, strict=True)):
        column = own[name]
        cells = [None if value == MISSING else value for value in column.values]
        nodes[:, at] = np.array([tree.node_of(cell) for cell in cells])[column.codes]
    (name,) = (name for name, other in zip(names, quasi, strict=True) if not other)
    cells = own[name].values
    codes = np.array([-1 if cell == MISSING else bound.code_of(cell) for cell in cells], np.int32)
    codes = codes[own[name].codes]
    forest = Forest(
        schema=prepared.schema,
        hierarchies=prepared.hierarchies,
        domains=prepared.domains,
        roots=np.arange(rows + 1),
        type=np.zeros(rows, np.int32),
        parent=np.full(rows, -1),
        first_child=np.arange(1, rows + 1),
        child_count=np.zeros(rows, np.int64),
        first_node=len(trees) * np.arange(rows),
        nodes=nodes.ravel(),
        first_sensitive=np.arange(rows),
        sensitive=codes,
        spelling=codes,
        spellings=tuple(bound.values),
        carried={},
    )
    return Encoded(prepared, forest)
