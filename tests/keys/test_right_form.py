"""What is no column is refused with the form that is right for its library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import partwright as pw
from partwright.keys.right_form import right_form

if TYPE_CHECKING:
    from collections.abc import Callable

FRAME = pd.DataFrame({"k": ["a"]})
TABLE = pa.table({"k": ["a"]})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: FRAME, "a pandas.DataFrame is no column of keys: pass one of its columns, df['key']"),
        (
            lambda: FRAME.groupby("k"),
            "a pandas.DataFrameGroupBy is no column of keys: pass one of its columns before",
        ),
        (
            lambda: FRAME.groupby("k")["k"],
            "a pandas.SeriesGroupBy is no column of keys: pass the Series before",
        ),
        (
            lambda: pl.DataFrame({"k": ["a"]}),
            "a polars.DataFrame is no column of keys: pass pl.col('key') within",
        ),
        (
            lambda: pl.LazyFrame({"k": ["a"]}),
            "a polars.LazyFrame is no column of keys: pass pl.col('key') within",
        ),
        (lambda: TABLE, "a pyarrow.Table is no column of keys: pass one of its columns, table['key']"),
        (
            lambda: TABLE.to_batches()[0],
            "a pyarrow.RecordBatch is no column of keys: pass one of its columns",
        ),
        (
            TABLE.to_reader,
            "a pyarrow.RecordBatchReader is no column of keys: pass one of its columns",
        ),
        (lambda: {"a"}, "keys of type set are no column: pass list(keys)"),
        (lambda: (each for each in "ab"), "keys of type generator are no column: pass list(keys)"),
        ({"a": 1}.values, "keys of type dict_values are no column: pass list(keys)"),
        (object, "keys of type object are no column: pass an Arrow array, a list of str"),
    ],
)
@pytest.mark.parametrize("call", [lambda keys: pw.partition_for_key(keys, 3), pw.murmur2, pw.encode])
def test_the_sentence_names_the_right_form(
    given: Callable[[], Any], sentence: str, call: Callable[[Any], Any]
) -> None:
    with pytest.raises(pw.KeyTypeError) as refused:
        call(given())
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    "module", ["_duckdb", "duckdb.duckdb", "pyspark.sql.classic.column", "pyspark.sql.connect.column"]
)
def test_types_of_what_is_not_installed_are_known_by_their_names(module: str) -> None:
    name = "Column" if "spark" in module else "DuckDBPyRelation"
    of_library = type(name, (), {"__module__": module})
    assert (right_form(of_library()) or "").startswith(
        f"a {module.split('.', maxsplit=1)[0].lstrip('_')}.{name} is no"
    )


def test_a_column_is_none_of_these() -> None:
    for column in (pa.array(["a"]), pl.Series(["a"]), FRAME["k"], ["a"], pa.chunked_array([["a"]])):
        assert right_form(column) is None
