"""The progress bar of slow work: only on a terminal, with what is done, the time so far and the time left."""

from __future__ import annotations

import io
import re
import time
from typing import TYPE_CHECKING

from partwright.cli.progress import reading, working

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """In the test itself, because pytest replaces stderr once more between a fixture and its test."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    return shown


def test_a_reading_has_rows_a_rate_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with reading("orders.csv") as read:
        read(10_000, 0.25)
        time.sleep(1.2)
        read(20_000, 0.5)
    told = re.sub(r"\x1b\[[^m]*m", "", terminal.getvalue())
    assert "orders.csv" in told
    assert re.search(r"20,000 rows, \d{1,2},\d{3} rows/s 0:00:0\d left: 0:00:0\d", told), told


def test_work_has_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with working("playing", "lives") as played:
        played(3, 8)
    assert "3 of 8 lives" in terminal.getvalue()


def test_a_pipe_has_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    with reading("orders.csv") as read, working("playing", "lives") as played:
        read(1, None)
        played(1, 2)
    assert shown.getvalue() == ""
