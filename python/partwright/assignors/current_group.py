"""A group as it is: who reads what, what a rebalance, a newcomer or a leaver would move, why it is uneven.

>>> members = [
...     {"id": "c1", "topics": ["t"], "owned": {"t": [0, 1, 2]}, "generation": 1},
...     {"id": "c2", "topics": ["t"], "owned": {"t": [3]}, "generation": 1},
... ]
>>> now = group_now({"t": 4}, members, "range")
>>> now.would_move, now.uneven
(1, ('a rebalance would change that',))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from partwright._check import Json, counted
from partwright.answer import Answer
from partwright.assignors.group_assignment import stable_assignment
from partwright.assignors.members import owned_pairs
from partwright.assignors.names import resolve

_Owners = dict[tuple[str, int], str]


@dataclass(frozen=True)
class GroupNow(Answer):
    """A group as it is.

    Attributes:
        assignor: Its assignor.
        reads: By member, how many partitions of each topic it reads.
        unread: How many partitions of its topics nobody reads.
        would_move: How many partitions would have another reader if the group rebalanced now, with the same members.
        would_be_unread: How many that are read now would have no reader then.
        joiner_moves: How many would move if one more member came that subscribes as another does: the fewest and the
            most, by where its ID sorts and whose subscription it has.
        leaver_moves: How many would move if one member left, its own included: the fewest and the most, with the
            members.
        leaver_unread: The most partitions that would have no reader if one member left, and that member; None if each
            would keep one.
        uneven: Why members read unequally many partitions, a sentence each; empty if they differ by one at most.
        apart: The topic of which its subscribers read most unequally many partitions, and the difference; None if they
            read nothing.
        assumed: What was assumed about the group, a sentence each.
    """

    DOCUMENT = "assign"
    ROWS = "members"

    assignor: str
    reads: dict[str, dict[str, int]]
    unread: int
    would_move: int
    joiner_moves: tuple[int, int]
    leaver_moves: tuple[tuple[int, str], tuple[int, str]] | None
    uneven: tuple[str, ...]
    apart: tuple[str, int] | None = None
    would_be_unread: int = 0
    leaver_unread: tuple[int, str] | None = None
    assumed: tuple[str, ...] = ()

    @property
    def idle(self) -> list[str]:
        """The members that read nothing."""
        return [member for member, topics in self.reads.items() if not topics]

    def to_dict(self) -> Json:
        """The object that `partwright assign --explain --json` prints, without its summary."""
        moves = self.leaver_moves
        counts = ("unread", "would_move", "would_be_unread")
        return {
            "assignor": self.assignor,
            "members": [
                {"id": member, "partitions": sum(topics.values()), "topics": topics}
                for member, topics in self.reads.items()
            ],
            "idle": self.idle,
            **{name: getattr(self, name) for name in counts},
            "joiner_moves": list(self.joiner_moves),
            "leaver_moves": None if moves is None else [list(each) for each in moves],
            "leaver_unread": None if self.leaver_unread is None else list(self.leaver_unread),
            "uneven": list(self.uneven),
            "apart": None if self.apart is None else {"topic": self.apart[0], "partitions": self.apart[1]},
        }


def group_now(topics: Mapping[str, int], members: Sequence[Mapping[str, Any]], assignor: object) -> GroupNow:
    """Describe a group as it is, and which partitions would move if its members changed.

    Args:
        topics: By name, how many partitions.
        members: Objects as `partwright.assign` takes them, with what they own.
        assignor: The group's: see `partwright.assign`.

    Raises:
        PartwrightError: See `partwright.assign`.
    """
    resolved = resolve(assignor)
    name = resolved if isinstance(resolved, str) else resolved.name
    # This also refuses an invalid group.
    now = _stable_owners(topics, members, resolved)
    owners = _owned(members)
    lists = {each["id"]: list(each["topics"]) for each in members}
    everything = list(dict.fromkeys(topic for read in lists.values() for topic in read))
    alike = dict.fromkeys(map(tuple, lists.values()))
    newcomers = [{"id": f"{sign}newcomer", "topics": [*those]} for those in alike for sign in "!~"]
    joined = [_moved(owners, _stable_owners(topics, [*members, each], resolved)) for each in newcomers]
    left, unread = [], []
    if len(members) > 1:
        for place, gone in enumerate(members):
            after = _stable_owners(topics, [*members[:place], *members[place + 1 :]], resolved)
            left.append((_moved(owners, after), str(gone["id"])))
            unread.append((_unread(owners, after), str(gone["id"])))
    most_unread = max(unread, key=lambda each: each[0], default=(0, ""))
    reads: dict[str, dict[str, int]] = {member: {} for member in lists}
    for (topic, _), member in sorted(owners.items()):
        reads[member][topic] = reads[member].get(topic, 0) + 1
    would_move = _moved(owners, now)
    read = sum(topics.get(topic, 0) for topic in everything)
    return GroupNow(
        assignor=name,
        reads=reads,
        unread=max(0, read - len(owners)),
        would_move=would_move,
        joiner_moves=(min(joined), max(joined)),
        leaver_moves=(min(left), max(left)) if left else None,
        uneven=tuple(_reasons(topics, lists, reads, name, would_move)),
        apart=_apart(lists, reads),
        would_be_unread=_unread(owners, now),
        leaver_unread=most_unread if most_unread[0] else None,
    )


def _apart(
    lists: Mapping[str, Sequence[str]], reads: Mapping[str, Mapping[str, int]]
) -> tuple[str, int] | None:
    """The topic that is shared most unequally among its subscribers, and the difference."""
    of_topics: dict[str, list[int]] = {}
    for member, topics in lists.items():
        for topic in dict.fromkeys(topics):
            of_topics.setdefault(topic, []).append(reads[member].get(topic, 0))
    gaps = {topic: max(counts) - min(counts) for topic, counts in of_topics.items() if any(counts)}
    return max(gaps.items(), key=lambda gap: gap[1]) if gaps else None


def _owned(members: Iterable[Mapping[str, Any]]) -> _Owners:
    owners: _Owners = {}
    for each in members:
        pairs = map(tuple, owned_pairs(each["id"], each.get("owned") or ()))
        owners |= dict.fromkeys(pairs, each["id"])
    return owners


def _stable_owners(
    topics: Mapping[str, int], members: Sequence[Mapping[str, Any]], assignor: object
) -> _Owners:
    lists = stable_assignment(topics, members, assignor).to_dict()
    return {pair: member for member, pairs in lists.items() for pair in pairs}


def _moved(before: _Owners, after: _Owners) -> int:
    """How many partitions change from one reader to another."""
    return sum(after.get(pair) not in (None, member) for pair, member in before.items())


def _unread(before: _Owners, after: _Owners) -> int:
    """How many partitions lose their reader and get no other one."""
    return sum(pair not in after for pair in before)


def _reasons(
    topics: Mapping[str, int],
    lists: Mapping[str, Sequence[str]],
    reads: Mapping[str, Mapping[str, int]],
    assignor: str,
    would_move: int,
) -> Iterable[str]:
    counts = [sum(each.values()) for each in reads.values()]
    if max(counts) - min(counts) <= 1:
        return
    if would_move:
        yield "a rebalance would change that"
    if len({frozenset(each) for each in lists.values()}) > 1:
        yield "members subscribe to different topics"
    readers = Counter(topic for each in lists.values() for topic in dict.fromkeys(each))
    few = sum(0 < topics.get(topic, 0) < count for topic, count in readers.items())
    if assignor.rpartition(":")[2].removeprefix("server-") == "range" and len(topics) > 1:
        of = f"of {counted(len(topics), 'topic')}"
        fewer = counted(few, f"{of} has", f"{of} have")
        more = f", and {fewer} fewer partitions than there are members" if few else ""
        yield f"{assignor} shares each topic on its own, the first members getting what is left over{more}"
