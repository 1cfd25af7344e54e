"""Everything wrong or doubtful about a policy, alone or for a surveyed collection, in one pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Literal, get_args

from hierdata.domains.base import Hierarchy, Observed, Uncovered
from hierdata.domains.number import identity, plain
from hierdata.domains.similarity import is_transitive
from hierdata.ground.errors import HierdataError, PolicyError
from hierdata.policy.checks.persons import find_repeating_persons, show_path
from hierdata.policy.checks.records import find_rare_forms
from hierdata.policy.checks.sensitive import class_size, domain_of, find_unlimited, pairs
from hierdata.policy.lint.attainable import (
    estimate_patterns,
    presence_shortfalls,
    shortfalls,
    values_above_alpha,
)
from hierdata.policy.lint.fields import (
    find_no_labels,
    find_rare_types,
    find_telling,
    judged_apart,
    moved_dates,
    nothing_published,
    references,
    variants,
)
from hierdata.policy.lint.levels import observe_field, propose_alphas
from hierdata.policy.lint.traces import find_filling, find_singled_out, find_traces
from hierdata.policy.load import add_unlisted
from hierdata.policy.load.yaml import read
from hierdata.policy.policy import Policy
from hierdata.policy.problems import Position
from hierdata.records.binding import problems
from hierdata.records.survey import Keys, Survey

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (``error``: nothing can be published), doubtful (``warning``) or good to know.

    ``revealed`` holds the raw values behind it; they are not part of the message. ``position`` is that of the
    field or key in the policy's file, if it is known.
    """

    severity: Severity
    path: str
    message: str
    revealed: tuple[str, ...] = ()
    position: Position | None = None


NOTHING = "every field is dropped: a release would consist of empty records, which keep any promise"
UNLIMITED = (
    "no model limits what can be guessed of this sensitive field{nor}: add a model such as "
    "frequency-l-diversity, or drop the field"
)
_LISTED = 5
"""The most fields that one finding lists by their paths."""
OTHERS_LIMITED = "; or add it to the `on` of a model that has one"


def lint(
    policy: Policy,
    survey: Survey | None = None,
    many_hints: Collection[Keys] = (),
    *,
    doubtful: Collection[str] = (),
) -> list[Finding]:
    """Check a policy; with a survey also against the collection. Errors come first.

    To find identifiers that repeat, the survey must count ``policy.declared_fields(identifiers=True)``. For a
    ``doubtful`` path only its fit to the shape of the records is reported.
    """
    findings = list(_shape(policy, survey, many_hints)) if survey is not None else []
    findings += [finding for finding in _findings(policy, survey) if finding.path not in doubtful]
    return sorted(findings, key=lambda finding: get_args(Severity).index(finding.severity))


def _findings(policy: Policy, survey: Survey | None) -> Iterator[Finding]:
    yield from _files(policy)
    if policy.models_of_preset:
        yield Finding("note", "engine.preset", f"models {policy.models_of_preset}")
    yield from _models(policy)
    for keys, message in chain(judged_apart(policy), moved_dates(policy)):
        yield Finding("warning", policy.spell_path(keys), message)
    yield from _domains(policy, survey)
    if survey is not None:
        yield from _levels(policy, survey)
        yield from _meanings(policy, survey)
    yield from _capacities(policy, survey)
    if survey is not None:
        yield from _sizes(policy, survey)
        yield from _find_doubts(policy, survey)


def _find_doubts(policy: Policy, survey: Survey) -> Iterator[Finding]:
    """Find what is wrong or doubtful about the fields of a collection under a policy."""
    remark = "; then no record can be suppressed, unless with `suppressed: as_published`"
    for keys, message in shortfalls(policy, survey):
        yield Finding(
            "warning", policy.spell_path(keys), f"{message}{remark if policy.guards_suppressed else ''}"
        )
    for keys, message in chain(find_no_labels(policy, survey), find_rare_forms(policy, survey)):
        yield Finding("error", policy.spell_path(keys), message)
    doubts = (nothing_published, presence_shortfalls, references, find_telling, find_filling)
    for keys, message in chain.from_iterable(doubt(policy, survey) for doubt in doubts):
        yield Finding("warning", policy.spell_path(keys), message)
    for keys, message, raw in chain(variants(policy, survey), values_above_alpha(policy, survey)):
        yield Finding("warning", policy.spell_path(keys), message, raw)
    for keys, message in find_traces(policy, survey):
        yield Finding("error", policy.spell_path(keys), message)
    for severity, keys, message in chain(
        find_repeating_persons(policy, survey), find_singled_out(policy, survey)
    ):
        yield Finding(severity, show_path(policy, keys), message)
    yield from _find_repeated(policy, survey)
    for path, message in chain(find_rare_types(policy, survey), estimate_patterns(policy, survey)):
        yield Finding("warning", path, message)


def _files(policy: Policy) -> Iterator[Finding]:
    if policy.record_schema is None:
        return
    file = policy.folder / policy.record_schema
    if not file.is_file():
        yield Finding("error", "schema", f"{policy.record_schema} is not a file")
    elif file.suffix.lower() == ".json":
        try:
            read(file)
        except HierdataError as error:
            yield Finding("error", "schema", str(error))


def _models(policy: Policy) -> Iterator[Finding]:
    if policy.publishes_nothing:
        yield Finding("warning", "fields", NOTHING)
    broken = set()
    for attribute, rule in policy.sensitive.items():
        try:
            rule.semantics(policy.folder)
        except PolicyError as error:
            broken.add(attribute)
            yield Finding("error", policy.spell_path(attribute), str(error))
    for keys, model in pairs(policy):
        if keys in broken:
            continue
        try:
            model.bind(None if keys is None else domain_of(policy, keys, {}))
        except PolicyError as error:
            yield Finding("error", error.path or "models", str(error).removeprefix(f"{error.path}: "))
    some = any(model.on is not None for model in policy.models)
    if unlimited := [policy.spell_path(keys) for keys in find_unlimited(policy)]:
        message = UNLIMITED.format(nor=_list_others(unlimited[1:]))
        yield Finding("warning", unlimited[0], message + (OTHERS_LIMITED if some else ""))


def _list_others(paths: Sequence[str]) -> str:
    """Return the words for more fields of which the same is said."""
    listed = list(paths[:_LISTED])
    if more := len(paths) - len(listed):
        listed.append(f"{more} more")
    if not listed:
        return ""
    *others, last = listed
    return f", nor of {', '.join(others)}{' and ' if others else ''}{last}"


def _shape(policy: Policy, survey: Survey, many_hints: Collection[Keys]) -> Iterator[Finding]:
    stated = add_unlisted(policy, survey.shape, many_hints)
    whole = add_unlisted(policy, survey.shape, many_hints, least=0)
    if rare := [path for path in whole.fields if path not in stated.fields]:
        size = class_size(policy)
        message = (
            f"a field that no rule names is in fewer than {size} records. Its name could tell whose it is, "
            "so it is left out"
            if len(rare) == 1
            else f"{len(rare)} fields that no rule names are in fewer than {size} records. Their names could "
            "tell whose they are, so they are left out"
        )
        yield Finding("warning", "unlisted", message, tuple(rare))
    for problem in problems(stated.rules(), survey.shape, stated.unlisted_fields, many_hints):
        yield Finding("error", problem.path, problem.message, problem.revealed)


def _describe_values(values: Sequence[tuple[object, int]], fault: str) -> tuple[str, tuple[str, ...]]:
    """Return a text with the numbers of values and occurrences, and the raw values separately."""
    distinct, occurrences = len(values), sum(count for _, count in values)
    subject = "1 value" if distinct == 1 else f"{distinct} values"
    times = "1 occurrence" if occurrences == 1 else f"{occurrences} occurrences"
    return f"{subject} ({times}) {fault}", tuple(sorted(str(value) for value, _ in values))


def _domains(policy: Policy, survey: Survey | None) -> Iterator[Finding]:
    """Find domains that cannot be used, and quasi-identifier values that they do not cover."""
    for keys, domain in policy.quasi.items():
        observed = observe_field(survey, keys)
        try:
            hierarchy = domain.compile(observed, policy.folder)
        except HierdataError as error:
            yield Finding("error", policy.spell_path(keys), str(error))
            continue
        if outside := _find_uncovered(hierarchy, observed):
            taken = f", which takes {domain.takes}" if domain.takes else ""
            message, revealed = _describe_values(outside, f"outside the {domain.called}{taken}")
            message += _COMMAS if any(_has_comma(value) for value, _ in outside) else ""
            yield Finding("error", policy.spell_path(keys), message, revealed)


def _find_uncovered(hierarchy: Hierarchy, observed: Observed) -> list[tuple[object, int]]:
    outside: list[tuple[object, int]] = []
    for value, count in observed.items():
        try:
            hierarchy.node_of(value)
        except Uncovered:
            outside.append((value, count))
    return outside


_COMMAS = "; with a decimal comma numbers are read under `csv: {decimal: ','}`"


def _has_comma(value: object) -> bool:
    """Return whether a value is a number with a decimal comma."""
    return isinstance(value, str) and value.count(",") == 1 and value.replace(",", "").isdecimal()


def _levels(policy: Policy, survey: Survey) -> Iterator[Finding]:
    """Find sensitive values without a level or a required number, and doubtful scales."""
    for keys, rule in policy.sensitive.items():
        observed = observe_field(survey, keys)
        scale = rule.scale(observed, policy.folder)
        outside: list[tuple[object, int]] = []
        for value, count in observed.items():
            if value is None:
                continue
            try:
                fits = (
                    scale.covers(value)
                    if scale is not None
                    else identity(value, rule.reads_numbers) is not None
                )
            except Uncovered:
                fits = False
            if not fits:
                outside.append((value, count))
        if outside:
            fault = "without a level" if scale is not None else "without a number where one is required"
            message, revealed = _describe_values(outside, fault)
            yield Finding("error", policy.spell_path(keys), message, revealed)
        for warning in scale.warnings if scale is not None and observed else ():
            yield Finding("warning", policy.spell_path(keys), warning)


def _meanings(policy: Policy, survey: Survey) -> Iterator[Finding]:
    """Find sensitive values outside their taxonomy, and distances that chain values further apart (LE-2)."""
    for keys, rule in policy.sensitive.items():
        observed = observe_field(survey, keys)
        with suppress(PolicyError):
            taxonomy = rule.semantics(policy.folder)
            if taxonomy is not None and (outside := _find_uncovered(taxonomy, observed)):
                message, revealed = _describe_values(outside, "outside the taxonomy")
                yield Finding("error", policy.spell_path(keys), message, revealed)
    for pair, model in pairs(policy):
        e = getattr(model, "e", None)
        if pair is None or e is None:
            continue
        with suppress(PolicyError):
            paths = domain_of(policy, pair, observe_field(survey, pair)).paths
            if paths is not None and not is_transitive(paths, e):
                message = f"{model.kind}: values at most {plain(e)} apart form chains"
                why = "whose ends are further apart, because their depths differ"
                yield Finding("warning", policy.spell_path(pair), f"{message} {why}")


def _capacities(policy: Policy, survey: Survey | None) -> Iterator[Finding]:
    """Find levels of which a class of the smallest size can hold no value (erratum ML-6)."""
    size = class_size(policy)
    chooses = any(step.chooses_from is not None for step in policy.steps)
    fixed = bool(policy.steps) and policy.steps[0].aligns and not chooses
    for keys, model in pairs(policy):
        if keys is None or not model.smallest_sizes():
            continue
        counts = _level_counts(policy, keys, survey) if survey is not None else None
        needed = model.smallest_sizes()
        for level, capacity in enumerate(model.capacities(size), 1):
            if capacity or (counts is not None and not counts.get(level)):
                continue
            values = f" ({counts[level]} of {sum(counts.values())} values)" if counts is not None else ""
            least = needed[level - 1]
            message = f"level {level}{values} cannot be published in classes of {size}: "
            if least is None:
                yield Finding("warning", policy.spell_path(keys), f"{message}its alpha is 0")
            elif fixed:
                unmade = f"and this engine makes none. State `k: {least}`, or no `engine`"
                message = f"{message}classes of {least} can hold it, {unmade}"
                yield Finding("warning", policy.spell_path(keys), message)
            else:
                message = (
                    f"level {level}{values} needs classes of {least} or more: those of {size} are too small"
                )
                yield Finding("note", policy.spell_path(keys), message)


def _sizes(policy: Policy, survey: Survey) -> Iterator[Finding]:
    size = class_size(policy)
    if 0 < survey.records < size:
        message = f"a class needs at least {size} records, and the collection has {survey.records}"
        yield Finding("error", "models", message)
    for keys, advice in propose_alphas(policy, survey):
        yield Finding("note", policy.spell_path(keys), advice)


def _level_counts(policy: Policy, keys: Keys, survey: Survey) -> dict[int, int]:
    observed = observe_field(survey, keys)
    scale = policy.sensitive[keys].scale(observed, policy.folder)
    counts: dict[int, int] = {}
    for value, count in observed.items():
        if scale is not None and value is not None and scale.covers(value):
            level = scale.level(value)
            counts[level] = counts.get(level, 0) + count
    return counts


def _find_repeated(policy: Policy, survey: Survey) -> Iterator[Finding]:
    """Find identifiers of the record that occur twice: k counts records, not individuals.

    A reference names another vertex, so that several records may share one. With `individual` records are
    united already, and what still repeats is of other persons, such as a physician.
    """
    if policy.individual is not None:
        return
    tokens = policy.pseudonyms
    identified = {spec.domain for spec in tokens.values() if spec.is_identity}
    said = {keys for _, keys, _ in find_repeating_persons(policy, survey)}
    for keys, (path, rule) in policy.rules_by_keys.items():
        if rule.role != "identifier" or policy.is_inside(keys) or keys in said:
            continue
        if keys in tokens and tokens[keys].domain in identified and not tokens[keys].is_identity:
            continue
        observed = observe_field(survey, keys)
        repeated = [(value, count) for value, count in observed.items() if count > 1 and value is not None]
        if repeated:
            repeats = "repeats" if len(repeated) == 1 else "repeat"
            message, revealed = _describe_values(repeated, f"of this identifier {repeats}")
            due = "k counts records, not individuals; `individual` unites the records of each"
            # What is dropped shows nothing, and whose records are is asked elsewhere.
            yield Finding("note" if rule.is_dropped else "warning", str(path), f"{message}: {due}", revealed)
