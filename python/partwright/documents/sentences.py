"""Words that the documents of several verbs share: times, factors, lists of names, and whole verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from partwright._check import Json, counted, enumeration
from partwright.rendering.document import Verdict
from partwright.rendering.text import label

# How many of a list are named; of the others, only their number is given.
_NAMED = 6
# From here on, digits after the point mean nothing.
_WHOLE = 10


def seconds(ms: float) -> str:
    """A time in a play.

    Examples:
        >>> seconds(3013)
        '3.0 s'
    """
    return f"{ms / 1000:,.1f} s"


def time(milliseconds: int) -> str:
    """An instant in ISO 8601, if it is a calendar time.

    Examples:
        >>> time(1_700_000_000_000)
        '2023-11-14T22:13:20.000+00:00'
    """
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return f"{milliseconds} ms"


def times(factor: float) -> str:
    """A factor, with as many digits as matter.

    Examples:
        >>> [times(factor)[:-1] for factor in (174.72, 3.74, 1)]
        ['175', '3.7', '1.0']
    """
    return f"{factor:,.0f}\u00d7" if factor >= _WHOLE else f"{factor:.1f}\u00d7"


def named(names: Sequence[object], most: int = _NAMED) -> str:
    """Names from outside, by `enumeration`, each short enough for a sentence."""
    return enumeration(names, most, label)


def ends(names: Sequence[str]) -> str:
    """The first and the last of some names, for what stands for all of them.

    Examples:
        >>> ends(["m0", "m1", "m2"]), ends(["m0"])
        ('m0 … m2', 'm0')
    """
    return " … ".join(label(name) for name in dict.fromkeys((names[0], names[-1])))


def all_empty(is_all_empty: bool, of: str = "") -> tuple[Verdict, ...]:
    """What comes before an answer about keys that are all empty; nothing about others.

    Args:
        is_all_empty: Whether they are.
        of: Whose keys they are, if only one side's are: A or B.

    Examples:
        >>> all_empty(False)
        ()
    """
    headline = f"Every key{f' of {of}' if of else ''} is empty, and none is null"
    words = (
        f"{headline}: probably these records have no key, and their writer wrote an empty one, as kcat before 1.4 did. "
        "Write null keys instead (kcat 1.4 or later)."
    )
    return (Verdict("open", words, headline=headline),) if is_all_empty else ()


def of_reading(read: Json) -> Iterator[Verdict]:
    """How much of a topic was read, which is what the answer is about; nothing where it was plainly everything."""
    if read["whole"] and read["records"] == read["of"] and not (read["tombstones"] or read["came"]):
        return
    records, bounds = read["records"], read["bounds"]
    counts = {
        "without a record, as compaction and transactions leave them": read["passed"]
        - read["deleted"]
        - records,
        "deleted before they could be read": read["deleted"],
        "that came meanwhile, not read": read["came"],
    }
    parts = [f"{counted(records, 'record')} read, of {counted(read['of'], 'offset')}"]
    parts += [f"{counted(count, 'offset')} {what}" for what, count in counts.items() if count]
    if read["tombstones"]:
        parts.append(f"{counted(read['tombstones'], 'record')} without a value (tombstones)")
    if read.get("interrupted"):
        parts.append("Ctrl-C ended the reading")
    if read["whole"]:
        yield Verdict("said", "; ".join(parts))
        return
    limits = [f"{name} {time(bounds[name])}" for name in ("since", "until") if name in bounds]
    if "last" in bounds:
        limits.append(f"the newest {bounds['last']:,} of each partition")
    if "partitions" in bounds:
        ranges = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in bounds["partitions"])
        limits.append(f"partitions {ranges}")
    part = f" ({'; '.join(limits)})" if limits else ""
    headline = "the answer is of a part of the topic"
    yield Verdict("open", f"{headline}{part}: {'; '.join(parts)}", headline=headline)
