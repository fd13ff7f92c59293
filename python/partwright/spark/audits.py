"""Audits of tables on the cluster: which client wrote a topic, what moves when it grows, how even is it, do two meet?

Each groups by key and partition in Spark, in one pass over the table, and brings sums to the driver: the answers are
those of `partwright fingerprint`, `resize`, `check` and `copartition` on files of the same records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, SupportsIndex

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from partwright._check import as_int, counted, no_column_name, options, spelled
from partwright.answer import Question
from partwright.audit.check import Check, CheckLimits, Example
from partwright.audit.copartition import ANYWHERE, JoinedKeys, JoinSide, Meeting, both_sides, meet
from partwright.audit.fingerprint_answer import Fingerprint
from partwright.audit.fingerprint_judge import judge
from partwright.audit.key_sums import Observed
from partwright.audit.record_columns import checked_n
from partwright.audit.resize import RecordColumns, Resize
from partwright.errors import PartwrightError
from partwright.keys.key_text import shown_key
from partwright.spark.columns import partition_for_key
from partwright.spark.engines.arrow import to_arrow
from partwright.spark.engines.choice import exact
from partwright.spark.sums_by_key import (
    completed,
    kept,
    level_of_key,
    observed,
    order_of,
    records,
    refuse_other_than_tables,
    refused,
    summed_again,
    sums,
)

# The largest partition, because n is at most 2^31-1.
_LARGEST = 2**31 - 2
# The columns of Spark's Kafka source.
_OWN = {"key": "binary", "partition": "int", "offset": "bigint", "timestamp": "timestamp"}


def fingerprint(
    df: DataFrame,
    key: str | Column | None = None,
    n: SupportsIndex | None = None,
    key_type: str | None = None,
    *,
    partition: str | Column | None = None,
    timestamp: str | Column | None = None,
    offset: str | Column | None = None,
) -> Fingerprint:
    """Find which client wrote a table's records, and for how many partitions.

    It takes one pass over the table; and a second over its times if records with keys follow no rule, to see whether
    partitions were taken in turn.

    A topic's own columns are used without being named, as `partwright fingerprint` uses them: `partition` (int),
    `timestamp` (timestamp) and `offset` (bigint), if the table has them, and `key` (binary) if it also has `topic`. The
    question of the answer names those that were used.

    Args:
        df: The records, such as Spark's Kafka source gives.
        key: The column of their keys, by name or as a Column: a string or binary, or under a `java:` key type numbers.
        n: How many partitions the topic has; by default it is found, too.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        partition: The column with their partitions, whole numbers without nulls.
        timestamp: The column with their times, timestamps or milliseconds: they date a change.
        offset: The column with their offsets, whole numbers: they locate a change in each partition.

    Returns:
        The answer, a `partwright.audit.Fingerprint`.

    Raises:
        KeyTypeError: The keys have no bytes under this key type.
        PartwrightError: A column is not named, does not exist or has another type; a record is in no partition, or in
            one that n does not have; the table is a stream.

    Examples:
        >>> found = fingerprint(records, "key", partition="partition", timestamp="timestamp", offset="offset")
        >>> found.verdict, found.n, found.family[0]
        ('one-writer', 12, 'java')
    """
    count = checked_n(n)
    named = {"key": key, "partition": partition, "timestamp": timestamp, "offset": offset}
    columns, question = _columns(df, named, alone=("partition", "timestamp", "offset"))
    if columns["partition"] is None:
        raise PartwrightError("name the partition's column with partition=", field="partition")
    rows = records(df, **columns, key_type=key_type)
    with refused():
        with kept(sums(rows)) as by_pair:
            seen = observed(by_pair, order_of(rows), counts_heaviest=False)
        _refuse_elsewhere(_places(seen), None)
        return judge(seen, count).with_question(question)


def resize(
    df: DataFrame,
    key: str | Column | None = None,
    from_: SupportsIndex | None = None,
    to: SupportsIndex | None = None,
    client: str = "java",
    key_type: str | None = None,
    *,
    to_client: str | None = None,
    columns: RecordColumns | None = None,
) -> Resize:
    """Find what moves when the topic of a table's records gets more partitions, or a writer with another rule.

    Args:
        df: The records. Of a topic, such as `read_topic` gives, `key`, `partition` and `offset` need not be named.
        key: The column of their keys; see `fingerprint`.
        from_: How many partitions the topic has.
        to: How many it would have; as many if only the client changes.
        client: The client profile that writes to it.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        to_client: The client profile that would write to it afterwards; the same by default.
        columns: The columns with their partitions (by default, records are where the client places them), with their
            offsets (to tell up to where each partition has to be drained) and with their sizes in bytes.

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
    to = from_ if to is None and to_client is not None else to
    if from_ is None or to is None:
        name = "from_" if from_ is None else "to"
        raise PartwrightError(f"give the number of partitions with {name}=", field=name)
    plan = Resize(from_, to, client, key_type, to_client=to_client)
    others = options(columns, RecordColumns, "columns")
    named = {"key": key, "partition": others.partition, "offset": others.offset, "size": others.size}
    used, question = _columns(df, named)
    partition = used["partition"]
    rows = records(df, **used, key_type=key_type)
    before, after = _placed(plan.from_, client), _placed(plan.to, plan.to_client)
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
        sums_before = to_arrow(of_before)
        if partition is not None:
            places = sums_before.select(["at", "rows"]).to_pylist()
            _refuse_elsewhere((tuple(row.values()) for row in places), plan.from_)
        is_by_key = partition is None
        seen = observed(_by(by_pair, "before", is_summed=is_by_key), is_by_key=is_by_key)
        plan.take(sums_before, to_arrow(of_after), seen, is_compared=partition is not None)
    return plan.with_question(question)


def check(
    df: DataFrame,
    key: str | Column | None = None,
    n: SupportsIndex | None = None,
    client: str = "java",
    key_type: str | None = None,
    *,
    partition: str | Column | None = None,
    limits: CheckLimits | None = None,
) -> Check:
    """Check whether a table's records are where a client puts them, and how even the partitions are.

    Args:
        df: The records. Of a topic, such as `read_topic` gives, `key` and `partition` need not be named.
        key: The column of their keys; see `fingerprint`.
        n: How many partitions the topic has.
        client: The client profile whose partitions are right.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        partition: The column with their partitions, whole numbers; by default no place is compared, `misplaced` is
            None, and the shares are those that the client would produce.
        limits: What is demanded of the shares, and how many keys of misplaced records are kept as examples.

    Returns:
        The result; `to_dict()` is what `partwright check --json` prints, except that the examples are keys, not rows.

    Raises:
        KeyTypeError: The keys have no bytes under this key type.
        PartwrightError: n, the client, a share or `show` is invalid; a column does not exist or has another type; the
            table is a stream.

    Examples:
        >>> found = check(orders, "country", 48, limits=CheckLimits(max_share="5%"))
        >>> found.ok, found.broken
        (False, ['partition 8 has 90.5% of the rows, more than 5%'])
    """
    limits = options(limits, CheckLimits, "limits")
    used, question = _columns(df, {"key": key, "partition": partition})
    if n is None:
        raise PartwrightError("give the number of partitions with n=", field="n")
    result = Check(n, client, key_type, limits=limits)
    partition = used["partition"]
    rows = records(df, **used, key_type=key_type)
    expected, at = sf.col("expected"), sf.col("partition")
    if partition is None:
        place, right = expected, sf.lit(True)
    else:
        is_open = expected.isNull()
        inside = at.between(0, result.n - 1)
        place = sf.when(inside, at)
        # If the client determines no partition, having none is right too.
        right = sf.coalesce((inside & (is_open | (at == expected))) | (is_open & at.isNull()), sf.lit(False))
    by_key = {"expected": _placed(result.n, client), "level": level_of_key()}
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
            wrong.orderBy(sf.desc("rows"), "key")
            .limit(limits.show)
            .select("key", "partition", "expected", "rows")
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
        result.take(seen, None if partition is None else misplaced, open_, nowhere, examples)
    return result.with_question(question)


def check_copartition(
    a: DataFrame | JoinSide,
    b: DataFrame | JoinSide,
    key: str | Column | None = None,
    n: SupportsIndex | None = None,
    client: str | None = None,
    key_type: str | None = None,
    *,
    partition: str | Column | None = None,
) -> Meeting:
    """Check whether records of one key are in the same partition of two topics or tables, and if not, why.

    `copartition` lays two tables out so that they meet.

    Args:
        a: One table's records, or a `JoinSide` of them with settings of its own. Of a topic, such as `read_topic`
            gives, `key` and `partition` need not be named.
        b: The other's.
        key: The column of the keys in both; see `fingerprint`.
        n: How many partitions both have; by default found from where the keys are.
        client: The client profile that would place the keys, if no column says where they are; `java` by default.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        partition: The column with the partitions, whole numbers without nulls.

    Returns:
        The answer, a `partwright.audit.Meeting`: whether it is `ok`, the shares and the reasons.

    Raises:
        KeyTypeError: Keys have no bytes under their key type.
        PartwrightError: A column does not exist or has another type; the number of partitions cannot be found; a record
            is in no partition, or in one that n does not have; a table is a stream.

    Examples:
        >>> found = check_copartition(orders, users, "user", partition="partition")
        >>> found.ok, found.reasons[0].sentence
        (False, "A's keys are put by java, and B's by librdkafka")
    """
    common = JoinSide(None, key, n, client, key_type, partition)
    sides = both_sides(common, a, b, is_topic=lambda _: False)
    # Both are refused before a job runs for one of them.
    summed = [_side(side, of) for side, of in zip(sides, ("", "_b"), strict=True)]
    return meet(*(each() for each in summed))


def _side(side: JoinSide, of: str) -> Callable[[], JoinedKeys]:
    """A function that sums up one of two tables; everything that can be refused without a job is refused first."""
    count, client, key_type = checked_n(side.n), side.client, side.key_type
    own = {"key": side.key} if client is not None else {"key": side.key, "partition": side.partition}
    used, _ = _columns(side.records, own, of=of)
    partition = side.partition if client is not None else used["partition"]
    rows = records(side.records, used["key"], partition, key_type=key_type)
    by_pair = sums(rows)
    if partition is None:
        if count is None:
            raise PartwrightError(
                f"say how many partitions there are, with {spelled('n' + of)}, or where the records are, with "
                f"{spelled('partition' + of)}"
            )
        client = client or "java"
        place = sf.coalesce(_placed(count, client), sf.lit(ANYWHERE))
        by_pair = by_pair.withColumn("partition", place.cast("long"))
    elif client is not None:
        raise PartwrightError(
            f"client {client!r} would place keys, and a column of partitions says where they are: give one of the two"
        )

    def summed() -> JoinedKeys:
        with refused(), kept(by_pair) as stored:
            seen = observed(stored, order_of(rows), counts_heaviest=False)
        if partition is not None:
            _refuse_elsewhere(_places(seen), count)
        return JoinedKeys(seen, count, client, key_type)

    return summed


def _columns(
    df: DataFrame, named: Mapping[str, str | Column | None], alone: Sequence[str] = (), of: str = ""
) -> tuple[dict[str, Any], Question]:
    """The columns by role, those of a topic where none is named, and a question that names these.

    Args:
        df: The records.
        named: By role, the named column.
        alone: The roles whose columns are a topic's even in a table without the column `topic`.
        of: `_b` for the second of two tables.

    Raises:
        PartwrightError: The keys are not named, and it is no topic; or it is no DataFrame.
    """
    refuse_other_than_tables(df)
    kinds = {
        name: kind.simpleString() for name, kind in ((each.name, each.dataType) for each in df.schema.fields)
    }
    is_topic = kinds.get("topic") == "string"
    topic_columns = {
        role: role
        for role, column in named.items()
        if column is None and kinds.get(role) == _OWN.get(role, "") and (is_topic or role in alone)
        if df.columns.count(role) == 1
    }
    if named["key"] is None and "key" not in topic_columns:
        raise PartwrightError(f"name the key's column with {spelled('key' + of)}", field="key")
    if as_int(named["key"]) is not None:
        raise PartwrightError(no_column_name("key" + of, named["key"], df.columns), field="key")
    return {**named, **topic_columns}, Question(
        settings={role: f"{role}, a topic's own" for role in topic_columns}
    )


def _placed(n: int, client: str) -> Column:
    """Where a client puts the key bytes of a row."""
    return exact(lambda engine: partition_for_key("key", n, client, engine=engine))


def _by(by_pair: DataFrame, partition: str, *, is_summed: bool) -> DataFrame:
    """Sums by key and another partition; or by key alone, if each key has only one."""
    pairs = by_pair.drop("partition").withColumnRenamed(partition, "partition")
    return pairs if is_summed else summed_again(pairs)


def _places(seen: Observed) -> list[tuple[int | None, int]]:
    return [(None, seen.rows - seen.rows_in.total()), *seen.rows_in.items()]


def _refuse_elsewhere(rows_in: Iterable[tuple[int | None, int]], n: int | None) -> None:
    """Refuse records that are in no partition, or in one that n does not have.

    Args:
        rows_in: Partitions, or None, and how many rows are there.
        n: How many partitions there are; None if that is unknown.
    """
    rows: Counter[int | None] = Counter()
    for place, count in rows_in:
        rows[place] += count
    nowhere = rows.pop(None, 0)
    outside = [
        place for place in rows if place is not None and not 0 <= place <= (_LARGEST if n is None else n - 1)
    ]
    they_are = f"they are whole numbers from 0 to {_LARGEST if n is None else n - 1}"
    if nowhere:
        raise PartwrightError(
            f"{counted(nowhere, 'row has', 'rows have')} no partition (their number is null): {they_are}"
        )
    if outside:
        first = min(outside)
        of = "" if n is None else f" of {n}"
        raise PartwrightError(
            f"{counted(rows[first], 'row is', 'rows are')} in {first}, which is not a partition{of}: {they_are}"
        )
