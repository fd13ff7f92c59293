"""Cases of Kafka's own tests of the broker's assignors, rebuilt from their facts, IDs included.

UniformHomogeneousAssignmentBuilderTest and UniformHeterogeneousAssignmentBuilderTest,
RangeAssignorTest, SimpleAssignorTest.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest

import partwright as pw

IDS = {
    "1": "T1-A4s3VTwiI5CTbEp6POw",
    "2": "T2-B4s3VTwiI5YHbPp6YUe",
    "3": "T3-CU8fVTLCz5YMkLoDQsa",
    "4": "T4-Tw9fVTLCz5HbPp6YQsa",
}
Case: TypeAlias = tuple[str, dict[str, int], dict[str, tuple[str, str]], str]
"""A name, partitions by topic, by member its topics and what it owned (`1:02 2:0`), and what members have then."""


def pairs(text: str) -> list[tuple[str, int]]:
    return [(each[0], int(number)) for each in text.split() for number in each[2:]]


def group(members: dict[str, tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        {"id": name, "topics": list(topics), "owned": pairs(owned)}
        for name, (topics, owned) in members.items()
    ]


def check(case: Case, assignor: str, ids: dict[str, str] = IDS) -> None:
    _, topics, members, wanted = case
    found = pw.assign(topics, group(members), assignor, topic_ids=ids).to_dict()
    assert found == dict(zip(members, map(pairs, wanted.split("|")), strict=True))


UNIFORM: list[Case] = [
    # Equal subscriptions.
    ("first", {"1": 3, "3": 2}, {"A": ("13", ""), "B": ("13", "")}, "3:01|1:012"),
    ("more members", {"3": 2}, {"A": ("3", ""), "B": ("3", ""), "C": ("3", "")}, "|3:0|3:1"),
    (
        "partitions added",
        {"1": 6, "2": 5},
        {"A": ("12", "1:02 2:0"), "B": ("12", "1:1 2:12")},
        "1:02 2:034|1:1345 2:12",
    ),
    (
        "member removed",
        {"1": 3, "2": 3},
        {"A": ("12", "1:0 2:0"), "B": ("12", "1:1 2:1")},
        "1:0 2:02|1:12 2:1",
    ),
    ("unsubscribed", {"1": 2, "2": 2}, {"A": ("2", "1:0 2:0"), "B": ("2", "1:1 2:1")}, "2:0|2:1"),
    # Unequal ones.
    ("first, unequal", {"1": 3, "3": 6}, {"A": ("13", ""), "B": ("3", "")}, "1:012 3:4|3:01235"),
    (
        "more members, unequal",
        {"3": 1, "1": 2},
        {"A": ("3", ""), "B": ("3", ""), "C": ("1", "")},
        "3:0||1:01",
    ),
    (
        "unbalanced, unequal",
        {"1": 6, "2": 4, "3": 4},
        {"A": ("1", "1:012"), "B": ("12", "1:3 2:0"), "C": ("123", "1:45 2:123 3:0123")},
        "1:0125|1:3 2:0123|1:4 3:0123",
    ),
    (
        "partitions added, unequal",
        {"1": 6, "2": 5, "3": 3, "4": 3},
        {"A": ("13", "1:0123 3:01"), "B": ("1234", "2:012 4:012")},
        "1:012345 3:012|2:01234 4:012",
    ),
    (
        "member and partitions added",
        {"1": 6, "2": 7},
        {"A": ("1", "1:02 2:0"), "B": ("12", "1:1 2:12"), "C": ("12", "")},
        "1:02345|1:1 2:126|2:0345",
    ),
    (
        "member removed, unequal",
        {"1": 3, "2": 8, "3": 3},
        {"A": ("13", "1:012 3:01"), "B": ("2", "2:3456")},
        "1:012 3:012|2:01234567",
    ),
    (
        "unsubscribed, unequal",
        {"1": 3, "2": 5},
        {"A": ("1", "1:02 2:13"), "B": ("12", "1:1 2:024")},
        "1:012|2:01234",
    ),
    # Kafka's test gives equal subscriptions to the builder for unequal ones: here C makes them unequal.
    (
        "donors run out",
        {"1": 2, "2": 2, "3": 2},
        {"A": ("123", "1:01 2:01 3:01"), "B": ("123", ""), "C": ("", "")},
        "2:0 3:01|1:01 2:1|",
    ),
    ("one without topics", {"1": 3}, {"A": ("1", ""), "B": ("", "")}, "1:012|"),
]

# Kafka's tests have owned partitions in the order of the topics' names. With these IDs, a broker's map has it too.
ORDERED: list[Case] = [
    ("unbalanced", {"1": 3, "2": 3}, {"A": ("12", "1:01 2:01"), "B": ("12", "1:2 2:2")}, "1:01 2:0|1:2 2:12"),
    (
        "member added",
        {"1": 3, "2": 3},
        {"A": ("12", "1:02 2:0"), "B": ("12", "1:1 2:12"), "C": ("12", "")},
        "1:02|1:1 2:1|2:02",
    ),
]

RANGE: list[Case] = [
    ("first", {"1": 3, "3": 2}, {"A": ("13", ""), "B": ("13", "")}, "1:01 3:0|1:2 3:1"),
    (
        "first, unequal",
        {"1": 3, "2": 3, "3": 2},
        {"A": ("12", ""), "B": ("3", ""), "C": ("23", "")},
        "1:012 2:01|3:0|2:2 3:1",
    ),
    (
        "more members",
        {"1": 3, "3": 2},
        {"A": ("13", ""), "B": ("13", ""), "C": ("13", "")},
        "1:0 3:0|1:1 3:1|1:2",
    ),
    (
        "member added",
        {"1": 2, "2": 2},
        {"A": ("12", "1:0 2:0"), "B": ("12", "1:1 2:1"), "C": ("12", "")},
        "1:0 2:0|1:1 2:1|",
    ),
    (
        "partition added",
        {"1": 4, "2": 4},
        {"A": ("12", "1:01 2:01"), "B": ("12", "1:2 2:2")},
        "1:01 2:01|1:23 2:23",
    ),
    ("member removed", {"1": 3, "2": 3}, {"B": ("12", "1:2 2:2")}, "1:012 2:012"),
    (
        "unsubscribed",
        {"1": 3, "2": 3, "3": 2},
        {"A": ("1", "1:012 2:0"), "B": ("123", "2:1"), "C": ("2", "2:2 3:01")},
        "1:01|1:2 2:01 3:01|2:2",
    ),
]


@pytest.mark.parametrize("case", UNIFORM, ids=lambda case: case[0])
def test_uniform(case: Case) -> None:
    check(case, "server-uniform")


@pytest.mark.parametrize("case", ORDERED, ids=lambda case: case[0])
def test_uniform_keeps_what_comes_first(case: Case) -> None:
    check(case, "server-uniform", {"1": IDS["2"], "2": IDS["1"]})


@pytest.mark.parametrize("case", RANGE, ids=lambda case: case[0])
def test_range(case: Case) -> None:
    check(case, "server-range")


def test_uniform_is_even_over_many_topics() -> None:
    """testValidityAndBalanceForLargeSampleSet."""
    topics = {f"topic-{number}": 3 for number in range(1, 101)}
    members = {f"member{number}": list(topics) for number in range(1, 50)}
    found = pw.assign(topics, members, "server-uniform")
    assert (found.spread().min, found.spread().max) == (6, 7)
    assert len({pair for those in found.to_dict().values() for pair in those}) == 300


def test_range_sorts_static_members_first() -> None:
    """testMixedStaticMembership: members with an instance ID come first, in its order."""
    members = [
        {"id": "A", "topics": ["1"], "instance_id": "c"},
        {"id": "B", "topics": ["1"]},
        {"id": "C", "topics": ["1"], "instance_id": "a"},
    ]
    found = pw.assign({"1": 5}, members, "server-range", topic_ids=IDS).to_dict()
    assert found == {"A": pairs("1:23"), "B": pairs("1:4"), "C": pairs("1:01")}


def test_simple_leaves_nothing_to_who_reads_nothing() -> None:
    """testAssignWithOneMemberNoAssignedTopicHeterogeneous."""
    check(("", {"1": 3, "2": 2}, {"A": ("12", ""), "B": ("", "")}, "1:012 2:01|"), "server-simple")


@pytest.mark.parametrize(
    ("topics", "subscriptions"),
    [({"1": 24}, ["1"]), ({"1": 12, "2": 8, "3": 4}, ["123", "2", "3", "12"])],
    ids=["equal", "unequal"],
)
def test_simple_gives_every_partition_to_somebody(topics: dict[str, int], subscriptions: list[str]) -> None:
    """testIncrementalAssignment{Increasing,Decreasing}Members{Homogeneous,Heterogeneous}: 1 to 101 members and back."""
    before = None
    for size in [*range(1, 102), *range(100, 0, -1)]:
        members = {f"M{number}": list(subscriptions[number % len(subscriptions)]) for number in range(size)}
        before = pw.assign(topics, members, "server-simple", topic_ids=IDS, owned=before)
        read = {pair for those in before.to_dict().values() for pair in those}
        assert read == {(name, number) for name, count in topics.items() for number in range(count)}
