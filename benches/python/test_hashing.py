"""The cost of a call from Python: one key, columns of up to a million rows, and loops instead of a call."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from confluent_kafka import murmur2 as confluent_partition
from mmh2 import MurmurHash2
from murmurhash2 import murmurhash2

import partwright as pw
from bench_cases import CASES, LAB, check, column

with warnings.catch_warnings():
    # It reads its own files in a way that Python 3.11 deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.partitioner.default import murmur2 as kafka_python_murmur2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_benchmark.fixture import BenchmarkFixture

N = LAB["n"]
CASE, LAYOUT = LAB["calls"]["case"], LAB["calls"]["layout"]
BATCH = LAB["rows"]["batch"]
EVERY_LAYOUT = [(name, layout) for name, case in CASES.items() for layout in case["layouts"]]


def kafka_python_partition(key: bytes, n: int) -> int:
    """The three lines of kafka-python's DefaultPartitioner that stand between its hash and a partition."""
    index: int = kafka_python_murmur2(key)
    index &= 0x7FFFFFFF
    return index % n


KAFKAS_SEED = 0x9747B28C
"""What Kafka begins its murmur2 with; the packages that are no Kafka client have to be told."""


def murmurhash2_partition(key: bytes, n: int) -> int:
    """The code that users write around the package `murmurhash2`, which is Rust and gives an unsigned hash."""
    return (murmurhash2(key, KAFKAS_SEED) & 0x7FFFFFFF) % n


def mmh2_partition(key: bytes, n: int) -> int:
    """The same around the package `mmh2`, which is pure Python."""
    index: int = (MurmurHash2.hash32(key, KAFKAS_SEED) & 0x7FFFFFFF) % n
    return index


def loop(rule: Callable[[bytes, int], int], keys: Sequence[bytes]) -> list[int]:
    """A rival at its best: keys already are Python objects, and the answer may be a list."""
    return [rule(key, N) for key in keys]


def loop_over_column(rule: Callable[[bytes, int], int], keys: pa.Array) -> pa.Array:
    """A rival at the same task as ours: from one column to another."""
    return pa.array([rule(key, N) for key in keys.to_pylist()], pa.int32())


@pytest.fixture
def measure(benchmark: BenchmarkFixture) -> Callable[..., Any]:
    """Runs the benchmark, with the labels that compare.py needs."""

    def run(what: str, rows: int, function: Callable[..., Any], *args: Any, **about: str) -> Any:
        about = {"case": CASE, "kind": "calls", **about}
        benchmark.group = f"{about['case']}, {about['kind']}: rows {rows:,}"
        benchmark.name = what
        benchmark.extra_info.update({"what": what, "rows": rows, **about})
        return benchmark(function, *args)

    return run


@pytest.mark.parametrize("rows", LAB["rows"]["calls"])
def test_ours(measure: Callable[..., Any], rows: int) -> None:
    """Our call; the Rust bench has the same sizes, so the difference is the cost of the boundary."""
    found = measure("ours", rows, pw.partition_for_key, column(CASE, LAYOUT, rows), N)
    assert len(found) == rows


@pytest.mark.parametrize("rows", LAB["rows"]["calls"])
def test_floor(measure: Callable[..., Any], rows: int) -> None:
    """The least time in which one of Arrow's own kernels can be called: it only subtracts offsets."""
    found = measure("pyarrow binary_length", rows, pc.binary_length, column(CASE, LAYOUT, rows))
    assert len(found) == rows


@pytest.mark.parametrize("rows", LAB["rows"]["calls"])
def test_confluent_over_a_column(measure: Callable[..., Any], rows: int) -> None:
    """The murmur2 of librdkafka, called once a row, from column to column."""
    keys = column(CASE, LAYOUT, rows)
    found = measure("confluent-kafka, column to column", rows, loop_over_column, confluent_partition, keys)
    assert found == pw.partition_for_key(keys, N)


@pytest.mark.parametrize("rows", LAB["rows"]["calls"])
def test_confluent_over_a_list(measure: Callable[..., Any], rows: int) -> None:
    """The murmur2 of librdkafka, called once a row, without any Arrow."""
    keys = column(CASE, LAYOUT, rows)
    found = measure("confluent-kafka, list to list", rows, loop, confluent_partition, keys.to_pylist())
    assert found == pw.partition_for_key(keys, N).to_pylist()


@pytest.mark.parametrize("rows", LAB["rows"]["calls"])
def test_murmurhash2_over_a_list(measure: Callable[..., Any], rows: int) -> None:
    """The package `murmurhash2`, called once a row, without any Arrow."""
    keys = column(CASE, LAYOUT, rows)
    found = measure("murmurhash2, list to list", rows, loop, murmurhash2_partition, keys.to_pylist())
    assert found == pw.partition_for_key(keys, N).to_pylist()


# A million rows of them take seconds, and tell no more than 10,000 rows.
@pytest.mark.parametrize("rows", [rows for rows in LAB["rows"]["calls"] if rows <= BATCH])
@pytest.mark.parametrize(
    ("what", "rule"), [("kafka-python", kafka_python_partition), ("mmh2", mmh2_partition)]
)
def test_pure_python_over_a_list(
    measure: Callable[..., Any], what: str, rule: Callable[[bytes, int], int], rows: int
) -> None:
    """Pure Python, called once a row."""
    keys = column(CASE, LAYOUT, rows)
    found = measure(f"{what}, list to list", rows, loop, rule, keys.to_pylist())
    assert found == pw.partition_for_key(keys, N).to_pylist()


@pytest.mark.parametrize(
    ("what", "rule", "layout"),
    [
        ("ours, str", pw.partition_for_key, "utf8"),
        ("ours, bytes", pw.partition_for_key, "binary"),
        ("confluent-kafka, bytes", confluent_partition, "binary"),
        ("murmurhash2, bytes", murmurhash2_partition, "binary"),
        ("kafka-python, bytes", kafka_python_partition, "binary"),
        ("mmh2, bytes", mmh2_partition, "binary"),
    ],
)
def test_one_key(
    measure: Callable[..., Any], what: str, rule: Callable[[str | bytes, int], int], layout: str
) -> None:
    """One key that is not a column."""
    key = column(CASE, layout, 1)[0].as_py()
    assert measure(what, 1, rule, key, N, kind="one key") == pw.partition_for_key(key, N)


@pytest.mark.parametrize(("case", "layout"), EVERY_LAYOUT)
def test_a_batch_of_every_layout(
    measure: Callable[..., Any], benchmark: BenchmarkFixture, case: str, layout: str
) -> None:
    """As many rows as Spark hands over at once, for every type that a column may have."""
    keys, key_type = column(case, layout, BATCH), CASES[case]["key_type"]
    found = measure(
        f"ours, {layout}",
        BATCH,
        pw.partition_for_key,
        keys,
        N,
        "java",
        key_type,
        case=case,
        layout=layout,
        kind="layout",
    )
    benchmark.extra_info["sum"] = check(case, found)
