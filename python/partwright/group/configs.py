"""The configuration of a group's broker and its members, under Kafka's own keys and with Kafka's defaults.

>>> configs = {"session.timeout.ms": "10000", "group.initial.rebalance.delay.ms": 0}
>>> broker, member = read_configs(configs, "range", "classic")
>>> broker.classic["initial_rebalance_delay_ms"], member.session_timeout_ms, member.assignors
(0, 10000, ('range',))
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from partwright._check import MOST_INT, MOST_LONG, object_fields, shown, whole
from partwright.cluster.topic_names import check_topic
from partwright.errors import PartwrightError
from partwright.group.coordinator import BROKER_KEYS, classic_config, consumer_config, is_text
from partwright.group.member_client import (
    JAVA,
    assignors_of_client,
    check_member_client,
    has_static_members,
    session_timeout_ms,
)

_STRATEGY, _REMOTE = "partition.assignment.strategy", "group.remote.assignor"
_AUTO_COMMIT = "enable.auto.commit"
_NUMBERS = {
    "session.timeout.ms": "session_ms",
    "heartbeat.interval.ms": "heartbeat_interval_ms",
    "max.poll.interval.ms": "max_poll_interval_ms",
    "auto.commit.interval.ms": "auto_commit_interval_ms",
    "metadata.max.age.ms": "metadata_max_age_ms",
    "max.poll.records": "max_poll_records",
}
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_LONGEST = MOST_LONG // 2**20
_MEMBER_KEYS = (*_NUMBERS, _AUTO_COMMIT, _STRATEGY, _REMOTE)
# The settings that the core takes as they are.
_OF_CORE = (
    "instance_id", "session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms", "poll_timeout_ms",
    "listener_ms", "metadata_max_age_ms", "client", "remote_assignor",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BrokerConfigs:
    """The coordinator's settings, for either protocol, by the core's names."""

    classic: dict[str, int]
    consumer: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MemberConfigs:
    """A consumer's settings; the defaults are Kafka's.

    Attributes:
        protocol: classic or consumer.
        session_ms: `session.timeout.ms`, of the classic protocol; None for the client's default.
        heartbeat_interval_ms: `heartbeat.interval.ms`, of the classic protocol.
        max_poll_interval_ms: `max.poll.interval.ms`.
        auto_commit_interval_ms: `auto.commit.interval.ms`.
        metadata_max_age_ms: `metadata.max.age.ms`.
        auto_commit: `enable.auto.commit`.
        poll_ms: How long the application takes from one poll to the next.
        record_ms: The time for one record; `poll_ms` is then the time for `max_poll_records` records.
        max_poll_records: `max.poll.records`.
        poll_timeout_ms: The timeout of `poll()`, during which an idle member stays inside.
        listener_ms: How long the callbacks of its rebalance listener take; None if it has no listener.
        client: Its client, with `@VERSION` if it is an older one.
        assignors: `partition.assignment.strategy`, or what it is called in its client.
        sets_assignors: Whether the script names them; otherwise they are the client's default.
        remote_assignor: `group.remote.assignor`.
        instance_id: `group.instance.id`.
        member_ids: The member IDs that Kafka would draw, one after the other, if a script gives them.
    """

    protocol: str = "classic"
    session_ms: int | None = None
    heartbeat_interval_ms: int = 3000
    max_poll_interval_ms: int = 300_000
    auto_commit_interval_ms: int = 5000
    metadata_max_age_ms: int = 300_000
    auto_commit: bool = True
    poll_ms: int = 500
    record_ms: float | None = None
    max_poll_records: int = 500
    poll_timeout_ms: int = 100
    listener_ms: int | None = None
    client: str = JAVA
    assignors: tuple[str, ...] = ("range", "cooperative-sticky")
    sets_assignors: bool = False
    remote_assignor: str | None = None
    instance_id: str | None = None
    member_ids: tuple[str, ...] = ()

    @property
    def session_timeout_ms(self) -> int:
        """`session.timeout.ms`: the one that is set, or the client's default."""
        return session_timeout_ms(self.client) if self.session_ms is None else self.session_ms

    def changed(self, event: Mapping[str, object]) -> MemberConfigs:
        """The settings of a member that an event starts: the previous ones, changed by the event.

        Raises:
            PartwrightError: The event has an invalid value.
        """
        changes: dict[str, Any] = {"member_ids": _member_ids(event.get("member_id"))}
        if "poll_ms" in event:
            changes |= {"poll_ms": whole(event["poll_ms"], "poll_ms", 0, MOST_INT), "record_ms": None}
        readers = {"record_ms": _record_ms, "poll_timeout_ms": _poll_timeout, "instance_id": _instance}
        changes |= {name: read(event) for name, read in readers.items() if name in event}
        if "listener" in event:
            changes["listener_ms"] = _listener(event["listener"])
        config = event.get("config")
        settings = object_fields({} if config is None else config, "config", _MEMBER_KEYS, needs=None)
        if "assignor" in event:
            settings[_REMOTE if self.protocol == "consumer" else _STRATEGY] = event["assignor"]
        made = replace(_with(self, settings, event.get("client")), **changes)
        if made.instance_id is not None and not has_static_members(made.client):
            raise PartwrightError(
                f"{made.client} does not have static members, and {made.instance_id!r} is its instance_id: "
                "leave it out, or take another client",
                value=made.client,
            )
        return made

    def for_core(self) -> dict[str, object]:
        """As the core takes them; an application takes its time for as many records as one poll returns at most."""
        poll_ms = self.poll_ms
        if self.record_ms is not None:
            poll_ms = min(round(self.max_poll_records * self.record_ms), MOST_INT)
        client = self.client.partition("@")[0]
        begin = "" if client == JAVA else f"{client}:"
        return {
            **{name: getattr(self, name) for name in _OF_CORE},
            "member_ids": list(self.member_ids),
            "auto_commit_interval_ms": self.auto_commit_interval_ms if self.auto_commit else None,
            "poll_ms": poll_ms,
            "assignors": [(name, f"{begin}{name}") for name in self.assignors],
        }


def read_configs(
    config: Mapping[str, object] | None,
    assignor: object = None,
    protocol: str = "classic",
    client: object = None,
) -> tuple[BrokerConfigs, MemberConfigs]:
    """The settings of the broker and of the members, of one object with Kafka's keys.

    Args:
        config: Kafka's keys, of either side.
        assignor: In place of `partition.assignment.strategy`, or of `group.remote.assignor` with the protocol consumer.
        protocol: classic or consumer.
        client: The members' client; Java's by default.

    Raises:
        PartwrightError: A key is unknown, or its value is invalid.
    """
    fields = object_fields(
        {} if config is None else config, "config", (*BROKER_KEYS, *_MEMBER_KEYS), needs=None
    )
    settings = {key: value for key, value in fields.items() if key in _MEMBER_KEYS}
    if assignor is not None:
        settings[_REMOTE if protocol == "consumer" else _STRATEGY] = assignor
    of_broker = {key: _plain(value) for key, value in fields.items() if key in BROKER_KEYS}
    classic, consumer = (
        {key: value for key, value in of_broker.items() if key.startswith("group.consumer.") == is_consumers}
        for is_consumers in (False, True)
    )
    broker = BrokerConfigs(classic_config(classic), consumer_config(consumer))
    return broker, _with(MemberConfigs(protocol=protocol), settings, client)


def _with(configs: MemberConfigs, settings: Mapping[str, object], client: object) -> MemberConfigs:
    """A member's settings, changed; the assignors that it sets stay its own when it changes its client."""
    changes: dict[str, Any] = {
        name: whole(_plain(settings[key]), key, 1, _LONGEST if key == "metadata.max.age.ms" else MOST_INT)
        for key, name in _NUMBERS.items()
        if key in settings
    }
    if _AUTO_COMMIT in settings:
        value = settings[_AUTO_COMMIT]
        if str(value).lower() not in ("true", "false"):
            raise PartwrightError(f"{_AUTO_COMMIT} is true or false, not {shown(value)}")
        changes["auto_commit"] = str(value).lower() == "true"
    assignors = settings.get(_STRATEGY)
    if assignors is not None or client is not None:
        name = configs.client if client is None else check_member_client(client, configs.protocol)
        is_set = assignors is not None or configs.sets_assignors
        named = list(configs.assignors) if assignors is None else assignors
        changes |= {
            "client": name,
            "assignors": assignors_of_client(name, named if is_set else None),
            "sets_assignors": is_set,
        }
    if _REMOTE in settings:
        changes["remote_assignor"] = _remote(settings[_REMOTE])
    made = replace(configs, **changes)
    if made.heartbeat_interval_ms >= made.session_timeout_ms:
        raise PartwrightError(
            f"heartbeat.interval.ms ({made.heartbeat_interval_ms}) must be less than session.timeout.ms "
            f"({made.session_timeout_ms}): Kafka's consumer takes no others"
        )
    return made


def _instance(event: Mapping[str, object]) -> str | None:
    """A `group.instance.id`, checked by the rule for topics' names (`JoinGroupRequest.validateGroupInstanceId`)."""
    name = _text(event["instance_id"], "instance_id")
    try:
        return name if name is None else check_topic(name)
    except PartwrightError as error:
        raise PartwrightError(f"group.instance.id {shown(name)} is refused by Kafka: {error}") from None


def _record_ms(event: Mapping[str, object]) -> float:
    record_ms = event["record_ms"]
    if (
        isinstance(record_ms, bool)
        or not isinstance(record_ms, (int, float))
        or not 0 <= record_ms <= MOST_INT
    ):
        raise PartwrightError(f"record_ms is a number from 0 to {MOST_INT}, not {shown(record_ms)}")
    if "poll_ms" in event:
        raise PartwrightError("poll_ms follows from record_ms (by max.poll.records): give only one of them")
    return float(record_ms)


def _poll_timeout(event: Mapping[str, object]) -> int:
    return whole(event["poll_timeout_ms"], "poll_timeout_ms", 1, MOST_INT)


def _listener(listener: object) -> int | None:
    """How long callbacks take: nothing without a listener, 0 if true gives no time."""
    if isinstance(listener, bool):
        return 0 if listener else None
    return whole(listener, "listener: true, false, or the milliseconds of a callback,", 0, MOST_INT)


def _remote(assignor: object) -> str:
    if not isinstance(assignor, str):
        raise PartwrightError(f"{_REMOTE} is text, not {shown(assignor)}")
    if assignor.removeprefix("server-") not in ("uniform", "range"):
        raise PartwrightError(
            f"with the protocol consumer the broker assigns: uniform or range, not {shown(assignor)}"
        )
    return assignor.removeprefix("server-")


def _plain(value: object) -> object:
    """A number written as text, as in Kafka's own files."""
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value.strip()) else value


def _member_ids(member_id: object) -> tuple[str, ...]:
    """An event's `member_id`: text, or a list of texts."""
    each = member_id if isinstance(member_id, list) and member_id else [member_id]
    return tuple(text for one in each if (text := _text(one, "member_id")) is not None)


def _text(value: object, what: str) -> str | None:
    if value is not None and (not is_text(value) or not value):
        raise PartwrightError(f"{what} is text, not {shown(value)}")
    return value
