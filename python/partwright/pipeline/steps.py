"""A run's steps: each is reported as it happens, with how long it took."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Protocol

from partwright.pipeline.report import Step

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

__all__ = ["Progress", "Steps"]


class Progress(Protocol):
    """Gets told what a run is doing."""

    def step(self, name: str) -> AbstractContextManager[None]:
        """One step, for as long as the block lasts."""

    def spark(self, spark: SparkSession) -> None:
        """Spark has started; its progress can be read."""


class Steps:
    """The steps' times, told to a `Progress` as they happen."""

    def __init__(self, progress: Progress) -> None:
        self.taken: list[Step] = []
        self._progress = progress

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """One step, for as long as the block lasts; its time counts only if it succeeds."""
        began = time.monotonic()
        with self._progress.step(name):
            yield
        self.taken.append(Step(name, round(time.monotonic() - began, 3)))
