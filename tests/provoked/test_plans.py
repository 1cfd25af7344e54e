"""What is refused when a policy meets the records: what cannot be searched, weighed or measured there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import hierdata
from hierdata.ground.errors import InputError, PolicyError
from tests.provoked import SECRET, Act, provoke

Rule = dict[str, Any]

K: Rule = {"kind": "k-anonymity", "k": 2}
L: Rule = {"kind": "frequency-l-diversity", "l": 2}
NEAR: Rule = {"kind": "l-e-diversity", "l": 2, "e": 1}
FLAT: Rule = {"role": "quasi", "flat": True}
SENSITIVE: Rule = {"role": "sensitive"}
CODED: Rule = {"role": "sensitive", "taxonomy": {"tree": {"*": {"u": ["x"], "w": ["y"]}}}}
BORN: Rule = {"$.birthDate": {"role": "quasi", "date": {"steps": ["year"]}}}
ROWS = [{"a": number % 2, "b": number, "s": f"{SECRET}{number % 3}"} for number in range(6)]
LETTERS = [{"a": 1, "b": 1, "s": letter} for letter in "xyxy"]
TREES = [{"a": 1, "v": [{"b": 1, "s": "x"}, {"b": 2, "s": "y"}]} for _ in range(4)]
INNER = {"$.a": FLAT, "$.v[*].b": FLAT, "$.v[*].s": SENSITIVE}
OUTER = {"$.a": FLAT, "$.b": FLAT, "$.s": SENSITIVE}


def publish(source: object, fields: Rule = OUTER, **keys: Any) -> Act:
    """Return the act of publishing records by a policy with these fields and keys."""
    policy = {"version": 1, "models": [K], "fields": fields, **keys}
    return lambda: hierdata.anonymize(source, policy, seed=bytes(16))  # type: ignore[arg-type]


def search(source: object, fields: Rule, *steps: Rule, **keys: Any) -> Act:
    """Return the act of publishing records by a search with these steps."""
    return publish(source, fields, engine={"steps": [*steps]}, **keys)


def test_steps_that_cannot_search_these_records() -> None:
    tables: Rule = {"recoding": "slicing_by_table", "accept": {"group-ids": "drawn"}}
    rows: Rule = {"recoding": "anatomy", "models": [L]}
    coded = {**OUTER, "$.s": CODED}
    preset: Rule = {"engine": {"preset": "MSB-KACA"}, "accept": {"group-ids": "drawn"}}
    sizes = {"kind": "k-member", "size": 3, "largest": 2}
    wide = {
        f"$.c{at}": {"role": "quasi", "interval": {"steps": [2**step for step in range(8)]}}
        for at in range(9)
    }
    two = [{"a": 1, "s": 1, "t": 2}] * 4
    apart = {"recoding": "anatomy", "models": [{"kind": "delta-l-diversity", "l": 2, "delta": 1}]}
    both = {"$.a": FLAT, "$.s": SENSITIVE, "$.t": SENSITIVE}
    provoke(
        PolicyError,
        (
            "searches all 387420489 combinations of",
            search([dict.fromkeys((key[2:] for key in wide), 1)] * 4, wide, {"kind": "full-domain"}),
        ),
        ("$.t: spread keeps the numbers of one", search(two, both, {"kind": "spread"}, **apart)),
        ("$: swap continues from the classes of another step", search(ROWS, OUTER, {"kind": "swap"})),
        ("tree engines and row engines", search(ROWS, OUTER, {"kind": "k-member"}, {"kind": "kaca"})),
        (
            "the preset MSB-KACA groups the rows of one table",
            publish(TREES, INNER, **preset),
        ),
        ("slicing_by_table groups the rows of one table", publish(TREES, INNER, **tables, models=[K, L])),
        ("no model judges these values", publish(ROWS, **tables)),
        ("use recoding slicing", publish(LETTERS, coded, **tables, models=[K, NEAR])),
        ("clustree: size 1 is too small", search(TREES, INNER, {"kind": "clustree", "size": 1})),
        ("k-member: size 1 is too small", search(TREES, INNER, {"kind": "k-member", "size": 1})),
        ("k-member: largest 2 is smaller than the 3", search(TREES, INNER, sizes)),
        (
            "full-domain puts all vertices",
            search(TREES, INNER, {"kind": "full-domain", "on": "$.v[*]"}, **rows),
        ),
        ("spread needs a model that limits numbers", search(ROWS, OUTER, {"kind": "spread"}, **rows)),
    )


def test_what_is_stated_does_not_fit_the_records(tmp_path: Path) -> None:
    xml = tmp_path / "all.xml"
    xml.write_text(f"<all><one><a>{SECRET}</a><v><b>1</b></v><v><b>2</b></v></one></all>")
    pq.write_table(pa.table({"x": [1, 1]}), tmp_path / "a.parquet")
    apart = {"/all/one/v/b": FLAT, "/all/one/a": {"derived": "/all/one/v/b"}}
    weightless = {path: {**rule, "weight": 0} for path, rule in OUTER.items()}
    gate = {"metric": "kept", "on": "$.c", "operator": ">=", "value": "0.1"}
    single = tmp_path / "single.xml"
    single.write_text("<all>" + "<one><a>1</a><v><b>1</b></v></one>" * 4 + "</all>")
    one = {"/all/one/a": FLAT, "/all/one/v": {"vertex": True}, "/all/one/v/b": FLAT}
    known = {"kind": "bounded-knowledge", "k": 2, "m": 1, "root": "known", "counts": {"/all/one/v": [1]}}
    columns: Rule = {"tables": {"a": {"columns": ["x"]}}}
    patients: Rule = {"standard": "fhir-r4", "tables": {"Patient": {}}}
    provoke(
        PolicyError,
        ("not at the same vertex", publish(xml, apart)),
        ("counts: this vertex does not repeat, so", publish(single, one, models=[known])),
        ("all weights are 0", publish(ROWS, weightless)),
        ("gate on kept: this is neither a vertex type", publish(ROWS, gates=[gate])),
        ("name a JSON Schema under schema, or nothing", publish(ROWS, schema="rows.xsd")),
        ("a dict of tables needs `tables`", publish({"a": ROWS})),
        ("but the table is parquet", publish(tmp_path, {"$.x": FLAT}, **columns)),
        ("under `standard` the input is a folder, a file or", publish(3, BORN, **patients)),
    )
    commented = tmp_path / "commented.csv"
    commented.write_text(f"# {SECRET}\na,b,s\n1,2,3\n")
    provoke(InputError, ("lines that begin with '#'", publish(commented)))
