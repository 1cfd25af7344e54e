"""Categories, generalized along a tree: ``taxonomy: major.csv``.

``Tree`` is a tree of labels as a taxonomy is written: CSV (one leaf per line, from leaf to root), or nested
(YAML, or in the policy).
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hierdata.documents.document import Scalar
from hierdata.documents.limits import TAXONOMY, TooMuch, check_yaml, text_within
from hierdata.domains.base import (
    ROOT_LABEL,
    Hierarchy,
    LabelLoss,
    Labels,
    Observed,
    QuasiDomain,
    Uncovered,
    finder,
    loss_of,
)
from hierdata.domains.bounds import FileName
from hierdata.domains.number import Number, canonical, exact, identity
from hierdata.domains.published import members_of
from hierdata.ground.errors import PolicyError

MAX_DEPTH = 64


class Taxonomy(QuasiDomain):
    """A tree whose leaves are the values: a file (CSV or nested YAML) or written out as ``tree``.

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
            "anyOf": [{"type": "string", "maxLength": 1000, "description": "a taxonomy file"}, handler(core)]
        }

    @property
    def named_file(self) -> str | None:
        """The file with the tree."""
        return self.file

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        """Build the hierarchy of the tree down to the finest form.

        Raises PolicyError for an unusable file or tree.
        """
        tree, floor = self._read(folder)
        kept = sorted({*floor})
        number_of = {node: number for number, node in enumerate(kept)}
        values = self._values(tree)
        losses = _losses(tree)
        return Hierarchy(
            (*(tree.labels[node] for node in kept), None),
            _ancestors(tree, number_of),
            (*(losses[node] for node in kept), Fraction(0)),
            finder({value: number_of[floor[node]] for value, node in values.items()}, identity, len(kept)),
            self._codebook(tree),
            tree.child_counts.count(0),
        )

    def labels(self, folder: Path) -> Labels:
        """Return the labels of the tree down to the finest form."""
        tree, floor = self._read(folder)
        ends = {floor[node] for node in self._values(tree).values()}
        every = {*_keys_of(tree.labels[node] for node in floor)}
        spans: dict[str | Number, tuple[int, int]] = {}
        for label, span in zip(tree.labels, _spans(tree), strict=True):
            for key in _keys_of((label,)):
                spans.setdefault(key, span)
        return _TaxonomyLabels(
            frozenset(_keys_of(tree.labels[node] for node in ends)), frozenset(every), spans
        )

    def _read(self, folder: Path) -> tuple[Tree, tuple[int, ...]]:
        """Read the tree and return for each node the finest node that may be published for it."""
        if self.file is None:
            tree = _from_nested(self.tree, "in the policy")
        else:
            tree = read_tree(folder / self.file, self.delimiter, self.file)
        heights = tree.heights()
        if self.finest > heights[0]:
            raise PolicyError(
                f"taxonomy {tree.source}: finest: {self.finest} lies above the root, whose height is "
                f"{heights[0]}: state at most that"
            )
        floor = [0]
        for node in range(1, len(heights)):
            floor.append(node if heights[node] >= self.finest else floor[tree.parents[node]])
        return tree, tuple(floor)

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
        nodes: dict[str | Number, int] = {}
        for node, label in enumerate(tree.labels[:-1]):
            nodes.setdefault(str(label), node)
        for node, label in enumerate(tree.labels[:-1]):
            with suppress(Uncovered):
                nodes.setdefault(exact(str(label)), node)

        def node_of(label: Scalar) -> int:
            found = nodes.get(identity(label), -1)
            if found < 0 and isinstance(label, str):  # a text may spell a number, 1.0 the leaf 1
                found = nodes.get(exact(label), -1)
            if found < 0:
                raise Uncovered
            return found

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
        for label, node in list(nodes.items()):
            with suppress(Uncovered):
                nodes.setdefault(exact(str(label)), node)
        return nodes


@dataclass(frozen=True)
class _TaxonomyLabels(Labels):
    """The labels of finest nodes and of all nodes, each as text and as the number that it spells.

    ``spans`` are the first and last node below each label, the node itself included, in pre-order.
    """

    finest: frozenset[str | Number]
    every: frozenset[str | Number]
    spans: Mapping[str | Number, tuple[int, int]]

    def is_finest(self, label: Scalar) -> bool:
        return _is_among(label, self.finest)

    def is_coarser(self, label: Scalar) -> bool:
        return _is_among(label, self.every - self.finest)

    def extent(self, label: Scalar) -> tuple[Any, Any]:
        span = self.spans.get(identity(label))
        if span is None:
            raise Uncovered
        return span


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
        with suppress(Uncovered):
            yield exact(label)


def _is_among(label: Scalar, keys: frozenset[str | Number]) -> bool:
    try:
        return identity(label) in keys
    except Uncovered:
        return False


def _ancestors(tree: Tree, number_of: Mapping[int, int]) -> tuple[tuple[int, ...], ...]:
    """Return the path of each kept node, in their numbers; all above a kept node are kept."""
    paths: list[tuple[int, ...]] = [(0,)]
    for node, number in number_of.items():
        if number:
            paths.append((*paths[number_of[tree.parents[node]]], number))
    paths.append((0, len(number_of)))
    depth = max(map(len, paths))
    return tuple(path + (-1,) * (depth - len(path)) for path in paths)


def _losses(tree: Tree) -> tuple[Fraction, ...]:
    leaves = [0 if count else 1 for count in tree.child_counts]
    for node in range(len(leaves) - 1, 0, -1):
        leaves[tree.parents[node]] += leaves[node]
    return tuple(loss_of(below, leaves[0]) for below in leaves)


def _is_interval(label: str) -> bool:
    """Return whether a label looks like ``[1, 5]``. A regular expression would need quadratic time."""
    inner = label.strip()
    return inner[:1] in ("[", "(") and inner[-1:] in ("]", ")") and "," in inner


class Tree:
    """Labels and parents of nodes 0..n-1, node 0 the root; a parent's number is below its children's.

    A label names one node. The exception is a chain of single children, where a label may be repeated: such
    nodes contain the same values. Raises PolicyError, which names ``source``, as soon as this is violated.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.labels = [ROOT_LABEL]
        self.parents = [-1]
        self.child_counts = [0]
        self.depths = [0]
        self._deepest = {ROOT_LABEL: 0}

    def add(self, parent: int, label: str, where: str) -> int:
        """Add a node and return its number; ``where`` is the place in the file, for messages."""
        if not label:
            raise self.refusal(where, "a label is empty")
        same = self._deepest.get(label)
        if same is not None and same != parent:
            raise self.refusal(where, f"the label {label!r} names two nodes")
        if self.depths[parent] >= MAX_DEPTH:
            raise self.refusal(where, f"the tree is deeper than {MAX_DEPTH}")
        node = len(self.labels)
        self._deepest[label] = node
        self.labels.append(label)
        self.parents.append(parent)
        self.child_counts.append(0)
        self.depths.append(self.depths[parent] + 1)
        self.child_counts[parent] += 1
        return node

    def check(self) -> Tree:
        """Refuse what can only be checked on the complete tree; return the tree."""
        for node in range(1, len(self.labels)):
            label, parent = self.labels[node], self.parents[node]
            if label == self.labels[parent] and self.child_counts[parent] > 1:
                raise self.refusal("", f"the label {label!r} names two nodes")
            if self.child_counts[node] == 0 and (label == ROOT_LABEL or _is_interval(label)):
                raise self.refusal(
                    "", f"the leaf {label!r} is spelled like a generalized value: rename it in the data"
                )
        return self

    def heights(self) -> list[int]:
        """Return the height of each node: its longest way down to a leaf."""
        heights = [0] * len(self.labels)
        for node in range(len(heights) - 1, 0, -1):
            heights[self.parents[node]] = max(heights[self.parents[node]], heights[node] + 1)
        return heights

    def refusal(self, where: str, message: str) -> PolicyError:
        """Return the error to raise."""
        return PolicyError(f"taxonomy {self.source}{where and ', ' + where}: {message}")


def _from_rows(rows: Sequence[tuple[int, Sequence[str]]], source: str) -> Tree:
    """Build a tree from rows (line number, cells leaf to root). An empty cell skips a level of the tree."""
    tree = Tree(source)
    if not rows:
        raise tree.refusal("", "the tree has no leaf")
    if len({row[-1] for _, row in rows}) > 1:
        hint = "; rows go from leaf to root" if len({row[0] for _, row in rows}) == 1 else ""
        raise tree.refusal("", f"the rows end in different roots{hint}")
    nodes: dict[tuple[int, str], int] = {}
    leaves: list[tuple[int, int]] = []
    for number, row in rows:
        node = 0
        if not row[0]:
            raise tree.refusal(f"line {number}", "the leaf is empty")
        for label in reversed(row[:-1]):
            if label:
                child = nodes.get((node, label))
                if child is None:
                    child = nodes[node, label] = tree.add(node, label, f"line {number}")
                node = child
        leaves.append((number, node))
    for number, node in leaves:
        if tree.child_counts[node]:
            raise tree.refusal(f"line {number}", "the leaf of this line is an inner node of another line")
    return tree.check()


def _read_csv(text: str, delimiter: str | None, source: str) -> Tree:
    """Build a tree from CSV text. The default delimiter is ``;`` or ``,``, whichever gives equal rows."""
    lines = text.removeprefix("\ufeff").splitlines()
    choices = [delimiter] if delimiter else [";", ","]
    try:
        tables = [_table(lines, choice) for choice in choices]
    except csv.Error:
        raise Tree(source).refusal("", "the file is not CSV") from None
    for table in tables:
        widths = {len(row) for _, row in table}
        if len(widths) == 1 and widths != {1}:
            return _from_rows(table, source)
    tree = Tree(source)
    if not tables[0]:
        raise tree.refusal("", "the tree has no leaf")
    table = max(tables, key=lambda table: len(table[0][1]))
    width = len(table[0][1])
    if width == 1:
        raise tree.refusal("", "no delimiter ; or , found: every row needs a leaf and a root")
    odd = next(number for number, row in table if len(row) != width)
    raise tree.refusal(
        f"line {odd}",
        "the rows differ in length; if a leaf has no node at some height, leave the cell empty",
    )


def _table(lines: list[str], delimiter: str) -> list[tuple[int, list[str]]]:
    reader = csv.reader(lines, delimiter=delimiter)
    stripped = ((reader.line_num, [cell.strip() for cell in row]) for row in reader)
    return [(number, row) for number, row in stripped if any(row)]


def _from_nested(nested: Any, source: str) -> Tree:
    """Build a tree from mappings, lists and scalars: ``{"*": {CS: [CS201, CS305], MATH101: null}}``."""
    tree = Tree(source)
    if not isinstance(nested, dict) or len(nested) != 1:
        raise tree.refusal("", "a nested tree must be a mapping with one key, the root")
    todo = [(0, below) for below in nested.values()]
    while todo:
        node, below = todo.pop()
        for label, deeper in _children(below, tree):
            todo.append((tree.add(node, label, ""), deeper))
    return tree.check()


def _children(below: Any, tree: Tree) -> Iterator[tuple[str, Any]]:
    if below is None or below == "":
        return
    items = below if isinstance(below, list) else [below]
    for item in items:
        if isinstance(item, dict):
            for label, deeper in item.items():
                yield _label(label, tree), deeper
        else:
            yield _label(item, tree), None


def _label(label: Any, tree: Tree) -> str:
    if isinstance(label, str):
        return label
    if isinstance(label, float):
        label = Decimal(repr(label))
    if isinstance(label, int | Decimal) and not isinstance(label, bool):
        return str(canonical(exact(label)))
    raise tree.refusal("", "a label is neither text nor a number: put it in quotes")


def _read_yaml(text: str, source: str) -> Tree:
    """Build a tree from nested YAML (or JSON), with every scalar read as text: ``no`` stays ``no``."""
    import yaml

    class TextLoader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]  # libyaml or not
        """Loads scalars as text and refuses repeated keys."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(set(keys)) < len(node.value):
                raise yaml.constructor.ConstructorError(None, None, "a key occurs twice", node.start_mark)
            plain: dict[Any, Any] = super().construct_mapping(node, deep)
            return plain

    try:
        check_yaml(text, TextLoader, TAXONOMY)
        nested = yaml.load(text, TextLoader)  # noqa: S506  BaseLoader builds text, lists and dicts only
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else ""
        raise Tree(source).refusal(
            where, f"not usable YAML: {getattr(error, 'problem', None) or 'broken'}"
        ) from None
    except TooMuch as why:
        raise Tree(source).refusal("", str(why)) from None
    return _from_nested(nested, source)


def read_tree(path: Path, delimiter: str | None, source: str) -> Tree:
    """Read a tree from a file: .yaml, .yml and .json are nested, others are CSV. Raises PolicyError."""
    try:
        text = text_within(path, TAXONOMY)
    except TooMuch as why:
        raise PolicyError(f"taxonomy {source}: {why}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise PolicyError(f"taxonomy {source}: the file cannot be read: {reason}") from None
    if path.suffix in (".yaml", ".yml", ".json"):
        return _read_yaml(text, source)
    return _read_csv(text, delimiter, source)
