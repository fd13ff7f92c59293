"""How a classic Spark session is started: its Java process, its configuration, its workers' interpreter.

Apart from `session.py` because a client of Spark Connect alone has none of what is imported here.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import threading
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from partwright.errors import PartwrightError
from partwright.jars import jars
from partwright.java import java_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import IO

__all__ = ["start"]

_PYTHON = "PYSPARK_PYTHON"
_JARS = "spark.jars"
_KAFKA_SOURCE = "org.apache.spark.sql.kafka010.KafkaSourceProvider"


def start(
    app_name: str,
    master: str,
    kafka: bool,
    configs: Mapping[str, Any],
    log_file: str | os.PathLike[str] | None,
) -> SparkSession:
    """The session that `partwright.spark.session` promises, and its refusals."""
    python = _this_python()
    running = SparkContext._active_spark_context  # noqa: SLF001 - PySpark has no public name for it
    if running is not None:
        _check_running(running, python, kafka)
        return SparkSession.builder.getOrCreate()
    java_command()
    _check_spark_home()
    conf = _configuration(app_name, master, kafka, configs)
    with _environment(_PYTHON, python):
        _start_java(conf, log_file)
        return _start_spark(conf)


def _this_python() -> str:
    """This interpreter's path; the environment may name no other one for the workers."""
    named = os.environ.get(_PYTHON)
    if not sys.executable:
        raise PartwrightError(f"this process does not know its Python interpreter: set {_PYTHON} to it")
    if named and not _is_same_python(named, sys.executable):
        raise PartwrightError(
            f"{_PYTHON} is {named!r}, but Spark's workers must run the interpreter of this process, "
            f"{sys.executable}: unset it"
        )
    return sys.executable


def _is_same_python(one: str, other: str) -> bool:
    """Whether both are one interpreter in one environment.

    A virtual environment's `python` is a link to that of the system: the same file, and not the same
    packages.  So the folders are compared, with their own links followed, and the files.
    """
    paths = [Path(shutil.which(name) or name).absolute() for name in (one, other)]
    folders, files = {path.parent.resolve() for path in paths}, {path.resolve() for path in paths}
    return len(folders) == len(files) == 1


def _check_spark_home() -> None:
    """Refuse a SPARK_HOME of another Spark: PySpark would start that one, and fail oddly."""
    home = os.environ.get("SPARK_HOME")
    if home is None:
        return
    theirs = [jar.stem.split("-", 2)[2] for jar in Path(home, "jars").glob("spark-core_*.jar")]
    # PySpark's own version may go on, as in 4.3.0.dev1.
    if not any(pyspark.__version__.startswith(version.removesuffix("-SNAPSHOT")) for version in theirs):
        found = f"Spark {', '.join(theirs)}" if theirs else "no Spark"
        raise PartwrightError(
            f"SPARK_HOME is {home!r}, which has {found}, but PySpark is {pyspark.__version__}: unset it"
        )


def _check_running(context: SparkContext, python: str, kafka: bool) -> None:
    theirs = context.pythonExec
    if not _is_same_python(theirs, python):
        raise PartwrightError(
            f"a Spark session is running whose workers use {theirs!r} instead of the interpreter of this "
            f"process, {python}: stop it first, or set {_PYTHON} before it starts"
        )
    if kafka and not _has_class(context, _KAFKA_SOURCE):
        raise PartwrightError("a Spark session is running without Spark's Kafka connector: stop it first")


def _has_class(context: SparkContext, name: str) -> bool:
    jvm: Any = context._jvm  # noqa: SLF001 - the door to Spark's classes
    try:
        jvm.org.apache.spark.util.Utils.classForName(name, False, False)
    except Py4JJavaError:
        return False
    return True


def _configuration(app_name: str, master: str, kafka: bool, configs: Mapping[str, Any]) -> SparkConf:
    settings = {
        "spark.app.name": app_name,
        "spark.master": master,
        # Also where the environment asks for a Connect server by default.
        "spark.api.mode": "classic",
        "spark.ui.enabled": "false",
        # Spark's progress bar writes over the caller's own.
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith("local"):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    settings |= {name: _as_text(value) for name, value in configs.items()}
    if kafka:
        settings[_JARS] = ",".join(filter(None, [settings.get(_JARS), *_connector()]))
    return SparkConf().setAll(list(settings.items()))


def _connector() -> list[str]:
    """The connector's jars."""
    files = [str(file.resolve()) for file in jars("connector")]
    for file in files:
        # Spark parts its list of jars there, also where an address has the comma as %2C.
        if "," in file:
            raise PartwrightError(
                f"Spark reads no jar whose path has a comma, as {file} has: see PARTWRIGHT_CACHE"
            )
    return files


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _start_java(conf: SparkConf, log_file: str | os.PathLike[str] | None) -> None:
    """Start Java, unless this process has it already, with its output in the log from its first line on.

    Spark's workers inherit its output.  This process's own is left alone: other threads may be drawing on it.
    """
    if SparkContext._gateway is not None:  # noqa: SLF001 - what SparkContext itself asks
        return
    try:
        with _opened(log_file) as log, _interrupt_deferred():
            streams = {} if log is None else {"stdout": log, "stderr": log}
            gateway = launch_gateway(conf, streams)  # type: ignore[no-untyped-call]
    except PySparkRuntimeError as error:
        place = "above" if log_file is None else f"in {os.fspath(log_file)}"
        raise PartwrightError(f"Spark's Java process ended as it started: what it said is {place}") from error
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)  # noqa: SLF001
    if log_file is not None:
        _log_failed_queries(log_file)


@contextmanager
def _interrupt_deferred() -> Iterator[None]:
    """Ctrl-C waits for the end of the block, a few seconds.

    A Java process whose start is broken off would never end: PySpark takes away the folder in which it was to say
    that it is there, and the thread that failed at this is not the one that keeps it running.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: came.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came.is_set():
            raise KeyboardInterrupt


def _start_spark(conf: SparkConf) -> SparkSession:
    try:
        return SparkSession.builder.config(conf=conf).getOrCreate()
    except Py4JJavaError as error:
        reason = str(error.java_exception.getMessage()).splitlines()[0]
        raise PartwrightError(f"Spark did not start on {conf.get('spark.master')!r}: {reason}") from error


def _opened(log_file: str | os.PathLike[str] | None) -> AbstractContextManager[IO[bytes] | None]:
    if log_file is None:
        return nullcontext()
    try:
        return Path(log_file).open("ab")
    except OSError as error:
        raise PartwrightError(
            f"Spark's log {os.fspath(log_file)!r} cannot be written: {error.strerror}"
        ) from error


def _log_failed_queries(log_file: str | os.PathLike[str]) -> None:
    """PySpark itself prints a query's error on stderr, with Java's stack trace, and then raises it."""
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        logger = PySparkLogger.getLogger(name)
        logger.handlers.clear()
        logger.addHandler(logging.FileHandler(log_file, encoding="utf-8", delay=True))


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Spark takes its workers' interpreter from the environment alone, once, as a session starts."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
