"""What keeps a client from its brokers: as librdkafka tells it, and as the way to them shows once it is gone again."""

from __future__ import annotations

import logging
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from partwright.errors import BrokerError
from partwright.kafka.connection.servers import host_port
from partwright.kafka.probe import PROBE_S, Step, each_server, way_to

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from confluent_kafka import KafkaError
    from confluent_kafka.admin import AdminClient

    from partwright.kafka.connection import KafkaConfig

__all__ = ["TOKENS", "Named", "Troubles", "advertised", "end", "named_brokers"]

TOKENS = "check the settings that get it (sasl.oauthbearer, or those of AWS)"
"""What to do about a token."""

# For what the cluster says of its brokers, then, and for a client's end.
_ASK_S, _END_S = 1.5, 1.0
_POLL_S = 0.01
# So long may a broker's connection be gone before it is looked for: leaders move, and brokers start anew.
_PATIENCE_S = 1.5
# librdkafka's own codes.
_ALL_DOWN, _AUTHENTICATION = -187, -169
# How librdkafka's events begin that are of a broker which the cluster named.
_BROKER = re.compile(r"(?:[a-z_]+://)?(\S+?):([0-9]+)/([0-9]+): ")
# What librdkafka puts around a broker's words.
_AROUND = re.compile(
    r"^\S+:[0-9]+/\S+: |SASL authentication error: |Authentication failed: | \(after [0-9]+ms in .*\)$"
)
# What brokers say of anybody who is not let in, which has no secret in it whatever words a weak password is.
_FIXED = re.compile(
    r"Invalid username or password|Authentication failed|username not specified|password not specified|"
    r"Authentication failed during authentication due to invalid credentials with SASL mechanism [A-Z0-9-]+|"
    r"Client requested an authorization id that is different from username"
)
_BY_TOKEN = {"OAUTHBEARER", "AWS_MSK_IAM"}
_WITHOUT = "Failed to acquire SASL OAUTHBEARER token: "
_STATUS = re.compile(r'\{.*"status": ?"([^"]+)".*\}')
# What librdkafka writes of a cluster's answer.
_CLUSTER = re.compile(r"ClusterId: (\S+), ")
_NAMED = re.compile(r" Broker #[0-9]+/([0-9]+): (\S+):([0-9]+) NodeId (-?[0-9]+)")


class Troubles:
    """What keeps a client from its brokers, as librdkafka tells it while it is polled.

    Args:
        config: The client configuration.
        timeout: Seconds for each step where the way is gone once more; no more than three.
    """

    def __init__(self, config: KafkaConfig, timeout: float) -> None:
        self._config = config
        self._timeout = min(timeout, PROBE_S)
        self._denied: KafkaError | None = None
        self._is_cut = False
        self._looked = False
        # By host, port and id when it was first told that a broker is not where the cluster says.
        self._missed: dict[tuple[str, int, int], float] = {}

    def note(self, error: KafkaError) -> None:
        """One event, for `error_cb`."""
        if error.code() == _AUTHENTICATION:
            self._denied = error
        elif error.code() == _ALL_DOWN:
            self._is_cut = True
        broker = _BROKER.match(error.str())
        if broker is not None:
            address = (broker[1].strip("[]"), int(broker[2]), int(broker[3]))
            self._missed.setdefault(address, time.monotonic())

    def check(self, patience: float = _PATIENCE_S) -> None:
        """Ends the waiting where there is nothing to wait for.

        Args:
            patience: Seconds until a broker that is not where the cluster says that it is, is looked for there.

        Raises:
            BrokerError: A broker refuses who we are, or a step of the way to each server fails, or to a broker.
        """
        if self._denied is not None or self._is_cut:
            self.look()
        if self._denied is not None:
            raise BrokerError(self._who())
        for (host, port, number), since in list(self._missed.items()):
            if time.monotonic() - since >= patience:
                del self._missed[host, port, number]
                self._raise_unreachable([(host, port, number)])

    def look(self) -> None:
        """Goes the way to the servers and to the brokers, the first time that it is called.

        Raises:
            BrokerError: No server can be reached, or one of the brokers cannot.
        """
        if self._looked:
            # What is there, and takes what it is asked in this way, may only be busy.
            return
        self._looked = True
        self._raise_first_failure()
        if self._denied is None:
            # Nothing is told of a broker that swallows what is sent to it: it does not even refuse.
            self._raise_unreachable_broker()

    def late(self) -> BrokerError:
        """Why nothing came in time: a step of the way, a broker elsewhere, or a token that nobody gave."""
        try:
            self.check(0)
            self.look()
        except BrokerError as error:
            return error
        if self._config.mechanism in _BY_TOKEN:
            return BrokerError(f"there is no token for Kafka at {self._config.servers} in time: {TOKENS}")
        return BrokerError(
            f"Kafka at {self._config.servers} does not answer in time: is it too busy, or just starting?"
        )

    def _raise_first_failure(self) -> None:
        """Goes the way to each server; one that can be gone is enough.

        Raises:
            BrokerError: None can.
        """
        failed = self._tried(each_server(self._config.required_servers()))
        if all(failed):
            raise BrokerError(next(step.said for step in failed if step))

    def _raise_unreachable_broker(self) -> None:
        """Asks which brokers there are, and goes the way to each where the cluster says that it is.

        Raises:
            BrokerError: One cannot be reached there.
        """
        told = named_brokers(self._config, _ASK_S)
        self._raise_unreachable(told.brokers if told else [])

    def _raise_unreachable(self, brokers: Sequence[tuple[str, int, int]]) -> None:
        failed = self._tried([(host, port) for host, port, _ in brokers])
        for (host, port, number), step in zip(brokers, failed, strict=True):
            if step is not None:
                raise BrokerError(advertised(number, host, port, step))

    def _tried(self, addresses: Sequence[tuple[str, int]]) -> list[Step | None]:
        """The step that fails on the way to each, all at once."""

        def failed(address: tuple[str, int]) -> Step | None:
            steps = way_to(*address, self._config, self._timeout)
            return next((step for step in steps if not step.passed), None)

        if not addresses:
            return []
        with ThreadPoolExecutor(len(addresses)) as threads:
            return list(threads.map(failed, addresses))

    def _who(self) -> str:
        said = str(self._denied.str() if self._denied is not None else "")
        at, told = f"Kafka at {self._config.servers}", _AROUND.sub("", _AROUND.sub("", said))
        reason = told if _FIXED.fullmatch(told) else self._config.redacted(told.replace(_WITHOUT, ""))
        if _WITHOUT in told:
            return f"there is no token for {at} ({reason}): {TOKENS}"
        if self._config.mechanism in _BY_TOKEN:
            status = _STATUS.search(told)
            return (
                f"{at} refuses the token ({self._config.redacted(status[1]) if status else reason}): {TOKENS}"
            )
        return (
            f"{at} refuses the user ({reason}): check sasl.username and sasl.password; sasl.mechanism is "
            f"{self._config.mechanism}"
        )


class Named(NamedTuple):
    """What a cluster says of itself to whoever has logged in.

    Attributes:
        cluster_id: Its id.
        brokers: Host, port and number of each broker.
    """

    cluster_id: str
    brokers: list[tuple[str, int, int]]


class _Heard(logging.Logger):
    """What librdkafka writes of the first answer that has brokers in it."""

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


def named_brokers(
    config: KafkaConfig,
    timeout: float,
    note: Callable[[KafkaError], None] = lambda _: None,
    check: Callable[[], None] = lambda: None,
) -> Named | None:
    """The brokers that a bootstrap server names.

    No question of a client answers that where the brokers cannot be reached: librdkafka leaves the bootstrap server
    for them. So a client is made that writes down what it is told as it logs in.

    Args:
        config: The client configuration.
        timeout: Seconds until it must have been told.
        note: Called with each of librdkafka's events.
        check: Called while it is waited for.

    Returns:
        What the cluster says; None where it says nothing in time.
    """
    from confluent_kafka.admin import AdminClient

    heard = _Heard()
    given: dict[str, Any] = {**config.librdkafka(), "debug": "metadata", "error_cb": note}
    clients = [AdminClient(given, logger=heard)]
    try:
        until = time.monotonic() + timeout
        while not heard.is_complete and time.monotonic() < until:
            clients[0].poll(_POLL_S)
            check()
    finally:
        end(clients)
    return Named(heard.cluster_id, heard.brokers) if heard.is_complete else None


def end(clients: list[AdminClient]) -> None:
    """Ends librdkafka's threads of some clients; one that waits for a token, which may take 20 seconds, is left behind.

    Args:
        clients: The only references to them; the list is empty afterwards.
    """
    ending = threading.Thread(target=clients.clear, daemon=True)
    ending.start()
    ending.join(_END_S)


def advertised(number: int, host: str, port: int, failed: Step) -> str:
    """The sentence for a broker that is not where the cluster says that it is.

    Args:
        number: Its id.
        host: Where it is said to be.
        port: And at which port.
        failed: The step that fails on the way there.

    Examples:
        >>> failed = Step("resolve", "kafka:29092", False, "", "the name 'kafka' cannot be resolved")
        >>> print(advertised(1, "kafka", 29092, failed).partition(";")[0])
        broker 1 advertises kafka:29092, which does not work from here: the name 'kafka' cannot be resolved
    """
    # What is wrong with TLS or with the user there has a remedy of its own.
    told, what_to_do = failed.said, ""
    if failed.name in {"resolve", "connect", "Kafka"}:
        told = failed.why
        what_to_do = "; correct its advertised.listeners, or go where that address works"
    return f"broker {number} advertises {host_port(host, port)}, which does not work from here: {told}{what_to_do}"
