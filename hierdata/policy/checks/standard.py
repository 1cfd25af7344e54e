"""What a policy publishes of FHIR resources: whether FHIR R4 can say it, and how it is written.

Labels and what is written for them correspond one to one, so that the judge reads back what was published.
A field whose labels FHIR cannot say is refused here.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, cast

from hierdata.documents.fhir.elements import elements_of, is_primitive, range_of, type_below
from hierdata.documents.fhir.labels import ALL_CODES, RangeSpelling, TextLabels
from hierdata.documents.fhir.typed import TypedField, TypedStep, Typing
from hierdata.domains import Interval, QuasiDomain, Taxonomy
from hierdata.domains.codes import MASK
from hierdata.domains.number import decimals, plain
from hierdata.policy.problems import Problem, nearest

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy
    from hierdata.policy.spec.fields import FieldRule
    from hierdata.records.path import Path

_DATES = ("date", "dateTime", "instant")
_NUMBERS = ("decimal", "integer", "positiveInt", "unsignedInt")
_GROUPS = ("groups", "beginnings")
_TEXTS = ("string", "markdown", "uri", "url", "canonical", "id")
_EXTENSIONS = ("extension", "modifierExtension")
_URL = ("url",)


class _ElementPlace(NamedTuple):
    """A field's element: its ``type``, the ``owner`` that has it by ``key``, and the types ``above``."""

    type: str
    owner: str
    key: str
    above: tuple[tuple[str, str], ...]

    @property
    def is_coded(self) -> bool:
        """Whether this is the code of a coding, whose group its display tells."""
        return (self.owner, self.key) == ("Coding", "code")

    @property
    def takes_range(self) -> bool:
        """Whether this is the value of a quantity that a range may replace."""
        return self.key == "value" and bool(self.above) and range_of(*self.above[-1]) is not None


def check_types(policy: Policy) -> Iterator[Problem]:
    """Yield what of a policy under a standard FHIR R4 cannot say."""
    traits = policy.recoding_traits
    if traits.separates_values or traits.publishes_classes or traits.publishes_value_sets:
        yield ("recoding",), f"{policy.recoding} publishes no resources: use generalization or full_domain"
    published = {path.keys for path, _ in _list_published(policy)}
    for path, rule in _list_published(policy):
        reason = _explain_path(policy, path) or _explain(policy, path, rule, published)
        if reason is not None:
            yield ("fields", str(path)), reason


def typing_of(policy: Policy) -> Typing:
    """Return the types of what a policy under a standard publishes."""
    tables = policy.tables or {}
    joined = {
        name: [column.partition(".")[0] for column in ((on,) if isinstance(on, str) else on or ())]
        for name, on in ((name, rule.on) for name, rule in tables.items())
    }
    fields = [_type_field(policy, path, rule) for path, rule in _list_published(policy)]
    return Typing(policy.joined_tables[0].name, fields, joined)


def _list_published(policy: Policy) -> Iterator[tuple[Path, FieldRule]]:
    return ((path, rule) for path, rule in policy.rules_by_keys.values() if rule.is_published)


def _list_places(policy: Policy, path: Path) -> Iterator[tuple[str, str]]:
    """Yield for each step of a path the type that has its element, as far as FHIR has them."""
    owner: str | None = policy.joined_tables[0].name
    for step in path.steps:
        if owner is None:
            return
        yield owner, step.document_key
        owner = type_below(owner, step.document_key)


def _find_place(policy: Policy, path: Path) -> _ElementPlace:
    *above, (owner, key) = _list_places(policy, path)
    return _ElementPlace(type_below(owner, key) or "", owner, key, tuple(above))


def _explain_path(policy: Policy, path: Path) -> str | None:
    """Say why a path does not lead to a value of FHIR; None if it does."""
    kind = policy.joined_tables[0].name
    for end, (step, (owner, key)) in enumerate(zip(path.steps, _list_places(policy, path), strict=False), 1):
        element, below = elements_of(owner).get(key), type_below(owner, key)
        if below is None:
            return f"{owner} has no element {key} in FHIR R4{nearest(key, elements_of(owner))}"
        many = element is None or element.many
        if many != bool(step.many):
            return f"{key} {'repeats: write ' if many else 'does not repeat: write no '}[*] after it"
        vertex = element is not None and (many or path.keys[:end] in policy.vertices)
        if vertex and element is not None and element.required:
            return (
                f"FHIR wants {owner}.{key} in every resource, so a release cannot tell that it is absent: "
                f"drop {path.prefix(end)}"
            )
        if key in _EXTENSIONS and _URL not in {field for field, _ in step.conditions}:
            return "name extensions by their url with a filter, or drop them"
        kind = below
    return None if is_primitive(kind) else f"this is no value but a {kind}: name a field of it"


def _explain(policy: Policy, path: Path, rule: FieldRule, published: set[tuple[str, ...]]) -> str | None:
    """Say why FHIR cannot say what is published of a field; None if it can."""
    element = _find_place(policy, path)
    kind, action = element.type, rule.stated_action
    if action is not None and path.keys in policy.pseudonyms:
        return None if kind in _TEXTS else f"a {kind} takes no pseudonym: drop the field"
    if action is not None and action.makes_constant:
        return None if kind in _TEXTS else f"a {kind} takes no constant text: drop the field"
    if path.keys in policy.date_shifts:
        return None if kind in ("date", "dateTime") else f"a moved date is no {kind}: drop the field"
    domain = policy.quasi.get(path.keys) or _domain_of_form(rule)
    if domain is None:
        return _explain_levels(element, rule)
    return _explain_domain(element, domain) or _explain_beside(policy, path, element, rule, published)


def _domain_of_form(rule: FieldRule) -> QuasiDomain | None:
    """Return the domain whose labels the published values of a sensitive field have; None if it has none."""
    form = rule.publish
    if form is None or form.round is not None or form.levels:
        return None
    if form.interval is not None:
        return Interval(steps=(form.interval,), decimals=form.decimals)
    taxonomy: Taxonomy | None = getattr(rule, "taxonomy", None)
    return taxonomy


def _explain_levels(element: _ElementPlace, rule: FieldRule) -> str | None:
    if rule.publish is not None and rule.publish.levels and element.type not in _TEXTS:
        return f"publish: levels makes texts such as level 3, which a {element.type} does not take"
    return None


def _explain_domain(element: _ElementPlace, domain: QuasiDomain) -> str | None:
    kind = element.type
    if domain.labels_are == "values":
        return None
    if kind in _DATES:
        if domain.labels_are == "periods":
            return None
        return "a date of FHIR takes date: {steps: [day, month, year]} or other steps, or flat: true"
    if kind in _NUMBERS and domain.labels_are == "bins":
        interval = cast(Interval, domain)
        whole = interval.is_integral and len(interval.steps) == 1 == interval.steps[0]
        if whole or element.takes_range:
            return None
        return "FHIR has no range in place of this number: publish it as it is with flat: true, or drop it"
    if kind == "code" and domain.labels_are in _GROUPS:
        if element.is_coded:
            return None
        return "FHIR takes no other codes here: publish it as it is with flat: true"
    if kind in _TEXTS and domain.labels_are in _GROUPS:
        return None
    return f"FHIR cannot say the labels of this {domain.called} in a {kind}: state flat: true, or drop it"


def _explain_beside(
    policy: Policy, path: Path, element: _ElementPlace, rule: FieldRule, published: set[tuple[str, ...]]
) -> str | None:
    """Say why a field cannot be published with another one of the same object; None if it can."""
    typed = _type_field(policy, path, rule)
    holder = path.keys[:-1]
    if typed.texts != ALL_CODES and (*holder, "display") in published:
        return "groups of codes are published as display: drop the display, or state flat: true"
    if typed.range is None:
        return None
    if (*holder, "comparator") in published:
        return "a range has no comparator: drop the comparator, or publish the value with flat: true"
    name = range_of(*element.above[-1])
    if any(keys[: len(holder)] == (*holder[:-1], name) for keys in published):
        return f"bins of this value are published as {name}: drop the fields of {name}"
    return None


def _type_field(policy: Policy, path: Path, rule: FieldRule) -> TypedField:
    """Return how a field is written."""
    element = _find_place(policy, path)
    domain = policy.quasi.get(path.keys) or _domain_of_form(rule)
    labels = domain.labels_are if domain is not None else "values"
    texts, spelling = ALL_CODES, None
    if element.is_coded and labels == "beginnings":
        texts = TextLabels(ending=MASK)
    elif element.is_coded and labels == "groups" and not cast(Taxonomy, domain).inner:
        parents = cast(Taxonomy, domain).compile({}, policy.folder).codebook["parents"]
        texts = TextLabels(frozenset(parents.values()) - {MASK})
    elif element.takes_range and labels == "bins":
        spelling = _spell_range(cast(Interval, domain))
    steps = tuple(
        TypedStep(step.document_key, bool(step.many) or path.keys[:end] in policy.vertices, step.conditions)
        for end, step in enumerate(path.steps, 1)
    )
    return TypedField(steps, path.keys in policy.quasi, spelling, texts, labels == "periods")


def _spell_range(domain: Interval) -> RangeSpelling:
    """Return how the bins of a domain are written: to the last decimal place that the policy states."""
    if domain.is_integral:
        return RangeSpelling(integral=True)
    stated = (*domain.steps, *(domain.domain or ()))
    places = max(decimals(number) or 0 for number in stated)
    return RangeSpelling(False, places, {Decimal(plain(step)): decimals(step) or 0 for step in domain.steps})
