"""How many partitions a topic needs, the multiples of its brokers, and what more of them would cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from partwright._check import (
    MOST_MADE,
    Json,
    at_least_one,
    counted,
    listed,
    number,
    options,
    refused,
    shown,
    span,
)
from partwright.answer import Answer, Question
from partwright.cluster.sizing.costs import (
    MEASURED_MB_S,
    PLATFORM_SOURCES,
    RAO_2015,
    SOURCES,
    BrokerFleet,
    CostEstimate,
    Load,
    Platform,
    TopicClients,
    figures,
    platform_of,
    warnings,
)
from partwright.errors import PartwrightError

__all__ = ["Advice", "BrokerFleet", "Choice", "Need", "TopicClients", "advise"]

_TIMES = (1, 2, 10)
_MOST_BROKERS = 1000
_MOST = 10**12
# How many tenths of its share a broker of unequal power may lead, and how far we look for such a count.
_UNEVEN = 11
_LOOKED_AT = 200


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
        fields = asdict(self)
        del fields["target_mb_s"], fields["platform"], fields["assumed"]
        for choice in fields["choices"]:
            choice["figures"] = [each._asdict() for each in choice["figures"]]
        return {**fields, "sources": self.sources}


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
        estimates = tuple(figures(load))
        choices.append(Choice(partitions, leaders, estimates, tuple(warnings(load, estimates))))
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


def even(count: int, powers: Sequence[int]) -> int:
    """The first number from a count on that brokers share evenly, or nearly in proportion to their power.

    Examples:
        >>> even(13, powers_of(3, None)), even(5, powers_of(None, [1, 1, 2]))
        (15, 8)
    """
    if len(set(powers)) == 1:
        return -(-count // len(powers)) * len(powers)
    whole = sum(powers)
    best, least = count, math.inf
    for each in range(count, count + _LOOKED_AT):
        leaders = _in_proportion(each, powers)
        if min(leaders) == 0:
            continue
        if all(
            one * whole * 10 <= each * power * _UNEVEN for one, power in zip(leaders, powers, strict=True)
        ):
            return each
        over = max(one * whole / (each * power) for one, power in zip(leaders, powers, strict=True))
        if over < least:
            best, least = each, over
    return best


def apportioned(count: int, powers: Sequence[int]) -> tuple[int, ...]:
    """Leaders by broker: whole numbers in proportion to power; the largest remainders get the rest.

    If there are enough, every broker leads at least one, however weak it is compared with the others.

    Examples:
        >>> apportioned(14, powers_of(None, [1, 1, 2])), apportioned(10, powers_of(None, [1, 1000]))
        ((4, 3, 7), (1, 9))
    """
    leaders = _in_proportion(count, powers)
    while min(leaders) == 0 and count >= len(leaders):
        leaders[leaders.index(max(leaders))] -= 1
        leaders[leaders.index(0)] += 1
    return tuple(leaders)


def _in_proportion(count: int, powers: Sequence[int]) -> list[int]:
    whole = sum(powers)
    shares, left = zip(*(divmod(count * power, whole) for power in powers), strict=True)
    order = sorted(range(len(powers)), key=lambda place: (-left[place], place))
    more = set(order[: count - sum(shares)])
    return [one + (place in more) for place, one in enumerate(shares)]


def powers_of(brokers: object, power: object) -> tuple[int, ...]:
    """Each broker's power as whole numbers in the given proportion; all equal if none is given.

    Examples:
        >>> powers_of(None, [1, 1.5]), powers_of(3, None)
        ((2, 3), (1, 1, 1))
    """
    if power is None:
        return (1,) * (3 if brokers is None else at_least_one(brokers, "brokers", _MOST_BROKERS))
    powers = [positive(each, "power") for each in listed(power, "power")]
    at_least_one(len(powers), "the number of powers", _MOST_BROKERS)
    if brokers is not None and at_least_one(brokers, "brokers", _MOST_BROKERS) != len(powers):
        reason = f"has {counted(len(powers), 'number')} and brokers is {brokers}: a number for each broker"
        raise refused(power, "power", reason)
    common = math.lcm(*(each.denominator for each in powers))
    return tuple(int(each * common) for each in powers)


def measured(value: object, what: str) -> tuple[Fraction, Fraction]:
    """A number, or a range of two."""
    if isinstance(value, (tuple, list)):
        if len(value) != 2:  # noqa: PLR2004 - a range has two ends
            raise refused(value, what, f"is a number or a range of two, not {shown(value)}")
        low, high = (positive(each, what) for each in value)
        if low > high:
            raise refused(value, what, f"is a range from {written(low)} to {written(high)}: turn it round")
        return low, high
    number = positive(value, what)
    return number, number


def positive(value: Any, what: str) -> Fraction:
    """A number above 0, exactly as it is written."""
    if type(value) not in {int, float} or not 0 < value <= _MOST:
        raise refused(value, what, f"is a number above 0, {_MOST:,} at most, not {shown(value)}")
    # Read as written, so that 1.1 times 100 is exactly 110 and does not round up to another partition.
    return Fraction(str(value))


def floats(ends: tuple[Fraction, Fraction]) -> tuple[float, float]:
    """A range for arithmetic that need not be exact."""
    return float(ends[0]), float(ends[1])


def written(number: Fraction) -> str:
    """A number for a sentence."""
    return f"{float(number):,.10g}"
