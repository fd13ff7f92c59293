"""Shared by the tests of engine jvm: modes of Spark, random keys, and the comparison with the core."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

import partwright as pw
from partwright import spark as pws
from partwright.keys.client_profiles import libraries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    import pyarrow as pa
    from pyspark.sql import DataFrame

    Table = Callable[[pa.Table], DataFrame]
    Configured = Callable[[dict[str, object]], AbstractContextManager[None]]

USUAL = 20_000
N, LARGEST = 1000, 2**31 - 1
CLIENTS = {row["client"]: row for row in libraries()}
BY_BYTES = [name for name, row in CLIENTS.items() if row["hash"] == "murmur2"]
BY_CRC32 = [name for name, row in CLIENTS.items() if row["hash"] == "crc32"]
# Only a session with its own Java process reaches the method that hashes bytes.
IS_REMOTE = "PARTWRIGHT_TEST_REMOTE" in os.environ
MODES = {
    "generated code, ANSI": {"spark.sql.ansi.enabled": "true"},
    "generated code, not ANSI": {"spark.sql.ansi.enabled": "false"},
    "interpreted, ANSI": {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
    },
}


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest, configured: Configured) -> Iterator[None]:
    with configured(MODES[request.param]):
        yield


@pytest.fixture
def drawn(seed: int, cases: Callable[[int], int]) -> list[bytes | None]:
    """Random keys, with all lengths and all bytes among them."""
    source = random.Random(seed)
    random_keys = [source.randbytes(source.randrange(65)) for _ in range(cases(USUAL))]
    return [b"", None, b"\xff" * 64, bytes(100_003), *random_keys]


def check(
    df: DataFrame, keys: pa.Array, clients: Iterable[str], key_type: str | None = None, ns: Sequence[int] = ()
) -> None:
    """Engine jvm and the core agree on the column `key`: for each client, and for the first one with each n."""
    asked = [(client, N) for client in clients]
    asked += [(asked[0][0], n) for n in ns]
    columns = [
        pws.partition_for_key("key", n, client, key_type, engine="jvm").alias(f"{client} {n}")
        for client, n in asked
    ]
    # Spark would compute rows of a local table while it plans, not in a task.
    kept = df.cache()
    found = list(zip(*kept.select(*columns).collect(), strict=True))
    for (client, n), partitions in zip(asked, found, strict=True):
        assert list(partitions) == pw.partition_for_key(keys, n, client, key_type).to_pylist(), (client, n)
    kept.unpersist()
