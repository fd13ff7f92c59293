"""`partwright assign` under the leader that decides, or under each member as the leader."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.cli.input.group_json import names_clients
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Json
    from partwright.assignors.mixed.leaders import Leaders, Led
    from partwright.assignors.mixed.rolling import Rolls

__all__ = ["is_of_leader", "leaders_of", "refuse_clients", "refuse_roll", "rolls_of"]

_ALL = "all"
_MOST_ANSWERS = 10_000_000
"""The most partitions that are printed, counted once for each leader."""


def refuse_clients(leader: str | None, jsonl: bool, is_own: bool, is_compared: bool, by_client: bool) -> None:
    """Refuse options that do not fit together.

    Raises:
        PartwrightError: They do not fit.
    """
    if by_client and (jsonl or is_compared or leader is not None):
        other = "--jsonl" if jsonl else "--compare" if is_compared else "--leader"
        raise PartwrightError(f"--clients asks each client about one group: leave out {other}")
    if leader is not None and (is_compared or is_own):
        other = "--compare" if is_compared else "--assignor with a class of yours"
        raise PartwrightError(f"--leader asks a member's client: leave out {other}")


def refuse_roll(to: str | None, leader: str | None, jsonl: bool, is_own: bool, has_other: bool) -> None:
    """Refuse options that do not go with `--roll-to`.

    Raises:
        PartwrightError: They do not fit.
    """
    others = {
        "--leader": leader is not None,
        "--jsonl": jsonl,
        "--assignor with a class of yours": is_own,
        "--compare and --clients": has_other,
    }
    other = next((name for name, is_given in others.items() if is_given), None)
    if to is not None and other is not None:
        raise PartwrightError(f"--roll-to plays the steps of one group: leave out {other}")


def rolls_of(group: Json, to: str, assumed: Sequence[str]) -> Rolls:
    """What it costs to roll a group to another client, and what was assumed.

    Raises:
        PartwrightError: The group is invalid, or cannot be rolled.
    """
    from partwright.assignors.mixed.rolling import roll

    rolls = roll(
        group["topics"],
        group["members"],
        to,
        group.get("assignor"),
        racks=group.get("racks"),
        seed=group.get("seed", 0),
        balance_racks=group.get("balance_racks", False),
    )
    java = "assumed client of each member: java; its field client can name another"
    return replace(rolls, assumed=(*assumed, *([] if names_clients(group) else [java])))


def is_of_leader(assignor: object) -> bool:
    """Whether the leader's client decides: a broker's assignor, or CLIENT:ASSIGNOR, does not depend on the leader."""
    from partwright.assignors.mixed.clients import DEFAULT_ASSIGNORS, assignors_of
    from partwright.assignors.names import assignors, client_assignors, is_own, short_name

    if not isinstance(assignor, str):
        return True
    name = short_name(assignor)
    offered = {each for client in DEFAULT_ASSIGNORS for each in assignors_of(client)}
    others = {*assignors(), *client_assignors(), *(f"java:{each}" for each in assignors())}
    return name in offered or not (name in others or is_own(assignor))


def leaders_of(group: Json, leader: str | None) -> Led | Leaders:
    """The group's answer under one leader, the first member by default, or under each.

    Raises:
        PartwrightError: The group is invalid or too large, or the one leader's client fails.
    """
    from partwright.assignors.mixed.leaders import leaders

    if group.get("partition_order") is not None:
        raise PartwrightError("partition_order is for old-roundrobin alone, which no member's client has")
    members = group["members"] if isinstance(group["members"], list) else []
    if leader == _ALL:
        _refuse_all(group["topics"], members)
    first = next((member.get("id") for member in members[:1] if isinstance(member, dict)), None)
    found = leaders(
        group["topics"],
        group["members"],
        group.get("assignor"),
        leader=None if leader == _ALL else first if leader is None else leader,
        racks=group.get("racks"),
        seed=group.get("seed", 0),
        balance_racks=group.get("balance_racks", False),
    )
    if leader == _ALL:
        return found
    (only,) = found
    if only.answer is None:
        raise PartwrightError(only.error or "the leader gives no assignment")
    return only


def _refuse_all(topics: object, members: list[object]) -> None:
    """Refuse an answer that is too long, as it names each partition for each leader; the group is checked elsewhere."""
    counts = (
        [count for count in topics.values() if isinstance(count, int)] if isinstance(topics, dict) else []
    )
    if sum(counts) * len(members) > _MOST_ANSWERS:
        raise PartwrightError(
            f"--leader all would print {counted(sum(counts), 'partition')} for each of "
            f"{counted(len(members), 'leader')}: "
            "name one with --leader ID, or ask with --clients"
        )
