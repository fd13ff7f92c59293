"""The manual page has every command and option, and man reads it without a complaint."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from partwright.cli import command_names

if TYPE_CHECKING:
    from collections.abc import Callable


def test_it_has_every_command(told: Callable[..., tuple[int, str, str]]) -> None:
    code, page, words = told("--man")
    assert (code, words) == (0, "")
    for name in command_names():
        assert f"\n.SH PARTWRIGHT {name.upper()}\n" in page
    assert "\n.SH PARTWRIGHT BROKER START\n" in page
    assert "\\fB\\-\\-in\\-place\\fR" in page
    assert "\\fB\\-h, \\-\\-help\\fR" in page
    assert "\b" not in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not there")
def test_groff_reads_it(told: Callable[..., tuple[int, str, str]]) -> None:
    _, page, _ = told("--man")
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z"], input=page.encode(), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
