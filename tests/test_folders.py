"""Temporary folders: removed with their block; those of killed processes, with the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from partwright.folders import temporary_folder

if TYPE_CHECKING:
    from pathlib import Path

HOLDS = """
import sys
from partwright.folders import temporary_folder
with temporary_folder("some-") as (folder, _, removed):
    (folder / "in it").touch()
    print(folder.name, *removed, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_next_one_removes_what_a_killed_process_left(temporary: Path) -> None:
    (temporary / "some-other").mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    ) as process:
        assert process.stdout
        theirs = process.stdout.readline().strip()
        with temporary_folder("some-") as (ours, _, removed):
            assert removed == []
            names = {path.name for path in temporary.glob("some-*")}
        assert names == {theirs, ours.name, "some-other"}
        process.send_signal(signal.SIGKILL)
    assert (temporary / theirs / "in it").exists()
    with temporary_folder("some-") as (ours, _, removed):
        assert removed == [theirs]
        assert ours.stat().st_mode & 0o077 == 0
    assert [path.name for path in temporary.iterdir()] == ["some-other"]
