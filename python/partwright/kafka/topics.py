"""Describe, create and delete topics of a live Kafka, through confluent-kafka and without a JVM.

Every function connects, asks and disconnects. `kafka_config` is `host:port`, or several separated by commas, or the
client configuration: a dict of settings with Kafka's or librdkafka's names, or the path of a properties file. `timeout`
is in seconds, for the connection and again for each answer.
"""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, cast

from partwright._check import counted, meant, options
from partwright.cluster.placement.manual import explicit
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import TIMEOUT_S, Admin, admin_client, confluent_kafka
from partwright.kafka.connection import KafkaConfigLike, configured
from partwright.kafka.errors import Meaning, RetriableError, meaning, refusal, remedy, try_again

if TYPE_CHECKING:
    from concurrent.futures import Future

    from confluent_kafka.admin import NewTopic as Request
    from confluent_kafka.admin._topic import TopicDescription

    from partwright.kafka.connection import KafkaConfig

__all__ = [
    "KafkaConfigLike",
    "NewTopic",
    "TopicExistsError",
    "beginning_offsets",
    "check_topic_name",
    "cluster_id",
    "configs_in_force",
    "create_topic",
    "delete_topic",
    "described",
    "differences",
    "end_offsets",
    "existing",
    "no_topic",
    "offsets_of",
    "owner_of_configs",
    "partition_count",
]

_MOST_REPLICAS = 2**15 - 1


@dataclass(frozen=True)
class NewTopic:
    """The properties of a topic that will be created, except its number of partitions.

    Attributes:
        replication_factor: The number of replicas of each partition; None takes the cluster's default.
        replica_assignment: The brokers of each partition, its preferred leader first; None lets Kafka choose.
        configs: The topic's own settings, by Kafka's names.
    """

    replication_factor: int | None = None
    replica_assignment: Sequence[Sequence[int]] | None = None
    configs: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def read(
        cls,
        partitions: int | None,
        replication_factor: int | None,
        replica_assignment: str | None,
        configs: Mapping[str, str],
    ) -> NewTopic:
        """The properties that the options of a command give.

        Args:
            partitions: The value of `-n`; an assignment gives it too.
            replication_factor: The value of `--replication-factor`.
            replica_assignment: The value of `--replica-assignment`, such as `0:1,1:2`.
            configs: The pairs of `--topic-config`.

        Raises:
            PartwrightError: No topic can have these properties, or two options give the same one.

        Examples:
            >>> NewTopic.read(None, None, "0:1,1:2", {}).replica_assignment
            ((0, 1), (1, 2))
        """
        if replication_factor is not None and not 1 <= replication_factor <= _MOST_REPLICAS:
            raise PartwrightError(
                f"--replication-factor takes a whole number from 1 to {_MOST_REPLICAS}, not {replication_factor}"
            )
        if replica_assignment is None:
            return cls(replication_factor, None, configs)
        for option, value in (("-n", partitions), ("--replication-factor", replication_factor)):
            if value is not None:
                raise PartwrightError(
                    f"--replica-assignment {replica_assignment} says how many partitions and replicas there are: "
                    f"leave out {option} {value}"
                )
        return cls(None, explicit(replica_assignment).replicas, configs)

    @property
    def partitions(self) -> int | None:
        """The number of partitions in the assignment; None without an assignment."""
        return None if self.replica_assignment is None else len(self.replica_assignment)

    @property
    def is_default(self) -> bool:
        """Whether the cluster decides all properties."""
        return self == NewTopic()

    def for_same_records(self) -> NewTopic:
        """A second topic that accepts the same records: it gets only the settings that limit their size."""
        return NewTopic(
            configs={name: value for name, value in self.configs.items() if name == "max.message.bytes"}
        )


def _requested(topic: str, partitions: int, properties: NewTopic) -> Request:
    """The new topic in confluent-kafka's form; see `partwright.kafka.topics.create_topic`.

    Raises:
        PartwrightError: The assignment has another number of partitions, or a replication factor is given too.
    """
    factor, assignment = properties.replication_factor, properties.replica_assignment
    replicas: dict[str, object] = {} if factor is None else {"replication_factor": factor}
    if assignment is not None:
        if factor is not None:
            raise PartwrightError(
                f"a replica assignment says how many replicas there are: leave out the replication factor {factor}"
            )
        if len(assignment) != partitions:
            raise PartwrightError(
                f"the replica assignment has {counted(len(assignment), 'partition')}, and the topic gets {partitions}: "
                "name the brokers of each"
            )
        replicas["replica_assignment"] = [list(each) for each in assignment]
    made = confluent_kafka().admin.NewTopic(
        topic, num_partitions=partitions, config=dict(properties.configs), **replicas
    )
    return cast("Request", made)


# Sixty-four partitions need one or two seconds.
_SETTLE_S = 30.0
_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_MOST_PARTITIONS = 2**31 - 1


class TopicExistsError(BrokerError):
    """The topic already exists."""


def check_topic_name(name: str) -> str:
    """A topic's name, if Kafka accepts it (`org.apache.kafka.common.internals.Topic.validate`).

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


def cluster_id(kafka_config: KafkaConfigLike, *, timeout: float = TIMEOUT_S) -> str:
    """The id of the cluster that answers. It tells whether another broker now has the port.

    Raises:
        BrokerError: No Kafka answers.
    """
    with admin_client(configured(kafka_config), timeout) as admin:
        cluster = admin.answer(admin.client.describe_cluster(request_timeout=timeout))
        return str(cluster.cluster_id)


def partition_count(kafka_config: KafkaConfigLike, topic: str, *, timeout: float = TIMEOUT_S) -> int | None:
    """A topic's number of partitions, or None if the topic does not exist.

    Raises:
        PartwrightError: The name is not valid for a topic.
        BrokerError: No Kafka answers, or it refuses.

    Examples:
        >>> partition_count("127.0.0.1:9092", "orders")
        12
    """
    check_topic_name(topic)
    with admin_client(configured(kafka_config), timeout) as admin:
        description = described(admin, [topic])[topic]
        return None if description is None else len(description.partitions)


def create_topic(
    kafka_config: KafkaConfigLike,
    topic: str,
    partitions: int,
    properties: NewTopic | None = None,
    *,
    validate_only: bool = False,
    timeout: float = _SETTLE_S,
) -> None:
    """Create a topic, and return when all its partitions can be written.

    Kafka answers before each partition has a leader that knows of its role. A Java producer that writes at once to a
    topic of many partitions may stall for minutes on some. So each partition is first asked for its offsets.

    Args:
        kafka_config: The broker's address, `host:port`, or the client configuration.
        topic: The new topic's name.
        partitions: How many partitions it has; 1 to 2147483647.
        properties: Its replicas, and its own settings, such as `NewTopic(configs={"cleanup.policy": "compact"})`.
        validate_only: Whether Kafka only checks the request and creates nothing.
        timeout: Seconds within which all partitions must answer.

    Raises:
        PartwrightError: The name or the number is not valid for a topic, or the assignment has another number of
            partitions.
        BrokerError: No Kafka answers, the topic exists already, a setting is refused, or a partition does not
            answer.

    Examples:
        >>> create_topic("127.0.0.1:9092", "payments", 12)
    """
    check_topic_name(topic)
    if not 1 <= partitions <= _MOST_PARTITIONS:
        raise PartwrightError(
            f"a topic cannot have {counted(partitions, 'partition')}: use 1 to {_MOST_PARTITIONS}"
        )
    request = _requested(topic, partitions, options(properties, NewTopic, "properties"))
    config = configured(kafka_config)
    with admin_client(config, min(timeout, TIMEOUT_S)) as admin:
        # An unreachable broker is reported before the longer time that many partitions need.
        admin.answer(admin.client.describe_cluster(request_timeout=admin.timeout))
        admin.timeout = timeout
        answer = admin.client.create_topics(
            [request], operation_timeout=timeout, request_timeout=timeout, validate_only=validate_only
        )[topic]
        _made(admin, answer, topic, partitions)
        if validate_only:
            return
        _settle(
            lambda: _answers_everywhere(admin, topic, partitions),
            timeout,
            f"not every partition of the new topic {topic!r} answers",
        )


def delete_topic(kafka_config: KafkaConfigLike, topic: str, *, timeout: float = _SETTLE_S) -> None:
    """Delete a topic, and return when the broker no longer knows it.

    Raises:
        BrokerError: No Kafka answers, the topic does not exist, or it is not gone after `timeout` seconds.
    """
    check_topic_name(topic)
    config = configured(kafka_config)
    with admin_client(config, min(timeout, TIMEOUT_S)) as admin:
        existing(admin, topic)
        admin.timeout = timeout
        answer = admin.client.delete_topics([topic], operation_timeout=timeout, request_timeout=timeout)[
            topic
        ]
        admin.answer(answer, "DELETE", f"the topic {topic!r}")
        _settle(
            lambda: described(admin, [topic])[topic] is None, timeout, f"the topic {topic!r} is still there"
        )


def beginning_offsets(
    kafka_config: KafkaConfigLike, topic: str, *, timeout: float = TIMEOUT_S
) -> dict[int, int]:
    """The offset of the first record in each partition of a topic.

    Raises:
        BrokerError: No Kafka answers, or the topic does not exist.
    """
    return _offsets(kafka_config, topic, "earliest", timeout)


def end_offsets(kafka_config: KafkaConfigLike, topic: str, *, timeout: float = TIMEOUT_S) -> dict[int, int]:
    """The offset of the next record in each partition of a topic.

    Raises:
        BrokerError: No Kafka answers, or the topic does not exist.

    Examples:
        >>> end_offsets("127.0.0.1:9092", "flights")
        {0: 5, 1: 1}
    """
    return _offsets(kafka_config, topic, "latest", timeout)


def _offsets(kafka_config: KafkaConfigLike, topic: str, spec: str, timeout: float) -> dict[int, int]:
    check_topic_name(topic)
    with admin_client(configured(kafka_config), timeout) as admin:
        return offsets_of(admin, topic, range(len(existing(admin, topic).partitions)), spec)


def described(
    admin: Admin, names: Iterable[str], operation: str = "DESCRIBE"
) -> dict[str, TopicDescription | None]:
    """Kafka's description of topics, by name; None for a topic that does not exist. The request creates none.

    Args:
        admin: The admin client to ask.
        names: The topics.
        operation: The intended operation, by Kafka's name: READ and WRITE imply DESCRIBE.

    Raises:
        BrokerError: No Kafka answers, or the user may not describe one of them.
    """
    names = list(names)
    if not names:
        return {}
    kafka = confluent_kafka()
    answers = admin.client.describe_topics(kafka.TopicCollection(names), request_timeout=admin.timeout)
    descriptions: dict[str, TopicDescription | None] = {}
    for name in names:
        error = admin.error(answers[name])
        if error is None:
            descriptions[name] = answers[name].result()
        elif meaning(error) is Meaning.NO_TOPIC:
            descriptions[name] = None
        else:
            raise refusal(admin.config, error, operation, f"the topic {name!r}")
    return descriptions


def existing(admin: Admin, topic: str, operation: str = "DESCRIBE") -> TopicDescription:
    """Kafka's description of a topic that must exist; see `described`.

    Raises:
        BrokerError: No Kafka answers, the user may not do this, or the topic does not exist.
    """
    description = described(admin, [topic], operation)[topic]
    if description is None:
        raise no_topic(admin, topic)
    return description


def offsets_of(
    admin: Admin, topic: str, partitions: Iterable[int], spec: str | int, *, committed: bool = False
) -> dict[int, int]:
    """One offset of each partition. All are asked for at once, and again while a leader moves.

    Args:
        admin: The admin client to ask.
        topic: The topic.
        partitions: The partitions to ask for.
        spec: `earliest`, `latest` (the next one), or a time in milliseconds: the first record at or after it.
        committed: Whether `latest` means the last stable offset, before the first open transaction.

    Returns:
        The offsets by partition; -1 if there is no record at or after that time.

    Raises:
        BrokerError: No Kafka answers, or it refuses.
    """
    kafka = confluent_kafka()
    at = kafka.admin.OffsetSpec
    at_spec = at.for_timestamp(spec) if isinstance(spec, int) else getattr(at, spec)()
    places = {kafka.TopicPartition(topic, partition): at_spec for partition in partitions}
    level = kafka.IsolationLevel["READ_COMMITTED" if committed else "READ_UNCOMMITTED"]

    def offsets() -> dict[int, int]:
        answers = admin.client.list_offsets(places, isolation_level=level, request_timeout=admin.timeout)
        return {
            of.partition: int(admin.answer(answer, "DESCRIBE", f"the topic {topic!r}").offset)
            for of, answer in answers.items()
        }

    def lacks_one(result: dict[int, int]) -> bool:
        # What librdkafka gives, without an error, for a partition whose leader did not answer in time.
        return kafka.OFFSET_INVALID in result.values()

    result = try_again(
        offsets,
        admin.timeout,
        error=lambda error: isinstance(error, BrokerError) and meaning(error) is Meaning.NO_LEADER,
        answer=lacks_one,
    )
    if lacks_one(result):
        raise admin.troubles.late()
    return result


def no_topic(admin: Admin, topic: str) -> BrokerError:
    """The error for a missing topic, with the nearest existing name."""
    names: Iterable[str] = ()
    with suppress(BrokerError):
        names = admin.metadata().topics
    what_to_do = meant(topic, names) or ": check its name, or make it first"
    return BrokerError(f"there is no topic {topic!r} {admin.where}{what_to_do}", value=topic)


def _made(admin: Admin, answer: Future[None], topic: str, partitions: int) -> None:
    error = admin.error(answer)
    if error is None:
        return
    if meaning(error) is Meaning.TOPIC_EXISTS:
        raise TopicExistsError(f"the topic {topic!r} exists already {admin.where}: {remedy(error)}")
    if meaning(error) is Meaning.NO_RIGHT:
        raise refusal(admin.config, error, "CREATE", f"the topic {topic!r}")
    what_to_do = f": {remedy(error)}" if meaning(error) is Meaning.WRONG_REPLICAS else ""
    raise BrokerError(
        f"Kafka {admin.where} refuses the topic {topic!r} with {counted(partitions, 'partition')}: "
        f"{error.str().removesuffix('.')}{what_to_do}"
    )


def _answers_everywhere(admin: Admin, topic: str, partitions: int) -> bool:
    description = described(admin, [topic])[topic]
    if description is None or len(description.partitions) != partitions:
        return False
    for spec in ("earliest", "latest"):
        offsets_of(admin, topic, range(partitions), spec)
    return True


def _settle(is_settled: Callable[[], bool], timeout: float, failure: str) -> None:
    """Ask until the answer is yes; what Kafka refuses for a reason that may pass counts as not yet."""

    def is_refused_now(error: BaseException) -> bool:
        return isinstance(error, RetriableError) and error.value is not None

    why = ""
    try:
        if try_again(is_settled, timeout, error=is_refused_now, answer=operator.not_):
            return
    except RetriableError as error:
        if not is_refused_now(error):
            raise
        why = f" ({error.reason})"
    raise BrokerError(f"{failure} after {timeout:g} s{why}: look at the broker's log")


# At most this many differing partitions are named.
_SHOWN = 3


def differences(config: KafkaConfig, topic: str, new_topic: NewTopic) -> list[str]:
    """The differences between a topic and the requested one, a clause each; empty if the topic does not exist.

    Args:
        config: The client's configuration.
        topic: The topic.
        new_topic: The requested topic.

    Raises:
        BrokerError: No Kafka answers, or the user may not see the topic or its settings.

    Examples:
        >>> from partwright.kafka.connection import KafkaConfig
        >>> from partwright.kafka.topics import NewTopic
        >>> config = KafkaConfig.read({}, servers="127.0.0.1:9092")
        >>> differences(config, "orders", NewTopic(configs={"cleanup.policy": "compact"}))
        ['cleanup.policy is delete, not compact']
    """
    if new_topic.is_default:
        return []
    with admin_client(config, TIMEOUT_S) as admin:
        description = described(admin, [topic])[topic]
        if description is None:
            return []
        replicas = [[node.id for node in each.replicas] for each in description.partitions]
        others = _other_replicas(replicas, new_topic)
        if not new_topic.configs:
            return others
        in_force = configs_in_force(admin, "TOPIC", [topic]).get(topic)
    if in_force is None:
        return []
    return others + _other_configs({name: each.value for name, each in in_force.items()}, new_topic.configs)


def _other_replicas(present: Sequence[Sequence[int]], new_topic: NewTopic) -> list[str]:
    if new_topic.replica_assignment is None:
        factor = new_topic.replication_factor
        other = [
            f"partition {partition} has {counted(len(replicas), 'replica')}, not {factor}"
            for partition, replicas in enumerate(present)
            if factor is not None and len(replicas) != factor
        ]
    elif len(present) != len(new_topic.replica_assignment):
        return [f"it has {counted(len(present), 'partition')}, not {len(new_topic.replica_assignment)}"]
    else:
        other = [
            f"partition {partition} is on {_listed(replicas)}, not on {_listed(requested)}"
            for partition, (replicas, requested) in enumerate(
                zip(present, new_topic.replica_assignment, strict=True)
            )
            if list(replicas) != list(requested)
        ]
    more = len(other) - _SHOWN
    return (
        other
        if more <= 1
        else [*other[:_SHOWN], f"{counted(more, 'more partition differs', 'more partitions differ')} alike"]
    )


def _listed(brokers: Sequence[int]) -> str:
    return ":".join(map(str, brokers))


def configs_in_force(admin: Admin, kind: str, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The settings of topics or brokers, including those that are defaults; a topic that is gone is missing.

    They are confluent-kafka's `ConfigEntry`, by topic or broker and by name.

    Args:
        admin: The admin client to ask.
        kind: `TOPIC` or `BROKER`.
        names: Topics or numbers of brokers; librdkafka takes at most one broker in a request.

    Raises:
        BrokerError: No Kafka answers, or it gives no right.
    """
    kafka = confluent_kafka().admin
    resources = [kafka.ConfigResource(kafka.ResourceType[kind], name) for name in names]
    answers = admin.client.describe_configs(resources, request_timeout=admin.timeout)
    settings = {}
    for resource, answer in answers.items():
        if meaning(admin.error(answer)) is not Meaning.NO_TOPIC:
            settings[resource.name] = admin.answer(
                answer, "DESCRIBE_CONFIGS", owner_of_configs(kind, resource.name)
            )
    return settings


def owner_of_configs(kind: str, name: str) -> str:
    """Whose settings they are to who lacks the right: the right to a broker's settings is one on the cluster.

    Examples:
        >>> owner_of_configs("TOPIC", "orders"), owner_of_configs("BROKER", "1")
        ("the topic 'orders'", 'the cluster')
    """
    return f"the topic {name!r}" if kind == "TOPIC" else "the cluster"


def _other_configs(present: Mapping[str, str | None], configs: Mapping[str, str]) -> list[str]:
    others = []
    for name, value in configs.items():
        if name not in present:
            others.append(f"its brokers know no setting {name}")
        elif not _is_same(present[name] or "", value):
            others.append(f"{name} is {present[name]}, not {value}")
    return others


def _is_same(one: str, other: str) -> bool:
    """Whether two texts mean the same value: Kafka returns numbers, lists and booleans in its own spelling.

    Examples:
        >>> _is_same("compact,delete", "compact, delete"), _is_same("0.5", "0.50"), _is_same("true", "TRUE")
        (True, True, True)
        >>> _is_same("compact", "delete")
        False
    """
    return [_value(each) for each in one.split(",")] == [_value(each) for each in other.split(",")]


def _value(text: str) -> str | Decimal:
    text = text.strip()
    try:
        return Decimal(text)
    except InvalidOperation:
        return text.lower() if text.lower() in {"true", "false"} else text
