"""The header by which a record of a run is known again. This module and `partwright.spark.marks` alone know its form.

Its value is printable, so that a dump of a topic (`kcat -J`, `rpk topic consume`) stays text, which every reader takes:
11 characters for the run's ID of 8 bytes, then the record's row, a number in base64's 64 digits (RFC 4648) without
leading zeros. So the first row of a run has 11 characters, and the largest has 22.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import counted
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import TIMEOUT_S, admin_client
from partwright.kafka.errors import try_again
from partwright.kafka.reading import UnreadableHeaderError, headers_of, records
from partwright.kafka.topics import existing, offsets_of

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.reading import Record

MARK = "partwright"
"""The header's name."""
PREFIX = 11
"""How many characters name the run: the digits of 64 bits."""
ROW_BYTES = 9
"""A row as a number of so many bytes, which are whole digits."""
ROW = 12
"""How many digits these are; leading zeros are left out."""
LENGTHS = PREFIX, PREFIX + ROW - 1
"""How many characters a value has: a row has at most 63 bits, 11 digits."""
ZERO = "A"
"""The digit 0."""
_ZERO = ZERO.encode()


class Mark(NamedTuple):
    """The header that identifies a record of a run.

    Attributes:
        header: The header's name.
        run: The run's ID, 8 bytes.
    """

    header: str
    run: bytes

    @property
    def prefix(self) -> bytes:
        """The beginning of the header's value in all records of the run.

        Examples:
            >>> Mark(MARK, b"8 bytes.").prefix
            b'OCBieXRlcy4'
        """
        return b2a_base64(self.run, newline=False).rstrip(b"=")

    def row(self, value: bytes) -> int:
        """The row in a header's value.

        Examples:
            >>> Mark(MARK, b"8 bytes.").row(b"OCBieXRlcy4EC"), Mark(MARK, b"8 bytes.").row(b"OCBieXRlcy4")
            (258, 0)
        """
        return int.from_bytes(a2b_base64(value[PREFIX:].rjust(ROW, _ZERO)), "big")

    def values(self, rows: Iterable[int]) -> list[bytes]:
        """The header's values for several rows, none of them negative.

        Examples:
            >>> Mark(MARK, b"8 bytes.").values([0, 258, 2**33])
            [b'OCBieXRlcy4', b'OCBieXRlcy4EC', b'OCBieXRlcy4IAAAAA']
        """
        prefix = self.prefix
        # The time of each of these calls matters.
        return [
            prefix + b2a_base64(row.to_bytes(ROW_BYTES, "big"), newline=False).lstrip(_ZERO) for row in rows
        ]


def mark_in(record: Record) -> bytes | None:
    """The mark in a record's header, of any run; None if it has none."""
    return as_mark(_header_in(record, MARK))


def as_mark(value: bytes | None) -> bytes | None:
    """A header's value if it is a mark, of any run.

    Examples:
        >>> as_mark(b"OCBieXRlcy4EC"), as_mark(b"x")
        (b'OCBieXRlcy4EC', None)
    """
    return value if value is not None and LENGTHS[0] <= len(value) <= LENGTHS[1] else None


def _header_in(record: Record, name: str) -> bytes | None:
    """The value of a header of ours in a record; None if it has none.

    Ours have UTF-8 names, and so do those that we write with them: a record whose headers cannot be read is another
    writer's.
    """
    try:
        return dict(headers_of(record)).get(name)
    except UnreadableHeaderError:
        return None


def last_row_gone(row: int, partition: int) -> PartwrightError:
    """The error that the last record of a run in a partition is none of its source's."""
    return PartwrightError(
        f"row {row}, the last one in partition {partition}, is not in the source any more: the source has changed, so "
        "this run cannot go on"
    )


def never_arrived(topic: str, partition: int, missing: int, of: int) -> PartwrightError:
    """The error that some of a run's first records are missing in a partition, and nobody knows which."""
    return PartwrightError(
        f"partition {partition} of {topic!r} never got {missing:,} of the first {counted(of, 'record')}, and Kafka has "
        "deleted others since, so which ones is not known: run without --resume, into another --topic"
    )


# How many offsets before the end are read first, and the factor for each further attempt.
_SPAN, _WIDER = 32, 16
# A broker ends a transaction of a vanished producer after transaction.timeout.ms (60 s), and checks every 10 s.
_OPEN_S = 75.0


def settled_ends(
    config: KafkaConfig,
    topic: str,
    partitions: Iterable[int],
    *,
    again: str = "go on with --resume",
    patience: float = _OPEN_S,
) -> dict[int, int]:
    """The end of each partition, as soon as no transaction before it is open.

    A reader of only committed records sees nothing after an open transaction, so it could not know what is there.

    Args:
        config: How the Kafka is reached.
        topic: The topic.
        partitions: The partitions to ask for.
        again: How to go on once such a transaction has ended.
        patience: Seconds to wait for open transactions to end.

    Raises:
        BrokerError: No Kafka answers, or a transaction is still open.
    """
    numbers = list(partitions)
    with admin_client(config, TIMEOUT_S) as admin:
        # First wait for a broker's answer: librdkafka, if asked for offsets while it connects, tries again only after 1
        # s or 3 s.
        existing(admin, topic, "WRITE")
        ends = offsets_of(admin, topic, numbers, "latest")

        def open_since() -> dict[int, int]:
            stable = offsets_of(admin, topic, numbers, "latest", committed=True)
            return {each: stable[each] for each in numbers if stable[each] < ends[each]}

        late = try_again(open_since, patience, answer=bool)
    if late:
        partition, offset = next(iter(late.items()))
        raise BrokerError(
            f"another producer holds a transaction open in partition {partition} of {topic!r} since offset {offset}: "
            f"end it (kafka-transactions.sh find-hanging), then {again}"
        )
    return ends


def last_marks(
    config: KafkaConfig,
    topic: str,
    windows: Mapping[int, tuple[int, int]],
    header: str,
    prefix: bytes,
    *,
    committed: bool = False,
) -> dict[int, bytes]:
    """The header's value of the last record in each partition whose header begins like those of a run.

    Args:
        config: How the Kafka is reached.
        topic: The topic.
        windows: By partition, the first offset and the end (exclusive) of the part that can hold such a record.
        header: The header's name.
        prefix: The beginning of its value.
        committed: Whether to skip records of aborted transactions; open transactions must have ended (`settled_ends`).

    Returns:
        The header's value by partition; partitions without such a record are missing.

    Raises:
        MissingExtraError: confluent-kafka is missing.
        BrokerError: No Kafka answers, or it refuses.
    """
    if not windows:
        return {}
    with admin_client(config, TIMEOUT_S) as admin:
        existing(admin, topic, "READ")
        first = offsets_of(admin, topic, windows, "earliest")
    # The oldest records may have been deleted in the meantime.
    begin = {each: max(low, first[each]) for each, (low, _) in windows.items()}
    ends = {each: high for each, (_, high) in windows.items() if high > begin[each]}
    values: dict[int, bytes] = {}
    span = _SPAN
    while ends:
        parts = {each: (max(begin[each], end - span), end) for each, end in ends.items()}
        for record in records(config, topic, parts, committed=committed):
            value = _header_in(record, header)
            if value is not None and value.startswith(prefix):
                values[record.partition()] = value
        ends = {each: low for each, (low, _) in parts.items() if each not in values and low > begin[each]}
        span *= _WIDER
    return values


def last_rows(
    config: KafkaConfig,
    topic: str,
    windows: Mapping[int, tuple[int, int]],
    mark: Mark,
    *,
    committed: bool = False,
) -> dict[int, int]:
    """The last row of a run in each partition that holds any, so that the run can go on after it.

    Args:
        config: How the Kafka is reached.
        topic: The topic.
        windows: By partition, the offset from which on the run's records can be, and the one up to which they are.
        mark: The header of the run's records.
        committed: See `last_marks`.

    Raises:
        MissingExtraError: confluent-kafka is missing.
        BrokerError: No Kafka answers, or it refuses.
        PartwrightError: Kafka has deleted offsets at which the run's last record can have been.
    """
    values = last_marks(config, topic, windows, mark.header, mark.prefix, committed=committed)
    unknown = [each for each, (begin, end) in windows.items() if begin < end and each not in values]
    if unknown:
        with admin_client(config, TIMEOUT_S) as admin:
            first = offsets_of(admin, topic, unknown, "earliest")
        for each in unknown:
            if (gone := first[each] - windows[each][0]) > 0:
                raise PartwrightError(
                    f"Kafka has deleted {counted(gone, 'offset')} of partition {each} of {topic!r} since this run "
                    "began, and the rest holds no record of it, so how far it came is not known: run without --resume, "
                    "into another --topic"
                )
    return {each: mark.row(value) for each, value in values.items()}
