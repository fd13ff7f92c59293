"""Why a client cannot reach its brokers: librdkafka's report, and an own test of the connection."""

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

__all__ = ["TOKENS", "Named", "RetriableError", "Troubles", "advertised", "end", "named_brokers"]

TOKENS = "check the settings that get it (sasl.oauthbearer, or those of AWS)"
"""The remedy for a missing token."""

# Seconds for the cluster's list of brokers, and for the end of a client.
_ASK_S, _END_S = 1.5, 1.0
_POLL_S = 0.01
# The time that a broker's connection may be gone before it is tested: leaders move, and brokers restart.
_PATIENCE_S = 1.5
# librdkafka's own error codes.
_ALL_DOWN, _AUTHENTICATION = -187, -169
# The beginning of librdkafka's events about a broker that the cluster named.
_BROKER = re.compile(r"(?:[a-z_]+://)?(\S+?):([0-9]+)/([0-9]+): ")
# The text that librdkafka puts around a broker's words.
_AROUND = re.compile(
    r"^\S+:[0-9]+/\S+: |SASL authentication error: |Authentication failed: | \(after [0-9]+ms in .*\)$"
)
# What brokers answer to any user whom they refuse. It never contains a secret, even if a weak password is one of its
# words.
_FIXED = re.compile(
    r"Invalid username or password|Authentication failed|username not specified|password not specified|"
    r"Authentication failed during authentication due to invalid credentials with SASL mechanism [A-Z0-9-]+|"
    r"Client requested an authorization id that is different from username"
)
_BY_TOKEN = {"OAUTHBEARER", "AWS_MSK_IAM"}
_WITHOUT = "Failed to acquire SASL OAUTHBEARER token: "
_STATUS = re.compile(r'\{.*"status": ?"([^"]+)".*\}')
# What librdkafka logs about a cluster's answer.
_CLUSTER = re.compile(r"ClusterId: (\S+), ")
_NAMED = re.compile(r" Broker #[0-9]+/([0-9]+): (\S+):([0-9]+) NodeId (-?[0-9]+)")


class RetriableError(BrokerError):
    """No broker answers, or one refuses for a reason that may pass: the same may succeed later."""


class Troubles:
    """The reason why a client does not reach its brokers, collected from librdkafka's events while it is polled.

    Args:
        config: The client configuration.
        timeout: Seconds for each step of the own test; at most three.
    """

    def __init__(self, config: KafkaConfig, timeout: float) -> None:
        self._config = config
        self._timeout = min(timeout, PROBE_S)
        self._denied: KafkaError | None = None
        self._is_cut = False
        self._looked = False
        # By host, port and id: when librdkafka first reported that a broker is not where the cluster says.
        self._missed: dict[tuple[str, int, int], float] = {}

    def note(self, error: KafkaError) -> None:
        """Takes one event; it is the `error_cb`."""
        if error.code() == _AUTHENTICATION:
            self._denied = error
        elif error.code() == _ALL_DOWN:
            self._is_cut = True
        broker = _BROKER.match(error.str())
        if broker is not None:
            address = (broker[1].strip("[]"), int(broker[2]), int(broker[3]))
            self._missed.setdefault(address, time.monotonic())

    def check(self, patience: float = _PATIENCE_S) -> None:
        """Raises an error if there is nothing to wait for.

        Args:
            patience: Seconds before a broker that seems to be elsewhere is tested at the address that the cluster
                gives.

        Raises:
            BrokerError: A broker refuses the login; or a step of the connection to every server, or to a broker, fails.
        """
        if self._denied is not None or self._is_cut:
            self.look()
        if self._denied is not None:
            raise BrokerError(self._who())
        for (host, port, number), since in list(self._missed.items()):
            if time.monotonic() - since >= patience:
                del self._missed[host, port, number]
                # If other brokers answer, this one may have died, and they take over after a while.
                if not patience or not self._others_answer(host, port, number):
                    self._raise_unreachable([(host, port, number)])

    def look(self) -> None:
        """Tests the connections to the servers and the brokers, but only in its first call.

        Raises:
            BrokerError: No server, or none of the brokers, can be reached.
        """
        if self._looked:
            # A server that is there and accepts these requests may only be busy.
            return
        self._looked = True
        self._raise_first_failure()
        if self._denied is None:
            # librdkafka reports nothing about a broker that never answers, since it does not even refuse.
            self._raise_unreachable_broker()

    def late(self) -> BrokerError:
        """Why nothing arrived in time: a failed step, a broker at another address, or a missing token."""
        try:
            self.check(0)
            self.look()
        except BrokerError as error:
            return error
        if self._config.mechanism in _BY_TOKEN:
            return BrokerError(f"there is no token for Kafka at {self._config.servers} in time: {TOKENS}")
        return RetriableError(
            f"Kafka at {self._config.servers} does not answer in time: is it too busy, or just starting?"
        )

    def _raise_first_failure(self) -> None:
        """Tests the connection to each server; one that works is enough.

        Raises:
            BrokerError: None works.
        """
        failed = self._tried(each_server(self._config.required_servers()))
        if all(failed):
            raise RetriableError(next(step.said for step in failed if step))

    def _raise_unreachable_broker(self) -> None:
        """Asks for the brokers, and tests the connection to each at the address that the cluster gives.

        Raises:
            BrokerError: None can be reached there. One that works is enough, since others may have died.
        """
        told = named_brokers(self._config, _ASK_S)
        self._raise_unreachable(told.brokers if told else [])

    def _others_answer(self, host: str, port: int, number: int) -> bool:
        """Whether any other broker can be reached at the address that the cluster gives.

        A cluster that has just lost the broker may be too busy to say which others it has: then the servers that the
        user named are tested.
        """
        told = named_brokers(self._config, _ASK_S)
        if told is None:
            others = [each for each in each_server(self._config.required_servers()) if each != (host, port)]
        else:
            others = [(at, through) for at, through, other in told.brokers if other != number]
        return None in self._tried(others)

    def _raise_unreachable(self, brokers: Sequence[tuple[str, int, int]]) -> None:
        failed = self._tried([(host, port) for host, port, _ in brokers])
        if None in failed:
            return
        for (host, port, number), step in zip(brokers, failed, strict=True):
            if step is not None:
                raise RetriableError(advertised(number, host, port, step))

    def _tried(self, addresses: Sequence[tuple[str, int]]) -> list[Step | None]:
        """The step that fails for each; all are tested at once."""

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
    """What a cluster tells a client that has logged in.

    Attributes:
        cluster_id: Its id.
        brokers: Host, port and number of each broker.
    """

    cluster_id: str
    brokers: list[tuple[str, int, int]]


class _Heard(logging.Logger):
    """What librdkafka logs about the first answer that contains brokers."""

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
    """The brokers that a bootstrap server reports.

    A client cannot ask for this if the brokers are unreachable: librdkafka leaves the bootstrap server for them. So a
    client is made that logs what the server tells it after the login.

    Args:
        config: The client configuration.
        timeout: Seconds within which the answer must arrive.
        note: Called with each of librdkafka's events.
        check: Called during the wait.

    Returns:
        The cluster's answer; None if it does not arrive in time.
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
    """Ends librdkafka's threads of some clients. One that waits for a token, for up to 20 seconds, is left behind.

    Args:
        clients: The only references to them; the list is empty afterwards.
    """
    ending = threading.Thread(target=clients.clear, daemon=True)
    ending.start()
    ending.join(_END_S)


def advertised(number: int, host: str, port: int, failed: Step) -> str:
    """The sentence for a broker that cannot be reached at the address that the cluster gives.

    Args:
        number: Its id.
        host: The host that the cluster gives.
        port: The port that the cluster gives.
        failed: The step that fails.

    Examples:
        >>> failed = Step("resolve", "kafka:29092", False, "", "the name 'kafka' cannot be resolved")
        >>> print(advertised(1, "kafka", 29092, failed).partition(";")[0])
        broker 1 advertises kafka:29092, which does not work from here: the name 'kafka' cannot be resolved
    """
    # A failure of TLS or of the login has its own remedy.
    told, what_to_do = failed.said, ""
    if failed.name in {"resolve", "connect", "Kafka"}:
        told = failed.why
        what_to_do = "; start it, correct its advertised.listeners, or go where that address works"
    return f"broker {number} advertises {host_port(host, port)}, which does not work from here: {told}{what_to_do}"
