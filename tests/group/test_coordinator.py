"""The internal partition of a group's or a transaction's id: Java's hashCode of text, and Kafka's absolute value."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import partwright as pw

LEAST = -(2**31)


def java_hash(text: str) -> int:
    """`String.hashCode`, over UTF-16."""
    data, found = text.encode("utf-16-be"), 0
    for place in range(0, len(data), 2):
        found = (found * 31 + int.from_bytes(data[place : place + 2])) % 2**32
    return found - 2**32 if found >= 2**31 else found


def expected(text: str, n: int) -> int:
    found = java_hash(text)
    return (0 if found == LEAST else abs(found)) % n


@pytest.mark.parametrize(
    ("group", "partition"),
    [
        ("KafkaConsumerDemo", 35),
        ("group", 47),
        ("my-group", 12),
        ("console-consumer-1", 24),
        ("", 0),
        # Their hashCodes are the least int; the second has 6 characters.
        ("polygenelubricants", 0),
    ],
)
def test_groups_are_where_kafka_has_them(group: str, partition: int) -> None:
    assert pw.coordinator_partition(group) == partition
    assert pw.coordinator_partition(group.encode(), 50) == partition
    assert pw.coordinator_partition([group], 50).to_pylist() == [partition]


@given(st.lists(st.none() | st.text(st.characters(codec="utf-8"))), st.integers(1, 2**31 - 1))
@example(["polygenelubricants", "🔑é", None, "x" * 300], 50)
def test_every_text_is_hashed_as_java_hashes_it(groups: list[str | None], n: int) -> None:
    wanted = [None if group is None else expected(group, n) for group in groups]
    found = pw.coordinator_partition(pa.array(groups, pa.string()), n)
    assert found.type == pa.int32()
    assert found.to_pylist() == wanted
    for kind in (pa.large_string(), pa.string_view(), pa.binary()):
        assert pw.coordinator_partition(pa.array(groups, pa.string()).cast(kind), n).to_pylist() == wanted
    assert [pw.coordinator_partition(group, n) for group in groups] == wanted


def test_a_column_in_chunks_stays_in_chunks() -> None:
    found = pw.coordinator_partition(pa.chunked_array([["group"], [None, "my-group"]]))
    assert found.num_chunks == 2
    assert found.to_pylist() == [47, None, 12]


@pytest.mark.parametrize(
    ("groups", "n", "sentence"),
    [
        ("group", 0, "n, the number of partitions, must be from 1 to 2147483647, not 0"),
        (["group"], -1, "n, the number of partitions, must be from 1 to 2147483647, not -1"),
        ([b"a", b"\xff"], 50, "row 1: a hashCode is one of text, and the key .* is not UTF-8"),
        (b"\xff", 50, "a hashCode is one of text, and the key .* is not UTF-8"),
        ([1, 2], 50, "an id is text, or its UTF-8 bytes, not .1, 2."),
        (7, 50, "an id is text, or its UTF-8 bytes, not 7"),
        ("a\ud800", 50, "surrogate"),
    ],
)
def test_what_is_no_id_is_refused(groups: Any, n: int, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError, match=sentence):
        pw.coordinator_partition(groups, n)


# The hashes' vectors stand in rust/core/src/hashing/redpanda.rs: xxhash 4.1.0 of PyPI and the source's C++ made them.
REDPANDA = [
    ("panda3", 16, 13),
    ("panda3", 50, 13),
    ("panda3", 100, 62),
    ("", 16, 7),
    ("my-group", 16, 4),
    ("my-group", 50, 20),
    ("0123456789abcdef0123456789abcdef0", 3, 2),
    ("grüppe-键-🔑", 2**31 - 1, 981022394),
]


@pytest.mark.parametrize(("group", "n", "partition"), REDPANDA)
def test_redpandas_groups_are_where_its_source_has_them(group: str, n: int, partition: int) -> None:
    assert pw.coordinator_partition(group, n, broker_kind="redpanda") == partition
    column = pw.coordinator_partition([group, None], n, broker_kind="redpanda")
    assert column.type == pa.int32()
    assert column.to_pylist() == [partition, None]
    chunks = pw.coordinator_partition(pa.chunked_array([[group], []]), n, broker_kind="redpanda")
    assert chunks.to_pylist() == [partition]


def test_the_default_number_of_partitions_is_that_of_the_kind() -> None:
    for kind, n in (("kafka", 50), ("redpanda", 16)):
        assert pw.coordinator_partition("panda3", broker_kind=kind) == pw.coordinator_partition(
            "panda3", n, broker_kind=kind
        )
    # Kafka's, as before.
    assert pw.coordinator_partition("panda3", 16) == 7


@pytest.mark.parametrize("kind", ["pulsar", "", None, ["kafka"]])
def test_an_unknown_kind_of_broker_is_refused(kind: Any) -> None:
    with pytest.raises(pw.PartwrightError, match=r"there is no broker kind .* kafka and redpanda"):
        pw.coordinator_partition("group", 16, broker_kind=kind)
