# The extension module's functions; their prose is in the Python wrappers.

from typing import Any, SupportsIndex, TypeAlias

__all__ = [
    "check",
    "clients",
    "encode",
    "encode_one",
    "key_addresses",
    "key_types",
    "murmur2",
    "murmur2_of_bytes",
    "partition_for_bytes",
    "partition_for_key",
    "steps",
]

# Whatever speaks Arrow's PyCapsule interface.
_Column: TypeAlias = Any
# A pyarrow.Array, or a pyarrow.ChunkedArray where the column came in chunks. pyarrow publishes no types.
_Result: TypeAlias = Any

def murmur2(keys: _Column, key_type: str | None = None) -> _Result: ...
def partition_for_key(
    keys: _Column, n: SupportsIndex, client: str, key_type: str | None = None
) -> _Result: ...
def encode(values: _Column, key_type: str | None = None) -> _Result: ...
def encode_one(value: _Column, key_type: str | None = None) -> bytes | None: ...
def murmur2_of_bytes(key: bytes) -> int: ...
def partition_for_bytes(key: bytes | None, n: SupportsIndex, client: str) -> int | None: ...
def steps(
    key: bytes | None, n: SupportsIndex, client: str, key_type: str | None = None
) -> tuple[int, int, int, int] | None: ...
def check(n: SupportsIndex, client: str, key_type: str | None = None) -> None: ...
def key_addresses(keys: _Column) -> list[int | None]: ...
def clients() -> list[dict[str, Any]]: ...
def key_types() -> list[str]: ...
