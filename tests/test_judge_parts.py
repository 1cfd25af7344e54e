"""The judge in parts: the verdict of walks and buckets, however many, is that of one who sees everything."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import cloudpickle
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.documents.formats.json import JsonLines
from hierdata.domains.taxonomy import Taxonomy
from hierdata.ground.errors import HierdataError
from hierdata.judge import (
    JudgeHear,
    JudgeRules,
    JudgeWalk,
    SensitiveRule,
    Verdict,
    judge_counted,
    merge_verdicts,
)
from hierdata.judge import parts as parts_module
from hierdata.judge import walk as walk_module
from hierdata.pipeline.judging import judge_rules
from hierdata.pipeline.release_files import record_splits
from hierdata.policy.load import from_data
from hierdata.privacy import DistinctLDiversity, KAnonymity, KMap, LevelAlphaK
from hierdata.privacy.base import PrivacyModel
from hierdata.release.layout import find_release_files
from hierdata.release.verification import read_facts
from tests.adversarial.random_releases import BY_RECORD, numbered
from tests.cases import examples
from tests.contracts.test_engines import CASES
from tests.promises import SCALE
from tests.random_collections import KINDS, VALUES
from tests.test_judge_counted import EXEMPT, FORBIDDEN, RULES, deep, flat
from tests.test_judge_properties import RANDOM, collections

randoms = st.randoms(use_true_random=False)
Counted = list[tuple[Any, int]]


def in_parts(documents: Counted, rules: JudgeRules, random: Random, splits: int, buckets: int) -> Verdict:
    """What an executor does: walks and judges made anew in other processes, pieces brought to bins."""
    walk = JudgeWalk(rules, buckets)
    cuts = [0, *sorted(random.choices(range(len(documents) + 1), k=splits - 1)), len(documents)]
    bins: list[list[bytes]] = [[] for _ in range(buckets)]
    for start, end in pairwise(cuts):
        for bucket, piece in cloudpickle.loads(cloudpickle.dumps(walk))(iter(documents[start:end])):
            bins[bucket].append(piece)
    hear = cloudpickle.dumps(JudgeHear(rules))
    return merge_verdicts([cloudpickle.loads(hear)(pieces) for pieces in bins], rules)


def same_in_parts(documents: Counted, rules: JudgeRules, random: Random) -> None:
    splits, buckets, held = random.randint(1, 5), random.choice((1, 2, 7)), random.choice((1, 3, 1 << 17))
    shuffled = random.sample(documents, len(documents)) if random.random() < 0.5 else documents
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parts_module, "HELD", held)
        patched.setattr(walk_module, "_ALIKE", random.choice((1, 2, 1 << 14)))
        found = in_parts(shuffled, rules, random, splits, buckets)
    assert found == judge_counted(documents, rules)


@given(collections, randoms)
def test_trees(documents: list[Any], random: Random) -> None:
    same_in_parts([(document, 1) for document in documents], RANDOM, random)


@given(st.lists(st.tuples(st.one_of(flat, deep), st.integers(1, 3)), max_size=12), randoms)
def test_flat_records_that_occur_more_than_once(documents: Counted, random: Random) -> None:
    for rules in (RULES, EXEMPT, FORBIDDEN):
        same_in_parts(documents, rules, random)


class Fits:
    """A population: as many rows fit a root as it shows letters."""

    columns = (type("Column", (), {"keys": ("q",)}),)

    def count(self, labels: list[Any]) -> int:
        return sum(len(str(label)) for label in labels)


TREE = Taxonomy(
    tree={
        "*": {kind: [value for value in VALUES if KINDS[value] == kind] for kind in ("few", "some", "many")}
    }
)
sensitive = st.sampled_from([*VALUES[:6], None])
beyond = st.sampled_from([*VALUES[:6], "secret", "99", True, "20.0", 12, Decimal("5.0")])


def trees(value: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    child = st.fixed_dictionaries({"q": st.sampled_from(["*", "x", 1])}, optional={"s": value})
    root = st.fixed_dictionaries(
        {"q": st.sampled_from(["*", "yyyy"])}, optional={"s": value, "c": st.lists(child, max_size=3)}
    )
    return st.lists(root, max_size=10)


@pytest.mark.parametrize("model", CASES, ids=str)
@examples(30)
@given(
    documents=st.one_of(trees(sensitive), trees(sensitive), trees(beyond)),
    reference=st.dictionaries(st.sampled_from([1, 5, 20, 21]), st.integers(1, 9), max_size=3),
    random=randoms,
)
def test_every_model(model: PrivacyModel, documents: list[Any], reference: Any, random: Random) -> None:
    own: dict[str, Any] = {
        "scale": SCALE,
        "number": True,
        "taxonomy": TREE.compile({}, Path()),
        "reference": reference or None,
    }
    rules = JudgeRules(
        (SensitiveRule(("s",), "$.s", **own), SensitiveRule(("c", "s"), "$.c[*].s", **own)),
        ((model, None), (KAnonymity(k=2), None)),
        population=Fits() if model.needs_population else None,  # type: ignore[arg-type]
    )
    same_in_parts([(document, 1) for document in documents], rules, random)


GRADES = SensitiveRule(("c", "s"), "$.c[*].s", SCALE, number=True)
REPRESENTATIVES = JudgeRules(
    (GRADES,), ((LevelAlphaK(k=2), None), (DistinctLDiversity(l=2), None)), recoding="representatives"
)
grades = st.lists(st.sampled_from(VALUES), max_size=4)
inner = st.lists(st.fixed_dictionaries({"q": st.sampled_from("*x")}, optional={"s": grades}), max_size=3)
representative = st.fixed_dictionaries(
    {"records": st.sampled_from([1, 2, 3, 4, 0, "2", True])},
    optional={"representative": st.fixed_dictionaries({"c": inner}), "id": st.just("x")},
)


@given(st.lists(representative, max_size=10), randoms)
def test_representatives_and_what_is_none(documents: list[Any], random: Random) -> None:
    same_in_parts([(document, random.randint(1, 2)) for document in documents], REPRESENTATIVES, random)


@pytest.mark.parametrize("number", range(12))
def test_releases_of_every_recoding_by_record(number: int) -> None:
    case = numbered(number, (*BY_RECORD, "representatives"))
    random = Random(number)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "records.jsonl"
        with file.open("wb") as stream:
            JsonLines().write(case.records, stream, hierdata.documents.formats.Layout())
        try:
            release = hierdata.anonymize(file, case.policy(), seed=b"sixteen bytes and")
        except HierdataError:
            return
        policy = from_data(case.policy())
        files = find_release_files(release.folder, policy)
        frozen = read_facts(files.facts, policy)
        assert frozen is not None
        rules = judge_rules(policy, frozen.scales, frozen.references, frozen.vertices)
        splits = record_splits(release.folder, files, policy)
        documents = [counted for split in splits for counted in split.count_documents()]
        same_in_parts(documents, rules, random)
        assert judge_counted(documents, rules).passed
        forged = [(random.choice(documents)[0] | {"stranger": 1}, 2), *documents[1:]]
        same_in_parts(forged, rules, random)


# What only those who hear everything together can know.

S = SensitiveRule(("s",), "$.s")


def test_classes_whose_records_are_in_all_parts_are_whole() -> None:
    """Each part alone has classes of one; a part that judged by itself would find nothing that holds."""
    rules = JudgeRules((S,), ((KAnonymity(k=9), None), (DistinctLDiversity(l=3), None)))
    one = [{"q": str(number)} for number in range(20)]
    documents: Counted = [({**record, "s": "abc"[turn % 3]}, 1) for turn in range(9) for record in one]
    bins: list[list[bytes]] = [[] for _ in range(4)]
    for turn in range(9):
        own = documents[turn * 20 : turn * 20 + 20]
        assert not judge_counted(own, rules).passed
        for bucket, piece in JudgeWalk(rules, 4)(own):
            bins[bucket].append(piece)
    verdict = merge_verdicts([JudgeHear(rules)(pieces) for pieces in bins], rules)
    assert verdict == judge_counted(documents, rules)
    assert (verdict.passed, verdict.k, verdict.classes, verdict.k_raw) == (True, 9, 20, 9)


def test_a_class_too_few_in_one_bucket_fails_all() -> None:
    rules = JudgeRules((S,), ((KAnonymity(k=2), None),))
    documents: Counted = [({"q": str(number // 2)}, 1) for number in range(99)]
    found = in_parts(documents, rules, Random(1), 5, 7)
    assert (found.passed, found.k, found.judgements[0].failing_classes) == (False, 1, 1)
    assert found == judge_counted(documents, rules)


def test_a_value_without_level_in_one_bucket_is_known_to_all() -> None:
    rule = SensitiveRule(("s",), "$.s", SCALE, number=True)
    rules = JudgeRules((rule,), ((LevelAlphaK(k=1, alpha=(Fraction(1),) * 5), None),))
    documents: Counted = [({"q": str(number), "s": "1"}, 1) for number in range(50)] + [
        ({"q": "x", "s": "secret"}, 1)
    ]
    for buckets in (1, 8):
        verdict = in_parts(documents, rules, Random(1), 3, buckets)
        assert verdict == judge_counted(documents, rules)
        assert (verdict.passed, verdict.judgements[0].reason) == (False, "values without a level: 1")


def test_what_is_forbidden_is_counted_once() -> None:
    documents: Counted = [({"q": str(number), "r": "x"}, 2) for number in range(20)]
    verdict = in_parts(documents, FORBIDDEN, Random(2), 4, 5)
    assert verdict.forbidden == {"r": 40}
    assert not verdict.passed


ID, BOSS = ("id",), ("boss",)
PEOPLE = JudgeRules(
    (S,),
    ((KAnonymity(k=2), None),),
    exempt=frozenset({ID, BOSS}),
    tokens={ID: "people"},
    identities={ID: "people"},
    references={BOSS: "people"},
)
pseudonyms = st.sampled_from("abcdefg")
linked = st.fixed_dictionaries({}, optional={"id": pseudonyms, "boss": pseudonyms})


@given(st.lists(st.tuples(linked, st.integers(1, 2)), max_size=12), randoms)
def test_pseudonyms_of_all_parts_are_compared(documents: Counted, random: Random) -> None:
    occurring = Counter[str]()
    for document, times in documents:
        occurring.update([document["id"]] * times if "id" in document else [])
    shared = sum(times > 1 for times in occurring.values())
    dangling = sum("boss" in document and document["boss"] not in occurring for document, _ in documents)
    found = in_parts(documents, PEOPLE, random, random.randint(1, 4), random.choice((1, 2, 7)))
    names = "a pseudonym in several records", "a reference to what is not published"
    assert found.forbidden == +Counter(dict(zip(names, (shared, dangling), strict=True)))
    assert found == judge_counted(documents, PEOPLE)


def test_nothing_at_all() -> None:
    rules = JudgeRules((S,), ((KAnonymity(k=2), None),), exempt=frozenset({("e",)}))
    assert in_parts([], rules, Random(1), 3, 4) == judge_counted([], rules)
    nothing = replace(rules, models=())
    assert in_parts([({"q": 1}, 1)], nothing, Random(1), 3, 4) == judge_counted([({"q": 1}, 1)], nothing)


def test_pieces_hold_no_more_than_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "HELD", 10)
    rules = JudgeRules((S,), ((KAnonymity(k=2), None),))
    documents: Counted = [({"q": str(number % 50), "s": str(number)}, 1) for number in range(100)]
    pieces = list(JudgeWalk(rules, 3)(iter(documents)))
    assert Counter(bucket for bucket, _ in pieces).keys() == {0, 1, 2}
    assert len(pieces) == 30
    assert max(map(len, (piece for _, piece in pieces))) < 2000


def test_a_population_travels() -> None:
    fits = KMap(k=2)
    rules = JudgeRules((S,), ((fits, None),), population=Fits())  # type: ignore[arg-type]
    documents: Counted = [({"q": "yyyy", "s": "a"}, 1), ({"q": "y", "s": "a"}, 1)]
    verdict = in_parts(documents, rules, Random(1), 2, 2)
    assert verdict == judge_counted(documents, rules)
    assert verdict.judgements[0].failing_classes == 1
