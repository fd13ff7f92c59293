"""Remove what a writer may have put around a key before it was serialized, so that a rule shows again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["END", "HEADER", "TRANSFORMS", "has_id", "has_quotes", "without_id", "without_quotes"]

# A zero byte, then a schema's ID of four bytes.
HEADER = 5
# The end of a slice that takes all: without an end, Arrow multiplies the largest integer by the rows.
END = 2**31 - 1


def has_id(keys: pa.Array) -> pa.Array:
    """Which keys may have the five bytes that a schema registry's serializer puts before them."""
    return pc.and_(pc.starts_with(keys, b"\x00"), pc.greater_equal(pc.binary_length(keys), HEADER))


def has_quotes(keys: pa.Array) -> pa.Array:
    """Which keys are in the quotes of JSON's text."""
    quoted = pc.and_(pc.starts_with(keys, b'"'), pc.ends_with(keys, b'"'))
    return pc.and_(quoted, pc.greater(pc.binary_length(keys), 1))


def without_id(keys: pa.Array) -> pa.Array | None:
    r"""Keys without the five bytes that a schema registry's serializer puts before them; None if a key lacks them.

    Examples:
        >>> without_id(pa.array([b"\x00\x00\x00\x00\x07a"])).to_pylist()
        [b'a']
        >>> without_id(pa.array([b"a"])) is None
        True
    """
    return pc.binary_slice(keys.cast(pa.binary()), HEADER, END) if pc.all(has_id(keys)).as_py() else None


def without_quotes(keys: pa.Array) -> pa.Array | None:
    """Keys without the quotes of JSON's text; None if a key lacks them.

    Examples:
        >>> without_quotes(pa.array([b'"a"'])).to_pylist()
        [b'a']
        >>> without_quotes(pa.array([b'"a"', b'"'])) is None
        True
    """
    return pc.binary_slice(keys.cast(pa.binary()), 1, -1) if pc.all(has_quotes(keys)).as_py() else None


# In the order in which they are tried, after the unchanged key.
TRANSFORMS: dict[str, Callable[[pa.Array], pa.Array | None]] = {
    "confluent:strip-id": without_id,
    "json-unquote": without_quotes,
}
