"""A record cannot be marked by how a value is spelled, nor diversity be made of spellings."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.cli import main
from hierdata.ground.errors import InputError, PolicyError
from hierdata.policy.lint.fields import find_variants

SEED = b"sixteen bytes or"
K3 = [{"kind": "k-anonymity", "k": 3}]
VARIANTS = ("HIV", "hiv", " HIV ", "H\u200bIV", "\uff28\uff29\uff36")
"""Texts that everybody reads as one value."""

FIELDS: dict[str, dict[str, Any]] = {
    "$.age": {"role": "quasi", "interval": {"steps": [5, 10]}},
    "$.n": {"role": "sensitive", "number": True},
    "$.word": {"role": "sensitive"},
    "$.free": {"role": "insensitive", "exempt": "nobody knows it"},
}
JSON = '{{"age": {age}, "n": {n}, "word": {word}, "free": {free}}}'
XML = "<r><age>{age}</age><n>{n}</n><word>{word}</word><free>{free}</free></r>"
MARKS: dict[str, tuple[str, dict[str, str], list[dict[str, str]]]] = {
    "json": (
        JSON,
        {"n": "1", "word": '"A"', "free": "2"},
        [{"n": "1.0"}, {"n": "1e0"}, {"n": '"1"'}, {"word": '"\\u0041"'}, {"free": "2.00"}, {"n": "10e-1"}],
    ),
    "jsonl": (
        JSON,
        {"n": "1.5", "word": '"A"', "free": "2"},
        [{"n": "1.50"}, {"n": "15e-1"}, {"n": "  1.5"}, {"word": '"\\u0041"'}, {"free": "20E-1"}],
    ),
    "extended.jsonl": (
        JSON,
        {"n": '{{"$numberInt": "1"}}', "word": '"A"', "free": '{{"$numberInt": "2"}}'},
        [
            {"n": '{{"$numberLong": "1"}}'},
            {"n": '{{"$numberDouble": "1.0"}}'},
            {"n": '{{"$numberDecimal": "1.00"}}'},
            {"word": '{{"$symbol": "A"}}'},
            {"free": '{{"$numberLong": "2"}}'},
        ],
    ),
    "csv": (
        "{age},{n},{word},{free}",
        {"n": "1", "word": "A", "free": "2"},
        [{"n": "1.0"}, {"n": "1e0"}, {"n": "+1"}, {"word": '"A"'}],
    ),
    "xml": (
        XML,
        {"n": "1", "word": "A", "free": "2"},
        [{"n": "1.0"}, {"n": "01"}, {"n": "<![CDATA[1]]>"}, {"word": "&#65;"}, {"word": "<![CDATA[A]]>"}],
    ),
}
"""By suffix: a record, its usual values, and values that equal them and are spelled as nobody else does."""


def write_people(folder: Path, suffix: str, mark: dict[str, str], count: int = 12) -> Path:
    """Write people of whom the sixth is marked."""
    template, usual, _ = MARKS[suffix]
    people = []
    for at in range(count):
        values = {"age": str(30 + at % 3), **usual, **(mark if at == 5 else {})}
        if at % 2:
            values = {**values, "word": values["word"].replace("A", "B")} if at != 5 else values
        people.append(template.format(**{key: text.format() for key, text in values.items()}))
    if suffix == "csv":
        text = "\n".join(["age,n,word,free", *people, ""])
    elif suffix == "xml":
        text = f"<rs>{''.join(people)}</rs>"
    else:
        text = "[" + ",".join(people) + "]" if suffix == "json" else "\n".join(people)
    file = folder / f"people.{suffix.removeprefix('extended.')}"
    file.write_text(text)
    return file


def policy_of(suffix: str, **more: Any) -> dict[str, Any]:
    fields = FIELDS
    if suffix == "xml":
        fields = {f"/rs/r/{path.removeprefix('$.')}": rule for path, rule in FIELDS.items()}
    format = {"format": "extended-json"} if suffix.startswith("extended") else {}
    return {"version": 1, "models": K3, "fields": fields, **format, **more}


def lines_of(release: Any) -> Counter[str]:
    """The published records as they are written, without order."""
    (file,) = (
        path
        for path in (release.folder / "public").iterdir()
        if path.stem == "records" and path.suffix != ".xsd"
    )
    text = file.read_text()
    for mark in ("},", "</r>", "\n"):
        text = text.replace(mark, f"{mark.strip()}\x00")
    return Counter(line.strip(" \n[],") for line in text.split("\x00"))


@pytest.mark.parametrize("suffix", MARKS)
def test_no_record_is_found_again_by_how_it_spells_a_value(suffix: str, tmp_path: Path) -> None:
    for number, mark in enumerate(MARKS[suffix][2]):
        folder = tmp_path / str(number)
        folder.mkdir()
        file = write_people(folder, suffix, mark)
        release = hierdata.anonymize(file, policy_of(suffix), seed=SEED, out=folder / "out")
        alone = [
            line for line, count in lines_of(release).items() if count == 1 and "age" in line and "n" in line
        ]
        records = list(release.records())
        assert len(records) == 12
        shown = Counter(repr(sorted(record.items())) for record in records)
        assert min(shown.values()) > 1 or "word" in mark, (mark, alone)
        assert len({repr(record["n"]) for record in records}) == 1, mark
        assert len({repr(record["free"]) for record in records}) == 1, mark
        assert len({repr(record["word"]) for record in records}) == 2, mark
        assert hierdata.verify(folder / "out", policy_of(suffix), original=file).passed


def test_types_are_those_of_the_published_whatever_the_blocks(tmp_path: Path) -> None:
    """The widest type of all blocks holds everywhere; that of a suppressed record shows nowhere."""
    rng = Random(4)
    rows = [(20 + rng.randrange(40), rng.randrange(1, 4)) for _ in range(400)]

    def release(kind: str, lone: str) -> set[str]:
        """The types of the published numbers, where one record has this type, and a suppressed one that."""
        kinds = ["$numberInt" if at != 7 else kind for at in range(400)]
        lines = [line(age, f'{{"{own}": "{n}"}}') for (age, n), own in zip(rows, kinds, strict=True)]
        file = tmp_path / "people.jsonl"
        file.write_text("\n".join([*lines, line(30, lone).replace('"A"', '"poison"')]))
        never = {"kind": "alpha-k", "k": 3, "alpha": "1/1000", "values": ["poison"], "on": ["$.word"]}
        stated = policy_of("extended.jsonl", suppressed="as_published", models=[never], blocks=100)
        return {
            type(record["n"]).__name__ for record in hierdata.anonymize(file, stated, seed=SEED).records()
        }

    def line(age: int, number: str) -> str:
        return f'{{"age": {{"$numberInt": "{age}"}}, "n": {number}, "word": "A", "free": "2"}}'

    for lone in ('{"$numberInt": "1"}', '{"$numberDecimal": "1.0"}', '"1"'):
        assert release("$numberInt", lone) == {"int"}
        assert release("$numberLong", lone) == {"Int64"}
        assert release("$numberDouble", lone) == {"Double"}


def test_a_policy_may_keep_spellings_with_a_reason(tmp_path: Path) -> None:
    file = write_people(tmp_path, "json", {"n": "1.0"})
    stated = policy_of("json", spelling={"keep": "digits tell the precision"})
    release = hierdata.anonymize(file, stated, seed=SEED, out=tmp_path / "out")
    assert "1.0" in {str(record["n"]) for record in release.records()}
    told = json.loads((tmp_path / "out" / "public" / "release.json").read_text())
    assert any("digits tell the precision" in sentence for sentence in told["limitations"])
    assert hierdata.verify(tmp_path / "out", stated, original=file).passed
    refused = hierdata.verify(tmp_path / "out" / "public" / "records.json", policy_of("json"))
    assert not refused.passed
    assert refused.forbidden == {"$.n (equal values that are spelled differently)": 1}


SICK: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "frequency-l-diversity", "l": 3}],
    "suppressed": "as_published",
    "fields": {"$.age": {"role": "quasi", "interval": {"steps": [5, 10]}}, "$.ill": {"role": "sensitive"}},
}


def with_same(**more: Any) -> dict[str, Any]:
    rule = {"role": "sensitive", "same": ["trim", "nfkc", "fold"], **more}
    return {**SICK, "fields": {**SICK["fields"], "$.ill": rule}}


def test_diversity_is_not_made_of_spellings() -> None:
    """Without `same` the five variants pass for five values, and lint says so without showing one."""
    alone = [{"age": 30, "ill": text} for text in VARIANTS * 3]
    assert hierdata.anonymize(alone, SICK, seed=SEED).report.counts.records.published == 15
    with pytest.raises(hierdata.PromiseError):
        hierdata.anonymize(alone, with_same(), seed=SEED)
    mixed = [*alone, *({"age": 30, "ill": text} for text in ("flu", "Flu", "gout", "GOUT ") * 4)]
    release = hierdata.anonymize(mixed, with_same(), seed=SEED)
    shown = Counter(str(record["ill"]) for record in release.records())
    assert shown.keys() == {"hiv", "flu", "gout"}, "the form is computed, no record's own"
    assert 3 * shown["hiv"] <= sum(shown.values())


def test_the_published_form_is_no_records_own() -> None:
    """Whatever the spellings, the same bytes: they tell nothing of any record."""
    rng = Random(5)
    found = set()
    for _ in range(3):
        people = [{"age": 30 + at % 4, "ill": rng.choice(VARIANTS)} for at in range(12)]
        release = hierdata.anonymize(people, with_same() | {"models": K3}, seed=SEED)
        found.add(repr(sorted(Counter(map(repr, release.records())).items())))
    assert len(found) == 1


def test_the_same_holds_wherever_the_policy_names_a_value() -> None:
    """Taxonomy, levels, protected values and blocks name a value by any of its texts."""
    people = [{"age": 30 + at % 2, "ill": VARIANTS[at % 5] if at % 3 == 0 else "Flu"} for at in range(30)]
    tree = {"*": {"virus": ["Hiv", "FLU"], "others": ["gout"]}}
    stated: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
        ({}, {"kind": "alpha-k", "k": 2, "alpha": "1/2", "values": ["Hiv"]}, True),
        (
            {"taxonomy": {"tree": tree}},
            {"kind": "distinct-l-diversity", "l": 2, "by": "similarity", "e": 2},
            False,
        ),
        (
            {"levels": {"by": {"HiV": 5, "flu": 1}}},
            {"kind": "alpha-k", "k": 2, "alpha": "2/3", "by": "level"},
            True,
        ),
        (
            {},
            {
                "kind": "distinct-l-diversity",
                "l": 2,
                "by": "partition",
                "partition": {"blocks": {"a": ["HIV"], "b": ["fLu"]}},
            },
            True,
        ),
    ]
    protected = {"models": [{"kind": "alpha-k", "k": 2, "alpha": "1/2", "values": ["Hiv"]}]}
    with pytest.raises(hierdata.PromiseError):
        hierdata.anonymize([own for own in people if own["ill"] != "Flu"], with_same() | protected, seed=SEED)
    for rule, model, holds in stated:
        policy = with_same(**rule) | {"models": [model]}
        if holds:
            assert hierdata.anonymize(people, policy, seed=SEED).report.counts.records.published, model
        else:
            with pytest.raises(hierdata.PromiseError):
                hierdata.anonymize(people, policy, seed=SEED)


def test_the_judge_unites_what_is_the_same(tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    file.write_text(
        json.dumps([{"age": "[30, 34]", "ill": text} for text in ("HIV", "hiv", "H\u200bIV") * 2])
    )
    assert hierdata.verify(file, SICK).passed
    verdict = hierdata.verify(file, with_same())
    assert not verdict.passed
    assert verdict.judgements[0].held is False
    assert sum(verdict.forbidden.values()) == 1, "and a spelling of one's own is a mark"


def test_the_codebook_tells_what_made_texts_one_value() -> None:
    release = hierdata.anonymize(
        [{"age": 1, "ill": text} for text in ("HIV", "flu", "gout") * 3], with_same(), seed=SEED
    )
    codebook = json.loads((release.folder / "public" / "codebook.json").read_text())
    told = {field["path"]: field["same"] for field in codebook["fields"]}
    assert told["$.age"] == []
    assert told["$.ill"]
    assert set(told["$.ill"]) <= {"trim", "nfkc", "fold"}


def test_names_that_are_one_value_are_refused() -> None:
    for rule in ({"levels": {"by": {"HIV": 5, "hiv": 1}}}, {"taxonomy": {"tree": {"*": ["HIV", "hiv"]}}}):
        with pytest.raises(PolicyError, match="one value under `same`"):
            hierdata.anonymize([{"age": 1, "ill": "HIV"}] * 3, with_same(**rule), seed=SEED)
    with pytest.raises(PolicyError, match="same"):
        hierdata.anonymize(
            [], SICK | {"fields": {"$.age": {"role": "quasi", "flat": True, "same": ["trim"]}}}, seed=SEED
        )


def test_lint_counts_variants_and_shows_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [*VARIANTS, "\u041dIV", "flu"]
    data, policy = tmp_path / "people.json", tmp_path / "policy.json"
    data.write_text(json.dumps([{"age": 30, "ill": text} for text in texts * 4]))
    policy.write_text(json.dumps(SICK))
    assert main(["lint", str(policy), "--data", str(data)]) == 0
    told = capsys.readouterr()
    assert "5 texts differ from others only by white space" in " ".join(told.out.split())
    assert "2 texts differ from others only by characters that look alike" in " ".join(told.out.split())
    assert not any(text.casefold() in (told.out + told.err).casefold() for text in texts)


def test_look_alikes_are_found() -> None:
    cyrillic = "\u041dIV"
    assert find_variants([*VARIANTS, "flu"])[0] == sorted(VARIANTS)
    assert find_variants(["HIV", cyrillic, "flu", "gout"]) == ([], ["HIV", cyrillic])


def test_whole_numbers_are_asked_for_by_the_policy() -> None:
    """A fraction is refused where the policy says whole numbers; it changes no other label."""
    people = [{"age": 30 + at, "ill": "abc"[at % 3]} for at in range(6)]
    with pytest.raises(InputError, match="outside the domain"):
        hierdata.anonymize([*people, {"age": 30.5, "ill": "a"}], SICK, seed=SEED)


def test_white_space_around_the_text_of_an_element_marks_nobody(tmp_path: Path) -> None:
    """It is layout and goes, unless the policy keeps it; the judge sees what a release has of it."""
    texts = [" HIV ", "\n    HIV\n  ", "HIV", "flu", "flu", "HIV", "flu", "flu"]
    rows = "".join(f"<p><z>{' ' * at}a</z><d k='1'>{text}</d></p>" for at, text in enumerate(texts))
    source = tmp_path / "people.xml"
    source.write_text(f"<r>{rows}</r>", "utf-8")
    fields = {
        "/r/p/z": {"role": "quasi", "flat": True},
        "/r/p/d/@k": {"role": "quasi", "flat": True},
        "/r/p/d/text()": {"role": "sensitive"},
    }
    policy = {"version": 1, "models": [*K3, {"kind": "frequency-l-diversity", "l": 2}], "fields": fields}
    release = hierdata.anonymize(source, policy, seed=SEED)
    published = (release.folder / "public" / "records.xml").read_text("utf-8")
    assert published.count("<z>a</z>") == len(texts), "all are alike"
    assert published.count(">HIV<") == published.count(">flu<") == 4
    assert hierdata.verify(release.folder, policy, original=source).passed

    kept = {**policy, "spelling": {"keep": "the white space is wanted"}}
    as_written = hierdata.anonymize(source, kept, seed=SEED)
    assert "> HIV <" in (as_written.folder / "public" / "records.xml").read_text("utf-8")

    forged = tmp_path / "forged"
    release.save(forged)
    file = forged / "public" / "records.xml"
    file.write_text(file.read_text("utf-8").replace("<z>a</z>", "<z> a</z>", 1), "utf-8")
    assert not hierdata.verify(file, policy).passed
