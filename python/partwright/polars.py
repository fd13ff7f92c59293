"""Partitions, hashes and key bytes as polars expressions, which `partwright.partition_for_key` returns for `pl.col`.

    >>> import polars as pl
    >>> import partwright as pw
    >>> keys = pl.DataFrame({"user": ["TT0124", "N14228", None]})
    >>> keys.select(pw.partition_for_key(pl.col("user"), 15)).to_series().to_list()
    [10, 8, None]

Importing this module gives expressions the namespace `kafka` as well, and so does the first such call:

    >>> import partwright.polars
    >>> keys.select(pl.col("user").kafka.partition_for_key(15)).to_series().to_list()
    [10, 8, None]

Lazy and streaming frames, groups and Categorical columns work as with polars' own expressions. In a streaming frame
the row that an error names is the row of the batch that polars gave.
"""

from __future__ import annotations as _annotations

from partwright import _core
from partwright.errors import MissingExtraError as _MissingExtraError
from partwright.keys import hashing as _hashing

try:
    import polars as _pl  # noqa: ICN001 - `pl` would be a name of ours
except ModuleNotFoundError as error:
    raise _MissingExtraError("polars is missing: pip install polars") from error

__all__ = ["KafkaNamespace"]


@_pl.api.register_expr_namespace("kafka")
class KafkaNamespace:
    """`pl.Expr.kafka`: a column of keys gives one of the same length and name; null where a key has no answer."""

    def __init__(self, expr: _pl.Expr) -> None:
        self._expr = expr

    def partition_for_key(
        self, n: int, client: str = "java", key_type: str | None = None, *, threads: int = 1
    ) -> _pl.Expr:
        """The partition of each key, Int32; arguments, nulls and errors as `partwright.partition_for_key`."""
        _core.check(n, client, key_type)
        return self._expr.map_batches(
            lambda keys: _pl.Series(
                keys.name, _hashing.partition_for_key(_typed(keys), n, client, key_type, threads=threads)
            ),
            return_dtype=_pl.Int32,
            is_elementwise=True,
        )

    def murmur2(self, key_type: str | None = None, *, threads: int = 1) -> _pl.Expr:
        """Java's hash of each key, Int32; arguments, nulls and errors as `partwright.murmur2`."""
        _core.check(1, "java", key_type)
        return self._expr.map_batches(
            lambda keys: _pl.Series(
                keys.name, _hashing.murmur2(_typed(keys), key_type=key_type, threads=threads)
            ),
            return_dtype=_pl.Int32,
            is_elementwise=True,
        )

    def encode(self, key_type: str | None = None) -> _pl.Expr:
        """The key bytes of each value, Binary; arguments, nulls and errors as `partwright.encode`."""
        _core.check(1, "java", key_type)
        return self._expr.map_batches(
            lambda values: _pl.Series(values.name, _hashing.encode(_typed(values), key_type)),
            return_dtype=_pl.Binary,
            is_elementwise=True,
        )

    def coordinator_partition(self, n: int | None = None, *, broker_kind: str = "kafka") -> _pl.Expr:
        """The partition of `__consumer_offsets` of each group, Int32; as `partwright.coordinator_partition`."""
        # The settings are refused now, and not when the expression is evaluated.
        _hashing.coordinator_partition(None, n, broker_kind=broker_kind)
        return self._expr.map_batches(
            lambda ids: _pl.Series(
                ids.name, _hashing.coordinator_partition(_typed(ids), n, broker_kind=broker_kind)
            ),
            return_dtype=_pl.Int32,
            is_elementwise=True,
        )


def _typed(keys: _pl.Series) -> _pl.Series:
    """Handle a column with only nulls: it has no type, and cannot be read from polars' Arrow export."""
    return keys.cast(_pl.String) if keys.dtype == _pl.Null else keys
