"""How fast a topic's records become columns, next to the same library's bare loop and kafka-python's, as it was before.

Each reads keys, partitions, offsets and times of a topic of an embedded Kafka, by turns in one process; the bare loop
takes messages and looks at nothing but whether they are errors.

    python benches/python/reading.py [--records 1000000] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import time
from typing import TYPE_CHECKING

import kafka
from confluent_kafka import Consumer, Producer, TopicPartition

from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.records import TopicRecords

if TYPE_CHECKING:
    from collections.abc import Callable

PARTITIONS = 12
KEYS = 100_000
# kafka-python is so much slower that a part of the records is enough: only rates are compared.
PART = 8


def fill(servers: str, topic: str, codec: str, records: int) -> None:
    """Keys of 12 bytes and values of 100 bytes, of which half does not compress."""
    topics.create_topic(servers, topic, PARTITIONS)
    settings = {"compression.type": codec, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000}
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


def bare(servers: str, topic: str) -> int:
    """confluent-kafka's own loop, with settings that make it fast."""
    settings = {"enable.auto.commit": False, "enable.partition.eof": True, "fetch.queue.backoff.ms": 10}
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bare", **settings})
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    records = ends = 0
    while ends < PARTITIONS:
        for message in consumer.consume(1000, 0.2):
            if message.error() is None:
                records += 1
            else:
                ends += 1
    consumer.close()
    return records


def columns(servers: str, topic: str) -> int:
    """Ours: keys, partitions, offsets and times as Arrow columns."""
    return sum(len(chunk.keys) for chunk in TopicRecords(servers, topic).batches())


def sized(servers: str, topic: str) -> int:
    """The same with the size of each record."""
    return sum(len(chunk.keys) for chunk in TopicRecords(servers, topic, sizes=True).batches())


def by_kafka_python(servers: str, topic: str) -> int:
    """kafka-python's loop, up to a part of the records."""
    consumer = kafka.KafkaConsumer(bootstrap_servers=servers, group_id=None, enable_auto_commit=False)
    places = [kafka.TopicPartition(topic, partition) for partition in range(PARTITIONS)]
    consumer.assign(places)
    consumer.seek_to_beginning(*places)
    wanted = sum(consumer.end_offsets(places).values()) // PART
    records = 0
    while records < wanted:
        for some in consumer.poll(timeout_ms=200, max_records=20_000).values():
            records += len([(each.key, each.partition, each.offset, each.timestamp) for each in some])
    consumer.close()
    return records


def measure(read: Callable[[str, str], int], servers: str, topic: str) -> tuple[float, float]:
    """Records per second, and seconds of processor time per million records."""
    began, busy = time.perf_counter(), time.process_time()
    records = read(servers, topic)
    return records / (time.perf_counter() - began), (time.process_time() - busy) / records * 1e6


def main() -> None:
    """Measures each reader by turns, and prints a line of JSON each: medians, and its rate over the bare loop's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    readers = (bare, columns, sized, by_kafka_python)
    with EmbeddedKafka(heap="1g") as broker:
        for codec in ("none", "lz4"):
            fill(broker.bootstrap_servers, codec, codec, given.records)
            found: dict[str, list[tuple[float, float]]] = {each.__name__: [] for each in readers}
            for _ in range(given.rounds):
                for reader in readers:
                    found[reader.__name__].append(measure(reader, broker.bootstrap_servers, codec))
            rates = {name: [rate for rate, _ in each] for name, each in found.items()}
            for name, each in found.items():
                ratios = [ours / theirs for ours, theirs in zip(rates[name], rates["bare"], strict=True)]
                told = {
                    "codec": codec,
                    "reader": name,
                    "records_per_s": round(statistics.median(rates[name])),
                    "cpu_s_per_million": round(statistics.median(cpu for _, cpu in each), 2),
                    "over_bare": round(statistics.median(ratios), 2),
                }
                print(json.dumps(told), flush=True)
    print(json.dumps({"peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


if __name__ == "__main__":
    main()
