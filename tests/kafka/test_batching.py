"""A real producer's batches, read from its broker's log, compared with a simulation of the same records.

If time cannot matter they are the same, batch by batch; if it does, the difference is bounded. A failure prints the
seed of the records' sizes, and PARTWRIGHT_SEED repeats it.
"""

from __future__ import annotations

import json
import math
import random
import statistics
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from kafka.record import MemoryRecords

from partwright.batching import replay
from partwright.kafka import topics

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from partwright.kafka import EmbeddedKafka

pytestmark = [pytest.mark.broker, pytest.mark.reference]

RECORDS = 100_000
PARTITIONS = 6
PER_MS = 20
# Records with these numbers are sent after the producer's JVM has compiled its code.
WARM = range(RECORDS // 2, RECORDS)
# Longer than any run: batches then leave when they are full, have no room, or are flushed.
ENDLESS_MS = 60_000
# The first bytes of each record's value are its number.
NUMBER_BYTES = 4
SIZES = range(NUMBER_BYTES, 300)


class Batch(NamedTuple):
    """A batch, in a log or in a simulation; the records of this producer are numbered as they were sent."""

    first_record: int
    partition: int
    records: int
    bytes: int


class Log(NamedTuple):
    """The output of a producer: its batches by their first records, and each record's time and partition."""

    batches: list[Batch]
    times: list[int]
    placed: list[int]
    metrics: dict[str, float]

    @property
    def latency_ms(self) -> int:
        return max(1, round(self.metrics["request-latency-avg"]))


@pytest.fixture(scope="module")
def writer(reference: Callable[[str], ModuleType], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that sends records with kafka-clients 4.4."""
    return [*reference("builds").build_java(tmp_path_factory.mktemp("writer")), "partwright.BatchWriter"]


@pytest.fixture
def sizes(seed: int) -> list[int]:
    """The sizes of the records' values."""
    return random.Random(seed).choices(SIZES, k=RECORDS)


def read(folder: Path, topic: str, partitions: int, metrics: dict[str, float]) -> Log:
    """A topic's batches, from the segments of its broker's log."""
    batches, records = [], []
    for partition in range(partitions):
        for segment in sorted((folder / "data" / f"{topic}-{partition}").glob("*.log")):
            for batch in MemoryRecords(segment.read_bytes()):
                found = [(int.from_bytes(each.value[:NUMBER_BYTES]), each.timestamp) for each in batch]
                batches.append(Batch(found[0][0], partition, len(found), batch.size_in_bytes))
                records += [(*each, partition) for each in found]
    numbers, times, placed = zip(*sorted(records), strict=True)
    assert numbers == tuple(range(RECORDS))
    return Log(sorted(batches), list(times), list(placed), metrics)


def write(
    broker: EmbeddedKafka,
    writer: list[str],
    sizes: list[int],
    topic: str,
    partitions: int,
    config: dict[str, Any],
    *,
    per_ms: int = 0,
    is_held: bool = False,
) -> Log:
    """Sends the records, and reads their batches from the log."""
    servers, held_by = broker.bootstrap_servers, f"{topic}-holds" if is_held else None
    topics.create_topic(servers, topic, partitions)
    if held_by:
        topics.create_topic(servers, held_by, 1)
    # There is enough memory: a record never waits for it.
    config = {**config, "bootstrap.servers": servers, "buffer.memory": 1 << 28, "compression.type": "none"}
    told = {"config": config, "topic": topic, "sizes": sizes, "per_ms": per_ms, "held_by": held_by}
    done = subprocess.run(
        writer, input=json.dumps(told), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return read(broker.folder, topic, partitions, json.loads(done.stdout))


def simulate(
    log: Log, sizes: list[int], partitions: int, config: dict[str, Any], **scenario: Any
) -> tuple[list[Batch], list[int]]:
    """The batches of the same records, sent at the same times, by their first records; and the records' partitions.

    The rest of a scenario is given by name; `latency_ms` and `away` are the one broker's.
    """
    broker = {"id": 1, "latency_ms": scenario.pop("latency_ms", log.latency_ms)}
    answer = replay(
        {
            "strategy": "sticky@4.4",
            "config": config,
            "brokers": [{**broker, "away": scenario.pop("away", [])}],
            "partitions": [{"id": each, "leader": 1} for each in range(partitions)],
            "flush_ms": log.times[-1],
            "records": [[time, None, None, size] for time, size in zip(log.times, sizes, strict=True)],
            **scenario,
        }
    )
    batches = [Batch(*(each[name] for name in Batch._fields)) for each in answer["batches"]]
    return batches, [partition for partition, _ in answer["placed"]]


def starts(placed: list[int]) -> list[int]:
    """The numbers of the records at which another partition is chosen."""
    return [row for row, partition in enumerate(placed) if not row or partition != placed[row - 1]]


@pytest.mark.parametrize("batch_size", [1000, 16384])
@pytest.mark.parametrize(("partitions", "is_held"), [(PARTITIONS, True), (1, False)], ids=["held", "runs"])
def test_without_time_each_batch_is_the_same(
    broker: EmbeddedKafka,
    writer: list[str],
    sizes: list[int],
    partitions: int,
    is_held: bool,
    batch_size: int,
) -> None:
    """The sender is held until all records are in, as if its broker were away; or it runs, with one partition.

    With several partitions, a full one takes along batches begun for others; how many depends on the moment.
    """
    config = {
        "batch.size": batch_size,
        "linger.ms": ENDLESS_MS,
        "partitioner.adaptive.partitioning.enable": False,
    }
    topic = f"batching-exact-{partitions}-{batch_size}"
    log = write(broker, writer, sizes, topic, partitions, config, is_held=is_held)
    scenario = {"away": [[0, log.times[-1] + 1]] if is_held else []}
    # When a partition is left does not depend on the next choice, because no record is as large as a batch. If draws
    # never choose the same one again, each choice is visible, and so is the real producer's choice there.
    turns = [draw % partitions for draw in range(RECORDS)]
    _, placed = simulate(log, sizes, partitions, config, draws=turns, **scenario)
    # With one partition no choice is visible, and the last one may have no record.
    draws = [log.placed[row] for row in starts(placed)] + [0] * RECORDS
    simulated, placed = simulate(log, sizes, partitions, config, draws=draws, **scenario)
    assert len(log.batches) > RECORDS * statistics.mean(SIZES) / batch_size
    assert placed == log.placed
    assert simulated == log.batches


@pytest.mark.parametrize("batch_size", [1000, 16384, 131_072])
def test_with_time_their_number_is_bounded(
    broker: EmbeddedKafka, writer: list[str], sizes: list[int], batch_size: int
) -> None:
    """Five seconds of records with Kafka's own settings, `linger.ms` 5 among them.

    A real sender runs late, and not every request takes the mean time: it makes fewer batches than
    one that runs at once. It cannot make fewer than one that never runs before the end.
    """
    config: dict[str, Any] = {"batch.size": batch_size}
    log = write(broker, writer, sizes, f"batching-paced-{batch_size}", PARTITIONS, config, per_ms=PER_MS)
    held, _ = simulate(log, sizes, PARTITIONS, config, away=[[0, log.times[-1] + 1]])
    told, _ = simulate(log, sizes, PARTITIONS, config)
    at_once, _ = simulate(log, sizes, PARTITIONS, config, sender="each-append", latency_ms=0)

    warm = []
    for name, batches in {"log": log.batches, "told": told, "at once": at_once, "held": held}.items():
        warm.append(sum(batch.first_record in WARM for batch in batches))
        mean = statistics.mean(batch.bytes for batch in batches)
        print(f"{name}: {len(batches)} batches of {mean:.0f} bytes, {warm[-1]} of them warm")  # noqa: T201 - as the seed
    print(log.metrics)  # noqa: T201 - as the seed

    assert max(batch.bytes for batch in log.batches) <= batch_size
    assert 0.99 * len(held) <= len(log.batches) <= 1.15 * max(len(told), len(at_once))
    warm_log, warm_told, warm_at_once, _ = warm
    assert 0.6 * warm_told <= warm_log <= 1.15 * max(warm_told, warm_at_once)
    # Six times the standard deviation of this many even draws.
    spread = 6 * math.sqrt((PARTITIONS - 1) / len(starts(log.placed))) / PARTITIONS
    shares = Counter(log.placed)
    assert all(abs(shares[partition] / RECORDS - 1 / PARTITIONS) < spread for partition in range(PARTITIONS))
