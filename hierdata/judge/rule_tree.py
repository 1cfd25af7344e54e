"""What the rules say about each path, and the one place where content is checked against it.

All that read records ask the same tree: the walk (generalization, sets, representatives, and the forms of
slicing), records without objects, records with groups (anatomy and both kinds of slicing), and the facts of
bounded knowledge. So a new check is written here once, in ``RuleTree.check`` for values or in
``RuleTree.meet`` for fields, and is true of all recodings.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hierdata.documents.document import LIST_IN_ITEM, Value, list_key
from hierdata.judge.checks import LabelCheck, Pattern
from hierdata.judge.rules import JudgeRules, Keys, Link

if TYPE_CHECKING:
    from hierdata.judge.attribute import SensitiveValues

UNLISTED = "<key>"
"""Replaces the name of an unlisted field, since the name itself may be data."""


class RuleNode:
    """What the rules say about one path, and the paths below it.

    Of what is published there:

    - ``pattern``, ``labels``: what every value must match. ``token``: the domain of a pseudonym that no two
      records may share. ``link``: the domain of one that identifies the vertex or refers to another.
      ``forbidden``: the name under which it is counted, None if it may be there.
    - ``checked``: values must be checked, for one of these reasons; ``checked_as_object``: objects too.

    Of its part in the form of a record:

    - ``attribute``, ``index``: the sensitive attribute whose values are there, and its number.
    - ``exempt``, ``counted``, ``steady``: as in ``JudgeRules`` (``counted`` are its ``vertices``).
    - ``plain``: a listed field without any other rule. ``within``: something below has another rule.


    Of what bounded knowledge reads there (each number is -1 if there is none):

    - ``vertex_type``: the type of the vertices. ``quasi``: the number of the quasi-identifier, ``slot`` its
      place among those of its vertex type. ``sensitive``: the number of the attribute.
    - ``facts``: the paths below at which anything is read, in the order of reading.
    - ``missing`` are spellings of a missing value, ``spelled`` those of nothing seen so far,
      ``spelled_items`` those of items that show nothing, and ``codes`` are those of the labels seen so far.

    ``walked`` caches what a walk returned for objects at this path.
    """

    __slots__ = (
        *("_only_labels", "attribute", "below", "checked", "checked_as_object", "codes", "counted", "exempt"),
        *("facts", "forbidden", "index", "labels", "link", "missing", "path", "pattern", "plain"),
        *("quasi", "sensitive", "slot", "spelled", "spelled_items", "steady", "token", "vertex_type"),
        *("walked", "within"),
    )

    def __init__(self, path: str) -> None:
        self.path = path
        self.below: dict[str, RuleNode] = {}
        self.pattern: Pattern | None = None
        self.labels: LabelCheck | None = None
        self.token: str | None = None
        self.link: Link | None = None
        self.forbidden: str | None = None
        self.checked = False
        self.checked_as_object = False
        self.attribute: SensitiveValues | None = None
        self.index = 0
        self.exempt = False
        self.counted = False
        self.steady = False
        self.plain = False
        self.within = False
        self.walked: dict[tuple[str, bytes], Any] = {}
        self.facts: dict[str, RuleNode] = {}
        self.vertex_type = -1
        self.quasi = -1
        self.slot = -1
        self.sensitive = -1
        self.missing: frozenset[str] = frozenset()
        self.codes: dict[object, int] = {}
        self.spelled: set[str] = set()
        self.spelled_items: set[str] = set()
        self._only_labels = False

    def publishes(self, text: str) -> bool:
        """Return whether a text needs no other check: the path is plain, or it is an allowed label."""
        return self.plain or (self._only_labels and self.labels is not None and self.labels.matches(text))

    def settle(self) -> None:
        """Note which checks are needed here and below, once all rules are known."""
        noted = self.token is not None or self.link is not None
        self.checked = noted or self.pattern is not None or self.labels is not None
        self.checked_as_object = self.pattern is not None or (self.labels is not None and not self.within)
        self._only_labels = self.pattern is None and not noted and self.forbidden is None
        for node in self.below.values():
            node.settle()


class RuleTree:
    """The rules by path, and what was found of content that breaks them.

    ``findings`` counts by name what must not be published; a record counts ``times`` times. ``tokens`` and
    ``links`` collect the pseudonyms until the caller empties them. ``events`` grows with each of these.
    """

    def __init__(self, rules: JudgeRules, attributes: tuple[SensitiveValues, ...] = ()) -> None:
        """Read the rules; ``attributes`` are those whose values the records themselves show."""
        self.root = RuleNode("")
        self.findings: Counter[str] = Counter()
        self.tokens: set[tuple[str, str]] = set()
        self.links: set[tuple[str, bool, str]] = set()
        self.times = 1
        self.events = 0
        self._listed = rules.listed is not None
        self._without_rules = RuleNode(UNLISTED)
        self._without_rules.plain = True
        self._place_attributes(rules, attributes)
        self._place_rules(rules)
        self.root.settle()

    def _place_attributes(self, rules: JudgeRules, attributes: tuple[SensitiveValues, ...]) -> None:
        for index, attribute in enumerate(attributes):
            keys = attribute.rule.keys
            places = [keys]
            if rules.recoding == "representatives":
                # An attribute's list has another key; an array keeps its own, and its items become lists.
                places += [(*keys[:-1], list_key(keys[-1])), (*keys, LIST_IN_ITEM)]
            for place in places:
                node = self.node_at(place)
                node.attribute, node.index = attribute, index

    def _place_rules(self, rules: JudgeRules) -> None:
        for keys in rules.listed or ():
            self._allow(keys)
        for keys in rules.exempt:
            self.node_at(keys).exempt = True
        for keys in rules.vertices:
            self.node_at(keys).counted = True
        for keys in rules.forbidden:
            self.node_at(keys).forbidden = ".".join(keys)
        for keys, expression in rules.patterns.items():
            self.node_at(keys).pattern = Pattern(keys, expression)
        for keys, domain in rules.tokens.items():
            self.node_at(keys).token = domain
        for keys, link in rules.links.items():
            self.node_at(keys).link = link
        for keys in rules.steady:
            self.node_at(keys).steady = True
        for quasi in rules.quasi:
            self.node_at(quasi.keys).labels = LabelCheck(quasi, rules.recoding == "sets_and_ranges")

    def node_at(self, keys: Keys) -> RuleNode:
        """Return the node at these keys; create it if needed."""
        node = self.root
        for end, key in enumerate(keys, 1):
            node.within = True
            if key not in node.below:
                node.below[key] = RuleNode(".".join(keys[:end]))
            node = node.below[key]
        node.plain = False
        return node

    def _allow(self, keys: Keys) -> None:
        """Allow a field to occur, even without any other rule."""
        node, known = self.root, True
        for end, key in enumerate(keys, 1):
            known = key in node.below
            if not known:
                node.below[key] = RuleNode(".".join(keys[:end]))
            node = node.below[key]
        node.plain = not known

    def count(self, name: str) -> None:
        """Count something that must not be published."""
        self.findings[name] += self.times
        self.events += 1

    def meet_unlisted(self) -> RuleNode:
        """Meet a field without a node: count it if all fields must be listed. Return a node without rules."""
        if self._listed:
            self.count(UNLISTED)
        return self._without_rules

    def meet(self, node: RuleNode) -> None:
        """Meet a field; count it if it must not occur."""
        if node.forbidden is not None:
            self.count(node.forbidden)

    def check(self, value: Value, node: RuleNode) -> None:
        """Check a value at its path, and note the pseudonyms."""
        if node.pattern is not None and not node.pattern.matches(value):
            self.count(node.pattern.path)
        if (
            node.labels is not None
            and not (node.within and isinstance(value, dict))
            and not node.labels.matches(value)
        ):
            self.count(node.labels.path)
        if isinstance(value, str):
            if node.token is not None:
                self.tokens.add((node.token, value))
                self.events += 1
            if node.link is not None:
                self.links.add((*node.link, value))
                self.events += 1
