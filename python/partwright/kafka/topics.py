"""What a topic of a live Kafka is, and making and deleting one: over kafka-python, without a JVM.

Every function connects, asks and closes again.  `bootstrap` is `host:port`, or several with commas between,
and `timeout` is in seconds, for reaching the broker and again for each of its answers.
"""

from __future__ import annotations

import re
import socket
import time
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from partwright.errors import BrokerError, MissingExtraError, PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from kafka import KafkaAdminClient
    from kafka.net.compat import KafkaNetClient

__all__ = [
    "TopicExistsError",
    "admin_client",
    "beginning_offsets",
    "broker_errors",
    "check_topic_name",
    "cluster_id",
    "create_topic",
    "delete_topic",
    "end_offsets",
    "partition_count",
    "partition_count_of",
]

_TIMEOUT_S = 5.0
# Sixty-four partitions need one or two seconds.
_SETTLE_S = 30.0
_POLL_S = 0.05
_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_MOST_PARTITIONS = 2**31 - 1
_HIGHEST_PORT = 65535
_UNKNOWN_TOPIC = 3
_ALREADY_EXISTS = 36


class TopicExistsError(BrokerError):
    """The topic that was to be made is there already."""


def check_topic_name(name: str) -> str:
    """A topic's name, if Kafka takes it (`org.apache.kafka.common.internals.Topic.validate`).

    Args:
        name: 1 to 249 of ASCII letters, digits, `.`, `_` and `-`; not `.` or `..` alone.

    Returns:
        The name.

    Raises:
        PartwrightError: Kafka would refuse it.

    Examples:
        >>> check_topic_name("flights.2013")
        'flights.2013'
    """
    if not _NAME.fullmatch(name) or name in {".", ".."}:
        raise PartwrightError(
            f"{name!r} cannot be a topic's name: use 1 to 249 of the letters a-z and A-Z, digits, '.', '_' "
            "and '-', and not '.' or '..' alone"
        )
    return name


def cluster_id(bootstrap: str, *, timeout: float = _TIMEOUT_S) -> str:
    """The id of the cluster that answers, which tells one broker on a port from another.

    Raises:
        BrokerError: No Kafka answers.
    """
    with admin_client(bootstrap, timeout) as admin:
        return str(admin.describe_cluster()["cluster_id"])


def partition_count(bootstrap: str, topic: str, *, timeout: float = _TIMEOUT_S) -> int | None:
    """How many partitions a topic has, or None where there is no such topic.

    Raises:
        PartwrightError: The name is none that a topic can have.
        BrokerError: No Kafka answers, or it refuses.

    Examples:
        >>> partition_count("127.0.0.1:9092", "orders")
        12
    """
    check_topic_name(topic)
    with admin_client(bootstrap, timeout) as admin:
        return partition_count_of(admin, topic)


def create_topic(
    bootstrap: str,
    topic: str,
    partitions: int,
    configs: Mapping[str, str] | None = None,
    *,
    timeout: float = _SETTLE_S,
) -> None:
    """Make a topic, and return when each of its partitions can be written to.

    Kafka answers before each partition has a leader that knows it is one; a Java producer that writes at once
    to a topic of many partitions may stall on some for minutes.  So each is asked for its offsets first.

    Args:
        bootstrap: Where the broker is.
        topic: The new topic's name.
        partitions: How many partitions it has; 1 to 2147483647.
        configs: The topic's own settings, such as `{"cleanup.policy": "compact"}`.
        timeout: Seconds until all partitions must have answered.

    Raises:
        PartwrightError: The name or the number cannot be a topic's.
        BrokerError: No Kafka answers, the topic exists already, a setting is refused, or a partition does not
            answer.

    Examples:
        >>> create_topic("127.0.0.1:9092", "payments", 12)
    """
    check_topic_name(topic)
    if not 1 <= partitions <= _MOST_PARTITIONS:
        raise PartwrightError(f"a topic cannot have {partitions} partitions: use 1 to {_MOST_PARTITIONS}")
    wanted = {"num_partitions": partitions, "replication_factor": -1, "configs": dict(configs or {})}
    with admin_client(bootstrap, min(timeout, _TIMEOUT_S)) as admin:
        answer = admin.create_topics({topic: wanted}, timeout_ms=int(timeout * 1000), raise_errors=False)
        code, why = answer["topics"][0]["error_code"], answer["topics"][0]["error_message"]
        if code == _ALREADY_EXISTS:
            raise TopicExistsError(
                f"the topic {topic!r} exists already at {bootstrap}: use it, or delete it first"
            )
        if code:
            raise BrokerError(
                f"Kafka at {bootstrap} refuses the topic {topic!r} with {partitions} partitions: {why}"
            )
        _settle(
            lambda: _answers_everywhere(admin, topic, partitions),
            timeout,
            f"not all {partitions} partitions of the new topic {topic!r} answer",
        )


def delete_topic(bootstrap: str, topic: str, *, timeout: float = _SETTLE_S) -> None:
    """Delete a topic, and return when the broker knows it no more.

    Raises:
        BrokerError: No Kafka answers, there is no such topic, or it is not gone after `timeout` seconds.
    """
    check_topic_name(topic)
    with admin_client(bootstrap, min(timeout, _TIMEOUT_S)) as admin:
        answer = admin.delete_topics([topic], timeout_ms=int(timeout * 1000), raise_errors=False)
        code, why = answer["topics"][0]["error_code"], answer["topics"][0]["error_message"]
        if code == _UNKNOWN_TOPIC:
            raise BrokerError(_no_topic(bootstrap, topic))
        if code:
            raise BrokerError(f"Kafka at {bootstrap} does not delete the topic {topic!r}: {why}")
        _settle(
            lambda: partition_count_of(admin, topic) is None, timeout, f"the topic {topic!r} is still there"
        )


def beginning_offsets(bootstrap: str, topic: str, *, timeout: float = _TIMEOUT_S) -> dict[int, int]:
    """The offset of the first record in each partition of a topic.

    Raises:
        BrokerError: No Kafka answers, or there is no such topic.
    """
    return _offsets(bootstrap, topic, "EARLIEST", timeout)


def end_offsets(bootstrap: str, topic: str, *, timeout: float = _TIMEOUT_S) -> dict[int, int]:
    """The offset that the next record will have in each partition of a topic.

    Raises:
        BrokerError: No Kafka answers, or there is no such topic.

    Examples:
        >>> end_offsets("127.0.0.1:9092", "flights")
        {0: 5, 1: 1}
    """
    return _offsets(bootstrap, topic, "LATEST", timeout)


def _offsets(bootstrap: str, topic: str, spec: str, timeout: float) -> dict[int, int]:
    check_topic_name(topic)
    with admin_client(bootstrap, timeout) as admin:
        partitions = partition_count_of(admin, topic)
        if partitions is None:
            raise BrokerError(_no_topic(bootstrap, topic))
        return _listed(admin, topic, partitions, spec)


def _listed(admin: KafkaAdminClient, topic: str, partitions: int, spec: str) -> dict[int, int]:
    kafka = kafka_python()
    at = kafka.OffsetSpec[spec]
    asked = {kafka.TopicPartition(topic, partition): at for partition in range(partitions)}
    answer = admin.list_partition_offsets(asked)
    return {partition.partition: answer[partition].offset for partition in asked}


def _answers_everywhere(admin: KafkaAdminClient, topic: str, partitions: int) -> bool:
    if partition_count_of(admin, topic) != partitions:
        return False
    _listed(admin, topic, partitions, "EARLIEST")
    _listed(admin, topic, partitions, "LATEST")
    return True


def partition_count_of(admin: KafkaAdminClient, topic: str) -> int | None:
    """How many partitions a topic has, or None where there is no such topic, of a client that is there already."""
    found = admin.describe_topics([topic])[0]
    if found["error_code"] == _UNKNOWN_TOPIC:
        return None
    if found["error_code"]:
        raise kafka_python().errors.for_code(found["error_code"])
    return len(found["partitions"])


def _no_topic(bootstrap: str, topic: str) -> str:
    return f"there is no topic {topic!r} at {bootstrap}: check its name, or make it first"


def _settle(settled: Callable[[], bool], timeout: float, otherwise: str) -> None:
    """Ask until it is so; errors that Kafka calls retriable count as not yet."""
    deadline, why = time.monotonic() + timeout, ""
    while True:
        try:
            if settled():
                return
        except kafka_python().errors.KafkaError as error:
            if not error.retriable:
                raise
            why = f" ({error})"
        if time.monotonic() > deadline:
            raise BrokerError(f"{otherwise} after {timeout:g} s{why}: look at the broker's log")
        time.sleep(_POLL_S)


def kafka_python() -> ModuleType:
    """The package kafka-python, which belongs to an extra, and which warns of its own imports."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import kafka
            import kafka.errors
            import kafka.net.compat
    except ImportError as error:
        raise MissingExtraError("kafka-python is missing: pip install 'partwright[kafka]'") from error
    found: ModuleType = kafka
    return found


@contextmanager
def admin_client(bootstrap: str, timeout: float) -> Iterator[KafkaAdminClient]:
    """An admin client of kafka-python that is closed whatever happens, its errors as `BrokerError`."""
    kafka = kafka_python()
    server = reachable(bootstrap, timeout)
    made: list[KafkaNetClient] = []

    def remembered(**settings: object) -> KafkaNetClient:
        made.append(kafka.net.compat.KafkaNetClient(**settings))
        return made[0]

    try:
        with broker_errors(f"at {bootstrap}"):
            yield kafka.KafkaAdminClient(
                bootstrap_servers=server,
                bootstrap_timeout_ms=int(timeout * 1000),
                request_timeout_ms=int(timeout * 1000),
                # A constructor that fails closes nothing that it opened; through this it is closed below.
                kafka_client=remembered,
            )
    finally:
        for client in made:
            client.close()


@contextmanager
def broker_errors(where: str) -> Iterator[None]:
    """kafka-python's errors as `BrokerError`."""
    errors = kafka_python().errors
    try:
        yield
    except (errors.KafkaConnectionError, errors.KafkaTimeoutError) as error:
        raise BrokerError(_no_answer(where, error)) from error
    except errors.KafkaError as error:
        raise BrokerError(f"Kafka {where} refuses ({error}): see the broker's log") from error


def reachable(bootstrap: str, timeout: float) -> str:
    """The first server that something listens at; kafka-python would try those in vain until its timeout."""
    why: Exception | None = None
    for server in bootstrap.split(","):
        host, colon, port = server.strip().rpartition(":")
        if not colon or not port.isdecimal() or not 1 <= int(port) <= _HIGHEST_PORT:
            raise PartwrightError(f"{server!r} is no address of a broker: say host:port")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout).close()
        except (OSError, UnicodeError) as error:  # a host that is no name at all
            why = error
        else:
            return server.strip()
    raise BrokerError(_no_answer(f"at {bootstrap}", why)) from why


def _no_answer(where: str, error: Exception | None) -> str:
    why = getattr(error, "strerror", None) or error
    return f"no Kafka answers {where} ({why}): is it running? `partwright broker start` starts one"
