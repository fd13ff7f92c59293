"""Importing this gives polars' expressions the namespace `kafka`: partitions, hashes and key bytes of a column.

    >>> import polars as pl
    >>> import partwright.polars
    >>> keys = pl.DataFrame({"user": ["TT0124", "N14228", None]})
    >>> keys.select(pl.col("user").kafka.partition_for_key(15)).to_series().to_list()
    [10, 8, None]

Lazy and streaming frames, groups and Categorical columns work as with polars' own expressions. In a streaming frame
the row that an error names is the row of the batch that polars gave.
"""

from __future__ import annotations

from partwright.errors import MissingExtraError
from partwright.keys.hashing import encode, murmur2, partition_for_key

try:
    import polars as pl
except ModuleNotFoundError as error:
    raise MissingExtraError("polars is missing: pip install polars") from error

__all__ = ["KafkaNamespace"]


@pl.api.register_expr_namespace("kafka")
class KafkaNamespace:
    """`pl.Expr.kafka`: a column of keys in, one of the same length and name out; null where a key has no answer."""

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def partition_for_key(self, n: int, client: str = "java", key_type: str | None = None) -> pl.Expr:
        """The partition of each key, Int32; arguments, nulls and errors as `partwright.partition_for_key`."""
        return self._expr.map_batches(
            lambda keys: pl.Series(keys.name, partition_for_key(_typed(keys), n, client, key_type)),
            return_dtype=pl.Int32,
            is_elementwise=True,
        )

    def murmur2(self) -> pl.Expr:
        """Java's hash of each key, Int32; nulls and errors as `partwright.murmur2`."""
        return self._expr.map_batches(
            lambda keys: pl.Series(keys.name, murmur2(_typed(keys))),
            return_dtype=pl.Int32,
            is_elementwise=True,
        )

    def encode(self, key_type: str | None = None) -> pl.Expr:
        """The key bytes of each value, Binary; arguments, nulls and errors as `partwright.encode`."""
        return self._expr.map_batches(
            lambda values: pl.Series(values.name, encode(_typed(values), key_type)),
            return_dtype=pl.Binary,
            is_elementwise=True,
        )


def _typed(keys: pl.Series) -> pl.Series:
    """A column that has nulls alone has no type, and what polars gives Arrow of it cannot be read."""
    return keys.cast(pl.String) if keys.dtype == pl.Null else keys
