"""A study that was surveyed, once for all tests; each test gets a copy."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hierdata.ground.progress import silent
from hierdata.studio.study import StudyFolder
from hierdata.studio.tasks import survey_collection
from tests.studio.client import Client

ROOT = Path(__file__).parents[2]
PATIENTS = ROOT / "fixtures" / "patients" / "patients.jsonl"


@pytest.fixture(scope="session")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the file and the study of sixty patients."""
    folder = tmp_path_factory.mktemp("studio")
    lines = PATIENTS.read_text("utf-8").splitlines()[:60]
    (folder / "patients.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    study = StudyFolder.create(folder / "study", str(folder / "patients.jsonl"))
    study.keep_figures("survey", survey_collection(study, {}, silent))
    return folder


@pytest.fixture
def study(surveyed: Path, tmp_path: Path) -> StudyFolder:
    """A copy of that study."""
    shutil.copytree(surveyed, tmp_path, dirs_exist_ok=True)
    mark = tmp_path / "study" / "study.json"
    stated = json.loads(mark.read_text("utf-8"))
    mark.write_text(json.dumps({**stated, "input": str(tmp_path / "patients.jsonl")}), "utf-8")
    return StudyFolder(tmp_path / "study")


@pytest.fixture
def client(study: StudyFolder) -> Iterator[Client]:
    """A client of a studio of that study."""
    made = Client.of(study)
    yield made
    made.studio.works.close()
