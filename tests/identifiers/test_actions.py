"""What every action keeps, and what each promises by itself."""

from __future__ import annotations

import hashlib
import pickle
import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Scalar
from hierdata.documents.scalars import DateTime, ObjectId, Timestamp
from hierdata.ground.errors import PolicyError
from hierdata.ground.secrets import Key, from_text, random_key
from hierdata.policy.spec.fields import FieldRule
from hierdata.records.identifiers import ACTIONS, Action, Pseudonym, Redact, Shift
from hierdata.records.identifiers.base import RefusedValueError, Replace, text_of

KEY = Key(bytes(range(32)))
NEEDED: dict[str, Any] = {"shift": {"days": 30}}
SAMPLES: dict[str, list[Scalar]] = {"shift": ["2001-03-04", "1999-12-31T23:59:59Z", "2000-02-29 10:00+0200"]}
PLAIN: list[Scalar] = ["S1", "", "é\u0000", 5, True, "\ud800"]

each_kind = pytest.mark.parametrize("kind", ACTIONS)


def action_of(kind: str) -> Action:
    return ACTIONS[kind].model_validate(NEEDED.get(kind, {}))


def replace_of(action: Action, key: Key = KEY, path: str = "$.x") -> Replace:
    replace = action.replace(path, key)
    assert replace is not None
    return replace


@each_kind
def test_an_action_says_what_it_is_for_and_stays_what_it_is(kind: str) -> None:
    action = action_of(kind)
    assert action.kind == kind
    assert action.roles
    for role in action.roles:
        action.published_as(role)
    assert ACTIONS[kind].model_validate(action.model_dump()) == action
    assert pickle.loads(pickle.dumps(action)) == action


@each_kind
def test_equal_values_stay_equal_and_keep_to_the_pattern(kind: str) -> None:
    action = action_of(kind)
    replace = action.replace("$.x", KEY)
    if replace is None:
        assert not action.keyed
        return
    pattern = action.pattern(action.roles[-1])
    for value in SAMPLES.get(kind, PLAIN):
        once = replace(value, 7)
        assert once == replace(value, 7)
        assert pattern is None or re.fullmatch(pattern, str(once))


@each_kind
def test_a_rule_takes_an_action_by_its_name_or_with_what_it_needs(kind: str) -> None:
    spec = {kind: NEEDED[kind]} if kind in NEEDED else kind
    for role in action_of(kind).roles:
        domain = {"date": {"steps": ["day"]}} if role == "quasi" and kind != "drop" else {}
        rule = FieldRule.model_validate({"role": role, "action": spec, **domain})
        assert rule.stated_action == action_of(kind)
        assert FieldRule.model_validate(rule.model_dump(mode="json", exclude_defaults=True)) == rule


# Pseudonyms


def test_a_pseudonym_is_the_hmac_that_the_documentation_says() -> None:
    """Worked out by the definition of HMAC, so that other tools can find people again."""

    def hmac(key: bytes, text: bytes) -> bytes:
        inner, outer = (bytes(b ^ pad for b in key.ljust(64, b"\0")) for pad in (0x36, 0x5C))
        return hashlib.sha256(outer + hashlib.sha256(inner + text).digest()).digest()

    own = hmac(bytes(range(32)), b"hierdata/pseudonym\0students")
    assert replace_of(Pseudonym(domain="students"))("S1", 0) == hmac(own, b"S1").hex()[:32]


@given(st.text(max_size=20), st.text(max_size=20), st.integers(16, 64))
def test_pseudonyms_are_equal_where_values_and_domains_are(one: str, other: str, length: int) -> None:
    here = replace_of(Pseudonym(domain="a", length=length))
    there = replace_of(Pseudonym(domain="b", length=length))
    assert (here(one, 0) == here(other, 3)) == (one == other)
    assert here(one, 0) != there(one, 0)
    assert len(str(here(one, 0))) == length


def test_a_pseudonym_without_a_domain_has_one_of_its_own() -> None:
    action = Pseudonym()
    assert replace_of(action, path="$.a")("S1", 0) != replace_of(action, path="$.b")("S1", 0)


def test_another_key_gives_other_pseudonyms() -> None:
    action = Pseudonym(domain="a")
    assert replace_of(action)("S1", 0) != replace_of(action, random_key())("S1", 0)


def test_no_unkeyed_hash_tells_the_value() -> None:
    """Whoever tries values with any hash there is, and all that the release tells, finds nothing."""
    token = str(replace_of(Pseudonym(domain="students"))("S1", 0))
    public = [b"S1", b"students\0S1", b"hierdata/pseudonym\0studentsS1", b"studentsS1", b"S1students"]
    for name in hashlib.algorithms_guaranteed:
        for text in public:
            digest = hashlib.new(name, text)
            size = {"length": 32} if name.startswith("shake") else {}
            assert token[:16] not in digest.hexdigest(**size)


def test_numbers_and_texts_are_one_value_as_in_formats_without_types() -> None:
    replace = replace_of(Pseudonym(domain="a"))
    assert replace(5, 0) == replace("5", 0) != replace("05", 0)
    assert text_of(False) == "false"


# Shifts

DAYS = st.dates(date(1900, 1, 1), date(2100, 1, 1))


BY_DAY = {"day": "nobody knows when our people come"}
AS_WRITTEN = {"keep": "all times are those of a robot"}


@given(st.lists(DAYS, min_size=2, max_size=4), st.text(max_size=9), st.integers(7, 400), st.booleans())
def test_intervals_are_kept_and_no_date_goes_further_than_stated(
    dates: list[date], identity: str, days: int, weeks: bool
) -> None:
    action = Shift(days=days) if weeks else Shift(days=days, unit=BY_DAY)
    offset = action.offsets(KEY)(identity)
    replace = replace_of(action)
    moved = [date.fromisoformat(str(replace(day.isoformat(), offset))) for day in dates]
    assert {(new - old).days for new, old in zip(moved, dates, strict=True)} == {offset}
    assert abs(offset) <= days
    assert not weeks or offset % 7 == 0


@pytest.mark.parametrize("weeks", [True, False])
def test_every_offset_is_as_likely_as_any_other(weeks: bool) -> None:
    action = Shift(days=27) if weeks else Shift(days=3, unit=BY_DAY)
    offset = action.offsets(KEY)
    drawn = [offset(str(number)) for number in range(7000)]
    counts = [drawn.count(days) for days in (range(-21, 22, 7) if weeks else range(-3, 4))]
    assert action.date_shift().moves == 7
    assert sum(counts) == 7000
    assert max(counts) - min(counts) < 200  # four standard deviations of the difference


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ({"days": 6}, "whole weeks"),
        ({"days": 30, "unit": "day"}, "unit"),
        ({"days": 30, "unit": {"day": ""}}, "unit"),
        ({"days": 30, "time": "keep"}, "time"),
        ({"days": 30, "time": {"keep": ""}}, "time"),
    ],
)
def test_what_tells_more_is_chosen_with_a_reason(spec: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Shift.model_validate(spec)


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("2000-02-28", "2000-03-01"),
        ("2000-02-28T23:59", "2000-03-01T23:59"),
        ("2000-02-28 23:59:59.123456789Z", "2000-03-01 23:59:59.123456789Z"),
        ("2000-02-28T00:00:00+05:30", "2000-03-01T00:00:00+05:30"),
        ("2000-02-28Z", "2000-03-01Z"),
        ("20000228", "20000301"),
        ("200002282359+0100", "200003012359+0100"),
        ("9999-12-31", "+010000-01-02"),
        ("-000001-12-31", "0000-01-02"),
    ],
)
def test_times_and_zones_stay_only_where_the_policy_says_why(text: str, moved: str) -> None:
    assert replace_of(Shift(days=9, time=AS_WRITTEN))(text, 2) == moved
    dropped = replace_of(Shift(days=9))(text, 2)
    assert dropped == (
        f"{moved[:4]}-{moved[4:6]}-{moved[6:8]}" if "-" not in text else re.split("[T Z]", moved)[0]
    )
    pattern = Shift(days=9).pattern("sensitive")
    assert pattern is not None
    assert re.fullmatch(pattern, str(dropped))
    assert Shift(days=9, time=AS_WRITTEN).pattern("sensitive") is None
    assert bool(re.fullmatch(pattern, moved)) == (moved == dropped)


@pytest.mark.parametrize(
    "value", ["2000", "2000-02", "200002", "28.2.2000", "2000-02-30", "20000230", "", 2000, True, "x"]
)
def test_what_is_no_day_is_refused_without_quoting_it(value: Scalar) -> None:
    with pytest.raises(RefusedValueError) as refused:
        replace_of(Shift(days=9))(value, 2)
    assert refused.value.__context__ is None
    assert value == "" or str(value) not in str(refused.value)


def test_values_that_know_their_type_keep_it() -> None:
    replace, bare = replace_of(Shift(days=9, time=AS_WRITTEN)), replace_of(Shift(days=9))
    values = [DateTime("2000-02-28T01:02:03.004Z"), Timestamp("2000-02-28T00:00:00Z,7"), ObjectId("0" * 24)]
    moved = [replace(value, 2) for value in values[:2]]
    assert list(map(repr, moved)) == [
        "DateTime('2000-03-01T01:02:03.004Z')",
        "Timestamp('2000-03-01T00:00:00Z,7')",
    ]
    assert [repr(bare(value, 2)) for value in values[:2]] == [
        "DateTime('2000-03-01T00:00:00Z')",
        "Timestamp('2000-03-01T00:00:00Z,0')",
    ]
    token = replace_of(Pseudonym(domain="a"))(values[2], 0)
    assert type(token) is str
    assert token == replace_of(Pseudonym(domain="a"))("0" * 24, 0)


def test_partial_dates_may_be_dropped() -> None:
    replace = replace_of(Shift(days=9, partial="drop"))
    assert [replace(text, 2) for text in ("2000", "2000-02")] == [None, None]


# Constants


@pytest.mark.parametrize("text", ["", "*", " x", "x\n", "{x}"])
def test_a_constant_reads_as_nothing_else(text: str) -> None:
    with pytest.raises(ValueError, match=r"constant|character"):
        Redact(text=text)


@given(st.text(max_size=8))
def test_what_matches_a_constant_is_one(value: str) -> None:
    pattern = Redact(text="[gone]").pattern("free_text")
    assert pattern is not None
    known = {"[gone]", "*", '{"[gone]"}', '{"[gone]", null}', "{[gone]}", "{[gone], null}"}
    assert bool(re.fullmatch(pattern, value)) == (value in known)


# Keys


def test_a_key_shows_itself_nowhere() -> None:
    secret = bytes(range(100, 140))
    key = Key(secret)
    for shown in (repr(key), str(key), f"{key}", repr(vars(type(key)))):
        assert secret.hex() not in shown
        assert repr(secret)[2:-1] not in shown
    assert secret not in pickle.dumps(key)
    assert pickle.loads(pickle.dumps(key)).derive_key("a", "b") == key.derive_key("a", "b")


def test_a_process_that_was_not_told_a_secret_says_so() -> None:
    pickled = pickle.dumps(Key(bytes(range(50))))
    assert b"Secret" in pickled or b"_Named" in pickled
    with pytest.raises(PolicyError, match="not known to this process"):
        pickle.loads(pickled).derive_key("a", "b")  # the key itself is gone


def test_purposes_and_names_have_keys_of_their_own() -> None:
    found = {KEY.derive_key(purpose, name) for purpose in ("a", "b") for name in ("", "x", "y")}
    assert len(found) == 6


@pytest.mark.parametrize("key", [b"", b"x" * 31, "x" * 64])
def test_a_key_that_is_none_is_refused(key: Any) -> None:
    with pytest.raises(PolicyError):
        Key(key)


@pytest.mark.parametrize("text", ["", "ab" * 31, "zz" * 32, "abc" * 21, "ab" * 2000, "5" * 63])
def test_text_that_is_no_key_is_refused_without_quoting_it(text: str) -> None:
    with pytest.raises(PolicyError, match="HERE") as refused:
        from_text(text, "HERE")
    assert not text or text not in str(refused.value)
