"""A policy is called dominated only by one that promises as much."""

from __future__ import annotations

from typing import Any

import hierdata
from hierdata.comparison import rows
from hierdata.policy.load import from_data

K3, K5 = ({"kind": "k-anonymity", "k": k} for k in (3, 5))
L2, L3 = ({"kind": "frequency-l-diversity", "l": own} for own in (2, "3"))
T2, T4 = ({"kind": "t-closeness", "t": own} for own in ("0.2", 0.4))
FIELDS = {"$.a": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}}


def policy(*models: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "models": list(models), "fields": FIELDS, **more}


def promises_as_much(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return rows.promises_as_much(from_data(ours), from_data(theirs))


def test_a_promise_is_as_much_if_each_model_is_as_strong() -> None:
    assert promises_as_much(policy(K5), policy(K3))
    assert not promises_as_much(policy(K3), policy(K5))
    assert promises_as_much(policy(K5, L3), policy(K3, L2))
    assert not promises_as_much(policy(K5), policy(K3, L2)), "a model is missing"
    assert not promises_as_much(policy(K5, L2), policy(K3, L3))
    assert promises_as_much(policy(K3, T2), policy(K3, T4)), "less is stronger"
    assert not promises_as_much(policy(K3, T4), policy(K3, T2))
    assert not promises_as_much(policy(K3, {**L2, "on": ["$.s"]}), policy(K3, L2)), "fewer fields"
    assert not promises_as_much(policy(K3, {**L3, "by": "similarity", "e": 1}), policy(K3, L2)), (
        "of another kind"
    )


def test_what_else_a_promise_depends_on() -> None:
    plain = policy(K3, L2)
    assert promises_as_much(plain, policy(K3, L2, suppressed="as_published"))
    assert not promises_as_much(policy(K3, L2, suppressed="as_published"), plain)
    assert promises_as_much(plain, policy(K3, L2, recoding="sets_and_ranges", blocks=100))
    assert not promises_as_much(policy(K3, L2, recoding="anatomy"), plain)
    exempt = {**FIELDS, "$.a": {"role": "insensitive", "exempt": "known to nobody"}}
    assert not promises_as_much({**plain, "fields": exempt}, plain)
    coarser = {**FIELDS, "$.a": {"role": "quasi", "interval": {"steps": [5]}, "weight": 3}}
    assert promises_as_much({**plain, "fields": coarser}, plain)


def test_what_keeps_more_and_promises_less_does_not_dominate() -> None:
    people = [{"a": at % 3, "s": "xyz"[at // 3 % 3]} for at in range(36)]
    found = hierdata.compare(people, policy(K3, L2), grid={"k": [3, 20]}, workers=1)
    weak = [one.number for one in found if one.policy["models"][0]["k"] == 3]
    assert all(not {*one.dominated_by} & {*weak} for one in found if one.number not in weak)
