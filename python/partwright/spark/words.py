"""Words of 32 bits in Spark's bigints, as the steps of a hash need them; ANSI mode changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["BITS", "SIGN", "WORD", "signed", "times"]

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
