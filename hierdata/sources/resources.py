"""Resources of HL7 FHIR R4: rows of tables by their ``resourceType``, in files of NDJSON or in Bundles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from hierdata.documents.document import Document, Value
from hierdata.documents.fhir.elements import is_resource
from hierdata.documents.fhir.typed import Typing
from hierdata.ground.errors import InputError, VerificationError
from hierdata.policy.policy import Policy
from hierdata.records.keyed import Lookup, Table, find_at, put_at
from hierdata.sources.closed_ids import ClosedIds, point_inside

TYPE = "resourceType"
BUNDLE = "Bundle"
CAPABILITIES = "CapabilityStatement"
_VERSION = re.compile(r"hl7\.org/fhir/([0-9])\.[0-9]")
_R4 = "4"
_FORMER_CONTEXT = frozenset(
    ("Condition", "DiagnosticReport", "MedicationRequest", "Observation", "Procedure")
)
"""Types that refer to their encounter by ``context`` in STU3, and by ``encounter`` in R4."""


@dataclass(frozen=True)
class ResourceTypes:
    """Takes files of resources apart. Types in ``tables`` and ``lookups`` are rows.

    Other types are left out with ``drops``, else refused. With ``closes`` references between rows are read.
    """

    tables: tuple[Table, ...]
    lookups: tuple[Lookup, ...] = ()
    drops: bool = False
    closes: bool = False

    @classmethod
    def by(cls, policy: Policy) -> ResourceTypes:
        """Return the types that a policy names."""
        closes = any(table.keeps_key for table in policy.joined_tables)
        return cls(policy.joined_tables, policy.lookups, policy.unlisted == "drop", closes)

    def take_apart(self, document: Document, table: str | None) -> Iterator[tuple[str, Document]]:
        """Yield (type, resource) for a resource or a Bundle; ``table`` is the type that the file's name says.

        Raises InputError for a Bundle of several patients, for another version of FHIR and an unknown type.
        """
        if document.get(TYPE) == BUNDLE:
            yield from self._open_bundle(document)
            return
        if (kind := self._take(document)) is None:
            return
        if table is not None and kind != table:
            raise InputError(f"the resource is a {kind}, but the name of the file says {table}")
        yield kind, document

    def finish(self, row: Document) -> None:
        """Remove the resources within a resource, which serve lookups alone."""
        row.pop("contained", None)

    def _open_bundle(self, bundle: Document) -> Iterator[tuple[str, Document]]:
        """Yield the resources of a Bundle, with references to each other by type and id."""
        resources: list[tuple[str, Document]] = []
        named: dict[str, str] = {}
        for url, resource in _list_entries(bundle):
            if (kind := self._take(resource)) is None:
                continue
            if url is not None and "id" in resource:
                named[url] = f"{kind}/{resource['id']}"
            elif url is not None:
                resource["id"] = url
            resources.append((kind, resource))
        patients = sum(kind == self._root for kind, _ in resources)
        if patients > 1:
            raise InputError(
                f"a Bundle has {patients} resources of the type {self._root}: write one Bundle for each, or "
                "NDJSON with a file for each type"
            )
        for kind, resource in resources:
            if self.closes:
                point_inside(resource, named)
            for column in self._references.get(kind, ()):
                value = find_at(resource, column)
                if isinstance(value, str) and value in named:
                    put_at(resource, column, named[value])
        yield from resources

    def _take(self, resource: Document) -> str | None:
        """Take the type out of a resource; None if the resource is left out."""
        kind = resource.pop(TYPE, None)
        if not isinstance(kind, str):
            raise InputError("there is no resourceType, so that this is no resource", path=f"$.{TYPE}")
        if not is_resource(kind):
            raise InputError("the resourceType is none of FHIR R4", path=f"$.{TYPE}", revealed=(kind,))
        _refuse_version(kind, resource)
        if kind == self._root and resource.get("link"):
            raise InputError(
                "the patient is linked to other resources of the same person: unite them before, and leave "
                "`link` out",
                path="$.link",
            )
        return kind if self.reads(kind) else None

    def reads(self, kind: str) -> bool:
        """Return whether resources of a type are rows. Raises InputError for one that no rule names."""
        if kind in self._references or kind in self._lookup_names:
            return True
        if self.drops or kind == CAPABILITIES:
            return False
        raise InputError(
            f"the type {kind} is not among the policy's `tables`: name it there, or state `unlisted: drop`"
        )

    @property
    def _root(self) -> str:
        return self.tables[0].name

    @cached_property
    def _references(self) -> dict[str, tuple[str, ...]]:
        """The columns with references by type."""
        columns = {table.name: [on for _, on in table.links] for table in self.tables}
        for lookup in self.lookups:
            for table, column, _ in lookup.uses:
                columns[table].append(column)
        return {name: tuple(dict.fromkeys(referring)) for name, referring in columns.items()}

    @cached_property
    def _lookup_names(self) -> frozenset[str]:
        return frozenset(lookup.name for lookup in self.lookups)


def _list_entries(bundle: Document) -> Iterator[tuple[str | None, Document]]:
    """Yield (fullUrl, resource) for each entry of a Bundle."""
    entries = bundle.get("entry")
    if entries is not None and not isinstance(entries, list):
        raise InputError("the entries of a Bundle must be an array", path="$.entry")
    for entry in entries or ():
        resource = entry.get("resource") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(resource, dict):
            raise InputError("an entry of a Bundle has no resource", path="$.entry[*].resource")
        url = entry.get("fullUrl")
        yield url if isinstance(url, str) else None, resource


def _refuse_version(kind: str, resource: Document) -> None:
    """Raise InputError where a resource shows that it is not of FHIR R4."""
    version, path = _find_version(kind, resource)
    if version is not None and version != _R4:
        raise InputError(
            f"the resource is not FHIR R4 (it shows {'R5' if version > _R4 else 'an earlier version'}): "
            "convert the export to R4",
            path=path,
        )


def _find_version(kind: str, resource: Document) -> tuple[str | None, str]:
    """Return the major version of FHIR that a resource shows, and where; None if it shows none."""
    if kind == CAPABILITIES and isinstance(version := resource.get("fhirVersion"), str):
        return version[:1], "$.fhirVersion"
    meta = resource.get("meta")
    profiles: Value = meta.get("profile") if isinstance(meta, dict) else None
    for profile in profiles if isinstance(profiles, list) else ():
        if isinstance(profile, str) and (match := _VERSION.search(profile)) is not None:
            return match[1], "$.meta.profile"
    if kind == "Encounter" and isinstance(resource.get("class"), list):
        return "5", "$.class"
    if kind == "MedicationRequest" and isinstance(resource.get("medication"), dict):
        return "5", "$.medication"
    if kind in _FORMER_CONTEXT and "context" in resource:
        return "3", "$.context"
    return None, ""


@dataclass(frozen=True)
class ResourceSpelling:
    """How records are written as resources, and read back: each row has its ``resourceType``.

    ``typing`` gives labels values of FHIR's types, ``ids`` gives resources their ids.
    """

    typing: Typing
    ids: ClosedIds

    @classmethod
    def by(cls, policy: Policy) -> ResourceSpelling:
        """Return the spelling of what a policy publishes."""
        from hierdata.policy.checks.standard import typing_of
        from hierdata.policy.checks.tables import closed_references

        return cls(typing_of(policy), ClosedIds(closed_references(policy), policy.joined_tables[0].name))

    def to_rows(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield records with values of FHIR's types."""
        return self.ids.name_types(map(self.typing.to_fhir, documents))

    def from_rows(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield records with labels."""
        return self.ids.read(map(self.typing.from_fhir, documents))

    def tag(self, rows: Iterable[tuple[str, Document]]) -> Iterator[tuple[str, Document]]:
        """Yield rows with their type."""
        for name, row in self.ids.link_rows(rows):
            yield name, {TYPE: name, **row}

    def untag(self, name: str, rows: Iterable[Document]) -> Iterator[Document]:
        """Yield published rows without their type. Raises VerificationError for one of another type."""
        for row in rows:
            if row.get(TYPE) != name:
                raise VerificationError(f"the table {name}: a row is no resource of this type")
            yield {key: value for key, value in row.items() if key != TYPE}
