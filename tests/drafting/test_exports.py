"""What exports hold that names alone do not tell: keys of subjects, numbered names, codes like dates, NaN."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.domains.date import Date
from hierdata.drafting.draft import Draft
from hierdata.ground.errors import InputError
from tests.cases import for_each, naming

ILLS = ("flu", "asthma", "ulcer", "gout")
GIVEN = ("GUNDULA", "HEINER", "WIEBKE", "OTTMAR", "SILKE")
SURNAMES = ("Hoekstra", "Zeilmaker", "Wiersma", "Terpstra", "Kuipers", "Baas")


def roles(draft: Draft) -> dict[str, str]:
    return {one.path: one.proposal.role for one in draft.fields}


def rows(**fields: Any) -> list[dict[str, Any]]:
    """Return 48 records; each field is a function of their numbers."""
    return [{name: make(n) for name, make in fields.items()} for n in range(48)]


@for_each(
    "field, make",
    [
        ("subj", lambda n: f"S{n % 8:03}"),
        ("subject", lambda n: f"S{n % 8:03}"),
        ("admitted_by", lambda n: f"sb{n % 3}"),
        ("seen_by", lambda n: ("KM", "TR", "WO")[n % 3]),
        ("id", lambda n: f"https://people.example/staff/{n % 4}"),
        ("wert", lambda n: f"https://people.example/u?id={n}"),
    ],
)
def test_keys_are_identifiers_however_few(field: str, make: Any) -> None:
    records = rows(**{field: make}, ward=lambda n: "abc"[n % 3], age=lambda n: 20 + n % 7)
    assert roles(hierdata.init(records))[f"$.{field}"] == "identifier"


@for_each(
    "field, make",
    [
        ("subject", lambda n: ("Latin", "Greek", "Music")[n % 3]),
        ("id", lambda n: f"https://terms.example/verbs/{'abcd'[n % 4]}"),
        ("system", lambda n: f"https://terms.example/{n % 2}"),
    ],
)
def test_names_of_things_are_kept(field: str, make: Any) -> None:
    found = roles(hierdata.init(rows(**{field: make}, age=lambda n: 20 + n % 7)))
    assert found[f"$.{field}"] == "quasi"


def test_names_beside_a_key_of_persons_are_theirs() -> None:
    """In capitals, numbered, of no list of given names; beside a thing they may be its names."""
    fields = {"NAME1": lambda n: GIVEN[n % 5], "PLZ": lambda n: f"101{n % 3}5", "AREA": lambda n: "NS"[n % 2]}
    assert roles(hierdata.init(rows(**fields, KUNDENNR=lambda n: 70000 + n)))["$.NAME1"] == "identifier"
    things = {"name": lambda n: ("Red", "Green", "Blue")[n % 3], "product_id": lambda n: n % 3}
    assert roles(hierdata.init(rows(**things, customer_id=lambda n: 70000 + n)))["$.name"] == "quasi"


def test_rows_with_a_bare_name_are_those_of_a_person() -> None:
    """If its values are full names, and repeat; the draft asks."""
    fields = {"datum": lambda n: f"2024-0{n % 9 + 1}-11", "diagnose": lambda n: ILLS[n % 4]}
    draft = hierdata.init(rows(naam=lambda n: f"Sjoerd {SURNAMES[n % 6]}", **fields))
    assert draft.records == 6
    assert draft.persons is not None
    assert draft.persons.is_name
    unlike = hierdata.init(rows(naam=lambda n: f"Room {n % 6}", **fields))
    assert unlike.records == 48


def test_codes_of_digits_are_no_dates() -> None:
    """SNOMED's are as long as a day; years tell, and the names around."""
    codes = rows(part=lambda n: f"3834{10 + n % 3}0{n % 9 + 1}", age=lambda n: 20 + n % 7)
    assert "date" not in {one.path: one.proposal.rule for one in hierdata.init(codes).fields}["$.part"]
    clinical = rows(
        code=lambda n: {"coding": [{"system": "http://s.example", "code": f"2001010{n % 3 + 1}"}]}
    )
    assert roles(hierdata.init(clinical))["$.code.coding[*].code"] == "sensitive"


def test_nobody_is_born_in_the_future() -> None:
    """A year of two digits is that of a birth before the draft, not 2060."""
    draft = hierdata.init(
        rows(born=lambda n: f"{n % 28 + 1}.{n % 12 + 1}.{60 + n % 30}", ill=lambda n: ILLS[n % 4])
    )
    (born, _) = draft.fields
    until = born.proposal.rule["date"]["until"]
    assert until == date.today().year
    domain = Date(steps=("year",), format=("%d.%m.%y",), until=until)
    tree = domain.compile({f"1.1.{year:02}": 1 for year in range(100)}, Path())
    years = [int(tree.labels[tree.node_of(f"1.1.{year:02}")]) for year in range(100)]
    assert sorted(years) == [*range(until - 99, until + 1)]


def test_numbers_that_are_none_are_drafted_as_missing(tmp_path: Path) -> None:
    """The draft is a policy that reads them, of rows that are united too."""
    for key in ("n", "patient_id"):
        for word in ("NaN", "-Infinity"):
            records = rows(weight=lambda n: n % 5 + 0.5, ill=lambda n: ILLS[n % 2])
            if key == "patient_id":
                records = [{**record, key: n // 4} for n, record in enumerate(records)]
            lines = "".join(f"{json.dumps(record)}\n" for record in records)
            source = tmp_path / f"{key}{word}.jsonl"
            source.write_text(lines.replace("4.5", word))
            with naming(key=key, word=word):
                draft = hierdata.init(source)
                (weight,) = (one for one in draft.fields if one.path.endswith("weight"))
                assert weight.proposal.rule["missing"] == [word]
                release = hierdata.anonymize(source, draft.confirmed(), seed=bytes(16))
                assert (
                    release.report.counts.records.input
                    == draft.records
                    == (12 if key == "patient_id" else 48)
                )


def test_a_number_of_each_user_makes_equal_names_those_of_different_persons() -> None:
    """The field is called as the user is (``n.º utente``); lint and the draft agree."""
    records = rows(
        nUtente=lambda n: f"{300000000 + n * 977}",
        nomeUtente=lambda n: f"Leonor {SURNAMES[n % 6]}",
        ort=lambda n: "ab"[n % 2],
    )
    draft = hierdata.init(records)
    assert draft.persons is None
    assert hierdata.anonymize(records, draft.confirmed(), seed=bytes(16)).report.counts.records.input == 48


@for_each("field", ["contactoTelef", "medicoBase", "medicoFamilia", "telf"])
def test_compounds_of_persons(field: str) -> None:
    made = {"telf": lambda n: 910000000 + n, "contactoTelef": lambda n: 910000000 + n}.get(field)
    records = rows(**{field: made or (lambda n: SURNAMES[n % 6]), "ort": lambda n: "ab"[n % 2]})
    assert roles(hierdata.init(records))[f"$.{field}"] == "identifier"


def test_rows_of_elements_with_prefixes_are_united(tmp_path: Path) -> None:
    """The key and the nested rows are named with the prefixes of the file."""
    people = "".join(
        f"<o:visit><patient>Leonor {SURNAMES[n % 6]}</patient><ward>w{n // 6}</ward></o:visit>"
        for n in range(48)
    )
    source = tmp_path / "visits.xml"
    source.write_text(f'<o:list xmlns:o="urn:o" xmlns="urn:d">{people}</o:list>')
    draft = hierdata.init(source)
    assert draft.records == 6
    policy = draft.confirmed()
    assert hierdata.anonymize(source, policy, seed=bytes(16)).report.counts.records.input == 6


def test_words_beside_given_names_are_asked_about() -> None:
    """Where names of fields say nothing: ``l`` beside ``f``; what is called as a thing stays."""
    given = ("Anna", "Ben", "Carla", "Hugo", "Lena", "Nora", "Pedro", "Rosa", "Samir", "Tara")
    words = ("Alder", "Birch", "Cedar", "Doff", "Elms", "Frost", "Glade", "Heath", "Irons", "Jute", "Knoll")
    person = lambda n: {"f": given[n % 10], "l": words[n % 11], "city": words[-n % 11]}  # noqa: E731
    found = roles(hierdata.init(rows(u=person, age=lambda n: 20 + n % 7)))
    assert found["$.u.f"] == found["$.u.l"] == "identifier"
    assert found["$.u.city"] == "quasi"
    assert roles(hierdata.init(rows(l=lambda n: words[n % 11])))["$.l"] == "quasi"


def test_records_whose_keys_are_ids_are_refused() -> None:
    """The message shows none; questions that most records lack are fields."""
    with pytest.raises(InputError, match="look like data") as refused:
        hierdata.init([{f"p{n:03}": {"age": 20 + n % 7}} for n in range(40)])
    assert "p0" not in str(refused.value)
    asked = [{f"q{(n * 7 + at) % 40:03}": n % 3 for at in range(9)} for n in range(40)]
    assert len(hierdata.init(asked).fields) == 40
