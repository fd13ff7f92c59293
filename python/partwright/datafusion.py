"""Partitions, hashes and key bytes as DataFusion expressions over a frame's column.

    >>> import datafusion
    >>> import partwright.datafusion
    >>> ctx = datafusion.SessionContext()
    >>> orders = ctx.from_pydict({"customer": ["TT0124", None, "N14228"]})
    >>> partition = partwright.datafusion.partition_for_key(orders, "customer", 15)
    >>> orders.with_column("partition", partition).to_pydict()["partition"]
    [10, None, 8]

They take the frame and the column's name, because a DataFusion function has one fixed type: DataFusion would silently
write a number as text before we see it, and 42 would be the key `42`. The frame knows the column's type.

In an error DataFusion puts our sentence between its own words and a traceback.
"""

from __future__ import annotations as _annotations

import typing as _typing

import pyarrow as _pa  # noqa: ICN001 - `pa` would be a name of ours

from partwright import _core
from partwright.errors import MissingExtraError as _MissingExtraError
from partwright.errors import PartwrightError as _PartwrightError
from partwright.files import formats as _formats
from partwright.keys import hashing as _hashing

try:
    import datafusion as _datafusion
except ModuleNotFoundError as error:
    raise _MissingExtraError("DataFusion is missing: pip install 'partwright[datafusion]'") from error

if _typing.TYPE_CHECKING:
    from collections.abc import Callable as _Callable

__all__ = ["coordinator_partition", "encode", "murmur2", "partition_for_key"]


def partition_for_key(
    df: _datafusion.DataFrame, key: str, n: int, client: str = "java", key_type: str | None = None
) -> _datafusion.Expr:
    """The partition of each key, Int32; null where the client does not hash the key.

    Args:
        df: The frame.
        key: Its column that has the keys, by name.
        n: How many partitions the topic has, 1 to 2^31-1.
        client: The client profile, a name in `partwright.clients()`.
        key_type: How a value becomes key bytes; see `partwright.encode`.

    Returns:
        An expression for `with_column`, `select`, `filter` and `aggregate` of this frame.

    Raises:
        KeyTypeError: The column's type has no key bytes under this key type.
        PartwrightError: The column does not exist, `n` is out of range, or the client or key type is unknown. When the
            query runs, as DataFusion's `Exception`: a value that does not fit.

    Examples:
        >>> orders = _datafusion.SessionContext().from_pydict({"id": [42, 43]})
        >>> partition = partition_for_key(orders, "id", 100, key_type="java:long")
        >>> orders.filter(partition == _datafusion.lit(52)).to_pydict()
        {'id': [42]}
    """
    _core.check(n, client, key_type)
    return _expression(
        df,
        key,
        f"partition_for_key[{n}, {client}, {key_type}]",
        lambda keys: _hashing.partition_for_key(keys, n, client, key_type),
    )


def murmur2(df: _datafusion.DataFrame, key: str, key_type: str | None = None) -> _datafusion.Expr:
    """Java's hash of each key, Int32; arguments, nulls and errors as `partition_for_key`."""
    _core.check(1, "java", key_type)
    return _expression(
        df, key, f"murmur2[{key_type}]", lambda keys: _hashing.murmur2(keys, key_type=key_type)
    )


def encode(df: _datafusion.DataFrame, key: str, key_type: str | None = None) -> _datafusion.Expr:
    """The key bytes of each value, binary; arguments, nulls and errors as `partition_for_key`."""
    _core.check(1, "java", key_type)
    return _expression(df, key, f"encode[{key_type}]", lambda values: _hashing.encode(values, key_type))


def coordinator_partition(
    df: _datafusion.DataFrame, group: str, n: int | None = None, *, broker_kind: str = "kafka"
) -> _datafusion.Expr:
    """The partition of `__consumer_offsets` of each group, Int32; as `partwright.coordinator_partition`."""
    _hashing.coordinator_partition(None, n, broker_kind=broker_kind)
    return _expression(
        df,
        group,
        f"coordinator_partition[{n}, {broker_kind}]",
        lambda ids: _hashing.coordinator_partition(ids, n, broker_kind=broker_kind),
    )


def _expression(
    df: _datafusion.DataFrame, column: str, name: str, function: _Callable[[_pa.Array], _pa.Array]
) -> _datafusion.Expr:
    """Apply a function to a frame's column. DataFusion treats two functions of the same name and arguments as one."""
    if not isinstance(df, _datafusion.DataFrame):
        raise _PartwrightError(
            f"a {type(df).__name__} is not a DataFrame of DataFusion: pass the one that has the column, such as "
            "ctx.table('orders')"
        )
    if not isinstance(column, str):
        raise _PartwrightError(
            f"the column is given by its name, such as 'customer', not as a {type(column).__name__}"
        )
    schema = df.schema()
    column_type = schema.types[_formats.find_column("DataFrame", schema.names, column)]
    # Called on an empty column, the function itself tells whether it takes that type, and what it returns.
    gives = function(_pa.array([], column_type)).type
    made = _datafusion.udf(function, [column_type], gives, "immutable", name)
    quoted = column.replace('"', '""')
    return made(_datafusion.col(f'"{quoted}"'))
