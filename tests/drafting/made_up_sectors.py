"""More synthetic collections: health, schools, staff, finance, surveys, offices, in several languages.

A value in ``H`` identifies somebody, and no release may show it. All persons are invented.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.drafting.made_up_people import FAMILY, GIVEN, iban, mail, name, phone

Record = dict[str, Any]


@dataclass(frozen=True)
class H:
    """A value that identifies a person."""

    value: object


def bare(record: Any, hidden: set[str]) -> Any:
    """Return the data as it is, and add what identifies persons to ``hidden``."""
    if isinstance(record, H):
        hidden.add(str(record.value))
        return record.value
    if isinstance(record, dict):
        return {key: bare(own, hidden) for key, own in record.items()}
    return [bare(own, hidden) for own in record] if isinstance(record, list) else record


def full(n: int) -> H:
    return H(name(n))


def reversed_name(n: int) -> H:
    return H(f"{FAMILY[n // 16 % 14]}, {GIVEN[n % 16]}")


def given(n: int) -> H:
    return H(GIVEN[n % 16])


def family(n: int) -> H:
    return H(FAMILY[n % 14])


def at(n: int) -> H:
    return H(mail(n))


def tel(n: int) -> H:
    return H(phone(n))


def day(n: int, first: int = 1950) -> str:
    return f"{first + n * 7 % 40}-{1 + n % 12:02}-{1 + n % 28:02}"


def fhir_patient(n: int) -> Record:
    return {
        "resourceType": "Patient",
        "id": H(f"pat-{81_000 + n}"),
        "identifier": [
            {"use": "usual", "system": "urn:oid:1.2.36", "value": H(f"MRN{500_000 + n}")},
            {"use": "official", "system": "http://ssn.example", "value": H(f"{n + 100:03}-44-{7000 + n}")},
        ],
        "active": True,
        "name": [
            {"use": "official", "family": family(n), "given": [given(n), given(n + 5)], "text": full(n)},
        ],
        "telecom": [{"system": "phone", "value": tel(n)}, {"system": "email", "value": at(n)}],
        "gender": ("male", "female")[n % 2],
        "birthDate": H(day(n)),
        "address": [{"line": [H(f"{n} Mill Road")], "city": f"town{n % 4}", "postalCode": f"20{n % 5}00"}],
        "contact": [
            {
                "relationship": [{"text": "mother"}],
                "name": {"family": family(n + 3)},
                "telecom": [{"system": "phone", "value": tel(n + 400)}],
            }
        ],
        "generalPractitioner": [
            {"reference": H(f"Practitioner/{n % 7 + 9900}"), "display": full(n % 7 + 200)}
        ],
    }


def fhir_observation(n: int) -> Record:
    return {
        "resourceType": "Observation",
        "id": H(f"obs-{n + 40_000}"),
        "status": "final",
        "code": {"coding": [{"system": "http://loinc.example", "code": f"8480-{n % 3}", "display": "BP"}]},
        "subject": {"reference": H(f"Patient/{n // 3 + 8800}"), "display": full(n // 3)},
        "performer": [{"reference": H(f"Practitioner/{n % 4 + 7700}"), "display": full(n % 4 + 190)}],
        "effectiveDateTime": f"2021-0{1 + n % 9}-1{n % 9}T08:00:00Z",
        "valueQuantity": {"value": 100 + n % 30, "unit": "mmHg"},
        "note": [{"text": H(f"talked with {name(n)} about the values of last month and what to do {n}")}],
    }


def fhir_claim(n: int) -> Record:
    return {
        "resourceType": "Claim",
        "patient": {"reference": H(f"Patient/{n + 5200}")},
        "provider": {"display": full(n % 5 + 180)},
        "insurance": [
            {"sequence": 1, "coverage": {"display": "Plan A"}, "policyNumber": H(f"PN-{n + 71_000}")}
        ],
        "diagnosis": [{"diagnosisCodeableConcept": {"coding": [{"code": f"J4{n % 4}"}]}}],
        "total": {"value": 100 + 25 * (n % 8), "currency": "EUR"},
    }


def patients_openmrs(n: int) -> Record:
    return {
        "person": {
            "names": [{"givenName": given(n), "familyName": family(n), "preferred": True}],
            "gender": "MF"[n % 2],
            "birthdate": H(day(n)),
            "attributes": [{"attributeType": "Telephone Number", "value": tel(n)}],
        },
        "encounters": [
            {
                "provider": {"display": full(n % 6 + 170)},
                "diagnosis": f"A0{(n + k) % 4}",
                "weight": 50 + n % 30,
            }
            for k in range(2)
        ],
    }


def ward_de(n: int) -> Record:
    return {
        "Fallnummer": H(700_100 + n),
        "Patient": {
            "Name": reversed_name(n),
            "GebDat": H(f"{1 + n % 28:02}.{1 + n % 12:02}.{1940 + n % 50}"),
            "Geschlecht": "mw"[n % 2],
            "PLZ": f"101{n % 4}5",
            "KVNR": H(f"A{123_456_000 + n}"),
        },
        "Einweiser": {"Name": full(n % 5 + 160), "LANR": H(f"{n % 5 + 993_000_000}")},
        "Hauptdiagnose": f"I2{n % 5}.{n % 3}",
        "Angehörige": [
            {"Vorname": given(n + 7), "Nachname": family(n), "Telefon": tel(n + 300), "Art": "Eltern"}
        ],
    }


def lab_fr(n: int) -> Record:
    return {
        "numéro_dossier": H(f"D{n + 33_000}"),
        "NomPatient": family(n),
        "PrénomPatient": given(n),
        "date_de_naissance": H(f"{1 + n % 28:02}/{1 + n % 12:02}/{1950 + n % 40}"),
        "n_sécu": H(f"1{50 + n % 40}0{1 + n % 9}75{100 + n:03}{200 + n:03}"),
        "médecin_traitant": full(n % 6 + 150),
        "résultat": ("positif", "négatif")[n % 2],
        "ville": f"v{n % 3}",
    }


def hospital_es(n: int) -> Record:
    return {
        "historia_clinica": H(f"HC{n + 22_000}"),
        "nombre": given(n),
        "apellido1": family(n),
        "apellido2": family(n + 3),
        "fecha_nacimiento": H(day(n)),
        "sexo": "HM"[n % 2],
        "médico_responsable": full(n % 4 + 140),
        "contacto_emergencia": {"nombre": full(n + 40), "teléfono": tel(n + 200), "parentesco": "madre"},
        "enfermedad": ("gripe", "asma", "úlcera")[n % 3],
    }


def cura_it(n: int) -> Record:
    return {
        "codice_fiscale": H(f"RSSMRA{50 + n % 49}A{1 + n % 9:02}H{501 + n}Z"),
        "cognome": family(n),
        "nome": given(n),
        "data_nascita": H(f"{1 + n % 28:02}/{1 + n % 12:02}/{1950 + n % 40}"),
        "sesso": "MF"[n % 2],
        "medico_curante": full(n % 4 + 130),
        "malattia": ("asma", "diabete")[n % 2],
    }


def zorg_nl(n: int) -> Record:
    return {
        "bsn": H(f"{n + 123_450_000}"),
        "naam_cliënt": full(n),
        "geboortedatum": H(f"{1 + n % 28:02}-{1 + n % 12:02}-{1950 + n % 40}"),
        "geslacht": "mv"[n % 2],
        "huisarts": full(n % 4 + 120),
        "mantelzorger": {"naam": full(n + 33), "telefoonnummer": tel(n + 500)},
        "ziekte": ("griep", "astma", "reuma")[n % 3],
    }


def saude_pt(n: int) -> Record:
    return {
        "nome_completo": full(n),
        "nome_mãe": full(n + 70),
        "cpf": H(f"{n + 100:03}.456.789-{n % 90 + 10}"),
        "nascimento": H(day(n)),
        "sexo": "MF"[n % 2],
        "telemóvel": tel(n),
        "doença": ("gripe", "asma")[n % 2],
    }


def school_en(n: int) -> Record:
    return {
        "student_no": H(f"S{n + 61_000}"),
        "student": {"forename": given(n), "surname": family(n), "dob": H(day(n, 2000))},
        "parents": [{"fullName": full(n + 20), "email": at(n + 300), "relationship": "mother"}],
        "form_tutor": full(n % 5 + 110),
        "year_group": 7 + n % 4,
        "results": [
            {"subject": ("Maths", "History")[k], "teacher": full(k + 100), "grade": "ABC"[(n + k) % 3]}
            for k in range(2)
        ],
        "free_school_meals": n % 5 == 0,
    }


def schule_de(n: int) -> Record:
    return {
        "Schülernummer": H(n + 443_000),
        "Vorname": given(n),
        "Nachname": family(n),
        "Geburtstag": H(f"{1 + n % 28:02}.{1 + n % 12:02}.{2005 + n % 6}"),
        "Klasse": f"{5 + n % 4}a",
        "Klassenlehrerin": full(n % 4 + 95),
        "Erziehungsberechtigte": [{"Name": full(n + 50), "Handy": tel(n + 150)}],
        "Fächer": [{"Fach": ("Mathe", "Deutsch")[k], "Note": 1 + (n + k) % 5} for k in range(2)],
    }


def moodle(n: int) -> Record:
    return {
        "userid": H(n + 9100),
        "username": H(f"{GIVEN[n % 16].lower()}{n + 100}"),
        "email": at(n),
        "lastip": H(f"10.2.{n % 200}.{n % 99 + 1}"),
        "course": {"shortname": f"C{n % 3}", "fullname": "Linear Algebra"},
        "quizzes": [{"name": f"Quiz {k}", "score": (n * 3 + k) % 10} for k in range(2)],
    }


def hr_en(n: int) -> Record:
    return {
        "EmpID": H(n + 10_026),
        "Employee_Name": reversed_name(n),
        "ManagerName": full(n % 5 + 90),
        "ManagerID": H(n % 5 + 330),
        "Salary": 45_000 + n * 317,
        "Position": f"Role {n % 4}",
        "DOB": H(f"{1 + n % 12:02}/{1 + n % 28:02}/{1960 + n % 30}"),
        "MaritalDesc": ("Single", "Married")[n % 2],
        "PerformanceScore": ("Meets", "Exceeds", "Low")[n % 3],
    }


def hr_workday(n: int) -> Record:
    return {
        "Worker": {
            "WorkerID": H(f"W{n + 20_000}"),
            "PersonalData": {
                "LegalName": {"FirstName": given(n), "LastName": family(n)},
                "BirthDate": H(day(n)),
                "Gender": "MF"[n % 2],
                "EmergencyContact": {"Name": full(n + 60), "Phone": tel(n + 60)},
                "NationalID": H(f"{n + 200:03}-55-{4100 + n}"),
            },
            "Compensation": {"AnnualSalary": 30_000 + n % 6 * 2500, "Currency": "USD"},
            "Supervisor": full(n % 4 + 80),
        }
    }


def personal_de(n: int) -> Record:
    return {
        "PersNr": H(n + 50_400),
        "Mitarbeiter": full(n),
        "Vorgesetzter": full(n % 4 + 210),
        "Abteilung": f"Abt {n % 3}",
        "Gehalt": 2500 + n % 9 * 100,
        "IBAN": H(iban(n)),
        "SteuerID": H(str(n + 26_954_371_000)),
        "Krankheitstage": n % 12,
    }


def paie_fr(n: int) -> Record:
    return {
        "matricule": H(f"M{n + 7000}"),
        "salarié": full(n),
        "adresse_postale": H(f"{n} rue Verte"),
        "responsable": full(n % 4 + 75),
        "service": f"s{n % 3}",
        "salaire_brut": 1800 + n % 10 * 50,
        "rib": H(iban(n)),
    }


def bank_en(n: int) -> Record:
    return {
        "customer": {"id": H(f"C-{n + 3100}"), "name": full(n), "username": H(f"user{n + 900}")},
        "accounts": [
            {
                "iban": H(iban(n + 60 * k)),
                "holder": full(n),
                "type": ("giro", "saving")[k],
                "balance": 100 * ((n + k) % 7),
            }
            for k in range(2)
        ],
        "beneficiaries": [{"beneficiary_name": full(n + 31), "iban": H(iban(n + 600))}],
        "age": 20 + n % 40,
        "credit_score": 500 + n * 3,
    }


def cards(n: int) -> Record:
    return {
        "card_number": H(f"4556 {1000 + n} {2000 + n} {3000 + n}"),
        "cardholder": full(n),
        "cvv": H(f"{n + 300}"),
        "merchant": {"name": ("Corner Shop", "Big Market")[n % 2], "category": f"m{n % 3}"},
        "amount": 10 + n % 9,
    }


def insurance_de(n: int) -> Record:
    return {
        "Vertragsnummer": H(f"V{n + 88_000}"),
        "Versicherungsnehmer": full(n),
        "VersicherteNr": H(f"K{n + 120_000}"),
        "Makler": {"Name": full(n % 4 + 65)},
        "Kfz-Kennzeichen": H(f"B-XY {n + 100}"),
        "Schaden": 100 * (n % 7),
        "Geburtsjahr": 1950 + n % 40,
    }


def loans_fr(n: int) -> Record:
    return {
        "emprunteur": {"nom": family(n), "prénom": given(n), "courriel": at(n)},
        "conseiller": full(n % 4 + 55),
        "revenu": 1500 + n * 13,
        "commune": f"c{n % 4}",
        "défaut": n % 6 == 0,
    }


def survey_en(n: int) -> Record:
    return {
        "ResponseId": H(f"R_{n + 1000}x{n}"),
        "IPAddress": H(f"192.168.{n % 9}.{n + 1}"),
        "RecipientFirstName": given(n),
        "RecipientLastName": family(n),
        "RecipientEmail": at(n),
        "LocationLatitude": H(f"{48 + n / 1000:.4f}"),
        "Q1_age": 18 + n % 50,
        "Q2_satisfaction": 1 + n % 5,
        "Q3_comment": H(f"I am {name(n)} and I think that the service should open earlier {n}"),
    }


def court(n: int) -> Record:
    return {
        "case_no": H(f"2023-CR-{n + 1500}"),
        "defendant": {"full_name": full(n), "dob": H(day(n)), "race": "ABC"[n % 3]},
        "judge": full(n % 3 + 45),
        "attorney": {"name": full(n % 6 + 35), "bar_no": H(f"BN{n % 6 + 4000}")},
        "witnesses": [{"name": full(n + 80), "phone": tel(n + 80)}],
        "offense": ("theft", "fraud", "none")[n % 3],
    }


def census(n: int) -> Record:
    return {
        "household_id": H(n + 64_000),
        "address": {"street": H(f"{n} Elm Street"), "city": f"t{n % 3}", "zip": f"9{n % 3}01"},
        "members": [
            {
                "first_name": given(n + k),
                "last_name": family(n),
                "age": 5 + (n + 9 * k) % 60,
                "income": 100 * (n % 9),
            }
            for k in range(2)
        ],
    }


def crm(n: int) -> Record:
    return {
        "Account Name": full(n),
        "Contact Name": full(n + 10),
        "Owner": full(n % 4 + 205),
        "Mobile": tel(n),
        "LinkedIn": H(f"https://www.linkedin.example/in/u{n}"),
        "Lead Source": ("web", "fair")[n % 2],
        "Country": "AB"[n % 2],
        "Created By": full(n % 3 + 215),
    }


def orders(n: int) -> Record:
    return {
        "order_id": H(f"O{n + 12_000}"),
        "buyer": {"name": full(n), "email": at(n)},
        "shipTo": {"name": full(n + 11), "addressLine1": H(f"{n} Oak Lane"), "city": f"c{n % 4}"},
        "billTo": {"attention": full(n), "phone": tel(n)},
        "items": [
            {"sku": f"sku{(n + k) % 5}", "name": f"Chair {(n + k) % 5}", "qty": 1 + k} for k in range(2)
        ],
        "sales_rep": full(n % 5 + 25),
    }


def travel(n: int) -> Record:
    return {
        "pnr": H(f"X{n + 2600}Q"),
        "passengers": [
            {
                "paxName": H(f"{FAMILY[n % 14].upper()}/{GIVEN[n % 16].upper()} MR"),
                "seat": f"{n % 30}A",
                "passport": H(f"P{n + 440_000}"),
                "frequentFlyerNo": H(f"FF{n + 9_000}"),
            }
        ],
        "airline": {"name": ("Blue Wings", "Red Jets")[n % 2]},
        "departure": f"2024-0{1 + n % 9}-0{1 + n % 9}",
        "meal": ("veg", "std")[n % 2],
    }


def club(n: int) -> Record:
    return {
        "member": full(n),
        "member_since": 2000 + n % 20,
        "coach": full(n % 3 + 15),
        "shirt_number": n % 20,
        "instagram": H(f"@{GIVEN[n % 16].lower()}{n}"),
        "sex": "mf"[n % 2],
        "injury": ("knee", "none")[n % 2],
    }


def church_nl(n: int) -> Record:
    return {
        "lidnummer": H(n + 15_500),
        "achternaam": family(n),
        "tussenvoegsel": "van",
        "voorletters": f"{GIVEN[n % 16][0]}.",
        "adres": {"straat": H(f"Kerkstraat {n}"), "postcode": H(f"10{n + 10}AB"), "woonplaats": f"w{n % 3}"},
        "partner": {"naam": full(n + 45), "geboortedatum": H(day(n))},
        "religie": "ab"[n % 2],
    }


def tenants(n: int) -> Record:
    return {
        "Mieter": [{"Anrede": "Frau", "Name": full(n), "E-Mail": at(n)}],
        "Hausmeister": full(n % 2 + 5),
        "Wohnung": {"Straße": H(f"Ringweg {n}"), "Ort": f"O{n % 3}", "Größe": 40 + n % 5 * 10},
        "Miete": 500 + n % 8 * 25,
    }


def police_es(n: int) -> Record:
    return {
        "expediente": H(f"E/{n + 5000}"),
        "denunciante": {"nombre_y_apellidos": full(n), "dni": H(f"{n + 20_000_000}X")},
        "agente": full(n % 4 + 222 % 200),
        "matrícula": H(f"{1000 + n} BCD"),
        "municipio": f"m{n % 3}",
        "delito": ("robo", "fraude")[n % 2],
    }


def phenopacket(n: int) -> Record:
    return {
        "id": H(f"PP{n + 3000}"),
        "subject": {
            "id": H(f"ind-{n + 3000}"),
            "sex": ("MALE", "FEMALE")[n % 2],
            "timeAtLastEncounter": {"age": f"P{20 + n % 30}Y"},
        },
        "phenotypicFeatures": [
            {"type": {"id": f"HP:000{n % 4}", "label": ("Seizure", "Ataxia", "Tremor", "Pain")[n % 4]}}
        ],
        "metaData": {"createdBy": full(n % 3 + 30), "created": f"2022-0{1 + n % 9}-01"},
    }


def telemetry(n: int) -> Record:
    return {
        "device_id": H(f"{n + 4000:08x}-aaaa-4bbb-8ccc-{n + 10:012x}"),
        "owner_email": at(n),
        "gps": {"lat": H(f"{52 + n / 997:.5f}"), "lon": H(f"{13 + n / 991:.5f}")},
        "steps": 1000 + n % 9 * 500,
        "os": ("a", "b")[n % 2],
    }


MAKERS: tuple[Callable[[int], Record], ...] = (
    *(fhir_patient, fhir_observation, fhir_claim, patients_openmrs, ward_de, lab_fr, hospital_es, cura_it),
    *(zorg_nl, saude_pt, school_en, schule_de, moodle, hr_en, hr_workday, personal_de, paie_fr, bank_en),
    *(cards, insurance_de, loans_fr, survey_en, court, census, crm, orders, travel, club, church_nl, tenants),
    *(police_es, phenopacket, telemetry),
)


_NAMES = {
    "pl": (["Agnieszka", "Krzysztof", "Małgorzata", "Tomasz"], ["Kowalska", "Nowak", "Wiśniewski"]),
    "sv": (["Astrid", "Björn", "Linnea", "Gustaf"], ["Andersson", "Johansson", "Lindqvist"]),
    "tr": (["Ayşe", "Mehmet", "Fatma", "Mustafa"], ["Çelik", "Kaya", "Demir"]),
    "hi": (["Priya", "Rahul", "Ananya", "Arjun"], ["Sharma", "Patel", "Iyer"]),
    "hu": (["Katalin", "László", "István", "Zsuzsa"], ["Nagy", "Kovács", "Tóth"]),
    "ru": (["Анна", "Иван", "Ольга", "Дмитрий"], ["Иванова", "Петров", "Сидорова"]),
    "el": (["Γιώργος", "Μαρία", "Ελένη", "Νίκος"], ["Παπαδόπουλος", "Γεωργίου", "Νικολάου"]),
    "ja": (["太郎", "花子", "健", "美咲"], ["佐藤", "鈴木", "高橋"]),
    "ar": (["محمد", "فاطمة", "أحمد", "عائشة"], ["حداد", "خوري", "نصر"]),
}


def first(language: str, n: int) -> H:
    return H(_NAMES[language][0][n % 4])


def last(language: str, n: int) -> H:
    return H(_NAMES[language][1][n // 4 % 3])


def both(language: str, n: int) -> H:
    return H(f"{first(language, n).value} {last(language, n).value}")


_LANGUAGES: dict[str, Callable[[int], Record]] = {
    "pl": lambda n: {
        "imię": first("pl", n),
        "nazwisko": last("pl", n),
        "PESEL": H(f"{44_051_400_000 + n}"),
        "lekarz": both("pl", n % 4 + 9),
        "miasto": f"m{n % 3}",
        "rozpoznanie": f"J1{n % 4}",
    },
    "sv": lambda n: {
        "förnamn": first("sv", n),
        "efternamn": last("sv", n),
        "personnummer": H(f"19{50 + n % 40}0{1 + n % 9}1{n % 9}-{1000 + n}"),
        "läkare": both("sv", n % 4),
        "diagnos": "ab"[n % 2],
    },
    "tr": lambda n: {
        "soyad": last("tr", n),
        "kisi": first("tr", n),
        "TC_kimlik_no": H(f"{12_345_678_000 + n}"),
        "doktor": both("tr", n % 4),
        "yaş": 20 + n % 40,
    },
    "hi": lambda n: {
        "Emp Name": both("hi", n),
        "Reporting Manager": both("hi", n % 5),
        "Aadhaar": H(f"{2000 + n} {3000 + n} {4000 + n}"),
        "approver_l2": both("hi", n % 3),
        "Dept": "abc"[n % 3],
    },
    "hu": lambda n: {
        "vezetéknév": last("hu", n),
        "keresztnév": first("hu", n),
        "TAJ": H(f"{100 + n} 123 {400 + n}"),
        "orvos": both("hu", n % 4),
        "nem": "fn"[n % 2],
    },
    "ru": lambda n: {
        "ФИО": both("ru", n),
        "полис": H(f"P{n + 31_000}"),
        "врач": both("ru", n % 4),
        "пол": "мж"[n % 2],
        "диагноз": "дж"[n % 2],
    },
    "el": lambda n: {
        "όνομα": first("el", n),
        "επώνυμο": last("el", n),
        "αριθμός μητρώου": H(f"{n + 12_345_678_000}"),
        "ιατρός": both("el", n % 4),
        "ηλικία": 20 + n % 40,
    },
    "ja": lambda n: {
        "氏名": H(f"{last('ja', n).value}{first('ja', n).value}"),
        "patient_id": H(n + 7_700_000),
        "担当医": H(f"{_NAMES['ja'][1][n % 3]}{_NAMES['ja'][0][n % 3]}"),
        "性別": "男女"[n % 2],
    },
    "ar": lambda n: {
        "الاسم": both("ar", n),
        "mrn": H(n + 8_800_000),
        "الطبيب": both("ar", n % 4),
        "العمر": 20 + n % 40,
    },
    "unnamed": lambda n: {
        "x1": both("pl", n),
        "x2": ("Blue Chair", "Red Table", "Green Lamp")[n % 3],
        "handled": both("hi", n % 5),
        "row": H(f"r{n + 51_000}"),
    },
    "capitals": lambda n: {
        "PT_NAME": H(str(both("pl", n).value).upper()),
        "PT_NO": H(n + 9_900_000),
        "ATTN": H(str(both("hi", n % 5).value).upper()),
        "SURNM": H(str(last("pl", n).value).upper()),
        "DX1": f"I1{n % 4}",
    },
    "small_letters": lambda n: {
        "assignee": H(str(both("hi", n % 5).value).lower()),
        "checked": H(str(both("sv", n % 7).value).lower()),
        "priority": n % 3,
    },
    "hl7": lambda n: {
        "PID": {
            "PID.3": H(f"{n + 88_000}"),
            "PID.5": H(f"{last('pl', n).value}^{first('pl', n).value}"),
            "PID.8": "MF"[n % 2],
        },
        "PV1": {"PV1.7": H(f"12^{last('hi', n % 5).value}^{first('hi', n % 5).value}")},
        "DG1": [{"DG1.3": f"E1{n % 3}"}],
    },
    "issues": lambda n: {
        "author": {"login": H(f"dev{n % 40 + 100}"), "node_id": H(f"MDQ6{n % 40 + 1000}")},
        "assignees": [{"login": H(f"dev{n % 7 + 100}")}],
        "labels": [{"name": ("bug", "doc")[n % 2], "color": "ff0000"}],
    },
    "teams": lambda n: {
        "unit": f"u{n % 4}",
        "team": {
            "lead": {"fullName": both("hi", n % 4), "ext": H(f"{4000 + n % 4}")},
            "members": [
                {"displayName": both("pl", n + k), "employeeNumber": H(f"E{n * 2 + k + 500}")}
                for k in range(2)
            ],
        },
    },
}
MORE: dict[str, Callable[[int], Record]] = {make.__name__: make for make in MAKERS} | _LANGUAGES
"""The collections by name; each makes the record of a number."""
