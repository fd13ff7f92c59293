"""The brokers of one embedded Kafka by their ids: launched side by side, stopped, killed, started again and joined."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from partwright._check import enumeration
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import embedded_access
from partwright.kafka.client import admin_client
from partwright.kafka.connection import configured
from partwright.kafka.embedded_node import BrokerProcess, Node, log_tail
from partwright.kafka.jars import locked

if TYPE_CHECKING:
    from partwright.kafka.embedded_properties import BrokerSettings

_HOST = "127.0.0.1"
_LISTEN_S = 0.05
_ANSWER_S = 5.0
_LOG_LINES = 20
_WHOLE_LOG = 10_000
_INFORMATION = "] INFO "
_PORT_TAKEN = "failed to bind to"


class PortTakenError(BrokerError):
    """Between the choice of a port and the broker's start, somebody else took it."""


def kafka_version() -> str:
    """The version of the Kafka that is embedded, such as `4.3.1`."""
    return locked("broker").version("kafka_2.13")


def free_ports(numbers: Sequence[int | None]) -> list[int]:
    """Free ports of 127.0.0.1.

    Args:
        numbers: The wanted ports; None for any.

    Raises:
        BrokerError: A wanted port is in use.
    """
    held: list[socket.socket] = []
    try:
        for port in numbers:
            held.append(socket.socket())
            # Like Java, it may take a port whose last connection has just been closed.
            held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(port is not None))
            try:
                held[-1].bind((_HOST, port or 0))
            except OSError as error:
                raise BrokerError(
                    f"port {port} on {_HOST} cannot be used ({error.strerror}): name another, or leave it out "
                    "for a free one"
                ) from error
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()


def check_rack(rack: str | None, broker: int, others: Iterable[str | None]) -> None:
    """Refuse a broker without a rack among brokers that have one, and the other way round.

    Args:
        rack: The broker's rack; None for none.
        broker: Which broker it is.
        others: The other brokers' racks.

    Raises:
        PartwrightError: One has a rack and another has none, or the rack is blank.
    """
    with_rack = any(other is not None for other in others)
    if rack is not None and not rack.strip():
        raise PartwrightError(f"the rack of broker {broker} is missing: name one for each broker")
    if rack is None and with_rack:
        raise PartwrightError(f"the rack of broker {broker} is missing: the other brokers have one")
    if rack is not None and not with_rack:
        raise PartwrightError(
            f"broker {broker} cannot have the rack {rack!r}: the other brokers have none, so leave it out"
        )


def brokers_seen(settings: BrokerSettings) -> set[int]:
    """The IDs of the brokers that a broker says are alive; none if another one answers, or nobody.

    Args:
        settings: That broker's settings.
    """
    try:
        # A variable may name the user's own configuration, which is for another Kafka.
        with admin_client(configured({}, settings.internal_bootstrap_servers), _ANSWER_S) as admin:
            cluster = admin.answer(admin.client.describe_cluster(request_timeout=_ANSWER_S))
    except BrokerError:
        return set()
    return {node.id for node in cluster.nodes} if cluster.cluster_id == settings.cluster_id else set()


class EmbeddedCluster:
    """The brokers of one Kafka.

    Args:
        nodes: The existing ones, by their IDs.
        timeout: Seconds until a started broker must answer.

    Attributes:
        nodes: All brokers by their ids, running or not.
        launched: Those that this process launched.
    """

    def __init__(self, nodes: Iterable[Node], timeout: float) -> None:
        self.nodes = {each.settings.node_id: each for each in nodes}
        self.launched: list[BrokerProcess] = []
        self._timeout = timeout

    @property
    def first(self) -> BrokerSettings:
        """The first broker's settings."""
        return self.nodes[min(self.nodes)].settings

    def launch(self, settings: Sequence[BrokerSettings]) -> None:
        """Launch brokers side by side, and return when they answer; if one fails, all of these are removed.

        Raises:
            BrokerError: One does not start; the log's last lines are in the message.
        """
        begun = len(self.launched)
        try:
            for each in settings:
                self.launched.append(BrokerProcess(each))
                self.nodes[each.node_id] = self.launched[-1]
            self._wait_until_ready(self.launched[begun:])
        except BaseException:
            failed, self.launched[begun:] = self.launched[begun:], []
            for node in failed:
                self.nodes.pop(node.settings.node_id, None)
            _stop(failed)
            raise

    def add(self, rack: str | None) -> int:
        """Launch one more broker, which is not a controller.

        Returns:
            Its ID, the next one.

        Raises:
            PartwrightError: The others have racks and this one has none, or the other way round.
            BrokerError: It does not start.
        """
        node_id = max(self.nodes) + 1
        check_rack(rack, node_id, [each.settings.rack for each in self.nodes.values()])
        self.launch([self.first.of_another(node_id, rack, *free_ports([None, None]))])
        return node_id

    def start(self, brokers: Sequence[int]) -> None:
        """Start brokers that have ended again, with everything that they had, and return when they answer.

        Args:
            brokers: Their IDs; by default all that have ended.

        Raises:
            PartwrightError: There is no such broker, or one runs.
            BrokerError: One does not start.
        """
        nodes = self._nodes_of(brokers) if brokers else [n for n in self.nodes.values() if not n.is_running]
        for node in nodes:
            if node.is_running:
                raise PartwrightError(
                    f"broker {node.settings.node_id} runs already at {node.settings.bootstrap_servers}"
                )
        for node in nodes:
            node.run_again()
        self._wait_until_ready(nodes)

    def end(self, brokers: Sequence[int], number: int) -> None:
        """End brokers by a signal, and return when they are gone; what they have written stays.

        Args:
            brokers: Their ids; none for all.
            number: SIGTERM to stop in order, SIGKILL to end at once.

        Raises:
            PartwrightError: There is no such broker.
        """
        nodes = self._nodes_of(brokers or list(self.nodes))
        for node in nodes:
            node.end(number)
        for node in nodes:
            node.wait_until_ended()

    def close(self) -> None:
        """Stop all brokers that this process launched, and remove their folders."""
        _stop(self.launched)

    def _nodes_of(self, brokers: Sequence[int]) -> list[Node]:
        for broker in brokers:
            if broker not in self.nodes:
                ids = enumeration(sorted(self.nodes), len(self.nodes))
                known = f"are the brokers {ids}" if len(self.nodes) > 1 else f"is broker {ids}"
                raise PartwrightError(f"there is no broker {broker!r}: there {known}")
        return [self.nodes[broker] for broker in dict.fromkeys(brokers)]

    def _wait_until_ready(self, nodes: Sequence[Node]) -> None:
        deadline = time.monotonic() + self._timeout
        running = [each for each in self.nodes.values() if each in nodes or each.is_running]
        ids = {each.settings.node_id for each in running}
        for node in nodes:
            self._wait_until(nodes, node, deadline, partial(getattr, node, "serving"))
        # Each must know all others before a topic is created on them.
        for node in running:
            self._wait_until(nodes, node, deadline, partial(_knows, node.settings, ids))
        security = self.first.security
        mechanism = security.security.mechanism
        if security.security.scram and mechanism:
            if any(node.settings is self.first for node in nodes):
                internal = self.first.internal_bootstrap_servers
                embedded_access.add_scram_users(internal, mechanism, security.passwords)
            for node in nodes:
                client = security.client_properties(node.settings.bootstrap_servers, form="librdkafka")
                self._wait_until(
                    nodes, node, deadline, partial(embedded_access.can_log_in, client, _ANSWER_S)
                )

    def _wait_until(self, nodes: Sequence[Node], node: Node, deadline: float, so: Callable[[], bool]) -> None:
        while not so():
            for each in nodes:
                each.listen(_LISTEN_S / len(nodes))
                if each.why_ended is not None:
                    raise self._failure(each, f"{each.why_ended} while starting")
            if time.monotonic() > deadline:
                where = node.settings.bootstrap_servers
                raise self._failure(node, f"did not answer at {where} in {self._timeout:g} s")

    def _failure(self, node: Node, what: str) -> BrokerError:
        lines = log_tail(node.log, _WHOLE_LOG)
        kind = PortTakenError if any(_PORT_TAKEN in line for line in lines) else BrokerError
        if node.why_ended:
            # The log of an orderly shutdown hides the reason for it.
            lines = [line for line in lines if _INFORMATION not in line] or lines
        text = "".join(f"\n  {line}" for line in lines[-_LOG_LINES:]) or " nothing"
        which = f"broker {node.settings.node_id} of " if len(self.nodes) > 1 else ""
        return kind(f"{which}Kafka {kafka_version()} {what}; the last lines of its log:{text}")


def _knows(settings: BrokerSettings, ids: set[int]) -> bool:
    return brokers_seen(settings) >= ids


def _stop(launched: Iterable[BrokerProcess]) -> None:
    for node in launched:
        node.let_go()
    for node in launched:
        node.stop()
