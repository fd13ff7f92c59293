"""DuckDB's SQL functions `partition_for_key` and `murmur2`, named as in Python and Spark, and of the same core.

    >>> import duckdb
    >>> import partwright.duckdb
    >>> con = duckdb.connect()
    >>> partwright.duckdb.register(con)
    >>> con.sql("SELECT partition_for_key('TT0124', 15), murmur2('foobar')").fetchall()
    [(10, -790332482)]
    >>> con.sql("SELECT partition_for_key(42, 100, key_type := 'java:long')").fetchall()
    [(52,)]

Without SQL, a relation of one column is a column wherever `partwright` takes one:

    >>> import partwright as pw
    >>> orders = con.sql("SELECT * FROM (VALUES ('TT0124', 1), (NULL, 2)) AS orders (customer, id)")
    >>> pw.partition_for_key(orders["customer"], 15).to_pylist()
    [10, None]
"""

from __future__ import annotations as _annotations

import contextlib as _contextlib
import typing as _typing

import pyarrow as _pa  # noqa: ICN001 - DuckDB evaluates the annotations of what it calls

from partwright._check import counted as _counted
from partwright.errors import MissingExtraError as _MissingExtraError
from partwright.errors import PartwrightError as _PartwrightError
from partwright.keys import sql as _sql

try:
    import duckdb as _duckdb
except ModuleNotFoundError as error:
    raise _MissingExtraError("DuckDB is missing: pip install 'partwright[duckdb]'") from error

if _typing.TYPE_CHECKING:
    from collections.abc import Callable as _Callable

__all__ = ["register"]

# Each function's names, its highest number of arguments, its signature, and that of the macro over it, whose arguments
# have names.
_FUNCTIONS: tuple[tuple[_Callable[..., _pa.Array], tuple[str, str], int, str, str, str], ...] = (
    (
        _sql.kafka_partition,
        ("partition_for_key", "kafka_partition"),
        4,
        "(key, n[, client[, key_type]])",
        "(key, n, client := 'java', key_type := NULL)",
        "(key, n, client, key_type)",
    ),
    (
        _sql.kafka_murmur2,
        ("murmur2", "kafka_murmur2"),
        2,
        "(key[, key_type])",
        "(key, key_type := NULL)",
        "(key, key_type)",
    ),
)


def register(con: _duckdb.DuckDBPyConnection) -> None:
    """Make the SQL functions known to a connection until it is closed.

    - `partition_for_key(key, n, client := 'java', key_type := NULL)`: the partition, as `partwright.partition_for_key`
      has it; an INTEGER, NULL where the client does not use the key.
    - `murmur2(key, key_type := NULL)`: Kafka's murmur2, as `partwright.murmur2` has it; an INTEGER, NULL where the key
      is NULL.

    These are temporary macros, for only a macro's arguments have names. They stand for functions of the same names that
    the connection's cursors know too, and which take no names for arguments: `partition_for_key(key, n[, client[,
    key_type]])`, whose other name is `kafka_partition`, and `murmur2(key[, key_type])`, which is also `kafka_murmur2`.

    They are vectorized: DuckDB passes Arrow arrays of at most 2,048 rows. `n`, `client` and `key_type` may be literals
    or columns. A key is VARCHAR, BLOB, ENUM or UUID (its text), or under a `java:` key type a number. DuckDB casts
    nothing for them, so a number without a key type is refused. HUGEINT is not one of Arrow's whole numbers: cast it to
    BIGINT. Registering again is harmless.

    Args:
        con: The connection; `duckdb.default_connection()` is the one that `duckdb.sql` uses.

    Raises:
        PartwrightError: `con` is not a connection. As DuckDB's `InvalidInputException`, when a query runs: `n` is NULL
            or out of range, the client or key type is unknown, a key has no key bytes under it.

    Examples:
        >>> con = _duckdb.connect()
        >>> register(con)
        >>> con.sql("SELECT partition_for_key(42, 100, key_type := 'long'), partition_for_key('42', 100)").fetchall()
        [(52, 72)]
    """
    if not isinstance(con, _duckdb.DuckDBPyConnection):
        raise _PartwrightError(
            f"a {type(con).__name__} is not a DuckDB connection: pass duckdb.connect() or duckdb.default_connection()"
        )
    for function, names, most, usage, parameters, arguments in _FUNCTIONS:
        # An earlier one would be in the way of the function of its name.
        con.execute(f"DROP MACRO IF EXISTS temp.{names[0]}")
        for name in names:
            with _contextlib.suppress(_duckdb.InvalidInputException):  # Not registered yet.
                con.remove_function(name)
            # Without parameter types, DuckDB accepts any type for each parameter and casts nothing.
            con.create_function(  # type: ignore[call-overload] # names, where DuckDB's types have enumerations alone
                name,
                _over_chunks(_sql.as_named(function, name), most, f"{name}{usage}"),
                None,
                "INTEGER",
                type="arrow",
                null_handling="special",
            )
        con.execute(
            f"CREATE OR REPLACE TEMP MACRO {names[0]}{parameters} AS system.main.{names[0]}{arguments}"
        )


def _over_chunks(function: _Callable[..., _pa.Array], most: int, usage: str) -> _Callable[..., _pa.Array]:
    """Wrap a function over arrays for DuckDB, which passes each SQL argument as a ChunkedArray."""

    def over_chunks(*columns: _pa.ChunkedArray) -> _pa.Array:
        if not 0 < len(columns) <= most:
            raise _PartwrightError(f"it is {usage}, and this call has {_counted(len(columns), 'argument')}")
        return function(
            *(each.chunk(0) if each.num_chunks == 1 else each.combine_chunks() for each in columns)
        )

    return over_chunks
