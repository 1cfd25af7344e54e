"""Tables with one sensitive attribute in a taxonomy, as the engines see them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hierdata.domains.interval import Interval
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.taxonomy import Taxonomy
from hierdata.engines import ENGINES, Constraints
from hierdata.engines.base import StepInput
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication, publish_grouped
from hierdata.privacy.base import PrivacyModel
from hierdata.records.record import Vertex
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from tests.naive_mbf import Parents


class Table:
    """Rows of an age and sensitive values, a tree of parents for each; None is missing.

    With ``owners`` they are the children of these records, ascending, else the records.
    """

    def __init__(
        self,
        parents: Sequence[Parents],
        rows: Sequence[Sequence[str | None]],
        ages: Sequence[int] | None = None,
        owners: Sequence[int] | None = None,
    ) -> None:
        ages = ages or [50] * len(rows)
        self.kind = 0 if owners is None else 1
        self.age = Interval(steps=(5, 10, 20), domain=(0, 99)).compile(Counter(ages), Path())
        self.domains = [
            SensitiveDomain.build(f"$.s{at}", Counter(row[at] for row in rows), taxonomy=_compiled(tree))
            for at, tree in enumerate(parents)
        ]
        own = (
            Attribute("$.age", ("age",), Role.QUASI),
            *(Attribute(f"$.s{at}", (f"s{at}",), Role.SENSITIVE) for at in range(len(parents))),
        )
        vertices = [Vertex(self.kind, [age], list(row), [], []) for age, row in zip(ages, rows, strict=True)]
        if owners is None:
            schema = Schema((VertexType(0, "$", (), True, None, (), own),))
            self.forest: Forest = encode(vertices, schema, [[self.age]], [self.domains])
            return
        roots = [
            Vertex(0, [], [], [], [v for v, owner in zip(vertices, owners, strict=True) if owner == one])
            for one in range(max(owners) + 1)
        ]
        types = (
            VertexType(0, "$", (), True, None, (1,), ()),
            VertexType(1, "$.rows[*]", ("rows",), True, 0, (), own),
        )
        self.forest = encode(roots, Schema(types), [[], [self.age]], [[], self.domains])

    @cached_property
    def scope(self) -> Scope:
        return Scope.of(self.forest, self.kind)

    def bind(self, *models: PrivacyModel) -> Constraints:
        bound = tuple(tuple(model.bind(domain) for model in models) for domain in self.domains)
        return Constraints((), ((), bound) if self.kind else (bound,))

    def mbf(self, *models: PrivacyModel, seed: int = 0) -> Partition:
        return ENGINES["mbf"](kind="mbf").find_classes(
            StepInput(self.forest, self.scope, self.bind(*models), None, np.random.default_rng(seed))
        )

    def published(self, classes: Sequence[Sequence[int]]) -> Publication:
        """The rows in these classes, the rest suppressed."""
        from hierdata.engines.rows.table import partition_of

        class_of = np.full(len(self.scope.rows), -1, np.int64)
        for number, own in enumerate(classes):
            class_of[own] = number
        return publish_grouped(self.forest, (partition_of(self.forest, self.scope, class_of, Counter()),), ())


def below(parents: Parents, node: str) -> dict[str, Any]:
    """The nested tree below a node."""
    return {child: below(parents, child) for child, above in parents.items() if above == node}


def _compiled(parents: Parents) -> Any:
    (root,) = (node for node, above in parents.items() if above is None)
    return Taxonomy(tree={"*": below(parents, root)}, inner=True).compile({}, Path())


def classes_of(partition: Partition) -> list[list[int]]:
    """The rows of each class."""
    return [
        np.flatnonzero(partition.equivalence_class == own).tolist() for own in range(partition.class_count)
    ]
