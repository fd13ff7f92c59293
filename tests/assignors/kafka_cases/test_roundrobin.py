"""Cases of RoundRobinAssignorTest, rebuilt from their facts: the order of each list is part of them."""

from __future__ import annotations

from typing import Any

import pytest

import partwright as pw

TWO = ["topic1", "topic2"]


def assigned(topics: dict[str, int], members: list[dict[str, Any]]) -> dict[str, str]:
    found = pw.assign(topics, members, "roundrobin").to_dict()
    return {
        name: " ".join(f"{topic}-{partition}" for topic, partition in given) for name, given in found.items()
    }


@pytest.mark.parametrize(
    ("topics", "subscriptions", "wanted"),
    [
        pytest.param({}, [""], [""], id="testOneConsumerNoTopic"),
        pytest.param({}, ["topic"], [""], id="testOneConsumerNonexistentTopic"),
        pytest.param({"topic": 3}, ["topic"], ["topic-0 topic-1 topic-2"], id="testOneConsumerOneTopic"),
        pytest.param(
            {"topic": 3, "other": 3},
            ["topic"],
            ["topic-0 topic-1 topic-2"],
            id="testOnlyAssignsPartitionsFromSubscribedTopics",
        ),
        pytest.param(
            {"topic1": 1, "topic2": 2},
            ["topic1 topic2"],
            ["topic1-0 topic2-0 topic2-1"],
            id="testOneConsumerMultipleTopics",
        ),
        pytest.param({"topic": 1}, ["topic"] * 2, ["topic-0", ""], id="testTwoConsumersOneTopicOnePartition"),
        pytest.param(
            {"topic": 2}, ["topic"] * 2, ["topic-0", "topic-1"], id="testTwoConsumersOneTopicTwoPartitions"
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
            ["topic1-0 topic1-2 topic2-1", "topic1-1 topic2-0 topic2-2"],
            id="testTwoDynamicConsumersTwoTopicsSixPartitions",
        ),
    ],
)
def test_plain(topics: dict[str, int], subscriptions: list[str], wanted: list[str]) -> None:
    """The test after which each case is named."""
    group = [
        {"id": f"consumer{number}", "topics": subscribed.split()}
        for number, subscribed in enumerate(subscriptions, 1)
    ]
    assert list(assigned(topics, group).values()) == wanted


@pytest.mark.parametrize("instance", [None, "instance2"])
def test_a_static_member_comes_first(instance: str | None) -> None:
    """testTwoStaticConsumers…, and testOneStaticConsumerAndOneDynamicConsumerTwoTopicsSixPartitions."""
    group = [
        {"id": "consumer-b", "topics": TWO, "instance_id": "instance1"},
        {"id": "consumer-a", "topics": TWO, "instance_id": instance},
    ]
    assert assigned({"topic1": 3, "topic2": 3}, group) == {
        "consumer-b": "topic1-0 topic1-2 topic2-1",
        "consumer-a": "topic1-1 topic2-0 topic2-2",
    }


@pytest.mark.parametrize("last", ["consumer4", "consumer5"])
def test_static_members_keep_theirs(last: str) -> None:
    """testStaticMemberRoundRobinAssignmentPersistent: one dynamic member leaves, and another joins."""
    group = [
        {"id": f"consumer{number}", "topics": TWO, "instance_id": f"instance{number}"} for number in (1, 2, 3)
    ]
    assert assigned({"topic1": 3, "topic2": 3}, [*group, {"id": last, "topics": TWO}]) == {
        "consumer1": "topic1-0 topic2-1",
        "consumer2": "topic1-1 topic2-2",
        "consumer3": "topic1-2",
        last: "topic2-0",
    }


@pytest.mark.parametrize("ids", [(1, 2, 3), (1, 5, 4), (4, 5, 1)])
def test_static_members_keep_theirs_under_new_ids(ids: tuple[int, int, int]) -> None:
    """testStaticMemberRoundRobinAssignmentPersistentAfterMemberIdChanges."""
    group = [
        {"id": f"consumer{number}", "topics": TWO, "instance_id": f"instance{place}"}
        for place, number in enumerate(ids, 1)
    ]
    assert list(assigned({"topic1": 5, "topic2": 5}, group).values()) == [
        "topic1-0 topic1-3 topic2-1 topic2-4",
        "topic1-1 topic1-4 topic2-2",
        "topic1-2 topic2-0 topic2-3",
    ]
