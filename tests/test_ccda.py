"""The policy for patient summaries that ships, on the summaries beside the repository where they are."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from lxml import etree

import hierdata
from hierdata.policy.load import load
from tests.benchmarks.data_folder import data_folder

POLICY = Path(__file__).parents[1] / "fixtures" / "policies" / "ccda.yaml"
ARCHIVE = data_folder() / "ccda_xml" / "emerge_ccda.tar.gz"
SERIAL = hierdata.Resources("serial")
FORBIDDEN = {"text", "name", "telecom", "streetAddressLine", "id", "templateId", "setId", "title", "guardian"}
"""Narrative, names, and what else tells who somebody is."""


@pytest.fixture
def summaries(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if not ARCHIVE.is_file():
        pytest.skip("the patient summaries do not lie beside the repository")
    folder = tmp_path / "ccda"
    folder.mkdir()
    with tarfile.open(ARCHIVE) as archive:
        members = sorted((one for one in archive if one.name.endswith(".xml")), key=lambda one: one.name)
        for member in members[: request.param]:
            content = archive.extractfile(member)
            assert content is not None
            (folder / Path(member.name).name).write_bytes(content.read())
    return folder


def test_the_policy_loads() -> None:
    policy = load(POLICY)
    assert policy.place == ("{urn:hl7-org:v3}ClinicalDocument",)


@pytest.mark.parametrize("summaries", [40, pytest.param(None, marks=pytest.mark.full)], indirect=True)
def test_coded_entries_are_published_and_nothing_that_names(summaries: Path, tmp_path: Path) -> None:
    release = hierdata.anonymize(f"{summaries}/*.xml", POLICY, seed=bytes(16), resources=SERIAL)
    out = release.save(tmp_path / "out")
    counts = release.report.counts
    assert counts.records.input == len(list(summaries.iterdir()))
    assert counts.records.suppressed < 10
    files = sorted((out / "public" / "records").iterdir())
    assert len(files) == counts.records.published
    schema = etree.XMLSchema(etree.parse(str(out / "public" / "records.xsd")))
    codes = 0
    for file in files:
        tree = etree.parse(str(file))
        schema.assertValid(tree)
        assert not {etree.QName(element).localname for element in tree.iter()} & FORBIDDEN
        assert all(len(element) or element.attrib or element.text for element in tree.iter())
        codes += len(tree.findall(".//{*}observation/{*}value[@code]"))
    assert codes > len(files)
    assert hierdata.verify(out, POLICY, original=summaries, resources=SERIAL).passed
