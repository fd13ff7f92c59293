"""Short forms of scripts: `+3, -1, roll` for three members that join, one that leaves, and a rolling restart.

>>> [event for event in expand("+2, x1", every_ms=60000, down_ms=5000)]
[{'at_ms': 0, 'join': 'c1'}, {'at_ms': 0, 'join': 'c2'}, {'at_ms': 60000, 'crash': 'c2'}]
"""

from __future__ import annotations

import re

from partwright._check import Json, meant, shown
from partwright.errors import PartwrightError

__all__ = ["READY_MS", "expand"]

READY_MS = 10_000
"""For so long a rolling restart waits after a member is back, until it takes the next one down."""
_WORD = re.compile(
    r"(?P<sign>[+\-x])(?P<count>\d{1,6})|(?P<roll>roll)|(?P<topic>[A-Za-z0-9._-]+)\+(?P<more>\d{1,9})",
    re.ASCII,
)
_MOST = 100_000


def expand(text: str, *, every_ms: int, down_ms: int) -> list[Json]:
    """The events of a short form.

    Args:
        text: Words with commas between them: `+N`, N members join; `-N`, the N newest leave; `xN`, the N newest crash;
            `roll`, each member in turn is closed and started again; `TOPIC+N`, a topic gets N partitions more.
        every_ms: How long after a word the next one comes.
        down_ms: For how long a member is down in a rolling restart.

    Returns:
        The events; members are c1, c2 and so on.

    Raises:
        PartwrightError: A word is none of these, or more members go than are there.
    """
    events: list[Json] = []
    there: list[str] = []
    at_ms = made = 0
    for number, word in enumerate(text.split(","), 1):
        found = _WORD.fullmatch(word.strip())
        if found is None:
            near = meant(word.strip().lower(), ["roll"], opening="; ")
            raise PartwrightError(
                f"word {number} of the events is none: {shown(word.strip())}; there are +N, -N, xN, roll and "
                f"TOPIC+N{near}"
            )
        if found["topic"]:
            events.append({"at_ms": at_ms, "add_partitions": {found["topic"]: int(found["more"])}})
        elif found["roll"]:
            for name in there:
                events.append({"at_ms": at_ms, "restart": name, "down_ms": down_ms})
                at_ms += down_ms + READY_MS
        else:
            count = int(found["count"])
            if found["sign"] == "+":
                if made + count > _MOST:
                    raise PartwrightError(
                        f"word {number} of the events makes more than {_MOST} members: {shown(word.strip())}"
                    )
                names = [f"c{made + each}" for each in range(1, count + 1)]
                made += count
                there += names
                events += [{"at_ms": at_ms, "join": name} for name in names]
            else:
                if count > len(there):
                    raise PartwrightError(
                        f"word {number} of the events takes {count} members away, and {len(there)} are there"
                    )
                kind = "leave" if found["sign"] == "-" else "crash"
                events += [{"at_ms": at_ms, kind: there.pop()} for _ in range(count)]
        at_ms += every_ms
    return events
