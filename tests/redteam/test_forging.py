"""Forged releases: verify must not pass what it has not judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hierdata

MODELS = [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}]
JSON_POLICY: dict[str, Any] = {
    "version": 1,
    "records": "$.list",
    "models": MODELS,
    "fields": {
        "$.id": {"role": "identifier", "optional": True},
        "$.q": {"role": "quasi", "flat": True},
        "$.visits[*].w": {"role": "quasi", "flat": True},
        "$.visits[*].s": {"role": "sensitive"},
    },
}
XML_POLICY: dict[str, Any] = {
    "version": 1,
    "models": MODELS,
    "fields": {
        "/list/item/@id": {"role": "identifier", "optional": True},
        "/list/item/@q": {"role": "quasi", "flat": True},
        "/list/item/visit/@w": {"role": "quasi", "flat": True},
        "/list/item/visit/@s": {"role": "sensitive"},
    },
}
JSON_ITEMS = '{"q":1,"visits":[{"w":2,"s":"A"}]},{"q":1,"visits":[{"w":2,"s":"B"}]}'
XML_ITEMS = '<item q="1"><visit w="2" s="A"/></item><item q="1"><visit w="2" s="B"/></item>'


def judged(folder: Path, text: str) -> hierdata.Verdict:
    xml = text.startswith("<")
    file = folder / ("records.xml" if xml else "records.json")
    file.write_text(text, "utf-8")
    return hierdata.verify(file, XML_POLICY if xml else JSON_POLICY)


def test_the_records_alone_pass(tmp_path: Path) -> None:
    assert judged(tmp_path, f'{{"list":[{JSON_ITEMS}]}}').passed
    assert judged(tmp_path, f"<list>\n{XML_ITEMS}\n</list>").passed


@pytest.mark.parametrize(
    "text",
    [
        f'{{"raw":[{{"id":"Ada"}}],"list":[{JSON_ITEMS}]}}',
        f'{{"list":[{JSON_ITEMS}],"raw":"Ada"}}',
        f'<list of="Ada">{XML_ITEMS}</list>',
        f'<list>{XML_ITEMS}<raw id="Ada"/></list>',
        f"<list>Ada{XML_ITEMS}</list>",
        f"<list>{XML_ITEMS}Ada</list>",
        f"<list>{XML_ITEMS}<!-- Ada --></list>",
        f"<!-- Ada --><list>{XML_ITEMS}</list>",
        f"<list>{XML_ITEMS}</list><?note Ada?>",
        f"<list>{XML_ITEMS.replace('/></item>', '><!-- Ada --></visit></item>', 1)}</list>",
    ],
)
def test_nothing_lies_beside_the_records(tmp_path: Path, text: str) -> None:
    with pytest.raises(hierdata.VerificationError, match="beside the records") as refused:
        judged(tmp_path, text)
    assert "Ada" not in str(refused.value)


def test_what_lies_around_the_input_is_still_left_out(tmp_path: Path) -> None:
    file = tmp_path / "input.json"
    file.write_text(json.dumps({"source": "Ada", **json.loads(f'{{"list":[{JSON_ITEMS}]}}')}), "utf-8")
    release = hierdata.anonymize(file, JSON_POLICY)
    assert b"Ada" not in (release.folder / "public" / "records.json").read_bytes()
