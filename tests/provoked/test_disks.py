"""What a file, a folder or a disk that fails at that moment leads to: a sentence, and whether it may pass."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest

import hierdata
from hierdata.cli import main
from hierdata.cli.session import explain_lost
from hierdata.cli.terminal import LostOutputError
from hierdata.comparison.compare import _folder, digest_input
from hierdata.documents.formats.csv import Csv
from hierdata.documents.formats.source import PathSource, Source
from hierdata.ground.errors import TargetError, UnavailableError
from hierdata.pipeline.control import HeldOut, write_held_out
from hierdata.pipeline.publish import _concatenate
from hierdata.pipeline.release_files import _are_equal, _check_described
from hierdata.policy.load import from_data
from hierdata.policy.plan.compared import read_population
from hierdata.release.witness import Witness, read_witness, seal_witness, write_witness
from hierdata.reproduction.reproduce import _open_folder
from hierdata.sources.bundles import _list_files
from hierdata.sources.files import copy_pipe
from hierdata.sources.folders import FilesForm, _find_files
from hierdata.sources.splits import open_source
from hierdata.sources.tables import TablesForm
from hierdata.studio.study import StudyFolder
from hierdata.synth.fhir.write import write_fhir
from tests.provoked import Act, provoke

BROKEN = Path("/proc/self/mem")
"""A regular file of mode 0600 whose first byte cannot be read: an error of the disk (EIO)."""
NULL = Path("/dev/null")
FULL = Path("/dev/full")
"""What takes no byte: no space is left (ENOSPC)."""

pytestmark = pytest.mark.skipif(not (BROKEN.exists() and FULL.exists()), reason="only Linux has these files")

POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}],
    "fields": {"$.a": {"role": "quasi", "flat": True}},
}


def enter(context: Any) -> object:
    """Begin and end a context."""
    with context as found:
        return found


class Broken(Source):
    """A file that can be opened, and whose content cannot be read."""

    name = "broken.csv"

    def __init__(self, *_: object) -> None:
        pass

    def open(self) -> BinaryIO:
        return BROKEN.open("rb")


@contextmanager
def failing(function: str, name: str) -> Iterator[None]:
    """Let a function of ``os`` or ``io`` fail for paths that end with this name, as a full disk does."""
    module, _, attribute = function.partition(".")
    own = {"os": os, "io": io}[module]
    real = getattr(own, attribute)

    def fail(path: Any, *arguments: Any, **named: Any) -> Any:
        if isinstance(path, str | Path) and str(path).endswith(name):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return real(path, *arguments, **named)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(own, attribute, fail)
        yield


def publish(function: str, name: str, out: Path, **keys: Any) -> Act:
    """Return the act of making a release while a function fails."""

    def act() -> object:
        with failing(function, name):
            return hierdata.anonymize([{"a": 1}] * 4, {**POLICY, **keys}, seed=bytes(16), out=out)

    return act


def test_what_cannot_be_read_may_be_read_later(tmp_path: Path) -> None:
    policy, ended = from_data(POLICY), tmp_path / "records"
    source = tmp_path / "broken.csv"
    source.symlink_to(BROKEN)
    packed = tmp_path / "broken.zip"
    packed.write_bytes(b"")
    ended.mkdir()
    (ended / "mem").symlink_to(BROKEN)

    def name_member() -> object:
        with failing("io.open", "broken.zip"):
            return PathSource(packed)

    provoke(
        UnavailableError,
        ("cannot read /proc/self/mem: Input", lambda: copy_pipe(BROKEN, policy, tmp_path)),
        ("broken.csv: cannot be read (Input", lambda: digest_input(source)),
        ("the XSD cannot be read (Input", lambda: _check_described(BROKEN, {}, policy)),
        ("the witness cannot be read (Input", lambda: Witness(BROKEN, b"", 1, 1).read(-3, 1)),
        ("the witness cannot be read (Input", lambda: read_witness(BROKEN, None)),
        ("records: cannot be compared (Input", lambda: _are_equal(ended, ended)),
        ("broken.zip: No space", name_member),
    )

    def read_rows() -> object:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("hierdata.policy.plan.compared.PathSource", Broken)
            return read_population(source, None, (), tmp_path)

    def read_on() -> object:
        with open_source(Broken()) as stream:
            return Csv().layout(stream)

    long = tmp_path / ("n" * 300)
    provoke(
        UnavailableError,
        ("cannot read broken.csv: Input", read_rows),
        ("cannot read broken.csv: Input", read_on),
    )
    provoke(
        TargetError,
        ("the files cannot be read (File name too long", lambda: _find_files(long)),
        ("there is no such file or folder", lambda: _list_files(tmp_path / "none")),
    )


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    inside = tmp_path / "file" / "out"
    inside.parent.write_text("")
    none = tmp_path / "none"
    sealed = tmp_path / "sealed"
    (sealed / "steward").mkdir(parents=True)
    (sealed / "steward" / "witness.bin").symlink_to(FULL)
    part, witness = tmp_path / "part", io.BytesIO()
    part.write_bytes(b"x")
    provoke(
        TargetError,
        ("cannot be created (Not a directory)", lambda: enter(_folder(inside, "digest"))),
        ("cannot be created (Not a directory)", lambda: _open_folder(inside)),
        ("the release cannot be written (No such", lambda: write_held_out(none, HeldOut(0, (), ()))),
        ("cannot write the witness (No such", lambda: enter(write_witness(none / "witness"))),
        ("cannot be created (Not a directory)", lambda: StudyFolder.create(inside, str(tmp_path))),
        ("out cannot be written: Not a directory", lambda: write_fhir(1, inside, 1)),
        ("file is already there; nothing was written", lambda: write_fhir(1, inside.parent, 1)),
        ("cannot write", lambda: FilesForm(Csv(), None).write([], none / "records")),  # type: ignore[arg-type]
        ("cannot write", lambda: TablesForm(Csv(), (), {}).write([], none / "records")),
    )
    out = tmp_path / "out"
    provoke(
        UnavailableError,
        ("cannot write the witness (No space", lambda: seal_witness(sealed, (), bytes(32), 1)),
        ("cannot write /dev/null: Input/output", lambda: _concatenate(iter([(BROKEN, part)]), NULL, witness)),
        ("cannot write /dev/full: No space", lambda: _concatenate(iter([(part, part)]), FULL, witness)),
        ("the release cannot be written (No space", publish("io.open", "report.html", out)),
        ("cannot create a folder for the release (No", publish("os.mkdir", "public", out)),
    )
    assert not out.exists()


def test_commands_on_a_full_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("hierdata.pipeline.warm_up.warm_up", lambda **_: None)
        assert main(["warmup", "--quiet"]) == 6
    assert "no folder for compiled code can be written: set NUMBA_CACHE_DIR" in capsys.readouterr().err
    assert main(["schema", "policy", "--out", "/proc/schema.json"]) == 6
    assert "/proc/schema.json: cannot be written (No such file" in capsys.readouterr().err
    assert explain_lost(LostOutputError(OSError(errno.ENOSPC, "No space left on device"))) == 8
    assert "the output cannot be written (No space left" in capsys.readouterr().err

    def act() -> object:
        with failing("io.open", ".ndjson"):
            return write_fhir(1, tmp_path / "fhir", 1)

    provoke(UnavailableError, ("fhir cannot be written: No space", act))
    assert not (tmp_path / "fhir").exists()


def test_a_study_whose_files_are_gone(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a\n1\n")
    study = StudyFolder.create(tmp_path / "study", str(tmp_path / "rows.csv"))
    mark = study.folder / "policy.yaml"
    provoke(TargetError, ("policy.yaml: cannot be read (No such file", study.policy_text))
    mark.write_bytes(b"\xff")
    provoke(TargetError, ("policy.yaml: is not UTF-8 text: put it back", study.policy_text))

    def act() -> object:
        with failing("os.open", f".study.json.{os.getpid()}"):
            return study.accept_input()

    provoke(UnavailableError, ("study.json: cannot be written (No space", act))
