"""Progress on stderr: a moving bar on a terminal; elsewhere a line for each step of a run, and nothing of a reading."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Self

from partwright._check import counted
from partwright._text import plain
from partwright.cli.output import echo
from partwright.signals import Ended, handled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

_POLL_S = 0.25


@contextmanager
def reading(name: str) -> Iterator[Callable[[int, float | None], None]]:
    """A function to call with the rows read so far, and with their share of all, 0 to 1 or None."""
    import pyarrow as pa

    began = time.monotonic()

    def read(rows: int, done: float | None) -> None:
        if update is None:
            return
        gone_s = time.monotonic() - began
        rate = f", {rows / gone_s:,.0f} rows/s" if gone_s >= 1 else ""
        total = None if done is None else 1.0
        update(counts=f"{counted(rows, 'row')}{rate}", total=total, completed=done or 0.0)

    # By default pyarrow handles Ctrl-C while it reads csv, and loses one that comes at the end. Its blocks are small
    # enough for Python to handle Ctrl-C between them.
    pa.enable_signal_handlers(False)
    try:
        with _bar(name) as update:
            yield read
    finally:
        pa.enable_signal_handlers(True)


@contextmanager
def reading_until_interrupted(name: str) -> Iterator[Callable[[int, float | None], bool]]:
    """The same for a topic: Ctrl-C ends the reading, which the function then says, and the answer is of what was read.

    A second Ctrl-C does not wait for the answer, and neither does a signal that ends a service.
    """
    came: list[int] = []

    def noted(number: int, frame: FrameType | None) -> None:
        del frame
        if number != signal.SIGINT or came:
            raise Ended(number)
        came.append(number)

    def read(rows: int, done: float | None) -> bool:
        shown(rows, done)
        return bool(came)

    with reading(name) as shown, handled(noted):
        yield read
    if came:
        echo("interrupted: the answer is of what was read so far", err=True)


@contextmanager
def working(name: str, of: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with finished and total parts, for work other than reading.

    Args:
        name: The work's name.
        of: The parts' name.
    """
    with _bar(name) as update:

        def work(done: int, total: int) -> None:
            if update is not None:
                update(counts=f"{done:,} of {total:,} {of}", total=total, completed=done)

        yield work


@contextmanager
def _bar(name: str) -> Iterator[Callable[..., None] | None]:
    """A function that updates a bar with the times elapsed and left; None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import TextColumn, TimeRemainingColumn

    left = (TextColumn("left:"), TimeRemainingColumn())
    with _bars(Console(stderr=True), *left, transient=True) as bars:
        yield partial(bars.update, bars.add_task(plain(name), total=None, counts=""))


def _bars(console: Console, *columns: ProgressColumn, transient: bool = False) -> Progress:
    # It is only needed on a terminal, and takes a while to import.
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[counts]}", markup=False),
        TimeElapsedColumn(),
        *columns,
        console=console,
        transient=transient,
    )


class ConsoleProgress:
    """Report a run's steps and, during a step, how many tasks of Spark's present stage are done.

    Args:
        first: A sentence before the first step; bad input is refused without it.
    """

    def __init__(self, first: str | None = None) -> None:
        from rich.console import Console

        self._first = first

        # A separate descriptor, because Spark's start redirects stderr to its log file.
        self._stream = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8", errors="replace")
        self._console = Console(file=self._stream)
        self._bar = _bars(self._console)
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
        """See `partwright.pipeline.stream_run.StreamProgress`."""
        self._console.print(plain(sentence), highlight=False, markup=False, soft_wrap=True)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """See `partwright.pipeline.report.Progress`."""
        name = plain(name)
        if self._first is not None:
            self.say(self._first)
            self._first = None
        if not self._console.is_terminal:
            began = time.monotonic()
            yield
            self._console.print(f"{name}: {time.monotonic() - began:.1f} s", highlight=False, markup=False)
            return
        shown = self._bar.add_task(name, total=None, counts="")
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(shown, done), daemon=True)
        watcher.start()
        try:
            yield
            self._bar.update(shown, total=1, completed=1, counts="")
        finally:
            done.set()
            watcher.join()

    def _watch(self, shown: int, done: threading.Event) -> None:
        while not done.wait(_POLL_S):
            counts = self._stage()
            if counts and not done.is_set():
                finished, total = counts
                tasks = f"{finished} of {counted(total, 'task')}"
                self._bar.update(shown, total=total, completed=finished, counts=tasks)  # type: ignore[arg-type]

    def _stage(self) -> tuple[int, int] | None:
        """Finished and total tasks of the running stages; Spark Connect does not report them."""
        with contextlib.suppress(Exception):  # a session that is just stopping has nothing to tell
            tracker = self._spark.sparkContext.statusTracker() if self._spark else None
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()] if tracker else []
            known = [stage for stage in stages if stage]
            if known:
                return sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known)
        return None
