"""Records without a place by their key: the same place each time, spread, and from one old partition if possible."""

from __future__ import annotations

import pyarrow as pa
import pytest

import partwright as pw
from partwright.migration.settings import RecordPlacement


@pytest.mark.parametrize("client", ["java", "librdkafka", "sarama:crc32"])
def test_keys_go_where_the_client_puts_them(client: str) -> None:
    keys = pa.array([f"k{row}".encode() for row in range(500)], pa.binary())
    found = RecordPlacement(5, 11, client, None).of(keys, pa.array([0] * 500), pa.array(range(500)))
    assert found.to_pylist() == pw.partition_for_key(keys, 11, client).to_pylist()


@pytest.mark.parametrize(("old", "new"), [(5, 15), (6, 24), (1, 7)])
def test_of_a_multiple_each_new_partition_has_records_of_one_old_one(old: int, new: int) -> None:
    place = RecordPlacement(old, new, "java", None)
    for p in range(old):
        assert {place.of_keyless(p, o) for o in range(new)} == set(range(p, new, old))


@pytest.mark.parametrize(("old", "new"), [(6, 16), (4, 6), (12, 5), (7, 7)])
def test_records_without_a_key_use_every_partition(old: int, new: int) -> None:
    place = RecordPlacement(old, new, "java", None)
    used = {place.of_keyless(p, o) for p in range(old) for o in range(200)}
    assert used == set(range(new))


def test_a_key_that_the_client_does_not_go_by_is_placed_as_none_is() -> None:
    keys = pa.array([b"", None, b"a"], pa.binary())
    found = RecordPlacement(3, 9, "librdkafka", None).of(keys, pa.array([1, 1, 1]), pa.array([4, 4, 4]))
    found = found.to_pylist()
    assert found[0] == found[1]
    assert found[2] == pw.partition_for_key(b"a", 9, "librdkafka")
