"""Every file of fixtures/broken/: refused with the right record, and without a word of its data."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import pytest

from hierdata.documents.formats import FORMATS, detect
from hierdata.documents.formats.source import PathSource
from hierdata.ground.errors import InputError
from tests.cases import for_each

BROKEN = Path(__file__).parents[2] / "fixtures" / "broken"
ROW = re.compile(r"\| `([^`]+)` \| .+ \| (?:record (\d+)|-) \|")


def rows() -> list[tuple[str, int | None]]:
    table = (
        (BROKEN / "README.md").read_text().partition("## Refused while it is read")[2].partition("\n## ")[0]
    )
    return [(name, int(record) if record else None) for name, record in ROW.findall(table)]


def read(name: str) -> int:
    source = PathSource(BROKEN / name)
    chosen = detect(name)
    with source.open() as stream:
        layout = chosen.layout(stream)
    with source.open() as stream:
        return sum(1 for _ in chosen.read(stream, layout))


def test_the_table_names_files_of_every_format() -> None:
    names = [name for name, _ in rows()]
    assert len(set(names)) == len(names) > 50
    assert {detect(name).name for name in names} == set(FORMATS)


@for_each("name, record", rows())
def test_refused_with_its_record_and_without_its_data(name: str, record: int | None) -> None:
    with pytest.raises(InputError) as caught:
        read(name)
    assert caught.value.record == record
    assert "7319" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("truncated.json", "ends too early"),
        ("truncated.jsonl", "ends too early"),
        ("truncated.jsonl.gz", "ends too early"),
        ("duplicate-keys.json", "same key twice"),
        ("too-deep.json", "more than 64 deep"),
        ("far-too-deep.json", "more than 64 deep"),
        ("too-deep.xml", "more than 64 deep"),
        ("nan.json", "NaN"),
        ("huge-exponent.json", "exponent beyond 400"),
        ("huge-integer.json", "more than 4300"),
        ("not-utf8.json", "not UTF-8"),
        ("not-utf8.jsonl", "not UTF-8"),
        ("not-utf8.xml", "not UTF-8"),
        ("other-encoding.xml", "other than UTF-8"),
        ("lone-surrogate.json", "half of a surrogate pair"),
        ("not-an-object.json", "not an object"),
        ("object.json", "`records`"),
        ("doctype.xml", "DOCTYPE"),
        ("entities.xml", "DOCTYPE"),
        ("external-entity.xml", "DOCTYPE"),
        ("undefined-entity.xml", "entity"),
        ("malformed.xml", "line 4"),
        ("mixed-children.xml", "different names"),
        ("beyond-limits.xml.gz", "limits"),
        ("bomb.jsonl.gz", "200 times"),
        ("damaged.jsonl.gz", "damaged"),
    ],
)
def test_the_error_says_what_is_wrong(name: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        read(name)
