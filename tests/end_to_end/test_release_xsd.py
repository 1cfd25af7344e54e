"""Every XML release satisfies the XSD beside it, whatever the recoding, and no other XSD passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import hierdata
from hierdata.ground.errors import VerificationError
from hierdata.policy.load import from_data, read_file

ROOT = Path(__file__).parents[2]
STUDENTS = ROOT / "fixtures" / "students" / "students.xml"
SEED = bytes(16)


def policy_of(**stated: Any) -> Any:
    data = read_file(ROOT / "fixtures" / "policies" / "students-xml.yaml").data
    data["models"] = [{"kind": "k-anonymity", "k": 4}]
    data["effort"] = 0
    return from_data(data | stated, ROOT / "fixtures" / "policies")


@pytest.fixture(scope="module")
def students(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = STUDENTS.read_text().splitlines()
    file = tmp_path_factory.mktemp("students") / "students.xml"
    file.write_text("\n".join([*lines[:42], lines[-1]]))
    return file


def validated(public: Path) -> etree._ElementTree:
    """The XSD, which all files satisfy."""
    tree = etree.parse(str(public / "records.xsd"))
    schema = etree.XMLSchema(tree)
    files = list(public.rglob("*.xml"))
    assert files
    for file in files:
        schema.assertValid(etree.parse(str(file)))
    return tree


RECODINGS = ["generalization", "sets_and_ranges", "representatives", "anatomy", "slicing"]


@pytest.mark.parametrize("recoding", RECODINGS)
def test_every_recoding(students: Path, tmp_path: Path, recoding: str) -> None:
    policy = policy_of(recoding=recoding)
    hierdata.anonymize(students, policy, seed=SEED).save(tmp_path / "out")
    validated(tmp_path / "out" / "public")
    assert hierdata.verify(tmp_path / "out", policy).passed


def test_types_and_order_of_the_policy_s_xsd(students: Path, tmp_path: Path) -> None:
    shuffled = tmp_path / "shuffled.xml"
    root = etree.parse(str(students)).getroot()
    for record in root:
        record[:] = sorted(record, key=lambda child: child.tag)
    shuffled.write_bytes(etree.tostring(root))
    policy = policy_of(schema="../../schemas/student.xsd")
    hierdata.anonymize(shuffled, policy, seed=SEED).save(tmp_path / "out")
    tree = validated(tmp_path / "out" / "public")
    kinds = {node.get("name"): node.get("type") for node in tree.iter("{*}attribute", "{*}element")}
    assert kinds["gpa"] == "gpa"
    assert kinds["grade"] == "grade"
    assert kinds["title"] == "xs:string"
    released = etree.parse(str(tmp_path / "out" / "public" / "records.xml")).getroot()
    assert [child.tag for child in released[0]][:3] == ["major", "gpa", "course"]
    assert hierdata.verify(tmp_path / "out", policy, original=shuffled).passed


def test_with_what_was_dropped_and_generalized_put_back_it_satisfies_the_original_xsd(
    students: Path, tmp_path: Path
) -> None:
    policy = policy_of(schema="../../schemas/student.xsd")
    hierdata.anonymize(students, policy, seed=SEED).save(tmp_path / "out")
    schema = etree.XMLSchema(etree.parse(str(ROOT / "schemas" / "student.xsd")))
    root = etree.parse(str(tmp_path / "out" / "public" / "records.xml")).getroot()
    for record in root:
        record.set("id", "S000001")
        record.set("birth_year", "1990")
    schema.assertValid(root)


def test_another_xsd_is_not_confirmed(students: Path, tmp_path: Path) -> None:
    policy = policy_of()
    hierdata.anonymize(students, policy, seed=SEED).save(tmp_path / "out")
    file = tmp_path / "out" / "public" / "records.xsd"
    file.write_bytes(file.read_bytes() + b"<!-- marker 7319 -->")
    with pytest.raises(VerificationError, match="XSD does not belong"):
        hierdata.verify(tmp_path / "out", policy)


def test_one_file_for_each_record(tmp_path: Path) -> None:
    place = tmp_path / "in"
    place.mkdir()
    for number in range(8):
        (place / f"{number}.xml").write_text(
            f'<doc xmlns="urn:d" xmlns:x="urn:x" id="{number}"><v x:u="{number % 2}"><s>{number % 3}</s></v>'
            f"<x:e>{number % 2}</x:e></doc>"
        )
    policy: dict[str, Any] = {
        "version": 1,
        "records": "/doc",
        "namespaces": {"": "urn:d", "y": "urn:x"},
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {
            "/doc/@id": {"role": "identifier"},
            "/doc/v/@y:u": {"role": "quasi", "flat": True},
            "/doc/v/s": {"role": "sensitive"},
            "/doc/y:e": {"role": "quasi", "flat": True},
        },
    }
    for recoding in ("generalization", "representatives", "anatomy"):
        stated = policy | {"recoding": recoding}
        hierdata.anonymize(place, stated, seed=SEED).save(tmp_path / recoding)
        validated(tmp_path / recoding / "public")
        assert hierdata.verify(tmp_path / recoding, stated).passed
