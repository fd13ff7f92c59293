"""Find what a Spark session's executors lack for partwright, and what to do about it.

What a worker sees of its Python, packages and machine is found by a function that is sent by value, because the worker
may lack our package. `partwright doctor --spark` looks at a session on a server, on a cluster, in spark-submit or on
this machine.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from partwright._check import Json, first_line, shown
from partwright.answer import Answer
from partwright.errors import PartwrightError
from partwright.keys.hashing import murmur2
from partwright.spark.errors import worker_trouble
from partwright.spark.executors.archives import misfit
from partwright.spark.executors.replies import Reply, ask_executors, in_time
from partwright.spark.executors.sealed import advice, finder, folder_sent
from partwright.spark.requirements import pyspark_version, require_classic


def _facts_reader() -> Callable[[int], str]:
    """A function that is sent by value and returns what it sees of its Python, packages and machine as JSON."""
    # Everything that it calls is in its closure, or imported by the function itself.
    find, lanes, folder, names = finder(), _lanes(), folder_sent(), _PACKAGES
    texts = [key.hex() for key in _KEYS]

    def read_facts(row: int) -> str:
        import contextlib
        import json
        import os
        import platform
        import socket
        import sys
        from importlib import metadata

        from pyspark import TaskContext

        del row
        packages: dict[str, str | None] = dict.fromkeys(names)
        for name in names:
            with contextlib.suppress(metadata.PackageNotFoundError):
                packages[name] = metadata.version(name)
        version, broken = find(folder)
        hashes = None
        if version is not None and broken is None and packages.get("pyarrow"):
            try:
                from partwright.keys.hashing import murmur2

                hashes = murmur2([bytes.fromhex(text) for text in texts]).to_pylist()
            except Exception as error:  # noqa: BLE001 - whatever an old or a broken one raises
                broken = repr(error)
        context = TaskContext.get()
        libc, glibc = platform.libc_ver()
        facts = {
            "task": None if context is None else context.taskAttemptId(),
            "host": socket.gethostname(),
            "process": os.getppid(),
            "python": platform.python_version(),
            "path": sys.executable,
            "system": sys.platform,
            "machine": platform.machine(),
            "glibc": glibc if libc == "glibc" else None,
            "lanes": lanes(),
            "partwright": version,
            "broken": broken,
            "hashes": hashes,
            "packages": packages,
        }
        return json.dumps(facts)

    return read_facts


def _lanes() -> Callable[[], int]:
    """Another function that is sent by value."""

    def lanes() -> int:
        """How many keys the core would hash at once, by the processor check of rust/core/src/hashing/lanes.

        The core itself may not be here yet.
        """
        from pathlib import Path

        try:
            lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        except OSError:
            return 1
        flags = next((set(line.split()) for line in lines if line.startswith("flags")), set())
        if {"avx512f", "avx512bw", "avx512vbmi"} <= flags:
            return 16
        return 8 if "avx2" in flags else 1

    return lanes


TIMEOUT_S = 60.0
_SCHEMA = (
    "executor: string, host: string, python: string, partwright: string, pyarrow: string, ok: boolean, why: string, "
    "platform: string, lanes: int"
)
# One more key than the widest lanes take at once, with all lengths of a tail.
_KEYS = tuple(bytes(range(200, 200 + length)) for length in range(17))
_PYARROW = 18
# Before Spark had Arrow UDFs, pandas UDFs were the way to Python.
_PACKAGES = ("pyarrow",) if pyspark_version() >= (4, 1) else ("pyarrow", "pandas")


class ExecutorRow(NamedTuple):
    """One executor, as `doctor` reports it."""

    executor: str | None
    host: str | None
    python: str | None
    partwright: str | None
    pyarrow: str | None
    ok: bool
    why: str | None
    platform: str | None
    lanes: int | None

    @property
    def where(self) -> str:
        """The executor in words; Spark Connect does not name one that fails."""
        name = " on ".join(filter(None, [self.executor, self.host]))
        return f"executor {name}" if name else "an executor"


@dataclass(frozen=True)
class ExecutorDiagnosis(Answer):
    """All that `partwright doctor --spark` saw.

    Attributes:
        executors: Each executor, as `examined` returns it.
    """

    DOCUMENT = "doctor"
    ROWS = "executors"

    executors: tuple[ExecutorRow, ...]

    @property
    def ok(self) -> bool:
        """Whether every executor can run partwright's columns."""
        return all(row.ok for row in self.executors)

    def to_dict(self) -> Json:
        """The object of `--json`."""
        return {"ok": self.ok, "executors": [row._asdict() for row in self.executors]}


def doctor(spark: SparkSession, *, timeout: float = TIMEOUT_S) -> DataFrame:
    """Check every executor: can it run partwright's columns, and if not, what is missing?

    Executors need not have partwright, pyarrow or pandas for this. A task runs on each of them and hashes a few keys;
    nothing is changed.

    Args:
        spark: A session, classic or of Spark Connect.
        timeout: Seconds that executors have to answer.

    Returns:
        A row for each executor: `executor` (Spark's name; in a local session `driver`, and through Spark Connect, which
        does not name executors, the process that starts its workers), `host`, `python` (version and path), `partwright`
        and `pyarrow` (their versions, null where they are missing), `ok`, `why` (null if `ok`, else what to do, a
        sentence for each trouble), `platform` and `lanes` (how many keys its processor hashes at once). If no Python
        ran or answered in time, all but `executor`, `host`, `ok` and `why` are null. Through Spark Connect an executor
        that is always busy may be missing, because the number of executors is unknown.

    Raises:
        PartwrightError: `spark` is not a session, or was stopped; no executor answered within the time limit.

    Examples:
        >>> doctor(spark).select("executor", "ok", "why").show()
        +--------+----+----+
        |executor|  ok| why|
        +--------+----+----+
        |  driver|true|NULL|
        +--------+----+----+
        <BLANKLINE>
    """
    rows = json.dumps([row._asdict() for row in examined(spark, timeout)])
    # Not `createDataFrame`: it turns rows into Spark's own in a Python worker, which may be what is missing.
    table = sf.inline(sf.from_json(sf.lit(rows), f"array<struct<{_SCHEMA}>>"))
    return spark.range(1).select(table)


def examined(spark: SparkSession, timeout: float = TIMEOUT_S) -> list[ExecutorRow]:
    """The rows of `doctor`."""
    if not timeout > 0:
        raise PartwrightError(f"timeout must be a number of seconds above 0, not {shown(timeout)}")
    return [_row(reply, timeout) for reply in ask_executors(spark, _facts_reader(), timeout)]


def _row(reply: Reply, timeout: float) -> ExecutorRow:
    facts = reply.facts
    if facts is None:
        why = (
            f"it did not answer within {timeout:g} s: it may be busy, so look again later or give a longer timeout"
            if reply.error is None
            else _failed(reply.error)
        )
        return ExecutorRow(reply.executor, reply.host, None, None, None, False, why, None, None)
    whys = [*_troubles(facts)]
    libc = f", glibc {facts['glibc']}" if facts["glibc"] else ""
    return ExecutorRow(
        reply.executor,
        reply.host,
        f"{facts['python']} {facts['path']}",
        facts["partwright"],
        facts["packages"]["pyarrow"],
        not whys,
        "; ".join(whys) or None,
        f"{facts['system']} {facts['machine']}{libc}",
        facts["lanes"],
    )


def _failed(error: str) -> str:
    """Why no Python ran there."""
    first = next(filter(None, map(str.strip, error.splitlines())), "it does not say why")
    return worker_trouble(error) or f"Spark ran no Python there: {first}"


def _troubles(facts: Json) -> Iterator[str]:
    """The troubles of an executor, the most important first."""
    own_version, theirs = version("partwright"), facts["partwright"]
    unfit = misfit(facts)
    if theirs is None and unfit:
        yield f"partwright is missing, and this build does not fit there ({unfit}): use a build for that platform"
    elif theirs is None:
        yield f"partwright is missing: {advice()}"
    elif theirs != own_version:
        yield f"partwright is {theirs or 'of an unknown version'} there and {own_version} on the driver: {advice()}"
    elif facts["broken"]:
        yield f"the core of partwright does not run ({facts['broken']}): install the wheel for that platform there"
    elif facts["hashes"] not in (None, murmur2(list(_KEYS)).to_pylist()):
        yield f"its core gives other hashes than the driver's: install partwright {own_version} there again"
    for name, installed_version in facts["packages"].items():
        at_least = f" {_PYARROW} or later" if name == "pyarrow" else ""
        if installed_version is None:
            yield f"{name} is missing: install {name}{at_least} there"
        elif name == "pyarrow" and int(installed_version.split(".")[0]) < _PYARROW:
            yield f"pyarrow {installed_version} is too old: install pyarrow{at_least} there"


@contextmanager
def looked_at(
    address: str | None, log_file: str | os.PathLike[str], timeout: float
) -> Iterator[SparkSession]:
    """A session like a user's own application's, stopped at the end of the block.

    Args:
        address: A master, or `sc://HOST:PORT`; None uses the environment: the application of spark-submit, the server
            that SPARK_REMOTE names, or else this machine.
        log_file: Where Spark's log is appended.
        timeout: Seconds that a server has to answer.

    Raises:
        PartwrightError: Spark did not start, or the server did not answer.
    """
    spark = _made(address, log_file, timeout)
    try:
        yield spark
    finally:
        spark.stop()


def _made(address: str | None, log_file: str | os.PathLike[str], timeout: float) -> SparkSession:
    # spark-submit has already started Java.
    if address is None and "PYSPARK_GATEWAY_PORT" in os.environ:
        return SparkSession.builder.getOrCreate()
    address = address or os.environ.get("SPARK_REMOTE") or "local[*]"
    if address.startswith("sc://"):
        return _of_server(address, timeout)
    require_classic()
    from partwright.spark import classic

    # A cluster's executors run the Python that the environment names for them, as in a user's own application.
    return classic.start("partwright doctor", address, False, {}, log_file, os.environ.get("PYSPARK_PYTHON"))


def _of_server(address: str, timeout: float) -> SparkSession:
    builder: Any = SparkSession.builder
    # A client retries a missing server again and again, for many minutes.
    sessions, errors, is_late = in_time([builder.remote(address).getOrCreate], time.monotonic() + timeout)
    if is_late:
        raise PartwrightError(f"the Spark Connect server {address!r} did not answer within {timeout:g} s")
    if errors:
        raise PartwrightError(
            f"the Spark Connect server {address!r} gives no session: {first_line(errors[0])}"
        ) from errors[0]
    session: SparkSession = sessions[0]
    return session
