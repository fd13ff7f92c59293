"""Why a client cannot reach its brokers, as librdkafka itself reports it; `partwright doctor` says which step fails."""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from partwright.errors import BrokerError
from partwright.kafka.address import host_port
from partwright.kafka.errors import Meaning, RetriableError, hint_at_doctor, meaning

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

    from partwright.kafka.connection import KafkaConfig

SERVERS = "bootstrap.servers"
"""The `field` of errors about a Kafka that cannot be reached. Their `reason` does not name `partwright doctor`."""

_TOKENS = "check the settings that get it (sasl.oauthbearer, or those of AWS)"

# A name may have several addresses, of which a later one works: failures count after this time.
_OTHER_ADDRESSES_S = 0.5
# The longest time between two attempts to connect is `reconnect.backoff.max.ms`, 10 s by default. After more than that,
# the connection is there again.
_RECENT_S = 15.0
# librdkafka's event or log line about the connection to a server, or to a broker that the cluster named.
_FAILURE = re.compile(r"(?:.*\]: )?(?:[a-z_]+://)?(\S+?):([0-9]+)/(bootstrap|[0-9]+): (.*)", re.DOTALL)
# What librdkafka puts around the reason.
_AROUND = re.compile(
    r"^Connect to \S+ failed: |error:[0-9A-F]+:SSL routines::|: receive 0 after POLLIN| \(after [0-9]+ms in .*\)$"
)
_OF_LOGIN = "in state AUTH"
# The text that librdkafka puts around a broker's words.
_AROUND_LOGIN = re.compile(
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
_MECHANISM = re.compile(r"mechanism handshake failed: Broker: (.*?):? *$", re.DOTALL)
_STATUS = re.compile(r'\{.*"status": ?"([^"]+)".*\}')


# Host, port and broker; None for a server that the user named.
_Address: TypeAlias = "tuple[str, int, int | None]"


class _Failure(NamedTuple):
    """A connection that fails: since when, the latest failure, both by `time.monotonic`, and why."""

    since: float
    latest: float
    reason: str


class Troubles:
    """The reason why a client does not reach its brokers, collected from librdkafka's events while it is polled.

    Args:
        config: The client configuration.

    Attributes:
        log: A logger for the client. It notices connections that the other side closes, which are not events.
    """

    def __init__(self, config: KafkaConfig) -> None:
        self._config = config
        self.log = _LibrdkafkaLog(self)
        self._denied: KafkaError | None = None
        # When all brokers were down.
        self._cut: float | None = None
        self._failures: dict[_Address, _Failure] = {}

    def note(self, error: KafkaError) -> None:
        """Takes one event; it is the `error_cb`."""
        what = meaning(error)
        if what is Meaning.NO_LOGIN:
            self._denied = error
        elif what is Meaning.ALL_BROKERS_DOWN:
            now = time.monotonic()
            self._recent(now)
            self._cut = now if self._cut is None else self._cut
        else:
            self.note_failure(error.str())

    def note_failure(self, text: str) -> None:
        """Takes the text of an event or of a line of the log."""
        match = _FAILURE.match(text)
        # A broker's words about a login may contain a secret; its event is noted instead.
        if match is None or _OF_LOGIN in text:
            return
        now = time.monotonic()
        recent = self._recent(now)
        host, port, broker, reason = match.groups()
        at = (host.strip("[]"), int(port), None if broker == "bootstrap" else int(broker))
        reason = _AROUND.sub("", reason)
        before = recent.get(at, _Failure(now, now, reason))
        # The same failure is reported in more words and in fewer.
        fuller = before.reason if reason in before.reason else reason
        self._failures[at] = _Failure(before.since, now, fuller)

    def clear(self) -> None:
        """Forget the failures of connections, since a broker has answered."""
        self._cut = None
        self._failures.clear()

    def check(self, patience: float = math.inf) -> None:
        """Raises an error if there is nothing to wait for.

        Args:
            patience: Seconds for which one broker may be gone while others are there: leaders move, and brokers
                restart.

        Raises:
            BrokerError: A broker refuses the login, no broker can be reached, or one has been gone for too long.
        """
        if self._denied is not None:
            raise self._refused_login(self._denied)
        recent = self._recent(time.monotonic())
        cut = self._cut
        is_cut = cut is not None and any(each.latest - cut >= _OTHER_ADDRESSES_S for each in recent.values())
        if is_cut or any(
            each.latest - each.since >= patience for at, each in recent.items() if at[2] is not None
        ):
            raise self._unreachable(recent)

    def late(self) -> BrokerError:
        """Why nothing arrived in time: a refused login, connections that fail, or a missing token."""
        try:
            self.check(0)
        except BrokerError as error:
            return error
        if recent := self._recent(time.monotonic()):
            return self._unreachable(recent)
        at = f"Kafka at {self._config.servers}"
        if self._config.mechanism in _BY_TOKEN:
            return self._error(BrokerError, f"there is no token for {at} in time", _TOKENS)
        return self._error(
            RetriableError, f"{at} does not answer in time (it may be too busy, or just starting)"
        )

    def _recent(self, now: float) -> dict[_Address, _Failure]:
        """The failures without those that have ended; where there are none, some broker is there again."""
        self._failures = {at: each for at, each in self._failures.items() if now - each.latest <= _RECENT_S}
        if not self._failures and self._cut is not None and now - self._cut > _RECENT_S:
            self._cut = None
        return self._failures

    def _unreachable(self, failures: Mapping[_Address, _Failure]) -> BrokerError:
        for (host, port, broker), each in failures.items():
            # A broker was reached where the user said, and it named this one.
            if broker is not None:
                return self._error(RetriableError, f"{advertised(broker, host, port)} ({each.reason})")
        reason = next(iter(failures.values())).reason
        return self._error(RetriableError, f"no Kafka answers at {self._config.servers} ({reason})")

    def _refused_login(self, denied: KafkaError) -> BrokerError:
        config, at = self._config, f"Kafka at {self._config.servers}"
        text = _AROUND_LOGIN.sub("", _AROUND_LOGIN.sub("", str(denied.str())))
        if refused := _MECHANISM.search(text):
            what = f"{at} refuses the mechanism {config.mechanism} ({refused[1]})"
            return self._error(BrokerError, what, "check sasl.mechanism and security.protocol")
        reason = text if _FIXED.fullmatch(text) else config.redacted(text.replace(_WITHOUT, ""))
        if _WITHOUT in text:
            return self._error(BrokerError, f"there is no token for {at} ({reason})", _TOKENS)
        if config.mechanism in _BY_TOKEN:
            status = _STATUS.search(text)
            shown = config.redacted(status[1]) if status else reason
            return self._error(BrokerError, f"{at} refuses the token ({shown})", _TOKENS)
        what_to_do = f"check sasl.username and sasl.password; sasl.mechanism is {config.mechanism}"
        return self._error(BrokerError, f"{at} refuses the user ({reason})", what_to_do)

    def _error(self, kind: type[BrokerError], what: str, what_to_do: str = "") -> BrokerError:
        reason, then = (f"{what}: {what_to_do}", ";") if what_to_do else (what, ":")
        return kind(f"{reason}{then} {hint_at_doctor(self._config)}", field=SERVERS, reason=reason)


class _LibrdkafkaLog(logging.Logger):
    """What librdkafka logs, of which only failed connections count."""

    def __init__(self, troubles: Troubles) -> None:
        super().__init__("partwright.librdkafka")
        self._troubles = troubles

    def handle(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if line.startswith("FAIL "):
            self._troubles.note_failure(line)


def advertised(broker: int, host: str, port: int) -> str:
    """The beginning of the sentence for a broker that cannot be reached at the address that the cluster gives.

    Examples:
        >>> advertised(1, "kafka", 29092)
        'broker 1 advertises kafka:29092, which does not work from here'
    """
    return f"broker {broker} advertises {host_port(host, port)}, which does not work from here"
