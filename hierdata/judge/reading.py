"""Documents as the judge sees them, one by one: everything that determines their classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from hierdata.documents.document import TEXT, Document, Scalar, Siblings, Value
from hierdata.judge.attribute import REMEMBERED, SensitiveValues
from hierdata.judge.flat import RecordReader
from hierdata.judge.knowledge.facts import FactReader, Told
from hierdata.judge.knowledge.vertex_types import VertexTypes
from hierdata.judge.links import Links
from hierdata.judge.rules import JudgeRules, Keys
from hierdata.judge.tokens import Tokens, single, whole
from hierdata.judge.walk import Children, Walk

Seen: TypeAlias = "tuple[bytes, bytes, bytes | None, int, int, int | None, list[int], Told | None, Children]"
"""What the judge sees of a document.

The digests of its class, of its text as written, and of its class with exempt fields counted as form (None
if there are none); how many records it represents and how often it occurs; how many of a population fit it;
the codes of its sensitive values, what it tells where knowledge is bounded, and its children. There the class
is that of its root vector, with all vertices of a type in one place.
"""


class Reading:
    """Reads documents one after the other; ``found`` and ``malformed`` count what must not occur.

    ``tokens`` are the pseudonyms that two records must not share, ``links`` identities and references.
    """

    def __init__(self, rules: JudgeRules, attributes: tuple[SensitiveValues, ...]) -> None:
        self._rules = rules
        self._walk = Walk(rules, attributes)
        self._reader = RecordReader(self._walk)
        unpardoned = rules.without_pardons
        self._unpardoned = None if unpardoned is None else RecordReader(Walk(unpardoned, attributes))
        self._fitting: dict[bytes, int | None] = {}
        self.found = self._walk.tree.found
        self.tokens = Tokens()
        self.links = Links()
        self.malformed = 0
        model = rules.knowledge
        copies = None if model is None or model.alpha is not None else model.m + 2
        types = VertexTypes.of(rules)
        self.facts = None if model is None else FactReader(self._walk.tree, rules, attributes, types, copies)

    def read_documents(self, documents: Iterable[tuple[Document, int]]) -> Iterator[Seen]:
        """Yield what the judge sees of each document; each is given with its number of occurrences."""
        walk, read, unpardoned, facts = self._walk, self._reader.read, self._unpardoned, self.facts
        tree = walk.tree
        representatives = self._rules.recoding == "representatives"
        bare = fitting = None
        for document, times in documents:
            members, record = open_document(document) if representatives else (1, document)
            if not members:
                self.malformed += times
                continue
            walk.members, tree.times = members, times
            walk.overfull = False
            key, raw, codes, children = read(record)
            self.malformed += walk.overfull * times
            if tree.tokens:
                self.tokens.add(tree.tokens, times)
            if tree.links:
                self.links.add(tree.links)
            if unpardoned is not None:
                bare = unpardoned.read(record)[0]
            if self._rules.population is not None:
                fitting = self._count_matches(key, record)
            told = None
            if facts is not None:
                root, vertices, values, counts = facts.read(record)
                told = key, vertices, values, counts
                key, children = root, pool_types(children)
            yield key, raw, bare, members * times, times, fitting, codes, told, children

    def _count_matches(self, key: bytes, record: Document) -> int | None:
        """Return how many rows of the population table fit the class, which is the same for its records."""
        if key in self._fitting:
            return self._fitting[key]
        fitting = population_of(record, self._rules)
        if len(self._fitting) < REMEMBERED:
            self._fitting[key] = fitting
        return fitting


def pool_types(children: Children) -> Children:
    """Return the children with all vertices of a type in one place, whatever they look like."""
    return [((key, ""), codes, pool_types(below)) for (key, _), codes, below in children]


def open_document(document: Document) -> tuple[int, Document]:
    """Return the number of records and the representative; 0 and the document if it is not a class."""
    content = dict(document)
    count = whole(single(content.pop("@records" if "@records" in content else "records", None)))
    stated = content.pop("representative", None)
    inner = single(stated)
    if isinstance(stated, Siblings) and isinstance(inner, str):  # an element without attributes and children
        inner = {TEXT: inner} if inner else {}
    if not count or not isinstance(inner, dict) or content:
        return 0, document
    return count, inner


def population_of(record: Document, rules: JudgeRules) -> int | None:
    """Return how many rows of the population table fit what is published of a record's root."""
    if rules.population is None:
        return None
    return rules.population.count([_single_value(record, column.keys) for column in rules.population.columns])


def _single_value(record: Document, keys: Keys) -> Scalar:
    """Return the single value under the keys, None if there is none."""
    value: Value = record
    for key in keys:
        value = single(value.get(key)) if isinstance(value, dict) else None
    return None if isinstance(value, list | dict) else value
