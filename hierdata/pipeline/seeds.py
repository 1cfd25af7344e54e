"""What seed and content of a collection determine: random numbers of the search, order of publication.

The digest of the content is that of decoded records, whatever files, compression or parts they come in.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import pickle
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import TYPE_CHECKING

from hierdata.documents.document import Document
from hierdata.ground.errors import PolicyError
from hierdata.ground.version import __version__
from hierdata.policy.plan.plan import stated_weights

if TYPE_CHECKING:
    import numpy as np

    from hierdata.policy.plan.plan import Prepared


BYTES = 16


def seed_of(stated: object, origin: str = "the seed") -> bytes:
    """Return the stated seed, or a random one from the system.

    Raises PolicyError for another type, or fewer than 16 bytes: a shorter seed could be guessed, and it
    reveals the order of the input. ``origin`` says where it is from.
    """
    if stated is None:
        return os.urandom(BYTES)
    if not isinstance(stated, bytes):
        kind = type(stated).__name__
        raise PolicyError(f"a seed must be secret bytes, such as os.urandom({BYTES}); it has the type {kind}")
    if len(stated) < BYTES:
        raise PolicyError(f"{origin} holds fewer than {BYTES} bytes; head -c 32 /dev/urandom makes a seed")
    return stated


def generator(seed: bytes, block: int) -> np.random.Generator:
    """Build the random generator of one block of a collection, keyed by the block's number."""
    import numpy as np

    key = hashlib.blake2b(block.to_bytes(8), key=_key(seed), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key)))


def order_key(seed: bytes, prepared: Prepared, content: bytes) -> bytes:
    """Derive the key of the order of publication.

    The seed is bound to what the policy promises, to how values generalize and classes are searched, and to
    ``content``, the digest of the collection. So two collections, or two policies, have unrelated orders
    under one seed. It does not matter how the policy is written.
    """
    from hierdata.release.verification import freeze  # the templates of reports are slow to load

    policy = prepared.policy
    searched = policy.model_dump(
        mode="json", include={"engine", "blocks", "effort", "empty"}, serialize_as_any=True
    )
    facts = freeze(prepared, __version__).model_dump(mode="json")
    stated = [["/".join(keys), weight] for keys, weight in sorted(stated_weights(policy).items())]
    asked = json.dumps([searched, facts, *stated], sort_keys=True).encode()
    return hmac.digest(seed, hashlib.sha256(asked).digest() + content, "sha256")


def order_of(key: bytes, count: int) -> list[int]:
    """Return the ordinals in the order of publication, by a keyed hash, independent of the input's order."""
    return sorted(range(count), key=places_of(key, range(count)).__getitem__)


def places_of(key: bytes, ordinals: Iterable[int]) -> list[bytes]:
    """Return the hash of each ordinal under a key; records are published in the order of hashes."""
    keyed = hashlib.blake2b(key=key, person=b"order", digest_size=16)

    def place(ordinal: int) -> bytes:
        digest = keyed.copy()  # setting up the key for each would take a third of the time
        digest.update(ordinal.to_bytes(8))
        return digest.digest()

    return list(map(place, ordinals))


def salt_of(seed: bytes) -> int:
    """Derive the 64 bits that key the cut into blocks."""
    return int.from_bytes(hashlib.blake2b(seed, person=b"cut", digest_size=8).digest())


def _key(seed: bytes) -> bytes:
    return hashlib.blake2b(seed, person=b"hierdata").digest()


RECORD_BYTES = 16
"""Bytes of a record's digest."""


def watch_content(documents: Iterable[Document], digests: bytearray) -> Iterator[Document]:
    """Yield the documents unchanged, and append the digest of each to ``digests`` before it is used."""
    for document in documents:
        digests += digest_record(document)
        yield document


def digest_record(document: Document) -> bytes:
    """Return the digest of a record as it was decoded: keys, their order, types and spellings.

    Equal values give equal digests: without a memo, a pickle does not show which values are one object.
    """
    stream = BytesIO()
    pickler = pickle.Pickler(stream, protocol=5)
    pickler.fast = True
    pickler.dump(document)
    return hashlib.blake2b(stream.getbuffer(), digest_size=RECORD_BYTES).digest()
