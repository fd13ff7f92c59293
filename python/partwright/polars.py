"""Partitions, hashes and key bytes of polars' columns, which the functions of `partwright` return for them.

    >>> import polars as pl
    >>> import partwright as pw
    >>> keys = pl.DataFrame({"user": ["TT0124", "N14228", None]})
    >>> keys.with_columns(pw.partition_for_key(pl.col("user"), 15)).rows()
    [('TT0124', 10), ('N14228', 8), (None, None)]
    >>> pw.partition_for_key(keys["user"], 15).to_list()
    [10, 8, None]

A partition's column is named `partition` and a hash's `murmur2`, so that neither replaces the keys; `.name.keep()`
gives an expression the keys' name, and `.alias(...)` any other. Key bytes are the keys in another form and keep their
name.

Importing this module gives expressions and Series the namespace `kafka` as well, and so does the first such call:

    >>> import partwright.polars
    >>> keys.select(pl.col("user").kafka.partition_for_key(15)).to_series().to_list()
    [10, 8, None]
    >>> keys["user"].kafka.partition_for_key(15).name
    'partition'

Lazy and streaming frames, groups and Categorical columns work as with polars' own expressions. In a streaming frame
the row that an error names is the row of the batch that polars gave.
"""

from __future__ import annotations as _annotations

import typing as _typing

import pyarrow as _pa  # noqa: ICN001 - `pa` would be a name of ours

from partwright.errors import MissingExtraError as _MissingExtraError
from partwright.keys import hashing as _hashing

try:
    import polars as _pl  # noqa: ICN001 - `pl` would be a name of ours
except ModuleNotFoundError as error:
    raise _MissingExtraError("polars is missing: pip install polars") from error

if _typing.TYPE_CHECKING:
    from collections.abc import Callable as _Callable

__all__ = ["KafkaNamespace", "expression", "frame", "series_like"]

_Keys = _typing.TypeVar("_Keys", _pl.Expr, _pl.Series)


def series_like(keys: _pl.Series, column: _pa.Array | _pa.ChunkedArray, name: str | None) -> _pl.Series:
    """An Arrow column as a Series, with the name of the keys if it has none of its own."""
    return _pl.Series(keys.name if name is None else name, column)


def frame(table: _pa.Table) -> _pl.DataFrame:
    """A table as a frame.

    Examples:
        >>> frame(_pa.table({"partition": [4, None]})).rows()
        [(4,), (None,)]
    """
    return _pl.DataFrame(table)


def expression(
    keys: _pl.Expr, function: _Callable[[_pl.Series], _pl.Series], returns: _pa.DataType, name: str | None
) -> _pl.Expr:
    """A function of a Series of keys as an expression, with the name of the keys if it has none of its own."""
    dtype = _pl.Series(_pa.array([], returns)).dtype
    expr = keys.map_batches(function, return_dtype=dtype, is_elementwise=True)
    return expr if name is None else expr.alias(name)


@_pl.api.register_series_namespace("kafka")
@_pl.api.register_expr_namespace("kafka")
class KafkaNamespace(_hashing.KeyMethods[_Keys]):
    """`Expr.kafka` and `Series.kafka`: the functions of a column of keys as methods of it."""
