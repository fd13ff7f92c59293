"""The answer of a rollout: candidates side by side, which one to use, and why."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from partwright._check import Json, counted
from partwright.answer import Answer
from partwright.group.kubernetes import Deployment, StatefulSet
from partwright.group.member_client import refuses_list
from partwright.group.play_script import play
from partwright.group.rollouts.candidates import CLIENTS, Candidate, broker_lines, client_lines
from partwright.group.rollouts.play import Lived, Surge
from partwright.group.timeline import Timeline

# Candidates that differ by less are the same: no group lives by the second.
_ALIKE, _ALIKE_S = 0.05, 1.0
# Of a larger roll, who reads what would take too much memory.
_MOST_READ = 5_000_000


class PlaySpread(NamedTuple):
    """A figure over many plays, or over pods: half of them are at most `median`, 95 of 100 at most `p95`."""

    median: float
    p95: float

    @classmethod
    def of(cls, values: Sequence[float], scale: float = 1.0) -> PlaySpread:
        """The spread of values, each multiplied.

        Examples:
            >>> PlaySpread.of([1000, 3000, 2000], 0.001)
            PlaySpread(median=2.0, p95=3.0)
        """
        if not values:
            return cls(0.0, 0.0)
        ordered = sorted(values)
        # The smallest value that 95 of 100 do not exceed.
        highest = ordered[-(-len(ordered) * 95 // 100) - 1]
        return cls(round(statistics.median(ordered) * scale, 3), round(highest * scale, 3))


@dataclass(frozen=True)
class Tried:
    """A candidate and the results of its rolls.

    Attributes:
        candidate: The candidate that was played.
        workload: The rolled workload: a StatefulSet instead of a Deployment if members have to keep their names.
        lived: The result of each roll.
        records_per_s: How many records a second arrive in each partition; None if not given.
    """

    candidate: Candidate
    workload: Deployment | StatefulSet
    lived: tuple[Lived, ...]
    records_per_s: float | None = None

    @property
    def unread_s(self) -> PlaySpread:
        """The seconds in which partitions had no reader, summed up over the partitions, by play."""
        return PlaySpread.of([each.unread_ms for each in self.lived], 0.001)

    @property
    def longest_unread_s(self) -> PlaySpread:
        """The longest time for which one partition had no reader, by play."""
        return PlaySpread.of([each.longest_ms for each in self.lived], 0.001)

    @property
    def still_s(self) -> PlaySpread:
        """How long a pod's consumer was up and read nothing, over the pods of all plays; idle pods do not count."""
        return PlaySpread.of([still for each in self.lived for still in each.still_ms], 0.001)

    @property
    def rebalances(self) -> int:
        """How many there were in half of the plays at most."""
        return round(statistics.median(each.rebalances for each in self.lived))

    @property
    def moved(self) -> int:
        """How often partitions went from one member to another, in half of the plays at most."""
        return round(statistics.median(each.moved for each in self.lived))

    @property
    def behind(self) -> PlaySpread | None:
        """The largest lag of the group at one instant, by roll, if a new reader could catch up at once."""
        rate = self.records_per_s
        return None if rate is None else PlaySpread.of([each.behind_ms for each in self.lived], rate / 1000)

    @property
    def read_twice(self) -> PlaySpread | None:
        """How many records were read again, because their offsets had not been committed, by play."""
        rate = self.records_per_s
        return None if rate is None else PlaySpread.of([each.again_ms for each in self.lived], rate / 1000)

    @property
    def failures(self) -> list[str]:
        """The errors of Kafka's with which members ended, each once."""
        return list(dict.fromkeys(error for each in self.lived for error in each.failures))

    @property
    def idle(self) -> int:
        """How many pods have nothing to read after the roll, at most."""
        return max(each.idle for each in self.lived)

    def to_dict(self) -> Json:
        """As in `partwright rollout --json`."""
        candidate = self.candidate
        fields: Json = {name: getattr(candidate, name) for name in ("protocol", "assignor", "static")}
        spreads = {
            "unread_s": self.unread_s,
            "longest_unread_s": self.longest_unread_s,
            "still_s_per_member": self.still_s,
        }
        fields |= {"config": dict(candidate.config), "workload": self.workload.kind}
        fields |= {name: spread._asdict() for name, spread in spreads.items()}
        fields |= {name: getattr(self, name) for name in ("rebalances", "moved", "idle")}
        fields["plays"] = len(self.lived)
        records = {"records_behind": self.behind, "records_read_twice": self.read_twice}
        fields |= {name: spread._asdict() for name, spread in records.items() if spread is not None}
        return {**fields, "failures": self.failures} if self.failures else fields


@dataclass(frozen=True)
class Rollout(Answer):
    """A deployment's roll under each candidate.

    Attributes:
        tried: The candidates and their results.
        recommended: The place of the one to take.
        today: The place of today's candidate; None if it is not among them.
        workload: The deployment.
        assumed: The values that were assumed because none was given, each with its name.
        left_out: Candidates that were not played, and why, a sentence each.
        plays: How many plays each candidate was asked for; `Tried.lived` has how many there were time for.
        clients: The pods' clients, each once; none if nobody named one, and Java's consumers were played.
        surge: How many of all pods that are up at once in the roll read something, and how many of the surge pods, with
            the recommended candidate; None if that was not played.
        of_group: What was assumed about a live group, a sentence each.
    """

    tried: tuple[Tried, ...]
    recommended: int
    today: int | None
    workload: Deployment | StatefulSet
    assumed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    plays: int = 1
    clients: tuple[str, ...] = ()
    surge: Surge | None = None
    of_group: tuple[str, ...] = ()

    DOCUMENT = "rollout"
    ROWS = "candidates"

    @property
    def best(self) -> Tried:
        """The candidate to take."""
        return self.tried[self.recommended]

    @cached_property
    def median_roll(self) -> Timeline | None:
        """The roll of the recommended candidate whose time without a reader is the median, played once to show it.

        None if it is too large: if partitions times events are more than 5,000,000.
        """
        ordered = sorted(self.best.lived, key=lambda each: each.unread_ms)
        script = ordered[(len(ordered) - 1) // 2].played
        is_large = sum(script["topics"].values()) * len(script["events"]) > _MOST_READ
        return None if is_large else play(script)

    @property
    def steadiest(self) -> Tried:
        """The candidate with which fewest partitions move, and of those the one that leaves them unread least."""
        sound = [each for each in self.tried if not each.failures and each.idle <= self.best.idle]
        return min(sound or [self.best], key=lambda each: (each.moved, each.unread_s.median))

    @property
    def present(self) -> Tried | None:
        """Today's candidate; None if it is not among them."""
        return None if self.today is None else self.tried[self.today]

    @property
    def summary(self) -> str:
        """The verdict: whether to change anything, to what, and what it saves."""
        best, now = self.best, self.present
        unread = best.unread_s.median
        words = f"{best.candidate.label}: {unread:,.1f} s of partitions without a reader (median of "
        words += f"{counted(len(best.lived), 'roll')})"
        if best is now:
            least = min(self.tried, key=lambda each: (bool(each.failures), each.idle, each.unread_s.median))
            saved = round(unread - least.unread_s.median, 1)
            if saved <= 0:
                return f"Keep {words}; no candidate has less."
            return (
                f"Keep {words}. {least.candidate.label} saves {saved:,.1f} s, too little to change: up to "
                f"{_alike_s(now, least):,.1f} s is the same."
            )
        if now is None:
            return f"Take {words}."
        if now.failures:
            return f"Take {words}. Today's {now.candidate.label} fail: one ends with {now.failures[0]}."
        before = now.unread_s.median
        share = round((before - unread) / before * 100) if before else 0
        differs = f"{abs(share)} % {'less' if share > 0 else 'more'} than" if share else "about as much as"
        return f"Take {words}, {differs} with today's {now.candidate.label} ({before:,.1f} s)."

    @property
    def pods_at_once(self) -> int:
        """How many pods are up at once in the roll, at most."""
        return self.workload.replicas + self.workload.surge

    @property
    def readers_at_once(self) -> int | None:
        """How many of them read something, with the recommended candidate; None if that was not played."""
        return None if self.surge is None else self.surge.readers

    @property
    def blocks_roll(self) -> bool:
        """Whether a readiness probe that waits for a partition keeps every roll from ending.

        It does if some pods never have one. It also does if no old pod may stop before a new one is ready, and the old
        ones keep all that there is.
        """
        surge = self.surge
        if surge is None or surge.readers >= self.pods_at_once:
            return False
        return surge.old < self.workload.replicas or not (self.workload.max_unavailable or surge.most)

    @property
    def may_block_roll(self) -> bool:
        """Whether such a probe keeps some rolls from ending: those whose member IDs give the surge pods nothing."""
        surge = self.surge
        if surge is None or surge.readers >= self.pods_at_once or self.blocks_roll:
            return False
        return not (self.workload.max_unavailable or surge.fewest)

    def readiness(self) -> str | None:
        """What pods without a partition mean for a readiness probe that waits for one; None if all pods have some."""
        surge, replicas = self.surge, self.workload.replicas
        if surge is None or surge.readers >= self.pods_at_once:
            return None
        probe = "A readiness probe that waits for a partition"
        if surge.old < replicas:
            idle = replicas - surge.old
            return (
                f"{idle:,} of {counted(replicas, 'pod')} never {'gets' if idle == 1 else 'get'} a partition. {probe} "
                "never succeeds there and blocks the roll for ever: take a probe that does not wait, or fewer replicas."
            )
        first = (
            f"Up to {counted(self.pods_at_once, 'pod is', 'pods are')} up at once in the roll, with partitions for "
            f"only {surge.readers:,}: {_without(surge, self.workload.surge)}."
        )
        mend = "take a probe that does not wait, the strategy Recreate, or a max surge of 0 with a max unavailable of 1"
        if self.blocks_roll:
            return f"{first} {probe} blocks the roll for ever: {mend}."
        if self.may_block_roll:
            return f"{first} {probe} blocks the roll for ever if no surge pod gets one: {mend}."
        can = "can lengthen" if surge.fewest < surge.most else "lengthens"
        return f"{first} {probe} {can} the roll: new pods are not ready until old ones have gone."

    def settings(self) -> dict[str, list[str] | str]:
        """The configuration lines for the recommended candidate, under each client's own names.

        They are those of the pods' clients; of every client, or why it cannot run the candidate, if nobody named one.
        """
        broker = broker_lines(self.best.candidate)
        return {
            **client_lines(self.best.candidate, self.clients or CLIENTS),
            **({"broker": broker} if broker else {}),
        }

    def steps(self) -> list[str]:
        """How to get from today's candidate to the recommended one, with a common assignor at each step."""
        best, now = self.best.candidate, None if self.today is None else self.tried[self.today].candidate
        if now is None or (best.protocol, best.assignor) == (now.protocol, now.assignor):
            return []
        if best.protocol == "consumer":
            return [
                "One roll changes the group over to KIP-848; its brokers have to be of Kafka 4.0 or later."
            ]
        if now.protocol == "consumer":
            return ["One roll changes the group back to the classic protocol."]
        both = f"{best.assignor} and {now.assignor}"
        rolled = (
            f"Change the assignor in two rolls: the first with {both}, the second with {best.assignor} alone."
        )
        pair = (best.assignor, now.assignor)
        refusing = [each for each in self.clients or CLIENTS if refuses_list(each, pair)]
        if not refusing:
            return [rolled]
        names = " and ".join(refusing)
        refusal = f"{names} refuse{'s' if len(refusing) == 1 else ''} a list of both"
        if len(refusing) == len(self.clients):
            return [f"{refusal}, {both}: stop all consumers in between."]
        return [f"{rolled} {refusal}: stop all consumers of {names} in between."]

    def to_dict(self) -> Json:
        """As in `partwright rollout --json`.

        `summary`, `recommended`, `today` (a place among the candidates, or null), `candidates`, `clients` (if one was
        named), `readiness` (if some pods of the roll have no partition), `settings` by client, `assumed` and
        `left_out`.
        """
        names = ("pods_at_once", "readers_at_once", "blocks_roll", "may_block_roll")
        text = self.readiness()
        readiness = {**{name: getattr(self, name) for name in names}, "text": text}
        return {
            **{name: getattr(self, name) for name in ("summary", "recommended", "today")},
            "candidates": [each.to_dict() for each in self.tried],
            **({"clients": list(self.clients)} if self.clients else {}),
            **({} if text is None else {"readiness": readiness}),
            "settings": self.settings(),
            "assumed": [*self.assumed, *self.of_group],
            "left_out": list(self.left_out),
        }


def _without(surge: Surge, pods: int) -> str:
    """Which pods get no partition while the old ones and the surge pods are up together."""
    if surge.fewest < surge.most:
        return (
            "the order of member IDs, which each roll draws anew, decides which pods get one, and an old pod may lose "
            "its own"
        )
    waiting = pods - surge.most
    who = "a surge pod never gets" if waiting == 1 else f"{waiting:,} surge pods never get"
    return f"{who} one while the old pods live"


def _alike_s(one: Tried, other: Tried) -> float:
    """Up to which difference two candidates are the same: what their own rolls differ by, 5 %, or a second."""
    spread = max(each.unread_s.p95 - each.unread_s.median for each in (one, other))
    return max(spread, _ALIKE * min(one.unread_s.median, other.unread_s.median), _ALIKE_S)


def recommended(tried: Sequence[Tried], today: int | None) -> int:
    """The place of the candidate to take.

    Of the candidates with the fewest idle pods, today's is kept if none leaves partitions unread for less time, by more
    than their own rolls differ (`p95` - `median`), 5 % and a second. Otherwise it is one that leaves them unread least,
    give or take 5 % or a second: of these the one that moves fewest partitions, then the one with the fewest
    rebalances, then the one that leaves them unread least. A candidate whose members fail is never chosen while
    another's do not.
    """
    sound = [place for place, each in enumerate(tried) if not each.failures] or list(range(len(tried)))
    # A candidate that gives everything to a few pods leaves little unread, but the other pods idle.
    busiest = min(tried[place].idle for place in sound)
    sound = [place for place in sound if tried[place].idle == busiest]
    best = min(sound, key=lambda place: tried[place].unread_s.median)
    least = tried[best].unread_s.median
    if today in sound:
        now = tried[today]
        if now.unread_s.median - least <= _alike_s(now, tried[best]):
            return today
    most = least + max(_ALIKE * least, _ALIKE_S)
    as_good = [place for place in sound if tried[place].unread_s.median <= most]
    return min(
        as_good, key=lambda place: (tried[place].moved, tried[place].rebalances, tried[place].unread_s.median)
    )
