"""Derived fields: a label goes with its code, and tells nothing that the published code does not tell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import InputError, PolicyError
from tests.cases import for_each, naming, with_worlds

TREE = {"*": {"A": ["a1", "a2"], "B": ["b1", "b2", "b3"], "C": ["c1"]}}
BELOW = {"*": ["a1", "a2", "b1", "b2", "b3", "c1"], "A": ["a1", "a2"], "B": ["b1", "b2", "b3"], "C": ["c1"]}
FIELDS: dict[str, Any] = {
    "$.code": {"role": "quasi", "taxonomy": {"tree": TREE}, "missing": ["?"]},
    "$.name": {"derived": "$.code", "missing": ["-"]},
    "$.year": {"role": "quasi", "interval": {"steps": [1, 5, 10]}},
    "$.era": {"derived": "$.year"},
    "$.town": {"role": "quasi", "flat": True},
    "$.land": {"derived": "$.town"},
    "$.ill": {"role": "sensitive"},
    "$.illness": {"derived": "$.ill"},
}
NESTED = {
    **FIELDS,
    "$.visits[*].ward": {"role": "quasi", "taxonomy": {"tree": TREE}},
    "$.visits[*].kind.name": {"derived": "$.visits[*].ward"},
    "$.visits[*].kind.sure": {"role": "insensitive"},
}
K = {"kind": "k-anonymity", "k": 2}
L = {"kind": "frequency-l-diversity", "l": "3/2"}
SEED = bytes(32)


class World:
    """People, and the labels that their codes have."""

    def __init__(self, seed: int, *, nested: bool) -> None:
        rng = Random(seed)
        self.names = {code: rng.choice(["x", "y"]) for code in BELOW["*"]}
        self.eras = {year: rng.choice(["old", "new"]) for year in range(1990, 2010)}
        self.lands = {town: rng.choice("NS") for town in "pqr"}
        self.ills = {ill: rng.choice(["flu", "gout"]) for ill in ("i1", "i2", "i3", "i4")}
        codes = rng.sample(BELOW["*"], rng.randint(2, 6))
        years = rng.sample(sorted(self.eras), rng.randint(3, 20))
        self.records = [self._person(rng, codes, years, nested) for _ in range(rng.randint(8, 16))]

    def _person(self, rng: Random, codes: list[str], years: list[int], nested: bool) -> dict[str, Any]:
        year, town, ill = rng.choice(years), rng.choice("pqr"), rng.choice(sorted(self.ills))
        person: dict[str, Any] = {
            **(self._code(rng, codes)),
            **({} if rng.random() < 0.1 else {"year": year, "era": self.eras[year]}),
            **{"town": town, "land": self.lands[town]},
            **({} if rng.random() < 0.1 else {"ill": ill, "illness": self.ills[ill]}),
        }
        if nested:
            wards = [rng.choice(codes) for _ in range(rng.randint(0, 2))]
            person["visits"] = [
                {"ward": ward, "kind": {"name": self.names[ward], "sure": 1}} for ward in wards
            ]
        return person

    def _code(self, rng: Random, codes: list[str]) -> dict[str, Any]:
        if rng.random() < 0.15:
            return {"code": "?", "name": "-"} if rng.random() < 0.5 else {}
        code = rng.choice(codes)
        return {"code": code, "name": self.names[code]}

    def seen(self, *path: str) -> set[Any]:
        """The values of the input at a path."""
        rows = self.records if len(path) == 1 else [one for row in self.records for one in row[path[0]]]
        return {row.get(path[-1]) for row in rows}


def united(leaves: list[Any], seen: set[Any], labels: dict[Any, str]) -> str | None:
    """The label that all leaves of a domain have; one that nobody has is not known."""
    found = {labels[leaf] if leaf in seen and leaf is not None else None for leaf in leaves}
    return found.pop() if len(found) == 1 else None


def leaves_of(kind: str, shown: Any, *, sets: bool) -> list[Any]:
    """What a published value may stand for, by its spelling alone; [None] where that is not known."""
    if sets and isinstance(shown, str) and shown.startswith("{"):
        members = shown[1:-1].split(", ") if "[" not in shown else [shown[1 : shown.index("]") + 1]]
        members += ["null"] if "[" in shown and shown.endswith("null}") else []
        return [leaf for member in members for leaf in leaves_of(kind, member, sets=False)]
    if kind == "year":
        ends = re.findall(r"\d+", str(shown))
        return [*range(int(ends[0]), int(ends[-1]) + 1)] if ends and shown != "null" else [None]
    if kind == "code":
        return BELOW.get(shown, [shown])
    return [None] if shown in ("*", "null") else [shown]


def check_labels(item: dict[str, Any], world: World, *, sets: bool) -> None:
    """Every label of a published object is the one that follows, and is there if and only if one does."""
    expected = {
        "name": ("code", "code", world.names, world.seen("code")),
        "era": ("year", "year", world.eras, world.seen("year")),
        "land": ("town", "town", world.lands, world.seen("town")),
        "illness": ("ill", "ill", world.ills, world.seen("ill")),
    }
    for label, (kind, source, labels, seen) in expected.items():
        shown = item.get(source)
        is_set = sets and kind != "ill"
        due = None if shown is None else united(leaves_of(kind, shown, sets=is_set), seen, labels)
        with naming(label=label, shown=shown):
            assert item.get(label) == due
    for visit in item.get("visits", ()):
        shown = visit.get("ward")
        leaves = leaves_of("code", shown, sets=sets)
        due = None if shown is None else united(leaves, world.seen("visits", "ward"), world.names)
        with naming(shown=shown):
            assert visit.get("kind", {}).get("name") == due


CASES = [
    ("generalization", {}, [K], True),
    ("generalization", {"engine": {"steps": [{"kind": "k-member"}]}}, [K], False),
    ("generalization", {"engine": {"steps": [{"kind": "mondrian"}]}}, [K, L], False),
    ("full_domain", {}, [K], False),
    ("sets_and_ranges", {"engine": {"steps": [{"kind": "clustree"}]}}, [K], True),
    ("representatives", {"engine": {"steps": [{"kind": "clustree"}]}}, [K], True),
    ("anatomy", {}, [L], True),
    ("slicing", {}, [K, L], False),
    ("slicing_by_table", {"accept": {"group_ids": "a test"}}, [K, L], False),
    ("generalization", {}, [{"kind": "bounded-knowledge", "k": 2, "m": 1}], True),
]


def stated_policy(recoding: str, more: dict[str, Any], models: list[Any], nested: bool) -> dict[str, Any]:
    fields = dict(NESTED if nested else FIELDS)
    if recoding == "representatives":
        fields |= {key: {"role": "identifier"} for key in ("$.ill", "$.illness")}
    if models[0]["kind"] != "bounded-knowledge":
        more = {"suppressed": "as_published", **more}
    return {"version": 1, "recoding": recoding, "models": models, "fields": fields, **more}


def published(release: hierdata.Release, recoding: str) -> Iterator[dict[str, Any]]:
    for name in sorted(path.name for path in (Path(release) / "public").glob("*.json*")):
        if name.startswith(("release", "codebook")):
            continue
        for line in release.part(name.split(".")[0]):
            yield line["representative"] if recoding == "representatives" else line


@pytest.mark.parametrize("recoding", dict.fromkeys(case[0] for case in CASES))
@with_worlds(1, 60)
def test_labels_follow_from_what_is_published(recoding: str, worlds: int, tmp_path: Path) -> None:
    for number, (name, more, models, nested) in enumerate(CASES):
        if name != recoding:
            continue
        for seed in range(worlds):
            with naming(case=number, seed=seed):
                world = World(seed, nested=nested)
                told = stated_policy(name, more, models, nested)
                release = hierdata.anonymize(
                    world.records, told, seed=SEED, out=tmp_path / f"{number}-{seed}"
                )
                sets = recoding == "sets_and_ranges"
                for item in published(release, recoding):
                    check_labels(item, world, sets=sets)
                verdict = hierdata.verify(release, told, original=world.records)
                assert verdict.passed
                assert hierdata.verify(release, told).passed


SMALL: dict[str, Any] = {
    "version": 1,
    "models": [K],
    "fields": {
        "$.id": {"role": "quasi", "taxonomy": {"tree": TREE}},
        "$.text": {"derived": "$.id"},
        "$.ill": {"role": "sensitive"},
        "$.illness": {"derived": "$.ill"},
    },
}
"""Two values of B have one label, so B has none unless the third is there."""


def small(codes: str, names: dict[str, str]) -> list[dict[str, str]]:
    """Records with these codes and one illness."""
    return [{"id": code, "text": names[code], "ill": "i1", "illness": "flu"} for code in codes.split()]


NAMES = {"a1": "left", "a2": "left", "b1": "up", "b2": "up", "b3": "up", "c1": "on"}


def labels_of(records: list[dict[str, str]], **more: Any) -> dict[Any, Any]:
    """The label of each published code."""
    release = hierdata.anonymize(records, {**SMALL, **more}, seed=SEED)
    return {row["id"]: row.get("text") for row in release.records()}


def test_a_label_needs_all_leaves_of_the_domain() -> None:
    """A leaf that nobody has may have any label; what a class holds is not told by what it lacks."""
    assert labels_of(small("a1 a2", NAMES)) == {"A": "left"}
    assert labels_of(small("b1 b2", NAMES)) == {"B": None}
    assert labels_of(small("b1 b2 b3", NAMES)) == {"B": "up"}
    assert labels_of(small("b1 b2 b3", {**NAMES, "b3": "down"})) == {"B": None}
    assert labels_of(small("b1 b1 b2 b2", NAMES)) == {"b1": "up", "b2": "up"}
    everywhere = dict.fromkeys(NAMES, "same")
    assert labels_of(small("a1 a2 b1 b2 b3 c1", everywhere), models=[{**K, "k": 6}]) == {"*": "same"}


def test_the_codebook_maps_published_forms_alone() -> None:
    """It says nothing of codes that no published record shows."""
    release = hierdata.anonymize(small("a1 a2 c1 c1", NAMES), SMALL, seed=SEED)
    fields = json.loads((Path(release) / "public" / "codebook.json").read_text(encoding="utf-8"))["fields"]
    text = next(field for field in fields if field["path"] == "$.text")
    assert (text["role"], text["source"], text["labels"]) == (
        "derived",
        "$.id",
        [["A", "left"], ["c1", "on"]],
    )


Change = tuple[str, str, str | None]


@for_each(
    "line, key, value",
    [(0, "text", "up"), (0, "text", None), (2, "text", "left"), (0, "illness", "gout"), (1, "illness", None)],
)
def test_the_judge_finds_a_wrong_label(line: int, key: str, value: str | None, tmp_path: Path) -> None:
    """A label that does not follow, is missing, or is there where the form has none is forbidden."""
    records = small("a1 a2 b1 b2", NAMES)
    release = hierdata.anonymize(records, SMALL, seed=SEED)
    rows = sorted(release.records(), key=lambda row: str(row["id"]))
    assert hierdata.verify(rows, SMALL, facts=Path(release) / "steward" / "verification.json").passed
    changed = {name: one for name, one in {**rows[line], key: value}.items() if one is not None}
    rows[line] = changed
    verdict = hierdata.verify(rows, SMALL, facts=Path(release) / "steward" / "verification.json")
    assert not verdict.passed
    assert verdict.forbidden == {f"$.{key}": 1}


def test_labels_without_facts_are_not_judged() -> None:
    """Nobody knows without the pairs of the original whether a label follows."""
    release = hierdata.anonymize(small("a1 a2 c1 c1", NAMES), SMALL, seed=SEED)
    verdict = hierdata.verify(list(release.records()), SMALL)
    assert not verdict.passed
    assert [name.split(",")[0] for name in verdict.not_judged] == ["$.text", "$.illness"]


@for_each(
    "records, message",
    [
        (
            [*small("a1 a2", NAMES), {"id": "a1", "text": "other"}],
            "1 of 2 values of the source have several labels",
        ),
        ([*small("a1 a2", NAMES), {"id": "a1"}], "1 values of the source have no label"),
        ([*small("a1 a2", NAMES), {"text": "left"}], "1 labels have no value of the source"),
        ([*small("a1 a2", NAMES), {"id": "a1", "text": ["left"]}], "1 are lists or objects"),
    ],
)
def test_what_is_no_function_is_refused(records: list[dict[str, Any]], message: str) -> None:
    """The path and counts are told, and no value."""
    with pytest.raises(InputError, match=message) as refused:
        hierdata.anonymize(records, SMALL, seed=SEED)
    assert refused.value.path == "$.text"
    assert "left" not in str(refused.value)


@for_each(
    "fields, message",
    [
        ({"$.text": {"derived": "$.idd"}}, "no rule names the source"),
        ({"$.text": {"derived": "$.text"}}, "no rule names the source"),
        ({"$.text": {"derived": "$.illness"}}, "derived itself: name its own source, \\$.ill"),
        ({"$.text": {"derived": "$.id", "role": "quasi"}}, "a derived field takes no role"),
        ({"$.text": {"derived": "$.id", "weight": 2}}, "a derived field takes no weight"),
        ({"$.text": {"derived": "$.who"}, "$.who": {"role": "identifier"}}, "without an action"),
        ({"$.list[*].text": {"derived": "$.id"}}, "a field of the same object"),
        ({"$.text": {"derived": "$.list[*]"}, "$.list[*]": {"role": "quasi", "flat": True}}, "same object"),
    ],
)
def test_what_cannot_be_derived_is_refused(fields: dict[str, Any], message: str) -> None:
    """Before any record is read."""
    with pytest.raises(PolicyError, match=message):
        hierdata.anonymize([], {**SMALL, "fields": {**SMALL["fields"], **fields}})


XML = """<people>{}</people>"""
PERSON = """<person><ill code="{}" system="icd">{}</ill><town id="{}"><label>{}</label></town></person>"""
OF_XML: dict[str, Any] = {
    "version": 1,
    "models": [K],
    "fields": {
        "/people/person/ill/@code": {"role": "quasi", "taxonomy": {"tree": TREE}},
        "/people/person/ill/@system": {"derived": "/people/person/ill/@code"},
        "/people/person/ill/text()": {"derived": "/people/person/ill/@code"},
        "/people/person/town/@id": {"role": "sensitive"},
        "/people/person/town/label": {"derived": "/people/person/town/@id"},
    },
}


@for_each(
    "recoding, models", [("generalization", [K]), ("anatomy", [{"kind": "distinct-l-diversity", "l": 2}])]
)
def test_labels_of_elements(recoding: str, models: list[Any], tmp_path: Path) -> None:
    """Attributes and texts are labels too, and a table of values has theirs."""
    rows = [("a1", "left", "t1", "Rome"), ("a2", "left", "t2", "Oslo"), ("b1", "up", "t2", "Oslo")] * 2
    source = tmp_path / "people.xml"
    text = "".join(PERSON.format(code, name, town, label) for code, name, town, label in rows)
    source.write_text(XML.format(text), encoding="utf-8")
    told = {**OF_XML, "recoding": recoding, "models": models}
    if recoding == "anatomy":
        told |= {"suppressed": "as_published"}
    release = hierdata.anonymize(source, told, seed=SEED, out=tmp_path / f"out-{recoding}")
    assert hierdata.verify(release, told, original=source).passed
    shown = "".join(path.read_text(encoding="utf-8") for path in (Path(release) / "public").glob("*.xml"))
    assert shown.count('system="icd"') == 6
    assert {"left", "Rome", "Oslo"} <= set(re.findall(r"\w+", shown))


@for_each("suffix", ["csv", "parquet"])
def test_labels_of_tables(suffix: str, tmp_path: Path) -> None:
    """A column of labels stays a column."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    records = small("a1 a2 b1 b1", NAMES)
    source = tmp_path / f"people.{suffix}"
    table = pa.Table.from_pylist(records)
    (pyarrow.csv.write_csv if suffix == "csv" else pyarrow.parquet.write_table)(table, source)
    release = hierdata.anonymize(source, SMALL, seed=SEED, out=tmp_path / f"out-{suffix}")
    assert hierdata.verify(release, SMALL, original=source).passed
    assert {(row["id"], row["text"]) for row in release.records()} == {("A", "left"), ("b1", "up")}


def test_two_releases_tell_no_more_of_those_in_both() -> None:
    """Whether a form has a label depends on which codes occur, not on who has them."""
    some = small("a1 a2 b1 b1 b2 b2 b3 b3", NAMES)
    for gone in range(len(some)):
        left = [row for number, row in enumerate(some) if number != gone]
        if {row["id"] for row in left} == {row["id"] for row in some}:
            before, after = labels_of(some), labels_of(left)
            assert {form: label for form, label in before.items() if form in after} == {
                form: label for form, label in after.items() if form in before
            }
