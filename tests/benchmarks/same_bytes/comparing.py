"""What differs between the releases of two builds."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

WORDED = {"release.json", "report.json", "report.html", "summary.html", "message.txt", "printed.json"}
"""Files whose sentences may differ where only the wording is changed."""
_BINARY = {".parquet", ".bson", ".gz"}
_WIDTH = 100


@dataclass
class Differences:
    """What was found: files that differ, sentences that differ, and what should be known beside."""

    compared: int = 0
    failed: list[str] = field(default_factory=list)
    sentences: Counter[tuple[str, str]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """For people to read."""
        found = [*self.notes, *self.failed]
        for (before, after), count in self.sentences.most_common():
            found += [f"{count} times:", f"  - {before}", f"  + {after}"]
        verdict = f"{len(self.failed)} differ" if self.failed else "all are the same"
        if self.sentences:
            verdict += f" but for {len(self.sentences)} changes of wording"
        return [*found, f"{self.compared} files compared: {verdict}"]


def compare(old: Path, new: Path, *, wording: bool = False) -> Differences:
    """Compare all files of two folders that ``make`` wrote."""
    found = Differences()
    before, after = (
        {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        for folder in (old, new)
    )
    found.failed += [f"{folder}: nothing is there" for folder in (old, new) if not folder.is_dir()]
    found.failed += [f"{name}: only in {old}" for name in sorted(before - after)]
    found.failed += [f"{name}: only in {new}" for name in sorted(after - before)]
    for name in sorted(before & after):
        first, second = (old / name).read_bytes(), (new / name).read_bytes()
        found.compared += 1
        if first == second:
            continue
        if name == "versions.json":
            found.notes.append(f"packages differ: {_versions(first, second)}")
        elif wording and Path(name).name in WORDED:
            _compare_sentences(name, first.decode(), second.decode(), found)
        else:
            found.failed.append(f"{name}: {_first_difference(name, first, second)}")
    return found


def _versions(first: bytes, second: bytes) -> str:
    old, new = json.loads(first), json.loads(second)
    changed = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    return ", ".join(f"{name} {old.get(name)} and {new.get(name)}" for name in changed)


def _first_difference(name: str, first: bytes, second: bytes) -> str:
    if Path(name).suffix in _BINARY:
        at = next((at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
        return f"byte {min(len(first), len(second)) if at is None else at} of {len(first)} and {len(second)}"
    lines = zip_longest(first.decode().split("\n"), second.decode().split("\n"), fillvalue="(end)")
    number, (a, b) = next((number, pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1])
    at = next(
        (at for at, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), min(len(a), len(b))
    )
    start = max(0, at - _WIDTH // 3)
    return f"line {number}\n  - {a[start : start + _WIDTH]}\n  + {b[start : start + _WIDTH]}"


def _compare_sentences(name: str, first: str, second: str, found: Differences) -> None:
    """List sentences that differ; a number or a name that does is a failure."""
    if name.endswith(".json"):
        old, new = json.loads(first), json.loads(second)
        if _without_sentences(old) != _without_sentences(new):
            place = _first_place(_without_sentences(old), _without_sentences(new))
            found.failed.append(f"{name}: more than sentences differs at {place}")
        before, after = _sentences(old), _sentences(new)
    else:
        before, after = _pieces(first), _pieces(second)
    for change, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if change != "equal":
            for pair in zip_longest(before[a:b], after[c:d], fillvalue="(nothing)"):
                found.sentences[pair] += 1


def _is_sentence(value: object) -> bool:
    """Names and values of the policy have no blanks; what has some is for people to read."""
    return isinstance(value, str) and " " in value


def _without_sentences(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_sentences(own) for key, own in value.items()}
    if isinstance(value, list):
        return [_without_sentences(own) for own in value]
    return "(sentence)" if _is_sentence(value) else value


def _sentences(value: Any) -> list[str]:
    if isinstance(value, dict | list):
        return [
            one for own in (value.values() if isinstance(value, dict) else value) for one in _sentences(own)
        ]
    return [value] if _is_sentence(value) else []


def _pieces(page: str) -> list[str]:
    """The texts between the tags of a page, or the lines of a text."""
    return [piece for piece in re.split(r"<[^>]*>|\n", page) if piece.strip()]


def _first_place(old: Any, new: Any, place: str = "$") -> str:
    """Where two values differ first."""
    if isinstance(old, dict) and isinstance(new, dict) and list(old) == list(new):
        key = next(key for key in old if old[key] != new[key])
        return _first_place(old[key], new[key], f"{place}.{key}")
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        at = next(at for at, own in enumerate(old) if own != new[at])
        return _first_place(old[at], new[at], f"{place}[{at}]")
    return f"{place}: {json.dumps(old)[:_WIDTH]} and {json.dumps(new)[:_WIDTH]}"
