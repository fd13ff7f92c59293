"""Random keys, compared with murmur2 written once more in Python's own numbers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import partwright as pw

MASK = 2**32 - 1


def reference_murmur2(key: bytes) -> int:
    """Kafka's `Utils.murmur2`: whole words, then the rest as one number, then the avalanche."""
    m = 0x5BD1E995
    whole = len(key) // 4 * 4
    h = 0x9747B28C ^ len(key)
    for start in range(0, whole, 4):
        k = int.from_bytes(key[start : start + 4], "little") * m & MASK
        h = (h * m & MASK) ^ ((k ^ k >> 24) * m & MASK)
    if rest := key[whole:]:
        h = (h ^ int.from_bytes(rest, "little")) * m & MASK
    h = (h ^ h >> 13) * m & MASK
    h ^= h >> 15
    return h - 2**32 if h >= 2**31 else h


def reference_partition(key: bytes, n: int) -> int:
    """Kafka's `toPositive(murmur2(key)) % n`: a negative hash is moved up by 2^31."""
    h = reference_murmur2(key)
    return (h + 2**31 if h < 0 else h) % n


def test_the_reference_says_what_kafkas_own_test_does() -> None:
    assert reference_murmur2(b"21") == -973932308
    assert reference_murmur2(b"a-little-bit-long-string") == -985981536
    assert reference_partition(b"TT0124", 15) == 10


N = st.integers(1, 2**31 - 1) | st.integers(1, 100) | st.sampled_from([1, 2**31 - 1])
KEYS = st.lists(st.none() | st.binary(max_size=70), max_size=40)
TEXTS = st.lists(st.none() | st.text(max_size=20), max_size=40)
BINARY = [pa.binary(), pa.large_binary(), pa.binary_view()]
STRINGS = [pa.string(), pa.large_string(), pa.string_view()]


def check(column: Any, keys: list[bytes | None], n: int) -> None:
    assert pw.murmur2(column).to_pylist() == [None if key is None else reference_murmur2(key) for key in keys]
    placed = pw.partition_for_key(column, n)
    assert placed.type == pa.int32()
    assert placed.to_pylist() == [None if key is None else reference_partition(key, n) for key in keys]
    assert pw.encode(column).to_pylist() == keys


@settings(deadline=None)
@given(st.binary(max_size=2000), N)
def test_one_key(key: bytes, n: int) -> None:
    assert pw.murmur2(key) == reference_murmur2(key)
    assert pw.partition_for_key(key, n) == reference_partition(key, n)


@settings(deadline=None)
@given(KEYS, N, st.sampled_from(BINARY), st.integers(0, 40), st.integers(0, 40))
def test_binary_columns_and_their_slices(
    keys: list[bytes | None], n: int, kind: pa.DataType, start: int, stop: int
) -> None:
    check(keys, keys, n)
    column = pa.array(keys, kind)
    check(column, keys, n)
    check(column[start:stop], keys[start:stop], n)
    check(pa.chunked_array([column[:start], column[start:]], kind), keys, n)


@settings(deadline=None)
@given(TEXTS, N, st.sampled_from(STRINGS), st.integers(0, 40))
def test_text_columns_and_their_slices(
    texts: list[str | None], n: int, kind: pa.DataType, start: int
) -> None:
    keys = [None if text is None else text.encode() for text in texts]
    check(texts, keys, n)
    column = pa.array(texts, kind)
    check(column[start:], keys[start:], n)


@settings(deadline=None)
@given(KEYS, N, st.data())
def test_dictionaries(values: list[bytes | None], n: int, data: st.DataObject) -> None:
    index = st.none() if not values else st.none() | st.integers(0, len(values) - 1)
    rows = data.draw(st.lists(index, max_size=40))
    column = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int8()), pa.array(values, pa.binary()))
    check(column, [None if row is None else values[row] for row in rows], n)


@settings(deadline=None)
@given(
    st.integers(0, 40).flatmap(lambda width: st.lists(st.none() | st.binary(min_size=width, max_size=width))),
    N,
)
def test_binary_of_a_fixed_size(keys: list[bytes | None], n: int) -> None:
    width = next((len(key) for key in keys if key is not None), 0)
    check(pa.array(keys, pa.binary(width)), keys, n)


@settings(deadline=None)
@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=20), N)
def test_longs(values: list[int | None], n: int) -> None:
    keys = [None if value is None else value.to_bytes(8, "big", signed=True) for value in values]
    assert pw.encode(values, "java:long").to_pylist() == keys
    placed = pw.partition_for_key(pa.array(values, pa.int64()), n, key_type="java:long")
    assert placed.to_pylist() == [None if key is None else reference_partition(key, n) for key in keys]


@settings(deadline=None)
@given(st.text(st.characters(categories=["L", "N", "Cs", "So"]), max_size=12))
def test_javas_strings_of_any_code_units(text: str) -> None:
    """Java writes a question mark for each surrogate that is not part of a pair."""
    units = text.encode("utf-16-be", "surrogatepass")
    expected = units.decode("utf-16-be", "replace").replace("\ufffd", "?") if "\ufffd" not in text else None
    if expected is not None:
        assert pw.encode(text, "java:string") == expected.encode()
        assert pw.encode([text], "java:string").to_pylist() == [expected.encode()]
