"""Key bytes, murmur2 and the partition of a record, for a column or for one key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from functools import update_wrapper
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    overload,
)
from uuid import UUID

import pyarrow as pa

from partwright import _core, _upward
from partwright._check import shown
from partwright.errors import KeyTypeError
from partwright.keys.columns import as_column, is_expression, is_single, single_column
from partwright.keys.coordinators import broker_kind_named
from partwright.keys.key_text import text_bytes

if TYPE_CHECKING:
    from polars import Expr, Series
else:
    # Who asks for a function's hints at run time gets them without polars, which is an extra.
    Expr = Series = Any

__all__ = ["coordinator_partition", "encode", "murmur2", "partition_for_key", "placer"]

# What a Series or an expression of partitions is named; a column of keys must not be replaced.
_PARTITION = "partition"
_P = ParamSpec("_P")
_R = TypeVar("_R")
_Keys = TypeVar("_Keys")


class ArrowArray(Protocol):
    """One array of Arrow's PyCapsule interface: pyarrow, arro3, nanoarrow."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Arrow's array and schema capsules."""


class ArrowStream(Protocol):
    """A column in chunks: a ChunkedArray, a polars or pandas Series."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow's stream capsule."""


Key: TypeAlias = str | bytes | bytearray | memoryview | bool | int | float | Decimal | date | UUID
Column: TypeAlias = ArrowArray | ArrowStream | Sequence[Key | None]
if TYPE_CHECKING:
    _Polars = TypeVar("_Polars", Expr, Series)


def _one_key_first(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The same function in Python, for arguments that the core does not answer itself."""
    return update_wrapper(_core.OneKeyFirst(function), function)


@overload
def murmur2(keys: None, *, key_type: str | None = None) -> None: ...
@overload
def murmur2(keys: Key, *, key_type: str | None = None) -> int: ...
@overload
def murmur2(keys: _Polars, *, key_type: str | None = None, threads: SupportsIndex = 1) -> _Polars: ...
@overload
def murmur2(
    keys: Column, *, key_type: str | None = None, threads: SupportsIndex = 1
) -> pa.Array | pa.ChunkedArray: ...
def murmur2(
    keys: object, *, key_type: str | None = None, threads: SupportsIndex = 1
) -> int | pa.Array | pa.ChunkedArray | Expr | Series | None:
    """Kafka's murmur2 of each key, as Java's signed 32-bit int.

    Source: `org.apache.kafka.common.utils.Utils.murmur2`, the same from 0.8.2 to 4.4.0.

    Args:
        keys: A column of text, binary or, under a `java:` key type, numbers; see `partition_for_key`. Or one
            key.
        key_type: How a value becomes key bytes; see `encode`.
        threads: How many may work on a column; see `partition_for_key`.

    Returns:
        An int32 column as long as `keys`, null where the key is null; of which kind, see `partition_for_key`. A Series
        and an expression are named `murmur2`. An int for one key, None for None.

    Raises:
        KeyTypeError: The keys' type has no key bytes under this key type.
        PartwrightError: A value that does not fit, named with its row; an unknown key type.

    Examples:
        >>> murmur2("abc")
        479470107
        >>> murmur2(["21", None, "foobar"]).to_pylist()
        [-973932308, None, -790332482]
    """
    key_type = _core.check(1, "java", key_type)
    if is_expression(keys):
        return _upward.module("polars").expression(
            keys, lambda column: murmur2(column, key_type=key_type, threads=threads), pa.int32(), "murmur2"
        )
    if is_single(keys):
        key = _single_bytes(keys, key_type)
        return None if key is None else _core.murmur2_of_bytes(key)
    return _upward.series_like(keys, _core.murmur2(as_column(keys, key_type), key_type, threads), "murmur2")


@overload
def partition_for_key(
    keys: None, n: SupportsIndex, client: Literal["java"] = "java", key_type: str | None = None
) -> None: ...
@overload
def partition_for_key(
    keys: Key, n: SupportsIndex, client: Literal["java"] = "java", key_type: str | None = None
) -> int: ...
@overload
def partition_for_key(
    keys: Key | None, n: SupportsIndex, client: str, key_type: str | None = None
) -> int | None: ...
@overload
def partition_for_key(
    keys: _Polars,
    n: SupportsIndex,
    client: str = "java",
    key_type: str | None = None,
    *,
    threads: SupportsIndex = 1,
) -> _Polars: ...
@overload
def partition_for_key(
    keys: Column,
    n: SupportsIndex,
    client: str = "java",
    key_type: str | None = None,
    *,
    threads: SupportsIndex = 1,
) -> pa.Array | pa.ChunkedArray: ...
@_one_key_first
def partition_for_key(
    keys: object,
    n: SupportsIndex,
    client: str = "java",
    key_type: str | None = None,
    *,
    threads: SupportsIndex = 1,
) -> int | pa.Array | pa.ChunkedArray | Expr | Series | None:
    """The partition that a client's producer gives a record with each key.

    For `java` that is `toPositive(murmur2(key)) % n` (`BuiltInPartitioner.partitionForKey`, kafka-clients 0.8.2 to
    4.4.0), where n counts all partitions of the topic. `partwright.clients` has all clients' rules. An empty key is a
    key, except for the clients `librdkafka` and `kafka-go:crc32`. Null keys get no partition, except in
    `librdkafka:consistent`, `librdkafka:murmur2` and `librdkafka:fnv1a`, which hash them as empty. Without a partition
    the answer is null, because the producer chooses one as it writes.

    Args:
        keys: A column: a pyarrow Array or ChunkedArray, anything else with Arrow's PyCapsule interface (polars, arro3,
            nanoarrow, pandas), a numpy array, a list of str, bytes or None, or a DuckDB relation with one column. Its
            type: string, large_string, string_view, binary, large_binary, binary_view, fixed_size_binary, a dictionary
            of one of them, or under a `java:` key type numbers and booleans. Keys are read in place. Or one key: a str
            is always a key and never a column's name, so `partition_for_key("user", 48)` is one number, the partition
            of the key `user`. Or a polars expression.
        n: How many partitions the topic has, 1 to 2^31-1.
        client: The client profile, a name in `partwright.clients()`.
        key_type: How a value becomes key bytes; see `encode`.
        threads: How many threads may work on a column; chunks of more than 1,000,000 rows are cut into pieces. A key
            type that has to write key bytes does so in one thread.

    Returns:
        An int32 column as long as `keys`, null where the client does not hash the key, which shares the keys' validity
        bitmap if it is the same. A pandas Series gives a Series with its index, of the nullable Int32; a polars Series
        gives a Series, and a polars expression an expression. These are named `partition`, so that they do not replace
        the column of keys. A list, a numpy array and a single Arrow array give a pyarrow Array (`.to_numpy()`, if no
        key is null), chunked input gives a ChunkedArray with the same chunks. One key gives an int or None.

    Raises:
        KeyTypeError: The keys' type has no key bytes under this key type.
        PartwrightError: `n` or `threads` out of range, an unknown client or key type; with its row, a value that does not
            fit, and a key to which `java:string-hash` itself gives a negative partition.

    Examples:
        >>> partition_for_key("TT0124", 15)
        10
        >>> partition_for_key([b"TT0124", b"", None], 15).to_pylist()
        [10, 6, None]
        >>> partition_for_key(["TT0124", "", None], 15, "librdkafka").to_pylist()
        [9, None, None]
        >>> partition_for_key(42, 12)
        Traceback (most recent call last):
            ...
        partwright.errors.KeyTypeError: int64 has no key bytes of its own: name the key type that its producer writes, java:short, java:int, java:long or digits (the number as text), with key_type=
    """  # noqa: E501 - the error's sentence is one line
    if isinstance(keys, pa.Array):
        # Spark calls it for every batch, so nothing is looked up again.
        return _core.partition_for_key(keys, n, client, key_type, threads)
    key_type = _core.check(n, client, key_type)
    if is_expression(keys):
        return _upward.module("polars").expression(
            keys,
            lambda column: partition_for_key(column, n, client, key_type, threads=threads),
            pa.int32(),
            _PARTITION,
        )
    if is_single(keys):
        return _core.partition_for_bytes(_single_bytes(keys, key_type), n, client)
    partitions = _core.partition_for_key(as_column(keys, key_type), n, client, key_type, threads)
    return _upward.series_like(keys, partitions, _PARTITION)


def placer(
    n: SupportsIndex, client: str = "java", key_type: str | None = None
) -> Callable[[ArrowArray | ArrowStream], pa.Array | pa.ChunkedArray]:
    """`partition_for_key` with its settings checked once, for callers with many columns.

    Args:
        n: How many partitions the topic has, 1 to 2^31-1.
        client: The client profile, a name in `partwright.clients()`.
        key_type: How a value becomes key bytes; see `encode`.

    Returns:
        A function of one column with Arrow's PyCapsule interface. It can be pickled: only these settings and a name are
        sent.

    Raises:
        PartwrightError: As `partition_for_key` does.

    Examples:
        >>> place = placer(15)
        >>> place(pa.array(["TT0124", "", None])).to_pylist()
        [10, 6, None]
    """
    return _core.Placer(n, client, key_type).place


@overload
def coordinator_partition(
    ids: None, n: SupportsIndex | None = None, *, broker_kind: str = "kafka"
) -> None: ...
@overload
def coordinator_partition(
    ids: str | bytes, n: SupportsIndex | None = None, *, broker_kind: str = "kafka"
) -> int: ...
@overload
def coordinator_partition(
    ids: _Polars, n: SupportsIndex | None = None, *, broker_kind: str = "kafka"
) -> _Polars: ...
@overload
def coordinator_partition(
    ids: Column, n: SupportsIndex | None = None, *, broker_kind: str = "kafka"
) -> pa.Array | pa.ChunkedArray: ...
def coordinator_partition(
    ids: object, n: SupportsIndex | None = None, *, broker_kind: str = "kafka"
) -> int | pa.Array | pa.ChunkedArray | Expr | Series | None:
    """The partition of `__consumer_offsets` that has a consumer group's offsets, by the group's id.

    That is `Utils.abs(id.hashCode()) % n` (`GroupCoordinatorService.partitionFor`, kafka-group-coordinator 4.4.0, and
    `GroupMetadataManager` before), where `Utils.abs` of the lowest int is 0. The broker that leads this partition is
    the group's coordinator. The same rule places a producer's `transactional.id` in `__transaction_state`
    (`TransactionStateManager`), and the text `group:topic id:partition` in `__share_group_state`
    (`SharePartitionKey.asCoordinatorKey`).

    Redpanda has another rule for groups, `jump_consistent_hash(xxh64(id), n)`. We have read it in its source
    (`coordinator_ntp_mapper.h`), and have tried no Redpanda.

    Args:
        ids: A column of text, or of its UTF-8 bytes; see `partition_for_key`. Or one id.
        n: The internal topic's number of partitions, 1 to 2^31-1: `offsets.topic.num.partitions`,
            `transaction.state.log.num.partitions` or `share.coordinator.state.topic.num.partitions`, and Redpanda's
            `group_topic_partitions`. None is the broker's default: 50 in Kafka, 16 in Redpanda.
        broker_kind: `kafka` or `redpanda`.

    Returns:
        An int32 column as long as `ids`, null where the ID is null; of which kind, see `partition_for_key`. An int for
        one ID, None for None.

    Raises:
        KeyTypeError: The ids are neither text nor bytes.
        PartwrightError: `n` is out of range; there is no such kind of broker; with its row, an id that is not UTF-8,
            which Kafka's rule needs.

    Examples:
        >>> coordinator_partition("KafkaConsumerDemo")
        35
        >>> coordinator_partition(["my-group", "", None, "polygenelubricants"]).to_pylist()
        [12, 0, None, 0]
        >>> coordinator_partition("panda3", 16), coordinator_partition("panda3", 16, broker_kind="redpanda")
        (7, 13)
    """
    kind = broker_kind_named(broker_kind)
    n = kind.partitions if n is None else n
    _core.check(n, "java", None)
    if is_expression(ids):
        return _upward.module("polars").expression(
            ids,
            lambda column: coordinator_partition(column, n, broker_kind=broker_kind),
            pa.int32(),
            _PARTITION,
        )
    try:
        if is_single(ids):
            return kind.of_bytes(_single_bytes(ids, None), n)
        partitions = kind.of_column(as_column(ids, None), n)
    except KeyTypeError as error:
        if error.field != "key_type":
            raise
        raise KeyTypeError(f"an id is text, or its UTF-8 bytes, not {shown(ids)}", value=ids) from None
    return _upward.series_like(ids, partitions, _PARTITION)


@overload
def encode(values: None, key_type: str | None = None) -> None: ...
@overload
def encode(values: Key, key_type: str | None = None) -> bytes: ...
@overload
def encode(values: _Polars, key_type: str | None = None) -> _Polars: ...
@overload
def encode(values: Column, key_type: str | None = None) -> pa.Array | pa.ChunkedArray: ...
def encode(
    values: object, key_type: str | None = None
) -> bytes | pa.Array | pa.ChunkedArray | Expr | Series | None:
    r"""The bytes that a record's key has on the wire, as Kafka's own serializers write them.

    ===================== ============================ =======================================================
    key type              takes                        key bytes
    ===================== ============================ =======================================================
    `utf8`                text (its default)           UTF-8
    `bytes`               binary (its default)         as they are
    `java:string`         text                         UTF-8; an unpaired surrogate is `?`
    `java:short`          whole numbers that fit       2 bytes, big endian
    `java:int`            whole numbers that fit       4 bytes, big endian
    `java:long`           whole numbers that fit       8 bytes, big endian
    `java:float`          floating-point numbers       IEEE 754, 4 bytes, big endian; a NaN keeps its bits
    `java:double`         floating-point numbers       IEEE 754, 8 bytes, big endian; Java's one NaN
    `java:boolean`        booleans                     1 byte, 01 or 00
    `java:uuid`           text, or binary of 16 bytes  the 36 characters of the UUID, lower case
    `confluent:strip-id`  binary                       without its first 5 bytes, a schema registry's header
    `digits`              whole numbers                text, as `Long.toString`: 42
    `decimal`             decimals                     text, as `BigDecimal.toPlainString`: 19.90
    `iso-date`            dates                        text, as `LocalDate.toString`: 2024-01-31
    `iso-timestamp`       timestamps                   text, as `Instant.toString`: 2024-01-31T12:00:00Z
    ===================== ============================ =======================================================

    Decimals have all digits of their column's scale. Timestamps are in UTC (one without a zone is taken to be UTC),
    with as many of 0, 3, 6 or 9 fraction digits as they need. `digits` also takes decimals of scale 0, which is how
    Arrow holds whole numbers of more than 64 bits.

    Source: `org.apache.kafka.common.serialization`, kafka-clients 4.4.0; `java.lang`, `java.math` and `java.time` of
    JDK 17.

    Args:
        values: A column or one value; see `partition_for_key`.
        key_type: One from the table, or only what stands behind `java:`, `confluent:` or `iso-`, such as `long`; the
            default only takes text and binary.

    Returns:
        A binary column as long as `values`, null where the value is null; large_binary for the large types and
        binary_view for the views. Text and binary share their bytes with it. A Series of pandas (of bytes or None) or
        polars for a Series, an expression for an expression, named as `values`, whose other form they are. One value
        gives bytes, None gives None.

    Raises:
        KeyTypeError: The values' type has no key bytes under this key type.
        PartwrightError: A value that does not fit, named with its row; an unknown key type.

    Examples:
        >>> encode(42, "java:int")
        b'\x00\x00\x00*'
        >>> encode([1.5, None], "java:float").to_pylist()
        [b'?\xc0\x00\x00', None]
        >>> encode(42, "digits")
        b'42'
    """
    key_type = _core.check(1, "java", key_type)
    if is_expression(values):
        return _upward.module("polars").expression(
            values, lambda column: encode(column, key_type), pa.binary(), None
        )
    if is_single(values):
        return _single_bytes(values, key_type)
    return _upward.series_like(values, _core.encode(as_column(values, key_type), key_type), None)


class KeyMethods(Generic[_Keys]):
    """The functions of a column of keys as methods of it, for the accessors of pandas and polars."""

    def __init__(self, keys: _Keys) -> None:
        self._keys: Any = keys

    def partition_for_key(
        self, n: int, client: str = "java", key_type: str | None = None, *, threads: int = 1
    ) -> _Keys:
        """The partition of each key, Int32; arguments, nulls and errors as `partwright.partition_for_key`."""
        return partition_for_key(self._keys, n, client, key_type, threads=threads)  # type: ignore[no-any-return]

    def murmur2(self, key_type: str | None = None, *, threads: int = 1) -> _Keys:
        """Java's hash of each key, Int32; arguments, nulls and errors as `partwright.murmur2`."""
        return murmur2(self._keys, key_type=key_type, threads=threads)  # type: ignore[no-any-return]

    def encode(self, key_type: str | None = None) -> _Keys:
        """The key bytes of each value, binary; arguments, nulls and errors as `partwright.encode`."""
        return encode(self._keys, key_type)  # type: ignore[no-any-return]

    def coordinator_partition(self, n: int | None = None, *, broker_kind: str = "kafka") -> _Keys:
        """The partition of `__consumer_offsets` of each group, Int32; as `partwright.coordinator_partition`."""
        return coordinator_partition(self._keys, n, broker_kind=broker_kind)  # type: ignore[no-any-return]


def _single_bytes(value: object, key_type: str | None) -> bytes | None:
    """The key bytes of one key; None for a null key."""
    if key_type is None and isinstance(value, str):
        return text_bytes(value, key_type)
    if key_type is None and isinstance(value, bytes):
        return value
    return _core.encode_one(single_column(value, key_type), key_type)
