"""Point reads without a broker: the option `assign`, the shell's commands, and `partwright which --topic`."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import partwright as pw
from partwright.kafka.point_reads import assign_json, read_commands

if TYPE_CHECKING:
    from collections.abc import Callable

    Which = Callable[..., tuple[int, str, str]]

KEYS = [f"user-{number}" for number in range(200)]


@pytest.mark.parametrize(
    ("key", "key_type"),
    [("TT0124", None), (b"\x00\xff", None), ("", None), (42, "java:long"), (uuid.UUID(int=7), "java:uuid")],
)
def test_one_key_is_in_one_partition(key: Any, key_type: str | None) -> None:
    assert json.loads(assign_json("orders", key, 12, "java", key_type)) == {
        "orders": [pw.partition_for_key(key, 12, "java", key_type)]
    }


@pytest.mark.parametrize(
    "make", [list, tuple, pa.array, np.array, pl.Series, lambda keys: pa.chunked_array([keys, keys])]
)
@pytest.mark.parametrize("client", ["java", "librdkafka"])
def test_a_column_of_keys_is_in_some_each_named_once(make: Callable[[list[str]], Any], client: str) -> None:
    partitions = sorted(set(pw.partition_for_key(KEYS[:9], 48, client).to_pylist()))
    assert json.loads(assign_json("orders", make(KEYS[:9]), 48, client)) == {"orders": partitions}
    assert 1 < len(partitions) < 10


@pytest.mark.parametrize(
    ("keys", "client", "sentence"),
    [
        (
            None,
            "java",
            "the key null has no partition of its own by client java, so its records may be in any: leave",
        ),
        (["a", None, None], "java", "row 1: the key null has no partition of its own by client java"),
        (pa.nulls(3), "java", "row 0: the key null has no partition of its own by client java"),
        (pa.chunked_array([["a"], ["b", None]]), "java", "row 2: the key null"),
        ("", "librdkafka", "the key (empty) has no partition of its own by client librdkafka"),
        (
            ["a", ""],
            "kafka-go:crc32",
            "row 1: the key (empty) has no partition of its own by client kafka-go:crc32",
        ),
        ([], "java", "there are no keys: name at least one"),
        (pa.array([], pa.string()), "java", "there are no keys: name at least one"),
        ("a", "sarma", 'there is no client "sarma"'),
        (42, "java", "int64 has no key bytes of its own"),
        ("polygenelubricants", "java:string-hash", 'the key "polygenelubricants" has the hashCode'),
    ],
)
def test_a_key_that_may_be_anywhere_is_refused(keys: Any, client: str, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        assign_json("orders", keys, 12, client)
    assert str(refused.value).startswith(sentence)
    if not isinstance(keys, (list, pa.Array, pa.ChunkedArray)):
        with pytest.raises(pw.PartwrightError) as refused:
            read_commands("orders", keys, 12, client=client)
        assert str(refused.value).startswith(sentence)


def test_a_null_key_that_the_client_hashes_has_a_place() -> None:
    partition = pw.partition_for_key(None, 12, "librdkafka:murmur2")
    assert json.loads(assign_json("orders", [None], 12, "librdkafka:murmur2")) == {"orders": [partition]}
    assert f" -p {partition} " in read_commands("orders", None, 12, client="librdkafka:murmur2")["kcat"]


@pytest.mark.parametrize("topic", ["", "a b", "..", "x" * 250, "a;rm"])
def test_what_is_no_topic_is_refused(topic: str) -> None:
    for ask in (assign_json, read_commands):
        with pytest.raises(pw.PartwrightError, match="cannot be a topic's name"):
            ask(topic, "a", 12)  # type: ignore[operator]


def test_the_lines_are_words_of_a_shell() -> None:
    lines = read_commands("orders", "TT0124", 12, servers="a b:1,$(c):2")
    assert shlex.split(lines["kcat"]) == [
        *("kcat", "-C", "-b", "a b:1,$(c):2", "-t", "orders", "-p", "10", "-o", "beginning", "-e"),
        *("-f", r"%k\t%s\n"),
    ]
    assert shlex.split(lines["kafka-console-consumer"]) == [
        *("kafka-console-consumer.sh", "--bootstrap-server", "a b:1,$(c):2", "--topic", "orders"),
        *(
            "--partition",
            "10",
            "--offset",
            "earliest",
            "--timeout-ms",
            "10000",
            "--property",
            "print.key=true",
        ),
    ]


@pytest.mark.parametrize(
    ("key_type", "format_", "class_"),
    [("java:short", ">h", "Short"), ("java:int", ">i", "Integer"), ("java:long", ">q", "Long")],
)
def test_numbers_are_shown_as_numbers(key_type: str, format_: str, class_: str) -> None:
    lines = read_commands("orders", 42, 12, key_type=key_type)
    assert f"key={format_}" in shlex.split(lines["kcat"])
    assert lines["kafka-console-consumer"].endswith(
        f" key.deserializer=org.apache.kafka.common.serialization.{class_}Deserializer"
    )


def test_a_column_has_no_line() -> None:
    with pytest.raises(pw.KeyTypeError, match="one key is looked up, not list: assign_json takes a column"):
        read_commands("orders", ["a"], 12)  # type: ignore[arg-type]


# The command.


@pytest.fixture
def which(told: Which) -> Which:
    return partial(told, "which")


def test_json_has_the_lines(which: Which) -> None:
    words = ["42", "-n", "12", "--key-type", "java:long", "--client", "librdkafka"]
    code, out, _ = which(*words, "--topic", "orders", "--servers", "b:9092", "--json")
    answer = json.loads(out)
    read = answer.pop("read")
    assert (code, answer) == (0, json.loads(which(*words, "--json")[1]))
    lines = read_commands("orders", 42, 12, servers="b:9092", client="librdkafka", key_type="java:long")
    assert read == {
        "topic": "orders",
        "servers": "b:9092",
        "client": "librdkafka",
        "partition": answer["partitions"]["librdkafka"],
        "assign": assign_json("orders", 42, 12, "librdkafka", "java:long"),
        **lines,
    }


def test_the_lines_are_whole_on_any_terminal(which: Which, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = which("TT0124", "-n", "12", "--topic", "orders")
    printed = [line.strip() for line in out.splitlines()]
    for line in read_commands("orders", "TT0124", 12).values():
        assert line in printed
    spark = next(line for line in printed if line.startswith("spark.read"))
    assert "'assign': '{\"orders\": [10]}'" in spark
    assert which("TT0124", "-n", "12")[1] in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("a --topic o", "give the topic's number of partitions with -n or --topic kafka://host:port/topic"),
        ("a -n 3 --topic 'a b'", "'a b' cannot be a topic's name"),
        ("a -n 3 --topic ''", "'' cannot be a topic's name"),
        ("a -n 3 --servers a:1", "--servers 'a:1' are those of a topic: name it with --topic"),
        ("a -n 3 --topic o --servers ''", "--servers is empty: name one, such as localhost:9092"),
        ("a --topic kafka://a:1/o --servers b:1", "'kafka://a:1/o' says where its brokers are"),
        ("a --topic kafka://a:1/", "'kafka://a:1/' names no topic"),
        ("a --topic kafka:o", "'kafka:o' is not a topic's address"),
        ("a --topic kafka://127.0.0.1:1/o", "no Kafka answers at 127.0.0.1:1"),
        ("a -n 0 --topic kafka://127.0.0.1:1/o", "n, the number of partitions, must be from 1"),
        ("a --client sarma --topic kafka://127.0.0.1:1/o", 'there is no client "sarma"'),
        ("--null -n 3 --topic o", "the key null has no partition of its own by client java"),
    ],
)
def test_a_refusal_is_one_sentence(refusal: Callable[..., str], words: str, sentence: str) -> None:
    assert refusal("which", *shlex.split(words)).startswith(f"partwright: {sentence}")


def test_it_needs_no_spark_and_no_kafka_client() -> None:
    program = (
        "import sys, partwright.kafka.point_reads; print({'pyspark', 'kafka', 'click'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
