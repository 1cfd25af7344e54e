"""What the seed of a release determines: random numbers of the search, and the order of publication."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hierdata.ground.errors import PolicyError
from hierdata.ground.version import __version__
from hierdata.release.verification import freeze

if TYPE_CHECKING:
    import numpy as np

    from hierdata.policy.plan.plan import Prepared
from hierdata.policy.plan.worth import stated_weights

BYTES = 16


def seed_of(stated: object) -> bytes:
    """Return the stated seed, or a random one from the system. Raises PolicyError for another type."""
    if stated is None:
        return os.urandom(BYTES)
    if not isinstance(stated, bytes):
        kind = type(stated).__name__
        raise PolicyError(f"a seed must be secret bytes, such as os.urandom({BYTES}); it has the type {kind}")
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
        own = keyed.copy()  # setting up the key for each would take a third of the time
        own.update(ordinal.to_bytes(8))
        return own.digest()

    return list(map(place, ordinals))


def salt_of(seed: bytes) -> int:
    """Derive the 64 bits that key the cut into blocks."""
    return int.from_bytes(hashlib.blake2b(seed, person=b"cut", digest_size=8).digest())


def _key(seed: bytes) -> bytes:
    return hashlib.blake2b(seed, person=b"hierdata").digest()
