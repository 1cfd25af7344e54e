"""A standalone cluster with two workers: the same bytes, by spark-submit and where a worker is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.faulty import SECRET
from tests.end_to_end.test_faults import STAGES, Ended, Place
from tests.executors.conftest import no_spark
from tests.executors.standalone import Cluster, start_cluster

pytestmark = pytest.mark.skipif(no_spark() is not None, reason=str(no_spark()))

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from pathlib import Path
import hierdata
folder, out = Path(sys.argv[1]), Path(sys.argv[2])
seed = (folder / "seed").read_bytes()
resources = hierdata.Resources(executor="spark")
hierdata.anonymize(folder / "people.jsonl", folder / "policy.yaml", seed=seed, resources=resources).save(out)
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Workers that find hierdata and this Python, as on machines where both are installed."""
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    found = {**os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable}
    with start_cluster(tmp_path_factory.mktemp("cluster"), found) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The release of a run without a cluster."""
    place = Place(tmp_path_factory.mktemp("expected"))
    assert place.run("-", "-", "--executor", "serial") == Ended(0, "", "")
    return place.release()


@pytest.fixture
def place(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    found = Place(tmp_path / "place")
    yield found
    found.nothing_left()


def check_logs(cluster: Cluster) -> None:
    """Check that the executors wrote logs, and no value into them."""
    logs = [path for path in cluster.work.rglob("*") if path.is_file()]
    assert any(path.name == "stderr" for path in logs)
    assert not [path for path in logs if SECRET.encode() in path.read_bytes()]


@pytest.mark.long
def test_a_program_of_spark_submit(
    place: Place, cluster: Cluster, expected: dict[str, bytes], tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    submit = [str(Path(os.environ["SPARK_HOME"]) / "bin" / "spark-submit"), "--master", cluster.address]
    ended = subprocess.run(
        [*submit, str(program), str(place.folder), str(place.folder / "out")],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ended.returncode == 0
    assert SECRET not in ended.stdout + ended.stderr
    assert place.release() == expected
    check_logs(cluster)


@pytest.mark.full
def test_a_worker_of_two_is_killed(place: Place, cluster: Cluster, expected: dict[str, bytes]) -> None:
    """It comes last: the cluster has one worker afterwards."""
    ended = place.run("spark worker", STAGES["cluster"], "--master", cluster.address)
    assert ended.code == 0
    assert place.release() == expected
    check_logs(cluster)
