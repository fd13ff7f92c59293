"""The proof of engine jvm: before its first use in a session, each of its hashes is compared with the core's."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf

from partwright._check import first_line
from partwright.errors import PartwrightError
from partwright.keys import hashing
from partwright.spark.requirements import is_of_server

WHOLE = {"java:short": 2, "java:int": 4, "java:long": 8}
"""How many bytes a whole number's key has, by its key type."""

# Every length of tail, bytes below and above 127, and longer than any processor's word.
_KEYS = [b"", b"a", b"\xff\x80", b"\x00\x7f\x81", b"TT0124", "漢字".encode(), b"\xff" * 16, bytes(range(256))]
_PROVEN: set[tuple[str, str]] = set()


def session_id(spark: SparkSession) -> str:
    """The scope of a proof: a classic session's application, or a Spark Connect session."""
    remote: Any = spark  # Spark Connect's class differs.
    return str(remote.session_id if is_of_server(spark) else spark.sparkContext.applicationId)


def prove(spark: SparkSession, what: str, hashed: Callable[[Column], Column]) -> None:
    """Compare an expression with the core, once per session.

    Args:
        spark: The session.
        what: `murmur2`, `crc32`, or, for the murmur2 of whole numbers, their key type.
        hashed: Takes a column of golden keys and returns their hashes.

    Raises:
        PartwrightError: Spark returns another hash, or fails.
    """
    proven = (session_id(spark), what)
    if proven not in _PROVEN:
        if wrong := differs(spark, what, hashed):
            raise PartwrightError(
                f"engine jvm is not exact in this session (its {what} {wrong}): use engine='arrow'"
            )
        _PROVEN.add(proven)


def differs(spark: SparkSession, what: str, hashed: Callable[[Column], Column]) -> str | None:
    """What is wrong with an expression, as the end of a sentence; None if it hashes as the core does.

    Spark computes these rows while it plans, on the driver: no task runs.
    """
    keys, literals, expected_hashes = _golden(what)
    rows = ", ".join(f"({each})" for each in literals)
    table = spark.sql(f"SELECT key FROM VALUES {rows} AS golden(key)")  # noqa: S608 - rows of this file's own
    try:
        result_rows = table.select(hashed(sf.col("key"))).collect()
    except PySparkException as error:
        return f"fails ({first_line(error)})"
    for key, row, want in zip(keys, result_rows, expected_hashes, strict=True):
        if row[0] != want:
            return f"of {key!r} is {row[0]}, not {want}"
    return None


def _golden(what: str) -> tuple[list[object], list[str], list[int]]:
    """Some keys, the same keys in SQL, and their hashes."""
    if what in WHOLE:
        most = 2 ** (8 * WHOLE[what] - 1)
        numbers = [0, 1, -1, 127, -128, 0x0123456789ABCDEF % most, most - 1, -most]
        written = [f"CAST('{number}' AS BIGINT)" for number in numbers]
        return numbers, written, hashing.murmur2(pa.array(numbers), key_type=what).to_pylist()
    written = [f"X'{key.hex()}'" for key in _KEYS]
    keys = pa.array(_KEYS, pa.binary())
    if what == "crc32":
        return list(_KEYS), written, [zlib.crc32(key) for key in _KEYS]
    return list(_KEYS), written, hashing.murmur2(keys).to_pylist()
