"""Wheels made by hand and installed by pip: the tests have neither a build backend nor a network."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

TOY = Path(__file__).parent / "toy"

WHEEL = "Wheel-Version: 1.0\nGenerator: hierdata\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def toy(version: str = "1.0") -> dict[str, str]:
    """The files of the toy distribution by their place in a wheel."""
    project = tomllib.loads((TOY / "pyproject.toml").read_text("utf-8"))["project"]
    sources = {path.relative_to(TOY).as_posix(): path.read_text("utf-8") for path in TOY.rglob("*.py")}
    return distribution(project["name"], version, sources, project["entry-points"])


def distribution(
    name: str, version: str, sources: Mapping[str, str], entry_points: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """The files of a wheel: sources, metadata, entry points."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    declared = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in entry_points.items()
    )
    return {
        **sources,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": WHEEL,
        f"{info}/entry_points.txt": declared,
    }


def build(files: Mapping[str, str], folder: Path) -> Path:
    """Write a wheel of these files into a folder."""
    (metadata,) = (name for name in files if name.endswith("/METADATA"))
    info = metadata.partition("/")[0]
    folder.mkdir(exist_ok=True)
    wheel = folder / f"{info.removesuffix('.dist-info')}-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", _record(files, info))
    return wheel


def install(wheel: Path, target: Path) -> None:
    """Install a wheel into a folder, with pip and without an index."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-cache-dir"]
    options = ["--disable-pip-version-check", "--no-compile", "--target", str(target)]
    subprocess.run([*pip, *options, str(wheel)], check=True, capture_output=True)


def unpack(wheel: Path, target: Path) -> None:
    """Put the files of a wheel into a folder, as ``install`` does, without starting pip."""
    with ZipFile(wheel) as archive:
        archive.extractall(target)


def _record(files: Mapping[str, str], info: str) -> str:
    lines = []
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(text.encode())}\n")
    return "".join(lines) + f"{info}/RECORD,,\n"
