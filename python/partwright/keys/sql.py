"""SQL's `kafka_partition` and `kafka_murmur2` over a batch of Arrow arrays, for every engine with such functions.

Arguments that are constant for a Python column may differ by row in SQL: rows are grouped by them, and each group is
one call.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import Fields
from partwright.errors import PartwrightError
from partwright.keys import hashing


def kafka_partition(
    key: pa.Array,
    n: pa.Array | None = None,
    client: pa.Array | None = None,
    key_type: pa.Array | None = None,
) -> pa.Array:
    """`kafka_partition(key, n[, client[, key_type]])` of each row, int32; null where the client does not hash the key.

    Raises:
        PartwrightError: `n` is missing, null or out of range; no such client or key type; a key without key bytes.

    Examples:
        >>> kafka_partition(pa.array(["TT0124", None]), pa.array([15, 15])).to_pylist()
        [10, None]
    """
    if n is None:
        raise PartwrightError("it takes a key and n, the topic's number of partitions, and n is missing")

    def place(keys: pa.Array, settings: Fields) -> pa.Array:
        count, named = settings["n"], settings.get("client", "java")
        for name, setting in (("n, the number of partitions,", count), ("client", named)):
            if setting is None:
                raise PartwrightError(f"{name} is NULL")
        return hashing.partition_for_key(keys, count, named, settings.get("key_type"))

    return _by_group(key, {"n": n, "client": client, "key_type": key_type}, place)


def kafka_murmur2(
    key: pa.Array,
    key_type: pa.Array | None = None,
) -> pa.Array:
    """`kafka_murmur2(key[, key_type])` of each row, int32; null where the key is null.

    Raises:
        PartwrightError: An unknown key type; a key without key bytes under it.

    Examples:
        >>> kafka_murmur2(pa.array(["foobar", None])).to_pylist()
        [-790332482, None]
    """

    def hash_keys(keys: pa.Array, settings: Fields) -> pa.Array:
        return hashing.murmur2(keys, key_type=settings.get("key_type"))

    return _by_group(key, {"key_type": key_type}, hash_keys)


def as_named(function: Callable[..., pa.Array], name: str) -> Callable[..., pa.Array]:
    """An SQL function under one of its names, with which its errors begin.

    Examples:
        >>> as_named(kafka_partition, "partition_for_key")(pa.array(["a"]), pa.nulls(1))
        Traceback (most recent call last):
        partwright.errors.PartwrightError: partition_for_key: n, the number of partitions, is NULL
    """

    def named(*columns: pa.Array, **settings: pa.Array) -> pa.Array:
        try:
            return function(*columns, **settings)
        except PartwrightError as error:
            raise error.within(name) from None

    return named


def _by_group(
    keys: pa.Array,
    settings: dict[str, pa.Array | None],
    function: Callable[[pa.Array, Fields], pa.Array],
) -> pa.Array:
    """Apply the function once to the keys of each distinct combination of settings; the answer has the keys' order.

    Args:
        keys: One batch's keys.
        settings: By name, a column as long as `keys`, or None if the argument was left out.
        function: From some of the keys and their common settings to an int32 column as long.
    """
    columns = {name: column for name, column in settings.items() if column is not None}
    if len(keys) == 0:
        return pa.array([], pa.int32())
    # A literal is the same in every row of its batch.
    if all(_is_constant(column) for column in columns.values()):
        return function(keys, {name: column[0].as_py() for name, column in columns.items()})
    table = pa.table({**columns, "row": pa.array(range(len(keys)), pa.int64())})
    groups = table.group_by(list(columns), use_threads=False).aggregate([("row", "list")]).to_pylist()
    rows = [group.pop("row_list") for group in groups]
    parts = [function(keys.take(pa.array(mine)), group) for mine, group in zip(rows, groups, strict=True)]
    order = pa.array([row for mine in rows for row in mine])
    return pa.concat_arrays(parts).take(pc.sort_indices(order))


def _is_constant(column: pa.Array) -> bool:
    return len(column.unique()) == 1
