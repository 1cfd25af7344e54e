"""What is left of a policy when its mistakes are removed, so that lint finds everything else in one run.

Nothing is ever published under such a policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from hierdata.ground.recodings import DEFAULT
from hierdata.policy.checks import find_problems
from hierdata.policy.load import from_file, read_file
from hierdata.policy.policy import Policy
from hierdata.policy.problems import (
    Mistake,
    PolicyFile,
    Position,
    Problem,
    contradictions,
    known_part,
    mistakes,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_ROUNDS = 8
"""Limit on validations. Each may uncover what the one before could not see; three have been enough so far."""

_NEUTRAL_MODEL = {"kind": "k-anonymity", "k": 1}
_NEUTRAL: dict[str, Any] = {
    "version": 1,
    "dataset": "records",
    "format": None,
    "unlisted": "drop",
    "schema": None,
    "models": [_NEUTRAL_MODEL],
    "engine": None,
    "recoding": DEFAULT,
    "tables": None,
    "csv": None,
}
"""Substitutes for mistaken keys. The path of the records and the meaning of prefixes have none."""

_ROLES = ("quasi", "sensitive", "insensitive", "identifier", "free_text")


@dataclass(frozen=True)
class Examined:
    """A policy file's mistakes, and the policy without them.

    ``policy`` is None where too little is left. ``doubtful`` holds the paths whose own rule is mistaken and
    was replaced by a substitute. ``models_stand`` tells whether all models are the file's own. ``file`` knows
    the lines.
    """

    policy: Policy | None
    file: PolicyFile
    mistakes: tuple[Mistake, ...] = ()
    doubtful: frozenset[str] = frozenset()
    models_stand: bool = True

    def position(self, path: str) -> Position | None:
        """Return where the policy has a field or another key; None for what it does not name."""
        if self.policy is None:
            return None
        written = zip(map(str, self.policy.paths), self.policy.fields, strict=True)
        location = next((("fields", text) for path_text, text in written if path_text == path), (path,))
        return self.file.position(location) if known_part(location, self.file.data) == location else None


def examine(path: Path, root: Path | None = None) -> Examined:
    """Read a policy file as ``load`` does, but continue after mistakes.

    Raises PolicyError where the file is not a policy at all, TargetError when it cannot be opened.
    """
    file = read_file(path)
    reported: dict[Mistake, None] = {}
    mend = _Mend(file.data)
    for _ in range(_ROUNDS):
        try:
            policy = Policy.model_validate(mend.data)
        except ValidationError as error:
            reported |= dict.fromkeys(mistakes(error, Policy, mend.data))
            mended = [mend.take_out(detail) for detail in error.errors(include_url=False)]
            if not all(mended):
                break
        else:
            if problems := find_problems(policy):
                reported |= dict.fromkeys(contradictions(problems, mend.data))
                if not mend.take_out_all(problems):
                    break
                continue
            policy = from_file(replace(file, data=mend.data), path, root)
            doubtful = {
                str(path)
                for path, stated in zip(policy.paths, policy.fields, strict=True)
                if stated in mend.paths
            }
            return Examined(policy, file, tuple(reported), frozenset(doubtful), mend.models_stand)
    return Examined(None, file, tuple(reported))


class _Mend:
    """A copy of a policy's data from which mistakes are removed."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data: Any = deepcopy(data)
        self.paths: set[str] = set()
        self.models_stand = True

    def take_out_all(self, problems: Iterable[Problem]) -> bool:
        """Replace each part of a contradiction by something neutral; return False where nothing is."""
        replaced = [self._replace(keys) for keys, _ in problems]
        return all(replaced)

    def take_out(self, detail: ErrorDetails) -> bool:
        """Replace a mistake by something neutral; return False where nothing is."""
        if detail["type"] == "value_error" and (problems := getattr(detail["ctx"]["error"], "problems", ())):
            return self.take_out_all(problems)
        if detail["type"] == "extra_forbidden" and len(detail["loc"]) == 1:
            key = detail["loc"][0]
            if get_close_matches(str(key), ["unlisted"]):  # then unlisted fields are not reported
                self.data.setdefault("unlisted", "drop")
            self.data.pop(key)
            return True
        return self._replace(detail["loc"])

    def _replace(self, keys: tuple[int | str, ...]) -> bool:
        match keys:
            case ("models", int(index), *_) if index < len(self.data.get("models") or ()):
                self.models_stand = False
                self.data["models"][index] = _NEUTRAL_MODEL
                self.data.pop("engine", None)  # a preset would refuse the substitute
            case ("attackers" | "gates", *_):
                self._take_out_gates()
            case ("fields", str(path), "[key]"):
                self.data["fields"].pop(path, None)
                self._take_out_gates()
            case ("fields", str(path), *_):
                self.paths.add(path)
                self._take_out_gates()
                self.data["fields"][path] = _substitute(self.data["fields"].get(path))
            case (str(key), *_) if key in _NEUTRAL:
                self.models_stand &= key not in ("models", "engine")
                self.data[key] = deepcopy(_NEUTRAL[key])
            case _:
                return False
        return True

    def _take_out_gates(self) -> None:
        """Remove gates and attackers, since they may name what was removed."""
        self.data.pop("gates", None)
        self.data.pop("attackers", None)


def _substitute(rule: object) -> dict[str, Any]:
    """Return a rule to replace a mistaken one: sensitive, or a vertex, where that was intended."""
    if not isinstance(rule, dict):
        return {"role": "free_text"}
    stated = rule.get("role")
    if stated is None and "vertex" in rule:
        return {"vertex": True}
    near = get_close_matches(str(stated), _ROLES, n=1)
    return {
        "role": "sensitive" if near == ["sensitive"] else "free_text",
        "optional": rule.get("optional") is True,
    }
