"""A record's headers as confluent-kafka gives them, and what it cannot give.

librdkafka takes any bytes for a header's name, and confluent-kafka makes text of them up to the first NUL. So a name
that is not UTF-8 cannot be read, and what follows a NUL cannot be seen.
"""

from __future__ import annotations

from operator import methodcaller
from typing import TYPE_CHECKING, Protocol

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["UnreadableHeaderError", "headers_of"]


class _Record(Protocol):
    """The part of confluent-kafka's `Message` that is used."""

    def headers(self) -> object: ...
    def topic(self) -> str | None: ...
    def partition(self) -> int | None: ...
    def offset(self) -> int | None: ...


# confluent-kafka sets an exception and still returns a list. Python's interpreter, once it has made a frequent call
# fast, does not notice that, and the exception appears wherever Python looks next. This way of calling always looks.
_read: Callable[[_Record], list[tuple[str, bytes | None]] | None] = methodcaller("headers")


class UnreadableHeaderError(PartwrightError):
    """A record has a header whose name is not UTF-8."""


def headers_of(record: _Record) -> list[tuple[str, bytes | None]]:
    """A record's headers; empty if it has none. A producer takes them as they are: it refuses any other sequence.

    Raises:
        UnreadableHeaderError: A name is not UTF-8. The record's headers must not be read again: confluent-kafka then
            returns an object without its name, and Python crashes as it looks at it.
    """
    try:
        return _read(record) or []
    except (SystemError, UnicodeDecodeError):
        raise UnreadableHeaderError(
            f"the record at offset {record.offset()} of partition {record.partition()} of {record.topic()!r} has a "
            "header name that is not UTF-8, which confluent-kafka cannot read: correct its writer, and start again "
            "once the record is gone from the topic (by its retention, or kafka-delete-records.sh)",
            value=record.offset(),
        ) from None
