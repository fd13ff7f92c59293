"""KRaft's placement, `org.apache.kafka.metadata.placement.StripedReplicaPlacer`, exact to kafka-metadata 4.4.0.

What it draws comes from a seed of `java.util.Random`, or from a list. The order in which it draws is that of a
`HashMap` of racks, which is part of the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwright import _core
from partwright.cluster.java_random import draws_of
from partwright.cluster.parts import Broker, listed, shown, there_are
from partwright.cluster.placed import Placement
from partwright.cluster.wanted import at_least_one, enough_brokers, read_brokers
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from partwright.cluster.java_random import Draws
    from partwright.cluster.view import Cluster

__all__ = ["striped"]


def striped(
    brokers: Cluster | Iterable[Broker | int],
    partitions: int,
    replication_factor: int = 1,
    *,
    fenced: Iterable[int] = (),
    seed: int | None = None,
    draws: Iterable[int] | None = None,
) -> Placement:
    """Where Kafka's controller puts a new topic's replicas: stripes over racks, and over each rack's brokers.

    Kafka's controller draws from a `Random` without a seed: which placement a topic gets cannot be foretold, only what
    it looks like.  Adding partitions starts anew, whatever is there: Kafka's placer does not look at it.

    Args:
        brokers: Ids, `Broker`s or a cluster.  Their order counts only where the hash codes of racks meet in one bin of
            Java's `HashMap`; brokers without a rack are a rack of their own, the first one.
        partitions: How many, 1 to 1000000.
        replication_factor: Replicas of each, 1 to the number of brokers.
        fenced: The ids of brokers that are registered and not alive: no partition is led by them, and they get
            replicas only where a rack has no others left.
        seed: A seed of `java.util.Random`, 0 by default.
        draws: Instead of it, the numbers that `nextInt(bound)` gave; `Placement.draws` has them.  More than are
            needed are left alone.

    Returns:
        The placement, with its draws.

    Raises:
        PartwrightError: Kafka refuses it: more replicas than brokers, or all brokers are fenced; or a draw is missing
            or not below its bound.

    Examples:
        >>> striped(range(4), 5, 3, seed=7).replicas
        ((2, 3, 0), (3, 0, 1), (0, 1, 2), (1, 2, 3), (1, 2, 3))
        >>> striped(range(4), 5, 3, draws=[2, 0, 0, 1, 0]).replicas[-1]
        (1, 0, 2)
        >>> stripes = striped([Broker(id, rack="abc"[id % 3]) for id in range(6)], 6, 3)
        >>> all({id % 3 for id in row} == {0, 1, 2} for row in stripes.replicas)
        True
    """
    found = read_brokers(brokers)
    at_least_one(partitions, "partitions")
    enough_brokers(replication_factor, found)
    away = _fenced(fenced, found)
    random = draws_of(seed, draws)
    racks = _Racks(found, away, random)
    rows = tuple(racks.place(replication_factor) for _ in range(partitions))
    return Placement(found, rows, draws=tuple(random.drawn))


class _Brokers:
    """Some brokers of a rack, gone through once in each epoch, from another one each time."""

    __slots__ = ("epoch", "ids", "offset", "used")

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids
        self.offset = self.epoch = self.used = 0

    def next(self, epoch: int) -> int:
        """The next one in this epoch; -1 where there is none left."""
        count = len(self.ids)
        if not count:
            return -1
        if self.epoch != epoch:
            self.epoch = epoch
            self.used = 0
            self.offset = (self.offset + 1) % count
        if self.used >= count:
            return -1
        found = self.ids[(self.used + self.offset) % count]
        self.used += 1
        return found


class _Racks:
    """All racks in a stripe's order, and the place where the next partition begins."""

    def __init__(self, brokers: Sequence[Broker], away: set[int], random: Draws) -> None:
        by_rack: dict[str | None, tuple[list[int], list[int]]] = {}
        for broker in brokers:
            by_rack.setdefault(broker.rack, ([], []))[broker.id not in away].append(broker.id)
        # Fenced ones and then those that are alive, each rack's, as Java walks its map.
        self._racks = {
            name: tuple(_Brokers(sorted(ids)) for ids in by_rack[name]) for name in _walked(list(by_rack))
        }
        for each in self._lists():
            if each.ids:
                each.offset = random.below(len(each.ids))
        # Java compares texts by their UTF-16 units, and puts those without a rack first.
        self._names = sorted(by_rack, key=lambda name: (name is not None, (name or "").encode("utf-16-be")))
        self._random = random
        self._alive = len(brokers) - len(away)
        self._epoch = 0
        self._offset = random.below(len(self._names))

    def _lists(self) -> Iterable[_Brokers]:
        return (each for lists in self._racks.values() for each in lists)

    def place(self, replicas: int) -> tuple[int, ...]:
        """The brokers of the next partition."""
        names, racks, epoch = self._names, self._racks, self._epoch
        # As many stripes as brokers are alive, and all begin to repeat.
        if epoch == self._alive and self._alive > 1:
            _shuffle(names, self._random)
            for each in self._lists():
                _shuffle(each.ids, self._random)
            self._epoch = epoch = 0
        if self._offset == len(names):
            self._offset = 0
        first = self._offset
        # Both walks end: a list that has nothing left in this epoch has just been gone through, and after a shuffle
        # those of the last partition begin anew, which are enough for the next.
        while (leader := racks[names[first]][1].next(epoch)) < 0:
            first = (first + 1) % len(names)
        row = [leader]
        place = self._offset
        while len(row) < replicas:
            if place == first:
                # The leader's rack has given a broker already: it is passed over once.
                first = -1
            else:
                fenced, alive = racks[names[place]]
                found = alive.next(epoch)
                if found < 0:
                    found = fenced.next(epoch)
                if found >= 0:
                    row.append(found)
            place = (place + 1) % len(names)
        self._epoch += 1
        self._offset += 1
        return tuple(row)


def _walked(names: list[str | None]) -> list[str | None]:
    """Racks in the order of Java's `HashMap<Optional<String>, Rack>`.

    An Optional has its value's hash code, and an empty one 0, like the empty string or one of zeros alone: the shortest
    of those that is no rack's name stands for it.  Where more than eight racks have one hash code, and 48 are there,
    Java goes by where these lie in memory, and this by their names.
    """
    none = ""
    while none in names:
        none += "\0"
    try:
        walk = _core.walk_names([none if name is None else name for name in names])
    except UnicodeEncodeError:
        strange = next(name for name in names if name is not None and not _is_utf8(name))
        raise PartwrightError(f"rack {strange!r} is not UTF-8, as every name in Kafka is") from None
    return [names[place] for place in walk]


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _shuffle(ids: list[Any], random: Draws) -> None:
    """`Collections.shuffle`: from the last place down, each swapped with one of those up to it."""
    for size in range(len(ids), 1, -1):
        drawn = random.below(size)
        ids[size - 1], ids[drawn] = ids[drawn], ids[size - 1]


def _fenced(given: Any, brokers: Sequence[Broker]) -> set[int]:  # noqa: ANN401 - what is checked here
    ids = {broker.id for broker in brokers}
    found = set()
    for each in listed(given, "fenced"):
        if type(each) is not int or each not in ids:
            raise PartwrightError(f"fenced: there is no broker {shown(each)}: {there_are(ids, 'brokers')}")
        found.add(each)
    if len(found) == len(ids):
        raise PartwrightError(
            f"all {len(ids)} brokers are fenced: one at least must be alive to lead a partition"
        )
    return found
