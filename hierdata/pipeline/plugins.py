"""Members that other distributions add to the families, each imported and checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial

from hierdata.documents.formats import FORMATS, format_named
from hierdata.domains import DOMAINS, QuasiDomain
from hierdata.engines import ENGINES, Engine
from hierdata.ground.errors import PolicyError
from hierdata.ground.plugins import Plugin, list_declared, load
from hierdata.metrics import METRICS, metric_named
from hierdata.privacy import MODELS, model_named
from hierdata.release.recodings import RECODINGS, recoding_named


def check_plugins() -> Iterator[tuple[Plugin, str | None]]:
    """Yield every declared member with its problem, or None."""
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
    return {
        "models": (model_named, MODELS),
        "engines": (partial(load, "engines", base=Engine), ENGINES),  # type: ignore[type-abstract]
        "recodings": (recoding_named, RECODINGS),
        "domains": (partial(load, "domains", base=QuasiDomain), DOMAINS),  # type: ignore[type-abstract]
        "metrics": (metric_named, METRICS),
        "formats": (format_named, FORMATS),
    }
