"""How far the reading of a file or a topic is: a bar on stderr where that is a terminal, and nothing elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["reading"]


@contextmanager
def reading(name: str) -> Iterator[Callable[[int, float | None], None]]:
    """What to call with the rows read so far, and with how much of all that is, 0 to 1 or None."""
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
    if not sys.stderr.isatty():
        yield lambda _rows, _done: None
        return
    # It is needed on a terminal alone, and takes a while to import.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[rows]:,} rows"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=None, rows=0)

        def read(rows: int, done: float | None) -> None:
            progress.update(task, rows=rows, total=None if done is None else 1.0, completed=done or 0.0)

        yield read
