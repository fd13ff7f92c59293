"""Header names of a source topic that a client would write as other ones: refused, never changed silently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from raw_records import produce_raw

from partwright import spark as pws
from partwright.errors import PartwrightError
from partwright.kafka import topics

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from partwright.kafka import EmbeddedKafka
    from partwright.pipeline.report import Report
    from partwright.pipeline.settings import KafkaTarget

    Go = Callable[..., Report]

pytestmark = pytest.mark.broker

# The condition of docs/migrate.md.
HAS_NUL = "exists(headers, h -> contains(h.key, char(0)))"


def test_names_that_are_not_utf8(kafka: EmbeddedKafka, to: KafkaTarget, topic: str, go: Go) -> None:
    servers = kafka.bootstrap_servers
    topics.create_topic(servers, f"{topic}-from", 1)
    produce_raw(
        servers, f"{topic}-from", 0, [(b"a", b"1", [("é".encode(), b"x")]), (b"b", b"2", [(b"\xff", b"x")])]
    )
    with pytest.raises(
        PartwrightError,
        match=r"record at offset 1 of partition 0 of the source has a header name that is not UTF-8, or has U\+FFFD",
    ):
        go(source=f"kafka://{servers}/{topic}-from", topic=topic, target=to)
    assert topics.partition_count(servers, topic) is None


def test_names_with_a_nul(
    kafka: EmbeddedKafka, to: KafkaTarget, topic: str, go: Go, spark: SparkSession
) -> None:
    """Java keeps them; the writer of --exactly-once, which would cut them, refuses."""
    servers, source = kafka.bootstrap_servers, f"{topic}-from"
    topics.create_topic(servers, source, 1)
    produce_raw(servers, source, 0, [(b"a", b"1", [(b"n", b"x")]), (b"b", b"2", [(b"n\0more", b"x")])])
    assert (
        pws.read_topic(spark, source, servers, part=pws.TopicPart(headers=True)).where(HAS_NUL).count() == 1
    )
    settings = {"source": f"kafka://{servers}/{source}", "partitions": 1, "target": to}
    assert go(**settings, topic=topic).ok
    found = (
        pws.read_topic(spark, topic, servers, part=pws.TopicPart(headers=True)).orderBy("offset").collect()
    )
    assert [row.headers[0].key for row in found] == ["n", "n\0more"]
    once = f"{topic}-once"
    with pytest.raises(
        PartwrightError, match="row 1 has a header with a NUL in its name, and the writer of --exactly"
    ):
        go(**settings, topic=once, exactly_once=True)
    assert pws.read_topic(spark, once, servers).count() in {0, 1}
