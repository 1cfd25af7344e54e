"""Real collections beside the repository: what of them is taken, in which format, and under which policy.

They lie in ``../shared/data`` or where ``HIERDATA_COLLECTIONS`` says; each has a ``SOURCE.md`` with origin
and licence. Nothing of them is part of the project. The policies are in ``policies/``.
"""

from __future__ import annotations

import csv
import gzip
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from hierdata.policy.load import read_file
from tests.benchmarks.data_folder import data_folder

POLICIES = Path(__file__).parent / "policies"
Row = dict[str, str]


@dataclass(frozen=True)
class Collection:
    """A collection as the benchmark takes it.

    ``write`` makes an input of its first records (all without a number) from the collection's folder in
    another one. ``part`` is how many are taken where all are so many that they are cut into blocks, else
    None; ``preset`` is the published algorithm that goes with the models of the policy.
    """

    name: str
    write: Callable[[Path, Path, int | None], Path]
    part: int | None
    preset: str

    @property
    def folder(self) -> Path:
        return data_folder() / self.name

    def __str__(self) -> str:
        return self.name

    def is_there(self) -> bool:
        return (self.folder / "SOURCE.md").exists()

    def input(self, target: Path, records: int | None = None) -> Path:
        """An input file or folder in ``target``."""
        return self.write(self.folder, target, records)

    def policy(self, **more: Any) -> dict[str, Any]:
        """The collection's policy as plain data, with other top-level keys beside."""
        stated = read_file(POLICIES / f"{self.name}.yaml").data
        if self.name == "diabetes130":
            stated["fields"]["$.encounters[*].diagnoses[*]"]["taxonomy"] = {"tree": {"*": icd9()}}
        return {**stated, **more}


def first_lines(name: str) -> Callable[[Path, Path, int | None], Path]:
    """Nested JSON Lines as they are."""

    def write(folder: Path, target: Path, records: int | None) -> Path:
        file = target / name
        with (
            gzip.open(folder / f"{name}.gz", "rt", encoding="utf-8") as lines,
            file.open("w", encoding="utf-8") as out,
        ):
            out.writelines(islice(lines, records))
        return file

    return write


def keyed_tables(*links: tuple[str, str, str]) -> Callable[[Path, Path, int | None], Path]:
    """Keyed tables: the collection's name, ours, the column with the key of the table before (or its own)."""

    def write(folder: Path, target: Path, records: int | None) -> Path:
        kept: set[str] | None = None
        for at, (name, ours, on) in enumerate(links):
            rows: Iterable[Row] = _rows(folder / f"{name}.csv.gz")
            rows = islice(rows, records) if at == 0 else _of(rows, on, kept)
            following = links[at + 1][2] if at + 1 < len(links) else None
            kept = _write(target / f"{ours}.csv", rows, following)
        return target

    return write


def _rows(file: Path) -> Iterator[Row]:
    with gzip.open(file, "rt", encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)


def _of(rows: Iterable[Row], on: str, kept: set[str] | None) -> Iterator[Row]:
    return (one for one in rows if kept is None or one[on] in kept)


def _write(file: Path, rows: Iterable[Row], key: str | None) -> set[str]:
    """Write the rows; the different values of the column ``key``."""
    found: set[str] = set()
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer: csv.DictWriter[str] | None = None
        for one in rows:
            if writer is None:
                writer = csv.DictWriter(stream, list(one))
                writer.writeheader()
            writer.writerow(one)
            if key is not None:
                found.add(one[key])
    return found


def summaries(folder: Path, target: Path, records: int | None) -> Path:
    """One file of all documents, each of which is a file of its own in the archive."""
    file = target / "summaries.xml"
    with tarfile.open(folder / "emerge_ccda.tar.gz") as archive, file.open("wb") as out:
        members = sorted((one for one in archive if one.name.endswith(".xml")), key=lambda one: one.name)
        out.write(b'<summaries xmlns="urn:hl7-org:v3">\n')
        for member in members[:records]:
            stream = archive.extractfile(member)
            assert stream is not None
            out.write(re.sub(rb"^\s*(\xef\xbb\xbf)?<\?xml[^>]*\?>", b"", stream.read()) + b"\n")
        out.write(b"</summaries>\n")
    return file


CHAPTERS: Sequence[tuple[str, int, int]] = (
    ("infections", 1, 139),
    ("neoplasms", 140, 239),
    ("endocrine", 240, 279),
    ("blood", 280, 289),
    ("mental", 290, 319),
    ("nerves and senses", 320, 389),
    ("circulation", 390, 459),
    ("respiration", 460, 519),
    ("digestion", 520, 579),
    ("genitourinary", 580, 629),
    ("pregnancy", 630, 679),
    ("skin", 680, 709),
    ("muscles and bones", 710, 739),
    ("congenital", 740, 759),
    ("perinatal", 760, 779),
    ("symptoms", 780, 799),
    ("injury and poisoning", 800, 999),
)
"""The chapters of ICD-9 by the first three digits; beside them are V01 to V89 and E800 to E999."""
DIABETES = 250


def icd9() -> dict[str, Any]:
    """The codes of ICD-9 by chapter, to three digits without leading zeros; of diabetes to five."""
    tree: dict[str, Any] = {}
    for chapter, first, last in CHAPTERS:
        tree[chapter] = {str(code): {} for code in range(first, last + 1)}
    details = [f"{DIABETES}.{tens}" for tens in range(10)]
    details += [f"{DIABETES}.{tens}{ones}" for tens in range(10) for ones in range(4)]
    del tree["endocrine"][str(DIABETES)]
    tree["endocrine"]["diabetes"] = {code: {} for code in (str(DIABETES), *details)}
    tree["nerves and senses"]["365.44"] = {}  # the only other code of five digits there
    tree["factors and contact"] = {f"V{code}": {} for code in _numbers(1, 89)}
    tree["external causes"] = {f"E{code}": {} for code in range(800, 1000)}
    return tree


def _numbers(first: int, last: int) -> Iterator[str]:
    """As the collection spells them: two digits."""
    return (f"{code:02}" for code in range(first, last + 1))


COLLECTIONS = {
    one.name: one
    for one in (
        Collection("oulad", first_lines("students_nested.jsonl"), 2000, "MLevCluTree"),
        Collection("diabetes130", first_lines("patients_nested.jsonl"), 2000, "ClusTree"),
        Collection(
            "census_households",
            keyed_tables(
                ("households", "households", "household_id"), ("persons", "members", "household_id")
            ),
            2000,
            "MLevCluTree",
        ),
        Collection(
            "travel_survey",
            keyed_tables(
                ("households", "households", "household_id"),
                ("persons", "persons", "household_id"),
                ("tours", "tours", "person_id"),
                ("trips", "trips", "tour_id"),
            ),
            None,
            "ClusTree",
        ),
        Collection("ccda_xml", summaries, None, "ClusTree"),
    )
}
"""The collections by name."""
