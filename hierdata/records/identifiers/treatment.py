"""What a policy does to input documents before anything else reads them.

Maps become arrays of their entries, values of several kinds at one key are separated (see ``mixed``), and
the values of fields with an action are replaced. All steps of a run see only treated documents: the survey,
so that domains fit what is published, and the encoding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from hierdata.documents.document import TEXT, Document, Scalar, Siblings, Value, field_at
from hierdata.documents.scalars import KEPT
from hierdata.domains.base import Uncovered
from hierdata.domains.number import spelling
from hierdata.domains.sensitive import ALL_DIFFER, Sameness
from hierdata.domains.sensitive_forms import SensitiveForm
from hierdata.ground.errors import InputError
from hierdata.ground.secrets import Key
from hierdata.records.identifiers.base import Action, RefusedValueError, Replace, text_of
from hierdata.records.identifiers.substitute import find_form
from hierdata.records.maps import unfold_map
from hierdata.records.mixed import UNMIXED, Mixed, MixedKey, open_mixed
from hierdata.records.record import MisfitError
from hierdata.records.row_links import NO_LINKS, NOTHING, RowLinks
from hierdata.records.survey import Keys
from hierdata.records.values import Missing

MARK = 16
"""Bytes by which two pseudonyms are compared."""


@dataclass(frozen=True)
class Treated:
    """A field with an action, or with texts that are the ``same``; values spelled as ``missing`` stay.

    ``unified``: the replacements differ in their form, and are brought to one. ``form`` is the coarser one in
    which sensitive values are published.
    """

    keys: Keys
    path: str
    action: Action | None = None
    missing: frozenset[str] = frozenset()
    unified: bool = False
    same: Sameness = ALL_DIFFER
    form: SensitiveForm | None = None

    @property
    def needs_key(self) -> bool:
        """Whether the action needs a key."""
        return self.action is not None and self.action.keyed

    def replacement(self, key: Key | None) -> Replace | None:
        """Return the function that replaces values, None if they stay unchanged."""
        if self.action is not None:
            return self.action.replace(self.path, key)
        form = self.form
        if form is None:
            return lambda value, days: self.same.value_of(value)
        coarsen = _coarsen_once(form)
        return lambda value, days: coarsen(self.same.value_of(value))


def _coarsen_once(form: SensitiveForm) -> Callable[[Scalar], Scalar]:
    """Return the function that gives values their published form, each computed once.

    It raises RefusedValueError for a value without one.
    """
    known: dict[tuple[type, str], Scalar] = {}

    def coarsen(value: Scalar) -> Scalar:
        key = spelling(value)
        if key in known:
            return known[key]
        try:
            coarse = form.form_of(value)
        except Uncovered:
            coarse = None
        if coarse is None:
            raise RefusedValueError(
                "the value has no published form: it is of another kind than `publish` takes, or has no level"
            )
        if len(known) < KEPT:
            known[key] = coarse
        return coarse

    return coarsen


@dataclass
class Traces:
    """What the replacement records for the survey.

    ``made`` counts the pseudonyms of each field; ``marks`` has, by domain, the first bytes of each pseudonym,
    once for each record in which it occurs. ``forms`` are those of the replacements of each field.
    ``substitutes`` counts by field the records with a substitute of each form. ``coarsened`` are the fields
    with a value whose published form stands for others too.
    """

    made: Counter[Keys] = field(default_factory=Counter)
    marks: dict[str, bytearray] = field(default_factory=dict)
    forms: dict[Keys, set[str]] = field(default_factory=dict)
    substitutes: dict[Keys, Counter[str]] = field(default_factory=dict)
    coarsened: set[Keys] = field(default_factory=set)


@dataclass(frozen=True)
class Treatment:
    """The maps of a policy, by keys and path, its fields with an action, and its ``mixed`` keys.

    ``by`` are the keys of the value that determines shifts. With ``kept``, keyed actions are computed and
    counted, but the values stay: for commands that inspect a collection and publish nothing. ``links``
    gives references between rows one spelling first.
    """

    maps: tuple[tuple[Keys, str], ...] = ()
    fields: tuple[Treated, ...] = ()
    by: Keys | None = None
    key: Key | None = None
    kept: bool = False
    mixed: Mixed = UNMIXED
    links: RowLinks = NO_LINKS

    @property
    def needs_key(self) -> bool:
        """Whether any action needs the key."""
        return any(treated.needs_key for treated in self.fields)

    def unify(self, forms: Mapping[Keys, Collection[str]]) -> Treatment:
        """Bring fields whose replacements were found in several forms to one; return this one if none was."""
        fields = tuple(
            replace(treated, unified=True) if len(forms.get(treated.keys, ())) > 1 else treated
            for treated in self.fields
        )
        return self if fields == self.fields else replace(self, fields=fields)

    def documents(
        self, documents: Iterable[Document], before: int = 0, traces: Traces | None = None
    ) -> Iterator[Document]:
        """Treat documents in place; ``before`` documents came before these.

        Raises InputError with the record's number (from 1) and the path, never a value.
        """
        if not self.maps and not self.fields and not self.mixed:
            yield from documents
            return
        work = _TreatmentWork(self, traces)
        for number, document in enumerate(documents, before + 1):
            refused = work.treat(document)
            if refused is not None:
                raise InputError(str(refused), record=number, path=refused.path)
            yield document


UNTREATED = Treatment()
"""Documents as they come in."""


@dataclass(slots=True)
class _TreatmentNode:
    """The treatment at a path, and below it."""

    below: dict[str, _TreatmentNode] = field(default_factory=dict)
    path: str = ""
    keys: Keys = ()
    map: bool = False
    mixed: list[MixedKey] = field(default_factory=list)
    replace: Replace | None = None
    missing: Missing | None = None
    domain: str | None = None
    form: SensitiveForm | None = None
    keeps_form: bool = False
    closed: bool = False
    stays: bool = False
    treated: Treated | None = None


class _TreatmentWork:
    """A treatment in one process."""

    def __init__(self, treatment: Treatment, traces: Traces | None) -> None:
        self._traces = traces
        self._root = _TreatmentNode()
        self._by = treatment.by
        self._by_path = ""
        self._offset: Callable[[str], int] | None = None
        for keys, path in treatment.maps:
            node = self._at(keys)
            node.map, node.path = True, path
        self._mixed, inside = treatment.mixed.apart_from([keys for keys, _ in treatment.maps])
        for mixed in inside:
            self._at(mixed.holder).mixed.append(mixed)
        for treated in treatment.fields:
            self._add(treated, treatment)
        self._links = treatment.links
        for closed in treatment.links.references:
            self._at(closed.keys).closed = True
        self._days = 0
        self._seen: set[tuple[str, str]] = set()
        self._seen_forms: set[tuple[Keys, str]] = set()

    def _add(self, treated: Treated, treatment: Treatment) -> None:
        """Add a field with values that are replaced."""
        replacement = treated.replacement(treatment.key)
        if replacement is None:
            return
        node = self._at(treated.keys)
        node.path, node.keys, node.replace = treated.path, treated.keys, replacement
        node.missing = Missing(treated.missing) if treated.missing else None
        node.stays = treatment.kept and treated.needs_key
        if treated.action is None:
            node.form = treated.form
            return
        if (tokens := treated.action.tokens(treated.path)) is not None:
            node.domain, node.keeps_form = tokens.domain, tokens.keeps_form
        if (shift := treated.action.date_shift()) is not None:
            assert treatment.key is not None
            node.treated = treated
            self._offset = treated.action.offsets(treatment.key)
            self._by_path = shift.by or ""

    def _at(self, keys: Keys) -> _TreatmentNode:
        node = self._root
        for key in keys:
            node = node.below.setdefault(key, _TreatmentNode())
        return node

    def treat(self, document: Document) -> MisfitError | None:
        """Treat a record in place; return what is wrong with it, None if nothing is."""
        try:
            self._mixed.open(document)
            if self._links.ids:
                self._links.close(document)
            if self._offset is not None:
                self._days = self._offset(self._identity(document))
            self._object(self._root, document)
        except MisfitError as misfit:
            return misfit
        if self._traces is not None:
            for keys, form in self._seen_forms:
                self._traces.substitutes.setdefault(keys, Counter())[form] += 1
            self._seen_forms.clear()
            for domain, token in self._seen:
                mark = bytes.fromhex(token[: 2 * MARK].ljust(2 * MARK, "0"))
                self._traces.marks.setdefault(domain, bytearray()).extend(mark)
            self._seen.clear()
        return None

    def _identity(self, document: Document) -> str:
        """Return the text that determines how far the dates of a record are moved."""
        if self._by is None:
            return repr(document)
        value = field_at(document, self._by)
        if value is None or isinstance(value, dict | list):
            raise MisfitError(
                self._by_path, "this value determines the shift of the record's dates, and it is missing here"
            )
        return text_of(value)

    def _object(self, node: _TreatmentNode, document: Document) -> None:
        if node.mixed:
            open_mixed((document,), node.mixed)
        for key, below in node.below.items():
            if key in document:
                document[key] = self._value(below, document[key])

    def _value(self, node: _TreatmentNode, value: Value) -> Value:
        if node.map and value is not None:
            entries = unfold_map(value)
            if entries is None:
                raise MisfitError(
                    node.path, "the policy says that this is a map, but here it is not an object"
                )
            value = entries
        if isinstance(value, list):
            elements = isinstance(value, Siblings)
            for position, item in enumerate(value):
                value[position] = self._item(node, item, elements)
            return value
        return self._item(node, value, False)

    def _item(self, node: _TreatmentNode, value: Value, element: bool) -> Value:
        if isinstance(value, dict):
            self._object(node, value)
            return value
        if isinstance(value, list):  # arrays in arrays: binding refuses them
            return value
        if node.replace is not None:
            return self._replace_value(node, value)
        text = node.below.get(TEXT)
        if element and value != "" and text is not None and text.replace is not None:
            return self._replace_value(text, value)
        return value

    def _replace_value(self, node: _TreatmentNode, value: Scalar) -> Scalar:
        assert node.replace is not None
        if value is None or (node.missing is not None and value in node.missing):
            return value
        if node.closed and value == NOTHING:  # it is dropped, and may occur in many records
            if self._traces is not None:
                self._traces.made[node.keys] += 1
            return value
        refused = None
        try:
            replaced = node.replace(value, self._days)
            if node.treated is not None:
                replaced = self._write_date(node.treated, replaced)
        except RefusedValueError as error:
            refused = str(error)
        if refused is not None:
            raise MisfitError(node.path, refused)
        if node.form is not None and self._traces is not None:
            hides = node.keys in self._traces.coarsened or node.form.hides(value)
            self._traces.coarsened.update([node.keys] if hides else [])
        if node.domain is not None and self._traces is not None:
            self._traces.made[node.keys] += 1
            token = str(replaced)
            if node.keeps_form:
                self._seen_forms.add((node.keys, find_form(token)))
                token = blake2b(token.encode(), digest_size=MARK).hexdigest()
            self._seen.add((node.domain, token))
        return value if node.stays else replaced

    def _write_date(self, treated: Treated, moved: Scalar) -> Scalar:
        """Return a moved date in the form that it is published in."""
        assert treated.action is not None, "it moves dates"
        if treated.unified:
            return treated.action.in_one_form(moved)
        if self._traces is not None and (form := treated.action.form_of(moved)):
            self._traces.forms.setdefault(treated.keys, set()).add(form)
        return moved
