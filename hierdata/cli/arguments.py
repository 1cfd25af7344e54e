"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hierdata.policy import Policy

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")]
Reveal = Annotated[
    Path | None,
    typer.Option(help="A new file for the raw values behind an error, for the steward's eyes only."),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format", help="json, jsonl, xml, csv or parquet, where the name of the input does not tell."
    ),
]


def with_format(path: Path, name: str | None) -> Policy:
    """Load a policy; a format given on the command line goes before its own. Raises PolicyError."""
    from hierdata.policy import load

    return in_format(load(path), name)


def in_format(policy: Policy, name: str | None) -> Policy:
    """A policy for another format, if one is given. Raises PolicyError for a name that there is not."""
    from hierdata.errors import PolicyError
    from hierdata.formats import FORMATS

    if name is None:
        return policy
    if name not in FORMATS:
        raise PolicyError(f"--format takes one of {', '.join(FORMATS)}")
    return policy.model_copy(update={"format": name})
