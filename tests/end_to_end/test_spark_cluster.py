"""A standalone cluster with a master and a worker: the same bytes, by the command and by spark-submit."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.end_to_end.faulty import SECRET
from tests.end_to_end.test_faults import ROOT, Place
from tests.executors.conftest import no_spark
from tests.executors.test_spark import spark_home

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(no_spark() is not None, reason=str(no_spark())),
]

PATIENCE = 60
"""Seconds that a daemon of Spark has to say that it is there."""

PROGRAM = """
import sys
from pathlib import Path
import hierdata
folder, out = Path(sys.argv[1]), Path(sys.argv[2])
seed = (folder / "seed").read_bytes()
resources = hierdata.Resources(executor="spark")
hierdata.anonymize(folder / "people.jsonl", folder / "policy.yaml", seed=seed, resources=resources).save(out)
"""


def free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def started(command: list[str], log: Path, sign: str) -> subprocess.Popen[bytes]:
    """Start a daemon, and wait for what it says when it is ready."""
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
    until = time.monotonic() + PATIENCE
    while sign not in log.read_text("utf-8", "replace"):
        assert process.poll() is None, "a daemon of Spark ended"
        assert time.monotonic() < until, "a daemon of Spark does not answer"
        time.sleep(0.1)
    return process


@pytest.fixture
def master(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a cluster with one worker on this machine, which is gone afterwards."""
    home = spark_home(tmp_path)
    monkeypatch.setenv("SPARK_HOME", str(home))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "local"))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    daemon = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy"]
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    here = ["--host", "127.0.0.1", "--webui-port", "0"]
    running = []
    try:
        own = [daemon[0], f"{daemon[1]}.master.Master", *here, "--port", str(port)]
        running.append(started(own, tmp_path / "master.log", "New state: ALIVE"))
        rest = ["--cores", "2", "--memory", "2g", "--work-dir", str(tmp_path / "work"), address]
        own = [daemon[0], f"{daemon[1]}.worker.Worker", *here, *rest]
        running.append(started(own, tmp_path / "worker.log", "Successfully registered with master"))
        yield address
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(PATIENCE)


def test_the_same_bytes_on_a_standalone_cluster(master: str, tmp_path: Path) -> None:
    place = Place(tmp_path / "place")
    assert place.run("-", "-", "--executor", "serial").code == 0
    expected = place.release()
    assert place.run("-", "-", "--executor", "spark", "--master", master).code == 0
    assert place.release() == expected
    place.nothing_left()

    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    submit = [str(Path(os.environ["SPARK_HOME"]) / "bin" / "spark-submit"), "--master", master, str(program)]
    ended = subprocess.run(
        [*submit, str(place.folder), str(place.folder / "out")],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ended.returncode == 0
    assert place.release() == expected
    logs = [path for path in (tmp_path / "work").rglob("*") if path.is_file()]
    assert logs
    told = [ended.stdout, ended.stderr, *(path.read_text("utf-8", "replace") for path in logs)]
    assert not any(SECRET in text for text in told)
