"""What filters cost: records with mixed lists, bound, beside the same records with a key for each type.

``python -m tests.benchmarks.mixed [--records N] [--rounds N]``. Treating and binding are measured, the least
CPU time of some rounds; at most 1.3 times as much is accepted.
"""

from __future__ import annotations

import argparse
import gc
import pickle
import time
from collections.abc import Sequence
from random import Random
from typing import Any

from hierdata.policy.load import from_data
from hierdata.policy.plan.treatment import treatment
from hierdata.records.binding import bind_records, resolve
from hierdata.records.survey import survey
from tests.benchmarks.engine import header, row

COLUMNS = ("records", "items", "separate keys s", "filters s", "ratio")
TYPES = {
    "Condition": ("onset", "status", "severity", "stage"),
    "Encounter": ("class", "start", "end", "place"),
    "Procedure": ("performed", "status", "reason", "site"),
    "Observation": ("value", "unit", "issued", "method"),
}
FLAT = {"role": "quasi", "flat": True}


def people(count: int) -> list[dict[str, Any]]:
    """Records with a Bundle each, of about 60 resources with two codings."""
    random = Random(1)

    def resource() -> dict[str, Any]:
        kind = random.choice([*TYPES])
        codes = [{"system": system, "code": random.randrange(99)} for system in ("sct", "icd")]
        fields = {name: random.randrange(9) for name in TYPES[kind]}
        return {"resource": {"resourceType": kind, **fields, "coding": codes}}

    return [
        {"sex": "fm"[n % 2], "entry": [resource() for _ in range(random.randrange(120))]}
        for n in range(count)
    ]


def apart(record: dict[str, Any]) -> dict[str, Any]:
    """A record with a key for each type of items."""
    found: dict[str, Any] = {"sex": record["sex"]}
    for item in record["entry"]:
        own = dict(item["resource"])
        found.setdefault(own.pop("resourceType"), []).append({"resource": own})
        for code in own.pop("coding"):
            own.setdefault(code["system"], []).append({"code": code["code"]})
    return found


def policy(*, filters: bool) -> Any:
    """The policy of the one or the other."""
    fields = {"$.sex": FLAT}
    for kind, names in TYPES.items():
        base = f"$.entry[?@.resource.resourceType == '{kind}']" if filters else f"$.{kind}[*]"
        fields |= {f"{base}.resource.{name}": FLAT for name in names}
        for system in ("sct", "icd"):
            code = f"coding[?@.system == '{system}']" if filters else f"{system}[*]"
            fields[f"{base}.resource.{code}.code"] = FLAT
    return from_data({"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": fields})


def measure(records: list[dict[str, Any]], stated: Any, rounds: int) -> float:
    """The least CPU seconds in which records are treated and bound."""
    treated = treatment(stated, None)
    copied = pickle.dumps(records)
    shape = survey(treated.documents(pickle.loads(copied))).shape
    binding = resolve(stated.rules(), shape)
    found = []
    for _ in range(rounds):
        own = pickle.loads(copied)
        gc.collect()
        start = time.process_time()
        for _ in bind_records(treated.documents(own), binding):
            pass
        found.append(time.process_time() - start)
    return min(found)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    records = people(options.records)
    separate = measure([apart(one) for one in records], policy(filters=False), options.rounds)
    mixed = measure(records, policy(filters=True), options.rounds)
    items = sum(len(one["entry"]) for one in records)
    header("Filters beside separate keys", *COLUMNS)
    row(len(records), items, f"{separate:.2f}", f"{mixed:.2f}", f"{mixed / separate:.2f}")


if __name__ == "__main__":
    main()
