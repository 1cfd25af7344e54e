"""``hierdata compare``: what several policies keep of one collection, and what can be guessed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierdata.cli.arguments import AsJson, KeyFd, Quiet, Root, Workers, key_for
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import session
from hierdata.cli.terminal import print_json, say, show

if TYPE_CHECKING:
    from hierdata.comparison.comparison import PolicyComparison


def compare(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="A file, a folder, or a pattern.", show_default=False)
    ],
    more: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[POLICY]...", help="More files after --policies.", show_default=False),
    ] = None,
    *,
    policy: Annotated[Path, typer.Option(help="The policy to start from.", show_default=False)],
    out: Annotated[
        Path, typer.Option(help="A new folder, or that of an earlier comparison.", show_default=False)
    ],
    grid: Annotated[
        list[str] | None,
        typer.Option(help="A parameter of its models and values, such as k=2,3,5.", show_default=False),
    ] = None,
    policies: Annotated[
        list[Path] | None, typer.Option(help="Other policies, one or more files.", show_default=False)
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Leave out this model, such as alpha-k.", show_default=False)
    ] = None,
    key_fd: KeyFd = None,
    root: Root = None,
    workers: Workers = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare policies on a collection: kept against worst guess, in one page. Nothing is published."""
    with session(as_json, result=out / "comparison.html"):
        from hierdata.comparison.compare import compare as run
        from hierdata.comparison.variants import parse_grid
        from hierdata.policy.load import load

        stated = load(policy, root=root)
        others = {str(path): load(path, root=root) for path in [*(policies or ()), *(more or ())]}
        with Feedback(quiet or as_json) as feedback:
            found = run(
                source,
                stated,
                grid=parse_grid(grid or ()),
                policies=others,
                without=without or (),
                out=out,
                key=key_for(stated, key_fd),
                workers=workers,
                progress=feedback.listener,
            )
        if as_json:
            print_json({"page": str(out / "comparison.html"), "policies": found.rows()})
        elif not quiet:
            _show(found, out)


def _show(found: PolicyComparison, out: Path) -> None:
    rows = []
    for one in found:
        kept, worst = (None if share is None else float(100 * share) for share in (one.kept, one.worst))
        figures = [f"{one.published:,}", "-" if kept is None else f"{kept:.1f} %"]
        figures += ["-" if worst is None else f"{worst:.1f} %", ", ".join(map(str, one.dominated_by)) or "-"]
        rows.append(
            [str(one.number), one.name, *(figures if one.refused is None else ["none", "-", "-", "-"])]
        )
    show("Policies compared", ["no.", "policy", "records", "kept", "worst guess", "dominated by"], rows)
    for one in found:
        if one.refused is not None:
            say(f"{one.number}: no release: {one.refused}")
    say(f"The picture and the policies are in {out / 'comparison.html'}.")
