"""Which runner does a run, if `--runner` does not say it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import counted
from partwright.pipeline.local_records import file_facts, inspect_source
from partwright.pipeline.source import OnlySparkError, find_source
from partwright.rendering.text import bytes_

if TYPE_CHECKING:
    from partwright.pipeline.settings import RunSettings
    from partwright.pipeline.source import Source

# Estimates of what this process has done before Spark has started.
MOST_RECORDS = 1_000_000
MOST_BYTES = 128 << 20


class RunnerChoice(NamedTuple):
    """Which runner does a run.

    Attributes:
        settings: The settings with the runner.
        why: Why it is that one; None if the options name it.
        source: The source as this process reads it; None if it was not inspected.
    """

    settings: RunSettings
    why: str | None
    source: Source | None = None


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
        source = inspect_source(source, settings)
    except OnlySparkError as error:
        return RunnerChoice(replace(settings, runner="spark"), f"this process does not take it: {error}")
    why = f"{source.name} has {size}; --runner spark uses Spark"
    return RunnerChoice(replace(settings, runner="local"), why, source)


def _size(source: Source) -> tuple[str, bool]:
    """How large a source is, in words, and whether this process has done with it before Spark has started."""
    if source.windows is not None:
        offsets = sum(end - begin for begin, end in source.windows.values())
        return counted(offsets, "record"), offsets <= MOST_RECORDS
    if not Path(str(source.path)).exists():
        return "a size that only Spark finds out", False
    size = sum(size for size, _ in file_facts(source).values())
    return bytes_(size), size <= MOST_BYTES
