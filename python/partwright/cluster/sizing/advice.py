"""How many partitions a topic needs, the multiples of its brokers, and what more of them would cost."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from partwright._check import MOST_MADE, Json, at_least_one, counted, number, options, span
from partwright.answer import Answer, Question
from partwright.cluster.sizing.costs import (
    MEASURED_MB_S,
    RAO_2015,
    SOURCES,
    BrokerFleet,
    CostEstimate,
    Load,
    TopicClients,
    figures,
    warnings,
)
from partwright.cluster.sizing.platforms import PLATFORM_SOURCES, Platform, platform_of
from partwright.cluster.sizing.proportions import (
    apportioned,
    even,
    floats,
    measured,
    positive,
    powers_of,
    written,
)
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

__all__ = ["Advice", "BrokerFleet", "Choice", "Need", "TopicClients", "advise"]

_TIMES = (1, 2, 10)


@dataclass(frozen=True, slots=True)
class Need:
    """A lower bound: its purpose, the least number of partitions (a range if a measurement is one), and why."""

    reason: str
    low: int
    high: int
    why: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A number of partitions with its costs: `leaders` by broker in the order of `power`, costs, and warnings."""

    partitions: int
    leaders: tuple[int, ...]
    figures: tuple[CostEstimate, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Advice(Answer):
    """The answer of `advise`; its main table is that of the needs.

    Attributes:
        target_mb_s: The topic's peak load, in MB/s, as it was given.
        needs: Each lower bound with its reason.
        at_least: The smallest number of partitions that meets all bounds, by the best and by the worst measurement.
        recommended: The smallest number not below the worst that brokers share evenly.
        choices: That number, twice and ten times as many, with their costs.
        notes: What else to know, and what was assumed because it was not given, a sentence each.
        platform: The provider of the brokers; None for your own Kafka.
        assumed: Those of the notes that say what was assumed.
    """

    DOCUMENT = "advise"
    ROWS = "needs"

    target_mb_s: float
    needs: tuple[Need, ...]
    at_least: tuple[int, int]
    recommended: int
    choices: tuple[Choice, ...]
    notes: tuple[str, ...]
    platform: Platform | None = None
    assumed: tuple[str, ...] = ()

    @property
    def sources(self) -> dict[str, str]:
        """The titles and addresses of the sources that the figures name."""
        more = {} if self.platform is None else {self.platform.source: PLATFORM_SOURCES[self.platform.source]}
        return {**SOURCES, **more}

    def to_dict(self) -> Json:
        """The answer as an object for the JSON output, with the sources that the figures name.

        Examples:
            >>> advise(100).to_dict()["recommended"]
            12
        """
        told = asdict(self)
        del told["target_mb_s"], told["platform"], told["assumed"]
        for choice in told["choices"]:
            choice["figures"] = [each._asdict() for each in choice["figures"]]
        return {**told, "sources": self.sources}


def advise(
    target_mb_s: float,
    clients: TopicClients | None = None,
    fleet: BrokerFleet | None = None,
    *,
    growth: float = 1.0,
) -> Advice:
    """Calculate how many partitions a topic needs, and what more of them would cost.

    The count is the largest of: target divided by one partition's throughput, target divided by one consumer's
    throughput, the number of consumers and the number of brokers (Jun Rao's max(t/p, t/c), 2015), rounded up to what
    brokers share evenly. If a measurement is a range, low and high, the answer is one too; nothing here is more precise
    than the measurements.

    Args:
        target_mb_s: The topic's peak load, in MB/s, above 0.
        clients: Who writes to the topic and reads it.
        fleet: The brokers that hold it.
        growth: By how much the target grows while the topic lives; with keys, adding partitions moves them.

    Returns:
        The advice.

    Raises:
        PartwrightError: A value is not above 0, not a number or out of range, there are more replicas than brokers, or
            the topic would need more than 100000 partitions.

    Examples:
        >>> clients = TopicClients(produce_mb_s=(8, 12), consume_mb_s=20, consumers=6)
        >>> advice = advise(100, clients, BrokerFleet(brokers=3))
        >>> [(need.reason, need.low, need.high) for need in advice.needs]
        [('produce', 9, 13), ('consume', 5, 5), ('consumers', 6, 6), ('brokers', 3, 3)]
        >>> advice.at_least, advice.recommended
        ((9, 13), 15)
    """
    clients = options(clients, TopicClients, "clients")
    fleet = options(fleet, BrokerFleet, "fleet")
    target = positive(target_mb_s, "target_mb_s") * positive(growth, "growth")
    produced, consumed = (measured(getattr(clients, name), name) for name in ("produce_mb_s", "consume_mb_s"))
    for name in ("consumers", "groups", "producers"):
        at_least_one(getattr(clients, name), name)
    powers = powers_of(fleet.brokers, fleet.power)
    count = len(powers)
    replicas = (
        min(3, count)
        if fleet.replication_factor is None
        else at_least_one(fleet.replication_factor, "replication_factor")
    )
    if replicas > count:
        raise PartwrightError(
            f"{counted(replicas, 'replica')} of a partition need as many brokers, and there "
            f"{'is' if count == 1 else 'are'} {count}: take fewer replicas"
        )
    number(fleet.held, "held", MOST_MADE)
    for name in ("replica_fetchers", "cleaner_threads"):
        at_least_one(getattr(fleet, name), name)
    for name in ("batch_size", "buffer_memory"):
        at_least_one(getattr(clients, name), name, 2**62)
    platform = None if fleet.platform is None else platform_of(fleet.platform)
    kept, cleaned = measured(fleet.segments, "segments"), measured(fleet.clean_s, "clean_s")
    needs = _needs(target, produced, consumed, clients.consumers, count)
    at_least = (max(need.low for need in needs), max(need.high for need in needs))
    recommended = even(at_least[1], powers)
    threads = (math.ceil(target / consumed[1]), math.ceil(target / consumed[0]))
    choices = []
    for partitions in dict.fromkeys(even(recommended * times, powers) for times in _TIMES):
        leaders = apportioned(partitions, powers)
        # Followers are shared like leaders, as far as they can be: no broker has two replicas of a partition.
        of_topic = min(partitions, -(-partitions * replicas * max(powers) // sum(powers)))
        load = Load(
            partitions, count, replicas, max(leaders), of_topic + fleet.held, floats(kept), threads, clients, fleet,
            floats(cleaned), platform,
        )  # fmt: skip
        found = tuple(figures(load))
        choices.append(Choice(partitions, leaders, found, tuple(warnings(load, found))))
    notes = _notes(target, consumed, clients.consumers, powers, choices[0])
    unknown = [name for name in ("produce_mb_s", "consume_mb_s") if getattr(clients, name) is MEASURED_MB_S]
    assumed = (
        [f"{' and '.join(unknown)} not given: 10 to 50 MB/s is assumed, measure yours"] if unknown else []
    )
    return Advice(
        target_mb_s,
        needs,
        at_least,
        recommended,
        tuple(choices),
        (*notes, *assumed),
        platform,
        tuple(assumed),
    ).with_question(Question((clients, fleet)))


def _needs(
    target: Fraction,
    produced: tuple[Fraction, Fraction],
    consumed: tuple[Fraction, Fraction],
    consumers: int,
    brokers: int,
) -> tuple[Need, ...]:
    for what, (low, _) in (("produce_mb_s", produced), ("consume_mb_s", consumed)):
        if target / low > MOST_MADE // _TIMES[-1]:
            raise PartwrightError(
                f"{written(target)} MB/s at {written(low)} MB/s of {what} need more than "
                f"{MOST_MADE // _TIMES[-1]:,} partitions: cut the topic, or measure again"
            )
    if consumers > MOST_MADE // _TIMES[-1]:
        raise PartwrightError(
            f"{consumers:,} consumers need as many partitions, more than a topic has: take fewer"
        )
    return (
        Need("produce", *_counts(target, produced), f"target divided by what a partition takes ({RAO_2015})"),
        Need("consume", *_counts(target, consumed), f"target divided by what a consumer reads ({RAO_2015})"),
        Need("consumers", consumers, consumers, "a partition is read by one member of a group at a time"),
        Need("brokers", brokers, brokers, "each broker leads at least one"),
    )


def _counts(target: Fraction, measured: tuple[Fraction, Fraction]) -> tuple[int, int]:
    return math.ceil(target / measured[1]), math.ceil(target / measured[0])


def _notes(
    target: Fraction,
    consumed: tuple[Fraction, Fraction],
    consumers: int,
    powers: Sequence[int],
    first: Choice,
) -> list[str]:
    notes = [
        "with keys, adding partitions later moves keys to others (partwright resize): plan for the topic's whole life"
    ]
    if consumers * consumed[0] < target:
        needed = (math.ceil(target / consumed[1]), math.ceil(target / consumed[0]))
        more = span(*needed)
        read = consumers * consumed[0]
        notes.append(
            f"{consumers:,} consumer{'s' if consumers > 1 else ''} of a group may read no more than "
            f"{written(read)} MB/s of {written(target)}: run {more}"
        )
    if len(set(powers)) > 1:
        notes.append(
            "brokers differ in power, and Kafka places leaders evenly: give them "
            f"{', '.join(map(str, first.leaders))} by kafka-topics.sh --replica-assignment"
        )
    return notes
