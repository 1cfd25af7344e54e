"""The texts of the studio: one catalogue a language, of which English is the only one yet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def read_catalogue(language: str = "en") -> Mapping[str, str]:
    """Return the texts by their names."""
    read: dict[str, str] = json.loads(files(__package__).joinpath(f"{language}.json").read_text("utf-8"))
    return read


def say(name: str, /, **values: object) -> str:
    """Return a text with its values filled in; raises KeyError for a name that the catalogue lacks.

    >>> say("app.title")
    'hierdata studio'
    """
    return read_catalogue()[name].format(**values)
