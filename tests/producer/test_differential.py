"""Random questions for Kafka's own producer classes and for partwright: each partition, error and number drawn.

A failure prints the seed: PARTWRIGHT_SEED repeats it, and PARTWRIGHT_CASES asks more questions per strategy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.reference

CASES = 500
KAFKAS = ("", "3.9", "2.8", "2.3", "0.8")


class Asked:
    """A question's producer in the core, and the numbers of its topics."""

    def __init__(self, question: dict[str, Any], draws: list[int]) -> None:
        """Reads the question; its draws are only those that Java made."""
        configs = question["configs"]
        self.racks = {broker["id"]: broker["rack"] for broker in question["brokers"]}
        self.near = configs.get("client.rack") if configs.get("partitioner.rack.aware") else None
        self.rack_aware = self.near is not None
        self.names = {name: number for number, name in enumerate(question["topics"])}
        settings = {
            "batch_size": configs.get("batch.size", 16_384),
            "linger_ms": None,
            "ignore_keys": configs.get("partitioner.ignore.keys", False),
            "rack_aware": self.rack_aware,
            "refresh_ms": configs.get("topic.metadata.refresh.interval.ms", 600_000),
            "available_only": False,
            "among": "random",
            "otherwise": "error",
        }
        self.counts = [len(partitions) for partitions in question["topics"].values()]
        topics = [(name, self._partitions(given)) for name, given in question["topics"].items()]
        client = question.get("client", "java")
        self.producer = _core.Producer(question["strategy"], client, settings, topics, draws, 0)
        for name, counter in question.get("counters", {}).items():
            self.producer.set_counter(self.names[name], counter)

    def happens(self, event: dict[str, Any]) -> int | None:
        """The strategy's answer to an event."""
        if event["topic"] not in self.names:
            self._change(event["topic"], [])
        topic = self.names[event["topic"]]
        match event["op"]:
            case "partition":
                key = None if event["key"] is None else bytes.fromhex(event["key"])
                return self.producer.partition(topic, key, event.get("at_ms", 0))
            case "on_new_batch":
                self.producer.on_new_batch(topic, event["prev"])
            case "next_partition":
                return self.producer.next_partition(topic, event["prev"])
            case "append":
                return self.producer.append(topic, event["bytes"], event["enable_switch"])
            case "load_stats":
                racks = event["leader_racks"]
                near = None if racks is None else [self.rack_aware and rack == self.near for rack in racks]
                queues = event["queue_sizes"], event["partition_ids"], near, event["length"]
                self.producer.load_stats(topic, *queues)
            case "cluster":
                self._change(event["topic"], event["partitions"])
            case other:
                raise NotImplementedError(other)
        return None

    def place(self, records: list[list[Any]]) -> list[int]:
        """Where records go, as one batch."""
        topics = [self.names[record[0]] for record in records]
        keys = [None if record[2] is None else bytes.fromhex(record[2]) for record in records]
        keyed = [
            None if key is None else pw.partition_for_key(key, self.counts[topic])
            for key, topic in zip(keys, topics, strict=True)
        ]
        columns = {
            "topic": pa.array(topics, pa.int32()),
            "partition": pa.array([record[1] for record in records], pa.int32()),
            "keyed": pa.array(keyed, pa.int32()),
            "key_size": pa.array([None if key is None else len(key) for key in keys], pa.int32()),
            "value_size": pa.array([record[3] for record in records], pa.int32()),
            "time": pa.array([record[4] for record in records], pa.int64()),
        }
        placed: list[int] = self.producer.place(pa.RecordBatch.from_pydict(columns)).to_pylist()
        return placed

    def _partitions(self, given: list[dict[str, Any]]) -> list[tuple[int, bool, bool]]:
        return [
            (
                partition["id"],
                partition["leader"] is not None,
                self.rack_aware and self.racks.get(partition["leader"]) == self.near,
            )
            for partition in given
        ]

    def _change(self, name: str, given: list[dict[str, Any]]) -> None:
        place = self.names.setdefault(name, len(self.names))
        self.producer.set_topic(place, name, self._partitions(given))


def compare(question: dict[str, Any], answer: dict[str, Any]) -> None:
    asked = Asked(question, answer["draws"])
    if "records" in question:
        assert asked.place(question["records"]) == answer["placed"], question
    else:
        for number, (event, said) in enumerate(zip(question["events"], answer["results"], strict=True)):
            if isinstance(said, dict):
                with pytest.raises(pw.PartwrightError, match=said["error"]):
                    asked.happens(event)
            else:
                assert asked.happens(event) == said, (number, event, question)
    assert asked.producer.drawn() == len(answer["draws"]), question


@pytest.mark.parametrize("kafka", KAFKAS, ids=lambda kafka: kafka or "today")
def test_random_records_go_where_kafka_puts_them(kafka: str, asked: Callable[..., Iterator[Any]]) -> None:
    for question, answer in asked("strategies", kafka, CASES):
        compare(question, answer)
