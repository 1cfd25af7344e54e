"""What holds for every engine, recoding and model through files: made from the families' dicts."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sized
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.engines import ENGINES
from hierdata.metrics import METRICS
from hierdata.privacy import MODELS
from hierdata.privacy.base import PrivacyModel
from hierdata.release.release import Release
from hierdata.release.report.parts import Tally
from tests.cases import each_once
from tests.contracts.test_engines import CASES, suits
from tests.end_to_end.conftest import SEED
from tests.end_to_end.small import FLAT, NESTED, policy, rows, trees, write_csv
from tests.recodings_of_trees import TREE_RECODINGS


def engine(name: str, **settings: Any) -> dict[str, Any]:
    """A step, behind one it can go on from; one that suppresses nothing unless it may, may."""
    limit = {"suppression": 1} if "suppression" in ENGINES[name].model_fields else {}
    first = "clustree" if ENGINES[name].aligns else "mondrian"
    before = [] if ENGINES[name].begins else [{"kind": first}]
    return {"steps": [*before, {"kind": name, **limit, **settings}]}


# One table, as text and as values


def texts(release: Release) -> dict[str, list[dict[str, str]]]:
    """The documents of every part in order, values as they are spelled, what is missing absent."""
    return {
        part: [
            {key: str(value) for key, value in sorted(document.items()) if value is not None}
            for document in release.part(part)
        ]
        for part in release.parts
    }


def fitting(name: str, recoding: str) -> list[PrivacyModel]:
    return [
        model
        for model in CASES
        if suits(name, model)
        and not (recoding in ("anatomy", "sets_and_ranges") and model.needs_population)
        # Its classes hold all whom they fit, which is half of these people and their twins.
        and not (name == "full-domain" and model.kind == "delta-presence")
    ]


TABLES = [name for name in TREE_RECODINGS if name != "representatives"]
"""The recodings that publish rows."""


def same_as_text(name: str, recoding: str, model: PrivacyModel, folder: Path) -> set[str]:
    """Publish a table from text and from values; answer the metrics that apply."""
    as_csv = write_csv(folder / "people.csv", rows())
    stated = policy(FLAT, model, folder=folder, engine=engine(name), recoding=recoding)
    typed, spelled = (hierdata.anonymize(source, stated, seed=SEED) for source in (rows(), as_csv))
    assert texts(typed) == texts(spelled), model
    one, other = typed.report, spelled.report
    assert (one.metrics, one.counts, one.costs) == (other.metrics, other.counts, other.costs), model
    assert (one.promises, one.levels, one.reasons) == (other.promises, other.levels, other.reasons)
    return set(one.metrics)


# Bounded knowledge needs vertices below the record, which a table has not.
ROW_ENGINES = [name for name, own in ENGINES.items() if not own.bounds_knowledge]


@pytest.mark.parametrize(("name", "recoding"), each_once(ROW_ENGINES, TABLES))
@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.full)])
def test_a_table_as_csv_gives_what_it_gives_as_json(
    name: str, recoding: str, share: int, tmp_path: Path
) -> None:
    """Every engine meets every model under one of the recodings, and every recoding with some models.

    In the fast tier each engine meets a quarter of the models of one recoding.
    """
    first = TABLES.index(recoding) + len(TABLES) * (ROW_ENGINES.index(name) % share)
    for model in fitting(name, recoding)[first :: len(TABLES) * share]:
        same_as_text(name, recoding, model, tmp_path)


def test_every_metric_has_a_figure_of_some_table(tmp_path: Path) -> None:
    found: set[str] = set()
    for model in CASES:
        stated = policy(FLAT, model, folder=tmp_path, engine=engine("mondrian"))
        found |= {*hierdata.anonymize(rows(), stated, seed=SEED).report.metrics}
        if found >= METRICS.keys():
            break
    assert found == METRICS.keys()


def test_representatives_of_a_table_are_of_a_shape_that_csv_lacks(tmp_path: Path) -> None:
    stated = policy(FLAT, CASES[0], folder=tmp_path, recoding="representatives")
    assert hierdata.anonymize(rows(), stated, seed=SEED).report.passed
    with pytest.raises(hierdata.PolicyError, match="cannot be a row of a table"):
        hierdata.anonymize(write_csv(tmp_path / "people.csv", rows()), stated)


# Every model on trees and on tables, from a file to a saved folder


PEOPLE: dict[str, tuple[dict[str, Any], Any]] = {
    "clustree": (NESTED, trees),
    "mondrian": (FLAT, rows),
    "local-search": (NESTED, trees),
}


@pytest.mark.parametrize(("model", "name"), each_once(CASES, [*PEOPLE]), ids=str)
def test_every_model_is_published_verified_and_states_what_it_suppressed(
    model: PrivacyModel, name: str, tmp_path: Path
) -> None:
    fields, people = PEOPLE[name]
    source = tmp_path / "people.json"
    source.write_text(json.dumps(people()), "utf-8")
    stated = policy(fields, model, folder=tmp_path, engine=engine(name))
    release = hierdata.anonymize(source, stated, seed=SEED)
    folder = release.save(tmp_path / "out")
    verdict = hierdata.verify(folder, stated)
    assert verdict.passed
    assert {judgement.model for judgement in verdict.judgements} == {model.kind}
    assert all(judgement.held for judgement in verdict.judgements)
    assert hierdata.verify(folder, stated, original=source) == verdict
    alone = hierdata.verify(folder / "public" / "records.json", stated)
    assert alone.passed == (not model.needs_reference)

    before, after = people(), json.loads((folder / "public" / "records.json").read_text("utf-8"))
    assert after
    counts = release.report.counts
    assert counts.records == tally(before, after)
    assert counts.vertices["$"] == tally(before, after)
    if "$.visits[*]" in counts.vertices:
        assert counts.vertices["$.visits[*]"] == tally(
            *([visit for person in of for visit in person.get("visits", ())] for of in (before, after))
        )
    assert release.report.metrics["suppression_ratio"].exact["records"] == str(
        1 - Fraction(len(after), len(before))
    )
    public = json.loads((folder / "public" / "release.json").read_text("utf-8"))
    assert public["counts"]["records"] == len(after)


def tally(before: Sized, after: Sized) -> Tally:
    return Tally(input=len(before), published=len(after), suppressed=len(before) - len(after))


# One vertex type of trees


ROWS = [name for name, engine in ENGINES.items() if not engine.aligns and name != "full-domain"]
VISITS = {path: rule for path, rule in NESTED.items() if path != "$.score"}


def keyed(folder: Path) -> Path:
    """The trees as two tables with keys."""
    folder.mkdir()
    people = [{"pid": f"p{at}", **person} for at, person in enumerate(trees())]
    visits = [{"pid": person["pid"], **visit} for person in people for visit in person["visits"]]
    write_csv(folder / "people.csv", [{key: row[key] for key in ("pid", "age", "town")} for row in people])
    write_csv(folder / "visits.csv", visits)
    return folder


def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("name", ROWS)
def test_a_class_of_one_vertex_type_takes_one_vertex_of_any_person(name: str, tmp_path: Path) -> None:
    """Counted in the published tables themselves, joined by their keys, and in the same people as JSON."""
    without = [{key: value for key, value in person.items() if key != "score"} for person in trees()]
    model = MODELS["delta-l-diversity" if name == "spread" else "frequency-l-diversity"](
        **({"delta": 1, "l": 2} if name == "spread" else {"l": 2})
    )
    stated = policy(VISITS, model, folder=tmp_path, engine=engine(name, on="$.visits[*]"), recoding="anatomy")
    tables = {"people": {"key": "pid"}, "visits": {"parent": "people", "on": "pid"}}
    release = hierdata.anonymize(keyed(tmp_path / "in"), {**stated, "tables": tables}, seed=SEED)
    folder = release.save(tmp_path / "out")
    verdict = hierdata.verify(folder, {**stated, "tables": tables})
    assert verdict.passed
    assert verdict.k >= 2

    records = folder / "public" / "records"
    people = {row["pid"] for row in read_csv(records / "people.csv")}
    visits = read_csv(records / "visits.csv")
    assert visits
    assert {visit["pid"] for visit in visits} <= people
    of_group: dict[str, list[str]] = {}
    for visit in visits:
        of_group.setdefault(visit["group"], []).append(visit["pid"])
    assert all(len(set(owners)) == len(owners) > 1 for owners in of_group.values())
    sensitive = read_csv(folder / "public" / "sensitive-visits.csv")
    stated_sizes: Counter[str] = Counter()
    for row in sensitive:
        stated_sizes[row["group"]] += int(row["count"])
    assert stated_sizes == {group: len(owners) for group, owners in of_group.items()}
    assert verdict.k == min(stated_sizes.values())

    as_json = hierdata.anonymize(without, stated, seed=SEED)
    assert sorted(
        (person["age"], *sorted(visit["group"] for visit in person.get("visits", ())))
        for person in as_json.records()
    ) == sorted(
        (int(person["age"]), *sorted(int(one["group"]) for one in visits if one["pid"] == person["pid"]))
        for person in read_csv(records / "people.csv")
    )
    assert (as_json.report.metrics, as_json.report.counts) == (release.report.metrics, release.report.counts)


def test_how_many_items_an_exempt_array_has_tells_no_class_apart() -> None:
    """Two classes that differ in nothing else are one to the judge, and (l,e) may fail in their union."""
    people = [
        {"score": score, "tags": ["x"] * tags}
        for tags, scores in ((1, (2, 5)), (2, (2, 4)))
        for score in scores
    ]
    fields = {
        "$.score": NESTED["$.score"],
        "$.tags[*]": {"role": "insensitive", "exempt": "a color of no importance"},
    }
    models = [{"kind": "l-e-diversity", "l": 2, "e": 1}]
    stated = {"version": 1, "fields": fields, "models": models, "engine": engine("clustree")}
    release = hierdata.anonymize(people, stated, seed=SEED)
    assert release.report.counts.classes == 1
    assert release.report.counts.records.published == 2
