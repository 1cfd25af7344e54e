"""Sources and targets: gzip members, bombs and their bounds, files that are not there."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from hierdata.documents.formats import FORMATS, detect
from hierdata.documents.formats.source import BOMB_START, PathSource, write_stream
from hierdata.ground.errors import InputError, PolicyError, TargetError
from tests.bytes_source import BytesSource


def content(data: bytes) -> bytes:
    with BytesSource(data, "data").open() as stream:
        return stream.read()


def test_gzip_is_told_by_its_bytes() -> None:
    assert content(b"") == b""
    assert content(b"\x1f") == b"\x1f"
    assert content(b"plain") == b"plain"
    assert content(gzip.compress(b"packed")) == b"packed"


def test_members_follow_one_another_and_zeros_pad() -> None:
    noise = random.Random(1).randbytes(300_000)
    assert (
        content(gzip.compress(b"") + gzip.compress(noise) + gzip.compress(b"end") + b"\0" * 100_000)
        == noise + b"end"
    )


def test_what_compresses_well_is_no_bomb_below_the_bound() -> None:
    assert len(content(gzip.compress(bytes(BOMB_START)))) == BOMB_START
    # Some 150 to 1: more than most data, less than a bomb.
    block = random.Random(2).randbytes(1000) + bytes(199_000)
    data = b"".join(gzip.compress(block) for _ in range(60))
    assert 100 < 60 * len(block) / len(data) < 200
    assert content(data) == block * 60


def test_a_bomb_is_stopped_soon_after_the_bound() -> None:
    with BytesSource(gzip.compress(bytes(8 * BOMB_START)), "bomb").open() as stream:
        for _ in range(BOMB_START >> 16):
            assert len(stream.read(1 << 16)) == 1 << 16
        with pytest.raises(InputError, match="200 times"):
            stream.read(BOMB_START)


@pytest.mark.parametrize("cut", [1, 5, 12, 40])
def test_gzip_that_ends_early_or_is_damaged(cut: int) -> None:
    data = gzip.compress(random.Random(3).randbytes(100))
    with pytest.raises(InputError, match="too early"):
        content(data[:-cut])
    with pytest.raises(InputError, match="damaged"):
        content(data + b"behind")


def test_paths_open_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"[]")
    source = PathSource(tmp_path / "a.json")
    assert source.name == "a.json"
    for _ in range(2):
        with source.open() as stream:
            assert stream.read() == b"[]"


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path):
        with pytest.raises(TargetError, match="cannot read"):
            PathSource(path).open()
    for name in ("missing/a.json", "missing/a.json.gz"):
        with pytest.raises(TargetError, match="cannot write"), write_stream(tmp_path / name):
            pass


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_an_error_while_writing_goes_through(name: str, tmp_path: Path) -> None:
    def write_and_fail() -> None:
        with write_stream(tmp_path / name) as stream:
            stream.write(b"[")
            raise InputError("why")

    with pytest.raises(InputError, match="why"):
        write_and_fail()


def test_every_format_is_found_by_its_extension() -> None:
    for name, chosen in FORMATS.items():
        assert chosen.name == name
        for suffix in ("", ".gz", ".GZ"):
            assert type(detect(f"my.data{chosen.extension}{suffix}")) is chosen
    for unknown in ("data", "data.gz", "data.txt", "xml"):
        with pytest.raises(PolicyError, match="state it"):
            detect(unknown)
