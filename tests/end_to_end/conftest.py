"""Releases of the bundled collections, made once, and a form in which those of all formats compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.release.release import Release
from tests.orders import order_by_seed

FIXTURES = Path(__file__).parents[2] / "fixtures"
STUDENTS = FIXTURES / "students"
POLICIES = FIXTURES / "policies"
SEED = b"a seed of sixteen bytes"

Publish = Callable[..., Release]

# The names of the XML students, and those of the JSON students that mean the same.
IN_JSON = {"course": "courses", "evaluation": "evaluations", "book": "books"}


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """A published student in one form for all formats: JSON's names, texts, children in no order."""
    found: dict[str, Any] = {}
    for key, value in record.items():
        name = key.removeprefix("@")
        name = IN_JSON.get(name, name)
        if not isinstance(value, list):
            found[name] = str(value)
        elif value and isinstance(value[0], dict):
            found[name] = sorted((plain(item) for item in value), key=repr)
        else:
            found[name] = sorted(map(str, value))
            if name in ("major", "gpa") and len(value) == 1:
                found[name] = str(value[0])
    return dict(sorted(found.items()))


def all_plain(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records in their order."""
    return [plain(record) for record in records]


def policy_for(source: object) -> Path:
    """The bundled policy for a bundled file of students, or for objects like its records."""
    xml = isinstance(source, Path) and ".xml" in source.name
    return POLICIES / ("students-xml.yaml" if xml else "students-multilevel.yaml")


@cache
def published(source: Path, policy: Path, seed: bytes = SEED) -> Release:
    """The release of a bundled file; equal arguments, the same object."""
    return hierdata.anonymize(source, policy, seed=seed)


@pytest.fixture(scope="module", autouse=True)
def _one_order() -> Iterator[None]:
    """Releases of all formats have one order; tests/redteam/test_reused_seeds.py tests the real one."""
    with order_by_seed():
        yield


@pytest.fixture
def students() -> Release:
    """The students, published from the JSON array."""
    return published(STUDENTS / "students.json", POLICIES / "students-multilevel.yaml")


def public_bytes(release: Release) -> dict[str, bytes]:
    """Every file of a release by its name."""
    return {path.name: path.read_bytes() for path in sorted(release.folder.rglob("*.*")) if path.is_file()}
