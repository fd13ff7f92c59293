"""Lets the assignors of a Python client answer: a group in JSON a line in, its assignment a line out.

The last argument names the client; one before it is a folder with an older version. The first line out is its
provenance. Every member's subscription is made by the client's own `metadata`, after its own `on_assignment` where it
owns something, and goes over the wire and back; or it is `metadata`, in hex: what a member of another client sent. The
cluster has the topics that somebody subscribes to, as the leader
asks for them.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from types import SimpleNamespace
from typing import Any

MOST_S = 150
"""Of a processor's time: an assignor that has not ended by then never does. The slowest that ended took 25 s, with
1,100 partitions that it moved to and fro; nearly all groups take milliseconds."""


class Cluster:
    """The part of a client's metadata that an assignor asks for."""

    def __init__(self, group: dict[str, Any]) -> None:
        read = {topic for member in group["members"] for topic in member["topics"]}
        self._topics = {name: count for name, count in group["topics"].items() if name in read}

    def topics(self) -> set[str]:
        return set(self._topics)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return set(range(self._topics[topic])) if topic in self._topics else None


class KafkaPython:
    """kafka-python 3."""

    def __init__(self) -> None:
        import kafka
        from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
        from kafka.coordinator.assignors.range import RangePartitionAssignor
        from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
        from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
        from kafka.protocol.consumer import metadata

        classes = [
            RangePartitionAssignor,
            RoundRobinPartitionAssignor,
            StickyPartitionAssignor,
            CooperativeStickyAssignor,
        ]
        self.classes = {each.name: each for each in classes}
        self.protocol = metadata
        self.provenance = {"library": "kafka-python", "version": kafka.__version__}

    def subscription(self, assignor: str, member: dict[str, Any]) -> Any:
        if "metadata" in member:
            return self.protocol.ConsumerProtocolSubscription.decode(bytes.fromhex(member["metadata"]))
        made = self.classes[assignor]()
        if "owned" in member and "sticky" in assignor:
            from kafka.structs import TopicPartition

            pairs = [TopicPartition(*pair) for pair in member["owned"]]
            made.on_assignment(SimpleNamespace(partitions=lambda: pairs), member.get("generation", -1))
        sent = made.metadata(member["topics"])
        return self.protocol.ConsumerProtocolSubscription.decode(sent.encode())

    def assign(self, assignor: str, group: dict[str, Any]) -> dict[str, Any]:
        members = [
            SimpleNamespace(
                member_id=member["id"],
                group_instance_id=member.get("instance_id"),
                metadata=self.subscription(assignor, member),
            )
            for member in group["members"]
        ]
        said = self.classes[assignor]().assign(Cluster(group), members)
        return {name: _pairs(answer.assigned_partitions) for name, answer in said.items()}


class Aiokafka:
    """aiokafka, whose sticky assignor keeps what a member owns in its class."""

    def __init__(self) -> None:
        import aiokafka
        from aiokafka.coordinator.assignors.range import RangePartitionAssignor
        from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
        from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
        from aiokafka.coordinator.protocol import ConsumerProtocolMemberMetadata
        from aiokafka.structs import TopicPartition

        classes = [RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor]
        self.classes = {each.name: each for each in classes}
        self.metadata = ConsumerProtocolMemberMetadata
        self.partition = TopicPartition
        self.provenance = {"library": "aiokafka", "version": aiokafka.__version__}

    def subscription(self, assignor: str, member: dict[str, Any]) -> Any:
        if "metadata" in member:
            return self.metadata.decode(bytes.fromhex(member["metadata"]))
        base = self.classes[assignor]
        if assignor == "sticky":
            pairs = [self.partition(*pair) for pair in member["owned"]] if "owned" in member else None
            base.member_assignment = None
            if pairs is not None:
                base.on_assignment(SimpleNamespace(partitions=lambda: pairs))
            base.on_generation_assignment(member.get("generation", -1))
        sent = base.metadata(member["topics"])
        return self.metadata.decode(sent.encode())

    def assign(self, assignor: str, group: dict[str, Any]) -> dict[str, Any]:
        members = {member["id"]: self.subscription(assignor, member) for member in group["members"]}
        said = self.classes[assignor].assign(Cluster(group), members)
        return {name: _pairs(answer.assignment) for name, answer in said.items()}


class KafkaPython2(Aiokafka):
    """kafka-python 2, whose code aiokafka has copied."""

    def __init__(self) -> None:
        import kafka
        from kafka.coordinator.assignors.range import RangePartitionAssignor
        from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
        from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
        from kafka.coordinator.protocol import ConsumerProtocolMemberMetadata
        from kafka.structs import TopicPartition

        classes = [RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor]
        self.classes = {each.name: each for each in classes}
        self.metadata = ConsumerProtocolMemberMetadata
        self.partition = TopicPartition
        self.provenance = {"library": "kafka-python", "version": kafka.__version__}


class TooLongError(Exception):
    """An assignor has run for so long that it never ends."""


CLIENTS = {"kafka-python": KafkaPython, "kafka-python-2": KafkaPython2, "aiokafka": Aiokafka}


def _pairs(assigned: Any) -> list[list[Any]]:
    topics = [(each.topic, each.partitions) if hasattr(each, "topic") else each for each in assigned]
    return [[topic, partition] for topic, partitions in topics for partition in partitions]


def _stop(*_: object) -> None:
    raise TooLongError


def main() -> None:
    """Answers standard input to its end."""
    if "PYTHONHASHSEED" not in os.environ:
        # The order of sets is part of some answers: the golden files have the order of this seed.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606
    import logging

    logging.disable(logging.CRITICAL)
    sys.path[:0] = sys.argv[1:-1]
    client = CLIENTS[sys.argv[-1]]()
    sys.stdout.write(f"{json.dumps(client.provenance)}\n")
    signal.signal(signal.SIGVTALRM, _stop)
    for line in sys.stdin:
        group = json.loads(line)
        assignor = group["assignor"].partition(":")[2].partition("@")[0]
        signal.setitimer(signal.ITIMER_VIRTUAL, MOST_S)
        try:
            answer = {"assignment": client.assign(assignor, group)}
        except TooLongError:
            answer = {"error": "for ever"}
        except Exception as error:  # noqa: BLE001 - an error of the client is its answer
            answer = {"error": type(error).__name__}
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        sys.stdout.write(f"{json.dumps(answer)}\n")


if __name__ == "__main__":
    main()
