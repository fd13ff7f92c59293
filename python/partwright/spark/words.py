"""Words of 32 bits in Spark's bigints, as the steps of a hash need them; ANSI mode changes nothing.

Salts follow from them: ints that Spark's own hash sends to a given task, for a layout by partition in a Spark
without `repartitionById`. `repartition(n, salt)` puts a row into task `pmod(hash(salt), n)`; `hash` is MurmurHash3
(x86, 32 bits, seed 42). For a single int, each of its steps can be undone, so every int is the hash of exactly one int.
The salt of partition i is the int whose hash is i; it is in task i for any n above i.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sf

BITS = 32
WORD = 0xFFFFFFFF
SIGN = 0x80000000


def times(word: Column, factor: int) -> Column:
    """The product modulo 2^32.

    Args:
        word: Words, from 0 to 2^32-1.
        factor: Between -2^31 and 2^31, so that no product leaves a bigint.
    """
    return (word * sf.lit(factor)).bitwiseAND(sf.lit(WORD))


def signed(word: Column) -> Column:
    """The int that has a word's bits: a word above the largest int is negative."""
    return (word.bitwiseXOR(sf.lit(SIGN)) - sf.lit(SIGN)).cast("int")


_SEED = 42
# MurmurHash3's constants, in the order in which they are applied to an int.
_MIX_1, _MIX_2, _ADDED = 0xCC9E2D51, 0x1B873593, 0xE6546B64
_LAST_1, _LAST_2 = 0x85EBCA6B, 0xC2B2AE35


def salt_of(partition: Column) -> Column:
    """The int whose hash in Spark is this partition's number.

    Args:
        partition: Ints from 0 on.

    Returns:
        An int column, null where the partition is null.
    """
    salt = partition.cast("bigint")
    salt = salt.bitwiseXOR(sf.shiftright(salt, 16))
    salt = _divided(salt, _LAST_2)
    salt = salt.bitwiseXOR(sf.shiftright(salt, 13)).bitwiseXOR(sf.shiftright(salt, 26))
    salt = _divided(salt, _LAST_1)
    # The hash finally mixes in the number of bytes, 4.
    salt = salt.bitwiseXOR(sf.shiftright(salt, 16)).bitwiseXOR(sf.lit(4))
    salt = _rotated_back(_divided(salt - sf.lit(_ADDED), 5), 13)
    salt = _rotated_back(_divided(salt.bitwiseXOR(sf.lit(_SEED)), _MIX_2), 15)
    return signed(_divided(salt, _MIX_1))


def _divided(word: Column, factor: int) -> Column:
    """The word whose product with the factor is this one, modulo 2^32; the factor is odd."""
    inverse = pow(factor, -1, 2**BITS)
    return times(word, (inverse ^ SIGN) - SIGN)


def _rotated_back(word: Column, bits: int) -> Column:
    """The word that gives this one when rotated left.

    A rotation is a product modulo 2^32 - 1. It uses the word once, while two shifts would double the expression.
    Subtracting and adding one keeps 0 and 2^32 - 1 apart, because Spark's remainder has the dividend's sign.
    """
    turned = word * sf.lit(2 ** (BITS - bits))
    return (turned - sf.lit(1)) % sf.lit(WORD) + sf.lit(1)
