"""A run's Spark: its settings, its log, its temporary files, and how Ctrl-C and SIGTERM end it."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import shutil
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from partwright import spark as pws
from partwright.errors import PartwrightError
from partwright.folders import private_file, private_state, temporary_folder
from partwright.signals import Ended, handled
from partwright.spark import classic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from pyspark.sql import SparkSession

    from partwright.folders import Temporary
    from partwright.pipeline.settings import RunSettings

__all__ = ["interrupts", "own_spark"]

# In addition to the new one.
_KEPT_LOGS = 9
_LOCAL_DIRS = "spark.local.dir"
_SPECULATION = "spark.speculation"
# What Spark's pages and event log hide in options: Spark's own pattern, and a client's key, which that misses.
_HIDDEN = r"(?i)secret|password|token|access[.]?key|jaas|keystore[.](key|certificate)"
_REDACTED = {"spark.redaction.regex": _HIDDEN, "spark.sql.redaction.options.regex": f"{_HIDDEN}|url"}
_JAVA_OPTIONS = "SPARK_SUBMIT_OPTS"


@contextlib.contextmanager
def own_spark(settings: RunSettings) -> Iterator[tuple[SparkSession, Path]]:
    """A session for one run, and its log file; both end with the block."""
    with _log_file() as log, _java_folder(settings) as made:
        spark = pws.session(
            "partwright run",
            settings.master,
            kafka=True,
            configs=_configs(settings, made.folder),
            log_file=log,
        )
        try:
            classic.removed_with_java(spark, made.folder, made.lock)
            yield spark, log
        finally:
            classic.stop(spark)


def _configs(settings: RunSettings, folder: Path) -> dict[str, str]:
    """Spark's settings; on one machine most of its 200 partitions per shuffle would only wait for their turn."""
    # One task writes a partition: a second one at the same time would write its records again, or get in its way.
    configs = {**_REDACTED, _SPECULATION: "false", **settings.configs}
    if not settings.master.startswith("local"):
        return configs
    configs = {"spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)), **configs}
    if _LOCAL_DIRS in configs:
        configs[_LOCAL_DIRS] = ",".join(map(str, _local_folders(settings, folder.name)))
    return configs


def _local_folders(settings: RunSettings, name: str) -> list[Path]:
    """The run's own folder in each folder that `spark.local.dir` names, called like its temporary folder."""
    named = settings.configs.get(_LOCAL_DIRS, "") if settings.master.startswith("local") else ""
    return [Path(each.strip()).absolute() / name for each in named.split(",") if each.strip()]


@contextlib.contextmanager
def _java_folder(settings: RunSettings) -> Iterator[Temporary]:
    """The folder for the temporary files of Spark's Java: if Java is killed, nobody else removes them."""
    with temporary_folder("partwright-run-") as made:
        for name in made.removed:
            _remove_local(settings, name)
        before = os.environ.get(_JAVA_OPTIONS)
        os.environ[_JAVA_OPTIONS] = (
            f'{before or ""} -XX:-UsePerfData "-Djava.io.tmpdir={made.folder}"'.strip()
        )
        try:
            yield made
        finally:
            if before is None:
                del os.environ[_JAVA_OPTIONS]
            else:
                os.environ[_JAVA_OPTIONS] = before
            _remove_local(settings, made.folder.name)


def _remove_local(settings: RunSettings, name: str) -> None:
    for each in _local_folders(settings, name):
        shutil.rmtree(each, ignore_errors=True)


class _Log(logging.FileHandler):
    """The log. What a full disk refuses is lost, because it must not stop a run or disturb its report."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        """See `logging.Handler.handleError`, which writes to stderr."""


@contextlib.contextmanager
def _log_file() -> Iterator[Path]:
    """A new file for the log of Spark's Java and Python; the oldest files are removed."""
    folder = private_state("logs")
    file = folder / f"run-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}.log"
    try:
        old = sorted(folder.glob("run-*.log"))
        for each in old[:-_KEPT_LOGS]:
            each.unlink(missing_ok=True)
        for each in old[-_KEPT_LOGS:]:
            private_file(each)
        handler = _Log(private_file(file), encoding="utf-8")
    except OSError as error:
        raise PartwrightError(
            f"{str(folder)!r} cannot be written: PARTWRIGHT_STATE names another folder"
        ) from error
    # py4j logs a traceback if an interrupt meets a running call.
    logging.getLogger().addHandler(handler)
    try:
        yield file
    finally:
        logging.getLogger().removeHandler(handler)
        with contextlib.suppress(OSError):
            handler.close()


@contextlib.contextmanager
def interrupts() -> Iterator[list[int]]:
    """Holds the signal once Ctrl-C or SIGTERM came: PySpark's error may say only that jobs were cancelled."""
    came: list[int] = []
    # PySpark's own handler cancels all jobs; it has none for SIGTERM.
    before = signal.getsignal(signal.SIGINT)

    def noted(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if callable(before):
            before(number, frame)

    try:
        with handled(noted):
            yield came
    except (Exception, KeyboardInterrupt) as error:
        if came:
            raise (error if isinstance(error, Ended) else Ended(came[0])) from None
        raise
