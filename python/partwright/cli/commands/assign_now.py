"""`partwright assign --explain`: a group as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Json
    from partwright.assignors.group_now import GroupNow

__all__ = ["now_of", "refuse_explained"]


def refuse_explained(**others: object) -> None:
    """Refuse options that do not go with --explain.

    Raises:
        PartwrightError: One of them was given.
    """
    strange = next((name for name, value in others.items() if value), None)
    if strange is not None:
        raise PartwrightError(f"--explain is about one group as it is: leave out --{strange}")


def now_of(group: Json, assumed: Sequence[str]) -> GroupNow:
    """A group as it is now, what would happen to it, and what was assumed.

    Raises:
        PartwrightError: No member owns anything, or the group is invalid.
    """
    from partwright.assignors.group_now import group_now

    if not any(isinstance(each, dict) and each.get("owned") for each in group["members"]):
        raise PartwrightError(
            "no member reports what it owns, so there is nothing to explain: leave out --explain"
        )
    return replace(group_now(group["topics"], group["members"], group["assignor"]), assumed=tuple(assumed))
