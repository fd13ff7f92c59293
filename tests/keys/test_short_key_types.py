"""Key types by their short names: the same answers as by their whole ones, wherever a key type is taken."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright.audit.check import Check
from partwright.keys.key_text import read_key, shown_key

NUMBERS = [0, 42, None, -1, 2**31 - 1]


@pytest.mark.parametrize(
    ("short", "whole", "keys"),
    [
        ("long", "java:long", NUMBERS),
        ("int", "java:int", NUMBERS),
        ("short", "java:short", [1, None, -7]),
        ("double", "java:double", [1.5, None]),
        ("float", "java:float", [1.5, None]),
        ("boolean", "java:boolean", [True, None]),
        ("uuid", "java:uuid", ["0188c0f2-7a93-7000-8000-00000000abcd"]),
        ("string", "java:string", ["a", "\ud800"]),
        ("strip-id", "confluent:strip-id", [b"\0\0\0\0\1key"]),
    ],
)
def test_a_short_name_is_the_whole_one(short: str, whole: str, keys: list[Any]) -> None:
    for column in (keys, pa.array(keys) if short != "string" else keys):
        assert pw.encode(column, short) == pw.encode(column, whole)
        assert pw.murmur2(column, key_type=short) == pw.murmur2(column, key_type=whole)
        found = pw.partition_for_key(column, 12, key_type=short)
        assert found == pw.partition_for_key(column, 12, key_type=whole)
    assert pw.partition_for_key(keys[0], 12, "java", short) == pw.partition_for_key(
        keys[0], 12, "java", whole
    )
    assert pw.which(keys[0], 12, key_type=short) == pw.which(keys[0], 12, key_type=whole)


def test_it_is_the_whole_one_in_a_producer_and_in_an_audit() -> None:
    producer = pw.Producer({"t": 12}, pw.ProducerConfig("key", key_type="long"))
    assert producer.place({"key": [42, None]}).to_pylist() == [
        pw.partition_for_key(42, 12, key_type="java:long"),
        None,
    ]
    check = Check(12, "java", "long")
    check.add(pa.array([42] * 9), pa.array([0] * 9))
    whole = Check(12, "java", "java:long")
    whole.add(pa.array([42] * 9), pa.array([0] * 9))
    assert check.to_dict() == whole.to_dict()
    assert "key 42 " in str(check.examples[0])


def test_text_that_is_typed_or_shown_is_of_the_whole_one() -> None:
    assert (read_key("42", "long"), shown_key(b"\0\x2a", "short")) == (42, "42")


@pytest.mark.parametrize("name", ["java", "integer", "lnog", "", "java:", "date:iso"])
def test_what_fits_none_or_several_is_refused(name: str) -> None:
    with pytest.raises(pw.PartwrightError, match=f'there is no key type "{name}"'):
        pw.encode([1], name)
