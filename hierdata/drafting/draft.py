"""The draft of a policy: what was seen of a collection, what is proposed, and the file that says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap
from typing import Any

from hierdata.drafting.field_names import Looks
from hierdata.drafting.fields import Below, Field
from hierdata.drafting.profile import PAIRED
from hierdata.drafting.promises import K, Promise
from hierdata.drafting.proposal import Proposal
from hierdata.drafting.risk import PairRisk, Risk
from hierdata.drafting.yaml_text import flow, text
from hierdata.errors import TargetError
from hierdata.records.survey import Keys

WIDTH = 110
_PAIRS = 5
"""Pairs of fields that the file names: those that tell most records apart."""
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


@dataclass(frozen=True)
class Drafted:
    """One field of a draft: what it is, what is proposed, and how far it alone leads to a record."""

    field: Field
    proposal: Proposal
    risk: Risk | None

    @property
    def path(self) -> str:
        """The path as the policy names it."""
        return self.field.path


@dataclass(frozen=True)
class Draft:
    """A policy proposed for a collection. ``str`` of it is the file, without any value of the data.

    ``vertices`` are the vertex types below the record, ``fields`` has the proposal for each field,
    ``promises`` the models, ``pairs`` the risk of every two fields that were measured together, those first
    that tell most beyond either field alone; shares are those of ``records``. ``reveals`` are values for the
    steward's eyes.
    """

    records: int
    vertices: tuple[Below, ...]
    fields: tuple[Drafted, ...]
    promises: tuple[Promise, ...]
    pairs: tuple[PairRisk, ...]
    stated: Mapping[str, Any] = field(default_factory=dict)
    reveals: tuple[str, ...] = field(default=(), repr=False)

    def confirmed(self) -> dict[str, Any]:
        """The policy as a dict that is no draft any more: whoever calls this has looked at it."""
        return {
            "version": 1,
            **self.stated,
            "unlisted": "error",
            "models": [promise.model for promise in self.promises],
            "fields": {one.path: one.proposal.rule for one in self.fields},
        }

    def __str__(self) -> str:
        return render(self)

    def save(self, path: str | Path) -> None:
        """Write the draft to a new file. Raises TargetError when it exists or cannot be written."""
        try:
            with Path(path).open("x", encoding="utf-8") as file:
                file.write(str(self))
        except FileExistsError:
            raise TargetError("is already there; choose a new name", path=str(path)) from None
        except OSError as error:
            raise TargetError(f"cannot be written ({error.strerror})", path=str(path)) from None

    def paths(self, keys: Sequence[Keys]) -> list[str]:
        """The paths of fields by their keys."""
        known = {one.field.keys: one.path for one in self.fields}
        return [known[one] for one in keys]


def render(draft: Draft) -> str:
    """The draft as a YAML file: what was seen, and why, in comments; no value of the data."""
    return "\n".join(_lines(draft)) + "\n"


def _lines(draft: Draft) -> Iterator[str]:
    open_questions = sum(bool(one.proposal.confirm) for one in draft.fields)
    yield from _comment(
        f"A draft by `hierdata init`, from {_count(draft.records, 'record')}. No value of the data stands in "
        "it. A machine cannot know what your readers know: look at every field, and at the models.",
        "",
    )
    if draft.vertices:
        yield from _comment(
            "Vertices below a record, and how many there are on average in the one above:", ""
        )
    for below in draft.vertices:
        yield f"#   {text(below.path)}: {below.each:.1f}"
    waiting = f"decide the {open_questions} marked CONFIRM, " if open_questions else ""
    yield f"draft: {text(f'look at every field, {waiting}then remove this line')}"
    yield "version: 1"
    for key, value in draft.stated.items():
        yield from _tables(value) if key == "tables" else (f"{key}: {flow(value)}",)
    yield from _comment("A field that appears later and has no rule stops everything.", "")
    yield "unlisted: error"
    yield from _pairs(draft)
    yield "models:"
    for promise in draft.promises:
        yield from _comment(f"{promise.why}.", "  ")
        yield f"  - {flow(promise.model)}"
    if len(draft.promises) == 1:
        yield from _comment(
            "CONFIRM: no field is proposed as sensitive. What must not become known of a person? Give it "
            "`role: sensitive`, and a model such as {kind: frequency-l-diversity, l: 2}.",
            "  ",
        )
    yield "fields:"
    for one in draft.fields:
        yield from _comment(f"{facts(one)}", "  ")
        mark = f" CONFIRM: {one.proposal.confirm}." if one.proposal.confirm else ""
        yield from _comment(f"{one.proposal.role}: {one.proposal.reason}.{mark}", "  ")
        yield f"  {text(one.path)}: {flow(one.proposal.rule)}"


def _tables(rules: Mapping[str, object]) -> Iterator[str]:
    yield from _comment(
        "CONFIRM: do the tables hang together so? Names and values say so; a wrong column would make people "
        "who never were.",
        "",
    )
    yield "tables:"
    for name, rule in rules.items():
        yield f"  {text(name)}: {flow(rule)}"


def _comment(words: str, indent: str) -> Iterator[str]:
    for line in wrap(words, WIDTH - len(indent) - 2, break_long_words=False, break_on_hyphens=False):
        yield f"{indent}# {line}"


def _pairs(draft: Draft) -> Iterator[str]:
    if not draft.pairs:
        return
    fields = {keys for pair in draft.pairs for keys in (pair.first, pair.second)}
    limit = f" The first {PAIRED} fields were measured so." if len(fields) == PAIRED else ""
    yield from _comment(
        "Who knows two fields of a person comes this far; the pairs that tell most beyond either field "
        "alone. Shares are of all records: those that no other record equals, and those in groups below "
        f"{K}.{limit}",
        "",
    )
    for pair in draft.pairs[:_PAIRS]:
        first, second = map(text, draft.paths([pair.first, pair.second]))
        yield f"#   {first} and {second}: {shares(pair.risk)}"


def facts(one: Drafted) -> str:
    """What was seen of a field, and stated by its server, in sentences without a value."""
    return f"{_seen(one)}{_stated(one.field)}"


def _stated(field: Field) -> str:
    if field.stated is None:
        return ""
    known = [" or ".join(field.stated.types)] if field.stated.types else []
    known += ["required"] if field.stated.required else []
    known += [_count(field.stated.choices, "choice")] if field.stated.choices is not None else []
    return f" Its validator says: {', '.join(known)}." if known else ""


def _seen(one: Drafted) -> str:
    field, risk = one.field, one.risk
    if field.attribute is None or risk is None:
        return f"{presence(field)}."
    attribute = field.attribute
    values = attribute.values
    about = "" if values.exact else "about "
    several = "different values" if values.distinct != 1 else "value"
    spelled = ", ".join(sorted(map(repr, attribute.looks.missing)))
    missing = f"; missing is spelled {spelled}" if spelled else ""
    sentence = f"{kinds(attribute.looks)}, {presence(field)}; {about}{values.distinct:,} {several}{missing}"
    if not field.inside:
        return f"{sentence}. Known alone: {shares(risk)}."
    rare = percent(min(1.0, values.below(K) / attribute.present))
    return (
        f"{sentence}, {about}{rare} of them in fewer than {K} places. All of a record known: {shares(risk)}."
    )


def kinds(looks: Looks) -> str:
    """The types and formats of a field's values, the most frequent first."""
    found = dict.fromkeys(_KINDS.get(name, "texts") for name, _ in looks.formats.most_common())
    return " and ".join(found)


def presence(field: Field) -> str:
    """How often the field is there."""
    within = "of what it belongs to" if len(field.keys) > 1 else "of the records"
    if not field.presence:
        return "never there"
    return "always there" if field.presence >= 1 else f"in {percent(field.presence)} {within}"


def shares(risk: Risk) -> str:
    """The two shares of a risk in words."""
    about = "" if risk.exact else "about "
    return f"{about}{percent(risk.unique)} unique, {about}{percent(risk.small)} in groups below {K}"


def percent(share: float) -> str:
    """A share in whole per cent; what is neither nothing nor all is not told as such.

    >>> percent(0), percent(0.001), percent(0.5), percent(0.9999), percent(1)
    ('0 %', 'under 1 %', '50 %', 'over 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < share < 1 else f"{share:.0%}".replace("%", " %")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
