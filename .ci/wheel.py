"""Build a wheel that carries compiled kernels: what it installs starts without compiling.

``python .ci/wheel.py --out dist``, in an environment with hierdata's dependencies. The code is for any
processor of this kind of machine, this minor version of Python and this version of numba. Elsewhere it is
ignored, and kernels are compiled at first use as with other wheels.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from packaging.tags import cpython_tags
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).resolve().parents[1]
WHEEL = "Wheel-Version: 1.0\nGenerator: hierdata\nRoot-Is-Purelib: false\nTag: {}\n"
COMPILE = """
import sys
from hierdata.engines.compiler.cache import ship_code
from hierdata.pipeline.warm_up import warm_up
warm_up(everything=sys.argv[1] == "everything")
ship_code("")          # kernels of engines
ship_code("hierdata")  # those of attacks, which depend on more files
"""


def build_pure_wheel(folder: Path) -> Path:
    """Build the wheel without code; pip fetches the build backend."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([*pip, str(ROOT)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def add_code(tree: Path, what: str) -> None:
    """Compile kernels from the files of an unpacked wheel, and put the code beside them."""
    with tempfile.TemporaryDirectory() as code:
        changed = {
            "PYTHONPATH": str(tree),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CACHE_DIR": code,
        }
        subprocess.run([sys.executable, "-P", "-c", COMPILE, what], env={**os.environ, **changed}, check=True)


def pack(tree: Path, pure: Path, out: Path) -> Path:
    """Write a wheel of the tree, tagged for this Python and kind of machine."""
    name, version, _, _ = parse_wheel_filename(pure.name)
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = next(iter(cpython_tags(platforms=[platform])))
    info = tree / f"{name.replace('-', '_')}-{version}.dist-info"
    (info / "WHEEL").write_text(WHEEL.format(tag))
    (info / "RECORD").unlink()
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    lines = [f"{(info / 'RECORD').relative_to(tree).as_posix()},,\n"]
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"{info.name.removesuffix('.dist-info')}-{tag}.whl"
    with ZipFile(wheel, "w", ZIP_DEFLATED) as archive:
        for path in files:
            place, content = path.relative_to(tree).as_posix(), path.read_bytes()
            digest = urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{place},sha256={digest},{len(content)}\n")
            _write(archive, place, content)
        _write(archive, (info / "RECORD").relative_to(tree).as_posix(), "".join(lines).encode())
    return wheel


def _write(archive: ZipFile, place: str, content: bytes) -> None:
    entry = ZipInfo(place)  # dated 1980: a wheel depends on its files alone
    entry.external_attr = 0o100644 << 16
    archive.writestr(entry, content, ZIP_DEFLATED)


def main(argv: list[str] | None = None) -> None:
    """Build the wheel and print its name."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the wheel (dist)")
    parser.add_argument("--wheel", type=Path, help="take this one, not the checkout")
    parser.add_argument(
        "--kernels",
        choices=["everything", "defaults"],
        default="everything",
        help="as `warmup` has it",
    )
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as work:
        pure = options.wheel or build_pure_wheel(Path(work))
        tree = Path(work) / "tree"
        with ZipFile(pure) as archive:
            archive.extractall(tree)
        add_code(tree, options.kernels)
        print(pack(tree, pure, options.out))


if __name__ == "__main__":
    main()
