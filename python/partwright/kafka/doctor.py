"""Test each step on the way to a Kafka, to a topic's records and to a group, and report what to do."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.kafka.address import host_port
from partwright.kafka.bounds import Bounds
from partwright.kafka.client import TIMEOUT_S, Admin, admin_client, confluent_kafka, end
from partwright.kafka.connection import configured
from partwright.kafka.groups import describe_group
from partwright.kafka.probe import PROBE_S, ProbeStep, each_server, way_to
from partwright.kafka.records import TopicRecords
from partwright.kafka.topics import check_topic_name, existing
from partwright.kafka.troubles import SERVERS, Troubles, advertised

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig, KafkaConfigLike

_Target = TypeVar("_Target")
_Answer = TypeVar("_Answer")
_MOST_AT_ONCE = 64
_POLL_S = 0.01
# What librdkafka logs about a cluster's answer.
_CLUSTER = re.compile(r"ClusterId: (\S+), ")
_NAMED = re.compile(r" Broker #[0-9]+/([0-9]+): (\S+):([0-9]+) NodeId (-?[0-9]+)")


def examine(
    kafka_config: KafkaConfigLike,
    *,
    topic: str | None = None,
    group: str | None = None,
    timeout: float = TIMEOUT_S,
) -> Iterator[ProbeStep]:
    """Take every step, and report each one as it is done.

    Args:
        kafka_config: The broker's address, `host:port`, or the client configuration.
        topic: A topic to describe and read as well.
        group: A group to describe as well.
        timeout: Seconds for each step; at most three for those to a server or a broker, which reach all of them at
            once.

    Yields:
        `configuration`; for each server `resolve`, `connect`, `TLS`, `Kafka` and `SASL`, up to the first that fails;
        `log in`; `broker` for each that the cluster names; `topic`, `read` and `group` if asked for. Steps that depend
        on a failed one are left out.

    Raises:
        PartwrightError: The configuration cannot be read.
    """
    config = configured(kafka_config)
    servers = config.required_servers()
    if topic is not None:
        check_topic_name(topic)
    mechanism = f" with {config.mechanism}" if config.security_protocol.startswith("SASL") else ""
    yield ProbeStep("configuration", servers, True, f"{config.security_protocol}{mechanism}")
    is_one_there, within = False, min(timeout, PROBE_S)
    for steps in _at_once(each_server(servers), lambda each: list(way_to(*each, config, within))):
        yield from steps
        is_one_there = is_one_there or steps[-1].passed
    if not is_one_there:
        return
    named = _Named()
    yield (step := _step("log in", servers, lambda: _log_in(config, timeout, named)))
    if not step.passed:
        return
    is_one_there = False
    for step in _at_once(named.brokers, lambda each: _broker(*each, config, within)):
        yield step
        is_one_there = is_one_there or step.passed
    if not is_one_there:
        return
    with admin_client(config, timeout) as admin:
        if topic is not None:
            step = _step("topic", topic, lambda: _topic(admin, topic))
            yield step
            if step.passed:
                yield _step("read", topic, lambda: _read(config, topic))
        if group is not None:
            yield _step("group", group, lambda: _group(admin, group))


def _at_once(targets: Sequence[_Target], ask: Callable[[_Target], _Answer]) -> Iterator[_Answer]:
    """Ask all of them together, and return their answers in order, so that silent ones do not add up."""
    with ThreadPoolExecutor(min(len(targets) or 1, _MOST_AT_ONCE)) as threads:
        yield from threads.map(ask, targets)


def _step(name: str, where: str, ask: Callable[[], str]) -> ProbeStep:
    try:
        return ProbeStep(name, where, True, ask())
    except PartwrightError as error:
        # Nobody is sent to where they already are.
        reason = error.reason if error.field == SERVERS and error.reason else str(error)
        return ProbeStep(name, where, False, reason, reason)


class _Named(logging.Logger):
    """What a cluster tells a client that has logged in: librdkafka logs the first answer that contains brokers.

    Attributes:
        cluster_id: The cluster's id.
        brokers: Host, port and number of each broker.
        is_complete: Whether all of them are there.
    """

    def __init__(self) -> None:
        super().__init__("partwright.librdkafka")
        self.cluster_id = ""
        self.brokers: list[tuple[str, int, int]] = []
        self.is_complete = False

    def handle(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if cluster := _CLUSTER.search(line):
            self.cluster_id = cluster[1]
        if (broker := _NAMED.search(line)) and not self.is_complete:
            self.brokers.append((broker[2].strip("[]"), int(broker[3]), int(broker[4])))
            self.is_complete = len(self.brokers) == int(broker[1])


def _log_in(config: KafkaConfig, timeout: float, named: _Named) -> str:
    """Log in, and learn which brokers a bootstrap server names.

    A client cannot ask for this if the brokers are unreachable: librdkafka leaves the bootstrap server for them. So a
    client is made that logs what the server tells it after the login.

    Raises:
        BrokerError: The answer does not arrive in time.
    """
    troubles = Troubles(config)
    settings: dict[str, Any] = {**config.librdkafka(), "debug": "metadata", "error_cb": troubles.note}
    clients = [confluent_kafka().admin.AdminClient(settings, logger=named)]
    try:
        until = time.monotonic() + timeout
        while not named.is_complete:
            clients[0].poll(_POLL_S)
            troubles.check()
            if time.monotonic() > until and not named.is_complete:
                raise troubles.late()
    finally:
        end(clients)
    return f"the cluster {named.cluster_id} of {counted(len(named.brokers), 'broker')} answers"


def _broker(host: str, port: int, number: int, config: KafkaConfig, timeout: float) -> ProbeStep:
    where = host_port(host, port)
    for step in way_to(host, port, config, timeout):
        if not step.passed:
            return ProbeStep("broker", where, False, _explain_address(number, host, port, step), step.why)
    return ProbeStep("broker", where, True, f"broker {number} can be reached where it says that it is")


def _explain_address(number: int, host: str, port: int, failed: ProbeStep) -> str:
    """The sentence for a broker that cannot be reached at the address that the cluster gives.

    Examples:
        >>> failed = ProbeStep("resolve", "kafka:29092", False, "", "the name 'kafka' cannot be resolved")
        >>> print(_explain_address(1, "kafka", 29092, failed).partition(";")[0])
        broker 1 advertises kafka:29092, which does not work from here: the name 'kafka' cannot be resolved
    """
    # A failure of TLS or of the login has its own remedy.
    reason, what_to_do = failed.said, ""
    if failed.name in {"resolve", "connect", "Kafka"}:
        reason = failed.why
        what_to_do = "; start it, correct its advertised.listeners, or go where that address works"
    return f"{advertised(number, host, port)}: {reason}{what_to_do}"


def _topic(admin: Admin, topic: str) -> str:
    return counted(len(existing(admin, topic).partitions), "partition")


def _read(config: KafkaConfig, topic: str) -> str:
    records = TopicRecords(config, topic, bounds=Bounds(last=1), stall=TIMEOUT_S)
    if records.of == 0:
        return "nothing to read: it has no records"
    first = next(records.batches(), None)
    return "its newest records are gone" if first is None else "its newest records can be read"


def _group(admin: Admin, group: str) -> str:
    description = describe_group(admin, group)
    if description is None or description.state == confluent_kafka().ConsumerGroupState.DEAD:
        return "there is no such group yet"
    return f"{description.state.name.lower()}, {counted(len(description.members), 'member')}"
