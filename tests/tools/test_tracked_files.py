"""Git tracks only what somebody wrote or a real client recorded: no file of a tool's cache, a daemon or one machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
# What only one run has: Python's temporary folders, and a process ID as JSON.
OF_ONE_RUN = re.compile(r'/tmp/tmp\w{8}|"pid": ?\d')  # noqa: S108 - it is looked for


def git(*arguments: str) -> list[str]:
    output = subprocess.run(
        ["git", "-C", str(REPOSITORY), *arguments], capture_output=True, text=True, check=True
    )
    return output.stdout.split("\0")[:-1]


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    if not (REPOSITORY / ".git").exists():
        pytest.skip("this is not a clone")
    return git("ls-files", "-z")


def test_no_tracked_file_is_one_that_git_ignores(tracked: list[str]) -> None:
    assert tracked
    assert git("ls-files", "-z", "--cached", "--ignored", "--exclude-standard") == []


def test_only_known_hidden_files_stand_at_the_root(tracked: list[str]) -> None:
    hidden = {name.split("/")[0] for name in tracked if name.startswith(".")}
    assert hidden <= {".ci", ".dockerignore", ".github", ".gitignore", ".pre-commit-config.yaml"}


def test_no_tracked_file_holds_what_only_one_run_has(tracked: list[str]) -> None:
    hits = [
        f"{name}: {hit.group()}"
        for name in tracked
        if (REPOSITORY / name).is_file() and name != "tests/tools/test_tracked_files.py"
        for hit in [OF_ONE_RUN.search((REPOSITORY / name).read_text(encoding="utf-8", errors="replace"))]
        if hit is not None
    ]
    assert hits == []
