"""A group's coordinator as a pure function: from a group and an event to the next group and the answers.

>>> group = ClassicGroup({"group.initial.rebalance.delay.ms": 0})
>>> join = {"request": "join", "at_ms": 0, "member_id": "", "new_id": "c1", "protocols": [["range", "t"]]}
>>> group, answers = group.step({**join, "member_id_required": False})
>>> group.state["state"], [(answer["error"], answer["generation"], answer["leader"]) for answer in answers]
('CompletingRebalance', [('NONE', 1, 'c1')])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeGuard

from partwright import _core
from partwright._check import MOST_INT, MOST_LONG, Fields, Json, listed, object_fields, optional, shown, whole
from partwright.errors import PartwrightError

_INITIAL_DELAY = "group.initial.rebalance.delay.ms"
_CLASSIC: dict[str, tuple[str, int]] = {
    _INITIAL_DELAY: ("initial_rebalance_delay_ms", 3000),
    "group.min.session.timeout.ms": ("min_session_timeout_ms", 6000),
    "group.max.session.timeout.ms": ("max_session_timeout_ms", 1_800_000),
    "group.max.size": ("max_size", MOST_INT),
}
_SESSION, _HEARTBEAT = "group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms"
_CONSUMER: dict[str, tuple[str, int]] = {
    _SESSION: ("session_timeout_ms", 45_000),
    _HEARTBEAT: ("heartbeat_interval_ms", 5000),
    "group.consumer.assignment.interval.ms": ("assignment_interval_ms", 1000),
    "group.consumer.max.size": ("max_size", MOST_INT),
}
_ASSIGNORS = "group.consumer.assignors"
_EITHER = {_INITIAL_DELAY, "group.consumer.assignment.interval.ms"}
"""Settings that may be 0; all others are 1 at least."""
BROKER_KEYS = (*_CLASSIC, *_CONSUMER, _ASSIGNORS)
"""The coordinator's settings that affect a group's life."""
_MEMBER = ("member_id", "generation", "instance_id")
_REQUESTS: dict[str, tuple[str, ...]] = {
    "join": (
        "member_id", "new_id", "instance_id", "session_timeout_ms", "rebalance_timeout_ms", "protocols",
        "member_id_required", "skip_assignment",
    ),
    "sync": (*_MEMBER, "protocol", "assignments"),
    "heartbeat": _MEMBER,
    "leave": ("members",),
    "commit": _MEMBER,
    "wait": (),
    "move": (),
}  # fmt: skip
_CONSUMER_REQUESTS: dict[str, tuple[str, ...]] = {
    "heartbeat": (
        "member_id", "epoch", "instance_id", "rack_id", "rebalance_timeout_ms", "topics", "assignor", "owned",
    ),
    "commit": ("member_id", "epoch", "partitions"),
    "topics": ("topics",),
    "wait": (),
    "move": (),
}  # fmt: skip


def classic_config(config: Mapping[str, object] | None) -> dict[str, int]:
    """The coordinator's settings for the classic protocol, by the core's names; Kafka's defaults if not given.

    Raises:
        PartwrightError: A key is unknown, or its value is invalid.
    """
    return _config(config, _CLASSIC)


def consumer_config(settings: Mapping[str, object] | None) -> dict[str, Any]:
    """The same for KIP-848's protocol.

    The broker's limits for them (`group.consumer.min.session.timeout.ms`, 45 s by default, and others) are assumed wide
    enough for what is asked.

    Raises:
        PartwrightError: A key is unknown, or its value is invalid.
    """
    numbers = {key: value for key, value in (settings or {}).items() if key != _ASSIGNORS}
    assignors = (settings or {}).get(_ASSIGNORS, ["uniform", "range"])
    if isinstance(assignors, str):
        assignors = [name.strip() for name in assignors.split(",")] if assignors.strip() else []
    names = [_text(name, _ASSIGNORS) for name in listed(assignors, _ASSIGNORS)]
    if not names:
        raise PartwrightError(f"{_ASSIGNORS} is empty: name at least uniform or range")
    config = _config(numbers, _CONSUMER)
    if config["heartbeat_interval_ms"] >= config["session_timeout_ms"]:
        raise PartwrightError(
            f"{_HEARTBEAT} ({config['heartbeat_interval_ms']}) must be less than {_SESSION} "
            f"({config['session_timeout_ms']}): no broker starts with others"
        )
    return {**config, "assignors": names}


class ClassicGroup:
    """A group of the classic protocol, as its coordinator knows it; it never changes: `step` gives another one.

    Exact to `GroupMetadataManager` of kafka-group-coordinator 4.4.0.
    """

    __slots__ = ("_group",)

    def __init__(self, config: Mapping[str, object] | None = None) -> None:
        """A group that nobody has joined yet.

        Args:
            config: Of the broker: `group.initial.rebalance.delay.ms`, `group.min.session.timeout.ms`,
                `group.max.session.timeout.ms` and `group.max.size`.

        Raises:
            PartwrightError: A key is unknown, or its value is invalid.
        """
        self._group = _core.ClassicGroup(classic_config(config))

    @property
    def state(self) -> Json:
        """The group's present state.

        `state` (Kafka's name; None before there is a group), `generation`, `protocol`, `leader`, `members` in the order
        of the coordinator's map, and `pending`: how many got an ID and have not joined again with it.
        """
        return self._group.state()

    def step(self, event: Mapping[str, object]) -> tuple[Self, list[Json]]:
        """The group after an event, and the answers until then.

        Args:
            event: `at_ms`, `request` and the request's own fields; `tag`, a number by which its answer is known.

                * `join`: `member_id` ("" if it has none), `new_id` (the one that the coordinator should give it; Kafka
                  draws it), `instance_id`, `session_timeout_ms` (45000), `rebalance_timeout_ms` (300000), `protocols`,
                  a list of pairs, an assignor and the member's metadata for it as text; `member_id_required` (true
                  from version 4 of the request on) and `skip_assignment` (true from version 9 on, KIP-814).
                * `sync`: `member_id`, `generation`, `instance_id`, `protocol`, and from the leader `assignments`,
                  texts by member id.
                * `heartbeat` and `commit`: `member_id`, `generation` and `instance_id`.
                * `leave`: `members`, a list of objects with `member_id` and `instance_id`.
                * `wait`: time passes. `move`: another broker takes the group over, and reads it from
                  `__consumer_offsets` as it was after its last assignment, with only the chosen one of each member's
                  assignors.

        Returns:
            The next group, and the answers in the order in which they were given: `at_ms`, `tag`, `error` (Kafka's
            name, or NONE), and what the request's answer has; all else is None. The `assignment` of a `sync` is ""
            where Kafka sends no bytes: to whoever is assigned nothing, and to whoever is refused.

        Raises:
            PartwrightError: The event is invalid.

        Examples:
            >>> group, answers = ClassicGroup().step({"request": "heartbeat", "at_ms": 0, "member_id": "c1"})
            >>> answers[0]["error"]
            'UNKNOWN_MEMBER_ID'
        """
        kind, at_ms, tag, fields = _event(event, _REQUESTS)
        with _refusals(kind, fields):
            group, answers = self._group.step(at_ms, tag, kind, _classic_request(kind, fields))
        next_group = type(self).__new__(type(self))
        next_group._group = group  # noqa: SLF001 - of our own class
        return next_group, answers


class ConsumerGroup:
    """A group of KIP-848's protocol, as its coordinator knows it; it never changes: `step` gives another one.

    Exact to `GroupMetadataManager` and `CurrentAssignmentBuilder` of kafka-group-coordinator 4.4.0.
    """

    __slots__ = ("_group", "_topics")

    def __init__(
        self, config: Mapping[str, object] | None = None, topics: Mapping[str, int] | None = None
    ) -> None:
        """A group that nobody has joined yet.

        Args:
            config: Of the broker: `group.consumer.session.timeout.ms`, `group.consumer.heartbeat.interval.ms`,
                `group.consumer.assignment.interval.ms`, `group.consumer.max.size` and `group.consumer.assignors`.
            topics: By name, how many partitions a topic has.

        Raises:
            PartwrightError: A key is unknown, or a value is invalid.
        """
        self._topics: dict[str, int | None] = {**_topic_counts(topics)}
        group = _core.ConsumerGroup(consumer_config(config))
        self._group = group.step(0, 0, "topics", {"topics": list(self._topics.items())})[0]

    @property
    def state(self) -> Json:
        """The group's present state.

        `state` (Kafka's name; None before there is a group), `epoch`, `assignment_epoch`, and `members`: for each its
        `id`, `epoch`, `previous_epoch`, `state`, what is `assigned` to it, what it is `revoking`, and its `target`.
        """
        state = self._group.state()
        for member in state["members"]:
            for name in ("assigned", "revoking", "target"):
                member[name] = _named(self._topics, member[name])
        return state

    def step(self, event: Mapping[str, object]) -> tuple[Self, list[Json]]:
        """The group after an event, and the answers.

        Args:
            event: `at_ms`, `request` and the request's own fields; `tag`, a number by which its answer is known.

                * `heartbeat`: `member_id`, `epoch` (0 joins, -1 leaves, -2 leaves for a while), and, if they are new or
                  have changed, `instance_id`, `rack_id`, `rebalance_timeout_ms`, `topics`, `assignor`, and `owned`,
                  lists of partitions by topic.
                * `commit`: `member_id`, `epoch`, and the `partitions`, by topic.
                * `topics`: from now on the cluster has these `topics`.
                * `wait`: time passes. `move`: another broker takes the group over, and reads everything from
                  `__consumer_offsets`; sessions start anew.

        Returns:
            The next group, and the answers: `at_ms`, `tag`, `error` (Kafka's name, or NONE), `epoch`, and `assignment`,
            lists of partitions by topic, None if it has not changed.

        Raises:
            PartwrightError: The event is invalid, or an assignor has no answer.

        Examples:
            >>> group = ConsumerGroup(topics={"t": 2})
            >>> join = {"request": "heartbeat", "at_ms": 0, "member_id": "c1", "epoch": 0, "topics": ["t"], "owned": {}}
            >>> group, answers = group.step({**join, "rebalance_timeout_ms": 300000})
            >>> answers[0]["epoch"], answers[0]["assignment"]
            (2, {'t': [0, 1]})
        """
        kind, at_ms, tag, fields = _event(event, _CONSUMER_REQUESTS)
        with _refusals(kind, fields):
            return self._step(kind, at_ms, tag, fields)

    def _step(self, kind: str, at_ms: int, tag: int, fields: Fields) -> tuple[Self, list[Json]]:
        group, topics, request = self._group, dict(self._topics), dict[str, object]()
        if kind == "topics":
            existing = _topic_counts(fields.get("topics"))
            topics = {name: existing.get(name) for name in topics | existing}
            request = {"topics": list(topics.items())}
        elif kind == "heartbeat":
            group, topics = self._known(at_ms, [*(fields.get("topics") or ()), *(fields.get("owned") or ())])
            request = _heartbeat(fields, list(topics))
        elif kind == "commit":
            partitions = fields.get("partitions") or {}
            group, topics = self._known(at_ms, list(partitions))
            request = {
                "member": fields.get("member_id", ""),
                "epoch": fields.get("epoch", -1),
                "partitions": _places(partitions, topics),
            }
        group, answers = group.step(at_ms, tag, kind, request)
        for answer in answers:
            if answer["assignment"] is not None:
                answer["assignment"] = _named(topics, answer["assignment"])
        next_group = type(self).__new__(type(self))
        next_group._group, next_group._topics = group, topics  # noqa: SLF001 - of our own class
        return next_group, answers

    def _known(self, at_ms: int, names: Sequence[str]) -> tuple[_core.ConsumerGroup, dict[str, int | None]]:
        """The group, and its topics with those that are named and not there."""
        unknown = [name for name in dict.fromkeys(names) if name not in self._topics]
        topics = {**self._topics, **dict.fromkeys(unknown)}
        group = self._group
        if unknown:
            group, _ = group.step(at_ms, 0, "topics", {"topics": list(topics.items())})
        return group, topics


@contextmanager
def _refusals(kind: str, fields: Mapping[str, object]) -> Iterator[None]:
    """Refuse an event with a field of another type than the request takes."""
    try:
        yield
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, PartwrightError):
            raise
        raise PartwrightError(
            f"a {kind} has a field of another kind than it takes: {shown(dict(fields))}; `step` says what each is"
        ) from error


def _topic_counts(value: Mapping[str, int] | None) -> dict[str, int]:
    topics: Any = {} if value is None else value
    counts = object_fields(topics, "topics", topics, needs=None)
    return {name: whole(count, f"topic {name}", 1, MOST_INT) for name, count in counts.items()}


def _named(topics: Iterable[str], places: list[tuple[int, int]]) -> dict[str, list[int]]:
    names, lists = list(topics), dict[str, list[int]]()
    for topic, partition in places:
        lists.setdefault(names[topic], []).append(partition)
    return lists


def _config(config: Mapping[str, object] | None, known: Mapping[str, tuple[str, int]]) -> dict[str, int]:
    fields = object_fields({} if config is None else config, "config", tuple(known), needs=None)
    return {
        name: whole(fields.get(key, default), key, 0 if key in _EITHER else 1, MOST_INT)
        for key, (name, default) in known.items()
    }


def _event(
    event: Mapping[str, object], requests: Mapping[str, tuple[str, ...]]
) -> tuple[str, int, int, Fields]:
    kind = event.get("request") if isinstance(event, dict) else None
    if not isinstance(kind, str) or kind not in requests:
        raise PartwrightError(f"an event's request is {', '.join(requests)}, not {shown(kind)}")
    fields = object_fields(event, f"a {kind}", ("at_ms", "request", "tag", *requests[kind]), needs="at_ms")
    at_ms = whole(fields["at_ms"], "at_ms", 0, MOST_LONG // 4)
    return kind, at_ms, whole(fields.get("tag", 0), "tag", 0, MOST_INT), fields


def is_text(value: object) -> TypeGuard[str]:
    r"""Whether Kafka can send this text: an unpaired surrogate cannot be sent.

    >>> is_text("c1"), is_text("\ud800"), is_text(1)
    (True, False, False)
    """
    return isinstance(value, str) and not any("\ud800" <= each <= "\udfff" for each in value)


def _text(value: object, what: str) -> str:
    if not is_text(value):
        raise PartwrightError(f"{what} is text, not {shown(value)}")
    return value


def _sender(fields: Mapping[str, object]) -> dict[str, object]:
    return {
        "member": _text(fields.get("member_id", ""), "member_id"),
        "generation": whole(fields.get("generation", -1), "generation", -(2**31), MOST_INT),
        "instance_id": fields.get("instance_id"),
    }


def _classic_request(kind: str, fields: Fields) -> dict[str, object]:
    if kind == "join":
        timeouts = {"session_timeout_ms": 45_000, "rebalance_timeout_ms": 300_000}
        return {
            "member": _text(fields.get("member_id", ""), "member_id"),
            "new_id": _text(fields.get("new_id", ""), "new_id"),
            "instance_id": fields.get("instance_id"),
            **{name: whole(fields.get(name, ms), name, 0, MOST_INT) for name, ms in timeouts.items()},
            "protocols": [tuple(pair) for pair in fields.get("protocols", ())],
            "requires_id": fields.get("member_id_required", True),
            "skips_assignment": fields.get("skip_assignment", True),
            "reason": "",
        }
    if kind == "sync":
        assignments = list((fields.get("assignments") or {}).items())
        return {**_sender(fields), "protocol": fields.get("protocol"), "assignments": assignments}
    if kind == "leave":
        members = listed(fields.get("members") or (), "members")
        return {"members": [(each.get("member_id") or "", each.get("instance_id")) for each in members]}
    return {} if kind in ("wait", "move") else _sender(fields)


def _heartbeat(fields: Fields, topics: list[str]) -> dict[str, object]:
    owned, subscribed, timeout_ms = (fields.get(name) for name in ("owned", "topics", "rebalance_timeout_ms"))
    return {
        "member": _text(fields.get("member_id", ""), "member_id"),
        "epoch": whole(fields.get("epoch", 0), "epoch", -(2**31), MOST_INT),
        "instance_id": fields.get("instance_id"),
        "rack_id": fields.get("rack_id"),
        "rebalance_timeout_ms": optional(timeout_ms, "rebalance_timeout_ms", 0, MOST_INT),
        "topics": None if subscribed is None else [topics.index(name) for name in subscribed],
        "assignor": fields.get("assignor"),
        "owned": None if owned is None else _places(owned, topics),
    }


def _places(partitions: Mapping[str, Iterable[int]], topics: Iterable[str]) -> list[tuple[int, int]]:
    names = list(topics)
    return [(names.index(name), partition) for name, those in partitions.items() for partition in those]
