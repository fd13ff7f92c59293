"""A record's headers can be written again as they were read."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import pytest
from confluent_kafka import Producer

from partwright.kafka.reading import headers_of


class Record(NamedTuple):
    """confluent-kafka's `Message`, as far as it is used."""

    given: list[tuple[str, bytes | None]] | None

    def headers(self) -> list[tuple[str, bytes | None]] | None:
        return self.given

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return 0


@pytest.mark.parametrize("given", [None, [], [("trace", b"1"), ("none", None), ("trace", b"")]])
def test_a_producer_takes_the_headers_of_each_record(given: list[tuple[str, bytes | None]] | None) -> None:
    headers = headers_of(Record(given))
    assert headers == (given or [])
    # Nobody is there; it refuses wrong headers before it looks for a broker.
    producer = Producer({"bootstrap.servers": "127.0.0.1:9", "log_level": 0})
    producer.produce("t", b"", headers=cast("Any", headers))
    producer.purge()
