"""A PostgreSQL server, of Debian's package or any on the path, on a free port with data of its own."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg

PATIENCE = 60
USER = "steward"


@dataclass
class Running:
    """A server, its superuser's password, its process, and how that is started."""

    port: int
    password: str
    start: Callable[[], subprocess.Popen[bytes]]

    def __post_init__(self) -> None:
        self.process = self.start()

    def end(self) -> None:
        """End the connections, and the server."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def restart(self) -> None:
        """End the server and start it again, with the same data on the same port."""
        self.end()
        self.process = self.start()
        await_answer(self)

    def address(self, database: str, user: str = USER, password: str | None = None) -> str:
        """The address of a database, password and all."""
        return f"postgresql://{user}:{password or self.password}@127.0.0.1:{self.port}/{database}"


def binaries() -> Path | None:
    """The folder with initdb and postgres, the newest; None where there is none."""
    on_path = shutil.which("initdb")
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4])
    )
    found = [*([Path(on_path)] if on_path else []), *installed]
    return found[-1].resolve().parent if found else None


@contextlib.contextmanager
def serving(*options: str) -> Iterator[Running]:
    """A server that nobody else knows. It refuses to run as root, so root lends it the user ``postgres``."""
    programs = binaries()
    assert programs is not None, "ask for binaries first"
    lent = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    # Not below the folder of the tests, which only their own user can enter.
    folder = Path(tempfile.mkdtemp(prefix="hierdata-test-postgresql-"))
    try:
        password = secrets.token_urlsafe(16)
        (folder / "password").write_text(password)
        if lent:
            owner = pwd.getpwnam("postgres")
            for path in (folder, folder / "password"):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        data = folder / "data"
        made = [programs / "initdb", "-D", data, "-U", USER, f"--pwfile={folder / 'password'}"]
        made += ["-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(made, check=True, capture_output=True, cwd=folder, **lent)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        started = [programs / "postgres", "-D", data, "-p", str(port), "-k", folder, "-h", "127.0.0.1"]
        started += ["-c", "fsync=off", "-c", "log_min_messages=fatal", *options]
        with (folder / "log").open("wb") as log:
            running = Running(
                port, password, partial(subprocess.Popen, started, stdout=log, stderr=log, cwd=folder, **lent)
            )
            try:
                await_answer(running)
                yield running
            finally:
                running.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def await_answer(running: Running) -> None:
    """Wait until the server answers."""
    end = time.monotonic() + PATIENCE
    while True:
        assert running.process.poll() is None, "the server ended"
        try:
            psycopg.connect(running.address("postgres")).close()
        except psycopg.OperationalError:
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.1)
        else:
            return
