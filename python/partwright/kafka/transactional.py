"""The fatal error of a transactional producer, where confluent-kafka has lost it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from partwright.kafka.client import TIMEOUT_S, confluent_kafka

if TYPE_CHECKING:
    from collections.abc import Iterator

    from confluent_kafka import Producer

__all__ = ["own_error"]


@contextlib.contextmanager
def own_error(producer: Producer) -> Iterator[None]:
    """Raises a producer's fatal error, even where confluent-kafka raises `SystemError` in its place.

    `Producer.flush` of confluent-kafka (seen with 2.16.1) sets the fatal error as Python's current exception, and then
    goes on calling the functions for deliveries, errors and log lines. One of these fails because of it, or removes it
    by handling an exception of its own, as Python's `logging` does when it first sees a level. Both end in
    `SystemError`. `commit_transaction` and a short `poll` end at once, and need nothing.

    Args:
        producer: A transactional producer. After a `SystemError` its open transaction is aborted.

    Raises:
        KafkaException: The fatal error.

    Source:
        `error_cb` in confluent_kafka.c and `Producer_flush` in Producer.c; `rd_kafka_abort_transaction` of librdkafka
        2.16, which raises a fatal error again each time.
    """
    try:
        yield
    except SystemError:
        try:
            producer.abort_transaction(TIMEOUT_S)
        except confluent_kafka().KafkaException as reason:
            if reason.args[0].fatal():
                raise reason from None
        raise
