"""``hierdata compare``: what several policies keep of one collection, and what can be guessed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierdata.cli.arguments import AsJson, KeyFd, Quiet, Root, Workers, key_for
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import session
from hierdata.cli.terminal import print_json, say, say_folded, shorten, show

if TYPE_CHECKING:
    from hierdata.comparison.comparison import PolicyComparison

_NAME = 30
"""Characters of a policy's name: lines then fit a terminal of 80."""


def compare(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="A file, a folder, or a pattern.")],
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[POLICY]...", help="More files after --policies.")
    ] = None,
    *,
    policy: Annotated[Path, typer.Option(help="The policy to start from.")],
    out: Annotated[Path, typer.Option(help="A new folder, or that of an earlier comparison.")],
    grid: Annotated[
        list[str] | None, typer.Option(help="A parameter of its models and values, such as k=2,3,5.")
    ] = None,
    policies: Annotated[list[Path] | None, typer.Option(help="Other policies, one or more files.")] = None,
    without: Annotated[list[str] | None, typer.Option(help="Leave out this model, such as alpha-k.")] = None,
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
            comparison = run(
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
            print_json({"page": str(out / "comparison.html"), "policies": comparison.rows()})
        elif not quiet:
            _show(comparison, out)


def _show(comparison: PolicyComparison, out: Path) -> None:
    names = min(_NAME, max(len(row.name) for row in comparison))
    say(f"no. {'policy':{names}}   records    kept   guess  dominated by")
    for row in comparison:
        begin = f"{row.number:>3} {shorten(row.name, names):{names}}"
        if row.refused is None:
            kept, worst = map(_percent, (row.kept, row.worst))
            say(f"{begin} {row.published:>9,} {kept:>7} {worst:>7}  {_join(row.dominated_by)}")
        else:
            say(f"{begin} no release")
    _show_risks(comparison)
    for row in comparison:
        if row.refused is not None:
            say_folded(f"{row.number}: {row.refused}")
    say("kept: of the input; guess: the worst guess of a sensitive value.")
    say_folded(f"The picture, all figures and the policies: {out / 'comparison.html'}")


def _show_risks(comparison: PolicyComparison) -> None:
    from hierdata.comparison.page import list_risks, name_risk, percent

    if risks := list_risks(comparison.policies):
        rows = [[str(row.number), *(percent(row.risks.get(risk)) for risk in risks)] for row in comparison]
        show("Right attacks beyond the control", ["no.", *map(name_risk, risks)], rows)


def _percent(share: Fraction | None) -> str:
    return "-" if share is None else f"{float(100 * share):.1f} %"


def _join(numbers: tuple[int, ...]) -> str:
    """Return the first numbers of a list, and how many follow.

    >>> _join((1, 2, 3, 4)), _join((7,)), _join(())
    ('1, 2 and 2 more', '7', '-')
    """
    more = f" and {len(numbers) - 2} more" if len(numbers) > 2 else ""
    return (", ".join(map(str, numbers[:2])) or "-") + more
