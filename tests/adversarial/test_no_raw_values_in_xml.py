"""Marked values in every position of XML records: no message, log or report shows one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.adversarial.marked import ATTRIBUTES, CHANGES, NUMBER, PEOPLE, TEXT, Bench, planted, positions
from tests.cases import in_turns


def element(name: str, value: Any) -> str:
    """A value as XML text."""
    if not isinstance(value, dict):
        return f"<{name}>{value}</{name}>"
    attributes, children = "", ""
    for key, inner in value.items():
        if key in ATTRIBUTES and not isinstance(inner, list | dict):
            attributes += f' {key}="{inner}"'
        else:
            children += "".join(element(key, one) for one in (inner if isinstance(inner, list) else [inner]))
    return f"<{name}{attributes}>{children}</{name}>"


def people_xml(people: list[dict[str, Any]]) -> str:
    return f"<people>{''.join(element('person', one) for one in people)}</people>"


XML_CHANGES: dict[str, Callable[[Any], Any]] = {
    "text": lambda value: TEXT,
    "number": lambda value: NUMBER,
    "element": lambda value: {TEXT: NUMBER},
    "elements": lambda value: [TEXT, NUMBER],
    "unlisted element": lambda value: {**value, TEXT: NUMBER} if isinstance(value, dict) else {TEXT: value},
    "unlisted attribute": lambda value: {"id": TEXT, "age": NUMBER},
    "a comment": lambda value: f"<!-- {TEXT} -->{value}",
    "an instruction": lambda value: f"<?{TEXT} {NUMBER}?>{value}",
    "a namespace": lambda value: f'<a xmlns:{TEXT}="urn:{NUMBER}"/>{value}',
    "a used namespace": lambda value: f'<{TEXT}:a xmlns:{TEXT}="urn:{NUMBER}" {TEXT}:b="{TEXT}"/>{value}',
    "a base": lambda value: f'<a xml:base="{TEXT}" xml:lang="x-{NUMBER}"/>{value}',
    "text between": lambda value: f"{TEXT}<{TEXT}/>{TEXT}",
}


@pytest.mark.full
@pytest.mark.parametrize("change", XML_CHANGES)
def test_a_mark_at_any_place_of_an_xml_record(bench: Bench, change: str) -> None:
    for position in in_turns(positions(PEOPLE[-2]), [*XML_CHANGES].index(change), 6):
        if isinstance(position[-1], str):
            bench.run(people_xml(planted(position, XML_CHANGES[change])).encode(), ".xml")


XML_BREAKS: dict[str, Callable[[str], str]] = {
    "cut inside": lambda text: text[: text.index(TEXT) + 4],
    "no closing tag": lambda text: text.replace(TEXT, f"<{TEXT}>"),
    "another closing tag": lambda text: text.replace(TEXT, f"<a></{TEXT}>"),
    "undefined entity": lambda text: text.replace(TEXT, f"&{TEXT};"),
    "unbound prefix": lambda text: text.replace(TEXT, f"<{TEXT}:a/>"),
    "attribute twice": lambda text: text.replace(TEXT, f'<a {TEXT}="1" {TEXT}="2"/>'),
    "attribute without quotes": lambda text: text.replace(TEXT, f"<a b={TEXT}/>"),
    "DOCTYPE": lambda text: f'<!DOCTYPE people [<!ENTITY {TEXT} "{TEXT}">]>' + text,
    "another root": lambda text: text.replace("people>", f"{TEXT}>"),
    "another record": lambda text: text.replace("</people>", f"<{TEXT}/></people>"),
    "text under the root": lambda text: text.replace("</people>", f"{TEXT}</people>"),
    "behind the end": lambda text: text + TEXT,
    "encoding": lambda text: f'<?xml version="1.0" encoding="{TEXT}"?>' + text,
    "not UTF-8": lambda text: text.replace(TEXT, TEXT + "\udcff"),
    "control character": lambda text: text.replace(TEXT, TEXT + "\x01"),
    "deep": lambda text: text.replace(TEXT, "<a>" * 70 + TEXT + "</a>" * 70),
}


@pytest.mark.parametrize("name", XML_BREAKS)
def test_a_mark_beside_broken_xml(bench: Bench, name: str) -> None:
    for position in (("town",), ("home", "floor")):
        text = people_xml(planted(position, CHANGES["text"]))
        bench.run(XML_BREAKS[name](text).encode("utf-8", "surrogateescape"), ".xml")
    # What lies around the records is left out where the policy names their place.
    assert 5 in bench.codes or name in ("another record", "text under the root")
