"""Rows for a PartitionWriter; and as a script, a process that writes them, which a test kills or stops."""

from __future__ import annotations

import hashlib
import sys
from typing import Any

import pyarrow as pa

from partwright.errors import PartwrightError
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.marks import Mark
from partwright.kafka.partition_writer import PartitionWriter

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
HEADER = "partwright"


def record(run: bytes, row: int) -> tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]], int]:
    """Key, value, headers and timestamp of a row: of all lengths, some of them null or empty."""
    drawn = hashlib.sha256(b"%d" % row).digest()
    key = None if row % 11 == 3 else drawn[: row % 5]
    # Some are larger than what a producer puts into one request.
    value = None if row % 13 == 5 else drawn * (drawn[0] if row % 97 else 20_000)
    headers: list[tuple[str, bytes | None]] = [(HEADER, *Mark(HEADER, run).values([row]))]
    if row % 3 == 0:
        headers.insert(0, ("theirs", None if row % 2 else drawn))
    return key, value, headers, 1 + row * 1_000_003


def columns(run: bytes, rows: range) -> tuple[list[int], pa.Array, pa.Array, pa.Array, pa.Array]:
    """Rows as `PartitionWriter.write` takes them."""
    records = [record(run, row) for row in rows]
    headers: list[Any] = [[{"key": key, "value": value} for key, value in each[2]] for each in records]
    return (
        list(rows),
        pa.array([each[0] for each in records], pa.binary()),
        pa.array([each[1] for each in records], pa.binary()),
        pa.array(headers, HEADERS),
        pa.array([each[3] for each in records], pa.int64()),
    )


def main(servers: str, topic: str, partition: str, run: str, rows: str, batch: str, transaction: str) -> None:
    """Writes the rows in batches, and after each prints how many it has passed."""
    config = KafkaConfig.read({}, servers=servers)
    mark = Mark(HEADER, bytes.fromhex(run))
    try:
        writer = PartitionWriter(config, topic, int(partition), 0, mark, transaction=int(transaction))
        for start in range(0, int(rows), int(batch)):
            writer.write(*columns(mark.run, range(start, min(start + int(batch), int(rows)))))
            sys.stdout.write(f"{start}\n")
            sys.stdout.flush()
        writer.end()
    except PartwrightError as error:
        sys.exit(str(error))
    sys.stdout.write(f"end {writer.written} {writer.already_there}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
