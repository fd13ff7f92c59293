"""Temporary folders, removed with their block or by the next one; files that are written in one step."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from partwright.folders import temporary_folder, write_file

if TYPE_CHECKING:
    from pathlib import Path

HOLDS = """
import sys
from partwright.folders import temporary_folder, write_file
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


def test_a_file_is_written_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes and its name are on the disk before the old content is gone."""
    file = tmp_path / "note.json"
    order: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        order.append(
            "folder"
            if stat.S_ISDIR(os.fstat(descriptor).st_mode)
            else file.with_name("note.json.part").read_text(encoding="utf-8")
        )
        fsync(descriptor)

    def replaced(*names: object) -> None:
        order.append("replace")
        replace(*names)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write_file(file, b"one", 0o600)
    assert order == ["one", "replace", "folder"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    write_file(file, b"two")
    assert file.read_bytes() == b"two"

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_file(file, b"three")
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("note.json", b"two")]
