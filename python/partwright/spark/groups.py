"""Assign thousands of consumer groups on the cluster: who reads what in each, as a table.

Spark brings a group's members together and puts them in order; a batch of groups then crosses to Python at once, as
Arrow's nested columns. `applyInArrow` calls Python once a group, which takes three times as long for small groups.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

from partwright._check import first_line
from partwright.assignors.group_batches import GroupTopics, Topics, assign_sorted, check_assignor
from partwright.assignors.tables import OPTIONAL
from partwright.errors import PartwrightError
from partwright.spark.engines import arrow
from partwright.spark.schema import order_columns, order_list, type_of

_NO_TOPICS = "array<struct<topic: string, partitions: int>>"
_PAIR = StructType(
    [StructField(name, StringType()) for name in ("member", "topic")]
    + [StructField(name, IntegerType()) for name in ("partition", "position")]
)


def assign(
    members: DataFrame,
    topics: Mapping[str, int] | DataFrame,
    assignor: object = "range",
    *,
    order_by: str | Column | Sequence[str | Column],
) -> DataFrame:
    """Assign partitions in each of many consumer groups, as `partwright.assign` does for one.

    Args:
        members: A row for each member of each group: `group` (of any type that Spark groups by), `member` (its ID),
            `topics` (array<string>) and, if known, `owned` (array<struct<topic: string, partition: int>>),
            `generation`, `instance_id` and `rack`. Other columns are ignored.
        topics: Each topic's number of partitions by name; or a table of `topic`, `partitions` and, if known, `racks`
            (array<array<string>>, for each partition its replicas' racks), in the order of the names. With a column
            `group`, of members' type, each group has its own topics, and rows with a null there are ignored; without
            one the table is collected at once.
        assignor: See `partwright.assign_groups`. A class of your own that the workers cannot import is sent to them; if
            it is a path, its module must be there.
        order_by: The column or columns by which a group's members are put into Java's map, unique in each group: ties
            between members depend on it, and a Spark table has no order of its own. A real leader uses the order of its
            JoinGroup response; use `"member"` if you know none.

    Returns:
        A table of `group`, `member`, `topic`, `partition` and `position`, the place in the member's list, which is in
        Kafka's order. A member that reads nothing has no row.

    Raises:
        PartwrightError: At once: a column does not exist or has another type, the assignor is unknown, or a table is a
            stream. As Spark's `PythonException`, when a job runs: members with equal `order_by`, an invalid group, or
            Kafka's own assignor throws. The sentence names the group; `partwright.spark.first_sentence` finds it.

    Examples:
        >>> members.columns
        ['group', 'member', 'topics', 'joined']
        >>> assign(members, {"orders": 12}, "sticky", order_by="joined")
        DataFrame[group: string, member: string, topic: string, partition: int, position: int]
    """
    check_assignor(assignor)
    _check_sent(assignor)
    _check(members, "members", ["group", "member", "topics"])
    columns = ["member", "topics", *_existing_columns(members, OPTIONAL)]
    _check(members, "members", columns)
    by = order_columns(members, order_list(order_by, "by which a group's members are ordered"))
    order = sf.struct(*(each.alias(f"by_{place}") for place, each in enumerate(by)))
    member_struct = sf.struct(order.alias("order"), *(_member_column(name).alias(name) for name in columns))
    grouped = members.groupBy("group").agg(
        sf.sort_array(sf.collect_list(member_struct)).alias("members"),
        (sf.size(sf.collect_set(order)) < sf.count("*")).alias("tied"),
    )
    shared = None
    if isinstance(topics, Mapping):
        shared = Topics(topics)
    elif "group" in _check(topics, "topics", ["topic", "partitions"]):
        _check_groups(members, topics)
        of_topics = sf.sort_array(sf.collect_list(sf.struct(*_of_topics(topics)))).alias("of_topics")
        grouped = grouped.join(topics.groupBy("group").agg(of_topics), "group", "left")
    else:
        shared = Topics.of_table(arrow.to_arrow(topics.select(*_of_topics(topics)).orderBy("topic")))
    own = sf.lit(None).cast(_NO_TOPICS) if shared is not None else sf.col("of_topics")
    # The columns for sorting are no longer needed, and Arrow might have no type for them.
    rows = sf.transform("members", lambda member: member.dropFields("order"))
    label = sf.col("group").cast("string").cast("binary")
    arguments = [label.alias("label"), sf.col("tied"), rows.alias("rows"), own.alias("own")]
    assigned = arrow.with_column(
        grouped, "assigned", _assigning(assignor, shared), ArrayType(_PAIR), arguments, keep=["group"]
    )
    return assigned.select("group", sf.inline("assigned"))


def _check_sent(assignor: object) -> None:
    """Spark pickles it: at once in a classic session, but through Connect only when a job runs."""
    try:
        cloudpickle.dumps(assignor)  # type: ignore[no-untyped-call]
    except Exception as error:
        raise PartwrightError(f"the assignor cannot be sent to the workers: {first_line(error)}") from error


def _assigning(assignor: object, shared: Topics | None) -> Callable[[arrow.Batches], Iterator[pa.Array]]:
    def assigned(label: pa.Array, tied: pa.Array, members: pa.Array, topics: pa.Array) -> pa.Array:
        group = [_as_text(each) for each in label.to_pylist()]
        for name, is_tied in zip(group, tied.to_pylist(), strict=True):
            if name is None:
                raise PartwrightError("members: a row has no group: its group is null")
            if is_tied:
                raise PartwrightError(
                    f"group {name!r}: two members are equal in order_by, and ties between members depend on their "
                    "order: name columns that are unique in a group"
                )
        table, counts = _table(members)
        of_groups = GroupTopics(*_table(topics)) if shared is None else shared
        assignment = assign_sorted(group, counts, table, of_groups, assignor)
        member = table["member"].combine_chunks().cast(pa.string()).take(assignment.reader)
        columns = [member, assignment.topic, assignment.partition, assignment.position]
        return pa.ListArray.from_arrays(assignment.ends, pa.StructArray.from_arrays(columns, _PAIR.names))

    def over_batches(batches: arrow.Batches) -> Iterator[pa.Array]:
        return (assigned(*batch) for batch in batches)

    return over_batches


def _table(lists: pa.Array) -> tuple[pa.Table, list[int]]:
    """The structs of all lists as a table, and the length of each list, 0 for a null."""
    flat = lists.flatten()
    table = pa.table(dict(zip((field.name for field in flat.type), flat.flatten(), strict=True)))
    return table, pc.fill_null(pc.list_value_length(lists), 0).to_pylist()


def _as_text(name: bytes | None) -> str | None:
    """A group's name; bytes that are not text are shown in hexadecimal."""
    if name is None:
        return None
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.hex().upper()


def _of_topics(topics: DataFrame) -> list[Column]:
    racks = _existing_columns(topics, ["racks"])
    _check(topics, "topics", racks)
    return [sf.col(name).alias(name) for name in ("topic", "partitions", *racks)]


def _existing_columns(df: DataFrame, names: Sequence[str]) -> list[str]:
    """The names that are columns; Spark ignores their case."""
    columns = {column.lower() for column in df.columns}
    return [name for name in names if name in columns]


def _member_column(name: str) -> Column:
    """A column of members as it is sent; of a pair only the needed fields, because others may not be orderable."""
    if name != "owned":
        return sf.col(name)

    def pair(each: Column) -> Column:
        return sf.when(
            each.isNotNull(), sf.struct(each["topic"].alias("topic"), each["partition"].alias("partition"))
        )

    return sf.transform(name, pair)


def _check_groups(members: DataFrame, topics: DataFrame) -> None:
    """Refuse topics' groups of another type than members': Spark would cast them row by row, and fail at the first."""
    theirs, ours = (type_of(df, "group", name) for df, name in ((members, "members"), (topics, "topics")))
    names = [ours.simpleString(), theirs.simpleString()]
    if theirs != ours and not all(re.fullmatch(_WHOLE, each) for each in names):
        raise PartwrightError(
            f"the column group is {names[0]} in topics and {names[1]} in members: give both one type"
        )


def _check(df: DataFrame, name: str, columns: Sequence[str]) -> list[str]:
    """Refuse a table that lacks a column or has it of another type; otherwise its columns, in lower case."""
    if not hasattr(df, "isStreaming"):
        raise PartwrightError(
            f"{name} is a DataFrame of Spark, not {type(df).__name__}: partwright.assign_groups takes other tables"
        )
    if df.isStreaming:
        raise PartwrightError(
            f"{name} is a stream, and a group is assigned as a whole: assign each of its batches in foreachBatch"
        )
    for column in columns:
        kind = type_of(df, column, name).simpleString()
        expected_type, pattern = _TYPES.get(column, ("", ".*"))
        if not re.fullmatch(pattern, kind):
            raise PartwrightError(f"the column {column} must be {expected_type}, not {kind}")
    return [column.lower() for column in df.columns]


_WHOLE = "tinyint|smallint|int|bigint"
_TEXT = "string[^<>]*"
# What a column's type is called, and a pattern of Spark's own names of it.
_TYPES = {
    "member": ("string", _TEXT),
    "topics": ("array<string>", f"array<{_TEXT}>"),
    "owned": (
        "array<struct<topic: string, partition: int>>",
        r"array<struct<(?=.*\btopic:)(?=.*\bpartition:).*>>",
    ),
    "generation": ("int", _WHOLE),
    "instance_id": ("string", _TEXT),
    "rack": ("string", _TEXT),
    "topic": ("string", _TEXT),
    "partitions": ("int", _WHOLE),
    "racks": ("array<array<string>>", f"array<array<{_TEXT}>>"),
}
