"""What each event of a script does to the group, a function per event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from partwright._check import MOST_INT, listed, meant, optional, shown, whole
from partwright.errors import PartwrightError
from partwright.group.durations import LATEST_MS
from partwright.group.member_client import has_close_options
from partwright.group.script_state import counts_of, name_of, text_of

if TYPE_CHECKING:
    from partwright.group.script_state import Story

ELECTION_MS = 9_300
"""How long a killed broker's partitions have no leader, as measured (docs/group.md): Kafka waits for
`broker.session.timeout.ms`, 9 s by default, before it elects others."""
_OPERATIONS = {"DEFAULT": None, "LEAVE_GROUP": True, "REMAIN_IN_GROUP": False}


class Event(NamedTuple):
    """One event of a script.

    Attributes:
        at_ms: When it is.
        kind: Its kind, one of `EVENTS`.
        fields: Its fields.
    """

    at_ms: int
    kind: str
    fields: Mapping[str, object]

    @property
    def subject(self) -> Any:
        """The value of its kind, such as a member's name."""
        return self.fields[self.kind]


def _join(story: Story, event: Event) -> None:
    name = name_of(event.subject, "a member")
    if name in story.members.alive:
        raise PartwrightError(f"{name!r} is there already: let it leave, crash or restart")
    story.beside.refuse(name)
    _start(story, event, name, event.at_ms)


def _start(story: Story, event: Event, name: str, at_ms: int) -> None:
    members = story.members
    configs = members.start(name, _with_poll(story, event, name))
    topics = event.fields.get("topics", members.subscribed.get(name, story.topics.initial_names))
    members.subscribed[name] = topics
    numbers = story.topics.numbers_of(topics)
    members.alive[name] = at_ms
    story.actions.append((at_ms, {"join": (members.number_of(name), configs.for_core(), numbers)}))


def _with_poll(story: Story, event: Event, name: str) -> Mapping[str, object]:
    """The event's fields, with a time between polls that is drawn anew at each start of a member."""
    fields = event.fields
    if "poll_ms" in fields or "record_ms" in fields:
        story.polls_ms[name] = fields.get("poll_ms")
    poll_ms = story.polls_ms.get(name, story.poll_ms)
    if not isinstance(poll_ms, Mapping):
        return fields
    return {**fields, "poll_ms": story.draws.time_ms(poll_ms, "poll_ms")}


def _member(story: Story, event: Event) -> str:
    """The event's member, which must exist."""
    name = text_of(event.subject)
    story.beside.refuse(name)
    return story.members.alive_member(event.at_ms, name)


def _leave(story: Story, event: Event) -> None:
    operation = event.fields.get("operation", "DEFAULT")
    if not isinstance(operation, str) or operation not in _OPERATIONS:
        raise PartwrightError(
            f"operation is {', '.join(_OPERATIONS)}, not {shown(operation)}{meant(operation, _OPERATIONS)}"
        )
    if _unassign(story, event.at_ms, event.subject):
        return
    name = _member(story, event)
    client = story.members.configs[name].client
    if operation != "DEFAULT" and not has_close_options(client):
        raise PartwrightError(
            f"{client} cannot be told to close by {operation}, which Java's consumers can as of 4.1: "
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
    down_ms = story.draws.time_ms(event.fields.get("down_ms", story.down_ms), "down_ms")
    story.actions.append((event.at_ms, {"leave": (story.members.number_of(name), None)}))
    _start(story, event, name, event.at_ms + down_ms)


def _stall(story: Story, event: Event) -> None:
    name = _member(story, event)
    if "for_ms" not in event.fields:
        raise PartwrightError(f"a stall has no for_ms: say for how long {name!r} does not poll")
    for_ms = whole(event.fields["for_ms"], "for_ms", 1, LATEST_MS)
    story.actions.append((event.at_ms, {"stall": (story.members.number_of(name), for_ms)}))


def _subscribe(story: Story, event: Event) -> None:
    name = _member(story, event)
    if "topics" not in event.fields:
        raise PartwrightError(f"subscribe has no topics: say what {name!r} subscribes to")
    topics = event.fields["topics"]
    story.members.subscribed[name] = topics
    numbers = story.topics.numbers_of(topics)
    story.actions.append((event.at_ms, {"subscribe": (story.members.number_of(name), numbers)}))


def _commit(story: Story, event: Event) -> None:
    members = story.members
    name = name_of(event.subject, "a member")
    story.beside.refuse(name)
    members.known(name)
    if event.at_ms < members.crashed.get(name, 0):
        raise PartwrightError(
            f"{name!r} has crashed, and only a running consumer can commit: let it stall until the group misses it"
        )
    generation = optional(event.fields.get("generation"), "generation", -1, MOST_INT)
    story.actions.append((event.at_ms, {"commit": (members.number_of(name), generation)}))


def _assign(story: Story, event: Event) -> None:
    name = name_of(event.subject, "a consumer")
    if name in story.members.alive:
        raise PartwrightError(
            f"{name!r} has subscribed and cannot assign itself partitions as well (Kafka's consumer "
            "throws IllegalStateException): take another name"
        )
    pairs = [_pair(story, pair) for pair in listed(event.fields.get("partitions") or (), "partitions")]
    if not pairs:
        raise PartwrightError(f"assign has no partitions: say what {name!r} reads")
    # Partitions that it assigns itself replace its earlier ones.
    _unassign(story, event.at_ms, name)
    story.beside.add(event.at_ms, name, tuple(dict.fromkeys(pairs)))
    story.actions.append((event.at_ms, {"beside": True}))


def _pair(story: Story, pair: object) -> tuple[str, int]:
    if not isinstance(pair, (list, tuple)) or len(pair) != len(("topic", "partition")):
        raise PartwrightError(f"partitions are pairs of a topic and a number, not {shown(pair)}")
    topic = name_of(pair[0], "a topic")
    count = story.topics.count_of(topic)
    return topic, whole(pair[1], f"a partition of {topic}", 0, count - 1)


def _unassign(story: Story, at_ms: int, consumer: object, topic: str | None = None) -> bool:
    """A consumer that assigned itself partitions stops reading them, or those of a topic; returns whether it did."""
    has_ended = story.beside.end(at_ms, consumer, topic)
    if has_ended:
        story.actions.append((at_ms, {"beside": True}))
    return has_ended


def _add_partitions(story: Story, event: Event) -> None:
    for name, more in counts_of(event.subject, event.kind):
        count = story.topics.count_of(name) + more
        _change(story, event, name, whole(count, f"topic {name}", 1, MOST_INT))


def _create_topic(story: Story, event: Event) -> None:
    topics = story.topics
    for name, count in counts_of(event.subject, event.kind):
        if topics.now.get(name) is not None:
            raise PartwrightError(
                f"there is a topic {name!r} already: say add_partitions, or take another name"
            )
        if name in topics.deleted:
            raise PartwrightError(
                f"{name!r} was deleted, and to Kafka a topic that takes its name is another one: take another name"
            )
        _change(story, event, name, count)
    topics.refuse_collisions()


def _delete_topic(story: Story, event: Event) -> None:
    name = event.subject
    story.topics.count_of(name)
    _change(story, event, name, None)
    story.topics.deleted.add(name)
    for consumer in story.beside.names():
        _unassign(story, event.at_ms, consumer, name)


def _change(story: Story, event: Event, name: str, count: int | None) -> None:
    story.actions.append((event.at_ms, {"topic": story.topics.change(name, count)}))


def _move_coordinator(story: Story, event: Event) -> None:
    if event.subject is not True:
        raise PartwrightError(f"move_coordinator is true, not {shown(event.subject)}")
    story.actions.append((event.at_ms, {"move": True}))


def _broker(story: Story, event: Event) -> None:
    at_ms = event.at_ms
    coordinates = event.fields.get("coordinates", False)
    if not isinstance(coordinates, bool):
        raise PartwrightError(f"coordinates is true or false, not {shown(coordinates)}")
    until_ms = at_ms + story.draws.time_ms(event.fields.get("election_ms", ELECTION_MS), "election_ms")
    if not isinstance(event.subject, Mapping) or not event.subject:
        raise PartwrightError(
            'broker has the partitions that it leads, by topic, as {"t": [0, 3]}, '
            f"not {shown(event.subject)}"
        )
    partitions = [
        _pair(story, (topic, number))
        for topic, numbers in event.subject.items()
        for number in listed(numbers, f"partitions of {topic}")
    ]
    for topic, number, _, before_ms in story.leaderless:
        if (topic, number) in partitions and before_ms > at_ms:
            raise PartwrightError(f"{topic}-{number} has no leader until {before_ms} ms: let it go later")
    partitions = list(dict.fromkeys(partitions))
    story.leaderless += [(topic, number, at_ms, until_ms) for topic, number in partitions]
    places = [(story.topics.number_of(topic), number) for topic, number in partitions]
    story.actions += [(at_ms, {"leaders": (places, False)}), (until_ms, {"leaders": (places, True)})]
    if coordinates:
        story.actions.append((until_ms, {"move": True}))


_MEMBER = (
    "topics", "instance_id", "member_id", "client", "assignor", "config", "poll_ms", "record_ms", "poll_timeout_ms",
    "listener",
)  # fmt: skip
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
