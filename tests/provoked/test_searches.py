"""What a search is refused for once it has begun, and what is refused of single records and persons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hierdata
from hierdata.ground.errors import InputError, PolicyError, PromiseError, VerificationError
from tests.provoked import SECRET, Act, provoke
from tests.provoked.test_plans import FLAT, SENSITIVE, K, L, Rule, publish

BINS: Rule = {"role": "quasi", "interval": {"steps": [1, 10, 100]}}
OF_TABLE: Rule = {"recoding": "slicing_by_table", "accept": {"group-ids": "drawn"}}
FIELDS: Rule = {"$.a": BINS, "$.s": SENSITIVE}


def test_suppressed_records_that_are_not_safe_together() -> None:
    """Of 400 records in blocks two thirds have one value; of five in a table three have one job."""
    many = [{"a": number % 40, "s": SECRET if number % 3 else "y"} for number in range(400)]
    few = [{"a": 5 * number, "s": SECRET if number % 2 == 0 else "y"} for number in range(5)]
    entropy: Rule = {"models": [K, {"kind": "entropy-l-diversity", "l": 2}], "fields": FIELDS}
    provoke(
        PromiseError,
        ("$.s: 0.665 of all values are of one value", publish(many, FIELDS, models=[K, L], blocks=100)),
        ("$.s: all records together reach l = 1.96", publish(few, **OF_TABLE, **entropy)),
    )


def test_a_table_that_has_no_group() -> None:
    three: Rule = {"models": [K, {"kind": "distinct-l-diversity", "l": 3}], "fields": FIELDS}
    rows = [{"a": number, "s": "xy"[number % 2]} for number in range(4)]
    provoke(PromiseError, ("no class that was tried satisfies all", publish(rows, **OF_TABLE, **three)))


def test_a_tree_of_a_value_outside_its_domain() -> None:
    fields: Rule = {"$.a": {"role": "quasi", "interval": {"steps": [1, 10], "domain": [0, 100]}}}
    policy: Rule = {"version": 1, "models": [K], "fields": fields}
    record = {"a": int(SECRET)}
    provoke(
        InputError,
        ("$.a: the value lies outside its domain", lambda: hierdata.show_tree(record, policy)),  # type: ignore[arg-type]
    )


def test_persons_that_the_witness_does_not_tell(tmp_path: Path) -> None:
    rows = [{"p": n // 3, "a": n // 10, "v": [{"k": "q", "x": n // 20}]} for n in range(40)]
    fields: Rule = {
        "$.p": {"role": "identifier"},
        "$.a": BINS,
        "$.v[?@.k=='q'].k": {"role": "kind"},
        "$.v[?@.k=='q'].x": FLAT,
    }
    policy: Any = {"version": 1, "models": [K], "individual": {"none": "drawn"}, "fields": fields}
    hierdata.anonymize(rows, policy, seed=bytes(16), out=tmp_path / "out")
    witness = tmp_path / "out" / "steward" / "witness.bin"

    def attack(person: str = "$.p", *, more: int = 0, change: int = 0) -> Act:
        """Attack with ``more`` records in the original, and ``change`` added to a byte of the first link."""

        def act() -> object:
            before = witness.read_bytes()
            head = len(before) - 4 * sum(2 + 1 + 1 for _ in rows)
            witness.write_bytes(before[: head + 7] + bytes([before[head + 7] + change]) + before[head + 8 :])
            try:
                return hierdata.attack(
                    tmp_path / "out", policy, original=rows + rows[:more], facts=1, person=person
                )
            finally:
                witness.write_bytes(before)

        return act

    provoke(
        PolicyError,
        ("must be one value of the record, not of items that a filter", attack("$.v[?@.k=='q'].x")),
    )
    provoke(
        VerificationError,
        ("the witness is of another release or of another original", attack(more=3)),
        ("the witness was changed: it links to records that the original lacks", attack(change=1)),
    )
