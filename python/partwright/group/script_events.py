"""What each event of a script does to the group, a function per event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from partwright._check import MOST_INT, listed, meant, optional, shown, whole
from partwright.errors import PartwrightError
from partwright.group.member_client import has_close_options
from partwright.group.script_members import ScriptMembers, SelfAssigned, text_of
from partwright.group.script_times import LATEST_MS, Draws
from partwright.group.script_topics import ScriptTopics, counts_of, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.group.configs import BrokerConfigs

__all__ = ["ELECTION_MS", "EVENTS", "Event", "Story"]

ELECTION_MS = 9_300
"""How long a killed broker's partitions have no leader, as measured (docs/group.md): Kafka waits for
`broker.session.timeout.ms`, 9 s by default, before it elects others."""
_OPERATIONS = {"DEFAULT": None, "LEAVE_GROUP": True, "REMAIN_IN_GROUP": False}


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


class Event(NamedTuple):
    """One event of a script.

    Attributes:
        where: Its name in errors.
        at_ms: When it is.
        kind: Its kind, one of `EVENTS`.
        fields: Its fields.
    """

    where: str
    at_ms: int
    kind: str
    fields: Mapping[str, object]

    @property
    def subject(self) -> Any:
        """The value of its kind, such as a member's name."""
        return self.fields[self.kind]


def _join(story: Story, event: Event) -> None:
    name = name_of(event.subject, f"{event.where}: a member")
    if name in story.members.alive:
        raise PartwrightError(f"{event.where}: {name!r} is there already: let it leave, crash or restart")
    story.beside.refuse(event.where, name)
    _start(story, event, name, event.at_ms)


def _start(story: Story, event: Event, name: str, at_ms: int) -> None:
    members = story.members
    configs = members.start(event.where, name, _with_poll(story, event, name))
    topics = event.fields.get("topics", members.subscribed.get(name, story.topics.given))
    members.subscribed[name] = topics
    numbers = story.topics.numbers_of(event.where, topics)
    members.alive[name] = at_ms
    story.actions.append((at_ms, {"join": (members.number_of(name), configs.for_core(), numbers)}))


def _with_poll(story: Story, event: Event, name: str) -> Mapping[str, object]:
    """The event's fields, with a time between polls that is drawn anew at each start of a member."""
    fields = event.fields
    if "poll_ms" in fields or "record_ms" in fields:
        story.polls_ms[name] = fields.get("poll_ms")
    given = story.polls_ms.get(name, story.poll_ms)
    if not isinstance(given, Mapping):
        return fields
    return {**fields, "poll_ms": story.draws.time_ms(given, "poll_ms", f"{event.where}: ")}


def _member(story: Story, event: Event) -> str:
    """The event's member, which must exist."""
    name = text_of(event.where, event.subject)
    story.beside.refuse(event.where, name)
    return story.members.alive_member(event.where, event.at_ms, name)


def _leave(story: Story, event: Event) -> None:
    operation = event.fields.get("operation", "DEFAULT")
    if not isinstance(operation, str) or operation not in _OPERATIONS:
        raise PartwrightError(
            f"{event.where}: operation is {', '.join(_OPERATIONS)}, not {shown(operation)}"
            f"{meant(operation, _OPERATIONS)}"
        )
    if _unassign(story, event.at_ms, event.subject):
        return
    name = _member(story, event)
    client = story.members.configs[name].client
    if operation != "DEFAULT" and not has_close_options(client):
        raise PartwrightError(
            f"{event.where}: {client} cannot be told to close by {operation}, which Java's consumers can as of 4.1: "
            "leave operation out, or take another client",
            value=operation,
        )
    del story.members.alive[name]
    story.actions.append((event.at_ms, {"leave": (story.members.number_of(name), _OPERATIONS[operation])}))


def _crash(story: Story, event: Event) -> None:
    if _unassign(story, event.at_ms, event.subject):
        return
    name = _member(story, event)
    del story.members.alive[name]
    session_ms = story.members.configs[name].session_timeout_ms
    if story.protocol == "consumer":
        session_ms = story.broker.consumer["session_timeout_ms"]
    story.members.crashed[name] = event.at_ms + session_ms
    story.actions.append((event.at_ms, {"crash": story.members.number_of(name)}))


def _restart(story: Story, event: Event) -> None:
    name = _member(story, event)
    down_ms = story.draws.time_ms(event.fields.get("down_ms", story.down_ms), "down_ms", f"{event.where}: ")
    story.actions.append((event.at_ms, {"leave": (story.members.number_of(name), None)}))
    _start(story, event, name, event.at_ms + down_ms)


def _stall(story: Story, event: Event) -> None:
    name = _member(story, event)
    if "for_ms" not in event.fields:
        raise PartwrightError(f"{event.where} has no for_ms: say for how long {name!r} does not poll")
    for_ms = whole(event.fields["for_ms"], "for_ms", 1, LATEST_MS, where=f"{event.where}: ")
    story.actions.append((event.at_ms, {"stall": (story.members.number_of(name), for_ms)}))


def _subscribe(story: Story, event: Event) -> None:
    name = _member(story, event)
    if "topics" not in event.fields:
        raise PartwrightError(f"{event.where} has no topics: say what {name!r} subscribes to")
    topics = event.fields["topics"]
    story.members.subscribed[name] = topics
    numbers = story.topics.numbers_of(event.where, topics)
    story.actions.append((event.at_ms, {"subscribe": (story.members.number_of(name), numbers)}))


def _commit(story: Story, event: Event) -> None:
    where, members = event.where, story.members
    name = name_of(event.subject, f"{where}: a member")
    story.beside.refuse(where, name)
    members.known(where, name)
    if event.at_ms < members.crashed.get(name, 0):
        raise PartwrightError(
            f"{where}: {name!r} has crashed, and only a running consumer can commit: let it stall until the group "
            "misses it"
        )
    generation = optional(event.fields.get("generation"), "generation", -1, MOST_INT, where=f"{where}: ")
    story.actions.append((event.at_ms, {"commit": (members.number_of(name), generation)}))


def _assign(story: Story, event: Event) -> None:
    name = name_of(event.subject, f"{event.where}: a consumer")
    if name in story.members.alive:
        raise PartwrightError(
            f"{event.where}: {name!r} has subscribed and cannot assign itself partitions as well (Kafka's consumer "
            "throws IllegalStateException): take another name"
        )
    pairs = [
        _pair(story, event.where, pair)
        for pair in listed(event.fields.get("partitions") or (), f"{event.where}: partitions")
    ]
    if not pairs:
        raise PartwrightError(f"{event.where} has no partitions: say what {name!r} reads")
    # Partitions that it assigns itself replace its earlier ones.
    _unassign(story, event.at_ms, name)
    story.beside.add(event.at_ms, name, tuple(dict.fromkeys(pairs)))
    story.actions.append((event.at_ms, {"beside": True}))


def _pair(story: Story, where: str, pair: object) -> tuple[str, int]:
    if not isinstance(pair, (list, tuple)) or len(pair) != len(("topic", "partition")):
        raise PartwrightError(f"{where}: partitions are pairs of a topic and a number, not {shown(pair)}")
    topic = name_of(pair[0], f"{where}: a topic")
    count = story.topics.count_of(where, topic)
    return topic, whole(pair[1], f"a partition of {topic}", 0, count - 1, where=f"{where}: ")


def _unassign(story: Story, at_ms: int, given: object, topic: str | None = None) -> bool:
    """A consumer that assigned itself partitions stops reading them, or those of a topic; returns whether it did."""
    has_ended = story.beside.end(at_ms, given, topic)
    if has_ended:
        story.actions.append((at_ms, {"beside": True}))
    return has_ended


def _add_partitions(story: Story, event: Event) -> None:
    for name, more in counts_of(event.where, event.subject, event.kind):
        count = story.topics.count_of(event.where, name) + more
        _change(story, event, name, whole(count, f"topic {name}", 1, MOST_INT, where=f"{event.where}: "))


def _create_topic(story: Story, event: Event) -> None:
    topics, where = story.topics, event.where
    for name, count in counts_of(where, event.subject, event.kind):
        if topics.now.get(name) is not None:
            raise PartwrightError(
                f"{where}: there is a topic {name!r} already: say add_partitions, or take another name"
            )
        if name in topics.deleted:
            raise PartwrightError(
                f"{where}: {name!r} was deleted, and to Kafka a topic that takes its name is another one: "
                "take another name"
            )
        _change(story, event, name, count)
    topics.refuse_collisions(f"{where}: ")


def _delete_topic(story: Story, event: Event) -> None:
    name = event.subject
    story.topics.count_of(event.where, name)
    _change(story, event, name, None)
    story.topics.deleted.add(name)
    for consumer in story.beside.names():
        _unassign(story, event.at_ms, consumer, name)


def _change(story: Story, event: Event, name: str, count: int | None) -> None:
    story.actions.append((event.at_ms, {"topic": story.topics.change(event.where, name, count)}))


def _move_coordinator(story: Story, event: Event) -> None:
    if event.subject is not True:
        raise PartwrightError(f"{event.where}: move_coordinator is true, not {shown(event.subject)}")
    story.actions.append((event.at_ms, {"move": True}))


def _broker(story: Story, event: Event) -> None:
    where, at_ms = event.where, event.at_ms
    coordinates = event.fields.get("coordinates", False)
    if not isinstance(coordinates, bool):
        raise PartwrightError(f"{where}: coordinates is true or false, not {shown(coordinates)}")
    until_ms = at_ms + story.draws.time_ms(
        event.fields.get("election_ms", ELECTION_MS), "election_ms", f"{where}: "
    )
    if not isinstance(event.subject, Mapping) or not event.subject:
        raise PartwrightError(
            f'{where}: broker has the partitions that it leads, by topic, as {{"t": [0, 3]}}, '
            f"not {shown(event.subject)}"
        )
    led = [
        _pair(story, where, (topic, number))
        for topic, numbers in event.subject.items()
        for number in listed(numbers, f"{where}: partitions of {topic}")
    ]
    for topic, number, _, before_ms in story.leaderless:
        if (topic, number) in led and before_ms > at_ms:
            raise PartwrightError(
                f"{where}: {topic}-{number} has no leader until {before_ms} ms: let it go later"
            )
    led = list(dict.fromkeys(led))
    story.leaderless += [(topic, number, at_ms, until_ms) for topic, number in led]
    places = [(story.topics.number_of(topic), number) for topic, number in led]
    story.actions += [(at_ms, {"leaders": (places, False)}), (until_ms, {"leaders": (places, True)})]
    if coordinates:
        story.actions.append((until_ms, {"move": True}))


_MEMBER = (
    "topics",
    "instance_id",
    "member_id",
    "client",
    "assignor",
    "config",
    "poll_ms",
    "record_ms",
    "poll_timeout_ms",
    "listener",
)
# By kind, an event's further fields, and what it does.
EVENTS: dict[str, tuple[tuple[str, ...], Callable[[Story, Event], None]]] = {
    "join": (_MEMBER, _join),
    "leave": (("operation",), _leave),
    "crash": ((), _crash),
    "restart": ((*_MEMBER, "down_ms"), _restart),
    "stall": (("for_ms",), _stall),
    "subscribe": (("topics",), _subscribe),
    "assign": (("partitions",), _assign),
    "add_partitions": ((), _add_partitions),
    "create_topic": ((), _create_topic),
    "delete_topic": ((), _delete_topic),
    "move_coordinator": ((), _move_coordinator),
    "broker": (("election_ms", "coordinates"), _broker),
    "commit": (("generation",), _commit),
}
