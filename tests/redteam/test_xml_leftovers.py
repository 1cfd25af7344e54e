"""What is beside the values of XML input reaches no published file, whoever has it, published or not."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import hierdata
from tests.claims import state_claims

SEED = b"sixteen bytes or"
ENGINE = {"steps": [{"kind": "clustree", "window": 50, "pairing": "greedy", "grow": False}]}
MARK = "4711"
XSI = "http://www.w3.org/2001/XMLSchema-instance"


def policy_of(root: str = "/c:clinic/c:person", **keys: Any) -> dict[str, Any]:
    """A policy with prefixes of its own; ``e`` is used by some people, ``unused`` by nobody."""
    return {
        "version": 1,
        "namespaces": {"c": "urn:c", "e": "urn:e", "unused": "urn:unused"},
        "unlisted": "drop",
        "engine": ENGINE,
        "suppressed": "as_published",
        "models": [{"kind": "k-anonymity", "k": 4}],
        "fields": {
            f"{root}/@id": {"role": "identifier"},
            f"{root}/c:town": {"role": "quasi", "flat": True},
            f"{root}/c:visit/@e:ward": {"role": "quasi", "flat": True},
            f"{root}/c:visit/c:cause": {"role": "sensitive"},
            f"{root}/e:note": {"role": "quasi", "flat": True, "optional": True},
        },
        **keys,
    }


def person(number: int, *, tag: str = "", inside: str = "", town: str | None = None) -> str:
    """A person, with further text in the start tag and inside; two of three have a ``note``."""
    note = "<x:note>n</x:note>" if number // 4 % 3 else ""
    return (
        f'<person {tag} id="p{number}"><town>{town or f"t{number // 4}"}</town>{note}{inside}'
        f'<visit x:ward="w"><cause>{"ab"[number % 2]}</cause></visit></person>'
    )


def lone(tag: str = "", inside: str = "") -> str:
    """A person whose form nobody shares, so that the search suppresses the record."""
    return (
        f'<person {tag} id="lone"><town>alone</town>{inside}<visit x:ward="v"/><visit x:ward="w"/></person>'
    )


LEFTOVERS: dict[str, tuple[str, str]] = {
    "an unused namespace": (f'xmlns:mrn-{MARK}="urn:mrn:{MARK}"', ""),
    "a used namespace that is dropped": (f'xmlns:m="urn:{MARK}"', f"<m:x m:y='{MARK}'/>"),
    "another prefix of a published namespace": (f'xmlns:mrn-{MARK}="urn:e" mrn-{MARK}:f="1"', ""),
    "a comment": ("", f"<!-- {MARK} -->"),
    "an instruction": ("", f"<?mrn {MARK}?>"),
    "a target": ("", f"<?mrn-{MARK}?>"),
    "a base": (f'xml:base="http://{MARK}/"', ""),
    "a hint of a schema": (f'xmlns:xsi="{XSI}" xsi:schemaLocation="urn:c {MARK}.xsd"', ""),
    "a language": (f'xml:lang="x-{MARK}"', ""),
    "an unlisted element": ("", f"<mrn-{MARK}/>"),
    "an unlisted attribute": (f'mrn-{MARK}="1"', ""),
    "text": ("", f"{MARK}"),
    "CDATA": ("", f"<![CDATA[{MARK}]]>"),
}
AROUND: dict[str, tuple[str, str, str]] = {
    "a comment": (f"<!-- {MARK} -->", "", f"<!-- {MARK} -->"),
    "an instruction": (f'<?xml-stylesheet href="{MARK}.xsl"?>', "", f"<?mrn {MARK}?>"),
    "a declaration": ('<?xml version="1.0" encoding="us-ascii" standalone="yes"?>', "", ""),
    "a byte order mark": ("\ufeff", "", ""),
    "an unused namespace": ("", f'xmlns:mrn-{MARK}="urn:mrn:{MARK}"', ""),
    "another prefix": ("", f'xmlns:mrn-{MARK}="urn:e"', ""),
    "an attribute": ("", f'mrn="{MARK}" xml:base="http://{MARK}/" xmlns:n="urn:n" n:o="{MARK}"', ""),
    "a hint of a schema": ("", f'xmlns:xsi="{XSI}" xsi:schemaLocation="urn:c {MARK}.xsd"', ""),
    "another element": ("", "", f'<mrn xmlns="urn:{MARK}">{MARK}</mrn>'),
    "white space": ("\n\n", "\n", "\n \t"),
}
"""What stands before the root, in its start tag, and between the records."""


def clinic(people: list[str], before: str = "", tag: str = "", between: str = "") -> bytes:
    body = between.join(("", *people, ""))
    return f'{before}<clinic xmlns="urn:c" xmlns:x="urn:e" {tag}>{body}</clinic>'.encode()


def public_bytes(folder: Path) -> dict[str, bytes]:
    """All of public/ by name, gzip opened."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: gzip.decompress(data) if name.endswith(".gz") else data for name, data in found.items()}


def released(source: Path, policy: dict[str, Any], suppressed: int = 0) -> dict[str, bytes]:
    release = hierdata.anonymize(source, policy, seed=SEED)
    assert release.report.counts.records.suppressed == suppressed
    out = release.save(source.parent / "out")
    assert hierdata.verify(out, policy, original=source).passed
    files = public_bytes(out / "public")
    for path in sorted(out.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    out.rmdir()
    return files


def told(files: dict[str, bytes]) -> dict[str, list[bytes]]:
    """The lines of each file but digests; the order of the records is drawn anew for each collection."""
    return {
        name: sorted(re.sub(rb"\b[0-9a-f]{64}\b", b"", data).split(b"\n")) for name, data in files.items()
    }


def contents(files: dict[str, bytes]) -> list[list[bytes]]:
    """The same for files that are numbered in an order drawn anew."""
    return sorted(told(files).values())


def declared_at(data: bytes) -> list[set[str]]:
    """The namespaces that each element below the root has in scope, those of the root left out."""
    root = etree.fromstring(data)
    return [
        {uri for one in record.iter() for uri in one.nsmap.values()} - {*root.nsmap.values()}
        for record in root
    ]


def used_at(data: bytes) -> list[set[str]]:
    """The namespaces that each element below the root uses, those of the root left out."""
    root = etree.fromstring(data)
    names = [[name for one in record.iter() for name in (one.tag, *one.attrib)] for record in root]
    return [{etree.QName(name).namespace for name in own} - {None, *root.nsmap.values()} for own in names]


def declared(data: bytes) -> set[tuple[str | None, str]]:
    return {pair for one in etree.fromstring(data).iter() for pair in one.nsmap.items()}


@pytest.fixture(name="expected", scope="module")
def _expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[bytes]]:
    """What is told of people with nothing beside their values."""
    source = tmp_path_factory.mktemp("plain") / "clinic.xml"
    source.write_bytes(clinic([person(number) for number in range(12)]))
    return told(released(source, policy_of()))


@pytest.mark.parametrize("name", LEFTOVERS)
@pytest.mark.parametrize("places", [(5,), pytest.param((0, 11), marks=pytest.mark.full)], ids=len)
def test_what_one_record_has_beside_its_values_changes_nothing(
    name: str, places: tuple[int, ...], tmp_path: Path, expected: dict[str, list[bytes]]
) -> None:
    """At the first, an inner and the last record, and at one that is suppressed, first or last."""
    source, plain = tmp_path / "clinic.xml", [person(number) for number in range(12)]
    tag, inside = LEFTOVERS[name]
    for at in places:
        people = [*plain]
        people[at] = person(at, tag=tag, inside=inside)
        source.write_bytes(clinic(people))
        assert told(released(source, policy_of())) == expected
    for people in ([lone(tag, inside), *plain], [*plain, lone(tag, inside)]):
        source.write_bytes(clinic(people))
        assert told(released(source, policy_of(), suppressed=1)) == expected


@pytest.mark.parametrize("name", AROUND)
def test_what_lies_around_the_records_changes_nothing(
    name: str, tmp_path: Path, expected: dict[str, list[bytes]]
) -> None:
    source, plain = tmp_path / "clinic.xml", [person(number) for number in range(12)]
    before, tag, between = AROUND[name]
    source.write_bytes(clinic(plain, before, tag, between))
    assert told(released(source, policy_of())) == expected


@pytest.mark.parametrize("recoding", ["generalization", "representatives", "anatomy"])
def test_prefixes_are_the_policy_s_and_are_declared_where_they_are_used(
    recoding: str, tmp_path: Path
) -> None:
    source = tmp_path / "clinic.xml"
    source.write_bytes(clinic([person(number) for number in range(12)], tag=f'xmlns:mrn-{MARK}="urn:e"'))
    asked = policy_of(recoding=recoding)
    if recoding == "anatomy":
        del asked["engine"]
    for file, data in released(source, asked).items():
        if file.endswith(".xml"):
            assert declared(data) <= {("c", "urn:c"), ("e", "urn:e")}
            assert declared_at(data) == used_at(data)


@pytest.mark.full
def test_the_last_of_two_thousand_changes_nothing(tmp_path: Path) -> None:
    source, people = tmp_path / "clinic.xml.gz", [person(number) for number in range(2000)]
    asked = policy_of(blocks=500)
    del asked["engine"]
    found = []
    for tag, inside in (("", ""), LEFTOVERS["an unused namespace"], LEFTOVERS["an instruction"]):
        people[-1] = person(1999, tag=tag, inside=inside)
        source.write_bytes(gzip.compress(clinic(people), mtime=int(MARK)))
        found.append(told(released(source, asked)))
    assert found[0] == found[1] == found[2]


def with_prefix(prefix: str, text: str) -> str:
    return re.sub(r"\bx(?=[:=])", prefix, text)


SPELLINGS: tuple[Callable[[str], str], ...] = (
    lambda text: with_prefix("e", text),
    lambda text: with_prefix(f"mrn-{MARK}", text),
    lambda text: text.replace("<person", f'<person xmlns:mrn-{MARK}="urn:e"', 1),
    lambda text: (
        f'<?xml version="1.0" encoding="us-ascii" standalone="yes"?><?m{MARK} {MARK}?><!--{MARK}-->{text}'
    ),
    lambda text: f"\ufeff{text}<!--{MARK}--><?m{MARK}?>",
    lambda text: text.replace("<", "\r\n <").replace("\r\n </", "</"),
    lambda text: text.replace("<town>t", "<town  ><![CDATA[t]]><!-- -->").replace('"w"', "'&#119;'"),
)


def one_a_file(folder: Path, odd: int, spell: Callable[[str], str], with_lone: str = "") -> None:
    """Write each person into a file; that of number ``odd`` is spelled in its own way."""
    folder.mkdir(exist_ok=True)
    people = [person(number, tag='xmlns="urn:c" xmlns:x="urn:e"') for number in range(12)]
    if with_lone:
        people.insert(odd, lone('xmlns="urn:c" xmlns:x="urn:e"'))
    for number, text in enumerate(people):
        (folder / f"{number:02}.xml").write_text(spell(text) if number == odd else text, "utf-8")


@pytest.mark.parametrize(
    "odd", [pytest.param(0, marks=pytest.mark.full), 7, pytest.param(11, marks=pytest.mark.full)]
)
def test_how_one_file_is_spelled_changes_no_file(odd: int, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for alone in ("", "lone"):
        asked = policy_of("/c:person", records="/c:person")
        found = []
        for spell in (lambda text: text, *SPELLINGS):
            one_a_file(folder, odd, spell, alone)
            found.append(contents(released(folder, asked, suppressed=bool(alone))))
        assert all(one == found[0] for one in found)


def test_elements_of_lxml_leave_nothing_either(tmp_path: Path) -> None:
    plain = clinic([person(number) for number in range(12)])
    marked = clinic(
        [person(0, tag=f'xmlns:mrn-{MARK}="urn:e"'), *(person(number) for number in range(1, 12))],
        tag=f'xmlns:mrn-{MARK}="urn:c" mrn="{MARK}"',
    )
    found = []
    for given in (plain, marked):
        release = hierdata.anonymize(etree.fromstring(given), policy_of(), seed=SEED)
        found.append(told(public_bytes(release.folder / "public")))
    assert found[0] == found[1]


def test_elements_stand_in_the_order_of_the_policy(tmp_path: Path) -> None:
    """Not in that of the record that comes first, which may be suppressed."""
    source, plain = tmp_path / "clinic.xml", [person(number) for number in range(12)]
    turned = [lone().replace("<town>alone</town>", "").replace("</person>", "<town>alone</town></person>")]
    found = []
    for people in (plain, [*turned, *plain], [*plain, *turned]):
        source.write_bytes(clinic(people))
        found.append(told(released(source, policy_of(), suppressed=len(people) - 12)))
    assert found[0] == found[1] == found[2]
    with_notes = [line for line in found[0]["records.xml"] if b"note" in line]
    assert with_notes
    assert all(line.index(b"visit") < line.index(b"note") for line in with_notes)


def test_a_file_with_a_prefix_too_many_is_not_the_release(tmp_path: Path) -> None:
    source = tmp_path / "clinic.xml"
    source.write_bytes(clinic([person(number) for number in range(12)]))
    out = hierdata.anonymize(source, policy_of(), seed=SEED).save(tmp_path / "out")
    records = out / "public" / "records.xml"
    first = records.read_bytes()
    for name in ("unused", "mrn-4711"):
        records.write_bytes(first.replace(b"<c:clinic", f'<c:clinic xmlns:{name}="urn:unused"'.encode(), 1))
        forged = hashlib.sha256(records.read_bytes()).hexdigest()
        release = out / "public" / "release.json"
        text = release.read_text()
        state_claims(out / "public", text.replace(hashlib.sha256(first).hexdigest(), forged))
        with pytest.raises(hierdata.VerificationError, match="not written as hierdata writes"):
            hierdata.verify(out, policy_of())
        release.write_text(text)


@pytest.mark.parametrize("one_each", [False, True])
def test_a_draft_names_no_prefix_that_a_record_declares(one_each: bool, tmp_path: Path) -> None:
    source = tmp_path / "clinic.xml"
    if one_each:
        source = tmp_path / "in"
        one_a_file(source, 0, lambda text: with_prefix(f"mrn-{MARK}", text))
    else:
        marked = person(0, tag=f'xmlns:mrn-{MARK}="urn:e"').replace("x:", f"mrn-{MARK}:")
        people = [marked, *(person(number) for number in range(1, 12))]
        source.write_bytes(clinic(people, tag=f'xmlns:mrn-{MARK}="urn:mrn:{MARK}"'))
    draft = hierdata.init(source, records="/person" if one_each else None)
    assert MARK not in str(draft)
    assert {"urn:c"} <= set(draft.stated["namespaces"].values()) <= {"urn:c", "urn:e"}
