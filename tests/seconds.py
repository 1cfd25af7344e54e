"""CPU seconds by test file, printed after a run in CI or with ``--seconds``; nothing fails by them.

Files that take long run first.

Counted is what the test process and the processes that it waited for take, so other load on the machine
matters little. What several files share, such as compiled kernels, is counted where it is first used.
"""

from __future__ import annotations

import os
import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

LIMIT = 30.0
"""A file of more CPU seconds has a reason below."""
REASONS: dict[str, str] = {
    "tests/adversarial/test_no_raw_values.py": "in the full tier four commands for each marked place",
    "tests/adversarial/test_no_raw_values_in_mongodb.py": "the same in two formats of exports",
    "tests/adversarial/test_no_raw_values_in_xml.py": "the same in XML",
    "tests/adversarial/test_random_releases.py": "in the full tier a hundred releases a test",
    "tests/contracts/test_engines.py": "every engine under every model",
    "tests/end_to_end/test_faults.py": "28 tests of whole commands that are interrupted",
    "tests/end_to_end/test_spark_release.py": "each release three times, two of them by workers",
    "tests/redteam/test_forgeries.py": "every forgery of a release in every format and recoding",
    "(kept workers)": "worker processes that several files use (tests/kept_workers.py)",
    "tests/reproduction/test_tc.py": "a run of the paper's algorithms for each distance",
    "tests/test_docs.py": "every command of the docs is run",
    "tests/studio/test_browser.py": "whole journeys in a browser",
    "tests/engines/test_specialize_alpha.py": "compiles kernels of bounded shares",
    "tests/test_wheel.py": "a wheel is built, compiled and installed",
    "tests/end_to_end/test_digests.py": "149 releases, six of them with processes",
    "tests/end_to_end/test_spark_cluster.py": "a cluster of two workers, a release by it",
    "tests/end_to_end/test_contracts.py": "every engine under every recoding, written and verified",
    "tests/executors/test_spark.py": "applications of Spark's own",
    "tests/redteam/test_containers.py": "compiles everything twice, for users without a home",
    "tests/benchmarks/test_smoke.py": "every benchmark once",
    "tests/engines/test_code_folder.py": "compiles in folders of its own",
    "tests/engines/test_clustree_twin.py": "a slow twin in every setting",
    "tests/drafting/test_draft.py": "drafts and publishes every bundled collection",
    "tests/engines/test_one_signature.py": "every engine under every model, in a process of its own",
    "tests/privacy/test_contract.py": "every model against a slow twin",
    "tests/stores/test_postgresql.py": "whole commands on a server, some of them killed",
    "tests/engines/test_uncompiled.py": "engines without compiled code",
    "tests/engines/test_compiled_ahead.py": "commands that compile beside their work",
    "tests/engines/test_compiled_code.py": "compiles copies of kernels",
    "tests/test_slicing_by_table.py": "every division of tables against a twin",
}
"""Files above the limit, and why they are not cheaper."""
WAITING = ("tests/stores/test_lost_servers.py", "tests/reproduction/test_pages.py")
"""Files that take long by the clock, most of it waiting or in one test."""
COLLECTING = "(collecting)"
WORKERS = "(kept workers)"
ENDING = "(the last test, and the end of what files share)"
_SHOWN = 25

_SECONDS: pytest.StashKey[Counter[str]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--seconds``."""
    parser.addoption("--seconds", action="store_true", help="print CPU seconds by test file")


def pytest_configure(config: pytest.Config) -> None:
    """Begin with nothing counted."""
    config.stash[_SECONDS] = Counter()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out modules of the package without an example: importing all of them takes long."""
    if collection_path.suffix != ".py" or config.rootpath / "hierdata" not in collection_path.parents:
        return None
    return True if b">>> " not in collection_path.read_bytes() else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that several processes end at about the same time."""
    order = {file: place for place, file in enumerate((*WAITING, *REASONS))}
    items.sort(key=lambda item: order.get(item.nodeid.partition("::")[0], len(order)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count what collecting took, with starting Python."""
    session.config.stash[_SECONDS][COLLECTING] += _cpu_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Count what a test takes, its fixtures included; with the last one end servers that all files share."""
    with counting(item.config, ENDING if nextitem is None else item.nodeid.partition("::")[0]):
        return (yield)


@contextmanager
def counting(config: pytest.Config, name: str) -> Iterator[None]:
    """Count what is taken in this context under a name."""
    before = _cpu_seconds()
    try:
        yield
    finally:
        config.stash[_SECONDS][name] += _cpu_seconds() - before


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send what a process of xdist counted to the one that prints."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["seconds"] = dict(session.config.stash[_SECONDS])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add what a process of xdist counted."""
    node.config.stash[_SECONDS].update(getattr(node, "workeroutput", {}).get("seconds", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the files that take longest, and which of them lack a reason."""
    seconds = config.stash[_SECONDS]
    if not (config.getoption("--seconds") or os.environ.get("CI")) or not seconds:
        return
    terminalreporter.section("CPU seconds by test file")
    lines = tabulate(seconds)
    terminalreporter.write_line("\n".join(lines))


def tabulate(seconds: Counter[str]) -> list[str]:
    """Return a line for each of the dearest files, all above the limit, and one of the total."""
    dear = [
        name for name, taken in seconds.most_common() if taken > LIMIT and name not in (COLLECTING, ENDING)
    ]
    shown = [name for name, _ in seconds.most_common(max(_SHOWN, len(dear) + 1))]
    lines = [f"{seconds[name]:8.1f}  {name}{_remark(name) if name in dear else ''}" for name in shown]
    return [*lines, f"{seconds.total():8.1f}  all {len(seconds)}"]


def _remark(name: str) -> str:
    reason = REASONS.get(name)
    return f"  ({reason})" if reason else f"  ABOVE {LIMIT:.0f} WITHOUT A REASON in tests/seconds.py"


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
