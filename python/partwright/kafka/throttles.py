"""The limits on copying replicas that Kafka's reassignment tool sets: find them in a live Kafka, and remove them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partwright._check import Json, counted, enumeration
from partwright.answer import Answer
from partwright.kafka.client import TIMEOUT_S, admin_client, confluent_kafka
from partwright.kafka.errors import Meaning, meaning
from partwright.kafka.topics import configs_in_force, owner_of_configs

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig

# As `ReassignPartitionsCommand` of kafka-tools 4.3.1 sets them.
_OF_BROKER = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
_OF_TOPIC = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
# DYNAMIC_TOPIC_CONFIG and DYNAMIC_BROKER_CONFIG of org.apache.kafka.clients.admin.ConfigEntry.ConfigSource.
_ITS_OWN = {1, 2}


@dataclass(frozen=True)
class Throttles(Answer):
    """What limits the copying of replicas.

    Attributes:
        rates: By broker, the most bytes a second that it sends or receives.
        topics: The topics whose replicas are limited.

    Examples:
        >>> print(Throttles({1: 50_000_000, 2: 50_000_000, 3: 1_000}, ("orders",)))
        1,000 bytes a second on broker 3, 50,000,000 bytes a second on brokers 1 and 2, for topic orders
        >>> print(Throttles({}, ("orders", "users")))
        limits on the replicas of topics orders and users, without a rate
    """

    DOCUMENT = "reassign"

    rates: Mapping[int, int]
    topics: tuple[str, ...]

    def __str__(self) -> str:
        topics = _named("topic", self.topics) if self.topics else ""
        if not self.rates:
            return f"limits on the replicas of {topics}, without a rate"
        words = []
        for rate in sorted({*self.rates.values()}):
            brokers = [str(each) for each in sorted(self.rates) if self.rates[each] == rate]
            words.append(f"{counted(rate, 'byte')} a second on {_named('broker', brokers)}")
        return ", ".join([*words, *[f"for {topics}"] * bool(topics)])

    def to_dict(self) -> Json:
        """The same for JSON."""
        return {
            "rates": {str(broker): rate for broker, rate in sorted(self.rates.items())},
            "topics": [*self.topics],
        }


def find_throttles(config: KafkaConfig, topics: Collection[str] | None = None) -> Throttles | None:
    """The throttles of a live Kafka; None if there is none.

    Args:
        config: The client configuration.
        topics: The topics to look at; None for all. Each broker that is alive is looked at.

    Raises:
        BrokerError: No Kafka answers, or it gives no right.
        MissingExtraError: confluent-kafka is missing.
    """
    with admin_client(config, TIMEOUT_S) as admin:
        cluster = admin.metadata()
        names = sorted(cluster.topics if topics is None else {*topics} & {*cluster.topics})
        brokers = {
            id_: _own(configs_in_force(admin, "BROKER", [str(id_)])[str(id_)], _OF_BROKER)
            for id_ in cluster.brokers
        }
        limited = configs_in_force(admin, "TOPIC", names) if names else {}
    rates = {id_: min(map(int, own)) for id_, own in brokers.items() if own}
    throttles = Throttles(rates, tuple(name for name, entries in limited.items() if _own(entries, _OF_TOPIC)))
    return throttles if throttles.rates or throttles.topics else None


def remove_throttles(config: KafkaConfig, throttles: Throttles) -> None:
    """Remove throttles that `find_throttles` found; a topic that is gone meanwhile has none.

    Raises:
        BrokerError: No Kafka answers, or it gives no right.
    """
    resources = [("BROKER", str(id_), _OF_BROKER) for id_ in throttles.rates]
    resources += [("TOPIC", name, _OF_TOPIC) for name in throttles.topics]
    kafka = confluent_kafka().admin
    with admin_client(config, TIMEOUT_S) as admin:
        for kind, name, settings in resources:
            entries = [
                kafka.ConfigEntry(each, None, incremental_operation=kafka.AlterConfigOpType.DELETE)
                for each in settings
            ]
            resource = kafka.ConfigResource(kafka.ResourceType[kind], name, incremental_configs=entries)
            answer = admin.client.incremental_alter_configs([resource], request_timeout=admin.timeout)[
                resource
            ]
            if meaning(admin.error(answer)) is not Meaning.NO_TOPIC:
                admin.answer(answer, "ALTER_CONFIGS", owner_of_configs(kind, name))


def _named(what: str, names: Sequence[str]) -> str:
    return f"{what}{'s' * (len(names) > 1)} {enumeration(names)}"


def _own(entries: Mapping[str, Any], names: Collection[str]) -> list[str]:
    """The values of those of the settings that are a topic's or broker's own."""
    return [
        entry.value
        for name, entry in entries.items()
        if name in names and entry.value and int(entry.source) in _ITS_OWN
    ]
