"""Members of families that live in other distributions: found by entry points, imported when a policy asks.

A distribution declares a member under the group of its family, such as ``hierdata.models``, by the name that
a policy gives it. Nothing of a distribution is imported unless a policy names one of its members.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from typing import Any, TypeVar, get_args

from hierdata.errors import MissingPluginError, PolicyError

Member = TypeVar("Member")

FAMILIES = ("models", "engines", "recodings", "domains", "metrics", "formats")
"""The families that other distributions may add members to; the group is ``hierdata.`` and the family."""

_STATED = {
    "models": ("combine", "letters"),
    "engines": (),
    "recodings": ("traits",),
    "domains": (),
    "metrics": ("symbol", "better", "explanation"),
    "formats": ("extension",),
}
"""The class attributes that a member of a family must state, beside its name."""


@dataclass(frozen=True)
class Plugin:
    """A member that is not built in, with its distribution. Unpickling one checks that it is installed."""

    family: str
    name: str
    distribution: str
    version: str

    def __reduce__(self) -> tuple[Any, ...]:
        return require, (self.family, self.name, self.distribution, self.version)

    def __str__(self) -> str:
        return f"{self.name} ({self.family}) of {self.distribution} {self.version}"


@cache
def _declared(family: str) -> dict[str, EntryPoint]:
    """The entry points of a family by name. Of two with one name none can be chosen: PolicyError."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=f"hierdata.{family}"):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value or _distribution(other) != _distribution(entry):
            raise PolicyError(
                f"two distributions declare {entry.name} in hierdata.{family}, {_distribution(other)[0]} and "
                f"{_distribution(entry)[0]}: uninstall one"
            )
    return found


def _distribution(entry: EntryPoint) -> tuple[str, str]:
    """Name and version of the distribution of an entry point."""
    return ("an unknown distribution", "") if entry.dist is None else (entry.dist.name, entry.dist.version)


def names(family: str) -> Collection[str]:
    """The names that other distributions declare in a family; nothing is imported."""
    return _declared(family).keys()


def declared(family: str) -> list[Plugin]:
    """Every member that a distribution declares in a family, those that cannot be used too."""
    entries = entry_points(group=f"hierdata.{family}")
    return sorted(
        (Plugin(family, entry.name, *_distribution(entry)) for entry in entries),
        key=lambda plugin: (plugin.name, plugin.distribution),
    )


def find(family: str, name: object) -> Plugin | None:
    """What a name means in a family outside of hierdata; None where no distribution declares it."""
    entry = _declared(family).get(name) if isinstance(name, str) else None
    return None if entry is None else Plugin(family, entry.name, *_distribution(entry))


def load(family: str, name: str, base: type[Member]) -> type[Member]:
    """Import a member and check it against what its family asks of a class.

    Raises PolicyError, with name and distribution, where it cannot be imported or is no such member.
    """
    entry, plugin = _declared(family)[name], find(family, name)
    try:
        member = entry.load()
    except Exception as error:  # noqa: BLE001  # whatever another distribution raises while it is imported
        raise PolicyError(f"{plugin} cannot be imported ({type(error).__name__}: {error})") from None
    if problem := next(_problems(family, name, member, base), None):
        raise PolicyError(f"{plugin} {problem}")
    found: type[Member] = member
    return found


def _problems(family: str, name: str, member: Any, base: type) -> Iterator[str]:
    """What keeps a class from being a member of a family under a name."""
    if not inspect.isclass(member) or not issubclass(member, base):
        yield f"is no subclass of {base.__module__}.{base.__qualname__}"
        return
    if inspect.isabstract(member):
        yield f"does not implement {', '.join(sorted(getattr(member, '__abstractmethods__', ())))}"
    missing = [attribute for attribute in _STATED[family] if not hasattr(member, attribute)]
    if missing:
        yield f"does not state {', '.join(missing)}"
    fields = getattr(member, "model_fields", {})
    if "kind" in fields:
        stated = get_args(fields["kind"].annotation)
        if stated != (name,):
            yield f"must state `kind: Literal[{name!r}]`"
    elif family in ("models", "engines", "domains"):
        yield f"must state `kind: Literal[{name!r}]`"
    if family == "formats" and getattr(member, "name", None) != name:
        yield f"must state `name = {name!r}`"
    home: Any = import_module(member.__module__)
    if getattr(home, member.__qualname__, None) is not member:
        yield "must be defined at the top of its module, so that worker processes find it"


def require(family: str, name: str, distribution: str, built: str) -> Plugin:
    """The plug-in, if this very version of its distribution is installed here; else MissingPluginError."""
    try:
        found = version(distribution)
    except PackageNotFoundError:
        found = None
    if found != built:
        here = "is not installed" if found is None else f"is installed as {found}"
        raise MissingPluginError(f"{name} ({family}) is of {distribution} {built}, which {here} here")
    return Plugin(family, name, distribution, built)
