"""A script of a group's life as people write it, checked and put into what the core plays.

>>> script = read_script({"topics": {"t": 3}, "events": [{"at_ms": 0, "join": "c1"}, {"at_ms": 5000, "crash": "c1"}]})
>>> script.members, [at_ms for at_ms, _ in script.actions]
(('c1',), [0, 5000])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from partwright.cluster.parts import listed, meant, object_fields, shown, unknown
from partwright.cluster.topic_names import check_topic, collisions
from partwright.errors import PartwrightError
from partwright.group.configs import BrokerConfigs, MemberConfigs, read_configs
from partwright.group.coordinator import is_text
from partwright.group.short import expand
from partwright.numbers import MOST_INT, optional, whole

__all__ = ["PROTOCOLS", "Script", "read_script"]

PROTOCOLS = ("classic", "consumer")
_SCRIPT = (
    "protocol", "assignor", "topics", "config", "events", "static", "every_ms", "down_ms", "until_ms",
    "records_per_s", "poll_ms", "latency_ms",
)  # fmt: skip
_LATEST_MS = 31 * 24 * 3_600_000
"""A month: heartbeats come every few seconds, and each is played."""
_MOST_PARTITIONS = 1_000_000
"""Of all topics together: each has its own story."""
_MOST_RECORDS = 1e15
_MEMBER = ("topics", "instance_id", "member_id", "assignor", "config", "poll_ms")
_EVENTS: dict[str, tuple[str, ...]] = {
    "join": _MEMBER,
    "leave": ("operation",),
    "crash": (),
    "restart": (*_MEMBER, "down_ms"),
    "stall": ("for_ms",),
    "subscribe": ("topics",),
    "assign": ("partitions",),
    "add_partitions": (),
    "create_topic": (),
    "delete_topic": (),
    "move_coordinator": (),
    "commit": ("generation",),
}
_OPERATIONS = {"DEFAULT": None, "LEAVE_GROUP": True, "REMAIN_IN_GROUP": False}
_DOWN_MS = 5000
_LATENCY_MS = 10


@dataclass(frozen=True, slots=True)
class Script:
    """A script, as the core plays it.

    Attributes:
        protocol: classic or consumer.
        broker: How the coordinator is configured.
        topics: By name, how many partitions at first; None where the topic is made later.
        members: The members' names, in the order in which they are first named.
        actions: When, and what, by the numbers of members and topics.
        latency_ms: How long the answers of a rebalance are on their way.
        until_ms: Up to when it is played; None while anything moves.
        records_per_s: How many records a second come to each partition.
        assigned: What consumers read that assign themselves: name, when from and to, partitions.
        instances: By member, its `group.instance.id`.
        assignors: Those that members name, in the order of the first mention.
    """

    protocol: str
    broker: BrokerConfigs
    topics: dict[str, int | None]
    members: tuple[str, ...]
    actions: tuple[tuple[int, dict[str, Any]], ...]
    latency_ms: int
    until_ms: int | None
    records_per_s: float
    assigned: tuple[tuple[str, int, int | None, tuple[tuple[str, int], ...]], ...]
    instances: dict[str, str | None]
    assignors: tuple[str, ...]


def read_script(given: Mapping[str, Any]) -> Script:
    """A script, checked.

    Args:
        given: See `partwright.group.play`.

    Raises:
        PartwrightError: It is none; the sentence names the event by its number, from 1.
    """
    fields = object_fields(given, "a script", _SCRIPT, needs="events")
    return _Reader(fields).read()


class _Reader:
    """The script while it is read."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.protocol = given.get("protocol", "classic")
        if self.protocol not in PROTOCOLS:
            raise PartwrightError(
                f"a script's protocol is {' or '.join(PROTOCOLS)}, not {shown(self.protocol)}"
                f"{meant(self.protocol, PROTOCOLS)}"
            )
        self.broker, self.defaults = read_configs(given.get("config"), given.get("assignor"), self.protocol)
        self.defaults = self.defaults.changed(
            "a script", {name: given[name] for name in ("poll_ms",) if name in given}
        )
        self.static = given.get("static", False)
        if not isinstance(self.static, bool):
            raise PartwrightError(f"static is true or false, not {shown(self.static)}")
        topics = given.get("topics")
        topics = {} if topics is None else topics
        if not isinstance(topics, Mapping):
            raise PartwrightError(
                f'topics are numbers of partitions by name, as {{"t": 4}}, not {shown(topics)}'
            )
        self.topics: dict[str, int | None] = {
            _topic(name): whole(count, f"the number of partitions of topic {name}", 1, MOST_INT)
            for name, count in topics.items()
        }
        if not self.topics:
            raise PartwrightError(
                "a script has no topics: name one at least, with how many partitions it has"
            )
        self.counts: dict[str, int | None] = dict(self.topics)
        self.check_counts()
        self.check_collisions()
        self.members: dict[str, MemberConfigs] = {}
        self.numbers: dict[str, int] = {}
        self.deleted: set[str] = set()
        self.subscribed: dict[str, list[str]] = {}
        self.alive: dict[str, int] = {}
        self.crashed: dict[str, int] = {}
        self.ids: set[str] = set()
        self.before = 0
        self.instances: dict[str, str | None] = {}
        self.actions: list[tuple[int, int, dict[str, Any]]] = []
        self.assigned: list[tuple[str, int, int | None, tuple[tuple[str, int], ...]]] = []
        self.assignors: dict[str, None] = {}

    def read(self) -> Script:
        events = self.given["events"]
        every_ms = whole(self.given.get("every_ms", 60_000), "every_ms", 0, _LATEST_MS)
        down_ms = whole(self.given.get("down_ms", _DOWN_MS), "down_ms", 0, _LATEST_MS)
        if isinstance(events, str):
            events = expand(events, every_ms=every_ms, down_ms=down_ms)
        if isinstance(events, int):
            # YAML takes +2 for a number.
            raise PartwrightError(
                f'events are a list, or a short form in quotes, "+2, roll" say, not {shown(events)}'
            )
        events = listed(events, "events")
        until_ms = optional(self.given.get("until_ms"), "until_ms", 0, _LATEST_MS)
        self.make_topics(events)
        for number, event in enumerate(events, 1):
            where = f"event {number}"
            at_ms = self.event(where, event)
            if until_ms is not None and at_ms > until_ms:
                raise PartwrightError(
                    f"{where} is at {at_ms} ms, and until_ms is {until_ms}: play for longer"
                )
        if not self.members and not self.assigned:
            raise PartwrightError("a script has no members: let somebody join")
        self.actions.sort(key=lambda action: (action[0], action[1]))
        rate = self.given.get("records_per_s", 0)
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= _MOST_RECORDS:
            raise PartwrightError(f"records_per_s is a number from 0 to {_MOST_RECORDS:g}, not {shown(rate)}")
        return Script(
            self.protocol,
            self.broker,
            self.topics,
            tuple(self.members),
            tuple((at_ms, action) for at_ms, _, action in self.actions),
            whole(self.given.get("latency_ms", _LATENCY_MS), "latency_ms", 0, _LATEST_MS),
            until_ms,
            float(rate),
            tuple(self.assigned),
            self.instances,
            tuple(self.assignors),
        )

    def make_topics(self, events: Sequence[Any]) -> None:
        """Topics that are made later have their places from the first."""
        for number, event in enumerate(events, 1):
            made = event.get("create_topic") if isinstance(event, Mapping) else None
            for name in made if isinstance(made, Mapping) else ():
                self.topics.setdefault(_topic(name, f"event {number}: "), None)
                self.counts.setdefault(name, None)

    def event(self, where: str, event: object) -> int:
        if not isinstance(event, Mapping):
            raise PartwrightError(f"{where} is an object with at_ms, not {shown(event)}")
        kinds = [kind for kind in event if kind in _EVENTS]
        if len(kinds) != 1:
            strange = next((name for name in event if name not in _EVENTS and name not in _ALL_FIELDS), None)
            if strange is not None:
                raise PartwrightError(f"{where}: {unknown(strange, 'event', _EVENTS, 'a script')}")
            told = "says nothing" if not kinds else f"says {' and '.join(kinds)} at once"
            raise PartwrightError(f"{where} {told}: one of {', '.join(_EVENTS)}")
        kind = kinds[0]
        fields = object_fields(event, where, ("at_ms", kind, *_EVENTS[kind]), needs="at_ms")
        at_ms = whole(fields["at_ms"], f"{where}: at_ms", 0, _LATEST_MS)
        if at_ms < self.before:
            raise PartwrightError(f"{where}: time runs backwards, from {self.before} to {at_ms} ms")
        self.before = at_ms
        getattr(self, f"_{kind}")(where, at_ms, fields)
        return at_ms

    def act(self, at_ms: int, action: dict[str, Any]) -> None:
        self.actions.append((at_ms, len(self.actions), action))

    def place(self, member: str) -> int:
        return self.numbers.setdefault(member, len(self.numbers))

    def member(self, where: str, fields: Mapping[str, Any], kind: str) -> str:
        """A member that is there, of an event."""
        name = fields[kind]
        if not is_text(name):
            raise PartwrightError(f"{where}: a member is named by text, not {shown(name)}")
        self.refuse_both(where, name)
        if name not in self.members:
            raise PartwrightError(f"{where}: {unknown(name, 'member', self.members, 'the group')}")
        if name not in self.alive:
            raise PartwrightError(
                f"{where}: {name!r} is not there at {fields['at_ms']} ms: let it join first"
            )
        if self.alive[name] > fields["at_ms"]:
            raise PartwrightError(f"{where}: {name!r} is down until {self.alive[name]} ms")
        return name

    def places(self, where: str, topics: object) -> list[int]:
        names = [topics] if isinstance(topics, str) else listed(topics, f"{where}: topics")
        if not names:
            raise PartwrightError(
                f"{where}: topics are none: whoever subscribes to nothing is no member, so let it leave"
            )
        for name in names:
            # A consumer may wait for a topic that nobody has made yet.
            self.topics.setdefault(_topic(name, f"{where}: "), None)
            self.counts.setdefault(name, None)
        return [list(self.topics).index(name) for name in dict.fromkeys(names)]

    def start(self, where: str, at_ms: int, name: str, fields: Mapping[str, Any]) -> None:
        known = self.members.get(name, self.defaults)
        if self.static and name not in self.members:
            fields = {"instance_id": name, **fields}
        configs = known.changed(where, fields)
        if configs.member_id is not None and configs.member_id in self.ids:
            raise PartwrightError(
                f"{where}: member_id {configs.member_id!r} was another's: Kafka draws each once, so take another one"
            )
        if configs.member_id is not None:
            self.ids.add(configs.member_id)
        self.members[name] = configs
        self.crashed.pop(name, None)
        self.instances[name] = configs.instance_id
        for assignor in configs.assignors:
            self.assignors.setdefault(assignor)
        topics = fields.get("topics", self.subscribed.get(name, list(self.given.get("topics") or ())))
        self.subscribed[name] = topics
        places = self.places(where, topics)
        self.alive[name] = at_ms
        self.act(at_ms, {"join": (self.place(name), configs.for_core(), places)})

    def _join(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        name = _name(fields["join"], f"{where}: a member")
        if name in self.alive:
            raise PartwrightError(f"{where}: {name!r} is there already: let it leave, crash or restart")
        self.refuse_both(where, name)
        self.start(where, at_ms, name, fields)

    def refuse_both(self, where: str, given: str) -> None:
        """A consumer that has assigned itself partitions does nothing that members of a group do."""
        if any(name == given and to_ms is None for name, _, to_ms, _ in self.assigned):
            raise PartwrightError(
                f"{where}: {given!r} has assigned itself partitions and cannot subscribe as well (Kafka's consumer "
                "throws IllegalStateException): let it leave, crash or assign itself others, or take another name"
            )

    def unassign(self, at_ms: int, given: object, topic: str | None = None) -> bool:
        """A consumer that has assigned itself partitions reads them no more, or those of a topic; whether it did."""
        for place, (name, from_ms, to_ms, partitions) in enumerate(self.assigned):
            kept = tuple(pair for pair in partitions if topic not in (None, pair[0]))
            if to_ms is None and name == given and kept != partitions:
                gone = tuple(pair for pair in partitions if pair not in kept)
                self.assigned[place] = (name, from_ms, at_ms, gone)
                if kept:
                    self.assigned.append((name, from_ms, None, kept))
                self.act(at_ms, {"beside": True})
                return True
        return False

    def _leave(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        operation = fields.get("operation", "DEFAULT")
        if not isinstance(operation, str) or operation not in _OPERATIONS:
            raise PartwrightError(
                f"{where}: operation is {', '.join(_OPERATIONS)}, not {shown(operation)}{meant(operation, _OPERATIONS)}"
            )
        if self.unassign(at_ms, fields["leave"]):
            return
        name = self.member(where, fields, "leave")
        del self.alive[name]
        self.act(at_ms, {"leave": (self.place(name), _OPERATIONS[operation])})

    def _crash(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        if self.unassign(at_ms, fields["crash"]):
            return
        name = self.member(where, fields, "crash")
        del self.alive[name]
        session_ms = self.members[name].session_timeout_ms
        if self.protocol == "consumer":
            session_ms = self.broker.consumer["session_timeout_ms"]
        self.crashed[name] = at_ms + session_ms
        self.act(at_ms, {"crash": self.place(name)})

    def _restart(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        name = self.member(where, fields, "restart")
        down_ms = whole(
            fields.get("down_ms", self.given.get("down_ms", _DOWN_MS)), f"{where}: down_ms", 0, _LATEST_MS
        )
        self.act(at_ms, {"leave": (self.place(name), None)})
        self.start(where, at_ms + down_ms, name, fields)

    def _stall(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        name = self.member(where, fields, "stall")
        if "for_ms" not in fields:
            raise PartwrightError(f"{where} has no for_ms: say for how long {name!r} does not poll")
        for_ms = whole(fields["for_ms"], f"{where}: for_ms", 1, _LATEST_MS)
        self.act(at_ms, {"stall": (self.place(name), for_ms)})

    def _subscribe(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        name = self.member(where, fields, "subscribe")
        if "topics" not in fields:
            raise PartwrightError(f"{where} has no topics: say what {name!r} subscribes to")
        self.subscribed[name] = fields["topics"]
        self.act(at_ms, {"subscribe": (self.place(name), self.places(where, fields["topics"]))})

    def _assign(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        name = _name(fields["assign"], f"{where}: a consumer")
        if name in self.alive:
            raise PartwrightError(
                f"{where}: {name!r} has subscribed and cannot assign itself partitions as well (Kafka's consumer "
                "throws IllegalStateException): take another name"
            )
        pairs = []
        for pair in listed(fields.get("partitions") or (), f"{where}: partitions"):
            if not isinstance(pair, (list, tuple)) or len(pair) != len(("topic", "partition")):
                raise PartwrightError(
                    f"{where}: partitions are pairs of a topic and a number, not {shown(pair)}"
                )
            topic, partition = _name(pair[0], f"{where}: a topic"), pair[1]
            if self.counts.get(topic) is None:
                raise PartwrightError(f"{where}: {self.missing(topic)}")
            pairs.append(
                (
                    topic,
                    whole(partition, f"{where}: a partition of {topic}", 0, (self.counts[topic] or 1) - 1),
                )
            )
        if not pairs:
            raise PartwrightError(f"{where} has no partitions: say what {name!r} reads")
        pairs = list(dict.fromkeys(pairs))
        # What it assigns itself replaces what it had.
        self.unassign(at_ms, name)
        self.assigned.append((name, at_ms, None, tuple(pairs)))
        self.act(at_ms, {"beside": True})

    def _add_partitions(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        for name, more in self._topic_counts(where, fields["add_partitions"], "add_partitions"):
            there = self.counts.get(name)
            if there is None:
                raise PartwrightError(f"{where}: {self.missing(name)}")
            self.topic(where, at_ms, name, whole(there + more, f"{where}: topic {name}", 1, MOST_INT))

    def _create_topic(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        for name, count in self._topic_counts(where, fields["create_topic"], "create_topic"):
            if self.counts.get(name) is not None:
                raise PartwrightError(
                    f"{where}: there is a topic {name!r} already: say add_partitions, or take another name"
                )
            if name in self.deleted:
                raise PartwrightError(
                    f"{where}: {name!r} was deleted, and to Kafka a topic that takes its name is another one: "
                    "take another name"
                )
            self.topic(where, at_ms, name, count)
        self.check_collisions(f"{where}: ")

    def _delete_topic(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        name = fields["delete_topic"]
        if not isinstance(name, str) or self.counts.get(name) is None:
            raise PartwrightError(f"{where}: {self.missing(name)}")
        self.topic(where, at_ms, name, None)
        self.deleted.add(name)
        for consumer in [other for other, _, to_ms, _ in self.assigned if to_ms is None]:
            self.unassign(at_ms, consumer, name)

    def missing(self, name: object) -> str:
        """Why there is no such topic."""
        if isinstance(name, str) and name in self.deleted:
            return f"topic {name!r} was deleted before"
        there = [topic for topic, count in self.counts.items() if count is not None]
        return str(unknown(name, "topic", there))

    def _topic_counts(self, where: str, given: object, kind: str) -> list[tuple[str, int]]:
        if not isinstance(given, Mapping) or not given:
            raise PartwrightError(
                f'{where}: {kind} has numbers of partitions by topic, as {{"t": 4}}, not {shown(given)}'
            )
        return [(name, whole(count, f"{where}: topic {name}", 1, MOST_INT)) for name, count in given.items()]

    def check_counts(self, where: str = "") -> None:
        many = sum(count or 0 for count in self.counts.values())
        if many > _MOST_PARTITIONS:
            raise PartwrightError(
                f"{where}the topics have {many} partitions together, and a play takes {_MOST_PARTITIONS}"
            )

    def check_collisions(self, where: str = "") -> None:
        for one, other, *_ in collisions(name for name, count in self.counts.items() if count is not None):
            raise PartwrightError(
                f"{where}topics {one!r} and {other!r} cannot stand side by side: Kafka's metrics write '.' as '_'"
            )

    def topic(self, where: str, at_ms: int, name: str, count: int | None) -> None:
        self.counts[name] = count
        self.check_counts(f"{where}: ")
        self.act(at_ms, {"topic": (list(self.topics).index(name), count)})

    def _move_coordinator(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        if fields["move_coordinator"] is not True:
            raise PartwrightError(
                f"{where}: move_coordinator is true, not {shown(fields['move_coordinator'])}"
            )
        self.act(at_ms, {"move": True})

    def _commit(self, where: str, at_ms: int, fields: Mapping[str, Any]) -> None:
        name = _name(fields["commit"], f"{where}: a member")
        self.refuse_both(where, name)
        if name not in self.members:
            raise PartwrightError(f"{where}: {unknown(name, 'member', self.members, 'the group')}")
        if at_ms < self.crashed.get(name, 0):
            raise PartwrightError(
                f"{where}: {name!r} has crashed, and whoever commits is there: let it stall until the group misses it"
            )
        generation = optional(fields.get("generation"), f"{where}: generation", -1, MOST_INT)
        self.act(at_ms, {"commit": (self.place(name), generation)})


_ALL_FIELDS = {"at_ms", *(field for fields in _EVENTS.values() for field in fields)}


def _topic(given: object, where: str = "") -> str:
    try:
        return check_topic(_name(given, "a topic"))
    except PartwrightError as error:
        raise PartwrightError(f"{where}{error}") from None


def _name(given: object, what: str) -> str:
    if not is_text(given) or not given:
        raise PartwrightError(f"{what} is named by text, not {shown(given)}")
    return given
