"""Nothing that a policy or a file states makes the tool work without end, or end in an internal error."""

from __future__ import annotations

import io
import json
import os
import random
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.cli import main
from hierdata.documents.formats import FORMATS
from hierdata.policy.load import from_data as load_data
from hierdata.policy.load import load
from tests.benchmarks.fuzz_policies import outcome
from tests.random_policies import PolicyMaker
from tests.redteam.costs import cheap

DRAWS = random.Random(1)
RECORDS = [
    {"q": DRAWS.randrange(100), "z": str(DRAWS.randrange(1000, 9999)), "s": DRAWS.choice("ABCDEF")}
    for _ in range(24)
]
K = {"kind": "k-anonymity", "k": 2}
T = {"kind": "t-closeness", "t": 0.4}
FIELDS: dict[str, Any] = {
    "$.q": {"role": "quasi", "interval": {"steps": [1, 10, 100]}},
    "$.z": {"role": "quasi", "prefix": {"keep": [3, 1]}},
    "$.s": {"role": "sensitive"},
}
HUGE = (10**9, 10**18, 10**30)


def policy(**more: Any) -> dict[str, Any]:
    return {"version": 1, "models": [K], "fields": FIELDS, **more}


def steps(*stated: dict[str, Any]) -> dict[str, Any]:
    return policy(models=[K, T], engine={"steps": [{"kind": "mondrian"}, *stated]})


def levels(scale: dict[str, Any]) -> dict[str, Any]:
    return policy(fields=FIELDS | {"$.s": {"role": "sensitive", "levels": scale}})


def field(path: str, rule: dict[str, Any]) -> dict[str, Any]:
    return policy(fields=FIELDS | {path: rule})


def numbers(value: int) -> dict[str, dict[str, Any]]:
    """Policies with this number at each key that says how much is to be done."""
    trees = [
        ("clustree", "window"), ("clustree", "size"), ("k-member", "candidates"), ("k-member", "aligned"),
        ("k-member", "stride"), ("k-member", "size"), ("k-member", "largest"),
    ]  # fmt: skip
    search = [("local-search", "passes"), ("local-search", "near")]
    tables = [("swap", "passes"), ("swap", "window"), ("swarm", "particles"), ("swarm", "rounds")]
    rows = [("sweep", "passes"), ("compose", "passes")]
    by_value = dict.fromkeys("ABCDE", 1)
    return {
        **{f"{kind} {key}": policy(engine={"steps": [{"kind": kind, key: value}]}) for kind, key in trees},
        **{
            f"{kind} {key}": policy(engine={"steps": [{"kind": "clustree"}, {"kind": kind, key: value}]})
            for kind, key in search
        },
        **{f"{kind} {key}": steps({"kind": kind, key: value}) for kind, key in tables},
        **{f"{kind} {key}": policy(engine={"steps": [{"kind": kind, key: value}]}) for kind, key in rows},
        "effort": policy(effort=value),
        "level": levels({"by": {**by_value, "F": value}}),
        "level of a set": levels({"sets": [{"level": value, "shape": [0, 1, 2]}]}),
        "characters": field("$.z", {"role": "quasi", "prefix": {"keep": [value, 1]}}),
    }


@pytest.mark.parametrize("value", HUGE)
def test_a_number_beyond_its_limit_is_refused_in_a_sentence(value: int) -> None:
    for name, stated in numbers(value).items():
        with (
            cheap(),
            pytest.raises(hierdata.PolicyError, match=r"must be less than or equal to \d+") as refused,
        ):
            hierdata.anonymize(RECORDS, stated)
        assert "\n" not in str(refused.value), name


def test_the_largest_numbers_that_are_allowed_do_little_in_a_small_collection() -> None:
    """Those that bound others, not those that ask for more work: these are for a patient person."""
    for key in ("window", "size", "candidates", "aligned", "largest", "near"):
        for name, stated in numbers(10**6).items():
            if name.partition(" ")[2] != key:
                continue
            with cheap(60):
                try:
                    assert hierdata.anonymize(RECORDS, stated).report.passed
                except hierdata.PromiseError:
                    assert key == "size"


MANY = {
    "interval steps": field("$.q", {"role": "quasi", "interval": {"steps": [*range(1, 20_001)]}}),
    "prefixes": field("$.z", {"role": "quasi", "prefix": {"keep": [*range(1000, 0, -1)]}}),
    "periods": field("$.q", {"role": "quasi", "date": {"steps": ["day"] * 1000}}),
    "sets": levels({"sets": [{"level": 1, "shape": [0, 1, 2]}] * 1000}),
    "alphas": policy(models=[{"kind": "level-alpha-k", "k": 2, "alpha": [0.5] * 20_000}]),
    "models": policy(models=[K] * 2000),
    "engines": policy(engine={"steps": [{"kind": "mondrian"}] * 500}),
    "gates": policy(gates=[{"metric": "identity_risk", "operator": "<=", "value": 1, "on": "$.s"}] * 2000),
}


@pytest.mark.parametrize("name", MANY)
def test_a_list_beyond_its_limit_is_refused_in_a_sentence(name: str) -> None:
    with cheap(), pytest.raises(hierdata.PolicyError, match=r"at most \d+ may be given, not \d+"):
        hierdata.anonymize(RECORDS, MANY[name])


@pytest.mark.parametrize(
    "path",
    ["$" + ".a" * 500, "$" + ".a[*]" * 300, "$" + ".a[*]" + "[*]" * 400, ".".join("a" * 500), "/a" * 500],
)
def test_a_path_longer_than_records_are_deep(path: str) -> None:
    stated = policy(fields={path: {"role": "quasi", "flat": True}})
    with cheap(), pytest.raises(hierdata.PolicyError, match="more than 64 steps") as refused:
        hierdata.anonymize(RECORDS, stated)
    assert len(str(refused.value)) < 3000


def test_the_longest_path() -> None:
    deep: Any = "x"
    for _ in range(63):
        deep = {"a": deep}
    path = "$" + ".a" * 63
    records = [{**deep, "s": value} for value in "AABB"]
    fields = {path: {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}}
    assert hierdata.anonymize(records, policy(fields=fields)).report.passed


def test_references_of_a_schema_lead_no_deeper_than_records(tmp_path: Path) -> None:
    def nested(below: dict[str, Any]) -> dict[str, Any]:
        for _ in range(20):
            below = {"properties": {"a": below}}
        return below

    chain = {f"x{n}": nested({"$ref": f"#/$defs/x{n + 1}"}) for n in range(60)}
    root = {"x-hierdata": {"version": 1, "models": [K]}, "properties": {"a": {"$ref": "#/$defs/x0"}}}
    (tmp_path / "p.json").write_text(json.dumps(root | {"$defs": {**chain, "x60": {}}}))
    with cheap(), pytest.raises(hierdata.PolicyError, match="more than 64 steps"):
        load(tmp_path / "p.json")


@pytest.mark.parametrize("number", ["1e101", "-1e101", "1e-101", "1" * 102, 10**5000, "1e900"], ids=range(6))
def test_a_number_with_too_many_digits(number: object) -> None:
    for stated in (
        field("$.q", {"role": "quasi", "interval": {"steps": [1], "domain": [0, number]}}),
        policy(models=[K, {"kind": "alpha-k", "k": 2, "alpha": 0.5, "values": [number]}]),
    ):
        if isinstance(number, str) and stated["models"] != [K]:
            continue  # a text is a value too
        with cheap(), pytest.raises(hierdata.PolicyError) as refused:
            hierdata.anonymize(RECORDS, stated)
        assert len(str(refused.value)) < 1000


def test_a_long_name_of_a_plug_in() -> None:
    for stated in (policy(models=[{"kind": "x" * 10**6}]), policy(recoding="x" * 10**6)):
        with cheap(), pytest.raises(hierdata.PolicyError, match="at most 200 characters") as refused:
            hierdata.anonymize(RECORDS, stated)
        assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    "options",
    [
        ("--workers", 10**9), ("--workers", 10**30), ("--effort", 10**9), ("--batch", 10**30),
        ("--key-fd", 10**30), ("--memory", "9" * 5000), ("--memory", "²GiB"), ("--memory", "GiB"),
    ],
)  # fmt: skip
def test_options_have_limits(options: tuple[str, object], tmp_path: Path) -> None:
    records, stated = tmp_path / "r.json", tmp_path / "p.json"
    records.write_text(json.dumps(RECORDS))
    stated.write_text(json.dumps(policy()))
    command = ["anonymize", str(records), "--policy", str(stated), "--out", str(tmp_path / "out")]
    assert main([*command, *map(str, options)]) == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        (field("$.z", {"role": "identifier", "action": {"redact": None}}), "state exactly one of drop"),
        (policy(models=[{"kind": []}], engine={"preset": "ClusTree"}), r"models\[0\]"),
        (policy(models=[{"kind": {}}], engine={"preset": "MBF"}), r"models\[0\]"),
    ],
)
def test_what_policies_at_random_have_found(stated: dict[str, Any], sentence: str) -> None:
    with pytest.raises(hierdata.PolicyError, match=sentence):
        load_data(stated)


@pytest.mark.full
def test_policies_at_random() -> None:
    """See benchmarks.fuzz_policies, which makes many more."""
    draws = random.Random(7)
    maker = PolicyMaker(draws)
    ended = Counter(outcome(maker.make(), draws, 120) for _ in range(300))
    assert ended["published"] > 10
    assert ended["no policy"] > 100


def xml_of(attributes: str) -> bytes:
    return f"<p><r {attributes}><s>A</s></r><r><s>A</s></r></p>".encode()


MARKUP = {
    "attributes": " ".join(f'a{number}="1"' for number in range(200_000)),
    "namespaces": " ".join(f'xmlns:n{number}="urn:{number}"' for number in range(20_000)),
    "attributes in namespaces": " ".join(f'xmlns:n{n}="urn:{n}" n{n}:a="1"' for n in range(20_000)),
}


COUNTS = {"attributes": 200_000, "namespaces": 0, "attributes in namespaces": 20_000}


@pytest.mark.parametrize("name", MARKUP)
def test_xml_is_read_and_written_in_linear_time(name: str) -> None:
    data, format = xml_of(MARKUP[name]), FORMATS["xml"]()
    with cheap(5):
        layout = format.layout(io.BytesIO(data))
        records = list(format.read(io.BytesIO(data), layout))
        assert len(records[0]) == 1 + COUNTS[name]
        written = io.BytesIO()
        format.write(records, written, layout)
        again = format.read(io.BytesIO(written.getvalue()), layout)
        assert list(again) == records


def test_pipes_and_devices_in_a_release_of_somebody_else(tmp_path: Path) -> None:
    """They are refused before they are opened, since to open or to read one may never end."""
    release = hierdata.anonymize(RECORDS, load_data(policy()))
    release.save(tmp_path / "release")
    for file in ("public/records.json", "public/release.json", "public/more", "steward/verification.json"):
        for link in (None, "/dev/zero"):
            shutil.rmtree(tmp_path / "copy", ignore_errors=True)
            path = shutil.copytree(tmp_path / "release", tmp_path / "copy") / file
            path.unlink(missing_ok=True)
            if link is None:
                os.mkfifo(path)
            else:
                path.symlink_to(link)
            with pytest.raises((hierdata.VerificationError, hierdata.TargetError)) as caught:
                hierdata.verify(tmp_path / "copy", load_data(policy()))
            assert re.search("pipes or devices|symbolic links|not a regular file", str(caught.value)), file
