"""The interface of stores: export records in one pass, accept a release completely or not at all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from hierdata.documents.document import Document
from hierdata.ground.errors import UnavailableError
from hierdata.records.keyed import Table

RECORDS = "records"
"""The part of a release that contains the records."""
BATCH = 1000
"""Default number of records read or written at a time."""

LOST = "the server or the connection to it was lost"
UNCERTAIN = (
    f"{LOST} while the target was given its name: it may stand. Run `hierdata verify` on it, and remove it "
    "before you try again"
)


@contextmanager
def naming(location: str) -> Iterator[None]:
    """Say that the target may stand, if the server is lost while it is given its name."""
    try:
        yield
    except UnavailableError as error:
        if error.message != LOST:
            raise
        raise UnavailableError(UNCERTAIN, path=location) from None


@dataclass(frozen=True)
class Exported:
    """Records exported from a server: the file or folder of tables, and the limitations of the export."""

    path: Path
    limitations: tuple[str, ...] = ()


class Staged(ABC):
    """An unfinished target, which does not have its name before ``publish``.

    ``lacking`` has a sentence for each addition that the server refused, such as an index.
    """

    lacking: Sequence[str] = ()

    @abstractmethod
    def write(self, part: str, documents: Iterable[Document]) -> None:
        """Write a part of the release (``records`` first) in batches, in its order.

        The documents can be iterated repeatedly: a target may need a pass over all before it writes any.
        """

    @abstractmethod
    def export(self, part: str, path: Path) -> None:
        """Read a part back from the server into a new file of the store's format at ``path``.

        The records of keyed tables are written to a new folder with a file for each table.
        """

    @abstractmethod
    def publish(self) -> None:
        """Give the target its name. Raises TargetError if the name has been taken in the meantime.

        Raises UnavailableError with ``UNCERTAIN`` if the server was lost before it answered.
        """


class Store(ABC):
    """Records on a server.

    ``location`` is the readable address, without a password. ``format`` is the format of the release folder
    for such a store (None: that of the input); one that ``holds_tables`` has no records of its own. Errors of
    the server are raised as TargetError, errors in its records as InputError. No message quotes a value, and
    no error of the driver, which may quote one, is kept as context.
    """

    format: ClassVar[str | None] = None
    holds_tables: ClassVar[bool] = False
    location: str

    @abstractmethod
    def __init__(self, source: object, batch: int, options: Mapping[str, str]) -> None:
        """Take an address or a live object, completed by ``options``.

        Raises PolicyError for an invalid address or option, or if the library of the server is missing.
        """

    @classmethod
    def from_address(cls, address: str, batch: int, options: Mapping[str, str]) -> Store:
        """Return the store of an address. Raises PolicyError as the constructor does."""
        return cls(address, batch, options)

    @classmethod
    @abstractmethod
    def recognizes(cls, source: object) -> bool:
        """Return whether something is a live object of this store's library, without importing it."""

    @abstractmethod
    def documents(self) -> Iterator[Document]:
        """Return the records, in one pass and in batches."""

    def rows(self, is_table: Callable[[str], bool]) -> Iterator[Document]:
        """Return the records, or the rows of those tables of a store that ``holds_tables``, by name."""
        return self.documents()

    @abstractmethod
    def export(
        self,
        folder: Path,
        *,
        tables: tuple[Table, ...] = (),
        lookups: tuple[str, ...] = (),
        published: bool = False,
        listed: Collection[str] = (),
    ) -> Exported:
        """Export the records in one pass to a new file in a private folder, keeping types.

        With ``tables`` it is a folder with a file for each, and for each table of rows that belong to nobody
        (``lookups``). A field that the server requires (MongoDB's
        ``_id``) is dropped unless the policy lists it (``listed``). In a release (``published``) it is
        dropped only if it reveals nothing; otherwise it is kept, so that it is judged.
        """

    def structure(self) -> dict[str, Any] | None:
        """Return the server's own schema of its records as a JSON Schema; None if it has none."""
        return None

    @abstractmethod
    def refuse(self, source: Store | None) -> None:
        """Raise TargetError if a release of ``source`` (None: of files) must not be written here.

        This is the case if the name is taken, in particular by the source.
        """

    @abstractmethod
    def staging(
        self, source: Store | None, *, tables: tuple[Table, ...] = ()
    ) -> AbstractContextManager[Staged]:
        """Return a new target of this name; it is removed when the context ends unless it was published.

        ``source`` is the store of the originals, if any; a target adopts properties such as its indexes.
        """

    @abstractmethod
    def close(self) -> None:
        """Close connections that the store opened; a live object that was given stays open."""
