"""What values and classes are compared with: levels, taxonomies, counts of the original, a population."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from hierdata.documents.document import Scalar
from hierdata.documents.formats.csv import Csv
from hierdata.documents.formats.source import PathSource
from hierdata.domains.base import Hierarchy
from hierdata.domains.levels import LevelScale
from hierdata.ground.errors import InputError, PolicyError, file_error
from hierdata.policy.policy import Policy
from hierdata.privacy.population import Compared, Population, PopulationColumn
from hierdata.records.survey import Keys, Survey

Scales = Mapping[Keys, LevelScale | None]
References = Mapping[Keys, Mapping[Scalar, int]]
"""By sensitive attribute, how often each value occurs in the original collection."""
LabelsKnown = Mapping[Keys, tuple[tuple[Scalar, Scalar], ...]]
"""By derived field the values of its source, each with its label."""


def compile_scales(policy: Policy, survey: Survey) -> Scales:
    """Compile the level scale of each sensitive attribute from the policy and the surveyed values."""
    return {keys: rule.scale(survey.values[keys], policy.folder) for keys, rule in policy.sensitive.items()}


def semantics(policy: Policy) -> dict[Keys, Hierarchy | None]:
    """Return the taxonomy of each sensitive attribute's values, None where the policy gives none."""
    return {keys: rule.semantics(policy.folder) for keys, rule in policy.sensitive.items()}


def stated_scales(policy: Policy) -> Scales:
    """Return the scales that the policy alone determines.

    A scale that depends on the collection is None, and the judge then rejects a model that asks for it.
    """
    return {
        keys: None if rule.levels is None or rule.levels.by == "frequency" else rule.scale({}, policy.folder)
        for keys, rule in policy.sensitive.items()
    }


def population_of(policy: Policy, vertices: Collection[Keys]) -> Population | None:
    """Read the policy's population table over the quasi-identifiers of the root; None if there is none.

    ``vertices`` are the paths of the vertex types below the root. Raises PolicyError for a column that is
    missing or belongs to no such quasi-identifier.
    """
    table = policy.population
    if table is None:
        return None
    below = policy.vertices | frozenset(vertices)
    at_root = [
        keys for keys in policy.quasi if not any(keys[:end] in below for end in range(1, len(keys) + 1))
    ]
    named = {keys: ".".join(key.removeprefix("@") for key in keys) for keys in at_root}
    if table.columns is not None:
        named = {policy.path(text).keys: column for text, column in table.columns.items()}
    for keys in named:
        if keys not in at_root:
            raise PolicyError(
                "a population table is compared with the record itself, not with vertices below it",
                path=policy.spell_path(keys),
            )
    compared = [
        Compared(
            keys,
            policy.spell_path(keys),
            column,
            policy.quasi[keys],
            frozenset(policy.rules_by_keys[keys][1].missing),
        )
        for keys, column in named.items()
    ]
    return read_population(policy.folder / table.file, table.delimiter, compared, policy.folder)


def read_population(
    file: Path, delimiter: str | None, compared: Sequence[Compared], folder: Path
) -> Population:
    """Read a CSV table.

    Raises TargetError if the file cannot be read, InputError if it is broken, PolicyError if a column is
    missing.
    """
    source, format = PathSource(file), Csv(delimiter)
    cells: list[list[Scalar]] = [[] for _ in compared]
    try:
        with source.open() as stream:
            layout = format.layout(stream)
        for field in compared:
            if field.column not in layout.columns:
                raise PolicyError(
                    f"the population table has no column {field.column!r} for this field: name one under "
                    "population.columns",
                    path=field.path,
                )
        rows = 0
        with source.open() as stream:
            for document in format.read(stream, layout):
                rows += 1
                for column, field in zip(cells, compared, strict=True):
                    cell = document.get(field.column)
                    assert not isinstance(cell, list | dict), "a cell of a table holds one value"
                    column.append(cell)
    except InputError as error:
        raise InputError(f"population table {file.name}: {error}", revealed=error.revealed) from None
    except OSError as error:
        raise file_error(error, f"cannot read {file.name}: {error.strerror}") from None
    columns = zip(compared, cells, strict=True)
    return Population(rows, [PopulationColumn(field, column, folder) for field, column in columns])


def digest_population(file: Path) -> str:
    """Return the SHA-256 of a population table's file. Raises TargetError."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise file_error(error, f"cannot read the population table {file.name}: {error.strerror}") from None
