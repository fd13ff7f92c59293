r"""Under which encodings two tables' keys are the same, and which bytes a writer hashed, so that a rule shows again.

A writer may have put something around a key before it was serialized, or have hashed other bytes than it wrote.

>>> found = same_keys(pa.array([b"42", b"7"]), pa.array([(42).to_bytes(8), (8).to_bytes(8)]), 0)
>>> found.names, found.keys, found.of_a, found.of_b
((None, 'java:long'), 1, b'42', b'\x00\x00\x00\x00\x00\x00\x00*')
"""

from __future__ import annotations

import array
import functools
import sys
from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright.files.formats import in_one
from partwright.files.scalars import binary_column, number
from partwright.keys.hashing import encode

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


# An encoding counts if it makes this share more of the smaller table's keys match.
_LEAST_GAIN = 0.1
# It is looked for only if fewer than this share match unchanged.
_FEW = 0.5
# Avro writes a text's length as a zigzag number before it: up to 63 in one byte.
_AVRO_LENGTHS = 64
# An object of one text, number or flag, also as the payload of a converter of Kafka Connect with a schema. Arrow's
# expressions have no names for their groups.
_SCALAR = r'\s*(?:"([^"\\]*)"|(-?[0-9][0-9.eE+-]*|true|false))\s*'
_ONE = rf'\{{\s*"[^"]*"\s*:{_SCALAR}\}}'
_OBJECT = rf'^\s*(?:{_ONE}|\{{\s*"schema"\s*:.*"payload"\s*:\s*(?:{_ONE}|{_SCALAR})\}})\s*$'
_UUID = "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"


class Same(NamedTuple):
    """The encodings under which two tables' keys match.

    Attributes:
        names: How A's keys are read, and how B's; None means unchanged.
        keys: How many keys are then in both.
        of_a: One of A's keys, unchanged.
        of_b: The key of B that it matches.
    """

    names: tuple[str | None, str | None]
    keys: int
    of_a: bytes
    of_b: bytes


class _KeyReading(NamedTuple):
    """A way to read keys: which keys can be read so, what they become, and its name in words."""

    fits: Callable[[pa.Array], pa.Array]
    read: Callable[[pa.Array], pa.Array]
    words: str


def same_keys(
    a: pa.Array | pa.ChunkedArray, b: pa.Array | pa.ChunkedArray, as_they_are: int, kept: float = 1.0
) -> Same | None:
    """The encodings under which most keys are in both tables; None if they match few more keys.

    Args:
        a: The key bytes of one table, each once, without nulls.
        b: Those of the other.
        as_they_are: How many keys are in both, byte for byte.
        kept: The share of all keys that these samples are. Sampling is by bytes, so the same key in other bytes is kept
            only by chance.
    """
    if as_they_are >= _FEW * min(len(a), len(b)):
        return None
    a, b = (in_one(keys).cast(pa.binary()) for keys in (a, b))
    best: tuple[int, tuple[str | None, str | None]] = (0, (None, None))
    least = max(1, _LEAST_GAIN * min(len(a), len(b)))
    of_a, of_b = _read_all(a, least), _read_all(b, least)
    for name_a, read_a in of_a.items():
        for name_b, read_b in of_b.items():
            gained = _count(read_a, read_b) - as_they_are
            fewest = min(pc.count_distinct(read_a).as_py(), pc.count_distinct(read_b).as_py())
            # If several are equal, the first is the plainest.
            if gained > best[0] and gained / kept >= _LEAST_GAIN * fewest:
                best = gained, (name_a, name_b)
    gained, names = best
    if not gained:
        return None
    read_a, read_b = of_a[names[0]], of_b[names[1]]
    new = pc.and_(pc.is_in(read_a, value_set=read_b), pc.invert(pc.is_in(a, value_set=b)))
    first = pc.indices_nonzero(new)[0].as_py()
    place_in_b = pc.index(read_b, read_a[first]).as_py()
    return Same(names, as_they_are + gained, a[first].as_py(), b[place_in_b].as_py())


def words(name: str | None) -> str:
    """How keys are read, in words.

    Examples:
        >>> words("json-unquote"), words(None)
        ("without JSON's quotes", 'as they are')
    """
    if name in _READINGS:
        return _READINGS[name].words
    return "as they are" if name is None else f"in other bytes ({name})"


def _count(a: pa.Array, b: pa.Array) -> int:
    """How many different keys are in both."""
    return pc.sum(pc.is_in(pc.unique(a), value_set=pc.unique(b))).as_py() or 0


def _read_all(keys: pa.Array, least: float) -> dict[str | None, pa.Array]:
    """The keys under each reading that fits at least `least` of them; keys that it does not fit stay unchanged."""
    readings: dict[str | None, pa.Array] = {None: keys}
    for name, reading in _READINGS.items():
        fitting = reading.fits(keys)
        if (pc.sum(fitting).as_py() or 0) >= least:
            read = reading.read(keys.filter(fitting)).cast(pa.binary())
            readings[name] = pc.replace_with_mask(keys, fitting, read)
    return readings


def _is_avro(keys: pa.Array) -> pa.Array:
    length = pc.subtract(pc.binary_length(keys).cast(pa.int64()), number(HEADER + 1))
    short = pc.and_(pc.greater_equal(length, number(0)), pc.less(length, number(_AVRO_LENGTHS)))
    lengths = pa.array([bytes([2 * length]) for length in range(_AVRO_LENGTHS)], pa.binary())
    length_bytes = lengths.take(pc.if_else(short, length, number(0)))
    return pc.and_(
        pc.and_(has_id(keys), short), pc.equal(pc.binary_slice(keys, HEADER, HEADER + 1), length_bytes)
    )


def _is_json(keys: pa.Array) -> pa.Array:
    return pc.and_(has_id(keys), has_quotes(pc.binary_slice(keys, HEADER, END)))


def _is_upper_uuid(keys: pa.Array) -> pa.Array:
    return pc.and_(pc.match_substring_regex(keys, _UUID), pc.match_substring_regex(keys, "[A-F]"))


def _scalar_in(keys: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(keys, _OBJECT, r"\1\2\3\4\5\6")


def _has_length(length: int) -> Callable[[pa.Array], pa.Array]:
    expected_length = number(length)
    return lambda keys: pc.equal(pc.binary_length(keys).cast(pa.int64()), expected_length)


def _decimal(keys: pa.Array, code: str, type_: pa.DataType) -> pa.Array:
    """The decimal digits of big-endian numbers."""
    size = type_.bit_width // 8
    fixed = keys.cast(pa.binary(size))
    start = fixed.offset * size
    numbers = array.array(code)
    numbers.frombytes(memoryview(fixed.buffers()[1])[start : start + len(fixed) * size])
    if sys.byteorder == "little":
        numbers.byteswap()
    return pa.Array.from_buffers(type_, len(numbers), [None, pa.py_buffer(numbers)]).cast(pa.string())


_READINGS = {
    "confluent:strip-id": _KeyReading(has_id, without_id, "without a schema registry's five bytes"),
    "json-unquote": _KeyReading(has_quotes, without_quotes, "without JSON's quotes"),
    "avro:string": _KeyReading(
        _is_avro,
        lambda keys: pc.binary_slice(keys, HEADER + 1, END),
        "as Avro's text without a schema registry's five bytes",
    ),
    "json-schema:string": _KeyReading(
        _is_json,
        lambda keys: without_quotes(without_id(keys)),
        "without a schema registry's five bytes and JSON's quotes",
    ),
    "json-object": _KeyReading(
        lambda keys: pc.and_(pc.starts_with(keys, b"{"), pc.match_substring_regex(keys, _OBJECT)),
        _scalar_in,
        "as the one field of a JSON object",
    ),
    "java:short": _KeyReading(
        _has_length(2), functools.partial(_decimal, code="h", type_=pa.int16()), "as java:short"
    ),
    "java:int": _KeyReading(
        _has_length(4), functools.partial(_decimal, code="i", type_=pa.int32()), "as java:int"
    ),
    "java:long": _KeyReading(
        _has_length(8), functools.partial(_decimal, code="q", type_=pa.int64()), "as java:long"
    ),
    "uuid:lower": _KeyReading(
        _is_upper_uuid, lambda keys: pc.ascii_lower(keys.cast(pa.string())), "as UUIDs in lower case"
    ),
    "uuid:bytes": _KeyReading(
        _has_length(16), lambda keys: encode(keys, "java:uuid"), "as the text of UUIDs of 16 bytes"
    ),
}
