"""Play scripts of a group's life, under one protocol or under all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from partwright import _core
from partwright._check import MOST_LONG, Fields, Json, shown
from partwright.answer import Answer
from partwright.errors import PartwrightError
from partwright.group.leaders_client import LeadersClient
from partwright.group.member_client import JAVA
from partwright.group.script import read_script
from partwright.group.timeline import Cost, Timeline

VARIANTS: dict[str, Json] = {
    "range": {"protocol": "classic", "assignor": "range"},
    "sticky": {"protocol": "classic", "assignor": "sticky"},
    "cooperative-sticky": {"protocol": "classic", "assignor": "cooperative-sticky"},
    "consumer": {"protocol": "consumer", "assignor": "uniform"},
}
"""The assignors that `compare` plays a script with: two eager ones, the cooperative one, and KIP-848."""


_RACES = {"slow": False, "fast": True}
_ASSIGNOR_FIELDS = {"assignor", "instance_id", "partition.assignment.strategy", "group.remote.assignor"}


@dataclass(frozen=True)
class Lives(Answer, Mapping[tuple[str, bool], Timeline]):
    """The timelines of a script, by the protocol's name and whether members are static.

    Attributes:
        timelines: The same as a dict.
    """

    timelines: dict[tuple[str, bool], Timeline]

    DOCUMENT = "group"
    ROWS = "lives"

    def __getitem__(self, life: tuple[str, bool]) -> Timeline:
        return self.timelines[life]

    def __iter__(self) -> Iterator[tuple[str, bool]]:
        return iter(self.timelines)

    def __len__(self) -> int:
        return len(self.timelines)

    def to_dict(self) -> Json:
        """As in `partwright group --compare --json`."""
        return {"lives": costs(self.timelines)}


def play(
    script: Mapping[str, object], *, ownership: bool = True, requests: bool = False, race: int | str = "slow"
) -> Timeline:
    """Play a script of joins, leaves, crashes and new partitions, and return the consumer group's timeline.

    The coordinator answers as Kafka's own (`GroupMetadataManager` of kafka-group-coordinator 4.4.0). Members behave as
    the consumers of kafka-clients 4.4.0, thread by thread: what an application does in each pass of `poll()`
    (`ConsumerCoordinator`, `AsyncKafkaConsumer`), and what the client's own thread does meanwhile (`HeartbeatThread`,
    `ConsumerNetworkThread`).

    Args:
        script: An object of

            * `topics`: by name, how many partitions.
            * `events`: a list of objects with `at_ms` and one of `join` (a member's name, with `topics`, by default all
              of the script's, `instance_id`, `client`, `assignor`, `config` and `member_id`, text or a list of those that
              Kafka would draw one after the other), `leave` (with `operation`, from
              Kafka's `CloseOptions`: DEFAULT, LEAVE_GROUP or REMAIN_IN_GROUP; a static member stays by default),
              `crash`, `restart` (closed, and started again `down_ms` later, with whatever `join` has), `stall` (does
              not poll `for_ms`), `subscribe` (to other `topics`), `assign` (a consumer that assigns itself
              `partitions`, pairs of a topic and a number), `add_partitions`, `create_topic` (numbers by topic),
              `delete_topic`, `move_coordinator` (true), `broker` (a broker that leads these partitions, lists
              of numbers by topic, goes away: they have no leader for `election_ms`, 9300; then, if `coordinates` is
              true, the coordinator moves as well), and `commit` (in the name of `generation`). Or a short form as text:
              `+3, -1, x1, roll, t+4`, one word every `every_ms` (60000), with members down for `down_ms` (5000) in a
              roll.
            * `protocol`: classic (the default) or consumer (KIP-848).
            * `assignor`: of the members: a name or a list, in place of `partition.assignment.strategy` or of
              `group.remote.assignor`.
            * `client`: the members' client: java (the default), librdkafka, sarama, kafka-go, franz-go, kafkajs,
              kafka-python or aiokafka, with `@VERSION` if an answer depends on it. The leader's client assigns, and a
              leader whose client fails ends. Apart from that, members of every client do what Java's consumers do.
              `java@4.0`, `java@4.1`, `java@4.2` and `java@4.3` are older consumers of KIP-848; with the protocol
              classic they are `java`.
            * `config`: Kafka's keys, of the members and of the broker.
            * `static`: true if every member's name is its `group.instance.id`.
            * `records_per_s`: how many records arrive in each partition.
            * `poll_ms`: the application's time from one call of `poll()` to the next (500), or `record_ms`, the time
              for one record, times `max.poll.records`; `poll_timeout_ms`: how long an idle member stays inside `poll()`
              (100); `listener`: false, or true, or how many milliseconds each callback of a `ConsumerRebalanceListener`
              takes. A join may have its own.
            * `idle_topics`: names of topics in which no records come.
            * `latency_ms`: how long the coordinator's answers take (10).
            * `poll_ms`, `down_ms`, `election_ms` and `latency_ms` may be distributions as `partwright.batching` takes a
              broker's latency, `{"from": 200, "to": 900}` say. The first is drawn at each start of a member, the second
              at each restart, the third at each broker that goes, the last once. Another `seed` (0) draws others.
            * `until_ms`: when the play ends; by default, when nothing moves any more.
        ownership: Whether to keep who read what from when to when, which `ownership` and `chart` need; a large group
            that rebalances often takes much memory for it.
        requests: Whether to keep every request and its answer.
        race: With KIP-848, whether a member's network thread is fast enough for the pass of `poll()` that wakes it:
            `slow` (never, the usual case), `fast` (always), or a seed (one time in ten, at random).

    Returns:
        The timeline.

    Raises:
        PartwrightError: The script is invalid; the sentence names the event by its number, from 1.

    Examples:
        >>> events = [{"at_ms": 0, "join": "c1"}, {"at_ms": 0, "join": "c2"}, {"at_ms": 60000, "join": "c3"}]
        >>> timeline = play({"assignor": "cooperative-sticky", "topics": {"p": 3}, "events": events})
        >>> [sorted(each["assignment"].items()) for each in timeline.generations()][1:]
        [[('c1', [('p', 0)]), ('c2', [('p', 1)]), ('c3', [])], [('c1', [('p', 0)]), ('c2', [('p', 1)]), ('c3', [('p', 2)])]]
        >>> timeline.moved, timeline.unowned_ms
        (1, {'p-0': 0, 'p-1': 286, 'p-2': 4128})
    """  # noqa: E501 - an example is one line
    if not (race in _RACES if isinstance(race, str) else type(race) is int and abs(race) <= MOST_LONG):
        raise PartwrightError(f"race is slow, fast or a seed, a whole number, not {shown(race)}")
    read = read_script(script)
    broker = read.broker.consumer if read.protocol == "consumer" else read.broker.classic
    # With KIP-848 the broker assigns, whichever client a member is of.
    has_clients = read.protocol == "classic" and set(read.clients) - {JAVA}
    leaders_client = LeadersClient(read.members, list(read.topics)) if has_clients else None
    timeline = _core.play_group(
        {
            "protocol": {read.protocol: broker},
            "topics": list(read.topics.items()),
            "clients": list(read.members),
            "actions": list(read.actions),
            "latency_ms": read.latency_ms,
            "idle_topics": read.idle_topics,
            "race": _RACES[race] if isinstance(race, str) else race,
            "until_ms": read.until_ms,
            "spans": ownership,
            "messages": requests,
        },
        leaders_client,
    )
    return Timeline(read, timeline, keeps_spans=ownership, leaders_client=leaders_client)


def compare(script: Fields, *, played: Callable[[int, int], None] | None = None) -> Lives:
    """The same script under each protocol, with and without static membership.

    Args:
        script: See `play`. Its `protocol`, `assignor` and `static` are ignored, and no event may name an `assignor` or
            an `instance_id` of its own.
        played: Called before each play: with the number of plays done, and of all plays.

    Returns:
        By the protocol's name (`range` and `sticky`, which rebalance eagerly, `cooperative-sticky`, and `consumer`,
        which is KIP-848 with the broker's `uniform`) and whether members are static, the timeline.

    Raises:
        PartwrightError: See `play`.

    Examples:
        >>> compared = compare({"topics": {"t": 20}, "events": "+4, roll"})
        >>> {name: each.cost.unowned_s for (name, static), each in compared.items() if static}
        {'range': 102.265, 'sticky': 102.265, 'cooperative-sticky': 102.265, 'consumer': 188.34}
    """
    # What a comparison ignores is checked all the same.
    clients = read_script(script).clients
    other = next((client for client in clients if client.partition("@")[0] != JAVA), None)
    if other is not None:
        raise PartwrightError(
            f"a comparison plays Java's consumers, and the script has {other}'s: leave out client, or play it alone",
            value=other,
        )
    events = script["events"]
    for number, event in enumerate(() if isinstance(events, str) else events, 1):
        own = {*event, *(event.get("config") or ())} & _ASSIGNOR_FIELDS
        if own:
            raise PartwrightError(
                f"event {number} names its own {min(own)}, which a comparison chooses: leave it out"
            )
    timelines = {}
    lives = [(name, static) for name in VARIANTS for static in (False, True)]
    for number, (name, static) in enumerate(lives):
        if played is not None:
            played(number, len(lives))
        life = {**script, **VARIANTS[name], "static": static}
        timelines[name, static] = play(life, ownership=False)
    return Lives(timelines)


def costs(timelines: Mapping[tuple[str, bool], Timeline]) -> list[Json]:
    """The costs of compared timelines, as in `partwright group --compare --json`.

    Args:
        timelines: What `compare` returned.

    Returns:
        For each `protocol`, `static`, the fields of `Cost`, and `failures`.

    Examples:
        >>> from partwright.group import compare
        >>> [each["moved"] for each in costs(compare({"topics": {"t": 2}, "events": "+2"}))][:2]
        [0, 0]
    """
    return [
        {"protocol": name, "static": static, **timeline.cost._asdict(), "failures": timeline.failures()}
        for (name, static), timeline in timelines.items()
    ]


def races(script: Mapping[str, object]) -> dict[str, Cost]:
    """How much the thread races of KIP-848's client can change what a script costs.

    Args:
        script: See `play`.

    Returns:
        The cost if every network thread is `slow`, and if every one is `fast`.

    Raises:
        PartwrightError: See `play`.

    Examples:
        >>> costs = races({"topics": {"t": 4}, "protocol": "consumer", "events": "+1, +1"})
        >>> {race: cost.moved for race, cost in costs.items()}
        {'slow': 2, 'fast': 2}
    """
    return {race: play(script, ownership=False, race=race).cost for race in _RACES}
