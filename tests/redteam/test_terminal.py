"""Texts of policies, files and keys reach no terminal, log or page as anything but themselves.

Every text of a policy, every name of a file, a key, a column and an argument holds all characters that move
the cursor, end a line, turn the direction or cannot be seen, and then a sentence that looks like ours.
"""

from __future__ import annotations

import copy
import json
import shutil
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.cli import main
from hierdata.ground.escaping import escape, quote
from tests.adversarial.marked import PEOPLE, json_policy

ROOT = Path(__file__).parents[2]
BAD = [
    *map(chr, (*range(1, 32), *range(127, 160))),  # C0 and C1; NUL is in no file name
    *map(chr, (0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x2060, 0xFEFF, 0x061C, 0x00AD)),
    *map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))),  # direction
    *map(chr, (0x00A0, 0x3000, 0x2800, 0x3164, 0x115F, 0xFE0F, 0x180E, 0xE0001, 0xE0041, 0xE0100)),  # unseen
]
FORGED = "k = 50 held"
TERMINAL = "\x1b[2K\r\n\u202e\u2066\x9b1m\u200b\x85" + FORGED
MARKUP = "[bold red]<script>alert(1)</script><b>&lt;</b>[/]"
ALL = "".join(BAD)


def require_plain(text: str, where: str) -> None:
    """Nothing but line feeds ends a line, nothing is invisible, and no line begins as if it were ours."""
    assert not [hex(ord(one)) for one in set(text) - {"\n"} if one in BAD], where
    assert not [one for one in set(text) - {"\n", " "} if unicodedata.category(one)[0] in "CZ"], where
    assert not [line for line in text.split("\n") if line.strip().startswith(FORGED)], where


def texts_in(value: Any) -> Iterator[str]:
    """Every text inside plain data, keys too."""
    if isinstance(value, str):
        yield value
    for inner in value if isinstance(value, list) else ():
        yield from texts_in(inner)
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield key
        yield from texts_in(inner)


class Desk:
    """Runs commands in a folder and looks at all that they say and write."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capture = capture
        self.codes: set[int] = set()
        self.source = folder / "people.jsonl"
        self.source.write_text("".join(json.dumps(one) + "\n" for one in PEOPLE), "utf-8")

    def run(self, *words: object) -> int:
        code = main([str(word) for word in words])
        said = self.capture.readouterr()
        require_plain(said.out, f"stdout of {words[0]}")
        require_plain(said.err, f"stderr of {words[0]}")
        self.codes.add(code)
        return code

    def look(self, policy: dict[str, Any]) -> None:
        """Run the commands that read a policy, and look at the files that they write."""
        stated, out = self.folder / "policy.json", self.folder / "out"
        stated.write_text(json.dumps(policy), "utf-8")
        self.run("lint", stated, "--data", self.source, "--metrics")
        self.run("lint", stated, "--json")
        if self.run("anonymize", self.source, "--policy", stated, "--out", out, "--metrics") == 0:
            self.run("verify", out, "--policy", stated)
            self.run("verify", self.source, "--policy", stated)
            self.run("measure", out, "--original", self.source, "--policy", stated)
            self.run("measure", out, "--original", self.source, "--policy", stated, "--metrics")
            require_plain_release(out)
            shutil.rmtree(out)


def require_plain_release(out: Path) -> None:
    """The page and the JSON files are safe to print, and so are the sentences that they hold."""
    names = ("public/release.json", "public/codebook.json", "public/summary.html")
    for name in (*names, "steward/report.json", "steward/report.html"):
        text = (out / name).read_text("utf-8")
        require_plain(text, name)
        if name.endswith(".html"):
            assert "<script" not in text
            assert "<b>" not in text
    for name in ("public/release.json", "steward/report.json"):
        stated = json.loads((out / name).read_text("utf-8"))
        for key in ("dataset", "limitations", "warnings", "promises", "gates"):
            for text in texts_in(stated.get(key, [])):
                # Paths are data, by which a program finds fields; sentences quote them escaped.
                if "\u202e" in text:
                    assert text.startswith("$"), name


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)


def full_policy() -> dict[str, Any]:
    """A policy with a text in every part that takes one."""
    fields = json_policy()["fields"]
    fields["$.id"] = {"role": "identifier", "action": {"pseudonym": {"domain": "people", "links": "known"}}}
    fields["$.note"] = {"role": "free_text", "exempt": "written by us"}
    fields["$.town"]["missing"] = ["?"]
    return {
        "version": 1,
        "dataset": "people",
        "key": "per-run",
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": fields,
        "unlisted": {"keep": "asked for"},
        "attackers": {"colleague": {"on": "$.disease", "keys": ["$.age"]}},
        "gates": [
            {
                "name": "enough",
                "metric": "discrimination_rate",
                "attacker": "colleague",
                "operator": "<=",
                "value": 1,
                "reason": "agreed",
            }
        ],
    }


Keys = tuple[str | int, ...]


def places(value: Any, above: Keys = ()) -> Iterator[tuple[Keys, bool]]:
    """The place of every text in plain data; True for a key, False for a value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(key, str):
            yield (*above, key), True
        if isinstance(inner, str):
            yield (*above, key), False
        elif isinstance(inner, dict | list):
            yield from places(inner, (*above, key))


def changed(policy: dict[str, Any], place: Keys, is_key: bool, text: str) -> dict[str, Any]:
    """The policy with a text appended to one of its own."""
    changed = copy.deepcopy(policy)
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    last = place[-1]
    if not is_key:
        inner[last] += text
    else:
        path = f"{last}['{text}']" if str(last).startswith("$") else f"{last}{text}"
        items = list(inner.items())
        inner.clear()
        inner.update((path if key == last else key, value) for key, value in items)
    return changed


def test_what_is_escaped_and_quoted() -> None:
    assert [one for one in BAD if escape(one) == one] == []
    assert all(escape(one).startswith("\\") for one in BAD)
    assert escape("Größe — 日本 🎓 c:\\new") == "Größe — 日本 🎓 c:\\new"
    assert escape(escape(ALL)) == escape(ALL)
    assert quote(FORGED) == f'"{FORGED}"'
    assert quote(f'a"\u00a0: {FORGED}') == f'"a\'\\xa0: {FORGED}"'
    assert quote(f"a{' ' * 500}{FORGED}") == f'"a {FORGED}"'


def test_the_policy_is_published_as_it_is(desk: Desk) -> None:
    desk.look(full_policy())
    assert desk.codes == {0, 4}  # the source itself keeps no promise


def test_a_title_prints_no_line_of_ours(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    out, stated = desk.folder / "out", desk.folder / "policy.yaml"
    text = json.dumps(json_policy() | {"dataset": f"people\n{FORGED}: all is well"})
    stated.write_text(text, "utf-8")
    assert main(["anonymize", str(desk.source), "--policy", str(stated), "--out", str(out)]) == 0
    first, *rest = capsys.readouterr().out.split("\n")
    assert first == f'"people\\n{FORGED}: all is well": This release keeps its promise.'
    assert any("classes" in line for line in rest)
    page = (out / "steward" / "report.html").read_text("utf-8")
    assert f"Release report: &#34;people\\n{FORGED}: all is well&#34;</p>" in page


@pytest.mark.full
def test_in_every_text_of_a_policy(desk: Desk) -> None:
    policy = full_policy()
    for place, is_key in places(policy):
        for text in (TERMINAL, f"{ALL}{MARKUP}"):
            desk.look(changed(policy, place, is_key, text))
    assert desk.codes >= {0, 2}
    assert 1 not in desk.codes


FREE = [
    ("dataset",),
    ("fields", "$.note", "exempt"),
    ("fields", "$.id", "action", "pseudonym", "links"),
    ("unlisted", "keep"),
    ("gates", 0, "name"),
    ("gates", 0, "reason"),
]
"""Texts that a policy may choose at will, so that a release is made with them."""


def test_in_the_texts_that_a_release_repeats(desk: Desk) -> None:
    policy = full_policy()
    for place in FREE:
        policy = changed(policy, place, False, f"{TERMINAL}{MARKUP}{ALL}")
    desk.look(policy)
    assert 0 in desk.codes
    assert 2 not in desk.codes


def test_in_keys_of_the_input(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    key = f"town{TERMINAL}{MARKUP}{ALL}"
    people = [{**one, key: one["town"], "deep": {key: [{key: 1}]}} for one in PEOPLE]
    desk.source.write_text("".join(json.dumps(one) + "\n" for one in people), "utf-8")
    desk.look(full_policy())
    desk.look({**full_policy(), "unlisted": "error"})
    desk.run("init", desk.source)
    draft = desk.folder / "draft.yaml"
    desk.run("init", desk.source, "--out", draft)
    require_plain(draft.read_text("utf-8"), "a draft")
    text = draft.read_text("utf-8").replace("draft:", "dataset:", 1)
    draft.write_text(text, "utf-8")
    desk.run("lint", draft, "--data", desk.source)
    assert desk.codes == {0, 2, 4}
    with pytest.raises(hierdata.PolicyError) as caught:
        hierdata.anonymize(people, {**json_policy(), "fields": {f"$['{key}'].x": {"role": "quasi"}}})
    require_plain(str(caught.value), "an error of the API")


def test_in_columns_of_a_table(desk: Desk) -> None:
    odd = "".join(one for one in ALL if one not in "\t\r\n") + FORGED
    table = desk.folder / "table.csv"
    table.write_text(f"{odd},ill\n" + "30,flu\n30,cold\n40,flu\n40,cold\n", "utf-8", newline="")
    assert desk.run("measure", table, "--key", odd, "--sensitive", "ill") == 0
    desk.run("measure", table, "--key", "ill", "--sensitive", f"{odd}{TERMINAL}")
    desk.run("measure", table, "--key", "ill", "--sensitive", odd, "--generalizes", f"{odd}=x")
    desk.run("init", table)
    assert desk.codes == {0, 2}


@pytest.mark.full
def test_in_names_of_files(desk: Desk) -> None:
    """Each broken file under such a name, and a policy, a release, a taxonomy and a folder."""
    name = TERMINAL.replace("/", "") + "".join(one for one in ALL if ord(one) < 0x2030)[:90]
    policy = desk.folder / f"{name}.json"
    policy.write_text(json.dumps(json_policy()), "utf-8")
    for broken in sorted((ROOT / "fixtures" / "broken").iterdir()):
        if broken.is_file() and broken.suffix != ".md":
            there = desk.folder / f"{name[:40]}{broken.name[-60:]}"
            shutil.copy(broken, there)
            desk.run("anonymize", there, "--policy", policy, "--out", desk.folder / "out")
            there.unlink()
    assert desk.codes <= {2, 3, 5}
    out = desk.folder / f"out{name}"
    assert desk.run("anonymize", desk.source, "--policy", policy, "--out", out) == 0
    desk.run("anonymize", desk.source, "--policy", policy, "--out", out)  # is there already
    desk.run("anonymize", desk.source, "--policy", policy, "--out", desk.folder / "none" / name)
    desk.run("anonymize", desk.folder / name, "--policy", policy, "--out", desk.folder / "out2")
    (out / "public" / name).write_text("x", "utf-8")
    desk.run("verify", out, "--policy", policy)
    desk.run("verify", desk.folder / name, "--policy", policy)
    desk.run("lint", desk.folder / name)
    desk.run("synth", "students", "--records", "1", "--out", desk.folder / f"{name}.jsonl")
    desk.run("synth", "students", "--records", "1", "--out", desk.folder / f"{name}.jsonl")
    broken = desk.folder / "broken.yaml"
    broken.write_text(f"version: 1\n'{FORGED}\u202e': [\n", "utf-8")
    desk.run("lint", broken)
    stranger = json_policy()
    stranger["fields"]["$.color"] = {"role": "quasi", "taxonomy": f"{name}.csv"}
    desk.look({**stranger, "schema": f"{name}.schema.json"})


def test_in_arguments(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        (TERMINAL,),
        ("lint", f"--{TERMINAL}"),
        ("lint", "x", TERMINAL),
        ("synth", TERMINAL, "--out", "x.jsonl"),
        ("lint", desk.source, "--format", TERMINAL),
        ("anonymize", f"mongodb://{TERMINAL}", "--policy", desk.source, "--out", TERMINAL),
        ("anonymize", "x", "--policy", desk.source, "--out", "y", "--memory", TERMINAL),
        ("anonymize", "x", "--policy", desk.source, "--out", "y", "--executor", TERMINAL),
        ("measure", "x", "--key", "y", "--sensitive", "z", "--generalizes", TERMINAL),
        ("synth", "students", "--records", TERMINAL, "--out", "x.jsonl"),
    ):
        assert desk.run(*words) in (2, 5, 6), words
        assert desk.run(*words, "--json") in (2, 5, 6), words


def test_what_stdout_cannot_encode_is_escaped(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import io
    import sys

    stated, printed = tmp_path / "policy.json", io.BytesIO()
    stated.write_text(json.dumps(json_policy() | {"dataset": "Übersicht 日"}), "utf-8")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, "ascii"))
    assert main(["anonymize", str(desk.source), "--policy", str(stated), "--out", str(tmp_path / "out")]) == 0
    sys.stdout.flush()
    assert printed.getvalue().startswith(rb'"\xdcbersicht \u65e5": This release')


def test_a_raw_value_has_one_line_of_the_file_that_reveals_it(desk: Desk, tmp_path: Path) -> None:
    people = copy.deepcopy(PEOPLE)
    people[0]["color"] = f"green{TERMINAL}"
    desk.source.write_text("".join(json.dumps(one) + "\n" for one in people), "utf-8")
    stated, reveal = tmp_path / "policy.json", tmp_path / "values.txt"
    stated.write_text(json.dumps(json_policy()), "utf-8")
    assert desk.run("lint", stated, "--data", desk.source, "--reveal", reveal) == 2
    (line,) = (one for one in reveal.read_text("utf-8").split("\n") if "green" in one)
    require_plain(line.replace("\t", ""), "revealed values")
