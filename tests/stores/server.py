"""A MongoDB server that speaks the wire protocol, as a process of its own on a free port.

It is SecantusDB, a beta. What these tests would miss with MongoDB itself: a primary that steps down while
records are read or written (retried writes, the codes of a change of primary), shards, a snapshot that the
server no longer keeps, write concern ``majority`` among several members, collation and validators as MongoDB
has them, TLS, and the limits of its releases. ``HIERDATA_MONGODB_URI=mongodb://...`` names a server on which
the tests run too; each makes databases of its own there, ``hierdata_...``, and drops them.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pymongo
import pytest
from pymongo.errors import PyMongoError

PATIENCE = 60


@contextlib.contextmanager
def serving(
    folder: Path, *options: str, port: int | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a server that keeps its data in a folder, and its process; by default on a free port."""
    if find_spec("secantus") is None:
        pytest.skip("SecantusDB is not installed: it has no wheels for this Python yet")
    if port is None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    command = [sys.executable, "-m", "secantus", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--storage-path", str(folder), "--cache-size", "64M", "--log-level", "ERROR", *options]
    with (folder.parent / f"{folder.name}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            address = f"mongodb://127.0.0.1:{port}"
            await_answer(address, process)
            yield address, process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def await_answer(address: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until a server answers."""
    end = time.monotonic() + PATIENCE
    with pymongo.MongoClient(address, serverSelectionTimeoutMS=500) as client:
        while True:
            assert process.poll() is None, "the server ended"
            try:
                client.admin.command("ping")
            except PyMongoError:
                assert time.monotonic() < end, "the server does not answer"
                time.sleep(0.1)
            else:
                return
