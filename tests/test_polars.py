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


def test_a_partition_does_not_replace_its_key() -> None:
    frame = FRAME.with_columns(kafka("k").partition_for_key(12))
    assert frame.columns == ["k", "i", "g", "partition"]
    assert frame["partition"].to_list() == pw.partition_for_key(KEYS, 12).to_pylist()
    assert (
        FRAME.lazy().group_by(kafka("k").partition_for_key(12)).len().collect_schema().names()[0]
        == "partition"
    )
    numbers = FRAME.select(kafka("i").partition_for_key(12, key_type="java:long").name.keep())
    assert (
        numbers["i"].to_list() == pw.partition_for_key(range_of_keys(), 12, key_type="java:long").to_pylist()
    )
    lazy = FRAME.lazy().select(kafka("k").murmur2(), kafka("i").encode("java:int"))
    assert dict(lazy.collect_schema()) == {"murmur2": pl.Int32, "i": pl.Binary}
    assert lazy.collect()["murmur2"].to_list() == pw.murmur2(KEYS).to_pylist()
    assert lazy.collect()["i"].to_list() == pw.encode(range_of_keys(), "java:int").to_pylist()


def range_of_keys() -> list[int]:
    return list(range(len(KEYS)))


@pytest.mark.parametrize("type_", [pl.String(), pl.Categorical(), pl.Binary()])
def test_a_series_gives_a_series(type_: pl.DataType) -> None:
    keys = pl.Series("user", KEYS).cast(type_)
    for found in (pw.partition_for_key(keys, 7, "sarama"), keys.kafka.partition_for_key(7, "sarama")):  # type: ignore[attr-defined]
        assert (type(found), found.dtype, found.name) == (pl.Series, pl.Int32, "partition")
        assert found.to_list() == pw.partition_for_key(KEYS, 7, "sarama").to_pylist()
    assert pw.murmur2(keys).to_list() == pw.murmur2(KEYS).to_pylist()
    assert (pw.encode(keys).dtype, pw.encode(keys).name) == (pl.Binary, "user")
    assert pw.encode(keys).to_list() == pw.encode(KEYS).to_pylist()


def test_a_series_of_nothing_and_of_nulls_alone() -> None:
    assert pw.partition_for_key(pl.Series("k", [], pl.String), 7).to_list() == []
    assert pw.partition_for_key(pl.Series("k", [None, None]), 7).to_list() == [None, None]
    groups = pw.coordinator_partition(pl.Series(["KafkaConsumerDemo", None]))
    assert (groups.name, groups.to_list()) == ("partition", [35, None])


@pytest.mark.parametrize(
    "type_", [pl.Categorical(), pl.Enum(sorted({key for key in KEYS if key is not None})), pl.Binary()]
)
def test_every_type_of_text_is_a_key(type_: pl.DataType) -> None:
    frame = FRAME.with_columns(pl.col("k").cast(type_)).select(kafka("k").partition_for_key(12))
    assert frame["partition"].to_list() == pw.partition_for_key(KEYS, 12).to_pylist()


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
    assert found["i"].to_list() == pw.murmur2(range_of_keys(), key_type="java:long").to_pylist()
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
    names = [name for name in dir(partwright.polars) if name[0] not in "_@"]
    assert names == ["KafkaNamespace", "expression", "frame", "series_like"]
