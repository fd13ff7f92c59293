"""Clients of confluent-kafka: every question has a timeout, and an obstacle is reported at once."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from partwright.errors import PartwrightError
from partwright.kafka.errors import Meaning, meaning, refusal, try_again
from partwright.kafka.extras import extra_package
from partwright.kafka.troubles import Troubles
from partwright.signals import interrupts

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Producer
    from confluent_kafka.admin import AdminClient, ClusterMetadata

    from partwright.kafka.connection import KafkaConfig

_Answer = TypeVar("_Answer")

TIMEOUT_S = 5.0
"""The default number of seconds for reaching a Kafka, and again for each of its answers."""
_POLL_S = 0.01
# A bootstrap server answers the first time, and older versions of librdkafka may continue to ask it.
_ANSWERS = 4
# Seconds for the end of a client.
_END_S = 1.0
# librdkafka's own lines would go to stderr; the errors contain what they say.
SILENT = logging.getLogger("partwright.librdkafka")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False
SILENT.setLevel(logging.CRITICAL + 1)


def confluent_kafka() -> ModuleType:
    """The package confluent-kafka, which belongs to an extra.

    Raises:
        MissingExtraError: It is not installed.
    """
    sentence = (
        "{} is missing: pip install 'partwright[kafka]'; where it has no wheel, as on Alpine, install librdkafka and a "
        "C compiler first"
    )
    with extra_package("confluent-kafka", sentence):
        import confluent_kafka
        import confluent_kafka.admin
    module: ModuleType = confluent_kafka
    return module


class Admin:
    """An AdminClient of confluent-kafka that waits for each answer.

    Args:
        config: The client configuration.
        timeout: Seconds for reaching the cluster, and again for each answer.

    Raises:
        PartwrightError: librdkafka refuses a setting.
        MissingExtraError: confluent-kafka is missing.
    """

    def __init__(self, config: KafkaConfig, timeout: float) -> None:
        self.config = config
        self.timeout = timeout
        self.where = f"at {config.required_servers()}"
        self.troubles = Troubles(config)
        kafka = confluent_kafka()
        settings = {**config.librdkafka(), "error_cb": self.troubles.note}
        with refused_settings(config):
            self.client: AdminClient = kafka.admin.AdminClient(settings, logger=self.troubles.log)

    def answer(
        self, question: Future[_Answer], operation: str = "DESCRIBE", of: str = "the cluster"
    ) -> _Answer:
        """The answer to a question.

        Args:
            question: The question.
            operation: The right that it needs, by Kafka's name.
            of: On what, such as `the topic 'orders'`.

        Raises:
            BrokerError: There is no answer in time, or Kafka refuses.
        """
        error = self.error(question)
        if error is not None:
            raise refusal(self.config, error, operation, of) from question.exception()
        return question.result()

    def error(self, question: Future[_Answer]) -> KafkaError | None:
        """Why Kafka refuses a request; None if it does not.

        Raises:
            BrokerError: There is no answer in time.
        """
        until = time.monotonic() + self.timeout
        while not question.done():
            self.client.poll(_POLL_S)
            self.troubles.check()
            if time.monotonic() > until and not question.done():
                raise self.troubles.late()
        exception = question.exception()
        if exception is not None and not isinstance(exception, confluent_kafka().KafkaException):
            raise exception
        error: KafkaError | None = exception and exception.args[0]
        if meaning(error) is Meaning.NO_ANSWER:
            raise self.troubles.late()
        self.troubles.clear()
        return error

    def of_coordinator(self, ask: Callable[[], Future[_Answer]]) -> Future[_Answer]:
        """Ask a question about a group, again and again as long as the group has no coordinator.

        A new Kafka creates the coordinators' topic at the first such question, and a group's coordinator may just be
        moving.

        Args:
            ask: Asks it once.

        Raises:
            BrokerError: There is no answer in time.
        """
        return try_again(
            ask, self.timeout, answer=lambda future: meaning(self.error(future)) is Meaning.NO_COORDINATOR
        )

    def metadata(self) -> ClusterMetadata:
        """The brokers, and the topics that this user may describe, including Kafka's own.

        A bootstrap server's answer is enough, even if no broker is where the cluster says.

        Raises:
            BrokerError: There is no answer in time.
        """
        question: Future[ClusterMetadata] = Future()
        # No frame of this method may keep the client: the frames of an error would keep it alive after `close`.
        threading.Thread(target=_list_topics, args=(self.client, self.timeout, question), daemon=True).start()
        return self.answer(question)

    def close(self) -> None:
        """End librdkafka's threads."""
        clients = [self.client]
        del self.client
        end(clients)


def end(clients: list[AdminClient]) -> None:
    """Ends librdkafka's threads of some clients. One that waits for a token, for up to 20 seconds, is left behind.

    Args:
        clients: The only references to them; the list is empty afterwards.
    """
    ending = threading.Thread(target=clients.clear, daemon=True)
    ending.start()
    ending.join(_END_S)


def _list_topics(client: AdminClient, timeout: float, question: Future[ClusterMetadata]) -> None:
    try:
        question.set_result(client.list_topics(timeout=timeout))
    except Exception as error:  # noqa: BLE001 - whoever waits for it gets it
        question.set_exception(error)


def connected(client: Producer | Consumer, topic: str, timeout: float) -> None:
    """Wait until one of the cluster's own brokers answers; if none does, the next question tells why.

    At first librdkafka is connected only to the bootstrap servers, not to the brokers that they name: asked for
    transactions or offsets then, it finds no broker, and looks again only after 0.5 s or more.

    Args:
        client: A producer or consumer that was just made.
        topic: A topic that it will use.
        timeout: Seconds for each answer.
    """
    with suppress(confluent_kafka().KafkaException):
        for _ in range(_ANSWERS):
            # Its annotations omit the ID of the broker that answered, which is negative for a bootstrap server.
            metadata: Any = client.list_topics(topic, timeout)
            if metadata.orig_broker_id >= 0:
                return


@contextmanager
def admin_client(config: KafkaConfig, timeout: float) -> Iterator[Admin]:
    """An `Admin` for a block; librdkafka's threads end with it."""
    admin = Admin(config, timeout)
    try:
        with interrupts():
            yield admin
    finally:
        admin.close()


@contextmanager
def refused_settings(config: KafkaConfig) -> Iterator[None]:
    """An error of librdkafka's about a configuration, as a sentence of ours."""
    try:
        yield
    except confluent_kafka().KafkaException as error:
        reason = config.redacted(str(error.args[0].str()))
        raise PartwrightError(f"the client configuration is refused ({reason}): check it") from None
