"""Read a live Kafka's brokers, topics and leaders as a `Cluster`, from an address or an open client.

A client's library is recognized by the module of its class; neither library is imported for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from partwright._check import shown
from partwright.cluster import Broker, Cluster, Partition
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import admin_client
from partwright.kafka.connection import configured
from partwright.kafka.topics import check_topic_name, described, no_topic

if TYPE_CHECKING:
    from confluent_kafka import Node
    from kafka import KafkaAdminClient

    from partwright.kafka.client import Admin
    from partwright.kafka.connection import KafkaConfigLike

# The ids of a partition, its leader, its replicas, its in-sync replicas and its offline replicas.
_Replicas: TypeAlias = tuple[int, int, "Sequence[int]", "Sequence[int]", "Sequence[int]"]

# org.apache.kafka.common.internals.Topic.
_INTERNAL = {"__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata"}
_WHERE = "in the cluster of this client"
# The libraries by the classes of their errors.
_ERRORS = {"KafkaError": "kafka-python", "KafkaException": "confluent-kafka"}
# Seconds in a day.
_LONGEST = 86_400


def live_cluster(
    source: object,
    topics: Iterable[str] | None = None,
    *,
    timeout: float,
    kafka_config: KafkaConfigLike = None,
) -> Cluster:
    """The cluster that `partwright.Cluster.from_kafka` gives; see there.

    Examples:
        >>> live_cluster("127.0.0.1:9092", ["orders"], timeout=5.0)
        Cluster(1 broker; orders: 12 partitions)
    """
    names = None if topics is None else _names(topics)
    # Neither NaN nor a timeout that no socket accepts.
    if type(timeout) not in {int, float} or not 0 < timeout <= _LONGEST:
        raise PartwrightError(
            f"the timeout is seconds, more than 0 and up to {_LONGEST}, not {shown(timeout)}"
        )
    if source is None or isinstance(source, str):
        with admin_client(configured(kafka_config, source), timeout) as admin:
            return _of_address(admin, names)
    if kafka_config is not None:
        raise PartwrightError(
            f"a {type(source).__name__} has its own configuration: leave out kafka_config, or give host:port"
        )
    with _client_errors():
        return _of_client(source, names, timeout)


def _of_client(source: object, names: Sequence[str] | None, timeout: float) -> Cluster:
    libraries = {each.__module__.split(".")[0] for each in type(source).__mro__}
    if "cimpl" in libraries and hasattr(source, "list_topics"):
        return _of_confluent(source, names, timeout)
    if "kafka" in libraries and hasattr(source, "describe_topics"):
        return _of_kafka_python(source, names)
    raise PartwrightError(
        f"no cluster can be read from a {type(source).__name__}: give host:port, an admin client of kafka-python 3, "
        "or an AdminClient, Producer or Consumer of confluent-kafka"
    )


def _names(topics: Iterable[str]) -> list[str]:
    if isinstance(topics, (str, bytes)) or not isinstance(topics, Iterable):
        raise PartwrightError(f"topics is a list of names, not {shown(topics)}")
    names = list(topics)
    for name in names:
        if not isinstance(name, str):
            raise PartwrightError(f"a topic's name is text, not {shown(name)}")
        check_topic_name(name)
    return names


def _of_address(admin: Admin, names: Sequence[str] | None) -> Cluster:
    brokers = _brokers(admin)
    if names is None:
        names = sorted(set(admin.metadata().topics) - _INTERNAL)
        if not names:
            raise BrokerError(
                f"Kafka {admin.where} shows this user no topic: make one, or grant DESCRIBE on the existing ones"
            )
    topics = _partitions(admin, names, brokers)
    for name in names:
        if name not in topics:
            raise no_topic(admin, name)
    return Cluster(tuple(brokers), topics)


def existing_partitions(admin: Admin, names: Iterable[str]) -> dict[str, tuple[Partition, ...]]:
    """The partitions of those of some topics that exist.

    Raises:
        BrokerError: No Kafka answers, or the user may not describe one of them.
    """
    return _partitions(admin, names, _brokers(admin))


def _brokers(admin: Admin) -> list[Broker]:
    nodes = admin.answer(admin.client.describe_cluster(request_timeout=admin.timeout)).nodes
    return [
        Broker(each.id, each.host, each.port, each.rack) for each in sorted(nodes, key=lambda node: node.id)
    ]


def _partitions(
    admin: Admin, names: Iterable[str], brokers: Iterable[Broker]
) -> dict[str, tuple[Partition, ...]]:
    live = {broker.id for broker in brokers}
    topics: dict[str, tuple[Partition, ...]] = {}
    for name, topic in described(admin, names).items():
        if topic is not None:
            described_partitions: list[_Replicas] = []
            for each in topic.partitions:
                replicas, in_sync = ([node.id for node in nodes] for nodes in (each.replicas, each.isr))
                leader = cast("Node | None", each.leader)
                offline = [node for node in replicas if node not in live]
                described_partitions.append(
                    (each.id, -1 if leader is None else leader.id, replicas, in_sync, offline)
                )
            topics[name] = _sorted(described_partitions, live)
    return topics


def _of_kafka_python(admin: KafkaAdminClient, names: Sequence[str] | None) -> Cluster:
    brokers = [
        Broker(each["broker_id"], each["host"], each["port"], each["rack"])
        for each in admin.describe_cluster()["brokers"]
        # A fenced broker leads no partition, and producers do not see it.
        if not each.get("is_fenced")
    ]
    from kafka.errors import UnknownTopicOrPartitionError

    topics: dict[str, list[_Replicas]] = {}
    fields = ("partition_index", "leader_id", "replica_nodes", "isr_nodes", "offline_replicas")
    # Some brokers take an empty list as all topics.
    for topic in admin.describe_topics(names) if names != [] else []:
        if topic["error_code"] == UnknownTopicOrPartitionError.errno:
            raise _no_topic(topic["name"])
        if topic["error_code"]:
            raise BrokerError(
                f"Kafka {_WHERE} refuses topic {topic['name']!r}: its error {topic['error_code']}"
            )
        topics[topic["name"]] = [tuple(each[field] for field in fields) for each in topic["partitions"]]
    return _cluster(brokers, topics, names)


def _of_confluent(client: Any, names: Sequence[str] | None, timeout: float) -> Cluster:
    # Ask for all topics: a producer that asks for one topic creates it.
    metadata = client.list_topics(timeout=timeout)
    racks: dict[int, str | None] = {}
    if hasattr(client, "describe_cluster"):
        described = client.describe_cluster(request_timeout=timeout).result()
        racks = {each.id: each.rack for each in described.nodes}
    brokers = [
        Broker(each.id, each.host, each.port, racks.get(each.id))
        for each in sorted(metadata.brokers.values(), key=lambda broker: broker.id)
    ]
    for name, topic in metadata.topics.items():
        if topic.error is not None and (names is None or name in names):
            raise BrokerError(f"Kafka refuses topic {name!r} {_WHERE}: {topic.error}")
    topics: dict[str, list[_Replicas]] = {
        name: [(each.id, each.leader, each.replicas, each.isrs, ()) for each in topic.partitions.values()]
        for name, topic in metadata.topics.items()
    }
    return _cluster(brokers, topics, names)


def _cluster(
    brokers: list[Broker], described_topics: dict[str, list[_Replicas]], names: Sequence[str] | None
) -> Cluster:
    live = {broker.id for broker in brokers}
    if names is None:
        names = sorted(set(described_topics) - _INTERNAL)
    for name in names:
        if name not in described_topics:
            raise _no_topic(name)
    return Cluster(tuple(brokers), {name: _sorted(described_topics[name], live) for name in names})


def _sorted(partitions: Iterable[_Replicas], live: set[int]) -> tuple[Partition, ...]:
    return tuple(
        Partition(number, leader if leader in live else None, tuple(has), tuple(synced), tuple(offline))
        for number, leader, has, synced, offline in sorted(partitions)
    )


def _no_topic(name: str) -> BrokerError:
    return BrokerError(f"there is no topic {name!r} {_WHERE}: check its name, or make it first")


@contextmanager
def _client_errors() -> Iterator[None]:
    """The errors of both libraries, and those that they raise for a closed client, as our errors."""
    try:
        yield
    except PartwrightError:
        raise
    except Exception as error:
        kinds = {each.__name__ for each in type(error).__mro__}
        if library := next((name for kind, name in _ERRORS.items() if kind in kinds), None):
            raise BrokerError(f"{library} has no metadata ({error}): is the broker running?") from error
        if isinstance(error, RuntimeError):
            raise BrokerError(f"this client cannot be asked ({error}): give one that is open") from error
        raise
