"""Measures how much memory a piece of work takes: each in its own process, by Linux's own figures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["grown", "growth_of"]

HERE = Path(__file__).resolve().parent


def growth_of(program: str) -> int:
    """The number of bytes that a program prints last; it runs with this folder's modules."""
    begin = f"import sys; sys.path[:0] = [{str(HERE)!r}, {str(HERE.parent)!r}]\n"
    command = [sys.executable, "-c", begin + program]
    # The programs are part of this project.
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    return int(done.stdout)


class grown:  # noqa: N801 - reads as what it measures
    """Prints by how many bytes a `with` block raised this process's peak above the memory that it had before."""

    def __enter__(self) -> None:
        # From here on the peak is counted anew.
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        self._before = _status("VmRSS")

    def __exit__(self, *_: object) -> None:
        print(_status("VmHWM") - self._before)


def _status(field: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        raise SystemExit("memory is measured by /proc/self/status, which Linux alone has") from None
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024
