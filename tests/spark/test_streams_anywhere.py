"""The column in a stream of any session, classic or Connect: into memory, and again after a restart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import partwright as pw
from partwright import spark as pws

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

N = 7
KEYS = [f"user-{row % 13}" if row % 5 else None for row in range(90)]


@pytest.mark.parametrize(("engine", "client"), [("arrow", "java"), ("jvm", "librdkafka:consistent")])
def test_a_stream_places_each_record(spark: SparkSession, tmp_path: Path, engine: str, client: str) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    for file in range(3):
        rows = range(file * 30, (file + 1) * 30)
        text = "\n".join(json.dumps({"key": KEYS[row], "row": row}) for row in rows)
        (folder / f"{file}.json").write_text(text, encoding="utf-8")
    read = spark.readStream.schema("key string, row int").option("maxFilesPerTrigger", 1).json(str(folder))
    placed = pws.with_partition(read, "key", N, client, engine=engine)
    name = f"placed_{engine}"
    writer = placed.writeStream.format("memory").queryName(name).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert query.awaitTermination(120)
    found = [
        tuple(row) for row in spark.table(name).orderBy("row").select("key", "row", "partition").collect()
    ]
    expected = pw.partition_for_key(KEYS, N, client).to_pylist()
    assert found == list(zip(KEYS, range(90), expected, strict=True))
