"""A release as arrays again, from its files and the original: what metrics look at, without a Partition.

Records are those that were published. What the original has more was suppressed: how many vertices of each
type, with which sensitive values. Classes and places are what a reader sees: records and vertices of one
form, or of one group. No record is linked to its original.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Document
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import exempt_types
from hierdata.forest.partition import SUPPRESSED
from hierdata.forest.publication import Publication, by_form
from hierdata.measurement.release.documents import Groups, expanded
from hierdata.measurement.release.labels import OfOriginal, Reader
from hierdata.measurement.release.suppressed import WithSuppressed
from hierdata.policy.plan.plan import Prepared
from hierdata.recodings import RecodingTraits
from hierdata.records.binding import bind
from hierdata.records.schema import Role, Schema

__all__ = ["Rebuilt", "rebuild"]


@dataclass(frozen=True)
class Rebuilt:
    """A publication, and the forest that it is of.

    Of the vertex types ``untied`` nothing ties the sensitive values of a vertex together; of the types
    ``uncounted`` nothing tells how many vertices were published.
    """

    publication: Publication
    forest: Forest
    untied: tuple[str, ...]
    uncounted: tuple[str, ...]


def rebuild(
    documents: Iterable[tuple[Document, int]],
    beside: Mapping[str, Iterable[Document]],
    prepared: Prepared,
    original: Forest,
) -> Rebuilt:
    """Read a release, the parts ``beside`` its records too.

    Raises VerificationError where it is none of this original under this policy, InputError for documents
    that do not fit the records.
    """
    schema, traits = prepared.schema, prepared.policy.recoding_traits
    groups = Groups(beside, schema) if traits.separates_values else None
    tables = {} if groups is None else groups.tables
    untied = [*_untied(schema, traits, tables)]
    domains = [[OfOriginal.of(domain) for domain in own] for own in original.domains]
    readers = [
        [Reader(tree, one.path, traits) for tree, one in zip(own, kind.of_role(Role.QUASI), strict=True)]
        for kind, own in zip(schema.types, original.hierarchies, strict=True)
    ]
    if groups is not None:
        members = groups.joined(documents)
    elif traits.publishes_classes:
        members = expanded(documents, schema)
    else:
        members = (document for document, times in documents for _ in range(times))
    completed = WithSuppressed(original, domains, untied, None if groups is None else groups.group_of)
    # What was published stands there, be it empty.
    records = completed.all(bind(members, replace(prepared.binding, sparse=False)))
    forest = encode(records, schema, [[one.by_label for one in own] for own in readers], domains)
    trees = tuple(tuple(one.hierarchy() for one in own) for own in readers)
    forest = replace(forest, hierarchies=trees, domains=original.domains)
    # The run rounded losses, or not, by the weight of its records: here suppressed vertices hang elsewhere.
    like = replace(original, hierarchies=trees)
    vars(forest)["_scale"] = (like.scale, like.exact)
    found = _publication(forest, np.array(completed.marks, np.int64), prepared, groups)
    publication = replace(found, original=original)
    uncounted = exempt_types(schema) if traits.publishes_classes else ()
    paths = (tuple(schema.types[kind].path for kind in kinds) for kinds in (untied, uncounted))
    return Rebuilt(publication, forest, *paths)


def _untied(schema: Schema, traits: RecodingTraits, tables: Mapping[str, tuple[str, ...]]) -> Iterator[int]:
    """The types with several sensitive attributes whose values at one vertex are not published together."""
    for kind in schema.types:
        paths = {attribute.path for attribute in kind.of_role(Role.SENSITIVE)}
        apart = sum(not paths.isdisjoint(own) for own in tables.values())
        if len(paths) > 1 and (traits.publishes_classes or apart > 1):
            yield kind.index


def _publication(
    forest: Forest, marks: NDArray[np.int64], prepared: Prepared, groups: Groups | None
) -> Publication:
    """Every published vertex stands for itself; places and classes by form, or by group."""
    every = np.arange(forest.vertex_count)
    shown = np.where(marks >= 0, every, SUPPRESSED)
    place, classes = by_form(forest, shown, forest.nodes)
    if groups is None:
        return Publication((), shown, forest.nodes, place, classes)
    own = marks > 0
    _, first, number = np.unique(
        marks[own] * len(forest.schema.types) + forest.type[own], return_index=True, return_inverse=True
    )
    number = number.reshape(-1)
    place = shown.copy()
    place[own] = every[own][first][number]
    if prepared.policy.recoding_traits.partitions_each_type and any(stage.kind for stage in prepared.stages):
        classes = np.full(forest.vertex_count, SUPPRESSED, np.int64)
        classes[own] = number
    else:
        classes = _joined(forest, shown, classes, own, number)
    return Publication((), shown, forest.nodes, place, classes, tables=groups.tables)


def _joined(
    forest: Forest,
    shown: NDArray[np.int64],
    forms: NDArray[np.int64],
    own: NDArray[np.bool_],
    number: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The class of each vertex: records that share a group are of one; without any group form decides."""
    records = forest.record_of[own]
    grouped = np.zeros(forest.record_count, np.bool_)
    grouped[records] = True
    found = np.arange(forest.record_count)
    while True:
        least = np.full(int(number.max(initial=-1)) + 1, forest.record_count)
        np.minimum.at(least, number, found[records])
        joined = found.copy()
        np.minimum.at(joined, records, least[number])
        if (joined == found).all():
            break
        found = joined
    alone = forest.record_count + forms[forest.roots[:-1]]
    of_record = np.where(grouped, found, alone)[forest.record_of]
    classes = np.full(forest.vertex_count, SUPPRESSED, np.int64)
    kept = shown >= 0
    classes[kept] = np.unique(of_record[kept], return_inverse=True)[1].reshape(-1)
    return classes
