"""Compile kernels before they are needed, for images of software."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierdata.engines.compiler.plain import always_compiled
from hierdata.ground.progress import Progress, silent
from hierdata.pipeline.anonymize import anonymize

if TYPE_CHECKING:
    from hierdata.documents.document import Document

_PEOPLE = 240
_SEED = bytes(16)


def warm_up(*, everything: bool = False, progress: Progress = silent) -> Path | None:
    """Compile what searches without ``engine`` need, or ``everything``: all engines, and attacks.

    What is compiled already is not compiled again. Returns the folder of the compiled code, None if there is
    no folder that this user can write to, and then the code is lost with the process.
    """
    from hierdata.engines.compiler.cache import folder_of_code
    from hierdata.pipeline.attack import attack

    asked = [*_defaults(), *(_others() if everything else ())]
    for done, (records, policy) in enumerate(asked):
        progress("compiling", done, len(asked))
        with always_compiled():
            release = anonymize(records, policy, seed=_SEED)
        if everything and not done:
            attack(release.folder, policy, original=records, facts=1, victims=1)
    progress("compiling", len(asked), len(asked))
    return folder_of_code()


def keeps_code() -> bool:
    """Return whether a later process finds what this one compiles."""
    from hierdata.engines.compiler.cache import is_kept

    return is_kept()


def _people(visits: int) -> list[Document]:
    """Invent people. Nearly half have one pay, so that some are left over, and try to join a class."""
    rng = random.Random(0)  # noqa: S311
    return [
        {
            "age": rng.randrange(20, 80),
            "job": rng.choice("abcdef"),
            "pay": max(0, rng.randrange(-7, 12)),
            "visits": [
                {"ward": rng.choice("uvw"), "ill": rng.randrange(9)} for _ in range(rng.randrange(visits + 1))
            ],
        }
        for _ in range(_PEOPLE)
    ]


def _policy(visits: int, *models: dict[str, Any], **keys: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "$.age": {"role": "quasi", "interval": {"steps": [1, 10, 60]}},
        "$.job": {"role": "quasi", "flat": True},
        "$.pay": {"role": "sensitive", "number": True},
    }
    if visits:
        fields["$.visits[*].ward"] = {"role": "quasi", "flat": True}
        fields["$.visits[*].ill"] = {"role": "sensitive"}
    return {"version": 1, "models": [{"kind": "k-anonymity", "k": 3}, *models], "fields": fields, **keys}


_DIVERSE = {"kind": "frequency-l-diversity", "l": 2}
_CLOSE = {"kind": "t-closeness", "t": "0.4"}


def _defaults() -> Iterator[tuple[list[Document], dict[str, Any]]]:
    """Yield collections and policies without ``engine``: trees, tables, and tables under t-closeness."""
    table = [{key: value for key, value in person.items() if key != "visits"} for person in _people(0)]
    yield _people(5), _policy(5, _DIVERSE)
    yield table, _policy(0, _DIVERSE)
    yield table, _policy(0, _CLOSE)


def _others() -> Iterator[tuple[list[Document], dict[str, Any]]]:
    """Yield what the other engines search, each at its least effort."""
    trees, (_, (table, _), _) = _people(5), _defaults()
    for pairing in ("greedy", "benefit", "optimal"):
        yield trees, _policy(5, _DIVERSE, engine={"steps": [{"kind": "clustree", "pairing": pairing}]})
    near = {"kind": "epsilon-m-anonymity", "epsilon": 1, "m": 2}
    yield table, _policy(0, near, engine={"steps": [{"kind": "spread"}]})
    for step in ({"kind": "mondrian"}, {"kind": "kaca"}):
        yield table, _policy(0, _DIVERSE, engine={"steps": [step]})
    for last in ({"kind": "swap"}, {"kind": "swarm", "particles": 2, "rounds": 2}):
        yield table, _policy(0, _CLOSE, engine={"steps": [{"kind": "mondrian"}, last]})
    optimum = {"kind": "full-domain", "suppression": 1}
    yield table, _policy(0, _DIVERSE, engine={"steps": [optimum]}, recoding="full_domain")
    for step in ({"kind": "mbf"}, {"kind": "msb"}):
        yield table, _policy(0, _DIVERSE, engine={"steps": [step]}, recoding="anatomy")
    yield trees, _policy(5, _DIVERSE, blocks=60)
