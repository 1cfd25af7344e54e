"""What records are refused for: values that an action or a filter cannot take, and tables that clash."""

from __future__ import annotations

from typing import Any

from hierdata.ground.errors import InputError, PolicyError
from hierdata.records.identifiers.base import RefusedValueError
from hierdata.records.identifiers.shift import Shift
from tests.provoked import SECRET, Act, provoke
from tests.provoked.test_plans import FLAT, SENSITIVE, Rule, publish

PERSON: Rule = {"$.id": {"role": "identifier"}, "$.a": FLAT}
TABLES: Rule = {"people": {"key": "id"}, "visits": {"key": "visit", "parent": "people", "on": "id"}}


def shift(*values: object, **keys: Any) -> Act:
    """Return the act of publishing dates that are moved, so many that some are moved forwards."""
    rows = [{"id": number, "d": value, "a": 1} for number, value in enumerate(values * 40)]
    action = {"shift": {"days": 30, "unit": {"day": "clinic"}, **keys}}
    return publish(rows, {**PERSON, "$.d": {**SENSITIVE, "action": action}}, key="per-run")


def join(fields: Rule, **keys: Any) -> Act:
    """Return the act of publishing people with their visits, each in a table."""
    people = [{"id": number, "who": f"{SECRET}", "a": 1} for number in range(4)]
    visits = [{"visit": number, "id": number % 4, "b": 1} for number in range(8)]
    return publish({"people": people, "visits": visits}, fields, tables=TABLES, **keys)


def test_values_that_an_action_cannot_take() -> None:
    coarse: Rule = {"role": "sensitive", "publish": {"interval": "0.5"}}
    entries: Rule = {"$.m": {"map": True}, "$.m[*]~": FLAT, "$.m[*].b": FLAT}
    maps = [{"a": 1, "m": {"x": {"b": 1}}}, {"a": 1, "m": SECRET}] * 2
    by: Rule = {"shift": {"days": 30, "by": "$.id"}}
    nobody = [{"id": 1, "d": "2001-01-01", "a": 1}, {"d": "2001-01-01", "a": 1}]
    provoke(
        InputError,
        (
            "$.d: the moved date cannot be written",
            shift("31.12.9999", "30.12.9999", format=["%d.%m.%Y"]),
        ),
        ("$.d: the moved date cannot be written", shift("31.12.68", "01.01.69", format=["%d.%m.%y"])),
        (
            "record 1, $.s: the value has no published form",
            publish([{"s": f"x{SECRET}", "a": 1}] * 4, {"$.a": FLAT, "$.s": coarse}),
        ),
        ("record 2, $.m: the policy says that this is a map", publish(maps, {"$.a": FLAT, **entries})),
        (
            "record 2, $.id: this value determines the shift",
            publish(nobody, {**PERSON, "$.d": {**SENSITIVE, "action": by}}, key="per-run"),
        ),
    )


def test_a_date_that_its_only_form_cannot_write() -> None:
    moved = Shift(days=30, unit={"day": "clinic"}, format=("%d.%m.%y", "iso"))  # type: ignore[arg-type]
    provoke(RefusedValueError, ("the moved date cannot be written", lambda: moved.in_one_form("2150-01-01")))


def test_filters_that_select_twice_or_nothing() -> None:
    twice = [{"a": 1, "v": [{"t": "x", "u": "y", "b": 1}]}] * 4
    apart = [{"a": 1, "v": [{"t": "x", "b": 1}, {"t": "z", "b": 1}]}] * 4
    one: Rule = {"$.a": FLAT, "$.v[?@.t == 'x'].b": FLAT}
    said = "an item is selected by this filter and by $.v[?@.u == 'y']: make them exclusive"
    provoke(InputError, (said, publish(twice, {**one, "$.v[?@.u == 'y'].b": FLAT})))
    provoke(
        PolicyError,
        ("no filter selects some items of this list", publish(apart, one, unlisted={"keep": "fine"})),
    )


def test_tables_that_clash() -> None:
    people: Rule = {"$.who": {"role": "identifier"}, "$.a": FLAT, "$.visits[*].b": FLAT}
    provoke(
        PolicyError,
        ("there is a table visits already", join(people, individual={"by": "$.who", "nest": "$.visits"})),
        (
            "the table of individuals is called indiv",
            join(people, individual={"by": "$.who", "nest": "$.individuals"}),
        ),
        (
            "shape[0].lift.to: $.vs must be a list of the record",
            join(people, shape=[{"lift": {"from": "$.visits", "to": "$.vs"}}]),
        ),
    )
