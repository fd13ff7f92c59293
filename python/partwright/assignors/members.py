"""Check a consumer group as a caller writes it down, and convert it to the core's columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from partwright import _core
from partwright._check import as_int, counted, shown
from partwright.assignors.columns import INT32
from partwright.errors import PartwrightError

__all__ = [
    "INT32",
    "Group",
    "Member",
    "Owned",
    "owned_before",
    "owned_by",
    "owned_pairs",
    "replica_lists",
    "with_topics",
]

Member: TypeAlias = Mapping[str, object]
"""A member's fields."""
_FIELDS = ("id", "topics", "owned", "generation", "instance_id", "rack", "client", "streams")


class Owned(NamedTuple):
    """The partitions of an earlier group's members: for each, a list of indices into `topics` and of partitions."""

    members: Sequence[str]
    topics: Sequence[str]
    lists: pa.ListArray


@dataclass(frozen=True)
class Group:
    """A group in columns.

    Attributes:
        topics: The topics' names; topics that only members name come last, without partitions.
        partitions: How many partitions each of them has.
        members: The members' ids.
        member_racks: The number of each member's rack; null if it has no rack.
        rack_names: The racks' names, by number.
        subscribed: By member, a list of places in `topics`.
        racks: By topic and partition, lists of the numbers of the replicas' racks; None if no racks are given.
        batches: The record batches of topics and of members, as the core takes them.
        topic_ids: The topics' IDs, if the assignor uses them (`topic_ids.py`).
    """

    topics: list[str]
    partitions: pa.Array
    members: list[str]
    member_racks: pa.Array
    rack_names: list[str]
    subscribed: pa.ListArray
    racks: pa.ListArray | None
    batches: tuple[pa.RecordBatch, pa.RecordBatch]
    topic_ids: list[str] | None = None

    @classmethod
    def of(
        cls,
        topics: Mapping[str, int],
        members: Iterable[Member | str] | Mapping[str, Iterable[str]],
        racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None,
        owned: Owned | None = None,
        order: Sequence[int] | None = None,
        no_racks: Sequence[int] | None = None,
    ) -> Group:
        """Check a group and put it into columns.

        `no_racks` says for each member how it reports that it has no rack, which only leaders of other clients
        distinguish.

        Raises:
            PartwrightError: The group is invalid; the sentence names the field.

        Examples:
            >>> group = Group.of({"t": 2}, {"c1": ["t", "u"]})
            >>> group.topics, group.partitions.to_pylist(), group.subscribed.to_pylist()
            (['t', 'u'], [2, 0], [[0, 1]])
        """
        columns = _Columns(_counts(topics))
        if isinstance(members, Mapping):
            members = [{"id": name, "topics": subscribed} for name, subscribed in members.items()]
        if not _is_iterable(members):
            raise PartwrightError(f"members is a list of ids or of objects, not {shown(members)}")
        for member in with_topics(members, topics):
            columns.add(member, has_owned=owned is not None)
        ids = list(columns.ids)
        subscribed = columns.subscriptions()
        owned_lists = columns.owned_lists() if owned is None else owned_before(owned, ids, columns.numbers)
        # Only now are all topics known.
        replicas = None
        if racks:
            replicas = replica_lists(racks, columns.counts, columns.numbers, columns.rack_numbers)
        of_members = {
            "id": _texts(ids, "id"),
            "instance_id": _texts(columns.instances, "instance_id"),
            "rack": pa.array(columns.racks, pa.int32()),
            "generation": pa.array(columns.generations, pa.int32()),
            "topics": subscribed,
            "owned_topic": owned_lists[0],
            "owned_partition": owned_lists[1],
        }
        if no_racks is not None:
            of_members["no_rack"] = pa.array(no_racks, pa.int32())
        batch = pa.RecordBatch.from_pydict(of_members)
        return cls.of_columns(
            columns.counts, list(columns.numbers), batch, replicas, columns.rack_numbers, order
        )

    @classmethod
    def of_columns(
        cls,
        counts: Mapping[str, int],
        topics: list[str],
        members: pa.RecordBatch,
        replicas: pa.ListArray | None,
        racks: Iterable[str],
        order: Sequence[int] | None,
    ) -> Group:
        """A group whose members are in columns already.

        Args:
            counts: By name, how many partitions a topic has.
            topics: All names: first the topics that have a count, then others that members name.
            members: The members as the core takes them.
            replicas: By topic and partition, the numbers of the replicas' racks.
            racks: The racks' names, by number.
            order: See `partwright.assign`.
        """
        missing = len(topics) - len(counts)
        partitions = list(counts.values())
        of_topics = {
            "name": _texts(topics, "topics"),
            "partitions": pa.array(partitions + [None] * missing, pa.int32()),
        }
        if replicas is not None:
            of_topics["racks"] = replicas
        if order is not None:
            of_topics["order"] = _lists([0, *[len(order)] * len(topics)], list(order))
        return cls(
            topics,
            pa.array(partitions + [0] * missing, pa.int32()),
            members["id"].to_pylist(),
            members["rack"],
            list(racks),
            members["topics"],
            replicas,
            (pa.RecordBatch.from_pydict(of_topics), members),
        )


def with_topics(members: Iterable[object], topics: Iterable[str]) -> list[object]:
    """Members as objects; one that is only an ID subscribes to all topics.

    Examples:
        >>> with_topics(["c1"], {"t": 3})
        [{'id': 'c1', 'topics': ['t']}]
    """
    # What cannot be the topics is refused with the group.
    everything = list(topics) if _is_iterable(topics) or isinstance(topics, Mapping) else []
    return [{"id": each, "topics": everything} if isinstance(each, str) else each for each in members]


def owned_by(given: Mapping[str, Any]) -> Owned:
    """The partitions that members own, from what each owns: pairs of a topic and a partition, or lists by topic.

    Raises:
        PartwrightError: A member's id is not text, or what it owns is invalid.

    Examples:
        >>> owned = owned_by({"c1": {"t": [0, 1]}, "c2": []})
        >>> owned.members, owned.topics, owned.lists.to_pylist()[0]
        (['c1', 'c2'], ['t'], [{'topic': 0, 'partition': 0}, {'topic': 0, 'partition': 1}])
    """
    for name in given:
        if not isinstance(name, str):
            raise PartwrightError(f"owned: a member's id is text, not {shown(name)}")
    numbers: dict[str, int] = {}
    pairs: list[list[Any] | None] = [owned_pairs(name, claimed) for name, claimed in given.items()]
    found = _core.pair_lists(pairs, numbers)
    if isinstance(found, tuple):
        member, place = found
        raise PartwrightError(f"member {list(given)[member]!r}: {_odd((pairs[member] or [])[place])}")
    topics, partitions = found
    values = pa.StructArray.from_arrays([topics.values, partitions.values], ["topic", "partition"])
    return Owned(list(given), list(numbers), pa.ListArray.from_arrays(topics.offsets, values))


class _Columns:
    """The members' columns while members are read."""

    def __init__(self, counts: dict[str, int]) -> None:
        self.counts = counts
        self.numbers = {name: number for number, name in enumerate(counts)}
        self.rack_numbers: dict[str, int] = {}
        self.ids: dict[str, None] = {}
        self.instances: list[str | None] = []
        self.racks: list[int | None] = []
        self.generations: list[int] = []
        self.subscribed: list[list[object]] = []
        self.owned: list[list[object] | None] = []

    def add(self, member: object, *, has_owned: bool) -> None:
        if not isinstance(member, Mapping):
            raise PartwrightError(f"a member is its id, or an object with id and topics, not {shown(member)}")
        name = member.get("id")
        if not isinstance(name, str):
            raise PartwrightError(f"a member's id is text, not {shown(name)}")
        if name in self.ids:
            raise PartwrightError(f"members has {name!r} twice: each id once")
        for field in member:
            if field == "streams" and member[field] is not None:
                raise PartwrightError(
                    f"member {name!r} has streams, which only old-range and old-roundrobin know"
                )
            if field not in _FIELDS:
                known = f"{', '.join(_FIELDS[:-1])} and {_FIELDS[-1]}"
                raise PartwrightError(f"member {name!r} has a field {field!r}: there are {known}")
        self.ids[name] = None
        subscribed: Any = member.get("topics")
        if not _is_iterable(subscribed):
            raise PartwrightError(f"member {name!r}: topics is a list of names, not {shown(subscribed)}")
        self.subscribed.append(subscribed if isinstance(subscribed, list) else list(subscribed))
        self.instances.append(_optional_text(name, "instance_id", member))
        rack = _optional_text(name, "rack", member)
        self.racks.append(self._rack(rack) if rack else None)
        self.generations.append(_generation(name, member.get("generation")))
        claimed = member.get("owned")
        if claimed is not None and has_owned:
            raise PartwrightError(f"member {name!r} says what it owned, and so does owned=: leave one out")
        self.owned.append(None if claimed is None else owned_pairs(name, claimed))

    def subscriptions(self) -> pa.ListArray:
        """Lists of the topics' numbers; a topic without a count gets the next number."""
        found = _core.name_lists(self.subscribed, self.numbers)
        if isinstance(found, tuple):
            member, place = found
            odd = self.subscribed[member][place]
            raise PartwrightError(f"member {self._named(member)}: a topic is text, not {shown(odd)}")
        return found[0]

    def owned_lists(self) -> tuple[pa.ListArray, pa.ListArray]:
        """The partitions that members own: lists of topics and of partitions, null for a member that reports none."""
        found = _core.pair_lists(self.owned, self.numbers)
        if isinstance(found, tuple):
            member, place = found
            raise PartwrightError(f"member {self._named(member)}: {_odd((self.owned[member] or [])[place])}")
        topics, partitions = found
        return topics, partitions

    def _named(self, member: int) -> str:
        return repr(list(self.ids)[member])

    def _rack(self, rack: str) -> int:
        return self.rack_numbers.setdefault(rack, len(self.rack_numbers))


def replica_lists(
    racks: Mapping[str, Sequence[Sequence[str | None]]],
    counts: Mapping[str, int],
    numbers: Iterable[str],
    rack_numbers: dict[str, int],
) -> pa.ListArray:
    """By topic and partition, the racks of its replicas, the preferred leader's first; -1 for a replica without a rack.

    Args:
        racks: By topic, for each of its partitions the racks of the replicas.
        counts: How many partitions topics have.
        numbers: All topics' names, by number.
        rack_numbers: The racks' numbers; a new rack gets the next.

    Raises:
        PartwrightError: The racks are invalid.
    """
    if not isinstance(racks, Mapping):
        raise PartwrightError(f"racks has a list of lists by topic, not {shown(racks)}")
    for name in racks:
        if name not in counts:
            raise PartwrightError(f"racks has a topic {name!r} that topics lacks")
    ends, replica_ends, found = [0], [0], []
    for name in numbers:
        count = counts.get(name, 0)
        partitions = racks.get(name)
        if partitions is None:
            partitions = [()] * count
        if not _is_list(partitions) or len(partitions) != count:
            told = f"{len(partitions)} lists" if _is_list(partitions) else shown(partitions)
            raise PartwrightError(
                f"racks of topic {name!r}: {told}, but it has {counted(count, 'partition')}"
            )
        for replicas in partitions:
            if not _is_list(replicas) or not all(rack is None or isinstance(rack, str) for rack in replicas):
                raise PartwrightError(f"racks of topic {name!r}: {shown(replicas)} is not a list of racks")
            found += [
                -1 if rack is None else rack_numbers.setdefault(rack, len(rack_numbers)) for rack in replicas
            ]
            replica_ends.append(len(found))
        ends.append(len(replica_ends) - 1)
    replicas = _lists(replica_ends, found)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), replicas)


def owned_pairs(name: str, claimed: Any) -> list[Any]:
    """The partitions that a member owns as a list, whose objects are not checked yet.

    Args:
        name: The member's id, for the error.
        claimed: Pairs of a topic and a partition, or a list of partitions by topic.

    Raises:
        PartwrightError: It is neither.

    Examples:
        >>> owned_pairs("c1", {"t": [0, 1]}), owned_pairs("c1", [["t", 0]])
        ([('t', 0), ('t', 1)], [['t', 0]])
    """
    if isinstance(claimed, list):
        return claimed
    if isinstance(claimed, Mapping):
        for partitions in claimed.values():
            if not _is_iterable(partitions):
                raise PartwrightError(
                    f"member {name!r}: owned has a list of partitions by topic, not {shown(partitions)}"
                )
        return [(topic, partition) for topic, those in claimed.items() for partition in those]
    if not _is_iterable(claimed):
        raise PartwrightError(f"member {name!r}: owned is a list of [topic, partition], not {shown(claimed)}")
    return list(claimed)


def _odd(pair: object) -> str:
    """Say what is wrong with an entry of `owned`."""
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:  # noqa: PLR2004 - a topic and a partition
        return f"owned is a list of [topic, partition], not of {shown(pair)}"
    if not isinstance(pair[0], str):
        return f"a topic is text, not {shown(pair[0])}"
    return f"owned has {shown(pair[1])}, which is not a partition"


def _counts(topics: object) -> dict[str, int]:
    if not isinstance(topics, Mapping):
        raise PartwrightError(
            f"topics has a number of partitions by name, such as {{'orders': 12}}, not {shown(topics)}"
        )
    counts = {}
    for name, given in topics.items():
        if not isinstance(name, str):
            raise PartwrightError(f"topics: a name is text, not {shown(name)}")
        count = as_int(given)
        if count is None or not 0 <= count < INT32:
            raise PartwrightError(f"topics: {name!r} has {shown(given)} partitions, not 0 to {INT32 - 1}")
        counts[name] = count
    return counts


def owned_before(
    owned: Owned, members: Sequence[str], numbers: dict[str, int]
) -> tuple[pa.ListArray, pa.ListArray]:
    """The partitions that members had before, in this group's numbers; a topic that it lacks gets the next number."""
    places = {name: place for place, name in enumerate(owned.members)}
    rows = [places.get(name) for name in members]
    renumbered = [numbers.setdefault(name, len(numbers)) for name in owned.topics]
    pairs = owned.lists.values
    topics = pairs.field("topic")
    if renumbered != list(range(len(renumbered))):
        topics = pa.array(renumbered, pa.int32()).take(topics)
    # Members in the same order are a slice. Arrow takes lists of numbers in half the time that structs need.
    first = rows[0] if rows else None
    is_slice = first is not None and rows == list(range(first, first + len(rows)))
    of_topics, of_partitions = (
        pa.ListArray.from_arrays(owned.lists.offsets, values) for values in (topics, pairs.field("partition"))
    )
    if first is not None and is_slice:
        return of_topics.slice(first, len(rows)), of_partitions.slice(first, len(rows))
    taken = pa.array(rows, pa.int32())
    return of_topics.take(taken), of_partitions.take(taken)


def _lists(ends: list[int], values: list[int]) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(values, pa.int32()))


def _texts(values: Sequence[str | None], field: str) -> pa.Array:
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError as error:
        raise PartwrightError(f"{field}: {error.object!r} is not UTF-8, as every name in Kafka is") from None


def _optional_text(name: str, field: str, member: Member) -> str | None:
    value = member.get(field)
    if value is not None and not isinstance(value, str):
        raise PartwrightError(f"member {name!r}: {field} is text, not {shown(value)}")
    return value


def _generation(name: str, given: object) -> int:
    if given is None:
        return -1
    if type(given) is not int or not -1 <= given < INT32:
        raise PartwrightError(f"member {name!r}: generation is -1 to {INT32 - 1}, not {shown(given)}")
    return given


def _is_iterable(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping))


def _is_list(given: object) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, (str, bytes))
