"""What a script's group has come to while the script is read: its topics, its members, and what happens to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from partwright._check import MOST_INT, listed, refuse_many, shown, unknown, whole
from partwright.cluster.topic_names import check_topic, collisions
from partwright.errors import PartwrightError
from partwright.group.coordinator import is_text

if TYPE_CHECKING:
    from partwright.group.configs import BrokerConfigs, MemberConfigs
    from partwright.group.durations import Draws

Span = tuple[str, int, int | None, tuple[tuple[str, int], ...]]


class ScriptTopics:
    """The topics.

    Args:
        counts: By name, how many partitions each has at first.

    Attributes:
        initial_names: Their names.
        first: The same, and None for those that are made later, in the order of the first mention.
        now: How many partitions each has by now; None where there is no such topic.
        deleted: Those that were deleted.
    """

    def __init__(self, counts: object) -> None:
        topics = {} if counts is None else counts
        if not isinstance(topics, Mapping):
            raise PartwrightError(
                f'topics are numbers of partitions by name, as {{"t": 4}}, not {shown(topics)}'
            )
        self.first: dict[str, int | None] = {
            _checked(name): whole(count, f"the number of partitions of topic {name}", 1, MOST_INT)
            for name, count in topics.items()
        }
        if not self.first:
            raise PartwrightError(
                "a script has no topics: name at least one, with how many partitions it has"
            )
        self._numbers = {name: number for number, name in enumerate(self.first)}
        self._lists: dict[tuple[str | None, ...], list[int]] = {}
        self.initial_names = list(self.first)
        self.now: dict[str, int | None] = dict(self.first)
        self.deleted: set[str] = set()
        self.refuse_too_many()
        self.refuse_collisions()

    def mention(self, name: object) -> None:
        """A topic is named that may be made later, and has its number from then on."""
        if isinstance(name, str) and name in self.first:
            return
        checked = _checked(name)
        self._numbers[checked] = len(self.first)
        self.first[checked] = None
        self.now[checked] = None

    def numbers_of(self, topics: object) -> list[int]:
        """The numbers of the topics that somebody subscribes to, who may wait for one that nobody has made yet."""
        names = [topics] if isinstance(topics, str) else listed(topics, "topics")
        if not names:
            raise PartwrightError(
                "topics is empty: a consumer that subscribes to nothing is not a member, so let it leave"
            )
        # A thousand members may each name a thousand topics, mostly the same ones.
        key = tuple(name if isinstance(name, str) else None for name in names)
        if key not in self._lists:
            for name in names:
                self.mention(name)
            self._lists[key] = [self.number_of(name) for name in dict.fromkeys(names)]
        return self._lists[key]

    def count_of(self, name: object) -> int:
        """How many partitions a topic has that is there."""
        count = self.now.get(name) if isinstance(name, str) else None
        if count is not None:
            return count
        if isinstance(name, str) and name in self.deleted:
            raise PartwrightError(f"topic {name!r} was deleted before")
        existing = [topic for topic, those in self.now.items() if those is not None]
        raise PartwrightError(f"{unknown(name, 'topic', existing)}")

    def change(self, name: str, count: int | None) -> tuple[int, int | None]:
        """A topic has so many partitions from now on, or is gone: its number with them."""
        self.now[name] = count
        self.refuse_too_many()
        return self.number_of(name), count

    def refuse_too_many(self) -> None:
        """Refuses more partitions than can be played."""
        refuse_many(sum(count or 0 for count in self.now.values()), "a play")

    def refuse_collisions(self) -> None:
        """Refuses two topics that Kafka's metrics would take for one."""
        for one, other, *_ in collisions(name for name, count in self.now.items() if count is not None):
            raise PartwrightError(
                f"topics {one!r} and {other!r} cannot stand side by side: Kafka's metrics write '.' as '_'"
            )

    def number_of(self, name: str) -> int:
        """A topic's number, in the order of the first mention."""
        return self._numbers[name]


class SelfAssigned:
    """Consumers that assign themselves partitions, and are not members.

    Attributes:
        spans: What they read: name, when from and to, partitions.
    """

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def names(self) -> list[str]:
        """Those that read something now."""
        return [name for name, _, to_ms, _ in self.spans if to_ms is None]

    def add(self, at_ms: int, name: str, partitions: tuple[tuple[str, int], ...]) -> None:
        """One reads these partitions from now on."""
        self.spans.append((name, at_ms, None, partitions))

    def end(self, at_ms: int, consumer: object, topic: str | None = None) -> bool:
        """One reads its partitions no more, or those of a topic; whether it did."""
        for place, (name, from_ms, to_ms, partitions) in enumerate(self.spans):
            kept = tuple(pair for pair in partitions if topic not in (None, pair[0]))
            if to_ms is None and name == consumer and kept != partitions:
                gone = tuple(pair for pair in partitions if pair not in kept)
                self.spans[place] = (name, from_ms, at_ms, gone)
                if kept:
                    self.spans.append((name, from_ms, None, kept))
                return True
        return False

    def refuse(self, name: str) -> None:
        """A consumer that has assigned itself partitions does nothing that members of a group do."""
        if name in self.names():
            raise PartwrightError(
                f"{name!r} has assigned itself partitions and cannot subscribe as well (Kafka's consumer "
                "throws IllegalStateException): let it leave, crash or assign itself others, or take another name"
            )


class ScriptMembers:
    """The members.

    Args:
        defaults: A member's settings, of which no event says anything.
        is_static: Whether a member's name is its `group.instance.id`.

    Attributes:
        configs: By name, what each that has joined is set to.
        numbers: By name, its number, in the order of the first mention.
        alive: By name, from when on it is there; in the future where it restarts.
        crashed: By name, when the coordinator misses it.
        subscribed: By name, the topics as the script has them.
        clients: Their clients, in the order of the first mention.
    """

    def __init__(self, defaults: MemberConfigs, *, is_static: bool) -> None:
        self._defaults, self._is_static = defaults, is_static
        self._ids: set[str] = set()
        self.configs: dict[str, MemberConfigs] = {}
        self.numbers: dict[str, int] = {}
        self.alive: dict[str, int] = {}
        self.crashed: dict[str, int] = {}
        self.subscribed: dict[str, object] = {}
        self.clients: dict[str, None] = {}

    def number_of(self, name: str) -> int:
        """A member's number."""
        return self.numbers.setdefault(name, len(self.numbers))

    def known(self, name: str) -> str:
        """One that was a member at some time."""
        if name not in self.configs:
            raise PartwrightError(f"{unknown(name, 'member', self.configs, 'the group')}")
        return name

    def alive_member(self, at_ms: int, name: str) -> str:
        """One that is there now."""
        self.known(name)
        if name not in self.alive:
            raise PartwrightError(f"{name!r} is not there at {at_ms} ms: let it join first")
        if self.alive[name] > at_ms:
            raise PartwrightError(f"{name!r} is down until {self.alive[name]} ms")
        return name

    def start(self, name: str, fields: Mapping[str, object]) -> MemberConfigs:
        """One joins, for the first time or again: its settings are those of before, but for what the event says."""
        known = self.configs.get(name, self._defaults)
        if self._is_static and name not in self.configs:
            fields = {"instance_id": name, **fields}
        configs = known.changed(fields)
        for member_id in configs.member_ids:
            if member_id in self._ids:
                raise PartwrightError(
                    f"member_id {member_id!r} was another's: Kafka draws each once, so take another one"
                )
            self._ids.add(member_id)
        self.configs[name] = configs
        self.crashed.pop(name, None)
        self.clients.setdefault(configs.client)
        return configs


@dataclass
class Story:
    """A group's life while its script is read.

    Attributes:
        protocol: classic or consumer.
        broker: How the coordinator is configured.
        topics: The topics.
        members: The members.
        draws: What draws times that are ranges or samples.
        down_ms: How long a restart takes by default: a time, a range or samples.
        poll_ms: How long members take from one poll to the next by default.
        polls_ms: By member, the same if its events say something else; None where `record_ms` decides.
        beside: Consumers that assign themselves partitions.
        leaderless: Partitions that have no leader for a time: topic, number, from when and to.
        actions: When, and what, by the numbers of members and topics, in the order of the events.
    """

    protocol: str
    broker: BrokerConfigs
    topics: ScriptTopics
    members: ScriptMembers
    draws: Draws
    down_ms: object
    poll_ms: object = None
    polls_ms: dict[str, object] = field(default_factory=dict)
    beside: SelfAssigned = field(default_factory=SelfAssigned)
    leaderless: list[tuple[str, int, int, int]] = field(default_factory=list)
    actions: list[tuple[int, dict[str, Any]]] = field(default_factory=list)


def counts_of(value: object, kind: str) -> list[tuple[str, int]]:
    """Numbers of partitions by topic, of an event."""
    if not isinstance(value, Mapping) or not value:
        raise PartwrightError(f'{kind} has numbers of partitions by topic, as {{"t": 4}}, not {shown(value)}')
    return [(name, whole(count, f"topic {name}", 1, MOST_INT)) for name, count in value.items()]


def name_of(value: object, what: str) -> str:
    """A name, which is text and not empty."""
    if not is_text(value) or not value:
        raise PartwrightError(f"{what} is named by text, not {shown(value)}")
    return value


def text_of(value: object) -> str:
    """A member's name, of an event."""
    if not is_text(value):
        raise PartwrightError(f"a member is named by text, not {shown(value)}")
    return value


def _checked(name: object) -> str:
    return check_topic(name_of(name, "a topic"))
