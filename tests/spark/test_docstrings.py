"""The examples in the docstrings of partwright.spark run as shown, in a real session."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import docstrings
import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

MODULES = [name for name in docstrings.modules() if name.startswith("partwright.spark")]
USERS = [f"u{number}" for number in range(300)]
AT = datetime(2026, 1, 1, tzinfo=UTC)


def placed(keys: list[str], n: int, client: str = "java") -> list[tuple[str, int]]:
    return list(zip(keys, pw.partition_for_key(keys, n, client).to_pylist(), strict=True))


def of_one_writer(spark: SparkSession) -> dict[str, DataFrame]:
    rows = [(key, n, at, AT) for at, (key, n) in enumerate(placed(USERS, 12))]
    return {
        "records": spark.createDataFrame(
            rows, "key string, partition int, offset bigint, timestamp timestamp"
        )
    }


def of_two_writers(spark: SparkSession) -> dict[str, DataFrame]:
    kind = "user string, partition int"
    return {
        "orders": spark.createDataFrame(placed(USERS, 12), kind),
        "users": spark.createDataFrame(placed(USERS, 12, "librdkafka"), kind),
    }


def by_country(spark: SparkSession) -> dict[str, DataFrame]:
    few = [key for key, n in placed(USERS, 48) if n != 8][:95]
    return {"orders": spark.createDataFrame([(key,) for key in ["US"] * 905 + few], "country string")}


def one(name: str, kind: str, *row: object) -> Callable[[SparkSession], dict[str, DataFrame]]:
    return lambda spark: {name: spark.createDataFrame([row], kind)}


def of_users(spark: SparkSession) -> dict[str, DataFrame]:
    return {
        "orders": spark.createDataFrame([("u1", 20)], "user string, total bigint"),
        "users": spark.createDataFrame([("u1", "Ann")], "user string, name string"),
    }


# The tables that an example uses, by the docstring that shows it.
TABLES: dict[str, Callable[[SparkSession], dict[str, DataFrame]]] = {
    "audits.check": by_country,
    "audits.check_copartition": of_two_writers,
    "audits.fingerprint": of_one_writer,
    "audits.resize": lambda spark: {
        "orders": spark.createDataFrame([(key,) for key in USERS * 10], "user string")
    },
    "columns.encode": one("orders", "id bigint", 1),
    "columns.murmur2": one("flights", "tailnum string", "N14228"),
    "columns.partition_for_key": one("flights", "tailnum string", "N14228"),
    "engines.choice.engine_of": one("flights", "tailnum string", "N14228"),
    "groups.assign": one(
        "members", "group string, member string, topics array<string>, joined int", "g", "c1", ["orders"], 1
    ),
    "partition_layout.copartition": of_users,
    "partition_layout.kafka_layout": one("orders", "id string, ts timestamp", "a", AT),
    "quotas.min_quota": one("groups", "partitions int, members int", 7, 3),
    "tables.with_partition": one("flights", "tailnum string", "N14228"),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_modules_docstrings(name: str, spark: SparkSession) -> None:
    for found in docstrings.docstrings(name):
        if not docstrings.is_skipped(found):
            tables = TABLES.get(found.name.removeprefix("partwright.spark."))
            docstrings.run(found, {"spark": spark, **(tables(spark) if tables else {})})
