"""Assignors side by side: which to take, how even each is, and what each moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import all_of, counted, span
from partwright.documents.assign import NO_MEMBERS, no_such_topics
from partwright.documents.sentences import named
from partwright.rendering.colours import assignors, in_order
from partwright.rendering.document import (
    Document,
    Section,
    Verdict,
    answered,
    bounded,
    columns,
    filled,
    places,
)
from partwright.rendering.text import label, share, shown

if TYPE_CHECKING:
    from partwright.assignors.comparison import Compared, Comparison


def document(comparison: Comparison) -> Document:
    """Which assignor to take, then the figures of each; one that has no assignment is only in the verdicts."""
    able = [each for each in comparison if each.error is None]
    first, *others = _verdicts(able) if comparison.members else [NO_MEMBERS]
    failing = (Verdict("fails", each.error) for each in comparison if each.error is not None)
    sections = [_figures(comparison, able)] if able else []
    title, answer = "Assignors side by side", comparison.to_dict()
    missing = no_such_topics(comparison.absent_topics, comparison.topics)
    return answered(title, (first, *missing, *failing, *others), sections, answer, comparison.assumed)


def _verdicts(able: Sequence[Compared]) -> Iterator[Verdict | str]:
    """Which assignor to take, with its ties; which is worst; which is better by a later figure; what was judged."""
    if not able:
        yield Verdict("fails", "No assignor can assign this group.")
        return
    best, worst = min(able, key=_rank), max(able, key=_rank)
    equal = [each.assignor for each in able if _rank(each) == _rank(best)]
    judged = [each for each in _JUDGED if each.place < _ALWAYS or any(map(each.figure, able))]
    words = f"Take {named(equal)}, which are equal".replace(" and ", " or ")
    if len(equal) == 1:
        words = f"Take {label(best.assignor)}"
    elif len(equal) == len(able):
        words = f"Take any: {all_of(len(able), 'assignor is', 'assignors are')} equal"
    figures = [each.words(best) for each in judged if each.place <= _ALWAYS or each.figure(best)]
    yield f"{words}: {', '.join(figures)}."
    if len(equal) < len(able):
        last = [each.assignor for each in able if _rank(each) == _rank(worst)]
        lost = next(each for each in judged if each.figure(worst) != each.figure(best))
        # A cooperative assignor withholds what another member must give up first.
        until = " until the next rebalance" if worst.unread and not lost.place else ""
        are = "is" if len(last) == 1 else "are"
        yield f"{lost.worst} {are} {named(last)}, {lost.words(worst)}{until}."
    for each in judged[1:]:
        least = min(map(each.figure, able))
        if each.figure(best) > least:
            better = [one for one in able if each.figure(one) == least]
            yield f"{each.best}: {named([one.assignor for one in better])}, {each.words(better[0])}."
    yield f"Judged by {', then by '.join(each.name for each in judged)}."


class _Criterion(NamedTuple):
    """A figure by which assignors are compared; less is better."""

    place: int
    name: str
    figure: Callable[[Compared], float]
    words: Callable[[Compared], str]
    best: str
    worst: str


_JUDGED = (
    _Criterion(
        0, "partitions a member", lambda each: each.spread.max - each.spread.min,
        lambda each: f"{span(each.spread.min, each.spread.max, 'partition')} a member", "", "Least even",
    ),
    _Criterion(
        1, "the spread within a topic", lambda each: each.topic_spread,
        lambda each: f"{each.topic_spread:,} apart in one topic",
        "Most even within a topic", "Least even within a topic",
    ),
    _Criterion(
        2, "moves", lambda each: each.moved,
        lambda each: counted(each.moved, "partition moves", "partitions move"), "Fewest moves", "Worst",
    ),
    _Criterion(
        3, "partitions without a reader", lambda each: each.unread,
        lambda each: f"{each.unread:,} unread until the next rebalance", "Fewest unread", "Worst",
    ),
    _Criterion(
        4, "racks", lambda each: -(each.in_rack_share or 0.0),
        lambda each: f"{share(each.in_rack_share or 0.0)} read in their rack", "Most in their rack", "Worst",
    ),
)  # fmt: skip
# The first criteria are named for every group, the others if they matter.
_ALWAYS = 2


def _rank(each: Compared) -> tuple[float, ...]:
    return tuple(criterion.figure(each) for criterion in _JUDGED)


def _figures(comparison: Comparison, able: Sequence[Compared]) -> Section:
    """All figures of each assignor, with bars of the first one that they do not share."""
    order = in_order((each.assignor for each in able), assignors())
    ranked = sorted(able, key=lambda each: order.index(each.assignor))
    rows = [
        {
            "assignor": shown(each.assignor),
            "least": each.spread.min,
            "most": each.spread.max,
            "apart": each.topic_spread,
            "moved": each.moved,
            "unread": each.unread,
            "in_rack": each.in_rack_share,
            "ms": None if each.seconds is None else round(each.seconds * 1000, 1),
        }
        for each in ranked
    ]
    sizes = (
        (comparison.members, "member"),
        (len(comparison.topics), "topic"),
        (sum(comparison.topics.values()), "partition"),
    )
    best = min(map(_rank, able))
    return Section(
        id="spread",
        title="How even each assignor is, and what it moves",
        sentence=f"{', '.join(counted(*size) for size in sizes)}; fewest and most are those of a member.",
        # An assignor's name is in one piece, because it is copied into settings.
        columns=columns(
            assignor="assignor|prose",
            least="fewest",
            most="most",
            apart="apart in one topic",
            moved="moved",
            unread="unread",
        )
        + filled(rows, *columns(in_rack="in rack|share", ms="ms")),
        **bounded(rows),
        bar=next(
            (name for name in ("most", "moved", "unread") if len({row[name] for row in rows}) > 1), "most"
        ),
        picked=places(_rank(each) == best for each in ranked),
    )
