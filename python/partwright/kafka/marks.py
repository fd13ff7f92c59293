"""The header by which a record of a run is known again. This module and `partwright.spark.marks` alone know its form.

Its value is printable, so that a dump of a topic (`kcat -J`, `rpk topic consume`) stays text, which every reader takes:
11 characters for the run's ID of 8 bytes, then the record's row, a number in base64's 64 digits (RFC 4648) without
leading zeros. So the first row of a run has 11 characters, and the largest has 22.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LENGTHS", "MARK", "PREFIX", "ROW", "ROW_BYTES", "ZERO", "Mark"]

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
