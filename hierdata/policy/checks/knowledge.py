"""What bounded knowledge goes with, as far as the policy alone tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.documents.document import Scalar
from hierdata.engines import ENGINES
from hierdata.ground.errors import PolicyError
from hierdata.ground.recodings import DEFAULT
from hierdata.policy.checks.gates import explain_not_sensitive
from hierdata.policy.checks.tables import REFERENCE
from hierdata.policy.problems import Problem
from hierdata.policy.spec.fields import FieldRule
from hierdata.policy.spec.shape import COUNT_RULE, name_count
from hierdata.policy.spec.values import Keep
from hierdata.records.schema import Schema
from hierdata.records.survey import Keys

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy
    from hierdata.privacy import BoundedKnowledge

ONCE = (
    "does not repeat, so there is nothing to count: name a list, such as $.visits[*], or in XML an element "
    "that repeats"
)
NO_FACTS = (
    "has no facts below the record, so m bounds nothing: take k-anonymity, or state `root: counted`, which "
    "counts the values of the record itself"
)


def check_knowledge(policy: Policy) -> Iterator[Problem]:
    """Yield what cannot be combined with a model that bounds knowledge, and with its engine."""
    bounding = [index for index, model in enumerate(policy.models) if model.bounds_knowledge]
    model = policy.knowledge
    yield from _check_engine(policy)
    if model is None:
        return
    kind, where = model.kind, ("models", bounding[0])
    if len(bounding) > 1:
        yield ("models", bounding[1]), f"{kind} is stated twice: state it once, with the larger k and m"
    if not policy.recoding_traits.generalizes_each_value:
        yield ("recoding",), f"{kind} needs values by nodes, each in its record: use recoding {DEFAULT}"
    if policy.suppressed is not None:
        yield ("suppressed",), f"under {kind} no record is suppressed: leave `suppressed` out"
    if isinstance(policy.unlisted, Keep):
        reason = f"{kind} counts the facts of stated fields: give each field a rule, and use error or drop"
        yield ("unlisted",), reason
    yield from _check_references(policy, kind)
    nested = any(len(path.keys) > 1 or path.steps[-1].many is not False for path in policy.paths)
    if model.root == "known" and not nested and model.facts == "quasi":
        yield where, f"{kind}: the policy {NO_FACTS}"
    yield from _check_counts(policy, model, (*where, "counts"))
    yield from _check_values(policy, model, where)
    yield from _check_known(policy, model, (*where, "facts"))


def _check_engine(policy: Policy) -> Iterator[Problem]:
    """Yield steps that do not go with the models; a preset is refused by its own list of models."""
    if policy.preset is not None:
        return
    names = " or ".join(name for name, engine in ENGINES.items() if engine.bounds_knowledge)
    for index, step in enumerate(policy.steps):
        where = ("engine", "steps", index)
        if policy.knowledge is not None and not step.bounds_knowledge:
            yield where, f"{policy.knowledge.kind} goes with the engine {names} only: leave `engine` out"
        elif policy.knowledge is None and step.bounds_knowledge:
            yield (
                where,
                f"{step.kind} searches under bounded knowledge only: add that model, or take k-member",
            )


def _check_references(policy: Policy, kind: str) -> Iterator[Problem]:
    identified = {spec.domain for spec in policy.pseudonyms.values() if spec.is_identity}
    for keys, spec in policy.pseudonyms.items():
        if policy.standard is not None and keys[-1] == REFERENCE:
            continue  # reported with the tables
        if not spec.is_identity and spec.domain in identified and not spec.keeps_references:
            path = policy.spell_path(keys)
            reason = (
                f"under {kind} single vertices are left out, and a reference that leads to nothing would "
                "tell of them: drop the field, or give it another domain"
            )
            yield ("fields", path), reason


def _check_counts(policy: Policy, model: BoundedKnowledge, where: tuple[str | int, ...]) -> Iterator[Problem]:
    if model.counts and model.root == "counted":
        yield where, "counts are known values of the record, and always published: state `root: known`"
    expected = FieldRule.model_validate(COUNT_RULE)
    for text, edges in (model.counts or {}).items():
        try:
            path = policy.path(text)
        except PolicyError as error:
            yield where, str(error)
            continue
        if not path.steps or path.steps[-1].many is False:
            yield where, f"{text} {ONCE}"
            continue
        if any(step.conditions for step in path.steps):
            yield where, f"{text} has a filter, and counts are of whole lists: leave it out"
            continue
        if path.keys in policy.maps:
            yield where, f"{text} is a map, whose entries are not counted: leave it out"
            continue
        field = name_count(path)
        rule = policy.rules_by_keys.get(policy.path(field).keys, (None, None))[1]
        counting = [spec.step for spec in policy.shape if spec.step.new_field == field]
        if rule != expected or [(step.source, getattr(step, "bins", None)) for step in counting] != [
            (text, edges)
        ]:
            yield where, f"the counts of {text} are published as {field}: leave that field out of the policy"


def _check_values(policy: Policy, model: BoundedKnowledge, where: tuple[str | int, ...]) -> Iterator[Problem]:
    if model.alpha is None:
        return
    if not policy.sensitive:
        yield (*where, "alpha"), "alpha bounds sensitive values, and there are none: leave it out"
        return
    for text in model.values or ():
        if reason := explain_not_sensitive(policy, text):
            yield (*where, "values"), reason


def _check_known(policy: Policy, model: BoundedKnowledge, where: tuple[str | int, ...]) -> Iterator[Problem]:
    """Yield what is wrong with the sensitive fields whose values may be known."""
    if model.facts == "quasi":
        return
    if not policy.sensitive:
        yield where, "there are no sensitive fields whose values could be known: leave `facts` out"
        return
    for text in () if model.facts == "all" else model.facts:
        if reason := explain_not_sensitive(policy, text):
            yield where, reason


def check_facts(policy: Policy, schema: Schema) -> None:
    """Raise PolicyError if a collection leaves open which facts its records have, or they have none.

    A published XML element does not show whether it may repeat, and everybody must count the same facts.
    """
    model = policy.knowledge
    if model is None:
        return
    if len(schema.types) == 1 and model.root == "known" and model.facts == "quasi":
        raise PolicyError(f"{model.kind}: the collection {NO_FACTS}")
    kinds = {schema.keys(kind.index): kind for kind in schema.types[1:]}
    for text in model.counts or ():
        keys = policy.path(text).keys
        if keys not in kinds:
            raise PolicyError("counts: no record has such vertices: correct the path", path=text)
        if not kinds[keys].many:
            raise PolicyError(f"counts: this vertex {ONCE}", path=kinds[keys].path)
    for kind in schema.types[1:]:
        if policy.place and schema.keys(kind.index) not in policy.vertices:
            raise PolicyError(
                f"this element repeats, and under {model.kind} the policy must say so: add a rule with "
                "vertex: true for it",
                path=kind.path,
            )


def bounded_values(policy: Policy) -> dict[Keys, tuple[Scalar, ...]] | None:
    """Return the values that alpha bounds by sensitive field, None for all values of all fields."""
    model = policy.knowledge
    if model is None or model.values is None:
        return None
    return {policy.path(text).keys: values for text, values in model.values.items()}


def known_counts(policy: Policy) -> dict[Keys, tuple[Keys, tuple[int, ...]]]:
    """Return by counted vertices the field that has the bin of their number, and where bins begin."""
    stated = {} if policy.knowledge is None else policy.knowledge.counts or {}
    paths = {text: policy.path(text) for text in stated}
    return {path.keys: (policy.path(name_count(path)).keys, stated[text]) for text, path in paths.items()}


def known_values(policy: Policy) -> frozenset[Keys]:
    """Return the sensitive fields with values that somebody may know as facts."""
    model = policy.knowledge
    if model is None or model.facts == "quasi":
        return frozenset()
    if model.facts == "all":
        return frozenset(policy.sensitive)
    return frozenset(policy.path(text).keys for text in model.facts)


def bounds_values_at(policy: Policy, keys: Keys) -> bool:
    """Return whether the alpha of bounded knowledge bounds values of a sensitive field."""
    if policy.knowledge is None or policy.knowledge.alpha is None:
        return False
    values = bounded_values(policy)
    return values is None or keys in values
