"""How runs end in random worlds: collections and policies over all models and recodings, by their number.

A run publishes, or refuses because the promise cannot be met or the policy does not fit the collection. It
never finds its own release false: ``VerificationError`` (exit code 4) is a fault of ours.
"""

from __future__ import annotations

from random import Random
from typing import Any

import hierdata
from hierdata.ground.recodings import TRAITS
from tests.adversarial.random_releases import Case, numbered

SEED = b"sixteen bytes or"
OF_FACTS, BY_TABLE = "bounded-knowledge", "slicing_by_table"
WAYS = (*TRAITS, OF_FACTS)
"""The recodings, and the model that has an engine of its own."""


def describe_end(number: int) -> tuple[str, str]:
    """Return the way of the world of a number, and how its run ends: ``published`` or the refusal's type.

    Raises whatever is no refusal, and AssertionError for a release that does not verify.
    """
    way = WAYS[number % len(WAYS)]
    case, policy = draw_world(number, way)
    try:
        release = hierdata.anonymize(case.records, policy, seed=SEED)
    except (hierdata.PromiseError, hierdata.PolicyError) as refused:
        return way, type(refused).__name__
    assert hierdata.verify(release.folder, policy, original=case.records).passed
    return way, "published"


def draw_world(number: int, way: str) -> tuple[Case, dict[str, Any]]:
    """Return the collection and the policy of a number."""
    if way != OF_FACTS:
        case = numbered(number, (way,))
        if way != BY_TABLE:
            return case, case.policy()
        while any(own.many or own.fields for own in case.fields):
            number += 10**6
            case = numbered(number, (way,))
        return case, case.policy(accept={"group_ids": "drawn at random"})
    case, rng = numbered(number, ("generalization",)), Random(number)
    model: dict[str, Any] = {"kind": OF_FACTS, "k": rng.choice((2, 3)), "m": rng.choice((1, 2))}
    if all(
        rule.get("role") != "quasi" or "[*]" not in path for path, rule in case.policy()["fields"].items()
    ):
        model["root"] = "counted"
    if rng.random() < 0.3:
        model["alpha"] = rng.choice(("1/2", "2/3", "9/10"))
    return case, case.policy(models=[model], engine=None, unlisted="drop")
