"""Audits of tables on the cluster: which client wrote a topic, what moves when it grows, how even is it, do two meet?

Each groups by key and partition in Spark, in one pass over the table, and brings sums to the driver: the answers are
those of `partwright fingerprint`, `resize`, `check` and `copartition` on files of the same records.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

from partwright._check import counted, options
from partwright.audit.check import Check, Example
from partwright.audit.columns import checked_n
from partwright.audit.copartition import ANYWHERE, Side, meet
from partwright.audit.fingerprint_judge import judge
from partwright.audit.resize import Resize
from partwright.audit.skew import read_share
from partwright.errors import PartwrightError
from partwright.keys.key_text import shown_key
from partwright.spark.columns import partition_for_key
from partwright.spark.engines.arrow import to_arrow
from partwright.spark.engines.choice import exact
from partwright.spark.sums import (
    completed,
    kept,
    level_of_key,
    observed,
    order_of,
    records,
    refused,
    summed_again,
    sums,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import SupportsIndex

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from partwright.audit.copartition import Meeting
    from partwright.audit.fingerprint_answer import Fingerprint
    from partwright.audit.key_sums import Observed

__all__ = ["Topic", "check", "check_copartition", "fingerprint", "resize"]

# The largest partition, because n is at most 2^31-1.
_LARGEST = 2**31 - 2
_MOST_SHOWN = 2**31 - 1


def fingerprint(
    df: DataFrame,
    key: str | Column,
    partition: str | Column = "partition",
    timestamp: str | Column | None = None,
    offset: str | Column | None = None,
    n: SupportsIndex | None = None,
    key_type: str | None = None,
) -> Fingerprint:
    """Which client wrote a table's records, and for how many partitions.

    It takes one pass over the table; and a second over its times if records with keys follow no rule, to see whether
    partitions were taken in turn.

    Args:
        df: The records, such as Spark's Kafka source gives.
        key: The column of their keys, by name or as a Column: a string or binary, or under a `java:` key type numbers.
        partition: The column with their partitions, whole numbers without nulls.
        timestamp: The column with their times, timestamps or milliseconds: they date a change.
        offset: The column with their offsets, whole numbers: they locate a change in each partition.
        n: How many partitions the topic has; by default it is found, too.
        key_type: How a value becomes key bytes; see `partwright.encode`.

    Returns:
        The answer, a `partwright.audit.Fingerprint`.

    Raises:
        KeyTypeError: The keys have no bytes under this key type.
        PartwrightError: A column does not exist or has another type; a record is in no partition, or in one that n does
            not have; the table is a stream.

    Examples:
        >>> found = fingerprint(records, "key", timestamp="timestamp", offset="offset")
        >>> found.verdict, found.n, found.family[0]
        ('one-writer', 12, 'java')
    """
    count = checked_n(n)
    rows = records(df, key, partition, timestamp=timestamp, offset=offset, key_type=key_type)
    with refused():
        with kept(sums(rows)) as by_pair:
            seen = observed(by_pair, order_of(rows), counts_heaviest=False)
        _refuse_elsewhere(seen, None)
        return judge(seen, count)


def resize(
    df: DataFrame,
    key: str | Column,
    from_: SupportsIndex,
    to: SupportsIndex,
    client: str = "java",
    key_type: str | None = None,
    *,
    partition: str | Column | None = None,
    offset: str | Column | None = None,
    size: str | Column | None = None,
) -> Resize:
    """Find what moves when the topic of a table's records gets another number of partitions.

    Args:
        df: The records.
        key: The column of their keys; see `fingerprint`.
        from_: How many partitions the topic has.
        to: How many it would have.
        client: The client profile that writes to it.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        partition: The column with their partitions, whole numbers; by default where the client places them.
        offset: The column with their offsets, to tell up to where each partition has to be drained.
        size: The column with their sizes in bytes.

    Returns:
        The plan, a `partwright.audit.Resize`; `to_dict()` is what `partwright resize --json` prints.

    Raises:
        KeyTypeError: The keys have no bytes under this key type.
        PartwrightError: A number of partitions or the client is invalid, or both numbers are the same; a column does
            not exist or has another type; a record is in no partition from 0 to `from_` - 1; the table is a stream.

    Examples:
        >>> plan = resize(orders, "user", 12, 24)
        >>> plan.keys_moved, plan.rows_moved
        (158, 1580)
    """
    plan = Resize(from_, to, client, key_type)
    rows = records(df, key, partition, offset=offset, size=size, key_type=key_type)
    before, after = (_placed(n, client) for n in (plan.from_, plan.to))
    placed = sums(rows).withColumns({"before": before, "after": after, "level": level_of_key()})
    with refused(), kept(placed) as stored:
        by_pair = completed(stored)
        at = "before" if partition is None else "partition"
        moved = sf.coalesce(sf.col("before") != sf.col("after"), sf.lit(False))
        of_before = by_pair.groupBy("before", sf.col(at).alias("at"), moved.alias("moved")).agg(
            sf.sum("rows").alias("rows"),
            sf.sum("bytes").alias("bytes"),
            sf.max("last_offset").alias("last_offset"),
        )
        of_after = by_pair.groupBy("after").agg(sf.sum("rows").alias("rows"), sf.sum("bytes").alias("bytes"))
        found = to_arrow(of_before)
        if partition is not None:
            _refuse_places(found, plan.from_)
        is_by_key = partition is None
        seen = observed(_by(by_pair, "before", is_summed=is_by_key), is_by_key=is_by_key)
        plan.take(found, to_arrow(of_after), seen, is_compared=partition is not None)
    return plan


def check(
    df: DataFrame,
    key: str | Column,
    n: SupportsIndex,
    client: str = "java",
    key_type: str | None = None,
    partition: str | Column | None = None,
    max_share: float | str | None = None,
    min_used: float | str | None = None,
    *,
    show: int = 10,
) -> Check:
    """Check whether a table's records are where a client puts them, and how even the partitions are.

    Args:
        df: The records.
        key: The column of their keys; see `fingerprint`.
        n: How many partitions the topic has.
        client: The client profile whose partitions are right.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        partition: The column with their partitions, whole numbers; by default no place is compared, `misplaced` is
            None, and the shares are those that the client would produce.
        max_share: The largest share of the rows that a partition may have: 0.05 or "5%".
        min_used: The smallest share of the partitions that must have rows: 0.9 or "90%".
        show: How many keys of misplaced records to keep as examples, the heaviest.

    Returns:
        The result; `to_dict()` is what `partwright check --json` prints, except that the examples are keys, not rows.

    Raises:
        KeyTypeError: The keys have no bytes under this key type.
        PartwrightError: n, the client, a share or `show` is invalid; a column does not exist or has another type; the
            table is a stream.

    Examples:
        >>> found = check(orders, "country", 48, max_share="5%")
        >>> found.ok, found.broken
        (False, ['partition 8 has 90.5% of the rows, more than 5%'])
    """
    most, least = read_share(max_share, "max_share"), read_share(min_used, "min_used")
    found = Check(n, client, key_type, show=_checked_show(show), max_share=most, min_used=least)
    rows = records(df, key, partition, key_type=key_type)
    expected, at = sf.col("expected"), sf.col("partition")
    if partition is None:
        place, right = expected, sf.lit(True)
    else:
        is_open = expected.isNull()
        inside = at.between(0, found.n - 1)
        place = sf.when(inside, at)
        # If the client determines no partition, having none is right too.
        right = sf.coalesce((inside & (is_open | (at == expected))) | (is_open & at.isNull()), sf.lit(False))
    by_key = {"expected": _placed(found.n, client), "level": level_of_key()}
    placed = sums(rows).withColumns(by_key)
    placed = placed.withColumns({"place": place.cast("long"), "right": right})
    with refused(), kept(placed) as by_pair:
        wrong = by_pair.where(~sf.col("right"))
        counted = {
            "misplaced": ~sf.col("right"),
            "open": sf.col("right") & expected.isNull(),
            "nowhere": ~sf.col("right") & at.isNull(),
            "elsewhere": sf.col("place").isNull() & at.isNotNull(),
            "anywhere": sf.col("key").isNotNull() & expected.isNull(),
        }
        totals = to_arrow(
            by_pair.agg(*(sf.sum(sf.when(of, sf.col("rows"))).alias(name) for name, of in counted.items()))
        )
        misplaced, open_, nowhere, elsewhere, anywhere = (totals[name][0].as_py() or 0 for name in counted)
        # A key has several sums of a partition only if partitions that the topic lacks were merged into one.
        by_place = _by(by_pair, "place", is_summed=partition is None or not elsewhere)
        # If every key is where the client puts it, each has one partition.
        seen = observed(by_place, is_by_key=partition is None or not misplaced + anywhere)
        heaviest = (
            wrong.orderBy(sf.desc("rows"), "key").limit(show).select("key", "partition", "expected", "rows")
        )
        examples = [
            Example(
                None,
                None,
                shown_key(row["key"], key_type),
                row["partition"],
                row["expected"],
                client,
                row["rows"],
            )
            for row in (to_arrow(heaviest).to_pylist() if misplaced else ())
        ]
        found.take(seen, None if partition is None else misplaced, open_, nowhere, examples)
    return found


@dataclass(frozen=True, slots=True)
class Topic:
    """Where the keys of a topic, or of a table that stands for one, are.

    Attributes:
        n: The number of partitions; by default found from where the keys are.
        client: The client profile that would place the keys, if no partition is given; `java` by default.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        partition: The column with the records' partitions, whole numbers without nulls.
    """

    n: SupportsIndex | None = None
    client: str | None = None
    key_type: str | None = None
    partition: str | Column | None = None


def check_copartition(
    a: DataFrame,
    b: DataFrame,
    key: str | Column,
    topic: Topic | None = None,
    *,
    key_b: str | Column | None = None,
    topic_b: Topic | None = None,
) -> Meeting:
    """Whether two tables or topics meet: the same key bytes in the same partition of both; and why not.

    Settings that are not given for `b` are those of `a`; a client given only for `b` replaces its column of partitions,
    and the other way round.

    Args:
        a: One table's records.
        b: The other's.
        key: The column of the keys; see `fingerprint`.
        topic: Where its keys are.
        key_b: The column of the keys of `b`.
        topic_b: Where the keys of `b` are.

    Returns:
        The answer, a `partwright.audit.Meeting`: whether it is `ok`, the shares and the reasons.

    Raises:
        KeyTypeError: Keys have no bytes under their key type.
        PartwrightError: A column does not exist or has another type; the number of partitions cannot be found; a record
            is in no partition, or in one that n does not have; a table is a stream.

    Examples:
        >>> found = check_copartition(orders, users, "user", Topic(partition="partition"))
        >>> found.ok, found.reasons[0].sentence
        (False, "A's keys are put by java, and B's by librdkafka")
    """
    topic, topic_b = options(topic, Topic, "topic"), options(topic_b, Topic, "topic_b")
    by = topic if topic_b.partition is None and topic_b.client is None else topic_b
    topic_b = Topic(
        topic.n if topic_b.n is None else topic_b.n,
        by.client,
        topic.key_type if topic_b.key_type is None else topic_b.key_type,
        by.partition,
    )
    sides = (_side(a, key, topic), _side(b, key if key_b is None else key_b, topic_b))
    # Both are refused before a job runs for one of them.
    return meet(*(side() for side in sides))


def _side(df: DataFrame, key: str | Column, topic: Topic) -> Callable[[], Side]:
    """A function that sums up one of two tables; everything that can be refused without a job is refused first."""
    count, client, key_type, partition = checked_n(topic.n), topic.client, topic.key_type, topic.partition
    rows = records(df, key, partition, key_type=key_type)
    by_pair = sums(rows)
    if partition is None:
        if count is None:
            raise PartwrightError(
                "say how many partitions there are, with n, or where the records are, with partition"
            )
        client = client or "java"
        place = sf.coalesce(_placed(count, client), sf.lit(ANYWHERE))
        by_pair = by_pair.withColumn("partition", place.cast("long"))
    elif client is not None:
        raise PartwrightError(
            f"client {client!r} would place keys, and a column of partitions says where they are: give one of the two"
        )

    def side() -> Side:
        with refused(), kept(by_pair) as summed:
            seen = observed(summed, order_of(rows), counts_heaviest=False)
        if partition is not None:
            _refuse_elsewhere(seen, count)
        return Side(seen, count, client, key_type)

    return side


def _placed(n: int, client: str) -> Column:
    """Where a client puts the key bytes of a row."""
    return exact(lambda engine: partition_for_key("key", n, client, engine=engine))


def _checked_show(show: SupportsIndex) -> int:
    """Check how many examples to keep, a number that Spark accepts as a limit."""
    try:
        count = index(show)
    except TypeError:
        count = -1
    if not 0 <= count <= _MOST_SHOWN:
        raise PartwrightError(f"show must be a whole number from 0 to {_MOST_SHOWN}, not {show!r}")
    return count


def _by(by_pair: DataFrame, partition: str, *, is_summed: bool) -> DataFrame:
    """Sums by key and another partition; or by key alone, if each key has only one."""
    pairs = by_pair.drop("partition").withColumnRenamed(partition, "partition")
    return pairs if is_summed else summed_again(pairs)


def _refuse_elsewhere(seen: Observed, n: int | None) -> None:
    """Refuse records that are in no partition, or in one that n does not have."""
    outside = [each for each in seen.rows_in if not 0 <= each <= (_LARGEST if n is None else n - 1)]
    nowhere = seen.rows - seen.rows_in.total()
    _refuse(nowhere, {each: seen.rows_in[each] for each in outside}, n)


def _refuse_places(of_before: pa.Table, n: int) -> None:
    nowhere = 0
    outside: dict[int, int] = {}
    for row in of_before.to_pylist():
        if row["at"] is None:
            nowhere += row["rows"]
        elif not 0 <= row["at"] < n:
            outside[row["at"]] = outside.get(row["at"], 0) + row["rows"]
    _refuse(nowhere, outside, n)


def _refuse(nowhere: int, outside: dict[int, int], n: int | None) -> None:
    they_are = f"they are whole numbers from 0 to {_LARGEST if n is None else n - 1}"
    if nowhere:
        raise PartwrightError(
            f"{counted(nowhere, 'row has', 'rows have')} no partition (their number is null): {they_are}"
        )
    if outside:
        first = min(outside)
        of = "" if n is None else f" of {n}"
        raise PartwrightError(
            f"{counted(outside[first], 'row is', 'rows are')} in {first}, which is not a partition{of}: {they_are}"
        )
