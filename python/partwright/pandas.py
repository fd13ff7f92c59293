"""Importing this gives a pandas Series the accessor `kafka`: partitions, hashes and key bytes of a column.

    >>> import pandas as pd
    >>> import partwright.pandas
    >>> orders = pd.DataFrame({"user": ["TT0124", None, "N14228"]})
    >>> orders.assign(partition=orders["user"].kafka.partition_for_key(15))["partition"].tolist()
    [10, <NA>, 8]

The answer is a Series with the keys' index and name. Numbers are of pandas' type `Int32`, in which a null stays null;
`int32` has no nulls, so a pyarrow column with nulls that is assigned to a frame becomes floating-point numbers.
"""

from __future__ import annotations as _annotations

from partwright.errors import MissingExtraError as _MissingExtraError
from partwright.keys import hashing as _hashing

try:
    import pandas as _pd  # type: ignore[import-untyped] # noqa: ICN001 - `pd` would be a name of ours
except ModuleNotFoundError as error:
    raise _MissingExtraError("pandas is missing: pip install pandas") from error

__all__ = ["KafkaAccessor"]


@_pd.api.extensions.register_series_accessor("kafka")
class KafkaAccessor:
    """`Series.kafka`: a column of keys gives a Series of the same index and name; null where a key has no answer."""

    def __init__(self, keys: _pd.Series) -> None:
        self._keys = keys

    def partition_for_key(
        self, n: int, client: str = "java", key_type: str | None = None, *, threads: int = 1
    ) -> _pd.Series:
        """The partition of each key, Int32; arguments, nulls and errors as `partwright.partition_for_key`."""
        return self._numbers(_hashing.partition_for_key(self._keys, n, client, key_type, threads=threads))

    def murmur2(self, key_type: str | None = None, *, threads: int = 1) -> _pd.Series:
        """Java's hash of each key, Int32; arguments, nulls and errors as `partwright.murmur2`."""
        return self._numbers(_hashing.murmur2(self._keys, key_type=key_type, threads=threads))

    def encode(self, key_type: str | None = None) -> _pd.Series:
        """The key bytes of each value, bytes or None; arguments, nulls and errors as `partwright.encode`."""
        return self._series(_hashing.encode(self._keys, key_type).to_numpy(zero_copy_only=False))

    def coordinator_partition(self, n: int | None = None, *, broker_kind: str = "kafka") -> _pd.Series:
        """The partition of `__consumer_offsets` of each group, Int32; as `partwright.coordinator_partition`."""
        return self._numbers(_hashing.coordinator_partition(self._keys, n, broker_kind=broker_kind))

    def _numbers(self, column: object) -> _pd.Series:
        return self._series(_pd.Int32Dtype().__from_arrow__(column))

    def _series(self, values: object) -> _pd.Series:
        return _pd.Series(values, index=self._keys.index, name=self._keys.name)
