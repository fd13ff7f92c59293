"""Shared by the programs here and in spark/: options, reports, and medians by the clock."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["median", "parser", "write"]

RESULTS = Path(__file__).resolve().parents[2] / "target" / "bench"


def parser(
    description: str | None, report: str = "", folder: bool = False, **numbers: tuple[int, str]
) -> argparse.ArgumentParser:
    """Reads a program's options.

    Args:
        description: The program's own.
        report: The default file among the results for `--json`; without it there is no default.
        folder: Whether `--folder` says where it writes its files.
        numbers: Its whole numbers, as `rows` for `--rows`: each with its default and its meaning.
    """
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, (default, what) in numbers.items():
        made.add_argument(f"--{name}", type=int, default=default, help=f"{what} (%(default)s)")
    if folder:
        made.add_argument("--folder", type=Path, help="where files are written (the temporary folder)")
    if report:
        made.add_argument("--json", type=Path, default=RESULTS / report, help="where it is written")
    return made


def write(report: Mapping[str, object], file: Path) -> None:
    """Writes a report for compare.py."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def median(repeats: int, run: Callable[[], object]) -> float:
    """The seconds of each run; one more run, before those that count, warms up."""
    times = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])
