"""``hierdata anonymize``: a collection in, a release out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierdata.cli import arguments
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import hide_user, require_absent, session
from hierdata.cli.terminal import print_json, say, say_folded
from hierdata.ground.errors import TargetError, file_error

if TYPE_CHECKING:
    from hierdata.release.report.models import StewardReport

SEED_VARIABLE = "HIERDATA_SEED"
POLICY_HELP = (
    "The policy: roles, domains and models, and perhaps a preset: MLevCluTree (by MLevAnonytree), ClusTree, "
    "MBF, SLOMS or MSB-KACA."
)
SeedFile = Annotated[
    Path | None, typer.Option(help=f"At least 16 secret bytes; by default {SEED_VARIABLE} or random bytes.")
]
Target = Annotated[
    str | None,
    typer.Option(help="The address of a new place in a store, to which the records are written too."),
]


def anonymize(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="JSON, JSON Lines, XML or CSV, also gzipped; Parquet; a folder of keyed tables; the address "
            "of a store.",
        ),
    ],
    policy: Annotated[Path, typer.Option(help=POLICY_HELP)],
    out: Annotated[Path, typer.Option(help="A new folder for the release.")],
    to: Target = None,
    table: arguments.TableName = None,
    query: arguments.Query = None,
    column: arguments.ColumnName = None,
    batch: arguments.Batch = arguments.BATCH,
    seed_file: SeedFile = None,
    key_fd: arguments.KeyFd = None,
    effort: arguments.Effort = None,
    executor: arguments.ExecutorName = None,
    workers: arguments.Workers = None,
    memory: arguments.Memory = None,
    master: arguments.Master = None,
    root: arguments.Root = None,
    as_format: arguments.FormatName = None,
    metrics: arguments.AllMetrics = False,
    as_json: arguments.AsJson = False,
    quiet: arguments.Quiet = False,
    reveal: arguments.Reveal = None,
) -> None:
    """Publish a collection under a policy, verified, into a new folder: completely or not at all."""
    with session(as_json, reveal, out):
        _require_room(out)
        resources = arguments.resources_of(executor, workers, memory, master)
        from hierdata.pipeline.anonymize import anonymize

        loaded = arguments.with_effort(arguments.with_format(policy, as_format, root), effort)
        with Feedback(quiet) as feedback:
            release = anonymize(
                arguments.with_rows(source, table, query, column),
                loaded,
                to=to,
                batch=batch,
                out=out,
                seed=_seed(seed_file),
                key=arguments.key_for(loaded, key_fd),
                staging=out.parent,
                resources=resources,
                progress=feedback.listener,
                notice=feedback.notice,
            )
        _tell(release.report, out, metrics, as_json, quiet)
        if to is not None and not quiet and not as_json:
            say(f"Written to: {hide_user(to)}")


def _require_room(out: Path) -> None:
    """Raise TargetError unless a release can be written there."""
    require_absent(out)
    if not out.parent.is_dir():
        raise TargetError("the folder for the release does not exist", path=str(out.parent))


def _tell(report: StewardReport, out: Path, metrics: bool, as_json: bool, quiet: bool) -> None:
    """Print what was published and where it is; every figure only if asked."""
    if as_json:
        from hierdata.release.layout import RELEASE_FILE

        paths = {"release": str(out), "public": str(out / "public"), "steward": str(out / "steward")}
        public = json.loads((out / "public" / RELEASE_FILE).read_bytes())
        print_json(public | {"paths": paths})
    elif not quiet:
        from hierdata.cli.overview import overview
        from hierdata.release.report.text import list_figures

        say(*overview(report, out))
        if metrics:
            say_folded("", *list_figures(report))


def _seed(seed_file: Path | None) -> bytes | None:
    """Return the seed from the file or the environment, or None to let the system draw one."""
    if seed_file is not None:
        try:
            seed, origin = seed_file.read_bytes(), "the seed file"
        except OSError as error:
            raise file_error(
                error, f"the seed file cannot be read ({error.strerror})", path=str(seed_file)
            ) from None
    elif SEED_VARIABLE in os.environ:
        seed, origin = os.fsencode(os.environ[SEED_VARIABLE]), SEED_VARIABLE
    else:
        return None
    from hierdata.pipeline.seeds import seed_of

    return seed_of(seed, origin)
