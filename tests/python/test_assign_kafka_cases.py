"""Cases of Kafka's own tests, rebuilt from their facts: RangeAssignorTest and AbstractStickyAssignorTest."""

from __future__ import annotations

from typing import Any

import pytest

import partwright as pw

COUNTS = {"t1": 6, "t2": 7, "t3": 2}


def replicas(topics: dict[str, int], factor: int, racks: str) -> dict[str, list[list[str | None]]]:
    """Replica j of partition i lies on broker i + j + the number of partitions of the topics before, around."""
    placed: dict[str, list[list[str | None]]] = {}
    before = 0
    for topic, count in topics.items():
        placed[topic] = [
            [racks[(at + copy + before) % len(racks)] for copy in range(factor)] for at in range(count)
        ]
        before += count
    return placed


def members(subscriptions: list[list[str]], racks: str) -> list[dict[str, Any]]:
    return [
        {"id": f"consumer{number}", "topics": topics, "rack": rack}
        for number, (topics, rack) in enumerate(zip(subscriptions, racks, strict=True), 1)
    ]


def written(found: pw.Assignment) -> str:
    """As Kafka's tests write them: partitions sorted, members apart by a bar."""
    return " | ".join(
        ",".join(f"{topic}-{partition}" for topic, partition in sorted(pairs))
        for pairs in found.to_dict().values()
    )


@pytest.mark.parametrize(
    ("factor", "wanted"),
    [
        (1, "t1-0,t1-3,t2-0,t2-3,t2-6 | t1-1,t1-4,t2-1,t2-4,t3-0 | t1-2,t1-5,t2-2,t2-5,t3-1"),
        (2, "t1-0,t1-2,t2-0,t2-2,t2-3,t3-1 | t1-1,t1-3,t2-1,t2-4,t3-0 | t1-4,t1-5,t2-5,t2-6"),
    ],
)
def test_range_by_rack(factor: int, wanted: str) -> None:
    group = members([list(COUNTS)] * 3, "abc")
    assert written(pw.assign(COUNTS, group, "range", racks=replicas(COUNTS, factor, "abc"))) == wanted


@pytest.mark.parametrize(
    ("factor", "wanted"),
    [
        (0, "t1-5,t2-0,t2-2,t2-4,t2-6 | t1-3,t2-1,t2-3,t2-5,t3-0 | t1-0,t1-1,t1-2,t1-4,t3-1"),
        (1, "t1-3,t2-0,t2-2,t2-3,t2-6 | t1-4,t2-1,t2-4,t2-5,t3-0 | t1-0,t1-1,t1-2,t1-5,t3-1"),
        (2, "t1-3,t2-0,t2-2,t2-5,t2-6 | t1-0,t2-1,t2-3,t2-4,t3-0 | t1-1,t1-2,t1-4,t1-5,t3-1"),
    ],
)
def test_sticky_by_rack_with_unequal_subscriptions(factor: int, wanted: str) -> None:
    group = members([list(COUNTS), list(COUNTS), ["t1", "t3"]], "abc")
    assert written(pw.assign(COUNTS, group, "sticky", racks=replicas(COUNTS, factor, "abc"))) == wanted


@pytest.mark.parametrize(
    ("factor", "brokers", "wanted"),
    [
        (3, "ab", "t1-0,t1-1,t1-2,t2-0,t2-1,t2-2 | t1-3,t1-4,t1-5,t2-3,t2-4,t2-5 | t3-0,t4-0 | t3-1,t4-1"),
        (1, "ab", "t1-0,t1-2,t1-4,t2-0,t2-2,t2-4 | t1-1,t1-3,t1-5,t2-1,t2-3,t2-5 | t3-1,t4-1 | t3-0,t4-0"),
    ],
)
def test_range_keeps_topics_co_partitioned(factor: int, brokers: str, wanted: str) -> None:
    topics = {"t1": 6, "t2": 6, "t3": 2, "t4": 2}
    group = members([["t1", "t2"], ["t1", "t2"], ["t3", "t4"], ["t3", "t4"]], "abba")
    assert written(pw.assign(topics, group, "range", racks=replicas(topics, factor, brokers))) == wanted


def owning(*owned: str, generation: int = 1) -> list[dict[str, Any]]:
    """Members with what they own, written as `t1-0 t2-1`."""
    pairs = [[pair.split("-") for pair in each.split()] for each in owned]
    topics = ["t1", "t2"]
    return [
        {
            "id": f"consumer{number}",
            "topics": topics,
            "owned": [(topic, int(partition)) for topic, partition in each],
            "generation": generation,
        }
        for number, each in enumerate(pairs, 1)
    ]


@pytest.mark.parametrize(
    ("topics", "owned", "wanted"),
    [
        # In the order of Java's map, not of names: testMaxQuotaConsumerMoreThanNumExpectedMaxCapacityMembers.
        ({"t1": 2, "t2": 2}, ("t1-0 t2-0", "t1-1 t2-1", ""), "t1-0 | t1-1,t2-1 | t2-0"),
        # testConsumerOwningMinQuotaExpectedMaxQuota
        ({"t1": 2, "t2": 3}, ("t1-0 t2-1", "t1-1 t2-2"), "t1-0,t2-0,t2-1 | t1-1,t2-2"),
        # testAllConsumersAreUnderMinQuota
        ({"t1": 2, "t2": 3}, ("t1-0", "t1-1", ""), "t1-0,t2-1 | t1-1,t2-2 | t2-0"),
    ],
)
def test_quotas(topics: dict[str, int], owned: tuple[str, ...], wanted: str) -> None:
    assert written(pw.assign(topics, owning(*owned), "sticky")) == wanted


def test_what_two_claim_in_one_generation_goes_to_neither_at_once() -> None:
    """testPartitionsTransferringOwnershipIncludeThePartitionClaimedByMultipleConsumersInSameGeneration."""
    group = owning("t1-0 t1-1", "t1-0 t1-2", "")
    assert written(pw.assign({"t1": 3}, group, "sticky")) == "t1-1 | t1-2 | t1-0"
    assert written(pw.assign({"t1": 3}, group, "cooperative-sticky")) == "t1-1 | t1-2 | "
