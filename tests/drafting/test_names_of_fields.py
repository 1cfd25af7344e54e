"""Exports of several sectors: what leads to a person is dropped, and names of things are not."""

from __future__ import annotations

import random
from typing import Any

import hierdata

NAMES = ("Keller", "Brandt", "Holm", "Lindner", "Sommer", "Vogel", "Berger")
DIRECT = ("identifier", "free_text")

COLLECTIONS: tuple[tuple[dict[str, tuple[Any, ...]], dict[str, tuple[str, ...]]], ...] = (
    (  # human resources, German
        {"Nachname": NAMES, "Krankheitstage": (0, 3, 9), "Fehltage": (1, 2), "Abteilung": ("IT", "Lager")},
        {
            "Nachname": DIRECT,
            "Krankheitstage": ("sensitive",),
            "Fehltage": ("sensitive",),
            "Abteilung": ("quasi",),
        },
    ),
    (  # hospital, Spanish
        {"apellidos": NAMES, "diagnostico": ("gripe", "asma"), "medico": ("Dr. Ruiz", "Dra. Gil")},
        {"apellidos": DIRECT, "diagnostico": ("sensitive",), "medico": DIRECT},
    ),
    (  # hospital, Italian and French
        {"cognome": NAMES, "diagnosi": ("asma", "gotta"), "traitement": ("repos", "aspirine")},
        {"cognome": DIRECT, "diagnosi": ("sensitive",), "traitement": ("sensitive",)},
    ),
    (  # abbreviations
        {"pLn": NAMES, "ptFName": ("Anna", "Paul", "Rosa"), "Rx": ("aspirin", "metformin"), "age": (30, 40)},
        {"pLn": DIRECT, "ptFName": DIRECT, "Rx": ("sensitive",), "age": ("quasi",)},
    ),
    (  # a study: its heads are written with titles, its sites are things
        {"pi": ("Prof. Kern", "Prof. Wirth", "Dr. Sund"), "siteName": ("North Clinic", "South Clinic")},
        {"pi": DIRECT, "siteName": ("quasi",)},
    ),
    (  # a bank
        {"kontoinhaber": NAMES, "saldo": (100, 250, 900), "kontostand": (5, 80), "branch": ("Mitte", "Nord")},
        {"kontoinhaber": DIRECT, "saldo": ("sensitive",), "kontostand": ("sensitive",), "branch": ("quasi",)},
    ),
    (  # schools and staff: what teachers, payrolls and nurses call what they write down
        {
            "NoteMaths": (12, 7, 15),
            "Boursier": ("O", "N"),
            "AETERM": ("Headache", "Rash"),
            "Konf": ("rk", "ev"),
            "Brutto": (2500, 3100, 4000),
            "NotaFinal": (3, 4, 5),
            "note": ("late", "ill", "late"),
        },
        {
            **dict.fromkeys(("NoteMaths", "Boursier", "AETERM", "Konf"), ("sensitive",)),
            **dict.fromkeys(("Brutto", "NotaFinal"), ("sensitive",)),
            "note": ("quasi",),
        },
    ),
    (  # a shop: brands may have titles, and those who sell them too
        {
            "brand": ("Dr. Pepper", "Mr. Clean", "Dr. Oetker"),
            "soldBy": ("Dr. Pepper", "Mr. Clean", "Dr. Kern"),
        },
        {"brand": ("quasi",), "soldBy": DIRECT},
    ),
    (  # telephones: long numbers are nobody's measure, whatever they are called
        {
            "imsi": (262010000000001, 262010000000002),
            "party": (491700000017, 491700000018, 491700000019),
            "Personnr": ("19500111-1000", "19610212-2003", "19720313-3006"),
        },
        {"imsi": DIRECT, "party": ("sensitive", *DIRECT), "Personnr": DIRECT},
    ),
    (  # a shop: names of things
        {
            "productName": ("Blue Chair", "Oak Table", "Desk Lamp"),
            "course_name": ("Linear Algebra", "World History"),
        },
        {"productName": ("quasi",), "course_name": ("quasi",)},
    ),
)


HOLDERS = (
    *(
        "accountHolder",
        "cardholder",
        "titulaire",
        "titular",
        "intestatario",
        "rekeninghouder",
        "Karteninhaber",
    ),
    *("payer", "debtor_name", "creditor", "borrower", "guarantor", "grandmother", "uncle"),
    "Schuldner",
)
"""Fields of persons in finance, law and families, whose values here are common words too."""


def test_holders_of_accounts_and_relatives_are_persons() -> None:
    records = [dict.fromkeys(HOLDERS, NAMES[(n * n + n // 3) % 7]) for n in range(40)]
    assert {one.proposal.role for one in hierdata.init(records).fields} == {"identifier"}


def test_roles_by_names_of_fields_and_by_contents() -> None:
    draw = random.Random(1)
    for columns, expected in COLLECTIONS:
        records = [{name: draw.choice(own) for name, own in columns.items()} for _ in range(60)]
        draft = hierdata.init(records)
        found = {
            one.path.removeprefix("$.entries[*].").removeprefix("$."): one.proposal.role
            for one in draft.fields
        }
        for name, roles in expected.items():
            assert found[name] in roles, (name, found[name])
