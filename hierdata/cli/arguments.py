"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hierdata.pipeline.resources import Resources
    from hierdata.policy.policy import Policy

KEY_VARIABLE = "HIERDATA_KEY"
_LONGEST_KEY = 1 << 16

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")]
Reveal = Annotated[
    Path | None,
    typer.Option(help="A new file for the raw values behind an error, for the steward's eyes only."),
]
Root = Annotated[
    Path | None,
    typer.Option(
        help="The folder that the files named in the policy must lie in; by default the one above its own.",
        show_default=False,
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="json, jsonl, extended-json, bson, xml, csv or parquet, where the input's name does not tell.",
    ),
]
ExecutorName = Annotated[
    str | None,
    typer.Option(
        "--executor",
        help="serial, processes or spark; by default processes where the input has several parts.",
    ),
]
Batch = Annotated[int, typer.Option(help="Records that travel together from and to a store.", min=1)]
Workers = Annotated[int | None, typer.Option(help="Processes that work; by default one a processor.", min=1)]
Memory = Annotated[
    str | None, typer.Option(help="What all processes may take together, such as 4GiB; else no limit.")
]
KeyFd = Annotated[
    int | None,
    typer.Option(
        help=f"The file descriptor that the key of pseudonyms and shifts is read from; else {KEY_VARIABLE}.",
        metavar="N",
        min=0,
    ),
]
Master = Annotated[str | None, typer.Option(help="The address of a Spark cluster, such as local[2].")]

BATCH = 1000
"""As ``hierdata.sources.stores.BATCH``: the room itself is imported by runs alone."""
TableName = Annotated[
    str | None, typer.Option("--table", help="Of PostgreSQL: the table that is read.", show_default=False)
]
Query = Annotated[
    str | None, typer.Option(help="Of PostgreSQL: a query whose rows are read.", show_default=False)
]
ColumnName = Annotated[
    str | None,
    typer.Option("--column", help="Of PostgreSQL: the column with documents.", show_default=False),
]

_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def resources_of(
    executor: str | None, workers: int | None, memory: str | None, master: str | None
) -> Resources:
    """What a run may use. Raises PolicyError for a size that is none."""
    from hierdata.pipeline.resources import Resources

    return Resources(executor, workers, None if memory is None else _bytes(memory), master)


def _bytes(text: str) -> int:
    from hierdata.errors import PolicyError

    number, unit = (text[:-3], text[-3:]) if text[-3:] in _UNITS else (text, "")
    if not number.strip().isdecimal():
        raise PolicyError(f"--memory takes a whole number with {', '.join(_UNITS)}, or bytes alone")
    return int(number) * _UNITS.get(unit, 1)


def key_for(policy: Policy, key_fd: int | None) -> bytes | None:
    """The key that a policy's actions need, from the file descriptor or the environment; None without any.

    Raises PolicyError for a key that is none, TargetError where the descriptor cannot be read.
    """
    from hierdata.errors import PolicyError, TargetError
    from hierdata.records.identifiers.key import from_text

    if key_fd is not None:
        if not policy.keyed:
            raise PolicyError("--key-fd gives a key, and the policy replaces nothing by one")
        try:
            with os.fdopen(key_fd, "rb", closefd=key_fd > 2) as stream:
                given = stream.read(_LONGEST_KEY)
        except OSError as error:
            raise TargetError(f"the file descriptor {key_fd} cannot be read ({error.strerror})") from None
        return from_text(given.decode("latin-1"), "the key")
    if KEY_VARIABLE in os.environ and policy.keyed and policy.key is None:
        return from_text(os.environ[KEY_VARIABLE], KEY_VARIABLE)
    return None


def with_rows(source: str, table: str | None, query: str | None, column: str | None) -> object:
    """The source, where options of PostgreSQL say which of its rows are meant. Raises PolicyError."""
    if table is None and query is None and column is None:
        return source
    from hierdata.errors import PolicyError
    from hierdata.sources.stores import Rows

    if not source.startswith(("postgresql://", "postgres://")):
        raise PolicyError("--table, --query and --column are about PostgreSQL: INPUT is no such address")
    return Rows(source, table, query, column)


def with_format(path: Path, name: str | None, root: Path | None = None) -> Policy:
    """Load a policy; a format given on the command line goes before its own. Raises PolicyError."""
    from hierdata.policy.load import load

    return in_format(load(path, root=root), name)


def with_effort(policy: Policy, effort: int | None) -> Policy:
    """A policy with the effort that is given on the command line, if one is."""
    return policy if effort is None else policy.model_copy(update={"effort": effort})


def in_format(policy: Policy, name: str | None) -> Policy:
    """A policy for another format, if one is given. Raises PolicyError for a name that there is not."""
    from hierdata import plugins
    from hierdata.documents.formats import FORMATS, format_named
    from hierdata.errors import PolicyError

    if name is None:
        return policy
    if name not in FORMATS and plugins.find("formats", name) is None:
        raise PolicyError(f"--format takes one of {', '.join(FORMATS)}")
    format_named(name)
    return policy.model_copy(update={"format": name})
