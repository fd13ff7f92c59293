"""What a target holds at the first and at the second look, and what follows from that, in sentences."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TargetState", "arrived", "number_of_partitions", "refuse_changed"]

# How many partitions Kafka's controller creates in one request (ReplicationControlManager, 4.3).
_MOST_NEW_PARTITIONS = 10_000


@dataclass(frozen=True)
class TargetState:
    """What a target holds at one moment.

    Attributes:
        partitions: How many partitions the topic has; None if it does not exist.
        records: How many records they hold.
        ends: The offset that the next record gets, by partition.
        topic_id: Kafka's ID of the topic.
    """

    partitions: int | None = None
    records: int = 0
    ends: Mapping[int, int] = dataclasses.field(default_factory=dict)
    topic_id: str | None = None


def number_of_partitions(
    look: TargetState, asked: int | None, default: int, append: bool, target: str, last: str | None
) -> int:
    """How many partitions the records go to: the topic's own number, if it exists.

    Args:
        look: What the target holds.
        asked: The number that was asked for, if any.
        default: The number for a new topic if none was asked for.
        append: Whether records may be there already.
        target: The target in words.
        last: What is known about the last run into it, in words.

    Raises:
        PartwrightError: The target cannot be written to like this.
    """
    there = look.partitions
    if there is not None and asked is not None and asked != there:
        raise PartwrightError(
            f"{target} has {counted(there, 'partition')}, not {asked}: leave -n out or take another --topic"
        )
    if look.records and not append:
        raise PartwrightError(
            f"{target} holds {counted(look.records, 'record')} already{f' ({last})' if last else ''}: nothing was "
            f"written; {_OTHERWISE}"
        )
    n = there or asked or default
    if there is None and n > _MOST_NEW_PARTITIONS:
        raise PartwrightError(
            f"a new topic gets at most {_MOST_NEW_PARTITIONS:,} partitions at once, not {n:,}: make it first and add "
            "partitions in steps, or take a smaller -n"
        )
    return n


def refuse_changed(first: TargetState, now: TargetState, n: int, append: bool, target: str) -> None:
    """Refuse a target that somebody changed while the records were read and placed.

    Args:
        first: What the run saw when it began.
        now: What it holds right before the first record is written.
        n: For how many partitions the records were placed.
        append: Whether records may be there already.
        target: The target in words.

    Raises:
        PartwrightError: It has another number of partitions, is gone, or is no longer empty.
    """
    if now.partitions is None:
        raise PartwrightError(
            f"{target} had {counted(n, 'partition')} when the run began and has been deleted since: nothing was "
            f"written; run again"
        )
    if now.partitions != n:
        was = "was not there" if first.partitions is None else f"had {counted(n, 'partition')}"
        raise PartwrightError(
            f"{target} {was} when the run began and has {counted(now.partitions, 'partition')} now, but the records "
            f"were placed for {n}: nothing was written; run again, without -n, to place them for {now.partitions}"
        )
    if now.records and not first.records and not append:
        was = "was not there" if first.partitions is None else "was empty"
        raise PartwrightError(
            f"{target} {was} when the run began and holds {counted(now.records, 'record')} now, so somebody else "
            f"writes to it: nothing was written; {_OTHERWISE}"
        )


_OTHERWISE = (
    "go on with that run by --resume, take another --topic, or --append to write all records of the source to it all "
    "the same"
)


def arrived(written: Mapping[int, int], records: int, tried_again: bool) -> str:
    """How much a stopped write has written, in words.

    Args:
        written: How many records each partition got.
        records: How many there were to write.
        tried_again: Whether Spark may have retried tasks, each of which writes its records again from the first one on.
    """
    done = sum(written.values())
    listed = ", ".join(f"{count:,} in partition {number}" for number, count in written.items() if count)
    places = f" ({listed})" if listed else ""
    if done > records:
        return (
            f"{counted(done, 'record')} arrived where {records:,} were to be written{places}: at least "
            f"{done - records:,} are "
            "there twice, from tasks that were tried again, or are another writer's, and others may be missing"
        )
    again = ", where those of tasks that were tried again count each time" if tried_again and done else ""
    of = f"of {counted(records, 'record')}"
    return f"{counted(done, f'{of} is', f'{of} are')} written{places}{again}, the others are not"
