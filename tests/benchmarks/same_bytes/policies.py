"""The policy of each combination."""

from __future__ import annotations

import json
from typing import Any

from tests.benchmarks.same_bytes.factors import (
    DEFAULT,
    MODELS,
    POPULATION,
    PRESETS,
    ROW_ENGINES,
    TREE_ENGINES,
    Combination,
    Rule,
)
from tests.benchmarks.same_bytes.inputs import DISEASES, DRUGS, TABULAR, TOWNS

FLAT_FIELDS: dict[str, Rule] = {
    "$.id": {"role": "identifier"},
    "$.born": {"role": "quasi", "date": {"steps": ["month", "year", "decade"]}},
    "$.zip": {"role": "quasi", "prefix": {"keep": [4, 3]}},
    "$.sex": {"role": "quasi", "flat": True},
    "$.age": {"role": "quasi", "interval": {"steps": [1, 5, 20]}},
    "$.town": {"role": "quasi", "taxonomy": {"tree": TOWNS}, "missing": ["?"]},
    "$.note": {"role": "free_text"},
    "$.batch": {"role": "identifier"},
    "$.disease": {
        "role": "sensitive",
        "taxonomy": {"tree": DISEASES},
        "levels": {"by": "frequency", "sensitive": "rare"},
    },
    "$.income": {
        "role": "sensitive",
        "number": True,
        "levels": {"domain": [1000, 7000], "sensitive": "high"},
    },
}
TREE_FIELDS: dict[str, Rule] = {
    "$.visits[*].ward": {"role": "quasi", "flat": True},
    "$.visits[*].reason": {
        "role": "sensitive",
        "taxonomy": {"tree": DISEASES},
        "levels": {"by": {"flu": 1, "asthma": 2, "rash": 1, "acne": 1, "migraine": 3, "stroke": 5}},
    },
    "$.visits[*].drugs[*].name": {"role": "quasi", "taxonomy": {"tree": DRUGS}},
}
TABLES = {
    "people": {"key": "pid"},
    "visits": {"parent": "people", "on": "pid", "key": "vid"},
    "drugs": {"parent": "visits", "on": "vid"},
}
ACTIONS: dict[str, tuple[str, Any]] = {
    "pseudonym": ("$.id", {"pseudonym": {"domain": "people", "length": 24}}),
    "shift": ("$.born", {"shift": {"days": 90, "by": "$.id"}}),
    "redact": ("$.note", {"redact": "(removed)"}),
}
ATTACKERS = {
    "colleague": {"on": "$.disease", "keys": ["$.age", "$.sex"]},
    "insurer": {"on": "$.income", "keys": "record", "weight": "person"},
}
GATES = [
    {"metric": "lm_cost", "figure": "per_value", "operator": "<=", "value": 1},
    {"name": "colleagues", "metric": "discrimination_rate", "on": "$.disease", "attacker": "colleague",
     "operator": "<=", "value": 1, "reason": "an example"},
]  # fmt: skip
OPTIONS: dict[str, Rule] = {
    "gates": {"attackers": ATTACKERS, "gates": GATES},
    "kept": {"unlisted": {"keep": "fields of the survey itself"}},
    "blocks": {"blocks": 15},
}


def policy(one: Combination) -> str:
    """The policy of a combination, as JSON."""
    fields = {path: dict(rule) for path, rule in FLAT_FIELDS.items()}
    if one.shape == "tree":
        fields.update(TREE_FIELDS)
    if one.format in ("extended-json", "bson"):
        fields["$._id"] = {"role": "identifier"}
    stated = {"version": 1, "dataset": "people", "fields": fields, **_search(one), **_option(one, fields)}
    if one.shape == "tree" and one.format in TABULAR:
        stated["tables"] = TABLES
    text = json.dumps(stated, indent=1)
    return _with_xpath(text, fields) if one.format == "xml" else text


def _search(one: Combination) -> Rule:
    """The engine, the recoding, the models and what they need."""
    texts = ["$.disease", "$.visits[*].reason"] if one.shape == "tree" else ["$.disease"]
    on = {"@text": texts, "@number": ["$.income"]}
    models = [{**own, "on": on[own["on"]]} if "on" in own else own for own in MODELS[one.model]]
    if any("on" in own for own in models) and all(own["kind"] != "k-anonymity" for own in models):
        models.append({"kind": "k-anonymity", "k": 2})  # anatomy asks for a model on every sensitive field
    stated: Rule = {"models": models} if models else {}
    if one.search in PRESETS:
        if one.recoding == "slicing_by_table":
            stated["accept"] = {"group-ids": "an example"}
        return {**stated, "engine": {"preset": one.search}}
    if one.model in POPULATION:
        columns = {"$.sex": "sex", "$.age": "age"}
        stated["population"] = {"file": "../inputs/population.csv", "columns": columns}
    if one.search != DEFAULT:
        stated["engine"] = {"steps": {**TREE_ENGINES, **ROW_ENGINES}[one.search]}
    return {**stated, "recoding": one.recoding}


def _option(one: Combination, fields: dict[str, Rule]) -> Rule:
    """What the option adds to the policy; fields are changed in place."""
    if one.option in ACTIONS:
        path, action = ACTIONS[one.option]
        fields[path]["action"] = action
    elif one.option == "kept":
        del fields["$.zip"], fields["$.batch"]
    elif one.option == "exempt":
        fields["$.batch"] = {"role": "insensitive", "exempt": "a number that was never given out"}
    return OPTIONS.get(one.option, {})


def _with_xpath(text: str, fields: dict[str, Rule]) -> str:
    """The policy with its paths in XPath: the id is an attribute, every other field an element."""
    for path in fields:
        steps = path.removeprefix("$.").replace("[*]", "").replace(".", "/")
        text = text.replace(f'"{path}"', f'"/people/person/{"@id" if steps == "id" else steps}"')
    return text
