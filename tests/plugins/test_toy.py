"""A distribution with one member of each family: listed, anonymized with, judged, measured and reported."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.plugins.conftest import ROOT, SERIAL, SPREAD, Site
from tests.plugins.wheels import TOY, build, toy, unpack

MEMBERS = {
    "models": "capped-share",
    "engines": "chunks",
    "recodings": "local",
    "domains": "initial",
    "metrics": "mean_class_size",
    "formats": "numbered",
}
PUBLISHED = ("release", "release/public/records.numbered")


@pytest.fixture(name="desk", scope="module")
def _with_a_release(desk: Site) -> Site:
    ran = desk.run("anonymize", "in.numbered", "--policy", "policy.yaml", "--out", "release", *SERIAL)
    assert ran.code == 0, ran.err
    return desk


def test_all_members_are_listed_used_and_judged(desk: Site) -> None:
    """The last command judges by the original, in workers."""
    verify = [["verify", published, "--policy", "policy.yaml", *SERIAL] for published in PUBLISHED]
    listed, linted, again, *judged = desk.run_all(
        ["plugins", "--json"],
        ["lint", "policy.yaml", "--data", "in.numbered"],
        ["anonymize", "in.numbered", "--policy", "policy.yaml", "--out", "again", *SPREAD],
        *verify,
        ["verify", "release", "--policy", "policy.yaml", "--original", "in.numbered", *SPREAD],
    )
    assert listed.code == 0
    assert {one["family"]: one["name"] for one in listed.json["plugins"]} == MEMBERS
    assert {(one["distribution"], one["version"], one["problem"]) for one in listed.json["plugins"]} == {
        ("hierdata-toy", "1.0", None)
    }
    assert linted.code == 0
    assert again.code == 0, again.err
    for file in ("records.numbered", "codebook.json", "release.json", "summary.html"):
        one, other = ((desk.folder / out / "public" / file).read_bytes() for out in ("release", "again"))
        assert one == other, file
    assert [(ran.code, ran.err) for ran in judged] == [(0, "")] * (len(PUBLISHED) + 1)


def test_the_release_names_them_and_the_report_explains_them(desk: Site) -> None:
    claims = json.loads((desk.folder / "release/public/release.json").read_bytes())
    assert {one["family"]: one["name"] for one in claims["plugins"]} == MEMBERS
    assert {(one["distribution"], one["version"]) for one in claims["plugins"]} == {("hierdata-toy", "1.0")}
    promise = claims["promises"][1]
    assert promise["held"]
    assert "no value has more than 3/4 of them." in promise["statement"]
    assert set(promise["achieved"]) == {"share"}
    report = json.loads((desk.folder / "release/steward/report.json").read_bytes())
    assert report["metrics"]["mean_class_size"]["better"] == "lower"
    assert claims["gates"][0]["passed"]
    assert any("says the toy" in limit for limit in claims["limitations"])
    page = (desk.folder / "release/steward/report.html").read_text("utf-8")
    assert "share, of capped-share" in page
    assert "The largest share of one value" in page
    assert "How many records a class has on average." in page


def test_without_the_plugin_nothing_is_judged_and_nothing_anonymized(desk: Site) -> None:
    name = desk.say(
        "one.yaml",
        {
            "format: numbered": "format: jsonl",
            "recoding: local": "recoding: generalization",
            "{steps: [{kind: chunks, factor: 2}]}": "{steps: [{kind: mondrian}]}",
            "metrics: [mean_class_size]": "metrics: []",
            "mean_class_size, figure: records": "lm_cost, figure: total",
            "domain: {kind: initial}": "flat: true",
        },
    )
    listed, ran, *judged = desk.at(None).run_all(
        ["plugins"],
        ["anonymize", "in.numbered", "--policy", name, "--out", "none"],
        *(["verify", published, "--policy", "policy.yaml"] for published in PUBLISHED),
    )
    assert ran.code == 2
    where = "one.yaml, line 8, column 5: models[1]"
    assert ran.err.startswith(f"hierdata: {where}: 'capped-share' is not one of 'k-anonymity', ")
    assert ran.err.endswith("and no installed distribution declares it\n")
    assert ran.err.count("\n") == 1
    assert "No installed distribution adds anything" in listed.out
    for published, ran in zip(PUBLISHED, judged, strict=True):
        assert ran.code == 4
        assert ran.err.startswith("hierdata: not judged: ")
        if published == "release":
            missing = "capped-share (models) comes from hierdata-toy 1.0, which is not installed here"
            assert ran.err == f"hierdata: not judged: {missing}\n"


def test_another_version_judges_nothing(desk: Site, tmp_path: Path) -> None:
    site = tmp_path / "site"
    unpack(build(toy("2.0"), site.parent), site)
    ran = desk.at(site).run("verify", "release", "--policy", "policy.yaml")
    assert ran.code == 4
    assert ran.err == (
        "hierdata: not judged: capped-share (models) comes from hierdata-toy 1.0, "
        "which is installed as 2.0 here\n"
    )


def test_only_what_a_policy_names_is_imported_and_all_members_keep_their_contracts(desk: Site) -> None:
    code = """
import sys
from hierdata.policy.load import load
load("plain.yaml")
assert not [name for name in sys.modules if name.startswith("hierdata_toy")]
from hierdata_toy import domain, engine, format, metric, model, recoding
from hierdata import testing
testing.check_model(model.CappedShare(share="0.5"))
testing.check_engine(engine.Chunks())
testing.check_recoding(recoding.Local)
testing.check_domain(domain.Initial(), ["Anna", "Alma", "Bela", "C"])
testing.check_metric(metric.MeanClassSize)
testing.check_format(format.Numbered())
"""
    desk.execute(code)


def test_the_how_to_shows_the_model_of_the_toy() -> None:
    page = (ROOT / "docs" / "how-to" / "write-a-plugin.md").read_text("utf-8")
    assert f"```python\n{(TOY / 'hierdata_toy' / 'model.py').read_text('utf-8')}```" in page
    shown = tomllib.loads(page.partition("```toml\n")[2].partition("```")[0])["project"]
    project = tomllib.loads((TOY / "pyproject.toml").read_text("utf-8"))["project"]
    assert shown["entry-points"]["hierdata.models"] == project["entry-points"]["hierdata.models"]
    assert {key: shown[key] for key in ("name", "version", "dependencies")}.items() <= project.items()
