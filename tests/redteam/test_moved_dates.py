"""Moved dates: what weekdays, times of day, holidays and seasons tell about the move and the person."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import hierdata

SEED, KEY = b"a seed of sixteen bytes", bytes(range(40, 80))
MONDAY = date(2018, 1, 1)
HOLIDAYS = [(1, 1), (4, 2), (5, 1), (5, 10), (5, 21), (10, 3), (12, 24), (12, 25), (12, 26), (12, 31)]
Open = Callable[[date], bool]


def on_weekdays(day: date) -> bool:
    return day.weekday() < 5


def on_working_days(day: date) -> bool:
    return on_weekdays(day) and (day.month, day.day) not in HOLIDAYS


def in_spring(day: date) -> bool:
    return on_weekdays(day) and day.month in (4, 5, 6)


def patients(count: int, visits: int, opens: Open) -> list[dict[str, Any]]:
    """Patients who came when the clinic was open, within one year each; years differ."""
    draw = random.Random("visits")
    found = []
    for number in range(count):
        days = [MONDAY + timedelta(days=365 * draw.randrange(3) + at) for at in range(365)]
        came = sorted(draw.sample([day for day in days if opens(day)], visits))
        seen = [{"day": day.isoformat()} for day in came]
        found.append({"id": f"P{number}", "mark": number, "sex": "fm"[number % 2], "visits": seen})
    return found


def publish(people: list[dict[str, Any]], shift: dict[str, Any]) -> dict[int, list[date]]:
    """The moved dates of each patient; the mark only tells this test whose they are."""
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {
            "$.id": {"role": "identifier"},
            "$.mark": {"role": "sensitive"},
            "$.sex": {"role": "quasi", "flat": True},
            "$.visits[*].day": {"role": "sensitive", "action": {"shift": {"by": "$.id", **shift}}},
        },
    }
    records: Any = hierdata.anonymize(people, policy, seed=SEED, key=KEY).records()
    return {
        record["mark"]: [date.fromisoformat(visit["day"]) for visit in record["visits"]] for record in records
    }


def possible_moves(days: Iterable[date], moves: Iterable[int], opens: Open) -> list[int]:
    """The attack: the moves after which every visit was on a day on which the clinic was open."""
    return [move for move in moves if all(opens(day - timedelta(days=move)) for day in days)]


def test_weekdays_rule_out_no_move() -> None:
    """Twelve weekday visits gave the shift modulo 7 in nearly all of sixty patients."""
    people = patients(60, 12, on_weekdays)
    found = publish(people, {"days": 30})
    assert len(found) == 60
    every = range(-28, 29, 7)
    for number, days in found.items():
        assert possible_moves(days, every, on_weekdays) == list(every)
        first = date.fromisoformat(people[number]["visits"][0]["day"])
        assert (min(days) - first).days in every


def test_the_same_attack_succeeds_where_the_policy_moves_by_days() -> None:
    people = patients(60, 12, on_weekdays)
    found = publish(people, {"days": 30, "unit": {"day": "an accepted risk"}})
    known = 0
    for number, days in found.items():
        left = {move % 7 for move in possible_moves(days, range(-30, 31), on_weekdays)}
        first = date.fromisoformat(people[number]["visits"][0]["day"])
        true = (min(days) - first).days
        assert true % 7 in left
        known += len(left) == 1
    assert known == 54


@pytest.mark.parametrize(
    ("opens", "days", "moves", "left", "certain"),
    [(on_working_days, 28, 9, 6.4, 0), (on_working_days, 364, 105, 72.0, 0), (in_spring, 182, 53, 2.1, 20)],
    ids=["holidays", "holidays over a year", "a season"],
)
def test_what_holidays_and_seasons_still_tell(
    opens: Open, days: int, moves: int, left: float, certain: int
) -> None:
    """The figures of the threat model: how many of the possible moves remain, and for whom only one does."""
    people = patients(60, 12, opens)
    every = range(-days, days + 1, 7)
    assert len(every) == moves
    found = publish(people, {"days": days})
    counts = [len(possible_moves(own, every, opens)) for own in found.values()]
    assert min(counts) > 0
    assert round(sum(counts) / len(counts), 1) == left
    assert counts.count(1) == certain


# Times of day

VISITORS = 615


def arrivals() -> list[dict[str, Any]]:
    draw = random.Random("arrivals")
    start = datetime(2018, 1, 1)
    return [
        {
            "mark": number,
            "sex": "fm"[number % 2],
            "came": f"{start + timedelta(minutes=draw.randrange(365 * 1440)):%Y-%m-%dT%H:%M}:00Z",
        }
        for number in range(VISITORS)
    ]


def policy(shift: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 5}],
        "fields": {
            "$.mark": {"role": "sensitive"},
            "$.sex": {"role": "quasi", "flat": True},
            "$.came": {"role": "sensitive", "action": {"shift": {"days": 30, **shift}}},
        },
    }


def linked_by_time(people: list[dict[str, Any]], shift: dict[str, Any]) -> int:
    """Count the people whom somebody finds who knows the minute of arrival, and nothing of the day."""
    records: Any = list(hierdata.anonymize(people, policy(shift), seed=SEED, key=KEY).records())
    times: dict[str, list[int]] = {}
    for record in records:
        times.setdefault(record["came"][10:], []).append(record["mark"])
    return sum(times.get(one["came"][10:]) == [one["mark"]] for one in people)


def test_the_time_of_day_links_nobody() -> None:
    people = arrivals()
    assert linked_by_time(people, {}) == 0
    assert linked_by_time(people, {"time": {"keep": "an accepted risk"}}) > VISITORS // 2


@pytest.mark.parametrize("recoding", ["generalization", "anatomy", "slicing", "representatives"])
def test_a_time_that_was_put_back_is_found(recoding: str, tmp_path: Path) -> None:
    """The judge finds it in every form of release, and under the attribute's path."""
    stated = {**policy({}), "recoding": recoding}
    release = hierdata.anonymize(arrivals(), stated, seed=SEED, key=KEY).save(tmp_path / "release")
    assert hierdata.verify(release, stated).passed
    (file,) = (
        path
        for path in (release / "public").rglob("*.json*")
        if '"came"' in path.read_text() and path.stem not in ("codebook", "release")
    )
    content = file.read_text()
    day = next(text for text in content.split('"') if text[:4] in ("2017", "2018", "2019"))
    file.write_text(content.replace(f'"{day}"', f'"{day}T13:37:00Z"', 1))
    claims = json.loads((release / "public" / "release.json").read_text())
    (release / "public" / "release.json").unlink()
    assert claims["passed"]
    verdict = hierdata.verify(release, stated)
    assert not verdict.passed
    assert verdict.forbidden["$.came"] == 1


def test_the_release_says_what_its_dates_tell() -> None:
    def limits(shift: dict[str, Any]) -> str:
        release = hierdata.anonymize(arrivals()[:60], policy(shift), seed=SEED, key=KEY)
        return " ".join(json.loads((release.folder / "public" / "release.json").read_text())["limitations"])

    told = limits({})
    assert "one number of weeks for each record, 28 days at most" in told
    assert "The weekday of a moved date is the true one" in told
    assert "time of day" not in told
    reasons = {"unit": {"day": "nobody comes"}, "time": {"keep": "a robot"}}
    told = limits(reasons)
    assert "one number of days for each record, 30 days at most" in told
    assert 'tell the move modulo 7. Reason given: "nobody comes"' in told
    assert "The time of day at $.came is published as it is written" in told
    assert 'Reason given: "a robot"' in told


def test_marks_of_days_are_equally_frequent_under_either_unit() -> None:
    """Every possible move occurs about as often as any other, so none is a better guess."""
    people = patients(450, 1, on_weekdays)
    first = {one["mark"]: date.fromisoformat(one["visits"][0]["day"]) for one in people}
    moves = Counter((min(days) - first[mark]).days for mark, days in publish(people, {"days": 28}).items())
    assert sorted(moves) == list(range(-28, 29, 7))
    assert max(moves.values()) < 90  # 50 are expected, four standard deviations are 27
