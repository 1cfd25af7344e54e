"""A large taxonomy is read once in a run, and in seconds; what is kept of it is that of the file as it is."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hierdata.domains import taxonomy_files
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
