"""Trees of labels as files have them: CSV of this program and of ARX, parents with children, nested YAML."""

from __future__ import annotations

import csv
import gzip
import re
from array import array
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from hierdata.documents.limits import TAXONOMY, TooMuch, check_yaml, text_within
from hierdata.domains.base import ROOT_LABEL
from hierdata.domains.number import canonical, exact
from hierdata.ground.errors import PolicyError

MAX_DEPTH = 64


class _Table(NamedTuple):
    """Rows of a file, by column: lines, leaves, and what is above each, a place in ``paths``.

    A path has the cells behind a leaf up to the root. Many leaves share one, and each is kept once: with
    objects for rows, 300,000 leaves take 100 MB.
    """

    lines: array[int]
    leaves: list[str]
    above: array[int]
    paths: list[tuple[str, ...]]

    def roots(self) -> set[str]:
        """Return the last cells of all rows."""
        roots = {path[-1] for path in self.paths if path}
        if not all(self.paths):
            alone = self.paths.index(())
            roots |= {leaf for leaf, path in zip(self.leaves, self.above, strict=True) if path == alone}
        return roots


def _is_interval(label: str) -> bool:
    """Return whether a label looks like ``[1, 5]``. A regular expression would need quadratic time."""
    if "," not in label:
        return False
    inner = label.strip()
    return inner[:1] in ("[", "(") and inner[-1:] in ("]", ")")


class Tree:
    """Labels and parents of nodes 0..n-1, node 0 the root; a parent's number is below its children's.

    A tree that was checked is not changed any more: several share it.

    A label names one node. The exception is a chain of single children, where a label may be repeated: such
    nodes contain the same values. Raises PolicyError, which names ``source``, as soon as this is violated.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.labels = [ROOT_LABEL]
        self.parents = array("i", [-1])
        self.child_counts = array("i", [0])
        self._depths = array("B", [0])
        self._deepest = {ROOT_LABEL: 0}

    def add(self, parent: int, label: str, where: str | int) -> int:
        """Add a node and return its number; ``where`` is the place or line in the file, for messages."""
        if not label:
            raise self.refusal(where, "a label is empty: name the node, or leave it out")
        same = self._deepest.get(label)
        if same is not None and same != parent:
            raise self.refusal(where, f"the label {label!r} names two nodes: rename one of them")
        if self._depths[parent] >= MAX_DEPTH:
            raise self.refusal(where, f"the tree is deeper than {MAX_DEPTH}")
        node = len(self.labels)
        self._deepest[label] = node
        self.labels.append(label)
        self.parents.append(parent)
        self.child_counts.append(0)
        self._depths.append(self._depths[parent] + 1)
        self.child_counts[parent] += 1
        return node

    def reach(self, parent: int, label: str, where: str | int) -> int:
        """Return the child of a node with a label, which is added if there is none (see ``add``)."""
        child = self._child(parent, label) if label in self._deepest else None
        return self.add(parent, label, where) if child is None else child

    def _child(self, parent: int, label: str) -> int | None:
        """Return the child of a node with a label, None if there is none."""
        node = self._deepest.get(label)
        while node and self.parents[node] != parent and self.labels[self.parents[node]] == label:
            node = self.parents[node]  # in a chain of one label
        return node if node and self.parents[node] == parent else None

    def check(self) -> Tree:
        """Refuse what can only be checked on the complete tree; return the tree, which then only is read."""
        nodes = zip(self.labels, self.parents, self.child_counts, strict=True)
        next(nodes)
        for label, parent, children in nodes:
            if label == self.labels[parent] and self.child_counts[parent] > 1:
                raise self.refusal("", f"the label {label!r} names two nodes: rename one of them")
            if not children and (label == ROOT_LABEL or _is_interval(label)):
                raise self.refusal(
                    "", f"the leaf {label!r} is spelled like a generalized value: rename it in the data"
                )
        self._deepest.clear()
        return self

    def heights(self) -> list[int]:
        """Return the height of each node: its longest way down to a leaf."""
        heights = [0] * len(self.labels)
        for node in range(len(heights) - 1, 0, -1):
            heights[self.parents[node]] = max(heights[self.parents[node]], heights[node] + 1)
        return heights

    def refusal(self, where: str | int, message: str) -> PolicyError:
        """Return the error to raise; a number is that of a line."""
        where = f"line {where}" if isinstance(where, int) else where
        return PolicyError(f"taxonomy {self.source}{where and ', ' + where}: {message}")


def _from_rows(table: _Table, source: str) -> Tree:
    """Build a tree from rows, leaf to root. An empty cell skips a level of the tree.

    So do the root's own cells behind the leaf, as ARX writes what has no node between (``a;*;*``). A row with
    an empty leaf and nothing below the root is that of the missing value, which is no leaf.
    """
    tree = Tree(source)
    if len(table.roots()) > 1:
        hint = "; rows go from leaf to root" if len({*table.leaves}) == 1 else ""
        raise tree.refusal("", f"the rows end in different roots{hint}")
    parents = [0] * len(table.paths)  # the node above the leaves of each path, 0 where none was met
    leaves, lines = array("i"), array("q")
    for number, leaf, path in zip(table.lines, table.leaves, table.above, strict=True):
        node = parents[path] if leaf else 0
        if node:
            node = tree.reach(node, leaf, number)
        else:
            for label in reversed(_labels_of((leaf, *table.paths[path]), number, tree)):
                node = tree.reach(node, label, number)
        if node:
            leaves.append(node)
            lines.append(number)
            parents[path] = parents[path] or tree.parents[node]
    for number, node in zip(lines, leaves, strict=True):
        if tree.child_counts[node]:
            message = "the leaf of this line is an inner node of another line: rename one of them"
            raise tree.refusal(number, message)
    if not leaves:
        raise tree.refusal("", "the tree has no leaf")
    return tree.check()


def _labels_of(row: Sequence[str], where: int, tree: Tree) -> list[str]:
    """Return the labels of a row from its leaf up to below the root; none for the missing value."""
    if len(row) > MAX_DEPTH + 1:
        message = f"the row has {len(row):,} cells: a row is a leaf and at most {MAX_DEPTH} nodes above it"
        raise tree.refusal(where, message)
    labels = list(row[:-1])
    while len(labels) > 1 and labels[-1] in ("", row[-1]):
        labels.pop()
    if labels == [""]:
        return []
    if not labels[0]:
        message = "the leaf is empty: a missing value has no node but the root, so leave the others empty"
        raise tree.refusal(where, message)
    return [label for label in labels if label]


def _read_csv(text: str, delimiter: str | None, source: str) -> Tree:
    """Build a tree from CSV text. The default delimiter is ``;`` or ``,``, whichever gives equal rows.

    Rows may differ in length if all end in one root. Lines of another kind may be ``parent:child,child``.
    """
    text = text.removeprefix("\ufeff")
    choices = [delimiter] if delimiter else [";", ","]
    try:
        used = [choice for choice in choices if delimiter or choice in text]
        tables = [_read_table(text, choice) for choice in used or choices[:1]]
    except csv.Error:
        message = f"a label is longer than {csv.field_size_limit():,} characters: is a quote not closed?"
        raise Tree(source).refusal("", message) from None
    rooted = [table for table in tables if table.leaves and len(table.roots()) == 1]
    ragged = [table for table in rooted if all(table.paths)]
    if not ragged and delimiter is None and (families := _families(text.splitlines())):
        return _from_families(families, source)
    for table in tables:
        widths = {*map(len, table.paths)}
        if len(widths) == 1 and widths != {0}:
            return _from_rows(table, source)
    if ragged:
        return _from_rows(ragged[0], source)
    tree = Tree(source)
    if not tables[0].leaves:
        raise tree.refusal("", "the tree has no leaf")
    table = max(tables, key=lambda table: len(table.paths[0]))
    width = len(table.paths[0])  # of the first row
    if width == 0:
        raise tree.refusal("", "no delimiter ; or , found: every row needs a leaf and a root")
    odd = next(
        number
        for number, path in zip(table.lines, table.above, strict=True)
        if len(table.paths[path]) != width
    )
    raise tree.refusal(
        f"line {odd}",
        "the rows differ in length, and do not all end in the same root: end each in the root; if a leaf has "
        "no node at some height, leave the cell empty",
    )


_PIECE = 1 << 18
"""How many characters of a file are cut into lines at a time."""


def _lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a text as ``splitlines`` does, a piece at a time."""
    begun = 0
    while begun < len(text):
        end = text.find("\n", begun + _PIECE) + 1 or len(text)
        yield from text[begun:end].splitlines()
        begun = end


def _read_table(text: str, delimiter: str) -> _Table:
    reader = csv.reader(_lines_of(text), delimiter=delimiter)
    table = _Table(array("q"), [], array("i"), [])
    places: dict[tuple[str, ...], int] = {}  # of each path, and of the cells that it was written as
    for row in reader:
        if not row:
            continue
        leaf, cells = row[0].strip(), tuple(row[1:])
        number = places.get(cells)
        if number is None:
            path = _strip_path(cells)
            if not leaf and not path:
                continue
            number = places[cells] = places.setdefault(path, len(table.paths))
            if number == len(table.paths):
                table.paths.append(path)
        if leaf or table.paths[number]:
            table.lines.append(reader.line_num)
            table.leaves.append(leaf)
            table.above.append(number)
    return table


def _strip_path(cells: tuple[str, ...]) -> tuple[str, ...]:
    """Return cells without the white space around them, and without the empty ones at the end."""
    path = [*map(str.strip, cells)]
    while path and not path[-1]:
        path.pop()
    return tuple(path)


_HEAD = re.compile(r"(?:name|type|height|distinct|range|string|int|double|decimal|date)\b[^:]*:?\s*\w*", re.I)
"""Lines before the tree in a hierarchy of Amnesia."""


def _families(lines: Sequence[str]) -> list[tuple[int, str, list[str]]]:
    """Return line, parent and children of a tree written as ``parent:child,child``; empty if it is none."""
    stated = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    while stated and _HEAD.fullmatch(stated[0][1]):
        stated = stated[1:]
    families = []
    delimiter = next((mark for mark in ",;" if any(mark in line for _, line in stated)), None)
    for number, line in stated:
        parent, _, below = line.partition(":") if ":" in line else line.partition(" has ")
        children = [child.strip() for child in below.split(delimiter)]
        if not parent.strip() or not any(children):
            return []
        families.append((number, parent.strip(), [child for child in children if child]))
    return families


def _from_families(families: Sequence[tuple[int, str, list[str]]], source: str) -> Tree:
    """Build a tree from parents with their children; the root is the one parent that is no child."""
    tree = Tree(source)
    below: dict[str, tuple[int, list[str]]] = {}
    for number, parent, children in families:
        below.setdefault(parent, (number, []))[1].extend(children)
    inner = {child for _, children in below.values() for child in children}
    roots = [parent for parent in below if parent not in inner]
    if len(roots) != 1:
        message = f"{len(roots)} parents are no children: a tree has one root, which all others lie below"
        raise tree.refusal("", message)
    todo = [(0, roots[0])]
    while todo:
        node, name = todo.pop()
        number, children = below.pop(name, (0, []))
        todo += [(tree.add(node, child, f"line {number}"), child) for child in children]
    if below:
        number = min(number for number, _ in below.values())
        raise tree.refusal(f"line {number}", "the parent of this line lies below itself")
    return tree.check()


def from_nested(nested: Any, source: str) -> Tree:
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
    return from_nested(nested, source)


BUILT_IN = "builtin/"
"""What the name of a taxonomy of the package begins with; such a name has no suffix."""
_PACKAGE = Path(__file__).parent / "builtin"
_PACKED = ".csv.gz"


def is_built_in(file: str) -> bool:
    """Return whether a name is that of a taxonomy of the package, and not of a file."""
    return file.startswith(BUILT_IN) and "." not in file and "/" not in file.removeprefix(BUILT_IN)


def locate_tree(folder: Path, file: str) -> Path:
    """Return the path of a taxonomy: of the package, or a file named from ``folder``.

    Raises PolicyError if the package has none of this name.
    """
    if not is_built_in(file):
        return folder / file
    path = _PACKAGE / (file.removeprefix(BUILT_IN) + _PACKED)
    if not path.is_file():
        names = sorted(packed.name.removesuffix(_PACKED) for packed in _PACKAGE.glob(f"*{_PACKED}"))
        raise PolicyError(f"taxonomy {file}: the package has no such taxonomy; it has {', '.join(names)}")
    return path


def read_tree(path: Path, delimiter: str | None, source: str) -> Tree:
    """Read a tree from a file: .yaml, .yml and .json are nested, others are CSV. Raises PolicyError."""
    if path.parent == _PACKAGE:
        return _read_csv(gzip.decompress(path.read_bytes()).decode(), ";", source)
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
