"""A Spark application of our own: its settings, and how to start it without side effects on the caller."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierdata.executors.base import ExecutorOptions
from hierdata.executors.local import ONE_THREAD, processors
from hierdata.ground.errors import PolicyError

if TYPE_CHECKING:
    import subprocess

_LOG = """
rootLogger.level = off
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
"""

_PATIENCE = 20  # seconds that Java may take to end


def settings(options: ExecutorOptions, folder: Path) -> dict[str, str]:
    """Return our Spark settings: no output, and on this machine also its folder and its Python."""
    workers, memory, master = options.get("workers"), options.get("memory"), options.get("master")
    chosen = {
        "spark.app.name": "hierdata",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **{f"spark.executorEnv.{name}": value for name, value in ONE_THREAD.items()},
    }
    if memory is not None:
        chosen["spark.python.worker.memory"] = f"{max(64, memory >> 23)}m"  # for sorting: an eighth of it
    if master is None:
        if _is_submitted():
            return chosen
        master = f"local[{processors() if workers is None else workers}]"
    chosen["spark.master"] = master
    if master.startswith("local"):
        log = folder / "log4j2.properties"
        log.touch(mode=0o600)
        log.write_text(_LOG, "utf-8")
        quiet = f"-Dlog4j2.configurationFile={log}"
        chosen |= {
            "spark.local.dir": str(folder),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": quiet,
            "spark.executor.extraJavaOptions": quiet,
            "spark.executorEnv.PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        if memory is not None:
            chosen["spark.driver.memory"] = f"{max(512, memory >> 22)}m"  # a quarter of it
    return chosen


def _is_submitted() -> bool:
    """Return whether ``spark-submit`` started this program; it then determines where Spark runs."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def start_context(chosen: dict[str, str]) -> Any:
    """Start a SparkContext of our own. The caller's Ctrl-C handler is kept, and new files are private."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError

    home = os.environ.get("JAVA_HOME")
    if not _is_submitted() and shutil.which(str(Path(home) / "bin" / "java") if home else "java") is None:
        raise PolicyError(
            "the executor `spark` needs Java 17, which is not found: install it (on Debian the package "
            "openjdk-17-jre-headless) or set JAVA_HOME"
        )
    here = "spark.local.dir" in chosen
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    of_workers = chosen.get("spark.master", "").startswith("local-cluster")
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    mask = os.umask(0o077)
    try:
        with (
            _environment(PYSPARK_PYTHON=python) if here else nullcontext(),
            _home_in(Path(chosen["spark.local.dir"])) if of_workers else nullcontext(),
            _errors_to(Path(chosen["spark.local.dir"]) / "java.log") if here else nullcontext(),
            _known_java(),
        ):
            context = SparkContext(conf=SparkConf().setAll(list(chosen.items())))
    except PySparkRuntimeError:
        raise PolicyError("Java could not be started for Spark: version 17 or newer is needed") from None
    finally:
        os.umask(mask)
        if main:
            signal.signal(signal.SIGINT, handler)
    if here:
        context.setLogLevel("OFF")  # a Java process started earlier has another log file
    return context


def stop(context: Any, java: bool) -> None:
    """Stop an application; with ``java`` also the Java process, which would outlive its folders."""
    import subprocess

    from pyspark import SparkContext

    context.stop()
    gateway: Any = SparkContext._gateway
    if java and gateway is not None and gateway.proc is not None:  # else it is not ours
        SparkContext._gateway = SparkContext._jvm = None
        gateway.shutdown()
        gateway.proc.stdin.close()
        try:
            gateway.proc.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait()


@contextmanager
def _known_java() -> Iterator[None]:
    """Kill the Java process that is started in this context if a signal or error comes before it is ready.

    PySpark forgets such a process, and it would never end: the folder in which it should report is gone.
    """
    import subprocess

    from pyspark import SparkContext, java_gateway

    begun: list[subprocess.Popen[bytes]] = []

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        begun.append(subprocess.Popen(*arguments, **options))  # noqa: S603  # PySpark's own command
        return begun[-1]

    launcher: Any = java_gateway
    usual, launcher.Popen = launcher.Popen, start
    try:
        yield
    except BaseException:
        for java in begun:
            java.kill()
            java.wait()
            SparkContext._gateway = SparkContext._jvm = None
        raise
    finally:
        launcher.Popen = usual


@contextmanager
def _errors_to(path: Path) -> Iterator[None]:
    """Redirect the errors of processes started in this context (Java and its workers) into a file."""
    sys.stderr.flush()
    before = os.dup(2)
    with path.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


@contextmanager
def _home_in(folder: Path) -> Iterator[None]:
    """Set a home of Spark in this folder: workers of a local cluster write their logs into their home.

    It links to the entries of the usual home, which would otherwise keep those logs for ever.
    """
    from pyspark.find_spark_home import _find_spark_home

    home = folder / "home"
    home.mkdir(mode=0o700)
    for path in Path(_find_spark_home()).absolute().iterdir():
        if path.name != "work":
            (home / path.name).symlink_to(path)
    with _environment(SPARK_HOME=str(home)):
        yield


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set variables of the environment within this context."""
    before = {name: os.environ.pop(name) for name in variables if name in os.environ}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update(before)
