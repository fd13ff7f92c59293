"""Play and measure one roll of one candidate; only this module plays and reads plays.

>>> roll = [Replaced(0, 0, 10_000), Replaced(1, 30_000, 40_000)]
>>> import random
>>> from partwright.group.durations import read_duration
>>> from partwright.group.kubernetes import Replaced
>>> drawn, poll = random.Random(1), read_duration("500ms", "poll")
>>> settings = {"assignor": "range", "static": True}
>>> lived = play_roll(Pods({"t": 4}, 2), roll, settings, same_names=True, poll=poll, drawn=drawn)
>>> lived.rebalances, lived.moved, lived.longest_ms // 1000
(0, 0, 10)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import Fields, Json
from partwright.group.durations import Duration
from partwright.group.kubernetes import Replaced
from partwright.group.play_script import play

if TYPE_CHECKING:
    import random

    from partwright.group.kubernetes import Replaced
    from partwright.group.timeline import Timeline

# By then a group has come to rest that all pods joined at once, and a roll begins within so much more.
_SETTLED_MS = 60_000
_PHASE_MS = 15_000
_OFTEN_MS = 500
# Both orders of old and new pods, and two mixed ones.
_DRAWS = 4


@dataclass(frozen=True, slots=True)
class Pods:
    """The group before the roll.

    Attributes:
        topics: By name, how many partitions.
        count: How many pods.
        subscriptions: What each subscribes to; all topics where there is none.
        clients: The client of each; Java's where there is none.
    """

    topics: Mapping[str, int]
    count: int
    subscriptions: Sequence[Sequence[str]] = ()
    clients: Sequence[str] = ()

    def join(self, pod: int) -> Json:
        """What the event has in which a pod's consumer subscribes, besides its name."""
        event: Json = {"topics": list(self.subscriptions[pod])} if self.subscriptions else {}
        return {**event, "client": self.clients[pod]} if self.clients else event


class Lived(NamedTuple):
    """The result of one roll.

    Attributes:
        unread_ms: The time in which partitions had no reader, summed up over the partitions.
        longest_ms: The longest that one partition had none.
        still_ms: By pod that ever read, how long its consumer was up, had partitions before or after, and read none.
        rebalances: How many there were.
        moved: How often a partition went from one member to another.
        behind_ms: The most that all partitions together were behind at one instant, as time of one partition.
        again_ms: What was read twice, as time of one partition.
        failures: The errors of Kafka's with which members ended.
        idle: How many pods of the roll's end read nothing.
        played: The script, for a page.
    """

    unread_ms: int
    longest_ms: int
    still_ms: tuple[int, ...]
    rebalances: int
    moved: int
    behind_ms: int
    again_ms: float
    failures: tuple[str, ...]
    idle: int
    played: Json


class Surge(NamedTuple):
    """Who reads something while a roll's surge pods are up together with all old ones.

    Attributes:
        readers: How many of all pods, at most.
        old: How many of the old ones, at most.
        fewest: How many of the surge pods, at least: the order of member IDs may decide.
        most: How many of them, at most.
    """

    readers: int
    old: int
    fewest: int
    most: int


def play_roll(
    pods: Pods,
    roll: Sequence[Replaced],
    settings: Fields,
    *,
    same_names: bool,
    poll: Duration,
    drawn: random.Random,
    has_records: bool = False,
) -> Lived:
    """Plays one roll, and measures it from its first moment on.

    Args:
        pods: The group before.
        roll: What Kubernetes does, from 0 ms on.
        settings: The script's `protocol`, `assignor`, `static`, `config` and so on.
        same_names: Whether a new pod has the name of the old one, as a StatefulSet's has.
        poll: From what each pod's time from poll to poll is drawn.
        drawn: Where members' ids and the roll's first moment come from.
        has_records: Whether anybody asks how far the group is behind.
    """
    begins_ms = _SETTLED_MS + drawn.randint(0, _PHASE_MS)
    names = _names(pods.count)
    ups: dict[str, list[tuple[int, int | None]]] = {name: [(0, None)] for name in names}
    script: Json = {"topics": dict(pods.topics), "records_per_s": 1000, **settings}
    joins = [_joined(0, name, pods.join(pod), poll, drawn) for pod, name in enumerate(names)]
    events = list(joins)
    for each in roll:
        old, stops, starts = names[each.pod], begins_ms + each.stops_at_ms, begins_ms + each.starts_at_ms
        if same_names:
            back = _joined(stops, old, {"down_ms": starts - stops}, poll, drawn)
            events.append({"restart": back.pop("join"), **back})
            ups[old] = [(0, stops), (starts, None)]
        else:
            new = f"{old}-new"
            events += [{"at_ms": stops, "leave": old}, _joined(starts, new, pods.join(each.pod), poll, drawn)]
            ups[old], ups[new] = [(0, stops)], [(starts, None)]
    events.sort(key=lambda event: event["at_ms"])
    whole = {**script, "events": events}
    timeline = play(whole)
    started = sum(at_ms < begins_ms for at_ms in timeline.readers().rebalance_times())
    # In one generation nothing moves: only several tell what the start-up took, which is no part of the roll.
    start = play({**script, "events": joins, "until_ms": begins_ms}, ownership=False) if started > 1 else None
    return _measured(timeline, start, begins_ms, ups, whole, has_records=has_records)


def play_surge(
    pods: Pods,
    surge: int,
    settings: Fields,
    drawn: random.Random,
    draws: int = _DRAWS,
    after_ms: int = _SETTLED_MS,
) -> Surge | None:
    """Plays a group that more pods join once it has come to rest, and counts those that read something then.

    Members poll often here: that changes when a group comes to rest, not who reads something then.

    Args:
        pods: The group.
        surge: How many more pods there are, which subscribe as the first ones do.
        settings: See `play_roll`.
        drawn: Where members' ids come from.
        draws: How many plays, with other member IDs each: in the first the old pods' come before the new ones', in
            the second after them, and in the others they are mixed, because some assignors go by the order of IDs.
        after_ms: When the new pods join.

    Returns:
        How many; None if the group does not come to rest, or members fail.

    Examples:
        >>> import random
        >>> play_surge(Pods({"t": 1}, 1), 1, {"assignor": "range"}, random.Random(1))
        Surge(readers=1, old=1, fewest=0, most=1)
        >>> play_surge(Pods({"t": 1}, 1), 1, {"assignor": "cooperative-sticky"}, random.Random(1))
        Surge(readers=1, old=1, fewest=0, most=0)
    """
    names = _names(pods.count + surge)
    poll = Duration(_OFTEN_MS, _OFTEN_MS)
    of_old, of_surge = [], []
    for number in range(draws if surge else 1):
        joins = [
            _joined(after_ms if pod >= pods.count else 0, name, pods.join(pod % pods.count), poll, drawn)
            for pod, name in enumerate(names)
        ]
        ids = sorted(each["member_id"] for each in joins)
        if number == 1:
            ids = ids[surge:] + ids[:surge]
        elif number > 1:
            drawn.shuffle(ids)
        events = [{**each, "member_id": member_id} for each, member_id in zip(joins, ids, strict=True)]
        timeline = play({"topics": dict(pods.topics), **settings, "events": events})
        if timeline.failures() or not timeline.is_settled:
            return None
        changes = timeline.readers().changes(names)
        reads = [sum(change for _, change in changes[name]) > 0 for name in names]
        of_old.append(sum(reads[: pods.count]))
        of_surge.append(sum(reads[pods.count :]))
    return Surge(max(map(sum, zip(of_old, of_surge, strict=True))), max(of_old), min(of_surge), max(of_surge))


def _joined(at_ms: int, name: str, more: Json, poll: Duration, drawn: random.Random) -> Json:
    # Kafka draws members' ids, on which the order of members depends.
    member_id, poll_ms = f"{drawn.getrandbits(64):016x}", poll.draw(drawn)
    return {"at_ms": at_ms, "join": name, "member_id": member_id, "poll_ms": poll_ms, **more}


def _names(count: int) -> list[str]:
    digits = len(str(count - 1))
    return [f"pod-{number:0{digits}}" for number in range(count)]


def _measured(
    timeline: Timeline,
    start: Timeline | None,
    begins_ms: int,
    ups: Mapping[str, Sequence[tuple[int, int | None]]],
    script: Json,
    *,
    has_records: bool,
) -> Lived:
    readers = timeline.readers()
    changes = readers.changes(timeline.members)
    times = readers.gap_times(timeline.ended_ms)
    gaps = [(max(begun, begins_ms), ended) for begun, ended in times if ended > begins_ms]
    still = {
        name: sum(_overlap(zeros, spans, begins_ms) for zeros in _zeros(changes[name]))
        for name, spans in ups.items()
        if changes[name]
    }
    up_at_the_end = [name for name, spans in ups.items() if spans[-1][1] is None]
    return Lived(
        unread_ms=sum(ended - begun for begun, ended in gaps),
        longest_ms=max((ended - begun for begun, ended in gaps), default=0),
        still_ms=tuple(still.values()),
        rebalances=sum(at_ms >= begins_ms for at_ms in readers.rebalance_times()),
        moved=timeline.moved - (start.moved if start else 0),
        behind_ms=_behind(gaps) if has_records else 0,
        again_ms=max(0.0, timeline.cost.read_twice - (start.cost.read_twice if start else 0.0)),
        failures=tuple(each["error"] for each in timeline.failures()),
        idle=sum(sum(change for _, change in changes[name]) == 0 for name in up_at_the_end),
        played=script,
    )


def _zeros(changes: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """When a member read nothing between two readings, or before its first one; not after its last one."""
    count, since = 0, 0
    for at_ms, change in sorted(changes):
        if count == 0 and at_ms > since:
            yield since, at_ms
        count += change
        if count == 0:
            since = at_ms


def _overlap(zeros: tuple[int, int], ups: Sequence[tuple[int, int | None]], begins_ms: int) -> int:
    """For how long of a time without partitions the consumer was up, from the roll's first moment on."""
    begun, ended = max(zeros[0], begins_ms), zeros[1]
    spans = [(max(since, begun), ended if until is None else min(until, ended)) for since, until in ups]
    return sum(max(0, until - since) for since, until in spans)


def _behind(gaps: Sequence[tuple[int, int]]) -> int:
    """The most that partitions without a reader wait for at one instant, all of it read at once when one comes.

    >>> _behind([(0, 10), (5, 12), (20, 21)])
    15
    """
    begins = sorted(begun for begun, _ in gaps)
    count = begun_sum = most = place = 0
    # It grows until a reader comes: the most is what it was just before one of these instants.
    for ended, begun in sorted((ended, begun) for begun, ended in gaps):
        while place < len(begins) and begins[place] < ended:
            begun_sum += begins[place]
            count += 1
            place += 1
        most = max(most, count * ended - begun_sum)
        count -= 1
        begun_sum -= begun
    return most
