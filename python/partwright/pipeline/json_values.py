"""Rows of a table as JSON texts, byte for byte as Spark's `to_json` writes them, column by column in Arrow."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import counted
from partwright.files.scalars import text
from partwright.pipeline.source import OnlySparkError

# What Jackson escapes: a quote, a backslash, and control characters, of which five have short forms.
_SPECIAL = r'["\\\x00-\x1f]'
_SHORT = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPES = _SHORT | {chr(code): f"\\u{code:04X}" for code in range(0x20) if chr(code) not in _SHORT}
# Java writes a number without an exponent from 10^-3 up to 10^7 (`Double.toString`).
_SMALL, _LARGE = 1e-3, 1e7
_QUOTE, _NOTHING = text('"'), text("")


def refuse_types(types: Mapping[str, pa.DataType], source: str) -> None:
    """Refuse columns that have no JSON here.

    Args:
        types: The columns and their types.
        source: What the table is called.

    Raises:
        OnlySparkError: A column is neither text, number, boolean nor date.
    """
    others = [name for name, kind in types.items() if not _is_written(kind)]
    if others:
        more = f" and {counted(len(others) - 1, 'other')}" if len(others) > 1 else ""
        raise OnlySparkError(
            f"the column {others[0]!r} of {source} is {types[others[0]]}{more}, of which --runner local makes no JSON: "
            "name the column of the values with --value, or say --runner spark"
        )


def _is_written(kind: pa.DataType) -> bool:
    plain = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)
    number = pa.types.is_signed_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)
    other = pa.types.is_boolean(kind) or pa.types.is_date32(kind)
    return bool(plain or number or other)


def json_rows(columns: Mapping[str, pa.Array]) -> pa.Array:
    r"""A JSON object of all columns for each row; a null is written as `null`.

    Args:
        columns: The columns by name, of one length and of types that `refuse_types` lets pass.

    Returns:
        Binary.

    Examples:
        >>> rows = json_rows({"id": pa.array([1, None]), "name": pa.array(['"x"', ""])})
        >>> [row.decode() for row in rows.to_pylist()]
        ['{"id":1,"name":"\\"x\\""}', '{"id":null,"name":""}']
    """
    parts: list[pa.Array | pa.Scalar] = []
    before = "{"
    for name, column in columns.items():
        parts += [text(f'{before}"{_escaped(name)}":'), pc.fill_null(_texts(column), text("null"))]
        before = ","
    return pc.binary_join_element_wise(*parts, text("}"), _NOTHING).cast(pa.binary())


def _texts(column: pa.Array) -> pa.Array:
    """Each value as JSON; null for null."""
    kind = column.type
    if pa.types.is_floating(kind):
        single = pa.types.is_float32(kind)
        numbers = [None if each is None else _float(each, single=single) for each in column.to_pylist()]
        return pa.array(numbers, pa.string())
    texts = column.cast(pa.string())
    if not pa.types.is_string(kind) and not pa.types.is_large_string(kind) and not pa.types.is_date32(kind):
        return texts
    if pc.any(pc.match_substring_regex(texts, _SPECIAL)).as_py():
        for character, escape in _ESCAPES.items():
            texts = pc.replace_substring(texts, character, escape)
    return pc.binary_join_element_wise(_QUOTE, texts, _QUOTE, _NOTHING)


def _escaped(name: str) -> str:
    return "".join(_ESCAPES.get(each, each) for each in name)


def _float(value: float, *, single: bool) -> str:
    """A number in Java's form: the fewest digits that tell it from its neighbours (`Double.toString` of Java 19)."""
    if not math.isfinite(value):
        # JSON has no such numbers: Jackson writes text.
        return '"NaN"' if math.isnan(value) else f'"{"-" if value < 0 else ""}Infinity"'
    shortest = _shortest_single(value) if single else repr(value)
    sign, digits, exponent = _decimal(shortest)
    if value == 0:
        return f"{sign}0.0"
    if _SMALL <= abs(value) < _LARGE:
        point = exponent + 1
        padded = "0" * -point + digits if point < 0 else digits
        whole, fraction = (padded[:point], padded[point:]) if point > 0 else ("0", padded)
        return f"{sign}{whole.ljust(max(point, 1), '0')}.{fraction or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _shortest_single(value: float) -> str:
    """The fewest digits that tell a number of 32 bits from its neighbours; a number of 64 bits needs more."""
    single = struct.pack("f", value)
    return next(
        text_of
        for digits in range(2, 10)
        if struct.pack("f", float(text_of := f"{value:.{digits}g}")) == single
    )


def _decimal(shortest: str) -> tuple[str, str, int]:
    """Sign, significant digits, and the power of ten of the first one."""
    sign = "-" if shortest.startswith("-") else ""
    mantissa, _, power = shortest.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    exponent = len(whole) - 1 - leading + int(power or 0)
    return sign, digits.rstrip("0") or "0", exponent
