"""Exports of FHIR, of registries, shops and offices, and records that are written as XML.

A value in ``H`` identifies somebody, as in ``made_up_sectors``. All persons are invented.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from tests.drafting.made_up_people import iban, name
from tests.drafting.made_up_sectors import H, Record, at, day, family, full, given, tel


def initials(n: int) -> str:
    return ".".join(word[0] for word in name(n).split()) + "."


def write_xml(value: Any, tag: str) -> str:
    """Return a record as an element; keys that begin with @ are attributes."""
    if isinstance(value, list):
        return "".join(write_xml(one, tag) for one in value)
    if not isinstance(value, dict):
        return f"<{tag}>{escape(str(value))}</{tag}>"
    own = "".join(f" {key[1:]}={quoteattr(str(one))}" for key, one in value.items() if key[0] == "@")
    below = "".join(write_xml(one, key) for key, one in value.items() if key[0] != "@")
    return f"<{tag}{own}>{below}</{tag}>"


Make = Callable[[int], Record]
XML: dict[str, Make] = {
    "emp": lambda n: {
        "@id": H(f"E{n + 4000}"),
        "PersonName": {"FormattedName": full(n), "GivenName": given(n), "FamilyName": family(n)},
        "ContactInfo": [{"Type": "home", "Value": tel(n)}, {"Type": "mail", "Value": at(n)}],
        "Manager": {"@ref": H(f"E{n % 5 + 4900}"), "Name": full(n % 5 + 100)},
        "Grade": f"G{n % 4}",
        "Salary": str(40000 + n * 11),
        "Dependents": [
            {"Dependent": [{"Name": full(n + 50), "BirthDate": H(day(n, 2000)), "Relation": "child"}]}
        ],
    },
    "Schueler": lambda n: {
        "Nummer": H(str(n + 8000)),
        "Name": {"Vorname": given(n), "Nachname": family(n)},
        "Eltern": [{"Mutter": full(n + 20)}, {"Vater": full(n + 21)}],
        "Klasse": "abc"[n % 3],
        "Zeugnis": [{"Fach": "Mathe", "Note": str(1 + n % 5)}, {"Fach": "Sport", "Note": str(1 + n % 4)}],
    },
    "recordTarget": lambda n: {
        "patientRole": {
            "id": {"@extension": H(f"9988{n + 100}"), "@root": "2.16.840"},
            "addr": {"streetAddressLine": H(f"{n} Lake Rd"), "city": f"c{n % 3}"},
            "telecom": {"@value": H(f"tel:+1(555)555-{1000 + n}")},
            "patient": {
                "name": {"given": given(n), "family": family(n)},
                "administrativeGenderCode": {"@code": "MF"[n % 2]},
                "birthTime": {"@value": H(f"19{50 + n % 40}0{1 + n % 9}1{n % 9}")},
                "guardian": {"guardianPerson": {"name": {"given": given(n + 4), "family": family(n + 2)}}},
            },
            "providerOrganization": {"name": "Good Health Clinic"},
        }
    },
    "CdtTrfTxInf": lambda n: {
        "PmtId": {"EndToEndId": H(f"E2E{n + 500}")},
        "Amt": {"InstdAmt": str(10 + n % 7)},
        "Cdtr": {"Nm": full(n)},
        "CdtrAcct": {"Id": {"IBAN": H(iban(n))}},
        "RmtInf": {"Ustrd": H(f"Rechnung {n + 1000} {name(n)}")},
        "CdtrAgt": {"FinInstnId": {"BIC": "DEUTDEFF"}},
    },
}
"""By the name of the element of a record."""
EXPORTS: dict[str, Make] = {
    "encounter": lambda n: {
        "resourceType": "Encounter",
        "id": H(f"enc{n + 100}"),
        "status": "finished",
        "class": {"code": "AMB"},
        "subject": {"reference": H(f"Patient/{n + 300}")},
        "participant": [
            {"individual": {"reference": H(f"Practitioner/{n % 5 + 10}"), "display": full(n % 5 + 30)}}
        ],
        "period": {"start": f"2020-0{1 + n % 9}-1{n % 9}T08:00:00+01:00"},
        "reasonCode": [{"coding": [{"code": f"R{n % 4}"}], "text": "pain"}],
        "serviceProvider": {"display": "City Hospital"},
    },
    "related": lambda n: {
        "resourceType": "RelatedPerson",
        "patient": {"reference": H(f"Patient/{n + 300}")},
        "relationship": [{"coding": [{"code": "MTH"}]}],
        "name": [{"family": family(n), "given": [given(n)]}],
        "telecom": [{"system": "phone", "value": tel(n)}],
        "photo": [{"url": H(f"https://img.example/{n}")}],
        "gender": "female",
    },
    "medreq": lambda n: {
        "resourceType": "MedicationRequest",
        "status": "active",
        "subject": {"reference": H(f"Patient/{n // 2 + 300}")},
        "requester": {"display": full(n % 4 + 60)},
        "recorder": {"identifier": {"value": H(f"LIC{n % 4 + 700}")}},
        "medicationCodeableConcept": {"coding": [{"system": "rx", "code": str(1000 + n % 4)}], "text": "asp"},
        "dosageInstruction": [{"text": "one a day"}],
        "groupIdentifier": {"value": H(f"G{n + 5000}")},
    },
    "practitioner": lambda n: {
        "resourceType": "Practitioner",
        "identifier": [{"system": "npi", "value": H(str(1234560000 + n))}],
        "name": [{"prefix": ["Dr"], "family": family(n), "given": [given(n)], "text": H(f"Dr {name(n)}")}],
        "qualification": [{"code": {"text": f"q{n % 3}"}, "issuer": {"display": "Board"}}],
        "gender": "male",
    },
    "coverage": lambda n: {
        "resourceType": "Coverage",
        "subscriberId": H(f"S{n + 10000}"),
        "subscriber": {"display": full(n)},
        "beneficiary": {"reference": H(f"Patient/{n + 1}")},
        "payor": [{"display": "Aetna"}],
        "class": [{"type": {"text": "plan"}, "value": f"p{n % 3}"}],
        "relationship": {"text": "self"},
    },
    "contacts_deep": lambda n: {
        "case": {
            "no": H(f"C-{n + 100}"),
            "parties": [
                {
                    "role": "plaintiff",
                    "party": {
                        "nm": full(n),
                        "contact": {"emails": [at(n)], "phones": [{"no": tel(n), "kind": "m"}]},
                    },
                },
                {
                    "role": "counsel",
                    "party": {"nm": full(n % 6 + 40), "contact": {"emails": [at(n % 6 + 500)]}},
                },
            ],
        },
        "court": f"ct{n % 3}",
    },
    "vcardlike": lambda n: {
        "entry": {
            "n": H(f"{family(n).value};{given(n).value};;;"),
            "tel": [tel(n)],
            "email": [at(n)],
            "role": "abc"[n % 3],
        }
    },
    "crm_de": lambda n: {
        "Kunde": {
            "Firma": f"F{n % 4}",
            "Ansprechpartner": {"Anrede": "Herr", "Vorname": given(n), "Name": family(n)},
            "Durchwahl": H(f"{n + 2000}"),
        },
        "Umsatz": 100 * (n % 9),
        "Betreuer": full(n % 4 + 70),
    },
    "time": lambda n: {
        "Mitarbeiter-Nr.": H(f"{n // 4 + 700}"),
        "Datum": f"0{1 + n % 9}.03.2024",
        "Kommt": f"0{7 + n % 2}:{n % 60:02}",
        "Geht": f"1{6 + n % 2}:{n % 60:02}",
        "Kommentar": "",
    },
    "payroll": lambda n: {
        "employee_ssn_last4": H(f"{1000 + n * 7}"),
        "emp_full_nm": full(n),
        "bank_acct": H(f"{n + 88990011}"),
        "routing": "021000021",
        "gross": 3000 + n * 3,
        "net_pay": 2000 + n * 2,
    },
    "game": lambda n: {
        "gamertag": H(f"xX{n + 100}Xx"),
        "discord": H(f"user#{n + 1000}"),
        "steam_id": H(f"7656119{n + 8000000000}"),
        "friends": [H(f"xX{n + 101}Xx"), H(f"xX{n + 102}Xx")],
        "level": n % 20,
        "country": "AB"[n % 2],
    },
    "genome": lambda n: {
        "sample": H(f"NA{n + 19000}"),
        "donor": {"initials": initials(n), "yob": 1950 + n % 40},
        "variant": [{"gene": "BRCA1", "zygosity": "het"}],
    },
    "gp_uk": lambda n: {
        "NHS Number": H(f"{n + 400:03} 123 {n + 4000}"),
        "Surname": family(n),
        "Forename": given(n),
        "Usual GP": full(n % 4 + 80),
        "Next of Kin": full(n + 10),
        "NoK Phone": H(f"020 7946 0{n:03}"),
        "BMI": 20 + n % 12,
        "Smoking status": "yn"[n % 2],
    },
    "inv_fr": lambda n: {
        "N° client": H(f"CL{n + 900}"),
        "Raison sociale / Nom": full(n),
        "Tél.": H(f"06 12 34 56 {n % 90 + 10}"),
        "Courriel": at(n),
        "Commercial": full(n % 4 + 90),
        "Montant": 10 * (n % 9),
    },
    "es_escuela": lambda n: {
        "alumno": {"nombres": given(n), "apellidos": family(n), "CURP": H(f"ABCD{100000 + n}HDFRRL0{n % 9}")},
        "tutor": {"nombre completo": full(n + 7), "celular": H(f"55 1234 {5000 + n}")},
        "calificaciones": [{"materia": "m", "nota": n % 10}],
    },
    "br": lambda n: {
        "aluno": full(n),
        "nome_do_pai": full(n + 100),
        "RG": H(f"12.345.{n + 100}-X"),
        "bairro": f"b{n % 3}",
        "nota": n % 10,
        "professora": full(n % 3 + 50),
    },
    "nl_hr": lambda n: {
        "personeelsnummer": H(f"{n + 60000}"),
        "medewerker": full(n),
        "leidinggevende": full(n % 4 + 60),
        "functie": f"f{n % 3}",
        "brutoloon": 2000 + n * 5,
        "verzuimdagen": n % 10,
    },
}
