"""The control: individuals who are kept out of a release, to be attacked beside those who are in it.

A policy's ``control`` draws them by a keyed hash; all steps after the shape see the others alone. A control
may also be a file of its own.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from hierdata.documents.document import Document
from hierdata.ground.errors import InputError, VerificationError, file_error
from hierdata.pipeline.resources import RunContext
from hierdata.pipeline.seeds import digest_record
from hierdata.policy.checks.sensitive import class_size
from hierdata.policy.policy import Policy
from hierdata.records.shape.individuals import digest_individual
from hierdata.records.survey import Keys
from hierdata.sources import InputSplit
from hierdata.sources.splits import HeldOutSplit, documents_of

CONTROL_FILE = Path("steward") / "control.json"
"""Who is held out: the number of ``records``, and of those who are ``ordinals`` from 0 and ``digests``."""
NOT_DRAWN_AGAIN = (
    "the control was drawn at random by a key that only steward/verification.json has: give the folder of "
    "the release, or this file"
)
OVERLAP = (
    "the control has {count} of the individuals of the input: give individuals who are not in the release"
)
OTHER_SHAPE = "the control has another shape than the input ({fields} {how}): give records of the same form"


class Draw(NamedTuple):
    """Who is held out: a share of all, by a keyed hash of whose record it is, or of its content."""

    share: float
    key: bytes
    identity: tuple[Keys, ...] | None

    @classmethod
    def of(cls, policy: Policy, secret: bytes | None) -> Draw | None:
        """Return what a policy draws, None without ``control``. Raises VerificationError without a key."""
        if policy.control is None:
            return None
        if secret is None:
            raise VerificationError(NOT_DRAWN_AGAIN)
        key = hmac.digest(secret, b"hierdata control", "sha256")
        return cls(float(policy.control.share), key, policy.identity)

    def digest(self, document: Document) -> bytes:
        """Return the keyed digest of an individual; it does not reveal the value."""
        return hmac.digest(self.key, _digest(document, self.identity), "sha256")

    def is_held_out(self, document: Document) -> bool:
        """Return whether the individual is held out."""
        return int.from_bytes(self.digest(document)[:8]) < self.share * 2**64


class HeldOut(NamedTuple):
    """Who is held out of ``records``: places in the input, from 0, and keyed digests."""

    records: int
    ordinals: tuple[int, ...]
    digests: tuple[str, ...]


def write_held_out(folder: Path, held_out: HeldOut) -> None:
    """Write for the steward who is held out of a release, without any value. Raises TargetError."""
    try:
        (folder / CONTROL_FILE).write_text(json.dumps(held_out._asdict()) + "\n", encoding="utf-8")
    except OSError as error:
        raise file_error(error, f"the release cannot be written ({error.strerror})") from None


@dataclass(frozen=True)
class Divided:
    """The splits of those who may be published, of those who are held out, and who these are."""

    kept: Sequence[InputSplit]
    control: Sequence[InputSplit] = ()
    held_out: HeldOut | None = None


def divide(splits: Sequence[InputSplit], policy: Policy, secret: bytes | None, spread: RunContext) -> Divided:
    """Divide the individuals as the policy's ``control`` says. Raises InputError where too few are left."""
    draw = Draw.of(policy, secret)
    if draw is None:
        return Divided(splits)
    listed = list(spread.executor.hold(splits).map(partial(_list_held_out, draw=draw)).collect())
    befores = accumulate((count for count, _ in listed), initial=0)
    drawn = [
        (before + place, digest)
        for before, (_, of_split) in zip(befores, listed, strict=False)
        for place, digest in of_split
    ]
    records = sum(count for count, _ in listed)
    kept, k = records - len(drawn), max(class_size(policy), 1)
    if kept < k:
        raise InputError(
            f"control: {len(drawn)} of {records} individuals are held out, and the {kept} that are left are "
            f"fewer than the {k} of a class: lower the share"
        )
    held_out = HeldOut(records, *map(tuple, zip(*drawn, strict=True))) if drawn else None
    return Divided(
        [HeldOutSplit(split, draw.is_held_out, False) for split in splits],
        [HeldOutSplit(split, draw.is_held_out, True) for split in splits],
        held_out or HeldOut(records, (), ()),
    )


def _list_held_out(split: InputSplit, draw: Draw) -> tuple[int, list[tuple[int, str]]]:
    """Return the number of records of a split, and place and digest of those who are held out."""
    drawn, count = [], 0
    for place, document in enumerate(split.documents()):
        count += 1
        if draw.is_held_out(document):
            drawn.append((place, draw.digest(document).hex()))
    return count, drawn


def check_control(splits: Sequence[InputSplit], control: Sequence[InputSplit], policy: Policy) -> None:
    """Raise InputError for a control of another shape, or one whose individuals are in the input too.

    Without identifiers records of two persons may be equal: then a control is refused if more than half of
    it is in the input.
    """
    known, shape, always = set[bytes](), set[Keys](), None
    for document in documents_of(splits):
        paths = frozenset(_list_paths(document))
        shape |= paths
        always = paths if always is None else always & paths
        known.add(_digest(document, policy.identity))
    total = repeated = 0
    other, of_control = set[Keys](), set[Keys]()
    for document in _read_control(control):
        paths = frozenset(_list_paths(document))
        other |= paths - shape
        of_control |= paths
        total += 1
        repeated += _digest(document, policy.identity) in known
    if not total:
        raise InputError(
            "the control has no records: give the file of individuals who are not in the release"
        )
    lacking = (always or frozenset()) - of_control
    if other or lacking:
        how, count = ("unknown there", len(other)) if other else ("missing", len(lacking))
        fields = "1 field is" if count == 1 else f"{count} fields are"
        raise InputError(OTHER_SHAPE.format(fields=fields, how=how))
    named = policy.identity is not None or any(rule.role == "identifier" for rule in policy.fields.values())
    if repeated and (named or 2 * repeated > total):
        raise InputError(OVERLAP.format(count=repeated))


def _read_control(control: Iterable[InputSplit]) -> Iterator[Document]:
    """Yield the records of a control; an error says that it is of the control, not of the input."""
    try:
        yield from documents_of(control)
    except InputError as error:
        raise InputError(f"the control: {error}", revealed=error.revealed) from None


def _digest(document: Document, identity: tuple[Keys, ...] | None) -> bytes:
    """Return the digest of whose record it is, or else of its content."""
    whose = None if identity is None else digest_individual(document, identity)
    return digest_record(document) if whose is None else whose


def _list_paths(value: object, keys: Keys = ()) -> Iterator[Keys]:
    """Yield the keys of all values of a document, whatever list they are in."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _list_paths(inner, (*keys, str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _list_paths(inner, keys)
    else:
        yield keys
