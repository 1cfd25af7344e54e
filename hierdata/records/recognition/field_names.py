"""Hints from the names of fields, apart from those at persons (see ``persons``): a small table of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from hierdata.records.recognition.words import word_set, words_of

Hint: TypeAlias = Literal["reference", "structure", "quasi", "postal", "sensitive", "free_text"]
"""``reference`` identifies people if its values hardly repeat; ``postal`` is a quasi-identifier of codes.

``structure`` says how the object around it is to be read, if its values are few.
"""

_WORDS: dict[Hint, str] = {
    "reference": """
        cid guid id identifier key name no nr number oid pid pk ref reference rowid serial sid uid uuid
    """,
    "structure": """
        classcode codesystem codesystemname codingsystem mime mimetype moodcode nullflavor profile
        resourcetype schema status statuscode system templateid use version versionid
    """,
    "free_text": "comment comments description memo message narrative note notes remark remarks summary text",
    "sensitive": """
        absence alcohol allergy balance befund belief bonus cause condition conditionconceptid
        consumable conviction creditamount creditscore crime dalc debt default diag diagnos diagnose dx
        diagnoses diagnosis disability disease disorder doenca drinking drug drugconceptid drugs
        einkommen enfermedad engagement failure finding gehalt gesundheit gezondheid gpa grade
        health hiv icd ill illness income rozpoznanie диагноз διαγνωση ingresos inkomen interpretation
        krankheit loan lohn maladie
        malattia mark measurement measurementconceptid medication medicine medikament mortality
        noten observation observationconceptid offence offense opinion orientation outcome party
        payrate performance phenotype phenotypic politics pregnancy problem procedure
        procedureconceptid prognosis rating reasoncode reasonreference reddito religion renda result
        revenu salaire salario salaris salary salbegin salud salute sante satisfaction saude score
        smoker smokes smoking snomed stipendio symptom symptoms terminationreason termreason test
        therapy treatment union vaccine valueasconceptid valueasnumber valuequantity violation vote
        wage walc wellbeing zensur ziekte
        diagnosi diagnostic diagnostico diagnostik diagnosticum diagnoza farmaci farmaco fehltage fehlzeit
        fehlzeiten geneesmiddel kontostand krankheitstage krankmeldung medicament medicamento medicinale
        medicijn patologia rx saldo sintoma sintomo sueldo symptome symptomen tratamiento trattamento
        traitement patologie
        ae aesev aeser aeterm adverse atc bdi bourse boursier brutto bruttolohn comorbidity confession
        cvx deathcause defaulted delikt disabled disciplinary esenzione fehltag fsm gad grosspay
        basepay netpay handicap harm hads heartrate icpc invalidite kirchensteuer konf konfession kranktage
        krankentage lohnpfaendung medicatie mmse moyenne moyennes netto nettolohn nota notas
        phq schufa schulden selfharm skuld steuerklasse steuerkl suicidal suicide tatvorwurf voto zeugnisnote
    """,
    "postal": "codepostal codigopostal cp plz postal postalcode postcode postleitzahl zip zipcode",
    "quasi": """
        admission admitted age birth birthdate birthday birthplace born children citizenship
        city class country county date day degree department discharge discharged district dob
        education employer ethnic ethnicity gender height hospital household job
        language latitude lat lon longitude major marital minor month municipality nationality
        native occupation position profession province race rank region school sex site start
        state term time title town visit ward weight workclass year
        alter beruf bildung bundesland familienstand geb gebdat geburt geburtsdatum geburtsjahr geburtsort
        geburtstag geschlecht gewicht groesse nationalitaet staatsangehoerigkeit wohnort
        commune metier naissance nationalite poids sexe taille ville
        ciudad edad estadocivil nacimiento nacionalidad ocupacion profesion provincia sexo
        citta comune eta nascita nazionalita professione sesso statocivile
        beroep geboorte geboortedatum geslacht leeftijd nationaliteit woonplaats
        cidade concelho genero idade nacionalidade nascimento profissao
        alder fodelsedatum foedelsedatum fodselsdato ika ikae kjonn miasto nem pleca plec pohlavi rodne
        sukupuoli
        syntymaaika syntymaeaika
        urodzenia varsta vek wiek yas cinsiyet dogumtarihi szuletes datanasterii возраст пол город
        ηλικια φυλο العمر
    """,
}
HINTS: dict[str, Hint] = {word: hint for hint, words in _WORDS.items() for word in words.split()}
BORN = word_set(
    """
    bday birth birthdate birthday born dob geb gebdat geburt geburtsdatum geburtstag geboorte geboortedatum
    naissance nacimiento nascita nascimento urodzenia fodelsedatum foedelsedatum fodselsdato syntymaaika
    syntymaeaika dogumtarihi
    szuletes nac fnac fecnac neele nele nato nata nascido nascida
    """
)
"""Words for the day on which a person was born."""
OF_PERSONS = BORN | word_set(
    """
    age alter edad eta leeftijd idade sex gender geschlecht sexe sexo sesso geslacht genero marital
    familienstand estadocivil statocivile nationality nationalitaet ethnicity race
    alder ika ikae wiek plec vek pohlavi kjonn sukupuoli yas cinsiyet varsta возраст пол ηλικια φυλο العمر
    """
)
"""Words for what only persons have: a record with them is of a person."""


def tells_birth(name: str) -> bool:
    """Return whether the name of a field says that it holds days of birth.

    >>> [tells_birth(name) for name in ("dateOfBirth", "Né(e) le", "F. Nac.", "date")]
    [True, True, True, False]
    """
    words = words_of(name)
    return "".join(words) in BORN or not BORN.isdisjoint(words)


_GRADE = re.compile("[Gg][1-9]")
"""Grades of the first period, the second and so on, as schools publish them."""


def hint_of(name: str) -> tuple[Hint, str] | None:
    """Return the hint of a name and the word that gives it, or None.

    The whole name is tried first, then the last known word.

    >>> hint_of("postal_code"), hint_of("dateOfBirth"), hint_of("patientId"), hint_of("foo")
    (('postal', 'postalcode'), ('quasi', 'birth'), ('reference', 'id'), None)
    """
    words = words_of(name)
    if _GRADE.fullmatch(name):
        return "sensitive", name.lower()
    together = "".join(words)
    for word in (together, together.removesuffix("s")):
        if word in HINTS:
            return HINTS[word], word
    known = [word if word in HINTS else word.removesuffix("s") for word in words]
    known = [word for word in known if word in HINTS]
    telling = next((word for word in reversed(known) if HINTS[word] != "reference"), None)
    if telling is not None and known[-1] not in ("id", "uuid", "guid", "key"):
        return HINTS[telling], telling
    return (HINTS[known[-1]], known[-1]) if known else None


_OF_CODES = frozenset(["code", "display", "displayname", "originaltext", "text"])
_CLINICAL = frozenset(
    ["code", "valuecodeableconcept", "medicationcodeableconcept", "vaccinecode", "bodysite"]
)


def is_clinical_code(names: Sequence[str]) -> bool:
    """Return whether names, innermost first, are those of what a record of FHIR states of a person's health.

    >>> is_clinical_code(["display", "coding", "code"]), is_clinical_code(["code", "coding", "maritalStatus"])
    (True, False)
    """
    folded = ["".join(words_of(name)) for name in names[:3]]
    above = folded[2:] if folded[1:2] == ["coding"] else folded[1:2]
    return bool(above) and folded[0] in _OF_CODES and above[0] in _CLINICAL
