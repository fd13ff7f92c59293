"""The command as a process of its own, and as a call, for files in a folder of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from partwright.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.chdir(folder)


@pytest.fixture
def command(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., tuple[int, bytes, str]]:
    """Calls the command in this process: its exit code, stdout and stderr."""

    def call(*words: object) -> tuple[int, bytes, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        out, err = capfdbinary.readouterr()
        return int(ended.value.code or 0), out, err.decode()

    return call


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs the command as a process of its own, with `stdin`."""

    def run(*words: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "partwright", *map(str, words)],
            input=stdin,
            capture_output=True,
            check=False,
            timeout=300,
            env=os.environ,
        )

    return run
