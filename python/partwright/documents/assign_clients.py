"""A group whose members have several clients: under each leader, by a leader of each client, rolled to a client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from partwright._check import Json, counted
from partwright.assignors.mixed.assignors_by_client import ClientAnswers
from partwright.assignors.mixed.rolling import Rolls
from partwright.documents.sentences import named
from partwright.rendering.document import Column, Document, Section, Verdict, answered, bounded, columns
from partwright.rendering.text import label, shown

if TYPE_CHECKING:
    from partwright.assignors.mixed.group_leaders import Leaders
    from partwright.assignors.mixed.rolling import Roll

_SPREAD = columns(least="fewest", most="most")
_COST = columns(
    moved="moved", unread="unread", rebalances="rebalances|prose", note="what the leader does not see|prose"
)


def document(answer: Leaders | ClientAnswers | Rolls) -> Document:
    """Whether the leader, its client or the order of a roll matters, then a table of these."""
    verdicts: Iterable[Verdict | str]
    if isinstance(answer, ClientAnswers):
        title, verdicts = f"{answer.assignor} by each client", _of_clients(answer)
        sections: Sequence[Section] = (_clients(answer),)
    elif isinstance(answer, Rolls):
        title, verdicts = f"A roll to {label(answer.to)}", _of_rolls(answer)
        sections = [_steps(each, is_best=not place) for place, each in enumerate(answer)]
    else:
        title, verdicts, sections = "Each member as the leader", _of_leaders(answer), (_leaders(answer),)
    return answered(title, verdicts, sections, answer.to_dict(), answer.assumed)


def _of_leaders(leaders: Leaders) -> Iterator[Verdict]:
    answers = {
        tuple((member, tuple(sorted(pairs))) for member, pairs in sorted(each.assignment.items()))
        for each in leaders
        if each.error is None
    }
    failing = [each.leader for each in leaders if each.error is not None]
    restless = [each.leader for each in leaders if each.error is None and each.rounds is None]
    members = f"any of {counted(len(leaders), 'member')}" if len(leaders) > 1 else "its only member"
    words = "The leader matters."
    if len(answers) > 1:
        different = counted(len(answers), "different assignment")
        words = f"The leader matters: {counted(len(leaders), 'member')} would give {different}."
    elif answers and not failing:
        words = f"Each member gets the same partitions, whichever leads: {members} may."
    if failing:
        words += f" Under {named(failing)} nobody gets anything, because the leader's client fails."
    if restless:
        words += f" Under {named(restless)} the group never rests."
    yield Verdict("fails" if failing or restless else "said", words)
    yield from (
        Verdict("fails", each) for each in dict.fromkeys(each.error for each in leaders if each.error)
    )


def _leaders(leaders: Leaders) -> Section:
    rows = [
        {
            "name": shown(each.leader),
            "assignor": each.assignor,
            **_figures(None if each.error else each.spread, each.moved),
            "unread": None if each.error else each.unread,
            "rebalances": "" if each.error else _rebalances(each.rounds),
            "note": "fails" if each.error else _unseen(each.left_out, each.forgotten),
        }
        for each in leaders
    ]
    head = columns(name="leader|text", assignor="assignor|prose")
    return _section("leaders", "Each leader's answer", rows, (*head, *_SPREAD, *_COST))


def _figures(spread: tuple[int, int] | None, moved: int) -> Json:
    """A member's fewest and most partitions, and what moves; all null if there is no assignment."""
    if spread is None:
        return {"least": None, "most": None, "moved": None}
    return {"least": spread[0], "most": spread[1], "moved": moved}


def _of_clients(clients: ClientAnswers) -> Iterator[Verdict | str]:
    able = [each for each in clients if each.client != "java" and each.answer not in {"has none", "fails"}]
    failing = [each.client for each in clients if each.answer == "fails"]
    same = [each.client for each in able if each.answer == "same"]
    other = [each.client for each in able if each.answer != "same"]
    words = f"Under {clients.assignor}, leaders of other clients would give this group the same partitions as Java."
    if other:
        words = f"Under {clients.assignor}, {named(other)} would give this group other partitions than Java"
        words += f"; {named(same)} the same ones." if same else "."
    if failing:
        words += f" A leader of {named(failing)} fails."
    yield Verdict("fails" if failing else "said", words)
    yield from (
        Verdict("fails", f"{each.client}: {each.error}") for each in clients if each.error is not None
    )
    common = set.intersection(*(set(each.agrees) for each in clients if each.answer != "has none"))
    if common:
        yield f"All clients that have {clients.assignor} agree with Java on {', '.join(sorted(common))}."
    for each in clients:
        if each.error is None and each.answer.startswith("other") and each.agrees:
            yield f"{each.client}: set {each.setting} to {' or '.join(each.agrees)} to agree with Java."


def _clients(clients: ClientAnswers) -> Section:
    rows = [
        {
            "name": each.client,
            "answer": f"{each.answer}, one of several" if each.chance else each.answer,
            **_figures(each.spread, each.moved),
            "agrees": ", ".join(each.agrees),
        }
        for each in clients
    ]
    head = columns(name="leader|text", answer=f"its {clients.assignor}|prose")
    tail = columns(moved="differ from Java", agrees="same as Java with|prose")
    title = f"{clients.assignor} of each client"
    return _section("clients", title, rows, (*head, *_SPREAD, *tail))


def _of_rolls(rolls: Rolls) -> Iterator[Verdict | str]:
    best, *others = rolls
    order = best.order.capitalize()
    words = f"Safe: no step of a roll to {label(rolls.to)} stops a reader. {order}: {_cost(best)}."
    if best.unsafe:
        steps = f"{best.unsafe} of {counted(len(best.steps), 'step')}"
        words = f"Not safe: a roll to {label(rolls.to)} stops readers in {steps}. {order} is best."
    yield words
    for step in best.steps:
        if step.error is not None:
            yield Verdict("fails", f"{label(step.replaced)}: {step.error}")
    yield from (f"{each.order.capitalize()}: {_cost(each)}." for each in others)


def _cost(roll: Roll) -> str:
    moved = counted(
        roll.moved, "partition of the other members moves", "partitions of the other members move"
    )
    return f"{moved}, {counted(roll.unsafe, 'step is', 'steps are')} not safe" if roll.unsafe else moved


def _steps(roll: Roll, *, is_best: bool) -> Section:
    rows = [
        {
            "name": shown(step.replaced),
            "leader": shown(step.leader),
            "assignor": step.assignor,
            "moved": None if step.error else step.moved,
            "unread": None if step.error else step.unread,
            "rebalances": "fails" if step.error else _rebalances(step.rebalances),
            "note": _unseen(step.left_out, step.forgotten),
        }
        for step in roll.steps
    ]
    head = columns(name="replaced|text", leader="leader|text", assignor="assignor|prose")
    name, title = roll.order.replace(" ", "-"), f"The steps, {roll.order}"
    return _section(name, title, rows, (*head, *_COST), is_detail=not is_best)


def _rebalances(count: int | None) -> str:
    return "no end" if count is None else f"{count:,}"


def _unseen(left_out: Sequence[str], forgotten: Sequence[str]) -> str:
    """Whom a leader cannot read, and of whom it does not know what they own."""
    return ", ".join(
        [f"{label(name)} is left out" for name in left_out]
        + [f"{label(name)} is forgotten" for name in forgotten]
    )


def _section(
    name: str, title: str, rows: Sequence[Json], titles: Sequence[Column], *, is_detail: bool = False
) -> Section:
    """A table of leaders or steps, with bars of what each moves."""
    return Section(
        id=name,
        title=title,
        sentence="Fewest and most are the partitions of a member." if "least" in rows[0] else "",
        columns=tuple(each for each in titles if each.field != "note" or any(row["note"] for row in rows)),
        **bounded(rows),
        bar="moved",
        is_detail=is_detail,
    )
