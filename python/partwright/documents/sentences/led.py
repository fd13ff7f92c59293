"""What depends on a group's leader and its client, in words: assignments, rolls, members left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences.figures import named
from partwright.rendering.document import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright.assignors.mixed.by_client import ClientAnswer
    from partwright.assignors.mixed.leaders import Led
    from partwright.assignors.mixed.rolling import Roll
    from partwright.group import Timeline

__all__ = ["of_clients", "of_each_leader", "of_leaders", "of_roll", "of_roll_order"]


def of_each_leader(found: Sequence[Led]) -> tuple[Verdict, ...]:
    """Whether a group's assignment depends on which member leads."""
    answers = {
        tuple((member, tuple(sorted(pairs))) for member, pairs in sorted(each.assignment.items()))
        for each in found
        if each.error is None
    }
    failing = [each.leader for each in found if each.error is not None]
    restless = [each.leader for each in found if each.error is None and each.rounds is None]
    many = f"any of {counted(len(found), 'member')}" if len(found) > 1 else "its only member"
    said = [
        f"The leader matters: {counted(len(found), 'member')} would give "
        f"{counted(len(answers), 'different assignment')}."
        if len(answers) > 1
        else f"Each member gets the same partitions, whichever leads: {many} may."
        if len(answers) == 1 and not failing
        else "The leader matters."
    ]
    if failing:
        said.append(f"Under {named(failing)} nobody gets anything, because the leader's client fails.")
    if restless:
        said.append(f"Under {named(restless)} the group never rests.")
    return (Verdict("fails" if failing or restless else "said", " ".join(said)),)


def of_clients(found: Sequence[ClientAnswer], assignor: str) -> tuple[Verdict, ...]:
    """Which clients' leaders would give a group other partitions than Java's, under an assignor of one name."""
    able = [each for each in found if each.client != "java" and each.answer not in ("has none", "fails")]
    failing = [each.client for each in found if each.answer == "fails"]
    different = [each.client for each in able if each.answer != "same"]
    if different:
        told = f"Under {assignor}, {named(different)} would give this group other partitions than Java"
        same = [each.client for each in able if each.answer == "same"]
        told += f"; {named(same)} the same ones." if same else "."
    else:
        told = (
            f"Under {assignor}, leaders of other clients would give this group the same partitions as Java."
        )
    if failing:
        told += f" A leader of {named(failing)} fails."
    return (Verdict("fails" if failing else "said", told),)


def of_roll(rolls: Sequence[Roll], to: str) -> tuple[Verdict, ...]:
    """Whether a group can be rolled to a client while it reads, and in which order, the best one first."""
    best, *_ = rolls
    order = best.order.capitalize()
    if best.unsafe:
        steps = f"{best.unsafe} of {counted(len(best.steps), 'step')}"
        return (Verdict("said", f"Not safe: a roll to {to} stops readers in {steps}. {order} is best."),)
    told = f"Safe: no step of a roll to {to} stops a reader. {order}: {of_roll_order(best)}."
    return (Verdict("said", told),)


def of_roll_order(roll: Roll) -> str:
    """What one order of a roll costs."""
    moved = counted(
        roll.moved, "partition of the other members moves", "partitions of the other members move"
    )
    return f"{moved}, {counted(roll.unsafe, 'step is', 'steps are')} not safe" if roll.unsafe else moved


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
