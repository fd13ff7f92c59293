"""Check a script of a group's life as people write it, and convert it to what the core plays.

>>> script = read_script({"topics": {"t": 3}, "events": [{"at_ms": 0, "join": "c1"}, {"at_ms": 5000, "crash": "c1"}]})
>>> script.members, [at_ms for at_ms, _ in script.actions]
(('c1',), [0, 5000])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from partwright._check import Fields, listed, meant, object_fields, optional, shown, unknown, whole
from partwright.errors import PartwrightError
from partwright.group.configs import BrokerConfigs, read_configs
from partwright.group.durations import LATEST_MS, Draws
from partwright.group.script_events import EVENTS, Event
from partwright.group.script_state import ScriptMembers, ScriptTopics, Story
from partwright.group.short_form import expand

PROTOCOLS = ("classic", "consumer")
_SCRIPT = (
    "protocol", "assignor", "client", "topics", "config", "events", "static", "every_ms", "down_ms", "until_ms",
    "records_per_s", "poll_ms", "record_ms", "poll_timeout_ms", "listener", "latency_ms", "idle_topics", "seed",
)  # fmt: skip
_OF_MEMBERS = ("poll_ms", "record_ms", "poll_timeout_ms", "listener")
_MOST_RECORDS = 1e15
_DOWN_MS = 5000
_LATENCY_MS = 10


@dataclass(frozen=True, slots=True)
class Script:
    """A script, as the core plays it.

    Attributes:
        protocol: classic or consumer.
        broker: How the coordinator is configured.
        topics: By name, the number of partitions at the start; None if the topic is created later.
        members: The members' names, in the order in which they are first named.
        actions: When, and what, by the numbers of members and topics.
        latency_ms: How long the answers of a rebalance are on their way.
        idle_topics: The numbers of topics in which no records come.
        until_ms: Up to when it is played; None while anything moves.
        records_per_s: How many records a second arrive in each partition.
        assigned: What consumers read that assign themselves: name, when from and to, partitions.
        clients: The members' clients, in the order of the first mention.
        leaderless: Partitions that have no leader for a time: topic, number, from when and to.
    """

    protocol: str
    broker: BrokerConfigs
    topics: dict[str, int | None]
    members: tuple[str, ...]
    actions: tuple[tuple[int, Fields], ...]
    latency_ms: int
    idle_topics: tuple[int, ...]
    until_ms: int | None
    records_per_s: float
    assigned: tuple[tuple[str, int, int | None, tuple[tuple[str, int], ...]], ...]
    clients: tuple[str, ...]
    leaderless: tuple[tuple[str, int, int, int], ...]


def read_script(script: Mapping[str, object]) -> Script:
    """A script, checked.

    Args:
        script: See `partwright.group.play`.

    Raises:
        PartwrightError: The script is invalid; the sentence names the event by its number, from 1.
    """
    fields = object_fields(script, "a script", _SCRIPT, needs="events")
    protocol = fields.get("protocol", "classic")
    if protocol not in PROTOCOLS:
        raise PartwrightError(
            f"a script's protocol is {' or '.join(PROTOCOLS)}, not {shown(protocol)}{meant(protocol, PROTOCOLS)}"
        )
    broker, defaults = read_configs(
        fields.get("config"), fields.get("assignor"), protocol, fields.get("client")
    )
    draws = Draws(fields.get("seed", 0))
    of_members = {name: fields[name] for name in _OF_MEMBERS if name in fields}
    with _within("a script"):
        if isinstance(fields.get("poll_ms"), Mapping):
            # Drawn for each member; what is drawn here only shows that it can be.
            of_members["poll_ms"] = draws.time_ms(fields["poll_ms"], "poll_ms")
        defaults = defaults.changed(of_members)
    is_static = fields.get("static", False)
    if not isinstance(is_static, bool):
        raise PartwrightError(f"static is true or false, not {shown(is_static)}")
    topics = ScriptTopics(fields.get("topics"))
    every_ms = whole(fields.get("every_ms", 60_000), "every_ms", 0, LATEST_MS)
    down = fields.get("down_ms", _DOWN_MS)
    draws.time_ms(down, "down_ms")
    members = ScriptMembers(defaults, is_static=is_static)
    story = Story(protocol, broker, topics, members, draws, down, fields.get("poll_ms"))
    events = _listed_events(fields["events"], every_ms, lambda: draws.time_ms(down, "down_ms"))
    until_ms = optional(fields.get("until_ms"), "until_ms", 0, LATEST_MS)
    _happen(story, events, until_ms)
    rate = fields.get("records_per_s", 0)
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= _MOST_RECORDS:
        raise PartwrightError(f"records_per_s is a number from 0 to {_MOST_RECORDS:g}, not {shown(rate)}")
    return Script(
        protocol,
        broker,
        topics.first,
        tuple(story.members.configs),
        # At the same time, in the order of the events: a restarted member is back later.
        tuple(sorted(story.actions, key=lambda action: action[0])),
        draws.time_ms(fields.get("latency_ms", _LATENCY_MS), "latency_ms"),
        _idle(fields.get("idle_topics", ()), topics),
        until_ms,
        float(rate),
        tuple(story.beside.spans),
        tuple(story.members.clients),
        tuple(story.leaderless),
    )


def _idle(topic_names: object, topics: ScriptTopics) -> tuple[int, ...]:
    """The numbers of topics without records."""
    numbers = {name: number for number, name in enumerate(topics.first)}
    names = listed(topic_names, "idle_topics")
    for name in names:
        if not isinstance(name, str) or name not in numbers:
            raise PartwrightError(f"idle_topics: {unknown(name, 'topic', numbers, 'the script')}")
    return tuple(numbers[name] for name in names if isinstance(name, str))


def _listed_events(value: object, every_ms: int, down_ms: Callable[[], int]) -> Sequence[object]:
    """The events, of the short form too."""
    events = expand(value, every_ms=every_ms, down_ms=down_ms) if isinstance(value, str) else value
    if isinstance(events, int):
        # YAML takes +2 for a number.
        raise PartwrightError(
            f'events are a list, or a short form in quotes, such as "+2, roll", not {shown(events)}'
        )
    return listed(events, "events")


def _happen(story: Story, events: Sequence[object], until_ms: int | None) -> None:
    # Topics that are made later have their numbers from the first.
    for number, event in enumerate(events, 1):
        topics = event.get("create_topic") if isinstance(event, Mapping) else None
        with _within(f"event {number}", number - 1):
            for name in topics if isinstance(topics, Mapping) else ():
                story.topics.mention(name)
    before = 0
    for number, raw_event in enumerate(events, 1):
        where = f"event {number}"
        with _within("", number - 1):
            event = _event(where, raw_event, before)
            with _within(where):
                EVENTS[event.kind][1](story, event)
            before = event.at_ms
            if until_ms is not None and before > until_ms:
                raise PartwrightError(
                    f"{where} is at {before} ms, and until_ms is {until_ms}: play for longer"
                )
    if not story.members.configs and not story.beside.spans:
        raise PartwrightError("a script has no members: let somebody join")


def _event(where: str, raw_event: object, before: int) -> Event:
    """One event, of a known kind and with known fields only."""
    if not isinstance(raw_event, Mapping):
        raise PartwrightError(f"{where} is an object with at_ms, not {shown(raw_event)}")
    kinds = [kind for kind in raw_event if kind in EVENTS]
    if len(kinds) != 1:
        strange = next((name for name in raw_event if name not in EVENTS and name not in _ALL_FIELDS), None)
        if strange is not None:
            raise PartwrightError(f"{where}: {unknown(strange, 'event', EVENTS, 'a script')}")
        says = "says nothing" if not kinds else f"says {' and '.join(kinds)} at once"
        raise PartwrightError(f"{where} {says}: one of {', '.join(EVENTS)}")
    kind = kinds[0]
    fields = object_fields(raw_event, where, ("at_ms", kind, *EVENTS[kind][0]), needs="at_ms")
    at_ms = whole(fields["at_ms"], "at_ms", 0, LATEST_MS, where=f"{where}: ")
    if at_ms < before:
        raise PartwrightError(f"{where}: time runs backwards, from {before} to {at_ms} ms")
    return Event(at_ms, kind, fields)


_ALL_FIELDS = {"at_ms", *(field for fields, _ in EVENTS.values() for field in fields)}


@contextmanager
def _within(where: str, row: int | None = None) -> Iterator[None]:
    """Errors say where they are, and know which event they are about, counted from 0; sentences count from 1."""
    try:
        yield
    except PartwrightError as error:
        placed = error.within(where) if where else error
        raise (placed if row is None else placed.knowing(row=row)) from None
