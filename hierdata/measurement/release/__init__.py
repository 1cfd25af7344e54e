"""Rebuild a release as arrays, from its files and the original, for the metrics; no Partition is needed.

Records are those that were published. The difference to the original was suppressed: it tells how many
vertices of each type, with which sensitive values. Classes and equivalence positions are what a reader sees:
records and vertices of one form, or of one group. No record is linked to its original.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Document
from hierdata.forest.encoded import Frame
from hierdata.forest.forest import MISSING, Forest
from hierdata.forest.isomorphism import exempt_types, number_keys
from hierdata.forest.partition import SUPPRESSED
from hierdata.forest.publication import Publication, group_by_form
from hierdata.forest.published_records import PublishedRecords, ReleaseGroups
from hierdata.ground.recodings import RecodingTraits
from hierdata.measurement.release.labels import LabelReader, OfOriginal
from hierdata.measurement.release.suppressed import WithSuppressed
from hierdata.policy.plan.plan import Prepared
from hierdata.records.schema import Schema

__all__ = ["Rebuilt", "rebuild"]


@dataclass(frozen=True)
class Rebuilt:
    """A publication and its forest.

    ``form[v]`` is the first vertex that looks as v does, by quasi-identifiers (see ``isomorphism.places``).
    For the vertex types ``untied``, by path, nothing links the sensitive values of one vertex; for the types
    ``uncounted`` the files do not tell how many vertices were published. ``places`` are the places of the
    published records in the files; those that nobody published come last.
    """

    publication: Publication
    forest: Forest
    form: NDArray[np.int64]
    untied: tuple[str, ...]
    uncounted: tuple[str, ...]
    places: NDArray[np.int64]


def rebuild(
    documents: Iterable[tuple[Document, int]],
    beside: Mapping[str, Iterable[Document]],
    prepared: Prepared,
    original: Forest,
) -> Rebuilt:
    """Rebuild a release from its records, given with counts, and the other parts, ``beside``, by name.

    Raises VerificationError if it is not a release of this original under this policy, InputError for
    documents that do not fit the records.
    """
    schema, traits = prepared.schema, prepared.policy.recoding_traits
    records = PublishedRecords(prepared.binding, traits, beside)
    groups = records.groups
    tables = {} if groups is None else groups.tables
    untied = [*_find_untied_types(schema, traits, tables)]
    domains = tuple(tuple(map(OfOriginal.of, of_type)) for of_type in original.domains)
    readers = [
        [LabelReader(tree, field.path, traits) for tree, field in zip(trees, kind.quasi, strict=True)]
        for kind, trees in zip(schema.types, original.hierarchies, strict=True)
    ]
    labels = tuple(tuple(reader.label_hierarchy for reader in of_type) for of_type in readers)
    frame = Frame(schema, labels, domains, prepared.worth)
    marked = None if groups is None else groups.groups_of
    completed = WithSuppressed(original, frame, untied, marked, prepared.constraints.facts)
    for batch in records.bind(documents):
        completed.add(batch)
    encoded, marks = completed.take()
    records.check_complete()
    trees = tuple(tuple(reader.hierarchy() for reader in of_type) for of_type in readers)
    forest = replace(frame.forest(encoded), hierarchies=trees, domains=original.domains)
    # Whether the run rounded losses depends on the sizes of its records; suppressed vertices differ here.
    like = replace(original, hierarchies=trees)
    vars(forest)["_scale"] = (like.lm_scale, like.exact)
    shown = np.where(marks[:, 0] >= 0, np.arange(forest.vertex_count), SUPPRESSED)
    if completed.left_out:
        forest = replace(forest, input_sensitive=put_back(forest, shown, completed.left_out))
    form, classes = group_by_form(forest, shown, forest.nodes)
    publication = Publication((), shown, forest.nodes, form, classes, original=original)
    if groups is not None:
        publication = _publish_by_group(publication, forest, marks.T, prepared, groups)
    uncounted = exempt_types(schema) if traits.publishes_classes else ()
    paths = [tuple(schema.types[kind].path for kind in kinds) for kinds in (untied, uncounted)]
    return Rebuilt(publication, forest, form, paths[0], paths[1], completed.places)


def put_back(
    forest: Forest, shown: NDArray[np.int64], left_out: Mapping[tuple[int, int], NDArray[np.integer]]
) -> NDArray[np.int32]:
    """Return the sensitive codes with those that were left out, by type and attribute, at any vertices."""
    sensitive = forest.sensitive.copy()
    for (kind, position), codes in left_out.items():
        entries = forest.first_sensitive[np.flatnonzero((forest.type == kind) & (shown >= 0))] + position
        lacking = entries[sensitive[entries] == MISSING][: len(codes)]
        sensitive[lacking] = codes[: len(lacking)]
    return sensitive


def _find_untied_types(
    schema: Schema, traits: RecodingTraits, tables: Mapping[str, tuple[str, ...]]
) -> Iterator[int]:
    """Yield the types with several sensitive attributes that are not published together by vertex."""
    for kind in schema.types:
        paths = {attribute.path for attribute in kind.sensitive}
        apart = sum(not paths.isdisjoint(of_part) for of_part in tables.values())
        if len(paths) > 1 and (traits.publishes_classes or apart > 1):
            yield kind.index


def _publish_by_group(
    by_form: Publication,
    forest: Forest,
    marks: NDArray[np.int64],
    prepared: Prepared,
    groups: ReleaseGroups,
) -> Publication:
    """Return a publication with the positions and classes of its groups instead of those by form.

    ``marks`` has for each key of groups what ``WithSuppressed.take`` tells.
    """
    shown = by_form.shown
    if prepared.policy.recoding_traits.groups_each_table:
        positions = {
            part: _positions(forest, shown, marks[groups.names.index(groups.name_in(part))])[0]
            for part in groups.tables
        }
        return replace(by_form, tables=groups.tables, table_positions=positions)
    place, number = _positions(forest, shown, marks[0])
    has_group = marks[0] > 0
    if prepared.policy.recoding_traits.partitions_each_type and any(stage.kind for stage in prepared.stages):
        classes = np.full(forest.vertex_count, SUPPRESSED, np.int64)
        classes[has_group] = number
    else:
        classes = _join_groups(forest, shown, by_form.equivalence_class, has_group, number)
    return replace(by_form, equivalence_position=place, equivalence_class=classes, tables=groups.tables)


def _positions(
    forest: Forest, shown: NDArray[np.int64], marks: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the position of each vertex, the first vertex of its group; and the number of each group."""
    grouped = np.flatnonzero(marks > 0)
    first, number = number_keys(marks[grouped] * len(forest.schema.types) + forest.type[grouped])
    place = shown.copy()
    place[grouped] = grouped[first][number]
    return place, number


def _join_groups(
    forest: Forest,
    shown: NDArray[np.int64],
    forms: NDArray[np.int64],
    has_group: NDArray[np.bool_],
    number: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the class of each vertex: by shared groups of its record, else by the record's form."""
    records = forest.record_of[has_group]
    grouped = np.zeros(forest.record_count, np.bool_)
    grouped[records] = True
    class_of = np.arange(forest.record_count)
    while True:
        least = np.full(int(number.max(initial=-1)) + 1, forest.record_count)
        np.minimum.at(least, number, class_of[records])
        joined = class_of.copy()
        np.minimum.at(joined, records, least[number])
        if (joined == class_of).all():
            break
        class_of = joined
    alone = forest.record_count + forms[forest.roots[:-1]]
    of_record = np.where(grouped, class_of, alone)[forest.record_of]
    classes = np.full(forest.vertex_count, SUPPRESSED, np.int64)
    kept = shown >= 0
    classes[kept] = np.unique(of_record[kept], return_inverse=True)[1].reshape(-1)
    return classes
