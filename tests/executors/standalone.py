"""A standalone Spark cluster on the loopback address: a master and two workers, each a Java process."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 60
"""Seconds that a master or a worker may take until it is ready."""
_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"


@dataclass(frozen=True)
class Cluster:
    """The address of a running cluster, what a driver needs in its environment, and the workers' folder."""

    address: str
    environment: dict[str, str]
    work: Path


@contextmanager
def start_cluster(folder: Path, environment: dict[str, str]) -> Iterator[Cluster]:
    """Start a cluster whose files lie in a folder; all its processes end with the context."""
    import pyspark

    environment = {
        **environment,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
    }
    environment["SPARK_LOCAL_DIRS"] = str(folder / "local")
    running: list[subprocess.Popen[bytes]] = []

    def start(name: str, ready: str, *arguments: str) -> str:
        log = folder / f"{name}.log"
        command = [str(Path(environment["SPARK_HOME"]) / "bin" / "spark-class"), *arguments]
        with log.open("wb") as stream:
            running.append(
                subprocess.Popen(
                    command, env=environment, stdout=stream, stderr=stream, start_new_session=True
                )
            )
        return _wait_for(log, ready, running[-1])

    ports = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    try:
        address = start("master", r"Starting Spark master at (spark://\S+)", _MASTER, *ports)
        for number in (1, 2):
            work = ("--work-dir", str(folder / "work" / str(number)), "--cores", "1", "--memory", "1g")
            start(f"worker-{number}", "Successfully registered with master", _WORKER, *ports, *work, address)
        yield Cluster(address, environment, folder / "work")
    finally:
        for process in reversed(running):
            process.terminate()
        for process in running:
            process.wait(PATIENCE)


def _wait_for(log: Path, ready: str, process: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if found := re.search(f"{ready}", log.read_text("utf-8", "replace")):
            return found[found.re.groups]
        time.sleep(0.1)
    raise RuntimeError(f"the process is not ready: {os.fspath(log)}")
