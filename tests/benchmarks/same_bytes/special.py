"""Jobs beside the covering combinations: what has one value of its own, bundled policies, and errors."""

from __future__ import annotations

import json
from typing import Any

from tests.benchmarks.same_bytes.factors import MODELS, Combination, Rule
from tests.benchmarks.same_bytes.inputs import source_of
from tests.benchmarks.same_bytes.policies import FLAT_FIELDS, TREE_FIELDS, policy

K = {"kind": "k-anonymity", "k": 3}
SEX: Rule = {"role": "quasi", "flat": True}
PLAIN = Combination("tree", "clustree", "generalization", "jsonl", "serial", "k-anonymity", "plain")
FLAT = PLAIN._replace(shape="flat", search="mondrian")
SLICED = FLAT._replace(recoding="slicing")
SMALL = {"$.sex": SEX, "$.disease": {"role": "sensitive"}}


def job(name: str, source: str, stated: str, executor: str = "serial", **more: Any) -> dict[str, Any]:
    """A job for the runner. ``stated`` is a policy as JSON, or the name of a file."""
    usual = {"executor": executor, "workers": None, "master": None, "via": "python"}
    return {"name": name, "source": source, "policy": stated, **usual, **more}


def changed(one: Combination, **keys: Any) -> str:
    """The policy of a combination with other keys at its top; None removes one."""
    stated = {**json.loads(policy(one)), **keys}
    return json.dumps({key: value for key, value in stated.items() if value is not None}, indent=1)


def small(fields: dict[str, Rule], **more: Any) -> str:
    """A policy of its own."""
    return json.dumps({"version": 1, "models": [K], "fields": fields, **more}, indent=1)


def name_of(one: Combination) -> str:
    """The name of the job of a combination."""
    return "_".join(one).replace(" ", "-")


def of_combination(one: Combination) -> dict[str, Any]:
    """The job of a combination."""
    workers = 2 if one.executor == "processes" else None
    return job(name_of(one), source_of(one.shape, one.format), policy(one), one.executor, workers=workers)


def bundled() -> list[dict[str, Any]]:
    """The first bundled records under the bundled policies."""
    students = {
        "students": "students.jsonl",
        "students-multilevel": "students.jsonl",
        "students-clustree": "students.jsonl",
        "students-xml": "students.xml",
        "students-tables": "tables",
        "patients": "patients.jsonl",
    }
    jobs = [
        job(f"bundled-{name}", f"students/{at}", f"fixtures/policies/{name}.yaml")
        for name, at in students.items()
    ]
    for name in ("relaxed.ejson", "canonical.ejson", "students.bson"):
        jobs.append(job(f"bundled-{name}", f"students/{name}", "fixtures/policies/students-mongodb.yaml"))
    jobs.append(job("annotated-schema", "students/students.jsonl", "schemas/student.schema.json"))
    return jobs


def executors() -> list[dict[str, Any]]:
    """Spark, several workers, the command line, and Python objects."""
    spark = {"executor": "spark", "workers": 2, "master": "local[2]"}
    tree, flat = source_of("tree", "jsonl"), source_of("flat", "csv")
    anatomy = FLAT._replace(recoding="anatomy", format="csv")
    blocks = PLAIN._replace(option="blocks")
    return [
        job("spark-blocks", tree, policy(blocks), **spark),
        job("spark-anatomy", flat, policy(anatomy), **spark),
        job("processes-blocks", tree, policy(blocks), "processes", workers=3),
        job("processes-folder", "inputs/documents", _documents(), "processes", workers=2),
        job("command-tree", tree, policy(PLAIN), via="command"),
        job("command-flat", flat, policy(FLAT._replace(format="csv")), "processes", via="command"),
        job("command-error", tree, policy(FLAT), via="command"),
        job("objects", source_of("tree", "json"), policy(PLAIN), via="objects"),
    ]


def _documents() -> str:
    """A policy for XML with one file for each record."""
    text = changed(PLAIN._replace(format="xml"), records="/person")
    return text.replace('"/people/person/', '"/person/')


def forms() -> list[dict[str, Any]]:
    """What a policy may say of the form of the input."""
    tree = source_of("tree", "jsonl")
    stays: dict[str, Rule] = {
        "$.sex": SEX,
        "$.stays": {"map": True},
        "$.stays[*].ward": {"role": "sensitive"},
    }
    stays["$.stays[*]~"] = {"role": "quasi", "date": {"steps": ["day", "month"]}}
    age = {"role": "quasi", "interval": {"steps": [5, 20]}}
    spouse: dict[str, Rule] = {**SMALL, "$.spouse": {"vertex": True}, "$.spouse.age": age}
    gone: Rule = {**SEX, "optional": True}
    return [
        job("map", "inputs/maps.jsonl", small(stays)),
        job("vertex", "inputs/spouse.jsonl", small(spouse, empty="drop", unlisted="drop")),
        job("envelope", "inputs/envelope.json", changed(PLAIN, records="$.people")),
        job("gzip", "inputs/tree.jsonl.gz", policy(PLAIN)),
        job("documents", "inputs/documents", _documents()),
        job("semicolons", "inputs/semicolons.csv", changed(FLAT, csv={"delimiter": ";", "for_people": True})),
        job("xsd", "students/students.xml", "fixtures/policies/students-xsd.yaml"),
        job("json-schema", "students/students.jsonl", "fixtures/policies/students-schema.yaml"),
        job("unlisted-drop", tree, changed(PLAIN._replace(option="kept"), unlisted="drop")),
        job("optional", tree, changed(PLAIN, fields={**FLAT_FIELDS, **TREE_FIELDS, "$.gone": gone})),
    ]


def searches() -> list[dict[str, Any]]:
    """Sensitive tables, fuzzy sets, several models, and searches in blocks."""
    tree, flat = source_of("tree", "jsonl"), source_of("flat", "jsonl")
    shapes = {1: [0, 0, 2000, 4000], 2: [2000, 4000, 9000, 9000]}
    sets = {"sets": [{"level": level, "shape": shape} for level, shape in shapes.items()]}
    fuzzy = {**FLAT_FIELDS, "$.income": {"role": "sensitive", "levels": sets}}
    several = [K, *MODELS["frequency-l-diversity"], *MODELS["alpha-k"], *MODELS["entropy-l-diversity"]]
    apart, joined = [["$.disease"], ["$.income"]], [["$.income", "$.disease"]]
    return [
        job("tables-number", flat, changed(SLICED, sensitive_tables=1)),
        job("tables-apart", flat, changed(SLICED, sensitive_tables=apart)),
        job("tables-joined", flat, changed(SLICED, sensitive_tables=joined)),
        job("fuzzy-sets", flat, changed(FLAT, models=[{**K, "kind": "level-alpha-k"}], fields=fuzzy)),
        job("several-models", flat, changed(FLAT, models=several)),
        job("effort", tree, changed(PLAIN, engine=None, effort=1)),
        job("whole", tree, changed(PLAIN, engine=None, blocks="whole")),
        job("default-in-blocks", tree, changed(PLAIN, engine=None, blocks=15)),
    ]


def errors() -> list[dict[str, Any]]:
    """One job for each kind of error that a policy and a collection can end in."""
    flat = source_of("flat", "jsonl")
    gate = {"metric": "lm_cost", "figure": "per_value", "operator": "<=", "value": "1/1000"}
    return [
        job("error-policy", flat, changed(FLAT, modles=[])),
        job("error-engine", source_of("tree", "jsonl"), policy(FLAT)),
        job("error-promise", flat, changed(FLAT, models=[{**K, "k": 1000}])),
        job("error-gate", flat, changed(FLAT, gates=[gate])),
        job("error-unlisted", "inputs/unlisted.jsonl", small(SMALL)),
        job("error-broken", "inputs/broken.jsonl", small(SMALL)),
        job("error-missing", "inputs/nothing.jsonl", small(SMALL)),
    ]


def jobs() -> list[dict[str, Any]]:
    """All jobs that are no combination."""
    return [*bundled(), *executors(), *forms(), *searches(), *errors()]
