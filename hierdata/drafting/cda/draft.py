"""The draft of a policy for Consolidated CDA: one document a patient, with coded entries in sections."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from hierdata.documents.document import Document, Value
from hierdata.drafting.standard import (
    ALL_FACTS,
    CLASSES,
    KNOWLEDGE,
    ElementRole,
    StandardDraft,
    StandardPromise,
)
from hierdata.ground.errors import InputError

HL7 = "urn:hl7-org:v3"
ROOT = "/ClinicalDocument"
STATED: dict[str, Any] = {"records": ROOT, "namespaces": {"": HL7}}
"""What a policy says of how documents are read."""
_TEXT = "#text"
_OTHER = ("structure", "not an element of what is known of a patient")
_DATES = ("iso", "%Y%m", "%Y")
"""How HL7 writes a time stamp: also without a day or a month."""
_WEIGHT = 60
"""As for FHIR: without it large classes of all ages keep a little more of codes."""

_QUESTIONS = (
    "Is what others may know complete: sex, decade of birth, kinds of sections and visits? Should diagnoses "
    "be among it, take the model with facts.",
    "Are dates of entries needed? Give `effectiveTime/low/@value` a rule with `date: {steps: [year]}`: "
    "others know them, and more is lost.",
    "Is a place needed? `addr/state` is known to all, so that records of one place must be alike.",
    "Are race, ethnic group, language or marital status needed? They are known to others, and left out.",
    "Are results of observations needed? Name the few that are.",
    "Problems and allergies are in one field, `observation/value/@code`, where entries have the same shape: "
    "does it matter which are which? Then publish `section/code/@code`, as drafted.",
    "Do your codes tell a place or a person by themselves, as codes of your house do? Drop their field.",
)


class _Known(NamedTuple):
    steps: tuple[str, ...]
    role: str
    rule: str
    why: str


@cache
def _read_known() -> tuple[_Known, ...]:
    with Path(__file__).with_name("roles.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter=";")
        return tuple(
            _Known(tuple(row["path"].split("/")), row["role"], row["rule"], row["why"]) for row in rows
        )


def judge_path(steps: Sequence[str]) -> tuple[str, str, str]:
    """Return role, rule and reason of an element or attribute by the first line of the table that fits.

    ``steps`` are names below the document. A line with a rule fits at the end of a path, another anywhere.

    >>> judge_path(["recordTarget", "patientRole", "telecom", "@value"])[0]
    'identifier'
    """
    for known in _read_known():
        size = len(known.steps)
        starts = [len(steps) - size] if known.rule else range(len(steps) - size + 1)
        if any(start >= 0 and tuple(steps[start : start + size]) == known.steps for start in starts):
            return known.role, known.rule, known.why
    return (_OTHER[0], "", _OTHER[1])


@dataclass(frozen=True)
class CdaDraft(StandardDraft):
    """A policy proposed for C-CDA (see StandardDraft).

    ``paths`` are those that documents have, ``repeated`` those of elements that occur several times.
    """

    count: int
    paths: tuple[tuple[str, ...], ...]
    repeated: frozenset[tuple[str, ...]]

    standard: ClassVar[str] = "c-cda"
    called: ClassVar[str] = "HL7"

    @property
    def questions(self) -> tuple[str, ...]:
        """What a machine cannot know (see StandardDraft)."""
        return _QUESTIONS

    @property
    def records(self) -> int:
        """The number of documents."""
        return self.count

    @property
    def promises(self) -> tuple[StandardPromise, ...]:
        """The promises (see StandardDraft)."""
        return (
            StandardPromise(
                "draft",
                CLASSES,
                "Each document is one of at least 5 that agree in all that others may know. What these have "
                "in common can be learned; add a model such as {kind: frequency-l-diversity, l: 2} where it "
                "must not",
            ),
            StandardPromise(
                "knowledge",
                KNOWLEDGE,
                "Or, where someone knows sex and birth and at most two visits or kinds of sections",
            ),
            StandardPromise(
                "facts", ALL_FACTS, "Or, where a reader may know diagnoses too: every code is a fact"
            ),
        )

    @property
    def head(self) -> Sequence[str]:
        """Say what was seen (see StandardDraft)."""
        return (
            f"A draft by `hierdata init` for Consolidated CDA, from {self.count:,} documents, one a patient. "
            "It contains no value of the data. Roles are those of HL7's elements.",
        )

    def policy(self, model: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the policy (see StandardDraft)."""
        return {
            "version": 1,
            **STATED,
            "unlisted": "drop",
            "empty": "drop",
            "models": [dict(self.promises[0].model if model is None else model)],
            "fields": dict(self._fields()),
        }

    @cached_property
    def _above(self) -> set[tuple[str, ...]]:
        """The paths of what has a published element below it."""
        return {steps[:end] for steps in self.paths if judge_path(steps)[1] for end in range(len(steps))}

    def _fields(self) -> Iterator[tuple[str, dict[str, Any]]]:
        # Bounded knowledge needs to know which elements repeat.
        for steps in sorted(self.repeated & self._above):
            yield _spell(steps), {"vertex": True}
        for steps in self.paths:
            role, rule, _ = judge_path(steps)
            if rule == "date":
                domain = {"steps": ["year", "decade", "century"], "format": list(_DATES)}
                yield _spell(steps), {"role": role, "date": domain, "weight": _WEIGHT}
            elif rule:
                yield _spell(steps), {"role": role, **({"flat": True} if rule == "flat" else {})}

    def list_roles(self) -> Iterator[ElementRole]:
        """Yield every element (see StandardDraft); of what is left out, the outermost that says so."""
        listed: set[tuple[str, ...]] = set()
        for leaf in self.paths:
            steps = leaf
            role, rule, why = judge_path(steps)
            while not rule and steps[:-1] not in self._above and judge_path(steps[:-1])[1:] == ("", why):
                steps = steps[:-1]
            if steps not in listed:
                listed.add(steps)
                yield ElementRole(_spell(steps), role, why, bool(rule))


def _spell(steps: Sequence[str]) -> str:
    return "/".join((ROOT, *("text()" if step == _TEXT else step for step in steps)))


def draft_documents(documents: Iterable[Document]) -> CdaDraft:
    """Return the draft for documents of C-CDA. Raises InputError where there is no patient in them."""
    count, paths, repeated = 0, dict[tuple[str, ...], None](), set[tuple[str, ...]]()
    for document in documents:
        count += 1
        paths.update(dict.fromkeys(_walk(document, (), repeated)))
    if not any(steps[:2] == ("recordTarget", "patientRole") for steps in paths):
        raise InputError("there is no recordTarget with a patientRole: these are no documents of C-CDA")
    return CdaDraft({}, count, tuple(sorted(paths)), frozenset(repeated))


def _walk(value: Value, steps: tuple[str, ...], repeated: set[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of values by local names; what is in other namespaces is left out by every policy.

    Note the paths of elements that are repeated.
    """
    if isinstance(value, list):
        if len(value) > 1:
            repeated.add(steps)
        for item in value:
            yield from _walk(item, steps, repeated)
    elif isinstance(value, dict):
        for key, inner in value.items():
            name = key.removeprefix(f"{{{HL7}}}")
            if "{" not in name:
                yield from _walk(inner, (*steps, name), repeated)
    else:
        yield steps
