"""Options that several commands share."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hierdata.pipeline.resources import Resources
    from hierdata.policy.policy import Policy

KEY_VARIABLE = "HIERDATA_KEY"
_LONGEST_KEY = 1 << 16

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
AllMetrics = Annotated[bool, typer.Option("--metrics", help="Print every figure and table too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")]
Reveal = Annotated[
    Path | None, typer.Option(help="A new file for the raw values behind an error, readable only by you.")
]
Root = Annotated[
    Path | None,
    typer.Option(
        help="The folder that must contain the files named in the policy; by default the parent of its own."
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="json, jsonl, extended-json, bson, xml, csv or parquet; by default by the policy or the suffix.",
    ),
]
ExecutorName = Annotated[
    str | None,
    typer.Option(
        "--executor", help="serial, processes or spark; by default processes if the input has several parts."
    ),
]
Batch = Annotated[
    int, typer.Option(help="Records read from or written to a store at a time.", min=1, max=1_000_000)
]
Workers = Annotated[
    int | None, typer.Option(help="Worker processes; by default one per processor.", min=1, max=10_000)
]
Memory = Annotated[
    str | None, typer.Option(help="Memory limit for all processes together, such as 4GiB; by default none.")
]
KeyFd = Annotated[
    int | None,
    typer.Option(
        help=f"File descriptor of the key of pseudonyms and shifted dates; by default {KEY_VARIABLE}.",
        metavar="N",
        min=0,
        max=2**31 - 1,
    ),
]
Master = Annotated[str | None, typer.Option(help="The address of a Spark cluster, such as local[2].")]

BATCH = 1000
"""Same as ``hierdata.sources.stores.BATCH``, which only a run imports."""
MOST_PASSES = 1000
"""Same as ``hierdata.domains.bounds.MOST_PASSES``."""
Effort = Annotated[
    int | None,
    typer.Option(
        help="Passes that improve the classes of trees; overrides the policy.", min=0, max=MOST_PASSES
    ),
]
TableName = Annotated[str | None, typer.Option("--table", help="PostgreSQL only: the table to read.")]
Query = Annotated[str | None, typer.Option(help="PostgreSQL only: the query to read.")]
ColumnName = Annotated[
    str | None, typer.Option("--column", help="PostgreSQL only: the column with documents.")
]

_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def resources_of(
    executor: str | None, workers: int | None, memory: str | None, master: str | None
) -> Resources:
    """Return the resources that a run may use. Raises PolicyError if ``memory`` is not a size."""
    from hierdata.pipeline.resources import Resources

    return Resources(executor, workers, None if memory is None else _bytes(memory), master)


def _bytes(text: str) -> int:
    from hierdata.ground.errors import PolicyError

    number, unit = (text[:-3], text[-3:]) if text[-3:] in _UNITS else (text, "")
    if not re.fullmatch(r" *[0-9]{1,18} *", number):
        raise PolicyError(
            f"--memory takes a whole number of bytes of at most 18 digits, or one with {', '.join(_UNITS)}"
        )
    return int(number) * _UNITS.get(unit, 1)


def key_for(policy: Policy, key_fd: int | None) -> bytes | None:
    """Return the key for a policy's actions, from the file descriptor or the environment, or None.

    Raises PolicyError for an invalid or unneeded key, TargetError if the descriptor cannot be read.
    """
    from hierdata.ground.errors import PolicyError, file_error
    from hierdata.ground.secrets import from_text
    from hierdata.policy.checks.records import needs_key

    if key_fd is not None:
        if not needs_key(policy):
            raise PolicyError("--key-fd gives a key, but nothing in the policy needs one; remove --key-fd")
        try:
            with os.fdopen(key_fd, "rb", closefd=key_fd > 2) as stream:
                key = stream.read(_LONGEST_KEY)
        except OSError as error:
            raise file_error(
                error, f"the file descriptor {key_fd} cannot be read ({error.strerror})"
            ) from None
        return from_text(key.decode("latin-1"), "the key")
    if KEY_VARIABLE in os.environ and needs_key(policy) and policy.key is None:
        return from_text(os.environ[KEY_VARIABLE], KEY_VARIABLE)
    return None


def with_rows(source: str, table: str | None, query: str | None, column: str | None) -> object:
    """Return the source, restricted to the rows that options of PostgreSQL select. Raises PolicyError."""
    if table is None and query is None and column is None:
        return source
    from hierdata import Rows
    from hierdata.ground.errors import PolicyError

    if not source.startswith(("postgresql://", "postgres://")):
        raise PolicyError("--table, --query and --column need an INPUT that is the address of PostgreSQL")
    return Rows(source, table, query, column)


def with_format(path: Path, name: str | None, root: Path | None = None) -> Policy:
    """Load a policy; a format given on the command line overrides its own. Raises PolicyError."""
    from hierdata.policy.load import in_format, load

    return in_format(load(path, root=root), name)


def with_effort(policy: Policy, effort: int | None) -> Policy:
    """Return a policy with the effort given on the command line, if any."""
    return policy if effort is None else policy.model_copy(update={"effort": effort})
