"""A group in JSON, as `partwright assign` takes it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from partwright._check import Json, refuse_many, shown
from partwright.cli.input.json import read_json
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_own", "names_clients", "read_group", "refuse_order", "within"]

_FIELDS = (
    "assignor",
    "topics",
    "topic_ids",
    "racks",
    "partition_order",
    "seed",
    "balance_racks",
    "members",
)


@contextmanager
def within(where: str) -> Iterator[None]:
    """Errors in the block name the place of the group."""
    try:
        yield
    except PartwrightError as error:
        raise error.within(where) from None


def is_own(assignor: str) -> bool:
    """Whether an assignor's name is the path of a user's class."""
    from partwright.assignors import names

    return names.is_own(assignor)


def names_clients(group: Json) -> bool:
    """Whether a member names its client."""
    members = group.get("members")
    listed = members if isinstance(members, list) else []
    return any(isinstance(member, dict) and member.get("client") is not None for member in listed)


def read_group(
    text: str, assignor: str | None, *, needs_assignor: bool = True, is_named: bool = False
) -> Json:
    """The group, with `assignor` instead of its own.

    Args:
        text: The JSON.
        assignor: The value of --assignor.
        needs_assignor: Whether the group must name one unless its members' clients choose it.
        is_named: Whether it must name one in any case.

    Raises:
        PartwrightError: It is not a group.
    """
    try:
        group = read_json(text)
    except PartwrightError as error:
        if not text.strip() or text.lstrip().startswith(("{", "[")):
            raise
        raise PartwrightError(
            f"{error}, and no text of kafka-consumer-groups.sh --describe or rpk group describe"
        ) from None
    if not isinstance(group, dict):
        raise PartwrightError("a group is an object with assignor, topics and members")
    for field in group:
        if field not in _FIELDS:
            known = f"{', '.join(_FIELDS[:-1])} and {_FIELDS[-1]}"
            raise PartwrightError(f"a group has no field {field!r}: use {known}")
    _choose(group, assignor)
    for field in ("assignor", "topics", "members"):
        is_chosen = not is_named and (not needs_assignor or names_clients(group))
        if field == "assignor" and is_chosen:
            continue
        if field not in group:
            also = " (or give --assignor)" if field == "assignor" else ""
            raise PartwrightError(f"the group has no {field}: name it{also}")
    _check_form(group)
    if isinstance(group["members"], list):
        from partwright.assignors.members import listed_members

        group["members"] = listed_members(group["members"], group["topics"])
    _refuse_many(group)
    return group


def _check_form(group: Json) -> None:
    if isinstance(group["members"], dict):
        raise PartwrightError('members is a list of objects with "id" and "topics", not an object')
    # Where the functions of Python take a file's name: no group in JSON opens files.
    for field in ("topics", "members", "racks"):
        if isinstance(group.get(field), str):
            raise PartwrightError(f"{field} is JSON within the group, not {shown(group[field])}")


def _refuse_many(group: Json) -> None:
    """Refuse an answer that is too long: it names each subscribed partition. Invalid groups are checked elsewhere."""
    members = group["members"] if isinstance(group["members"], list) else []
    lists = [member.get("topics") for member in members if isinstance(member, dict)]
    read = {
        topic for topics in lists if isinstance(topics, list) for topic in topics if isinstance(topic, str)
    }
    topics = group["topics"] if isinstance(group["topics"], dict) else {}
    refuse_many(
        sum(count for topic, count in topics.items() if topic in read and isinstance(count, int)), "assign"
    )


def _choose(group: Json, assignor: str | None) -> None:
    if assignor is not None:
        group["assignor"] = assignor
    elif isinstance(group.get("assignor"), str) and is_own(group["assignor"]):
        raise PartwrightError(
            f"the group names {group['assignor']!r}, but a file must not choose which code runs: give it as --assignor"
        )


def refuse_order(group: Json, option: str) -> None:
    """Refuse the one field that only the oldest assignor reads.

    Raises:
        PartwrightError: The group has it.
    """
    if group.get("partition_order") is not None:
        raise PartwrightError(f"partition_order is for old-roundrobin alone: leave it out with {option}")
