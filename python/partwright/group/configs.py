"""How a group's broker and its members are configured, by Kafka's own keys and with Kafka's defaults.

>>> configs = {"session.timeout.ms": "10000", "group.initial.rebalance.delay.ms": 0}
>>> broker, member = read_configs(configs, "range", "classic")
>>> broker.classic["initial_rebalance_delay_ms"], member.session_timeout_ms, member.assignors
(0, 10000, ('range',))
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from partwright._check import MOST_INT, MOST_LONG, object_fields, shown, whole
from partwright.assignors.names import CLIENT_ASSIGNORS, is_own
from partwright.assignors.strategy_setting import assignment_strategy, listed_assignors
from partwright.cluster.topic_names import check_topic
from partwright.errors import PartwrightError
from partwright.group.coordinator import BROKER_KEYS, classic_config, consumer_config, is_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BrokerConfigs", "MemberConfigs", "read_configs"]

_STRATEGY, _REMOTE = "partition.assignment.strategy", "group.remote.assignor"
_AUTO_COMMIT = "enable.auto.commit"
_NUMBERS = {
    "session.timeout.ms": "session_timeout_ms",
    "heartbeat.interval.ms": "heartbeat_interval_ms",
    "max.poll.interval.ms": "max_poll_interval_ms",
    "auto.commit.interval.ms": "auto_commit_interval_ms",
    "metadata.max.age.ms": "metadata_max_age_ms",
}
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_MEMBER_KEYS = (*_NUMBERS, _AUTO_COMMIT, _STRATEGY, _REMOTE)


@dataclass(frozen=True, slots=True)
class BrokerConfigs:
    """The coordinator's settings, for either protocol, by the names of the core."""

    classic: dict[str, int]
    consumer: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MemberConfigs:
    """A consumer's settings; the defaults are Kafka's.

    Attributes:
        protocol: classic or consumer.
        session_timeout_ms: `session.timeout.ms`, of the classic protocol.
        heartbeat_interval_ms: `heartbeat.interval.ms`, of the classic protocol.
        max_poll_interval_ms: `max.poll.interval.ms`.
        auto_commit_interval_ms: `auto.commit.interval.ms`.
        metadata_max_age_ms: `metadata.max.age.ms`.
        auto_commit: `enable.auto.commit`.
        poll_ms: How long the application takes from one poll to the next.
        assignors: `partition.assignment.strategy`.
        remote_assignor: `group.remote.assignor`.
        instance_id: `group.instance.id`.
        member_id: The member id that Kafka draws, where a script has one.
    """

    protocol: str = "classic"
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3000
    max_poll_interval_ms: int = 300_000
    auto_commit_interval_ms: int = 5000
    metadata_max_age_ms: int = 300_000
    auto_commit: bool = True
    poll_ms: int = 500
    assignors: tuple[str, ...] = ("range", "cooperative-sticky")
    remote_assignor: str | None = None
    instance_id: str | None = None
    member_id: str | None = None

    def changed(self, where: str, event: Mapping[str, object]) -> MemberConfigs:
        """The settings of a member that an event starts: those of before, but for what the event says.

        Raises:
            PartwrightError: What it says is none.
        """
        told: dict[str, Any] = {"member_id": _text(event.get("member_id"), f"{where}: member_id")}
        if "poll_ms" in event:
            told["poll_ms"] = whole(event["poll_ms"], "poll_ms", 0, MOST_INT, where=f"{where}: ")
        if "instance_id" in event:
            told["instance_id"] = _instance(event["instance_id"], where)
        given = event.get("config")
        config = object_fields({} if given is None else given, f"{where}: config", _MEMBER_KEYS, needs=None)
        if "assignor" in event:
            key = _REMOTE if self.protocol == "consumer" else _STRATEGY
            config = {**config, key: event["assignor"]}
        made = replace(_with(self, config, f"{where}: "), **told)
        if made.poll_ms >= made.max_poll_interval_ms:
            raise PartwrightError(
                f"{where}: poll_ms ({made.poll_ms}) must be less than max.poll.interval.ms "
                f"({made.max_poll_interval_ms}): whoever polls less often is put out "
                "each time; to see that once, let a member stall"
            )
        return made

    def for_core(self) -> dict[str, object]:
        """As the core takes them."""
        return {
            "instance_id": self.instance_id,
            "member_id": self.member_id,
            "session_timeout_ms": self.session_timeout_ms,
            "heartbeat_interval_ms": self.heartbeat_interval_ms,
            "max_poll_interval_ms": self.max_poll_interval_ms,
            "auto_commit_interval_ms": self.auto_commit_interval_ms if self.auto_commit else None,
            "poll_ms": self.poll_ms,
            "metadata_max_age_ms": self.metadata_max_age_ms,
            "assignors": list(self.assignors),
            "remote_assignor": self.remote_assignor,
        }


def read_configs(
    given: Mapping[str, object] | None,
    assignor: object = None,
    protocol: str = "classic",
) -> tuple[BrokerConfigs, MemberConfigs]:
    """The settings of the broker and of the members, of one object with Kafka's keys.

    Args:
        given: Kafka's keys, of either side.
        assignor: In place of `partition.assignment.strategy`, or of `group.remote.assignor` with the protocol consumer.
        protocol: classic or consumer.

    Raises:
        PartwrightError: A key is none of these, or its value is none.
    """
    fields = object_fields(
        {} if given is None else given, "config", (*BROKER_KEYS, *_MEMBER_KEYS), needs=None
    )
    of_broker = {key: _plain(value) for key, value in fields.items() if key in BROKER_KEYS}
    of_members = {key: value for key, value in fields.items() if key in _MEMBER_KEYS}
    if assignor is not None:
        of_members[_REMOTE if protocol == "consumer" else _STRATEGY] = assignor
    classic = {key: value for key, value in of_broker.items() if not key.startswith("group.consumer.")}
    consumer = {key: value for key, value in of_broker.items() if key.startswith("group.consumer.")}
    broker = BrokerConfigs(classic_config(classic), consumer_config(consumer))
    return broker, _with(MemberConfigs(protocol=protocol), of_members, "")


def _with(configs: MemberConfigs, given: Mapping[str, object], where: str) -> MemberConfigs:
    told: dict[str, Any] = {}
    for key, name in _NUMBERS.items():
        if key in given:
            told[name] = whole(
                _plain(given[key]),
                key,
                1,
                MOST_INT if key != "metadata.max.age.ms" else MOST_LONG // 2**20,
                where,
            )
    if _AUTO_COMMIT in given:
        flag = {"true": True, "false": False}.get(str(given[_AUTO_COMMIT]).lower())
        if flag is None:
            raise PartwrightError(f"{where}{_AUTO_COMMIT} is true or false, not {shown(given[_AUTO_COMMIT])}")
        told["auto_commit"] = flag
    if _STRATEGY in given:
        told["assignors"] = _assignors(given[_STRATEGY], where)
    if _REMOTE in given:
        told["remote_assignor"] = _remote(given[_REMOTE], where)
    made = replace(configs, **told)
    if made.heartbeat_interval_ms >= made.session_timeout_ms:
        raise PartwrightError(
            f"{where}heartbeat.interval.ms ({made.heartbeat_interval_ms}) must be less than session.timeout.ms "
            f"({made.session_timeout_ms}): Kafka's consumer takes no others"
        )
    return made


def _assignors(given: Any, where: str) -> tuple[str, ...]:
    try:
        # A script may come from anywhere: no file says which code is run, so that a path is not even looked for.
        names = [name for name in listed_assignors(given) if isinstance(name, str) and is_own(name)]
        names = names or assignment_strategy(given)
    except PartwrightError as error:
        raise PartwrightError(f"{where}{error}") from None
    strange = next((name for name in names if name not in CLIENT_ASSIGNORS), None)
    if strange is not None:
        raise PartwrightError(
            f"{where}a script takes Kafka's own assignors, {', '.join(CLIENT_ASSIGNORS)}, and not {shown(strange)}"
        )
    return tuple(names)


def _instance(given: object, where: str) -> str | None:
    """A `group.instance.id`, held to the rule of topics' names (`JoinGroupRequest.validateGroupInstanceId`)."""
    name = _text(given, f"{where}: instance_id")
    try:
        return name if name is None else check_topic(name)
    except PartwrightError as error:
        raise PartwrightError(
            f"{where}: group.instance.id {shown(name)} is none to Kafka, as {error}"
        ) from None


def _remote(given: object, where: str) -> str:
    if not isinstance(given, str):
        raise PartwrightError(f"{where}{_REMOTE} is text, not {shown(given)}")
    if given.removeprefix("server-") not in ("uniform", "range"):
        raise PartwrightError(
            f"{where}with the protocol consumer the broker assigns: uniform or range, not {shown(given)}"
        )
    return given.removeprefix("server-")


def _plain(given: object) -> object:
    """A number that is written as text, as Kafka's own files have it."""
    if isinstance(given, str) and _WHOLE.fullmatch(given.strip()):
        return int(given)
    return given


def _text(given: object, what: str) -> str | None:
    if given is not None and (not is_text(given) or not given):
        raise PartwrightError(f"{what} is text, not {shown(given)}")
    return given
