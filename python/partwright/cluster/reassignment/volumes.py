"""Even bytes: replicas of unlike sizes change places, until each broker's bytes are near enough to its share.

How even bytes can be is a packing problem, which cannot be solved exactly in reasonable time. So this is a local
search: the broker that is farthest from its share exchanges replicas with another one, or gives one away if its box
allows, as long as that helps.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from partwright.cluster.reassignment.replicas import Replicas

# How many brokers at the other end are tried for an exchange, and how many replicas near the wanted size.
_MOST_PARTNERS = 8
_NEAR = 3
_NOTHING = 1e-9


class Scale(NamedTuple):
    """The target for brokers' bytes.

    Attributes:
        shares: By broker, the bytes that it would have if replicas could be cut.
        within: How far from its share a broker may be, as a part of it.
    """

    shares: Sequence[float]
    within: float

    def off(self, broker: int, load: float) -> float:
        """How far a broker is from its share, as a part of that share; negative if it has less."""
        share = self.shares[broker]
        return (load - share) / share if share else load

    def pain(self, broker: int, load: float) -> float:
        """The quantity to minimize: the distance squared, divided by the share."""
        share = self.shares[broker]
        return (load - share) ** 2 / (share or 1)


class _Step(NamedTuple):
    """A replica that goes, and the one that comes back for it, if any."""

    worth: float
    goes: int
    comes: int | None
    giver: int
    taker: int


def level_bytes(replicas: Replicas, scale: Scale, least: Sequence[int], most: Sequence[int]) -> None:
    """Exchange replicas until all brokers are within the scale, or no exchange helps the others.

    Args:
        replicas: The replicas, which change.
        scale: The target for their bytes.
        least: By broker, the fewest replicas that it may have.
        most: By broker, the most.
    """
    brokers = range(len(scale.shares))
    while True:
        loads = replicas.bytes
        far = sorted(brokers, key=lambda at: -abs(scale.off(at, loads[at])))
        outside = [at for at in far if abs(scale.off(at, loads[at])) > scale.within]
        steps = (_best(replicas, scale, at, least, most) for at in outside)
        step = next((each for each in steps if each is not None), None)
        if step is None:
            return
        replicas.replace(step.goes, step.giver, step.taker)
        if step.comes is not None:
            replicas.replace(step.comes, step.taker, step.giver)


def _best(
    replicas: Replicas, scale: Scale, broker: int, least: Sequence[int], most: Sequence[int]
) -> _Step | None:
    """The exchange that helps a broker most for each replica moved."""
    loads = replicas.bytes
    gives = loads[broker] > scale.shares[broker]
    others = [at for at in range(len(loads)) if at != broker]
    others.sort(key=lambda at: scale.off(at, loads[at]), reverse=not gives)
    pairs = [(broker, other) if gives else (other, broker) for other in others[:_MOST_PARTNERS]]
    steps = (step for pair in pairs for step in _steps(replicas, scale, pair, least, most))
    return max(steps, key=lambda step: step.worth, default=None)


def _steps(
    replicas: Replicas, scale: Scale, pair: tuple[int, int], least: Sequence[int], most: Sequence[int]
) -> Iterator[_Step]:
    giver, taker = pair
    sizes, loads, counts = replicas.sizes, replicas.bytes, replicas.loads()
    pain = scale.pain(giver, loads[giver]) + scale.pain(taker, loads[taker])
    middle = (loads[giver] - scale.shares[giver] - loads[taker] + scale.shares[taker]) / 2
    back = sorted(replicas.of_broker[taker], key=lambda each: (sizes[each], each))
    sized = [sizes[each] for each in back]
    one_way = counts[giver] > least[giver] and counts[taker] < most[taker]
    for goes in replicas.of_broker[giver]:
        if not replicas.can_go(goes, giver, taker):
            continue
        place = bisect_left(sized, sizes[goes] - middle)
        comes: list[int | None] = [*back[max(0, place - _NEAR) : place + _NEAR]]
        cost = replicas.cost(goes, giver, taker)
        for each in [*comes, None] if one_way else comes:
            if each is not None and not replicas.can_go(each, taker, giver):
                continue
            less = sizes[goes] - (0 if each is None else sizes[each])
            after = scale.pain(giver, loads[giver] - less) + scale.pain(taker, loads[taker] + less)
            own = cost + (0 if each is None else replicas.cost(each, taker, giver))
            if pain - after > _NOTHING * (1 + pain):
                yield _Step((pain - after) / (1 + max(0, own)), goes, each, giver, taker)
