"""A terminal of 80 columns: names are broken but never cut, settings can be copied, and help alone is not a refusal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

MARKS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLUMNS = 80


def terminal(*words: str) -> str:
    """The text that a command prints to a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    with subprocess.Popen(
        [sys.executable, "-m", "partwright", *words],
        stdin=theirs,
        stdout=theirs,
        env={**environment, "TERM": "xterm"},
    ):
        os.close(theirs)
        read = b""
        try:
            while more := os.read(ours, 65536):
                read += more
        except OSError:
            # Linux reports an error where macOS reports the end.
            pass
    os.close(ours)
    return MARKS.sub("", read.decode()).replace("\r\n", "\n")


def test_the_setting_of_a_client_is_one_line() -> None:
    printed = terminal("which", "TT0124", "-n", "15")
    assert max(len(line) for line in printed.splitlines() if "─" in line) <= COLUMNS
    assert (
        "  franz-go: kgo.RecordPartitioner(kgo.UniformBytesPartitioner(64<<10, true, true, nil))\n" in printed
    )


def test_a_terminal_shows_the_verdict_before_an_assignment(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    group = {"assignor": "range", "topics": {"t": 1}, "members": [{"id": "c1", "topics": ["t"]}]}
    (tmp_path / "group.json").write_text(json.dumps(group))
    lines = terminal("assign", str(tmp_path / "group.json")).splitlines()
    assert lines[0] == "1 member reads 1 partition by range, 1 each."
    assert lines[-1].split()[:-1] == ["c1", "1", "1", "t", "0"]
    assert set(lines[-1].split()[-1]) == {"█"}
    assert capfd.readouterr().err == ""


def test_lives_side_by_side_have_all_columns_but_the_last_with_whole_names() -> None:
    printed = terminal(
        "group", "--topic", "t=12", "--events", "+4, roll", "--compare", "--records-per-s", "100"
    )
    assert "…" not in printed
    assert all(len(line) <= COLUMNS for line in printed.splitlines())
    (row,) = re.findall(r"^ range +dynamic +(.*)$", printed, re.MULTILINE)
    assert len(row.split()) == 5
    assert printed.endswith("Not shown at this width: generations.\n")
    assert len(re.findall(r"^ cooperative-sticky +(?:dynamic|static) ", printed, re.MULTILINE)) == 2


def test_assignors_side_by_side_have_their_whole_names(tmp_path: Path) -> None:
    members = [{"id": "c1", "topics": ["orders"]}, {"id": "c2", "topics": ["orders"]}]
    group = tmp_path / "group.json"
    group.write_text(json.dumps({"topics": {"orders": 12}, "members": members}), encoding="utf-8")
    printed = terminal("assign", str(group), "--compare")
    assert "…" not in printed
    assert " server-uniform " in printed
    assert "\n2 members, 1 topic, 12 partitions; " in printed


def test_a_group_without_a_command_is_answered_with_its_help() -> None:
    for words in ([], ["broker"]):
        done = subprocess.run(
            [sys.executable, "-m", "partwright", *words], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"Usage: {' '.join(['partwright', *words])} ")
