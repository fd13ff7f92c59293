"""The target of placed records: what a run needs of it, what follows from what it holds, and a Kafka topic."""

from __future__ import annotations

import contextlib
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from partwright._check import counted
from partwright.cluster import Cluster
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import topics
from partwright.kafka.client import TIMEOUT_S, admin_client
from partwright.kafka.topics import NewTopic, differences
from partwright.pipeline.ledger import FolderLedger, TopicLedger

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig
    from partwright.pipeline.ledger import RunLedger
    from partwright.pipeline.source import Source


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
    state: TargetState,
    asked_partitions: int | None,
    default: int,
    append: bool,
    target: str,
    last: str | None,
) -> int:
    """How many partitions the records go to: the topic's own number, if it exists.

    Args:
        state: What the target holds.
        asked_partitions: The number that was asked for, if any.
        default: The number for a new topic if none was asked for.
        append: Whether records may be there already.
        target: The target in words.
        last: What is known about the last run into it, in words.

    Raises:
        PartwrightError: The target cannot be written to like this.
    """
    partitions = state.partitions
    if partitions is not None and asked_partitions is not None and asked_partitions != partitions:
        raise PartwrightError(
            f"{target} has {counted(partitions, 'partition')}, not {asked_partitions}: leave -n out or "
            "take another --topic"
        )
    if state.records and not append:
        raise PartwrightError(
            f"{target} holds {counted(state.records, 'record')} already{f' ({last})' if last else ''}: nothing was "
            f"written; {_WAYS_ON}"
        )
    n = partitions or asked_partitions or default
    if partitions is None and n > _MOST_NEW_PARTITIONS:
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
            f"writes to it: nothing was written; {_WAYS_ON}"
        )


_WAYS_ON = (
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


class Wrote(NamedTuple):
    """What a write found.

    Attributes:
        already_there: How many records an earlier try of the same run had written.
        late: How many were written now although later ones of their partition were there.
    """

    already_there: int = 0
    late: int = 0


class Target(ABC):
    """The place that a run writes to: a topic or folders, and nobody else needs to know which.

    It never changes: `open` and `prepare` return the target as it is from then on.

    Attributes:
        begin: By partition, the offset of the first written record; 0 if it is not named.
        making: The name of the step that prepares it.
        begun_id: Kafka's ID of the topic that is written to, once it is prepared; None for folders.
        has_place_for_all: Whether records that nobody places have a place of their own, outside all partitions.
    """

    begin: Mapping[int, int]
    begun_id: str | None = None
    making: ClassVar[str]
    has_place_for_all: ClassVar[bool]

    @abstractmethod
    def find_state(self) -> TargetState:
        """What is there now."""

    @abstractmethod
    def prepare(self, n: int, first: TargetState, run: bytes, *, append: bool) -> Self:
        """Create what is missing; looks again, because `first` may be minutes old.

        Args:
            n: The number of partitions.
            first: What was there when the run began.
            run: The run's ID.
            append: Whether records may be there already.

        Returns:
            The target, ready to be written to.

        Raises:
            PartwrightError: Somebody has changed the target since `first`; nothing was written.
        """

    @abstractmethod
    def written(self) -> Mapping[int, int] | None:
        """How many records each partition got since `prepare`; None if nobody can tell."""

    def cluster(self) -> Cluster | None:
        """The topic's partitions and leaders; None if there are none yet."""
        return None

    def foresee(self, n: int, first: TargetState) -> None:
        """Ask whether what is missing can be created for `n` partitions, without creating it.

        Raises:
            PartwrightError: It cannot.
        """
        del n, first

    def resume_run(self, begin: Mapping[int, int]) -> Self:
        """The target as an earlier run has prepared it, which began at these offsets."""
        raise NotImplementedError(f"{self} has no runs that go on: its settings refuse them")

    def partitions_now(self) -> int | None:
        """How many partitions there are now, 0 if the topic is gone; None if nobody can add any."""
        return None

    def is_gone(self) -> bool:
        """Whether what was prepared is known not to exist any more."""
        return False

    def ledger(self, state: str | None) -> RunLedger | None:
        """Where runs into it are recorded; None if nobody could resume one."""
        del state
        return None

    def losses(self, source: Source, *, in_transactions: bool) -> tuple[str, ...]:
        """What of the source's records it does not keep, a sentence each."""
        del source, in_transactions
        return ()

    def beside(self, name: str) -> KafkaTopic | None:
        """A topic beside it, for the same records; None if it is no topic."""
        del name
        return None


@dataclass(frozen=True)
class KafkaTopic(Target):
    """A topic; each runner writes and reads it in its own way.

    Attributes:
        config: How to reach its Kafka.
        topic: Its name.
        new_topic: Its settings if it has to be created; an existing topic must have them.
        begin: See `Target`.
        begun_id: Kafka's ID of the topic that is written to, once it is prepared; another topic of the same name has
            another one.
    """

    config: KafkaConfig
    topic: str
    new_topic: NewTopic = field(default_factory=NewTopic)
    begin: Mapping[int, int] = field(default_factory=dict)
    begun_id: str | None = None

    making = "make the topic"
    has_place_for_all = False

    def __post_init__(self) -> None:
        topics.check_topic_name(self.topic)

    @property
    def bootstrap_servers(self) -> str:
        """Where its brokers are."""
        return self.config.required_servers()

    def __str__(self) -> str:
        return f"topic {self.topic!r} at {self.bootstrap_servers}"

    def find_state(self) -> TargetState:
        """See `Target.find_state`.

        Raises:
            PartwrightError: The topic exists and differs from what was asked for.
        """
        if not self.exists():
            return TargetState()
        self._refuse_different()
        first = topics.beginning_offsets(self.config, self.topic)
        ends = topics.end_offsets(self.config, self.topic)
        return TargetState(len(ends), sum(ends.values()) - sum(first.values()), ends, self._topic_id())

    def cluster(self) -> Cluster | None:
        """See `Target.cluster`."""
        if not self.exists():
            return None
        return Cluster.from_kafka(None, [self.topic], kafka_config=self.config)

    def foresee(self, n: int, first: TargetState) -> None:
        """See `Target.foresee`; the brokers themselves tell what they would refuse."""
        if first.partitions is None:
            self._make(n, validate_only=True)

    def prepare(self, n: int, first: TargetState, run: bytes, *, append: bool) -> Self:
        """See `Target.prepare`; waits until each partition of a new topic has a leader that answers."""
        del run
        now = self.find_state()
        if now.partitions is None and first.partitions is None:
            self._make(n)
            now = self.find_state()
        refuse_changed(first, now, n, append, str(self))
        return replace(self, begin=now.ends, begun_id=now.topic_id)

    def resume_run(self, begin: Mapping[int, int]) -> Self:
        """See `Target.resume_run`.

        Raises:
            BrokerError: No Kafka answers, or there is no such topic.
        """
        return replace(self, begin=begin, begun_id=self._topic_id())

    def _make(self, n: int, *, validate_only: bool = False) -> None:
        # Somebody may create it at this very moment; then that topic is checked.
        with contextlib.suppress(topics.TopicExistsError):
            topics.create_topic(
                self.config,
                self.topic,
                n,
                self.new_topic,
                validate_only=validate_only,
            )

    def _refuse_different(self) -> None:
        clauses = differences(self.config, self.topic, self.new_topic)
        if clauses:
            raise PartwrightError(
                f"{self} exists already and is not as asked ({'; '.join(clauses)}): nothing was written and nothing "
                "changed; leave these options out, alter the topic first (kafka-configs.sh, "
                "kafka-reassign-partitions.sh), or take another --topic"
            )

    def written(self) -> Mapping[int, int] | None:
        """See `Target.written`; None if the broker does not answer."""
        try:
            end = topics.end_offsets(self.config, self.topic)
        except BrokerError:
            return None
        return {partition: offset - self.begin.get(partition, 0) for partition, offset in sorted(end.items())}

    def windows(self) -> dict[int, tuple[int, int]]:
        """By partition, where this run began and the present end, including partitions that were added since.

        Raises:
            BrokerError: No Kafka answers, or there is no such topic.
        """
        ends = topics.end_offsets(self.config, self.topic)
        return {partition: (self.begin.get(partition, 0), end) for partition, end in sorted(ends.items())}

    def _topic_id(self) -> str:
        """Kafka's ID of the topic, which differs for another topic of the same name.

        Raises:
            BrokerError: No Kafka answers, or there is no such topic.
        """
        with admin_client(self.config, TIMEOUT_S) as admin:
            return str(topics.existing(admin, self.topic).topic_id)

    def partitions_now(self) -> int:
        """See `Target.partitions_now`; if the topic was made again, the one that was written to is gone."""
        with admin_client(self.config, TIMEOUT_S) as admin:
            now = topics.described(admin, [self.topic])[self.topic]
        return len(now.partitions) if now and self.begun_id in {None, str(now.topic_id)} else 0

    def is_gone(self) -> bool:
        """See `Target.is_gone`; a topic that was not there yet is not gone."""
        if self.begun_id is None:
            return False
        with contextlib.suppress(BrokerError):
            return self.partitions_now() == 0
        return False

    def ledger(self, state: str | None) -> RunLedger | None:
        """See `Target.ledger`; a topic of its own cluster, unless a folder is named."""
        return TopicLedger(self.config) if state is None else FolderLedger(state)

    def beside(self, name: str) -> Self:
        """See `Target.beside`."""
        return type(self)(self.config, name, self.new_topic.for_same_records())

    def exists(self) -> bool:
        """Whether there is such a topic."""
        return topics.partition_count(self.config, self.topic) is not None

    def delete(self) -> None:
        """Delete the topic again."""
        topics.delete_topic(self.config, self.topic)
