"""A consumer group from pasted text: `kafka-consumer-groups.sh --describe` or `rpk group describe`.

>>> pasted = read_pasted('''
... GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
... g t 0 5 5 0 c-1 /127.0.0.1 c
... g t 1 5 5 0 c-2 /127.0.0.1 c
... ''')
>>> pasted.group["topics"], [(member["id"], member["owned"]) for member in pasted.group["members"]]
({'t': 2}, [('c-1', {'t': [0]}), ('c-2', {'t': [1]})])
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import counted
from partwright.assignors.collapsed_rows import row_of
from partwright.assignors.mixed.guess import Guess, by_client_id, guessed_by_id, guesses_said
from partwright.assignors.subscriptions import subscribe
from partwright.assignors.tool_output import read_tool
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from partwright._check import Json

__all__ = ["Pasted", "is_pasted", "read_pasted"]

_NOTHING = "-"
_NUMBER = re.compile(r"[0-9]{1,10}")
# The form of Kafka 4.x's tool, `orders:0,1`, and of older ones, `orders(0,1)`.
_TOPIC = re.compile(r"([^(),;:\s]+)(?::([\d,]+)|\(([\d,]+)\))")
# Columns that each kind of table always has in its first line.
_MEMBERS, _OFFSETS = {"CONSUMER-ID", "#PARTITIONS"}, {"TOPIC", "PARTITION", "CURRENT-OFFSET", "LAG"}
# The names that `rpk` prints as BALANCER and `partwright.assign` knows.
_BALANCERS = {"range", "roundrobin", "sticky", "cooperative-sticky"}


class Pasted(NamedTuple):
    """A group from pasted text.

    Attributes:
        group: `topics`, `members` and, if the text has it, `assignor`, as for `partwright.assign`.
        notes: What was assumed because the text does not say it, a sentence each.
        clients: The same for its members' clients, which are guessed from their client IDs.
    """

    group: Json
    notes: tuple[str, ...]
    clients: tuple[str, ...] = ()


def is_pasted(text: str) -> bool:
    """Whether a text comes from one of these tools.

    Examples:
        >>> is_pasted('{"topics": {}}'), is_pasted("GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT")
        (False, True)
    """
    return any(_is_header(line.split()) for line in text.splitlines())


def read_pasted(
    text: str,
    topics: Mapping[str, int] | None = None,
    subscriptions: Mapping[str, Collection[str]] | None = None,
) -> Pasted:
    """Read the group from a text whose columns may be collapsed to single spaces, as in a chat.

    The first line shows which tool printed it: `kafka-consumer-groups.sh --describe` with or without `--members
    --verbose`, or `rpk group describe`. None of them prints subscriptions: those that are not given are assumed, as
    `partwright.assignors.subscriptions` says. What members read is what they own, in one generation. If a member's
    client id is a client's default, its `client` is guessed by that, and members whose client id says nothing are taken
    for Java's.

    Args:
        text: What was pasted.
        topics: By name, how many partitions; by default the highest number that the text has, and one.
        subscriptions: By member ID or client ID, the topics that members are known to subscribe to.

    Raises:
        PartwrightError: The text has another form, several groups, no members, or no topics' names; `subscriptions` has
            a member or a topic that the group lacks, a member twice, or a member without topics.

    Examples:
        >>> text = '''GROUP TOPIC PARTITION CURRENT-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
        ... g clicks 0 5 0 c-1 /h a
        ... g orders 0 5 0 c-2 /h b
        ... '''
        >>> [member["topics"] for member in read_pasted(text).group["members"]]
        [['clicks'], ['orders']]
        >>> [member["topics"] for member in read_pasted(text, subscriptions={"a": ["orders"]}).group["members"]]
        [['orders'], ['orders']]
    """
    lines = text.splitlines()
    place = next((at for at, line in enumerate(lines) if _is_header(line.split())), None)
    if place is None:
        raise PartwrightError(
            "this is not the text of kafka-consumer-groups.sh --describe or rpk group describe: it has no line with "
            "TOPIC, PARTITION and LAG, or with CONSUMER-ID and #PARTITIONS"
        )
    header = lines[place].split()
    if set(header) >= _MEMBERS:
        return _of_members("\n".join(["", *lines[place:]]), topics, subscriptions)
    rows = [
        (number, row_of(line, header, number))
        for number, line in enumerate(lines[place + 1 :], place + 2)
        if line.strip() and not _is_header(line.split())
    ]
    return _of_offsets(rows, dict(_summary(lines[:place])), topics, subscriptions)


def _is_header(words: Sequence[str]) -> bool:
    return set(words) >= _MEMBERS or set(words) >= _OFFSETS


def _summary(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The summary that `rpk` prints above its table."""
    for line in lines:
        name, _, value = line.strip().partition(" ")
        if name.isupper():
            yield name, value.strip()


def _of_members(
    text: str, topics: Mapping[str, int] | None, subscriptions: Mapping[str, Collection[str]] | None
) -> Pasted:
    # What follows is one of the sentences of a text without topics' names, if there are none.
    group, client_ids, assigning = read_tool(text, _highest(text) if topics is None else topics)
    notes: tuple[str, ...] = ()
    if topics is None:
        owned = {topic for member in group["members"] for topic in member["owned"]}
        group["topics"] = {name: count for name, count in group["topics"].items() if name in owned}
        notes = (_assumed_counts(group["topics"]),)
    notes += subscribe(group, client_ids, subscriptions)
    return Pasted(group, notes, _guess_clients(group, assigning))


def _highest(text: str) -> dict[str, int]:
    """By name, the highest partition of each topic in assignments, and one."""
    found: dict[str, int] = {}
    for topic, new, old in _TOPIC.findall(text):
        if topic.isascii():
            highest = max((int(each) for each in (new or old).split(",") if each), default=-1)
            found[topic] = max(found.get(topic, 0), highest + 1)
    return {name: count for name, count in found.items() if count}


def _assumed_counts(topics: Mapping[str, int]) -> str:
    counts = ",".join(f"{name}={count}" for name, count in topics.items())
    return f"assumed numbers of partitions: {counts}; correct them with --topics"


def _of_offsets(
    rows: Sequence[tuple[int, Mapping[str, str]]],
    summary: Mapping[str, str],
    topics: Mapping[str, int] | None,
    subscriptions: Mapping[str, Collection[str]] | None,
) -> Pasted:
    groups = dict.fromkeys(row["GROUP"] for _, row in rows if "GROUP" in row)
    if len(groups) > 1:
        raise PartwrightError(f"the text has several groups, {', '.join(groups)}: describe one")
    counts: dict[str, int] = {}
    members: dict[str, Json] = {}
    client_ids: dict[str, str] = {}
    for number, row in rows:
        member = row.get("CONSUMER-ID", row.get("MEMBER-ID", _NOTHING))
        if member not in {_NOTHING, ""}:
            members.setdefault(member, {"id": member, "owned": {}, "generation": 1})
            client_ids[member] = row.get("CLIENT-ID", "")
            instance = row.get("GROUP-INSTANCE-ID", row.get("INSTANCE-ID", ""))
            if instance not in {_NOTHING, ""}:
                members[member]["instance_id"] = instance
        if row["TOPIC"] == _NOTHING:
            continue
        if not _NUMBER.fullmatch(row["PARTITION"]):
            raise PartwrightError(
                f"line {number}: {row['PARTITION']!r} is not a partition's number: paste whole lines"
            )
        partition = int(row["PARTITION"])
        counts[row["TOPIC"]] = max(counts.get(row["TOPIC"], 0), partition + 1)
        if member in members:
            members[member]["owned"].setdefault(row["TOPIC"], []).append(partition)
    notes = _idle(members, summary)
    if not members:
        raise PartwrightError("the group has no members: there is nobody to assign anything to")
    group: Json = {"topics": _taken(counts, topics), "members": list(members.values())}
    if summary.get("BALANCER") in _BALANCERS:
        group["assignor"] = summary["BALANCER"]
    counted = () if topics is not None else (_assumed_counts(group["topics"]),)
    assumed = subscribe(group, client_ids, subscriptions)
    return Pasted(group, (*counted, *notes, *assumed), _guess_clients(group, client_ids))


def _idle(members: dict[str, Json], summary: Mapping[str, str]) -> tuple[str, ...]:
    """Members that read nothing have no line, but for some tools that list them; `rpk` at least counts them."""
    if not _NUMBER.fullmatch(summary.get("MEMBERS", "")):
        are_listed = not all(member["owned"] for member in members.values())
        note = "members that read nothing are not in this text: --members --verbose has them"
        return () if are_listed else (note,)
    missing = int(summary["MEMBERS"]) - len(members)
    for number in range(1, missing + 1):
        members[f"idle-{number}"] = {"id": f"idle-{number}", "owned": {}, "generation": 1}
    if missing <= 0:
        return ()
    of = f"of {counted(len(members), 'member')}"
    return (f"{counted(missing, f'{of} reads', f'{of} read')} nothing: called idle-1 and so on",)


def _taken(counts: Mapping[str, int], topics: Mapping[str, int] | None) -> dict[str, int]:
    if topics is None:
        return dict(counts)
    for name, count in counts.items():
        if topics.get(name, 0) < count:
            told = f"{name}={topics[name]}" if name in topics else f"no {name!r}"
            raise PartwrightError(f"the text has partition {count - 1} of {name!r}, and --topics has {told}")
    return dict(topics)


def _guess_clients(group: Json, client_ids: Mapping[str, str]) -> tuple[str, ...]:
    """Set the `client` of members whose client ID is a client's default; return the notes about it."""
    guesses = {member: guess for member, text in client_ids.items() if (guess := by_client_id(text))}
    if not guesses:
        return ()
    for member in group["members"]:
        said = client_ids.get(member["id"], "")
        own = guessed_by_id(said) if said else Guess("java", "nothing: the text lacks its client id")
        guess = guesses.setdefault(member["id"], own)
        member["client"] = guess.client
    return tuple(guesses_said(guesses[member["id"]] for member in group["members"]))
