"""The documentation tells the truth: links lead somewhere, every name is explained, every example runs."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from hierdata.cli import app
from hierdata.domains.taxonomy import read_tree
from hierdata.ground import errors
from hierdata.ground.errors import PolicyError
from hierdata.policy.load import from_data, load
from hierdata.policy.load.json_schema import is_schema, policy_of
from hierdata.policy.load.yaml import read
from tests.docs import (
    DOCS,
    ENVIRONMENT,
    EXAMPLES,
    PAGES,
    ROOT,
    blocks,
    differing,
    fits,
    follow,
    plain,
    prepare,
    rewrite,
    run,
)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())


def text_of(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


# Links


def prose(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", prose(page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text("utf-8"))):
        if link.startswith(("https://", "http://")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@each_page
def test_every_page_can_be_reached_from_the_map(page: Path) -> None:
    """In one step from the map, or in two by the index of a folder."""
    maps = {DOCS / "index.md", page.parent / "index.md"}
    links = {
        (index.parent / link).resolve()
        for index in maps
        if index.exists()
        for link in re.findall(r"\]\(([^)#\s]+)", index.read_text("utf-8"))
    }
    assert page == DOCS / "index.md" or page in links


def test_every_page_has_a_place_in_the_site() -> None:
    placed = re.findall(
        r"^ +- (?:[^:\n]+: )?(\S+\.md)$", (ROOT / ".mkdocs/mkdocs.yml").read_text("utf-8"), re.M
    )
    assert sorted(placed) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)


@each_page
def test_every_page_says_whom_it_is_for(page: Path) -> None:
    title, empty, first, *_ = page.read_text("utf-8").splitlines()
    assert title.startswith("# ")
    assert empty == ""
    assert re.match(r"For [^.:]+[.:,;?]", first), first


# Names


def policy_names() -> set[str]:
    """Every key and every fixed word of the policy's JSON Schema."""
    schema = json.loads((ROOT / "schemas" / "policy.schema.json").read_text("utf-8"))
    names: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            names.update(node.get("properties", {}))
            names.update(str(word) for word in (*node.get("enum", ()), node.get("const", 1)))
            for part in node.values():
                walk(part)
        elif isinstance(node, list):
            for part in node:
                walk(part)

    walk(schema)
    return names - {"True"}


def named(page: str) -> set[str]:
    """The words of a page's code spans."""
    spans = re.findall(r"`([^`\n]+)`", prose(text_of(page)))
    return {word for span in spans for word in (span, *re.findall(r"[\w-]+", span))}


def named_in_the_policy_reference() -> set[str]:
    pages = (DOCS / "reference" / "policy").glob("*.md")
    return set().union(*(named(page.relative_to(DOCS).as_posix()) for page in pages))


def test_the_policy_reference_names_every_key() -> None:
    assert policy_names() - named_in_the_policy_reference() == set()


def release_names() -> Iterator[str]:
    for name in ("release", "codebook", "verification", "report"):
        schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text("utf-8"))
        for part in (schema, *schema.get("$defs", {}).values()):
            yield from part.get("properties", {})


def test_the_release_reference_names_every_key() -> None:
    assert set(release_names()) - named("reference/release.md") == set()


def commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    return dict(group.commands)


@pytest.mark.parametrize("command", commands())
def test_the_command_line_reference_has_every_option_and_no_other(command: str) -> None:
    sections = re.split(r"^## ", text_of("reference/cli.md"), flags=re.MULTILINE)
    (section,) = (part for part in sections if part.startswith(f"{command}\n"))
    told = set(re.findall(r"--[a-z][a-z-]*|(?<=`)-[a-z](?=`)", prose(section)))
    there = {
        option
        for parameter in commands()[command].params
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option[0] == "-"
    }
    assert told == there - {"--help", "-h"}


def test_the_command_line_reference_has_every_exit_code() -> None:
    page = text_of("reference/cli.md").partition("## Exit codes")[2]
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, errors.HierdataError):
            assert re.search(rf"^\| {error.exit_code} \|", page, re.MULTILINE), error


def test_every_dependency_has_its_sentence() -> None:
    page = text_of("explanation/architecture.md").partition("## Dependencies")[2]
    for requirement in PROJECT["project"]["dependencies"]:
        name = re.match(r"[\w-]+", requirement)
        assert name is not None
        assert re.search(rf"^- \*\*{name[0]}\*\* .+[.,;]$", page, re.MULTILINE), name[0]
    for requirement in PROJECT["project"]["optional-dependencies"]["test"]:
        assert re.split(r"[><=]", requirement)[0] in page


def test_the_pages_stay_short() -> None:
    """All pages together, and the figures that people look up before a run."""
    assert sum(len(page.read_text("utf-8").split()) for page in PAGES) <= 74_694
    assert len(text_of("performance.md").split()) <= 2_000


def test_the_architecture_is_read_in_one_sitting() -> None:
    assert len(text_of("explanation/architecture.md").splitlines()) <= 250


def test_the_floors_are_those_of_the_import_contracts() -> None:
    page = text_of("explanation/architecture.md").partition("## Floors")[2].partition("\n## ")[0]
    rows = [re.findall(r"`(\w+)`", line.split("|")[2]) for line in page.splitlines() if line.startswith("| ")]
    (contract,) = (one for one in PROJECT["tool"]["importlinter"]["contracts"] if one["id"] == "floors")
    assert [sorted(rooms) for rooms in rows if rooms] == [
        sorted(floor.split(" | ")) for floor in contract["layers"]
    ]


@pytest.mark.parametrize(
    ("code", "page"),
    [
        ("ML", "multilevel-hierarchical"),
        ("LE", "semantic-l-e"),
        ("DL", "numeric-delta-l"),
        ("DR", "discrimination-rate"),
        ("TC", "t-closeness"),
    ],
)
def test_the_page_on_a_paper_has_every_erratum(code: str, page: str) -> None:
    listed = re.findall(
        rf"^\*\*({code}-\d+)\.", (ROOT / "fixtures" / "papers" / "ERRATA.md").read_text("utf-8"), re.MULTILINE
    )
    told = re.findall(rf"^\| ({code}-\d+) \|", text_of(f"explanation/papers/{page}.md"), re.MULTILINE)
    assert told == listed


# Examples


COMPLETE = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}],
    "fields": {"$.a": {"role": "quasi", "flat": True}},
}
"""What a part of a policy is completed with."""


@each_page
def test_policies_load(page: Path, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    for block in blocks(page):
        file.write_text(block.text, "utf-8")
        if block.language == "json" and "$schema" in block.text:
            content = json.loads(block.text)
            assert is_schema(content)
            from_data(policy_of(content)[0])
        elif block.language != "yaml":
            continue
        elif "taxonomy" in block.words:
            assert read_tree(file, None, "example").labels
        elif "invalid" in block.words:
            with pytest.raises(PolicyError):
                load(file)
        else:
            stated = read(file)
            from_data(stated if "version" in stated else {**COMPLETE, **stated})


LONG = (
    *("attack-a-release.md", "choose-m.md", "choose-parameters.md", "cli.md", "large-collections.md"),
    *("anonymize-xml.md", "overview.md", "start-with-init.md", "tables.md", "tutorial.md", "use-in-ci.md"),
    *("mongodb-exports.md", "my-release-lost-too-much.md", "shape-lists.md", "verify-a-file.md"),
)
"""Pages whose examples take long."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.full if page.name in LONG else [], id=page.name)
        for page in EXAMPLES
    ],
)
def test_examples_run_and_print_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole, with all figures. ``python -m tests.docs --write`` writes the outputs anew."""
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    for block, printed in differing([*follow(page, tmp_path)]):
        assert plain(block.text) == printed, "run `python -m tests.docs --write` if this is meant"


@pytest.mark.full
def test_the_commands_of_papers_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"`(hierdata [^`]+)`", text_of("reference/papers.md"))
    assert len(commands) == 5
    for command in commands:
        run(command.replace("reproduce all", "reproduce DR --quick").replace("DIR", "pages"), tmp_path)


def test_what_does_not_fit_is_noticed() -> None:
    assert fits("...\nheld (k = 5)", "first\n  held   (k = 5)\n")
    assert not fits("held (k = 5)", "first\nheld (k = 5)")
    assert not fits("held (k = 5)", "FAILED (k = 5)")
    assert not fits("held (k = 5)", "held (k = 6)"), "a figure"
    assert fits("in 3.2 s by hierdata 1.0", "in 14 s by hierdata 1.1"), "a time and a version"


def test_what_was_printed_is_written_where_it_was_shown() -> None:
    assert rewrite("a\nk is 5\n", "a\nk is 6\n") == "a\nk is 6\n"
    assert rewrite("...\nk is 5\n...\nleft 1,000 of ... (0.2 %)\n", "a\nk is 6\nb\nleft 2 of 3 (4 %)\n") == (
        "...\nk is 6\n...\nleft 2 of ... (4 %)\n"
    )
    assert rewrite("...\nm is 5\n", "k is 5\n") is None, "a line is gone: a person decides"
