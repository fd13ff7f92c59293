"""A run's progress on stderr: a moving bar on a terminal, otherwise a line per step."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from partwright._check import counted
from partwright._text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from pyspark.sql import SparkSession

__all__ = ["ConsoleProgress"]

_POLL_S = 0.25


class ConsoleProgress:
    """Report a run's steps and, during a step, how many tasks of Spark's present stage are done."""

    def __init__(self) -> None:
        # A separate descriptor, because Spark's start redirects stderr to its log file.
        self._stream = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8", errors="replace")
        self._console = Console(file=self._stream)
        self._bar = Progress(
            SpinnerColumn(finished_text="[green]✓"),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[tasks]}"),
            TimeElapsedColumn(),
            console=self._console,
        )
        self._spark: SparkSession | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._bar.stop()
        self._stream.close()

    def spark(self, spark: SparkSession) -> None:
        """See `partwright.pipeline.report.Progress`."""
        self._spark = spark

    def say(self, sentence: str) -> None:
        """See `partwright.pipeline.stream.StreamProgress`."""
        self._console.print(plain(sentence), highlight=False, markup=False, soft_wrap=True)

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """See `partwright.pipeline.report.Progress`."""
        name = plain(name)
        if not self._console.is_terminal:
            began = time.monotonic()
            yield
            self._console.print(f"{name}: {time.monotonic() - began:.1f} s", highlight=False, markup=False)
            return
        shown = self._bar.add_task(name, total=None, tasks="")
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(shown, done), daemon=True)
        watcher.start()
        try:
            yield
            self._bar.update(shown, total=1, completed=1, tasks="")
        finally:
            done.set()
            watcher.join()

    def _watch(self, shown: int, done: threading.Event) -> None:
        while not done.wait(_POLL_S):
            counts = self._stage()
            if counts and not done.is_set():
                finished, total = counts
                tasks = f"{finished} of {counted(total, 'task')}"
                self._bar.update(shown, total=total, completed=finished, tasks=tasks)  # type: ignore[arg-type]

    def _stage(self) -> tuple[int, int] | None:
        """Finished and total tasks of the running stages; Spark Connect does not report them."""
        with contextlib.suppress(Exception):  # a session that is just stopping has nothing to tell
            tracker = self._spark.sparkContext.statusTracker() if self._spark else None
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()] if tracker else []
            known = [stage for stage in stages if stage]
            if known:
                return sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known)
        return None
