"""A consumer group from pasted text of the tools and pages that `pasted_tables` and `pasted_documents` know.

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
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from partwright._check import Json, counted, enumeration, shown, unknown
from partwright._text import plain
from partwright.assignors.described_group import DescribedGroup
from partwright.assignors.mixed.clients import DEFAULT_ASSIGNORS
from partwright.assignors.mixed.guess import Guess, by_client_id, guessed_by_id, guesses_said
from partwright.assignors.pasted_documents import is_kaf, kaf_group
from partwright.assignors.pasted_tables import KAFKA, NOTHING, ToolTable, other_paste, read_tables
from partwright.assignors.subscriptions import subscribe
from partwright.errors import PartwrightError

# The form of old tools, `orders(0,1), users(2)`, that of 4.x, `orders:0,1;users:2`, and that of pages, `orders 0 1`.
_OLD = re.compile(r"([^(),;:\s]*)\(([\d,]*)\)")
_NEW = re.compile(r"([^(),;:\s]+)[:\s]\s*([\d,\s]+)")
_OLD_ENDS = re.compile(r"(?<=\)),\s*")
# The strategies that `partwright.assign` knows by the names that tools print.
_STRATEGIES = {"range", "roundrobin", "sticky", "cooperative-sticky"}
_BROKERS = {"uniform", "range"}
_JAVA = "java"
_ASSIGNMENTS = ("ASSIGNMENT", "ASSIGNMENTS", "CURRENT-ASSIGNMENT")


class Pasted(NamedTuple):
    """A group from pasted text.

    Attributes:
        group: `topics`, `members` and, if the text has it, `assignor`, as for `partwright.assign`.
        notes: What the text was taken for, and what was assumed because it does not say it, a sentence each.
        clients: The same for its members' clients, which are guessed from their client IDs.
    """

    group: Json
    notes: tuple[str, ...]
    clients: tuple[str, ...] = ()


def is_pasted(text: str) -> bool:
    """Whether a text comes from one of these tools, or from another command of theirs.

    Examples:
        >>> is_pasted('{"topics": {}}'), is_pasted("GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT")
        (False, True)
    """
    try:
        return is_kaf(text) or other_paste(text) is not None or bool(read_tables(text))
    except PartwrightError:
        return True


def read_pasted(
    text: str | tuple[str, DescribedGroup],
    topics: Mapping[str, int] | None = None,
    subscriptions: Mapping[str, Collection[str]] | None = None,
    *,
    group_id: str | None = None,
    assumes_assignor: bool = False,
) -> Pasted:
    """Read the group from a text whose columns may be collapsed to single spaces, as in a chat.

    Several tables of one group, such as its offsets, its members and its state, are read together. None of the tools
    prints subscriptions: those that are not given are assumed, as `partwright.assignors.subscriptions` says. What
    members read is what they own, in one generation. If a member's client id is a client's default, its `client` is
    guessed by that, and members whose client id says nothing are taken for Java's.

    Args:
        text: What was pasted; or a group that a tool's JSON describes, after its name.
        topics: By name, how many partitions; by default the highest number that the text has, and one.
        subscriptions: By member ID or client ID, the topics that members are known to subscribe to.
        group_id: Which group, if the text has several.
        assumes_assignor: Whether a group that names no assignor gets the default of its client, or of the broker.

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
    groups = _groups(text) if isinstance(text, str) else dict([text])
    names = [each for each in groups if each]
    if group_id is not None and names and group_id not in names:
        raise unknown(group_id, "group", names, "the text")
    if len(names) > 1 and group_id is None:
        raise PartwrightError(
            f"the text has several groups, {enumeration(names)}: name one with --group, or describe one"
        )
    name = group_id if group_id in names else next(iter(names), "")
    described = groups[name] if name in groups else groups[""]
    idle = tuple(_idle(described))
    members = list(described.members.values())
    if not members:
        raise PartwrightError("the group has no members: there is nobody to assign anything to")
    group: Json = {"topics": _taken(described.topics, topics), "members": members}
    notes = [
        f"read as {described.tool}{f', group {plain(name)}' if name else ''}: {counted(len(members), 'member')}"
    ]
    notes += [*_assumed_counts(described.topics, topics), *idle]
    if not described.has_ids:
        notes.append(
            "members are called by client id and host: this text has no member ids, by which assignors sort"
        )
    notes += _assignor(group, described)
    notes += subscribe(group, described.client_ids, subscriptions)
    # Of members of KIP-848's protocol, no client assigns.
    guessed = () if described.broker_assigns else _guess_clients(group, described.client_ids)
    default = _default_assignor(group, described) if assumes_assignor and "assignor" not in group else ""
    if default:
        group["assignor"] = default
        notes.append(f"assumed assignor: {group['assignor']}, the default; name another one with --assignor")
    return Pasted(group, tuple(notes), guessed)


def _groups(text: str) -> dict[str, DescribedGroup]:
    """The groups of a paste, by their names; empty if the text does not name it."""
    if is_kaf(text):
        return {"": kaf_group(text)}
    tables = read_tables(text)
    if not tables:
        raise PartwrightError(
            other_paste(text)
            or f"this is not the text of {KAFKA} or rpk group describe: it has no line with TOPIC, PARTITION and LAG, "
            "or with CONSUMER-ID and #PARTITIONS"
        )
    if not any({"PARTITION", "ASSIGNED_PARTITIONS", *_ASSIGNMENTS} & set(each.columns) for each in tables):
        raise PartwrightError(
            f"line {tables[0].line}: there is no column ASSIGNMENT: ask kafka-consumer-groups.sh with --members "
            "--verbose"
        )
    groups: dict[str, DescribedGroup] = {}
    for table in tables:
        for number, row in table.rows:
            name = row.get("GROUP", table.summary.get("GROUP", ""))
            # Old tools leave a dash for members that read nothing.
            name = next(reversed(groups), "") if name in NOTHING else name
            group = groups.setdefault(name, DescribedGroup(table.tool))
            group.lists_idle |= table.lists_idle or "#PARTITIONS" in row
            if not group.assignor:
                group.assignor = table.summary.get("BALANCER", "")
            if table.summary.get("MEMBERS", "").isdecimal():
                group.count = int(table.summary["MEMBERS"])
            _add(group, table, row, number)
    return groups or {"": DescribedGroup(tables[0].tool)}


def _add(group: DescribedGroup, table: ToolTable, row: Mapping[str, str], number: int) -> None:
    """What a row says of a group."""
    if "#MEMBERS" in row:
        group.assignor, group.count = row["ASSIGNMENT-STRATEGY"], int(row["#MEMBERS"] or 0)
        group.is_modern |= row.get("GROUP-EPOCH", "-") not in NOTHING
        return
    name, client_id = row.get("CONSUMER-ID", ""), row.get("CLIENT-ID", "")
    topic = row.get("TOPIC", table.topic)
    if "ASSIGNED_PARTITIONS" in row:
        member = _kafkactl_member(group, row)
        numbers = [each for each in row["ASSIGNED_PARTITIONS"].split(",") if each]
        if not all(map(str.isdecimal, numbers)):
            raise PartwrightError(
                f"line {number}: {row['ASSIGNED_PARTITIONS']!r} are not partitions: paste whole lines"
            )
        group.read(member, topic, map(int, numbers))
        return
    if "CONSUMER-ID" not in row and row.get("HOST", "") not in NOTHING:
        # AKHQ's page of topics has members' hosts alone.
        name, group.has_ids = row["HOST"].lstrip("/"), False
    is_member = name not in NOTHING and not name.startswith("No assigned")
    if is_member:
        group.add(name, client_id, row.get("GROUP-INSTANCE-ID", ""))
        group.is_modern |= row.get("CURRENT-EPOCH", "-") not in NOTHING
    assignment = row.get("ASSIGNMENT", "")
    if table.tool.startswith("AKHQ") and not re.search(r"\s", assignment or " "):
        raise PartwrightError(
            f"line {number}: {shown(assignment)} runs a topic and its partitions together, as a copy of AKHQ's page "
            "does: save /api/CLUSTER/group/GROUP/members of AKHQ, whose JSON is read"
        )
    for each, partitions in _owned(assignment, number).items():
        group.read(name, each, partitions)
    if topic not in NOTHING and "PARTITION" in row:
        group.read(name if is_member else None, topic, [int(row["PARTITION"])])
    elif "PARTITION" in row and "TOPIC" not in row:
        raise PartwrightError(
            f"line {table.line}: there is no topic above this table of {table.tool}: copy it with the topic's name"
        )


def _kafkactl_member(group: DescribedGroup, row: Mapping[str, str]) -> str:
    """The member of a row: kafkactl has a row for each of its topics, in their order, and no member IDs."""
    ids = row.get("CLIENT-ID", ""), row["HOST"], row.get("GROUP-INSTANCE-ID", "")
    last = next(reversed(group.members), None)
    if last is not None and last.partition("#")[0] == f"{ids[0]}@{ids[1].lstrip('/')}":
        own = group.members[last]
        if own.get("instance_id", "") == ids[2] and max(own["owned"], default="") < row["TOPIC"]:
            return last
    return group.add_unnamed(*ids)


def _owned(assignment: str, number: int) -> dict[str, list[int]]:
    if assignment in NOTHING:
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
        owned[found[1]] = [int(each) for each in re.split(r"[,\s]+", found[2]) if each]
    return owned


def _idle(group: DescribedGroup) -> Iterator[str]:
    """Members that read nothing, where a tool has no line for them: counted, or perhaps left out."""
    missing = 0 if group.count is None else group.count - len(group.members)
    for number in range(1, missing + 1):
        group.add(f"idle-{number}", "")
        del group.client_ids[f"idle-{number}"]
    if missing > 0:
        of = f"of {counted(len(group.members), 'member')}"
        yield f"{counted(missing, f'{of} reads', f'{of} read')} nothing: called idle-1 and so on"
        return
    are_listed = group.lists_idle or not all(member["owned"] for member in group.members.values())
    if group.count is None and not are_listed:
        tool = "" if group.tool.startswith(KAFKA) else f"{KAFKA} "
        yield f"members that read nothing are not in this text: {tool}--members --verbose has them"


def _assignor(group: Json, described: DescribedGroup) -> Iterator[str]:
    """Set the assignor that the text names; say what it names if that is none of Kafka's."""
    named = described.assignor
    if described.broker_assigns and named in _BROKERS:
        group["assignor"] = f"server-{named}"
    elif named in _STRATEGIES:
        group["assignor"] = named
    elif named not in NOTHING:
        yield f"the group's assignor is {shown(named)}, which is none of Kafka's: name one with --assignor"


def _default_assignor(group: Json, described: DescribedGroup) -> str:
    """The broker's first assignor, or the default one of the members' client; empty if they are of several."""
    if described.broker_assigns:
        return "server-uniform"
    clients = {each.get("client", _JAVA) for each in group["members"]}
    if len(clients) > 1 or described.assignor not in NOTHING:
        return ""
    client = clients.pop()
    default = DEFAULT_ASSIGNORS[client][0]
    return default if client == _JAVA else f"{client}:{default}"


def _assumed_counts(counts: Mapping[str, int], topics: Mapping[str, int] | None) -> tuple[str, ...]:
    if topics is not None:
        return ()
    listed = ",".join(f"{name}={count}" for name, count in counts.items())
    return (f"assumed numbers of partitions: {listed}; correct them with --topics",)


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
        own = guessed_by_id(client_id) if client_id else Guess(_JAVA, "nothing: the text lacks its client id")
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
