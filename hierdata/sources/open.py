"""Copy records on a server to a private file, from which they are read like any other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hierdata.ground.errors import PolicyError
from hierdata.ground.private_folder import PrivateFolder
from hierdata.policy.policy import Policy
from hierdata.sources.files import SECOND_READING
from hierdata.sources.stores import BATCH, Store, open_store


@dataclass(frozen=True)
class AtHand:
    """A local source with its policy.

    ``store`` is the server that it came from, if any; ``limitations`` are those of the export.
    """

    source: object
    policy: Policy
    store: Store | None = None
    limitations: tuple[str, ...] = ()


@contextmanager
def fetch_source(
    source: object,
    policy: Policy,
    *,
    batch: int = BATCH,
    beside: Path | None = None,
    published: bool = False,
    target: Store | None = None,
) -> Iterator[AtHand]:
    """Copy records on a server to a private file; any other source is yielded unchanged.

    The file is in a private folder in ``beside`` (by default the folder for temporary files) and is removed
    when the context ends. ``published`` means that a release is read, not an original. Raises TargetError
    before anything is read if its release must not be written to ``target``.
    """
    with open_store(source, batch=batch) as store:
        if target is not None:
            target.refuse(store)
        if store is None:
            yield AtHand(source, policy)
            return
        if policy.format is not None:
            raise PolicyError("`format` is for files, but the records are on a server: remove it")
        if policy.encoding is not None:
            raise PolicyError("`encoding` is for files, but the records are on a server: remove it")
        with PrivateFolder(beside, SECOND_READING) as folder:
            listed = {path.document_keys[0] for path, _ in policy.rules_by_keys.values()}
            # Bundles are whole records.
            has_tables = store.holds_tables or policy.standard is None
            tables = policy.joined_tables if has_tables else ()
            lookups = tuple(lookup.name for lookup in policy.lookups) if has_tables and not published else ()
            exported = store.export(
                folder, tables=tables, lookups=lookups, published=published, listed=listed
            )
            yield AtHand(exported.path, policy, store, exported.limitations)
