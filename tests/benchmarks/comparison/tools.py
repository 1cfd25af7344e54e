"""Other tools, each in an environment of its own, since they pin different versions of numpy and pandas."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

VERSIONS = {"anjana": "1.2.3", "anonypyx": "0.2.11", "pycanon": "1.3.6"}
_ASK = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"


def named(options: Sequence[str]) -> dict[str, Path]:
    """Interpreters that the command line names, as ``TOOL=PYTHON``."""
    found = {}
    for option in options:
        name, _, python = option.partition("=")
        if name not in VERSIONS or not Path(python).is_file():
            sys.exit(f"--python {option}: write TOOL=PYTHON, where TOOL is one of {', '.join(VERSIONS)}")
        found[name] = Path(python)
    return found


def made(wanted: Sequence[str], given: Mapping[str, Path], folder: Path) -> dict[str, Path]:
    """The interpreter of each tool; environments that are not given are made in a folder, and kept there."""
    found = dict(given)
    for name in wanted:
        if name not in found:
            found[name] = folder / name / "bin" / "python"
            if not found[name].exists():
                venv.create(folder / name, with_pip=True)
                install = f"{name}=={VERSIONS[name]}"
                subprocess.run([found[name], "-m", "pip", "install", "--quiet", install], check=True)
        version = subprocess.run(
            [found[name], "-c", _ASK, name], check=True, capture_output=True, text=True
        ).stdout.strip()
        if version != VERSIONS[name]:
            sys.exit(f"{name} {version} is installed there; this comparison is with {VERSIONS[name]}")
    return {name: found[name] for name in wanted}
