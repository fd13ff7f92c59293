"""A run's steps: each is reported as it happens, with how long it took."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol, TypeVar

from partwright.pipeline.report import RunStep

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

__all__ = ["Progress", "timed"]

_Result = TypeVar("_Result")


class Progress(Protocol):
    """Gets told what a run is doing."""

    def step(self, name: str) -> AbstractContextManager[None]:
        """One step, for as long as the block lasts."""

    def spark(self, spark: SparkSession) -> None:
        """Spark has started; its progress can be read."""


def timed(progress: Progress, name: str, work: Callable[[], _Result]) -> tuple[_Result, RunStep]:
    """Do one step: its result, and how long it took."""
    began = time.monotonic()
    with progress.step(name):
        result = work()
    return result, RunStep(name, round(time.monotonic() - began, 3))
