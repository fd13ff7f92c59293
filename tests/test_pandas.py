"""`partwright.pandas`: a Series gives the functions' answers, with its index, its name and its nulls."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import partwright as pw
import partwright.pandas

KEYS = ["TT0124", "", None, "N14228", "ключ"] * 20


@pytest.mark.parametrize(
    "dtype", ["object", "string", "string[pyarrow]", "category", pd.ArrowDtype(pa.string())]
)
@pytest.mark.parametrize("client", ["java", "librdkafka", "sarama"])
def test_a_column_has_the_partitions_of_the_function(dtype: Any, client: str) -> None:
    keys = pd.Series(KEYS, dtype=dtype, index=range(7, 7 + len(KEYS)), name="user")
    found = keys.kafka.partition_for_key(7, client)
    assert (found.dtype, found.name) == (pd.Int32Dtype(), "user")
    assert found.index.equals(keys.index)
    wanted = pw.partition_for_key(KEYS, 7, client).to_pylist()
    assert [None if each is pd.NA else each for each in found] == wanted


def test_a_frame_keeps_whole_numbers_where_a_key_is_null() -> None:
    frame = pd.DataFrame({"user": ["TT0124", None]}, index=[3, 1])
    frame = frame.assign(p=frame["user"].kafka.partition_for_key(15), m=frame["user"].kafka.murmur2())
    assert frame["p"].tolist() == [10, pd.NA]
    assert frame.dtypes["m"] == pd.Int32Dtype()


def test_numbers_and_bytes() -> None:
    numbers = pd.Series([1, 2**40])
    assert numbers.kafka.encode("java:long").tolist() == [b"\0\0\0\0\0\0\0\1", b"\0\0\1\0\0\0\0\0"]
    assert (
        numbers.kafka.murmur2("java:long").tolist()
        == pw.murmur2([1, 2**40], key_type="java:long").to_pylist()
    )
    groups = pd.Series(["KafkaConsumerDemo", None])
    assert groups.kafka.coordinator_partition().tolist() == [35, pd.NA]
    assert pd.Series([], dtype="object").kafka.partition_for_key(3).dtype == pd.Int32Dtype()


def test_an_error_is_the_functions() -> None:
    with pytest.raises(pw.KeyTypeError, match="int64 has no key bytes of its own"):
        pd.Series([1]).kafka.partition_for_key(12)
    with pytest.raises(pw.PartwrightError, match="must be from 1 to 2147483647, not 0"):
        pd.Series(["a"]).kafka.partition_for_key(0)


def test_no_name_leaks() -> None:
    assert [name for name in dir(partwright.pandas) if name[0] not in "_@"] == ["KafkaAccessor"]
