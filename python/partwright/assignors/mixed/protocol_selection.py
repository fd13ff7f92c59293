"""The coordinator's choice among the assignors that all members have (`ClassicGroup.selectProtocol`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright import _core
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["select_protocol"]


def select_protocol(preferred: Mapping[str, Sequence[str]]) -> str:
    """The assignor of a group: each member votes for the first of its assignors that all members have.

    Args:
        preferred: By member, its assignors' wire names, the preferred one first.

    Raises:
        PartwrightError: The members have no assignor in common, so the coordinator refuses the last one to join.

    Examples:
        >>> select_protocol({"c1": ["range", "sticky"], "c2": ["sticky", "range"], "c3": ["sticky", "range"]})
        'sticky'
    """
    common = set.intersection(*(set(names) for names in preferred.values()))
    if not common:
        lists = "; ".join(f"{member} has {', '.join(names) or 'none'}" for member, names in preferred.items())
        raise PartwrightError(
            "these members have no assignor in common, so the coordinator lets the last of them not join "
            f"(INCONSISTENT_GROUP_PROTOCOL): {lists}; set one that all have"
        )
    votes: dict[str, int] = {}
    for names in preferred.values():
        vote = next(name for name in names if name in common)
        votes[vote] = votes.get(vote, 0) + 1
    most = max(votes.values())
    # If votes are equal, Java takes the first in its map.
    names = list(votes)
    return next(names[place] for place in _core.walk_names(names) if votes[names[place]] == most)
