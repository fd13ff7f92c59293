"""How Kubernetes replaces the pods of a Deployment or a StatefulSet, step by step.

>>> roll = StatefulSet(replicas=3).roll(lambda: PodTimes(start_ms=10_000, ready_ms=5000, stop_ms=2000))
>>> [(each.pod, each.stops_at_ms, each.starts_at_ms) for each in roll]
[(2, 0, 12000), (1, 17000, 29000), (0, 34000, 46000)]
"""

from __future__ import annotations

import heapq
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import counted, refused, shown
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Deployment", "PodTimes", "Replaced", "StatefulSet", "read_workload"]

_PERCENT = re.compile(r"([0-9]{1,4})%")
_COUNT = re.compile(r"[0-9]{1,6}")
_MOST_REPLICAS = 10_000
_KINDS = ("Deployment", "StatefulSet")


class PodTimes(NamedTuple):
    """How long one pod takes, in milliseconds.

    Attributes:
        start_ms: From its creation until its consumer subscribes.
        ready_ms: From then until Kubernetes takes it for available.
        stop_ms: From SIGTERM, at which its consumer closes, until it is gone.
    """

    start_ms: int
    ready_ms: int
    stop_ms: int


class Replaced(NamedTuple):
    """A pod's times in a roll.

    Attributes:
        pod: Its number, from 0.
        stops_at_ms: When its consumer closes.
        starts_at_ms: When the consumer of a new pod subscribes.
    """

    pod: int
    stops_at_ms: int
    starts_at_ms: int


@dataclass(frozen=True, slots=True)
class Deployment:
    """A Deployment with the strategy RollingUpdate, or Recreate.

    Attributes:
        replicas: How many pods.
        max_surge: How many pods more there may be during a roll.
        max_unavailable: How many of the replicas may be missing during a roll.
        recreate: Whether all pods stop before new ones start.
    """

    replicas: int
    max_surge: int = 1
    max_unavailable: int = 0
    recreate: bool = False

    kind = "Deployment"

    @property
    def surge(self) -> int:
        """How many pods more there are at once in a roll, at most."""
        return 0 if self.recreate else min(self.max_surge, self.replicas)

    def roll(self, times: Callable[[], PodTimes]) -> list[Replaced]:
        """The roll, as the Deployment's controller makes it, in the order in which pods stop.

        It creates pods while there are fewer than `replicas + max_surge` (a pod that is stopping does not count), and
        stops old ones while `replicas - max_unavailable` are available.

        Args:
            times: Called once for each new pod.
        """
        if self.recreate:
            drawn = [times() for _ in range(self.replicas)]
            gone = max(each.stop_ms for each in drawn)
            return [Replaced(pod, 0, gone + each.start_ms) for pod, each in enumerate(drawn)]
        old, new, ready = self.replicas, 0, 0
        stops: list[int] = []
        starts: list[int] = []
        waiting: list[int] = []
        now = 0
        while old or new < self.replicas:
            create = min(self.replicas - new, self.replicas + self.max_surge - old - new)
            for _ in range(create):
                pod = times()
                starts.append(now + pod.start_ms)
                heapq.heappush(waiting, starts[-1] + pod.ready_ms)
            new += max(create, 0)
            stop = max(0, min(old, old + ready - (self.replicas - self.max_unavailable)))
            stops += [now] * stop
            old -= stop
            if create <= 0 and not stop:
                now = heapq.heappop(waiting)
                ready += 1
        return [Replaced(pod, *both) for pod, both in enumerate(zip(stops, starts, strict=True))]


@dataclass(frozen=True, slots=True)
class StatefulSet:
    """A StatefulSet with the strategy RollingUpdate.

    Attributes:
        replicas: How many pods.
        max_unavailable: How many pods are replaced at a time.
        partition: Pods with a lower number are not replaced.
    """

    replicas: int
    max_unavailable: int = 1
    partition: int = 0

    kind = "StatefulSet"
    max_surge = surge = 0
    recreate = False

    def roll(self, times: Callable[[], PodTimes]) -> list[Replaced]:
        """The roll, as the StatefulSet's controller makes it: from the highest number down.

        A new pod is created when the old one of its name is gone; the next is stopped when it is available.

        Args:
            times: Called once for each new pod.
        """
        found = []
        free = [0] * self.max_unavailable
        for pod in range(self.replicas - 1, self.partition - 1, -1):
            now = heapq.heappop(free)
            drawn = times()
            starts = now + drawn.stop_ms + drawn.start_ms
            found.append(Replaced(pod, now, starts))
            heapq.heappush(free, starts + drawn.ready_ms)
        return found


def read_workload(
    kind: object = "Deployment",
    replicas: object = None,
    max_surge: object = None,
    max_unavailable: object = None,
    *,
    recreate: bool = False,
    partition: int = 0,
) -> Deployment | StatefulSet:
    """A workload from a deployment's settings, with Kubernetes' defaults and its rules of rounding.

    Args:
        kind: Deployment or StatefulSet.
        replicas: How many pods, 1 to 10,000.
        max_surge: A number or a percentage of the replicas, which is rounded up; 25% by default.
        max_unavailable: The same; of a Deployment it is rounded down, and 25% by default, of a StatefulSet it is
            rounded up, and 1 by default.
        recreate: Whether the Deployment's strategy is Recreate.
        partition: The StatefulSet's `rollingUpdate.partition`.

    Raises:
        PartwrightError: A value is invalid, or nothing could ever be replaced.

    Examples:
        >>> read_workload("Deployment", 10)
        Deployment(replicas=10, max_surge=3, max_unavailable=2, recreate=False)
        >>> read_workload("StatefulSet", 10, max_unavailable="25%").max_unavailable
        3
        >>> read_workload("Deployment", 10, 0, 0)
        Traceback (most recent call last):
        partwright.errors.PartwrightError: max surge and max unavailable are both 0, so that no pod could be replaced: let one be at least 1
    """  # noqa: E501 - an example is one line
    if kind not in _KINDS:
        raise refused(kind, "the kind", f"is {' or '.join(_KINDS)}, not {shown(kind)}")
    if replicas is None:
        raise PartwrightError("there are no replicas: say how many pods the deployment has", field="replicas")
    if type(replicas) is not int or not 1 <= replicas <= _MOST_REPLICAS:
        raise refused(
            replicas, "replicas", f"is a whole number from 1 to {_MOST_REPLICAS}, not {shown(replicas)}"
        )
    if kind == "StatefulSet":
        if max_surge not in (None, 0, "0", "0%"):
            raise PartwrightError(
                f"a StatefulSet has no max surge, and {shown(max_surge)} was given: leave it out, or roll a Deployment",
                field="max_surge",
                value=max_surge,
            )
        unavailable = _share(
            "max unavailable", 1 if max_unavailable is None else max_unavailable, replicas, math.ceil
        )
        if not unavailable:
            raise refused(max_unavailable, "max unavailable", "of a StatefulSet cannot be 0: take 1 or more")
        if type(partition) is not int or not 0 <= partition < replicas:
            raise refused(
                partition,
                "the StatefulSet's partition",
                f"is {shown(partition)} of {counted(replicas, 'replica')}, so that no pod would be replaced",
            )
        return StatefulSet(replicas, min(unavailable, replicas), partition)
    surge = _share("max surge", "25%" if max_surge is None else max_surge, replicas, math.ceil)
    unavailable = _share(
        "max unavailable", "25%" if max_unavailable is None else max_unavailable, replicas, math.floor
    )
    if not surge and not unavailable:
        if not _is_share(max_unavailable):
            raise PartwrightError(
                "max surge and max unavailable are both 0, so that no pod could be replaced: let one be at least 1",
                field="max_unavailable",
                value=max_unavailable,
            )
        # Percentages that are rounded to nothing are allowed, and Kubernetes then stops one pod at a time.
        unavailable = 1
    return Deployment(replicas, surge, min(unavailable, replicas), recreate)


def _is_share(given: object) -> bool:
    """Whether it is a percentage above 0, as the default is."""
    return given is None or (isinstance(given, str) and given.endswith("%") and given.strip("0") != "%")


def _share(what: str, given: object, replicas: int, rounded: Callable[[float], int]) -> int:
    text = str(given).strip() if isinstance(given, (int, str)) and not isinstance(given, bool) else ""
    if found := _PERCENT.fullmatch(text):
        return rounded(replicas * int(found[1]) / 100)
    if not _COUNT.fullmatch(text):
        raise refused(
            given, what, f"is a number of pods or a percentage, such as 1 or 25%, not {shown(given)}"
        )
    return int(text)
