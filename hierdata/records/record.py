"""A record: one individual's rooted tree, bound to a schema."""

from __future__ import annotations

from collections.abc import Sequence

from hierdata.documents.document import Scalar


class Vertex:
    """A vertex of a record, and with its children the record itself.

    ``quasi``, ``sensitive`` and ``carried`` hold the raw values in the order of the vertex type's attributes
    of that role; None is missing. ``children`` are grouped by vertex type in schema order and keep the
    document's order inside a group.
    """

    __slots__ = ("carried", "children", "quasi", "sensitive", "type")

    def __init__(
        self,
        type: int,
        quasi: Sequence[Scalar],
        sensitive: Sequence[Scalar],
        carried: Sequence[Scalar],
        children: Sequence[Vertex],
    ) -> None:
        self.type = type
        self.quasi = quasi
        self.sensitive = sensitive
        self.carried = carried
        self.children = children
