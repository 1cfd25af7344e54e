"""Small tables as the engines see them: domains as a policy states them, values as a document spells them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hierdata.documents.document import Scalar
from hierdata.domains.base import QuasiDomain
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.engines import Constraints
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest
from hierdata.privacy.base import PrivacyModel
from hierdata.records.record import Vertex
from hierdata.records.schema import Attribute, Role, Schema, VertexType


@dataclass(frozen=True)
class Table:
    """Rows of one vertex type: of the records, or (``kind`` 1) of their children."""

    forest: Forest
    kind: int

    def bind(self, *models: PrivacyModel) -> Constraints:
        """The models, on every sensitive attribute where they are about values."""
        on_records = tuple(model.bind(None) for model in models if not model.per_attribute)
        on_values = tuple(
            tuple(tuple(model.bind(domain) for model in models if model.per_attribute) for domain in own)
            for own in self.forest.domains
        )
        return Constraints(on_records, on_values).at(self.kind)


def table(
    domains: Sequence[QuasiDomain],
    quasi: Sequence[Sequence[Scalar]],
    sensitive: Sequence[Sequence[Scalar]],
    owners: Sequence[int] | None = None,
) -> Table:
    """A table of ``quasi`` and ``sensitive`` values, row by row; ``owners``: their records, ascending."""
    width = len(sensitive[0]) if sensitive else 0
    columns = list(zip(*quasi, strict=True)) if quasi else []
    trees = tuple(own.compile(Counter(column), Path()) for own, column in zip(domains, columns, strict=True))
    codes = tuple(
        SensitiveDomain.build(f"$.s{at}", Counter(row[at] for row in sensitive), number=True)
        for at in range(width)
    )
    attributes = (
        *(Attribute(f"$.q{at}", (f"q{at}",), Role.QUASI) for at in range(len(domains))),
        *(Attribute(f"$.s{at}", (f"s{at}",), Role.SENSITIVE) for at in range(width)),
    )
    kind = 0 if owners is None else 1
    rows = [
        Vertex(kind, list(own), list(values), [], []) for own, values in zip(quasi, sensitive, strict=True)
    ]
    if owners is None:
        schema = Schema((VertexType(0, "$", (), True, None, (), attributes),))
        return Table(encode(rows, schema, [trees], [codes]), 0)
    records = [
        Vertex(0, [], [], [], [row for row, owner in zip(rows, owners, strict=True) if owner == one])
        for one in range(max(owners, default=-1) + 1)
    ]
    schema = Schema(
        (
            VertexType(0, "$", (), True, None, (1,), ()),
            VertexType(1, "$.rows[*]", ("rows",), True, 0, (), attributes),
        )
    )
    return Table(encode(records, schema, [(), trees], [(), codes]), 1)
