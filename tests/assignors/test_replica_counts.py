"""Numbers of replicas: each row equals the answer of `assign`, and the divisor rule is right only for some."""

from __future__ import annotations

import random
from typing import Any

import pytest

import partwright as pw
from partwright.assignors.group_sizes import replica_counts
from partwright.documents.advise import document
from partwright.errors import PartwrightError

ASSIGNORS = ["range", "roundrobin", "sticky", "server-uniform", "server-range", "librdkafka:range"]


@pytest.mark.parametrize("assignor", ASSIGNORS)
@pytest.mark.parametrize("seed", range(3))
def test_each_count_is_what_assign_says(assignor: str, seed: int) -> None:
    drawn = random.Random(f"{assignor}/{seed}")
    topics = {f"t{number}": drawn.randint(1, 30) for number in range(drawn.randint(1, 4))}
    threads, most = drawn.randint(1, 3), 12
    counts = replica_counts(topics, most, threads=threads, assignor=assignor)
    before = None
    for row in counts.rows:
        # As wide as the largest numbers, so that a newcomer sorts last.
        names = [
            f"{replica:02}-{thread:01}"
            for replica in range(1, row.replicas + 1)
            for thread in range(1, threads + 1)
        ]
        given = pw.assign(topics, {name: list(topics) for name in names}, assignor, owned=before)
        sizes = [len(those) for those in given.to_dict().values()]
        of_replicas = [sum(sizes[first : first + threads]) for first in range(0, len(sizes), threads)]
        assert (row.most, row.least, row.idle) == (
            max(of_replicas),
            min(of_replicas),
            of_replicas.count(0),
        ), seed
        assert row.even == (len(set(sizes)) == 1)
        if before is not None:
            moved = [each for each in given.moved_from(before).to_pylist() if each["from"] and each["to"]]
            assert row.moved == len(moved), seed
        before = given


def test_a_cooperative_group_is_counted_when_it_has_settled() -> None:
    counts = replica_counts({"t": 12}, 4, assignor="cooperative-sticky")
    assert [(each.most, each.least, each.moved, each.paused) for each in counts.rows] == [
        (12, 12, 0, 0),
        (6, 6, 6, 6),
        (4, 4, 4, 4),
        (3, 3, 3, 3),
    ]


def test_equally_many_partitions_may_be_far_apart_within_a_topic() -> None:
    counts = replica_counts({"T1": 24, "T2": 24, "T3": 96}, 4, assignor="server-uniform")
    two = counts.rows[1]
    assert (two.most, two.least, two.even) == (72, 72, True)
    given = pw.assign(
        {"T1": 24, "T2": 24, "T3": 96}, {name: ["T1", "T2", "T3"] for name in "12"}, "server-uniform"
    )
    assert two.apart == max(each.max - each.min for each in given.per_topic_spread().values())
    assert two.apart > 1
    said = [verdict.text for verdict in document(counts).verdicts]
    assert f"With 2 replicas they are up to {two.apart} apart within a topic." in said
    plain = replica_counts({"T1": 24, "T2": 24, "T3": 96}, 4, assignor="range")
    assert all(each.apart <= 1 for each in plain.rows)
    assert not any("apart" in verdict.text for verdict in document(plain).verdicts)


def test_126_partitions_have_more_useful_steps_than_divisors() -> None:
    counts = replica_counts({"t": 126}, 50)
    assert counts.even == (1, 2, 3, 6, 7, 9, 14, 18, 21, 42)
    assert set(counts.useful) - set(counts.even) == {4, 5, 8, 10, 11, 12, 13, 16, 26, 32}
    assert counts.wrongly_even == ()


def test_the_divisor_rule_knows_neither_topics_nor_threads() -> None:
    # Under range, with three topics of one partition each, all replicas but one are idle.
    assert replica_counts({"a": 1, "b": 1, "c": 1}, 3).wrongly_even == (3,)
    assert replica_counts({"a": 1, "b": 1, "c": 1}, 3, assignor="roundrobin").wrongly_even == ()
    # keda#7577: 24 partitions and 4 threads.
    assert replica_counts({"t": 24}, 8, threads=4).wrongly_even == (4, 8)


def test_the_first_row_of_a_range_has_moves_too() -> None:
    whole, part = replica_counts({"t": 10}, 6), replica_counts({"t": 10}, 6, 4)
    assert part.rows == whole.rows[3:]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"most": 0}, "the largest number of replicas is a whole number from 1 to 10000, not 0"),
        ({"most": 2, "least": 3}, "the smallest number of replicas is above the largest: 3 to 2"),
        ({"most": 2, "threads": 0}, "threads is a whole number from 1 to 1000, not 0"),
        ({"most": 10_000, "threads": 1000}, "are taken: ask for fewer"),
        ({"most": 2, "topics": {}}, "there are no topics"),
        ({"most": 2, "assignor": "none"}, "none"),
        ({"most": 2, "topics": {"t": -1}}, "t"),
    ],
)
def test_what_is_refused(given: dict[str, Any], sentence: str) -> None:
    asked = {"topics": {"t": 3}, **given}
    with pytest.raises(PartwrightError, match=sentence) as caught:
        replica_counts(asked.pop("topics"), asked.pop("most"), **asked)
    assert "\n" not in str(caught.value)
