"""The strategies of a producer in Spark: each task is one producer, whose rows are in a known order.

A strategy goes by the records before, so that a task that runs again has to meet the same rows in the same order: that
of the source, as long as nothing was shuffled, or that of columns that are unique, by which each task is sorted.
"""

from __future__ import annotations

import io
from collections.abc import Iterator  # noqa: TC003 - Spark reads the UDFs' annotations as it makes them
from contextlib import redirect_stdout
from operator import index
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import functions as sf
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # made as its module is imported
from pyspark.sql.types import IntegerType

from partwright.errors import PartwrightError
from partwright.producer import Producer
from partwright.spark.columns import as_column
from partwright.spark.schema import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import SupportsIndex

    from pyspark.sql import Column, DataFrame

__all__ = ["by_strategy"]

_TOPIC = "topic"
_WITHOUT_CLUSTER = {"explicit", "leader", "field"}
_SHUFFLES = ("Exchange", "ShuffleQueryStage")
_SIZES = ("tinyint", "smallint", "int", "bigint")


def by_strategy(
    df: DataFrame,
    key: str | Column,
    n: SupportsIndex,
    client: str,
    key_type: str | None,
    strategy: str,
    value: str | Column | None,
    size: str | Column | None,
    order_by: str | Column | Sequence[str | Column] | None,
    seed: int,
    configs: Mapping[str, Any] | None,
) -> tuple[DataFrame, Column]:
    """The table, sorted within its tasks where an order is given, and the column of its partitions.

    Args:
        df: The table; see `with_partition` for all the others.
        key: The keys.
        n: How many partitions there are.
        client: The client profile.
        key_type: How a value becomes key bytes.
        strategy: The strategy.
        value: The values, of which the bytes count.
        size: How many bytes the values have.
        order_by: Columns that are unique.
        seed: What the draws of task 0 begin with; those of task i with so much more.
        configs: The producer's configuration.

    Raises:
        PartwrightError: A stream; rows in no known order; a strategy that needs a cluster; sizes that are missing.
    """
    count = index(n)
    producer = Producer(
        {_TOPIC: count}, strategy, configs=configs, client=client, key_type=key_type, seed=seed
    )
    if producer.strategy in _WITHOUT_CLUSTER:
        raise PartwrightError(
            f"the strategy {producer.strategy} goes by more than a key and a number of partitions: place such records "
            "with pw.Producer"
        )
    if df.isStreaming:
        raise PartwrightError(
            "a stream's rows have no order that comes again: place each of its batches in foreachBatch, with order_by="
        )
    columns = {"key": as_column(key, "key")}
    sizes = _sizes(df, value, size)
    if producer.counts_bytes:
        if sizes is None:
            raise PartwrightError(
                f"the strategy {producer.strategy} counts bytes: name the values' column with value=, or that of their "
                "sizes with size="
            )
        columns["size"] = sizes
    if order_by is None:
        _refuse_shuffles(df)
    else:
        order = [*order_by] if isinstance(order_by, (list, tuple)) else [cast("str | Column", order_by)]
        for each in order:
            type_of(df, each, "order_by")
        by = [as_column(each, "order_by") for each in order]
        df = df.sortWithinPartitions(*by)
        columns["order"] = sf.struct(*(each.alias(f"c{place}") for place, each in enumerate(by)))

    def made(task: int) -> Producer:
        return Producer(
            {_TOPIC: count}, strategy, configs=configs, client=client, key_type=key_type, seed=seed + task
        )

    udf = arrow_udf(_placing(made, [*columns]), IntegerType()).asNondeterministic()
    return df, cast("Column", udf(*columns.values()))


def _placing(
    made: Callable[[int], Producer], names: list[str]
) -> Callable[[Iterator[tuple[pa.Array, ...]]], Iterator[pa.Array]]:
    """What a task runs: its one producer over its batches."""

    def strategy(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        context = TaskContext.get()
        producer = made(0 if context is None else context.partitionId())
        last = None
        for arrays in batches:
            # A column alone comes as it is.
            each = arrays if len(names) > 1 else [cast("pa.Array", arrays)]
            given = dict(zip(names, each, strict=True))
            order = given.pop("order", None)
            if order is not None and len(order):
                _refuse_equal(order if last is None else pa.concat_arrays([last, order]))
                last = order.slice(len(order) - 1)
            placed = producer.place(pa.table(given))
            yield placed.combine_chunks() if placed.num_chunks else pa.array([], pa.int32())

    return strategy


def _refuse_equal(order: pa.StructArray) -> None:
    """Rows that are equal in the columns of `order_by` may change places when a task runs again."""
    equal = None
    for column in order.flatten():
        before, after = column.slice(0, len(column) - 1), column.slice(1)
        same = pc.or_kleene(pc.equal(before, after), pc.and_(pc.is_null(before), pc.is_null(after)))
        same = pc.fill_null(same, fill_value=False)
        equal = same if equal is None else pc.and_(equal, same)
    row = pc.index(equal, pa.scalar(value=True)).as_py()
    if row >= 0:
        values = ", ".join(repr(each) for each in order[row].as_py().values())
        raise PartwrightError(
            f"two rows of a task are equal in order_by ({values}), and may change places when it runs again: name "
            "columns that are unique together"
        )


def _sizes(df: DataFrame, value: str | Column | None, size: str | Column | None) -> Column | None:
    if size is not None:
        kind = type_of(df, size, "size").simpleString()
        if kind not in _SIZES:
            raise PartwrightError(f"size is a column of whole numbers, not of {kind}")
        return as_column(size, "size").cast("int")
    if value is None:
        return None
    kind = type_of(df, value, "value").simpleString()
    if kind not in {"string", "binary"}:
        raise PartwrightError(
            f"value is a column of string or binary, not of {kind}: name the sizes with size="
        )
    return sf.octet_length(as_column(value, "value"))


def _refuse_shuffles(df: DataFrame) -> None:
    plan = io.StringIO()
    with redirect_stdout(plan):
        df.explain("simple")
    if any(shuffle in plan.getvalue() for shuffle in _SHUFFLES):
        raise PartwrightError(
            "the rows come out of a shuffle, in another order each time: name unique columns with order_by=, so that a "
            "task that runs again gives the same partitions"
        )
