"""The releases whose digests are in ``digests.json``: small collections, a policy and a seed each.

Students and patients are the first bundled ones. People are synthetic (``tests.benchmarks.same_bytes``): as
rows, as trees, as trees with references between their vertices, and as keyed tables. All have more than 200
vertices, so that kernels run as they do on collections of users.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.benchmarks.same_bytes import inputs
from tests.benchmarks.same_bytes.factors import (
    DEFAULT,
    MODELS,
    POPULATION,
    PRESETS,
    ROW_ENGINES,
    TREE_ENGINES,
    Combination,
)
from tests.benchmarks.same_bytes.policies import policy as policy_of_combination
from tests.end_to_end.small import write_csv

Rule = dict[str, Any]

BUNDLED = 100
"""So many students and patients are taken."""
ROWS, TREES = 240, 90
"""So many people are made, as rows and as trees."""
POLICIES = Path(__file__).parents[2] / "fixtures" / "policies"


class Case(NamedTuple):
    """A release. ``source`` is a file or folder of ``write_collections``."""

    source: str
    policy: Rule
    seed: int = 1
    executor: str = "serial"


Named = tuple[str, Case]


class Group(NamedTuple):
    """The cases of one collection; their names begin alike."""

    name: str
    source: str

    def case(
        self, name: str, policy: Rule, seed: int = 1, executor: str = "serial", extra: str = ""
    ) -> Named:
        """A case with its name: collection, engine, recoding, models, seed, executor, and what is special."""
        words = "/".join([self.name, name, f"seed-{seed}", executor, *([extra] if extra else [])])
        return words.replace(" ", "-"), Case(self.source, policy, seed, executor)


# The collections


def write_collections(folder: Path) -> None:
    """Write all collections below an empty folder, with the taxonomies that policies name."""
    inputs.copy_bundled(folder, BUNDLED)
    (folder / "people").mkdir()
    write_csv(folder / "people" / "rows.csv", _filled(inputs.flat(inputs.people(ROWS))))
    inputs.WRITERS["json"][1](folder / "people" / "rows.json", inputs.flat(inputs.people(ROWS)))
    inputs.WRITERS["parquet"][1](folder / "people" / "rows.parquet", inputs.flat(inputs.people(ROWS)))
    trees = inputs.people(TREES)
    inputs.WRITERS["jsonl"][1](folder / "people" / "trees.jsonl", trees)
    inputs.WRITERS["jsonl"][1](folder / "people" / "references.jsonl", [*map(_with_doctors, trees)])
    (folder / "people" / "tables").mkdir()
    for name, rows in inputs.tables(trees).items():
        write_csv(folder / "people" / "tables" / f"{name}.csv", _filled(rows))
    twice = [{"sex": one["sex"], "age": one["age"]} for one in inputs.people(ROWS)] * 2
    write_csv(folder / "fixtures" / "population.csv", twice)


def _filled(rows: list[Rule]) -> list[Rule]:
    """Rows that all have all columns."""
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in columns} for row in rows]


def _with_doctors(person: Rule) -> Rule:
    """A person with two doctors, to whom visits refer; some visits refer to nobody."""
    doctors = [{"id": f"{person['id']}-{at}", "field": "gs"[at]} for at in range(2)]
    visits = [
        {**visit, "doctor": f"{person['id']}-{(at + person['age']) % 3}"}
        for at, visit in enumerate(person["visits"])
    ]
    return {**person, "doctors": doctors, "visits": visits}


# Policies


@cache
def _text_of(policy: str) -> str:
    text = (POLICIES / f"{policy}.yaml").read_text("utf-8")
    return text.replace(" on: ", ' "on": ')  # PyYAML reads a key that is spelled on as true


def bundled(policy: str, steps: list[Rule] | None, models: list[Rule] | None = None, **more: Any) -> Rule:
    """A bundled policy with other steps, models and keys at its top; ``fields`` are added to its own."""
    stated = yaml.load(_text_of(policy), yaml.CSafeLoader)  # of 60 policies at each start of the tests
    stated.pop("engine", None)
    stated["fields"] |= more.pop("fields", {})
    own = {} if steps is None else {"engine": {"steps": steps}}
    return {**stated, **own, **({} if models is None else {"models": models}), **more}


def of_people(
    shape: str, search: str, recoding: str, model: str, option: str = "plain", form: str = "csv", **more: Any
) -> Rule:
    """The policy of a combination of the comparison of two builds, with other keys at its top."""
    combination = Combination(shape, search, recoding, form, "serial", model, option)
    stated: Rule = json.loads(policy_of_combination(combination))
    if model == "l-e-diversity":
        stated["suppressed"] = "as_published"  # not even all people together have this
    if model in POPULATION:
        stated["population"]["file"] = "../population.csv"
    return {**stated, **more}


K: Rule = {"kind": "k-anonymity", "k": 3}
SEEDS = [(1, "serial"), (2, "serial"), (1, "processes")]
DISTINCT = [K, {"kind": "distinct-l-diversity", "l": 2}]
FREQUENCY = [K, {"kind": "frequency-l-diversity", "l": 2}]
SEARCHES: dict[str, list[Rule] | None] = {DEFAULT: None, **TREE_ENGINES}
"""The engines that align trees, and what a policy without an engine gets."""
OPTIMAL: list[Rule] = [{"kind": "clustree", "pairing": "optimal", "window": 10}]
NO_GROWTH: list[Rule] = [{"kind": "clustree", "grow": False}]


def students() -> Iterator[Named]:
    """Trees of four types: the engines that align with the recodings that take trees."""
    group = Group("students", "students/students.jsonl")
    for name, steps in SEARCHES.items():
        stated = bundled("students-multilevel", steps, DISTINCT)
        for seed in (1, 2):
            yield group.case(f"{name}/generalization/k-anonymity+distinct-l", stated, seed)
        yield group.case(f"{name}/generalization/level-alpha-k", bundled("students-multilevel", steps))
        stated = bundled("students-multilevel", steps, FREQUENCY, blocks=25)
        for seed, executor in SEEDS if name == "k-member" else SEEDS[:2]:
            words = f"{name}/generalization/k-anonymity+frequency-l"
            yield group.case(words, stated, seed, executor, "4-blocks")
    for name, steps in (("clustree-optimal", OPTIMAL), ("clustree-no-growth", NO_GROWTH)):
        stated = bundled("students-multilevel", steps, FREQUENCY)
        yield group.case(f"{name}/generalization/k-anonymity+frequency-l", stated)
    for name, recoding in (
        ("clustree", "full_domain"), ("clustree", "representatives"), ("clustree", "sets_and_ranges"),
        ("clustree", "slicing"), ("k-member", "full_domain"), ("k-member", "representatives"),
        ("k-member", "slicing"), ("local-search", "sets_and_ranges"), (DEFAULT, "representatives"),
    ):  # fmt: skip
        stated = bundled("students-multilevel", SEARCHES[name], FREQUENCY, recoding=recoding)
        yield group.case(f"{name}/{recoding}/k-anonymity+frequency-l", stated)
    for name in ("mbf", "mondrian", "sweep"):
        stated = bundled("students-multilevel", ROW_ENGINES[name], FREQUENCY, recoding="anatomy")
        yield group.case(f"{name}/anatomy/k-anonymity+frequency-l", stated)
    for preset in ("MLevCluTree", "ClusTree"):
        stated = bundled("students-multilevel", None, engine={"preset": preset})
        del stated["models"]
        yield group.case(f"{preset}/generalization/of the preset", stated)


SHIFTED = {
    "$.id": {"role": "identifier", "action": {"pseudonym": {"domain": "patients", "identity": True}}},
    "$.birth_date": {
        "role": "quasi",
        "date": {"steps": ["day", "month", "year", "decade"]},
        "action": {"shift": {"days": 90, "by": "$.id"}},
    },
}
WEIGHTS = {
    "$.sex": {"role": "quasi", "flat": True, "weight": 5},
    "$.visits[*]": {"vertex": True, "weight": 2},
    "$.visits[*].diagnosis": {"role": "sensitive", "weight": "0.5"},
}
SHAPE = [
    {"distinct": {"path": "$.visits", "fields": ["department", "diagnosis"]}},
    {"take": {"path": "$.visits", "last": 3, "by": "year"}},
    {"take": {"path": "$.visits", "sample": 2}},
]
DIAGNOSIS = "$.visits[*].diagnosis"
KNOWN: list[tuple[str, Rule]] = [
    ("m-1", {"k": 3, "m": 1}),
    ("m-2", {"k": 3, "m": 2}),
    ("no-clause", {"k": 3, "m": 2, "vertex": "off"}),
    ("counted", {"k": 5, "m": 1, "root": "counted"}),
    ("alpha", {"k": 3, "m": 1, "alpha": "0.9"}),
    ("alpha-values", {"k": 3, "m": 1, "alpha": "0.5", "values": {DIAGNOSIS: ["HIV", "hepatitis"]}}),
    ("counts", {"k": 3, "m": 1, "counts": {"$.visits[*]": [2, 4]}}),
]  # fmt: skip


def patients() -> Iterator[Named]:
    """Trees of two types with dates and codes: identifiers, weights, shape, and bounded knowledge."""
    group = Group("patients", "students/patients.jsonl")
    for name, steps in SEARCHES.items():
        stated = bundled("patients", steps, FREQUENCY)
        yield group.case(f"{name}/generalization/k-anonymity+frequency-l", stated)
    stated = bundled("patients", None, [K])
    yield group.case(f"{DEFAULT}/generalization/k-anonymity", stated, executor="processes")
    for name, kind in (
        ("clustree", "t-closeness"), ("k-member", "alpha-k"), ("local-search", "t-closeness"),
        ("clustree", "entropy-l-diversity"), ("k-member", "recursive-cl-diversity"),
        ("clustree", "enhanced-beta-likeness"), ("k-member", "delta-disclosure"),
        ("local-search", "p-sensitive-k-anonymity"),
    ):  # fmt: skip
        models = [{key: value for key, value in one.items() if key != "on"} for one in MODELS[kind]]
        stated = bundled("patients", SEARCHES[name], models if "k" in models[0] else [K, *models])
        yield group.case(f"{name}/generalization/{kind}", stated)
    for extra, fields in (("pseudonyms-and-shifts", SHIFTED), ("weights", WEIGHTS)):
        stated = bundled("patients", None, FREQUENCY, fields=fields)
        yield group.case(f"{DEFAULT}/generalization/k-anonymity+frequency-l", stated, extra=extra)
    stated = bundled("patients", None, FREQUENCY, shape=SHAPE)
    yield group.case(f"{DEFAULT}/generalization/k-anonymity+frequency-l", stated, extra="shape")
    stated = bundled("patients", ROW_ENGINES["msb"], FREQUENCY, recoding="anatomy")
    yield group.case("msb/anatomy/k-anonymity+frequency-l", stated)
    for extra, known in KNOWN:
        stated = bundled("patients", None, [{"kind": "bounded-knowledge", **known}])
        yield group.case("specialize/generalization/bounded-knowledge", stated, extra=extra)
    models = [{"kind": "bounded-knowledge", "k": 2, "m": 1}, K]
    stated = bundled("patients", [{"kind": "specialize"}], models, blocks=25)
    for seed, executor in SEEDS:
        words = "specialize/generalization/bounded-knowledge+k-anonymity"
        yield group.case(words, stated, seed, executor, "4-blocks")
    stated = bundled("patients", None, [{"kind": "bounded-knowledge", "k": 3, "m": 2}])
    yield group.case("specialize/generalization/bounded-knowledge", stated, seed=2, extra="m-2")


MODEL_OF = {
    "compose": "t-closeness",
    "spread": "delta-l-diversity",
    "swap": "t-closeness",
    "swarm": "t-closeness",
}
"""The models of engines that do nothing, or nothing of their own, for another."""


def tables() -> Iterator[Named]:
    """Rows of people: the engines of rows, the models, the recodings, and the presets of tables."""
    group = Group("table", "people/rows.csv")
    for name in ROW_ENGINES:
        model = MODEL_OF.get(name, "frequency-l-diversity")
        stated = of_people("flat", name, "generalization", model)
        for seed in (1, 2) if name in ("mondrian", "swap", "swarm", "mbf", "msb") else (1,):
            yield group.case(f"{name}/generalization/{model}", stated, seed)
    for model in MODELS:
        name = "sweep" if model in POPULATION else "mondrian"
        if not model.startswith("of ") and model != "frequency-l-diversity":
            stated = of_people("flat", name, "generalization", model)
            yield group.case(f"{name}/generalization/{model}", stated)
    for name, recoding in (
        ("mondrian", "full_domain"), ("full-domain", "full_domain"), ("sweep", "sets_and_ranges"),
        ("kaca", "sets_and_ranges"), ("mondrian", "anatomy"), ("mbf", "anatomy"), ("compose", "anatomy"),
        ("swap", "anatomy"), ("msb", "slicing"), ("sweep", "slicing"), ("full-domain", "slicing"),
    ):  # fmt: skip
        stated = of_people("flat", name, recoding, "frequency-l-diversity")
        yield group.case(f"{name}/{recoding}/frequency-l-diversity", stated)
    for preset, recoding in PRESETS.items():
        if recoding != "generalization":
            model = f"of {preset}" if f"of {preset}" in MODELS else "of the preset"
            stated = of_people("flat", preset, recoding, model)
            yield group.case(f"{preset}/{recoding}/{model}", stated)
    for option in ("pseudonym", "shift", "gates", "kept", "exempt"):
        stated = of_people("flat", "sweep", "generalization", "distinct-l-diversity", option)
        yield group.case("sweep/generalization/distinct-l-diversity", stated, extra=option)
    stated = of_people("flat", "mondrian", "generalization", "frequency-l-diversity", blocks=60)
    for seed, executor in SEEDS:
        words = "mondrian/generalization/frequency-l-diversity"
        yield group.case(words, stated, seed, executor, "4-blocks")
    stated = of_people("flat", "sweep", "anatomy", "frequency-l-diversity")
    yield group.case("sweep/anatomy/frequency-l-diversity", stated, executor="processes")
    stated = of_people("flat", DEFAULT, "generalization", "t-closeness", form="parquet")
    yield Group("parquet", "people/rows.parquet").case(f"{DEFAULT}/generalization/t-closeness", stated)
    stated = of_people("flat", "mondrian", "representatives", "frequency-l-diversity", form="json")
    yield Group("json", "people/rows.json").case("mondrian/representatives/frequency-l-diversity", stated)


REFERENCES: Rule = {
    "$.doctors[*].id": {
        "role": "identifier",
        "action": {"pseudonym": {"domain": "doctors", "identity": True}},
    },
    "$.doctors[*].field": {"role": "quasi", "flat": True},
    "$.visits[*].doctor": {"role": "identifier", "action": {"pseudonym": {"domain": "doctors"}}},
}


def formats() -> Iterator[Named]:
    """Trees in other formats, with every type partitioned by itself, and with references between types."""
    xml, mongodb = Group("xml", "students/students.xml"), Group("mongodb", "students/students.bson")
    for group, policy in (
        (xml, "students-xml"),
        (mongodb, "students-mongodb"),
        (Group("mongodb-relaxed", "students/relaxed.ejson"), "students-mongodb"),
        (Group("keyed-tables", "students/tables"), "students-tables"),
    ):
        stated = bundled(policy, SEARCHES["k-member"])
        yield group.case("k-member/generalization/level-alpha-k", stated)
    stated = bundled("students-xml", SEARCHES["clustree"], FREQUENCY, recoding="representatives")
    yield xml.case("clustree/representatives/k-anonymity+frequency-l", stated)
    stated = bundled("students-xml", SEARCHES["k-member"], FREQUENCY, blocks=25)
    words = "k-member/generalization/k-anonymity+frequency-l"
    yield xml.case(words, stated, executor="processes", extra="4-blocks")
    stated = bundled("students-mongodb", ROW_ENGINES["mondrian"], FREQUENCY, recoding="anatomy")
    yield mongodb.case("mondrian/anatomy/k-anonymity+frequency-l", stated)
    stated = of_people("tree", "kaca", "anatomy", "distinct-l-diversity")
    yield Group("keyed-tables", "people/tables").case("kaca/anatomy/distinct-l-diversity", stated)
    references = Group("references", "people/references.jsonl")
    for search, recoding in ((DEFAULT, "generalization"), ("clustree", "sets_and_ranges")):
        stated = of_people("tree", search, recoding, "frequency-l-diversity", form="jsonl")
        stated["fields"] |= REFERENCES
        yield references.case(f"{search}/{recoding}/frequency-l-diversity", stated)
    trees = Group("trees", "people/trees.jsonl")
    for search, recoding, model in (
        ("local-search", "full_domain", "hierarchical t-closeness"),
        ("k-member", "slicing", "l-e-diversity"),
        ("clustree", "sets_and_ranges", "epsilon-m-anonymity"),
        ("k-member", "generalization", "l-diversity of groups"),
        ("local-search", "generalization", "delta-presence"),
        ("clustree", "representatives", "k-map"),
        ("mbf", "anatomy", "l-e-diversity"),
        ("compose", "anatomy", "entropy-l-diversity"),
        ("swarm", "anatomy", "t-closeness"),
    ):
        stated = of_people("tree", search, recoding, model, form="jsonl")
        yield trees.case(f"{search}/{recoding}/{model}", stated)


CASES: dict[str, Case] = dict(chain(students(), patients(), tables(), formats()))
"""All releases by their names."""
