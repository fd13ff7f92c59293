"""Start a classic Spark session: the Spark that PySpark starts, its Java process, configuration and interpreter.

Separate from `sessions.py`, because an installation with only the Spark Connect client lacks the modules imported here.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

import pyspark
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from partwright.errors import PartwrightError
from partwright.folders import opened_privately, temporary_folder
from partwright.kafka.connection.properties import properties_text
from partwright.kafka.jars import SparkBuild, connector_set, jar_files
from partwright.kafka.java import java_command
from partwright.signals import Ended, handled
from partwright.spark.requirements import pyspark_version

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JVMView


_CORE = re.compile(r"spark-core_(\d+\.\d+)-(.+)\.jar")


def check_spark_home() -> None:
    """Refuse a SPARK_HOME of another Spark: PySpark would start that one, and fail oddly.

    Raises:
        PartwrightError: With the Spark that is there.
    """
    home = os.environ.get("SPARK_HOME")
    if home is None:
        return
    theirs = [build.spark for build in _sparks(home)]
    # PySpark's own version may have a suffix, as in 4.3.0.dev1.
    if not any(pyspark.__version__.startswith(version.removesuffix("-SNAPSHOT")) for version in theirs):
        contents = f"Spark {', '.join(theirs)}" if theirs else "no Spark"
        raise PartwrightError(
            f"SPARK_HOME is {home!r}, which has {contents}, but PySpark is {pyspark.__version__}: unset it"
        )


def installed_spark() -> SparkBuild:
    """The Spark that a session of this process would start.

    Raises:
        PartwrightError: Its folder has no jar of Spark's core.
    """
    home = _find_spark_home()
    builds = _sparks(home)
    if not builds:
        raise PartwrightError(
            f"there is no jar spark-core in {home!r}/jars, whose name has the versions of Spark and Scala: "
            "install PySpark anew"
        )
    return builds[0]


def _sparks(home: str) -> list[SparkBuild]:
    names = (_CORE.fullmatch(jar.name) for jar in Path(home, "jars").glob("spark-core_*.jar"))
    return [SparkBuild(spark=name[2], scala=name[1]) for name in names if name]


_PYTHON = "PYSPARK_PYTHON"
_SUBMIT = "PYSPARK_SUBMIT_ARGS"
_JAVA_OPTIONS = {"spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions"}
_JARS = "spark.jars"
_KAFKA_SOURCE = "org.apache.spark.sql.kafka010.KafkaSourceProvider"


def start(
    app_name: str,
    master: str,
    kafka: bool,
    configs: Mapping[str, object],
    log_file: str | os.PathLike[str] | None,
    python: str | None = None,
) -> SparkSession:
    """Does the work of `partwright.spark.session`, but workers may run another `python`."""
    python = python or _this_python()
    running = SparkContext._active_spark_context
    if running is not None:
        _check_running(running, python, kafka)
        return SparkSession.builder.getOrCreate()
    java_command()
    check_spark_home()
    conf = _configuration(app_name, master, kafka, configs)
    with environment(_PYTHON, python):
        _start_java(conf, log_file)
        return _start_spark(conf, log_file)


def _this_python() -> str:
    """This interpreter's path; an environment that names another one for the workers is refused."""
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
    """Whether both are the same interpreter in the same environment.

    A virtual environment's `python` is a link to the system's: the same file, but with other packages. So the folders
    are compared, with their own links followed, and the files.
    """
    paths = [Path(shutil.which(name) or name).absolute() for name in (one, other)]
    folders, files = {path.parent.resolve() for path in paths}, {path.resolve() for path in paths}
    return len(folders) == len(files) == 1


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
    jvm: JVMView = context._jvm
    try:
        jvm.org.apache.spark.util.Utils.classForName(name, False, False)
    except Py4JJavaError:
        return False
    return True


def _configuration(app_name: str, master: str, kafka: bool, configs: Mapping[str, object]) -> SparkConf:
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
    """The jars of the connector for the Spark that will start."""
    files = [str(file.resolve()) for file in jar_files(connector_set(installed_spark()))]
    for file in files:
        # Spark splits its list of jars at commas, even if an address has the comma as %2C.
        if "," in file:
            raise PartwrightError(
                f"Spark reads no jar whose path has a comma, as {file} has: see PARTWRIGHT_CACHE"
            )
    return files


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _start_java(conf: SparkConf, log_file: str | os.PathLike[str] | None) -> None:
    """Start Java, unless this process has already done so, with its output in the log from the first line on.

    Spark's workers inherit its output. This process's own output is left alone, because other threads may be writing to
    it.
    """
    if SparkContext._gateway is not None:
        return
    try:
        with (
            _opened(log_file) as log,
            _in_a_file(conf) as arguments,
            environment(_SUBMIT, arguments),
            _deferred(),
        ):
            streams = {} if log is None else {"stdout": log, "stderr": log}
            gateway = launch_gateway(None, streams)  # type: ignore[no-untyped-call]
    except PySparkRuntimeError as error:
        raise _ended_as_it_started(log_file) from error
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)
    if log_file is not None:
        _log_failed_queries(log_file)


def _ended_as_it_started(log_file: str | os.PathLike[str] | None) -> PartwrightError:
    place = "above" if log_file is None else f"in {os.fspath(log_file)}"
    return PartwrightError(f"Spark's Java process ended as it started: what it said is {place}")


@contextmanager
def _in_a_file(conf: SparkConf) -> Iterator[str]:
    """spark-submit's arguments with all settings in a file, because every user of a machine can read command lines.

    PySpark itself would give each setting as an argument, passwords too.
    """
    try:
        theirs, arguments, files = _submit_arguments(os.environ.get(_SUBMIT, "pyspark-shell"))
        with temporary_folder("partwright-spark-") as made:
            folder = made.folder
            file = folder / "settings.properties"
            # If two lines are about one setting, Java takes the later one.
            theirs_first = [
                Path(name).read_text(encoding="utf-8") + "\n" for name in files[-1:] or _defaults_to_copy()
            ]
            ours = properties_text(_java_options_apart(dict(conf.getAll()) | theirs, folder))
            with open(file, "x", encoding="utf-8", opener=opened_privately) as settings:
                settings.write("".join([*theirs_first, ours]))
            options = ["--properties-file", str(file)]
            # Without a file named, spark-submit reads conf/spark-defaults.conf.
            loads = not files and pyspark_version() >= _LOADS_DEFAULTS
            yield shlex.join([*options, *(["--load-spark-defaults"] if loads else []), *arguments])
    except (OSError, argparse.ArgumentError) as error:
        raise PartwrightError(f"Spark's settings cannot be handed over in a file ({error})") from error


_LOADS_DEFAULTS = (4, 0)


def _defaults_to_copy() -> list[Path]:
    """Spark's own settings file, for versions before 4.0, in which spark-submit cannot read it next to another file."""
    if pyspark_version() >= _LOADS_DEFAULTS:
        return []
    folder = os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home(), "conf")
    file = Path(folder, "spark-defaults.conf")
    return [file] if file.is_file() else []


def _java_options_apart(settings: dict[str, str], folder: Path) -> dict[str, str]:
    """The settings, with the driver's Java system properties in a file too, because these may have key store passwords.

    spark-submit makes Java's command line of them, and Java takes `@file` there.
    """
    settings = dict(settings)
    for name in _JAVA_OPTIONS & settings.keys():
        options = shlex.split(settings[name])
        apart = [option for option in options if option.startswith("-D")]
        if apart:
            file = folder / name
            with open(file, "x", encoding="utf-8", opener=opened_privately) as lines:
                for option in apart:
                    quoted = option.replace("\\", "\\\\").replace('"', '\\"')
                    lines.write(f'"{quoted}"\n')
            others = [option for option in options if option not in apart]
            settings[name] = shlex.join([*others, f"@{file}"])
    return settings


def _submit_arguments(text: str) -> tuple[dict[str, str], list[str], list[str]]:
    """The settings that the environment gives, its other arguments, and the files of settings that it names."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--conf", "-c", action="append", default=[])
    parser.add_argument("--properties-file", action="append", default=[])
    ours, others = parser.parse_known_args(shlex.split(text))
    settings = {name: value for name, _, value in (each.partition("=") for each in ours.conf)}
    return settings, others, ours.properties_file


@contextmanager
def _deferred() -> Iterator[None]:
    """During the block, which takes a few seconds, Ctrl-C and other orderly ends of this process wait.

    If its start is interrupted, the Java process would never end: PySpark removes the folder in which Java reports that
    it is ready, and the thread that fails at this is not the one that keeps Java running.
    """
    came: list[int] = []

    def noted(number: int, frame: FrameType | None) -> None:
        del frame
        came.append(number)

    try:
        with handled(noted):
            yield
    finally:
        if came:
            raise Ended(came[0])


def _start_spark(conf: SparkConf, log_file: str | os.PathLike[str] | None) -> SparkSession:
    try:
        spark = SparkSession.builder.config(conf=conf).getOrCreate()
    except Py4JJavaError as error:
        reason = next(iter(str(error.java_exception.getMessage()).splitlines()), "it does not say why")
        raise PartwrightError(f"Spark did not start on {conf.get('spark.master')!r}: {reason}") from error
    except (Py4JError, OSError) as error:
        if how_java_ended() is None:
            raise
        _forget_java()
        raise _ended_as_it_started(log_file) from error
    if log_file is not None:
        _log_lost_tasks(spark, log_file)
    return spark


def runs_tasks_twice(spark: SparkSession) -> bool:
    """Whether Spark may run a slow task a second time (spark.speculation); on one machine it never does."""
    is_local = re.fullmatch(r"local(\[.*\])?", spark.sparkContext.master or "")
    return not is_local and str(spark.conf.get("spark.speculation", "false")).lower() == "true"


def file_facts(spark: SparkSession, files: Iterable[str]) -> dict[str, tuple[int, int]]:
    """The size in bytes and the time of the last change (ms) of files, on any file system that Spark reads.

    Args:
        spark: A classic session.
        files: Their addresses, as `DataFrame.inputFiles` gives them.
    """
    jvm: Any = spark._jvm  # there is no public way to Hadoop's file systems
    hadoop: Any = spark._jsc.hadoopConfiguration()
    facts = {}
    for file in files:
        path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(file))
        status = path.getFileSystem(hadoop).getFileStatus(path)
        facts[file] = (int(status.getLen()), int(status.getModificationTime()))
    return dict(sorted(facts.items()))


def how_java_ended() -> str | None:
    """How Spark's Java ended, in words; None while it answers, or if this process has none."""
    gateway: JavaGateway | None = SparkContext._gateway
    if gateway is None:
        return None
    try:
        gateway.jvm.java.lang.System.nanoTime()
    except (Py4JError, OSError):
        pass
    else:
        return None
    try:
        # Its connections close a moment before its parent learns of its end.
        code = gateway.proc.wait(_END_S) if gateway.proc else None
    except subprocess.TimeoutExpired:
        code = None
    if code is None:
        return "answers no more"
    return f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"


_END_S = 5.0


def java_pid() -> int | None:
    """The process ID of Spark's Java, if this process started it."""
    gateway: JavaGateway | None = SparkContext._gateway
    return gateway.proc.pid if gateway is not None and gateway.proc else None


def stop(spark: SparkSession) -> None:
    """Stop a session, even if its Java has ended: PySpark's own `stop` would fail halfway."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            spark.stop()
    except (Py4JError, OSError):
        if how_java_ended() is None:
            raise
        # Clean up in Python what the first call did not reach.
        with suppress(Py4JError, OSError):
            spark.stop()
        _forget_java()


def _forget_java() -> None:
    """Make the next session of this process start a new Java process."""
    gateway: JavaGateway = SparkContext._gateway
    with suppress(Py4JError, OSError):
        gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def removed_with_java(spark: SparkSession, *paths: Path) -> None:
    """Let Spark's Java remove folders and files when it ends, even if this process has been killed."""
    jvm: JVMView = spark.sparkContext._jvm
    for path in paths:
        jvm.org.apache.spark.util.ShutdownHookManager.registerShutdownDeleteDir(jvm.java.io.File(str(path)))


def _opened(log_file: str | os.PathLike[str] | None) -> AbstractContextManager[IO[bytes] | None]:
    if log_file is None:
        return nullcontext()
    try:
        return open(log_file, "ab", opener=opened_privately)
    except OSError as error:
        raise PartwrightError(
            f"Spark's log {os.fspath(log_file)!r} cannot be written: {error.strerror}"
        ) from error


def _log_failed_queries(log_file: str | os.PathLike[str]) -> None:
    """Since 4.0, PySpark prints a query's error with Java's stack trace on stderr, and then raises it."""
    try:
        from pyspark.logger import PySparkLogger  # noqa: PLC0415 - PySpark 3.5 has none
    except ImportError:
        return
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        logger = PySparkLogger.getLogger(name)
        logger.handlers.clear()
        logger.addHandler(logging.FileHandler(log_file, encoding="utf-8", delay=True))


def _log_lost_tasks(spark: SparkSession, log_file: str | os.PathLike[str]) -> None:
    """PySpark's accumulator server prints a traceback on stderr if Java ends in the middle of a task."""
    server: Any = spark.sparkContext._accumulatorServer

    def logged(request: object, address: object) -> None:
        del request
        with open(log_file, "a", encoding="utf-8", opener=opened_privately) as log:
            log.write(f"a task's connection from {address} was lost: {sys.exc_info()[1]!r}\n")

    server.handle_error = logged


@contextmanager
def environment(name: str, value: str) -> Iterator[None]:
    """Set the variables that Spark or PySpark reads only from the environment, once, when a session starts."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
