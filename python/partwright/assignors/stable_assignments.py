"""A cooperative assignor's final assignment, when nothing is withheld any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from partwright.assignors.assign import assign

if TYPE_CHECKING:
    from partwright.assignors.assignment import Assignment

__all__ = ["stable_assignment"]

# Java's assignor takes two rounds; other clients' may take more.
_MOST_ROUNDS = 20


def stable_assignment(
    topics: Mapping[str, int],
    members: Mapping[str, Iterable[str]] | Iterable[Mapping[str, Any]],
    assignor: object,
    *,
    owned: Assignment | None = None,
) -> Assignment:
    """The answer of `partwright.assign`, repeated as long as it withholds partitions that another member owned.

    Args:
        topics: See `partwright.assign`.
        members: See `partwright.assign`.
        assignor: See `partwright.assign`.
        owned: See `partwright.assign`.

    Raises:
        PartwrightError: See `partwright.assign`.

    Examples:
        >>> members = [{"id": "c1", "topics": ["t"], "owned": [["t", 0], ["t", 1]], "generation": 1}]
        >>> stable_assignment({"t": 2}, [*members, {"id": "c2", "topics": ["t"]}], "cooperative-sticky").to_dict()
        {'c1': [('t', 0)], 'c2': [('t', 1)]}
    """
    given = assign(topics, members, assignor, owned=owned)
    again = members
    if not isinstance(members, Mapping):
        # From then on members own the partitions that they were given.
        again = [
            {name: each[name] for name in each if name not in {"owned", "generation"}} for each in members
        ]
    for _ in range(_MOST_ROUNDS):
        if len(given.lists.values) == given.subscribed_partitions():
            break
        given = assign(topics, again, assignor, owned=given)
    return given
