"""Tasks on a Spark cluster, or on this machine as on one. pyspark is an extra (``hierdata[spark]``)."""

from __future__ import annotations

import os
import shutil
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

from hierdata.errors import PolicyError, TargetError
from hierdata.executors.application import settings, started, stop
from hierdata.executors.base import Executor, Held, Piece, Result, Value, Watch, WorkerError, unwatched
from hierdata.executors.failures import Failure
from hierdata.executors.partitions import Failures, Layout, Scattered, Stage, applied, cut

_PARTITIONS = 32  # of an exchange at least, where there are so many bins; then four for each processor
_LOOK = 0.1  # seconds between two looks at a running job


class SparkHeld(Held[Value]):
    """Values as the rows of an RDD. ``kept``: Spark keeps the rows, and is told to let go of them."""

    def __init__(self, executor: Spark, rows: Any, layout: Layout, kept: bool) -> None:
        self._executor = executor
        self._rows = rows
        self._layout = layout
        self._kept = kept

    @property
    def count(self) -> int:
        """How many values there are."""
        return self._layout.values

    def map(self, function: Callable[[Value], Result], watch: Watch = unwatched) -> Held[Result]:
        """One stage; Spark keeps its rows in memory or on disk, so that none is made twice without need."""
        executor, layout = self._executor, Layout(self.count, self._layout.partitions, pieces=False)
        stage = executor.stage(function, self._layout, applied)
        rows = self._all().mapPartitionsWithIndex(stage, preservesPartitioning=True)
        rows.persist(executor.level)
        try:
            # Counted where they are kept: the rows do not go through Python again.
            executor.run(rows._jrdd.count, stage, self.count, watch)
        except BaseException:
            with suppress(Exception):
                rows.unpersist()
            raise
        return SparkHeld(executor, rows, layout, kept=True)

    def exchange(
        self,
        scatter: Callable[[Value], Iterable[tuple[int, Piece]]],
        bins: int,
        watch: Watch = unwatched,
    ) -> Held[list[Piece]]:
        """One shuffle, whose rows are sorted when they are asked for."""
        executor = self._executor
        layout = Layout(bins, min(bins, max(_PARTITIONS, 4 * executor.workers)), pieces=True)
        stage = executor.stage(scatter, self._layout, Scattered(bins))
        rows = (
            self._all()
            .mapPartitionsWithIndex(stage)
            .repartitionAndSortWithinPartitions(layout.partitions, layout.partition)
        )
        # Looking at one partition brings all rows to their bins.
        executor.run(lambda: executor.context.runJob(rows, _drained, [0]), stage, self.count, watch)
        return SparkHeld(executor, rows, layout, kept=False)

    def collect(self) -> Iterator[Value]:
        """Bring one partition after the other."""
        rows = self._all()

        def values() -> Iterator[Value]:
            with _translated():
                for _, value in self._layout.load(
                    range(self.count), rows.toLocalIterator(prefetchPartitions=True)
                ):
                    yield value

        return values()

    def release(self) -> None:
        """Let Spark forget the rows. Files of a shuffle end when nothing that was made of them is held."""
        if self._rows is None:
            return
        if self._kept:
            with suppress(Exception):  # where the context is stopped, nothing is kept any more
                self._rows.unpersist()
        self._rows = None

    def _all(self) -> Any:
        if self._rows is None:
            raise RuntimeError("these values were released")
        return self._rows


def _drained(rows: Iterable[Any]) -> list[None]:
    for _ in rows:
        pass
    return []


class Spark(Executor):
    """Tasks in a Spark application: the one that is there already, else one of its own, which ends with it.

    Without ``master`` Spark runs on this machine, unless ``spark-submit`` started the program and says where.
    Its temporary files lie in ``folder`` then; those of a cluster where the cluster has them.
    """

    kind: ClassVar[str] = "spark"
    keeps_secrets: ClassVar[bool] = False
    takes_master: ClassVar[bool] = True

    def __init__(
        self,
        *,
        workers: int | None = None,
        memory: int | None = None,
        folder: Path,
        master: str | None = None,
    ) -> None:
        try:
            import pyspark
        except ImportError:
            raise PolicyError(
                "the executor `spark` needs PySpark: install the extra hierdata[spark]"
            ) from None
        self.level = pyspark.StorageLevel.MEMORY_AND_DISK
        self.own = Path(folder).absolute() / f"hierdata-{os.getpid()}-{os.urandom(4).hex()}"
        self._stages = 0
        self._ours = pyspark.SparkContext._active_spark_context is None
        self._java = self._ours and pyspark.SparkContext._gateway is None
        if self._ours:
            self.own.mkdir(mode=0o700)
            self._at_exit = weakref.finalize(self, shutil.rmtree, self.own, ignore_errors=True)
            try:
                self.context = started(settings(workers, memory, master, self.own))
            except BaseException:
                self._at_exit()
                raise
        else:
            self.context = pyspark.SparkContext.getOrCreate()
        self.workers = self.context.defaultParallelism

    def hold(self, values: Sequence[Value]) -> Held[Value]:
        """One partition a value."""
        count = len(values)
        with _translated():
            rows = self.context.parallelize(
                [list(cut(value, number)) for number, value in enumerate(values)], max(1, count)
            ).flatMap(_same)
        return SparkHeld(self, rows, Layout(count, max(1, count), pieces=False), kept=False)

    def stage(self, function: Callable[..., Any], layout: Layout, task: Callable[..., Any]) -> Stage:
        """A stage: its function pickled by ourselves, as values are, so that local classes stay the same."""
        import cloudpickle

        self._stages += 1
        return Stage(
            name=f"{self.own.name}-{self._stages}",
            function=cloudpickle.dumps((self.requires, function)),
            layout=layout,
            task=task,
            failures=self.context.accumulator({}, Failures()),
        )

    def run(self, job: Callable[[], Any], stage: Stage, tasks: int, watch: Watch) -> None:
        """Run a job beside ourselves: Ctrl-C and progress do not wait for Spark. Raise what failed."""
        ended: list[BaseException | None] = []

        def runs() -> None:
            try:
                self.context.setJobGroup(stage.name, "hierdata", interruptOnCancel=True)
                job()
                ended.append(None)
            except BaseException as error:  # noqa: BLE001  # it is raised in the thread that waits
                ended.append(error)

        thread = threading.Thread(target=runs, daemon=True)
        thread.start()
        try:
            told = 0
            while thread.is_alive():
                thread.join(_LOOK)
                if (done := self._done(stage.name, tasks)) > told:
                    told = done
                    watch(told, tasks)
        except BaseException:
            with suppress(Exception):
                self.context.cancelJobGroup(stage.name)
            raise
        with _translated():
            if ended[0] is not None:
                raise ended[0]
        if failures := stage.failures.value:
            raise Failure(failures[min(failures)]).error()
        watch(tasks, tasks)

    def _done(self, group: str, tasks: int) -> int:
        """About how many of the tasks are done."""
        tracker = self.context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
        numbers = {number for job in jobs if job is not None for number in job.stageIds}
        stages = [stage for stage in map(tracker.getStageInfo, numbers) if stage is not None]
        whole = sum(stage.numTasks for stage in stages)
        return sum(stage.numCompletedTasks for stage in stages) * tasks // whole if whole else 0

    def close(self) -> None:
        """Stop Spark, if we started it, and remove what it left."""
        if self._ours:
            self._ours = False
            stop(self.context, self._java)
            self._at_exit()


def _same(rows: list[Any]) -> list[Any]:
    return rows


@contextmanager
def _translated() -> Iterator[None]:
    """Say in one sentence what Spark gave up for; its own account may be long, and lies in its logs."""
    from py4j.protocol import Py4JError, Py4JJavaError

    try:
        yield
    except Py4JError as error:
        account = str(error.java_exception) if isinstance(error, Py4JJavaError) else ""
        if "No space left" in account:
            raise TargetError(
                "no space is left for Spark's temporary files; free some space there, or name another folder"
            ) from None
        if "No module named 'hierdata" in account:
            raise PolicyError(
                "Spark's workers cannot import hierdata: install the same version wherever they run"
            ) from None
        raise WorkerError(
            "Spark gave up after several attempts: workers were ended from outside, probably for lack of "
            "memory; give them more, or use fewer at a time"
        ) from None
