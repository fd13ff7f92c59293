"""Choose each partition's brokers: as evenly as racks allow, with the fewest new replicas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from partwright.cluster.reassignment.flow import even
from partwright.cluster.reassignment.problem import box

if TYPE_CHECKING:
    from partwright.cluster.reassignment.problem import Problem


def spread(problem: Problem, within: float = 0.0) -> Replicas:
    """The brokers of each partition.

    Args:
        problem: The cluster in numbers.
        within: If sizes are known, how far a broker may be from its share of all bytes, as a part of that share.

    Returns:
        Loads within their boxes, or as near to them as racks and few partitions allow, and the fewest new replicas
        among all such.
    """
    replicas = Replicas(problem, within)
    shares = problem.shares()
    replicas.begin()
    even(replicas, replicas.loads(), *box(shares))
    return replicas


class Replicas:
    """Replicas while they move, and what each could do: stay, or go to another broker.

    A replica on a broker that has it today costs nothing, any other costs 1. Tables count by broker (and by other
    broker or rack) how many replicas can go where, so that the cheapest way is found without going through all of them.
    """

    def __init__(self, problem: Problem, within: float) -> None:
        self.problem = problem
        self.within = within
        self.goals = [float(each) for each in problem.shares()]
        self.byte_goals = problem.byte_shares()
        brokers, racks = len(problem.racks), max(problem.racks) + 1
        self.limits = problem.of_racks()
        self.today = [frozenset(each) for each in problem.before]
        self.sets: list[list[int]] = [[] for _ in problem.before]
        self.of_broker: list[dict[int, None]] = [{} for _ in range(brokers)]
        self.sizes = problem.sizes or [0] * len(problem.before)
        self.bytes = list(problem.base_bytes)
        self.of_topic: list[Counter[int]] = [Counter() for _ in range(max(problem.topics, default=-1) + 1)]
        # By cost of the replica that would go, 0 or 1, and by its broker: how many replicas there are, how many cannot
        # leave their rack, how many find another rack full, and how many find a broker that has the partition or had
        # it.
        self.count = [[0] * brokers for _ in (0, 1)]
        self.stuck = [[0] * brokers for _ in (0, 1)]
        self.full = [[[0] * racks for _ in range(brokers)] for _ in (0, 1)]
        self.met = [[[0] * brokers for _ in range(brokers)] for _ in (0, 1)]
        # Of the last, the ones whose broker had the partition and can have it again.
        self.back = [[[0] * brokers for _ in range(brokers)] for _ in (0, 1)]

    def loads(self) -> list[int]:
        """By broker, how many replicas it has."""
        return [base + len(own) for base, own in zip(self.problem.base, self.of_broker, strict=True)]

    def moved(self) -> int:
        """How many replicas are on brokers that do not have them today."""
        return sum(
            each not in today for own, today in zip(self.sets, self.today, strict=True) for each in own
        )

    def begin(self) -> None:
        """Start with each partition as cheap as its rules allow: what can stay stays, new replicas go where room is."""
        problem = self.problem
        loads = [float(each) for each in problem.base]
        for own in problem.before:
            for broker in own:
                loads[broker] += 1
        kept = []
        for own, factor in zip(problem.before, problem.factors, strict=True):
            stays = self._stay(own, factor, loads)
            for broker in set(own).difference(stays):
                loads[broker] -= 1
            kept.append(stays)
        for partition, stays in enumerate(kept):
            for broker in stays:
                self._put(partition, broker)
        for partition, factor in enumerate(problem.factors):
            while len(self.sets[partition]) < factor:
                broker = self._roomiest(partition, loads)
                loads[broker] += 1
                self._put(partition, broker)
            self._tell(partition, 1)

    def costs(self, broker: int) -> list[int | None]:
        """See `Arcs`: -1 takes a move back, 0 moves a replica that moves anyway, 1 moves one that could stay."""
        racks, here = self.problem.racks, self.problem.racks[broker]
        staying, moving = (
            [
                self.count[cost][broker]
                - (0 if rack == here else self.stuck[cost][broker] + full[rack])
                - met
                for rack, met in zip(racks, self.met[cost][broker], strict=True)
            ]
            for cost, full in enumerate(of[broker] for of in self.full)
        )
        costs: list[int | None] = [
            -1 if back else 0 if again or new else 1 if old else None
            for back, again, new, old in zip(
                self.back[1][broker], self.back[0][broker], moving, staying, strict=True
            )
        ]
        costs[broker] = None
        return costs

    def move(self, giver: int, taker: int, cost: int) -> None:
        """See `Arcs`. The replica is of the topic in which the giver exceeds the taker the most."""
        partition = self._pick_partition(giver, taker, cost)
        self.replace(partition, giver, taker)

    def replace(self, partition: int, giver: int, taker: int) -> None:
        """Move a partition's replica from one broker to another."""
        self._tell(partition, -1)
        self.sets[partition].remove(giver)
        del self.of_broker[giver][partition]
        self.bytes[giver] -= self.sizes[partition]
        self.of_topic[self.problem.topics[partition]][giver] -= 1
        self._put(partition, taker)
        self._tell(partition, 1)

    def can_go(self, partition: int, giver: int, taker: int) -> bool:
        """Whether racks and the partition's other replicas let a replica go from one broker to another."""
        own = self.sets[partition]
        if taker in own:
            return False
        racks = self.problem.racks
        taker_rack, here = racks[taker], racks[giver]
        if taker_rack == here:
            return True
        least, most = self.limits[self.problem.factors[partition]]
        counts = [racks[each] for each in own]
        return counts.count(taker_rack) < most[taker_rack] and counts.count(here) > least[here]

    def cost(self, partition: int, giver: int, taker: int) -> int:
        """The cost of moving a replica from one broker to another: the change in the number of new replicas."""
        today = self.today[partition]
        return (giver in today) - (taker in today)

    def _pick_partition(self, giver: int, taker: int, cost: int) -> int:
        able = (
            each
            for each in self.of_broker[giver]
            if self.cost(each, giver, taker) == cost and self.can_go(each, giver, taker)
        )
        topics = self.problem.topics
        size = self._size_needed(giver, taker)

        def worth(partition: int) -> tuple[float, int]:
            # Prefer the smallest that is large enough, or else the largest; then decide by topic.
            of_topic, own = self.of_topic[topics[partition]], self.sizes[partition]
            gain = of_topic[giver] - of_topic[taker]
            return (-own if own >= size else own - 2 * size, gain)

        return max(able, key=worth)

    def _size_needed(self, giver: int, taker: int) -> float:
        """How large the moved replica should be, so that both brokers' bytes are within bounds after all moves."""
        if self.problem.sizes is None:
            return 0
        sizes = []
        for broker, sign in ((giver, 1), (taker, -1)):
            share, count = self.byte_goals[broker], self.problem.base[broker] + len(self.of_broker[broker])
            off = sign * (self.bytes[broker] - share) - self.within * share
            sizes.append(off / max(1.0, sign * (count - self.goals[broker])))
        return max(0.0, *sizes)

    def _put(self, partition: int, broker: int) -> None:
        self.sets[partition].append(broker)
        self.of_broker[broker][partition] = None
        self.bytes[broker] += self.sizes[partition]
        self.of_topic[self.problem.topics[partition]][broker] += 1

    def _stay(self, own: Sequence[int], factor: int, loads: list[float]) -> list[int]:
        """The largest set of a partition's replicas that can stay; if some must go, the fullest brokers' go."""
        racks = self.problem.racks
        least, most = self.limits[factor]
        stays = list(own)
        while True:
            counts = Counter(racks[each] for each in stays)
            held = sum(max(counts[rack], low) for rack, low in enumerate(least))
            crowded = [each for each in stays if counts[racks[each]] > most[racks[each]]]
            if not crowded and held <= factor:
                return stays
            able = crowded or [each for each in stays if counts[racks[each]] > least[racks[each]]]
            stays.remove(max(able, key=lambda each: (loads[each] - self.goals[each], each)))

    def _roomiest(self, partition: int, loads: list[float]) -> int:
        racks, own = self.problem.racks, self.sets[partition]
        least, most = self.limits[self.problem.factors[partition]]
        counts = Counter(racks[each] for each in own)
        lacking = {rack for rack, low in enumerate(least) if counts[rack] < low}
        needed = sum(least[rack] - counts[rack] for rack in lacking)
        if needed < self.problem.factors[partition] - len(own):
            lacking = {rack for rack, high in enumerate(most) if counts[rack] < high}
        of_topic = self.of_topic[self.problem.topics[partition]]
        able = (each for each, rack in enumerate(racks) if rack in lacking and each not in own)
        return min(able, key=lambda each: (loads[each] - self.goals[each], of_topic[each], each))

    def _tell(self, partition: int, sign: int) -> None:
        """Add a partition's replicas to the counts, or remove them."""
        racks, own, today = self.problem.racks, self.sets[partition], self.today[partition]
        least, most = self.limits[self.problem.factors[partition]]
        counts = Counter(racks[each] for each in own)
        for broker in own:
            cost = 0 if broker in today else 1
            here = racks[broker]
            self.count[cost][broker] += sign
            is_stuck = counts[here] <= least[here]
            crowded = [rack for rack, has in counts.items() if has >= most[rack] and rack != here]
            if is_stuck:
                self.stuck[cost][broker] += sign
            else:
                for rack in crowded:
                    self.full[cost][broker][rack] += sign
            for other in {*own, *today}:
                rack = racks[other]
                if other == broker or (rack != here and (is_stuck or rack in crowded)):
                    continue
                self.met[cost][broker][other] += sign
                if other not in own:
                    self.back[cost][broker][other] += sign
