"""Contradictions in how a policy makes records: their shape, identifiers and maps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.ground.errors import PolicyError
from hierdata.policy.checks.sensitive import class_size
from hierdata.policy.problems import Problem, nearest
from hierdata.policy.shaped_tables import nested_tables
from hierdata.policy.spec.shape import IndividualRule
from hierdata.records.derived import DerivedField
from hierdata.records.maps import KEY
from hierdata.records.path import Path
from hierdata.records.shape.places import ShapeNotation
from hierdata.records.survey import Keys, PathSurvey, Survey

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy
    from hierdata.policy.spec.fields import FieldRule
    from hierdata.records.identifiers import PseudonymSpec


def check_shape(policy: Policy) -> Iterator[Problem]:
    """Yield what is wrong with the shape, and what cannot be combined with it."""
    individual = policy.individual_rule
    wrong = [] if individual is None else [*_check_individual(policy, individual)]
    yield from wrong
    usable = not wrong
    notation = ShapeNotation(policy.namespaces, policy.depth)
    for number, spec in enumerate(policy.shape):
        where = ("shape", number, spec.step.kind)
        try:
            for key, reason in spec.step.problems(notation):
                usable = False
                yield (*where, key), reason
        except PolicyError as error:
            usable = False
            yield where, str(error)
    if usable:
        if individual is not None and individual.nest is not None:
            yield from _check_nested(policy, individual, policy.path(individual.nest), notation)
        wrong = [*_check_lifts(policy, notation)]
        yield from wrong or _check_nested_tables(policy, notation)


def _check_individual(policy: Policy, individual: IndividualRule) -> Iterator[Problem]:
    where: tuple[str, ...] = ("individual",)
    try:
        identity = [policy.path(text) for text in individual.fields]
        own_fields = [policy.path(text) for text in individual.own]
        nest = None if individual.nest is None else policy.path(individual.nest)
    except PolicyError as error:
        yield where, str(error)
        return
    wrong = [
        path for path in identity if not path.steps or any(step.many or step.apart for step in path.steps)
    ]
    if wrong:
        yield where, f"{wrong[0]} must be one value of the record, not the record itself or a list"
    elif nest is None:
        if policy.tables is not None:
            yield where, "the rows of the root table differ in their keys: state `nest` with `by`"
    elif len(nest.keys) != 1 or nest.steps[0].conditions or nest.keys[0].startswith("@"):
        yield (*where, "nest"), f"{nest} must be a list of the individual itself, such as $.visits"
    elif nest.keys[0] in {path.keys[0] for path in (*identity, *own_fields) if path.keys}:
        yield (*where, "nest"), f"{nest} is a field of the individual: name a list that does not exist"
    for path in own_fields:
        if len(path.keys) != 1 or path.steps[0].conditions:
            yield (*where, "own"), f"{path} must be a field directly in the record"


def _check_nested(
    policy: Policy, individual: IndividualRule, nest: Path, notation: ShapeNotation
) -> Iterator[Problem]:
    """Yield rules on fields where they are no more, since the records were nested."""
    kept = {policy.path(text).keys[0] for text in (*individual.fields, *individual.own)}
    for spec in policy.shape:
        new = (spec.step.target, spec.step.new_field)
        kept |= {notation.read(text)[0] for text in new if text is not None}
    for path, text in zip(policy.paths, policy.fields, strict=True):
        if path.keys and path.document_keys[0] not in {*kept, *nest.keys}:
            here = f"`individual` nests this field below {nest}"
            yield ("fields", text), f"{here}: name it there, or list it under `own`"


def _check_nested_tables(policy: Policy, notation: ShapeNotation) -> Iterator[Problem]:
    """Yield what tables cannot hold after the shape."""
    if policy.tables is None:
        return
    where: tuple[str | int, ...] = ("individual", "nest")
    try:
        tables = nested_tables(policy)
        for number, spec in enumerate(policy.shape):
            where = ("shape", number, spec.step.kind)
            tables = spec.step.change_tables(tables, notation)
    except PolicyError as error:
        yield where, str(error)


def _check_lifts(policy: Policy, notation: ShapeNotation) -> Iterator[Problem]:
    """Yield lists with two parents, and rules on fields where they are no more."""
    moved: dict[Keys, str] = {}
    targets = set[Keys]()
    for number, spec in enumerate(policy.shape):
        step, where = spec.step, ("shape", number, spec.step.kind)
        if step.target is None:
            continue
        source, target = notation.read(step.source), notation.read(step.target)
        if source in moved:
            yield (*where, "from"), f"{step.source} is lifted twice: a list has one parent"
        if target in targets:
            yield (*where, "to"), f"two lists are lifted to {step.target}: a list has one parent"
        moved[source] = step.target
        targets.add(target)
    for path, text in zip(policy.paths, policy.fields, strict=True):
        for source, there in moved.items():
            if path.document_keys[: len(source)] == source and source not in targets:
                yield ("fields", text), f"`shape` lifts this list to {there}: name the field there"


def needs_key(policy: Policy) -> bool:
    """Return whether any field is replaced by means of a key."""
    actions = [rule.stated_action for rule in policy.fields.values()]
    return any(action is not None and action.keyed for action in actions)


def check_identifiers(policy: Policy) -> Iterator[Problem]:
    """Yield the contradictions between rules on identifiers and maps, or with the rest of the policy."""
    for keys, text in policy.maps.items():
        if (*keys, KEY) not in policy.rules_by_keys:
            yield ("fields", text), f"the keys of a map are values too: give them a rule, {text}[*]~"
    yield from _check_pseudonym_domains(policy)
    yield from _check_date_shifts(policy)
    if policy.key is not None and not needs_key(policy):
        yield ("key",), "no field has the action pseudonym or shift: leave `key` out"
    if policy.recoding_traits.publishes_classes and policy.pseudonyms:
        yield (
            ("recoding",),
            f"{policy.recoding} publishes classes, which have no pseudonyms: drop those fields",
        )


def _check_pseudonym_domains(policy: Policy) -> Iterator[Problem]:
    fields: defaultdict[str, dict[str, PseudonymSpec]] = defaultdict(dict)
    for text, rule in policy.fields.items():
        if rule.stated_action is not None and (tokens := rule.stated_action.tokens(text)) is not None:
            fields[tokens.domain][text] = tokens
    for specs in fields.values():
        forms = {(tokens.length, tokens.keeps_form) for tokens in specs.values()}
        for text in specs if len(forms) > 1 else ():
            yield ("fields", text, "action"), "all pseudonyms of a domain must have the same length and form"
        yield from _check_pseudonym_references(policy, specs)


def _check_pseudonym_references(policy: Policy, fields: dict[str, PseudonymSpec]) -> Iterator[Problem]:
    """Yield what is wrong with the references of the fields of one domain."""
    identified = any(tokens.is_identity for tokens in fields.values())
    for text, tokens in fields.items():
        where = ("fields", text, "action", "pseudonym")
        if tokens.is_identity and tokens.keeps_references:
            yield where, "an identity refers to nothing: leave `references` out"
        if len(fields) == 1 or tokens.is_identity or tokens.keeps_references:
            continue
        if not identified:
            yield (
                where,
                f"several fields have the pseudonyms of the domain {tokens.domain}: say `identity: true` for "
                "the one that identifies its vertex, so that references to what is not published can be "
                "dropped, or `references: keep`",
            )
        elif policy.recoding_traits.partitions_each_type:
            yield (
                where,
                f"with recoding {policy.recoding} records have no classes in which a reference to what is "
                "not published could be dropped: say `references: keep`, or drop the field",
            )


def _check_date_shifts(policy: Policy) -> Iterator[Problem]:
    shifts = {
        text: shift
        for text, rule in policy.fields.items()
        if rule.stated_action is not None and (shift := rule.stated_action.date_shift()) is not None
    }
    if len({(shift.days, shift.step, shift.by) for shift in shifts.values()}) > 1:
        yield (
            ("fields", list(shifts)[-1], "action"),
            "all dates of a record are shifted alike: state the same `days`, `unit` and `by` in every shift",
        )
    for text, rule in policy.fields.items():
        shift = getattr(rule.action, "shift", None)
        if shift is not None and (shift.format or shift.missing) and getattr(rule, "date", None) is not None:
            yield (
                ("fields", text, "action", "shift"),
                "the field has a date domain: state `format` and `missing` there only, for both",
            )
    for text, shift in shifts.items():
        where = ("fields", text, "action", "shift", "by")
        try:
            by = None if shift.by is None else policy.path(shift.by)
        except PolicyError as error:
            yield where, str(error)
            continue
        if by is not None and (by.place != policy.paths[0].place or policy.is_inside(by.keys)):
            yield where, f"{shift.by} is not a single value of the record"


def check_derived(policy: Policy) -> Iterator[Problem]:
    """Yield what is wrong with the derived fields of a policy."""
    for text, rule in policy.fields.items():
        if rule.derived is None:
            continue
        where = ("fields", text, "derived")
        try:
            source, keys = policy.path(rule.derived), policy.path(text).keys
        except PolicyError as error:
            yield where, str(error)
            continue
        source_rule = policy.rules_by_keys.get(source.keys)
        if source_rule is None or source.keys == keys:
            others = (other for other in policy.fields if other != text)
            yield where, f"no rule names the source {source}{nearest(rule.derived, others)}"
        elif reason := _refuse_source(policy, source_rule[1], DerivedField(source.keys, keys)):
            yield where, reason


def _refuse_source(policy: Policy, rule: FieldRule, derived: DerivedField) -> str | None:
    """Say why nothing can be derived from a field, None if it can."""
    if rule.derived is not None:
        return f"the source is derived itself: name its own source, {rule.derived}"
    if rule.role not in ("quasi", "sensitive", "insensitive") or rule.action is not None:
        return (
            "the source must be published as it is or in a coarser form: role quasi, sensitive or "
            "insensitive, without an action"
        )
    if rule.publish is not None:
        return "the source is published in a coarser form, which does not tell the label: drop this field"
    if policy.recoding_traits.publishes_classes and rule.role == "sensitive":
        return f"with recoding {policy.recoding} no sensitive value is next to a label: drop this field"
    shared = len(derived.shared)
    for keys in (derived.source, derived.label):
        if any(keys[:end] in policy.vertices for end in range(shared + 1, len(keys) + 1)):
            return "the source must be a field of the same object, not in another list or vertex"
    return None


def count_vertices(shape: PathSurvey | None) -> int:
    """Return how many vertices a collection has at a path that it may lack."""
    return 0 if shape is None else shape.objects + shape.scalars + shape.texts + shape.empties


def find_rare_forms(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield each field with substitutes of forms that fewer than k persons have, and why that is refused."""
    k = class_size(policy)
    for keys, forms in survey.substitutes.items():
        if rare := sum(count < k for count in forms.values()):
            shown = "1 form of values is" if rare == 1 else f"{rare} forms of values are"
            yield (
                keys,
                f"{shown} that of fewer than {k} records each, and `form: keep` would show it: take a "
                "pseudonym without it, or drop the field",
            )
