"""The verbs that read records, each as a function: `check`, `fingerprint`, `resize` and `copartition`.

Each takes a table of any kind, the names of files, the address of a topic, or batches; what it takes of them in
bounded memory is summed up by the classes of `partwright.audit`, which can be fed batch by batch instead.

>>> import partwright as pw
>>> orders = {"customer": ["TT0124", "N14228", None], "partition": [10, 3, 7]}
>>> pw.check(orders, "customer", 15, partition="partition").misplaced
1
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import SupportsIndex

from partwright import _core
from partwright._check import is_topic, options, spelled
from partwright.audit.check import Check, CheckLimits, Placer
from partwright.audit.copartition import JoinedKeys, JoinSide, Meeting, add_placed, both_sides, meet
from partwright.audit.fingerprint_answer import Fingerprint
from partwright.audit.fingerprint_judge import judge
from partwright.audit.key_sums import Observed
from partwright.audit.record_columns import checked_n, columns
from partwright.audit.resize import RecordColumns, Resize, refuse_same
from partwright.errors import PartwrightError
from partwright.kafka.connection import KafkaConfigLike
from partwright.record_source import OpenRecords, RecordSource
from partwright.signals import Ended


def check(
    records: object,
    key: str | None = None,
    n: SupportsIndex | None = None,
    client: str = "java",
    key_type: str | None = None,
    *,
    partition: str | None = None,
    limits: CheckLimits | None = None,
    kafka_config: KafkaConfigLike = None,
) -> Check:
    """Check whether records are where a client's producer puts them, and how even the partitions are.

    Args:
        records: A table of any kind, the name of a file or a pattern, several names, the address of a topic, an
            iterator of tables, or a `RecordSource`, which tells more about them.
        key: The column with the keys; a topic's records have their own.
        n: How many partitions the topic has; a topic's own number if it is not given.
        client: The client profile whose partitions are right.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        partition: The column with the partitions, whole numbers or text of such; without it no place is compared, and
            the shares are those that the client would produce. A topic's records have their own.
        limits: What is demanded of the shares, and how many misplaced records are kept as examples.
        kafka_config: The client configuration for a topic.

    Returns:
        The result, which `partwright check` shows; `Check(n, client, key_type)` can be fed batch by batch with `add`.

    Raises:
        KeyTypeError: The keys have no bytes under this key type.
        PartwrightError: There is no such file or column, a column or n is not named, or a value is invalid.
        BrokerError: No Kafka answers, there is no such topic, or no right to read it.

    Examples:
        >>> import partwright as pw
        >>> found = pw.check({"user": ["a", "b"]}, "user", 12, limits=pw.CheckLimits(max_share="50%"))
        >>> found.ok, found.largest_share
        (True, 0.5)
    """
    limits = options(limits, CheckLimits, "limits")
    source = RecordSource.of(records, kafka_config)
    named = source.columns_by_role({"key": key, "partition": partition})
    key_type, count = source.key_type(key_type), _n_of(source, n, "n")
    # Errors in the options are reported before a broker is asked.
    _core.check(count or 1, client, key_type)
    with source.open(named, key_type) as opened:
        partitions, among = opened.numbers(count)
        check = Check(partitions, client, key_type, limits=limits, among=among)
        for batch in opened.batches():
            check.add(batch["key"], batch.get("partition"), batch.get("offset"))
        return check.with_question(opened.question())


def fingerprint(
    records: object,
    key: str | None = None,
    n: SupportsIndex | None = None,
    key_type: str | None = None,
    *,
    partition: str | None = None,
    timestamp: str | None = None,
    offset: str | None = None,
    kafka_config: KafkaConfigLike = None,
) -> Fingerprint:
    """Find which client wrote records, and for how many partitions, from where their keys are.

    Args:
        records: As for `check`.
        key: The column with the keys; a topic's records have their own, and so for the other columns.
        n: How many partitions the topic has; a topic's own number if it is not given, and otherwise it is found.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        partition: The column with the partitions, whole numbers without nulls or text of such.
        timestamp: The column with times, whole numbers of milliseconds or times, to say when a change happened.
        offset: The column with offsets, to say where in each partition a change happened.
        kafka_config: The client configuration for a topic.

    Returns:
        The answer, which `partwright fingerprint` shows.

    Raises:
        KeyTypeError: The keys have no bytes under this key type.
        PartwrightError: There is no such file or column, a column is not named, or a value is invalid.
        BrokerError: No Kafka answers, there is no such topic, or no right to read it.

    Examples:
        >>> import partwright as pw
        >>> keys = [f"user-{i}" for i in range(100)]
        >>> written = {"user": keys, "partition": pw.partition_for_key(keys, 12, "librdkafka")}
        >>> found = pw.fingerprint(written, "user", partition="partition")
        >>> found.verdict, found.n, found.family[0]
        ('one-writer', 12, 'librdkafka')
    """
    source = RecordSource.of(records, kafka_config)
    roles = {"key": key, "partition": partition, "timestamp": timestamp, "offset": offset}
    named = source.columns_by_role(roles, ("key", "partition"))
    key_type, count = source.key_type(key_type), checked_n(n)
    _core.check(count or 1, "java", key_type)
    with source.open(named, key_type) as opened:
        seen = Observed()
        for batch in opened.batches():
            seen.add(*columns(**batch, key_type=key_type, first_row=seen.rows))
        return judge(seen, count or opened.partitions).with_question(opened.question())


def resize(
    records: object,
    key: str | None = None,
    from_: SupportsIndex | None = None,
    to: SupportsIndex | None = None,
    client: str = "java",
    key_type: str | None = None,
    *,
    to_client: str | None = None,
    columns: RecordColumns | None = None,
    kafka_config: KafkaConfigLike = None,
) -> Resize:
    """Find which keys and records change partition when a topic gets more partitions, or a writer with another rule.

    Args:
        records: As for `check`.
        key: The column with the keys; a topic's records have their own, and so for the other columns.
        from_: How many partitions the topic has; a topic's own number if it is not given.
        to: How many it would have; as many if only the client changes.
        client: The client profile that writes to it.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        to_client: The client profile that would write to it afterwards; the same by default.
        columns: The columns with partitions (by default, records are where the client places them), offsets (to say up
            to where each partition has to be drained) and sizes in bytes.
        kafka_config: The client configuration for a topic.

    Returns:
        The plan, which `partwright resize` shows; `Resize(from_, to, client, key_type)` can be fed batch by batch with
        `add`.

    Raises:
        KeyTypeError: The keys have no bytes under this key type.
        PartwrightError: There is no such file or column, a column or a number of partitions is not named, both numbers
            are the same, or a value is invalid.
        BrokerError: No Kafka answers, there is no such topic, or no right to read it.

    Examples:
        >>> import partwright as pw
        >>> plan = pw.resize({"user": [f"user-{i}" for i in range(1000)]}, "user", 12, 24)
        >>> plan.keys, plan.keys_moved
        (1000, 489)

        Filebeat's upgrade of 2021:

        >>> logs = {"host": [f"user-{i}" for i in range(1000)]}
        >>> pw.resize(logs, "host", 3, client="filebeat:7.12", to_client="filebeat").keys_moved
        291
    """
    others = options(columns, RecordColumns, "columns")
    source = RecordSource.of(records, kafka_config)
    roles = {"key": key, "partition": others.partition, "offset": others.offset, "size": others.size}
    named = source.columns_by_role(roles)
    key_type = source.key_type(key_type)
    if to is None and to_client is None:
        raise PartwrightError(f"give the new number of partitions with {spelled('to')}", field="to")
    count = _n_of(source, from_, "from_")
    # Errors in the options are reported before a broker is asked.
    refuse_same(count or 0, (count or 1) if to is None else to, client, key_type, to_client)
    with source.open(named, key_type, sizes=True) as opened:
        partitions, among = opened.numbers(count)
        to = partitions if to is None else to
        plan = Resize(partitions, to, client, key_type, to_client=to_client, among=among)
        for batch in opened.batches():
            plan.add(batch["key"], batch.get("partition"), batch.get("offset"), batch.get("size"))
        if opened.is_part:
            plan.forget_offsets()
        return plan.with_question(opened.question())


def copartition(
    a: object,
    b: object,
    key: str | None = None,
    n: SupportsIndex | None = None,
    client: str | None = None,
    key_type: str | None = None,
    *,
    partition: str | None = None,
    kafka_config: KafkaConfigLike = None,
) -> Meeting:
    """Check whether records of one key are in the same partition of two topics or tables, and if not, why.

    Args:
        a: One topic or table: what `check` takes, or a `JoinSide` of it with settings of its own.
        b: The other one.
        key: The column with the keys of both; a topic's records have their own.
        n: How many partitions both have; a topic has its own number, and with `partition` it is found.
        client: The client profile that would place the records of a table, `java` by default.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        partition: The column with the partitions, instead of a client; a topic's records have their own.
        kafka_config: The client configuration for topics.

    Returns:
        The answer, which `partwright copartition` shows.

    Raises:
        KeyTypeError: The keys have no bytes under this key type.
        PartwrightError: There is no such file or column, a setting is missing, or is for the other kind of records, or
            a value is invalid.
        BrokerError: No Kafka answers, there is no such topic, or no right to read it.

    Examples:
        >>> import partwright as pw
        >>> orders, users = {"user": ["a", "b", "c"]}, {"id": ["a", "b"]}
        >>> pw.copartition(orders, pw.JoinSide(users, key="id"), "user", 12).ok
        True
        >>> found = pw.copartition(orders, pw.JoinSide(users, key="id", n=24), "user", 12)
        >>> found.ok, found.reasons[0].kind
        (False, 'n')
    """
    common = JoinSide(None, key, n, client, key_type, partition)
    sides = [
        _SideRecords(side, kafka_config, of)
        for side, of in zip(both_sides(common, a, b, _is_topic), ("", "_b"), strict=True)
    ]
    if not any(side.source.is_topic for side in sides) and kafka_config is not None:
        raise PartwrightError("kafka_config= is for reaching a Kafka, and neither is a topic: leave it out")
    if [side.source.name for side in sides] == ["-", "-"]:
        raise PartwrightError("'-' cannot be both: stdin is read once, name a file for A or for B")
    with ExitStack() as closing:
        opened = [closing.enter_context(side.source.open(side.named, side.key_type)) for side in sides]
        summed: list[JoinedKeys] = []
        for side, records in zip(sides, opened, strict=True):
            if summed and (opened[0].read_counts() or {}).get("interrupted"):
                # Nothing is known about B, so there is no answer.
                raise Ended(signal.SIGINT)
            summed.append(side.summed(records))
        meeting = meet(*summed)
        if (
            not meeting.keys_shared
            and meeting.a.n == meeting.b.n
            and any(records.is_part for records in opened)
        ):
            raise PartwrightError(
                "no key is in both of the parts that were read, so it is open whether the topics meet: read more "
                "of them"
            )
        read = tuple(records.read_counts() for records in opened)
        if any(side.source.name for side in sides):
            meeting = replace(
                meeting, names=(str(sides[0].source.name or "A"), str(sides[1].source.name or "B"))
            )
        return replace(meeting, read=read if any(read) else None)


class _SideRecords:
    """One of two sides whose settings were checked, so that all that needs no records is refused before any is read."""

    def __init__(self, side: JoinSide, kafka_config: KafkaConfigLike, of: str) -> None:
        self.source = RecordSource.of(side.records, kafka_config if _is_topic(side.records) else None)
        self.named = self.source.columns_by_role({"key": side.key, "partition": side.partition}, of=of)
        self._n, self.key_type = checked_n(side.n), self.source.key_type(side.key_type)
        self._client = side.client or (None if self.source.is_topic or side.partition is not None else "java")
        name = self.source.name
        whose = "the table" if name is None else repr(name)
        n, client, partition = (spelled(each + of) for each in ("n", "client", "partition"))
        if self.source.is_topic and self._n is not None:
            raise PartwrightError(
                f"{n} {self._n} is for a file: {whose} has its own number of partitions, leave it out"
            )
        if self.source.is_topic and side.client is not None:
            raise PartwrightError(
                f"{client} {side.client!r} is for a file: the records of {whose} are where they are, leave it out"
            )
        if side.partition is not None and side.client is not None:
            raise PartwrightError(
                f"{partition} says where the records of {whose} are, and {client} where they would be: give one of "
                "them",
                path=name,
            )
        if self._client is not None and self._n is None:
            raise PartwrightError(
                f"give the number of partitions that {whose} would have with {n}", path=name
            )
        _core.check(self._n or 1, self._client or "java", self.key_type)

    def summed(self, opened: OpenRecords) -> JoinedKeys:
        """What `meet` needs of the records."""
        seen = Observed()
        placer = None if self._client is None else Placer(self._n or 1, self._client, self.key_type)
        with _within(self.source.name):
            for batch in opened.batches():
                if placer is None:
                    seen.add(*columns(**batch, key_type=self.key_type, first_row=seen.rows))
                else:
                    add_placed(seen, placer, batch["key"])
        return JoinedKeys(seen, self._n or opened.partitions, self._client, self.key_type)


@contextmanager
def _within(name: str | None) -> Iterator[None]:
    """Let an error about a row name the file that it is in."""
    try:
        yield
    except PartwrightError as error:
        if name is None or error.path == name or is_topic(name):
            raise
        raise error.within(repr(name), path=name) from error


def _is_topic(records: object) -> bool:
    return (records if isinstance(records, RecordSource) else RecordSource(records)).is_topic


def _n_of(source: RecordSource, n: SupportsIndex | None, name: str) -> int | None:
    """A number of partitions, which only a topic has itself."""
    if n is None and not source.is_topic:
        whose = "" if source.name is None else f" of the topic of {source.name!r}"
        raise PartwrightError(
            f"give the number of partitions{whose} with {spelled(name)}", path=source.name, field=name
        )
    return checked_n(n, name)
