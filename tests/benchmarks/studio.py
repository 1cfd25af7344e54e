"""How long a steward waits for the first page and for a preview, and the memory of the studio's works.

``python -m tests.benchmarks.studio [FILE] [--records N] [--reading SECONDS]``. Between the end of the survey
and the preview a person reads the first pages for some seconds. With an empty folder as ``NUMBA_CACHE_DIR``
nothing is compiled at the beginning.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from hierdata.studio.study import StudyFolder
from hierdata.synth.patients import outpatients
from hierdata.synth.write import json_lines
from tests.benchmarks.engine import header, row
from tests.studio.client import Client

ROOT = Path(__file__).parents[2]
PATIENTS = ROOT / "fixtures" / "patients" / "patients.jsonl"
COLUMNS = ("records", "first page s", "survey s", "preview s", "largest work MiB")
_LOOK = 0.1


def measure(file: Path, reading: float, folder: Path) -> tuple[object, ...]:
    """Open a study of a file, wait for its survey, read, and ask for a preview."""
    study = StudyFolder.create(folder / "study", str(file))
    started = time.monotonic()
    client = Client.of(study)
    try:
        assert client.get("/tree").status == 200
        first = time.monotonic() - started
        await_end(client, "survey")
        survey = time.monotonic() - started
        time.sleep(reading)
        asked = time.monotonic()
        assert client.post("/preview/do/run", {"version": study.version()}).status in (200, 303)
        await_figures(client, study)
        preview = time.monotonic() - asked
    finally:
        client.studio.works.close()
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return (
        study.figures("survey")["records"],
        f"{first:.1f}",
        f"{survey:.1f}",
        f"{preview:.1f}",
        f"{most:.0f}",
    )


def await_end(client: Client, name: str) -> None:
    """Wait until a work has ended well."""
    while (state := client.studio.works.state(name)) is None or state.is_running:
        time.sleep(_LOOK)
    assert state.ended == "done", state


def await_figures(client: Client, study: StudyFolder) -> None:
    """Wait until the page of the preview shows what is kept; the attacks go on."""
    while study.figures("preview") is None:
        state = client.studio.works.state("preview")
        assert state is not None
        assert state.is_running or state.ended == "done", state
        time.sleep(_LOOK)


def write_patients(records: int, folder: Path) -> Path:
    """Return a file of so many patients like the bundled ones."""
    made = folder / PATIENTS.name
    with made.open("w", encoding="utf-8") as out:
        out.writelines(json_lines(outpatients(records, seed=1)))
    return made


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("file", type=Path, nargs="?", default=PATIENTS, help="JSON Lines")
    made.add_argument("--records", type=int, help="so many patients instead of a file")
    made.add_argument("--reading", type=float, default=30.0, help="seconds before the preview (30)")
    return made


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    asked = parser().parse_args(argv)
    header("The studio", *COLUMNS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = asked.file if asked.records is None else write_patients(asked.records, folder)
        row(*measure(file.absolute(), asked.reading, folder))


if __name__ == "__main__":
    main()
