"""`encode`, `murmur2` and `partition_for_key` in tables: each key type at its ends, each form of keys."""

from __future__ import annotations

import copy
import datetime as dt
import inspect
import math
import pickle
import struct
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

import partwright as pw

SMALLEST_FLOAT = struct.unpack(">f", bytes.fromhex("00000001"))[0]
LARGEST_FLOAT = struct.unpack(">f", bytes.fromhex("7f7fffff"))[0]
UUID_TEXT = "0188c0f2-7a93-7000-8000-00000000abcd"

# Value, key type, key bytes in hex: by the definition of each of Java's serializers.
ENCODED: list[tuple[Any, str | None, str]] = [
    ("", None, ""),
    ("a", None, "61"),
    ("é", None, "c3a9"),
    ("e\u0301", None, "65cc81"),  # composed and decomposed are two keys
    ("日", "utf8", "e697a5"),
    ("😀", "utf8", "f09f9880"),
    ("\0", "utf8", "00"),
    (" a ", "utf8", "206120"),
    ("\ufeffa", "utf8", "efbbbf61"),
    ("\ud83d\ude00", "utf8", "f09f9880"),  # a pair in two characters, as JSON may have it
    (b"", None, ""),
    (b"\0\xff", None, "00ff"),
    (b"\xff\xfe", "bytes", "fffe"),
    (0, "java:short", "0000"),
    (1, "java:short", "0001"),
    (-1, "java:short", "ffff"),
    (2**15 - 1, "java:short", "7fff"),
    (-(2**15), "java:short", "8000"),
    (0, "java:int", "00000000"),
    (-1, "java:int", "ffffffff"),
    (0x01020304, "java:int", "01020304"),
    (2**31 - 1, "java:int", "7fffffff"),
    (-(2**31), "java:int", "80000000"),
    (0, "java:long", "0000000000000000"),
    (-1, "java:long", "ffffffffffffffff"),
    (0x0102030405060708, "java:long", "0102030405060708"),
    (2**63 - 1, "java:long", "7fffffffffffffff"),
    (-(2**63), "java:long", "8000000000000000"),
    (0.0, "java:float", "00000000"),
    (-0.0, "java:float", "80000000"),
    (1.0, "java:float", "3f800000"),
    (0.1, "java:float", "3dcccccd"),  # rounded to the nearest, as Java's cast does
    (1 + 2**-24, "java:float", "3f800000"),  # halfway goes to the even one
    (1 + 3 * 2**-24, "java:float", "3f800002"),
    (SMALLEST_FLOAT, "java:float", "00000001"),
    (SMALLEST_FLOAT / 4, "java:float", "00000000"),
    (LARGEST_FLOAT, "java:float", "7f7fffff"),
    (-LARGEST_FLOAT, "java:float", "ff7fffff"),
    (math.inf, "java:float", "7f800000"),
    (-math.inf, "java:float", "ff800000"),
    (0.0, "java:double", "0000000000000000"),
    (-0.0, "java:double", "8000000000000000"),
    (1.0, "java:double", "3ff0000000000000"),
    (0.1, "java:double", "3fb999999999999a"),
    (5e-324, "java:double", "0000000000000001"),
    (1.7976931348623157e308, "java:double", "7fefffffffffffff"),
    (math.inf, "java:double", "7ff0000000000000"),
    (-math.inf, "java:double", "fff0000000000000"),
    (math.nan, "java:double", "7ff8000000000000"),
    (-math.nan, "java:double", "7ff8000000000000"),
    (True, "java:boolean", "01"),
    (False, "java:boolean", "00"),
    (UUID(UUID_TEXT), "java:uuid", UUID_TEXT.encode().hex()),
    (UUID_TEXT, "java:uuid", UUID_TEXT.encode().hex()),
    (UUID_TEXT.upper(), "java:uuid", UUID_TEXT.encode().hex()),
    (bytes.fromhex(UUID_TEXT.replace("-", "")), "java:uuid", UUID_TEXT.encode().hex()),
    (UUID(int=0), "java:uuid", b"00000000-0000-0000-0000-000000000000".hex()),
    (UUID(int=2**128 - 1), "java:uuid", b"ffffffff-ffff-ffff-ffff-ffffffffffff".hex()),
    ("a", "java:string", "61"),
    ("😀", "java:string", "f09f9880"),
    ("\ud83d\ude00", "java:string", "f09f9880"),
    ("\ud83d", "java:string", "3f"),
    ("a\ude00b", "java:string", "613f62"),
    ("\ude00\ud83d", "java:string", "3f3f"),
    ("\ud83d\ud83d\ude00", "java:string", "3ff09f9880"),
    (bytes.fromhex("0000000001"), "confluent:strip-id", ""),
    (bytes.fromhex("0000000001 0261"), "confluent:strip-id", "0261"),
    (bytes.fromhex("00ffffffff 00"), "confluent:strip-id", "00"),
    (-42, "digits", b"-42".hex()),
    (Decimal("19.90"), "decimal", b"19.90".hex()),
    (dt.date(2024, 2, 29), "iso-date", b"2024-02-29".hex()),
    (dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=dt.UTC), "iso-timestamp", b"2024-02-29T01:02:03Z".hex()),
]
each_case = pytest.mark.parametrize(("value", "key_type", "key"), ENCODED)


@each_case
def test_a_value_becomes_these_key_bytes(value: Any, key_type: str | None, key: str) -> None:
    assert pw.encode(value, key_type) == bytes.fromhex(key)
    assert type(pw.encode(value, key_type)) is bytes


@each_case
def test_a_lists_values_become_the_same_key_bytes(value: Any, key_type: str | None, key: str) -> None:
    for values in [[value], [None, value, None, value], (value, None)]:
        encoded = pw.encode(values, key_type)
        assert encoded.type == pa.binary()
        expected = [None if one is None else bytes.fromhex(key) for one in values]
        assert encoded.to_pylist() == expected


@each_case
def test_a_partition_hangs_on_the_key_bytes_alone(value: Any, key_type: str | None, key: str) -> None:
    raw = bytes.fromhex(key)
    assert pw.murmur2(value, key_type=key_type) == pw.murmur2(raw)
    assert pw.partition_for_key(value, 1000, key_type=key_type) == pw.partition_for_key(raw, 1000)
    assert pw.partition_for_key([value], 1000, "java", key_type).to_pylist() == [
        pw.partition_for_key(raw, 1000)
    ]


def test_the_table_has_every_key_type() -> None:
    described = pw.encode.__doc__ or ""
    named = [line.split("`")[1] for line in described.splitlines() if line.lstrip().startswith("`")]
    assert {key_type for _, key_type, _ in ENCODED} - {None} == set(named)
    assert len(named) == 15


@pytest.mark.parametrize("number", [42, -7, 0])
def test_a_number_and_its_text_are_different_keys(number: int) -> None:
    keys = {pw.encode(number, key_type) for key_type in ["java:short", "java:int", "java:long"]}
    keys.add(pw.encode(str(number)))
    assert len(keys) == 4


# Published answers, so that this file does not rely on the golden files.


@pytest.mark.parametrize(
    ("key", "hash_"),
    [
        ("21", -973932308),
        ("foobar", -790332482),
        ("a-little-bit-long-string", -985981536),
        ("a-little-bit-longer-string", -1486304829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        ("abc", 479470107),
        ("", 275646681),
    ],
)
def test_kafkas_own_hashes(key: str, hash_: int) -> None:
    assert pw.murmur2(key) == pw.murmur2(key.encode()) == hash_
    assert pw.murmur2([key, None]).to_pylist() == [hash_, None]


@pytest.mark.parametrize(
    ("key", "n", "partition"),
    [
        ("TT0124", 15, 10),
        ("", 7, 2),
        ("", 10, 1),
        (b"", 10, 1),
        ("a", 1000, 524),
        ("ab", 1000, 434),
        ("abc", 1000, 107),
        ("123456789", 1000, 566),
        ("a", 1, 0),
        ("a", 2**31 - 1, 584102524),
    ],
)
def test_published_partitions(key: str | bytes, n: int, partition: int) -> None:
    assert pw.partition_for_key(key, n) == partition
    assert pw.partition_for_key([key], n).to_pylist() == [partition]


def test_a_negative_hash_loses_its_sign_bit_and_is_not_turned_round() -> None:
    """abs() would say 8 and 2: the classic mistake."""
    assert pw.murmur2("21") == -973932308
    assert pw.partition_for_key("21", 10) == (-973932308 & 0x7FFFFFFF) % 10 == 0
    assert pw.partition_for_key("foobar", 10) == (-790332482 & 0x7FFFFFFF) % 10 == 6


def test_null_is_no_key_and_empty_is_one() -> None:
    assert pw.partition_for_key(None, 12) is None
    assert pw.murmur2(None) is None
    assert pw.encode(None) is None
    assert pw.partition_for_key([None, ""], 12).to_pylist() == [None, 275646681 % 12]
    assert pw.encode([None, ""]).to_pylist() == [None, b""]


@pytest.mark.parametrize("key_type", [None, "utf8", "bytes", "java:int", "java:uuid", "confluent:strip-id"])
def test_nothing_but_nulls_is_a_column_under_every_key_type(key_type: str | None) -> None:
    for keys in [[], (), [None], [None, None]]:
        assert pw.murmur2(keys, key_type=key_type).to_pylist() == [None] * len(keys)
        assert pw.partition_for_key(keys, 12, key_type=key_type).type == pa.int32()
        assert pw.encode(keys, key_type).type == pa.binary()


# Forms of keys.


def test_text_and_bytes_may_be_mixed_where_the_type_is_their_own() -> None:
    keys = ["a", b"b", None, bytearray(b"c"), memoryview(b"d"), "é", b"\xff"]
    expected = [b"a", b"b", None, b"c", b"d", "é".encode(), b"\xff"]
    assert pw.encode(keys).to_pylist() == pw.encode(tuple(keys)).to_pylist() == expected
    assert pw.murmur2(keys).to_pylist() == [pw.murmur2(key) for key in expected]


def test_texts_subclasses_are_text() -> None:
    class Name(str):
        __slots__ = ()

    class Identity(int):
        pass

    assert pw.encode(Name("a")) == b"a"
    assert pw.encode([Name("a"), "b"]).to_pylist() == [b"a", b"b"]
    assert pw.encode([Name("\ud800")], "java:string").to_pylist() == [b"?"]
    assert pw.encode([Identity(1), 2], "java:short").to_pylist() == [b"\0\1", b"\0\2"]


def test_a_list_of_many_texts_is_one_column() -> None:
    texts = [f"key {row}" for row in range(10_000)]
    assert pw.encode(texts).to_pylist() == [text.encode() for text in texts]
    assert pw.partition_for_key(texts, 12).equals(pw.partition_for_key(pa.array(texts), 12))


def test_keyword_and_place_are_both_fine() -> None:
    assert pw.partition_for_key("a", 12, "java", "utf8") == pw.partition_for_key(
        keys="a", n=12, client="java", key_type="utf8"
    )
    assert pw.encode("a", "utf8") == pw.encode(values="a", key_type="utf8")
    assert list(inspect.signature(pw.murmur2).parameters) == ["keys", "key_type", "threads"]
    assert list(inspect.signature(pw.encode).parameters) == ["values", "key_type"]
    assert list(inspect.signature(pw.partition_for_key).parameters) == [
        *("keys", "n", "client", "key_type", "threads")
    ]


def test_what_is_given_is_left_as_it_is() -> None:
    keys = ["a", None, b"b"]
    column = pa.array(["a", None, "b"])
    pw.murmur2(keys)
    pw.encode(column)
    assert keys == ["a", None, b"b"]
    assert column.to_pylist() == ["a", None, "b"]


def test_the_function_that_the_core_answers_first_is_a_function_to_whoever_asks() -> None:
    place = pw.partition_for_key
    assert list(inspect.signature(place).parameters) == ["keys", "n", "client", "key_type", "threads"]
    assert inspect.isroutine(place)
    assert (place.__name__, place.__module__) == ("partition_for_key", "partwright.keys.hashing")
    assert repr(place).startswith("<function partition_for_key at ")
    for again in (pickle.loads(pickle.dumps(place)), copy.deepcopy(place)):  # noqa: S301 - dumped right here
        assert again is place
    assert type("Table", (str,), {"place": place})("TT0124").place(15) == 10


@pytest.mark.parametrize(
    ("arguments", "named", "partition"),
    [
        (("TT0124", 15), {}, 10),
        ((b"TT0124", 15, "librdkafka"), {}, 9),
        (("TT0124", 15), {"client": "librdkafka"}, 9),
        (("TT0124",), {"n": 15}, 10),
        ((), {"keys": "TT0124", "n": 15, "client": "java"}, 10),
        (("", 15), {"client": "librdkafka"}, None),
        (("TT0124", 15, "java", "java:string"), {"threads": 1}, 10),
        ((bytearray(b"TT0124"), 15), {}, 10),
    ],
)
def test_one_key_is_placed_however_it_is_asked(
    arguments: tuple[Any, ...], named: dict[str, Any], partition: int | None
) -> None:
    assert pw.partition_for_key(*arguments, **named) == partition


@pytest.mark.parametrize(
    ("arguments", "named", "error"),
    [
        (("a",), {}, r"partition_for_key\(\) missing 1 required positional argument: 'n'"),
        (("a", 3), {"x": 1}, r"partition_for_key\(\) got an unexpected keyword argument 'x'"),
        (("a", 0, "jav"), {}, "n, the number of partitions, must be from 1 to 2147483647, not 0"),
        (("a", 3), {"client": None}, "a client is named by text, not None"),
        (("\ud800", 3), {}, "has the unpaired surrogate"),
    ],
)
def test_one_key_is_refused_in_the_same_words(
    arguments: tuple[Any, ...], named: dict[str, Any], error: str
) -> None:
    with pytest.raises((TypeError, pw.PartwrightError), match=error):
        pw.partition_for_key(*arguments, **named)
