"""The tables of racks of RangeAssignorTest and AbstractStickyAssignorTest, rebuilt from their facts."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest

import partwright as pw

Racks: TypeAlias = dict[str, list[list[str | None]]]
MANY, EVEN = {"t1": 6, "t2": 7, "t3": 2}, {"t1": 5, "t2": 5, "t3": 5}
PAIRS = {"t1": 6, "t2": 6, "t3": 2, "t4": 2}
SIX = PAIRS | {"t5": 4, "t6": 4}
EQUAL, UNEQUAL = ["t1 t2 t3"] * 3, ["t1 t2 t3", "t1 t2 t3", "t1 t3"]
# Replicas, racks of the brokers, racks of the members: racks that change nothing. A point means no rack.
NO_HELP = [
    (3, "...", "abc"),
    (3, "abc", "..."),
    (3, "abc", "abc"),
    (4, "abcd", "abc"),
    (3, "abc", "def"),
    (3, "abc", ".ef"),
]


def replicas(topics: dict[str, int], factor: int, brokers: str) -> Racks:
    """Replica j of partition i is on broker i + j + the number of the earlier topics' partitions, wrapped around."""
    racks = [None if rack == "." else rack for rack in brokers]
    placed: Racks = {}
    before = 0
    for topic, count in topics.items():
        placed[topic] = [
            [racks[(at + copy + before) % len(racks)] for copy in range(factor)] for at in range(count)
        ]
        before += count
    return placed


def check(
    assignor: str,
    topics: dict[str, int],
    subscriptions: list[str],
    table: tuple[int, str, str, str, int | None],
    owned: str = "",
) -> None:
    """Lists are written as in Kafka's tests: partitions sorted, members separated by a bar; then mismatches."""
    factor, brokers, member_racks, wanted, mismatches = table
    racks = replicas(topics, factor, brokers)
    had = [[(pair[:2], int(pair[3:])) for pair in each.split()] for each in owned.split("|")]
    group: list[dict[str, Any]] = [
        {"id": f"consumer{number}", "topics": subscribed.split(), "rack": None if rack == "." else rack}
        for number, (subscribed, rack) in enumerate(zip(subscriptions, member_racks, strict=True))
    ]
    # Kafka's tests leave owned partitions out of the user data, where alone the sticky assignor looks for them.
    if owned and assignor == "cooperative-sticky":
        group = [member | {"owned": pairs} for member, pairs in zip(group, had, strict=True)]
    found = pw.assign(topics, group, assignor, racks=racks).to_dict()
    lists = [" ".join(f"{topic}-{at}" for topic, at in sorted(given)) for given in found.values()]
    assert lists == [each.strip() for each in wanted.split("|")]
    missed = [
        (topic, at)
        for member in group
        for topic, at in found[member["id"]]
        if member["rack"] and member["rack"] not in racks[topic][at]
    ]
    assert mismatches is None or len(missed) == mismatches


RANGES = {
    "testRackAwareAssignmentWithUniformSubscription": (
        MANY,
        EQUAL,
        "t1-0 t1-1 t2-0 t2-1 t2-2 t3-0 | t1-2 t1-3 t2-3 t2-4 t3-1 | t1-4 t1-5 t2-5 t2-6",
    ),
    "testRackAwareAssignmentWithNonEqualSubscription": (
        MANY,
        UNEQUAL,
        "t1-0 t1-1 t2-0 t2-1 t2-2 t2-3 t3-0 | t1-2 t1-3 t2-4 t2-5 t2-6 t3-1 | t1-4 t1-5",
    ),
    "testRackAwareAssignmentWithUniformPartitions": (
        EVEN,
        EQUAL,
        "t1-0 t1-1 t2-0 t2-1 t3-0 t3-1 | t1-2 t1-3 t2-2 t2-3 t3-2 t3-3 | t1-4 t2-4 t3-4",
    ),
    "testRackAwareAssignmentWithUniformPartitionsNonEqualSubscription": (
        EVEN,
        UNEQUAL,
        "t1-0 t1-1 t2-0 t2-1 t2-2 t3-0 t3-1 | t1-2 t1-3 t2-3 t2-4 t3-2 t3-3 | t1-4 t3-4",
    ),
}


@pytest.mark.parametrize(("factor", "brokers", "member_racks"), NO_HELP)
@pytest.mark.parametrize("name", RANGES)
def test_range_where_racks_change_nothing(name: str, factor: int, brokers: str, member_racks: str) -> None:
    """The RangeAssignorTest after which each case is named."""
    topics, subscriptions, wanted = RANGES[name]
    mismatches = 0 if member_racks == "abc" and brokers != "..." else None
    check("range", topics, subscriptions, (factor, brokers, member_racks, wanted, mismatches))


@pytest.mark.parametrize(
    ("name", "factor", "brokers", "wanted", "mismatches"),
    [
        (
            "UniformSubscription",
            1,
            "abc",
            "t1-0 t1-3 t2-0 t2-3 t2-6 | t1-1 t1-4 t2-1 t2-4 t3-0 | t1-2 t1-5 t2-2 t2-5 t3-1",
            0,
        ),
        (
            "UniformSubscription",
            2,
            "abc",
            "t1-0 t1-2 t2-0 t2-2 t2-3 t3-1 | t1-1 t1-3 t2-1 t2-4 t3-0 | t1-4 t1-5 t2-5 t2-6",
            1,
        ),
        ("UniformSubscription", 3, "ab", "", 4),
        (
            "NonEqualSubscription",
            1,
            "abc",
            "t1-0 t1-3 t2-0 t2-2 t2-3 t2-6 | t1-1 t1-4 t2-1 t2-4 t2-5 t3-0 | t1-2 t1-5 t3-1",
            2,
        ),
        (
            "NonEqualSubscription",
            2,
            "abc",
            "t1-0 t1-2 t2-0 t2-2 t2-3 t2-5 t3-1 | t1-1 t1-3 t2-1 t2-4 t2-6 t3-0 | t1-4 t1-5",
            0,
        ),
        ("NonEqualSubscription", 3, "ab", "", 2),
        ("UniformPartitions", 1, "abc", "", 10),
        ("UniformPartitions", 2, "abc", "", 5),
        ("UniformPartitions", 3, "ab", "", 3),
        (
            "UniformPartitionsNonEqualSubscription",
            1,
            "abc",
            "t1-0 t1-1 t2-0 t2-1 t2-4 t3-0 t3-1 | t1-2 t1-3 t2-2 t2-3 t3-2 t3-3 | t1-4 t3-4",
            9,
        ),
        (
            "UniformPartitionsNonEqualSubscription",
            2,
            "abc",
            "t1-2 t2-0 t2-1 t2-3 t3-2 | t1-0 t1-3 t2-2 t2-4 t3-0 t3-3 | t1-1 t1-4 t3-1 t3-4",
            0,
        ),
        ("UniformPartitionsNonEqualSubscription", 3, "ab", "", 2),
    ],
)
def test_range(name: str, factor: int, brokers: str, wanted: str, mismatches: int) -> None:
    """The same tests, where racks have some of the partitions; cases without lists stay as without racks."""
    topics, subscriptions, plain = RANGES[f"testRackAwareAssignmentWith{name}"]
    check("range", topics, subscriptions, (factor, brokers, "abc", wanted or plain, mismatches))


APART, TOGETHER = ["t1 t2", "t1 t2", "t3 t4", "t3 t4"], ["t1 t2 t3 t4"] * 4
PLAIN_APART = "t1-0 t1-1 t1-2 t2-0 t2-1 t2-2 | t1-3 t1-4 t1-5 t2-3 t2-4 t2-5 | t3-0 t4-0 | t3-1 t4-1"
PLAIN_TOGETHER = "t1-0 t1-1 t2-0 t2-1 t3-0 t4-0 | t1-2 t1-3 t2-2 t2-3 t3-1 t4-1 | t1-4 t2-4 | t1-5 t2-5"


@pytest.mark.parametrize(
    ("subscriptions", "factor", "brokers", "wanted", "mismatches"),
    [
        (APART, 3, "ab", PLAIN_APART, None),
        (APART, 2, "ab", PLAIN_APART, 0),
        (
            APART,
            1,
            "ab",
            "t1-0 t1-2 t1-4 t2-0 t2-2 t2-4 | t1-1 t1-3 t1-5 t2-1 t2-3 t2-5 | t3-1 t4-1 | t3-0 t4-0",
            0,
        ),
        (TOGETHER, 3, "ab", PLAIN_TOGETHER, None),
        (TOGETHER, 2, "ab", PLAIN_TOGETHER, 0),
        (
            TOGETHER,
            1,
            "ab",
            "t1-0 t1-2 t2-0 t2-2 t3-0 t4-0 | t1-1 t1-3 t2-1 t2-3 t3-1 t4-1 | t1-5 t2-5 | t1-4 t2-4",
            0,
        ),
        (
            TOGETHER,
            1,
            "abc",
            "t1-0 t1-3 t2-0 t2-3 t3-0 t4-0 | t1-1 t1-4 t2-1 t2-4 t3-1 t4-1 | t1-2 t2-2 | t1-5 t2-5",
            6,
        ),
    ],
)
def test_range_keeps_topics_co_partitioned(
    subscriptions: list[str], factor: int, brokers: str, wanted: str, mismatches: int | None
) -> None:
    """testRackAwareAssignmentWithCoPartitioning."""
    check("range", PAIRS, subscriptions, (factor, brokers, "abba", wanted, mismatches))


PLAIN_SIX = (
    "t1-0 t1-1 t2-0 t2-1 t3-0 t4-0 t5-0 t5-1 t6-0 t6-1 | t1-2 t1-3 t2-2 t2-3 t3-1 t4-1 t5-2 t6-2"
    " | t1-4 t1-5 t2-4 t2-5 t5-3 t6-3"
)
SIX_BY_TWO = (
    "t1-0 t1-2 t2-0 t2-2 t3-0 t4-0 t5-1 t6-1 | t1-1 t1-3 t2-1 t2-3 t3-1 t4-1 t5-2 t6-2"
    " | t1-4 t1-5 t2-4 t2-5 t5-0 t5-3 t6-0 t6-3"
)


@pytest.mark.parametrize(
    ("factor", "brokers", "wanted", "mismatches"),
    [(3, "...", PLAIN_SIX, None), (3, "abc", PLAIN_SIX, 0), (2, "abc", SIX_BY_TWO, 0)],
)
def test_range_with_unknown_topics(factor: int, brokers: str, wanted: str, mismatches: int | None) -> None:
    """testCoPartitionedAssignmentWithSameSubscription: three of the nine topics do not exist."""
    subscriptions = [" ".join(f"t{number}" for number in range(1, 10))] * 3
    check("range", SIX, subscriptions, (factor, brokers, "abc", wanted, mismatches))


STICKY = "t1-0 t1-3 t2-0 t2-3 t2-6 | t1-1 t1-4 t2-1 t2-4 t3-0 | t1-2 t1-5 t2-2 t2-5 t3-1"
SPLIT = "t1-5 t2-0 t2-2 t2-4 t2-6 | t1-3 t2-1 t2-3 t2-5 t3-0 | t1-0 t1-1 t1-2 t1-4 t3-1"
SPLIT_BY_ONE = "t1-3 t2-0 t2-2 t2-3 t2-6 | t1-4 t2-1 t2-4 t2-5 t3-0 | t1-0 t1-1 t1-2 t1-5 t3-1"
SPLIT_BY_TWO = "t1-3 t2-0 t2-2 t2-5 t2-6 | t1-0 t2-1 t2-3 t2-4 t3-0 | t1-1 t1-2 t1-4 t1-5 t3-1"
MISPLACED = "t1-0 t1-1 t1-2 t1-3 t1-4 | t1-5 t2-0 t2-1 t2-2 t2-3 | t2-4 t2-5 t2-6 t3-0 t3-1"


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(
    ("subscriptions", "table"),
    [
        *(
            (EQUAL, (*racks, STICKY, 0 if racks[1:] in {("abc", "abc"), ("abcd", "abc")} else None))
            for racks in NO_HELP
        ),
        (EQUAL, (1, "abc", "abc", STICKY, 0)),
        (EQUAL, (2, "abc", "abc", STICKY, 0)),
        (EQUAL, (3, "ab", "abc", STICKY, 5)),
        *(
            (UNEQUAL, (*racks, SPLIT, 0 if racks[1:] in {("abc", "abc"), ("abcd", "abc")} else None))
            for racks in NO_HELP
        ),
        (UNEQUAL, (1, "abc", "abc", SPLIT_BY_ONE, 4)),
        (UNEQUAL, (2, "abc", "abc", SPLIT_BY_TWO, 0)),
        (UNEQUAL, (3, "ab", "abc", SPLIT, 5)),
    ],
)
def test_sticky(
    assignor: str, subscriptions: list[str], table: tuple[int, str, str, str, int | None], again: bool
) -> None:
    """testRackAwareAssignmentWithUniformSubscription and …NonEqualSubscription; a second round moves nothing."""
    check(assignor, MANY, subscriptions, table, table[3] if again else "")


def test_sticky_mends_misplaced_partitions(assignor: str) -> None:
    """testRackAwareAssignmentWithUniformSubscription: misaligned, and owned."""
    wanted = STICKY if assignor == "sticky" else "t1-0 t1-3 | t2-1 | t2-5 t3-1"
    check(assignor, MANY, EQUAL, (1, "abc", "abc", wanted, 0), MISPLACED)


@pytest.mark.parametrize(
    ("factor", "between", "wanted", "mismatches"),
    [
        (1, "t1-3 | t2-1 | t3-1", SPLIT_BY_ONE, 4),
        (
            3,
            "t1-2 t1-3 t1-4 | t2-0 t2-1 t2-2 t2-3 | t3-0 t3-1",
            "t1-2 t1-3 t1-4 t2-4 t2-5 | t2-0 t2-1 t2-2 t2-3 t2-6 | t1-0 t1-1 t1-5 t3-0 t3-1",
            0,
        ),
    ],
)
def test_cooperative_sticky_in_two_rounds(factor: int, between: str, wanted: str, mismatches: int) -> None:
    """testRackAwareAssignmentWithNonEqualSubscription: misaligned and owned, then once more."""
    check("cooperative-sticky", MANY, UNEQUAL, (factor, "abc", "abc", between, 0), MISPLACED)
    check("cooperative-sticky", MANY, UNEQUAL, (factor, "abc", "abc", wanted, mismatches), between)
