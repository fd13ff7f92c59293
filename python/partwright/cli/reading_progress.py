"""The progress of reading a file or a topic: a bar on stderr on a terminal, and nothing elsewhere."""

from __future__ import annotations

import signal
import sys
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright._text import plain
from partwright.cli.echo import echo
from partwright.signals import Ended, handled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["reading", "reading_until_interrupted", "working"]


@contextmanager
def reading(name: str) -> Iterator[Callable[[int, float | None], None]]:
    """A function to call with the rows read so far, and with their share of all, 0 to 1 or None."""
    import pyarrow as pa

    # By default pyarrow handles Ctrl-C while it reads csv, and loses one that comes at the end. Its blocks are small
    # enough for Python to handle Ctrl-C between them.
    pa.enable_signal_handlers(False)
    try:
        with _shown(name) as read:
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
def _shown(name: str) -> Iterator[Callable[[int, float | None], None]]:
    began = time.monotonic()
    with _bar(name) as update:

        def read(rows: int, done: float | None) -> None:
            if update is not None:
                gone_s = time.monotonic() - began
                rate = f", {rows / gone_s:,.0f} rows/s" if gone_s >= 1 else ""
                update(
                    told=f"{counted(rows, 'row')}{rate}",
                    total=None if done is None else 1.0,
                    completed=done or 0.0,
                )

        yield read


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
                update(told=f"{done:,} of {total:,} {of}", total=total, completed=done)

        yield work


@contextmanager
def _bar(name: str) -> Iterator[Callable[..., None] | None]:
    """A function that updates a bar with the times elapsed and left; None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    # It is only needed on a terminal, and takes a while to import.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[told]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(plain(name), total=None, told="")
        yield partial(progress.update, task)
