"""Who reads what, and what a group costs over time, in words: `assign`, `group` and `rollout`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from partwright._check import all_of, counted, span
from partwright.documents.sentences.figures import named
from partwright.rendering.document import Verdict
from partwright.rendering.text import label, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from partwright.assignors.assignment import Assignment
    from partwright.assignors.compare import Compared

__all__ = ["of_assignment", "of_comparison"]

_NAMED = 6
_FEW = 3


def of_assignment(found: Assignment, assignor: str | None = None) -> tuple[Verdict, ...]:
    """Who is idle, who has the most, and what to try."""
    assignment = found.to_dict()
    spread = found.spread()
    partitions = sum(map(len, assignment.values()))
    by = "" if assignor is None else f" by {assignor}"
    members = counted(len(assignment), "member reads", "members read")
    words = f"{members} {counted(partitions, 'partition')}{by}"
    if not assignment:
        return (
            Verdict(
                "open",
                "The group has no members, so nobody reads anything.",
                headline="The group has no members",
            ),
        )
    even = spread.min == spread.max
    words += f", {span(spread.min, spread.max)} each"
    unread = found.subscribed_partitions() - partitions
    if unread > 0:
        # A cooperative assignor withholds what another member must give up first.
        what = f"{counted(unread, 'partition has', 'partitions have')} no reader until the next rebalance"
        return (Verdict("said", f"{words}; {what}.", headline=words),)
    idle = [member for member, pairs in assignment.items() if not pairs]
    if not idle or even:
        return (Verdict("said", f"{words}{_evenness(found)}."),)
    what = (
        "there are more members than partitions"
        if len(assignment) > partitions
        else "--compare shows what other assignors give"
    )
    return (Verdict("open", f"{words}; {_idle(idle)}: {what}.", headline=words),)


def _evenness(found: Assignment) -> str:
    """How even an assignment without idle members is, and what to try, after its figures."""
    spread, of_topics = found.spread(), found.per_topic_spread()
    if spread.max - spread.min > 1:
        assignment = found.to_dict()
        busiest = max(assignment, key=lambda member: len(assignment[member]))
        return f"; {label(busiest)} reads the most. --compare shows what other assignors give"
    gaps = {topic: each.max - each.min for topic, each in of_topics.items()}
    topic = max(gaps, key=gaps.__getitem__, default="")
    if gaps.get(topic, 0) > 1:
        # Equally many partitions are not equal work if topics differ.
        return f", but {gaps[topic]:,} apart in {label(topic)}: --compare shows what other assignors give"
    return "" if spread.min == spread.max else ", as even as can be"


def _idle(names: Sequence[str]) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"{counted(len(names), 'member')} {verb} idle ({named(names, _FEW)})"


def of_comparison(found: Iterable[Compared]) -> tuple[Verdict, ...]:
    """Which assignor to take, with its ties and by what it is judged, and why an assignor has no assignment."""
    found = list(found)
    errors = tuple(Verdict("fails", each.error) for each in found if each.error is not None)
    able = [each for each in found if each.error is None]
    if not able:
        return (Verdict("fails", "No assignor can assign this group."), *errors)
    best = min(map(_rank, able))
    equal = [each for each in able if _rank(each) == best]
    first = equal[0]
    words = f"Take {label(first.assignor)}"
    if len(equal) == len(able) and len(able) > 1:
        words = f"Take any: {all_of(len(able), 'assignor is', 'assignors are')} equal"
    elif len(equal) > 1:
        words = f"Take {named([each.assignor for each in equal])}, which are equal".replace(" and ", " or ")
    judged = [each for each in _JUDGED if each.place < _ALWAYS or any(map(each.figure, able))]
    told = [each.words(first) for each in judged if each.place <= _ALWAYS or each.figure(first)]
    words += f": {', '.join(told)}"
    worst = max(able, key=_rank)
    if _rank(worst) != best:
        last = [each.assignor for each in able if _rank(each) == _rank(worst)]
        lost = next(each for each in judged if each.figure(worst) != each.figure(first))
        words += f"; {lost.worst} {'is' if len(last) == 1 else 'are'} {named(last)}, {lost.words(worst)}"
        # A cooperative assignor withholds what another member must give up first.
        words += " until the next rebalance" if worst.unread and not lost.place else ""
    words += f". Judged by {', then by '.join(each.name for each in judged)}."
    for each in judged[1:]:
        least = min(map(each.figure, able))
        if each.figure(first) > least:
            better = [one for one in able if each.figure(one) == least]
            words += f" {each.best}: {named([one.assignor for one in better])}, {each.words(better[0])}."
    return (Verdict("said", words), *errors)


class _Criterion(NamedTuple):
    """A figure by which assignors are compared; less is better."""

    place: int
    name: str
    figure: Callable[[Compared], float]
    words: Callable[[Compared], str]
    best: str
    worst: str


def _rank(each: Compared) -> tuple[float, ...]:
    return tuple(criterion.figure(each) for criterion in _JUDGED)


_JUDGED = (
    _Criterion(
        0,
        "partitions a member",
        lambda each: each.spread.max - each.spread.min,
        lambda each: f"{span(each.spread.min, each.spread.max, 'partition')} a member",
        "",
        "least even",
    ),
    _Criterion(
        1,
        "the spread within a topic",
        lambda each: each.topic_spread,
        lambda each: f"{each.topic_spread:,} apart in one topic",
        "Most even within a topic",
        "least even within a topic",
    ),
    _Criterion(
        2,
        "moves",
        lambda each: each.moved,
        lambda each: counted(each.moved, "partition moves", "partitions move"),
        "Fewest moves",
        "worst",
    ),
    _Criterion(
        3,
        "partitions without a reader",
        lambda each: each.unread,
        lambda each: f"{each.unread:,} unread until the next rebalance",
        "Fewest unread",
        "worst",
    ),
    _Criterion(
        4,
        "racks",
        lambda each: -(each.in_rack_share or 0.0),
        lambda each: f"{share(each.in_rack_share or 0.0)} read in their rack",
        "Most in their rack",
        "worst",
    ),
)
# The first criteria are named for every group, the others if they matter.
_ALWAYS = 2
