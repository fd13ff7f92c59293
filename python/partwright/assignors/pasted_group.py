"""A consumer group from pasted text: `kafka-consumer-groups.sh --describe` or `rpk group describe`.

>>> pasted = read_pasted('''
... GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
... g t 0 5 5 0 c-1 /127.0.0.1 c
... g t 1 5 5 0 c-2 /127.0.0.1 c
... ''')
>>> pasted.group["topics"], [(member["id"], member["owned"]) for member in pasted.group["members"]]
({'t': 2}, [('c-1', {'t': [0]}), ('c-2', {'t': [1]})])
>>> pasted = read_pasted('''
... GROUP CONSUMER-ID HOST       CLIENT-ID #PARTITIONS CURRENT-EPOCH CURRENT-ASSIGNMENT
... g     c-1         /127.0.0.1 c         2           -             t:0,1
... g     c-2         /127.0.0.1 c         0           -             -
... ''', {"t": 2})
>>> [(member["id"], member["topics"], member["owned"]) for member in pasted.group["members"]]
[('c-1', ['t'], {'t': [0, 1]}), ('c-2', ['t'], {})]
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from partwright._check import Json, counted, shown
from partwright.assignors.mixed.guess import Guess, by_client_id, guessed_by_id, guesses_said
from partwright.assignors.subscriptions import subscribe
from partwright.errors import PartwrightError

_NOTHING = "-"
_NUMBER = re.compile(r"[0-9]{1,10}")
# Columns that each kind of table always has in its first line.
_MEMBERS, _OFFSETS = {"CONSUMER-ID", "#PARTITIONS"}, {"TOPIC", "PARTITION", "CURRENT-OFFSET", "LAG"}
# The column's name since 4.0, and before.
_ASSIGNMENTS = ("CURRENT-ASSIGNMENT", "ASSIGNMENT")
# The form of old tools, `orders(0,1), users(2)`, and that of 4.x, `orders:0,1;users:2`.
_OLD = re.compile(r"([^(),;:\s]*)\(([\d,]*)\)")
_NEW = re.compile(r"([^(),;:\s]+):([\d,]+)")
_OLD_ENDS = re.compile(r"(?<=\)),\s*")
# The names that `rpk` prints as BALANCER and `partwright.assign` knows.
_BALANCERS = {"range", "roundrobin", "sticky", "cooperative-sticky"}

# A host as Java prints it, with its name or without.
_HOST = re.compile(r"[^\s/]*/[0-9a-zA-Z.:%_-]+")
_OLD_ASSIGNMENTS = re.compile(r"\),\s+")
_IDS = ("CONSUMER-ID", "MEMBER-ID")
_INSTANCES = ("GROUP-INSTANCE-ID", "INSTANCE-ID")

# A line's number in the text, and its values by the names of their columns.
_Row = tuple[int, dict[str, str]]


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
    if place is None and topics is None:
        raise PartwrightError(
            "this is not the text of kafka-consumer-groups.sh --describe or rpk group describe: it has no line with "
            "TOPIC, PARTITION and LAG, or with CONSUMER-ID and #PARTITIONS"
        )
    if place is None or set(lines[place].split()) >= _MEMBERS:
        return _of_members(list(_member_rows(lines)), topics, subscriptions)
    header = lines[place].split()
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


def _member_rows(lines: Sequence[str]) -> Iterator[_Row]:
    """The rows of a table of members; values are below their columns' names, unless a chat has collapsed the blanks."""
    columns: dict[str, slice] | None = None
    is_collapsed = False
    for number, line in enumerate(lines, 1):
        if line.startswith("GROUP "):
            columns = _columns(line, number)
            # The tool pads the group's name: a header without two adjacent blanks has been pasted through a chat.
            is_collapsed = "  " not in line.strip()
        elif columns is not None and line.strip():
            starts = [each.start for each in columns.values() if each.start]
            if is_collapsed or any(line[start - 1 : start] not in {" ", ""} for start in starts):
                yield number, row_of(line, list(columns), number)
            else:
                yield number, {name: line[place].strip() for name, place in columns.items()}
    if columns is None:
        raise PartwrightError(
            "this is not the text of kafka-consumer-groups.sh --describe --group G --members --verbose: it has no line "
            "that begins with GROUP"
        )


def _columns(header: str, number: int) -> dict[str, slice]:
    """Where each column is. Values begin below their column's name, which matters because an ID may contain blanks."""
    starts = [(each.group(), each.start()) for each in re.finditer(r"\S+", header)]
    ends = [start for _, start in starts[1:]]
    columns = {name: slice(start, end) for (name, start), end in zip(starts, [*ends, None], strict=True)}
    if "CONSUMER-ID" not in columns or not set(_ASSIGNMENTS) & columns.keys():
        missing = "ASSIGNMENT" if "CONSUMER-ID" in columns else "CONSUMER-ID"
        raise PartwrightError(
            f"line {number}: there is no column {missing}: ask kafka-consumer-groups.sh with --members --verbose"
        )
    return columns


def _of_members(
    rows: Sequence[_Row],
    topics: Mapping[str, int] | None,
    subscriptions: Mapping[str, Collection[str]] | None,
) -> Pasted:
    members, client_ids, assigning = [], {}, {}
    for number, row in rows:
        owned = _owned(next(row[name] for name in _ASSIGNMENTS if name in row), number)
        name = row["CONSUMER-ID"]
        strange = next((topic for topic in owned if topics is not None and topic not in topics), None)
        if strange is not None:
            raise PartwrightError(
                f"line {number}: {name!r} reads {strange!r}: say how many partitions it has in --topics"
            )
        members.append(_member(row, name, owned))
        client_ids[name] = row.get("CLIENT-ID", "")
        # Of members of KIP-848's protocol, no client assigns.
        if row.get("CURRENT-EPOCH", _NOTHING) == _NOTHING:
            assigning[name] = client_ids[name]
    _refuse_several(members, rows, "members of several groups")
    counts: dict[str, int] = {}
    for member in members:
        for topic, partitions in member["owned"].items():
            counts[topic] = max(counts.get(topic, 0), *(each + 1 for each in partitions), 0)
    group: Json = {"topics": dict(counts if topics is None else topics), "members": members}
    notes = _assumed_counts(counts, topics)
    return Pasted(
        group, notes + subscribe(group, client_ids, subscriptions), _guess_clients(group, assigning)
    )


def _member(row: Mapping[str, str], name: str, owned: dict[str, list[int]]) -> Json:
    member: Json = {"id": name, "owned": owned, "generation": 1}
    instance = row.get("GROUP-INSTANCE-ID", row.get("INSTANCE-ID", ""))
    return member if instance in {_NOTHING, ""} else {**member, "instance_id": instance}


def _refuse_several(members: Collection[object], rows: Iterable[_Row], what: str) -> None:
    groups = dict.fromkeys(row["GROUP"] for _, row in rows if "GROUP" in row)
    if len(groups) > 1:
        raise PartwrightError(f"the text has {what}, {', '.join(groups)}: describe one")
    if not members:
        raise PartwrightError("the group has no members: there is nobody to assign anything to")


def _owned(assignment: str, number: int) -> dict[str, list[int]]:
    if assignment in {"", _NOTHING}:
        return {}
    is_old = "(" in assignment
    pattern, parts = (_OLD, _OLD_ENDS.split(assignment)) if is_old else (_NEW, assignment.split(";"))
    owned: dict[str, list[int]] = {}
    for part in parts:
        found = pattern.fullmatch(part)
        if found is None:
            raise PartwrightError(f"line {number}: {part!r} is not an assignment, such as orders:0,1;users:2")
        if not found[1]:
            raise PartwrightError(
                f"line {number}: {assignment!r} names no topics, which the tool of Kafka 3.8 and 3.9 leaves out: "
                "ask with kafka-consumer-groups.sh of 4.0 or later"
            )
        owned[found[1]] = [int(each) for each in found[2].split(",") if each]
    return owned


def _assumed_counts(counts: Mapping[str, int], topics: Mapping[str, int] | None) -> tuple[str, ...]:
    if topics is not None:
        return ()
    listed = ",".join(f"{name}={count}" for name, count in counts.items())
    return (f"assumed numbers of partitions: {listed}; correct them with --topics",)


def _of_offsets(
    rows: Sequence[_Row],
    summary: Mapping[str, str],
    topics: Mapping[str, int] | None,
    subscriptions: Mapping[str, Collection[str]] | None,
) -> Pasted:
    counts: dict[str, int] = {}
    members: dict[str, Json] = {}
    client_ids: dict[str, str] = {}
    for number, row in rows:
        name = row.get("CONSUMER-ID", row.get("MEMBER-ID", _NOTHING))
        if name not in {_NOTHING, ""}:
            owned = members[name]["owned"] if name in members else {}
            members[name] = _member(row, name, owned)
            client_ids[name] = row.get("CLIENT-ID", "")
        topic = row["TOPIC"]
        if topic == _NOTHING:
            continue
        if not _NUMBER.fullmatch(row["PARTITION"]):
            raise PartwrightError(
                f"line {number}: {row['PARTITION']!r} is not a partition's number: paste whole lines"
            )
        partition = int(row["PARTITION"])
        counts[topic] = max(counts.get(topic, 0), partition + 1)
        if name in members:
            members[name]["owned"].setdefault(topic, []).append(partition)
    idle = _idle(members, summary)
    _refuse_several(members, rows, "several groups")
    group: Json = {"topics": _taken(counts, topics), "members": list(members.values())}
    if summary.get("BALANCER") in _BALANCERS:
        group["assignor"] = summary["BALANCER"]
    assumed = subscribe(group, client_ids, subscriptions)
    notes = (*_assumed_counts(counts, topics), *idle, *assumed)
    return Pasted(group, notes, _guess_clients(group, client_ids))


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
            has = f"{name}={topics[name]}" if name in topics else f"no {name!r}"
            raise PartwrightError(f"the text has partition {count - 1} of {name!r}, and --topics has {has}")
    return dict(topics)


def _guess_clients(group: Json, client_ids: Mapping[str, str]) -> tuple[str, ...]:
    """Set the `client` of members whose client ID is a client's default; return the notes about it."""
    guesses = {member: guess for member, text in client_ids.items() if (guess := by_client_id(text))}
    if not guesses:
        return ()
    for member in group["members"]:
        client_id = client_ids.get(member["id"], "")
        own = (
            guessed_by_id(client_id) if client_id else Guess("java", "nothing: the text lacks its client id")
        )
        guess = guesses.setdefault(member["id"], own)
        member["client"] = guess.client
    return tuple(guesses_said(guesses[member["id"]] for member in group["members"]))


def read_topics(text: str) -> dict[str, int]:
    """The topics' numbers of partitions, from text such as `orders=12,users=7`.

    Raises:
        PartwrightError: The text has another form.

    Examples:
        >>> read_topics("orders=12,users=7")
        {'orders': 12, 'users': 7}
    """
    counts: dict[str, int] = {}
    for part in text.split(","):
        name, _, count = part.strip().rpartition("=")
        if not name or not re.fullmatch(r"\d{1,10}", count, re.ASCII):
            raise PartwrightError(f"topics are named as orders=12,users=7, not {shown(part.strip())}")
        if name in counts:
            raise PartwrightError(f"topics has {name!r} twice: each topic once")
        counts[name] = int(count)
    return counts


def row_of(line: str, header: Sequence[str], number: int) -> dict[str, str]:
    """A line's values by the names of their columns, which may be collapsed to single spaces.

    Values before the member's ID have no blanks, and after the host only the client's ID may have some. So the values
    can be counted from both ends, and the words left in between are the IDs.

    Args:
        line: The line.
        header: The columns' names.
        number: The line's number, for a sentence about it.

    Raises:
        PartwrightError: It has too few values.

    Examples:
        >>> header = "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT".split()
        >>> row = row_of("g app 1-a1 /h app 1 2 t:0", header, 2)
        >>> row["CONSUMER-ID"], row["CLIENT-ID"], row["ASSIGNMENT"]
        ('app 1-a1', 'app 1', 't:0')
    """
    words = _OLD_ASSIGNMENTS.sub("),", line).split()
    ids = next(place for place, name in enumerate(header) if name in _IDS)
    first, last = dict(zip(header[:ids], words[:ids], strict=False)), words[ids:]
    if len(words) < ids:
        raise PartwrightError(f"line {number}: there are fewer values than columns: paste whole lines")
    names = header[ids:]
    if not last:
        return {**first, **dict.fromkeys(names, "")}
    if len(last) == len(names):
        return {**first, **dict(zip(names, last, strict=True))}
    if names[-1] == "HOST":
        return {**first, **_host_last(last, names)}
    return {**first, **_host_between(last, names, number)}


def _host_last(words: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """The columns of `rpk`: the member's ID, perhaps its instance ID, the client's ID, and the host."""
    middle = words[1:-1]
    row = dict.fromkeys(names, "")
    row["HOST"] = words[-1]
    row[names[0]] = words[0]
    # A client's ID with blanks is recognized because the member's ID begins with it.
    for length in range(1, len(words) - 1):
        client = " ".join(words[-1 - length : -1])
        member = " ".join(words[: len(words) - 1 - length])
        if client and member.startswith(f"{client}-"):
            row[names[0]], row["CLIENT-ID"] = member, client
            return row
    row["CLIENT-ID"] = middle[-1] if middle else ""
    return row


def _host_between(words: Sequence[str], names: Sequence[str], number: int) -> dict[str, str]:
    """The columns of Kafka's tool: IDs, the host, the client's ID, and perhaps numbers and assignments."""
    behind = list(names[names.index("CLIENT-ID") + 1 :])
    end = len(words) - len(behind)
    host = next((at for at in range(end - 1, 0, -1) if _HOST.fullmatch(words[at])), None)
    if host is None:
        raise PartwrightError(f"line {number}: there is no host, such as /10.0.0.17: paste whole lines")
    row = dict(zip(behind, words[end:], strict=True))
    row |= {"HOST": words[host], "CLIENT-ID": " ".join(words[host + 1 : end])}
    ids = list(words[:host])
    instance = next((name for name in names if name in _INSTANCES), None)
    if instance is not None:
        # Java and librdkafka begin a static member's ID with its instance ID.
        is_static = len(ids) > 1 and ids[0].startswith(f"{ids[-1]}-")
        row[instance] = ids.pop() if is_static else ""
    return {names[0]: " ".join(ids), **row}
