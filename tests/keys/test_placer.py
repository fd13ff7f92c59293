"""A placer, made for one column after the other: the answers and errors of `partition_for_key`, pickled or not."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import partwright as pw
from partwright.keys import hashing

TEXT = ["TT0124", "", None, "N14228", "x" * 900, "é", None]
TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.dictionary(pa.int8(), pa.string()),
]
SLICES = [(0, 7), (1, 5), (3, 0), (2, 1)]


@pytest.mark.parametrize("client", ["java", "librdkafka", "librdkafka:consistent", "sarama"])
@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_it_places_as_one_key_after_the_other(data_type: pa.DataType, client: str) -> None:
    place = hashing.placer(np.int64(12), client)
    column = pa.array(TEXT, pa.string()).cast(data_type)
    for start, rows in SLICES:
        found = place(column.slice(start, rows))
        assert isinstance(found, pa.Int32Array)
        found.validate(full=True)
        expected = [pw.partition_for_key(key, 12, client) for key in TEXT[start : start + rows]]
        assert found.to_pylist() == expected


def test_numbers_and_chunks_are_columns_too() -> None:
    place = hashing.placer(12, key_type="java:long")
    numbers = pa.chunked_array([[1, None], [3]], pa.int64())
    assert place(numbers).equals(pw.partition_for_key(numbers, 12, key_type="java:long"))


@pytest.mark.parametrize(
    "settings", [(12, "java", None), (1, "sarama", "java:int"), (2**31 - 1, "kafkajs", "bytes")]
)
def test_it_is_sent_by_its_settings(settings: tuple[int, str, str | None]) -> None:
    place = hashing.placer(*settings)
    keys = pa.array([1, 2, None], pa.int32()) if settings[2] == "java:int" else pa.array([b"a", None, b"b"])
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        sent = pickle.dumps(place, protocol)
        assert b"Placer" in sent
        assert pickle.loads(sent)(keys).equals(pw.partition_for_key(keys, *settings))  # noqa: S301 - our own


@pytest.mark.parametrize(
    "settings",
    [
        (0,),
        (True,),
        (12, "jaav"),
        (12, None),
        (12, "java", "java:strng"),
        (12, "java:string-hash", "java:int"),
    ],
)
def test_it_refuses_what_partition_for_key_refuses(settings: tuple[Any, ...]) -> None:
    with pytest.raises(pw.PartwrightError) as expected:
        pw.partition_for_key("a", *settings)
    with pytest.raises(type(expected.value)) as raised:
        hashing.placer(*settings)
    assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize("column", [pa.array([1]), pa.array([True]), pa.array([[1]])])
def test_it_refuses_columns_as_partition_for_key_does(column: pa.Array) -> None:
    with pytest.raises(pw.KeyTypeError) as expected:
        pw.partition_for_key(column, 12)
    with pytest.raises(pw.KeyTypeError) as raised:
        hashing.placer(12)(column)
    assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize("offset_type", [np.int32, np.int64])
def test_offsets_may_lie_anywhere(offset_type: type) -> None:
    bits, offsets = b"\x0b", np.array([0, 1, 2, 2, 4], offset_type).tobytes()
    data_type = pa.string() if offset_type is np.int32 else pa.large_string()
    shifted = pa.py_buffer(b"\x00" + offsets).slice(1)
    keys = pa.Array.from_buffers(data_type, 4, [pa.py_buffer(bits), shifted, pa.py_buffer(b"abcd")])
    assert keys.to_pylist() == ["a", "b", None, "cd"]
    expected = [pw.partition_for_key(key, 12) for key in keys.to_pylist()]
    for start in range(4):
        assert hashing.placer(12)(keys.slice(start)).to_pylist() == expected[start:]


def test_the_bitmap_is_shared_and_outlives_the_keys() -> None:
    keys = pa.array(TEXT)
    address = keys.buffers()[0].address
    found = hashing.placer(12)(keys)
    assert found.buffers()[0].address == address
    del keys
    assert found.null_count == 2
    found.validate(full=True)
