"""What public/ says beside the records follows from them: it tells nothing more of who is suppressed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.policy.policy import Policy
from hierdata.release.release import Release
from tests.cases import each_once, first_few, with_worlds
from tests.naive_public import release_bytes

SEED = b"sixteen bytes or"
DISEASES = ("HIV", "cold", "flu", "gout", "mumps")
ENGINE = {"steps": [{"kind": "clustree", "window": 50, "pairing": "greedy", "grow": False}]}
AS_PUBLISHED = {"suppressed": "as_published"} if "suppressed" in Policy.model_fields else {}
"""Suppression as the papers print it: without it nobody would be suppressed alone."""

LONE: dict[str, Any] = {
    "version": 1,
    "engine": ENGINE,
    **AS_PUBLISHED,
    "models": [{"kind": "k-anonymity", "k": 4}, {"kind": "t-closeness", "t": 1}],
    "fields": {"$.zip": {"role": "quasi", "flat": True}, "$.disease": {"role": "sensitive"}},
}


def with_a_lone_person(run: int, disease: str) -> list[dict[str, Any]]:
    """40 people in ten places, and one who is alone in an eleventh."""
    rng = Random(run)
    people = [{"zip": f"z{at // 4}", "disease": rng.choice(DISEASES)} for at in range(40)]
    return [*people, {"zip": "alone", "disease": disease}]


def public_files(release: Release) -> dict[str, bytes]:
    """The files of public/ by their name."""
    return {path.name: path.read_bytes() for path in (release.folder / "public").iterdir()}


def candidates(run: int, disease: str) -> set[str]:
    """The diseases that the suppressed person may have, for a reader who knows that one is suppressed.

    The reader knows the program and tries each disease: those remain that give the same figures for the same
    published records.
    """
    told = {}
    for guess in DISEASES:
        release = hierdata.anonymize(with_a_lone_person(run, guess), LONE, seed=SEED)
        assert release.report.counts.records.suppressed == 1
        told[guess] = figures_of(release)
    return {guess for guess in DISEASES if told[guess] == told[disease]}


def figures_of(release: Release) -> tuple[object, ...]:
    """All that public/ says, but for the order of the records, which is drawn anew for each collection."""
    files = public_files(release)
    records = json.loads(files.pop("records.json"))
    release_file = json.loads(files.pop("release.json"))
    digests = [file["sha256"].encode() for file in release_file.pop("files")]
    for digest in digests:  # of the records in their order; the page lists them too
        files["summary.html"] = files["summary.html"].replace(digest, b"")
    return sorted(map(json.dumps, records)), release_file, files


@with_worlds(3, 40)
def test_the_disease_of_a_lone_suppressed_person_cannot_be_computed(worlds: int) -> None:
    """With exact figures of the original in public/ one candidate was left in 27 of 40 runs."""
    left = [len(candidates(run, DISEASES[run % 5])) for run in range(worlds)]
    assert left.count(1) == 0
    assert set(left) == {len(DISEASES)}


# The same records, and one more who is suppressed and would widen or spell what is said about the others.
OUTLIERS: dict[str, tuple[dict[str, Any], list[Any], Any]] = {
    "numbers without a domain": (
        {"interval": {"steps": [10]}},
        [20, 21, 22, 23, 40, 41, 42, 43],
        987,
    ),
    "dates": (
        {"date": {"steps": ["day", "month", "year"]}},
        ["2001-03-04", "2001-03-05", "2001-03-06", "2001-03-09", *["2002-07-01"] * 4],
        "1915-01-01",
    ),
    "postal codes": (
        {"prefix": {"keep": [3, 1]}},
        ["48123", "48124", "48125", "48126", "50100", "50101", "50102", "50103"],
        "99999",
    ),
    "categories": ({"flat": True}, ["a"] * 4 + ["b"] * 4, "c"),
    "a fraction": ({"interval": {"steps": [10], "decimals": True}}, [20, 21, 22, 23, *[40] * 4], 98.5),
    "a text that is a number": ({"interval": {"steps": [1, 10]}}, [20] * 4 + [40] * 4, "33"),
    "a number that is a text": ({"interval": {"steps": [1, 10]}}, ["20"] * 4 + ["40"] * 4, 33),
    "the text of a number": ({"flat": True}, ["1", "1", "2", "2", *["b"] * 4], 1),
    "the text of a boolean": ({"flat": True}, [True] * 4 + [False] * 4, "true"),
    "a code that is a number": ({"prefix": {"keep": [5, 3]}}, ["48123"] * 4 + ["48124"] * 4, 48123.0),
    "codes of another length": (
        {"prefix": {"keep": [3, 2]}},
        ["481", "4811"] * 2 + ["482", "4899"] * 2,
        "48",
    ),
    "a leaf of another type": ({"taxonomy": {"tree": {"*": ["1", "2"]}}}, [1] * 4 + [2] * 4, "1"),
    "a time": ({"date": {"steps": ["day", "month"]}}, ["2001-03-04"] * 4 + ["2002-07-01"] * 4, "20010304"),
}


def of_outlier(name: str, *, there: bool, recoding: str = "generalization") -> Release:
    rule, values, alone = OUTLIERS[name]
    rng = Random(3)
    records = [{"q": value, "z": "same", "s": rng.choice(DISEASES)} for value in values]
    policy = {
        "version": 1,
        "engine": ENGINE,
        "recoding": recoding,
        **AS_PUBLISHED,
        "models": [{"kind": "k-anonymity", "k": 4}],
        "fields": {
            "$.q": {"role": "quasi", **rule},
            "$.z": {"role": "quasi", "flat": True},
            "$.s": {"role": "sensitive"},
        },
    }
    more = [{"q": alone, "z": "other", "s": "flu"}] if there else []
    return hierdata.anonymize([*records, *more], policy, seed=SEED)


@pytest.mark.parametrize(
    ("name", "recoding"),
    each_once([*OUTLIERS], ["generalization", "representatives", "sets_and_ranges"]),
)
def test_an_outlier_who_is_suppressed_changes_no_figure(name: str, recoding: str) -> None:
    without, outlier = (of_outlier(name, there=there, recoding=recoding) for there in (False, True))
    assert outlier.report.counts.records.suppressed == 1
    assert figures_of(outlier) == figures_of(without)


def test_a_field_that_only_a_suppressed_person_has_is_not_named() -> None:
    policy = {**LONE, "unlisted": {"keep": "nobody knows it"}}
    people = with_a_lone_person(2, "flu")
    people[-1]["rare"] = "x"
    release = hierdata.anonymize(people, policy, seed=SEED)
    assert release.report.counts.records.suppressed == 1
    assert not any(b"rare" in content for content in public_files(release).values())


def test_the_order_of_elements_follows_from_the_policy(tmp_path: Path) -> None:
    """A suppressed record comes first in the input and has its elements in another order."""
    fields = {
        "/rs/r/a": {"role": "quasi", "flat": True},
        "/rs/r/b": {"role": "quasi", "flat": True},
        "/rs/r/s": {"role": "sensitive"},
    }
    policy = {**LONE, "models": [{"kind": "k-anonymity", "k": 4}], "fields": fields}
    people = "".join(f"<r><a>{at // 4}</a><b>x</b><s>{at % 3}</s></r>" for at in range(8))
    texts = []
    for lone in ("", "<r><s>9</s><b>y</b><a>alone</a></r>"):
        file = tmp_path / f"people{len(texts)}.xml"
        file.write_text(f"<rs>{lone}{people}</rs>")
        release = hierdata.anonymize(file, policy, seed=SEED)
        assert release.report.counts.records.published == 8
        text = public_files(release)["records.xml"].decode().replace("</rs>", "")
        texts.append(sorted(text.split("<r>")))
    assert [part.strip() for part in texts[0]] == [part.strip() for part in texts[1]]


def random_people(rng: Random, count: int) -> list[dict[str, Any]]:
    """People with quasi-identifiers of every domain, some of them missing, and lists of visits."""

    def visit() -> dict[str, Any]:
        return {
            "ward": rng.choice(("w1", "w2", "w3")),
            "day": f"200{rng.randrange(3)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
            "ill": rng.choice(DISEASES),
        }

    found = []
    for _ in range(count):
        person: dict[str, Any] = {
            "age": rng.randrange(20, 60),
            "zip": f"{rng.randrange(48, 50)}{rng.randrange(100, 130)}",
            "job": rng.choice(("nurse", "doctor", "clerk", "driver")),
            "pay": rng.choice((1900, 2100, 2600)),
            "visits": [visit() for _ in range(rng.randrange(3))],
        }
        if rng.random() < 0.1:
            del person[rng.choice(("age", "zip", "job", "pay"))]
        found.append(person)
    return found


def random_policy(rng: Random) -> dict[str, Any]:
    tree = {"*": {"hospital": {"nurse": None, "doctor": None}, "others": {"clerk": None, "driver": None}}}
    models = [
        [{"kind": "k-anonymity", "k": 3}],
        [{"kind": "alpha-k", "k": 3, "alpha": "2/3"}],
        [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": "3/2"}],
        [{"kind": "k-anonymity", "k": 3}, {"kind": "t-closeness", "t": "0.6"}],
        [{"kind": "distinct-l-diversity", "l": 2}, {"kind": "k-anonymity", "k": 2}],
    ]
    domain = {"domain": [0, 100]} if rng.random() < 0.5 else {}
    return {
        "version": 1,
        "models": rng.choice(models),
        **rng.choice(({}, AS_PUBLISHED)),
        "fields": {
            "$.age": {"role": "quasi", "interval": {"steps": [1, 5, 20], **domain}},
            "$.zip": {"role": "quasi", "prefix": {"keep": [4, 2]}},
            "$.job": {"role": "quasi", "taxonomy": {"tree": tree}},
            "$.pay": {"role": "sensitive"},
            "$.visits[*].ward": {"role": "quasi", "flat": True},
            "$.visits[*].day": {"role": "quasi", "date": {"steps": ["day", "month", "year"]}},
            "$.visits[*].ill": {"role": "sensitive"},
        },
    }


@pytest.mark.parametrize("run", first_few(4, range(25)))
def test_release_json_follows_byte_by_byte_from_the_published_records(run: int, tmp_path: Path) -> None:
    rng = Random(run)
    policy = random_policy(rng)
    try:
        release = hierdata.anonymize(random_people(rng, rng.randrange(20, 60)), policy, seed=SEED)
    except hierdata.PromiseError:
        pytest.skip("no class satisfies this policy")
    shutil.copytree(release.folder / "public", tmp_path / "public")
    stated = (tmp_path / "public" / "release.json").read_bytes()
    (tmp_path / "public" / "release.json").unlink()
    assert release_bytes(tmp_path / "public", policy) == stated
    assert hierdata.verify(release.folder, policy).passed


def write_people(people: list[dict[str, Any]], format: str, folder: Path) -> Path:
    """Write people without visits as a table, or all as XML."""
    if format == "csv":
        names = ("age", "zip", "job", "pay")
        lines = [",".join(str(person.get(name, "")) for name in names) for person in people]
        (file := folder / "people.csv").write_text("\n".join([",".join(names), *lines]) + "\n", "utf-8")
        return file

    def tag(name: str, of: dict[str, Any], inner: str = "") -> str:
        attributes = "".join(f' {key}="{value}"' for key, value in of.items() if key != "visits")
        return f"<{name}{attributes}>{inner}</{name}>"

    records = [tag("person", own, "".join(tag("visit", one) for one in own["visits"])) for own in people]
    (file := folder / "people.xml").write_text(f"<people>{''.join(records)}</people>", "utf-8")
    return file


def policy_in(format: str, policy: dict[str, Any]) -> dict[str, Any]:
    """The policy with the paths of a format."""
    fields: dict[str, Any] = {}
    for path, rule in policy["fields"].items():
        keys = path.removeprefix("$.").split("[*].")
        if format == "xml":
            at = {2: "visit/@", 1: "@"}[len(keys)]
            fields[f"/people/person/{at}{keys[-1]}"] = rule
        elif len(keys) == 1:
            fields[path] = rule
    return {**policy, "dataset": "records", "fields": fields} | (
        {"fields": {**fields, "/people/person/visit": {"vertex": True}}} if format == "xml" else {}
    )


@pytest.mark.parametrize("run", first_few(1, range(6)))
@pytest.mark.parametrize("kind", ["csv", "xml", "representatives"])
def test_release_json_follows_from_other_formats_and_from_classes(
    kind: str, run: int, tmp_path: Path
) -> None:
    rng = Random(f"{kind} {run}")
    policy, people = random_policy(rng), random_people(rng, rng.randrange(20, 60))
    source: Any = people
    if kind == "representatives":
        policy = {**policy, "recoding": kind}
    else:
        source, policy = write_people(people, kind, tmp_path), policy_in(kind, policy)
    try:
        release = hierdata.anonymize(source, policy, seed=SEED)
    except hierdata.PromiseError:
        pytest.skip("no class satisfies this policy")
    stated = (release.folder / "public" / "release.json").read_bytes()
    assert release_bytes(release.folder / "public", policy) == stated


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("release.json", '"passed": true', '"passed":  true'),
        ("release.json", "one who knows a sensitive value", "anybody"),
        ("release.json", '"records": ', '"records": 1'),
        ("release.json", '"published_kept"', '"published_gain"'),
        ("codebook.json", '"kind": "flat"', '"kind": "date"'),
        ("codebook.json", '"role": "quasi"', '"role": "quasi "'),
        ("summary.html", "one who knows a sensitive value", "anybody"),
        ("summary.html", "</footer>", "</footer> "),
    ],
)
def test_verify_computes_again_what_is_said(file: str, before: str, after: str) -> None:
    release = hierdata.anonymize(with_a_lone_person(4, "flu"), LONE, seed=SEED)
    path = release.folder / "public" / file
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")
    with pytest.raises(hierdata.VerificationError, match="claims differ"):
        hierdata.verify(release.folder, LONE)


def test_a_public_gate_tells_its_limit_but_no_figure() -> None:
    gates = [
        {
            "name": "kept enough",
            "metric": "suppression_ratio",
            "figure": "records",
            "operator": "<=",
            "value": "0.5",
        }
    ]
    release = hierdata.anonymize(with_a_lone_person(4, "flu"), {**LONE, "gates": gates}, seed=SEED)
    (gate,) = json.loads(public_files(release)["release.json"])["gates"]
    assert gate.keys().isdisjoint({"value", "exact"})
    assert (gate["name"], gate["passed"], gate["limit"]["exact"]) == ("kept enough", True, "1/2")
    assert release.report.gates[0].exact == "1/41"
