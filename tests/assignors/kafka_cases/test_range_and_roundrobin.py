"""Cases of RangeAssignorTest and RoundRobinAssignorTest, rebuilt from their facts."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest

import partwright as pw

Racks: TypeAlias = dict[str, list[list[str | None]]]
ANYWHERE = [("range", "", "abcde"), ("range", "abc", ""), ("range", "abc", "abc"), ("roundrobin", "", "")]
"""Assignors, with racks of brokers and of members which say nothing, as every replica set is in all."""
TWO = ["topic1", "topic2"]
SIX = {"topic1": 3, "topic2": 3}
SHARED = {
    "range": ["topic1-0 topic1-1 topic2-0 topic2-1", "topic1-2 topic2-2"],
    "roundrobin": ["topic1-0 topic1-2 topic2-1", "topic1-1 topic2-0 topic2-2"],
}
"""How two members share the six partitions."""


def assigned(
    assignor: str, topics: dict[str, int], members: list[dict[str, Any]], racks: Racks | None = None
) -> dict[str, str]:
    found = pw.assign(topics, members, assignor, racks=racks).to_dict()
    # The order of a list is a fact of RoundRobinAssignorTest alone.
    return {
        name: " ".join(
            f"{topic}-{partition}" for topic, partition in (sorted(given) if assignor == "range" else given)
        )
        for name, given in found.items()
    }


def everywhere(topics: dict[str, int], brokers: str) -> Racks:
    return {topic: [[*brokers] or [None] * 3 for _ in range(count)] for topic, count in topics.items()}


@pytest.mark.parametrize(("assignor", "brokers", "racks"), ANYWHERE)
@pytest.mark.parametrize(
    ("topics", "subscriptions", "wanted"),
    [
        pytest.param({}, [""], [""], id="testOneConsumerNoTopic"),
        pytest.param({}, ["topic1"], [""], id="testOneConsumerNonexistentTopic"),
        pytest.param({"topic1": 3}, ["topic1"], ["topic1-0 topic1-1 topic1-2"], id="testOneConsumerOneTopic"),
        pytest.param({"topic1": 3, "other": 3}, ["topic1"], ["topic1-0 topic1-1 topic1-2"],
                     id="testOnlyAssignsPartitionsFromSubscribedTopics"),
        pytest.param({"topic1": 1, "topic2": 2}, ["topic1 topic2"], ["topic1-0 topic2-0 topic2-1"],
                     id="testOneConsumerMultipleTopics"),
        pytest.param({"topic1": 1}, ["topic1"] * 2, ["topic1-0", ""], id="testTwoConsumersOneTopicOnePartition"),
        pytest.param({"topic1": 2}, ["topic1"] * 2, ["topic1-0", "topic1-1"],
                     id="testTwoConsumersOneTopicTwoPartitions"),
        pytest.param({"topic1": 3, "topic2": 2}, ["topic1", "topic1 topic2", "topic1"],
                     ["topic1-0", "topic1-1 topic2-0 topic2-1", "topic1-2"], id="testMultipleConsumersMixedTopics"),
        pytest.param(SIX, ["topic1 topic2"] * 2, SHARED, id="testTwo(Dynamic)ConsumersTwoTopicsSixPartitions"),
    ],
)  # fmt: skip
def test_plain(
    topics: dict[str, int], subscriptions: list[str], wanted: Any, assignor: str, brokers: str, racks: str
) -> None:
    """The test after which each case is named."""
    group = [
        {"id": f"consumer{number}", "topics": subscribed.split(), "rack": racks[number] if racks else None}
        for number, subscribed in enumerate(subscriptions)
    ]
    kept = everywhere(topics, brokers) if assignor == "range" else None
    found = list(assigned(assignor, topics, group, kept).values())
    assert found == (wanted[assignor] if wanted is SHARED else wanted)


@pytest.mark.parametrize("assignor", SHARED)
@pytest.mark.parametrize("instance", [None, "instance2"])
def test_a_static_member_comes_first(assignor: str, instance: str | None) -> None:
    """testTwoStaticConsumers…, and testOneStaticConsumerAndOneDynamicConsumerTwoTopicsSixPartitions."""
    group = [
        {"id": "consumer-b", "topics": TWO, "instance_id": "instance1"},
        {"id": "consumer-a", "topics": TWO, "instance_id": instance},
    ]
    found = assigned(assignor, SIX, group)
    assert found == dict(zip(("consumer-b", "consumer-a"), SHARED[assignor], strict=True))


@pytest.mark.parametrize("last", ["consumer4", "consumer5"])
@pytest.mark.parametrize(
    ("assignor", "topics", "wanted"),
    [
        ("range", {"topic1": 5, "topic2": 4},
         ["topic1-0 topic1-1 topic2-0", "topic1-2 topic2-1", "topic1-3 topic2-2", "topic1-4 topic2-3"]),
        ("roundrobin", SIX, ["topic1-0 topic2-1", "topic1-1 topic2-2", "topic1-2", "topic2-0"]),
    ],
)  # fmt: skip
def test_static_members_keep_theirs(
    assignor: str, topics: dict[str, int], wanted: list[str], last: str
) -> None:
    """testStaticMember…AssignmentPersistent: one dynamic member leaves, and another joins."""
    group = [
        {"id": f"consumer{number}", "topics": TWO, "instance_id": f"instance{number}"} for number in (1, 2, 3)
    ]
    found = assigned(assignor, topics, [*group, {"id": last, "topics": TWO}])
    assert found == dict(zip(("consumer1", "consumer2", "consumer3", last), wanted, strict=True))


@pytest.mark.parametrize("ids", [(1, 2, 3), (1, 5, 4)])
@pytest.mark.parametrize(
    ("brokers", "wanted"),
    [
        (
            "",
            [
                "topic1-0 topic1-1 topic2-0 topic2-1",
                "topic1-2 topic1-3 topic2-2 topic2-3",
                "topic1-4 topic2-4",
            ],
        ),
        (
            "abc",
            [
                "topic1-0 topic1-2 topic2-0 topic2-2",
                "topic1-1 topic1-3 topic2-1 topic2-3",
                "topic1-4 topic2-4",
            ],
        ),
    ],
)
def test_static_members_of_range_keep_theirs_under_new_ids(
    brokers: str, wanted: list[str], ids: tuple[int, int, int]
) -> None:
    """testStaticMemberRangeAssignmentPersistentAfterMemberIdChanges, and testRackAwareStaticMember… of that name."""
    topics = {"topic1": 5, "topic2": 5}
    racks: Racks | None = (
        {topic: [[brokers[at % 3], brokers[(at + 1) % 3]] for at in range(5)] for topic in topics}
        if brokers
        else None
    )
    group = [
        {"id": f"consumer{number}", "topics": TWO, "instance_id": f"instance{place}", "rack": rack}
        for place, (number, rack) in enumerate(zip(ids, "abc", strict=True), 1)
    ]
    assert list(assigned("range", topics, group, racks).values()) == wanted


@pytest.mark.parametrize("ids", [(1, 2, 3), (1, 5, 4), (4, 5, 1)])
def test_static_members_of_roundrobin_keep_theirs_under_new_ids(ids: tuple[int, int, int]) -> None:
    """testStaticMemberRoundRobinAssignmentPersistentAfterMemberIdChanges."""
    group = [
        {"id": f"consumer{number}", "topics": TWO, "instance_id": f"instance{place}"}
        for place, number in enumerate(ids, 1)
    ]
    assert list(assigned("roundrobin", {"topic1": 5, "topic2": 5}, group).values()) == [
        "topic1-0 topic1-3 topic2-1 topic2-4",
        "topic1-1 topic1-4 topic2-2",
        "topic1-2 topic2-0 topic2-3",
    ]
