"""What a step of a migration did, in words: the verdict of `partwright migrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import all_of, counted
from partwright.rendering.document import Verdict

if TYPE_CHECKING:
    from partwright.migration.answer import Answer

__all__ = ["lasting", "of_migration"]

_MINUTES_FROM = 100


def of_migration(answer: Answer) -> tuple[Verdict, ...]:
    """The verdict of a step.

    Examples:
        >>> from partwright.migration.answer import Answer
        >>> compared = {"compared": "every record"}
        >>> [verdict] = of_migration(Answer("verify", "a", "b", 4, 6, 10, 10, lost=1, more=compared))
        >>> verdict.state, verdict.text[:43]
        ('fails', 'The copy is wrong. Of 10 records: 1 lost, 0')
    """
    return (Verdict("holds" if answer.ok else "fails", _SENTENCES[answer.step](answer)),)


def lasting(seconds: float) -> str:
    """How long something takes.

    Examples:
        >>> lasting(9.53), lasting(600)
        ('9.5 s', '10 min')
    """
    return f"{seconds:,.1f} s" if seconds < _MINUTES_FROM else f"{seconds / 60:,.0f} min"


def _plan(answer: Answer) -> str:
    more = answer.more
    if not answer.ok:
        return (
            f"{counted(more['scattered_keys'], 'key is', 'keys are')} in several partitions "
            f"({counted(answer.out_of_order, 'record')}): copy refuses them. Add --order time or --order generation."
        )
    how = f", merged by {more['order']}" if more["order"] else ""
    words = f"{counted(answer.records, 'record')} can be copied with each key in order{how}"
    if answer.groups:
        again = counted(sum(answer.reread.values()), "record")
        words += f"; {counted(len(answer.groups), 'group')} would read at most {again} again"
    return f"{words}."


def _copy(answer: Answer) -> str:
    now, took = answer.more["copied_now"], answer.more["seconds"]
    rate = f", {now / took:,.0f} a second" if took else ""
    return (
        f"{counted(answer.written, 'record is', 'records are')} copied, {now:,} of them now in {lasting(took)}{rate}; "
        f"{counted(answer.lag, 'offset')} came meanwhile."
    )


def _verify(answer: Answer) -> str:
    if answer.more["compared"] == "every record":
        of = counted(answer.records, "record")
    else:
        of = counted(answer.records, "key's last value", "keys' last values")
    headline = "Every copy is right" if answer.ok else "The copy is wrong"
    found = (
        f"{headline}. Of {of}: {answer.lost:,} lost, {answer.twice:,} twice or foreign, {answer.changed:,} changed or "
        f"misplaced, {answer.out_of_order:,} out of order; groups would skip {answer.skipped:,}."
    )
    return found if answer.ok else f"{found} Do not cut over."


def _cutover(answer: Answer) -> str:
    all_copied, many = all_of(answer.written, "record is", "records are"), len(answer.groups)
    moved = counted(many, "group has its offsets", "groups have their offsets")
    return f"{all_copied[0].upper()}{all_copied[1:]} copied, and {moved} in the new topic."


def _back(answer: Answer) -> str:
    words = "Back: the old topic and the groups' offsets there are as they were at the cut-over."
    since = answer.more["written_since"]
    if not since:
        return words
    return f"{words} The old topic lacks {counted(since, 'record')} that the new topic has got since."


def _finish(answer: Answer) -> str:
    copies = counted(answer.written, "copy", "copies")
    return f"Finished: the new topic has its own settings, and {copies} of the old one's records."


_SENTENCES = {
    "plan": _plan,
    "copy": _copy,
    "verify": _verify,
    "cutover": _cutover,
    "back": _back,
    "finish": _finish,
}
