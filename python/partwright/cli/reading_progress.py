"""The progress of reading a file or a topic: a bar on stderr on a terminal, and nothing elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["reading", "working"]


@contextmanager
def reading(name: str) -> Iterator[Callable[[int, float | None], None]]:
    """What to call with the rows read so far, and with how much of all that is, 0 to 1 or None."""
    import pyarrow as pa

    # pyarrow takes Ctrl-C over while it reads csv, and loses one that comes as it ends; what it reads at once is small
    # enough for Python to take it afterwards.
    pa.enable_signal_handlers(False)
    try:
        with _shown(name) as read:
            yield read
    finally:
        pa.enable_signal_handlers(True)


@contextmanager
def _shown(name: str) -> Iterator[Callable[[int, float | None], None]]:
    began = time.monotonic()
    with _bar(name) as update:

        def read(rows: int, done: float | None) -> None:
            if update is not None:
                gone_s = time.monotonic() - began
                rate = f", {rows / gone_s:,.0f} rows/s" if gone_s >= 1 else ""
                update(
                    told=f"{rows:,} rows{rate}", total=None if done is None else 1.0, completed=done or 0.0
                )

        yield read


@contextmanager
def working(name: str, of: str) -> Iterator[Callable[[int, int], None]]:
    """What to call with how many of how many parts are done, of work that is not a reading.

    Args:
        name: What is done.
        of: What the parts are called.
    """
    with _bar(name) as update:

        def work(done: int, total: int) -> None:
            if update is not None:
                update(told=f"{done:,} of {total:,} {of}", total=total, completed=done)

        yield work


@contextmanager
def _bar(name: str) -> Iterator[Callable[..., None] | None]:
    """What changes a bar with the time gone and the time left; None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    # It is needed on a terminal alone, and takes a while to import.
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
        task = progress.add_task(name, total=None, told="")
        yield partial(progress.update, task)
