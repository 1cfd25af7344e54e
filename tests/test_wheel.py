"""A wheel with compiled kernels: what it installs starts without compiling; what does not fit is ignored."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from types import ModuleType

import numba
import pytest

from hierdata.engines.compiler import cache
from hierdata.ground.version import __version__
from tests.plugins.wheels import build, distribution, install

ROOT = Path(__file__).parents[1]
ROWS = [{"age": number % 61, "zip": number % 7, "ill": f"v{number % 3}"} for number in range(600)]
"""More than are searched without the compiler."""
POLICY = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 5}],
    "fields": {
        "$.age": {"role": "quasi", "interval": {"steps": [1, 10, 61]}},
        "$.zip": {"role": "quasi", "interval": {"steps": [1, 7]}},
        "$.ill": {"role": "sensitive"},
    },
    "engine": {"steps": [{"kind": "mondrian"}]},
}
COMPILE = f"""
from hierdata import anonymize
from hierdata.engines.compiler.cache import ship_code
anonymize({ROWS!r}, {POLICY!r})
ship_code("")
"""


def script() -> ModuleType:
    """The script, which compiles the kernels of one engine instead of all."""
    spec = importlib.util.spec_from_file_location("wheel_script", ROOT / ".ci/wheel.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module)["COMPILE"] = COMPILE
    return module


def pure_wheel(folder: Path) -> Path:
    """The package as a wheel without compiled code."""
    kept = {".py", ".html", ".json", ".typed"}
    files = [path for path in (ROOT / "hierdata").rglob("*") if path.suffix in kept]
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}
    return build(distribution("hierdata", __version__, sources, {}), folder)


class Installation:
    """An environment with one wheel, and the dependencies of the environment of the tests."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder
        venv.create(folder / "venv", symlinks=True)
        (site,) = (folder / "venv").glob("lib/*/site-packages")
        install(wheel, site)
        (site / "dependencies.pth").write_text("\n".join(path for path in sys.path if "-packages" in path))
        self.package = site / "hierdata"
        (self.code,) = (self.package / "engines/compiled").iterdir()
        (folder / "rows.json").write_text(json.dumps(ROWS))
        (folder / "policy.json").write_text(json.dumps(POLICY))
        (folder / "seed").write_text("1" * 32)

    def publish(self, name: str) -> tuple[dict[str, bytes], int]:
        """The public files, and how many kernels were compiled."""
        home = self.folder / name
        home.mkdir()
        command = [*("-P", "-m", "hierdata", "anonymize", "rows.json", "--policy", "policy.json"), "--quiet"]
        subprocess.run(
            [
                self.folder / "venv/bin/python",
                *command,
                "--seed-file",
                "seed",
                "--out",
                str(home / "release"),
            ],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
            check=True,
        )
        files = {path.name: path.read_bytes() for path in (home / "release/public").iterdir()}
        return files, len([*home.rglob("*.nbc")])

    def finds_code(self) -> bool:
        find = "from hierdata.engines.compiler import cache; print(cache._shipped_folder(''))"
        command = [self.folder / "venv/bin/python", "-P", "-B", "-c", find]
        printed = subprocess.run(
            command,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        return printed.strip() == str(self.code)


@pytest.mark.long  # it compiles everything again
def test_an_installation_starts_without_compiling(tmp_path: Path) -> None:
    pure = pure_wheel(tmp_path / "pure")
    script().main(["--wheel", str(pure), "--out", str(tmp_path / "dist")])
    (wheel,) = (tmp_path / "dist").iterdir()
    installed = Installation(tmp_path, wheel)
    before = {path: path.stat().st_mtime_ns for path in installed.package.rglob("*")}
    released, compiled = installed.publish("first")
    assert compiled == 0
    assert {path: path.stat().st_mtime_ns for path in installed.package.rglob("*")} == before, (
        "it is read only"
    )

    installed.code.chmod(0o777)
    again, compiled = installed.publish("others_may_write")
    assert compiled > 0
    assert again == released
    installed.code.chmod(0o755)
    assert installed.finds_code()
    (installed.package / "engines/new.py").write_text("")
    assert not installed.finds_code()


def test_code_of_other_versions_has_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {cache._portable_stamp.__wrapped__("")}
    for owner, name, value in (
        (numba, "__version__", "0.1"),
        (sys.implementation, "cache_tag", "cpython-30"),
        (numba.config, "OPT", 0),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, value)
            names.add(cache._portable_stamp.__wrapped__(""))
    assert len(names) == 4


def test_only_code_for_any_processor_is_given_away() -> None:
    with pytest.raises(ValueError, match="NUMBA_CPU_NAME=generic"):
        cache.ship_code("")
