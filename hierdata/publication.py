"""A publication: what a recoding makes of a partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hierdata.document import Document
from hierdata.partition import Partition


@dataclass(frozen=True)
class Publication:
    """What a recoding makes of one partition: documents, ready to be written.

    ``documents`` starts anew at every call. ``element`` is the name of a record's element where the format
    needs one and the input's own does not fit (one class a document).
    """

    partition: Partition
    documents: Callable[[], Iterator[Document]]
    document_count: int
    element: str | None = None
