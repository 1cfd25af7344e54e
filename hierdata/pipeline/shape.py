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
from typing import NamedTuple

from hierdata.documents.formats import Format
from hierdata.executors import Held
from hierdata.ground.errors import InputError, VerificationError
from hierdata.pipeline.control import Divided, check_control, divide
from hierdata.pipeline.reorder import BINS, PlacedDocument, return_in_order
from hierdata.pipeline.resources import RunContext, ask_all
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
    """Derive the key of what a shape draws at random; it does not reveal the seed."""
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
        [ShapedSplit(split, shaping) for split in part] for part in (divided.kept, divided.control)
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


def scatter_documents(
    identity: tuple[Keys, ...], bins: int, nesting: Nesting | None, numbered: tuple[int, InputSplit]
) -> Iterator[tuple[int, _Piece]]:
    """Send the documents of a split to bins by their individual."""
    number, split = numbered
    documents = split.documents()
    if nesting is not None:
        documents = map(nesting.nest, documents)
    for place, document in enumerate(documents):
        individual = digest_individual(document, identity)
        to = 0 if individual is None else int.from_bytes(individual[:8]) % bins
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


def merge_individuals(
    identity: tuple[Keys, ...],
    dropped: frozenset[Keys],
    listed: frozenset[Keys] | None,
    repeated: frozenset[Keys],
    pieces: list[_Piece],
) -> _MergedBin:
    """Unite the documents of each individual of a bin, which come in the order of the input.

    The united one is at the place of the first.
    """
    merged = _MergedBin()
    merging = Merging(identity, dropped, listed, repeated, merged.differing)
    together: dict[bytes, list[PlacedDocument]] = {}
    for piece in pieces:
        merged.documents[piece.located.split] += 1
        if piece.individual is None:
            merged.anonymous += 1
        else:
            together.setdefault(piece.individual, []).append(piece.located)
    for documents in together.values():
        first = documents[0]
        if len(documents) > 1:
            whole = merging.merge([pickle.loads(document.pickled) for document in documents])
            first = first._replace(pickled=pickle.dumps(whole, protocol=5))
        merged.pieces.append(first)
        merged.size += len(first.pickled)
    return merged


def _gather_individuals(
    splits: Sequence[InputSplit],
    notation: ShapeNotation,
    policy: Policy,
    spread: RunContext,
    hints: frozenset[Keys],
) -> Sequence[InputSplit]:
    """Return splits with one document for each individual, where the first of its documents was."""
    individual, identity = policy.individual_rule, policy.identity
    assert individual is not None
    assert identity is not None
    repeated = policy.vertices | hints
    nesting = None
    if individual.nest is not None:
        nest = policy.path(individual.nest).keys
        own_fields = (policy.path(text).keys for text in individual.own)
        nesting = Nesting(frozenset(keys[0] for keys in (*identity, *own_fields)), nest[0], notation)
        repeated |= {nest}
    if notation.elements:
        repeated = repeated.union(*spread.executor.hold(splits).map(_find_repeated).collect())
    bins = max(BINS, len(splits))
    _, watch = spread.progress_callbacks("uniting", None, len(splits))
    numbered = spread.executor.hold(list(enumerate(splits)))
    scattered = numbered.exchange(partial(scatter_documents, identity, bins, nesting), bins, watch)
    listed = frozenset(path.document_keys for path in policy.paths) if policy.unlisted == "drop" else None
    merge = partial(merge_individuals, identity, policy.forbidden_fields, listed, frozenset(repeated))
    merged = scattered.map(merge)
    scattered.release()
    befores, size = _check_merged(merged, len(splits), policy, individual)
    return return_in_order(merged, befores, size, spread, "individuals")


def _find_repeated(split: InputSplit) -> frozenset[Keys]:
    """Return the keys of all elements that occur several times next to each other."""
    repeated = set[Keys]()
    for document in split.documents():
        find_repeated(document, (), repeated)
    return frozenset(repeated)


def _check_merged(
    merged: Held[_MergedBin], splits: int, policy: Policy, individual: IndividualRule
) -> tuple[tuple[int, ...], int]:
    """Return the number of documents before each split and of all, and the bytes of the united ones.

    Raises InputError where documents do not say whose they are, or those of one individual differ.
    """
    documents, differing = Counter[int](), Counter[Keys]()
    anonymous = size = 0
    for bin_ in merged.map(partial(replace, pieces=[])).collect():
        documents += bin_.documents
        anonymous += bin_.anonymous
        differing += bin_.differing
        size += bin_.size
    if anonymous:
        message = f"individual: {anonymous} records have no value here, so that they belong to nobody"
        raise InputError(message, path=individual.fields[0])
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


def count_individuals(
    shaping: Shaping, number: int, split: InputSplit
) -> Iterator[tuple[int, Counter[bytes]]]:
    """Count in a split the individuals that have each value that a step asks for, by bin of the value."""
    counted = Counter[bytes]()
    for values in shaping.values(split.documents(), number):
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
    count = partial(count_individuals, shaping, number)
    counted = spread.executor.hold(splits).exchange(count, BINS, watch)
    frequent = ask_all(counted, partial(_keep_frequent, k=k))
    counted.release()
    return frozenset().union(*frequent)
