"""Tasks on a Spark cluster, or with Spark on this machine. pyspark is an extra (``hierdata[spark]``)."""

from __future__ import annotations

import shutil
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, ClassVar, Unpack

from hierdata.executors.application import settings, start_context, stop
from hierdata.executors.base import (
    Executor,
    ExecutorOptions,
    Failure,
    Held,
    Piece,
    Result,
    Value,
    Watch,
    WorkerError,
    ignore_progress,
    name_folder,
)
from hierdata.executors.partitions import (
    Failures,
    PartitionLayout,
    PartitionStage,
    cut_value,
    map_value,
    scatter_value,
)
from hierdata.ground.errors import PolicyError, UnavailableError, missing_extra

_PARTITIONS = 32  # fewest of an exchange with that many bins; or four per processor, if that is more
_LOOK = 0.1  # seconds between two checks of a running job


class SparkHeld(Held[Value]):
    """Values as the rows of an RDD. ``kept``: Spark persists the rows, and ``release`` unpersists them."""

    def __init__(self, executor: Spark, rows: Any, layout: PartitionLayout, kept: bool) -> None:
        self._executor = executor
        self._rows = rows
        self._layout = layout
        self._kept = kept

    @property
    def count(self) -> int:
        """The number of values."""
        return self._layout.values

    def map(self, function: Callable[[Value], Result], watch: Watch = ignore_progress) -> Held[Result]:
        """Run one stage; Spark persists its rows in memory or on disk, so that they are not recomputed."""
        executor, layout = self._executor, PartitionLayout(self.count, self._layout.partitions, pieces=False)
        stage = executor.stage(function, self._layout, map_value)
        rows = self._all().mapPartitionsWithIndex(stage, preservesPartitioning=True)
        rows.persist(executor.level)
        try:
            # Count in Java, so that the rows do not go through Python again.
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
        watch: Watch = ignore_progress,
    ) -> Held[list[Piece]]:
        """Run one shuffle; its rows are sorted when they are requested."""
        executor = self._executor
        layout = PartitionLayout(bins, min(bins, max(_PARTITIONS, 4 * executor.workers)), pieces=True)
        stage = executor.stage(scatter, self._layout, partial(scatter_value, bins))
        rows = (
            self._all()
            .mapPartitionsWithIndex(stage)
            .repartitionAndSortWithinPartitions(layout.partitions, layout.partition)
        )
        # Reading one partition sends all rows to their bins.
        executor.run(lambda: executor.context.runJob(rows, _drain_rows, [0]), stage, self.count, watch)
        return SparkHeld(executor, rows, layout, kept=False)

    def collect(self) -> Iterator[Value]:
        """Yield the values of one partition after the other."""
        rows = self._all()

        def values() -> Iterator[Value]:
            with _translate_errors():
                for _, value in self._layout.load(
                    range(self.count), rows.toLocalIterator(prefetchPartitions=True)
                ):
                    yield value

        return values()

    def release(self) -> None:
        """Unpersist the rows. Spark removes a shuffle's files when no result made from them is held."""
        if self._rows is None:
            return
        if self._kept:
            with suppress(Exception):  # after the context is stopped, nothing is persisted
                self._rows.unpersist()
        self._rows = None

    def _all(self) -> Any:
        if self._rows is None:
            raise RuntimeError("these values were released")
        return self._rows


def _drain_rows(rows: Iterable[Any]) -> list[None]:
    for _ in rows:
        pass
    return []


class Spark(Executor):
    """Tasks in a Spark application: an existing one, or one of its own that is stopped on ``close``.

    Without ``master`` Spark runs on this machine, unless ``spark-submit`` started the program and says where.
    Its temporary files are then in ``folder``; a cluster has its own place for them.
    """

    kind: ClassVar[str] = "spark"
    keeps_secrets: ClassVar[bool] = False
    takes_master: ClassVar[bool] = True

    def __init__(self, **options: Unpack[ExecutorOptions]) -> None:
        try:
            import pyspark
        except ImportError:
            raise missing_extra("the executor `spark` needs PySpark", "spark") from None
        self.level = pyspark.StorageLevel.MEMORY_AND_DISK
        self.folder = name_folder(options["folder"])
        self._stages = 0
        self._ours = pyspark.SparkContext._active_spark_context is None
        self._java = self._ours and pyspark.SparkContext._gateway is None
        if self._ours:
            self.folder.mkdir(mode=0o700)
            self._at_exit = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
            try:
                self.context = start_context(settings(options, self.folder))
            except BaseException:
                self._at_exit()
                raise
        else:
            self.context = pyspark.SparkContext.getOrCreate()
        self.workers = self.context.defaultParallelism

    def hold(self, values: Sequence[Value]) -> Held[Value]:
        """Hold the values, one partition each."""
        count = len(values)
        with _translate_errors():
            rows = self.context.parallelize(
                [list(cut_value(value, number)) for number, value in enumerate(values)], max(1, count)
            ).flatMap(_keep_rows)
        return SparkHeld(self, rows, PartitionLayout(count, max(1, count), pieces=False), kept=False)

    def stage(
        self, function: Callable[..., Any], layout: PartitionLayout, task: Callable[..., Any]
    ) -> PartitionStage:
        """Build a stage. Its function is pickled here, like values, so that local classes stay the same."""
        import cloudpickle

        self._stages += 1
        return PartitionStage(
            name=f"{self.folder.name}-{self._stages}",
            function=cloudpickle.dumps((self.requires, function)),
            layout=layout,
            task=task,
            failures=self.context.accumulator({}, Failures()),
        )

    def run(self, job: Callable[[], Any], stage: PartitionStage, tasks: int, watch: Watch) -> None:
        """Run a job in a thread, so that Ctrl-C and progress do not wait for Spark; raise failures."""
        ended: list[BaseException | None] = []

        def runs() -> None:
            try:
                self.context.setJobGroup(stage.name, "hierdata", interruptOnCancel=True)
                job()
                ended.append(None)
            except BaseException as error:  # noqa: BLE001  # it is raised in the waiting thread
                ended.append(error)

        thread = threading.Thread(target=runs, daemon=True)
        thread.start()
        try:
            reported = 0
            while thread.is_alive():
                thread.join(_LOOK)
                if (done := self._done_count(stage.name, tasks)) > reported:
                    reported = done
                    watch(done, tasks)
        except BaseException:
            with suppress(Exception):
                self.context.cancelJobGroup(stage.name)
            raise
        with _translate_errors():
            if ended[0] is not None:
                raise ended[0]
        if failures := stage.failures.value:
            raise Failure(failures[min(failures)]).error()
        watch(tasks, tasks)

    def _done_count(self, group: str, tasks: int) -> int:
        """Return about how many of the tasks are done."""
        tracker = self.context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
        numbers = {number for job in jobs if job is not None for number in job.stageIds}
        stages = [stage for stage in map(tracker.getStageInfo, numbers) if stage is not None]
        whole = sum(stage.numTasks for stage in stages)
        return sum(stage.numCompletedTasks for stage in stages) * tasks // whole if whole else 0

    def close(self) -> None:
        """Stop Spark if we started it, and remove its files."""
        if self._ours:
            self._ours = False
            stop(self.context, self._java)
            self._at_exit()


def _keep_rows(rows: list[Any]) -> list[Any]:
    return rows


_NO_EXECUTORS = ("removed our application", "masters are unresponsive", "SparkContext was shut down")
"""Words of Spark where not a worker was lost, but the application."""


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Summarize in one sentence why Spark gave up; its own report may be long, and is in its logs."""
    from py4j.protocol import Py4JError, Py4JJavaError

    try:
        yield
    except Py4JError as error:
        account = str(error.java_exception) if isinstance(error, Py4JJavaError) else ""
        if "No space left" in account:
            raise UnavailableError(
                "no space is left for Spark's temporary files: free some space there, or name another folder"
            ) from None
        if "No module named 'hierdata" in account:
            raise PolicyError(
                "Spark's workers cannot import hierdata: install the same version wherever they run"
            ) from None
        if any(words in account for words in _NO_EXECUTORS):
            raise UnavailableError(
                "Spark could not start its executors, or lost its master: the cluster's logs say why"
            ) from None
        raise WorkerError(
            "Spark gave up after several attempts, as workers were ended from outside, probably for lack of "
            "memory: give them more, or use fewer at a time"
        ) from None
