"""Records on a server come into a private file first; from there on they are read like any other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hierdata.documents.private_folder import PrivateFolder
from hierdata.errors import PolicyError
from hierdata.policy.policy import Policy
from hierdata.sources.files import SECOND_READING
from hierdata.sources.stores import BATCH, Store, store_of


@dataclass(frozen=True)
class AtHand:
    """What is read from here on: ``source`` under ``policy``.

    ``store`` is where it came from, None where it was no server; ``limitations`` are those of the reading.
    """

    source: object
    policy: Policy
    store: Store | None = None
    limitations: tuple[str, ...] = ()


@contextmanager
def at_hand(
    source: object,
    policy: Policy,
    *,
    batch: int = BATCH,
    beside: Path | None = None,
    published: bool = False,
    target: Store | None = None,
) -> Iterator[AtHand]:
    """Bring what is on a server into a private file; everything else stays what it is.

    The file lies in a private folder in ``beside`` (by default where temporary files lie) and is gone when
    the context is left. ``published`` tells that a release is read, not an original. Where a release of it
    must not go into ``target``, that is said before anything is read.
    """
    store = store_of(source, batch=batch)
    if store is None:
        if target is not None:
            target.refuse(None)
        yield AtHand(source, policy)
        return
    try:
        if target is not None:
            target.refuse(store)
        if policy.format is not None:
            raise PolicyError("`format` is about files, and the records are on a server: leave it out")
        with PrivateFolder(beside, SECOND_READING) as folder:
            listed = {keys[0] for keys in policy.by_keys}
            exported = store.export(folder, tables=policy.joined, published=published, listed=listed)
            yield AtHand(exported.path, policy, store, exported.limitations)
    finally:
        if store is not source:
            store.close()
