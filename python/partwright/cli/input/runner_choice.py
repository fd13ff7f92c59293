"""Which runner does a run, if `--runner` does not say it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import counted
from partwright.files.file_sets import files_of
from partwright.pipeline.local_records import inspect_source
from partwright.pipeline.source import OnlySparkError, find_source
from partwright.rendering.text import bytes_

if TYPE_CHECKING:
    from partwright.pipeline.settings import RunSettings
    from partwright.pipeline.source import Source

# On two cores Spark has caught up at about 1,800,000 records, on more cores earlier (benches/spark/main_job.py).
MOST_RECORDS = 1_000_000
MOST_BYTES = 128 << 20


class RunnerChoice(NamedTuple):
    """The settings with a runner, and why it is that one; None if the options name it."""

    settings: RunSettings
    why: str | None


def with_runner(settings: RunSettings) -> RunnerChoice:
    """Choose this process for a small source that it can read, and Spark for any other.

    Raises:
        PartwrightError: See `find_source`, or it has no such column.
    """
    if settings.runner is not None:
        return RunnerChoice(settings, None)
    if (option := settings.option_for_spark) is not None:
        return RunnerChoice(replace(settings, runner="spark"), f"{option} is for Spark")
    source = find_source(settings)
    size, is_small = _size(source)
    if not is_small:
        why = f"{source.name} has {size}; --runner local does without Spark"
        return RunnerChoice(replace(settings, runner="spark"), why)
    try:
        inspect_source(source, settings)
    except OnlySparkError as error:
        return RunnerChoice(replace(settings, runner="spark"), f"this process does not take it: {error}")
    return RunnerChoice(
        replace(settings, runner="local"), f"{source.name} has {size}; --runner spark uses Spark"
    )


def _size(source: Source) -> tuple[str, bool]:
    """How large a source is, in words, and whether this process has done with it before Spark has started."""
    if source.windows is not None:
        offsets = sum(end - begin for begin, end in source.windows.values())
        return counted(offsets, "record"), offsets <= MOST_RECORDS
    path = Path(str(source.path))
    if not path.exists():
        return "a size that only Spark finds out", False
    files = files_of(str(path), lambda _: True) if path.is_dir() else [str(path)]
    size = sum(Path(each).stat().st_size for each in files)
    return bytes_(size), size <= MOST_BYTES
