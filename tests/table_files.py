"""Writes a table as a file in each format that partwright reads; the file's name ends in the format."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq


def write_table(table: pa.Table, name: str, rows_a_part: int | None = None) -> None:
    if name.endswith(".parquet"):
        pq.write_table(table, name, row_group_size=rows_a_part)
    elif name.endswith(".arrow"):
        pa.feather.write_feather(table, name, chunksize=rows_a_part)
    elif name.endswith(".jsonl"):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")
    else:
        pa.csv.write_csv(table, name)
