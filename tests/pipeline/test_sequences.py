"""Sums of partitions say whether all is as it was asked for: no fault that is drawn escapes them."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from partwright.pipeline.sequences import all_as_asked, gathered, summing

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = 4
Placed = tuple[int, int, str, int, int]
"""Partition (-1: none), kind, file, place, fingerprint."""


def summed(records: list[Placed], batch: int) -> Any:
    """What one task makes of records that come in batches."""
    made = [
        pa.RecordBatch.from_arrays(
            [
                pa.array([partition * KINDS + kind for partition, kind, *_ in some], pa.int64()),
                pa.array([file for _, _, file, _, _ in some], pa.string()),
                pa.array([place for *_, place, _ in some], pa.int64()),
                pa.array([prints for *_, prints in some], pa.int64()),
            ],
            ["of", "file", "place", "fingerprint"],
        )
        for some in (records[begin : begin + batch] for begin in range(0, len(records), batch))
    ]
    return [SimpleNamespace(**row) for each in summing()(iter(made)) for row in each.to_pylist()]


def drawn_records(drawn: random.Random, n: int, *, places_null_keys: bool) -> list[Placed]:
    """What is asked for, in the order of the source."""
    files = sorted(drawn.sample(["", "a", "b/é", "b/z", "c"], drawn.randint(1, 3)))
    made: list[Placed] = []
    for file in files:
        for row in sorted(drawn.sample(range(2**40), drawn.randint(1, 40))):
            kind = drawn.choice([0, 1, 2, 2, 2])
            partition = -1 if kind == 0 and not places_null_keys else drawn.randrange(n)
            made.append((partition, kind, file, row, drawn.randint(-(2**63), 2**63 - 1)))
    return made


def read_back(drawn: random.Random, asked: list[Placed], n: int) -> list[Placed]:
    """The same records in their partitions; what was asked for nowhere is anywhere."""
    offsets = [drawn.randrange(1000) for _ in range(n)]
    there: list[Placed] = []
    for partition, kind, _, _, prints in asked:
        home = drawn.randrange(n) if partition < 0 else partition
        there.append((home, kind, "", offsets[home], prints))
        offsets[home] += 1
    return there


def fault(drawn: random.Random, asked: list[Placed], there: list[Placed], n: int) -> tuple[str, list[Placed]]:
    """Something that went wrong, and what is then there."""
    at = drawn.randrange(len(there))
    partition, kind, _, offset, prints = there[at]
    name = drawn.choice(["lost", "twice", "foreign", "changed", "moved", "swapped", "another for it"])
    if name == "moved" and (n == 1 or asked[at][0] < 0):
        name = "lost"
    if name == "swapped":
        same = [i for i, each in enumerate(there) if each[:2] == (partition, kind) and asked[i][0] >= 0]
        if len(same) > 1:
            i, j = drawn.sample(same, 2)
            new = [*there]
            new[i], new[j] = (*there[i][:4], there[j][4]), (*there[j][:4], there[i][4])
            return name, new
        name = "lost"
    new = {
        "lost": [*there[:at], *there[at + 1 :]],
        "twice": [*there, (partition, kind, "", 10**6, prints)],
        "foreign": [*there, (partition, 3, "", 10**6, prints)],
        "changed": [
            *there[:at],
            (partition, kind, "", offset, prints ^ 1 << drawn.randrange(63)),
            *there[at + 1 :],
        ],
        "moved": [*there[:at], *there[at + 1 :], ((partition + 1) % n, kind, "", 10**6, prints)],
        "another for it": [*there[:at], (partition, kind, "", offset, there[at - 1][4]), *there[at + 1 :]],
    }[name]
    return ("none" if new == there else name), new


def test_every_random_fault_is_seen_and_nothing_else(seed: int, cases: Callable[[int], int]) -> None:
    drawn = random.Random(seed)
    for _ in range(cases(60)):
        n = drawn.choice([1, 2, 3, 5, 12])
        asked = drawn_records(drawn, n, places_null_keys=drawn.random() < 0.5)
        there = read_back(drawn, asked, n)
        wanted = gathered(summed(asked, drawn.randint(1, 50)))
        assert all_as_asked(wanted, gathered(summed(there, drawn.randint(1, 50))))
        name, wrong = fault(drawn, asked, there, n)
        seen = gathered(summed(wrong, drawn.randint(1, 50)))
        assert all_as_asked(wanted, seen) is (name == "none"), name


def test_records_without_a_partition_may_stand_in_any_task_and_order() -> None:
    asked: list[Placed] = [(-1, 0, "", row, 2**62 + row) for row in range(7)]
    there = [(row % 3, 0, "", row, prints) for *_, row, prints in reversed(asked)]
    wanted = gathered([*summed(asked[:2], 10), *summed(asked[2:], 10)])
    assert all_as_asked(wanted, gathered([*summed(there[:3], 2), *summed(there[3:], 2)]))


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param([(0, 2, "a", 5, 1), (0, 2, "a", 4, 2)], id="rows go down"),
        pytest.param([(0, 2, "b", 4, 1), (0, 2, "a", 5, 2)], id="files go down"),
        pytest.param([(0, 2, "a", 4, 1), (0, 2, "a", 4, 2)], id="a row twice"),
    ],
)
@pytest.mark.parametrize("batch", [1, 3])
def test_the_order_asked_for_must_be_that_of_the_source(asked: list[Placed], batch: int) -> None:
    there = [(0, 2, "", offset, prints) for offset, (*_, prints) in enumerate(asked)]
    assert not all_as_asked(gathered(summed(asked, batch)), gathered(summed(there, batch)))
