"""Cases of AbstractStickyAssignorTest and StickyAssignorTest that give no lists, but demand balance and stickiness."""

from __future__ import annotations

import random
from typing import Any

import pytest


def sets(found: dict[str, str]) -> dict[str, set[str]]:
    return {name: set(given.split()) for name, given in found.items()}


def sizes(found: dict[str, str]) -> list[int]:
    return sorted(len(given.split()) for given in found.values())


def test_topics_stay_balanced(story: Any) -> None:
    """testTopicBalanceAfterReassignment, of KAFKA-16277."""
    story.topics = {"topic1": 12, "topic2": 12}
    for joining, leaving, each in (("1", "", 12), ("2", "", 6), ("34", "", 3), ("", "12", 6)):
        story.keep()
        for number in joining:
            story.joins(f"consumer{number}", "topic1 topic2", "", 1)
        story.leaves(*(f"consumer{number}" for number in leaving))
        found = story.round()
        assert {(given.count("topic1-"), given.count("topic2-")) for given in found.values()} == {
            (each, each)
        }
    assert not story.withheld


def test_where_round_robin_is_poor(story: Any) -> None:
    """testPoorRoundRobinAssignmentScenario."""
    story.topics = {f"topic{number}": number % 2 + 1 for number in range(1, 6)}
    for number, topics in enumerate(["12345", "135", "135", "12345"], 1):
        story.joins(f"consumer{number}", " ".join(f"topic{topic}" for topic in topics))
    assert sizes(story.round()) == [2, 2, 2, 2]


def test_topics_come_and_go(story: Any) -> None:
    """testAddRemoveTopicTwoConsumers."""

    def subscribe(*topics: str) -> dict[str, set[str]]:
        story.topics = dict.fromkeys(topics, 3)
        for number in (1, 2):
            member = story.members.get(f"consumer{number}")
            if member:
                member["topics"] = list(topics)
            else:
                story.joins(f"consumer{number}", " ".join(topics))
        found = sets(story.round())
        assert story.is_level()
        assert not story.withheld
        story.keep()
        return found

    one, both, other = subscribe("topic"), subscribe("topic", "topic2"), subscribe("topic2")
    assert all(one[name] < both[name] and other[name] < both[name] for name in both)
    assert [len(given) for given in both.values()] == [3, 3]


def test_one_of_many_leaves(story: Any) -> None:
    """testReassignmentAfterOneConsumerLeaves."""
    story.topics = {f"t{number:02}": number for number in range(1, 20)}
    for number in range(1, 20):
        story.joins(f"c{number:02}", " ".join(f"t{topic:02}" for topic in range(1, number + 1)))
    story.round()
    story.keep()
    story.leaves("c10")
    story.round()
    assert not story.swaps()


def test_one_joins_many(story: Any) -> None:
    """testReassignmentAfterOneConsumerAdded: no member reports what it owned."""
    story.topics = {"topic": 20}
    for number in range(1, 10):
        story.joins(f"c{number:02}", "topic")
    assert sizes(story.round()) == [2] * 7 + [3] * 2
    story.joins("c10", "topic")
    assert sizes(story.round()) == [2] * 10
    assert not story.withheld


def test_equal_subscriptions(story: Any) -> None:
    """testSameSubscriptions."""
    story.topics = {f"t{number:02}": number for number in range(1, 15)}
    for number in range(1, 9):
        story.joins(f"c{number}", " ".join(story.topics))
    first = sets(story.round())
    assert story.is_level()
    story.keep()
    story.leaves("c5")
    second = sets(story.round())
    assert story.is_level()
    assert not story.withheld
    assert all(first[name] <= second[name] for name in second)


def test_a_new_subscription(story: Any) -> None:
    """testNewSubscription."""
    story.topics = {f"t{number}": 1 for number in range(1, 5)}
    story.joins("c0", "")
    story.joins("c1", "t1")
    story.joins("c2", "t2 t3 t4")
    assert story.round() == {"c0": "", "c1": "t1-0", "c2": "t2-0 t3-0 t4-0"}
    story.members["c0"]["topics"].append("t1")
    assert sizes(story.round()) == [0, 1, 3]
    assert not story.swaps()


def test_owned_partitions_move(story: Any) -> None:
    """testMoveExistingAssignments."""
    story.topics = {f"topic{number}": 1 for number in range(1, 7)}
    story.joins("consumer1", "topic1 topic2", "topic1-0", 1)
    story.joins("consumer2", "topic1 topic2 topic3 topic4", "topic2-0 topic3-0", 1)
    story.joins("consumer3", "topic2 topic3 topic4 topic5 topic6", "topic4-0 topic5-0 topic6-0", 1)
    assert sum(sizes(story.round())) == 6
    assert not story.swaps()


def test_who_has_one_keeps_it(story: Any) -> None:
    """testStickiness."""
    story.topics = {"topic1": 3}
    for number in range(1, 5):
        story.joins(f"consumer{number}", "topic1")
    first = sets(story.round())
    assert sorted(map(len, first.values())) == [0, 1, 1, 1]
    story.keep()
    story.leaves("consumer1")
    second = sets(story.round())
    assert [len(given) for given in second.values()] == [1, 1, 1]
    assert all(first[name] <= second[name] for name in second)
    assert not story.withheld


def test_a_deleted_topic(story: Any) -> None:
    """testAssignmentUpdatedForDeletedTopic."""
    story.topics = {"topic1": 1, "topic3": 100}
    story.joins("consumer", "topic1 topic2 topic3")
    assert sizes(story.round()) == [101]
    assert not story.withheld


def test_the_only_topic_is_deleted(story: Any) -> None:
    """testNoExceptionThrownWhenOnlySubscribedTopicDeleted."""
    story.topics = {"topic": 3}
    story.joins("consumer", "topic")
    story.round()
    story.keep()
    story.topics = {}
    assert story.round() == {"consumer": ""}


@pytest.mark.parametrize("seed", range(3))
def test_fifty_of_two_hundred_leave(story: Any, seed: int) -> None:
    """testLargeAssignmentWithMultipleConsumersLeavingAndRandomSubscription."""
    drawn = random.Random(seed)
    story.topics = {f"t{number:02}": drawn.randint(1, 10) for number in range(40)}
    for number in range(200):
        # Some name a topic twice, as some do in Kafka's test.
        story.joins(f"c{number:03}", " ".join(drawn.choices(list(story.topics), k=drawn.randrange(20))))
    story.round()
    story.keep()
    story.members["c000"] |= {"owned": [], "generation": None}
    story.leaves(*drawn.sample(list(story.members), 50))
    story.round()
    assert not story.swaps()


@pytest.mark.parametrize("seed", range(34))
def test_subscriptions_change(story: Any, seed: int) -> None:
    """testReassignmentWithRandomSubscriptionsAndChanges."""
    drawn = random.Random(seed)
    story.topics = {f"t{number:02}": number + 1 for number in range(drawn.randrange(10, 20))}
    names = [f"c{number:02}" for number in range(drawn.randrange(20, 40))]

    def subscriptions() -> list[list[str]]:
        every = list(story.topics)
        return [sorted(drawn.sample(every, drawn.randint(1, len(every)))) for _ in names]

    for name, topics in zip(names, subscriptions(), strict=True):
        story.joins(name, " ".join(topics))
    story.round()
    story.keep()
    for name, topics in zip(names, subscriptions(), strict=True):
        story.members[name]["topics"] = topics
    story.round()
    assert not story.swaps()


@pytest.mark.parametrize("assignor", ["sticky"])
@pytest.mark.parametrize("equal", [True, False])
class TestGenerations:
    """StickyAssignorTest, where all subscribe to all, and where some do not."""

    def test_two_of_three_stay(self, story: Any, equal: bool) -> None:
        """testAssignmentWithMultipleGenerations1."""
        both = "topic topic2"
        story.topics = {"topic": 6, "topic2": 6}
        for number, topics in enumerate([both, both if equal else "topic", both], 1):
            story.joins(f"consumer{number}", topics)
        found = story.round()
        first = sets(found)
        assert sizes(found) == [4, 4, 4]
        story.keep()
        left = story.members.pop("consumer3")
        found = story.round()
        second = sets(found)
        assert sizes(found) == [6, 6]
        assert not equal or first["consumer1"] <= second["consumer1"]
        assert first["consumer2"] <= second["consumer2"]
        assert second["consumer2"] & first["consumer3"]
        story.keep(generation=2)
        story.leaves("consumer1")
        story.members["consumer3"] = left
        assert sizes(story.round()) == [6, 6]

    def test_one_of_three_stays(self, story: Any, equal: bool) -> None:
        """testAssignmentWithMultipleGenerations2."""
        every = "topic topic2 topic3"
        story.topics = {"topic": 4, "topic2": 4, "topic3": 4}
        first_topics, third_topics = (every, every) if equal else ("topic", "topic topic2")
        for number, topics in enumerate([first_topics, every, third_topics], 1):
            story.joins(f"consumer{number}", topics)
        found = story.round()
        first = sets(found)
        assert sizes(found) == [4, 4, 4]
        story.keep()
        left = {name: story.members.pop(name) for name in ("consumer1", "consumer3")}
        found = story.round()
        assert sizes(found) == [12]
        assert first["consumer2"] <= sets(found)["consumer2"]
        story.keep(generation=2)
        story.members = {"consumer1": left["consumer1"]} | story.members | {"consumer3": left["consumer3"]}
        assert sizes(story.round()) == [4, 4, 4]

    def test_generations_conflict(self, story: Any, equal: bool) -> None:
        """testAssignmentWithConflictingPreviousGenerations."""
        every = "topic topic2 topic3"
        story.topics = {"topic": 4, "topic2": 4, "topic3": 4}
        owned = "topic-0 topic-1 topic-2 " + ("topic2-2 topic2-3 topic3-0" if equal else "topic-3")
        second = "topic-0 topic-1 topic2-0 topic2-1 topic2-2 topic2-3"
        third = "topic-2 topic-3 topic3-0 topic3-1 topic3-2 topic3-3"
        story.joins("consumer1", every if equal else "topic", owned, 1)
        story.joins("consumer2", every if equal else "topic topic2", second, 2)
        story.joins("consumer3", every, third, 2)
        found = story.round()
        assert sizes(found) == [4, 4, 4]
        assert sets(found)["consumer2"] <= set(second.split())
        assert sets(found)["consumer3"] <= set(third.split())
