"""Assignors for kafka-python, round after round without a broker: they assign by what its protocol carries."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

import partwright as pw
from partwright.assignors.consumer_partition_assignor import (
    ConsumerGroupMetadata,
    MemberAssignment,
    Subscription,
)
from partwright.assignors.names import CLIENT_ASSIGNORS
from partwright.kafka.assignors import kafka_python_assignor

SEED = 20261121


class Cluster:
    """The part of kafka-python's metadata that an assignor asks for."""

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return set(range(self._counts[topic])) if topic in self._counts else None


def joined(assignor: Any, name: str, instance: str | None, topics: list[str]) -> Any:
    """A member as the leader receives it: its subscription over the wire and back."""
    sent = assignor.metadata(set(topics))
    got = type(sent).decode(sent.encode(version=sent.version))
    return SimpleNamespace(member_id=name, group_instance_id=instance, metadata=got)


@pytest.mark.parametrize("name", CLIENT_ASSIGNORS)
def test_each_round_is_what_kafka_s_own_leader_gives(name: str) -> None:
    draw = random.Random(SEED)
    for _ in range(15):
        counts = {f"t{place}": draw.randrange(1, 9) for place in range(3)}
        topics = [*counts, "absent"]
        all_own = {f"c{place}": kafka_python_assignor(name) for place in range(5)}
        owned: dict[str, list[tuple[str, int]]] = {}
        owned_in: dict[str, int] = {}
        for generation in range(1, 5):
            ids = sorted(draw.sample(list(all_own), draw.randrange(1, 6)))
            instances = {each: f"i-{each}" if draw.random() < 0.3 else None for each in ids}
            given = [joined(all_own[each], each, instances[each], topics) for each in ids]
            members: list[dict[str, Any]] = []
            for each in given:
                id_ = each.member_id
                member = {"id": id_, "topics": list(each.metadata.topics), "instance_id": instances[id_]}
                pairs = owned.get(id_, [])
                if name == "sticky" and id_ in owned:
                    # Its class sends the generation with what is owned; the cooperative one's has no room for it.
                    member |= {"owned": pairs, "generation": owned_in[id_]}
                elif name == "cooperative-sticky" and pairs:
                    member |= {"owned": sorted_by_topic(pairs)}
                members.append(member)
            wanted = pw.assign(counts | {"absent": 0}, members, name).to_dict()
            answer = all_own[ids[0]].assign(Cluster(counts), given)
            assert {each: found.partitions() for each, found in answer.items()} == {
                each: in_order_of_topics(pairs) for each, pairs in wanted.items()
            }
            for each, found in answer.items():
                all_own[each].on_assignment(found, generation)
                owned[each] = [tuple(pair) for pair in found.partitions()]
                owned_in[each] = generation


def in_order_of_topics(pairs: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The wire has a list of partitions for each topic."""
    topics = list(dict.fromkeys(topic for topic, _ in pairs))
    return sorted(pairs, key=lambda pair: topics.index(pair[0]))


def sorted_by_topic(pairs: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """As kafka-python's cooperative class sends owned partitions."""
    topics = list(dict.fromkeys(topic for topic, _ in pairs))
    return sorted(pairs, key=lambda pair: (topics.index(pair[0]), pair[1]))


def test_there_are_four() -> None:
    assert [kafka_python_assignor(name).name for name in CLIENT_ASSIGNORS] == [*CLIENT_ASSIGNORS]
    with pytest.raises(pw.PartwrightError) as refused:
        kafka_python_assignor("stickyy")
    assert str(refused.value) == (
        "there is no assignor 'stickyy': there are range, roundrobin, sticky, cooperative-sticky"
    )


class Heaviest:
    """Each partition goes to the member with the fewest; keeps a note of its input."""

    name = "heaviest"
    supported_protocols = ("COOPERATIVE", "EAGER")

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.told: list[Any] = []

    def subscription_user_data(self, topics: set[str]) -> bytes:
        return ",".join(sorted(topics)).encode()

    def assign(self, cluster: Any, group_subscription: Any) -> Any:
        self.seen.append((cluster.topics(), group_subscription))
        given: dict[str, list[tuple[str, int]]] = {member: [] for member in group_subscription}
        for topic in cluster.topics():
            for each in cluster.partitions_for_topic(topic):
                least = min(given, key=lambda member: len(given[member]))
                given[least].append((topic, each.partition))
        return {member: MemberAssignment(pairs, member.encode()) for member, pairs in given.items()}

    def on_assignment(self, assignment: Any, metadata: Any) -> None:
        self.told.append((assignment, metadata))


def test_ones_own_crosses_the_wire() -> None:
    """The leader sees what members sent, and each member gets its part."""
    owns = {name: Heaviest() for name in ("c1", "c2")}
    made = {name: kafka_python_assignor(own) for name, own in owns.items()}
    assert {each.name for each in made.values()} == {"heaviest"}
    assert [each.name for each in made["c1"].supported_protocols()] == ["COOPERATIVE", "EAGER"]
    for generation in (1, 2):
        given = [
            joined(assignor, name, f"i-{name}" if name == "c2" else None, ["t", "absent"])
            for name, assignor in made.items()
        ]
        for name, found in made["c1"].assign(Cluster({"t": 3}), given).items():
            made[name].on_assignment(type(found).decode(found.encode(version=0)), generation)
    topics, said = owns["c1"].seen[1]
    assert topics == ["t"]
    assert said["c2"] == Subscription(["absent", "t"], b"absent,t", [("t", 1)], 1, "i-c2", None)
    assert said["c1"].owned_partitions == [("t", 0), ("t", 2)]
    assert owns["c2"].told[1] == (MemberAssignment([("t", 1)], b"c2"), ConsumerGroupMetadata(2, "", None))
    # The other members' objects are in other processes.
    assert owns["c2"].seen == []


def test_what_ones_own_gives_is_checked_there_too() -> None:
    class Twice:
        name = "twice"

        def assign(self, _: Any, group_subscription: Any) -> Any:
            return {member: [("t", 0)] for member in group_subscription}

    made = [kafka_python_assignor(Twice) for _ in range(2)]
    given = [joined(each, f"c{place}", None, ["t"]) for place, each in enumerate(made)]
    with pytest.raises(pw.PartwrightError, match="'c1' partition 0 of 't' and 'c0' too"):
        made[0].assign(Cluster({"t": 1}), given)
    with pytest.raises(pw.PartwrightError, match="an assignor is named by text, not 5"):
        kafka_python_assignor(5)
