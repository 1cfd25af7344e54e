"""``hierdata plugins``: the members of families that other distributions declare."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import typer

from hierdata.cli.arguments import AsJson
from hierdata.cli.session import explain, print_json, session

if TYPE_CHECKING:
    from hierdata.plugins import Plugin


def plugins(as_json: AsJson = False) -> None:
    """List what other distributions add to hierdata, and check it; exit code 2 if something is refused."""
    with session(as_json):
        found = [*_checked()]
        refused = [plugin for plugin, problem in found if problem]
        if as_json:
            print_json({"plugins": [{**vars(plugin), "problem": problem} for plugin, problem in found]})
        else:
            _show(found)
        if refused:
            subject = "1 plug-in is" if len(refused) == 1 else f"{len(refused)} plug-ins are"
            raise typer.Exit(explain("PolicyError", f"{subject} refused", 2, as_json=False))


def _checked() -> Iterator[tuple[Plugin, str | None]]:
    """Every declared member with what is wrong with it."""
    from hierdata.errors import PolicyError
    from hierdata.plugins import declared, load

    for family, (base, built_in) in _families().items():
        for plugin in declared(family):
            if plugin.name in built_in:
                yield plugin, "has the name of a built-in member, which is used instead"
                continue
            try:
                load(family, plugin.name, base)
            except PolicyError as error:
                yield plugin, str(error)
            else:
                yield plugin, None


def _families() -> dict[str, tuple[type, Collection[str]]]:
    """The base class of each family, and the names of its built-in members."""
    from hierdata.documents.formats import FORMATS, Format
    from hierdata.domains import DOMAINS, QuasiDomain
    from hierdata.engines import ENGINES, Engine
    from hierdata.metrics import METRICS, Metric
    from hierdata.privacy import MODELS, PrivacyModel
    from hierdata.release.recodings import RECODINGS, Recoding

    return {
        "models": (PrivacyModel, MODELS),
        "engines": (Engine, ENGINES),
        "recodings": (Recoding, RECODINGS),
        "domains": (QuasiDomain, DOMAINS),
        "metrics": (Metric, METRICS),
        "formats": (Format, FORMATS),
    }


def _show(found: list[tuple[Plugin, str | None]]) -> None:
    from hierdata.cli.tables import show

    if not found:
        typer.echo("No installed distribution adds anything to hierdata.")
        return
    rows = [
        [plugin.name, plugin.family, f"{plugin.distribution} {plugin.version}", problem or "ready"]
        for plugin, problem in found
    ]
    show("Members of other distributions", ["name", "family", "distribution", "state"], rows)
