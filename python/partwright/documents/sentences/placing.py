"""What comes before or after answers about keys: that all are empty, and what was read of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences.figures import time
from partwright.rendering.document import Verdict

if TYPE_CHECKING:
    from partwright._check import Json

__all__ = ["all_empty", "of_reading"]


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


def of_reading(told: Json) -> tuple[Verdict, ...]:
    """How much of a topic was read, which is what the answer is about; nothing where it was plainly everything."""
    if told["whole"] and told["records"] == told["of"] and not (told["tombstones"] or told["came"]):
        return ()
    records, of, bounds = told["records"], told["of"], told["bounds"]
    holes = told["passed"] - told["deleted"] - records
    counts = (
        (holes, "without a record, as compaction and transactions leave them"),
        (told["deleted"], "deleted before they could be read"),
        (told["came"], "that came meanwhile, not read"),
    )
    said = [f"{counted(records, 'record')} read, of {counted(of, 'offset')}"]
    said += [f"{counted(count, 'offset')} {what}" for count, what in counts if count]
    if told["tombstones"]:
        said.append(f"{counted(told['tombstones'], 'record')} without a value (tombstones)")
    if told.get("interrupted"):
        said.append("Ctrl-C ended the reading")
    if told["whole"]:
        return (Verdict("said", "; ".join(said)),)
    limits = [f"{name} {time(bounds[name])}" for name in ("since", "until") if name in bounds]
    if "last" in bounds:
        limits.append(f"the newest {bounds['last']:,} of each partition")
    if "partitions" in bounds:
        pairs = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in bounds["partitions"])
        limits.append(f"partitions {pairs}")
    part = f" ({'; '.join(limits)})" if limits else ""
    headline = "the answer is of a part of the topic"
    return (Verdict("open", f"{headline}{part}: {'; '.join(said)}", headline=headline),)
