"""Drafts for collections that follow a standard: what each element is comes from there, not from the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from hierdata.drafting.draft import EDITOR_LINE, comment, flow, save_text, text, write_lines

CLASSES: dict[str, Any] = {"kind": "k-anonymity", "k": 5}
KNOWLEDGE: dict[str, Any] = {"kind": "bounded-knowledge", "k": 5, "m": 2}
ALL_FACTS: dict[str, Any] = {**KNOWLEDGE, "facts": "all"}
WITH_ALPHA: dict[str, Any] = {**KNOWLEDGE, "alpha": "4/5"}


@dataclass(frozen=True)
class StandardPromise:
    """A model that a draft proposes or names, with who it is for."""

    name: str
    model: dict[str, Any]
    why: str


class ElementRole(NamedTuple):
    """An element that was seen: its path, its role and the reason, and whether it is published."""

    path: str
    role: str
    why: str
    is_published: bool


@dataclass(frozen=True)
class StandardDraft(ABC):
    """A policy proposed by what a standard says. ``str`` returns the file, which has no value of a person.

    ``kept`` has the share of the information that a sample keeps, by the name of the promise; None where it
    is not known.
    """

    kept: Mapping[str, float | None]

    standard: ClassVar[str]
    """What ``init --as`` calls it."""
    called: ClassVar[str]

    @property
    @abstractmethod
    def questions(self) -> tuple[str, ...]:
        """What a machine cannot know, for the steward; at most ten."""

    @property
    @abstractmethod
    def records(self) -> int:
        """The number of patients."""

    @property
    @abstractmethod
    def promises(self) -> tuple[StandardPromise, ...]:
        """What is proposed, and then other promises that the draft names, each with who it is for."""

    @abstractmethod
    def policy(self, model: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the policy as a dict, with another model than the drafted one if given."""

    @abstractmethod
    def list_roles(self) -> Iterator[ElementRole]:
        """Yield every element that was seen."""

    @property
    @abstractmethod
    def head(self) -> Sequence[str]:
        """Say first of all what was seen, in paragraphs."""

    def confirmed(self) -> dict[str, Any]:
        """Return the policy as a dict without the key ``draft``: call it after reviewing the draft."""
        return self.policy()

    def with_kept(self, kept: Mapping[str, float | None]) -> Self:
        """Return the draft with the shares that were measured."""
        return replace(self, kept=kept)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON output; it has no value of a person."""
        return {
            "records": self.records,
            "standard": self.standard,
            "kept": dict(self.kept),
            "questions": list(self.questions),
            "fields": [
                {"path": role.path, "role": role.role, "reason": role.why, "published": role.is_published}
                for role in self.list_roles()
            ],
        }

    def save(self, path: str | Path) -> None:
        """Write the draft to a new file. Raises TargetError if it exists or cannot be written."""
        save_text(path, str(self))

    def __str__(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield EDITOR_LINE
        for paragraph in self.head:
            yield from comment(paragraph, "")
        for number, question in enumerate(self.questions, 1):
            yield from comment(f"CONFIRM {number}: {question}", "")
        yield f"draft: {text(f'answer the {len(self.questions)} marked CONFIRM, then remove this line')}"
        for key, value in self.policy().items():
            if key == "models":
                yield from self._models()
            else:
                yield from _write_key(key, value)
        yield f"# Left out, by what {self.called} says of each element:"
        for role in self.list_roles():
            if not role.is_published:
                yield from comment(f"{role.path}: {role.role}, {role.why}", "  ")

    def _models(self) -> Iterator[str]:
        yield "models:"
        first, *others = self.promises
        yield from comment(f"{first.why}.{self._say(first.name)}", "  ")
        yield f"  - {flow(first.model)}"
        for promise in others:
            yield from comment(f"{promise.why}: {flow(promise.model)}.{self._say(promise.name)}", "  ")

    def _say(self, name: str) -> str:
        kept = self.kept.get(name)
        return "" if kept is None else f" A sample keeps {kept:.0%}.".replace("%", " %")


def _write_key(key: str, value: Any) -> Iterator[str]:
    """Yield a key of the policy; lists of steps, tables, fields and identifiers have a line each."""
    if key == "shape":
        yield "# Each code once a patient: dates, states, order and place in an encounter are lost."
        yield "shape:"
        yield from (f"  - {flow(step)}" for step in value)
    elif isinstance(value, dict) and key != "namespaces":
        yield from write_lines(key, value)
    else:
        yield f"{key}: {flow(value)}"


def is_below(path: str, above: str) -> bool:
    """Return whether a path leads to an element or to something below it.

    >>> is_below("$.a.b", "$.a"), is_below("$.ab", "$.a")
    (True, False)
    """
    return path == above or path.startswith((f"{above}.", f"{above}[", f"{above}/"))
