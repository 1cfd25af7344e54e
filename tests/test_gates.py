"""Gates: what a policy may ask, what passes, and that a failing gate leaves nothing behind."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import hierdata
from hierdata.cli import main
from hierdata.ground.errors import GateError, PolicyError, VerificationError
from hierdata.metrics import METRICS, RISKS
from hierdata.policy.lint.partial import examine
from hierdata.policy.load import from_data
from hierdata.policy.spec.gates import AttackerModel, Gate
from tests.contracts.test_metrics import BETTER_AND_WORSE

Data = dict[str, Any]

REASONS = ("flu", "cold", "cough", "rash", "acne", "burn")
PEOPLE: list[Data] = [
    {
        "age": 30 + 10 * (at % 2),
        "town": f"town {at % 4 if at else 5}",  # somebody lives alone in theirs
        "reason": REASONS[at % 6],
        "visits": [{"ward": f"w{at % 2}", "cost": at % 3}],
    }
    for at in range(24)
]
ILLS = {"lungs": ["flu", "cold", "cough"], "skin": ["rash", "acne", "burn"]}
RATE: Data = {"metric": "discrimination_rate", "operator": "<=", "value": 1, "on": "$.reason"}
LOSS: Data = {"metric": "lm_cost", "figure": "per_value", "operator": "<=", "value": 1}


def policy(*gates: Data, **changes: Any) -> Data:
    return {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {
            "$.age": {"role": "quasi", "flat": True},
            "$.town": {"role": "quasi", "flat": True},
            "$.reason": {"role": "sensitive"},
            "$.visits[*].ward": {"role": "quasi", "flat": True},
            "$.visits[*].cost": {"role": "sensitive"},
        },
        "gates": [*gates],
    } | changes


def refused(*gates: Data, **changes: Any) -> str:
    with pytest.raises(PolicyError) as caught:
        from_data(policy(*gates, **changes))
    return str(caught.value)


# What a policy may ask


def test_the_policy_knows_the_metrics_as_they_are() -> None:
    for name, stated in METRICS.items():
        publication, _, forest = BETTER_AND_WORSE[name]
        figures = METRICS[name]().of(publication, forest)
        assert {figure.better for figure in figures} == {stated.better}
        of_attributes = tuple(domain.path for own in forest.domains for domain in own)
        named = tuple(figure.name for figure in figures)
        assert named[: len(stated.gated) or None] == (stated.gated or of_attributes)


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        (LOSS | {"metric": "lm_cots"}, "gates[0].metric: 'lm_cots' is not one of 'lm_cost'"),
        (LOSS | {"figure": "per_valu"}, "one of total, per_record, per_value; did you mean per_value?"),
        (LOSS | {"figure": None}, "lm_cost needs a figure, one of total, per_record, per_value"),
        (LOSS | {"operator": "=="}, "gates[0].operator: '==' is not one of '<=', '<', '>=' or '>'"),
        (LOSS | {"operator": ">="}, "for lm_cost, lower is better: use <= or <, not >="),
        (LOSS | {"value": "much"}, "gates[0].value: must be a number"),
        (LOSS | {"on": "$.reason"}, "lm_cost takes no on: it looks at the whole release"),
        (LOSS | {"keys": ["$.age"]}, "lm_cost takes no keys"),
        (LOSS | {"partition": {"depth": 1}}, "lm_cost takes no partition"),
        (LOSS | {"limit": 5}, "gates[0]: unknown key 'limit'"),
        (RATE | {"figure": "$.reason"}, "state `on`, not `figure`"),
        (RATE | {"on": "$.reson"}, "gates[0].on: $.reson is not a sensitive field; did you mean $.reason?"),
        (RATE | {"on": "$.age"}, "$.age is not a sensitive field"),
        (RATE | {"keys": ["$.reason"]}, "gates[0].keys: $.reason is not a published quasi-identifier"),
        (RATE | {"keys": ["$.aged"]}, "$.aged is not a published quasi-identifier; did you mean $.age?"),
        (RATE | {"keys": ["$.["]}, "gates[0].keys: "),
        (RATE | {"keys": []}, "gates[0].keys: "),
        (
            RATE | {"keys": ["$.visits[*].ward"]},
            "$.visits[*].ward belongs neither to the vertex of $.reason nor to one above it",
        ),
        (RATE | {"on": None, "partition": {"blocks": ILLS}}, "name it under `on`"),
        (RATE | {"partition": {"depth": 1}}, "gates[0]: a partition by depth needs a taxonomy on $.reason"),
        (RATE | {"partition": {"levels": True}}, "gates[0]: a partition by levels needs levels on $.reason"),
        (RATE | {"attacker": "nobody"}, "gates[0].attacker: there is no attacker nobody"),
        (
            {"metric": "dissimilarity_degree", "figure": "as_printed", "operator": "<", "value": 1},
            "for dissimilarity_degree, higher is better: use >= or >, not <",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(gate: Data, reason: str) -> None:
    assert reason in refused(gate)


def test_attackers_are_named_or_described() -> None:
    attackers = {"neighbour": {"keys": ["$.age"]}}
    assert from_data(policy(RATE | {"attacker": "neighbour"}, attackers=attackers)).gates[0].attacker
    both = refused(RATE | {"attacker": "neighbour", "keys": ["$.town"]}, attackers=attackers)
    assert "name an attacker or describe one by keys, partition and weight, not both" in both
    near = refused(RATE | {"attacker": "neigbour"}, attackers=attackers)
    assert "there is no attacker neigbour; did you mean neighbour?" in near
    unknown = refused(attackers={"neighbour": {"keys": ["$.reason"]}})
    assert "attackers.neighbour.keys: $.reason is not a published quasi-identifier" in unknown
    assert Gate(**RATE).attacker_in({}) == AttackerModel(on="$.reason")


@pytest.mark.parametrize(
    ("attacker", "reason"),
    [
        ({"on": "$.reson"}, "attackers.one.on: $.reson is not a sensitive field; did you mean $.reason?"),
        (
            {"keys": "everything"},
            "attackers.one.keys: 'everything' is not one of 'own', 'ancestors' or 'record'",
        ),
        ({"weight": "visit"}, "attackers.one.weight: 'visit' is not one of 'vertex' or 'person'"),
        (
            {"partition": {"blocks": ILLS}},
            "attackers.one: a partition covers the values of one attribute: name",
        ),
        (
            {"on": "$.reason", "keys": ["$.visits[*].ward"]},
            "one.keys: $.visits[*].ward belongs neither to the vertex of $.reason nor to one above it",
        ),
        ({"on": "$.reason", "partition": {"depth": 1}}, "a partition by depth needs a taxonomy on $.reason"),
        ({"on": "$.reason", "partition": {"levels": True}}, "a partition by levels needs levels on $.reason"),
    ],
)
def test_attackers_that_make_no_sense(attacker: Data, reason: str) -> None:
    assert reason in refused(attackers={"one": attacker})
    assert "gates" not in refused(RATE | {"attacker": "one"}, attackers={"one": attacker})


def test_a_dropped_field_has_no_gate() -> None:
    fields = policy()["fields"] | {"$.reason": {"role": "sensitive", "action": "drop"}}
    assert "$.reason is not a sensitive field" in refused(RATE, fields=fields)
    fields = policy()["fields"] | {"$.age": {"role": "quasi", "action": "drop"}}
    assert "$.age is not a published quasi-identifier" in refused(RATE | {"keys": ["$.age"]}, fields=fields)


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({"gates": [LOSS | {"metric": "lm_cots"}]}, ["gates[0].metric"]),
        ({"gates": [RATE | {"on": "$.reson"}]}, ["gates[0].on"]),
        ({"attackers": {"all": {"keys": []}}, "gates": [RATE | {"attacker": "all"}]}, ["attackers.all.keys"]),
        (
            {
                "fields": policy()["fields"] | {"$.age": {"role": "quasy", "flat": True}},
                "gates": [RATE | {"keys": ["$.age"]}],
            },
            ["fields[$.age].role"],
        ),
    ],
)
def test_lint_goes_on_after_a_mistaken_gate(tmp_path: Path, changes: Data, places: list[str]) -> None:
    (tmp_path / "policy.json").write_text(json.dumps(policy() | changes), "utf-8")
    found = examine(tmp_path / "policy.json")
    assert [one.where for one in found.mistakes] == places
    assert found.policy is not None
    assert found.policy.gates == ()


def test_without_sensitive_fields_nothing_can_be_told() -> None:
    fields = {"$.age": {"role": "quasi", "flat": True}}
    gate = {key: RATE[key] for key in ("metric", "operator", "value")}
    assert "measures sensitive fields, and there are none" in refused(gate, fields=fields)


@pytest.mark.parametrize("operator", ["<=", "<"])
def test_limits_are_compared_exactly(operator: str) -> None:
    gate = Gate(metric="lm_cost", figure="total", operator=operator, value="1/3")
    assert gate.holds(Fraction(1, 3)) == (operator == "<=")
    assert gate.holds(Fraction(10**20 - 1, 3 * 10**20))
    assert not gate.holds(Fraction(10**20 + 1, 3 * 10**20))
    for near in (1 / 3, math.nextafter(1 / 3, 0), math.nextafter(1 / 3, 1)):
        assert not gate.holds(near)
    assert gate.holds(1 / 3 - 1e-11)


# What passes


def verdicts(*gates: Data, **changes: Any) -> list[Data]:
    report = hierdata.anonymize(PEOPLE, policy(*gates, **changes), seed=bytes(16)).report
    return [gate.model_dump(mode="json") for gate in report.gates]


def by_hand(keys: tuple[str, ...], blocks: dict[str, str] | None = None) -> float:
    """The rate over the published records, in the shape of the paper's formula."""
    records = list(hierdata.anonymize(PEOPLE, policy(), seed=bytes(16)).records())
    values: list[str] = [str(record["reason"]) for record in records]
    if blocks is not None:
        values = [blocks[value] for value in values]
    shown = [tuple(record[key] for key in keys) for record in records]

    def entropy(own: list[str]) -> float:
        return -sum(n / len(own) * math.log(n / len(own)) for n in Counter(own).values())

    left = sum(
        len(own) / len(values) * entropy(own)
        for key in set(shown)
        for own in [[value for value, at in zip(values, shown, strict=True) if at == key]]
    )
    return 1 - left / entropy(values)


def test_the_rate_is_that_of_the_published_records() -> None:
    block_of = {value: name for name, values in ILLS.items() for value in values}
    all_keys, one, semantic = verdicts(
        RATE, RATE | {"keys": ["$.age"]}, RATE | {"keys": ["$.town"], "partition": {"blocks": ILLS}}
    )
    assert math.isclose(all_keys["value"], by_hand(("age", "town")), abs_tol=1e-12)
    assert math.isclose(one["value"], by_hand(("age",)), abs_tol=1e-12)
    assert math.isclose(semantic["value"], by_hand(("town",), block_of), abs_tol=1e-12)
    assert all_keys["value"] >= one["value"]
    assert (one["keys"], one["semantic"], semantic["semantic"]) == (["$.age"], False, True)


def test_a_named_attacker_is_the_described_one() -> None:
    described = RATE | {"keys": ["$.age"], "partition": {"blocks": ILLS}}
    first, second = verdicts(
        described,
        RATE | {"attacker": "neighbour", "name": "what a neighbour learns", "reason": "asked by the board"},
        attackers={"neighbour": {key: described[key] for key in ("on", "keys", "partition")}},
    )
    assert second == first | {
        "attacker": "neighbour",
        "name": "what a neighbour learns",
        "reason": "asked by the board",
    }


ATTACKERS: Data = {
    "stranger": {},
    "colleague": {"on": "$.reason", "keys": ["$.age"], "partition": {"blocks": ILLS}},
    "nurse": {"keys": ["$.visits[*].ward"]},
    "insurer": {"keys": "record", "weight": "person"},
}


PASSES: Data = {"lower": {"operator": "<=", "value": 100}, "higher": {"operator": ">=", "value": -1}}


def test_every_attacker_is_in_every_report_whether_a_gate_names_them_or_not(tmp_path: Path) -> None:
    release = hierdata.anonymize(PEOPLE, policy(attackers=ATTACKERS), seed=bytes(16))
    release.save(tmp_path / "release")
    kept, public = (
        json.loads((tmp_path / "release" / file).read_text("utf-8"))
        for file in ("steward/report.json", "public/release.json")
    )
    learned = kept["attackers"]
    assert "attackers" not in public, "what an attacker learns is measured against the original"
    assert list(learned) == list(ATTACKERS)
    assert learned["stranger"] == {name: kept["metrics"][name] for name in RISKS}
    rates = {name: own["discrimination_rate"] for name, own in learned.items()}
    assert math.isclose(
        rates["colleague"]["$.reason"],
        by_hand(("age",), {value: name for name, values in ILLS.items() for value in values}),
        abs_tol=1e-12,
    )
    assert rates["nurse"]["unit"].keys() == {"$.visits[*].cost"}
    for path in ("$.reason", "$.visits[*].cost"):
        assert rates["insurer"][path] >= rates["stranger"][path]
    page = (tmp_path / "release" / "steward" / "report.html").read_text("utf-8")
    assert "What the attackers of the policy learn" in page

    from hierdata.release.report.text import list_figures

    for name in ATTACKERS:
        assert name in page
        assert name in "\n".join(list_figures(release.report))


def test_a_gate_on_an_attacker_has_the_figure_of_the_report() -> None:
    asked = [(risk, name) for risk in RISKS for name in ATTACKERS]
    gates = [{"metric": risk, "attacker": name} | PASSES[METRICS[risk].better] for risk, name in asked]
    report = hierdata.anonymize(PEOPLE, policy(*gates, attackers=ATTACKERS), seed=bytes(16)).report
    for (risk, name), verdict in zip(asked, report.gates, strict=True):
        figures = report.attackers[name][risk].figures
        worst = max if METRICS[risk].better == "lower" else min
        assert verdict.value == worst(figures.values())
        assert figures[str(verdict.figure)] == verdict.value
    assert [verdict.keys for verdict in report.gates[: len(ATTACKERS)]] == [
        "ancestors",
        ("$.age",),
        ("$.visits[*].ward",),
        "record",
    ]
    weights = [verdict.weight for verdict in report.gates[: len(ATTACKERS)]]
    assert weights == ["vertex", "vertex", "vertex", "person"]


def test_a_gate_on_a_risk_points_in_its_better_direction() -> None:
    resistance = RATE | {"metric": "background_resistance"}
    assert "for background_resistance, higher is better: use >= or >" in refused(resistance)
    figure = verdicts(resistance | {"operator": ">=", "value": 0})[0]["value"]
    with pytest.raises(GateError, match=r"background_resistance \$\.reason is"):
        verdicts(resistance | {"operator": ">", "value": figure + 0.01})
    identity = {**RATE, "metric": "identity_risk", "on": "$.visits[*].cost", "keys": ["$.town"], "value": 0}
    assert verdicts(identity | {"value": 1})[0]["keys"] == ["$.town"]


def test_a_partition_of_an_attacker_that_misses_a_value_is_told_before_the_search() -> None:
    short = {"on": "$.reason", "partition": {"blocks": {"lungs": ILLS["lungs"]}}}
    with pytest.raises(PolicyError, match="each of the 6 values in one block: 3 in none, 0 repeated"):
        hierdata.anonymize(PEOPLE, policy(attackers={"one": short}), seed=bytes(16))


COSTS = "$.visits[*].cost"
RULES = [
    ({"equal_width": 2}, {"low": [0], "high": [1, 2]}, {"number": True}),
    ({"equal_frequency": 2}, {"low": [0], "high": [1, 2]}, {}),
    ({"levels": True}, {"1": [0, 1], "2": [2]}, {"levels": {"by": {"0": 1, "1": 1, "2": 2}}}),
    (
        {"depth": 1},
        {"few": [0, 1], "many": [2]},
        {"taxonomy": {"tree": {"*": {"few": ["0", "1"], "many": ["2"]}}}},
    ),
]


@pytest.mark.parametrize(("rule", "blocks", "more"), RULES, ids=lambda one: next(iter(one), ""))
def test_partitions_by_rule_are_the_blocks_that_they_come_to(rule: Data, blocks: Data, more: Data) -> None:
    fields = policy()["fields"] | {COSTS: {"role": "sensitive", **more}}
    attackers = {
        "by rule": {"on": COSTS, "partition": rule},
        "written out": {"on": COSTS, "partition": {"blocks": blocks}},
    }
    gates = [RATE | {"on": COSTS, "attacker": "by rule"}, RATE | {"on": COSTS, "partition": rule}]
    stated = policy(*gates, attackers=attackers, fields=fields)
    report = hierdata.anonymize(PEOPLE, stated, seed=bytes(16)).report
    by_rule, written_out = report.attackers.values()
    assert by_rule == written_out
    rate = by_rule["discrimination_rate"].figures[COSTS]
    assert 0 < rate < 1
    assert [(gate.value, gate.semantic) for gate in report.gates] == [(rate, True)] * 2


@pytest.mark.parametrize("rule", [{"equal_width": 2}, {"equal_frequency": 2}])
def test_bins_of_what_is_no_number_are_refused_before_the_search(rule: Data) -> None:
    partition = {"on": "$.reason", "partition": rule}
    for stated in (policy(RATE | partition), policy(attackers={"one": partition})):
        with pytest.raises(PolicyError, match=r"^\$\.reason: bins need numbers") as caught:
            hierdata.anonymize(PEOPLE, stated, seed=bytes(16))
        assert not any(value in str(caught.value) for value in REASONS)


def test_blocks_that_no_value_is_in_change_nothing() -> None:
    """A policy may state more values than a collection has."""
    few = {"none": ["gout"], "nor": ["mumps"], "nobody": ["measles"], "no one": ["scurvy"], **ILLS}
    stated = [RATE | {"partition": {"blocks": blocks}} for blocks in (ILLS, few)]
    first, second = verdicts(*stated)
    assert first == second
    assert first["value"] > 0


def test_without_on_the_worst_attribute_decides() -> None:
    gate = {key: RATE[key] for key in ("metric", "operator", "value")}
    paths = ("$.reason", "$.visits[*].cost")
    worst, *each = verdicts(gate, *(RATE | {"on": path} for path in paths))
    assert worst["value"] == max(one["value"] for one in each)
    assert worst["figure"] in paths


def test_verdicts_stand_in_every_report(tmp_path: Path) -> None:
    release = hierdata.anonymize(PEOPLE, policy(LOSS | {"name": "enough detail"}), seed=bytes(16))
    release.save(tmp_path / "release")
    stated = json.loads((tmp_path / "release" / "steward" / "report.json").read_text("utf-8"))
    (gate,) = stated["gates"]
    assert (gate["name"], gate["metric"], gate["figure"]) == ("enough detail", "lm_cost", "per_value")
    assert gate["limit"] == {"exact": "1", "value": 1.0}
    assert gate["exact"] == stated["metrics"]["lm_cost"]["exact"]["per_value"]
    assert gate["passed"]
    assert "enough detail" in (tmp_path / "release" / "steward" / "report.html").read_text("utf-8")
    public = json.loads((tmp_path / "release" / "public" / "release.json").read_text("utf-8"))
    assert public["gates"] == [{key: gate[key] for key in gate.keys() - {"value", "exact"}}]

    from hierdata.release.report.text import list_figures

    assert "passed (<= 1)" in "\n".join(list_figures(release.report))


# What does not pass


STRICT = LOSS | {"name": "enough detail", "operator": "<", "value": 0.001}


def test_a_failing_gate_publishes_nothing(tmp_path: Path) -> None:
    with pytest.raises(GateError) as caught:
        hierdata.anonymize(PEOPLE, policy(RATE, STRICT), staging=tmp_path)
    message = str(caught.value)
    assert message.startswith(
        '1 of 2 gates failed and nothing was published: "enough detail": lm_cost per_value'
    )
    assert message.endswith("must be < 0.001")
    assert list(tmp_path.iterdir()) == []


def test_the_command_ends_with_seven(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "people.json").write_text(json.dumps(PEOPLE), "utf-8")
    (tmp_path / "policy.json").write_text(json.dumps(policy(STRICT)), "utf-8")
    before = sorted(tmp_path.iterdir())
    given = ["anonymize", str(tmp_path / "people.json"), "--policy", str(tmp_path / "policy.json")]
    assert main([*given, "--out", str(tmp_path / "release"), "--json"]) == 7
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], error["exit_code"]) == ("GateError", 7)
    assert sorted(tmp_path.iterdir()) == before


def test_a_metric_that_does_not_apply_does_not_pass() -> None:
    """No sensitive attribute has levels, so there is no dissimilarity to be large."""
    gate = {"metric": "dissimilarity_degree", "figure": "as_printed", "operator": ">=", "value": 0}
    with pytest.raises(GateError, match="dissimilarity_degree must be >= 0 and has no figure"):
        hierdata.anonymize(PEOPLE, policy(gate))


def test_one_attribute_beyond_the_limit_is_enough() -> None:
    gate = {"metric": "discrimination_rate", "operator": "<", "value": "1/1000"}
    with pytest.raises(GateError, match="discrimination_rate"):
        hierdata.anonymize(PEOPLE, policy(gate))


def test_a_partition_must_have_every_value_before_anything_is_searched() -> None:
    short = {"lungs": ILLS["lungs"]}
    with pytest.raises(PolicyError, match="3 in none") as caught:
        hierdata.anonymize(PEOPLE, policy(RATE | {"partition": {"blocks": short}}))
    assert not any(value in str(caught.value) for value in REASONS)


def test_keys_that_only_the_collection_shows_to_be_elsewhere() -> None:
    """That there are several tags, and each is a vertex, no path of XML says."""
    people = "".join(f"<p><tag>1</tag><tag>2</tag><reason>{reason}</reason></p>" for reason in "abab")
    tree = etree.fromstring(f"<people>{people}</people>")
    fields = {"/people/p/tag": {"role": "quasi", "flat": True}, "/people/p/reason": {"role": "sensitive"}}
    gate = RATE | {"on": "/people/p/reason", "keys": ["/people/p/tag"]}
    with pytest.raises(PolicyError, match="own vertex or of one above it"):
        hierdata.anonymize(etree.ElementTree(tree), policy(gate, fields=fields))


# What verify says of it


@pytest.fixture
def released(tmp_path: Path) -> Path:
    hierdata.anonymize(PEOPLE, policy(RATE, LOSS), seed=bytes(16)).save(tmp_path / "release")
    return tmp_path / "release"


def test_verify_confirms_the_gates_of_the_policy(released: Path) -> None:
    assert hierdata.verify(released, policy(RATE, LOSS)).passed
    for other in (policy(RATE), policy(LOSS, RATE), policy(RATE, LOSS | {"value": 2})):
        with pytest.raises(VerificationError, match="claims differ"):
            hierdata.verify(released, other)


@pytest.mark.parametrize(
    "forged",
    [
        {"passed": False},
        {"value": 2.0},
        {"exact": "3/2"},
        {"value": 2.0, "exact": "2"},
        {"value": None},
        {"limit": {"exact": "2", "value": 2.0}},
        {"figure": "total"},
        {"reason": "none"},
    ],
)
def test_verify_refuses_verdicts_that_cannot_be(released: Path, forged: Data) -> None:
    file = released / "public" / "release.json"
    content = json.loads(file.read_text("utf-8"))
    content["gates"][1] |= forged
    file.write_text(json.dumps(content), "utf-8")
    with pytest.raises(VerificationError, match=r"claims differ|or it was changed"):
        hierdata.verify(released, policy(RATE, LOSS))
