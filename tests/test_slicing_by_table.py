"""Slicing by table: what the policy must accept, the search, the recoding, the judge against slow twins."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.engines import ENGINES
from hierdata.engines.base import StepInput
from hierdata.engines.buckets.attainable import JointCounts, coordinates_of, draw_rows, keep_most
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Scope
from hierdata.forest.partition import Partition
from hierdata.ground.progress import silent
from hierdata.judge import JudgeRules, SensitiveRule, judge
from hierdata.pipeline.search import search_tables
from hierdata.policy.load import from_data
from hierdata.policy.plan.plan import prepare
from hierdata.privacy import (
    AlphaK,
    DeltaLDiversity,
    DistinctLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    TCloseness,
)
from hierdata.records.binding import bind
from hierdata.records.survey import survey
from hierdata.release.recodings.groups import SlicingByTable
from tests import naive_slicing_by_table as naive
from tests.cases import examples
from tests.naive_slicing_by_table import Record, Shares, Tables

SEED = b"sixteen bytes or"
FIELDS: dict[str, Any] = {
    "$.age": {"role": "quasi", "interval": {"steps": [1, 10, 40]}},
    "$.zip": {"role": "quasi", "prefix": {"keep": [3, 2, 1]}},
    "$.job": {"role": "sensitive"},
    "$.pay": {"role": "sensitive"},
    "$.ill": {"role": "sensitive"},
}
REASON = "the readers have signed a contract"
MODELS = [{"kind": "k-anonymity", "k": 3}, {"kind": "frequency-l-diversity", "l": 2}]


def people(count: int = 60, seed: int = 1) -> list[Record]:
    """Jobs and pay go together, illnesses go with nothing."""
    rng = Random(seed)
    found = []
    for _ in range(count):
        job = rng.choice("abcd")
        row = {"age": rng.randint(20, 60), "zip": rng.choice(["481", "482", "513"]), "job": job}
        found.append(row | {"pay": "abcd".index(job), "ill": rng.choice("wxyz")})
    return found


def policy(**changes: Any) -> dict[str, Any]:
    accept = {"accept": {"group-ids": REASON}}
    stated = {"version": 1, "recoding": "slicing_by_table", "models": MODELS, "fields": FIELDS}
    return stated | accept | changes


# What must be accepted, and what is refused


def test_group_ids_are_refused_unless_a_reason_is_given() -> None:
    for asked in ({"recoding": "slicing_by_table"}, {"recoding": "slicing_by_table", "engine": None}):
        with pytest.raises(hierdata.PolicyError, match=r"may single it out: write `accept: \{group-ids:"):
            hierdata.anonymize(people(), policy(accept={}, **asked), seed=SEED)
    for preset in ("SLOMS", "MSB-KACA"):
        asked = policy(accept={}, engine={"preset": preset})
        with pytest.raises(hierdata.PolicyError) as caught:
            hierdata.anonymize(people(), asked, seed=SEED)
        (line,) = str(caught.value).splitlines()
        assert "engine.preset" in line
        assert "the preset MSB-KACA with shared groups" in line


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"recoding": "slicing"}, "group-ids.: recoding slicing has no group ids that single out"),
        ({"accept": {"group-ids": ""}}, "at least 1 character"),
        ({"accept": {"groups": "yes"}}, "groups"),
        (
            {"recoding": "slicing", "accept": {}, "engine": {"sensitive_steps": [{"kind": "msb"}]}},
            "has no groups for each table: use slicing_by_table",
        ),
        ({"engine": {"preset": "SLOMS", "sensitive_steps": [{"kind": "msb"}]}}, "either `preset` or `steps`"),
        ({"engine": {"sensitive_steps": [{"kind": "clustree"}]}}, "must group the rows of a table"),
        ({"engine": {"sensitive_steps": [{"kind": "msb", "on": "$"}]}}, "must group the rows of a table"),
        ({"engine": {"sensitive_steps": [{"kind": "swap"}]}}, "continues from the classes of another step"),
        ({"engine": {"steps": [{"kind": "kaca"}, {"kind": "msb"}]}}, "cannot continue from another step"),
        (
            {
                "models": [
                    {"kind": "k-anonymity", "k": 3},
                    {"kind": "distinct-l-diversity", "l": 2, "on": ["$.job"]},
                ]
            },
            r"\$.pay: no model judges these values",
        ),
        (
            {"models": [*MODELS, {"kind": "delta-disclosure", "delta": 9, "absent": "ignore"}]},
            "hold in two groups and fail",
        ),
        (
            {"fields": FIELDS | {"$.ill": {"role": "sensitive", "asks": "presence"}}},
            "one value for each record",
        ),
        (
            {"fields": FIELDS | {"$.group_2": {"role": "quasi", "flat": True}}},
            "writes a field `group_2` here",
        ),
        ({"blocks": 20}, "looks at all records at once"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], said: str) -> None:
    rows = [person | {"group_2": 1} for person in people()]
    with pytest.raises(hierdata.PolicyError, match=said):
        hierdata.anonymize(rows, policy(**({"unlisted": "drop"} | changes)), seed=SEED)


def test_records_with_vertices_below_them_are_refused() -> None:
    rows = [{"zip": "481", "ill": "x", "visits": [{"drug": "m"}]}] * 9
    fields = {
        "$.zip": FIELDS["$.zip"],
        "$.ill": {"role": "sensitive"},
        "$.visits[*].drug": {"role": "sensitive"},
    }
    with pytest.raises(hierdata.PolicyError, match=r"\$.visits\[\*\]: .* use recoding slicing"):
        hierdata.anonymize(rows, policy(fields=fields), seed=SEED)


# The release


def groups_in(release: hierdata.Release, part: str) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = {}
    for row in release.part(part):
        found.setdefault(row["group"], []).extend([row] * row["count"])
    return found


def test_each_table_has_groups_of_its_own_and_classes_are_made_for_k_alone() -> None:
    release = hierdata.anonymize(people(), policy(engine={"preset": "SLOMS"}, sensitive_tables=2), seed=SEED)
    assert release.report.tables == {"sensitive-1": ("$.job", "$.pay"), "sensitive-2": ("$.ill",)}
    records = list(release.records())
    assert all(record.keys() == {"age", "zip", "group_1", "group_2"} for record in records)
    for number in (1, 2):
        held = groups_in(release, f"sensitive-{number}")
        sizes = Counter(record[f"group_{number}"] for record in records)
        assert {group: len(own) for group, own in held.items()} == sizes
        assert set(sizes.values()) <= {2, 3}, "groups of l = 2, and leftovers"
    looks = Counter((record["age"], record["zip"]) for record in records)
    assert min(looks.values()) == release.report.counts.smallest_class >= 3
    assert len({tuple(record.values()) for record in records}) > len(looks)


def test_the_records_state_the_true_values_of_their_groups() -> None:
    rows = [person | {"age": at} for at, person in enumerate(people(80))]
    fields = FIELDS | {"$.age": {"role": "insensitive", "exempt": "so that the test can see"}}
    release = hierdata.anonymize(rows, policy(fields=fields, sensitive_tables=2), seed=SEED)
    expected: dict[str, Counter[Any]] = {"1": Counter(), "2": Counter()}
    found: dict[str, Counter[Any]] = {"1": Counter(), "2": Counter()}
    for record in release.records():
        person = rows[record["age"]]
        expected["1"][record["group_1"], person["job"], person["pay"]] += 1
        expected["2"][record["group_2"], person["ill"]] += 1
    for row in release.part("sensitive-1"):
        found["1"][row["group"], row["job"], row["pay"]] += row["count"]
    for row in release.part("sensitive-2"):
        found["2"][row["group"], row["ill"]] += row["count"]
    assert found == expected


def test_reconstruction_error_and_additional_loss_by_hand() -> None:
    """Jobs a a b b in groups {a, b} twice, ills x x x y in one group of four: l is 2 and 4/3.

    For each vertex p_t is 1/2 times 3/4 or 1/4, and sum p^2 is 1/2 times (9 + 1)/16 = 5/16. So the sum is
    4 - 2 (3 * 3/8 + 1/8) + 4 * 5/16 = 4 - 5/2 + 5/4 = 11/4. Groups of 2 and 4 over l = 2: 0 and 1, mean 1/2.
    """
    rows = [{"zip": "1", "job": job, "ill": ill} for job, ill in ("ax", "ax", "bx", "by")]
    fields = {
        "$.zip": {"role": "quasi", "flat": True},
        "$.job": {"role": "sensitive"},
        "$.ill": {"role": "sensitive"},
    }
    models = [
        {"kind": "k-anonymity", "k": 4},
        {"kind": "frequency-l-diversity", "l": 2, "on": ["$.job"]},
        {"kind": "t-closeness", "t": 0, "on": ["$.ill"]},
    ]
    asked = policy(fields=fields, models=models, engine={"sensitive_steps": [{"kind": "mbf"}]})
    release = hierdata.anonymize(rows, asked, seed=SEED)
    assert sorted(map(len, groups_in(release, "sensitive-1").values())) == [2, 2]
    assert sorted(map(len, groups_in(release, "sensitive-2").values())) == [4]
    measured = release.report.metrics
    assert measured["reconstruction_error"].exact["total"] == "11/4"
    assert measured["additional_information_loss"].exact["total"] == "1/2"


def test_what_ids_tell_is_stated(tmp_path: Path) -> None:
    asked = policy(engine={"preset": "SLOMS"})
    release = hierdata.anonymize(people(), asked, seed=SEED)
    told = json.loads((release.folder / "public" / "release.json").read_text("utf-8"))
    assert told["group_ids"].keys() == {"k", "worst_guess"}
    ids = Counter(tuple(record.values()) for record in release.records())
    assert told["group_ids"]["k"] == min(ids.values()) < told["counts"]["smallest_class"]
    assert told["counts"]["k_raw"] == told["counts"]["smallest_class"]
    assert any(REASON in sentence for sentence in told["limitations"])
    assert told["promises"][0]["statement"].endswith(
        "Group ids are not compared here: they may tell these records apart."
    )
    verdict = hierdata.verify(release.save(tmp_path / "out"), asked, original=people())
    assert verdict.passed
    assert verdict.group_ids is not None
    assert verdict.group_ids.k == told["group_ids"]["k"]
    shared = hierdata.anonymize(
        people(),
        policy(accept={}, recoding="slicing", engine={"preset": "MSB-KACA with shared groups"}),
        seed=SEED,
    )
    assert "group_ids" not in json.loads((shared.folder / "public" / "release.json").read_text("utf-8"))


def test_a_release_is_measured_from_its_files_as_it_was_by_its_run(tmp_path: Path) -> None:
    asked = policy(engine={"preset": "SLOMS"}, sensitive_tables=2)
    release = hierdata.anonymize(people(), asked, seed=SEED)
    found = hierdata.measure_release(release.save(tmp_path / "out"), asked, original=people())
    for name, measure in found.metrics.items():
        assert measure.exact == release.report.metrics[name].exact, name
        assert measure.figures == pytest.approx(release.report.metrics[name].figures), name
    assert "additional_information_loss" in found.metrics


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "xml", "parquet", "bson"])
def test_every_format(suffix: str, tmp_path: Path) -> None:
    import pandas

    rows = people()
    source = tmp_path / f"in.{suffix}"
    prefix, more = "$.", {}
    if suffix == "csv":
        pandas.DataFrame(rows).to_csv(source, index=False)
    elif suffix == "parquet":
        pandas.DataFrame(rows).to_parquet(source)
    elif suffix == "jsonl":
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    elif suffix == "bson":
        import bson

        source.write_bytes(b"".join(bson.encode(row) for row in rows))
    else:
        text = "".join("<r>" + "".join(f"<{k}>{v}</{k}>" for k, v in row.items()) + "</r>" for row in rows)
        source.write_text(f"<all>{text}</all>", "utf-8")
        prefix = "/all/r/"
    fields = {prefix + name.removeprefix("$."): rule for name, rule in FIELDS.items()}
    asked = policy(fields=fields, **more)
    out = tmp_path / "out"
    hierdata.anonymize(source, asked, seed=SEED).save(out)
    assert hierdata.verify(out, asked, original=source).passed
    assert hierdata.verify(out / "public", asked).passed


def test_ids_are_no_fields_where_unlisted_ones_are_kept(tmp_path: Path) -> None:
    fields = {path: rule for path, rule in FIELDS.items() if path != "$.zip"}
    asked = policy(fields=fields, unlisted={"keep": "fields of the survey itself"})
    release = hierdata.anonymize(people(), asked, seed=SEED)
    assert hierdata.verify(release.save(tmp_path / "out"), asked, original=people()).passed
    book = json.loads((tmp_path / "out" / "public" / "codebook.json").read_text("utf-8"))
    assert {field["path"] for field in book["fields"]} == FIELDS.keys()


def test_what_is_suppressed_may_be_guarded_or_not() -> None:
    """Of 20 people 12 have one job: l = 2 leaves some out, and these all have that job."""
    rows = [person | {"job": "a" if at < 12 else "bcd"[at % 3]} for at, person in enumerate(people(20))]
    guarded = policy(models=[{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}])
    with pytest.raises(hierdata.PromiseError, match="suppressed: as_published"):
        hierdata.anonymize(rows, guarded, seed=SEED)
    release = hierdata.anonymize(rows, guarded | {"suppressed": "as_published"}, seed=SEED)
    assert release.report.counts.records.suppressed >= 4
    shown = Counter(row["job"] for own in groups_in(release, "sensitive-1").values() for row in own)
    assert 2 * max(shown.values()) <= sum(shown.values())


# The search against a plain loop


def test_records_are_chosen_for_all_tables_and_each_of_these_groups_all_of_them() -> None:
    """Jobs and ills are both too frequent: the most records that both allow are chosen, and none is lost."""
    rng = Random(3)
    rows = [
        person | {"job": rng.choice("aaaaabcd"), "ill": rng.choice("wwwwwxyz")}
        for person in people(80, seed=5)
    ]
    models = [{"kind": "k-anonymity", "k": 4}, {"kind": "frequency-l-diversity", "l": 2}]
    asked = from_data(policy(models=models, engine={"preset": "SLOMS"}, sensitive_tables=None))
    prepared = prepare(asked, survey(rows, asked.declared_fields()))
    forest = encode(bind(rows, prepared.binding), prepared.schema, prepared.hierarchies, prepared.domains)
    recoding = SlicingByTable(asked.table_division)
    _, (classes, *groups) = search_tables(forest, prepared, recoding, np.random.default_rng(7), silent)
    rng_of_twin = np.random.default_rng(7)
    of_tables, of_classes = prepared.stages

    def run(steps: Any, constraints: Any, left: Sequence[int]) -> list[list[int]]:
        gone = ~np.isin(np.arange(len(rows)), left)
        scope = Scope.of(forest, 0, gone).shuffle_rows(rng_of_twin)
        partition: Partition | None = None
        for step in steps:
            partition = step.find_classes(StepInput(forest, scope, constraints, partition, rng_of_twin))
        assert partition is not None
        return members(partition)

    def group(table: int, left: Sequence[int]) -> list[list[int]]:
        own = of_tables.constraints.on_attributes(0, [table])
        return run([ENGINES["msb"](kind="msb")], own, left)

    def classify(left: Sequence[int]) -> list[list[int]]:
        return run(
            [ENGINES["kaca"](kind="kaca")], replace(of_classes.constraints, on_records=(), least=4), left
        )

    one_by_one = [
        coordinates_of(forest, Scope.of(forest, 0), of_tables.constraints.on_attributes(0, [at]))[0]
        for at in range(3)
    ]
    cells = JointCounts.of(one_by_one, len(rows))
    kept = keep_most(cells, cells.count())
    chosen = draw_rows(cells, kept, np.ones(len(rows), np.bool_), rng_of_twin)
    assert sum(map(len, members(classes))) == chosen.sum() < len(rows)
    twin = naive.search(np.flatnonzero(chosen).tolist(), group, classify, 3)
    assert (members(classes), [members(own) for own in groups]) == twin
    suppressed = int((classes.equivalence_class < 0).sum())
    assert classes.costs["records_that_no_group_accepts"] == suppressed > 10
    for own in (classes, *groups):
        assert ((own.equivalence_class < 0) == (classes.equivalence_class < 0)).all()


def members(partition: Partition) -> list[list[int]]:
    return [
        np.flatnonzero(partition.equivalence_class == number).tolist()
        for number in range(partition.class_count)
    ]


# The judge against a slow one

NAMES = ("a", "b", "c")
RULES = JudgeRules(
    tuple(SensitiveRule((name,), f"$.{name}") for name in NAMES),
    (),
    listed=frozenset({("q",), *((name,) for name in NAMES)}),
    recoding="slicing_by_table",
)
TOGETHER: Tables = {"sensitive-1": ("group_1", ("a", "b")), "sensitive-2": ("group_2", ("c",))}
APART: Tables = {f"sensitive-{at}": (f"group_{at}", (name,)) for at, name in enumerate(NAMES, 1)}


def sliced(rng: Random, tables: Tables) -> tuple[list[Record], dict[str, list[Record]]]:
    """Records of a few looks in random groups, and tables with random values."""
    count = rng.randint(2, 9)
    records: list[Record] = [{"q": rng.choice("xy")} for _ in range(count)]
    parts: dict[str, list[Record]] = {}
    for part, (key, names) in tables.items():
        rows: Counter[tuple[Any, ...]] = Counter()
        for record in records:
            record[key] = rng.randint(1, 3)
            rows[record[key], *(rng.choice((1, 2, 3, None)) for _ in names)] += 1
        parts[part] = [
            {"group": group, "count": times}
            | {name: value for name, value in zip(names, own, strict=True) if value is not None}
            for (group, *own), times in rows.items()
        ]
    return records, parts


def forge(rng: Random, records: list[Record], parts: dict[str, list[Record]]) -> None:
    """One thing changed at random."""
    rows = [row for own in parts.values() for row in own]
    pick = rng.randrange(7)
    if pick == 0:
        rng.choice(records)[rng.choice(("group_1", "group_2", "group_3"))] = rng.choice(
            (0, 1, 2, 3, 9, "1", 1.5, None)
        )
    elif pick == 1:
        rng.choice(records)[rng.choice(("a", "q", "z"))] = "x"
    elif pick == 2:
        rng.choice(rows)["count"] = rng.choice((0, 1, 2, -1, 1.0, "x", None))
    elif pick == 3:
        rng.choice(rows)["group"] = rng.choice((1, 2, 3, 9, None, "1"))
    elif pick == 4:
        rng.choice(rows)[rng.choice("abcz")] = 2
    elif pick == 5:
        parts.pop(rng.choice([*parts]))
    else:
        parts[rng.choice(("sensitive", "sensitive-4", "sensitive-q-1"))] = [{"group": 1, "count": 1}]


REFERENCE = {1: 4, 2: 3, 3: 2}


def _share(shares: Shares, value: Any) -> Fraction:
    present = sum(share for own, share in shares.items() if own is not None)
    return shares.get(value, Fraction(0)) / present


def frequent(_: str, records: int, shares: Shares) -> bool:
    present = [value for value, share in shares.items() if value is not None and share]
    return not present or (records >= 2 and max(_share(shares, value) for value in present) <= Fraction(1, 2))


def near(_: str, records: int, shares: Shares) -> bool:
    """Not closed under mixtures: of the values shown, no more than half lie within 1 of one of them."""
    present = [value for value, share in shares.items() if value is not None and share]
    return not present or (
        records >= 2
        and max(sum(_share(shares, other) for other in present if abs(other - one) <= 1) for one in present)
        <= Fraction(1, 2)
    )


def close(_: str, __: int, shares: Shares) -> bool:
    present = [value for value, share in shares.items() if value is not None and share]
    total = sum(REFERENCE.values())
    off = (
        sum(abs(_share(shares, value) - Fraction(count, total)) for value, count in REFERENCE.items())
        if present
        else 0
    )
    return off <= Fraction(3, 5)


CHECKED = [
    (FrequencyLDiversity(l=2), frequent),
    (DeltaLDiversity(delta="1/2", l=2), near),  # intervals of this radius overlap within 1
    (TCloseness(t="3/10"), close),
]


@given(st.integers(0, 2**40), st.booleans(), st.integers(0, 2), st.integers(0, 2))
@examples(400)
def test_the_judge_agrees_with_a_slow_one(number: int, apart: bool, forgeries: int, model: int) -> None:
    rng, tables = Random(number), APART if apart else TOGETHER
    records, parts = sliced(rng, tables)
    for _ in range(forgeries):
        forge(rng, records, parts)
    asked, holds = CHECKED[model]
    division = None if apart else (frozenset({("a",), ("b",)}), frozenset({("c",)}))
    sensitive = tuple(replace(rule, number=True, reference=REFERENCE) for rule in RULES.sensitive)
    rules = replace(
        RULES, sensitive=sensitive, tables=division, models=((KAnonymity(k=2), None), (asked, None))
    )
    verdict = judge(records, rules, parts)
    found = naive.judge(records, parts, tables)
    keys = {key for key, _ in tables.values()}
    listed = all(record.keys() - keys <= {"q"} for record in records)
    assert verdict.passed == (listed and naive.passes(found, 2, holds))
    if found.fits and listed:
        assert (verdict.classes, verdict.k) == (len(found.classes), min(found.classes))
        assert verdict.group_ids is not None
        assert verdict.group_ids.k == found.k_ids
        stated = {path: guess for path, guess in verdict.group_ids.worst_guess.items() if guess}
        assert stated == {f"$.{name}": guess for name, guess in found.guesses.items()}


def test_a_mixture_may_break_a_model_that_every_group_keeps() -> None:
    """Groups {0, 10} and {6, 16}: nobody is near another; of the class's mixture three of four are near 6."""
    records = [{"q": "x", "group_1": group} for group in (1, 1, 2, 2)]
    values = {
        "sensitive-1": [
            {"group": group, "a": value, "count": 1}
            for group, own in ((1, (0, 10)), (2, (6, 16)))
            for value in own
        ]
    }
    rules = replace(RULES, sensitive=(replace(RULES.sensitive[0], number=True),))
    near_by = replace(rules, models=((DeltaLDiversity(delta=4, l=2), None),))
    far_off = replace(rules, models=((DeltaLDiversity(delta=1, l=2), None),))
    assert not judge(records, near_by, values).passed
    assert judge(records, far_off, values).passed
    apart = [record | {"q": "x" if record["group_1"] == 1 else "y"} for record in records]
    assert judge(apart, near_by, values).passed


def test_groups_of_different_sizes_weigh_as_persons_do() -> None:
    """One of two persons is in a group of two, {p, q}, the other in one of three, {p, q, r}: p has 5/12."""
    records = [{"q": q, "group_1": group} for q, group in ("x1", "x2", "y1", "y2", "y2")]
    records = [record | {"group_1": int(record["group_1"])} for record in records]
    values = [
        {"group": group, "a": value, "count": 1} for group, own in ((1, "pq"), (2, "pqr")) for value in own
    ]
    rules = replace(RULES, sensitive=RULES.sensitive[:1])
    for alpha, passed in (("1/2", True), ("5/12", False)):  # the group of two has a share of 1/2
        asked = replace(rules, models=((AlphaK(k=2, alpha=alpha), None),))
        assert judge(records, asked, {"sensitive-1": values}).passed == passed
    mixed = naive.judge(records, {"sensitive-1": values}, {"sensitive-1": ("group_1", ("a",))}).values
    assert ("a", 2, {"p": Fraction(5, 12), "q": Fraction(5, 12), "r": Fraction(1, 6)}) in mixed


def test_a_table_by_number_may_have_any_attribute() -> None:
    records = [{"q": "x", "group_1": 1, "group_2": 1}] * 2
    parts: dict[str, Any] = {
        "sensitive-1": [{"group": 1, "a": v, "c": v, "count": 1} for v in (1, 2)],
        "sensitive-2": [{"group": 1, "b": v, "count": 1} for v in (1, 2)],
    }
    asked = replace(RULES, tables=2, models=((DistinctLDiversity(l=2), None),))
    verdict = judge(records, asked, parts)
    assert verdict.passed
    assert verdict.group_ids is not None
    assert verdict.group_ids.worst_guess == {"$.a": 1, "$.b": Fraction(1, 2), "$.c": 1}
    parts["sensitive-2"][0]["a"] = 1
    assert not judge(records, asked, parts).passed, "an attribute in two tables"
