"""The folder of compiled code: nobody else's code is loaded, and whatever is wrong with it, runs go on."""

from __future__ import annotations

import os
import pickle
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hierdata
from hierdata.engines.compiler import cache

PACKAGE = Path(hierdata.__file__).parents[1]
KERNEL = """
from hierdata.engines.jit import announcing_compilation, jit

@jit
def twice(number):
    return 2 * number

compiled = []
with announcing_compilation(lambda: compiled.append(1)):
    answer = twice(21)
print(answer, "compiled" if compiled else "cached")
"""
NAME = f"hierdata-{os.geteuid()}"
STRANGER = 12345


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, str]]:
        return open, (str(self.path), "w")


class Home:
    """A folder with a kernel, and a place for compiled code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.code = self.cache / NAME
        self.exploded = folder / "exploded"
        (folder / "kernel.py").write_text(KERNEL)

    def start(self, prelude: str = "", **variables: str | None) -> subprocess.Popen[str]:
        places = {"NUMBA_CACHE_DIR": str(self.cache), "TMPDIR": str(self.folder / "tmp")}
        own = {"HOME": "/nonexistent", "XDG_CACHE_HOME": None, **places, **variables}
        changed = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", **own}
        environment = {name: value for name, value in changed.items() if value is not None}
        (self.folder / "tmp").mkdir(exist_ok=True)
        command = [sys.executable, "-c", f"{prelude}\nimport kernel"]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, prelude: str = "", **variables: str | None) -> str:
        """What the kernel's process prints."""
        process = self.start(prelude, **variables)
        answer, errors = process.communicate(timeout=120)
        assert errors == ""
        return answer.strip()

    def files(self, suffix: str) -> list[Path]:
        return sorted(self.cache.resolve().rglob(f"*{suffix}"))

    def plant(self) -> None:
        """Replace all that would be read by code of a stranger."""
        for file in [*self.files(".nbi"), *self.files(".nbc")]:
            file.write_bytes(pickle.dumps(Bomb(self.exploded)))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_it_is_a_folder_of_this_user_alone(home: Home) -> None:
    assert home.run() == "42 compiled"
    assert home.run() == "42 cached"
    for folder in (home.code, *(path for path in home.code.iterdir())):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def make_link(home: Home) -> None:
    home.code.rename(home.folder / "elsewhere")
    home.code.symlink_to(home.folder / "elsewhere", target_is_directory=True)


def make_above_writable(home: Home) -> None:
    """Whoever can write in a folder can put another in the place of one that is in it."""
    home.cache.chmod(0o770)


def make_a_strangers(home: Home) -> None:
    os.chown(home.code, STRANGER, STRANGER)


def make_above_a_strangers(home: Home) -> None:
    os.chown(home.cache, STRANGER, STRANGER)


SPOILED: dict[str, Callable[[Home], None]] = {
    "link": make_link,
    "group may write": lambda home: home.code.chmod(0o770),
    "others may read": lambda home: home.code.chmod(0o705),
    "group may write above": make_above_writable,
    "of a stranger": make_a_strangers,
    "above of a stranger": make_above_a_strangers,
}


FAST = ("of a stranger",)


@pytest.mark.parametrize(
    "spoiled",
    [pytest.param(name, marks=[] if name in FAST else pytest.mark.full) for name in SPOILED],
)
def test_what_others_could_have_written_is_not_loaded(home: Home, spoiled: str) -> None:
    assert home.run() == "42 compiled"
    home.plant()
    assert home.run() == "42 compiled"
    assert home.exploded.exists(), "the files are read, so that the rest of this test can fail"
    home.exploded.unlink()
    home.plant()
    prelude = ""
    if "stranger" in spoiled and os.geteuid():
        prelude = f"import os; os.geteuid = lambda: {STRANGER}"  # the folder is somebody's, then
        home.code.rename(home.cache / f"hierdata-{STRANGER}")
    else:
        SPOILED[spoiled](home)
    before = {path: path.read_bytes() for path in home.files("") if path.is_file()}
    assert home.run(prelude) == "42 compiled"
    assert not home.exploded.exists()
    assert {path: path.read_bytes() for path in home.files("") if path.is_file()} == before


@pytest.mark.full
def test_another_place_is_taken_and_kept(home: Home) -> None:
    """Without a home the folder is with the temporary files, and the next run finds it."""
    places: list[dict[str, str | None]] = [{"HOME": None}, {"XDG_CACHE_HOME": "/nonexistent/cache"}]
    for variables in places:
        shutil.rmtree(home.folder / "tmp", ignore_errors=True)
        stated = {"NUMBA_CACHE_DIR": "/nonexistent/numba", **variables}
        nobody = "import pwd\ndef stranger(*_): raise KeyError\npwd.getpwuid = stranger"
        assert home.run(nobody, **stated) == "42 compiled"
        assert home.run(nobody, **stated) == "42 cached"
        assert [path.name for path in (home.folder / "tmp").iterdir()] == [NAME]
    own = home.folder / "home"
    own.mkdir()
    assert home.run(NUMBA_CACHE_DIR="", HOME=str(own)) == "42 compiled"
    assert (own / ".cache" / NAME).is_dir()


@pytest.mark.full
def test_a_fresh_folder_goes_with_its_process(home: Home) -> None:
    (home.folder / "tmp").mkdir()
    (home.folder / "tmp" / NAME).mkdir(mode=0o755)
    (home.folder / "tmp" / NAME).chmod(0o755)
    for _ in range(2):
        assert home.run(NUMBA_CACHE_DIR="/nonexistent/numba", HOME="/nonexistent") == "42 compiled"
        until = time.monotonic() + 20
        while len([*(home.folder / "tmp").iterdir()]) > 1 and time.monotonic() < until:
            time.sleep(0.05)
        assert [path.name for path in (home.folder / "tmp").iterdir()] == [NAME]
        assert [*(home.folder / "tmp" / NAME).iterdir()] == []


@pytest.mark.full
def test_without_any_place_nothing_is_kept(home: Home) -> None:
    nowhere = 'import tempfile; tempfile.tempdir = "/nonexistent/tmp"'
    for _ in range(2):
        assert home.run(nowhere, NUMBA_CACHE_DIR="/nonexistent/numba", HOME="/nonexistent") == "42 compiled"
    assert not home.cache.exists()


@pytest.mark.full
def test_processes_share_a_folder(home: Home) -> None:
    started = [home.start() for _ in range(6)]
    assert {process.communicate(timeout=120)[0].split()[0] for process in started} == {"42"}
    assert home.run() == "42 cached"
    assert home.files(".tmp.*") == []


@pytest.mark.full
@pytest.mark.parametrize("suffix", [pytest.param(".nbi", marks=pytest.mark.full), ".nbc"])
def test_damaged_files_are_written_again(home: Home, suffix: str) -> None:
    assert home.run() == "42 compiled"
    for damage in (b"", b"\x80\x05garbage", None):
        (file,) = home.files(suffix)
        file.write_bytes(file.read_bytes()[:-20] if damage is None else damage)
        assert home.run() == "42 compiled"
        assert home.run() == "42 cached"


@pytest.mark.full
def test_a_folder_that_is_full_stops_nothing(home: Home) -> None:
    full = """
from hierdata.engines.compiler import cache
def refuse(*_):
    raise OSError(28, "No space left on device")
cache.CodeCache._impl_class.reduce = refuse
"""
    assert [home.run(full), home.run(full), home.run()] == ["42 compiled"] * 3


@pytest.fixture
def above(tmp_path: Path) -> Iterator[Path]:
    cache._code_folder.cache_clear()
    yield tmp_path / "code"
    cache._code_folder.cache_clear()


def test_the_builds_used_last_are_kept(above: Path) -> None:
    names = [f"build{number}" for number in range(12)]
    for number, name in enumerate(names):
        folder = cache.build_folder(name, str(above))
        assert folder is not None
        (folder / "code").write_text(name)
        os.utime(folder, (number, number))
        if number > 0:
            first = cache.build_folder(names[0], str(above))  # is in use
            assert first is not None
            assert (first / "code").read_text() == names[0]
    kept = {path.name for path in (above / NAME).iterdir()}
    assert len(kept) == 8
    assert kept >= {names[0], names[-1]}
