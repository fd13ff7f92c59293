"""The scan of the old topic, from records that are made up; no broker."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from partwright.kafka.connection import KafkaConfig
from partwright.kafka.records import TopicChunk
from partwright.migration.scan import scan_topic
from partwright.migration.settings import Migration, Side
from partwright.migration.topics import DescribedTopic

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIG = KafkaConfig.read({}, servers="127.0.0.1:1")
MIGRATION = Migration(Side(CONFIG, "old"), Side(CONFIG, "new"), 3)
SOURCE = DescribedTopic("id", [0, 0], [2, 1], [2, 1])


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> list[TopicChunk]:
    """The chunks that the topic gives."""
    chunks: list[TopicChunk] = []

    class Records:
        done = 1.0
        tombstones = 0

        def __init__(self, *_: Any, **__: Any) -> None:
            self.records = sum(len(each.keys) for each in chunks)

        def batches(self) -> Iterator[TopicChunk]:
            return iter(chunks)

    monkeypatch.setattr(importlib.import_module("partwright.migration.scan"), "TopicRecords", Records)
    return chunks


def chunk(keys: list[bytes | None], times: list[int | None]) -> TopicChunk:
    count = len(keys)
    return TopicChunk(
        pa.array(keys, pa.binary()),
        pa.array([0] * count, pa.int32()),
        pa.array(range(count), pa.int64()),
        pa.array(times, pa.int64()),
        pa.array([4] * count, pa.int64()),
    )


def test_a_topic_without_a_record(records: list[TopicChunk]) -> None:
    del records
    progress: list[tuple[int, float | None]] = []
    found = scan_topic(MIGRATION, SOURCE, [], lambda *told: progress.append(told))
    assert (found.records, found.bytes, found.keys, found.fingerprint, found.scattered_keys) == (
        0,
        0,
        0,
        None,
        0,
    )
    assert (found.groups, found.shares.total(), progress) == ({}, 0, [(0, 1.0)])


@pytest.mark.parametrize("times", [[None, None, None], [0, None, 0], [7, None, 0]])
def test_records_without_a_time_are_counted(times: list[int | None], records: list[TopicChunk]) -> None:
    records.append(chunk([b"a", b"b", None], times))
    found = scan_topic(MIGRATION, SOURCE, [], lambda *_: None)
    assert (found.records, found.bytes, found.keyless, found.keys) == (3, 12, 1, 2)
    assert found.untimed == sum(each in {0, None} for each in times)
    assert found.shares.total() == 3
