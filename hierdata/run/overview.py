"""The survey: what must be known of all records before the first is encoded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from hierdata.blocks import may_be_cut
from hierdata.errors import InputError, PolicyError
from hierdata.executors import Held
from hierdata.identifiers.treatment import MARK, Treatment
from hierdata.intake import Collection, FileForm, FilesForm, Form, InputSplit
from hierdata.intake.columns import TABULAR
from hierdata.policy import Policy
from hierdata.policy.identifiers import linked_domains
from hierdata.records.survey import Keys, Survey
from hierdata.run.spread import Spread
from hierdata.tasks.encode import Located
from hierdata.tasks.survey import Surveyed, SurveySplit

_SAMPLE = 40_000
"""Records that the cut is made from."""


@dataclass(frozen=True)
class Overview:
    """What the survey found: the collection's statistics, and the splits with what each has of a sample."""

    policy: Policy
    survey: Survey
    hints: frozenset[Keys]
    splits: tuple[Located, ...]
    held: Held[Surveyed]
    treatment: Treatment


def check_key(treatment: Treatment, kind: str) -> None:
    """Raise PolicyError where an executor of this kind would write a key down."""
    if treatment.keyed and kind == "spark":
        raise PolicyError(
            "Spark writes what it sends to its workers into files, and no file may hold a key: pseudonyms "
            "and shifts need the executor serial or processes"
        )


def look_over(
    collection: Collection,
    splits: Sequence[InputSplit],
    policy: Policy,
    spread: Spread,
    treatment: Treatment,
) -> Overview:
    """Survey all splits of a collection; the policy comes back with rules for what it keeps unlisted.

    Raises InputError for the first record that is broken or does not satisfy the JSON Schema.
    """
    hints = hints_of(collection, policy)
    flat = policy.tables is None and collection.form.format.name in TABULAR
    most = -(-_SAMPLE // len(splits)) if may_be_cut(policy, flat) else 0
    found, sizes, held = _surveyed(splits, policy, spread, most, treatment)
    extended = policy.with_unlisted(found.shape, hints)
    if extended is not policy:  # the values of the kept fields have not been counted yet
        held.release()
        found, sizes, held = _surveyed(splits, extended, spread, most, treatment)
    befores = accumulate(sizes, initial=0)
    located = tuple(Located(split, before) for split, before in zip(splits, befores, strict=False))
    return Overview(extended, found, hints, located, held, treatment)


def hints_of(collection: Collection, policy: Policy) -> frozenset[Keys]:
    """The paths that the policy's XSD says to be many. A JSON Schema goes with JSON, an XSD with XML."""
    named = policy.record_schema
    if named is None:
        return frozenset()
    form = collection.form
    is_xml = form.format.name == "xml"
    if named.lower().endswith(".xsd") != is_xml:
        kind = "an XSD" if is_xml else "a JSON Schema"
        raise PolicyError(f"the records are {form.format.name}: name {kind} under schema, or none")
    if not isinstance(form, FileForm | FilesForm) or not is_xml:
        return frozenset()
    from hierdata.records.xsd import many_hints

    return many_hints(policy.folder / named, policy.place or form.layout.records)


def in_order(collection: Collection, overview: Overview) -> Form:
    """The form of the release: elements in the order of the XSD, or else of their first appearance."""
    form, named = collection.form, overview.policy.record_schema
    if form.format.name != "xml" or not isinstance(form, FileForm | FilesForm):
        return form
    order = overview.survey.shape.order
    if named is None:
        return form.arranged(order)
    from hierdata.records.xsd import arranged

    place = overview.policy.place or form.layout.records
    return form.arranged(arranged(overview.policy.folder / named, place, order))


def _surveyed(
    splits: Sequence[InputSplit], policy: Policy, spread: Spread, most: int, treatment: Treatment
) -> tuple[Survey, list[int], Held[Surveyed]]:
    """The survey of all splits, how many records each has, and what is held of them."""
    named = policy.record_schema
    schema = None if named is None or named.lower().endswith(".xsd") else policy.folder / named
    inner, watch = spread.telling("reading", None, len(splits))
    survey = SurveySplit(policy.declared(), schema, most, treatment, inner)
    held = spread.executor.hold(splits).map(survey, watch)
    total: Survey | None = None
    sizes: list[int] = []
    marks: defaultdict[str, bytearray] = defaultdict(bytearray)
    for found, own, error, within in held.map(_statistics).collect():
        for domain, some in own.items():
            marks[domain] += some
        if error is not None:
            raise _numbered(error, sum(sizes)) if within else error
        sizes.append(found.records)
        if total is None:
            total = found
        else:
            total.merge(found)
    assert total is not None, "a collection has a split"
    total.repeated = repeated(marks, policy)
    return total, sizes, held


def _statistics(surveyed: Surveyed) -> tuple[Survey, dict[str, bytearray], InputError | None, bool]:
    return surveyed.survey, surveyed.marks, surveyed.error, surveyed.within


def repeated(marks: Mapping[str, bytearray], policy: Policy) -> dict[str, int]:
    """By domain how many pseudonyms stand in more than one record, where the policy does not let them."""
    linked = linked_domains(policy)
    counted = {domain: _repeated(own) for domain, own in marks.items() if domain not in linked}
    return {domain: count for domain, count in counted.items() if count}


def _repeated(marks: bytearray) -> int:
    """How many marks stand in more than one record: each has it once."""
    halves = np.frombuffer(marks, np.uint64).reshape(-1, MARK // 8)
    order = np.lexsort(halves.T)
    same = (halves[order[1:]] == halves[order[:-1]]).all(axis=1)
    return int((same & ~np.append(False, same[:-1])).sum())


def _numbered(error: InputError, before: int) -> InputError:
    """The error with the record's number in the collection."""
    record = None if error.record is None else error.record + before
    return InputError(error.message, record=record, path=error.path, revealed=error.revealed)
