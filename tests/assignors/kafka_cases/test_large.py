"""The large cases of AbstractStickyAssignorTest, which only has to end in time: here they must be balanced too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from partwright.assignors.group_assignment import assign_group
from partwright.assignors.members import Group, Owned

if TYPE_CHECKING:
    from partwright.assignors.assignment import Assignment

Racks: TypeAlias = dict[str, list[list[str | None]]]


def topics_of(count: int, partitions: int) -> dict[str, int]:
    return {f"t{number:0{len(str(count))}}": partitions for number in range(count)}


def members_of(subscriptions: list[list[str]], has_racks: bool) -> list[dict[str, Any]]:
    width = len(str(len(subscriptions)))
    return [
        {"id": f"c{number:0{width}}", "topics": topics, "rack": "abc"[number % 3] if has_racks else None}
        for number, topics in enumerate(subscriptions)
    ]


def racks_of(topics: dict[str, int], has_racks: bool) -> Racks | None:
    """Three replicas on nine brokers of three racks."""
    if not has_racks:
        return None
    around: list[list[str | None]] = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]
    return {
        topic: [around[(at + place) % 3] for at in range(count)]
        for place, (topic, count) in enumerate(topics.items())
    }


def check(found: Assignment, group: Group) -> tuple[Any, Any]:
    """Checks that a subscriber reads each partition, once. Returns each member's count, and each partition's reader."""
    pairs, readers = found.lists.values, pc.list_parent_indices(found.lists).cast(pa.int64())
    # All topics are of one size, so that the partitions are numbered without a gap.
    topics, size = pairs.field("topic").cast(pa.int64()), group.partitions[0].as_py()
    numbers = pc.add(pc.multiply(topics, size), pairs.field("partition").cast(pa.int64()))
    order = pc.sort_indices(numbers)
    inside = pc.and_(pc.less(pairs.field("partition"), size), pc.greater_equal(pairs.field("partition"), 0))
    assert len(numbers) == len(group.topics) * size
    assert pc.all(inside).as_py()
    assert pc.all(pc.equal(pc.pairwise_diff(numbers.take(order)), 1)).as_py()
    subscribers, names = pc.list_parent_indices(group.subscribed).cast(pa.int64()), len(group.topics)
    subscribed = pc.add(pc.multiply(subscribers, names), group.subscribed.values.cast(pa.int64()))
    read = pc.add(pc.multiply(readers, names), topics)
    assert pc.all(pc.is_in(read, value_set=subscribed)).as_py()
    return pc.list_value_length(found.lists), readers.take(order)


def spread(sizes: Any) -> int:
    found = pc.min_max(sizes).as_py()
    return int(found["max"] - found["min"])


def rounds(
    assignor: str, topics: dict[str, int], members: list[dict[str, Any]], racks: Racks | None
) -> list[tuple[Any, Any]]:
    """Two rounds, checked. In the second all members own what they got, except the first member, which owns nothing."""
    group = Group.of(topics, members, racks)
    first = assign_group(group, assignor)
    owned = Owned(["nobody", *first.members[1:]], first.topics, first.lists)
    again = Group.of(topics, members, racks, owned)
    return [check(first, group), check(assign_group(again, assignor), again)]


@pytest.mark.parametrize("last_reads_one_topic", [False, True])
@pytest.mark.parametrize("has_racks", [False, True])
def test_two_thousand_members(assignor: str, has_racks: bool, last_reads_one_topic: bool) -> None:
    """testLargeAssignmentAndGroupWithUniformSubscription, and testLargeAssignmentAndGroupWithNonEqualSubscription."""
    topics = topics_of(50 if has_racks else 500, 2000)
    subscriptions = [list(topics)] * 2000
    if last_reads_one_topic:
        subscriptions[-1] = subscriptions[-1][:1]
    members, racks = members_of(subscriptions, has_racks), racks_of(topics, has_racks)
    found = rounds(assignor, topics, members, racks)
    for sizes, _ in found:
        assert sizes.equals(pa.array([len(topics)] * 2000, pa.int32()))
    assert found[0][1].equals(found[1][1])


@pytest.mark.parametrize("has_racks", [False, True])
def test_five_hundred_members_in_two_camps(assignor: str, has_racks: bool) -> None:
    """testAssignmentAndGroupWithNonEqualSubscriptionNotTimeout, of KAFKA-15106."""
    topics = topics_of(50 if has_racks else 100, 200)
    names = list(topics)
    half = len(names) // 2
    subscriptions = [names[half:] if number % 4 else names[:half] for number in range(500)]
    members, racks = members_of(subscriptions, has_racks), racks_of(topics, has_racks)
    found = rounds(assignor, topics, members, racks)
    few = pa.array([number % 4 == 0 for number in range(500)])
    for sizes, _ in found:
        assert spread(sizes.filter(few)) == 0
        assert spread(sizes.filter(pc.invert(few))) == 1
    assert found[0][1].equals(found[1][1])
