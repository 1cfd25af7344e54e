"""Categories, generalized along a tree: ``taxonomy: major.csv``.

``Tree`` is a tree of labels as a taxonomy is written: CSV (one leaf per line, from leaf to root), or nested
(YAML, or in the policy).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, cast

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hierdata.documents.document import Scalar
from hierdata.domains.base import (
    OLDEST,
    ROOT_LABEL,
    AncestorRows,
    Hierarchy,
    LabelKind,
    LabelLoss,
    Labels,
    Observed,
    QuasiDomain,
    Remainder,
    Uncovered,
    finder,
    loss_of,
)
from hierdata.domains.bounds import FileName
from hierdata.domains.number import Number, exact, identity
from hierdata.domains.published import TreeLabels, members_of
from hierdata.domains.taxonomy_files import (
    MAX_DEPTH,
    Tree,
    from_nested,
    is_built_in,
    locate_tree,
    read_tree,
)
from hierdata.ground.errors import PolicyError

__all__ = ["MAX_DEPTH", "Taxonomy", "read_tree"]

Made = TypeVar("Made")

_REMAINDERS = {
    "builtin/ages": Remainder("dates", f"in groups of ages; all from {OLDEST + 1} on are one"),
    "builtin/zip-3": Remainder(
        "places", "the first three digits of ZIP codes; 000 for areas with at most 20,000 people"
    ),
}


class Taxonomy(QuasiDomain):
    """A tree whose leaves are the values: a file (CSV or nested YAML), ``builtin/NAME``, or a ``tree``.

    LM' of a node is (leaves below - 1) / (all leaves - 1), with the leaves of the file, not of the data (ML
    section 5.1, erratum ML-14). The root is published as ``*`` whatever the file calls it. A missing value is
    a child of the root and does not count as a leaf. Values at inner nodes are covered only with ``inner:
    true``, and cost the node's LM'. A number matches the leaf of equal value, the first if there are two
    (``1``, ``1.0``). Labels are texts, spelled as in the file.

    ``finest: N`` makes the lowest ancestor of height N or more the finest form of a value, else the root; the
    height of a node is its longest way down to a leaf.

    >>> majors = Taxonomy(tree={"*": {"Engineering": ["CS", "EE"], "Arts": None}}).compile({"CS": 1}, Path())
    >>> majors.labels[majors.join(majors.node_of("CS"), majors.node_of("EE"))]
    'Engineering'
    """

    called: ClassVar[str] = "taxonomy"
    labels_are: ClassVar[LabelKind] = "groups"

    file: FileName | None = None
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    inner: bool = False
    finest: Annotated[int, Field(ge=0, le=1000)] = 0
    tree: Any = None

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, spec: Any) -> Any:
        return {"file": spec} if isinstance(spec, str) else spec

    @model_validator(mode="after")
    def _one_source(self) -> Taxonomy:
        if (self.file is None) == (self.tree is None):
            raise ValueError("state either a file or a tree")
        if self.delimiter is not None and self.file is None:
            raise ValueError("a delimiter is only allowed with a file")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Allow a file name alone in a policy."""
        return {
            "anyOf": [
                {"type": "string", "maxLength": 1000, "description": "a taxonomy file, or builtin/NAME"},
                handler(core),
            ]
        }

    @property
    def named_file(self) -> str | None:
        """The file with the tree; None for a tree in the policy or in the package."""
        return None if self.file is None or is_built_in(self.file) else self.file

    @property
    def remainder(self) -> Remainder | None:
        """See QuasiDomain.remainder: groups of ages, or ZIP codes by three digits, from the package."""
        return _REMAINDERS.get(self.file or "") if self.finest >= 1 else None

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        """Build the hierarchy of the tree down to the finest form.

        Raises PolicyError for an unusable file or tree.
        """
        return _make_once(Taxonomy._build_hierarchy, self, folder)

    def _build_hierarchy(self, folder: Path) -> Hierarchy:
        tree, floor = self._read(folder)
        kept = [node for node, finest in enumerate(floor) if node == finest]
        number_of = array("i", floor)
        for number, node in enumerate(kept):
            number_of[node] = number
        values = self._values(tree)
        for value, node in values.items():  # in place: a second dict would be 20 MB for 300,000 leaves
            values[value] = number_of[floor[node]]
        losses = _losses(tree)
        return Hierarchy(
            (*(tree.labels[node] for node in kept), None),
            _ancestors(tree, kept, number_of),
            (*(losses[node] for node in kept), Fraction(0)),
            finder(values, identity, len(kept)),
            self._codebook(tree),
            tree.child_counts.count(0),
        )

    def labels(self, folder: Path) -> Labels:
        """Return the labels of the tree down to the finest form."""
        return _make_once(Taxonomy._find_labels, self, folder)

    def _find_labels(self, folder: Path) -> TreeLabels:
        tree, floor = self._read(folder)
        values = self._values(tree)
        ends = {floor[node] for node in values.values()}
        every = {*_keys_of(tree.labels[node] for node in floor)}
        places = _spans(tree)
        spans: dict[str | Number, tuple[int, int]] = {}
        for label, span in zip(tree.labels, places, strict=True):
            for key in _keys_of((label,)):
                spans.setdefault(key, span)
        order = [first for first, _ in places]
        nodes = {key: order[node] for key, node in values.items()}
        ends_in_order = sorted(order[node] for node, count in enumerate(tree.child_counts) if not count)
        return TreeLabels(
            frozenset(_keys_of(tree.labels[node] for node in ends)),
            frozenset(every),
            spans,
            nodes,
            tuple(ends_in_order),
            tuple(sorted({*nodes.values()} - {*ends_in_order})),
        )

    def _read(self, folder: Path) -> tuple[Tree, Sequence[int]]:
        """Read the tree and return for each node the finest node that may be published for it."""
        tree = _make_once(Taxonomy._read_tree, self, folder)
        if not self.finest:
            return tree, range(len(tree.labels))
        heights = tree.heights()
        if self.finest > heights[0]:
            raise PolicyError(
                f"taxonomy {tree.source}: finest: {self.finest} lies above the root, whose height is "
                f"{heights[0]}: state at most that"
            )
        floor = array("i", [0])
        for node in range(1, len(heights)):
            floor.append(node if heights[node] >= self.finest else floor[tree.parents[node]])
        return tree, floor

    def _read_tree(self, folder: Path) -> Tree:
        if self.file is None:
            return from_nested(self.tree, "in the policy")
        return read_tree(locate_tree(folder, self.file), self.delimiter, self.file)

    def _codebook(self, tree: Tree) -> dict[str, Any]:
        """Map each child to its parent by label; a chain with one label is one entry."""
        parents = {
            label: tree.labels[tree.parents[node]]
            for node, label in enumerate(tree.labels)
            if node and label != tree.labels[tree.parents[node]]
        }
        finest = {"finest": self.finest} if self.finest else {}
        return {"kind": "taxonomy", "root": ROOT_LABEL, "parents": parents, **finest}

    def published_losses(self, labels: Collection[Scalar], folder: Path, *, sets: bool) -> LabelLoss:
        """See QuasiDomain.published_losses; a missing value in a set counts as one leaf."""
        tree = self.compile({}, folder)
        nodes = _make_once(_nodes_of, self, folder)

        def node_of(label: Scalar) -> int:
            node = nodes.get(identity(label), -1)
            if node < 0 and isinstance(label, str):  # a text may spell a number, 1.0 the leaf 1
                node = nodes.get(exact(label), -1)
            if node < 0:
                raise Uncovered
            return node

        def loss(label: Scalar) -> Fraction:
            if label == ROOT_LABEL:
                return Fraction(1)
            members = members_of(label, sets)
            held = {node_of(member) for member in members if member is not None}
            tops = [node for node in held if held.isdisjoint({*tree.ancestors[node]} - {node})]
            if len(tops) == len(members) == 1:
                return tree.lm[tops[0]]
            leaves = sum((tree.lm[node] * (tree.leaves - 1) + 1 for node in tops), Fraction(0))
            lost = (leaves + (None in members) - 1) / max(tree.leaves - 1, 1)
            return min(lost, Fraction(1))

        return loss

    def _values(self, tree: Tree) -> dict[str | Number, int]:
        """Return the nodes that values may name, by text and by number; the deepest of a one-label chain."""
        nodes: dict[str | Number, int] = {
            label: node
            for node, label in enumerate(tree.labels)
            if label != ROOT_LABEL and (self.inner or not tree.child_counts[node])
        }
        numbers: dict[str | Number, int] = {}
        for label in [label for label in nodes if str(label)[0] in _NUMERIC]:
            if (number := _number(str(label))) is not None:
                numbers.setdefault(number, nodes[label])
        nodes.update(numbers)
        return nodes


@dataclass(frozen=True)
class _Version:
    """A state of a taxonomy: a changed file, or another tree in the policy, has another ``key``."""

    key: tuple[object, ...]
    taxonomy: Taxonomy = field(compare=False)
    folder: Path = field(compare=False)


def _version(taxonomy: Taxonomy, folder: Path) -> _Version | None:
    """Return the state of a taxonomy now; None if its file is missing."""
    key: tuple[object, ...] = (type(taxonomy), taxonomy.inner, taxonomy.finest)
    if taxonomy.file is None:
        return _Version((*key, repr(taxonomy.tree)), taxonomy, folder)
    try:
        status = locate_tree(folder, taxonomy.file).stat()
    except (OSError, PolicyError):
        return None
    key += (taxonomy.file, taxonomy.delimiter, folder, status.st_dev, status.st_ino, status.st_size)
    return _Version((*key, status.st_mtime_ns), taxonomy, folder)


def _make_once(make: Callable[[Taxonomy, Path], Made], taxonomy: Taxonomy, folder: Path) -> Made:
    """Return what is made of a taxonomy, the same again as long as its file is the same.

    A run asks for the same tree again and again, for the records, the judge and the report: a large one takes
    seconds. What the judge looks up is made of the tree, and of nothing that the search made of it.
    """
    version = _version(taxonomy, folder)
    return make(taxonomy, folder) if version is None else cast("Made", _make_of_version(make, version))


@lru_cache(maxsize=32)
def _make_of_version(make: Callable[[Taxonomy, Path], Any], version: _Version) -> Any:
    return make(version.taxonomy, version.folder)


def _nodes_of(taxonomy: Taxonomy, folder: Path) -> dict[str | Number, int]:
    """Return the node of each label, as text and as the number that it spells."""
    tree = taxonomy.compile({}, folder)
    nodes: dict[str | Number, int] = {}
    for node, label in enumerate(tree.labels[:-1]):
        nodes.setdefault(str(label), node)
    for node, label in enumerate(tree.labels[:-1]):
        if (number := _number(str(label))) is not None:
            nodes.setdefault(number, node)
    return nodes


_NUMERIC = "+-.0123456789"
"""What a number begins with."""


def _number(label: str) -> Number | None:
    """Return the number that a label spells, None if it spells none."""
    if label[:1] not in _NUMERIC:  # most labels: an error for each takes long
        return None
    try:
        return exact(label)
    except Uncovered:
        return None


def _spans(tree: Tree) -> list[tuple[int, int]]:
    """Return for each node its place in pre-order, and that of the last node below it."""
    sizes = [1] * len(tree.labels)
    for node in range(len(sizes) - 1, 0, -1):
        sizes[tree.parents[node]] += sizes[node]
    free = [0] * len(sizes)  # the place of the next child
    spans = []
    for node, parent in enumerate(tree.parents):
        first = 0 if node == 0 else free[parent]
        if node:
            free[parent] += sizes[node]
        free[node] = first + 1
        spans.append((first, first + sizes[node] - 1))
    return spans


def _keys_of(labels: Iterable[str]) -> Iterator[str | Number]:
    for label in labels:
        yield label
        if (number := _number(label)) is not None:
            yield number


def _ancestors(tree: Tree, kept: Sequence[int], number_of: Sequence[int]) -> AncestorRows:
    """Return the path of each kept node, in their numbers; all above a kept node are kept."""
    lengths = array("i", [1])
    for node in islice(kept, 1, None):
        lengths.append(lengths[number_of[tree.parents[node]]] + 1)
    width = max(2, max(lengths))
    rows = array("i", [-1]) * (width * (len(kept) + 1))
    rows[0] = 0
    last, path = -1, rows[:1]  # siblings often follow each other, and share the path above them
    for number, node in enumerate(islice(kept, 1, None), 1):
        above, length = number_of[tree.parents[node]], lengths[number] - 1
        if above != last:
            last, path = above, rows[above * width : above * width + length]
        first = number * width
        rows[first : first + length] = path
        rows[first + length] = number
    missing = len(kept) * width
    rows[missing : missing + 2] = array("i", [0, len(kept)])
    return AncestorRows(rows, width)


def _losses(tree: Tree) -> tuple[Fraction, ...]:
    leaves = [0 if count else 1 for count in tree.child_counts]
    for node in range(len(leaves) - 1, 0, -1):
        leaves[tree.parents[node]] += leaves[node]
    losses = {below: loss_of(below, leaves[0]) for below in {*leaves}}
    return tuple(losses[below] for below in leaves)
