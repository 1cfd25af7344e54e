"""Records with groups, and tables that state the values of each group, joined as a reader would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hierdata.documents.document import COUNT, GROUP, LIST_IN_ITEM, TEXT, Document, Scalar, Value
from hierdata.judge.attribute import SensitiveValues
from hierdata.judge.labels import LabelCheck
from hierdata.judge.links import DANGLING, Link, Links, count_dangling
from hierdata.judge.rules import JudgeRules, Keys
from hierdata.judge.tokens import SHARED, Pattern, Tokens, count_repeated, single, whole
from hierdata.judge.walk import UNLISTED


@dataclass
class Group:
    """A group: the number of its vertices and of their persons, and the values stated for it.

    ``tally`` counts the values by ``code * attributes + index of the attribute``.
    """

    vertices: int = 0
    persons: int = 0
    tally: dict[int, int] = field(default_factory=dict)


class GroupSpelling:
    """The spelling of the groups in one file: all as numbers, or all as text.

    For a reader who joins by type, 1 and "1" are two groups and would distinguish members.
    """

    def __init__(self) -> None:
        self._type: type | None = None

    def number(self, value: Value) -> int | None:
        """Return the group that a value names; None if it names none or its type is not that of the first."""
        inner = single(value)
        number = whole(inner)
        if number is None:
            return None
        if self._type is None:
            self._type = type(inner)
        return number if type(inner) is self._type else None


@dataclass
class Kind:
    """A vertex type with sensitive attributes: its path, and its groups by number.

    ``places`` gives, by the keys in a row, the index of the attribute that has its values there. ``name`` is
    the key of the group in a vertex.
    """

    keys: Keys
    places: dict[Keys, int] = field(default_factory=dict)
    name: str = GROUP
    groups: dict[int, Group] = field(default_factory=dict)
    spelling: GroupSpelling = field(default_factory=GroupSpelling)

    def group(self, number: int) -> Group:
        """Return the group of this number; create it if needed."""
        found = self.groups.get(number)
        if found is None:
            found = self.groups[number] = Group()
        return found


def kinds_of(rules: JudgeRules) -> dict[Keys, Kind]:
    """Return the vertex types with sensitive attributes, by their path."""
    kinds: dict[Keys, Kind] = {}
    for index, rule in enumerate(rules.sensitive):
        above = [rule.keys[:length] for length in range(1, len(rule.keys) + 1)]
        keys = next((keys for keys in reversed(above) if keys in rules.vertices), ())
        kind = kinds.setdefault(keys, Kind(keys))
        kind.places[rule.keys[len(keys) :] or (LIST_IN_ITEM,)] = index
    return kinds


class SensitiveTable:
    """A separate part: rows that state how often the groups of one vertex type have some values.

    ``places`` are the attributes that its rows may have, ``held`` how many values are stated for each group,
    ``shown`` the attributes with a column or a value.
    """

    def __init__(self, kind: Kind, places: Mapping[Keys, int]) -> None:
        self.kind = kind
        self.places = places
        self.held: Counter[int] = Counter()
        self.shown: set[int] = set()
        self._spelling = GroupSpelling()

    def tell(self, row: Document, attributes: tuple[SensitiveValues, ...], found: Counter[str]) -> bool:
        """Add the values of one row to its group; return False if the row is malformed."""
        held = dict(_scalars(row, (), self.places))
        number = self._spelling.number(held.pop((GROUP,), None))
        count = whole(held.pop((COUNT,), None))
        if strangers := held.keys() - self.places.keys():
            found[UNLISTED] += len(strangers)
        if number is None or not count:
            return False
        self.held[number] += count
        self.shown.update(index for keys, index in self.places.items() if keys in held)
        codes = tuple(attributes[index].code(held.get(keys)) for keys, index in self.places.items())
        tally = self.kind.group(number).tally
        for index, code in zip(self.places.values(), codes, strict=True):
            if code >= 0:
                joint = code * len(attributes) + index
                tally[joint] = tally.get(joint, 0) + count
        self.hold(number, codes, count)
        return True

    def hold(self, number: int, codes: tuple[int, ...], count: int) -> None:
        """Keep a row of a group that occurs ``count`` times, for who needs whole rows; here nobody does."""

    def wrong(self) -> int:
        """Return for how many groups the number of values differs from the number of vertices."""
        return sum(self.held[number] != group.vertices for number, group in self.kind.groups.items())


def read_tables(
    beside: Mapping[str, Iterable[Document]],
    tables: Mapping[str, SensitiveTable],
    attributes: tuple[SensitiveValues, ...],
    found: Counter[str],
) -> int:
    """Read all separate parts; return the number of misfits: unknown parts, rows, groups in a table."""
    malformed = 0
    for part, rows in beside.items():
        table = tables.get(part)
        if table is None:  # a part that belongs to no vertices
            malformed += 1
            continue
        for row in rows:
            malformed += not table.tell(row, attributes, found)
    return malformed + sum(table.wrong() for table in tables.values())


def paths_by_part(tables: Mapping[str, SensitiveTable], rules: JudgeRules) -> dict[str, tuple[str, ...]]:
    """Return, by part, the paths of the attributes that have values there."""
    return {
        part: tuple(rules.sensitive[index].path for index in sorted(table.shown))
        for part, table in tables.items()
        if table.held
    }


class _RuleNode:
    """What the rules say about one path, and the paths below it."""

    __slots__ = ("below", "forbidden", "kinds", "labels", "link", "pattern", "token")

    def __init__(self) -> None:
        self.below: dict[str, _RuleNode] = {}
        self.kinds: list[Kind] = []
        self.forbidden: str | None = None
        self.labels: LabelCheck | None = None
        self.pattern: Pattern | None = None
        self.token: str | None = None
        self.link: Link | None = None

    def at(self, keys: Keys) -> _RuleNode:
        """Return the node at these keys; create it if needed."""
        node = self
        for key in keys:
            node = node.below.setdefault(key, _RuleNode())
        return node


class GroupWalk:
    """Walks records: counts the members of groups, malformed vertices, and fields that must not occur."""

    def __init__(self, rules: JudgeRules, kinds: Iterable[Kind]) -> None:
        self.found: Counter[str] = Counter()
        self.malformed = 0
        self._times = 1
        self._listed = rules.listed is not None
        self._root = _RuleNode()
        self._met: set[tuple[Keys, str, int]] = set()
        self._own: set[tuple[str, str]] = set()
        self._tokens = Tokens()
        self._linked: set[tuple[str, bool, str]] = set()
        self._links = Links()
        for keys in (*(rules.listed or ()), *rules.exempt):
            self._root.at(keys)
        for keys in rules.forbidden:
            self._root.at(keys).forbidden = ".".join(keys)
        for keys, expression in rules.patterns.items():
            self._root.at(keys).pattern = Pattern(keys, expression)
        for keys, domain in rules.tokens.items():
            self._root.at(keys).token = domain
        for keys, link in rules.links.items():
            self._root.at(keys).link = link
        for quasi in rules.quasi:
            self._root.at(quasi.keys).labels = LabelCheck(quasi, sets=False)
        for rule in rules.sensitive:
            self._root.at(rule.keys).forbidden = ".".join(rule.keys)
        for kind in kinds:
            node = self._root.at(kind.keys)
            node.kinds.append(kind)
            node.forbidden = None  # an array item that was only a sensitive value

    def record(self, document: Document, times: int) -> None:
        """Walk a record that occurs ``times`` times."""
        self._met.clear()
        self._times = times
        self._own.clear()
        self._linked.clear()
        self._item(document, self._root)
        self._tokens.add(self._own, times)
        self._links.add(self._linked)

    def close(self) -> None:
        """Count what depends on all records together."""
        if shared := count_repeated(*self._tokens.take_buckets(1)):
            self.found[SHARED] += shared
        if dangling := count_dangling(self._links.take_buckets(1)):
            self.found[DANGLING] += dangling

    def _item(self, item: Value, node: _RuleNode) -> None:
        if isinstance(item, list):
            for inner in item:
                self._item(inner, node)
            return
        text = node.below.get(TEXT)
        at = text if text is not None and isinstance(item, str) and item else node
        self._check(item, at)
        if isinstance(item, dict):
            if node.kinds:
                item = self._join_groups(item, node.kinds)
            for key, value in item.items():
                self._field(key, value, node)
        elif node.kinds:  # a vertex without a group
            self.malformed += self._times

    def _check(self, item: Value, at: _RuleNode) -> None:
        """Check a value, and note the pseudonyms."""
        if at.pattern is not None and not at.pattern.matches(item):
            self.found[at.pattern.path] += self._times
        labels = None if at.below and isinstance(item, dict) else at.labels
        if labels is not None and not labels.matches(item):
            self.found[labels.path] += self._times
        if at.token is not None and isinstance(item, str):
            self._own.add((at.token, item))
        if at.link is not None and isinstance(item, str):
            self._linked.add((*at.link, item))

    def _field(self, key: str, value: Value, node: _RuleNode) -> None:
        below = node.below.get(key)
        if below is None:
            if self._listed:
                self.found[UNLISTED] += self._times
        elif below.forbidden is not None:
            self.found[below.forbidden] += self._times
        else:
            self._item(value, below)

    def _join_groups(self, vertex: Document, kinds: Iterable[Kind]) -> Document:
        """Add a vertex to its groups; return its other fields."""
        rest = dict(vertex)
        for kind in kinds:
            self._join_group(kind, kind.spelling.number(rest.pop(kind.name, None)))
        return rest

    def _join_group(self, kind: Kind, number: int | None) -> None:
        if number is None:
            self.malformed += self._times
            return
        group = kind.group(number)
        group.vertices += self._times
        met = kind.keys, kind.name, number
        if met in self._met:  # the promise counts persons, and this one is counted already
            self.malformed += self._times
        else:
            self._met.add(met)
            group.persons += self._times


def _scalars(content: Document, above: Keys, places: Mapping[Keys, int]) -> Iterator[tuple[Keys, Scalar]]:
    """Yield every single value of a row with its keys; an array is reported as an unlisted field."""
    for key, value in content.items():
        keys = (*above, key)
        inner = single(value)
        if isinstance(inner, dict):
            yield from _scalars(inner, keys, places)
        elif isinstance(inner, list):
            yield (*keys, UNLISTED), None
        elif inner and keys not in places and (*keys, TEXT) in places:
            yield (*keys, TEXT), inner  # an element that has only its text
        else:
            yield keys, inner
