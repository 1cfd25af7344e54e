"""``hierdata plugins``: the members of families that other distributions declare."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
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
        found = [*_check_members()]
        refused = [plugin for plugin, problem in found if problem]
        if as_json:
            print_json({"plugins": [{**vars(plugin), "problem": problem} for plugin, problem in found]})
        else:
            _show(found)
        if refused:
            subject = "1 plug-in is" if len(refused) == 1 else f"{len(refused)} plug-ins are"
            raise typer.Exit(explain("PolicyError", f"{subject} refused", 2, as_json=False))


def _check_members() -> Iterator[tuple[Plugin, str | None]]:
    """Yield every declared member with its problem, or None."""
    from hierdata.ground.errors import PolicyError
    from hierdata.ground.plugins import list_declared

    for family, (member, built_in) in _families().items():
        for plugin in list_declared(family):
            if plugin.name in built_in:
                yield plugin, "has the name of a built-in member, which is used instead"
                continue
            try:
                member(plugin.name)
            except PolicyError as error:
                yield plugin, str(error)
            else:
                yield plugin, None


def _families() -> dict[str, tuple[Callable[[str], type], Collection[str]]]:
    """Return for each family the function that imports a member, and the names of the built-in members."""
    from hierdata.documents.formats import FORMATS, format_named
    from hierdata.domains import DOMAINS, QuasiDomain
    from hierdata.engines import ENGINES, Engine
    from hierdata.ground.plugins import load
    from hierdata.metrics import METRICS, metric_named
    from hierdata.privacy import MODELS, model_named
    from hierdata.release.recodings import RECODINGS, recoding_named

    return {
        "models": (model_named, MODELS),
        "engines": (partial(load, "engines", base=Engine), ENGINES),  # type: ignore[type-abstract]
        "recodings": (recoding_named, RECODINGS),
        "domains": (partial(load, "domains", base=QuasiDomain), DOMAINS),  # type: ignore[type-abstract]
        "metrics": (metric_named, METRICS),
        "formats": (format_named, FORMATS),
    }


def _show(plugins: list[tuple[Plugin, str | None]]) -> None:
    if not plugins:
        say("No installed distribution adds anything to hierdata.")
        return
    rows = [
        [plugin.name, plugin.family, f"{plugin.distribution} {plugin.version}", problem or "ready"]
        for plugin, problem in plugins
    ]
    show("Members of other distributions", ["name", "family", "distribution", "state"], rows)
