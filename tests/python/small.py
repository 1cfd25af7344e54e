"""Four persons in two classes, and a policy that publishes them as they are."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any
from uuid import UUID

SEED = b"a seed of sixteen bytes"


def person(number: int) -> dict[str, Any]:
    group = number // 2
    return {
        "id": number,
        "born": date(2001, 1 + group, 3),
        "seen": datetime(2001, 2, 3, 4, 5, number, tzinfo=UTC),
        "hour": time(4, number),
        "height": 1.5 + group,
        "token": UUID(int=number),
        "scan": b"scan %d" % number,
        "visits": [{"ward": "west", "cost": float(number)}],
    }


PEOPLE = [person(number) for number in range(4)]
SENSITIVE = ("seen", "hour", "token", "scan", "visits[*].cost")
POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}],
    "fields": {
        "$.id": {"role": "identifier"},
        "$.born": {"role": "quasi", "date": {"steps": ["day", "year"]}},
        "$.height": {"role": "quasi", "flat": True},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        **{f"$.{path}": {"role": "sensitive"} for path in SENSITIVE},
    },
}
FLAT: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}],
    "fields": {
        "id": {"role": "identifier"},
        "born": {"role": "quasi", "date": {"steps": ["day", "year"]}},
        "height": {"role": "quasi", "flat": True},
        "seen": {"role": "sensitive"},
    },
}
ROWS = [{key: one[key] for key in ("id", "born", "height", "seen")} for one in PEOPLE]
