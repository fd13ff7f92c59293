"""Test each step on the way to a Kafka, to a topic's records and to a group, and report what to do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.kafka.bounds import Bounds
from partwright.kafka.client import NO_SUCH_GROUP, TIMEOUT_S, Admin, admin_client, confluent_kafka, refusal
from partwright.kafka.connection.given import configured
from partwright.kafka.connection.servers import host_port
from partwright.kafka.groups import described_group
from partwright.kafka.probe import PROBE_S, Step, each_server, way_to
from partwright.kafka.records import TopicRecords
from partwright.kafka.topics import check_topic_name, existing
from partwright.kafka.troubles import Troubles, advertised, named_brokers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.connection.given import KafkaConfigLike

__all__ = ["examine"]

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")
_MOST_AT_ONCE = 64


def examine(
    bootstrap: str | None,
    *,
    topic: str | None = None,
    group: str | None = None,
    kafka_config: KafkaConfigLike = None,
    timeout: float = TIMEOUT_S,
) -> Iterator[Step]:
    """Take every step, and report each one as it is done.

    Args:
        bootstrap: The brokers; None for the `bootstrap.servers` of the configuration.
        topic: A topic to describe and read as well.
        group: A group to describe as well.
        kafka_config: The client configuration.
        timeout: Seconds for each step; at most three for those to a server or a broker, which reach all of them at
            once.

    Yields:
        `configuration`; for each server `resolve`, `connect`, `TLS`, `Kafka` and `SASL`, up to the first that fails;
        `log in`; `broker` for each that the cluster names; `topic`, `read` and `group` if asked for. Steps that depend
        on a failed one are left out.

    Raises:
        PartwrightError: The configuration cannot be read.
    """
    config = configured(kafka_config, bootstrap)
    servers = config.required_servers()
    if topic is not None:
        check_topic_name(topic)
    mechanism = f" with {config.mechanism}" if config.security_protocol.startswith("SASL") else ""
    yield Step("configuration", servers, True, f"{config.security_protocol}{mechanism}")
    is_one_there, within = False, min(timeout, PROBE_S)
    for steps in _at_once(each_server(servers), lambda each: list(way_to(*each, config, within))):
        yield from steps
        is_one_there = is_one_there or steps[-1].passed
    if not is_one_there:
        return
    brokers: list[tuple[str, int, int]] = []
    yield (step := _step("log in", servers, lambda: _log_in(config, timeout, brokers)))
    if not step.passed:
        return
    is_one_there = False
    for step in _at_once(brokers, lambda each: _broker(*each, config, within)):
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


def _at_once(asked: Sequence[_Asked], ask: Callable[[_Asked], _Answer]) -> Iterator[_Answer]:
    """Ask all of them together, and return their answers in order, so that silent ones do not add up."""
    with ThreadPoolExecutor(min(len(asked) or 1, _MOST_AT_ONCE)) as threads:
        yield from threads.map(ask, asked)


def _step(name: str, where: str, ask: Callable[[], str]) -> Step:
    try:
        return Step(name, where, True, ask())
    except PartwrightError as error:
        return Step(name, where, False, str(error), str(error))


def _log_in(config: KafkaConfig, timeout: float, brokers: list[tuple[str, int, int]]) -> str:
    """Add the brokers that the cluster names."""
    troubles = Troubles(config, timeout)
    told = named_brokers(config, timeout, troubles.note, troubles.check)
    if told is None:
        raise troubles.late()
    brokers += told.brokers
    return f"the cluster {told.cluster_id} of {counted(len(brokers), 'broker')} answers"


def _broker(host: str, port: int, number: int, config: KafkaConfig, timeout: float) -> Step:
    where = host_port(host, port)
    for step in way_to(host, port, config, timeout):
        if not step.passed:
            return Step("broker", where, False, advertised(number, host, port, step), step.why)
    return Step("broker", where, True, f"broker {number} can be reached where it says that it is")


def _topic(admin: Admin, topic: str) -> str:
    return counted(len(existing(admin, topic).partitions), "partition")


def _read(config: KafkaConfig, topic: str) -> str:
    records = TopicRecords(None, topic, bounds=Bounds(last=1), stall=TIMEOUT_S, kafka_config=config)
    if records.of == 0:
        return "nothing to read: it has no records"
    first = next(records.batches(), None)
    return "its newest records are gone" if first is None else "its newest records can be read"


def _group(admin: Admin, group: str) -> str:
    asked = described_group(admin, group)
    error = admin.error(asked)
    if error is not None and error.code() == NO_SUCH_GROUP:
        return "there is no such group yet"
    if error is not None:
        raise refusal(admin.config, error, "DESCRIBE", f"the group {group!r}")
    found = asked.result()
    if found.state == confluent_kafka().ConsumerGroupState.DEAD:
        return "there is no such group yet"
    return f"{found.state.name.lower()}, {counted(len(found.members), 'member')}"
