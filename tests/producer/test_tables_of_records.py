"""Tables of records as programs have them: whole numbers as floats, and tables in files."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partwright as pw
from partwright.files import read_file

if TYPE_CHECKING:
    from pathlib import Path

WHOLE: dict[str, Any] = {
    "key": ["a", None, "b", None],
    "partition": [1, None, 2, None],
    "time": [0, 5, 5, 9],
    "size": [10, 20, 30, 40],
}
NUMBERS = ("partition", "time", "size")


def placed(records: object) -> list[int | None]:
    found: list[int | None] = pw.Producer({"t": 3}, "sticky").place(records).to_pylist()
    return found


@pytest.mark.parametrize(
    "records",
    [
        pd.DataFrame({**WHOLE, **{name: pd.Series(WHOLE[name], dtype="float64") for name in NUMBERS}}),
        pl.DataFrame({**WHOLE, **{name: pl.Series(WHOLE[name], dtype=pl.Float64) for name in NUMBERS}}),
        {
            **WHOLE,
            "partition": np.array([1.0, np.nan, 2.0, np.nan]),
            "size": np.array([10, 20, 30, 40], "float32"),
        },
        {**WHOLE, "size": pa.array([Decimal(each) for each in WHOLE["size"]])},
        {**WHOLE, "time": np.array(WHOLE["time"], "float16")},
    ],
)
def test_whole_numbers_of_any_type_are_whole_numbers(records: Any) -> None:
    assert placed(records) == placed(WHOLE)


@pytest.mark.parametrize("values", [[1.5], [1e300], [float("inf")], [True], [Decimal("0.5")]])
def test_other_numbers_are_refused(values: list[Any]) -> None:
    with pytest.raises(pw.PartwrightError, match="the column of each record's size has whole numbers, not "):
        placed({"size": pa.array(values)})
    with pytest.raises(pw.PartwrightError, match="a record must have a time if others have one, not null"):
        placed({"size": [1, 1], "time": [1.0, float("nan")]})


def test_a_table_may_be_a_file(tmp_path: Path) -> None:
    csv, parquet, lines = tmp_path / "r.csv", tmp_path / "r.parquet", tmp_path / "r.jsonl"
    csv.write_text("key,partition,time,size\na,1,0,10\n,,5,20\nb,2,5,30\n,,9,40\n")
    pq.write_table(pa.table(WHOLE), parquet, row_group_size=2)
    pl.DataFrame(WHOLE).write_ndjson(lines)
    for file in (csv, str(csv), parquet, lines):
        assert placed(file) == placed(WHOLE)
    found = pw.batching.simulate(csv, {"t": 3})
    assert found.to_dict() == pw.batching.simulate(WHOLE, {"t": 3}).to_dict()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty: it has no records and no columns"),
        ("key,size\na,x\n", r"row 0 of .*'x' in column 'size' is not a whole number"),
        ("key\na\n", "counts bytes: give the records' values"),
    ],
)
def test_a_file_that_is_no_table_of_records_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "r.csv"
    file.write_text(text)
    with pytest.raises(pw.PartwrightError, match=sentence):
        placed(file)


def test_files_of_no_rows_none_and_stdin(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("key,size\n")
    assert placed(file) == []
    assert read_file(file, {"size"}).schema.types == [pa.string(), pa.int64()]
    for name, sentence in (
        ("none.csv", "there is no file"),
        ("-", "name a file"),
        ("x", "format of 'x' is not known"),
    ):
        with pytest.raises(pw.PartwrightError, match=sentence):
            placed(name)
