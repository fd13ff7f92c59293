"""`partwright.polars`: expressions agree with the functions, in every way in which polars evaluates them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import partwright as pw
import partwright.polars

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = ["TT0124", "", None, "N14228", "ключ", "polygenelubricants"] * 500
FRAME = pl.DataFrame({"k": KEYS, "i": range(len(KEYS)), "g": [row % 7 for row in range(len(KEYS))]})
CLIENTS = [client for client in pw.clients()["client"].to_pylist() if client != "java:string-hash"]


def kafka(column: str) -> Any:
    return pl.col(column).kafka  # type: ignore[attr-defined]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_column_has_the_partitions_of_the_function(client: str, engine: Any) -> None:
    frame = FRAME.lazy().with_columns(p=kafka("k").partition_for_key(7, client)).collect(engine=engine)
    assert frame.schema["p"] == pl.Int32
    assert frame["p"].to_list() == pw.partition_for_key(KEYS, 7, client).to_pylist()


def test_a_column_keeps_its_name_and_its_type() -> None:
    frame = FRAME.select(
        kafka("k").partition_for_key(12), kafka("i").partition_for_key(12, key_type="java:long")
    )
    assert frame["k"].to_list() == pw.partition_for_key(KEYS, 12).to_pylist()
    assert frame["i"].to_list() == pw.partition_for_key(FRAME["i"], 12, key_type="java:long").to_pylist()
    lazy = FRAME.lazy().select(kafka("k").murmur2(), b=kafka("i").encode("java:int"))
    assert dict(lazy.collect_schema()) == {"k": pl.Int32, "b": pl.Binary}
    assert lazy.collect()["k"].to_list() == pw.murmur2(KEYS).to_pylist()
    assert lazy.collect()["b"].to_list() == pw.encode(FRAME["i"].cast(pl.Int32), "java:int").to_pylist()


@pytest.mark.parametrize(
    "type_", [pl.Categorical(), pl.Enum(sorted({key for key in KEYS if key is not None})), pl.Binary()]
)
def test_every_type_of_text_is_a_key(type_: pl.DataType) -> None:
    frame = FRAME.with_columns(pl.col("k").cast(type_)).select(kafka("k").partition_for_key(12))
    assert frame["k"].to_list() == pw.partition_for_key(KEYS, 12).to_pylist()


def test_a_column_of_nulls_alone_is_one_of_keys() -> None:
    frame = pl.DataFrame({"k": [None, None]}).select(
        kafka("k").partition_for_key(7),
        m=kafka("k").murmur2(),
        e=kafka("k").encode(),
        r=kafka("k").partition_for_key(7, "librdkafka:murmur2"),
    )
    assert frame.rows() == [(None, None, None, 2)] * 2


def test_groups_windows_and_empty_frames() -> None:
    whole = FRAME.with_columns(p=kafka("k").partition_for_key(12))
    # As an aggregate, over a window, after a filter that leaves nothing.
    grouped = FRAME.group_by("g", maintain_order=True).agg(p=kafka("k").partition_for_key(12))
    assert grouped["p"].to_list() == whole.group_by("g", maintain_order=True).agg("p")["p"].to_list()
    windowed = FRAME.with_columns(p=kafka("k").partition_for_key(12).max().over("g"))
    assert windowed["p"].to_list() == whole.with_columns(pl.col("p").max().over("g"))["p"].to_list()
    empty = FRAME.filter(pl.col("i") < 0).with_columns(p=kafka("k").partition_for_key(12))
    assert (empty.height, empty.schema["p"]) == (0, pl.Int32)


@pytest.mark.parametrize(
    ("expression", "error", "sentence"),
    [
        (lambda: kafka("i").partition_for_key(12), pw.KeyTypeError, "int64 has no key bytes of its own"),
        (lambda: kafka("k").partition_for_key(0), pw.PartwrightError, "must be from 1 to 2147483647, not 0"),
        (
            lambda: kafka("k").partition_for_key(12, "librdkafka:murmur"),
            pw.PartwrightError,
            "librdkafka:murmur2",
        ),
    ],
    ids=["type", "n", "client"],
)
def test_an_error_is_the_functions(
    expression: Callable[[], pl.Expr], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        FRAME.select(expression())


def test_the_functions_take_expressions_and_give_them() -> None:
    frame = FRAME.lazy().select(
        p=pw.partition_for_key(pl.col("k"), 7, "sarama"),
        m=pw.murmur2(pl.col("k").str.to_uppercase()),
        i=pw.murmur2(pl.col("i"), key_type="java:long"),
        e=pw.encode(pl.col("i"), "java:int"),
        c=pw.coordinator_partition(pl.col("k")),
    )
    assert dict(frame.collect_schema()) == {
        "p": pl.Int32,
        "m": pl.Int32,
        "i": pl.Int32,
        "e": pl.Binary,
        "c": pl.Int32,
    }
    found = frame.collect()
    assert found["p"].to_list() == pw.partition_for_key(KEYS, 7, "sarama").to_pylist()
    assert found["m"].to_list() == pw.murmur2([key and key.upper() for key in KEYS]).to_pylist()
    assert found["i"].to_list() == pw.murmur2(FRAME["i"], key_type="java:long").to_pylist()
    assert found["c"].to_list() == pw.coordinator_partition(KEYS).to_pylist()


def test_what_is_wrong_is_said_where_the_expression_is_made() -> None:
    with pytest.raises(pw.PartwrightError, match="must be from 1 to 2147483647, not 0"):
        pw.partition_for_key(pl.col("k"), 0)
    with pytest.raises(pw.PartwrightError, match='there is no client "jave"'):
        kafka("k").partition_for_key(3, "jave")


def test_a_literal_is_a_key_and_no_columns_name() -> None:
    """The trap that docs/how-to/data-frames.md shows."""
    assert pw.partition_for_key("k", 12) == pw.partition_for_key(["k"], 12).to_pylist()[0]
    frame = FRAME.with_columns(p=pw.partition_for_key("k", 12), q=pw.partition_for_key(pl.col("k"), 12))
    assert frame["p"].n_unique() == 1
    assert frame["q"].n_unique() > 3


def test_no_name_leaks() -> None:
    assert [name for name in dir(partwright.polars) if name[0] not in "_@"] == ["KafkaNamespace"]
