"""Readers and writers beside bare parsers: ``python -m tests.benchmarks.formats [RECORDS]`` prints tables.

Synthetic students in each format, all measured in one run on one machine. Ratios are what to compare; each
figure is the best of some rounds, one after the other, so that a busy machine hits all of them.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import bson
import msgspec
from lxml import etree

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS, Format, Layout
from hierdata.forest.encoding import encode_records
from hierdata.pipeline.look_over import survey_collection
from hierdata.policy.load import load
from hierdata.policy.plan.plan import Prepared, prepare
from hierdata.records.binding import bind_records
from hierdata.synth.bundled import students_xml
from hierdata.synth.students import StudentShape, students
from hierdata.synth.write import json_lines

POLICIES = Path(__file__).parents[2] / "fixtures" / "policies"
MEBI = 1 << 20
GARBAGE = 200_000
"""What the command line sets: records have no cycles."""
BATCH = 8192
LIMITS = {"jsonl": 3, "xml": 3, "bson": 2}
"""Binding and encoding take at most so many times what the bare parse takes."""


def row(*cells: object) -> None:
    sys.stdout.write("| " + " | ".join(str(cell) for cell in cells) + " |\n")


def header(title: str, *cells: str) -> None:
    sys.stdout.write(f"\n{title}\n\n")
    row(*cells)
    row(*("---" for _ in cells))


# Bare parsers: what there is to do at the least, with nothing kept.


def strict_json(path: Path) -> Iterator[object]:
    """The standard library, with a hook that sees repeated keys, and exact numbers."""

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError
        return found

    decode = json.JSONDecoder(object_pairs_hook=members, parse_float=Decimal).decode
    with path.open("rb") as stream:
        for line in stream:
            yield decode(line.decode())


def loose_json(path: Path) -> Iterator[object]:
    with path.open("rb") as stream:
        yield from map(msgspec.json.Decoder().decode, stream)


def bare_bson(path: Path) -> Iterator[object]:
    data = path.read_bytes()
    at = 0
    while at < len(data):
        end = at + int.from_bytes(data[at : at + 4], "little")
        yield bson.decode(data[at:end])
        at = end


def bare_xml(path: Path) -> Iterator[object]:
    for _, element in etree.iterparse(path, events=("end",), tag="student"):
        yield element
        element.clear()


# Bare writers, of what the bare parsers read.


def strings_json(values: list[Any]) -> bytes:
    return b"\n".join(
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() for value in values
    )


@dataclass
class Case:
    """A format with its file; ``bare`` gives a record after the other, ``other`` another parser does."""

    name: str
    data: Callable[[list[dict[str, Any]]], bytes]
    bare: Callable[[Path], Iterator[object]]
    write: Callable[[list[Any]], bytes] | None
    other: Callable[[Path], Iterator[object]] | None = None
    policy: str = "students-multilevel.yaml"
    layout: Layout = field(default_factory=Layout)
    extension: str = ""

    @property
    def format(self) -> Format:
        return FORMATS[self.name]()


def text(lines: Iterator[str]) -> bytes:
    return "".join(lines).encode()


def canonical(people: list[dict[str, Any]]) -> bytes:
    from bson import json_util

    options = json_util.CANONICAL_JSON_OPTIONS
    plain = (json_util.dumps(floats(one), json_options=options, separators=(",", ":")) for one in people)
    return "".join(f"{line}\n" for line in plain).encode()


def floats(value: Any) -> Any:
    """What BSON has in the place of decimal numbers."""
    if isinstance(value, dict):
        return {key: floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(floats, value))
    return float(value) if isinstance(value, Decimal) else value


CASES = (
    Case("jsonl", lambda people: text(json_lines(people)), strict_json, strings_json, loose_json),
    Case("extended-json", canonical, strict_json, strings_json, loose_json),
    Case(
        "bson",
        lambda people: b"".join(map(bson.encode, map(floats, people))),
        bare_bson,
        lambda values: b"".join(map(bson.encode, values)),
    ),
    Case("xml", lambda people: text(students_xml(people)), bare_xml, None, None, "students-xml.yaml"),
)


# What is measured.


def best(rounds: int, *works: Callable[[], object]) -> list[float]:
    """The least seconds of each, all of them in every round."""
    least = [float("inf")] * len(works)
    for _ in range(rounds):
        for place, work in enumerate(works):
            gc.collect()
            began = time.process_time()
            work()
            least[place] = min(least[place], time.process_time() - began)
    return least


def drain(values: Iterator[object]) -> None:
    deque(values, maxlen=0)


def read(case: Case, path: Path) -> Iterator[Document]:
    with path.open("rb") as stream:
        yield from case.format.read(stream, layout_of(case, path))


def layout_of(case: Case, path: Path) -> Layout:
    with path.open("rb") as stream:
        return case.format.layout(stream)


def prepared_for(case: Case, path: Path) -> Prepared:
    policy = load(POLICIES / case.policy)
    found, hints = survey_collection(path, policy)
    return prepare(policy, found, hints)


def encode_all(case: Case, path: Path, prepared: Prepared) -> None:
    drain(encode_records(bind_records(read(case, path), prepared.binding), prepared.frame, 0, BATCH))


def written(case: Case, documents: list[Document], layout: Layout) -> int:
    stream = io.BytesIO()
    case.format.write(documents, stream, layout)
    return stream.tell()


def rates(records: int, size: int, seconds: float) -> tuple[str, str]:
    return f"{records / seconds:,.0f}", f"{size / MEBI / seconds:,.1f}"


def measure(cases: list[tuple[Case, Path]], records: int, rounds: int) -> None:
    """Print readers, then writers."""
    header(
        "Readers",
        *("format", "MiB", "bare records/s", "MiB/s", "read records/s", "MiB/s", "read / bare"),
        *("bound and encoded records/s", "(bind + encode) / bare", "at most", "bare / msgspec"),
    )
    failed = []
    for case, path in cases:
        prepared = prepared_for(case, path)
        size = path.stat().st_size
        works: list[Callable[[], object]] = [
            lambda case=case, path=path: drain(case.bare(path)),  # type: ignore[misc]
            lambda case=case, path=path: drain(read(case, path)),  # type: ignore[misc]
            lambda case=case, path=path, prepared=prepared: encode_all(case, path, prepared),  # type: ignore[misc]
        ]
        if case.other is not None:
            works.append(lambda case=case, path=path: drain(case.other(path)))  # type: ignore[misc]
        bare, ours, all_of_it, *other = best(rounds, *works)
        ratio = (all_of_it - ours) / bare
        limit = LIMITS.get(case.name)
        if limit is not None and ratio > limit:
            failed.append(case.name)
        row(
            *(case.name, f"{size / MEBI:.1f}", *rates(records, size, bare), *rates(records, size, ours)),
            *(f"{ours / bare:.2f}", rates(records, size, all_of_it)[0], f"{ratio:.2f}", limit or ""),
            f"{bare / other[0]:.2f}" if other else "",
        )
    header("Writers", "format", "bare records/s", "MiB/s", "written records/s", "MiB/s", "written / bare")
    for case, path in cases:
        documents, layout = list(read(case, path)), layout_of(case, path)
        plain = list(case.other(path) if case.other else case.bare(path)) if case.write else []
        works = [lambda case=case, documents=documents, layout=layout: written(case, documents, layout)]  # type: ignore[misc]
        if case.write is not None:
            works.append(lambda case=case, plain=plain: case.write(plain))  # type: ignore[misc]
        size = path.stat().st_size
        ours, *bare_one = best(rounds, *works)
        bare_rates = rates(records, size, bare_one[0]) if bare_one else ("", "")
        ratio_text = f"{ours / bare_one[0]:.2f}" if bare_one else ""
        row(case.name, *bare_rates, *rates(records, size, ours), ratio_text)
    sys.stdout.write(f"\nbeyond their limit: {', '.join(failed) or 'none'}\n")


def peak(name: str, path: Path, answer: Any) -> None:
    """Send the most memory that a process ever had which reads, binds and encodes a file, in KiB."""
    gc.set_threshold(GARBAGE)
    case = next(case for case in CASES if case.name == name)
    encode_all(case, path, prepared_for(case, path))
    answer.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def memory(folder: Path, names: Sequence[str], records: int, factors: Sequence[int]) -> None:
    """Print what processes take for so many times the records."""
    header(
        "Memory of a process that reads, binds and encodes, MiB",
        "format",
        *(f"{n * records:,} records" for n in factors),
    )
    context = multiprocessing.get_context("spawn")
    for case in chosen(names):
        found = []
        for times in factors:
            path = write_file(case, folder / f"{times}", times * records)
            receiver, sender = context.Pipe(False)
            process = context.Process(target=peak, args=(case.name, path, sender))
            process.start()
            found.append(receiver.recv() / 1024)
            process.join()
            path.unlink()
        row(case.name, *(f"{one:,.0f}" for one in found))


def write_file(case: Case, folder: Path, records: int) -> Path:
    shape = StudentShape(courses=(3, 8), one_course=0.03, missing_gpa=0.015, books=0.35)
    folder.mkdir(exist_ok=True)
    path = folder / f"students{case.format.extension}"
    path.write_bytes(
        case.data(list(students(records, depth=3, seed=1, correlation=0.9, skew=0.85, shape=shape)))
    )
    return path


def chosen(names: Sequence[str]) -> list[Case]:
    return [case for case in CASES if case.name in names]


def parser() -> argparse.ArgumentParser:
    names = [case.name for case in CASES]
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("records", type=int, nargs="?", default=10_000)
    options.add_argument("--formats", nargs="+", choices=names, default=names)
    options.add_argument("--rounds", type=int, default=5, help="a figure is the best of so many")
    options.add_argument("--no-memory", action="store_true", help="measure speed only")
    options.add_argument(
        "--factors", type=int, nargs="+", default=[1, 2, 4], help="times the records, for the memory"
    )
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    gc.set_threshold(GARBAGE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [(case, write_file(case, folder, asked.records)) for case in chosen(asked.formats)]
        measure(files, asked.records, asked.rounds)
        if not asked.no_memory:
            memory(folder, asked.formats, asked.records, asked.factors)


if __name__ == "__main__":
    main()
