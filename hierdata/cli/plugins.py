"""``hierdata plugins``: the members of families that other distributions declare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hierdata.cli.arguments import AsJson
from hierdata.cli.session import explain, session
from hierdata.cli.terminal import print_json, say, show

if TYPE_CHECKING:
    from hierdata.ground.plugins import Plugin


def plugins(as_json: AsJson = False) -> None:
    """List what other distributions add to hierdata, and check it; exit code 2 if something is refused."""
    with session(as_json):
        from hierdata.pipeline.plugins import check_plugins

        checked = [*check_plugins()]
        refused = [plugin for plugin, problem in checked if problem]
        if as_json:
            print_json({"plugins": [{**vars(plugin), "problem": problem} for plugin, problem in checked]})
        else:
            _show(checked)
        if refused:
            subject = "1 plug-in is" if len(refused) == 1 else f"{len(refused)} plug-ins are"
            raise typer.Exit(explain("PolicyError", f"{subject} refused", 2, as_json=False))


def _show(plugins: list[tuple[Plugin, str | None]]) -> None:
    if not plugins:
        say("No installed distribution adds anything to hierdata.")
        return
    rows = [
        [plugin.name, plugin.family, f"{plugin.distribution} {plugin.version}", problem or "ready"]
        for plugin, problem in plugins
    ]
    show("Members of other distributions", ["name", "family", "distribution", "state"], rows)
