"""Columns between Python and Rust: every kind of column, read in place, and the result.

The golden files show that answers are right; here the answer for each key of a column must equal
the answer for the same key alone.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import UUID

import arro3.core
import nanoarrow
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import partwright as pw
from partwright import _core

if TYPE_CHECKING:
    from collections.abc import Callable

# Empty, short, as long as a view holds, longer; nulls at the ends, in a row and alone.
TEXTS: list[str | None] = [
    None, "", "a", "kafka", "TT0124", None, None, "twelve bytes", "thirteen byte", "naïve café", "日本語",
    "😀", "N14228", None, "a key that is longer than any view could ever hold", "\0", " ", "N" * 300, "x" * 7, None,
]  # fmt: skip
KEYS = [None if text is None else text.encode() for text in TEXTS]
WIDE = [None if key is None else key.ljust(20)[:20] for key in KEYS]
N = 12

INDICES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


def dictionary(index: pa.DataType, value: pa.DataType, keys: list[Any]) -> pa.DictionaryArray:
    """Values in another order than the rows; no row uses the last one."""
    values = sorted({key for key in keys if key is not None}, reverse=True)
    unused = b"unused".ljust(20) if isinstance(values[0], bytes) else "unused"
    rows = pa.array([None if key is None else values.index(key) for key in keys], index)
    return pa.DictionaryArray.from_arrays(rows, pa.array([*values, unused], value))


TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]
BINARY_TYPES = [pa.binary(), pa.large_binary(), pa.binary_view()]
# The column, and its keys.
COLUMNS: dict[str, tuple[pa.Array, list[bytes | None]]] = {
    **{str(kind): (pa.array(TEXTS, kind), KEYS) for kind in TEXT_TYPES},
    **{str(kind): (pa.array(KEYS, kind), KEYS) for kind in BINARY_TYPES},
    "fixed_size_binary": (pa.array(WIDE, pa.binary(20)), WIDE),
    "no bytes": (pa.array([b"", None, b""] * 7, pa.binary(0)), [b"", None, b""] * 7),
    **{f"dictionary<{index}, string>": (dictionary(index, pa.string(), TEXTS), KEYS) for index in INDICES},
    **{
        f"dictionary<int16, {kind}>": (dictionary(pa.int16(), kind, TEXTS), KEYS)
        for kind in [pa.large_string(), pa.string_view()]
    },
    **{
        f"dictionary<int32, {kind}>": (dictionary(pa.int32(), kind, keys), keys)
        for kind, keys in [*((kind, KEYS) for kind in BINARY_TYPES), (pa.binary(20), WIDE)]
    },
    "null": (pa.nulls(5), [None] * 5),
}
each_column = pytest.mark.parametrize(("column", "keys"), COLUMNS.values(), ids=COLUMNS)


def alone(keys: list[Any], key_type: str | None = None) -> list[int | None]:
    """Where each key goes if it is asked for alone."""
    return [pw.partition_for_key(key, N, key_type=key_type) for key in keys]


def check(column: Any, keys: list[Any], key_type: str | None = None) -> pa.Array | pa.ChunkedArray:
    """The three functions on a column; each result is compared with the same keys alone."""
    placed = pw.partition_for_key(column, N, key_type=key_type)
    hashed = pw.murmur2(column, key_type=key_type)
    encoded = pw.encode(column, key_type)
    for result in [placed, hashed, encoded]:
        assert isinstance(result, (pa.Array, pa.ChunkedArray))
        result.validate(full=True)
        assert len(result) == len(keys)
    assert placed.type == hashed.type == pa.int32()
    assert placed.to_pylist() == alone(keys, key_type)
    assert hashed.to_pylist() == [pw.murmur2(key, key_type=key_type) for key in keys]
    assert encoded.to_pylist() == [pw.encode(key, key_type) for key in keys]
    return placed


# Arrays.


@each_column
def test_a_column_says_what_its_keys_say_alone(column: pa.Array, keys: list[bytes | None]) -> None:
    assert column.null_count > 0
    result = check(column, keys)
    assert type(result) is pa.Int32Array


@each_column
def test_a_slice_says_what_its_rows_say(column: pa.Array, keys: list[bytes | None]) -> None:
    for start in range(len(keys) + 1):
        for stop in {start, start + 1, start + 9, len(keys)}:
            check(column[start:stop], keys[start:stop])
    check(column[3:][2:], keys[5:])


@each_column
def test_no_rows_and_only_nulls_are_columns_too(column: pa.Array, keys: list[bytes | None]) -> None:
    check(column[:0], [])
    check(pa.nulls(9, column.type), [None] * 9)
    full = [row for row, key in enumerate(keys) if key is not None]
    for row in full:
        check(column[row : row + 1], keys[row : row + 1])


@each_column
def test_chunks_stay_the_same_chunks(column: pa.Array, keys: list[bytes | None]) -> None:
    cuts = [column[:0], column[:3], column[3:4], column[4:4], column[4:]]
    result = check(pa.chunked_array(cuts, column.type), keys)
    assert type(result) is pa.ChunkedArray
    assert [len(chunk) for chunk in result.chunks] == [len(cut) for cut in cuts]
    assert [len(chunk) for chunk in pw.encode(pa.chunked_array(cuts)).chunks] == [len(cut) for cut in cuts]
    one = check(pa.chunked_array([column]), keys)
    assert type(one) is pa.ChunkedArray
    assert one.num_chunks == 1


@each_column
def test_a_stream_without_chunks_has_a_type(column: pa.Array, keys: list[bytes | None]) -> None:
    none = pa.chunked_array([], column.type)
    result = check(none, [])
    assert type(result) is pa.ChunkedArray
    assert result.num_chunks == 0
    assert pw.encode(none).type == pw.encode(column).type
    assert keys


def test_a_null_in_a_dictionarys_values_is_a_null_key() -> None:
    values = pa.array(["a", None, "b"])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 1]), values)
    check(column, ["a", None, None, "b", None])


def test_encoded_columns_are_of_the_type_that_their_offsets_ask_for() -> None:
    types = {str(column.type): str(pw.encode(column).type) for column, _ in COLUMNS.values()}
    for name, encoded in types.items():
        large = name.startswith("large_")
        view = name.endswith("_view")
        assert encoded == ("large_binary" if large else "binary_view" if view else "binary"), name
    assert len(types) > 20


NUMBERS: dict[str, tuple[list[Any], list[pa.DataType]]] = {
    "java:short": ([0, 1, -128, 127, None], [pa.int8(), pa.int16(), pa.int32(), pa.int64()]),
    "java:int": ([0, 1, 127, 255, None], [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.int64()]),
    "java:long": ([0, 1, 2**62, None], [pa.int64(), pa.uint64()]),
    "java:float": ([0.0, -0.0, 1.5, float("inf"), None], [pa.float16(), pa.float32(), pa.float64()]),
    "java:double": ([0.0, -0.0, 1.5, float("-inf"), None], [pa.float16(), pa.float32(), pa.float64()]),
    "java:boolean": ([True, False, None], [pa.bool_()]),
}


@pytest.mark.parametrize("key_type", NUMBERS)
def test_numbers_of_every_width_are_columns_under_their_key_type(key_type: str) -> None:
    values, kinds = NUMBERS[key_type]
    for kind in kinds:
        column = pa.array(values * 5, kind)
        check(column, values * 5, key_type)
        check(column[3:], (values * 5)[3:], key_type)
        check(column.dictionary_encode() if kind != pa.float16() else column, values * 5, key_type)
        check(pa.chunked_array([column, column[:2]]), values * 5 + values[:2], key_type)
        for value in values:
            assert pw.encode(pa.scalar(value, kind), key_type) == pw.encode(value, key_type)


# In place: addresses.


def key_buffer(column: pa.Array) -> int:
    """The address at which the bytes of a column's keys begin, by pyarrow."""
    if pa.types.is_dictionary(column.type):
        return key_buffer(column.dictionary)
    if pa.types.is_fixed_size_binary(column.type):
        return column.buffers()[1].address + column.offset * column.type.byte_width
    return column.buffers()[2].address


IN_PLACE = {name: column for name, (column, _) in COLUMNS.items() if name not in {"null", "no bytes"}}


@pytest.mark.parametrize("column", IN_PLACE.values(), ids=IN_PLACE)
def test_keys_are_read_at_their_own_address(column: pa.Array) -> None:
    for piece in [column, column[1:], column[4:9], column[8:]]:
        assert _core.key_addresses(piece) == [key_buffer(piece)]
    chunks = [column[:3], column[3:]]
    assert _core.key_addresses(pa.chunked_array(chunks)) == [key_buffer(chunk) for chunk in chunks]
    capsules = arro3.core.Array.from_arrow(column)
    assert _core.key_addresses(capsules) == [key_buffer(column)]


def test_short_keys_of_views_are_read_in_the_views() -> None:
    column = pa.array(["short", None, "keys"], pa.string_view())
    assert _core.key_addresses(column) == [column.buffers()[1].address]
    assert _core.key_addresses(column[1:]) == [column.buffers()[1].address + 16]


def test_what_has_no_key_bytes_has_no_address() -> None:
    assert _core.key_addresses(pa.nulls(3)) == [None]
    assert _core.key_addresses(pa.chunked_array([], pa.string())) == []


@pytest.mark.parametrize("column", IN_PLACE.values(), ids=IN_PLACE)
def test_text_and_binary_become_key_bytes_without_a_copy(column: pa.Array) -> None:
    if pa.types.is_dictionary(column.type):
        return
    encoded = pw.encode(column)
    assert encoded.buffers()[2].address == key_buffer(column)
    assert encoded.buffers()[0].address == column.buffers()[0].address


@pytest.mark.parametrize("column", IN_PLACE.values(), ids=IN_PLACE)
def test_the_validity_bitmap_is_shared(column: pa.Array) -> None:
    bitmap = column.buffers()[0].address
    for result in [pw.murmur2(column), pw.partition_for_key(column, N)]:
        assert result.buffers()[0].address == bitmap
    # A slice at whole bytes of the bitmap shares it too; at other bits Arrow wants it moved.
    assert pw.murmur2(column[8:]).buffers()[0].address == bitmap + 1
    assert pw.murmur2(column[3:]).is_null().equals(column[3:].is_null())


def test_the_validity_bitmap_of_numbers_is_shared() -> None:
    column = pa.array([1, None, 3] * 100)
    bitmap = column.buffers()[0].address
    for result in [pw.murmur2(column, key_type="java:long"), pw.encode(column, "java:long")]:
        assert result.buffers()[0].address == bitmap


def test_keys_without_nulls_give_no_bitmap() -> None:
    assert pw.murmur2(pa.array(["a", "b"])).buffers()[0] is None


@pytest.mark.parametrize("column", IN_PLACE.values(), ids=IN_PLACE)
def test_a_result_is_4_bytes_a_row(column: pa.Array) -> None:
    many = pa.concat_arrays([column] * 50)
    for keys in [column, column[:7], many]:
        result = pw.partition_for_key(keys, N)
        assert result.offset == 0
        assert result.buffers()[1].size == 4 * len(keys)


def test_a_result_outlives_what_it_was_made_from() -> None:
    rows = 100_000
    keys = [None if row % 3 == 0 else f"key {row}" for row in range(rows)]
    expected = alone(keys[:50])
    placed = pw.partition_for_key(pa.array(keys), N)
    encoded = pw.encode(pa.array(keys))
    gc.collect()
    filler = [bytes(rows) for _ in range(20)]
    assert placed[:50].to_pylist() == expected
    assert placed.null_count == len([key for key in keys if key is None])
    assert encoded[-3:].to_pylist() == [key and key.encode() for key in keys[-3:]]
    assert len(filler) == 20


# Other libraries' columns.

PEOPLE = ["ada", None, "grace", "", "日本語", "a name that is longer than a view"]
OTHERS: dict[str, Callable[[], Any]] = {
    "arro3 Array": lambda: arro3.core.Array.from_arrow(pa.array(PEOPLE)),
    "arro3 Array of views": lambda: arro3.core.Array.from_arrow(pa.array(PEOPLE, pa.string_view())),
    "nanoarrow Array": lambda: nanoarrow.c_array(PEOPLE, nanoarrow.string()),
    "numpy objects": lambda: np.array(PEOPLE, dtype=object),
    "numpy objects, strided": lambda: np.array([x for name in PEOPLE for x in (name, 0)], dtype=object)[::2],
    "numpy masked": lambda: np.ma.array(
        [name or "" for name in PEOPLE], mask=[name is None for name in PEOPLE]
    ),
    "numpy StringDType": lambda: np.array(PEOPLE, dtype=np.dtypes.StringDType(na_object=None)),
    "pandas objects": lambda: pd.Series(PEOPLE, dtype=object),
    "pandas objects, NaN for null": lambda: pd.Series(
        [float("nan") if name is None else name for name in PEOPLE]
    ),
    "pandas string": lambda: pd.Series(PEOPLE, dtype="string[python]"),
    "pandas string[pyarrow]": lambda: pd.Series(PEOPLE, dtype="string[pyarrow]"),
    "pandas ArrowDtype": lambda: pd.Series(PEOPLE, dtype=pd.ArrowDtype(pa.string())),
    "pandas category": lambda: pd.Series(PEOPLE, dtype="category"),
    "pandas Index": lambda: pd.Index(PEOPLE),
    "tuple": lambda: tuple(PEOPLE),
    "list with pandas.NA": lambda: [pd.NA if name is None else name for name in PEOPLE],
    "list of Arrow scalars": lambda: [pa.scalar(name, pa.string()) for name in PEOPLE],
    "list of numpy's text": lambda: [None if name is None else np.str_(name) for name in PEOPLE],
}
STREAMS: dict[str, Callable[[], Any]] = {
    "polars": lambda: pl.Series(PEOPLE),
    "polars, sliced": lambda: pl.Series(["x", *PEOPLE, "y"])[1:-1],
    "polars in chunks": lambda: pl.concat([pl.Series(PEOPLE[:2]), pl.Series(PEOPLE[2:])], rechunk=False),
    "polars Categorical": lambda: pl.Series(PEOPLE, dtype=pl.Categorical),
    "polars Enum": lambda: pl.Series(PEOPLE, dtype=pl.Enum([name for name in PEOPLE if name is not None])),
    "polars Binary": lambda: pl.Series(PEOPLE).cast(pl.Binary),
    "arro3 ChunkedArray": lambda: arro3.core.ChunkedArray.from_arrow(
        pa.chunked_array([PEOPLE[:2], PEOPLE[2:]])
    ),
    "nanoarrow ArrayStream": lambda: nanoarrow.ArrayStream(pa.chunked_array([PEOPLE[:2], PEOPLE[2:]])),
    "pandas ArrowDtype in chunks": lambda: pd.Series(
        pd.arrays.ArrowExtensionArray(pa.chunked_array([PEOPLE[:2], PEOPLE[2:]]))
    ),
}


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        *(pytest.param(make, pa.Array, id=name) for name, make in OTHERS.items()),
        *(pytest.param(make, pa.ChunkedArray, id=name) for name, make in STREAMS.items()),
    ],
)
def test_other_libraries_arrays_are_columns_and_their_streams_come_back_in_chunks(
    make: Callable[[], Any], kind: type[Any]
) -> None:
    for function in [pw.murmur2, lambda keys: pw.partition_for_key(keys, N), pw.encode]:
        # A stream is read once.
        given = make()
        result = function(given)
        # A Series gives a Series.
        is_series = isinstance(given, (pd.Series, pl.Series))
        assert isinstance(result, type(given) if is_series else kind)
        listed = [*result] if is_series else result.to_pylist()
        assert [None if each is pd.NA else each for each in listed] == [function(name) for name in PEOPLE]


def test_chunks_of_other_libraries_stay_the_same_chunks() -> None:
    for name in ["arro3 ChunkedArray", "nanoarrow ArrayStream"]:
        assert [len(chunk) for chunk in pw.murmur2(STREAMS[name]()).chunks] == [2, 4], name


def test_polars_keys_are_read_in_place() -> None:
    series = pl.Series(PEOPLE * 10)
    (address,) = _core.key_addresses(series)
    assert address == series.to_arrow(compat_level=pl.CompatLevel.newest()).buffers()[2].address


def test_numpys_fixed_width_types_are_columns() -> None:
    assert pw.murmur2(np.array(["a", "", "naïve"])).to_pylist() == [
        pw.murmur2(key) for key in ["a", "", "naïve"]
    ]
    assert pw.murmur2(np.array([b"a", b"", b"bcd"])).to_pylist() == [
        pw.murmur2(key) for key in [b"a", b"", b"bcd"]
    ]
    for kind, key_type in [("i2", "java:short"), ("u4", "java:int"), ("i8", "java:long")]:
        values = np.arange(10, dtype=kind)[::-2]
        expected = [pw.encode(int(value), key_type) for value in values]
        assert pw.encode(values, key_type).to_pylist() == expected
    assert pw.encode(np.array([True, False]), "java:boolean").to_pylist() == [b"\1", b"\0"]


def test_a_nan_is_a_key_to_numpy_and_a_null_to_pandas() -> None:
    """pandas has no other null in columns of floating-point numbers."""
    values = [1.5, float("nan")]
    nan = pw.encode(float("nan"), "java:double")
    assert pw.encode(np.array(values), "java:double").to_pylist()[1] == nan
    assert pw.encode(values, "java:double").to_pylist()[1] == nan
    assert pw.encode(pa.array(values), "java:double").to_pylist()[1] == nan
    assert pw.encode(pd.Series(values), "java:double").tolist()[1] is None


def test_uuids_are_columns_by_whichever_library() -> None:
    uuids = [UUID(int=1), None, UUID("0188c0f2-7a93-7000-8000-00000000abcd")]
    expected = [uuid and str(uuid).encode() for uuid in uuids]
    storage = pa.array([uuid and uuid.bytes for uuid in uuids], pa.binary(16))
    column = pa.ExtensionArray.from_storage(pa.uuid(), storage)
    for given in [
        uuids,
        tuple(uuids),
        np.array(uuids, dtype=object),
        column,
        column[1:],
        pa.chunked_array([column[:1], column[1:]]),
        arro3.core.Array.from_arrow(column),
        nanoarrow.c_array(column),
        storage,
        [None if uuid is None else str(uuid).upper() for uuid in uuids],
    ]:
        assert pw.encode(given, "java:uuid").to_pylist() == expected[-len(given) :]
        assert pw.partition_for_key(given, N, key_type="java:uuid").to_pylist() == alone(
            expected[-len(given) :]
        )


def test_extension_types_are_read_by_what_they_store() -> None:
    column = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", None]))
    check(column, ["{}", None])


# Single values.

SINGLES: list[tuple[Any, bytes | None]] = [
    ("a", b"a"),
    ("", b""),
    ("naïve", "naïve".encode()),
    (b"a", b"a"),
    (b"", b""),
    (bytearray(b"abc"), b"abc"),
    (memoryview(b"abc"), b"abc"),
    (memoryview(b"abcdef")[::2], b"ace"),
    (np.str_("a"), b"a"),
    (np.bytes_(b"a"), b"a"),
    (np.array("a"), b"a"),
    (np.array(b"a"), b"a"),
    (pa.scalar("a"), b"a"),
    (pa.scalar("a", pa.large_string()), b"a"),
    (pa.scalar("a", pa.string_view()), b"a"),
    (pa.scalar(b"abc", pa.binary(3)), b"abc"),
    (pa.scalar(b"a", pa.binary_view()), b"a"),
    (pa.array(["b", "a"]).dictionary_encode()[1], b"a"),
    (pa.scalar(None, pa.string()), None),
    (pa.scalar(None, pa.binary(3)), None),
    (pa.scalar(None), None),
    (pd.NA, None),
    (None, None),
]


@pytest.mark.parametrize(("value", "key"), SINGLES, ids=[type(value).__name__ for value, _ in SINGLES])
def test_one_value_gives_one_answer(value: Any, key: bytes | None) -> None:
    assert pw.encode(value) == key
    assert type(pw.encode(value)) is type(key) or isinstance(value, bytes)
    if key is None:
        assert pw.murmur2(value) is None
        assert pw.partition_for_key(value, N) is None
    else:
        assert pw.murmur2(value) == pw.murmur2(key)
        assert type(pw.murmur2(value)) is int
        assert pw.partition_for_key(value, N) == pw.partition_for_key(key, N)
        assert type(pw.partition_for_key(value, N)) is int


@pytest.mark.parametrize(
    ("value", "key_type", "key"),
    [
        (True, "java:boolean", b"\1"),
        (np.bool_(False), "java:boolean", b"\0"),
        (7, "java:int", b"\0\0\0\7"),
        (np.int64(7), "java:short", b"\0\7"),
        (np.uint8(7), "java:long", b"\0\0\0\0\0\0\0\7"),
        (np.array(7), "java:int", b"\0\0\0\7"),
        (pa.scalar(7, pa.uint16()), "java:int", b"\0\0\0\7"),
        (1.5, "java:float", b"\x3f\xc0\0\0"),
        (np.float32(1.5), "java:double", b"\x3f\xf8\0\0\0\0\0\0"),
        (np.float16(1.5), "java:float", b"\x3f\xc0\0\0"),
        (np.float64(1.5), "java:float", b"\x3f\xc0\0\0"),
        (UUID(int=1), "java:uuid", b"00000000-0000-0000-0000-000000000001"),
        (UUID(int=1), "bytes", bytes(15) + b"\1"),
        (pa.scalar(UUID(int=1).bytes, pa.uuid()), "java:uuid", b"00000000-0000-0000-0000-000000000001"),
        (None, "java:uuid", None),
    ],
)
def test_one_value_under_a_key_type(value: Any, key_type: str, key: bytes | None) -> None:
    assert pw.encode(value, key_type) == key
    assert pw.partition_for_key(value, N, key_type=key_type) == pw.partition_for_key(key, N)
    assert pw.murmur2(value, key_type=key_type) == pw.murmur2(key)


def test_a_float_keeps_the_bits_of_its_nan_in_columns_and_scalars() -> None:
    bits = pa.py_buffer(bytes.fromhex("0100c07f 0000c07f"))
    column = pa.Array.from_buffers(pa.float32(), 2, [None, bits])
    expected = [bytes.fromhex("7fc00001"), bytes.fromhex("7fc00000")]
    assert pw.encode(column, "java:float").to_pylist() == expected
    assert [pw.encode(column[row], "java:float") for row in range(2)] == expected
    assert pw.encode(np.frombuffer(bits, np.float32)[0], "java:float") == expected[0]


def test_n_may_be_any_whole_number() -> None:
    for n in [12, np.int8(12), np.uint64(12)]:
        assert pw.partition_for_key("a", n) == pw.partition_for_key("a", 12)
        assert pw.partition_for_key(["a"], n).to_pylist() == [pw.partition_for_key("a", 12)]


# Processes and threads.

# Without the other packages, which pyarrow takes a second to import if it finds them.
PROGRAM = """
import sys
for name in ["numpy", "pandas", "polars", "pyspark", "kafka"]:
    sys.modules[name] = None
import pyarrow as pa, partwright as pw
keys = [f"key {row}" for row in range(1000)]
shuffled = list({key: None for key in set(keys)})
assert sorted(shuffled) == sorted(keys)
answers = [pw.partition_for_key(keys, 997).to_pylist(), [pw.murmur2(key) for key in keys]]
answers.append(pw.partition_for_key(pa.array(keys).dictionary_encode(), 997).to_pylist())
print(pw.murmur2(repr(answers)))
"""


def test_every_process_gives_the_same_answers() -> None:
    said = []
    for seed in ["0", "1", "random"]:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        said.append(done.stdout)
    assert len(set(said)) == 1
    assert int(said[0]) != 0


def test_neither_numpy_nor_pandas_is_needed() -> None:
    program = f"""{PROGRAM}
assert "numpy" in sys.modules and sys.modules["numpy"] is None
assert pw.encode([1, None], "java:int").to_pylist() == [bytes(3) + b"\\1", None]
assert pw.encode(2.5, "java:double")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_other_threads_run_while_we_work() -> None:
    """While a call hashes for a while, the clock of another thread goes on.

    With the GIL held, it could not tick between the first and the last tenth of any call;
    without the GIL, one call is enough, unless the machine has no time at all for the other thread.
    """
    chunk = pa.array([b"\xa5" * (1 << 20)] * 16)  # 16 MB, hashed over and over
    chunks, took = 4, 0.0
    while took < 0.2:
        chunks *= 2
        keys = pa.chunked_array([chunk] * chunks)
        start = time.monotonic()
        pw.murmur2(keys)
        took = time.monotonic() - start
        assert chunks < 1 << 16
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.wait(0.001):
            ticks.append(time.monotonic())

    clock = threading.Thread(target=tick, daemon=True)
    clock.start()
    try:
        for _ in range(20):
            start = time.monotonic()
            pw.murmur2(keys)
            took = time.monotonic() - start
            if any(start + took / 10 < at < start + took * 9 / 10 for at in ticks):
                return
        pytest.fail("no other thread ran during 20 calls")
    finally:
        stop.set()
        clock.join()


def test_many_threads_may_ask_at_once() -> None:
    column = pa.array(TEXTS * 500)
    expected = alone(TEXTS) * 500
    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(lambda _: pw.partition_for_key(column, N).to_pylist(), range(32)):
            assert result == expected
