"""The draft of a policy: the profile of a collection, the proposals, and the file with both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from textwrap import wrap
from typing import Any

from hierdata.drafting.fields import Below, Field
from hierdata.drafting.persons import Persons, describe_persons
from hierdata.drafting.profile import PAIRED
from hierdata.drafting.promises import FieldRisk, ModelProposal, PairRisk
from hierdata.drafting.seen import K, Proposal
from hierdata.drafting.values import Looks
from hierdata.ground.errors import TargetError, file_error
from hierdata.ground.escaping import escape
from hierdata.records.survey import Keys

WIDTH = 110
EDITOR_LINE = "# yaml-language-server: $schema=policy.schema.json"
"""What tells editors the schema of the policy: the file that ``hierdata schema policy`` writes beside it."""
_WIDE = 12
"""Vertices below a record, on average."""
_PAIRS = 5
"""Number of pairs of fields listed in the file: those that reveal most beyond either field alone."""
_KINDS = {
    "number": "numbers",
    "boolean": "true or false",
    "date": "dates",
    "compact_date": "dates",
    "binary": "binary data",
    "other_date": "dates",
    "email": "e-mail addresses",
    "uuid": "UUIDs",
    "object_id": "ObjectIds",
    "ip": "IP addresses",
    "url": "web addresses",
    "phone": "phone numbers",
    "medical": "codes",
    "code": "codes",
}


IDENTIFIERS_ASKED = (
    "is each of the 18 identifiers of 45 CFR 164.514(b)(2) named where it is, [] where there is none? "
    "Codes and texts may hold one too. And do you know of no person who could be found by what remains?"
)
"""What a draft by HIPAA's Safe Harbor asks."""


@dataclass(frozen=True)
class Drafted:
    """One field of a draft: its profile, its proposal, and its risk if it alone is known."""

    field: Field
    proposal: Proposal
    risk: FieldRisk | None

    @property
    def path(self) -> str:
        """The path in the notation of policies."""
        return self.field.path


@dataclass(frozen=True)
class Draft:
    """A policy proposed for a collection. ``str`` returns the file, which contains no value of the data.

    ``vertices`` are the vertex types below the record, ``fields`` has the proposal for each field,
    ``promises`` the models. ``pairs`` has the risk of each pair of fields that was measured, sorted by how
    much the pair reveals beyond either field alone; shares are of all ``records``. ``reveals`` are values for
    the steward only.
    """

    records: int
    vertices: tuple[Below, ...]
    fields: tuple[Drafted, ...]
    promises: tuple[ModelProposal, ...]
    pairs: tuple[PairRisk, ...]
    stated: Mapping[str, Any] = field(default_factory=dict)
    reveals: tuple[str, ...] = field(default=(), repr=False)
    persons: Persons | None = None
    """How records repeat persons; ``stated`` has the key ``individual`` if they were united."""

    @property
    def is_wide(self) -> bool:
        """Whether records have so many vertices below that hardly two of them are alike."""
        each: dict[str, float] = {}
        for below in self.vertices:
            above = max((path for path in each if below.path.startswith(path)), key=len, default="")
            each[below.path] = below.each * each.get(above, 1)
        return sum(each.values()) >= _WIDE

    def confirmed(self) -> dict[str, Any]:
        """Return the policy as a dict without the key ``draft``: call it after reviewing the draft."""
        return {
            "version": 1,
            **self.stated,
            "unlisted": "error",
            "models": [promise.model for promise in self.promises],
            "fields": {row.path: row.proposal.rule for row in self.fields},
        }

    def __str__(self) -> str:
        return "\n".join(_lines(self)) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the draft to a new file. Raises TargetError if it exists or cannot be written."""
        save_text(path, str(self))

    def paths(self, keys: Sequence[Keys]) -> list[str]:
        """Return the paths of fields by their keys."""
        paths = {row.field.keys: row.path for row in self.fields}
        return [paths[field_keys] for field_keys in keys]


def save_text(path: str | Path, content: str) -> None:
    """Write a draft to a new file. Raises TargetError if it exists or cannot be written."""
    try:
        with Path(path).open("x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        raise TargetError("is already there; choose a new name", path=str(path)) from None
    except OSError as error:
        raise file_error(error, f"cannot be written ({error.strerror})", path=str(path)) from None


def _lines(draft: Draft) -> Iterator[str]:
    """Yield the draft as YAML with facts and reasons in comments; it contains no value of the data."""
    open_questions = sum(bool(row.proposal.confirm) for row in draft.fields)
    open_questions += draft.persons is not None
    open_questions += sum(promise.is_open for promise in draft.promises)
    open_questions += "safe_harbor" in draft.stated
    yield EDITOR_LINE
    but = " but the texts that filters compare" if any("[?" in row.path for row in draft.fields) else ""
    yield from comment(
        f"A draft by `hierdata init`, from {_count(draft.records, 'record')}. It contains no value of the "
        f"data{but}. A machine cannot know what your readers know: review every field, and the models.",
        "",
    )
    if draft.persons is not None:
        yield from comment(describe_persons(draft.persons, united="individual" in draft.stated), "")
    if draft.vertices:
        yield from comment("Vertex types below the record, with the average number in each parent:", "")
    for below in draft.vertices:
        yield f"#   {text(below.path)}: {below.each:.1f}"
    deep = _count_nested(draft)
    if deep and "tables" not in draft.stated:
        yield from comment(
            f"Lists inside lists: {deep}. There most is lost. Where it does not matter in which item of the "
            "outer list an item was, `shape` can lift it to the record before anything else.",
            "",
        )
    waiting = f"decide the {open_questions} marked CONFIRM, " if open_questions else ""
    yield f"draft: {text(f'look at every field, {waiting}then remove this line')}"
    yield "version: 1"
    for key, value in draft.stated.items():
        yield from _write_stated(key, value)
    yield from comment("A field that appears later and has no rule stops the run.", "")
    yield "unlisted: error"
    yield from _pairs(draft)
    yield "models:"
    for promise in draft.promises:
        yield from comment(f"{promise.why}.", "  ")
        yield f"  - {flow(promise.model)}"
    if len(draft.promises) == 1:
        yield from comment(
            "CONFIRM: no field is proposed as sensitive. What must remain unknown about a person? Give it "
            "`role: sensitive`, and a model such as {kind: frequency-l-diversity, l: 2}.",
            "  ",
        )
    yield "fields:"
    for row in draft.fields:
        yield from comment(f"{facts(row)}", "  ")
        asked = row.proposal.confirm
        mark = f" CONFIRM: {asked}{'' if asked.endswith('?') else '.'}" if asked else ""
        yield from comment(f"{row.proposal.role}: {row.proposal.reason}.{mark}", "  ")
        yield f"  {text(row.path)}: {flow(row.proposal.rule)}"


def _write_stated(key: str, value: Any) -> Iterator[str]:
    if key == "tables":
        yield from _tables(value)
    elif key == "safe_harbor":
        yield from comment(f"CONFIRM: {IDENTIFIERS_ASKED}", "")
        yield from write_lines(key, value)
    else:
        yield f"{key}: {flow(value)}"


def _tables(rules: Mapping[str, object]) -> Iterator[str]:
    yield from comment(
        "CONFIRM: are the tables linked correctly? The links were found by names and values; a wrong link "
        "would combine data of different people.",
        "",
    )
    yield from write_lines("tables", rules)


def write_lines(key: str, values: Mapping[str, object]) -> Iterator[str]:
    """Yield a mapping of a policy with a line for each of its values."""
    yield f"{key}:"
    for name, value in values.items():
        yield f"  {text(name)}: {flow(value)}"


def comment(words: str, indent: str) -> Iterator[str]:
    """Yield words as lines of a comment in YAML, with what does not show as escapes."""
    for line in wrap(escape(words), WIDTH - len(indent) - 2, break_long_words=False, break_on_hyphens=False):
        yield f"{indent}# {line}"


def _pairs(draft: Draft) -> Iterator[str]:
    if not draft.pairs:
        return
    fields = {keys for pair in draft.pairs for keys in (pair.first, pair.second)}
    limit = f" Only the first {PAIRED} fields were measured." if len(fields) == PAIRED else ""
    yield from comment(
        "Risk if two fields of a person are known, for the pairs that reveal most beyond either field alone. "
        "Shares are of all records: those that no other record equals, and those in groups below "
        f"{K}.{limit}",
        "",
    )
    for pair in draft.pairs[:_PAIRS]:
        first, second = map(text, draft.paths([pair.first, pair.second]))
        yield f"#   {first} and {second}: {shares(pair.risk)}"


def facts(drafted: Drafted) -> str:
    """Return sentences on the profile of a field and the server's schema of it, without any value."""
    stated, sentences = drafted.field.stated, _describe_field(drafted)
    if stated is None:
        return sentences
    known = [" or ".join(stated.types)] if stated.types else []
    known += ["required"] if stated.required else []
    known += [_count(stated.choices, "choice")] if stated.choices is not None else []
    return f"{sentences} Its validator says: {', '.join(known)}." if known else sentences


def _describe_field(drafted: Drafted) -> str:
    field, risk = drafted.field, drafted.risk
    if field.attribute is None or risk is None:
        return f"{presence(field)}."
    attribute = field.attribute
    values = attribute.values
    about = "" if values.exact else "about "
    several = "different values" if values.distinct != 1 else "value"
    spelled = ", ".join(sorted(map(repr, attribute.looks.missing)))
    missing = f"; missing values are written {spelled}" if spelled else ""
    sentence = f"{kinds(attribute.looks)}, {presence(field)}; {about}{values.distinct:,} {several}{missing}"
    if not field.inside:
        return f"{sentence}. Known alone: {shares(risk)}."
    rare = percent(min(1.0, values.below(K) / attribute.present))
    return (
        f"{sentence}; {about}{rare} of all values occur fewer than {K} times. All values of a record known: "
        f"{shares(risk)}."
    )


def kinds(looks: Looks) -> str:
    """Return the types and formats of a field's values, the most frequent first."""
    return " and ".join(dict.fromkeys(_KINDS.get(name, "texts") for name, _ in looks.formats.most_common()))


def presence(field: Field) -> str:
    """Return in words how often the field is present."""
    nested = len(field.keys) > 1
    if not field.presence:
        return "never present"
    if field.presence >= 1:
        return "in all of its parents" if nested else "always present"
    return f"in {percent(field.presence)} {'of its parents' if nested else 'of the records'}"


def shares(risk: FieldRisk) -> str:
    """Return the two shares of a risk in words."""
    about = "" if risk.exact else "about "
    return f"{about}{percent(risk.unique)} unique, {about}{percent(risk.small)} in groups below {K}"


def percent(share: float) -> str:
    """Return a share in whole per cent; a share between 0 and 1 is never shown as 0 or 100 %.

    >>> percent(0), percent(0.001), percent(0.5), percent(0.9999), percent(1)
    ('0 %', 'under 1 %', '50 %', 'over 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < share < 1 else f"{share:.0%}".replace("%", " %")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _count_nested(draft: Draft) -> int:
    """Return how many vertex types are below others."""
    outer = tuple(f"{below.path}{end}" for below in draft.vertices for end in "./[")
    return sum(below.path.startswith(outer) for below in draft.vertices)


_UNQUOTED = re.compile(
    r"[A-Za-z][\w-]*(?: [\w-]+)*|\$(?:\.[^\W\d]\w*(?:\[\*\])*)+~?|(?:/@?[^\W\d][\w.-]*)+", re.ASCII
)
_NO_TEXTS = {"true", "false", "null"}


def flow(value: Any, inside: bool = False) -> str:
    """Return the value in flow style; ``inside`` a collection, a text with brackets is quoted.

    >>> flow({"role": "quasi", "interval": {"steps": [1, Decimal("0.5")]}, "flat": True})
    '{role: quasi, interval: {steps: [1, 0.5]}, flat: true}'
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key, True)}: {flow(item, True)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(item, True) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    return text(str(value), inside)


def text(value: str, inside: bool = False) -> str:
    """Return a text, in quotes if necessary.

    >>> print(text("$.a[*].b"), text("$.a[*].b", True), text("$['odd \\n name']"), text("true"))
    $.a[*].b "$.a[*].b" "$['odd \\u000A name']" "true"
    """
    if _UNQUOTED.fullmatch(value) and value not in _NO_TEXTS and not (inside and "[" in value):
        return value
    return '"' + "".join(map(_escape_character, value)) + '"'


def _escape_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if escape(character) == character:
        return character
    point = ord(character)
    return f"\\u{point:04X}" if point < 0x10000 else f"\\U{point:08X}"
