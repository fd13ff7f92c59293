"""The one door for what a caller passes: a single key to its bytes, anything else to an Arrow column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa

from partwright.errors import KeyTypeError, PartwrightError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["as_column", "is_single", "text_bytes"]

_SINGLE = (str, bytes, bytearray, memoryview, bool, int, float, UUID)
_INT64 = range(-(2**63), 2**63)


def is_single(values: object) -> bool:
    """Whether this is one key and not a column: text, bytes, a number, a boolean, a UUID, a numpy or Arrow scalar."""
    return isinstance(values, (*_SINGLE, pa.Scalar)) or getattr(values, "ndim", None) == 0


def text_bytes(text: str, key_type: str | None, row: int | None = None) -> bytes:
    """The bytes of one text as UTF-8.

    A surrogate without its pair is no character. Java's StringSerializer writes `?` for it; under the key type `utf8`
    it is refused.

    Raises:
        PartwrightError: An unpaired surrogate under another key type than `java:string`.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        if key_type == "java:string":
            # Python keeps a pair of surrogates as two characters; Java sees the character that they stand for.
            paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
            return paired.encode("utf-8", "replace")
        place = "" if row is None else f"row {row}: "
        surrogate = text[error.start]
        raise PartwrightError(
            f"{place}the text {text!r} has the unpaired surrogate {surrogate!r}, which UTF-8 cannot hold; "
            "key_type='java:string' writes it as '?', as Java does"
        ) from None


def as_column(values: Any, key_type: str | None) -> Any:  # noqa: ANN401 - whatever speaks Arrow's PyCapsule interface
    """An Arrow column, by capsule where the values have one, so that nothing is copied.

    Raises:
        KeyTypeError: The values are no column, or of a kind that needs another key type.
        PartwrightError: A value that no Arrow type of its kind can hold.
    """
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return _storage(values, key_type)
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return values
    if isinstance(values, (list, tuple)):
        return _from_sequence(values, key_type)
    if hasattr(values, "__array__"):  # numpy, and pandas whose NaN is its null
        return _storage(_inferred(values, from_pandas=True), key_type)
    raise KeyTypeError(
        f"keys of type {type(values).__name__} are no column: pass an Arrow array, a list of str, bytes or None, "
        "or one str or bytes"
    )


def _storage(column: Any, key_type: str | None) -> Any:  # noqa: ANN401
    """The column under an extension type; a UUID's 16 bytes are a key only under a key type that says so."""
    kind = column.type
    if not isinstance(kind, pa.BaseExtensionType):
        return column
    if kind.extension_name == "arrow.uuid" and key_type is None:
        raise KeyTypeError(_UUID_SENTENCE)
    return column.cast(kind.storage_type) if isinstance(column, pa.ChunkedArray) else column.storage


_UUID_SENTENCE = (
    "uuid has no key bytes of its own: name the key type that its producer writes, java:uuid (36 characters), "
    "or pass the 16 bytes as binary"
)


def _from_sequence(values: Sequence[Any], key_type: str | None) -> Any:  # noqa: ANN401
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    if kinds <= {str}:
        return _from_text(values, key_type)
    if kinds <= {bytes, bytearray, memoryview}:
        return pa.array(values, pa.binary())
    if kinds <= {str, bytes} and key_type is None:
        return pa.array([text_bytes(value, None, row) if isinstance(value, str) else value
                         for row, value in enumerate(values)], pa.binary())
    if kinds <= {UUID}:
        if key_type is None:
            raise KeyTypeError(_UUID_SENTENCE)
        return pa.array([None if value is None else value.bytes for value in values], pa.binary(16))
    if kinds <= {int}:
        for row, value in enumerate(values):
            if value is not None and value not in _INT64:
                raise PartwrightError(f"row {row}: {value} does not fit into a 64-bit long")
        return pa.array(values, pa.int64())
    return _storage(_inferred(values, from_pandas=False), key_type)


def _from_text(values: Sequence[str | None], key_type: str | None) -> Any:  # noqa: ANN401
    try:
        return pa.array(values, pa.string())
    except (UnicodeEncodeError, pa.ArrowException):
        bytes_of = [None if value is None else text_bytes(value, key_type, row) for row, value in enumerate(values)]
        # These bytes are UTF-8 by now.
        return pa.array(bytes_of, pa.binary()).cast(pa.string())


def _inferred(values: Any, *, from_pandas: bool) -> Any:  # noqa: ANN401
    try:
        return pa.array(values, from_pandas=from_pandas)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise KeyTypeError(f"these keys are no column of one kind: {reason}") from None
