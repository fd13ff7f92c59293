"""Exact cases of AbstractStickyAssignorTest and of its two subclasses, rebuilt from their facts."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest


def sets(found: dict[str, str]) -> dict[str, set[str]]:
    return {name: set(given.split()) for name, given in found.items()}


@pytest.mark.parametrize(
    ("topics", "subscriptions", "wanted"),
    [
        pytest.param({}, [""], [""], id="testOneConsumerNoTopic"),
        pytest.param({"topic": 0}, ["topic"], [""], id="testOneConsumerNonexistentTopic"),
        pytest.param({"topic": 3}, ["topic"], ["topic-0 topic-1 topic-2"], id="testOneConsumerOneTopic"),
        pytest.param(
            {"topic1": 1, "topic2": 2},
            ["topic1 topic2"],
            ["topic1-0 topic2-0 topic2-1"],
            id="testOneConsumerMultipleTopics",
        ),
        pytest.param(
            {"topic": 2}, ["topic"] * 2, ["topic-0", "topic-1"], id="testTwoConsumersOneTopicTwoPartitions"
        ),
        pytest.param(
            {"topic1": 3, "topic2": 2},
            ["topic1", "topic1 topic2", "topic1"],
            ["topic1-0 topic1-2", "topic2-0 topic2-1", "topic1-1"],
            id="testMultipleConsumersMixedTopicSubscriptions",
        ),
        pytest.param(
            {"topic1": 3, "topic2": 3},
            ["topic1 topic2"] * 2,
            ["topic1-0 topic1-2 topic2-1", "topic1-1 topic2-0 topic2-2"],
            id="testTwoConsumersTwoTopicsSixPartitions",
        ),
    ],
)
def test_first_assignments(
    story: Any, topics: dict[str, int], subscriptions: list[str], wanted: list[str]
) -> None:
    """The AbstractStickyAssignorTest after which each case is named."""
    story.topics = topics
    for number, subscribed in enumerate(subscriptions, 1):
        story.joins(f"consumer{number}", subscribed)
    assert list(story.round().values()) == wanted
    assert story.is_level()
    assert not story.withheld


def test_one_partition_for_two(story: Any) -> None:
    """testTwoConsumersOneTopicOnePartition."""
    story.topics = {"topic": 1}
    story.joins("consumer1", "topic")
    story.joins("consumer2", "topic")
    assert sorted(story.round().values()) == ["", "topic-0"]


def test_what_is_owned_of_other_topics_is_lost(story: Any) -> None:
    """testOnlyAssignsPartitionsFromSubscribedTopics."""
    story.topics = {"topic": 2}
    story.joins("consumer", "topic", "topic-0 topic-1 other-0 other-1", 1)
    assert story.round() == {"consumer": "topic-0 topic-1"}


@pytest.mark.parametrize(
    ("topics", "owned", "wanted", "withheld"),
    [
        pytest.param(
            {"topic1": 2, "topic2": 3},
            ["topic1-0 topic2-1", "topic1-1 topic2-2"],
            ["topic1-0 topic2-1 topic2-0", "topic1-1 topic2-2"],
            "",
            id="testConsumerOwningMinQuotaExpectedMaxQuota",
        ),
        pytest.param(
            {"topic1": 2, "topic2": 2},
            ["topic1-0 topic2-0", "topic1-1 topic2-1", ""],
            ["topic1-0", "topic1-1 topic2-1", "topic2-0"],
            "topic2-0",
            id="testMaxQuotaConsumerMoreThanNumExpectedMaxCapacityMembers",
        ),
        pytest.param(
            {"topic1": 2, "topic2": 3},
            ["topic1-0", "topic1-1", ""],
            ["topic1-0 topic2-1", "topic1-1 topic2-2", "topic2-0"],
            "",
            id="testAllConsumersAreUnderMinQuota",
        ),
        pytest.param(
            {"topic": 4},
            ["topic-0 topic-1", "topic-2", ""],
            ["topic-0 topic-1", "topic-2", "topic-3"],
            "",
            id="testAllConsumersReachExpectedQuotaAndAreConsideredFilled",
        ),
        pytest.param(
            {"topic": 3},
            ["topic-0 topic-1", "topic-0 topic-2", ""],
            ["topic-1", "topic-2", "topic-0"],
            "topic-0",
            id="testPartitionsTransferringOwnershipIncludeThePartitionClaimedByMultipleConsumersInSameGeneration",
        ),
    ],
)
def test_quotas(
    story: Any, topics: dict[str, int], owned: list[str], wanted: list[str], withheld: str
) -> None:
    """The AbstractStickyAssignorTest after which each case is named, including the partitions that change hands."""
    story.topics = topics
    for number, had in enumerate(owned, 1):
        story.joins(f"consumer{number}", " ".join(topics), had, 1)
    assert list(story.round().values()) == wanted
    assert story.is_level()
    assert story.withheld == (set(withheld.split()) if story.assignor == "cooperative-sticky" else set())


@pytest.mark.parametrize(("count", "first"), [(3, "topic-1"), (4, "topic-1 topic-3")])
def test_claimed_by_two_in_one_generation(story: Any, count: int, first: str) -> None:
    """testAllConsumersHaveOwnedPartitionInvalidatedWhenClaimedBy… of StickyAssignorTest and its cooperative twin."""
    story.topics = {"topic": count}
    story.joins("consumer1", "topic", "topic-0 topic-1", 1)
    story.joins("consumer2", "topic", "topic-0 topic-2", 1)
    story.joins("consumer3", "topic", "", 1)
    story.round()
    third = "topic-0" if story.assignor == "sticky" else ""
    assert story.first == {"consumer1": first, "consumer2": "topic-2", "consumer3": third}
    assert story.is_level()


def test_members_of_one_topic_come_and_go(story: Any) -> None:
    """testAddRemoveConsumerOneTopic."""
    cooperative = story.assignor == "cooperative-sticky"
    story.topics = {"topic": 3}
    story.joins("consumer1", "topic")
    assert story.round() == {"consumer1": "topic-0 topic-1 topic-2"}
    story.keep()
    story.joins("consumer2", "topic", "", 1)
    assert story.round() == {"consumer1": "topic-0 topic-1", "consumer2": "topic-2"}
    assert story.withheld == ({"topic-2"} if cooperative else set())
    story.keep()
    story.leaves("consumer1")
    assert sets(story.round()) == {"consumer2": {"topic-0", "topic-1", "topic-2"}}
    assert not story.withheld


def test_members_of_two_topics_come_and_go(story: Any) -> None:
    """testAddRemoveTwoConsumersTwoTopics, as it is since KAFKA-16277."""
    cooperative, both = story.assignor == "cooperative-sticky", "topic1 topic2"
    story.topics = {"topic1": 3, "topic2": 4}
    story.joins("consumer1", both)
    story.joins("consumer2", both)
    assert story.round() == {
        "consumer1": "topic1-0 topic1-2 topic2-1 topic2-3",
        "consumer2": "topic1-1 topic2-0 topic2-2",
    }
    story.keep()
    story.joins("consumer3", both, "", 1)
    story.joins("consumer4", both, "", 1)
    assert story.round() == {
        "consumer1": "topic1-0 topic2-1",
        "consumer2": "topic2-0 topic1-1",
        "consumer3": "topic1-2 topic2-3",
        "consumer4": "topic2-2",
    }
    assert story.withheld == ({"topic1-2", "topic2-3", "topic2-2"} if cooperative else set())
    story.keep()
    story.leaves("consumer1", "consumer2")
    assert story.round() == {
        "consumer3": "topic1-2 topic2-3 topic1-0 topic2-1",
        "consumer4": "topic2-2 topic1-1 topic2-0",
    }
    assert not story.withheld


@pytest.mark.parametrize(
    ("generation", "claims", "wanted"),
    [
        pytest.param(
            9,
            ("topic-0 topic-2 topic2-1", "topic-0 topic-2 topic2-1"),
            ("topic-0 topic-2 topic2-1", "topic-1 topic2-0 topic2-2"),
            id="testOwnedPartitionsAreInvalidatedForConsumerWithStaleGeneration",
        ),
        pytest.param(
            -1,
            ("topic-0 topic-2 topic2-1", "topic-0 topic-2 topic2-1"),
            ("topic-0 topic-2 topic2-1", "topic-1 topic2-0 topic2-2"),
            id="testOwnedPartitionsAreInvalidatedForConsumerWithNoGeneration",
        ),
        pytest.param(
            8,
            ("topic-0 topic2-1 topic-1", "topic-0 topic2-1 topic2-2"),
            ("topic-0 topic2-1 topic-1", "topic-2 topic2-2 topic2-0"),
            id="testOwnedPartitionsAreInvalidatedForConsumerWithMultipleGeneration",
        ),
    ],
)
def test_the_later_generation_keeps_what_both_claim(
    story: Any, generation: int, claims: tuple[str, str], wanted: tuple[str, str]
) -> None:
    """The AbstractStickyAssignorTest after which each case is named: consumer1 is of generation 10."""
    story.topics = {"topic": 3, "topic2": 3}
    story.joins("consumer1", "topic topic2", claims[0], 10)
    story.joins("consumer2", "topic topic2", claims[1], generation)
    story.round()
    assert list(sets(story.first).values()) == [set(each.split()) for each in wanted]
    assert not story.withheld


def test_three_generations(story: Any) -> None:
    """testEnsurePartitionsAssignedToHighestGeneration."""
    story.topics = {"topic": 3, "topic2": 3, "topic3": 3}
    story.joins("consumer1", " ".join(story.topics), "topic-0 topic2-0 topic3-0", 10)
    story.joins("consumer2", " ".join(story.topics), "topic-1 topic2-1 topic3-1", 9)
    story.joins("consumer3", " ".join(story.topics), "topic2-1 topic3-0 topic3-2", 8)
    story.round()
    wanted = {f"consumer{at + 1}": {f"topic-{at}", f"topic2-{at}", f"topic3-{at}"} for at in range(3)}
    assert sets(story.first) == wanted
    assert not story.withheld


def test_current_members_keep_theirs(story: Any) -> None:
    """testNoReassignmentOnCurrentMembers."""
    story.topics = {"topic": 3, "topic1": 3, "topic2": 3, "topic3": 3}
    every = "topic topic2 topic3 topic1"
    story.joins("consumer1", every, "", -1)
    story.joins("consumer2", every, "topic-0 topic2-0 topic1-0", 9)
    story.joins("consumer3", every, "topic3-2 topic2-2 topic1-1", 8)
    story.joins("consumer4", every, "topic3-1 topic-1 topic-2", 7)
    story.round()
    assert sets(story.first)["consumer1"] == {"topic1-2", "topic2-1", "topic3-0"}
    assert not story.withheld


@pytest.mark.parametrize("generations", list(permutations((1, 2, 3))))
def test_one_partition_claimed_in_three_generations(story: Any, generations: tuple[int, int, int]) -> None:
    """testSubscriptionNotEqualAndAssignSamePartitionWith3Generation."""
    story.topics = {"topic": 6, "topic1": 1}
    story.joins("consumer1", "topic", "topic-0 topic-2", generations[0])
    story.joins("consumer2", "topic", "topic-1 topic-2 topic-3", generations[1])
    story.joins("consumer3", "topic", "topic-2 topic-4 topic-5", generations[2])
    story.joins("consumer4", "topic1", "topic1-0", 2)
    story.round()
    given = [pair for pairs in story.first.values() for pair in pairs.split()]
    assert len(given) == len(set(given))
    assert {len(pairs.split()) for pairs in story.first.values()} <= {1, 2}


def test_members_of_older_protocols(story: Any) -> None:
    """testAssignorWithOldVersionSubscriptions: the protocols differ only in the bytes."""
    story.topics = {"topic1": 3}
    for number, owned in enumerate(("topic1-0", "topic1-1", ""), 1):
        story.joins(f"consumer{number}", "topic1", owned, 1)
    assert list(story.round().values()) == ["topic1-0", "topic1-1", "topic1-2"]


@pytest.mark.parametrize("assignor", ["sticky"])
def test_a_member_that_knows_no_generation(story: Any) -> None:
    """testSchemaBackwardCompatibility of StickyAssignorTest."""
    story.topics = {"topic": 3}
    story.joins("consumer1", "topic", "topic-0 topic-2", 1)
    story.joins("consumer2", "topic", "topic-1")
    story.joins("consumer3", "topic")
    found = story.round()
    assert found["consumer1"] in {"topic-0", "topic-2"}
    assert found["consumer2"] == "topic-1"
    assert story.is_level()
