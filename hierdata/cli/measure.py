"""``hierdata measure``: what a flat table reveals, without a policy; every metric of a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierdata.cli.arguments import AllMetrics, AsJson, KeyFd, Root, key_for, with_format
from hierdata.cli.feedback import Feedback
from hierdata.cli.measured import show_measurement, show_release
from hierdata.cli.session import reveal_values, session
from hierdata.cli.terminal import print_json
from hierdata.ground.errors import PolicyError

if TYPE_CHECKING:
    from hierdata.documents.document import Scalar
    from hierdata.policy.policy import Policy


Source = Annotated[
    str,
    typer.Argument(
        metavar="TABLE|RELEASE",
        help="A table (CSV, JSON, JSON Lines or Parquet), records that are trees or keyed tables, or the "
        "folder or records of a release.",
        show_default=False,
    ),
]
KeyNames = Annotated[
    list[str] | None,
    typer.Option(
        help="For a table: a column, or path, that an attacker knows; repeatable.", show_default=False
    ),
]
SensitiveName = Annotated[
    str | None,
    typer.Option(help="For a table: the column, or path, to keep unknown.", show_default=False),
]
PartitionFile = Annotated[
    Path | None,
    typer.Option(help="For a table: YAML or JSON, groups of values that an attacker treats as one."),
]
Generalized = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=COLUMN", help="For a table: the column that a key generalizes; repeatable."),
]
OriginalInput = Annotated[str | None, typer.Option(help="For a release: the input it was made from.")]
ReadingPolicy = Annotated[
    Path | None,
    typer.Option(
        help="For a release: its policy, with the attackers to measure. For a table: a policy that says "
        "how its records are read, such as keyed tables."
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option("--format", help="The format of the file or input; by default by its suffix."),
]
RevealNames = Annotated[
    Path | None,
    typer.Option(help="A new file for the values behind v1, v2 .. or an error, readable only by you."),
]


def measure(
    what: Source,
    key: KeyNames = None,
    sensitive: SensitiveName = None,
    partition: PartitionFile = None,
    generalizes: Generalized = None,
    original: OriginalInput = None,
    policy: ReadingPolicy = None,
    key_fd: KeyFd = None,
    root: Root = None,
    as_format: InputFormat = None,
    metrics: AllMetrics = False,
    as_json: AsJson = False,
    reveal: RevealNames = None,
) -> None:
    """Print what keys of a table or of trees reveal, or every metric of a release.

    For a table this is the discrimination rate (DR) of the keys for the sensitive column; with a partition
    the semantic one (SeDR). Keys and sensitive column of trees and keyed tables are paths, such as
    $.courses[*].grade; persons count, not the items of their lists. A release has DR for all that is
    published, for each attacker of its policy, and for single values.
    """
    with session(as_json, reveal):
        of_table = {"--key": key, "--sensitive": sensitive}
        only_of_table = {"--partition": partition, "--generalizes": generalizes}
        of_release = {"--original": original, "--policy": None if key or sensitive else policy}
        _one_form(of_table, only_of_table, of_release)
        if original is not None and policy is not None:
            loaded = with_format(policy, as_format, root)
            _measure_release(what, original, loaded, key_for(loaded, key_fd), metrics, as_json, reveal)
        elif key_fd is not None:
            raise PolicyError("--key-fd is for a release, but --key and --sensitive are for a table")
        elif key and sensitive is not None:
            known = _ColumnKnowledge(partition, root, dict(map(_pair, generalizes or [])), policy)
            _measure_table(what, key, sensitive, known, as_format, metrics, as_json, reveal)


def _one_form(
    of_table: Mapping[str, object], only_of_table: Mapping[str, object], of_release: Mapping[str, object]
) -> None:
    """Raise PolicyError unless the options are all for a table, or all for a release."""
    table = [name for name, value in {**of_table, **only_of_table}.items() if value]
    release = [name for name, value in of_release.items() if value]
    if table and release:
        raise PolicyError(
            f"{release[0]} is for a release, {table[0]} is for a table: use --original and --policy, or "
            "--key and --sensitive"
        )
    missing = [name for name in (of_release if release else of_table) if name not in (*table, *release)]
    if missing:
        other = "" if table or release else "; a release needs --original and --policy"
        kind = "a release" if release else "a table"
        raise PolicyError(f"{' and '.join(missing)} must be given to measure {kind}{other}")


@dataclass(frozen=True)
class _ColumnKnowledge:
    """What the options state about the columns of a table."""

    partition: Path | None
    root: Path | None
    originals: dict[str, str]
    policy: Path | None


def _measure_table(
    table: str,
    keys: list[str],
    sensitive: str,
    known: _ColumnKnowledge,
    as_format: str | None,
    metrics: bool,
    as_json: bool,
    reveal: Path | None,
) -> None:
    from hierdata.ground.progress import silent
    from hierdata.pipeline import measure as measuring

    policy = None if known.policy is None else with_format(known.policy, as_format, known.root)
    with Feedback(as_json) as feedback:
        found = measuring.measure(
            table,
            keys=keys,
            sensitive=sensitive,
            partition=known.partition,
            root=known.root,
            originals=known.originals,
            policy=policy,
            format=as_format,
            progress=feedback.listener or silent,
        )
    if as_json:
        print_json(found.as_dict())
    else:
        show_measurement(found, metrics)
    if reveal is not None:
        reveal_values(reveal, list(_list_raw_values(found.names)))


def _measure_release(
    release: str,
    original: str,
    policy: Policy,
    key: bytes | None,
    metrics: bool,
    as_json: bool,
    reveal: Path | None,
) -> None:
    from hierdata.pipeline.measure import measure_release

    with Feedback(as_json) as feedback:
        found = measure_release(release, policy, original=original, key=key, progress=feedback.listener)
    if as_json:
        print_json(found.as_dict())
    else:
        show_release(found, metrics)
    if reveal is not None:
        reveal_values(reveal, list(_list_raw_values(found.names)))


def _pair(text: str) -> tuple[str, str]:
    key, equals, column = text.partition("=")
    if not equals:
        raise PolicyError("--generalizes takes KEY=COLUMN, such as --generalizes Decade=Age")
    return key, column


def _list_raw_values(names: Mapping[str, Mapping[str, Scalar]]) -> Iterator[str]:
    """Yield a line with column or path, label and value for each label."""
    for column, own in names.items():
        yield from (f"{column}\t{label}\t{value}" for label, value in own.items() if value is not None)
