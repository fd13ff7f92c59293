"""Short forms of scripts: `+3, -1, roll` for three members that join, one that leaves, and a rolling restart.

>>> [event for event in expand("+2, x1", every_ms=60000, down_ms=5000)]
[{'at_ms': 0, 'join': 'c1'}, {'at_ms': 0, 'join': 'c2'}, {'at_ms': 60000, 'crash': 'c2'}]
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Callable

from partwright._check import Json, counted, meant, shown
from partwright.errors import PartwrightError
from partwright.group.durations import read_duration
from partwright.group.kubernetes import Deployment, PodTimes

READY_MS = 10_000
"""For so long a rolling restart waits after a member is back, until it takes the next one down."""
_WORD = re.compile(
    r"(?P<sign>[+\-x])(?P<count>\d{1,6})"
    r"|(?P<roll>roll|surge)(?P<share>\d{1,6}%?)?(?:/(?P<pause>[0-9.a-z]+))?"
    r"(?: to (?P<client>[A-Za-z0-9@._-]+))?"
    r"|node(?P<node>\d{1,6})"
    r"|(?P<broker>broker)"
    r"|wait (?P<wait>[0-9.a-z]+)"
    r"|scale (?P<low>\d{1,6})\.\.(?P<high>\d{1,6}): (?P<loads>[0-9. ]+) / (?P<each>\d{1,9}(?:\.\d{1,9})?)"
    r"|(?P<topic>[A-Za-z0-9._-]+)\+(?P<more>\d{1,9})",
    re.ASCII,
)
_KNOWN = "+N, -N, xN, roll, rollN, surgeN, nodeN, scale, broker, wait and TOPIC+N"
_MOST = 100_000


def expand(text: str, *, every_ms: int, down_ms: Callable[[], int] | int) -> list[Json]:
    """The events of a short form.

    Args:
        text: Words with commas between them: `+N`, N members join; `-N`, the N newest leave; `xN`, the N newest crash;
            `roll`, each member in turn closes and starts again; `rollN` or `rollP%`, that many at a time; `surgeN` or
            `surgeP%`, that many new members join before as many old ones leave, until all are new; `roll5/30s` waits
            that long after a member is back, instead of 10 s; `roll to franz-go`, members start again with that client;
            `nodeN`, the N newest crash at once and as many new ones join `down_ms` later; `scale 4..12: 100 900 400 /
            75`, an autoscaler keeps 4 to 12 members, one for each 75 of a load, which it learns every `every_ms`;
            `broker`, the coordinator moves to another one; `wait 90s`; `TOPIC+N`, a topic gets N more partitions.
        every_ms: How long after a word the next one comes.
        down_ms: For how long a member is down in a rolling restart, or what says it for each restart.

    Returns:
        The events; members are c1, c2 and so on.

    Raises:
        PartwrightError: A word is unknown, or more members go than there are.

    Examples:
        >>> [event for event in expand("+3, roll2", every_ms=60000, down_ms=5000)][3:]
        [{'at_ms': 60000, 'restart': 'c1', 'down_ms': 5000}, {'at_ms': 60000, 'restart': 'c2', 'down_ms': 5000}, {'at_ms': 75000, 'restart': 'c3', 'down_ms': 5000}]
    """  # noqa: E501 - an example is one line
    expansion = _Expansion(every_ms, down_ms if callable(down_ms) else lambda: down_ms)
    words = [" ".join(word.split()) for word in text.split(",")]
    for number, word in enumerate(words, 1):
        found = _WORD.fullmatch(word)
        if found is None:
            near = meant(word.lower(), ["roll", "surge", "scale", "broker", "wait"], opening="; ")
            raise PartwrightError(
                f"word {number} of the events is unknown: {shown(word)}; there are {_KNOWN}{near}"
            )
        expansion.happens(f"word {number} of the events", word, found)
        expansion.at_ms += every_ms
    return expansion.events


class _Expansion:
    """Who is there, and what has happened up to a time."""

    def __init__(self, every_ms: int, down_ms: Callable[[], int]) -> None:
        self.events: list[Json] = []
        self.at_ms = 0
        self._every_ms, self._down_ms = every_ms, down_ms
        self._members: list[str] = []
        self._made = 0

    def happens(self, where: str, word: str, found: re.Match[str]) -> None:
        """One word."""
        parts = found.groupdict()
        if parts["topic"]:
            self._event(add_partitions={parts["topic"]: int(parts["more"])})
        elif parts["broker"]:
            self._event(move_coordinator=True)
        elif parts["wait"]:
            self.at_ms += _time(parts["wait"], where)
        elif parts["roll"]:
            pause_ms = READY_MS if parts["pause"] is None else _time(parts["pause"], where)
            size = _share(parts["share"], len(self._members), where)
            more = {} if parts["client"] is None else {"client": parts["client"]}
            if parts["roll"] == "roll":
                self._roll(size, pause_ms, more)
            else:
                self._surge(size, pause_ms, where, word, more)
        elif parts["node"]:
            count = int(parts["node"])
            self._go("crash", count, where)
            self.at_ms += self._down_ms()
            self._join(count, where, word)
        elif parts["loads"]:
            self._scale(parts, where, word)
        elif parts["sign"] == "+":
            self._join(int(parts["count"]), where, word)
        else:
            self._go("leave" if parts["sign"] == "-" else "crash", int(parts["count"]), where)

    def _event(self, **what: object) -> None:
        self.events.append({"at_ms": self.at_ms, **what})

    def _join(self, count: int, where: str, word: str) -> None:
        for name in self._named(count, where, word):
            self._event(join=name)
            self._members.append(name)

    def _named(self, count: int, where: str, word: str) -> list[str]:
        """New members' names."""
        if self._made + count > _MOST:
            raise PartwrightError(f"{where} makes more than {_MOST} members: {shown(word)}")
        self._made += count
        return [f"c{number}" for number in range(self._made - count + 1, self._made + 1)]

    def _go(self, kind: str, count: int, where: str) -> None:
        if count > len(self._members):
            raise PartwrightError(
                f"{where} takes {counted(count, 'member')} away, and {len(self._members)} are there"
            )
        for _ in range(count):
            self._event(**{kind: self._members.pop()})

    def _roll(self, size: int, pause_ms: int, more: Json) -> None:
        """So many at a time: the next one goes when one is back and has been for a while."""
        free = [self.at_ms] * size
        for name in self._members:
            self.at_ms = heapq.heappop(free)
            down_ms = self._down_ms()
            self._event(restart=name, down_ms=down_ms, **more)
            heapq.heappush(free, self.at_ms + down_ms + pause_ms)
        self.at_ms = max(free)

    def _surge(self, size: int, pause_ms: int, where: str, word: str, more: Json) -> None:
        """So many more than there are: an old one goes when a new one is there and has been for a while."""
        if not self._members:
            return
        roll = Deployment(len(self._members), size).roll(lambda: PodTimes(0, pause_ms, 0))
        names = self._named(len(self._members), where, word)
        pairs = zip(self._members, names, roll, strict=True)
        events: list[Json] = []
        for old, new, each in pairs:
            events.append({"at_ms": self.at_ms + each.starts_at_ms, "join": new, **more})
            events.append({"at_ms": self.at_ms + each.stops_at_ms, "leave": old})
        self.events += sorted(events, key=_when)
        self.at_ms = max(map(_when, events))
        self._members = names

    def _scale(self, parts: dict[str, str], where: str, word: str) -> None:
        """As many as a load needs, within bounds, told of it from time to time."""
        low, high, each = int(parts["low"]), int(parts["high"]), float(parts["each"])
        loads = parts["loads"].split()
        if low > high or each <= 0 or not all(re.fullmatch(r"\d{1,15}(\.\d{1,9})?", load) for load in loads):
            raise PartwrightError(
                f"{where} is unknown: {shown(word)}; an autoscaler is scale LOW..HIGH: LOAD LOAD ... "
                "/ LOAD-OF-A-MEMBER, such as scale 4..12: 100 900 400 / 75"
            )
        for place, load in enumerate(loads):
            self.at_ms += self._every_ms if place else 0
            needed = min(max(math.ceil(float(load) / each), low), high)
            if needed > len(self._members):
                self._join(needed - len(self._members), where, word)
            else:
                self._go("leave", len(self._members) - needed, where)


def _when(event: Json) -> int:
    at_ms: int = event["at_ms"]
    return at_ms


def _share(share: str | None, members: int, where: str) -> int:
    """So many at a time; a percentage is rounded up, as Kubernetes does with a StatefulSet's."""
    size = 1 if share is None else int(share.rstrip("%"))
    if share is not None and share.endswith("%"):
        size = math.ceil(members * size / 100)
    if not size and members:
        raise PartwrightError(f"{where} takes 0 members at a time: let it be at least 1")
    return max(size, 1)


def _time(text: str, where: str) -> int:
    return read_duration(text, f"{where}: the time").most_ms
