"""Whether two tables meet: their numbers side by side, what to set, and the keys that do not meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from partwright._check import Fields, all_of, counted
from partwright.audit.copartition import who
from partwright.documents.fingerprint import settings
from partwright.documents.sentences import all_empty, named, of_reading
from partwright.rendering.document import Document, Section, Verdict, answered, bounded, columns
from partwright.rendering.text import label, number, share, shown

if TYPE_CHECKING:
    from partwright.audit.copartition import Meeting, Summary

# How many of a key's partitions the verdict names.
_NAMED = 3


def document(meeting: Meeting) -> Document:
    """Whether they meet and why not, then both tables side by side, their keys, and those that do not meet."""
    answer = meeting.to_dict()
    names: tuple[str, ...] = ()
    if any(reason.kind == "client" for reason in meeting.reasons):
        names = tuple(dict.fromkeys([*_not_as_java(meeting.a), *_not_as_java(meeting.b)]))
    apart = _apart(answer) if answer["examples"] else None
    sections = (_sides(meeting), _keys(answer), settings(names), apart)
    return answered("Whether two tables meet", _verdicts(meeting), sections, answer)


def _verdicts(meeting: Meeting) -> Iterator[Verdict]:
    """Whether they meet, how much of them was read, and each reason why they do not."""
    empty = "".join(name for name, side in (("A", meeting.a), ("B", meeting.b)) if side.is_all_empty)
    yield from all_empty(bool(empty), "" if empty == "AB" else empty)
    headline, apart = "They do not meet", meeting.keys_shared - meeting.keys_meeting
    if meeting.ok:
        headline = "They meet"
        words = (
            f"{all_of(meeting.keys_shared, 'shared key is', 'shared keys are')} in the same partition in both"
        )
    elif apart:
        rows = meeting.a.rows_not_meeting + meeting.b.rows_not_meeting
        of = counted(meeting.a.rows_shared + meeting.b.rows_shared, "record")
        words = (
            f"{apart:,} of {counted(meeting.keys_shared, 'shared key')} ({share(meeting.share_of_keys)}), with "
            f"{rows:,} of their {of} ({share(meeting.share_of_rows)})"
        )
    else:
        keys = counted(meeting.a.keys, "key")
        words = f"{meeting.keys_shared:,} of {keys} of A and {meeting.b.keys:,} of B are in both"
    sampled = ", of those that were looked at" if meeting.is_sampled else ""
    state = "holds" if meeting.ok else "fails"
    yield Verdict(state, f"{headline}: {words}{sampled}{_first_apart(meeting)}.", headline=headline)
    for read in filter(None, meeting.read or ()):
        yield from of_reading(read)
    yield from (
        Verdict("said", f"{each.kind}: {each.sentence}", headline=each.kind) for each in meeting.reasons
    )


def _first_apart(meeting: Meeting) -> str:
    """The heaviest key that does not meet."""
    if meeting.a.n != meeting.b.n:
        return f"; A has {counted(meeting.a.n, 'partition')} and B {meeting.b.n:,}"
    if meeting.ok or not meeting.examples:
        return ""
    first = meeting.examples[0]
    a, b = (named(each, _NAMED) or "any" for each in (first.a, first.b))
    return f"; key {label(first.key)} is in partition {a} of A and {b} of B"


def _not_as_java(side: Summary) -> list[str]:
    """The clients that may have put a table's keys in partitions, if these differ from java's."""
    if side.writer is None:
        return [str(side.client)]
    family = side.writer.family if side.writer.verdict == "one-writer" else tuple(side.writer.shares)
    return [] if "java" in side.writer.family and len(side.writer.shares) == 1 else list(family)


def _sides(meeting: Meeting) -> Section:
    sides = (meeting.a, meeting.b)
    lines = {
        **({} if meeting.names is None else {"table": map(shown, meeting.names)}),
        "partitions": (f"{each.n:,}{', found by its keys' if each.is_n_found else ''}" for each in sides),
        "keys are put by": (f"{who(each)}{'' if each.writer else ', would be'}" for each in sides),
        "records": (number(each.rows) for each in sides),
        "of them without a key": (number(each.null_keys) for each in sides),
    }
    rows = [dict(zip(("name", "a", "b"), (name, *values), strict=True)) for name, values in lines.items()]
    return Section(
        id="sides",
        title="Both tables",
        columns=columns(name="what|prose", a="A|prose", b="B|prose"),
        **bounded(rows),
    )


def _keys(answer: Fields) -> Section:
    apart = answer["keys_shared"] - answer["keys_meeting"]
    counts = {
        "in both, in the same partition": answer["keys_meeting"],
        "in both, in other partitions": apart,
        "in A alone": answer["a"]["keys_alone"],
        "in B alone": answer["b"]["keys_alone"],
    }
    return Section(
        id="keys",
        title="Keys of both tables",
        sentence=f"A has {counted(answer['a']['keys'], 'different key')} and B {number(answer['b']['keys'])}.",
        columns=columns(name="keys|prose", keys="different keys"),
        **bounded([{"name": name, "keys": count} for name, count in counts.items()]),
        bar="keys",
        picked=frozenset({1} if apart else ()),
    )


def _apart(answer: Fields) -> Section:
    rows = [
        {"key": shown(each["key"])} | {name: ", ".join(map(str, each[name])) or "any" for name in ("a", "b")}
        for each in answer["examples"]
    ]
    return Section(
        id="apart",
        title="Keys that do not meet, those with the most records",
        columns=columns(key="key|text", a="partition in A|prose", b="in B|prose"),
        **bounded(rows),
    )
