"""Change a key into the bytes that its writer hashed, so that a rule shows again.

A writer may have put something around a key before it was serialized, or have hashed other bytes than it wrote.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from partwright.files.scalars import binary_column

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "END",
    "HEADER",
    "OTHER_BYTES",
    "TRANSFORMS",
    "has_id",
    "has_quotes",
    "without_id",
    "without_quotes",
]

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


def reversed_bytes(keys: pa.Array) -> pa.Array | None:
    r"""The bytes of numbers in little-endian order; None if the keys cannot all be numbers of 2, 4 or 8 bytes.

    Examples:
        >>> reversed_bytes(pa.array([b"\x00\x07", b"\x01\x02"])).to_pylist()
        [b'\x07\x00', b'\x02\x01']
        >>> reversed_bytes(pa.array([b"abc"])) is None
        True
    """
    lengths = pc.unique(pc.binary_length(keys)).to_pylist()
    return binary_column([key[::-1] for key in keys.to_pylist()]) if lengths in ([2], [4], [8]) else None


def in_utf_16(keys: pa.Array, codec: str, mark: bytes = b"") -> pa.Array | None:
    r"""Keys of UTF-8 in UTF-16, after a byte order mark; None if a key is not UTF-8.

    Examples:
        >>> in_utf_16(pa.array([b"a"]), "utf-16-be", b"\xfe\xff").to_pylist()
        [b'\xfe\xff\x00a']
    """
    try:
        return binary_column([mark + key.decode().encode(codec) for key in keys.to_pylist()])
    except UnicodeDecodeError:
        return None


def cut_at_characters(keys: pa.Array) -> pa.Array | None:
    r"""The first bytes of keys of UTF-8, as many as the key has characters; None if a key is not UTF-8.

    Examples:
        >>> cut_at_characters(pa.array(["käse"])).to_pylist()
        [b'k\xc3\xa4s']
    """
    try:
        return binary_column([key[: len(key.decode())] for key in keys.cast(pa.binary()).to_pylist()])
    except UnicodeDecodeError:
        return None


# In the order in which they are tried, after the unchanged key.
TRANSFORMS: dict[str, Callable[[pa.Array], pa.Array | None]] = {
    "confluent:strip-id": without_id,
    "json-unquote": without_quotes,
}

# What a faulty writer may have hashed in place of the key's bytes. They are tried last, and count only if they explain
# all.
OTHER_BYTES: dict[str, Callable[[pa.Array], pa.Array | None]] = {
    "little-endian": reversed_bytes,
    "utf-16-le": functools.partial(in_utf_16, codec="utf-16-le"),
    "utf-16-be": functools.partial(in_utf_16, codec="utf-16-be"),
    "utf-16-le-bom": functools.partial(in_utf_16, codec="utf-16-le", mark=b"\xff\xfe"),
    "utf-16": functools.partial(in_utf_16, codec="utf-16-be", mark=b"\xfe\xff"),
    "cut-at-characters": cut_at_characters,
}
