"""Presets: what each name stands for, what it fills in, and what does not go with it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import hierdata
from hierdata.engines import ENGINES
from hierdata.ground.errors import PolicyError
from hierdata.policy.lint.lint import lint
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.policy.presets import PRESETS
from hierdata.privacy import (
    MODELS,
    DistinctLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    LevelAlphaK,
    TCloseness,
)
from hierdata.release.recodings import RECODINGS

LEVELS = {"domain": [0, 4], "sensitive": "low"}


def policy(preset: str, **changes: Any) -> Policy:
    fields = {"$.a": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive", "levels": LEVELS}}
    accept = {"group-ids": "a test"} if PRESETS[preset].recoding == "slicing_by_table" else {}
    return from_data(
        {"version": 1, "fields": fields, "engine": {"preset": preset}, "accept": accept} | changes
    )


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_makes_a_policy_of_known_parts(name: str) -> None:
    preset = PRESETS[name]
    made = policy(name)
    assert [step.kind for step in made.sensitive_steps] == [step["kind"] for step in preset.sensitive_steps]
    assert [step.model_dump() for step in made.steps] == [
        {**ENGINES[step["kind"]]().model_dump(), **step} for step in preset.steps
    ]
    assert [model.kind for model in made.models] == [model["kind"] for model in preset.models]
    assert {model["kind"] for model in preset.models} <= set(preset.kinds) <= MODELS.keys()
    assert made.recoding == preset.recoding
    assert preset.recoding in RECODINGS


def test_the_papers_algorithms_are_one_engine_under_two_models() -> None:
    ours, baseline = policy("MLevCluTree"), policy("ClusTree")
    assert ours.steps == baseline.steps
    (step,) = ours.steps
    assert step.model_dump() | {"kind": "clustree", "window": 50, "pairing": "greedy"} == step.model_dump()
    assert ours.models == (LevelAlphaK(k=5),)
    assert baseline.models == (FrequencyLDiversity(l=3),)


def test_sloms_is_the_method_whose_algorithm_is_msb_kaca() -> None:
    sloms, msb_kaca = policy("SLOMS"), policy("MSB-KACA")
    assert (sloms.steps, sloms.models) == (msb_kaca.steps, msb_kaca.models)
    assert sloms.recoding == msb_kaca.recoding == "slicing_by_table"
    assert [step.kind for step in sloms.sensitive_steps] == ["msb"]
    assert [step.kind for step in sloms.steps] == ["kaca"]
    assert sloms.models == (KAnonymity(k=5), FrequencyLDiversity(l=3))
    with pytest.raises(PolicyError, match=r"the preset SLOMS cannot be combined with .*; it allows k-"):
        policy("SLOMS", models=[{"kind": "k-map", "k": 4}])


def test_groups_that_tables_share_are_those_of_msb_merged_by_kaca() -> None:
    apart, shared = policy("MSB-KACA"), policy("MSB-KACA with shared groups")
    assert shared.steps == (*apart.sensitive_steps, *apart.steps)
    assert (shared.sensitive_steps, shared.models, shared.recoding) == ((), apart.models, "slicing")


def test_t_closeness_goes_on_in_each_table_where_msb_kaca_ends() -> None:
    below, swap = policy("MSB-KACA"), policy("t-closeness over MSB-KACA with swap")
    swarm = policy("t-closeness over MSB-KACA")
    for above, kind in ((swap, "swap"), (swarm, "swarm")):
        assert above.sensitive_steps[:-1] == below.sensitive_steps
        assert above.sensitive_steps[-1].kind == kind
        assert (above.steps, above.recoding) == (below.steps, "slicing_by_table")
        assert above.models == (*below.models, TCloseness(t="0.3"))
    assert swarm.sensitive_steps[-1] == ENGINES["swarm"](), "with the readings of erratum TC-5"


def test_t_closeness_with_shared_groups_goes_on_where_those_of_msb_kaca_end() -> None:
    below, above = (
        policy("MSB-KACA with shared groups"),
        policy("t-closeness over MSB-KACA with shared groups"),
    )
    assert above.steps[:-1] == below.steps
    assert above.steps[-1].kind == "swap"
    assert (above.recoding, above.sensitive_steps) == ("slicing", ())
    assert above.models == (*below.models, TCloseness(t="0.3"))


def test_the_presets_of_sliced_tables_divide_them_by_correlation_unless_the_policy_does() -> None:
    for name, preset in PRESETS.items():
        sliced = preset.recoding in ("slicing", "slicing_by_table")
        assert policy(name).sensitive_tables == ("correlated" if sliced else None)
        if sliced:
            assert policy(name, sensitive_tables=1).sensitive_tables == 1
            assert policy(name, sensitive_tables=[["$.s"]]).sensitive_tables == (("$.s",),)


def test_a_refusal_of_group_ids_names_the_preset_with_shared_groups() -> None:
    for name, preset in PRESETS.items():
        if (instead := preset.with_shared_groups) is not None:
            with pytest.raises(PolicyError, match=f"or use the preset {instead}$"):
                policy(name, accept={})
            assert PRESETS[instead].recoding == "slicing"
            assert PRESETS[instead].models == preset.models


def test_stated_models_stand_and_absent_ones_are_filled_in() -> None:
    stated = {"kind": "level-alpha-k", "k": 10}
    assert policy("MLevCluTree", models=[stated]).models == (LevelAlphaK(k=10),)
    both = policy("MLevCluTree", models=[{"kind": "k-anonymity", "k": 7}])
    assert both.models == (KAnonymity(k=7), LevelAlphaK(k=5))
    assert policy("MLevCluTree", models=[KAnonymity(k=7)]).models == both.models


@pytest.mark.parametrize("action", [True, 3, ["drop"], {"drop": {}, "mask": {}}])
def test_an_action_that_is_none_is_refused_with_a_preset_too(action: Any) -> None:
    fields = {"$.a": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive", "action": action}}
    with pytest.raises(PolicyError, match=r"^fields\[\$\.s\]"):
        policy("MBF", fields=fields)


def test_a_stated_model_stands_for_the_one_that_a_preset_would_add() -> None:
    """distinct-l 2 on a binary attribute is not refused by a frequency-l 3 that nobody wrote."""
    fields = {
        "$.a": {"role": "quasi", "flat": True},
        "$.s": {"role": "sensitive"},
        "$.t": {"role": "sensitive"},
    }
    distinct = {"kind": "distinct-l-diversity", "l": 2}
    every = policy("SLOMS", fields=fields, models=[distinct])
    assert every.models == (DistinctLDiversity(l=2), KAnonymity(k=5))
    some = policy("SLOMS", fields=fields, models=[{**distinct, "on": ["$.s"]}])
    added = FrequencyLDiversity(l=3, on=["$.t"])
    assert some.models == (DistinctLDiversity(l=2, on=["$.s"]), KAnonymity(k=5), added)
    rows = [{"a": "x", "s": "mf"[at % 2], "t": "mf"[at // 2 % 2]} for at in range(12)]
    assert hierdata.anonymize(rows, every, seed=bytes(16)).report.counts.records.published == 12


def test_names_of_the_papers_say_what_to_call() -> None:
    for name in ("MLevCluTree", "ClusTree", "MBF", "SLOMS"):
        assert name in PRESETS
        with pytest.raises(AttributeError, match=f"hierdata.anonymize with `engine: {{preset: {name}}}`"):
            getattr(hierdata, name)
    for name, function in (("MLevAnonytree", "mlev_anonytree"), ("SeDR", "measure"), ("DR", "measure")):
        with pytest.raises(AttributeError, match=f"call hierdata.{function}") as caught:
            getattr(hierdata, name)
        assert hasattr(hierdata, function), caught
    with pytest.raises(AttributeError, match=r"has no attribute 'Sloms'$"):
        getattr(hierdata, "Sloms")  # noqa: B009


def test_what_a_preset_adds_is_named_by_lint_refusal_and_report() -> None:
    models = "k-anonymity (k = 5), frequency-l-diversity (l = 3)"
    said = f"of the preset SLOMS, unless the policy states others: {models}"
    asked = policy("SLOMS", fields={"$.a": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}})
    assert [one.message for one in lint(asked) if one.path == "engine.preset"] == [f"models {said}"]
    few = [{"a": "x", "s": "mf"[at % 2]} for at in range(12)]
    for rows in (few, few[:4]):
        with pytest.raises(hierdata.PromiseError, match=re.escape(f"models {said}")):
            hierdata.anonymize(rows, asked, seed=bytes(16))
    release = hierdata.anonymize([{"a": "x", "s": at % 3} for at in range(12)], asked, seed=bytes(16))
    assert (
        f"These models are {said}"
        in json.loads((release.folder / "public" / "release.json").read_text("utf-8"))["limitations"]
    )
    stated = [{"kind": "k-anonymity", "k": 3}, {"kind": "distinct-l-diversity", "l": 2}]
    assert not policy("SLOMS", models=stated).models_of_preset


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"models": [{"kind": "entropy-l-diversity", "l": 2}]}, "it allows level-alpha-k, k-anonymity"),
        (
            {"recoding": "representatives"},
            "recoding: the preset MLevCluTree requires recoding generalization",
        ),
        (
            {"engine": {"preset": "MLevCluTree", "steps": [{"kind": "clustree"}]}},
            "state either `preset` or `steps`",
        ),
        ({"engine": {}}, "state either `preset` or `steps`"),
        ({"engine": {"preset": 3}}, "3 is not one of"),
        ({"models": 3}, "must be a list"),
    ],
)
def test_what_does_not_go_with_a_preset_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy("MLevCluTree", **changes)
    assert complaint in str(caught.value)
