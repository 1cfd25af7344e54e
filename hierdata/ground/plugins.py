"""Plug-ins: members of families from other distributions, found by entry points and imported on demand.

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
from pathlib import PurePath
from traceback import walk_tb
from typing import Any, TypeVar, get_args

from hierdata.ground.errors import MissingPluginError, PolicyError

Member = TypeVar("Member")

FAMILIES = ("models", "engines", "recodings", "domains", "metrics", "formats")
"""The families that other distributions may add members to. The entry point group is ``hierdata.FAMILY``."""

_STATED = {
    "models": ("combine", "letters"),
    "engines": (),
    "recodings": ("traits",),
    "domains": ("called",),
    "metrics": ("symbol", "better", "explanation"),
    "formats": ("extension",),
}
"""The class attributes that a member of a family must have, in addition to its name."""


_LONGEST_REASON = 200


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
def _entry_points_of(family: str) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a family by name."""
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=f"hierdata.{family}"):
        by_name.setdefault(entry.name, []).append(entry)
    return by_name


def _entry(family: str, name: str) -> EntryPoint:
    """Return the entry point of a name. Raises PolicyError if two distributions declare it."""
    first, *others = _entry_points_of(family)[name]
    for other in others:
        if (other.value, _distribution(other)) != (first.value, _distribution(first)):
            raise PolicyError(
                f"two distributions declare {name} in hierdata.{family}, {_distribution(first)[0]} and "
                f"{_distribution(other)[0]}: uninstall one"
            )
    return first


def _distribution(entry: EntryPoint) -> tuple[str, str]:
    """Return name and version of the distribution of an entry point."""
    return ("an unknown distribution", "") if entry.dist is None else (entry.dist.name, entry.dist.version)


def names(family: str) -> Collection[str]:
    """Return the names that other distributions declare in a family; nothing is imported."""
    return _entry_points_of(family).keys()


def list_declared(family: str) -> list[Plugin]:
    """Return every member that a distribution declares in a family, including those that cannot be used."""
    entries = entry_points(group=f"hierdata.{family}")
    return sorted(
        (Plugin(family, entry.name, *_distribution(entry)) for entry in entries),
        key=lambda plugin: (plugin.name, plugin.distribution),
    )


def find(family: str, name: object) -> Plugin | None:
    """Return the plug-in of a name in a family, or None if no distribution declares it."""
    if not isinstance(name, str) or name not in _entry_points_of(family):
        return None
    return Plugin(family, name, *_distribution(_entry(family, name)))


def load(family: str, name: str, base: type[Member]) -> type[Member]:
    """Import a member and check that its class meets the requirements of its family.

    Raises PolicyError, with name and distribution, if it cannot be imported or does not meet them.
    """
    entry = _entry(family, name)
    plugin = Plugin(family, name, *_distribution(entry))
    try:
        member = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # an import can raise anything
        raise PolicyError(f"{plugin} cannot be imported ({_reason(error)})") from None
    if problem := next(_problems(family, name, member, base), None):
        raise PolicyError(f"{plugin} {problem}")
    checked: type[Member] = member
    return checked


FAULT = "fault_of_plugin"
"""The attribute of an exception that says where in a plug-in's code a worker process raised it."""


def fault_of(error: BaseException) -> str | None:
    """Return the line and distribution of the plug-in that raised an exception; None if hierdata raised it.

    >>> fault_of(ValueError("of hierdata")) is None
    True
    """
    owners = {
        entry.module.partition(".")[0]: _distribution(entry)
        for family in FAMILIES
        for entries in _entry_points_of(family).values()
        for entry in entries
    }
    for frame, line in reversed([*walk_tb(error.__traceback__)]):
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package == "hierdata":
            return None
        if package in owners:
            file = PurePath(frame.f_code.co_filename).name
            return f"{file}:{line} of {' '.join(owners[package])}"
    return None


def _reason(error: BaseException) -> str:
    """Return one line on why a module could not be imported. It contains no data: no record was read."""
    line = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {line[:_LONGEST_REASON]}" if line else type(error).__name__


def _problems(family: str, name: str, member: Any, base: type) -> Iterator[str]:
    """Yield the reasons why a class cannot be a member of a family under a name."""
    if not inspect.isclass(member) or not issubclass(member, base):
        yield f"is not a subclass of {base.__module__}.{base.__qualname__}"
        return
    if inspect.isabstract(member):
        yield f"does not implement {', '.join(sorted(getattr(member, '__abstractmethods__', ())))}"
    missing = [attribute for attribute in _STATED[family] if not hasattr(member, attribute)]
    if missing:
        yield f"does not state {', '.join(missing)}"
    fields = getattr(member, "model_fields", {})
    if family in ("models", "engines", "domains"):
        kind = fields.get("kind")
        if kind is None or (get_args(kind.annotation), kind.default) != ((name,), name):
            yield f"must state `kind: Literal[{name!r}] = {name!r}`"
    if family == "formats" and getattr(member, "name", None) != name:
        yield f"must state `name = {name!r}`"
    home: Any = import_module(member.__module__)
    if getattr(home, member.__qualname__, None) is not member:
        yield "must be defined at the top of its module, so that worker processes find it"


def require(family: str, name: str, distribution: str, built: str) -> Plugin:
    """Return the plug-in. Raises MissingPluginError unless exactly this version of it is installed."""
    try:
        installed = version(distribution)
    except (PackageNotFoundError, ValueError):  # ValueError: not a valid distribution name
        installed = None
    if installed != built:
        here = "is not installed" if installed is None else f"is installed as {installed}"
        raise MissingPluginError(f"{name} ({family}) comes from {distribution} {built}, which {here} here")
    return Plugin(family, name, distribution, built)
