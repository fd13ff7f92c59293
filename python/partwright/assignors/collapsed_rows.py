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
    """A line by its columns' names.

    Names before the member's id have no blanks in their values, and none after the host but the client's id has: from
    both ends, each value is where it is counted to be, and what is left between them are the ids.

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
    """As `rpk` has it: the member's id, perhaps its instance's, the client's id, and the host."""
    middle = words[1:-1]
    found = dict.fromkeys(names, "")
    found["HOST"] = words[-1]
    found[names[0]] = words[0]
    # A client's id with blanks is the beginning of the member's id.
    for length in range(1, len(words) - 1):
        client = " ".join(words[-1 - length : -1])
        member = " ".join(words[: len(words) - 1 - length])
        if client and member.startswith(f"{client}-"):
            found[names[0]], found["CLIENT-ID"] = member, client
            return found
    found["CLIENT-ID"] = middle[-1] if middle else ""
    return found


def _host_between(words: Sequence[str], names: Sequence[str], number: int) -> dict[str, str]:
    """As Kafka's tool has it: ids, the host, the client's id, and perhaps numbers and assignments."""
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
        # Java and librdkafka make a static member's id of its instance's.
        is_static = len(ids) > 1 and ids[0].startswith(f"{ids[-1]}-")
        found[instance] = ids.pop() if is_static else ""
    return {names[0]: " ".join(ids), **found}
