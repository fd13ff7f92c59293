"""The header by which a record of a run is known again, as Spark's expressions; see `partwright.kafka.marks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, BinaryType, StringType, StructField, StructType

from partwright.kafka.marks import LENGTHS, MARK, PREFIX, ROW, ROW_BYTES, ZERO

if TYPE_CHECKING:
    from partwright.kafka.marks import Mark

HEADERS = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))
"""A record's headers, as Spark's Kafka sink takes them."""


def marked(mark: Mark) -> Column:
    """The column `headers` of a record with its mark, which has its `row` and replaces an earlier run's."""
    digits = f"base64(unhex(lpad(hex(row), {2 * ROW_BYTES}, '0')))"
    value = sf.concat(sf.lit(mark.prefix.decode()), sf.expr(f"trim(LEADING '{ZERO}' FROM {digits})"))
    ours = sf.array(sf.struct(sf.lit(mark.header).alias("key"), value.cast("binary").alias("value")))
    theirs = sf.filter("headers", lambda header: header["key"] != mark.header)
    return sf.concat(sf.coalesce(theirs, sf.array().cast(HEADERS)), ours)


def mark_of(headers: str) -> Column:
    """The value of our header among a record's headers; null if it has none."""
    ours = sf.filter(headers, lambda header: header["key"] == MARK)
    last = sf.try_element_at(headers, sf.lit(-1))
    # It is written last; only a producer's interceptor can add headers after it. Looking there first takes half the
    # time of a search.
    return sf.when(last["key"] == MARK, last["value"]).otherwise(sf.get(ours, sf.lit(0))["value"])


def is_mark(header: str, *marks: Mark) -> Column:
    """Whether a header's value is a mark of one of these runs, of any run if none is named; false for null."""
    whole = sf.length(header).between(*LENGTHS)
    if marks:
        whole &= sf.substring(header, 1, PREFIX).isin(*(mark.prefix for mark in marks))
    return sf.coalesce(whole, sf.lit(False))


def row_of(header: str, mark: Mark) -> Column:
    """The row in a header's value; null if it is not this run's."""
    digits = sf.lpad(sf.substring(header, PREFIX + 1, ROW).cast("string"), ROW, ZERO)
    number = sf.try_to_binary(digits, sf.lit("base64"))
    # A number of 64 bits is in the last 8 of its 9 bytes.
    row = sf.conv(sf.hex(sf.substring(number, 2, ROW_BYTES - 1)), 16, 10).cast("long")
    return sf.when(is_mark(header, mark), row)
