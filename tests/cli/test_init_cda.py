"""Drafts for C-CDA: roles by HL7's elements, and releases without a name, an id or the narrative."""

from __future__ import annotations

from pathlib import Path

from hierdata.pipeline.draft_standards import init_cda
from tests.cli.conftest import Run

CANARY = "Canary"
DOCUMENT = """<?xml version="1.0"?>
<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:sdtc="urn:hl7-org:sdtc">
  <id root="2.16" extension="{canary}"/><title>{canary}</title><effectiveTime value="20240203"/>
  <recordTarget><patientRole>
    <id extension="{canary}"/><addr><streetAddressLine>{canary}</streetAddressLine><state>MA</state></addr>
    <telecom value="tel:{canary}"/>
    <patient>
      <name><given>{canary}</given><family>{canary}</family></name>
      <administrativeGenderCode code="{sex}" displayName="{canary}"/><birthTime value="{born}"/>
      <sdtc:raceCode code="{canary}"/>
      <guardian><guardianPerson><name>{canary}</name></guardianPerson></guardian>
    </patient>
  </patientRole></recordTarget>
  <author><time value="20240203"/><assignedAuthor><id extension="{canary}"/></assignedAuthor></author>
  <component><structuredBody><component><section>
    <code code="11450-4"/><title>{canary}</title><text><p>{canary}</p></text>
    <entry><act><id extension="{canary}"/><entryRelationship><observation>
      <effectiveTime><low value="20240101"/></effectiveTime>
      <value code="{code}" displayName="{canary}"><originalText>{canary}</originalText></value>
      <entryRelationship><observation><value code="{canary}"/></observation></entryRelationship>
    </observation></entryRelationship></act></entry>
  </section></component></structuredBody></component>
</ClinicalDocument>
"""


def write_documents(folder: Path, count: int = 24) -> Path:
    folder.mkdir()
    for n in range(count):
        born = ("19530408", "196011", "1971")[n % 3]
        text = DOCUMENT.format(
            canary=f"{CANARY}{n}", sex="MF"[n % 2], born=born, code=("E11", "I10")[n // 2 % 2]
        )
        (folder / f"{CANARY}{n}.xml").write_text(text)
    return folder


def test_a_confirmed_draft_is_published_without_anything_that_names(run: Run, tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "in")
    out, release = tmp_path / "policy.yaml", tmp_path / "out"
    assert run("init", f"{folder}/*.xml", "--as", "c-cda", "--out", out, "--quiet").code == 0
    text = out.read_text()
    assert CANARY not in text
    assert text.count("CONFIRM ") <= 10 + 1  # the line that says how many are marked
    out.write_text("".join(one for one in text.splitlines(True) if not one.startswith("draft:")))
    assert run("lint", out, "--data", f"{folder}/*.xml").code == 0
    assert run("anonymize", f"{folder}/*.xml", "--policy", out, "--out", release, "--quiet").code == 0
    public = "".join(one.read_text() for one in (release / "public").rglob("*") if one.is_file())
    assert CANARY not in public
    assert 'code="E11"' in public
    assert '"1953"' in public or "[1950-01-01" in public


def test_every_promise_of_the_draft_says_what_it_keeps(tmp_path: Path) -> None:
    """Bounded knowledge must be told which elements repeat: the draft names those of published fields."""
    folder = write_documents(tmp_path / "in", 100)
    for file in sorted(folder.iterdir())[::2]:
        text = file.read_text()
        entry = text[text.index("<entry>") : text.index("</entry>") + len("</entry>")]
        file.write_text(text.replace(entry, 2 * entry))
    draft = init_cda(f"{folder}/*.xml")
    told = [path for path, rule in draft.policy()["fields"].items() if rule.get("vertex")]
    assert told == ["/ClinicalDocument/component/structuredBody/component/section/entry"]
    assert [(name, kept is None) for name, kept in draft.kept.items()] == [
        ("draft", False),
        ("knowledge", False),
        ("facts", False),
    ]


def test_roles_are_those_of_hl7(tmp_path: Path) -> None:
    draft = init_cda(f"{write_documents(tmp_path / 'in', 3)}/*.xml")
    roles = {one.path.removeprefix("/ClinicalDocument/"): one for one in draft.list_roles()}
    entry = "component/structuredBody/component/section"
    for path, role, published in (
        ("recordTarget/patientRole/patient/name", "identifier", False),
        ("recordTarget/patientRole/patient/birthTime/@value", "quasi", True),
        ("recordTarget/patientRole/telecom", "identifier", False),
        ("author", "identifier", False),
        (f"{entry}/text", "identifier", False),
        (f"{entry}/entry/act/entryRelationship/observation/value/@code", "sensitive", True),
        (f"{entry}/entry/act/entryRelationship/observation/entryRelationship", "sensitive", False),
    ):
        assert (roles[path].role, roles[path].is_published) == (role, published), path


def test_other_xml_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text('<ClinicalDocument xmlns="urn:hl7-org:v3"><id/></ClinicalDocument>')
    ran = run("init", tmp_path / "a.xml", "--as", "c-cda")
    assert ran.code == 5
    assert "no documents of C-CDA" in ran.err
