"""Collect what the pictures of the steward's report are drawn from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from hierdata.documents.document import Scalar
from hierdata.domains.base import ROOT_LABEL
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.metrics.tallies import Counted
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.spec.fields import FieldRule
from hierdata.records.schema import Schema
from hierdata.records.survey import Keys
from hierdata.release.public import ReadBack, losses_of
from hierdata.release.report.parts import BANDS, LEFT_OUT, MISSING, Change, ExampleLine, Pictures

LEFT_OUT_IN_MOST = "left out, in most"
_MOST_FREQUENT = 6
"""Values of a sensitive attribute that are shown each by itself."""


def collect_pictures(prepared: Prepared, counts: Counted, published: ReadBack) -> Pictures:
    """Collect depths from the published files, the rest from the counts of the run."""
    sizes = {str(size): counts.class_sizes[size] for size in sorted(counts.class_sizes)}
    # Where values are published apart, groups hide values and not records: their sizes bound no chance.
    apart = prepared.policy.recoding_traits.separates_values
    whole = not apart and sum(counts.class_sizes.values()) == counts.published_records
    return Pictures(
        depths=dict(_depths(prepared, counts, published)),
        distributions=dict(_distributions(prepared, counts)),
        class_sizes=sizes if whole else {},
        example=tuple(_example(prepared, counts, published)),
    )


def _depths(prepared: Prepared, counts: Counted, published: ReadBack) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the path of each quasi-identifier with its values by band; all of the input are counted."""
    for keys in published.policy.quasi:
        kind = _type_of(prepared, keys)
        if kind is None:
            continue
        bands = dict.fromkeys((*BANDS, LEFT_OUT, MISSING), 0)
        for label, count, loss in _labels(published, keys):
            bands[_band(label, loss)] += count
        bands[LEFT_OUT] = counts.vertices[kind] - counts.published[kind]
        bands[MISSING] = max(counts.vertices[kind] - sum(bands.values()), 0)
        if counts.vertices[kind]:
            yield published.policy.spell_path(keys), bands


def _type_of(prepared: Prepared, keys: tuple[str, ...]) -> int | None:
    """Return the vertex type that has a field of these keys; None for one that only ``unlisted`` keeps."""
    if keys not in prepared.policy.rules_by_keys:
        return None
    path = prepared.policy.spell_path(keys)
    for kind in prepared.schema.types:
        if any(attribute.path == path for attribute in kind.attributes):
            return kind.index
    return None


def _labels(published: ReadBack, keys: tuple[str, ...]) -> Iterator[tuple[Scalar, int, Fraction]]:
    counted, loss = losses_of(published, keys)
    yield from ((label, count, loss(label)) for label, count in counted)


def _band(label: Scalar, loss: Fraction) -> str:
    if label == ROOT_LABEL:
        return BANDS[4]
    if loss == 0:
        return BANDS[0]
    return BANDS[1] if loss <= Fraction(1, 10) else BANDS[2] if loss <= Fraction(1, 3) else BANDS[3]


def _distributions(prepared: Prepared, counts: Counted) -> Iterator[tuple[str, tuple[Change, ...]]]:
    for domains in prepared.domains:
        for domain in domains:
            before = counts.values.get(domain.path)
            if before:
                after = counts.published_values.get(domain.path)
                yield domain.path, tuple(_changes(domain, before, after or {}))


def _changes(
    domain: SensitiveDomain, before: Mapping[int, int], after: Mapping[int, int]
) -> Iterator[Change]:
    """Yield the levels of an attribute, or its most frequent values and the others."""
    if domain.levels:
        groups = {
            f"level {level}": [code for code in before if domain.levels[code] == level]
            for level in range(1, domain.level_count + 1)
        }
    else:
        ranked = sorted((code for code in before if before[code]), key=lambda code: (-before[code], code))
        groups = {f"v{rank + 1}": [code] for rank, code in enumerate(ranked[:_MOST_FREQUENT])}
        if rest := ranked[_MOST_FREQUENT:]:
            groups[f"{len(rest):,} rarer values"] = rest
    for name, codes in groups.items():
        there, kept = (sum(side.get(code, 0) for code in codes) for side in (before, after))
        yield Change(name=name, input=there, published=kept)


def _example(prepared: Prepared, counts: Counted, published: ReadBack) -> Iterator[ExampleLine]:
    """Yield the lines of an invented record: each vertex before its fields, as it is published most often."""
    schema = prepared.schema
    fields: list[list[tuple[Keys, str, FieldRule]]] = [[] for _ in schema.types]
    for keys, (path, rule) in prepared.policy.rules_by_keys.items():
        if rule.role is not None and (rule.published_as is None or _type_of(prepared, keys) is not None):
            fields[_innermost(schema, keys)].append((keys, str(path), rule))
    for kind in schema.types:
        above = schema.keys(kind.index)
        depth = len(schema.line(kind.index)) - 1
        lost = 2 * counts.published[kind.index] < counts.vertices[kind.index]
        form = "one of a list" if kind.many else "an object"
        if depth:
            name = ".".join(kind.steps)
            after = LEFT_OUT_IN_MOST if lost else form
            yield ExampleLine(path=kind.path, name=name, depth=depth - 1, before=form, after=after)
        for keys, text, rule in fields[kind.index]:
            before, after = _show_field(prepared, published, keys, rule)
            after = LEFT_OUT_IN_MOST if lost and rule.published_as is not None else after
            name = ".".join(keys[len(above) :]) or "value"
            yield ExampleLine(path=text, name=name, depth=depth, before=before, after=after)


def _show_field(prepared: Prepared, published: ReadBack, keys: Keys, rule: FieldRule) -> tuple[str, str]:
    """Return an invented value of a field, and as it is published most often."""
    traits = prepared.policy.recoding_traits
    if rule.published_as is None:
        return "a value", LEFT_OUT
    if keys in published.policy.quasi:
        # Sets and ranges are made of values of the class, which the report does not repeat.
        sets = traits.publishes_value_sets
        return ("a value", "a set or range") if sets else _show_generalized(published, keys)
    if rule.role == "sensitive":
        return "a value", "one value of a group" if traits.separates_values else "the same value"
    return "a value", "another value" if rule.stated_action else "the same value"


def _innermost(schema: Schema, keys: Keys) -> int:
    """Return the vertex type that a path lies in; that of the record for others."""
    places = {schema.keys(kind.index): kind.index for kind in schema.types}
    return next(places[keys[:end]] for end in range(len(keys), -1, -1) if keys[:end] in places)


def _show_generalized(published: ReadBack, keys: Keys) -> tuple[str, str]:
    """Return an invented value and the most frequent form that is generalized; values that stay are equal.

    Where that is ``*``, the value is invented from the most frequent other form.
    """
    forms = [(count, str(label)) for label, count, loss in _labels(published, keys) if loss]
    if not forms:
        return "a value", "the same value"
    _, after = max(forms)
    others = [form for form in forms if form[1] != ROOT_LABEL]
    return _invent(max(others)[1] if others else after), after


def _invent(form: str) -> str:
    """Invent a value that a published form covers. Nothing but the form is used.

    >>> _invent("[1985, 1989]"), _invent("2001-03"), _invent("481**"), _invent("*")
    ('1987', '2001-03-15', '48147', 'a value')
    >>> _invent("[1970-01-01, 1979-12-31]")
    '1974-07-15'
    """
    if form == ROOT_LABEL:
        return "a value"
    if whole := re.fullmatch(r"\[(-?\d+), (-?\d+)\]", form):
        low, high = int(whole[1]), int(whole[2])
        if high - low > 1:
            return str((low + high) // 2)
    if years := re.fullmatch(r"\[(\d{4})-01-01, (\d{4})-12-31\]", form):
        return f"{(int(years[1]) + int(years[2])) // 2:04}-07-15"
    if re.fullmatch(r"\d{4}-\d{2}", form):
        return f"{form}-15"
    if re.fullmatch(r"[^*]+\*{1,9}", form):
        stars = form.count("*")
        return f"{form[:-stars]}{'4747474747'[:stars]}"
    return f"a value in {form}"
