"""How many partitions a topic needs, the multiples of its brokers, and what more of them would cost."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from partwright._check import MOST_MADE, Json, at_least_one, counted, number, span
from partwright.answer import Answer
from partwright.cluster.sizing.costs import RAO_2015, SOURCES, CostEstimate, Load, figures, warnings
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

__all__ = ["Advice", "Choice", "Need", "advise"]

_MEASURED = (10.0, 50.0)
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
    *,
    produce_mb_s: float | tuple[float, float] = _MEASURED,
    consume_mb_s: float | tuple[float, float] = _MEASURED,
    consumers: int = 1,
    groups: int = 1,
    producers: int = 1,
    brokers: int | None = None,
    replication_factor: int | None = None,
    power: Sequence[float] | None = None,
    growth: float = 1.0,
    held: int = 0,
    segments: float | tuple[float, float] = (1, 10),
    batch_size: int = 16384,
    buffer_memory: int = 32 << 20,
    replica_fetchers: int = 1,
    cleaner_threads: int = 1,
    clean_s: float | tuple[float, float] = (0.1, 10),
    platform: str | None = None,
) -> Advice:
    """Calculate how many partitions a topic needs, and what more of them would cost.

    The count is the largest of: target divided by one partition's throughput, target divided by one consumer's
    throughput, the number of consumers and the number of brokers (Jun Rao's max(t/p, t/c), 2015), rounded up to what
    brokers share evenly. If a measurement is a range, low and high, the answer is one too; nothing here is more precise
    than the measurements.

    Args:
        target_mb_s: The topic's peak load, in MB/s, above 0.
        produce_mb_s: What one partition takes from producers, with your acks, compression and replicas, in MB/s or as a
            range; by default 10 to 50, because nobody has measured yours (`kafka-producer-perf-test.sh`).
        consume_mb_s: What one consumer reads and processes, in MB/s or as a range; the same by default.
        consumers: Members of a group that should be busy, 1 or more.
        groups: Groups that read the topic.
        producers: Producers that write to it.
        brokers: How many, 1 to 1000; 3 by default, or as many as `power` has.
        replication_factor: Replicas of a partition; 3 by default, or as many as there are brokers.
        power: The brokers' relative power, such as `[1, 1, 2]`: leaders are shared in that proportion.
        growth: By how much the target grows while the topic lives; with keys, adding partitions moves them.
        held: Replicas of other topics that each broker has already.
        segments: Segments of a replica: the retained bytes divided by `segment.bytes`, plus one; a number or a range.
        batch_size: The producer's `batch.size`, in bytes.
        buffer_memory: The producer's `buffer.memory`, in bytes.
        replica_fetchers: `num.replica.fetchers`.
        cleaner_threads: `log.cleaner.threads`.
        clean_s: Seconds in which one compacted log is cleaned, a number or a range; a guess until somebody measures it
            (`max-clean-time-secs` of `kafka.log:type=LogCleaner`).
        platform: The provider of the brokers, for its published limits on partitions: `msk:` with an instance size,
            such as `msk:m7g.large`, or `redpanda`.

    Returns:
        The advice.

    Raises:
        PartwrightError: A value is not above 0, not a number or out of range, there are more replicas than brokers, or
            the topic would need more than 100000 partitions.

    Examples:
        >>> advice = advise(100, produce_mb_s=(8, 12), consume_mb_s=20, consumers=6, brokers=3)
        >>> [(need.reason, need.low, need.high) for need in advice.needs]
        [('produce', 9, 13), ('consume', 5, 5), ('consumers', 6, 6), ('brokers', 3, 3)]
        >>> advice.at_least, advice.recommended
        ((9, 13), 15)
    """
    target = positive(target_mb_s, "target_mb_s") * positive(growth, "growth")
    produced, consumed = measured(produce_mb_s, "produce_mb_s"), measured(consume_mb_s, "consume_mb_s")
    for given, name in ((consumers, "consumers"), (groups, "groups"), (producers, "producers")):
        at_least_one(given, name)
    powers = powers_of(brokers, power)
    count = len(powers)
    replicas = (
        min(3, count)
        if replication_factor is None
        else at_least_one(replication_factor, "replication_factor")
    )
    if replicas > count:
        raise PartwrightError(
            f"{counted(replicas, 'replica')} of a partition need as many brokers, and there "
            f"{'is' if count == 1 else 'are'} {count}: take fewer replicas"
        )
    number(held, "held", MOST_MADE)
    for given, name in ((replica_fetchers, "replica_fetchers"), (cleaner_threads, "cleaner_threads")):
        at_least_one(given, name)
    for given, name in ((batch_size, "batch_size"), (buffer_memory, "buffer_memory")):
        at_least_one(given, name, 2**62)
    brokers_of = None if platform is None else platform_of(platform)
    kept, cleaned = measured(segments, "segments"), measured(clean_s, "clean_s")
    needs = _needs(target, produced, consumed, consumers, count)
    at_least = (max(need.low for need in needs), max(need.high for need in needs))
    recommended = even(at_least[1], powers)
    threads = (math.ceil(target / consumed[1]), math.ceil(target / consumed[0]))
    choices = []
    for partitions in dict.fromkeys(even(recommended * times, powers) for times in _TIMES):
        leaders = apportioned(partitions, powers)
        # Followers are shared like leaders, as far as they can be: no broker has two replicas of a partition.
        of_topic = min(partitions, -(-partitions * replicas * max(powers) // sum(powers)))
        load = Load(
            partitions, count, replicas, max(leaders), of_topic + held, floats(kept), consumers, groups, producers,
            threads, batch_size, buffer_memory, replica_fetchers, cleaner_threads, floats(cleaned),
            brokers_of,
        )  # fmt: skip
        found = tuple(figures(load))
        choices.append(Choice(partitions, leaders, found, tuple(warnings(load, found))))
    notes = _notes(target, consumed, consumers, powers, choices[0])
    unknown = [
        name
        for name, given in (("produce_mb_s", produce_mb_s), ("consume_mb_s", consume_mb_s))
        if given is _MEASURED
    ]
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
        brokers_of,
        tuple(assumed),
    )


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
