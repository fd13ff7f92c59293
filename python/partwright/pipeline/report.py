"""A run's report as plain data, for `--json` and for its document, with what it promises about each record."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from partwright._check import Json
from partwright.answer import Answer
from partwright.keys.key_text import shown_key

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class PlannedStep(NamedTuple):
    """A step that a run is going to take.

    Attributes:
        name: Its name, as in `Step`.
        how: How it is done, where options choose; None where there is one way.
    """

    name: str
    how: str | None = None


@dataclass(frozen=True)
class RunStep:
    """One step of the run and how long it took."""

    name: str
    seconds: float


@dataclass(frozen=True)
class PartitionShare:
    """One partition's share: records that are left to the producer are not in it.

    Attributes:
        partition: Its number.
        records: Records placed there.
        bytes: Their keys' and values' bytes.
        keys: Different keys.
        null_keys: Records there that the client does not place by their key; None if nobody looked.
    """

    partition: int
    records: int
    bytes: int
    keys: int
    null_keys: int | None


@dataclass(frozen=True)
class KeyShare:
    """One of the keys with the most records; its partition is None if they are in several, or in none yet."""

    key: str
    records: int
    partition: int | None


HEAVIEST = 10
"""How many of the keys with the most records a report names."""


@dataclass(frozen=True)
class RecordSums:
    """The records that a run writes, added up.

    Attributes:
        partitions: What each partition gets, without records that the client does not place by their key.
        heaviest_keys: Those with the most records.
        records: All records.
        unplaced: Records that the client does not place by their key.
        with_key: Records that have a key.
        keys: Different keys.
        bytes: The bytes of all keys and values.
        digest: A number that changes with any record, place or order.
    """

    partitions: tuple[PartitionShare, ...]
    heaviest_keys: tuple[KeyShare, ...]
    records: int
    unplaced: int
    with_key: int
    keys: int
    bytes: int
    digest: str


@dataclass(frozen=True)
class PartitionRead:
    """What one partition holds of a run's records; null_keys are those that were asked for without a partition."""

    partition: int | None
    records: int
    null_keys: int
    first_offset: int
    last_offset: int

    def without_gap(self, begin: Mapping[int, int], *, markers: bool) -> bool:
        """Whether its offsets count up from the first one; see `partwright.pipeline.checks.check`."""
        first = begin.get(self.partition, 0) if self.partition is not None else 0
        if markers:
            return first <= self.first_offset and self.last_offset - self.first_offset >= self.records - 1
        return (self.first_offset, self.last_offset) == (first, first + self.records - 1)


@dataclass(frozen=True)
class Checks:
    """How many records broke each promise; a run is sound if all are 0.

    Attributes:
        records: How many records were asked for.
        lost: Records that were asked for and are not there.
        twice: Records that are there more than once.
        foreign: Records that are there and that this run did not write.
        other_runs: How many of the foreign ones another run of partwright wrote.
        misplaced: Records in another partition than the one asked for.
        key_changed: Records whose key has other bytes than were written.
        value_changed: Records whose value has another 64-bit hash (xxHash64) than what was written.
        out_of_order: Records that come before one of the same key that precedes them in the source.
        offset_gaps: Partitions whose offsets do not count up without a gap.
        examples: The first records that broke a promise, in words.
        partitions: What each partition holds.
    """

    records: int
    lost: int
    twice: int
    foreign: int
    misplaced: int
    key_changed: int
    value_changed: int
    out_of_order: int
    offset_gaps: int
    other_runs: int = 0
    examples: tuple[str, ...] = ()
    partitions: tuple[PartitionRead, ...] = field(default=())

    PROMISES = (
        "lost",
        "twice",
        "foreign",
        "misplaced",
        "key_changed",
        "value_changed",
        "out_of_order",
        "offset_gaps",
    )

    @property
    def ok(self) -> bool:
        """Whether every promise was kept."""
        return not any(getattr(self, promise) for promise in self.PROMISES)


EXAMPLES = 5
"""How many records that broke a promise a report names."""


def record_in_words(
    row: int,
    key: bytes | None,
    request: str,
    place: tuple[int | None, int] | None,
    copies: int,
) -> str:
    """Where a record was asked for, and where it is.

    Args:
        row: Its row in the source.
        key: Its key.
        request: The place that was asked for, in words.
        place: Its partition and offset; None if it is nowhere.
        copies: How many copies of it there are.

    Examples:
        >>> record_in_words(3, b"k", "asked for partition 1", (0, 7), 2)
        'row 3 with key k asked for partition 1 and is in partition 0 at offset 7, 2 times'
    """
    where = "is nowhere" if place is None else f"is in partition {place[0]} at offset {place[1]}"
    times = f", {copies} times" if copies > 1 else ""
    return f"row {row} with key {shown_key(key)} {request} and {where}{times}"


@dataclass(frozen=True)
class Proof:
    """What the Java producer chose for the same records, given no partition.

    Attributes:
        keyed: How many records have a key.
        equal: For how many of them it chose the partition asked for.
        different: For how many it chose another one.
        lost: How many keyed records did not arrive.
        examples: The first that differ, in words.
    """

    keyed: int
    equal: int
    different: int
    lost: int
    examples: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it chose the same partition for every record with a key."""
        return self.equal == self.keyed


@dataclass(frozen=True)
class Report(Answer):
    """The whole run.

    Attributes:
        records: Records read, placed and written.
        strategy: The strategy besides the key; None if the key alone decided.
        producers: How many of Spark's tasks placed records, a producer each; None without a strategy.
        n: For how many partitions the records were placed and written.
        n_now: How many the topic had at the run's end, 0 if it was gone; None if nobody can add any.
        keyed: Those that the client places by their key; by a strategy, those that have one.
        null_keys: The others: null keys, of some clients empty ones too. A strategy places them.
        keys: Different keys.
        bytes: All keys' and values' bytes.
        largest_share: The largest partition's share of the records that were placed, 0 to 1.
        plan: The steps that its options asked for, in order: the name of each, and how it is done where options choose.
        steps: The steps that were taken, in order.
        checks: The result of reading back; None if it was not asked for.
        proof: The Java producer's own choice; None if it was not asked.
        already_there: How many of the records an earlier try of the same run had written.
        exactly_once: Whether they were written in transactions.
        resumed: Whether this run went on with an earlier one.
        spreads_null_keys: Whether records that the client does not place got a partition here all the same.
        is_marked: Whether each record has one more header, by which it is known again.
        read: For a source topic, what was read out of how much (`partwright.pipeline.topic_source.what_was_read`).
        notes: What is worth knowing but not a failure, a sentence each.
        log: The file with Spark's own output; None if the session was the caller's.
    """

    DOCUMENT = "run"
    ROWS = "partitions"

    source: str
    target: str
    topic: str
    client: str
    strategy: str | None
    producers: int | None
    n: int
    records: int
    keyed: int
    null_keys: int
    keys: int
    bytes: int
    largest_share: float
    partitions: tuple[PartitionShare, ...]
    heaviest_keys: tuple[KeyShare, ...]
    steps: tuple[RunStep, ...]
    checks: Checks | None
    proof: Proof | None
    n_now: int | None = None
    read: Json | None = None
    notes: tuple[str, ...] = ()
    log: str | None = None
    plan: tuple[PlannedStep, ...] = ()
    already_there: int = 0
    exactly_once: bool = False
    resumed: bool = False
    spreads_null_keys: bool = False
    is_marked: bool = False

    @property
    def written(self) -> int:
        """How many records this run wrote."""
        return self.records - self.already_there

    @property
    def places_all(self) -> bool:
        """Whether no record is left to the producer that writes it."""
        return self.strategy not in {None, "key"}

    @property
    def ok(self) -> bool:
        """Whether every record is in its place, as far as was checked, for the present number of partitions."""
        return (
            self.n_now in {None, self.n}
            and (self.checks is None or self.checks.ok)
            and (self.proof is None or self.proof.ok)
        )

    @property
    def seconds(self) -> float:
        """How long all steps took."""
        return sum(step.seconds for step in self.steps)

    def rows_per_second(self, step: str) -> float | None:
        """The records divided by the time of one step; None if the run had no such step."""
        taken = [each.seconds for each in self.steps if each.name == step]
        return self.records / taken[0] if taken and taken[0] > 0 else None

    def to_dict(self) -> Json:
        """The report as JSON has it, with `ok` first."""
        whole = asdict(self)
        whole["checks"] = whole["checks"] and {
            "ok": self.checks.ok if self.checks else None,
            **whole["checks"],
        }
        whole["proof"] = whole["proof"] and {"ok": self.proof.ok if self.proof else None, **whole["proof"]}
        if self.read is None:
            del whole["read"]
        whole["seconds"] = self.seconds
        whole["plan"] = [step._asdict() for step in self.plan]
        checks = self.checks
        counts = {
            "written": self.written,
            "already_there": whole.pop("already_there"),
            "lost": checks.lost if checks else None,
            "twice": checks.twice if checks else None,
            "moved": checks.misplaced if checks else None,
        }
        return {"ok": self.ok, **counts, **whole}


_Result = TypeVar("_Result")


class Progress(Protocol):
    """Gets told what a run is doing."""

    def step(self, name: str) -> AbstractContextManager[None]:
        """One step, for as long as the block lasts."""

    def spark(self, spark: SparkSession) -> None:
        """Spark has started; its progress can be read."""


def timed(progress: Progress, name: str, work: Callable[[], _Result]) -> tuple[_Result, RunStep]:
    """Do one step: its result, and how long it took."""
    began = time.monotonic()
    with progress.step(name):
        result = work()
    return result, RunStep(name, round(time.monotonic() - began, 3))
