"""The session that `partwright doctor --spark` checks: on a server, a cluster, in spark-submit or on this machine."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from partwright._check import first_line
from partwright.errors import PartwrightError
from partwright.spark.executors.rounds import in_time
from partwright.spark.requirements import require_classic

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["looked_at"]


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
    from partwright.spark import classic  # noqa: PLC0415 - pyspark-client has nothing of what it imports

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
    found: SparkSession = sessions[0]
    return found
