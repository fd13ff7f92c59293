"""A run's Spark: its settings, its log, its temporary files, how Ctrl-C and SIGTERM end it, and what it throws."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from partwright import spark as pws
from partwright.errors import PartwrightError
from partwright.folders import private_file, private_state, temporary_folder
from partwright.kafka.errors import no_right
from partwright.pipeline.report import timed
from partwright.signals import Ended, handled
from partwright.spark import classic
from partwright.spark.errors import first_sentence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from partwright.folders import Temporary
    from partwright.pipeline.report import Progress, RunStep

_LONGEST = 400


# org.apache.kafka.common.errors.TopicAuthorizationException, which does not say which operation is refused. A producer
# first asks for its own ID, which needs the right to write to some topic (ClusterAuthorizationException).
_DENIED = re.compile(r"Not authorized to access topics: \[(.+)\]|^Cluster authorization failed")


# What org.apache.spark.api.python.BasePythonRunner says when a worker is gone.
_WORKER = "Python worker exited unexpectedly"


@contextlib.contextmanager
def refused_by_spark(what: str, operation: str = "READ", topic: str = "") -> Iterator[None]:
    """Turn what Spark throws in the block into a `PartwrightError` that begins with `what`.

    Args:
        what: What is not done.
        operation: The right on a topic that it needs, by Kafka's name.
        topic: The topic, if Spark does not name it.
    """
    try:
        yield
    except (PySparkException, Py4JError, OSError) as error:
        raise PartwrightError(f"{what}: {one_sentence(error, operation, topic)}") from error


@contextlib.contextmanager
def explained_end(
    standing: Callable[[], str], interrupted: Sequence[int], log: Path | None
) -> Iterator[None]:
    """Raise one error, with how far a run or stream is, for the many of PySpark's that mean that Spark's Java is gone.

    Args:
        standing: Returns how far it is, in words that follow "it ended", and how to go on.
        interrupted: Has an element once it was interrupted; then it ends on purpose.
        log: Spark's log.
    """
    try:
        yield
    except Exception as error:
        how = None if interrupted else classic.how_java_ended()
        if how is None:
            raise
        where = f"; Spark's log is {str(log)!r}" if log else ""
        raise PartwrightError(f"Spark's Java process {how} {standing()}{where}") from error


def one_sentence(error: BaseException, operation: str = "READ", topic: str = "") -> str:
    """The cause that a person can act on: partwright's own sentence, else Java's innermost one.

    Args:
        error: What Spark throws.
        operation: The right on a topic that is needed, by Kafka's name.
        topic: The topic, if the error does not name it.
    """
    own = first_sentence(error) if isinstance(error, Exception) else None
    if own:
        return own
    # Only Java's text about a foreign error is left.
    text = str(error)
    if _WORKER in text:
        # Whatever Java noticed next, such as a broken pipe, is only the effect.
        return "a Python worker of Spark's ended in the middle of a task: it was killed (out of memory?), or crashed"
    causes = re.findall(r"^Caused by: (?:[\w.$]+: )?(.+)$", text, flags=re.MULTILINE)
    line = causes[-1] if causes else text.strip().splitlines()[0]
    line = re.sub(r"\s*SQLSTATE: \w+\s*", "", line).strip()
    if denied := _DENIED.search(line):
        return f"Kafka gives {no_right(operation, 'topic', denied[1] or topic)}"
    return line if len(line) <= _LONGEST else line[: _LONGEST - 4] + " ..."


# In addition to the new one.
_KEPT_LOGS = 9
_LOCAL_DIRS = "spark.local.dir"
_SPECULATION = "spark.speculation"
# What Spark's pages and event log hide in options: Spark's own pattern, and a client's key, which that misses.
_HIDDEN = r"(?i)secret|password|token|access[.]?key|jaas|keystore[.](key|certificate)"
_REDACTED = {"spark.redaction.regex": _HIDDEN, "spark.sql.redaction.options.regex": f"{_HIDDEN}|url"}
_JAVA_OPTIONS = "SPARK_SUBMIT_OPTS"


@dataclass(frozen=True)
class Session:
    """The Spark of one run or stream.

    Attributes:
        spark: Spark's own session.
        interrupted: Holds the signal once Ctrl-C or SIGTERM came.
        log: The file with Spark's own output; None if the session is the caller's.
        steps: The start, if the run started it.
    """

    spark: SparkSession
    interrupted: Sequence[int]
    log: Path | None
    steps: tuple[RunStep, ...]


@contextlib.contextmanager
def open_session(
    spark: SparkSession | None, master: str, settings: Mapping[str, str], progress: Progress
) -> Iterator[Session]:
    """The Spark of a run, until the block ends.

    Args:
        spark: The caller's session, which is left running; None starts one.
        master: Spark's master for that.
        settings: Its settings.
        progress: Is told of its start.
    """
    with contextlib.ExitStack() as stack:
        if spark is not None:
            progress.spark(spark)
            yield Session(spark, stack.enter_context(interrupts()), None, ())
            return
        own = own_spark(master, settings)
        (started, log), starting = timed(progress, "start Spark", lambda: stack.enter_context(own))
        progress.spark(started)
        yield Session(started, stack.enter_context(interrupts()), log, (starting,))


@contextlib.contextmanager
def own_spark(master: str, settings: Mapping[str, str]) -> Iterator[tuple[SparkSession, Path]]:
    """A session for one run, and its log file; both end with the block."""
    local = settings.get(_LOCAL_DIRS) if master.startswith("local") else None
    with _log_file() as log, _java_folder(local) as made:
        spark = pws.session(
            "partwright run",
            master,
            kafka=True,
            configs=_configs(master, settings, made.folder),
            log_file=log,
        )
        try:
            classic.removed_with_java(spark, made.folder, made.lock)
            yield spark, log
        finally:
            classic.stop(spark)


def _configs(master: str, settings: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Spark's settings; on one machine most of its 200 partitions per shuffle would only wait for their turn."""
    # One task writes a partition: a second one at the same time would write its records again, or get in its way.
    configs = {**_REDACTED, _SPECULATION: "false", **settings}
    if not master.startswith("local"):
        return configs
    configs = {"spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)), **configs}
    if _LOCAL_DIRS in configs:
        configs[_LOCAL_DIRS] = ",".join(map(str, _local_folders(configs[_LOCAL_DIRS], folder.name)))
    return configs


def _local_folders(local: str | None, name: str) -> list[Path]:
    """The run's own folder in each folder that `spark.local.dir` names, called like its temporary folder."""
    return [Path(each.strip()).absolute() / name for each in (local or "").split(",") if each.strip()]


@contextlib.contextmanager
def _java_folder(local: str | None) -> Iterator[Temporary]:
    """The folder for the temporary files of Spark's Java: if Java is killed, nobody else removes them."""
    with temporary_folder("partwright-run-") as made:
        for name in made.removed:
            _remove_local(local, name)
        options = f'{os.environ.get(_JAVA_OPTIONS, "")} -XX:-UsePerfData "-Djava.io.tmpdir={made.folder}"'
        try:
            with classic.environment(_JAVA_OPTIONS, options.strip()):
                yield made
        finally:
            _remove_local(local, made.folder.name)


def _remove_local(local: str | None, name: str) -> None:
    for each in _local_folders(local, name):
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
