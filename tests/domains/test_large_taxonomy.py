"""A large taxonomy is read once in a run, and in seconds; what is kept of it is that of the file as it is."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from array import array
from pathlib import Path

import numpy as np
import pytest

from hierdata.domains import taxonomy_files
from hierdata.domains.base import AncestorRows
from hierdata.domains.taxonomy import Taxonomy


def lines(leaves: int) -> str:
    return "".join(f"L{at:06};C{at // 30:05};B{at // 900:04};A{at // 18000:02};*\n" for at in range(leaves))


def test_a_file_is_read_again_only_when_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "codes.csv"
    file.write_text(lines(90))
    read: list[Path] = []
    usual = taxonomy_files.read_tree
    monkeypatch.setattr(
        "hierdata.domains.taxonomy.read_tree",
        lambda path, *more: (read.append(path), usual(path, *more))[1],
    )
    one = Taxonomy(file="codes.csv")
    for _ in range(3):
        found = one.compile({"L000001": 1}, tmp_path)
        assert one.labels(tmp_path).is_finest("L000089")
        assert one.published_losses(["C00000"], tmp_path, sets=False)("C00000") == found.lm[1 + 2]
    assert len(read) == 1
    file.write_text(lines(120))
    assert one.compile({}, tmp_path).leaves == 120
    assert Taxonomy(file="codes.csv", finest=1).compile({}, tmp_path).leaves == 120
    assert len(read) == 3  # taxonomies that differ in what is published are others


def test_rows_of_ancestors_are_read_like_tuples_and_like_an_array() -> None:
    plain = ((0, -1, -1), (0, 1, -1), (0, 1, 2), (0, 3, -1))
    rows = AncestorRows(array("i", [node for row in plain for node in row]), 3)
    assert (len(rows), (*rows,), rows[-1], rows[1:3]) == (4, plain, plain[-1], plain[1:3])
    assert rows == plain
    assert plain == rows == pickle.loads(pickle.dumps(rows))
    assert hash(rows) == hash(plain)
    assert rows != plain[:3]
    for kind in (np.int32, np.int64):
        made = np.array(rows, kind)
        assert (made.dtype, made.tolist()) == (kind, [list(row) for row in plain])
    with pytest.raises(IndexError):
        rows[4]


def test_a_file_is_cut_into_lines_as_a_whole_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taxonomy_files, "_PIECE", 3)
    for text in ("", "a", "a\n", "ab\r\ncd\r\n\r\ne", "a\x0bb\u2028c\n\n\nd;*", "a\rb\rc\n"):
        assert [*taxonomy_files._lines_of(text)] == text.splitlines()


_GROWTH = """
from pathlib import Path
import hierdata.pipeline.encode
from hierdata.domains.taxonomy import Taxonomy
def peak():  # of this program alone: ru_maxrss begins with that of the process which started it
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) // 1024
before = peak()
Taxonomy(file="codes.csv").compile({}, Path())
print(peak() - before, peak())
"""


@pytest.mark.full
def test_300_000_leaves_take_little_memory(tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text(lines(300_000))
    command = [sys.executable, "-c", _GROWTH]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    growth, whole = map(int, ran.stdout.split())
    assert growth < 110, "MiB: with a tuple and an int for each node it is 175"
    assert whole < 250, "MiB, all that a command holds before its first record"


@pytest.mark.full
def test_300_000_leaves(tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text(lines(300_000))
    one = Taxonomy(file="codes.csv")
    (tmp_path / "small.csv").write_text(lines(3_000))
    small = time.process_time()
    Taxonomy(file="small.csv").compile({}, tmp_path)
    small = time.process_time() - small
    begun = time.process_time()
    for _ in range(10):
        assert one.compile({}, tmp_path).leaves == 300_000
    assert time.process_time() - begun < max(4.0, 300 * small)
