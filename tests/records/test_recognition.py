"""What names of fields say of persons, in seven languages, and what single values look like."""

from __future__ import annotations

import pytest

from hierdata.records.recognition.contents import number_of_person, shape_of_name
from hierdata.records.recognition.persons import meaning_of

PERSONS = {
    "name subject": """
        patient_name PatientenName klantnaam nombre_paciente nome_cliente EmployeeName
        nombre_del_alumno
    """,
    "name other": """
        manager_name ShipToName ship_to_name Hausarztname MothersName moeder_naam
        emergency_contact_name
    """,
    "part unknown": """
        lastName Prénom apellido1 cognome achternaam sobrenome nom_famille full_name birth_name
        Rufname
    """,
    "contact unknown": """
        e_mail emailAddress E-Mail street_name Straße telefone indirizzo IBAN profile_url
        Kennzeichen
    """,
    "contact other": "shipping_address emergency_contact_phone doctor_email",
    "number unknown": """
        ssn SocialSecurityNumber codice_fiscale BSN NIF numero_securite_sociale Personalnummer
        nhs_number
    """,
    "key subject": """
        patient_id patid EmpID Kundennummer id_paciente subject_id user_id participant_code
        client_no subjid bene_id mbr_no
    """,
    "key other": "managerID staff_id household_id teacher_nr",
    "person subject": "customer respondent alumno Patientin subj Versuchsperson",
    "person other": """
        manager requested_by assigned_to guardian next_of_kin Arzt bill_to referring_physician
        docente admitted_by seen_by Betreuungsperson
    """,
    "thing unknown": """
        course_name Kursname Schulname hospital_name drug_name city_name company_name
        nombre_curso class_name
    """,
    "bare unknown": "name nom nombre nome naam",
}
NO_PERSONS = """
    email_opt_in phone_type address_city addressZip account_balance mother_occupation father_education
    shipping_cost delivery_date customer_segment person_count household_size last_login member_since
    student_grade age title date_of_birth Geburtsdatum zip contact_method number_of_children PerfScoreID
    school reason
"""
AROUND = {
    "part": ["family/name", "given/name", "text/name", "#text/family/name/patient", "family/name/contact"],
    "thing": ["name/courses", "en/name/product", "name/medications", "name/school", "name/items"],
    "name": ["name/students", "name/relatives", "name/emergencyContact", "name/teacher/courses"],
    "contact": ["value/telecom", "line/address", "phone/mother"],
    "key": ["value/identifier", "reference/subject", "id/customer", "extension/id/patientRole"],
}


@pytest.mark.parametrize("meaning", PERSONS)
def test_names_of_persons_are_told_from_others(meaning: str) -> None:
    for name in PERSONS[meaning].split():
        found = meaning_of([name])
        assert found is not None, name
        assert f"{found.kind} {found.whose}" == meaning, name


def test_facts_about_persons_are_no_names() -> None:
    found = {name: meaning_of([name]) for name in NO_PERSONS.split()}
    assert {name for name, meaning in found.items() if meaning is not None} == set()


@pytest.mark.parametrize("kind", AROUND)
def test_names_around_a_field_count(kind: str) -> None:
    for names in AROUND[kind]:
        found = meaning_of(names.split("/"))
        assert found is not None, names
        assert found.kind == kind, names
    for names in (
        "use/name",
        "system/telecom",
        "system/identifier",
        "city/address",
        "text/code",
        "value/tests",
    ):
        assert meaning_of(names.split("/")) is None, names


def test_whose_it_is_comes_from_the_nearest_name_of_a_person() -> None:
    for names, whose in (
        ("family/name/contact", "other"),
        ("email/customer", "subject"),
        ("name/ship_to", "other"),
    ):
        found = meaning_of(names.split("/"))
        assert found is not None
        assert found.whose == whose


def test_numbers_of_persons_have_right_checks() -> None:
    account = "DE89 3704 0044 0532 0130 00"
    right = (
        *("078-05-1120", "1 85 05 78 006 084 91", "12345678Z", "X1234567L", "RSSMRA85T10A562S", "111222333"),
        *("86095742719", "943 476 5919", "AB123456C", "529.982.247-25", "756.9217.0769.85"),
    )
    assert number_of_person(account) == number_of_person(account.replace(" ", "")) == "account"
    assert [text for text in right if number_of_person(text) != "national"] == []
    wrong = (
        "DE88370400440532013000",
        "12345678A",
        "86095742718",
        "529.982.247-26",
        "000-12-3456",
        "ECON204",
        "2001-03-04",
    )
    assert [text for text in wrong if number_of_person(text) is not None] == []


def test_full_names_have_a_shape() -> None:
    named = (
        "Anna Schmidt",
        "Dr. Peter van der Berg",
        "García, José",
        "MÜLLER Anna",
        "Anna-Lena O'Neill",
        "de Vries, Jan",
    )
    assert {shape_of_name(text) for text in named} == {"named"}
    assert {shape_of_name(text) for text in ("New York", "Linear Algebra", "Test Person0")} == {"full"}
    assert [shape_of_name(text) for text in ("Maria", "Huber", "mother", "north of it", "w0")] == [
        *("given", "word", "coded", "", "")
    ]  # fmt: skip


def test_how_many_there_are_names_nobody() -> None:
    """A number of persons is no number of a person."""
    for name in ("num_workers", "NumberOfPatients", "no_of_children", "n_employees", "nombre_enfants"):
        assert meaning_of([name]) is None, name
    for name in ("worker_num", "patientNumber", "numero_de_cliente", "Kundennummer", "no_client"):
        meaning = meaning_of([name])
        assert meaning is not None, name
        assert meaning.kind == "key", name
