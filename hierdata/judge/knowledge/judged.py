"""Bounded knowledge, judged from what all records of some groups show."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from hierdata.documents.document import Scalar
from hierdata.domains.base import Labels, Uncovered
from hierdata.ground.errors import PolicyError
from hierdata.judge.attribute import SensitiveValues
from hierdata.judge.knowledge.beyond import RecordsOfRoot, ShownRecord, Words, sample_persons
from hierdata.judge.knowledge.facts import ROOT_DIGEST, SPELLED_APART, Label, ReadFacts, VertexTypes
from hierdata.judge.rules import KNOWN_MORE, Judgement, JudgeRules, ToldApart
from hierdata.privacy import BoundedKnowledge
from hierdata.privacy.grouping import protected_codes

if TYPE_CHECKING:
    from hierdata.judge.knowledge.counting import Least
    from hierdata.judge.knowledge.patterns import Ints, RecordFacts, Records
    from hierdata.judge.knowledge.shares import Watched


def overlap(labels: Iterable[Scalar], domain: Labels) -> bool:
    """Return whether two of these different labels may stand for the same value.

    >>> from pathlib import Path
    >>> from hierdata.domains.interval import Interval
    >>> ages = Interval(steps=[1, 5, 10]).labels(Path())
    >>> overlap(["[0, 4]", "[5, 9]", 12], ages), overlap(["[0, 9]", 7], ages)
    (False, True)
    """
    extents = []
    unknown = 0
    for label in labels:
        try:
            extents.append(domain.extent(label))
        except Uncovered:
            unknown += 1
    if unknown:
        return unknown + len(extents) > 1
    extents.sort()
    # In this order two overlap if two neighbours do: the one before may only end later.
    return any(following[0] <= before[1] for before, following in pairwise(extents))


OVERLAPPING = " (labels that overlap among records with the same root values)"


_Form: TypeAlias = tuple[bytes, bytes, bytes, bytes]
"""Root vector, class of whole records, and where sensitive values count the vertices and the values."""


class JudgedKnowledge:
    """The records of some root vectors, all of them; counted over the file, all records.

    ``labels`` and ``shown`` have the meaning of those of FactReader. ``spelled`` is by path how what is
    absent was spelled.
    """

    def __init__(
        self, rules: JudgeRules, model: BoundedKnowledge, attributes: tuple[SensitiveValues, ...]
    ) -> None:
        self._rules = rules
        self._model = model
        self._attributes = attributes
        self._types = VertexTypes.of(rules)
        self.labels: list[Label] = []
        self.shown: list[tuple[int, tuple[int, ...]]] = []
        self.spelled: dict[str, set[str]] = {}
        self._label_codes: dict[tuple[int, type, str], int] = {}
        self._shown_codes: dict[tuple[int, tuple[int, ...]], int] = {}
        self._forms: Counter[_Form] = Counter()
        self._whole: Counter[tuple[bytes, bytes]] = Counter()
        self._shape: dict[tuple[bytes, bytes], tuple[bytes, tuple[int, ...]]] = {}

    def learn_labels(self, labels: Iterable[Label]) -> list[int]:
        """Return our codes of some labels."""
        codes = []
        for index, value in labels:
            key = index, type(value), str(value)
            code = self._label_codes.get(key)
            if code is None:
                code = self._label_codes[key] = len(self.labels)
                self.labels.append((index, value))
            codes.append(code)
        return codes

    def learn_shown(self, kind: int, labels: tuple[int, ...]) -> int:
        """Return our code of what a vertex shows, given in our codes of labels."""
        mark = kind, labels
        code = self._shown_codes.get(mark)
        if code is None:
            code = self._shown_codes[mark] = len(self.shown)
            self.shown.append(mark)
        return code

    def learn_spellings(self, spelled: Mapping[str, Iterable[str]]) -> None:
        """Take how what is absent was spelled, by path."""
        for path, texts in spelled.items():
            self.spelled.setdefault(path, set()).update(texts)

    def add(
        self,
        root: bytes,
        facts: ReadFacts,
        times: int,
        shown: Sequence[int],
        our_codes: Mapping[int, int] | None,
    ) -> None:
        """Add a record. ``shown`` has our codes of what vertices show, ``our_codes`` of sensitive values."""
        whole, numbers, sensitive, counts = facts
        vertices = array("i", numbers)
        vertices[1::2] = array("i", map(shown.__getitem__, vertices[1::2]))
        values = array("q", sensitive)
        if our_codes is not None:
            values[1::2] = array("q", map(our_codes.__getitem__, values[1::2]))
        layout = vertices.tobytes()
        if (root, whole) not in self._shape:
            self._shape[root, whole] = layout, tuple(counts)
        # Equal whole records may have their vertices in different orders, and values have places in these.
        self._forms[root, whole, layout if values else b"", values.tobytes()] += times
        self._whole[root, whole] += times

    def findings(self) -> dict[str, int]:
        """Return what must not be published: absent values spelled apart, labels that overlap."""
        apart = {f"{path}{SPELLED_APART}": 1 for path, texts in self.spelled.items() if len(texts) > 1}
        return apart | {f"{path}{OVERLAPPING}": count for path, count in self._find_overlaps().items()}

    def _find_overlaps(self) -> Counter[str]:
        """Count by path the root vectors with labels that overlap, unless k records are equal to each."""
        fewest: dict[bytes, int] = {}
        for (root, _), times in self._whole.items():
            fewest[root] = min(times, fewest.get(root, times))
        overlaps: Counter[str] = Counter()
        known: dict[tuple[int, frozenset[int]], bool] = {}
        for root, forms in groupby(sorted(self._shape), key=itemgetter(0)):
            if fewest[root] >= self._model.k:
                continue
            codes: set[int] = set()
            for form in forms:
                codes.update(array("i", self._shape[form][0])[3::2])  # the root has one vector here
            by_index: dict[int, set[int]] = {}
            for code in codes:
                for label in self.shown[code][1]:
                    index, value = self.labels[label]
                    if 0 <= index < len(self._rules.quasi) and value is not None:
                        by_index.setdefault(index, set()).add(label)
            for index, labels in by_index.items():
                case = index, frozenset(labels)
                if case not in known:
                    values = (self.labels[label][1] for label in labels)
                    known[case] = overlap(values, self._rules.quasi[index].labels)
                overlaps[self._rules.quasi[index].path] += known[case]
        return +overlaps

    def judgement(self) -> Judgement:
        """Return the judgement on all records. Raises PolicyError for work beyond the bound."""
        model = self._model
        resolved = model if len(self._types.types) > 1 else model.of_rows()
        if not self._forms:
            return Judgement(model.kind, None, True, {}, resolved=resolved)
        from hierdata.judge.knowledge.counting import Least, count_chosen, count_single
        from hierdata.judge.knowledge.patterns import Records, RecordTrees, list_facts

        counted = model.root == "counted"
        forms = sorted(self._forms)
        roots = {root: number for number, root in enumerate(sorted({form[0] for form in forms}))}
        records = Records(
            [layout or self._shape[root, whole][0] for root, whole, layout, _ in forms],
            [0 if counted else roots[root] for root, *_ in forms],
            [self._forms[form] for form in forms],
            [self._list_facts(*shown) for shown in self.shown],
        )
        facts = list_facts(records, RecordTrees(records))
        whole = list_facts(records, facts.trees, whole=True) if model.vertex == "whole" else None
        self._check_work(facts)
        smallest: dict[str, Least] = {"k_0": _count_groups(records, model.k)}
        for number in range(1, model.m + 1):
            smallest[f"k_{number}"] = least = Least(model.k)
            if number == 1:
                count_single(facts, least)
            else:
                count_chosen(facts, number, least)
        if whole is not None:
            smallest["k_vertex"] = Least(model.k)
            count_single(whole, smallest["k_vertex"])
        achieved = {letter: Fraction(least.least) for letter, least in smallest.items() if least.least >= 0}
        failing = set().union(*(least.failing for least in smallest.values()))
        if model.alpha is not None:
            self._judge_shares(model.alpha, forms, facts, whole, achieved, failing)
        return Judgement(model.kind, None, not failing, achieved, len(failing), resolved=resolved)

    def _list_facts(self, kind: int, labels: tuple[int, ...]) -> tuple[int, ...]:
        """Return which labels of a vertex are facts: below the root all."""
        first = 0 if kind else self._types.root_facts(self._model.root == "counted")
        return labels[first:]

    def tell_apart(self) -> ToldApart:
        """Return what more knowledge than is promised tells of sampled persons."""
        counted = self._model.root == "counted"
        words_of = lru_cache(None)(self._words_of)
        first = self._types.root_facts(counted)
        crowds: dict[bytes, list[ShownRecord]] = {}
        persons = []
        for (root, whole), (vertices, counts) in sorted(self._shape.items()):
            times = self._whole[root, whole]
            record = ShownRecord(root + whole, array("i", vertices), counts, times, words_of, first)
            persons.append(record)
            crowds.setdefault(b"" if counted else root, []).append(record)
        answers: list[tuple[int, tuple[bool, ...]]] = []
        asked: dict[bytes, RecordsOfRoot] = {}
        for mark, person in sample_persons(persons):
            root = b"" if counted else person.digest[:ROOT_DIGEST]
            if person.times > 1:  # looks like another one, whatever is known
                answers.append((mark, (False,) * len(KNOWN_MORE)))
                continue
            if root not in asked:
                asked[root] = RecordsOfRoot(crowds[root], words_of)
            answers.append((mark, asked[root].tell_apart(mark, person, self._model.m)))
        return ToldApart(tuple(answers))

    def _words_of(self, code: int) -> Words:
        """Return what a vertex shows in words."""
        kind, codes = self.shown[code]
        labels = [self.labels[label] for label in codes]
        spelled = tuple(f"{index}={type(value).__name__}:{value}" for index, value in labels)
        return f"{kind}{spelled}", spelled, tuple(index < 0 or value is not None for index, value in labels)

    def _check_work(self, facts: RecordFacts) -> None:
        """Raise PolicyError if counting would take too long; told before it begins."""
        model = self._model
        work = sum(int(facts.occurrences(number).sum()) for number in range(1, model.m + 1))
        most = model.most_occurrences
        if work > most:
            raise PolicyError(
                f"{model.kind}: the records show {work:,} occurrences of patterns of up to {model.m} facts, "
                f"and at most {most:,} are judged: state a smaller m, or publish fewer fields or vertices"
            )

    def _judge_shares(
        self,
        alpha: Fraction,
        forms: Sequence[_Form],
        facts: RecordFacts,
        whole: RecordFacts | None,
        achieved: dict[str, Fraction],
        failing: set[int],
    ) -> None:
        import numpy as np

        from hierdata.judge.knowledge.shares import Largest, ShareCount

        trees = facts.trees
        attributes = map(self._watch, range(len(self._attributes)))
        watched = [attribute for attribute in attributes if attribute is not None]
        if not watched:
            return
        sizes = np.array([len(values) // 16 for *_, values in forms], np.int64)
        flat = np.frombuffer(b"".join(values for *_, values in forms), np.int64).reshape(-1, 2)
        vertex = flat[:, 0] + np.repeat(trees.first, sizes)
        code, index = np.divmod(flat[:, 1], len(self._attributes))
        pairs = np.stack((vertex, code), axis=1)
        values = [pairs[index == attribute.number] for attribute in watched]
        kinds = np.array([kind for kind, _ in self.shown], np.int64)[trees.shown]
        largest = Largest(alpha)
        shares = ShareCount(facts, kinds, values, watched, largest)
        shares.count_roots()
        shares.count_single(facts)
        for number in range(2, self._model.m + 1):
            shares.count_chosen(number)
        if whole is not None:
            shares.count_single(whole, whole=True)
        if largest.share is not None:
            achieved["alpha"] = largest.share
        failing |= largest.failing

    def _watch(self, number: int) -> Watched | None:
        """Return how an attribute is watched; None if alpha bounds none of its values."""
        from hierdata.judge.knowledge.shares import Watched

        rule, types = self._rules.sensitive[number], self._types
        stated = self._rules.bounded_values
        if stated is not None and rule.keys not in stated:
            return None
        domain = self._attributes[number].domain()
        codes = range(len(domain.values)) if stated is None else protected_codes(domain, stated[rule.keys])
        home = next(kind for kind, numbers in enumerate(types.sensitive) if number in numbers)
        source = tuple(
            -1 if types.is_above(kind, home) else types.depth(home) if types.is_above(home, kind) else -2
            for kind in range(len(types.types))
        )
        presence = rule.reading.asks == "presence"
        named = None if stated is None else max(len(codes), 1)
        states = self._list_stated(number)
        return Watched(number, frozenset(codes), named, presence, source, *states)

    def _list_stated(self, number: int) -> tuple[Ints, Ints] | tuple[None, None]:
        """Return what labels, and whole vertices by their codes, state of an attribute (see ``Places``)."""
        import numpy as np

        if number not in self._types.known:
            return None, None
        index = len(self._rules.quasi) + self._types.known.index(number)
        attribute = self._attributes[number]
        spelled = [attribute.label_of(code) for code in range(len(attribute.values))]
        codes = {(type(label), str(label)): code for code, label in enumerate(spelled)}
        by_label = [
            0 if field != index else 1 if value is None else codes[type(value), str(value)] + 2
            for field, value in self.labels
        ]
        by_shown = [max((by_label[label] for label in labels), default=0) for _, labels in self.shown]
        return np.array(by_label, np.int64), np.array(by_shown, np.int64)


def _count_groups(records: Records, k: int) -> Least:
    """Count the records of each group."""
    import numpy as np

    from hierdata.judge.knowledge.counting import Least

    least = Least(k)
    counts = np.zeros(max(records.groups) + 1, np.int64)
    np.add.at(counts, np.array(records.groups), np.array(records.times, np.int64))
    least.add(counts, np.arange(len(counts)))
    return least


class FactTranslation:
    """Translates the codes of one walk: ``shown`` are our codes of what its vertices show."""

    def __init__(self, knowledge: JudgedKnowledge) -> None:
        self._knowledge = knowledge
        self._labels: list[int] = []
        self.shown: list[int] = []

    def learn(self, labels: Sequence[Label], shown: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        """Take the labels, and what vertices show, that the walk met since the last time."""
        if labels:
            self._labels += self._knowledge.learn_labels(labels)
        for kind, codes in shown:
            our_labels = tuple(self._labels[code] for code in codes)
            self.shown.append(self._knowledge.learn_shown(kind, our_labels))
