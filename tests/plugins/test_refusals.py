"""Plug-ins that cannot be used: one sentence with name and distribution, and never a value of the data."""

from __future__ import annotations

import pickle
from pathlib import Path
from shutil import copytree

import pytest

from hierdata.ground.errors import MissingPluginError
from hierdata.ground.plugins import Plugin
from tests.plugins.conftest import SERIAL, SPREAD, Site
from tests.plugins.wheels import TOY, build, distribution, unpack

MODEL = (TOY / "hierdata_toy" / "model.py").read_text("utf-8")


def changed(desk: Site, folder: Path, **sources: str) -> Path:
    """A copy of the folder where the toy is installed, some modules of which have other text."""
    assert desk.site is not None
    site = folder / "site"
    copytree(desk.site, site)
    for name, text in sources.items():
        (site / "hierdata_toy" / f"{name}.py").write_text(text, "utf-8")
    return site


@pytest.mark.full
def test_what_cannot_be_imported_is_named_with_the_reason(desk: Site, tmp_path: Path) -> None:
    site = changed(desk, tmp_path, model="import no_such_library\n")
    ran = desk.at(site).run("anonymize", "in.numbered", "--policy", "policy.yaml", "--out", "none")
    reason = "ModuleNotFoundError: No module named 'no_such_library'"
    assert ran.code == 2
    assert ran.err == f"hierdata: capped-share (models) of hierdata-toy 1.0 cannot be imported ({reason})\n"
    listed = desk.at(site).run("plugins")
    assert listed.code == 2
    assert listed.err == "hierdata: 1 plug-in is refused\n"


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("class CappedShare: pass", "is not a subclass of hierdata.privacy.base.PrivacyModel"),
        ("raise SystemExit('bye\\nbye')", "cannot be imported (SystemExit: bye)"),
        ("", "cannot be imported (AttributeError: "),
        (
            MODEL.replace('Literal["capped-share"]', 'Literal["other"]'),
            "must state `kind: Literal['capped-share']",
        ),
        (MODEL.replace("def promise", "def promised"), "does not implement promise"),
        (MODEL.replace("    letters:", "    words:"), "does not state letters"),
    ],
    ids=["no model", "exit", "no class", "kind", "abstract", "letters"],
)
def test_what_is_no_member_is_refused(desk: Site, tmp_path: Path, text: str, problem: str) -> None:
    ran = desk.at(changed(desk, tmp_path, model=text)).run("lint", "policy.yaml", "--json")
    assert ran.code == 2
    assert ran.err.startswith("hierdata: ")
    assert f"capped-share (models) of hierdata-toy 1.0 {problem}" in ran.out + ran.err


def test_a_recoding_that_no_judge_knows_is_refused(desk: Site, tmp_path: Path) -> None:
    text = (TOY / "hierdata_toy" / "recoding.py").read_text("utf-8")
    site = changed(desk, tmp_path, recoding=text.replace('judged_as="generalization"', 'judged_as="magic"'))
    ran = desk.at(site).run("plugins", "--json")
    assert ran.code == 2
    (refused,) = (one["problem"] for one in ran.json["plugins"] if one["problem"])
    assert refused.startswith(
        "local (recodings) of hierdata-toy 1.0 must state `traits`, with a judged_as of"
    )


def test_a_built_in_name_is_not_taken(desk: Site, tmp_path: Path) -> None:
    site = tmp_path / "site"
    sources = {"thief.py": "raise RuntimeError('imported')\n"}
    entries = {
        "hierdata.models": {"k-anonymity": "thief:Model"},
        "hierdata.metrics": {"lm_cost": "thief:Metric"},
    }
    unpack(build(distribution("hierdata-thief", "1.0", sources, entries), site.parent), site)
    ran, linted = desk.at(site).run_all(["plugins", "--json"], ["lint", "plain.yaml"])
    assert ran.code == 2
    assert {one["problem"] for one in ran.json["plugins"]} == {
        "has the name of a built-in member, which is used instead"
    }
    assert linted.code == 0


@pytest.mark.full
def test_of_two_distributions_with_one_name_none_is_chosen(desk: Site, tmp_path: Path) -> None:
    site = changed(desk, tmp_path)
    entries = {"hierdata.models": {"capped-share": "other_toy:Model"}}
    unpack(build(distribution("other-toy", "3.0", {"other_toy.py": ""}, entries), site.parent), site)
    ran = desk.at(site).run("anonymize", "in.numbered", "--policy", "policy.yaml", "--out", "none")
    assert ran.code == 2
    assert "two distributions declare capped-share in hierdata.models, " in ran.err
    assert ran.err.count("\n") == 1
    listed = desk.at(site).run("plugins", "--json").json["plugins"]
    assert {one["name"] for one in listed if one["problem"]} == {"capped-share"}
    assert desk.at(site).run("lint", "plain.yaml").code == 0


@pytest.mark.full
@pytest.mark.parametrize("spread", [("--executor", "serial"), SPREAD], ids=["here", "in a worker"])
def test_an_error_while_it_runs_is_told_by_type_and_place(
    desk: Site, tmp_path: Path, spread: tuple[str, ...]
) -> None:
    text = (TOY / "hierdata_toy" / "domain.py").read_text("utf-8")
    broken = text.replace(
        "    if not isinstance(value, str)", "    int(value)\n    if not isinstance(value, str)"
    )
    reader = (TOY / "hierdata_toy" / "format.py").read_text("utf-8")
    failing = reader.replace("        text = line.decode().strip()", "        text = str(int(line))")
    failing = failing.replace("except (RefusedTextError, ValueError, IndexError)", "except RefusedTextError")
    for sources, file in (({"domain": broken}, "domain.py"), ({"format": failing}, "format.py")):
        site = changed(desk, tmp_path / file, **sources)
        ran = desk.at(site).run(
            "anonymize", "in.numbered", "--policy", "policy.yaml", "--out", "none", *spread
        )
        assert ran.code == 1
        assert ran.err.startswith(f"hierdata: error in a plug-in (ValueError at {file}:")
        assert ran.err.endswith(" of hierdata-toy 1.0); please report it to its authors\n")
        assert not (desk.folder / "none").exists()


def test_policies_that_misuse_them_are_refused(desk: Site) -> None:
    cases = {
        ('share: "0.75"', 'share: "0.75", shape: 2'): "models[1]: unknown key 'shape'",
        ("kind: capped-share", "kind: [capped-share]"): "models[1]: ",
        ("kind: capped-share", "kind: capped-shares"): "declares 'capped-shares'; did you mean capped-share?",
        ("kind: initial", "kind: 5"): "fields[$.name].domain: must be a mapping with the kind of a domain",
        ("kind: initial", "kind: prefix"): "fields[$.name].domain: prefix is built in",
        ("factor: 2", "factor: no"): "engine.steps[0].factor: ",
        (
            "metrics: [mean_class_size]",
            "metrics: [lm_cost]",
        ): "metrics[0]: lm_cost is measured",
        ("figure: records", "figure: total"): "mean_class_size needs a figure, one of records",
    }
    for at, ((old, new), _) in enumerate(cases.items()):
        desk.say(f"wrong-{at}.yaml", {old: new})
    desk.execute(f"""
from hierdata.ground.errors import PolicyError
from hierdata.policy.load import load
for at, message in enumerate({[*cases.values()]!r}):
    try:
        load(f"wrong-{{at}}.yaml")
    except PolicyError as error:
        assert message in str(error), (message, str(error))
    else:
        raise AssertionError(message)
""")


def test_a_worker_refuses_another_version() -> None:
    """A worker unpickles what the policy names before anything else."""
    here = Plugin("models", "own", "pydantic", "0.0.1")
    gone = Plugin("models", "own", "no-such-distribution", "1.0")
    for plugin, place in ((here, "which is installed as "), (gone, "which is not installed here")):
        with pytest.raises(MissingPluginError, match=place):
            pickle.loads(pickle.dumps(plugin))


def test_claims_about_plugins_are_no_way_in(desk: Site, tmp_path: Path) -> None:
    claims = {
        "empty": '[{"family": "models", "name": "x", "distribution": "", "version": "1"}]',
        "control": '[{"family": "models", "name": "\\u001b[31m", "distribution": "d", "version": "1"}]',
        "deep": "[" * 100_000,
        "no list": "7",
    }
    for name, plugins in claims.items():
        folder = tmp_path / name / "public"
        folder.mkdir(parents=True)
        (folder / "release.json").write_text(f'{{"plugins": {plugins}}}')
        (folder / "records.jsonl").write_text('{"name": "*"}\n' * 3)
    every = desk.run_all(
        *(["verify", str(tmp_path / name), "--policy", "plain.yaml", *SERIAL] for name in claims)
    )
    # As if the claims were not there: the records are judged.
    assert {name: (ran.code, ran.err) for name, ran in zip(claims, every, strict=True)} == dict.fromkeys(
        claims, (0, "")
    )
