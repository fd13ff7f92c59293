"""How fast `migrate copy` is, next to a bare copy by the same library, which keeps no order, no times and no progress.

Both read one topic of an embedded Kafka and write another, by turns in one process; the first round does not count.
The bare one takes messages and sends them as they are, each by librdkafka's own partitioner, through an idempotent
producer. `copied` leaves the first look at the topic out, which `migrate copy` takes once, and `whole` has it.

    python benches/python/migrating.py [--records 500000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time

from confluent_kafka import Consumer, Producer, TopicPartition

from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.connection import KafkaConfig
from partwright.migration import Migration, Side, copy

OLD, NEW = 6, 16
KEYS = 100_000


def fill(servers: str, topic: str, records: int) -> None:
    """Keys of 12 bytes and values of 100 bytes, of which half does not compress."""
    topics.create_topic(servers, topic, OLD)
    settings = {"compression.type": "lz4", "linger.ms": 50, "queue.buffering.max.messages": 1_000_000}
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random", **settings})
    value = os.urandom(50) + b"a" * 50
    for row in range(records):
        while True:
            try:
                producer.produce(topic, value, key=b"key-%08d" % (row % KEYS))
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()


def bare(servers: str, source: str, target: str) -> float:
    """Seconds of confluent-kafka's own loop."""
    topics.create_topic(servers, target, NEW)
    began = time.perf_counter()
    reads = {"enable.auto.commit": False, "enable.partition.eof": True, "fetch.queue.backoff.ms": 10}
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bare", **reads})
    consumer.assign([TopicPartition(source, partition, 0) for partition in range(OLD)])
    settings = {"compression.type": "lz4", "linger.ms": 20, "queue.buffering.max.messages": 1_000_000}
    writes = {"partitioner": "murmur2_random", "enable.idempotence": True, **settings}
    producer = Producer({"bootstrap.servers": servers, **writes})
    ends = 0
    while ends < OLD:
        for message in consumer.consume(1000, 0.2):
            if message.error() is not None:
                ends += 1
                continue
            while True:
                try:
                    producer.produce(
                        target,
                        message.value(),
                        message.key(),
                        timestamp=message.timestamp()[1],
                        headers=message.headers(),
                    )
                    break
                except BufferError:
                    producer.poll(0.1)
        producer.poll(0)
    producer.flush()
    consumer.close()
    return time.perf_counter() - began


def ours(servers: str, source: str, target: str) -> tuple[float, float]:
    """Seconds of `migrate copy`: from the beginning of the first transaction, and in all."""
    config = KafkaConfig.read(None, servers=servers)
    looked: list[float] = []
    began = time.perf_counter()
    copy(
        Migration(Side(config, source), Side(config, target), NEW),
        scanning=lambda _records, _done: looked.append(time.perf_counter()),
    )
    done = time.perf_counter()
    return done - looked[-1], done - began


def main() -> None:
    """Measures both by turns, and prints a line of JSON: medians of records a second, and ours over the bare one's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    rates: dict[str, list[float]] = {"bare": [], "copied": [], "whole": []}
    with EmbeddedKafka(heap="1g") as broker:
        fill(broker.bootstrap_servers, "old", given.records)
        for turn in range(given.rounds + 1):
            # Either goes first in turn: the broker still writes to its disk what came before.
            first = bare(broker.bootstrap_servers, "old", f"bare-{turn}") if turn % 2 else None
            copied, whole = ours(broker.bootstrap_servers, "old", f"ours-{turn}")
            other = first or bare(broker.bootstrap_servers, "old", f"bare-{turn}")
            seconds = {"copied": copied, "whole": whole, "bare": other}
            if not turn:
                continue
            for name, each in seconds.items():
                rates[name].append(given.records / each)
    print(
        json.dumps(
            {
                "records": given.records,
                **{f"{name}_per_s": round(statistics.median(each)) for name, each in rates.items()},
                **{
                    f"{name}_over_bare": [
                        round(a / b, 2) for a, b in zip(rates[name], rates["bare"], strict=True)
                    ]
                    for name in ("copied", "whole")
                },
            }
        )
    )


if __name__ == "__main__":
    main()
