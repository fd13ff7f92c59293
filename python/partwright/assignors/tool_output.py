"""Read a consumer group from the text that Kafka's own `kafka-consumer-groups.sh` prints about its members.

>>> text = '''
... GROUP CONSUMER-ID HOST       CLIENT-ID #PARTITIONS CURRENT-EPOCH CURRENT-ASSIGNMENT
... g     c-1         /127.0.0.1 c         2           -             t:0,1
... g     c-2         /127.0.0.1 c         0           -             -
... '''
>>> group = read_members(text, {"t": 2})
>>> [(member["id"], member["topics"], member.get("owned")) for member in group["members"]]
[('c-1', ['t'], {'t': [0, 1]}), ('c-2', ['t'], {})]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from partwright.assignors.collapsed_rows import row_of
from partwright.assignors.subscriptions import subscribe
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from partwright._check import Json

__all__ = ["ToolOutput", "read_members", "read_tool", "read_topics"]

# The column's name since 4.0, and before.
_ASSIGNMENTS = ("CURRENT-ASSIGNMENT", "ASSIGNMENT")
_OLD = re.compile(r"([^(),;:\s]*)\(([\d,]*)\)")
_NEW = re.compile(r"([^(),;:\s]+):([\d,]+)")
_OLD_ENDS = re.compile(r"(?<=\)),\s*")
_NOTHING = "-"


class ToolOutput(NamedTuple):
    """A group as the tool prints it.

    Attributes:
        group: `topics`, and `members` without their subscriptions.
        client_ids: Each member's client ID.
        assigning: The same of members of the classic protocol: of others, no client assigns.
    """

    group: Json
    client_ids: dict[str, str]
    assigning: dict[str, str]


def read_members(
    text: str, topics: Mapping[str, int], subscriptions: Mapping[str, Collection[str]] | None = None
) -> Json:
    """The group whose members `kafka-consumer-groups.sh --describe --group G --members --verbose` prints.

    The tool does not print subscriptions: they are assumed as `partwright.assignors.subscriptions` does. What members
    read is what they own, in one generation.

    Args:
        text: What it printed, in the form of 4.x (`orders:0,1;users:2`) or of old versions (`orders(0,1), users(2)`).
        topics: By name, how many partitions a topic has.
        subscriptions: By member ID or client ID, the topics that members are known to subscribe to.

    Returns:
        `topics` and `members` as `partwright.assign` takes them.

    Raises:
        PartwrightError: The text has another form, has members of several groups or none at all, or names no topics, as
            with Kafka 3.8 and 3.9; `subscriptions` names what the group lacks.
    """
    found = read_tool(text, topics)
    subscribe(found.group, found.client_ids, subscriptions)
    return found.group


def read_tool(text: str, topics: Mapping[str, int]) -> ToolOutput:
    """The same without subscriptions, and each member's client ID.

    Raises:
        PartwrightError: See `read_members`.
    """
    client_ids: dict[str, str] = {}
    assigning: dict[str, str] = {}
    members: list[Json] = []
    groups: dict[str, None] = {}
    columns: dict[str, slice] | None = None
    is_collapsed = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("GROUP "):
            columns = _columns(line, number)
            is_collapsed = "  " not in line.strip()
        elif columns is not None and line.strip():
            row = _row(line, columns, number, is_collapsed=is_collapsed)
            groups[row["GROUP"]] = None
            members.append(_member(row, topics, number))
            client_ids[row["CONSUMER-ID"]] = row.get("CLIENT-ID", "")
            if row.get("CURRENT-EPOCH", _NOTHING) == _NOTHING:
                assigning[row["CONSUMER-ID"]] = row.get("CLIENT-ID", "")
    if columns is None:
        raise PartwrightError(
            "this is not the text of kafka-consumer-groups.sh --describe --group G --members --verbose: it has no line "
            "that begins with GROUP"
        )
    if not members:
        raise PartwrightError("the group has no members: there is nobody to assign anything to")
    if len(groups) > 1:
        raise PartwrightError(f"the text has members of several groups, {', '.join(groups)}: describe one")
    return ToolOutput({"topics": dict(topics), "members": members}, client_ids, assigning)


def read_topics(given: str) -> dict[str, int]:
    """The topics' numbers of partitions, from text such as `orders=12,users=7`.

    Raises:
        PartwrightError: The text has another form.

    Examples:
        >>> read_topics("orders=12,users=7")
        {'orders': 12, 'users': 7}
    """
    found: dict[str, int] = {}
    for part in given.split(","):
        name, _, count = part.strip().rpartition("=")
        if not name or not re.fullmatch(r"\d{1,10}", count, re.ASCII):
            raise PartwrightError(f"topics are named as orders=12,users=7, not {part.strip()!r}")
        if name in found:
            raise PartwrightError(f"topics has {name!r} twice: each topic once")
        found[name] = int(count)
    return found


def _columns(header: str, number: int) -> dict[str, slice]:
    """Where each column is. Values begin below their column's name, which matters because an ID may contain blanks."""
    starts = [(each.group(), each.start()) for each in re.finditer(r"\S+", header)]
    ends = [start for _, start in starts[1:]]
    found = {name: slice(start, end) for (name, start), end in zip(starts, [*ends, None], strict=True)}
    if "CONSUMER-ID" not in found or not set(_ASSIGNMENTS) & found.keys():
        missing = "ASSIGNMENT" if "CONSUMER-ID" in found else "CONSUMER-ID"
        raise PartwrightError(
            f"line {number}: there is no column {missing}: ask kafka-consumer-groups.sh with --members --verbose"
        )
    return found


def _row(line: str, columns: Mapping[str, slice], number: int, *, is_collapsed: bool) -> dict[str, str]:
    row = {}
    # The tool pads the group's name: a header without two adjacent blanks has been pasted through a chat.
    if is_collapsed:
        return row_of(line, list(columns), number)
    for name, place in columns.items():
        if place.start and line[place.start - 1 : place.start] not in {" ", ""}:
            # If a value is not below its column's name, a chat has collapsed the blanks.
            return row_of(line, list(columns), number)
        row[name] = line[place].strip()
    return row


def _member(row: Mapping[str, str], topics: Mapping[str, int], number: int) -> Json:
    assignment = next(row[name] for name in _ASSIGNMENTS if name in row)
    owned = _owned(assignment, number)
    for topic in owned:
        if topic not in topics:
            raise PartwrightError(
                f"line {number}: {row['CONSUMER-ID']!r} reads {topic!r}: say how many partitions it has in --topics"
            )
    member: Json = {
        "id": row["CONSUMER-ID"],
        "owned": owned,
        "generation": 1,
    }
    if row.get("GROUP-INSTANCE-ID"):
        member["instance_id"] = row["GROUP-INSTANCE-ID"]
    return member


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
