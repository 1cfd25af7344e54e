"""Releases of one small collection under every recoding and format, and what a forger does with them.

The forger knows everything: release.json is made to agree with the forged files, the XSD is generated again,
and the witness is bound to them.
"""

from __future__ import annotations

import csv
import json
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import VerificationError
from hierdata.ground.progress import silent
from hierdata.judge import JudgeRules
from hierdata.pipeline.judging import Judged, judge_rules, read_back
from hierdata.pipeline.published import Wanted, judge_files, read_published
from hierdata.pipeline.release_files import description, read_parts, record_splits, records_format
from hierdata.policy.load import from_data
from hierdata.release.layout import find_release_files, published_files
from hierdata.release.public import build_codebook, build_release_file
from hierdata.release.report.models import dump
from hierdata.release.report.page import render_summary
from hierdata.release.verification import read_facts
from hierdata.release.witness import WITNESS_FILE, digest_files, seal_witness
from hierdata.sources import form_of
from tests.cases import in_turns

SEED = b"a seed of sixteen bytes"
KEY = bytes(range(32))
Tree = dict[str, Any]

FORMATS = ("json", "jsonl", "xml", "csv", "parquet", "tables")
BY_RECORD = ("generalization", "full_domain", "sets_and_ranges")
BY_GROUP = ("anatomy", "slicing", "slicing_by_table")
RECODINGS = (*BY_RECORD, "representatives", *BY_GROUP)
TOWNS = {"*": {"north": ["oslo", "bergen"], "south": ["rome", "bari"]}}
STEPS = [{"kind": "clustree", "window": 50, "pairing": "greedy", "grow": False}]


def people() -> list[Tree]:
    """24 people: as strings where every format has only these."""
    towns = ("oslo", "bergen", "rome", "bari")
    return [
        {
            "id": f"p{at:02}",
            "boss": f"b{at % 3}",
            "age": 20 + at * 7 % 24,
            "town": towns[at % 4],
            "note": "n",
            "born": f"19{70 + at % 5}-0{1 + at % 9}-1{at % 10}",
            "income": 100 + at,
            "visits": [{"ward": "uv"[(at + n) % 2], "ill": f"i{(3 * at + n) % 7}"} for n in range(2)],
        }
        for at in range(24)
    ]


@dataclass(frozen=True)
class World:
    """A recoding in a format."""

    recoding: str
    format: str

    def __str__(self) -> str:
        return f"{self.recoding}-{self.format}"

    @property
    def nested(self) -> bool:
        return self.format not in ("csv", "parquet")

    def key(self, name: str) -> str:
        """The key of a field in the documents of this format."""
        if self.format != "xml":
            return name
        return "visit" if name == "visits" else name if name == "group" else f"@{name}"

    def path(self, name: str) -> str:
        visit = name in ("ward", "ill")
        if self.format == "xml":
            return f"/people/person{'/visit' * visit}/@{name}"
        return f"$.visits[*].{name}" if visit else f"$.{name}"

    @property
    def policy(self) -> Tree:
        by_class = self.recoding == "representatives"
        fields: dict[str, Any] = {
            "age": {"role": "quasi", "interval": {"steps": [1, 4, 12], "domain": [20, 43]}},
            "town": {"role": "quasi", "taxonomy": {"tree": TOWNS}},
            "born": {"role": "sensitive", "action": {"shift": {"days": 30}}},
            "income": {"role": "sensitive"},
        }
        if by_class:
            fields |= {name: {"role": "identifier"} for name in ("id", "boss", "note")}
        else:
            fields |= {
                "id": {"role": "identifier", "action": {"pseudonym": {"domain": "people"}}},
                "boss": {"role": "identifier", "action": {"pseudonym": {"domain": "b", "links": "known"}}},
                "note": {"role": "insensitive", "exempt": "it is the same for all"},
            }
        if self.nested:
            fields |= {"ward": {"role": "quasi", "flat": True}, "ill": {"role": "sensitive"}}
        more: Tree = {}
        if self.format == "tables":
            more = {"tables": {"people": {"key": "key"}, "visits": {"parent": "people", "on": "person"}}}
        return {
            "version": 1,
            "recoding": self.recoding,
            "models": [{"kind": "k-anonymity", "k": 3}, {"kind": "distinct-l-diversity", "l": 2}],
            "fields": {self.path(name): rule for name, rule in fields.items()}
            | ({"/people/person/visit": {"vertex": True}} if self.format == "xml" else {}),
            **({"engine": {"steps": STEPS}} if self.nested and self.recoding != "slicing" else {}),
            **({"accept": {"group-ids": "an example"}} if self.recoding == "slicing_by_table" else {}),
            **more,
        }

    def write_original(self, folder: Path) -> Path:
        """Write the people in this format; return the file or folder."""
        return WRITERS[self.format](people(), folder)


def _json(people: list[Tree], folder: Path) -> Path:
    (file := folder / "people.json").write_text(json.dumps(people), "utf-8")
    return file


def _jsonl(people: list[Tree], folder: Path) -> Path:
    (file := folder / "people.jsonl").write_text("".join(json.dumps(one) + "\n" for one in people), "utf-8")
    return file


def _xml(people: list[Tree], folder: Path) -> Path:
    def tag(name: str, one: Tree, inner: str = "") -> str:
        attributes = "".join(f' {key}="{value}"' for key, value in one.items() if key != "visits")
        return f"<{name}{attributes}>{inner}</{name}>"

    items = (tag("person", one, "".join(tag("visit", visit) for visit in one["visits"])) for one in people)
    (file := folder / "people.xml").write_text(f"<people>{''.join(items)}</people>", "utf-8")
    return file


def _rows(rows: list[Tree], file: Path) -> Path:
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [key for key in rows[0] if key != "visits"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return file


def _csv(people: list[Tree], folder: Path) -> Path:
    return _rows(people, folder / "people.csv")


def _parquet(people: list[Tree], folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    flat = [{key: value for key, value in one.items() if key != "visits"} for one in people]
    pq.write_table(pa.Table.from_pylist(flat), file := folder / "people.parquet")
    return file


def _tables(people: list[Tree], folder: Path) -> Path:
    (place := folder / "tables").mkdir()
    _rows([{"key": at, **one} for at, one in enumerate(people, 1)], place / "people.csv")
    visits = [{"person": at, **visit} for at, one in enumerate(people, 1) for visit in one["visits"]]
    _rows(visits, place / "visits.csv")
    return place


WRITERS: dict[str, Callable[[list[Tree], Path], Path]] = {
    "json": _json,
    "jsonl": _jsonl,
    "xml": _xml,
    "csv": _csv,
    "parquet": _parquet,
    "tables": _tables,
}


class Forged:
    """A release in the hands of a forger, and the original beside it."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world, self.folder = world, folder
        self.release = folder / "release"
        self.original = world.write_original(folder)
        self.policy = from_data(world.policy)

    @property
    def public(self) -> Path:
        return self.release / "public"

    @property
    def witness(self) -> Path:
        return self.release / WITNESS_FILE

    def files(self) -> dict[str, Path]:
        """The parts of the release, by name."""
        names = {file.name.partition(".")[0]: file for file in self.public.iterdir() if file.suffix != ".xsd"}
        return {name: file for name, file in sorted(names.items()) if name.startswith(("records", "sens"))}

    def _element(self, part: str) -> str | None:
        if part != "records":
            return "value"
        return "class" if self.world.recoding == "representatives" else None

    def read(self, part: str = "records") -> list[Tree]:
        element = self._element(part)
        return list(form_of(self.files()[part], self.policy, element).read(self.files()[part], element))

    def write(self, documents: list[Tree], part: str = "records") -> None:
        file, element = self.files()[part], self._element(part)
        form = form_of(file, self.policy, element)
        shutil.rmtree(file) if file.is_dir() else file.unlink()
        form.write(documents, file, element)

    def entries(self) -> tuple[bytes, list[list[int]]]:
        """The head of the witness, and the numbers of each record."""
        raw = self.witness.read_bytes()
        left = [number for (number,) in struct.iter_unpack("<I", raw[91:])]
        width = 2 + (3 if self.world.nested else 1)
        assert len(left) % width == 0, "nothing of a published record is suppressed here"
        return raw[:91], [left[at : at + width] for at in range(0, len(left), width)]

    def put_entries(self, entries: list[list[int]]) -> None:
        head, _ = self.entries()
        body = b"".join(struct.pack(f"<{len(own)}I", *own) for own in entries)
        self.witness.write_bytes(head + body)

    def seal(self) -> None:
        """Make everything agree with the forged files, as far as the judge and a forger can."""
        if self.world.format == "xml":
            (self.public / "records.xsd").write_bytes(description(self.files(), self.policy) or b"")
        files = find_release_files(self.release, self.policy)
        facts = read_facts(files.facts, self.policy)
        assert facts is not None
        rules = judge_rules(
            self.policy,
            facts.scales,
            facts.references,
            facts.vertices,
            readings=facts.readings,
        )
        splits = record_splits(self.release, files, self.policy)

        def judge(own: JudgeRules) -> hierdata.Verdict:
            return judge_files(splits, read_parts(files, self.policy), own, spread)

        format = records_format(files, self.policy).name
        with hierdata.Resources().open_context(1, None, silent) as spread, suppress(VerificationError):
            read = read_published(
                splits, lambda: read_parts(files, self.policy), rules, Wanted.by(self.policy), spread
            )
            judged = Judged(rules, read, judge)
            back = read_back(self.public, splits, self.policy, format, judged, spread)
            (self.public / "release.json").write_bytes(dump(build_release_file(back)))
            (self.public / "codebook.json").write_bytes(dump(build_codebook(back)))
            (self.public / "summary.html").write_text(render_summary(build_release_file(back)), "utf-8")
        bound = facts.file.model_copy(update={"public": digest_files(published_files(self.public)).hex()})
        assert files.facts is not None
        files.facts.write_bytes(dump(bound))
        if self.witness.is_file():
            content, records = self.witness.read_bytes()[51:83], len(people())
            seal_witness(self.release, published_files(self.public), content, records)

    def verify(self, **more: Any) -> hierdata.Verdict:
        return hierdata.verify(self.release, self.policy, original=self.original, key=KEY, **more)


@cache
def _released(world: World, place: Path) -> Path:
    folder = place / str(world)
    folder.mkdir()
    original = world.write_original(folder)
    release = hierdata.anonymize(original, world.policy, seed=SEED, key=KEY)
    return release.save(folder / "release")


def forged(world: World, place: Path, folder: Path) -> Forged:
    """A copy of the release of a world; ``place`` keeps the releases that were made."""
    shutil.copytree(_released(world, place), folder / "release")
    return Forged(world, folder)


def worlds(
    recodings: tuple[str, ...] = RECODINGS, formats: tuple[str, ...] = FORMATS, *, nested: bool = False
) -> list[Any]:
    """All worlds that can be: a class with lists is no row of a table, and groups by table are of rows.

    In the fast tier are all recodings and all formats, each with some of the other; in the full tier half
    of them are, or all if they are asked for.
    """
    found = []
    for position, recoding in enumerate(recodings):
        possible = [World(recoding, format) for format in formats if is_possible(recoding, format)]
        fast = possible[position % len(possible) :: len(recodings)]
        half = in_turns(possible, position, 2)
        worlds = [world for world in possible if world in fast or world in half]
        found += [
            pytest.param(world, marks=[] if world in fast else pytest.mark.full, id=str(world))
            for world in worlds
            if world.nested or not nested
        ]
    return found


def meetings(forges: Iterable[Callable[..., None]], worlds: Sequence[Any]) -> list[Any]:
    """Each forgery with each world as parameters; in the fast tier with a third of its worlds, in turn."""
    fast = [world for world in worlds if not world.marks]
    return [
        pytest.param(
            forge,
            *world.values,
            marks=[] if world in fast and (turn + fast.index(world)) % 3 == 0 else pytest.mark.full,
            id=f"{world.id}-{forge.__qualname__}",
        )
        for turn, forge in enumerate(forges)
        for world in worlds
    ]


def is_possible(recoding: str, format: str) -> bool:
    """Whether a recoding can be published in a format."""
    flat = ("csv", "parquet", "tables")
    if recoding == "representatives":
        return format not in flat
    return recoding != "slicing_by_table" or format in flat[:2]


def alike(world: World, documents: list[Tree]) -> Iterator[list[Tree]]:
    """Records that look alike, largest classes first."""
    names = (world.key("age"), world.key("town"))
    found: dict[Any, list[Tree]] = {}
    for document in documents:
        found.setdefault(tuple(str(document.get(name)) for name in names), []).append(document)
    yield from sorted(found.values(), key=len, reverse=True)


__all__ = ["Forged", "World", "alike", "forged", "meetings", "people", "worlds"]
