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
    for found in (keys.kafka.partition_for_key(7, client), pw.partition_for_key(keys, 7, client)):
        assert (found.dtype, found.name) == (pd.Int32Dtype(), "partition")
        assert found.index.equals(keys.index)
        wanted = pw.partition_for_key(KEYS, 7, client).to_pylist()
        assert [None if each is pd.NA else each for each in found] == wanted


def test_a_series_groups_a_frame_and_joins_its_keys_row() -> None:
    orders = pd.DataFrame({"user": ["TT0124", None, "N14228"], "amount": [1, 2, 3]}, index=[7, 7, 3])
    partition = pw.partition_for_key(orders["user"], 15)
    assert orders.groupby(partition)["amount"].sum().to_dict() == {8: 3, 10: 1}
    late = orders[orders["amount"] > 2].assign(p=partition[orders["amount"] > 2])
    assert late["p"].tolist() == [8]
    assert orders.join(partition.reset_index(drop=True), how="left").columns.tolist()[-1] == "partition"


def test_an_audit_takes_a_series() -> None:
    from partwright.audit.resize import Resize

    resize = Resize(2, 3)
    resize.add(pd.Series(KEYS, index=range(5, 5 + len(KEYS))))
    listed = Resize(2, 3)
    listed.add(KEYS)
    assert resize.to_dict() == listed.to_dict()


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
    assert [name for name in dir(partwright.pandas) if name[0] not in "_@"] == [
        "KafkaAccessor",
        "frame",
        "series_like",
    ]
