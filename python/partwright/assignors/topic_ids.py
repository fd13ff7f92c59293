"""Topics' IDs, which the broker's own assignors use: as given, or derived from the name as in Java."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from partwright import _core
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.members import Group

__all__ = ["takes_topic_ids", "with_topic_ids"]

_ID = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)


def takes_topic_ids(assignor: object) -> bool:
    """Whether an assignor uses the topics' IDs: the broker's own do.

    Examples:
        >>> takes_topic_ids("server-uniform"), takes_topic_ids("range")
        (True, False)
    """
    return isinstance(assignor, str) and assignor.startswith("server-")


def with_topic_ids(group: Group, given: object) -> Group:
    """A group whose topics have IDs; IDs of unknown topics are left out.

    Raises:
        PartwrightError: An ID is invalid, or two topics have the same.

    Examples:
        >>> from partwright.assignors.members import Group
        >>> with_topic_ids(Group.of({"t": 2, "u": 1}, {"c1": ["t"]}), {"u": "qqLWNgD3cE5N4Q9mk2oxjQ"}).topic_ids
        ['41jvpIn1MGKxDdcxa2Vkng', 'qqLWNgD3cE5N4Q9mk2oxjQ']
    """
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise PartwrightError(f"topic_ids has an id by topic, not {reprlib.repr(given)}")
    for name, text in given.items():
        if not isinstance(text, str) or not _ID.fullmatch(text):
            raise PartwrightError(
                f"topic_ids: {name!r} has {reprlib.repr(text)}, which is not an id as Kafka writes it: "
                "22 letters of A-Z, a-z, 0-9, - and _"
            )
    ids = _core.topic_ids(group.topics, [given.get(name) for name in group.topics])
    known: dict[str, str] = {}
    for name, text in zip(group.topics, ids, strict=True):
        other = known.setdefault(text, name)
        if other != name:
            raise PartwrightError(f"topic_ids: {other!r} and {name!r} have the same id, {text}: each its own")
    topics, members = group.batches
    column = pa.array(ids, pa.string())
    return replace(group, topic_ids=ids, batches=(topics.append_column("id", column), members))
