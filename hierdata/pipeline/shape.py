"""Shape a collection before anything else is done with it: one document an individual, lists as asked for.

What comes out are splits, whose documents are shaped while they are read, so that no later step sees others.
"""

from __future__ import annotations

import hmac
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from hierdata.documents.formats import Format
from hierdata.executors import Held
from hierdata.ground.errors import InputError, VerificationError
from hierdata.pipeline.control import Divided, check_control, divide
from hierdata.pipeline.reorder import BINS, PlacedDocument, return_in_order
from hierdata.pipeline.resources import RunContext
from hierdata.policy.policy import Policy
from hierdata.policy.spec.shape import IndividualRule
from hierdata.records.shape.base import Shaping
from hierdata.records.shape.individuals import (
    Merging,
    Nesting,
    digest_individual,
    find_repeated,
    name_field,
)
from hierdata.records.shape.places import ShapeNotation
from hierdata.records.survey import Keys
from hierdata.sources import InputSplit
from hierdata.sources.splits import ShapedSplit

_MOST_COUNTED = 1 << 18
"""The most values that are counted before the counts are sent to their bins."""
NOT_DRAWN_AGAIN = (
    "items were drawn at random by a key that only steward/verification.json has: give the folder of the "
    "release, or this file"
)


def derive_secret(seed: bytes) -> bytes:
    """Derive the key of what a shape draws at random; the seed cannot be told from it."""
    return hmac.digest(seed, b"hierdata shape", "sha256")


def shape_apart(
    splits: Sequence[InputSplit],
    format: Format,
    policy: Policy,
    spread: RunContext,
    secret: bytes | None,
    hints: frozenset[Keys] = frozenset(),
    control: Sequence[InputSplit] = (),
) -> Divided:
    """Return splits of shaped documents, and those of the control; the given ones without a shape.

    ``format`` is that of the input, ``secret`` keys what is drawn at random, ``hints`` are the paths that an
    XSD declares as repeatable, ``control`` is one that takes the place of the policy's. Raises InputError if
    documents of individuals cannot be united, or if too few are left beside the control.
    """
    notation = ShapeNotation(policy.namespaces, policy.depth, format.is_textual, format.has_elements)
    if policy.individual_rule is not None:
        splits = _gather_individuals(splits, notation, policy, spread, hints)
        control = _gather_individuals(control, notation, policy, spread, hints) if control else ()
    divided = Divided(splits) if policy.control is None else divide(splits, policy, secret, spread)
    if control:
        check_control(divided.kept, control, policy)
        divided = replace(divided, control=control)
    shaping = _prepare_shaping(divided.kept, notation, policy, spread, secret)
    if shaping is None:
        return divided
    kept, control = (
        [ShapedSplit(split, shaping) for split in own] for own in (divided.kept, divided.control)
    )
    return Divided(kept, control, divided.held_out)


def _prepare_shaping(
    splits: Sequence[InputSplit],
    notation: ShapeNotation,
    policy: Policy,
    spread: RunContext,
    secret: bytes | None,
) -> Shaping | None:
    """Return the steps with what they need of all documents; None if the policy has none."""
    steps = tuple(spec.step for spec in policy.shape)
    if not steps:
        return None
    if secret is None and any(step.needs_secret for step in steps):
        raise VerificationError(NOT_DRAWN_AGAIN)
    shaping = Shaping(steps, notation, secret or b"")
    for number, step in enumerate(steps):
        k, frequent = step.fewest_individuals, frozenset[bytes]()
        if k is not None:
            frequent = _find_frequent(splits, shaping, number, k, spread)
        shaping = Shaping(steps, notation, shaping.secret, (*shaping.frequent, frequent))
    return shaping


class _Piece(NamedTuple):
    """A document on its way, with whose it is."""

    individual: bytes | None
    located: PlacedDocument


@dataclass(frozen=True)
class ScatterDocuments:
    """Send the documents of a split to bins by their individual."""

    identity: tuple[Keys, ...]
    bins: int
    nesting: Nesting | None = None

    def __call__(self, numbered: tuple[int, InputSplit]) -> Iterator[tuple[int, _Piece]]:
        """Yield the documents by bin."""
        number, split = numbered
        documents = split.documents()
        if self.nesting is not None:
            documents = map(self.nesting.nest, documents)
        for place, document in enumerate(documents):
            individual = digest_individual(document, self.identity)
            to = 0 if individual is None else int.from_bytes(individual[:8]) % self.bins
            yield to, _Piece(individual, PlacedDocument(number, place, pickle.dumps(document, protocol=5)))


@dataclass
class _MergedBin:
    """The united documents of the individuals of a bin.

    ``documents`` counts those of each split, ``anonymous`` those that do not say whose they are,
    ``differing`` the individuals whose documents have different values in a field, ``size`` is in bytes.
    """

    pieces: list[PlacedDocument] = field(default_factory=list)
    documents: Counter[int] = field(default_factory=Counter)
    anonymous: int = 0
    differing: Counter[Keys] = field(default_factory=Counter)
    size: int = 0


@dataclass(frozen=True)
class MergeIndividuals:
    """Unite the documents of each individual of a bin; they come in the order of the input."""

    identity: tuple[Keys, ...]
    dropped: frozenset[Keys]
    listed: frozenset[Keys] | None
    repeated: frozenset[Keys]

    def __call__(self, pieces: list[_Piece]) -> _MergedBin:
        """Return the united documents, each at the place of its first one."""
        found = _MergedBin()
        merging = Merging(self.identity, self.dropped, self.listed, self.repeated, found.differing)
        together: dict[bytes, list[_Piece]] = {}
        for piece in pieces:
            found.documents[piece.located.split] += 1
            if piece.individual is None:
                found.anonymous += 1
            else:
                together.setdefault(piece.individual, []).append(piece)
        for own in together.values():
            first = own[0].located
            if len(own) > 1:
                whole = merging.merge([*map(pickle.loads, (piece.located.pickled for piece in own))])
                first = first._replace(pickled=pickle.dumps(whole, protocol=5))
            found.pieces.append(first)
            found.size += len(first.pickled)
        return found


def _gather_individuals(
    splits: Sequence[InputSplit],
    notation: ShapeNotation,
    policy: Policy,
    spread: RunContext,
    hints: frozenset[Keys],
) -> Sequence[InputSplit]:
    """Return splits with one document for each individual, where the first of its documents was."""
    individual = policy.individual_rule
    assert individual is not None
    identity = tuple(policy.path(text).keys for text in individual.fields)
    repeated = policy.vertices | hints
    nesting = None
    if individual.nest is not None:
        nest = policy.path(individual.nest).keys
        own = frozenset(policy.path(text).keys[0] for text in (*individual.fields, *individual.own))
        nesting = Nesting(own, nest[0], notation)
        repeated |= {nest}
    if notation.elements:
        repeated = repeated.union(*spread.executor.hold(splits).map(_find_repeated).collect())
    bins = max(BINS, len(splits))
    _, watch = spread.progress_callbacks("uniting", None, len(splits))
    numbered = spread.executor.hold(list(enumerate(splits)))
    scattered = numbered.exchange(ScatterDocuments(identity, bins, nesting), bins, watch)
    listed = frozenset(path.document_keys for path in policy.paths) if policy.unlisted == "drop" else None
    merged = scattered.map(MergeIndividuals(identity, policy.forbidden_fields, listed, frozenset(repeated)))
    scattered.release()
    befores, size = _check_merged(merged, len(splits), policy, individual)
    return return_in_order(merged, befores, size, spread, "individuals")


def _find_repeated(split: InputSplit) -> frozenset[Keys]:
    """Return the keys of all elements that occur several times next to each other."""
    found = set[Keys]()
    for document in split.documents():
        find_repeated(document, (), found)
    return frozenset(found)


def _check_merged(
    merged: Held[_MergedBin], splits: int, policy: Policy, individual: IndividualRule
) -> tuple[tuple[int, ...], int]:
    """Return the number of documents before each split and of all, and the bytes of the united ones.

    Raises InputError where documents do not say whose they are, or those of one individual differ.
    """
    documents, differing = Counter[int](), Counter[Keys]()
    anonymous = size = 0
    for counts, strangers, fields, own in merged.map(
        attrgetter("documents", "anonymous", "differing", "size")
    ).collect():
        documents += counts
        anonymous += strangers
        differing += fields
        size += own
    if anonymous:
        what = f"{anonymous} records have no value here, so that they belong to nobody"
        raise InputError(f"individual: {what}", path=individual.fields[0])
    if differing:
        remedy = (
            "nest the documents with `individual: {by: ..., nest: ...}`, or drop the field"
            if individual.nest is None
            else "leave the field out of `own`, so that it is nested, or drop it"
        )
        raise InputError(
            [
                f"{name_field(keys, policy.paths)}: individual: the documents of {count} individuals have "
                f"different values here: {remedy}"
                for keys, count in sorted(differing.items())
            ]
        )
    if not documents:
        raise InputError("there are no records: the input has nothing to anonymize")
    return tuple(accumulate((documents[number] for number in range(splits)), initial=0)), size


@dataclass(frozen=True)
class CountIndividuals:
    """Count in a split the individuals that have each value that a step asks for, by bin of the value."""

    shaping: Shaping
    number: int

    def __call__(self, split: InputSplit) -> Iterator[tuple[int, Counter[bytes]]]:
        """Yield counts by bin."""
        counted = Counter[bytes]()
        for values in self.shaping.values(split.documents(), self.number):
            counted.update(values)
            if len(counted) > _MOST_COUNTED:
                yield from _bin_counts(counted)
                counted.clear()
        yield from _bin_counts(counted)


def _bin_counts(counted: Counter[bytes]) -> Iterator[tuple[int, Counter[bytes]]]:
    bins: dict[int, Counter[bytes]] = {}
    for value, count in counted.items():
        bins.setdefault(value[0] % BINS, Counter())[value] = count
    yield from bins.items()


def _keep_frequent(pieces: list[Counter[bytes]], k: int) -> frozenset[bytes]:
    total = Counter[bytes]()
    for piece in pieces:
        total.update(piece)
    return frozenset(value for value, count in total.items() if count >= k)


def _find_frequent(
    splits: Sequence[InputSplit], shaping: Shaping, number: int, k: int, spread: RunContext
) -> frozenset[bytes]:
    """Return the digests of the values that at least ``k`` individuals have where a step looks for them."""
    _, watch = spread.progress_callbacks("counting", None, len(splits))
    counted = spread.executor.hold(splits).exchange(CountIndividuals(shaping, number), BINS, watch)
    found = counted.map(partial(_keep_frequent, k=k))
    counted.release()
    return frozenset().union(*found.collect())
