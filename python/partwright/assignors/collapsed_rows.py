"""Read a line of a tool's table whose columns may be collapsed to single spaces, with spaces in some values.

>>> row = row_of("g app 1-a1 /h app 1 2 t:0", "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT".split(), 2)
>>> row["CONSUMER-ID"], row["CLIENT-ID"], row["ASSIGNMENT"]
('app 1-a1', 'app 1', 't:0')
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["row_of"]

# A host as Java prints it, with its name or without.
_HOST = re.compile(r"[^\s/]*/[0-9a-zA-Z.:%_-]+")
_OLD_ASSIGNMENTS = re.compile(r"\),\s+")
_IDS = ("CONSUMER-ID", "MEMBER-ID")
_INSTANCES = ("GROUP-INSTANCE-ID", "INSTANCE-ID")


def row_of(line: str, header: Sequence[str], number: int) -> dict[str, str]:
    """A line's values by the names of their columns.

    Values before the member's ID have no blanks, and after the host only the client's ID may have some. So the values
    can be counted from both ends, and the words left in between are the IDs.

    Args:
        line: The line.
        header: The columns' names.
        number: The line's number, for a sentence about it.

    Raises:
        PartwrightError: It has too few values.
    """
    words = _OLD_ASSIGNMENTS.sub("),", line).split()
    ids = next(place for place, name in enumerate(header) if name in _IDS)
    first, last = dict(zip(header[:ids], words[:ids], strict=False)), words[ids:]
    if len(words) < ids:
        raise PartwrightError(f"line {number}: there are fewer values than columns: paste whole lines")
    names = header[ids:]
    if not last:
        return {**first, **dict.fromkeys(names, "")}
    if len(last) == len(names):
        return {**first, **dict(zip(names, last, strict=True))}
    if names[-1] == "HOST":
        return {**first, **_host_last(last, names)}
    return {**first, **_host_between(last, names, number)}


def _host_last(words: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """The columns of `rpk`: the member's ID, perhaps its instance ID, the client's ID, and the host."""
    middle = words[1:-1]
    found = dict.fromkeys(names, "")
    found["HOST"] = words[-1]
    found[names[0]] = words[0]
    # A client's ID with blanks is recognized because the member's ID begins with it.
    for length in range(1, len(words) - 1):
        client = " ".join(words[-1 - length : -1])
        member = " ".join(words[: len(words) - 1 - length])
        if client and member.startswith(f"{client}-"):
            found[names[0]], found["CLIENT-ID"] = member, client
            return found
    found["CLIENT-ID"] = middle[-1] if middle else ""
    return found


def _host_between(words: Sequence[str], names: Sequence[str], number: int) -> dict[str, str]:
    """The columns of Kafka's tool: IDs, the host, the client's ID, and perhaps numbers and assignments."""
    behind = list(names[names.index("CLIENT-ID") + 1 :])
    end = len(words) - len(behind)
    host = next((at for at in range(end - 1, 0, -1) if _HOST.fullmatch(words[at])), None)
    if host is None:
        raise PartwrightError(f"line {number}: there is no host, such as /10.0.0.17: paste whole lines")
    found = dict(zip(behind, words[end:], strict=True))
    found |= {"HOST": words[host], "CLIENT-ID": " ".join(words[host + 1 : end])}
    ids = list(words[:host])
    instance = next((name for name in names if name in _INSTANCES), None)
    if instance is not None:
        # Java and librdkafka begin a static member's ID with its instance ID.
        is_static = len(ids) > 1 and ids[0].startswith(f"{ids[-1]}-")
        found[instance] = ids.pop() if is_static else ""
    return {names[0]: " ".join(ids), **found}
