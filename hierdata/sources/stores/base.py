"""What every store can do: give its records to a file in one pass, take a release whole or not at all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from hierdata.documents.document import Document
from hierdata.records.flatten import Table

RECORDS = "records"
"""The part of a release that holds the records."""
BATCH = 1000
"""Records that travel together, where nobody says how many."""


@dataclass(frozen=True)
class Exported:
    """Records that came from a server: the file or folder of tables, and what cannot be promised of them."""

    path: Path
    limitations: tuple[str, ...] = ()


class Staged(ABC):
    """A target in the making, which nobody sees under its name before ``publish``.

    ``lacking`` says in sentences what the server refused to add to the records, such as an index.
    """

    lacking: Sequence[str] = ()

    @abstractmethod
    def write(self, part: str, documents: Iterable[Document]) -> None:
        """Write a part of the release (``records`` first) in batches, in its order.

        The documents can be gone through more than once: a target may have to know all before the first.
        """

    @abstractmethod
    def export(self, part: str, path: Path) -> None:
        """Read back what the server holds of a part, into a new file of the store's format at ``path``.

        The records of keyed tables go into a new folder with a file for each table.
        """

    @abstractmethod
    def publish(self) -> None:
        """Give it its name. Raises TargetError where the name has been taken meanwhile."""


class Store(ABC):
    """Records on a server.

    ``place`` says where, for people: never with a password. ``format`` names the format in which a release
    for such a store lies in its folder (None: that of the input). Everything that goes wrong on the server
    is a TargetError, what is wrong with its records an InputError; no message quotes a value, and no error
    of the driver, which may, stays in its context.
    """

    format: ClassVar[str | None] = None
    place: str

    @abstractmethod
    def __init__(self, source: object, batch: int, options: Mapping[str, str]) -> None:
        """Take an address or a live object; ``options`` say what neither does.

        Raises PolicyError for an address that is none, an option that means nothing here, or where the
        library for the server is not installed.
        """

    @classmethod
    @abstractmethod
    def recognizes(cls, source: object) -> bool:
        """Whether something is a live object of this store's library, without importing it."""

    @abstractmethod
    def documents(self) -> Iterator[Document]:
        """The records, in one pass and in batches."""

    @abstractmethod
    def export(
        self,
        folder: Path,
        *,
        tables: tuple[Table, ...] = (),
        published: bool = False,
        listed: Collection[str] = (),
    ) -> Exported:
        """Read the records in one pass into a new file in a private folder, types kept.

        With ``tables`` it is a folder with a file for each. What the server itself must have beside a record
        (MongoDB's ``_id``) is dropped, unless it is among the fields that the policy has ``listed``. Of what
        is ``published`` it is dropped only where it tells nothing: anything else is there to be judged.
        """

    def structure(self) -> dict[str, Any] | None:
        """What the server itself knows of the structure of its records, as a JSON Schema; None: nothing."""
        return None

    @abstractmethod
    def refuse(self, source: Store | None) -> None:
        """Raise TargetError where a release of ``source`` (None: of files) must not be written here.

        That is where something has this name already, above all the source.
        """

    @abstractmethod
    def staging(
        self, source: Store | None, *, tables: tuple[Table, ...] = ()
    ) -> AbstractContextManager[Staged]:
        """A new target of this name; what was not published when the context is left is gone.

        ``source`` is where the originals are, where that is a store: a target fits it, as with indexes.
        """

    @abstractmethod
    def close(self) -> None:
        """Close what was opened here; a live object that was given stays open."""
