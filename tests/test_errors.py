"""Every refusal: its class and its sentence, with the value and the row."""

from __future__ import annotations

import datetime as dt
import decimal
import struct
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

import arro3.core
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from fingerprinting import fingerprint
from hypothesis import given, settings
from hypothesis import strategies as st

import partwright as pw
from partwright.keys.client_profiles import client_names

if TYPE_CHECKING:
    from collections.abc import Callable

KEY_TYPES = [
    "utf8",
    "bytes",
    "java:short",
    "java:int",
    "java:long",
    "java:float",
    "java:double",
    "java:boolean",
    "java:uuid",
    "java:string",
    "confluent:strip-id",
    "digits",
    "decimal",
    "iso-date",
    "iso-timestamp",
]
KNOWN = ", ".join(KEY_TYPES)
LONGEST_INT = 2**31 - 1
A_KEY_IS = "a key is text, binary, a number, a boolean, a date, a timestamp, or a dictionary of one of them"


def refusal(call: Callable[[], Any]) -> pw.PartwrightError:
    """A call's error, which must be ours and one sentence."""
    with pytest.raises(pw.PartwrightError) as raised:
        call()
    error = raised.value
    assert isinstance(error, ValueError)
    assert isinstance(error, TypeError) == isinstance(error, pw.KeyTypeError)
    assert "\n" not in str(error)
    assert len(str(error)) > 20
    return error


def check(call: Callable[[], Any], kind: type[pw.PartwrightError], sentence: str) -> None:
    error = refusal(call)
    assert str(error) == sentence
    # What the base itself makes is also a ValueError.
    assert type(error) is type(kind())


# Settings: refused before a key is read, for a column, for one key and for None alike.

KEYS: dict[str, Any] = {
    "column": pa.array(["a"]),
    "list": ["a", None],
    "one": "a",
    "none": None,
    "wrong": ["a\ud800"],
    "no rows": pa.array([], pa.string()),
    "no chunks": pa.chunked_array([], pa.string()),
}
each_key = pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)

RANGE = "n, the number of partitions, must be from 1 to 2147483647, not "
WHOLE = "n, the number of partitions, must be a whole number from 1 to 2147483647, not "


class Shy:
    def __repr__(self) -> str:
        raise RuntimeError("no name")


@each_key
@pytest.mark.parametrize(
    ("n", "sentence"),
    [
        (0, RANGE + "0"),
        (-1, RANGE + "-1"),
        (2**31, RANGE + "2147483648"),
        (-(2**63), RANGE + "-9223372036854775808"),
        (2**63, WHOLE + "9223372036854775808"),
        (2**70, WHOLE + "1180591620717411303424"),
        (12.0, WHOLE + "12.0"),
        ("12", WHOLE + "'12'"),
        (b"12", WHOLE + "b'12'"),
        (True, WHOLE + "True"),
        (None, WHOLE + "None"),
        ([12], WHOLE + "[12]"),
        (np.float64(12), WHOLE + "np.float64(12.0)"),
        (decimal.Decimal(12), WHOLE + "Decimal('12')"),
        ("9" * 1000, WHOLE + "a value of type str"),
        (Shy(), WHOLE + "a value of type Shy"),
    ],
)
def test_n_is_a_whole_number_from_1_to_javas_largest_int(keys: Any, n: Any, sentence: str) -> None:
    check(lambda: pw.partition_for_key(keys, n), pw.PartwrightError, sentence)


CLIENTS = ", ".join(client_names())


def test_the_ends_of_n_are_allowed() -> None:
    assert pw.partition_for_key("a", 1) == 0
    assert pw.partition_for_key(["a"], LONGEST_INT).to_pylist() == [584102524]


@each_key
@pytest.mark.parametrize(
    ("client", "sentence"),
    [
        ("jav", 'there is no client "jav"; did you mean java?'),
        ("Java", 'there is no client "Java"; did you mean java?'),
        ("librdkafak", 'there is no client "librdkafak"; did you mean librdkafka?'),
        ("sarama-crc32", 'there is no client "sarama-crc32"; did you mean franz-go:sarama-crc32?'),
        ("confluent", 'there is no client "confluent"; did you mean librdkafka?'),
        (
            "murmur2",
            'there is no client "murmur2"; did you mean {}?'.format(
                "librdkafka:murmur2, sarama:murmur2 or kafka-go:murmur2"
            ),
        ),
        (
            "kafka-go",
            'there is no client "kafka-go"; did you mean {}?'.format(
                "kafka-go:hash, kafka-go:reference, kafka-go:crc32 or kafka-go:murmur2"
            ),
        ),
        ("", f'there is no client ""; known: {CLIENTS}'),
        ('"', f'there is no client "\\""; known: {CLIENTS}'),
        (None, "a client is named by text, not None"),
        (5, "a client is named by text, not 5"),
        (b"java", "a client is named by text, not b'java'"),
        ("\ud800", "a client is named by text, not '\\ud800'"),
    ],
)
def test_an_unknown_client_is_refused_beside_those_that_there_are(
    keys: Any, client: Any, sentence: str
) -> None:
    check(lambda: pw.partition_for_key(keys, 12, client=client), pw.PartwrightError, sentence)


@each_key
@pytest.mark.parametrize(
    ("key_type", "sentence"),
    [
        ("java:lnog", f'there is no key type "java:lnog"; known: {KNOWN}; did you mean java:long?'),
        ("lnog", f'there is no key type "lnog"; known: {KNOWN}; did you mean java:long?'),
        ("integer", f'there is no key type "integer"; known: {KNOWN}'),
        ("UTF-8", f'there is no key type "UTF-8"; known: {KNOWN}; did you mean utf8?'),
        ("avro", f'there is no key type "avro"; known: {KNOWN}'),
        ("", f'there is no key type ""; known: {KNOWN}'),
        (5, "a key type is named by text, not 5"),
        (["utf8"], "a key type is named by text, not ['utf8']"),
        (np.array(["a", "b"]), "a key type is named by text, not array(['a', 'b'], dtype='<U1')"),
    ],
)
def test_an_unknown_key_type_is_refused_beside_those_that_there_are(
    keys: Any, key_type: Any, sentence: str
) -> None:
    for call in [
        lambda: pw.murmur2(keys, key_type=key_type),
        lambda: pw.encode(keys, key_type),
        lambda: pw.partition_for_key(keys, 12, key_type=key_type),
    ]:
        check(call, pw.PartwrightError, sentence)


# Types of columns, as pyarrow calls them.


def choose(*key_types: str) -> str:
    names = " or ".join([", ".join(key_types[:-1]), key_types[-1]]) if key_types[1:] else key_types[0]
    return (
        f" has no key bytes of its own: name the key type that its producer writes, {names}, with key_type="
    )


INTEGERS = choose("java:short", "java:int", "java:long", "digits (the number as text)")
FLOATS = choose("java:float", "java:double")
DECIMALS = choose("decimal (text such as 19.90)")
DATES = choose("iso-date (text such as 2024-01-31)")
TIMES = choose("iso-timestamp (text such as 2024-01-31T12:00:00Z)")
TABLE = "a struct or table (take one of its columns)"
TYPES: list[tuple[pa.DataType, str, str]] = [
    *((kind, str(kind), INTEGERS) for kind in [pa.int8(), pa.int16(), pa.int32(), pa.int64()]),
    *((kind, str(kind), INTEGERS) for kind in [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]),
    *((kind, str(kind), FLOATS) for kind in [pa.float16(), pa.float32(), pa.float64()]),
    (pa.bool_(), "bool", choose("java:boolean")),
    (pa.dictionary(pa.int8(), pa.int64()), "int64", INTEGERS),
    (pa.bool8(), "int8", INTEGERS),
    *((kind, str(kind), DATES) for kind in [pa.date32(), pa.date64()]),
    *((kind, str(kind), TIMES) for kind in map(pa.timestamp, ["s", "ms", "us", "ns"])),
    (pa.timestamp("us", "Europe/Berlin"), "timestamp[us, tz=Europe/Berlin]", TIMES),
    *((kind, str(kind), DECIMALS) for kind in [pa.decimal32(5, 2), pa.decimal64(5, 2), pa.decimal256(50, 2)]),
    (pa.decimal128(20, -3), "decimal128(20, -3)", choose("decimal", "digits (the number as text)")),
    *(
        (kind, str(kind), f" has no key bytes: {A_KEY_IS}")
        for kind in [pa.time32("ms"), pa.time64("us"), pa.duration("ns")]
    ),
    *(
        (kind, name, f" has no key bytes: {A_KEY_IS}")
        for kind, name in [
            (pa.month_day_nano_interval(), "interval"),
            (pa.list_(pa.string()), "list"),
            (pa.large_list(pa.string()), "large_list"),
            (pa.list_view(pa.string()), "list_view"),
            (pa.large_list_view(pa.string()), "large_list_view"),
            (pa.list_(pa.string(), 2), "fixed_size_list"),
            (pa.map_(pa.string(), pa.int8()), "map"),
            (pa.struct([("a", pa.string())]), TABLE),
            (pa.dense_union([pa.field("a", pa.string())]), "union"),
            (pa.sparse_union([pa.field("a", pa.string())]), "union"),
            (pa.run_end_encoded(pa.int32(), pa.string()), "run_end_encoded"),
            (pa.dictionary(pa.int8(), pa.time32("s")), "time32[s]"),
        ]
    ),
]


@pytest.mark.parametrize(("kind", "name", "sentence"), TYPES, ids=[str(kind) for kind, _, _ in TYPES])
def test_a_type_without_key_bytes_is_refused_by_its_name(kind: pa.DataType, name: str, sentence: str) -> None:
    for column in [pa.nulls(3, kind), pa.nulls(0, kind), pa.chunked_array([], kind)]:
        for call in [pw.murmur2, pw.encode, lambda keys: pw.partition_for_key(keys, 12)]:
            check(lambda call=call, column=column: call(column), pw.KeyTypeError, name + sentence)


TAKES = {
    "utf8": "text",
    "java:string": "text",
    "bytes": "binary",
    "confluent:strip-id": "binary",
    "java:short": "whole numbers",
    "java:int": "whole numbers",
    "java:long": "whole numbers",
    "java:float": "floating-point numbers",
    "java:double": "floating-point numbers",
    "java:boolean": "booleans",
    "java:uuid": "text of 36 characters or binary of 16 bytes",
    "digits": "whole numbers",
    "decimal": "decimals",
    "iso-date": "dates",
    "iso-timestamp": "timestamps",
}
TEXT_FORMS = ("digits", "decimal", "iso-date", "iso-timestamp")
HELD = {
    "text": [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    "binary": [
        pa.binary(),
        pa.large_binary(),
        pa.binary_view(),
        pa.binary(16),
        pa.dictionary(pa.int8(), pa.binary()),
    ],
    "whole numbers": [pa.int8(), pa.int64(), pa.uint64(), pa.dictionary(pa.int8(), pa.int64())],
    "floating-point numbers": [pa.float16(), pa.float32(), pa.float64()],
    "booleans": [pa.bool_()],
    "decimals": [pa.decimal32(5, 2), pa.decimal128(5, 2), pa.decimal256(50, 2)],
    "dates": [pa.date32(), pa.date64(), pa.dictionary(pa.int8(), pa.date32())],
    "timestamps": [pa.timestamp("s"), pa.timestamp("ns", "Europe/Berlin")],
    "no key": [pa.list_(pa.string()), pa.struct([("a", pa.string())])],
}


@pytest.mark.parametrize("key_type", KEY_TYPES)
def test_a_key_type_takes_its_own_kind_alone(key_type: str) -> None:
    assert list(TAKES) != KEY_TYPES
    assert set(TAKES) == set(KEY_TYPES)
    refused = 0
    for held, kinds in HELD.items():
        for kind in kinds:
            column = pa.nulls(2, kind)
            if held in TAKES[key_type]:
                assert pw.murmur2(column, key_type=key_type).to_pylist() == [None, None]
                continue
            value = kind.value_type if pa.types.is_dictionary(kind) else kind
            names = {pa.list_(pa.string()): "list", pa.struct([("a", pa.string())]): TABLE}
            sentence = f"key type {key_type} takes {TAKES[key_type]}, not {names.get(value, str(value))}"
            if held == "text" and key_type in TEXT_FORMS:
                sentence += ": text is a key as it is, without a key type"
            check(lambda column=column: pw.encode(column, key_type), pw.KeyTypeError, sentence)
            refused += 1
    assert refused >= 11


UUID_SENTENCE = (
    "uuid has no key bytes of its own: name the key type that its producer writes, java:uuid (36 characters) "
    "or bytes (16), with key_type="
)


def test_uuids_need_a_key_type_whoever_made_them() -> None:
    one = UUID(int=5)
    column = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([one.bytes], pa.binary(16)))
    for keys in [
        one,
        [one, None],
        np.array([one], dtype=object),
        column,
        column[0],
        pa.chunked_array([column]),
        pa.chunked_array([], pa.uuid()),
        arro3.core.Array.from_arrow(column),
    ]:
        check(lambda keys=keys: pw.murmur2(keys), pw.KeyTypeError, UUID_SENTENCE)


# Single values.


@pytest.mark.parametrize(
    ("value", "key_type", "sentence"),
    [
        (42, None, "int64" + INTEGERS),
        (2**70, None, "int64" + INTEGERS),
        (True, None, "bool" + choose("java:boolean")),
        (1.5, None, "double" + FLOATS),
        (np.float32(1.5), None, "float" + FLOATS),
        (np.int16(5), None, "int16" + INTEGERS),
        (pa.scalar(5, pa.uint8()), None, "uint8" + INTEGERS),
        (pa.scalar(["a"]), None, f"list has no key bytes: {A_KEY_IS}"),
        (pa.scalar(None, pa.list_(pa.string())), None, f"list has no key bytes: {A_KEY_IS}"),
        (pa.scalar({"a": "b"}), None, f"{TABLE} has no key bytes: {A_KEY_IS}"),
        (pa.scalar(1, pa.timestamp("ns")), None, "timestamp[ns]" + TIMES),
        (dt.date(2026, 1, 1), None, "date32[day]" + DATES),
        (dt.datetime(2026, 1, 1, tzinfo=dt.UTC), None, "timestamp[us, tz=UTC]" + TIMES),
        (decimal.Decimal("19.90"), None, "decimal128(4, 2)" + DECIMALS),
        ("a", "bytes", "key type bytes takes binary, not string"),
        (b"a", "utf8", "key type utf8 takes text, not binary"),
        ("5", "java:int", "key type java:int takes whole numbers, not string"),
        (True, "java:int", "key type java:int takes whole numbers, not bool"),
        (1, "java:boolean", "key type java:boolean takes booleans, not int64"),
        (1, "java:double", "key type java:double takes floating-point numbers, not int64"),
        (1.0, "java:int", "key type java:int takes whole numbers, not double"),
    ],
)
def test_one_value_of_a_kind_without_key_bytes_is_refused(
    value: Any, key_type: str | None, sentence: str
) -> None:
    check(lambda: pw.encode(value, key_type), pw.KeyTypeError, sentence)
    check(lambda: pw.murmur2(value, key_type=key_type), pw.KeyTypeError, sentence)


# Values that do not fit, with their row in a column and without one alone.

HEADER = "a schema registry's header "
NO_HYPHENS = "0188c0f27a937000800000000000abcd"
MISFITS: list[tuple[Any, str, str]] = [
    (2**15, "java:short", "32768 does not fit into a 16-bit short"),
    (-(2**15) - 1, "java:short", "-32769 does not fit into a 16-bit short"),
    (2**31, "java:int", "2147483648 does not fit into a 32-bit int"),
    (2**63, "java:long", "9223372036854775808 does not fit into a 64-bit long"),
    (2**70, "java:int", "1180591620717411303424 does not fit into a 64-bit long"),
    (-(2**70), "java:long", "-1180591620717411303424 does not fit into a 64-bit long"),
    (1e39, "java:float", "1e39 does not fit into a 32-bit float"),
    (-3.5e38, "java:float", "-3.5e38 does not fit into a 32-bit float"),
    ("", "java:uuid", '"" is not the 36-character text of a UUID'),
    ("x" * 1000, "java:uuid", f'"{"x" * 48}" is not the 36-character text of a UUID'),
    (NO_HYPHENS, "java:uuid", f'"{NO_HYPHENS}" is not the 36-character text of a UUID'),
    (b"16 bytes, no 17!!", "java:uuid", "a UUID has 16 bytes, not 17"),
    (b"", "java:uuid", "a UUID has 16 bytes, not 0"),
    (b"", "confluent:strip-id", HEADER + "has 5 bytes, the whole key 0"),
    (b"\0\0\0\1", "confluent:strip-id", HEADER + "has 5 bytes, the whole key 4"),
    (b"\1\0\0\0\1key", "confluent:strip-id", HEADER + "begins with the byte 00, the key with 01"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "key_type", "sentence"), MISFITS)
def test_a_value_that_does_not_fit_is_named_with_its_row(value: Any, key_type: str, sentence: str) -> None:
    fits = {"java:uuid": "0" * 8 + "-0000" * 3 + "-" + "0" * 12, "confluent:strip-id": bytes(5)}
    good = fits.get(key_type, 1.0 if isinstance(value, float) else 1)
    if key_type == "java:uuid" and isinstance(value, bytes):
        good = bytes(16)
    check(lambda: pw.encode(value, key_type), pw.PartwrightError, sentence)
    check(lambda: pw.murmur2(value, key_type=key_type), pw.PartwrightError, sentence)
    check(lambda: pw.encode([value], key_type), pw.PartwrightError, f"row 0: {sentence}")
    rows = [good, None, value, good, value]
    check(lambda: pw.partition_for_key(rows, 12, key_type=key_type), pw.PartwrightError, f"row 2: {sentence}")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return
    column = pa.array(rows)
    check(lambda: pw.murmur2(column, key_type=key_type), pw.PartwrightError, f"row 2: {sentence}")
    check(lambda: pw.murmur2(column[1:], key_type=key_type), pw.PartwrightError, f"row 1: {sentence}")
    chunks = pa.chunked_array([[good, None, good], [], [good], [value]], column.type)
    check(lambda: pw.encode(chunks, key_type), pw.PartwrightError, f"row 4: {sentence}")
    # In a dictionary, the first row that uses it; not the place of the value.
    values = pa.array([good, value], column.type)
    encoded = pa.DictionaryArray.from_arrays(pa.array([0, None, 0, 1, 1], pa.int8()), values)
    check(lambda: pw.murmur2(encoded, key_type=key_type), pw.PartwrightError, f"row 3: {sentence}")
    chunks = pa.chunked_array([encoded[:2], encoded[2:]])
    check(lambda: pw.murmur2(chunks, key_type=key_type), pw.PartwrightError, f"row 3: {sentence}")
    # A value that no row uses is not an error.
    assert pw.murmur2(encoded[:3], key_type=key_type).null_count == 1


def test_numbers_beyond_64_bits_are_refused_in_unsigned_columns_too() -> None:
    column = pa.array([1, 2**64 - 1], pa.uint64())
    sentence = "row 1: 18446744073709551615 does not fit into a 64-bit long"
    check(lambda: pw.encode(column, "java:long"), pw.PartwrightError, sentence)


def surrogate(text: str, shown: str) -> str:
    return (
        f"the text {text!r} has the unpaired surrogate {shown!r}, which UTF-8 cannot hold; "
        "key_type='java:string' writes it as '?', as Java does"
    )


@pytest.mark.parametrize("key_type", [None, "utf8", "java:uuid"])
def test_half_of_a_surrogate_pair_is_refused_but_by_java(key_type: str | None) -> None:
    for text, shown in [("a\ud800", "\ud800"), ("\udfffa", "\udfff"), ("😀\ude00\ud83d\ude00", "\ude00")]:
        sentence = surrogate(text, shown)
        check(lambda text=text: pw.encode(text, key_type), pw.PartwrightError, sentence)
        for keys in [["x", None, text], ("x", None, text), np.array(["x", None, text], dtype=object)]:
            check(
                lambda keys=keys: pw.murmur2(keys, key_type=key_type),
                pw.PartwrightError,
                f"row 2: {sentence}",
            )
        both = [b"x", text]
        if key_type is None:
            check(lambda both=both: pw.murmur2(both), pw.PartwrightError, f"row 1: {sentence}")
        fixed = np.array(["x", text])
        check(lambda fixed=fixed: pw.encode(fixed, key_type), pw.PartwrightError, f"row 1: {sentence}")


# What is not a column.

NO_COLUMN = " are not a column: pass an Arrow array, a list of str, bytes or None, or one str or bytes"


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"a": 1},
        iter(["a"]),
        object(),
        object,
        len,
        dt.time(12),
        1j,
        pa.schema([]),
    ],
    ids=lambda keys: type(keys).__name__,
)
def test_what_is_no_column_is_refused_by_its_type(keys: Any) -> None:
    for call in [pw.murmur2, pw.encode, lambda keys: pw.partition_for_key(keys, 12)]:
        check(lambda call=call: call(keys), pw.KeyTypeError, f"keys of type {type(keys).__name__}{NO_COLUMN}")


@pytest.mark.parametrize(
    "keys", [{"a"}, frozenset("a"), (key for key in "ab"), range(3)], ids=lambda keys: type(keys).__name__
)
def test_what_a_list_can_be_made_of_is_refused_with_it(keys: Any) -> None:
    sentence = f"keys of type {type(keys).__name__} are not a column: pass list(keys)"
    for call in [pw.murmur2, pw.encode, lambda keys: pw.partition_for_key(keys, 12)]:
        check(lambda call=call: call(keys), pw.KeyTypeError, sentence)


IN_POLARS = "pass pl.col('key') within its with_columns"
A_TABLE: dict[str, Any] = {"a": ["x"]}


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pa.table(A_TABLE), "a pyarrow.Table {}: pass one of its columns, table['key']"),
        (pa.record_batch(A_TABLE), "a pyarrow.RecordBatch {}: pass one of its columns, batch['key']"),
        (
            pa.table(A_TABLE).to_reader(),
            "a pyarrow.RecordBatchReader {}: pass one of its columns, reader.read_all()['key']",
        ),
        (pl.DataFrame(A_TABLE), f"a polars.DataFrame {{}}: {IN_POLARS}, or df['key']"),
        (pl.LazyFrame(A_TABLE), f"a polars.LazyFrame {{}}: {IN_POLARS}"),
        (pd.DataFrame(A_TABLE), "a pandas.DataFrame {}: pass one of its columns, df['key']"),
        # If we do not know the library, the core's sentence is used.
        (arro3.core.Table.from_arrow(pa.table(A_TABLE)), f"{TABLE} has no key bytes: {A_KEY_IS}"),
    ],
    ids=lambda table: f"{type(table).__module__}.{type(table).__name__}",
)
def test_a_table_is_refused_for_its_columns(table: Any, sentence: str) -> None:
    check(lambda: pw.murmur2(table), pw.KeyTypeError, sentence.format("is not a column of keys"))


NO_KEY = " has no key bytes: a key is text, binary, a number, a boolean, a date, a timestamp or a UUID"
ITSELF: list[Any] = []
ITSELF.append(ITSELF)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({}, "dict"),
        ([], "list"),
        (ITSELF, "list"),
        ((), "tuple"),
        ({"a"}, "set"),
        (object(), "object"),
        (dt.time(12), "time"),
        (dt.timedelta(1), "timedelta"),
        (1j, "complex"),
        (len, "builtin_function_or_method"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_row(value: Any, name: str) -> None:
    for row, keys in [(0, [value, "a"]), (1, [None, value]), (1, (b"a", value))]:
        sentence = f"row {row}: a value of type {name}{NO_KEY}"
        check(lambda keys=keys: pw.murmur2(keys), pw.KeyTypeError, sentence)
    keys = np.empty(2, dtype=object)
    keys[1] = value
    check(lambda: pw.murmur2(keys), pw.KeyTypeError, f"row 1: a value of type {name}{NO_KEY}")


@pytest.mark.parametrize("make", [list, partial(np.array, dtype=object), partial(pd.Series, dtype=object)])
def test_numpys_objects_of_two_types_are_refused(make: Callable[[list[Any]], Any]) -> None:
    # pyarrow 26 ends the process if it gets these.
    for values in ([np.datetime64("2026"), np.True_], [np.datetime64("2026", "s"), np.int8(1)]):
        second = type(values[1]).__name__
        with pytest.raises(pw.KeyTypeError, match=f"kind: datetime64 in row 0, {second} in row 1$"):
            pw.encode(make(values))
        for what, call in (
            ("timestamp", lambda given: fingerprint(["a", "b"], [1, 2], given)),
            ("partition", lambda given: fingerprint(["a", "b"], given)),
            ("offset", lambda given: fingerprint(["a", "b"], [1, 2], offsets=given)),
        ):
            refused = f"the column '{what}' is not of one kind: cannot mix numpy's .*datetime64"
            with pytest.raises(pw.PartwrightError, match=refused):
                call(make(values))
        with pytest.raises(pw.PartwrightError, match=r"^the column 'size' \(.*cannot mix numpy's"):
            pw.Producer({"t": 3}).place({"topic": ["t", "t"], "size": make(values)})
        with pytest.raises(pw.PartwrightError, match="members is a whole number"):
            pw.quotas.min_quota(12, make(values))


@pytest.mark.parametrize(
    ("keys", "key_type", "kinds"),
    [
        (["a", None, 1], None, "str in row 0, int in row 2"),
        ([None, 1, "a", 2.5], None, "int in row 1, str in row 2, float in row 3"),
        ([1, 2.5], "java:double", "int in row 0, float in row 1"),
        ([True, 1], "java:int", "bool in row 0, int in row 1"),
        (["a", float("nan")], None, "str in row 0, float in row 1"),
        (["a", b"b"], "utf8", "str in row 0, bytes in row 1"),
        ([b"a", "b"], "bytes", "bytes in row 0, str in row 1"),
        ([UUID(int=1), "a"], "java:uuid", "UUID in row 0, str in row 1"),
    ],
)
def test_a_list_is_of_one_kind(keys: list[Any], key_type: str | None, kinds: str) -> None:
    sentence = f"the keys are of more than one kind: {kinds}"
    check(lambda: pw.encode(keys, key_type), pw.KeyTypeError, sentence)
    check(lambda: pw.encode(tuple(keys), key_type), pw.KeyTypeError, sentence)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 2)),
        np.array([1 + 2j]),
        np.array([(1, 2)], dtype="i,i"),
        np.array([1], dtype=">i4"),
        np.longdouble(1),
        np.void(b"a"),
        np.datetime64("2026"),
        np.array(["2026"], dtype="datetime64[s]"),
        pd.Series([pd.Timestamp(0)]),
        pd.Series([decimal.Decimal(1)]),
        pd.Series([["a"]]),
        pl.Series([object()]),
        pl.Series([dt.date(2026, 1, 1)]),
        pl.Series([["a"]]),
    ],
    ids=lambda array: f"{type(array).__name__} {getattr(array, 'dtype', '')}",
)
def test_arrays_without_keys_are_refused(array: Any) -> None:
    assert type(refusal(lambda: pw.murmur2(array))) is pw.KeyTypeError


# Objects that misbehave.


class FailingArray:
    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        raise OSError("the disk is gone\nfor good")


class FailingStream:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise TypeError


class NoCapsules:
    given: ClassVar[Any] = 5

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.given


class NoCapsuleEither(NoCapsules):
    given = (1, 2)


class Stopped:
    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        raise KeyboardInterrupt


class FailingNumpy:
    def __array__(self, *_: object, **__: object) -> object:
        raise OSError("the disk is gone")


def test_what_fails_in_a_column_of_others_is_one_sentence_and_the_cause() -> None:
    unreadable = "the keys cannot be read as an Arrow column: "
    error = refusal(lambda: pw.murmur2(FailingArray()))
    assert str(error) == unreadable + "the disk is gone"
    assert type(error) is type(pw.PartwrightError())
    assert isinstance(error.__cause__, OSError)
    for keys in [FailingStream(), NoCapsules(), NoCapsuleEither(), pa.Array, pl.Series]:
        error = refusal(lambda keys=keys: pw.murmur2(keys))
        assert str(error).startswith(unreadable)
        assert type(error) is pw.KeyTypeError
    assert type(refusal(lambda: pw.murmur2(FailingNumpy()))) is pw.KeyTypeError


def test_an_interrupt_is_no_refusal() -> None:
    with pytest.raises(KeyboardInterrupt):
        pw.murmur2(Stopped())


def test_a_reader_can_be_read_once() -> None:
    stream = pa.chunked_array([["a"], ["b"]])
    reader = arro3.core.ArrayReader.from_arrow(stream)
    assert pw.murmur2(reader).equals(pw.murmur2(stream))
    assert "closed stream" in str(refusal(lambda: pw.murmur2(reader)))


# Arrays that break Arrow's format, as another library's defect may make them.

BROKEN = ": the Arrow array is malformed, its offsets point outside of its data"


def from_bytes(kind: pa.DataType, rows: int, *buffers: bytes) -> pa.Array:
    """An array of these buffers, without a bitmap."""
    return pa.Array.from_buffers(kind, rows, [None, *map(pa.py_buffer, buffers)])


def indexed(index: pa.DataType, indices: bytes) -> pa.Array:
    """A dictionary of one value."""
    buffers = [None, pa.py_buffer(indices)]
    return pa.DictionaryArray.from_buffers(
        pa.dictionary(index, pa.string()), len(indices), buffers, pa.array(["a"])
    )


@pytest.mark.parametrize(
    ("column", "row"),
    [
        (from_bytes(pa.string(), 2, struct.pack("3i", 0, -1, 2), b"ab"), 0),
        (from_bytes(pa.binary(), 3, struct.pack("4i", 0, 2, 1, 3), b"abc"), 1),
        (from_bytes(pa.large_string(), 2, struct.pack("3q", 0, 2**62, 2), b"ab"), 0),
        (from_bytes(pa.large_binary(), 2, struct.pack("3q", 0, -(2**63), 2), b"ab"), 0),
        (from_bytes(pa.string_view(), 1, struct.pack("i12x", -1)), 0),
        (from_bytes(pa.string_view(), 1, struct.pack("i4sii", 13, b"xxxx", 1, 0), b"x" * 20), 0),
        (from_bytes(pa.binary_view(), 1, struct.pack("i4sii", 13, b"xxxx", 0, 8), b"x" * 20), 0),
        (from_bytes(pa.binary_view(), 1, struct.pack("i4sii", 13, b"xxxx", -1, -1), b"x" * 20), 0),
        (indexed(pa.int8(), b"\0\xff"), 1),
        (indexed(pa.uint8(), b"\0\1"), 1),
    ],
)  # fmt: skip
def test_a_broken_array_is_refused_and_not_read(column: pa.Array, row: int) -> None:
    for call in [pw.murmur2, pw.encode, lambda keys: pw.partition_for_key(keys, 12)]:
        check(lambda call=call: call(column), pw.PartwrightError, f"row {row}{BROKEN}")
    above = pa.nulls(3, column.type)
    below = pa.chunked_array([above, column])
    check(lambda: pw.murmur2(below), pw.PartwrightError, f"row {3 + row}{BROKEN}")


def test_misaligned_buffers_are_read_all_the_same() -> None:
    """Arrow's C interface does not promise aligned buffers."""
    buffer = pa.py_buffer(b"x" + struct.pack("3q", 0, 1, 2)).slice(1)
    column = pa.Array.from_buffers(pa.int64(), 3, [None, buffer])
    assert pw.encode(column, "java:long").to_pylist() == [pw.encode(value, "java:long") for value in range(3)]
    buffer = pa.py_buffer(b"x" + struct.pack("i12s", 1, b"a")).slice(1)
    column = pa.Array.from_buffers(pa.string_view(), 1, [None, buffer])
    assert pw.murmur2(column).to_pylist() == [pw.murmur2("a")]


def test_text_that_is_no_utf8_is_hashed_as_its_bytes_everywhere() -> None:
    column = from_bytes(pa.string(), 2, struct.pack("3i", 0, 1, 2), b"\xff\xfe")
    expected = [pw.murmur2(b"\xff"), pw.murmur2(b"\xfe")]
    assert pw.murmur2(column).to_pylist() == expected
    indices = pa.array([0, 1], pa.int8())
    assert pw.murmur2(pa.DictionaryArray.from_arrays(indices, column)).to_pylist() == expected


def test_more_rows_than_memory_are_refused() -> None:
    column = pa.Array.from_buffers(pa.null(), 2**61, [None])
    sentence = "there is not enough memory for the results of 2305843009213693952 rows"
    for call in [pw.murmur2, lambda keys: pw.partition_for_key(keys, 12)]:
        check(lambda call=call: call(column), pw.PartwrightError, sentence)
    assert "not enough memory" in str(refusal(lambda: pw.encode(column)))


def test_a_panic_in_arrows_import_is_a_refusal(capfd: pytest.CaptureFixture[str]) -> None:
    """A panic of arrow 59.3, for lists of a fixed size of structs of nulls that begin after their first row."""
    column = pa.nulls(1, pa.list_(pa.struct([("a", pa.null())]), 2))[1:]
    check(
        lambda: pw.murmur2(column),
        pw.KeyTypeError,
        "the keys cannot be read as an Arrow column: Arrow's import of arrays stopped at it",
    )
    # Rust prints a panic before anybody can catch it.
    assert capfd.readouterr().err == ""


# Whatever the type is, it is answered or refused.


def kinds() -> st.SearchStrategy[pa.DataType]:
    """Every type that pyarrow has."""
    units = st.sampled_from(["s", "ms", "us", "ns"])
    flat = st.one_of(
        st.sampled_from(
            [
                pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(),
                pa.uint32(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.date32(), pa.date64(),
                pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(),
                pa.month_day_nano_interval(), pa.uuid(), pa.json_(), pa.bool8(), pa.opaque(pa.string(), "a", "b"),
                pa.time32("s"), pa.time64("ns"),
            ]
        ),
        units.map(pa.timestamp),
        units.map(lambda unit: pa.timestamp(unit, "Asia/Tokyo")),
        units.map(pa.duration),
        st.integers(0, 40).map(pa.binary),
        st.integers(1, 9).map(lambda digits: pa.decimal32(digits, 2)),
        st.integers(1, 18).map(lambda digits: pa.decimal64(digits, -2)),
        st.integers(1, 38).map(pa.decimal128),
        st.integers(1, 76).map(pa.decimal256),
    )  # fmt: skip
    return st.recursive(
        flat,
        lambda inner: st.one_of(
            inner.map(pa.list_),
            inner.map(pa.large_list),
            inner.map(pa.list_view),
            inner.map(lambda kind: pa.list_(kind, 2)),
            inner.map(lambda kind: pa.map_(pa.string(), kind)),
            inner.map(lambda kind: pa.struct([("a", kind), ("b", kind)])),
            inner.map(lambda kind: pa.dense_union([pa.field("a", kind)])),
            inner.map(lambda kind: pa.run_end_encoded(pa.int16(), kind)),
            inner.map(lambda kind: pa.dictionary(pa.int8(), kind)),
        ),
        max_leaves=3,
    )


KEY_TYPE = st.sampled_from([None, *KEY_TYPES])


def answered(keys: Any, key_type: str | None) -> None:
    """A result as long as the keys, or our own refusal; any other error passes through."""
    for call in [
        lambda: pw.murmur2(keys, key_type=key_type),
        lambda: pw.encode(keys, key_type),
        lambda: pw.partition_for_key(keys, 12, key_type=key_type),
    ]:
        try:
            result = call()
        except pw.PartwrightError as error:
            assert "\n" not in str(error)  # noqa: PT017 - each is either
            assert "defect" not in str(error)  # noqa: PT017
        else:
            if isinstance(result, (pa.Array, pa.ChunkedArray)):
                result.validate(full=True)
                assert len(result) == len(keys)


@settings(max_examples=300, deadline=None)
@given(kinds(), KEY_TYPE, st.integers(0, 5), st.integers(0, 3))
def test_every_type_of_column_is_answered_or_refused(
    kind: pa.DataType, key_type: str | None, rows: int, start: int
) -> None:
    try:
        column = pa.nulls(rows, kind)
    except (pa.ArrowException, ValueError):  # pyarrow's own limits
        return
    answered(column, key_type)
    answered(column[start:], key_type)
    answered(pa.chunked_array([column, column[start:]], kind), key_type)


@settings(max_examples=300, deadline=None)
@given(kinds(), KEY_TYPE, st.integers(0, 9), st.binary(min_size=160, max_size=400))
def test_buffers_of_anything_are_answered_or_refused(
    kind: pa.DataType, key_type: str | None, rows: int, data: bytes
) -> None:
    """Bytes that are not an array of any type, passed as one; the offsets, which Arrow trusts, are within the data."""
    buffer = pa.py_buffer(data)
    bitmap = pa.py_buffer(data[:2])
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_primitive(kind):
        if rows * kind.bit_width > 8 * len(data):
            return
        column = pa.Array.from_buffers(kind, rows, [bitmap, buffer])
    elif kind in {pa.string(), pa.binary()}:
        offsets = [byte - 64 for byte in data[:rows]]
        offsets.append(len(data))
        column = pa.Array.from_buffers(
            kind, rows, [bitmap, pa.py_buffer(struct.pack(f"{rows + 1}i", *offsets)), buffer]
        )
    elif kind in {pa.string_view(), pa.binary_view()}:
        column = pa.Array.from_buffers(kind, rows, [bitmap, buffer, buffer, buffer])
    else:
        return
    for call in [
        lambda: pw.murmur2(column, key_type=key_type),
        lambda: pw.encode(column, key_type),
        lambda: pw.partition_for_key(column, 12),
    ]:
        try:
            assert len(call()) == rows
        except pw.PartwrightError as error:
            assert "defect" not in str(error)  # noqa: PT017 - each is either


def oddities() -> st.SearchStrategy[Any]:
    """Values of Python that might be in a list of keys."""
    flat = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters()), st.binary(max_size=20),
        st.uuids(), st.dates(), st.decimals(), st.complex_numbers(), st.just(pd.NA), st.just(pd.NaT),
        st.builds(bytearray, st.binary(max_size=3)), st.builds(memoryview, st.binary(max_size=3)),
        st.sampled_from([np.int8(1), np.float32(1), np.str_("a"), np.bool_(True), np.datetime64("2026")]),
        st.sampled_from([pa.scalar("a"), pa.scalar(None), pa.scalar([1]), pa.scalar(2.5, pa.float16())]),
    )  # fmt: skip
    return st.recursive(
        flat, lambda inner: st.one_of(st.lists(inner, max_size=2), st.tuples(inner)), max_leaves=3
    )


@settings(max_examples=300, deadline=None)
@given(oddities(), KEY_TYPE)
def test_every_value_is_answered_or_refused(value: Any, key_type: str | None) -> None:
    answered(value, key_type)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.lists(oddities(), max_size=4), oddities().map(lambda value: [value] * 3)), KEY_TYPE)
def test_every_list_is_answered_or_refused(values: list[Any], key_type: str | None) -> None:
    answered(values, key_type)
    array = np.empty(len(values), dtype=object)
    array[:] = [value if not isinstance(value, (list, tuple)) else None for value in values]
    answered(array, key_type)
    answered(pd.Series(array), key_type)


# Long values.


@pytest.mark.parametrize(
    "call",
    [
        lambda long, _: pw.partition_for_key("a", 12, client=long),
        lambda long, _: pw.encode("a", long),
        lambda long, _: pw.assign({"t": 1}, ["c"], long),
        lambda long, _: pw.assign({"t": 1}, [{"id": long, "topics": 3}]),
        lambda long, _: pw.assign({"t": 1}, [{"id": "c", "topics": ["t"], long: 3}]),
        lambda long, _: pw.check({"k": ["a"]}, long, 12),
        lambda long, _: pw.check({"k": ["a"]}, "k", 12, limits=pw.CheckLimits(max_share=long)),
        lambda _, many: pw.assign({"t": 1}, ["c"], many),
        lambda _, many: pw.check({"k": ["a"]}, many, 12),
        lambda _, many: pw.assign({"t": 1}, ["c"]).owner_of("t", many),
        lambda _, many: pw.assign({"t": 1}, ["c"]).moved_from(many),
    ],
)
def test_a_long_value_is_cut(call: Callable[[str, list[str]], object]) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        call("x" * 10_000, ["x"] * 1_000)
    assert len(str(refused.value)) < 600
