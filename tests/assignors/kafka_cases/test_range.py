"""Cases of RangeAssignorTest, rebuilt from their facts."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest

import partwright as pw

Racks: TypeAlias = dict[str, list[list[str | None]]]
ANYWHERE = [("", "abcde"), ("abc", ""), ("abc", "abc")]
"""Racks of brokers and of members which say nothing, as every replica set is in all."""
TWO = ["topic1", "topic2"]


def assigned(
    topics: dict[str, int], members: list[dict[str, Any]], racks: Racks | None = None
) -> dict[str, str]:
    found = pw.assign(topics, members, "range", racks=racks).to_dict()
    return {
        name: " ".join(f"{topic}-{partition}" for topic, partition in sorted(given))
        for name, given in found.items()
    }


def everywhere(topics: dict[str, int], brokers: str) -> Racks:
    return {topic: [[*brokers] or [None] * 3 for _ in range(count)] for topic, count in topics.items()}


@pytest.mark.parametrize(("brokers", "racks"), ANYWHERE)
@pytest.mark.parametrize(
    ("topics", "subscriptions", "wanted"),
    [
        pytest.param({}, [""], [""], id="testOneConsumerNoTopic"),
        pytest.param({}, ["topic1"], [""], id="testOneConsumerNonexistentTopic"),
        pytest.param({"topic1": 3}, ["topic1"], ["topic1-0 topic1-1 topic1-2"], id="testOneConsumerOneTopic"),
        pytest.param(
            {"topic1": 3, "other": 3},
            ["topic1"],
            ["topic1-0 topic1-1 topic1-2"],
            id="testOnlyAssignsPartitionsFromSubscribedTopics",
        ),
        pytest.param(
            {"topic1": 1, "topic2": 2},
            ["topic1 topic2"],
            ["topic1-0 topic2-0 topic2-1"],
            id="testOneConsumerMultipleTopics",
        ),
        pytest.param(
            {"topic1": 1}, ["topic1"] * 2, ["topic1-0", ""], id="testTwoConsumersOneTopicOnePartition"
        ),
        pytest.param(
            {"topic1": 2},
            ["topic1"] * 2,
            ["topic1-0", "topic1-1"],
            id="testTwoConsumersOneTopicTwoPartitions",
        ),
        pytest.param(
            {"topic1": 3, "topic2": 2},
            ["topic1", "topic1 topic2", "topic1"],
            ["topic1-0", "topic1-1 topic2-0 topic2-1", "topic1-2"],
            id="testMultipleConsumersMixedTopics",
        ),
        pytest.param(
            {"topic1": 3, "topic2": 3},
            ["topic1 topic2"] * 2,
            ["topic1-0 topic1-1 topic2-0 topic2-1", "topic1-2 topic2-2"],
            id="testTwoConsumersTwoTopicsSixPartitions",
        ),
    ],
)
def test_plain(
    topics: dict[str, int], subscriptions: list[str], wanted: list[str], brokers: str, racks: str
) -> None:
    """The test after which each case is named."""
    group = [
        {"id": f"consumer{number}", "topics": subscribed.split(), "rack": racks[number] if racks else None}
        for number, subscribed in enumerate(subscriptions)
    ]
    assert list(assigned(topics, group, everywhere(topics, brokers)).values()) == wanted


@pytest.mark.parametrize("instance", [None, "instance2"])
def test_a_static_member_comes_first(instance: str | None) -> None:
    """testTwoStaticConsumers…, and testOneStaticConsumerAndOneDynamicConsumerTwoTopicsSixPartitions."""
    group = [
        {"id": "consumer-b", "topics": TWO, "instance_id": "instance1"},
        {"id": "consumer-a", "topics": TWO, "instance_id": instance},
    ]
    assert assigned({"topic1": 3, "topic2": 3}, group) == {
        "consumer-b": "topic1-0 topic1-1 topic2-0 topic2-1",
        "consumer-a": "topic1-2 topic2-2",
    }


@pytest.mark.parametrize("last", ["consumer4", "consumer5"])
def test_static_members_keep_theirs(last: str) -> None:
    """testStaticMemberRangeAssignmentPersistent: one dynamic member leaves, and another joins."""
    group = [
        {"id": f"consumer{number}", "topics": TWO, "instance_id": f"instance{number}"} for number in (1, 2, 3)
    ]
    assert assigned({"topic1": 5, "topic2": 4}, [*group, {"id": last, "topics": TWO}]) == {
        "consumer1": "topic1-0 topic1-1 topic2-0",
        "consumer2": "topic1-2 topic2-1",
        "consumer3": "topic1-3 topic2-2",
        last: "topic1-4 topic2-3",
    }


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
def test_static_members_keep_theirs_under_new_ids(
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
    assert list(assigned(topics, group, racks).values()) == wanted
