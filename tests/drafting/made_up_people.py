"""Synthetic collections of persons, as registrations, schools, hospitals and shops export them.

Values that identify somebody are marked: no release may show any of them. All persons are invented.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Record = dict[str, Any]
Make = Callable[[int], list[Record]]

GIVEN = [
    "Anna",
    "Bernd",
    "Carla",
    "David",
    "Elena",
    "Felix",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Karin",
    "Lucas",
    "Maria",
    "Nina",
    "Otto",
    "Paula",
]
FAMILY = [
    "Abel",
    "Brandt",
    "Costa",
    "Dubois",
    "Evers",
    "Ferrari",
    "Garcia",
    "Huber",
    "Ivanov",
    "Jansen",
    "Klein",
    "Lopes",
    "Meier",
    "Novak",
]


def name(n: int) -> str:
    """Return a full name; the names of 224 persons differ."""
    return f"{GIVEN[n % 16]} {FAMILY[n // 16 % 14]}"


def iban(n: int) -> str:
    """Return a German account with the right check."""
    account = f"370400440{n:09}"
    check = 98 - int(f"{account}131400") % 97
    return f"DE{check:02}{account}"


def phone(n: int) -> str:
    return f"+49 30 55{n:05}"


def mail(n: int) -> str:
    return f"{GIVEN[n % 16].lower()}.{n}@example.org"


def registrations_en(count: int) -> list[Record]:
    return [
        {
            "first_name": GIVEN[n % 16],
            "last_name": FAMILY[n % 14],
            "email": mail(n % (count - 9)),
            "age": 20 + n % 40,
            "city": f"town{n % 5}",
            "newsletter": n % 2 == 0,
            "diagnosis": ("flu", "asthma", "ulcer")[n % 3],
        }
        for n in range(count)
    ]


def visits_de(count: int) -> list[Record]:
    """Several visits of each patient, by a number and by a name."""
    return [
        {
            "Patientennummer": f"P{n // 3:04}",
            "Patientenname": name(n // 3),
            "Geburtsdatum": f"19{40 + n // 3 % 50}-0{1 + n // 3 % 9}-11",
            "Geschlecht": "mw"[n // 3 % 2],
            "Station": f"S{n % 4}",
            "behandelnder_Arzt": name(200 + n % 4),
            "Diagnose": ("Grippe", "Asthma", "Bruch")[n % 3],
        }
        for n in range(count)
    ]


def school_fr(count: int) -> list[Record]:
    return [
        {
            "nom_famille": FAMILY[n % 14],
            "Prénom": GIVEN[n % 16],
            "date_naissance": f"200{n % 9}-03-{1 + n % 28:02}",
            "sexe": "FM"[n % 2],
            "professeur": name(100 + n % 5),
            "notes_cours": [{"matiere": "abc"[k], "note": (n + k) % 20} for k in range(2)],
            "adresse": f"{n} rue de la Paix",
        }
        for n in range(count)
    ]


def staff_es(count: int) -> list[Record]:
    return [
        {
            "DNI": f"{10_000_000 + n}{'TRWAGMYFPDXBNJZSQVHLCKE'[(10_000_000 + n) % 23]}",
            "nombre_empleado": name(n),
            "jefe": name(n % 6),
            "departamento": f"d{n % 4}",
            "salario": 20_000 + n % 7 * 1000,
            "cuenta": iban(n),
        }
        for n in range(count)
    ]


def orders_it(count: int) -> list[Record]:
    return [
        {
            "ordine": 10_000 + n,
            "cliente": {"nome": name(n // 2), "telefono": phone(n // 2), "citta": f"c{n // 2 % 4}"},
            "spedizione": {"nome": name(n // 2 + 60), "indirizzo": f"Via Roma {n}"},
            "righe": [{"prodotto": f"p{(n + k) % 6}", "prezzo": 10 + k} for k in range(2)],
        }
        for n in range(count)
    ]


def survey_nl(count: int) -> list[Record]:
    return [
        {
            "respondentnummer": 7000 + n,
            "voornaam": GIVEN[n % 16],
            "achternaam": FAMILY[n % 14],
            "leeftijd": 18 + n % 60,
            "geslacht": "mv"[n % 2],
            "antwoorden": [{"vraag": k, "score": (n + k) % 5} for k in range(3)],
            "opmerking": f"gesproken met {name(n)} over de afdeling en de nieuwe regels van maand {n}",
        }
        for n in range(count)
    ]


def clinic_pt(count: int) -> list[Record]:
    return [
        {
            "id_paciente": n // 4,
            "sexo": "FM"[n // 4 % 2],
            "idade": 30 + n // 4 % 30,
            "telefone": phone(n // 4),
            "consulta": f"2024-0{1 + n % 9}-1{n % 9}",
            "exame": ("a", "b", "c")[n % 3],
        }
        for n in range(count)
    ]


def relatives(count: int) -> list[Record]:
    """Names, days of birth and numbers of relatives in a list; a name of a thing beside them."""
    return [
        {
            "member": {"id": 5000 + n, "age": 30 + n % 30},
            "relatives": [
                {"name": name(2 * n + k), "birthDate": f"19{50 + n % 40}-0{1 + k}-17", "kind": "ab"[k]}
                for k in range(2)
            ],
            "identifiers": [{"system": "urn:a", "value": f"{n:03}-12-{4000 + n}"}],
            "plan": {"name": ("Basic Cover", "Full Cover")[n % 2]},
        }
        for n in range(count)
    ]


def contacts(count: int) -> list[Record]:
    """Ways to reach somebody in one list, and a column whose name says nothing."""
    return [
        {
            "col1": name(n),
            "telecom": [
                {"system": "phone", "value": phone(n)},
                {"system": "email", "value": mail(n)},
                {"system": "url", "value": f"https://example.org/u/{n}"},
            ],
            "age": 20 + n % 30,
            "grade": "abcd"[n % 4],
        }
        for n in range(count)
    ]


def conditions(count: int) -> list[Record]:
    """FHIR: several conditions of each patient, by a reference."""
    return [
        {
            "resourceType": "Condition",
            "id": f"c{n:05}",
            "subject": {"reference": f"Patient/{7000 + n // 4}", "display": name(n // 4)},
            "code": {"coding": [{"system": "http://terms.example/icd", "code": f"E1{n % 5}"}]},
            "recorder": {"display": name(200 + n % 3)},
            "onsetDateTime": f"2020-0{1 + n % 9}-1{n % 9}",
        }
        for n in range(count)
    ]


def tickets(count: int) -> list[Record]:
    return [
        {
            "ticket_no": 90_000 + n,
            "requested_by": name(n % 40),
            "assigned_to": name(150 + n % 4),
            "priority": 1 + n % 4,
            "ship_to": {"attention": name(n % 40 + 50), "country": "AB"[n % 2]},
            "category": ("net", "desk", "mail")[n % 3],
        }
        for n in range(count)
    ]


def households_de(count: int) -> list[Record]:
    return [
        {
            "Haushalt": n // 2,
            "Personen": [{"Vorname": GIVEN[(n + k) % 16], "Alter": 20 + (n + k) % 50} for k in range(2)],
            "Ansprechpartner": name(n),
            "IBAN": iban(n),
            "Bundesland": f"L{n % 4}",
        }
        for n in range(count)
    ]


def loans(count: int) -> list[Record]:
    return [
        {
            "CUST_NO": 4000 + n // 3,
            "CUST_NM": name(n // 3),
            "TAX_ID": f"{n // 3:03}-45-{6000 + n // 3}",
            "CO_SIGNER_NAME": name(n // 3 + 90),
            "sex": "mf"[n // 3 % 2],
            "dob": f"19{50 + n // 3 % 40}-05-{1 + n // 3 % 28:02}",
            "loan": 1000 * (1 + n % 9),
        }
        for n in range(count)
    ]


def students_it(count: int) -> list[Record]:
    return [
        {
            "matricola": f"{600_000 + n}",
            "studente": name(n),
            "corso": {"nome": ("Analisi Matematica", "Fisica Generale", "Storia Antica")[n % 3]},
            "docente": name(120 + n % 3),
            "voto": 18 + n % 13,
        }
        for n in range(count)
    ]


def athletes(count: int) -> list[Record]:
    """A name in one word beside age and sex; codes of things that repeat."""
    return [
        {
            "name": f"{GIVEN[n % 16]}{FAMILY[n // 16 % 14].lower()}",
            "sex": "mf"[n % 2],
            "age": 18 + n % 20,
            "club": {"name": f"FC {'ABCD'[n % 4]}"},
            "injury": ("knee", "back", "none")[n % 3],
        }
        for n in range(count)
    ]


COLLECTIONS: dict[str, Make] = {
    own.__name__: own
    for own in (
        *(registrations_en, visits_de, school_fr, staff_es, orders_it, survey_nl, clinic_pt, relatives),
        *(contacts, conditions, tickets, households_de, loans, students_it, athletes),
    )
}
"""The collections by name; each is made for a number of records."""

UNITED = {
    "visits_de": "$.Patientennummer",
    "orders_it": "$.cliente.nome",
    "clinic_pt": "$.id_paciente",
    "conditions": "$.subject.reference",
    "loans": "$.CUST_NO",
}
"""Of those whose records repeat persons, the field by which a draft unites them."""
