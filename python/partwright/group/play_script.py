"""Plays scripts of a group's life, under one protocol or under all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright import _core
from partwright.errors import PartwrightError
from partwright.group.script import read_script
from partwright.group.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from partwright._check import Fields, Json

__all__ = ["VARIANTS", "compare", "play"]

VARIANTS: dict[str, Json] = {
    "range": {"protocol": "classic", "assignor": "range"},
    "sticky": {"protocol": "classic", "assignor": "sticky"},
    "cooperative-sticky": {"protocol": "classic", "assignor": "cooperative-sticky"},
    "consumer": {"protocol": "consumer", "assignor": "uniform"},
}
"""What `compare` plays a script with: two assignors that rebalance eagerly, the cooperative one, and KIP-848."""


_CHOSEN = {"assignor", "instance_id", "partition.assignment.strategy", "group.remote.assignor"}


def play(script: Mapping[str, object], *, ownership: bool = True, requests: bool = False) -> Timeline:
    """What becomes of a consumer group with a script of joins, leaves, crashes and new partitions.

    The coordinator is Kafka's own (`GroupMetadataManager` of kafka-group-coordinator 4.4.0), members behave as the Java
    client's consumers do: what they read, they give up at their next poll, and learn of a rebalance by their next
    heartbeat.

    Args:
        script: An object of

            * `topics`: by name, how many partitions.
            * `events`: what happens, each an object with `at_ms` and one of `join` (a member's name, with `topics`, all of
              the script's where it does not say, `instance_id`, `assignor`, `config` and `member_id`), `leave` (with
              `operation`, of Kafka's `CloseOptions`: DEFAULT, LEAVE_GROUP or REMAIN_IN_GROUP; a static member stays by
              default), `crash`, `restart` (closed, and started again `down_ms` later, with whatever `join` has), `stall`
              (does not poll `for_ms`), `subscribe` (to other `topics`), `assign` (a consumer that assigns itself
              `partitions`, pairs of a topic and a number), `add_partitions`, `create_topic` (numbers by topic),
              `delete_topic`, `move_coordinator` (true), and `commit` (as of `generation`). Or a short form as text:
              `+3, -1, x1, roll, t+4`, a word every `every_ms` (60000), members down for `down_ms` (5000) in a roll.
            * `protocol`: classic (the default) or consumer (KIP-848).
            * `assignor`: of the members: a name or a list, in place of `partition.assignment.strategy` or of
              `group.remote.assignor`.
            * `config`: Kafka's keys, of the members and of the broker.
            * `static`: true where every member's name is its `group.instance.id`.
            * `records_per_s`: how many records come to each partition.
            * `poll_ms`: how long an application takes from one poll to the next (500; a join may have its own);
              `latency_ms`: how long an answer of JoinGroup and SyncGroup takes, and of a heartbeat that brings an
              assignment (10).
            * `until_ms`: up to when it is played; as long as anything moves where it does not say.
        ownership: Whether to keep who read what from when to when, which `ownership` and `chart` take; a large group that
            rebalances often needs much room for it.
        requests: Whether to keep every request and its answer.

    Returns:
        The timeline.

    Raises:
        PartwrightError: The script is none; the sentence names the event by its number, from 1.

    Examples:
        >>> events = [{"at_ms": 0, "join": "c1"}, {"at_ms": 0, "join": "c2"}, {"at_ms": 60000, "join": "c3"}]
        >>> timeline = play({"assignor": "cooperative-sticky", "topics": {"p": 3}, "events": events})
        >>> [sorted(each["assignment"].items()) for each in timeline.generations()][1:]
        [[('c1', [('p', 0)]), ('c2', [('p', 1)]), ('c3', [])], [('c1', [('p', 0)]), ('c2', [('p', 1)]), ('c3', [('p', 2)])]]
        >>> timeline.moved, timeline.unowned_ms
        (1, {'p-0': 0, 'p-1': 0, 'p-2': 3309})
    """  # noqa: E501 - an example is one line
    read = read_script(script)
    broker = read.broker.consumer if read.protocol == "consumer" else read.broker.classic
    timeline = _core.play_group(
        {
            "protocol": {read.protocol: broker},
            "topics": list(read.topics.items()),
            "clients": list(read.members),
            "actions": list(read.actions),
            "latency_ms": read.latency_ms,
            "until_ms": read.until_ms,
            "spans": ownership,
            "messages": requests,
        }
    )
    return Timeline(read, timeline, keeps_spans=ownership)


def compare(
    script: Fields, *, played: Callable[[int, int], None] | None = None
) -> dict[tuple[str, bool], Timeline]:
    """The same script under each protocol, with and without static membership.

    Args:
        script: See `play`. Its `protocol`, `assignor` and `static` are left out of account, and no event may name an
            `assignor` or an `instance_id` of its own.
        played: Called with how many of how many lives are played, before each.

    Returns:
        By the protocol's name (`range` and `sticky`, which rebalance eagerly, `cooperative-sticky`, and `consumer`,
        which is KIP-848 with the broker's `uniform`) and whether members are static, the timeline.

    Raises:
        PartwrightError: See `play`.

    Examples:
        >>> compared = compare({"topics": {"t": 20}, "events": "+4, roll"})
        >>> {name: each.cost.unowned_s for (name, static), each in compared.items() if static}
        {'range': 100.4, 'sticky': 100.4, 'cooperative-sticky': 100.4, 'consumer': 168.0}
    """
    # What a comparison leaves out of account is checked all the same.
    read_script(script)
    events = script["events"]
    for number, event in enumerate(() if isinstance(events, str) else events, 1):
        own = {*event, *(event.get("config") or ())} & _CHOSEN
        if own:
            raise PartwrightError(
                f"event {number} names its own {min(own)}, which a comparison chooses: leave it out"
            )
    found = {}
    lives = [(name, static) for name in VARIANTS for static in (False, True)]
    for number, (name, static) in enumerate(lives):
        if played is not None:
            played(number, len(lives))
        life = {**script, **VARIANTS[name], "static": static}
        found[name, static] = play(life, ownership=False)
    return found


def costs(timelines: Mapping[tuple[str, bool], Timeline]) -> list[Json]:
    """What lives side by side cost, as `partwright group --compare --json` has it.

    Args:
        timelines: What `compare` gives.

    Returns:
        For each `protocol`, `static`, the fields of `Cost`, and `failures`.

    Examples:
        >>> [each["moved"] for each in costs(compare({"topics": {"t": 2}, "events": "+2"}))][:2]
        [0, 0]
    """
    return [
        {"protocol": name, "static": static, **timeline.cost._asdict(), "failures": timeline.failures()}
        for (name, static), timeline in timelines.items()
    ]
