"""Find a user's own assignor, call it as Kafka does, and check its answer.

>>> class Nothing:
...     name = "nothing"
...     def assign(self, cluster, group_subscription):
...         return {"c2": [("t", 9)]}
>>> OwnAssignor.of(Nothing).lists(Group.of({"t": 2}, {"c1": ["t"], "c2": ["t"]}))
Traceback (most recent call last):
    ...
partwright.errors.PartwrightError: assignor 'nothing': it gives 'c2' partition 9 of 't', which has 2 partitions
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from operator import index
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import counted, shown
from partwright.assignors.consumer_partition_assignor import (
    ConsumerGroupMetadata,
    GroupCluster,
    MemberAssignment,
    PartitionInfo,
    Subscription,
    TopicPartition,
)
from partwright.assignors.members import Group, is_list
from partwright.errors import PartwrightError
from partwright.user_code import called, made

_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[^\W\d]\w*(\.[^\W\d]\w*)*|\.[^\W\d]\w*)")
_PROTOCOLS = ("EAGER", "COOPERATIVE")
_HIGHEST_VERSION = 2**15 - 1
_INT = pa.int32()
# The type of the core's lists.
_LISTS = pa.list_(
    pa.field(
        "item",
        pa.struct([pa.field(name, _INT, nullable=False) for name in ("topic", "partition")]),
        nullable=False,
    )
)


class OwnAssignor:
    """A user's own assignor, called as Kafka calls one; every call and answer is checked."""

    def __init__(self, assignor: object) -> None:
        self._assignor = assignor
        name, class_name = self._attribute("name", None), type(assignor).__qualname__
        if not isinstance(name, str) or not name:
            raise PartwrightError(f"an assignor has a name: {class_name}.name is {shown(name)}")
        self.name = name
        if not callable(getattr(assignor, "assign", None)):
            raise PartwrightError(
                f"an assignor assigns: {class_name} has no assign(cluster, group_subscription)"
            )
        protocols = self._attribute("supported_protocols", ("EAGER",))
        if not is_list(protocols) or not protocols or not all(each in _PROTOCOLS for each in protocols):
            raise PartwrightError(
                f"{class_name}.supported_protocols is a list of EAGER and COOPERATIVE, not {shown(protocols)}"
            )
        version = self._attribute("version", 0)
        if type(version) is not int or not 0 <= version <= _HIGHEST_VERSION:
            raise PartwrightError(f"{class_name}.version is 0 to {_HIGHEST_VERSION}, not {shown(version)}")
        self.protocols: tuple[str, ...] = tuple(protocols)

    @classmethod
    def of(cls, assignor: object) -> OwnAssignor:
        """An assignor that is an object, its class, or the class's path, `package.module:Class` or with a dot.

        Raises:
            PartwrightError: It cannot be imported or made, or is not an assignor.
        """
        if isinstance(assignor, OwnAssignor):
            return assignor
        return cls(made("assignor", assignor))

    def lists(self, group: Group) -> pa.ListArray:
        """Its assignment for each member.

        Raises:
            PartwrightError: Its code raises, or its answer is invalid.
        """
        subscriptions = self._subscriptions(group)
        parts = self.assignment(_cluster(group), subscriptions)
        generation = max([0, *(each.generation_id or 0 for each in subscriptions.values())]) + 1
        for name, part in parts.items():
            self.tell(part, ConsumerGroupMetadata(generation, name, subscriptions[name].group_instance_id))
        numbers = {name: number for number, name in enumerate(group.topics)}
        return pa.array(
            [
                [{"topic": numbers[topic], "partition": at} for topic, at in part.partitions]
                for part in parts.values()
            ],
            _LISTS,
        )

    def assignment(
        self, cluster: GroupCluster, subscriptions: Mapping[str, Subscription]
    ) -> dict[str, MemberAssignment]:
        """Its assignment for each member, in the order of the subscriptions.

        Raises:
            PartwrightError: See `lists`.
        """
        answer = self._call("assign", cluster, dict(subscriptions))
        if not isinstance(answer, Mapping):
            raise self._wrong(f"assign gives lists of (topic, partition) by member, not {shown(answer)}")
        for stranger in answer.keys() - subscriptions.keys():
            raise self._wrong(
                f"it gives partitions to {stranger!r}, and there is no such member in the group"
            )
        parts = {name: self._part(name, answer.get(name, ())) for name in subscriptions}
        readers = self._check(parts, subscriptions, cluster)
        if "COOPERATIVE" in self.protocols:
            # Kafka ignores members that are left out.
            self._check_cooperative(readers, {name: subscriptions[name] for name in answer})
        return parts

    def user_data(self, topics: set[str]) -> bytes | None:
        """The bytes that a member with these topics sends along.

        Raises:
            PartwrightError: Its code raises, or returns something other than bytes.
        """
        if not hasattr(self._assignor, "subscription_user_data"):
            return None
        data = self._call("subscription_user_data", topics)
        if data is not None and not isinstance(data, bytes):
            raise self._wrong(f"subscription_user_data gives bytes or None, not {shown(data)}")
        return data

    def tell(self, part: MemberAssignment, metadata: ConsumerGroupMetadata) -> None:
        """Tell it what a member got.

        Raises:
            PartwrightError: Its code raises.
        """
        if hasattr(self._assignor, "on_assignment"):
            self._call("on_assignment", part, metadata)

    def _subscriptions(self, group: Group) -> dict[str, Subscription]:
        subscriptions = {}
        for row in group.batches[1].to_pylist():
            topics = [group.topics[number] for number in row["topics"]]
            pairs = zip(row["owned_topic"] or (), row["owned_partition"] or (), strict=True)
            subscriptions[row["id"]] = Subscription(
                topics,
                self.user_data(set(topics)),
                [TopicPartition(group.topics[at], partition) for at, partition in pairs],
                None if row["generation"] < 0 else row["generation"],
                row["instance_id"],
                None if row["rack"] is None else group.rack_names[row["rack"]],
            )
        return subscriptions

    def _part(self, member: str, part: object) -> MemberAssignment:
        partitions: Any
        partitions, data = part if isinstance(part, MemberAssignment) else (part, None)
        is_several = isinstance(partitions, Iterable) and not isinstance(partitions, (str, bytes, Mapping))
        # The assignor may return a generator.
        pairs = called(self._path("assign"), lambda: list(partitions)) if is_several else [partitions]
        for pair in pairs:
            if not (is_list(pair) and len(pair) == 2 and isinstance(pair[0], str) and _is_whole(pair[1])):  # noqa: PLR2004
                raise self._wrong(
                    f"what it gives to {member!r} is a list of (topic, partition), not {shown(pair)}"
                )
        return MemberAssignment([TopicPartition(topic, index(at)) for topic, at in pairs], data)

    def _check(
        self,
        parts: Mapping[str, MemberAssignment],
        subscriptions: Mapping[str, Subscription],
        cluster: GroupCluster,
    ) -> dict[tuple[str, int], str]:
        """The reader of each partition."""
        readers: dict[tuple[str, int], str] = {}
        for member, part in parts.items():
            topics = set(subscriptions[member].topics)
            for topic, partition in part.partitions:
                what = f"it gives {member!r} partition {partition} of {topic!r}"
                if topic not in topics:
                    raise self._wrong(f"{what}, a topic that this member does not subscribe to")
                count = cluster.partition_count_for_topic(topic) or 0
                if not 0 <= partition < count:
                    raise self._wrong(f"{what}, which has {counted(count, 'partition')}")
                if (topic, partition) in readers:
                    other = readers[topic, partition]
                    also = "twice" if other == member else f"and {other!r} too"
                    raise self._wrong(f"{what} {also}: each partition is for one member, once")
                readers[topic, partition] = member
        return readers

    def _check_cooperative(
        self, readers: Mapping[tuple[str, int], str], subscriptions: Mapping[str, Subscription]
    ) -> None:
        """Check as `ConsumerCoordinator.validateCooperativeAssignment` does."""
        owned = {member: set(each.owned_partitions) for member, each in subscriptions.items()}
        for member, those in owned.items():
            for pair in sorted(those):
                reader = readers.get(pair, member)
                if reader != member and pair not in owned[reader]:
                    raise self._wrong(
                        f"it gives {reader!r} partition {pair.partition} of {pair.topic!r} while {member!r} owns it: a "
                        "cooperative assignor withholds it once (Kafka's own consumer throws IllegalStateException)"
                    )

    def _attribute(self, name: str, default: object) -> Any:
        return called(self._path(name), lambda: getattr(self._assignor, name, default))

    def _call(self, method: str, *arguments: object) -> object:
        return called(self._path(method), lambda: getattr(self._assignor, method)(*arguments))

    def _path(self, name: str) -> str:
        return f"{type(self._assignor).__qualname__}.{name}"

    def _wrong(self, what: str) -> PartwrightError:
        return PartwrightError(f"assignor {self.name!r}: {what}")


def is_path(name: str) -> bool:
    """Whether an assignor's name is the path of a class.

    Examples:
        >>> [is_path(name) for name in ("mine:Mine", "pack.mine.Mine", "sticky", "sticky@2.8", "a.b:")]
        [True, True, False, False, False]
    """
    return _PATH.fullmatch(name) is not None


def _cluster(group: Group) -> GroupCluster:
    counts, racks = group.partitions.to_pylist(), None if group.racks is None else group.racks.to_pylist()
    infos = {}
    for number in sorted(pc.unique(group.subscribed.values).to_pylist()):
        name, count = group.topics[number], counts[number]
        near = [()] * count if racks is None else racks[number]
        names = [[group.rack_names[rack] for rack in those if rack >= 0] for those in near]
        if count:
            infos[name] = [PartitionInfo(name, at, those) for at, those in enumerate(names)]
    return GroupCluster(infos)


def _is_whole(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)
