"""Find what a Spark session's executors lack for partwright, and what to do about it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as sf

from partwright.answer import Answer
from partwright.errors import PartwrightError
from partwright.keys.hashing import murmur2
from partwright.spark.errors import worker_trouble
from partwright.spark.executors.replies import Reply, ask_executors
from partwright.spark.executors.sealed import advice, folder_sent
from partwright.spark.executors.wheel import misfit
from partwright.spark.executors.worker_facts import facts_reader
from partwright.spark.requirements import pyspark_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from partwright._check import Json

__all__ = ["ExecutorDiagnosis", "ExecutorRow", "doctor", "examined"]

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
    told = sf.inline(sf.from_json(sf.lit(rows), f"array<struct<{_SCHEMA}>>"))
    return spark.range(1).select(told)


def examined(spark: SparkSession, timeout: float = TIMEOUT_S) -> list[ExecutorRow]:
    """The rows of `doctor`."""
    if not timeout > 0:
        raise PartwrightError(f"timeout must be a number of seconds above 0, not {timeout!r}")
    question = facts_reader(_KEYS, _PACKAGES, folder_sent())
    return [_row(reply, timeout) for reply in ask_executors(spark, question, timeout)]


def _row(reply: Reply, timeout: float) -> ExecutorRow:
    found = reply.found
    if found is None:
        why = _silent(timeout) if reply.error is None else _failed(reply.error)
        return ExecutorRow(reply.executor, reply.host, None, None, None, False, why, None, None)
    whys = [*_troubles(found)]
    libc = f", glibc {found['glibc']}" if found["glibc"] else ""
    return ExecutorRow(
        reply.executor,
        reply.host,
        f"{found['python']} {found['path']}",
        found["partwright"],
        found["packages"]["pyarrow"],
        not whys,
        "; ".join(whys) or None,
        f"{found['system']} {found['machine']}{libc}",
        found["lanes"],
    )


def _silent(timeout: float) -> str:
    return f"it did not answer within {timeout:g} s: it may be busy, so look again later or give a longer timeout"


def _failed(error: str) -> str:
    """Why no Python ran there."""
    sentence = worker_trouble(error)
    if sentence is None:
        lines = [line.strip() for line in error.splitlines() if line.strip()]
        sentence = f"Spark ran no Python there: {lines[0] if lines else 'it does not say why'}"
    return sentence


def _troubles(found: Json) -> Iterator[str]:
    """The troubles of an executor, the most important first."""
    wanted, theirs = version("partwright"), found["partwright"]
    unfit = misfit(found)
    if theirs is None and unfit:
        yield f"partwright is missing, and this build does not fit there ({unfit}): use a build for that platform"
    elif theirs is None:
        yield f"partwright is missing: {advice()}"
    elif theirs != wanted:
        yield f"partwright is {theirs or 'of an unknown version'} there and {wanted} on the driver: {advice()}"
    elif found["broken"]:
        yield f"the core of partwright does not run ({found['broken']}): install the wheel for that platform there"
    elif found["hashes"] not in (None, murmur2(list(_KEYS)).to_pylist()):
        yield f"its core gives other hashes than the driver's: install partwright {wanted} there again"
    for name, there in found["packages"].items():
        at_least = f" {_PYARROW} or later" if name == "pyarrow" else ""
        if there is None:
            yield f"{name} is missing: install {name}{at_least} there"
        elif name == "pyarrow" and int(there.split(".")[0]) < _PYARROW:
            yield f"pyarrow {there} is too old: install pyarrow{at_least} there"
