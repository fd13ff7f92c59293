"""Importing this gives a pandas Series the accessor `kafka`: partitions, hashes and key bytes of a column.

    >>> import pandas as pd
    >>> import partwright.pandas
    >>> orders = pd.DataFrame({"user": ["TT0124", None, "N14228"]})
    >>> orders.assign(partition=orders["user"].kafka.partition_for_key(15))["partition"].tolist()
    [10, <NA>, 8]

Each method is the function of its name in `partwright`, which takes a Series as well, without this import:

    >>> import partwright as pw
    >>> orders.groupby(pw.partition_for_key(orders["user"], 15)).size().tolist()
    [1, 1]

The answer is a Series with the keys' index. A partition's name is `partition` and a hash's `murmur2`, so that neither
replaces the keys when it is joined to them; key bytes keep the keys' name. Numbers are of pandas' type `Int32`, in
which a null stays null, for `int32` has none.
"""

from __future__ import annotations as _annotations

import pyarrow as _pa  # noqa: ICN001 - `pa` would be a name of ours

from partwright.errors import MissingExtraError as _MissingExtraError
from partwright.keys import hashing as _hashing

try:
    import pandas as _pd  # type: ignore[import-untyped] # noqa: ICN001 - `pd` would be a name of ours
except ModuleNotFoundError as error:
    raise _MissingExtraError("pandas is missing: pip install pandas") from error

__all__ = ["KafkaAccessor", "frame", "series_like"]

# pandas' own numbers become floats if one of a column is null.
_NULLABLE = {
    _pa.bool_(): _pd.BooleanDtype(),
    _pa.int8(): _pd.Int8Dtype(),
    _pa.int16(): _pd.Int16Dtype(),
    _pa.int32(): _pd.Int32Dtype(),
    _pa.int64(): _pd.Int64Dtype(),
    _pa.uint8(): _pd.UInt8Dtype(),
    _pa.uint16(): _pd.UInt16Dtype(),
    _pa.uint32(): _pd.UInt32Dtype(),
    _pa.uint64(): _pd.UInt64Dtype(),
}


def series_like(keys: _pd.Series, column: _pa.Array | _pa.ChunkedArray, name: str | None) -> _pd.Series:
    """An Arrow column as a Series with the index of the keys, and with their name if it has none of its own."""
    dtype = _NULLABLE.get(column.type)
    values = column.to_numpy(zero_copy_only=False) if dtype is None else dtype.__from_arrow__(column)
    return _pd.Series(values, index=keys.index, name=keys.name if name is None else name)


def frame(table: _pa.Table) -> _pd.DataFrame:
    """A table as a frame, whole numbers and booleans as pandas' types that have nulls.

    Examples:
        >>> frame(_pa.table({"partition": _pa.array([4, None], _pa.int32())}))["partition"].tolist()
        [4, <NA>]
    """
    return table.to_pandas(types_mapper=_NULLABLE.get)


@_pd.api.extensions.register_series_accessor("kafka")
class KafkaAccessor(_hashing.KeyMethods[_pd.Series]):
    """`Series.kafka`: the functions of a column of keys as methods of it; null where a key has no answer."""
