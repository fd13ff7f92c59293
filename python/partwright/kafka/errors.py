"""What each error of Kafka and librdkafka means, whether to try again, and the sentence that a user gets.

Errors have the names of `confluent_kafka.KafkaError`, which `KafkaError.name()` returns: its numbers would need
confluent-kafka, which an extra installs.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from partwright.errors import BrokerError
from partwright.kafka.extras import extra_package

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

    from partwright.kafka.connection import KafkaConfig

_Answer = TypeVar("_Answer")

# The policy for trying again: soon at first, then with random pauses up to ever longer ones.
_FIRST_S, _LONGEST_S = 0.05, 0.5


class RetriableError(BrokerError):
    """No broker answers, or one refuses for a reason that may pass: the same may succeed later."""


class Meaning(Enum):
    """What an error means to the caller."""

    NO_RIGHT = auto()
    NO_TOPIC = auto()
    NO_GROUP = auto()
    NO_LEADER = auto()
    NO_COORDINATOR = auto()
    NO_ANSWER = auto()
    NO_LOGIN = auto()
    UNSUPPORTED = auto()
    NOT_NOW = auto()
    FENCED = auto()
    PRODUCER_ENDED = auto()
    ALL_BROKERS_DOWN = auto()
    END_OF_PARTITION = auto()
    OUT_OF_RANGE = auto()
    TOO_LARGE = auto()
    WRONG_TIMESTAMP = auto()
    TOPIC_EXISTS = auto()
    WRONG_REPLICAS = auto()
    NOTHING_TO_DO = auto()
    OTHER = auto()


class _Row(NamedTuple):
    """A row of the table.

    Attributes:
        names: The errors, by the names of `KafkaError`.
        meaning: What they mean.
        again: Whether the same may succeed later. For Kafka's own errors, Java's `RetriableException` decides.
        remedy: What to do.
        resource: The kind of thing to which a right is missing.
    """

    names: str
    meaning: Meaning
    again: bool = False
    remedy: str = "see the broker's log"
    resource: str = ""


_OTHER = _Row("", Meaning.OTHER)
_ROWS = (
    _Row("TOPIC_AUTHORIZATION_FAILED", Meaning.NO_RIGHT, resource="topic"),
    _Row("GROUP_AUTHORIZATION_FAILED", Meaning.NO_RIGHT, resource="group"),
    _Row("CLUSTER_AUTHORIZATION_FAILED", Meaning.NO_RIGHT, resource="cluster"),
    _Row("TRANSACTIONAL_ID_AUTHORIZATION_FAILED", Meaning.NO_RIGHT, resource="transactional-id"),
    _Row("_AUTHENTICATION SASL_AUTHENTICATION_FAILED", Meaning.NO_LOGIN),
    _Row("_ALL_BROKERS_DOWN", Meaning.ALL_BROKERS_DOWN, again=True),
    _Row("_TIMED_OUT _TIMED_OUT_QUEUE _TRANSPORT", Meaning.NO_ANSWER, again=True),
    # Another broker may already name a broker as leader before that broker knows the topic.
    _Row(
        "UNKNOWN_TOPIC_OR_PART UNKNOWN_TOPIC_ID INCONSISTENT_TOPIC_ID _UNKNOWN_TOPIC _UNKNOWN_PARTITION",
        Meaning.NO_TOPIC,
        again=True,
        remedy="check its name, and whether it was deleted meanwhile",
    ),
    # A leader moves, is not chosen yet, or does not know its high watermark yet.
    _Row(
        "LEADER_NOT_AVAILABLE NOT_LEADER_FOR_PARTITION REPLICA_NOT_AVAILABLE KAFKA_STORAGE_ERROR "
        "FENCED_LEADER_EPOCH UNKNOWN_LEADER_EPOCH OFFSET_NOT_AVAILABLE",
        Meaning.NO_LEADER,
        again=True,
    ),
    _Row("GROUP_ID_NOT_FOUND", Meaning.NO_GROUP),
    # A new Kafka has none yet, and a group's coordinator may just be moving.
    _Row(
        "COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR _WAIT_COORD",
        Meaning.NO_COORDINATOR,
        again=True,
    ),
    _Row(
        "INVALID_MSG REQUEST_TIMED_OUT NETWORK_EXCEPTION NOT_ENOUGH_REPLICAS NOT_ENOUGH_REPLICAS_AFTER_APPEND "
        "NOT_CONTROLLER CONCURRENT_TRANSACTIONS FETCH_SESSION_ID_NOT_FOUND INVALID_FETCH_SESSION_EPOCH "
        "LISTENER_NOT_FOUND PREFERRED_LEADER_NOT_AVAILABLE ELIGIBLE_LEADERS_NOT_AVAILABLE UNSTABLE_OFFSET_COMMIT "
        "THROTTLING_QUOTA_EXCEEDED SHARE_SESSION_NOT_FOUND INVALID_SHARE_SESSION_EPOCH "
        "SHARE_SESSION_LIMIT_REACHED _NOENT _WAIT_CACHE _RETRY _MSG_TIMED_OUT _QUEUE_FULL _RESOLVE",
        Meaning.NOT_NOW,
        again=True,
    ),
    _Row("UNSUPPORTED_VERSION _UNSUPPORTED_FEATURE", Meaning.UNSUPPORTED, remedy="use a later Kafka"),
    # Another producer now has the transactional id.
    _Row("PRODUCER_FENCED INVALID_PRODUCER_EPOCH _FENCED", Meaning.FENCED, remedy="let it go on"),
    # From a producer that has ended, and for records that were dropped with their transaction.
    _Row("_FATAL _PURGE_INFLIGHT _PURGE_QUEUE", Meaning.PRODUCER_ENDED),
    _Row("_PARTITION_EOF", Meaning.END_OF_PARTITION),
    _Row("OFFSET_OUT_OF_RANGE _AUTO_OFFSET_RESET", Meaning.OUT_OF_RANGE),
    _Row(
        "MSG_SIZE_TOO_LARGE",
        Meaning.TOO_LARGE,
        remedy="raise its max.message.bytes (kafka-configs.sh --alter)",
    ),
    _Row(
        "INVALID_TIMESTAMP",
        Meaning.WRONG_TIMESTAMP,
        remedy="raise its message.timestamp.after.max.ms or message.timestamp.before.max.ms (kafka-configs.sh --alter)",
    ),
    _Row("TOPIC_ALREADY_EXISTS", Meaning.TOPIC_EXISTS, remedy="use it, or delete it first"),
    _Row(
        "INVALID_REPLICATION_FACTOR",
        Meaning.WRONG_REPLICAS,
        remedy="ask for fewer replicas, or start more brokers",
    ),
    _Row(
        "INVALID_REPLICA_ASSIGNMENT",
        Meaning.WRONG_REPLICAS,
        remedy="name brokers that are there, each once, and as many for each partition",
    ),
    _Row("ELECTION_NOT_NEEDED", Meaning.NOTHING_TO_DO, again=True),
)
_TABLE = {name: row for row in _ROWS for name in row.names.split()}


def meaning(error: KafkaError | BrokerError | None) -> Meaning | None:
    """What an error means; None for no error.

    Args:
        error: An error of confluent-kafka, or the `refusal` that was made of one.

    Examples:
        >>> print(meaning(BrokerError("no", value="NOT_COORDINATOR")))
        Meaning.NO_COORDINATOR
    """
    return None if error is None else _row(error).meaning


def remedy(error: KafkaError | BrokerError) -> str:
    """What to do about an error.

    Examples:
        >>> remedy(BrokerError("no", value="INVALID_REPLICATION_FACTOR"))
        'ask for fewer replicas, or start more brokers'
    """
    return _row(error).remedy


def _row(error: KafkaError | BrokerError) -> _Row:
    name = error.value if isinstance(error, BrokerError) else error.name()
    return _TABLE.get(str(name), _OTHER)


def refusal(config: KafkaConfig, error: KafkaError, operation: str, of: str) -> BrokerError:
    """What Kafka refuses, and what to do about it; its `value` is the error's name.

    Args:
        config: The client configuration.
        error: What it says.
        operation: The right that was needed, by Kafka's name, such as `DESCRIBE`.
        of: On what, such as `the topic 'orders'`.

    Returns:
        A `RetriableError` if the same may succeed later.
    """
    row, where = _row(error), f"Kafka at {config.servers}"
    if row.meaning is Meaning.NO_RIGHT:
        name = "" if row.resource == "cluster" else of.partition(" ")[2].partition(" ")[2].strip("'")
        return BrokerError(f"{where} gives {no_right(operation, row.resource, name)}", value=error.name())
    text = str(error.str())
    # Kafka has no message for some errors.
    reason = config.redacted(f"{text}{error.name()}" if text.endswith(": ") else text)
    kind = RetriableError if row.again else BrokerError
    return kind(f"{where} refuses {of} ({reason}): {row.remedy}", value=error.name(), reason=reason)


def no_right(operation: str, kind: str, name: str = "") -> str:
    """The end of a sentence about a missing right, and what to do.

    Args:
        operation: Kafka's name for the missing right, such as `READ`.
        kind: `topic`, `group`, `cluster` or `transactional-id`.
        name: Which one.

    Examples:
        >>> print(no_right("READ", "topic", "orders").partition(",")[0])
        this user no right to READ the topic 'orders': grant it (kafka-acls.sh --add --operation Read --topic 'orders' --allow-principal User:...)
    """  # noqa: E501 - the sentence is one line
    named = f" '{name}'" if name else ""
    return (
        f"this user no right to {operation} the {kind}{named}: grant it (kafka-acls.sh --add --operation "
        f"{operation.title().replace('_', '')} --{kind}{named} --allow-principal User:...), or check the name"
    )


def hint_at_doctor(config: KafkaConfig) -> str:
    """The end of a sentence about a Kafka that cannot be reached: `partwright doctor` with the same options.

    Examples:
        >>> from partwright.kafka.connection import KafkaConfig
        >>> print(hint_at_doctor(KafkaConfig.read({"security.protocol": "SSL"}, servers="a:9093")))
        `partwright doctor --bootstrap a:9093 -X security.protocol=SSL` names the step that fails
    """
    words = shlex.join(["partwright", "doctor", "--bootstrap", str(config.servers), *config.options()])
    return f"`{words}` names the step that fails"


def try_again(
    ask: Callable[[], _Answer],
    seconds: float,
    *,
    error: Callable[[BaseException], bool] = lambda _: False,
    answer: Callable[[_Answer], bool] = lambda _: False,
) -> _Answer:
    """Ask until the answer is final: the one policy for trying again.

    Args:
        ask: Asks once.
        seconds: The time after which no further attempt is made.
        error: Whether an error may pass.
        answer: Whether an answer is not final yet.

    Returns:
        The last answer, final or not; a last error is raised.

    Raises:
        MissingExtraError: tenacity is missing.

    Examples:
        >>> numbers = iter([1, 2, 3])
        >>> try_again(lambda: next(numbers), 5, answer=lambda found: found < 3)
        3
    """
    with extra_package("tenacity"):
        from tenacity import (
            Retrying,
            retry_if_exception,
            retry_if_result,
            stop_after_delay,
            wait_random_exponential,
        )
    attempts = Retrying(
        retry=retry_if_exception(error) | retry_if_result(answer),
        stop=stop_after_delay(seconds),
        wait=wait_random_exponential(multiplier=_FIRST_S, max=_LONGEST_S),
        retry_error_callback=lambda last: last.outcome.result() if last.outcome else None,
    )
    return attempts(ask)
