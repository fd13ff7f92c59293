"""`Cluster` of broker IDs and numbers of partitions: placed by Kafka's own rule, always the same."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import partwright as pw
from partwright.cluster import Broker, Partition
from partwright.cluster.placement import Placement, striped


@pytest.mark.parametrize(
    ("brokers", "count", "factor"), [([1, 2, 3], 6, 2), ([7], 1, 1), (range(5), 13, 5), ([3, 1], 7, 2)]
)
def test_it_is_placed_as_the_controller_does(brokers: Any, count: int, factor: int) -> None:
    cluster = pw.Cluster(brokers, {"orders": count}, replication_factor=factor)
    assert Placement.of(cluster, "orders").replicas == striped(brokers, count, factor).replicas
    assert [each.leader for each in cluster.partitions("orders")] == [
        each.replicas[0] for each in cluster.partitions("orders")
    ]
    assert cluster == pw.Cluster(brokers, {"orders": count}, replication_factor=factor)
    assert pickle.loads(pickle.dumps(cluster)) == cluster  # noqa: S301 - our own


def test_brokers_of_racks_and_topics_of_both_kinds() -> None:
    brokers: list[Broker | int] = [Broker(1, rack="a"), Broker(2, rack="b"), 3]
    cluster = pw.Cluster(brokers, {"orders": 4, "users": [Partition(0, leader=3)]})
    assert [broker.id for broker in cluster.brokers] == [1, 2, 3]
    assert Placement.of(cluster, "orders").replicas == striped(brokers, 4).replicas
    assert cluster.leader_of("users", 0) == Broker(3)


@pytest.mark.parametrize(
    ("arguments", "more", "sentence"),
    [
        (([1, 2], {"t": 3}), {"replication_factor": 3}, "3 replicas of a partition need as many brokers"),
        (([1, 2], {"t": 3}), {"replication_factor": 0}, "replication_factor is a whole number"),
        (
            ([1], {"t": 0}),
            {},
            "topic 't': the number of partitions is a whole number from 1 to 1000000, not 0",
        ),
        (([1], {"t": True}), {}, "topic 't': the number of partitions is a whole number"),
        (([1], {"t": 1_000_000, "u": 1}), {}, "1000001 partitions"),
        (([], {"t": 1}), {}, "brokers is empty"),
        ((["x"], {"t": 1}), {}, "a broker's id is a whole number, 0 to 2147483647, not 'x'"),
        (([1, 1], {"t": 1}), {}, "brokers has 1 twice"),
        (
            ([1], {"t": [Partition(0)]}),
            {"replication_factor": 1},
            "replication_factor is for topics that are numbers",
        ),
        (([1], {"": 1}), {}, "a topic's name is text"),
    ],
)
def test_what_cannot_be_placed_is_refused(arguments: Any, more: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError, match=sentence):
        pw.Cluster(*arguments, **more)
