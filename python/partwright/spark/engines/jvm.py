"""Partitions as expressions that stay in Spark's Java processes: no Python worker runs, and executors need no wheel.

Spark SQL's own functions for CRC-32 and arithmetic serve clients that hash by CRC-32, and whole numbers under murmur2,
in Spark Connect as well. For the bytes of strings and binaries, a classic session calls a murmur2 that is already on
Spark's class path. Each kind is compared with the core before its first use in a session.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf

from partwright import _core
from partwright.errors import PartwrightError
from partwright.keys import hashing
from partwright.spark.engines.choice import MARK, active_session
from partwright.spark.engines.jvm_proof import WHOLE, prove
from partwright.spark.requirements import is_remote
from partwright.spark.words import BITS, signed, times

# org.apache.kafka.common.utils.Utils.murmur2.
_SEED, _FACTOR = 0x9747B28C, 0x5BD1E995
_POSITIVE = 0x7FFFFFFF
# Spark's types that have key bytes, by key type. Each also takes NULL, whose type is void.
_TEXTS = ("string", "char", "varchar", "void")
_BYTES = {
    None: ("binary", *_TEXTS),
    "utf8": _TEXTS,
    "java:string": _TEXTS,
    "bytes": ("binary", "void"),
}
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "void")


def partition_of(key: Column, n: int, client: str, key_type: str | None) -> Column:
    """The partition of each key, as an expression.

    Args:
        key: The keys.
        n: How many partitions there are.
        client: The client profile.
        key_type: How a value becomes key bytes.

    Returns:
        An int column, null if the client does not use the key.

    Raises:
        PartwrightError: There is no exact expression for this client and key type, or none in this session.
    """
    rule = next(row for row in _core.clients() if row["client"] == client)
    steps = (rule["form"], rule["hash"], rule["sign_name"])
    is_murmur2 = steps == ("as-is", "murmur2", "masked")
    if steps == ("as-is", "crc32", "unsigned") and key_type in _BYTES:
        hashed = _crc32(key, key_type)
    elif is_murmur2 and (key_type in WHOLE or key_type in _BYTES):
        hashed = murmur2_of(key, key_type).bitwiseAND(sf.lit(_POSITIVE))
    else:
        raise _refused(f"client {client!r} with the key type {key_type!r}")
    placed = hashed % sf.lit(n)
    if rule["empty_key"] != "hashed":
        placed = sf.when(sf.octet_length(_bytes_of(key)) > 0, placed)
    if (of_null := hashing.partition_for_key(None, n, client)) is not None:
        placed = sf.coalesce(placed, sf.lit(of_null))
    return placed.cast("int")


def murmur2_of(key: Column, key_type: str | None) -> Column:
    """Kafka's murmur2 of each key as Java's signed int, as an expression; null for a null key.

    Raises:
        PartwrightError: There is no exact expression for this key type, or none in this session.
    """
    if key_type in WHOLE:
        spark = _session("murmur2 of whole numbers")
        prove(spark, key_type, lambda golden: _of_number(golden, key_type))
        return _checked(key, _NUMBERS, key_type, _of_number(key, key_type))
    if key_type in _BYTES:
        return _checked(key, _BYTES[key_type], key_type, _of_bytes(_bytes_of(key)))
    raise _refused(f"the key type {key_type!r}")


def _session(what: str) -> SparkSession:
    spark = active_session()
    if spark is None:
        raise PartwrightError(
            f"engine jvm tries its {what} in a session before it is used, and no Spark session is active: start one, "
            "or use engine='arrow'"
        )
    return spark


def _refused(what: str) -> PartwrightError:
    return PartwrightError(
        f"engine jvm has no exact expression for {what}: it has murmur2 of strings, binaries and whole numbers, and "
        "crc32 of strings and binaries; use engine='arrow', which has every rule"
    )


def _checked(key: Column, types: Sequence[str], key_type: str | None, expression: Column) -> Column:
    """The expression for keys of these types; Spark plans with other types, and fails when a job begins."""
    # A collation or a length may follow the type's name.
    kind = sf.substring_index(sf.substring_index(sf.typeof(key), " ", 1), "(", 1)
    under = f"{MARK} under the key type {key_type}" if key_type else f"{MARK} without a key type"
    sentence = sf.concat(
        sf.lit("partwright.errors.KeyTypeError: the key column is "), sf.typeof(key), sf.lit(under)
    )
    return sf.when(kind.isin(*types), expression).otherwise(sf.raise_error(sentence))


def _crc32(key: Column, key_type: str | None) -> Column:
    """The CRC-32 of strings and binaries, a bigint from 0 to 2^32-1."""
    prove(_session("crc32"), "crc32", sf.crc32)
    return _checked(key, _BYTES[key_type], key_type, sf.crc32(_bytes_of(key)))


def _bytes_of(key: Column) -> Column:
    """A string's or a binary's bytes; Spark plans it with a key of any type, so that `_checked` can refuse that one."""
    return key.cast("string").cast("binary")


def _of_number(key: Column, key_type: str) -> Column:
    """The hash of a whole number's bytes, big endian, in bigints."""
    size = WHOLE[key_type]
    number = key.cast("bigint")
    running_hash: Column = sf.lit(_SEED ^ size)
    if size % 4:
        # A short is smaller than a word, so all of it is the tail.
        tail = sf.shiftleft(_byte(number, 0), 8).bitwiseXOR(_byte(number, 8))
        running_hash = times(running_hash.bitwiseXOR(tail), _FACTOR)
    for shift in range(8 * size - BITS, -1, -BITS):
        word = times(_swapped(number, shift), _FACTOR)
        mixed = times(word.bitwiseXOR(sf.shiftright(word, 24)), _FACTOR)
        running_hash = times(running_hash, _FACTOR).bitwiseXOR(mixed)
    running_hash = times(running_hash.bitwiseXOR(sf.shiftright(running_hash, 13)), _FACTOR)
    running_hash = running_hash.bitwiseXOR(sf.shiftright(running_hash, 15))
    hashed = signed(running_hash)
    if key_type == "java:long":
        return hashed
    most = 2 ** (8 * size - 1) - 1
    sentence = sf.concat(
        sf.lit("partwright.errors.PartwrightError: "),
        number.cast("string"),
        sf.lit(f" does not fit the key type {key_type}"),
    )
    fits = number.isNull() | number.between(sf.lit(-most - 1), sf.lit(most))
    return sf.when(fits, hashed).otherwise(sf.raise_error(sentence))


def _byte(number: Column, shift: int) -> Column:
    return sf.shiftright(number, shift).bitwiseAND(sf.lit(0xFF))


def _swapped(number: Column, shift: int) -> Column:
    """The 32-bit word that begins at a bit, as murmur2 reads it: the first byte is the lowest one."""
    parts = [sf.shiftleft(_byte(number, shift + 8 * at), 24 - 8 * at) for at in range(4)]
    return parts[0].bitwiseOR(parts[1]).bitwiseOR(parts[2]).bitwiseOR(parts[3])


def _of_bytes(key: Column) -> Column:
    """The hash of strings and binaries, as a call of a static method (Catalyst's `StaticInvoke`)."""
    if is_remote():
        raise PartwrightError(
            "engine jvm cannot hash strings and binaries by murmur2 in Spark Connect, where it cannot call Java: use "
            "engine='arrow'"
        )
    from partwright.spark.engines.static_invoke import murmur2_called  # noqa: PLC0415 - pyspark-client has no py4j

    return murmur2_called(_session("murmur2 of strings and binaries"), key)
