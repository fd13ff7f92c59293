"""The decisions of a run when it looks at its target, and when it looks again; no Kafka is asked."""

from __future__ import annotations

import pytest

from partwright.errors import PartwrightError
from partwright.pipeline.targets import TargetState, arrived, number_of_partitions, refuse_changed


@pytest.mark.parametrize(
    ("look", "asked", "append", "n"),
    [
        (TargetState(), None, False, 12),
        (TargetState(), 5, False, 5),
        (TargetState(4), None, False, 4),
        (TargetState(4, 10), 4, True, 4),
        (TargetState(20_000), None, False, 20_000),
    ],
)
def test_the_number_of_partitions(look: TargetState, asked: int | None, append: bool, n: int) -> None:
    assert number_of_partitions(look, asked, 12, append, "topic 't'", None) == n


@pytest.mark.parametrize(
    ("look", "asked", "sentence"),
    [
        (TargetState(4), 5, "topic 't' has 4 partitions, not 5"),
        (TargetState(4, 10), None, r"holds 10 records already \(the last run\): nothing was written"),
        (TargetState(), 10_001, "a new topic gets at most 10,000 partitions at once, not 10,001"),
    ],
)
def test_a_target_that_will_not_do(look: TargetState, asked: int | None, sentence: str) -> None:
    with pytest.raises(PartwrightError, match=sentence):
        number_of_partitions(look, asked, 12, False, "topic 't'", "the last run")


@pytest.mark.parametrize(
    ("first", "now", "append"),
    [
        (TargetState(), TargetState(4), False),
        (TargetState(4), TargetState(4), False),
        (TargetState(4, 10), TargetState(4, 20), True),
        (TargetState(4), TargetState(4, 20), True),
    ],
)
def test_a_target_that_is_as_it_was(first: TargetState, now: TargetState, append: bool) -> None:
    refuse_changed(first, now, 4, append, "topic 't'")


@pytest.mark.parametrize(
    ("first", "now", "append", "sentence"),
    [
        (
            TargetState(4),
            TargetState(6),
            False,
            "had 4 partitions when the run began and has 6 partitions now",
        ),
        (
            TargetState(4, 10),
            TargetState(6, 10),
            True,
            "had 4 partitions when the run began and has 6 partitions now",
        ),
        (TargetState(), TargetState(6), False, "was not there when the run began and has 6 partitions now"),
        (
            TargetState(4),
            TargetState(),
            False,
            "had 4 partitions when the run began and has been deleted since",
        ),
        (
            TargetState(4),
            TargetState(4, 100),
            False,
            "was empty when the run began and holds 100 records now",
        ),
        (
            TargetState(),
            TargetState(4, 100),
            False,
            "was not there when the run began and holds 100 records now",
        ),
    ],
)
def test_a_target_that_somebody_changed(
    first: TargetState, now: TargetState, append: bool, sentence: str
) -> None:
    with pytest.raises(PartwrightError, match=f"^topic 't' {sentence}.*nothing was written; ") as refused:
        refuse_changed(first, now, 4, append, "topic 't'")
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("written", "tried_again", "words"),
    [
        ({}, False, "0 of 3,000 records are written, the others are not"),
        (
            {0: 1200, 1: 0, 2: 5},
            False,
            "1,205 of 3,000 records are written (1,200 in partition 0, 5 in partition 2), the others are not",
        ),
        (
            {0: 1200},
            True,
            (
                "1,200 of 3,000 records are written (1,200 in partition 0), where those of tasks that were tried again "
                "count each time, the others are not"
            ),
        ),
        (
            {0: 3435},
            True,
            (
                "3,435 records arrived where 3,000 were to be written (3,435 in partition 0): at least 435 are there "
                "twice, from tasks that were tried again, or are another writer's, and others may be missing"
            ),
        ),
    ],
)
def test_what_arrived(written: dict[int, int], tried_again: bool, words: str) -> None:
    assert arrived(written, 3000, tried_again) == words
