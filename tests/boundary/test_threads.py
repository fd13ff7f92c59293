"""Several threads on one column give the answer of one thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import partwright as pw

ROWS = 1_200_001


@pytest.fixture(scope="module")
def keys() -> pa.Array:
    """Keys of 0 to 6 digits, a tenth of them null."""
    numbers = np.random.default_rng(7).integers(0, 1_000_000, ROWS)
    text = pa.array(numbers).cast(pa.string())
    return pa.compute.if_else(pa.array(numbers % 10 != 3), text, None)


@pytest.mark.parametrize("threads", [2, 3, 64])
@pytest.mark.parametrize("client", ["java", "librdkafka:consistent", "sarama"])
def test_threads_say_what_one_says(keys: pa.Array, threads: int, client: str) -> None:
    alone = pw.partition_for_key(keys, 12, client)
    assert len(alone) == ROWS
    assert pw.partition_for_key(keys, 12, client, threads=threads).equals(alone)


def test_chunks_and_slices_are_cut_too(keys: pa.Array) -> None:
    column = pa.chunked_array([keys.slice(5), keys.slice(0, 10), keys.slice(0, 0)])
    assert pw.partition_for_key(column, 12, threads=2).equals(pw.partition_for_key(column, 12))
    assert pw.murmur2(column, threads=2).equals(pw.murmur2(column))


def test_a_refused_key_is_the_first_one() -> None:
    # "polygenelubricants" has Java's smallest hash; 1,100,000 rows are cut into four pieces.
    column = pa.array(
        ["a"] * 300_000 + ["polygenelubricants"] + ["a"] * 500_000 + ["polygenelubricants"] * 300_000
    )
    for threads in (1, 4):
        with pytest.raises(pw.PartwrightError, match="row 300000"):
            pw.partition_for_key(column, 12, "java:string-hash", threads=threads)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, None])
def test_threads_are_a_whole_number_from_1_on(threads: Any) -> None:
    sentence = "the number of threads must be a whole number from 1 on, not "
    for call in (
        lambda: pw.partition_for_key(["a"], 12, threads=threads),
        lambda: pw.murmur2(["a"], threads=threads),
    ):
        with pytest.raises(pw.PartwrightError) as raised:
            call()
        assert str(raised.value) == sentence + repr(threads)
