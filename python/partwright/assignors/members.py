"""Check a consumer group as a caller writes it down, and convert it to the core's columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeGuard

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright._check import as_int, counted, object_fields, shown
from partwright.assignors.tables import INT32, is_table
from partwright.errors import PartwrightError

__all__ = [
    "INT32",
    "Group",
    "Member",
    "Owned",
    "is_list",
    "listed_members",
    "owned_before",
    "owned_by",
    "owned_pairs",
    "replica_lists",
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
        topic_ids: The topics' IDs, if the assignor uses them (`assign.with_topic_ids`).
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

    @property
    def absent_topics(self) -> list[str]:
        """The topics to which members subscribe and that have no count."""
        first = len(self.topics) - self.batches[0]["partitions"].null_count
        subscribed = pc.unique(self.subscribed.values).to_pylist()
        return [self.topics[place] for place in sorted(subscribed) if place >= first]

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
        counts = _counts(topics)
        rows = [_fields(member, has_owned=owned is not None) for member in listed_members(members, topics)]
        ids = _once([row.id for row in rows])
        numbers = {name: number for number, name in enumerate(counts)}
        subscribed = _subscriptions([row.topics for row in rows], ids, numbers)
        owned_lists = (
            _pair_lists([row.owned for row in rows], ids, numbers)
            if owned is None
            else owned_before(owned, ids, numbers)
        )
        rack_numbers: dict[str, int] = {}
        member_racks = [_numbered(rack_numbers, row.rack) if row.rack else None for row in rows]
        # Only now are all topics known.
        replicas = replica_lists(racks, counts, numbers, rack_numbers) if racks else None
        columns = {
            "id": _texts(ids, "id"),
            "instance_id": _texts([row.instance_id for row in rows], "instance_id"),
            "rack": pa.array(member_racks, pa.int32()),
            "generation": pa.array([row.generation for row in rows], pa.int32()),
            "topics": subscribed,
            "owned_topic": owned_lists[0],
            "owned_partition": owned_lists[1],
        }
        if no_racks is not None:
            columns["no_rack"] = pa.array(no_racks, pa.int32())
        batch = pa.RecordBatch.from_pydict(columns)
        return cls.of_columns(counts, list(numbers), batch, replicas, rack_numbers, order)

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


def refuse_turned_round(topics: object, members: object, verb: str) -> None:
    """Refuse topics and members in the wrong order, with the right call.

    Raises:
        PartwrightError: They are in the wrong order.

    Examples:
        >>> refuse_turned_round(["c1", "c2"], {"t": 3}, "assign")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: topics first, then members: pw.assign({'t': 3}, ['c1', 'c2'])
    """
    if _has_counts(members) and not _has_counts(topics) and not is_table(topics):
        raise PartwrightError(f"topics first, then members: pw.{verb}({shown(members)}, {shown(topics)})")


def _has_counts(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(as_int(each) is not None for each in value.values())
    )


def listed_members(members: object, topics: Iterable[str]) -> list[Any]:
    """Members as objects, in any of the forms that callers write; one that is only an ID subscribes to all topics.

    Raises:
        PartwrightError: It is not a list, nor an object of members and their topics.

    Examples:
        >>> listed_members(["c1"], {"t": 3}), listed_members({"c1": ["u"]}, {"t": 3})
        ([{'id': 'c1', 'topics': ['t']}], [{'id': 'c1', 'topics': ['u']}])
    """
    if isinstance(members, Mapping):
        return [{"id": name, "topics": subscribed} for name, subscribed in members.items()]
    if not isinstance(members, Iterable) or isinstance(members, (str, bytes)):
        raise PartwrightError(
            f"members is a list of ids or of objects, such as ['c1', 'c2'], not {shown(members)}"
        )
    # What cannot be the topics is refused with the group.
    everything = list(topics) if _is_iterable(topics) or isinstance(topics, Mapping) else []
    return [{"id": each, "topics": everything} if isinstance(each, str) else each for each in members]


def owned_by(lists: Mapping[str, Any]) -> Owned:
    """The partitions that members own, from what each owns: pairs of a topic and a partition, or lists by topic.

    Raises:
        PartwrightError: A member's id is not text, or what it owns is invalid.

    Examples:
        >>> owned = owned_by({"c1": {"t": [0, 1]}, "c2": []})
        >>> owned.members, owned.topics, owned.lists.to_pylist()[0]
        (['c1', 'c2'], ['t'], [{'topic': 0, 'partition': 0}, {'topic': 0, 'partition': 1}])
    """
    for name in lists:
        if not isinstance(name, str):
            raise PartwrightError(f"owned: a member's id is text, not {shown(name)}")
    numbers: dict[str, int] = {}
    pairs: list[list[Any] | None] = [owned_pairs(name, owned) for name, owned in lists.items()]
    topics, partitions = _pair_lists(pairs, list(lists), numbers)
    values = pa.StructArray.from_arrays([topics.values, partitions.values], ["topic", "partition"])
    return Owned(list(lists), list(numbers), pa.ListArray.from_arrays(topics.offsets, values))


class _Member(NamedTuple):
    """A member's fields, checked but for the names of topics and what it owns, which the core checks faster."""

    id: str
    topics: list[object]
    instance_id: str | None
    rack: str | None
    generation: int
    owned: list[Any] | None


def _fields(member: object, *, has_owned: bool) -> _Member:
    if not isinstance(member, Mapping):
        raise PartwrightError(f"a member is its id, or an object with id and topics, not {shown(member)}")
    name = member.get("id")
    object_fields(member, f"member {shown(name)}" if name is not None else "a member", _FIELDS, None)
    if not isinstance(name, str):
        raise PartwrightError(f"a member's id is text, not {shown(name)}")
    if member.get("streams") is not None:
        raise PartwrightError(
            f"member {shown(name)} has streams, which only old-range and old-roundrobin know"
        )
    subscribed: Any = member.get("topics")
    if not _is_iterable(subscribed):
        raise PartwrightError(f"member {shown(name)}: topics is a list of names, not {shown(subscribed)}")
    owned = member.get("owned")
    if owned is not None and has_owned:
        raise PartwrightError(f"member {shown(name)} says what it owned, and so does owned=: leave one out")
    return _Member(
        name,
        subscribed if isinstance(subscribed, list) else list(subscribed),
        _optional_text(name, "instance_id", member),
        _optional_text(name, "rack", member),
        _generation(name, member.get("generation")),
        None if owned is None else owned_pairs(name, owned),
    )


def _once(ids: list[str]) -> list[str]:
    """IDs of which no two are the same."""
    if len(set(ids)) < len(ids):
        twice = next(name for at, name in enumerate(ids) if name in ids[:at])
        raise PartwrightError(f"members has {shown(twice)} twice: each id once")
    return ids


def _numbered(numbers: dict[str, int], name: str) -> int:
    return numbers.setdefault(name, len(numbers))


def _subscriptions(lists: list[list[object]], ids: Sequence[str], numbers: dict[str, int]) -> pa.ListArray:
    """Lists of the topics' numbers; a topic without a count gets the next number."""
    numbered = _core.name_lists(lists, numbers)
    if isinstance(numbered, tuple):
        member, place = numbered
        raise PartwrightError(
            f"member {shown(ids[member])}: a topic is text, not {shown(lists[member][place])}"
        )
    return numbered[0]


def _pair_lists(
    pairs: list[list[Any] | None], ids: Sequence[str], numbers: dict[str, int]
) -> tuple[pa.ListArray, pa.ListArray]:
    """The partitions that members own: lists of topics and of partitions, null for a member that reports none."""
    lists = _core.pair_lists(pairs, numbers)
    if isinstance(lists, tuple):
        member, place = lists
        raise PartwrightError(f"member {shown(ids[member])}: {_odd((pairs[member] or [])[place])}")
    topics, partitions = lists
    return topics, partitions


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
            raise PartwrightError(f"racks has a topic {shown(name)} that topics lacks")
    ends, replica_ends, all_racks = [0], [0], []
    for name in numbers:
        count = counts.get(name, 0)
        partitions = racks.get(name)
        if partitions is None:
            partitions = [()] * count
        if not is_list(partitions) or len(partitions) != count:
            has = f"{len(partitions)} lists" if is_list(partitions) else shown(partitions)
            raise PartwrightError(
                f"racks of topic {shown(name)}: {has}, but it has {counted(count, 'partition')}"
            )
        for replicas in partitions:
            if not is_list(replicas) or not all(rack is None or isinstance(rack, str) for rack in replicas):
                raise PartwrightError(
                    f"racks of topic {shown(name)}: {shown(replicas)} is not a list of racks"
                )
            all_racks += [-1 if rack is None else _numbered(rack_numbers, rack) for rack in replicas]
            replica_ends.append(len(all_racks))
        ends.append(len(replica_ends) - 1)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), _lists(replica_ends, all_racks))


def owned_pairs(name: str, owned: Any) -> list[Any]:
    """The partitions that a member owns as a list, whose objects are not checked yet.

    Args:
        name: The member's id, for the error.
        owned: Pairs of a topic and a partition, or a list of partitions by topic.

    Raises:
        PartwrightError: It is neither.

    Examples:
        >>> owned_pairs("c1", {"t": [0, 1]}), owned_pairs("c1", [["t", 0]])
        ([('t', 0), ('t', 1)], [['t', 0]])
    """
    if isinstance(owned, list):
        return owned
    if isinstance(owned, Mapping):
        for partitions in owned.values():
            if not _is_iterable(partitions):
                raise PartwrightError(
                    f"member {shown(name)}: owned has a list of partitions by topic, not {shown(partitions)}"
                )
        return [(topic, partition) for topic, those in owned.items() for partition in those]
    if not _is_iterable(owned):
        raise PartwrightError(
            f"member {shown(name)}: owned is a list of [topic, partition], not {shown(owned)}"
        )
    return list(owned)


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
    for name, partitions in topics.items():
        if not isinstance(name, str):
            raise PartwrightError(f"topics: a name is text, not {shown(name)}")
        count = as_int(partitions)
        if count is None or not 0 <= count < INT32:
            raise PartwrightError(
                f"topics: {shown(name)} has {shown(partitions)} partitions, not 0 to {INT32 - 1}"
            )
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
        raise PartwrightError(
            f"{field}: {shown(error.object)} is not UTF-8, as every name in Kafka is"
        ) from None


def _optional_text(name: str, field: str, member: Member) -> str | None:
    value = member.get(field)
    if value is not None and not isinstance(value, str):
        raise PartwrightError(f"member {shown(name)}: {field} is text, not {shown(value)}")
    return value


def _generation(name: str, generation: object) -> int:
    if generation is None:
        return -1
    if type(generation) is not int or not -1 <= generation < INT32:
        raise PartwrightError(
            f"member {shown(name)}: generation is -1 to {INT32 - 1}, not {shown(generation)}"
        )
    return generation


def _is_iterable(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a list, not text."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
