"""The policies of a comparison: one as it is stated, with other parameters, without a model, and others."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

from hierdata.ground.errors import PolicyError
from hierdata.ground.escaping import quote
from hierdata.pipeline.look_over import PolicySource, read_policy
from hierdata.policy.load.yaml import fragment
from hierdata.policy.policy import Policy

MOST = 1000
"""Policies that one comparison may have."""
STATED = "as stated"


@dataclass(frozen=True)
class Variant:
    """A policy by a name: plain data, and the folder that the files in it are relative to.

    ``without`` is the kind of the model that was left out, if one was.
    """

    name: str
    policy: dict[str, Any]
    folder: Path
    without: str | None = None


def parse_grid(texts: Iterable[str]) -> dict[str, list[Any]]:
    """Parse options such as ``k=2,3,5``; values are written as in a policy. Raises PolicyError.

    >>> parse_grid(["k=2,3", "level-alpha-k.alpha=[0.5, 0.5],[0.8, 0.2]"])
    {'k': [2, 3], 'level-alpha-k.alpha': [['0.5', '0.5'], ['0.8', '0.2']]}
    """
    grid: dict[str, list[Any]] = {}
    for text in texts:
        key, sign, values = text.partition("=")
        if not sign or not values.strip():
            raise PolicyError(f"--grid {quote(text)}: write a key and its values, such as k=2,3,5")
        if key in grid:
            raise PolicyError(f"--grid: {quote(key)} occurs twice")
        grid[key] = [_plain(value) for value in fragment(f"[{values}]", f"--grid {key}")]
    return grid


def list_variants(
    policy: PolicySource,
    grid: Mapping[str, Sequence[Any]],
    policies: Mapping[str, PolicySource],
    without: Sequence[str],
) -> list[Variant]:
    """List the policies to compare, each once, the stated one first. Raises PolicyError, TargetError.

    A key of ``grid`` is a parameter of models (``k``: of all models that have it; ``alpha-k.k``: of one), or
    a key of the policy itself.
    """
    stated = read_policy(policy)
    base = _variant(STATED, stated)
    variants = [base]
    keys = list(grid)
    for values in product(*(map(_plain, grid[key]) for key in keys)):
        changed = copy.deepcopy(base.policy)
        for key, value in zip(keys, values, strict=True):
            for mapping, entry in _places(changed, stated, key):
                mapping[entry] = value
        if keys:
            name = ", ".join(f"{key} = {_spell(value)}" for key, value in zip(keys, values, strict=True))
            variants.append(Variant(name, changed, base.folder))
    variants += [_variant(name, read_policy(other)) for name, other in policies.items()]
    variants += [_leave_out(base, stated, kind) for kind in without]
    unique: dict[str, Variant] = {}
    for variant in variants:
        unique.setdefault(json.dumps([variant.policy, str(variant.folder)], sort_keys=True), variant)
    if len(unique) > MOST:
        raise PolicyError(f"these are {len(unique)} policies, and a comparison has at most {MOST}")
    return [*unique.values()]


def _variant(name: str, policy: Policy) -> Variant:
    data = policy.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if not data.get("models"):  # those of a preset
        data["models"] = [model.model_dump(mode="json", exclude_unset=True) for model in policy.models]
    return Variant(name, data, Path(policy.folder).absolute())


def _places(data: dict[str, Any], policy: Policy, key: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the mappings that hold a key, each with the name in it. Raises PolicyError if there are none."""
    kind, _, parameter = key.rpartition(".")
    parameters = {model.kind: set(type(model).model_fields) - {"kind", "on"} for model in policy.models}
    holders = [
        (model, parameter)
        for model in data["models"]
        if kind in ("", model["kind"]) and parameter in parameters[model["kind"]]
    ]
    if not holders and key in data and key not in ("models", "fields", "version"):
        holders = [(data, key)]
    if not holders:
        there = sorted({*(name for names in parameters.values() for name in names)})
        raise PolicyError(
            f"--grid {quote(key)}: no model of the policy has this parameter; they have {', '.join(there)}"
        )
    yield from holders


def _leave_out(base: Variant, policy: Policy, kind: str) -> Variant:
    kinds = [model.kind for model in policy.models]
    rest = [model for model in base.policy["models"] if model["kind"] != kind]
    if kind not in kinds:
        raise PolicyError(f"--without {quote(kind)}: the policy has no such model; it has {', '.join(kinds)}")
    if not rest:
        raise PolicyError(f"--without {kind}: it is the only model; compare a weaker one by --grid")
    return Variant(f"without {kind}", {**base.policy, "models": rest}, base.folder, kind)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; decimals are texts, which policies read exactly."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, Decimal | float) else value


def _spell(value: Any) -> str:
    return " ".join(map(_spell, value)) if isinstance(value, list) else str(value)
