"""Simulates batches over a table of records, next to a copy of the sizes' column and Kafka's own accumulator.

`python benches/python/batching.py [--rows N] [--repeats N] [--no-java]`: records without keys, whose values have 50 to
150 bytes, with Kafka's defaults, to brokers that answer after 2 ms; medians. Measured is `compare` with one strategy: a
summary, and no row for each record. Kafka's accumulator is asked by tests/reference about a hundredth of the rows, in
JSON; what its program takes for a tenth of those is taken off, and with it the start of the JVM.
"""

from __future__ import annotations

import resource
import secrets
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from programs import median, parser

from partwright import batching
from partwright.batching.files import led_in_turn

if TYPE_CHECKING:
    from collections.abc import Sequence

REFERENCE = Path(__file__).resolve().parents[2] / "tests" / "reference"
FEWER = 100
LATENCY_MS = 2


class Case(NamedTuple):
    """A strategy, with its numbers of partitions, brokers and records per millisecond."""

    strategy: str
    partitions: int = 12
    brokers: int = 3
    in_a_ms: int = 100


CONFIG = {
    "batch.size": 16_384,
    "linger.ms": 5,
    "max.request.size": 1_048_576,
    "max.in.flight.requests.per.connection": 5,
    "retry.backoff.ms": 100,
    "partitioner.ignore.keys": False,
    "partitioner.adaptive.partitioning.enable": True,
    "partitioner.availability.timeout.ms": 0,
    "partitioner.rack.aware": False,
    "client.rack": "",
}
BROKER = {"rack": None, "latency_ms": LATENCY_MS, "away": []}
CASES = (
    Case("sticky"),
    Case("sticky@2.4"),
    Case("round-robin"),
    Case("round-robin@2.8"),
    Case("sticky", 200, 3, 1),
    Case("sticky@2.4", 200, 3, 1),
    Case("round-robin", 200, 3, 1),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    reading = parser(__doc__, rows=(10_000_000, "records"), repeats=(5, "rounds"))
    reading.add_argument("--no-java", action="store_true", help="leave Kafka's own accumulator out")
    options = reading.parse_args(arguments)
    seed = secrets.randbits(32)
    print(f"{options.rows:,} records, seed {seed}, medians of {options.repeats}")
    sizes = np.random.default_rng(seed).integers(50, 150, options.rows, dtype=np.int32)
    copy_s = median(options.repeats, sizes.copy)
    print(
        f"{'':16} {'partitions':>10} {'a ms':>5} {'ns each':>12} {'million/s':>10} {'a copy = 1':>11} {'more MiB':>9}"
    )
    print(
        f"{'copy of the sizes':33} {copy_s / options.rows * 1e9:12.2f} {options.rows / copy_s / 1e6:10.1f} {1:11.1f}"
    )
    for case in CASES:
        table = pa.table({"time": np.arange(options.rows) // case.in_a_ms, "size": sizes})
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        took = median(options.repeats, lambda case=case, table=table: _compared(case, table))
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(
            f"{case.strategy:16} {case.partitions:10} {case.in_a_ms:5} {took / options.rows * 1e9:12.2f} "
            f"{options.rows / took / 1e6:10.1f} {took / copy_s:11.1f} {more / 1024:9.0f}"
        )
    if not options.no_java:
        _print_java(sizes[: options.rows // FEWER], options.repeats)
    return 0


def _compared(case: Case, table: pa.Table) -> None:
    cluster = led_in_turn(case.partitions, case.brokers)
    delivery = batching.Delivery(latency_ms=LATENCY_MS)
    (row,) = batching.compare(table, cluster, [case.strategy], delivery=delivery).to_arrow().to_pylist()
    assert row["records"] == len(table)
    assert row["unsent"] == 0


def _print_java(sizes: Any, repeats: int) -> None:
    sys.path.insert(0, str(REFERENCE))
    import batching as reference  # noqa: PLC0415 - it is found only in that folder

    with tempfile.TemporaryDirectory() as folder:
        command = reference.build("", Path(folder))
        for case in (CASES[0], CASES[4]):
            many = median(repeats, lambda case=case: _asked(reference, command, case, sizes))
            few = median(
                repeats, lambda case=case: _asked(reference, command, case, sizes[: len(sizes) // 10])
            )
            each = (many - few) / (len(sizes) - len(sizes) // 10)
            name = f"Kafka's {case.strategy}"
            print(
                f"{name:16} {case.partitions:10} {case.in_a_ms:5} {each * 1e9:12.2f} {1 / each / 1e6:10.1f}"
            )


def _asked(reference: Any, command: Sequence[str], case: Case, sizes: Any) -> None:
    question = {
        "strategy": "sticky@4.4",
        "config": CONFIG,
        "sender": "each-instant",
        "brokers": [{**BROKER, "id": each} for each in range(case.brokers)],
        "flush_ms": None,
        "failed_requests": [],
        "thread_seed": 12,
        "partitions": [{"id": each, "leader": each % case.brokers} for each in range(case.partitions)],
        "records": [[row // case.in_a_ms, None, None, int(size)] for row, size in enumerate(sizes)],
    }
    _, (answer,) = reference.ask(command, [question])
    assert len(answer["placed"]) == len(sizes)


if __name__ == "__main__":
    raise SystemExit(main())
