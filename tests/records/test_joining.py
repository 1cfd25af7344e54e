"""Rows with references are joined as their slow twin joins them; what contradicts itself is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Document
from hierdata.ground.errors import InputError, VerificationError
from hierdata.records.flatten import split
from hierdata.records.joining import nest, nest_in_order
from hierdata.records.keyed import Table, read_key

PATIENT = Table("Patient", "id", typed=True)
ENCOUNTER = Table("Encounter", "id", "Patient", "subject.reference", typed=True)
NOTE = Table(
    "Note", "id", "Encounter", "encounter.reference", (("Patient", "subject.reference"),), typed=True
)
TABLES = (PATIENT, ENCOUNTER, NOTE)
SPELLINGS = (
    "{0}/{1}",
    "{0}/{1}/_history/3",
    "https://server.example/fhir/{0}/{1}",
    "https://server.example/fhir/{0}/{1}/_history/12",
    "urn:uuid:{1}",
    "{1}",
)


def twin(rows: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Each row below the first row it refers to, by definition; references are pairs (type, id)."""

    def below(kind: str, own: dict[str, Any]) -> dict[str, Any]:
        found = {"a": own["a"]}
        for child in ("Encounter", "Note"):
            items = [
                below(child, row)
                for row in rows[child]
                if row["to"][0] == (kind, own["id"])  # the preferred one
            ]
            if items and kind != child:
                found[child] = items
        return found

    return [below("Patient", row) for row in rows["Patient"]]


@st.composite
def collections(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    patients = draw(st.lists(st.sampled_from("abcd0"), min_size=1, max_size=3, unique=True))
    rows: dict[str, list[dict[str, Any]]] = {
        "Patient": [{"id": own, "a": draw(st.integers(0, 3)), "to": []} for own in patients],
        "Encounter": [],
        "Note": [],
    }
    for at in range(draw(st.integers(0, 4))):
        whose = ("Patient", draw(st.sampled_from(patients)))
        rows["Encounter"].append({"id": f"e{at}", "a": draw(st.integers(0, 3)), "to": [whose]})
    for at in range(draw(st.integers(0, 5))):
        over = draw(st.sampled_from([None, *rows["Encounter"]]))
        if over is None:
            to = [("Patient", draw(st.sampled_from(patients)))]
        else:
            to = [("Encounter", over["id"]), *(over["to"] if draw(st.booleans()) else [])]
        rows["Note"].append({"id": f"n{at}", "a": draw(st.integers(0, 3)), "to": to})
    return rows


def spell(kind: str, row: dict[str, Any], draw: Any) -> Document:
    written: Document = {"id": row["id"], "a": row["a"]}
    for to, key in row["to"]:
        column = "encounter" if to == "Encounter" else "subject"
        written[column] = {"reference": draw(st.sampled_from(SPELLINGS)).format(to, key)}
    return written


@given(collections(), st.data())
def test_rows_are_joined_by_their_preferred_reference_however_it_is_written(
    rows: dict[str, list[dict[str, Any]]], data: st.DataObject
) -> None:
    written = {kind: [spell(kind, row, data.draw) for row in own] for kind, own in rows.items()}
    assert list(nest(TABLES, written)) == twin(rows)


@given(collections())
def test_what_was_joined_is_written_again_with_new_ids_and_read_again(
    rows: dict[str, list[dict[str, Any]]],
) -> None:
    trees = twin(rows)
    published: dict[str, list[Document]] = {table.name: [] for table in TABLES}
    for name, row in split(TABLES, trees, ("Patient", "Encounter", "Note")):
        published[name].append(row)
    assert list(nest_in_order(TABLES, published)) == trees
    for name, own in published.items():
        assert [row["id"] for row in own] == [str(number) for number in range(1, len(own) + 1)]
        for row in own:
            for column, kind in (("subject", "Patient"), ("encounter", "Encounter")):
                reference = row.get(column)
                if isinstance(reference, dict):  # nothing dangles
                    stated, _, number = str(reference["reference"]).partition("/")
                    assert stated == kind
                    assert 1 <= int(number) <= len(published[kind])
            assert (name == "Patient") == ("subject" not in row)


def people(**changes: Any) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {
        "Patient": [{"id": "marker-7319"}, {"id": "q"}],
        "Encounter": [{"id": "e", "subject": {"reference": "Patient/q"}}],
        "Note": [{"id": "n", "encounter": {"reference": "Encounter/e"}, "a": 1}],
    }
    return rows | changes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"Note": [{"id": "n", "encounter": {"reference": "Encounter/7319"}}]},
            "1 row belongs to no row of Encounter of the same Patient, the first is row 1",
        ),
        (
            {"Note": [{"id": "n"}]},
            "row 1 has no value in the column encounter.reference or subject.reference",
        ),
        (
            {"Note": [{"subject": {"reference": "Group/7319"}}]},
            "row 1 has no value in the column encounter.reference or subject.reference",
        ),
        (
            {
                "Note": [
                    {
                        "encounter": {"reference": "Encounter/e"},
                        "subject": {"reference": "Patient/marker-7319"},
                    }
                ]
            },
            "row 1 refers to another row of Patient than the row that it belongs to",
        ),
        ({"Patient": [{"id": "q"}, {"id": "q"}]}, "row 2 has the same key as an earlier row"),
        ({"Encounter": [{"id": "e", "subject": {"reference": ["Patient/q"]}}]}, "more than one value"),
    ],
)
def test_references_that_contradict_are_refused_without_values(changes: dict[str, Any], words: str) -> None:
    assert list(nest(TABLES, people())) == [{}, {"Encounter": [{"Note": [{"a": 1}]}]}]
    with pytest.raises(InputError, match=words) as caught:
        list(nest(TABLES, people(**changes)))
    assert "7319" not in str(caught.value)


def test_published_rows_in_another_order_are_refused() -> None:
    rows: dict[str, list[Document]] = {
        "Patient": [{"id": "1"}, {"id": "2"}],
        "Encounter": [
            {"id": "1", "subject": {"reference": "Patient/2"}},
            {"id": "2", "subject": {"reference": "Patient/1"}},
        ],
        "Note": [],
    }
    with pytest.raises(VerificationError, match="order"):
        list(nest_in_order(TABLES, rows))


def test_a_reference_to_another_table_is_no_key_of_this_one() -> None:
    assert read_key("Encounter/7", "Patient", strict=True) is None
    assert read_key("#p1", "Patient", strict=True) is None
    assert read_key("people/7", "people") == 7
    assert read_key("2020/17", "people") == "2020/17"
