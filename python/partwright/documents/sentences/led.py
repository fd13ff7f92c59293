"""What a timeline's leaders did not know of their members, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.documents.sentences.figures import named
from partwright.rendering.document import Verdict

if TYPE_CHECKING:
    from partwright.group import Timeline

__all__ = ["of_leaders"]


def of_leaders(timeline: Timeline) -> list[Verdict]:
    """Sentences about members that leaders left out or forgot, and about chance; none if all use Java's client."""
    left_out: dict[str, None] = {}
    forgotten: dict[str, None] = {}
    forgetting, drawn = [], []
    for each in timeline.generations():
        left_out |= dict.fromkeys(each.get("left_out", ()))
        forgotten |= dict.fromkeys(each.get("forgotten", ()))
        if each.get("forgotten"):
            forgetting.append(each["generation"])
        if each.get("chance"):
            drawn.append(each["generation"])
    found = []
    if left_out:
        found.append(
            Verdict(
                "open",
                f"The leader cannot read the subscription of {named(list(left_out))}: no partitions, and no error.",
            )
        )
    if forgotten:
        found.append(
            Verdict("open", f"The leader did not know what {named(list(forgotten))} owned{_in(forgetting)}.")
        )
    if drawn:
        found.append(
            Verdict(
                "said", f"The leader's client draws a part of its answer{_in(drawn)}: this is one of several."
            )
        )
    return found


def _in(generations: list[int]) -> str:
    return f" in generation{'s' if len(generations) > 1 else ''} {named(list(map(str, generations)))}"
