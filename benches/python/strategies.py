"""Each strategy over a table of records, next to a copy of the sizes' column and kafka-python's own partitioners.

`python benches/python/strategies.py [--rows N] [--repeats N]`: records without keys, whose values have 50 to 150
bytes, on a topic of 12 partitions, with Kafka's default batch.size; medians. kafka-python is asked record by record,
as its producer asks it, about a hundredth of the rows.
"""

from __future__ import annotations

import secrets
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from programs import median, parser

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PARTITIONS = 12
STRATEGIES = (
    "sticky",
    "sticky@3.3",
    "sticky@2.4",
    "uniform-sticky@2.4",
    "round-robin",
    "round-robin@3.9.2",
    "round-robin@2.8",
    "random",
    "old-null-key",
    "default@2.3",
)
FEWER = 100
WORST = 0.5
"""How uneven the bytes of a strategy's partitions may be, so that a wrong one does not pass for a fast one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = parser(__doc__, rows=(10_000_000, "records"), repeats=(5, "rounds")).parse_args(arguments)
    seed = secrets.randbits(32)
    print(f"{options.rows:,} records, seed {seed}, medians of {options.repeats}")
    sizes = np.random.default_rng(seed).integers(50, 150, options.rows, dtype=np.int32)
    table = pa.table({"size": sizes})
    copy_s = median(options.repeats, sizes.copy)
    print(f"{'':20} {'ns a record':>12} {'million/s':>10} {'a copy = 1':>11}")
    _print("copy of the sizes", copy_s, options.rows, copy_s)
    for strategy in STRATEGIES:
        found: list[Any] = []

        def placed(strategy: str = strategy, found: list[Any] = found) -> None:
            found[:] = [pw.Producer({"t": PARTITIONS}, pw.ProducerConfig(strategy, seed=seed)).place(table)]

        took = median(options.repeats, placed)
        _check(strategy, found[0], sizes)
        _print(strategy, took, options.rows, copy_s)
    rows = options.rows // FEWER
    for name, partitioner in _of_kafka_python():
        _print(name, median(options.repeats, lambda asked=partitioner: asked(rows)), rows, copy_s / FEWER)
    return 0


def _print(name: str, took_s: float, rows: int, copy_s: float) -> None:
    print(f"{name:20} {took_s / rows * 1e9:12.2f} {rows / took_s / 1e6:10.1f} {took_s / copy_s:11.1f}")


def _check(strategy: str, found: pa.ChunkedArray, sizes: Any) -> None:
    placed = found.to_numpy()
    assert len(placed) == len(sizes)
    if strategy == "old-null-key":
        assert len(set(placed[:1000].tolist())) == 1
        return
    counts = np.bincount(placed, sizes, PARTITIONS)
    used = counts[counts > 0]
    assert used.max() / used.min() - 1 < WORST, f"{strategy}: {counts}"


def _of_kafka_python() -> list[tuple[str, Callable[[int], None]]]:
    """kafka-python's sticky partitioner and its random one, over a cluster with as many partitions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from kafka.partitioner import DefaultPartitioner, StickyPartitioner  # noqa: PLC0415 - its import warns

    class Metadata:
        """The part of kafka-python's metadata that its partitioners ask for."""

        def topics(self) -> set[str]:
            return {"t"}

        def partitions_for_topic(self, topic: str) -> set[int]:
            del topic
            return set(range(PARTITIONS))

        available_partitions_for_topic = partitions_for_topic

    def asked(partitioner: Any) -> Callable[[int], None]:
        def run(rows: int) -> None:
            for _ in range(rows):
                partitioner.partition("t", None, None, None, None, Metadata())

        return run

    return [
        ("kafka-python sticky", asked(StickyPartitioner())),
        ("kafka-python random", asked(DefaultPartitioner())),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
