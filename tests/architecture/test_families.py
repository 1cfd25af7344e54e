"""Each file of a family holds members of the family's dict, and knows no other file of members."""

from __future__ import annotations

import inspect
import typing
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from hierdata.engines import ENGINES, Engine
from tests.architecture.families import FAMILIES, PACKAGE
from tests.architecture.test_imports import imported

folders = pytest.mark.parametrize("folder", FAMILIES)


def files(folder: str) -> set[str]:
    """All files of a family but the base: those of members, and helpers that are named with a reason."""
    return {path.stem for path in (PACKAGE / folder).glob("*.py")} - {"__init__", "base"}


def home(member: object) -> ModuleType:
    module = inspect.getmodule(member)
    assert module is not None
    return module


def file_of(module: ModuleType) -> Path:
    return Path(inspect.getfile(module))


@folders
def test_every_file_is_a_member_or_a_helper_with_a_reason(folder: str) -> None:
    family = FAMILIES[folder]
    registered = {home(member).__name__ for member in family.members(folder).values()}
    assert registered == {
        f"hierdata.{folder}.{name}".replace("/", ".") for name in files(folder) - family.helpers.keys()
    }
    assert family.helpers.keys() <= files(folder)
    assert all(family.helpers.values())


@folders
def test_a_file_of_members_holds_no_other_member(folder: str) -> None:
    family = FAMILIES[folder]
    members = family.members(folder)
    for name, member in members.items():
        module = home(member)
        if family.kind is None:
            assert (name, callable(member)) == (member.__name__, True)
            continue
        assert issubclass(member, family.kind)
        assert not inspect.isabstract(member)
        defined = {
            value
            for value in vars(module).values()
            if inspect.isclass(value)
            and issubclass(value, family.kind)
            and not inspect.isabstract(value)
            and value.__module__ == module.__name__
        }
        assert defined == {other for other in members.values() if home(other) is module}
        if "kind" in getattr(member, "model_fields", {}):
            assert typing.get_args(member.model_fields["kind"].annotation) == (name,)


@folders
def test_members_do_not_know_each_other(folder: str) -> None:
    homes = {home(member).__name__ for member in FAMILIES[folder].members(folder).values()}
    for name in homes:
        assert not homes & set(imported(file_of(import_module(name)))), name


def test_every_engine_is_in_the_first_file_of_its_folder() -> None:
    """A folder has its engines' parameters in ``engine.py``, and their search and kernels beside it."""
    homes = {name: home(engine).__name__ for name, engine in ENGINES.items()}
    for name, engine in ENGINES.items():
        module = home(engine)
        assert issubclass(engine, Engine)
        assert not inspect.isabstract(engine)
        _, _, folder, file = module.__name__.split(".")
        assert (file, module.__package__) == ("engine", f"hierdata.engines.{folder}")
        assert typing.get_args(engine.model_fields["kind"].annotation) == (name,)
        assert not {*homes.values()} & set(imported(file_of(module))), name
