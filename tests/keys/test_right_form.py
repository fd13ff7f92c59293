"""Input that is not a column is refused with the right form for its library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import partwright as pw
from partwright.keys.columns import right_form

if TYPE_CHECKING:
    from collections.abc import Callable

FRAME = pd.DataFrame({"k": ["a"]})
TABLE = pa.table({"k": ["a"]})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: FRAME, "a pandas.DataFrame is not a column of keys: pass one of its columns, df['key']"),
        (
            lambda: FRAME.groupby("k"),
            "a pandas.DataFrameGroupBy is not a column of keys: pass one of its columns before",
        ),
        (
            lambda: FRAME.groupby("k")["k"],
            "a pandas.SeriesGroupBy is not a column of keys: pass the Series before",
        ),
        (
            lambda: pl.DataFrame({"k": ["a"]}),
            "a polars.DataFrame is not a column of keys: pass pl.col('key') within",
        ),
        (
            lambda: pl.LazyFrame({"k": ["a"]}),
            "a polars.LazyFrame is not a column of keys: pass pl.col('key') within",
        ),
        (lambda: TABLE, "a pyarrow.Table is not a column of keys: pass one of its columns, table['key']"),
        (
            lambda: TABLE.to_batches()[0],
            "a pyarrow.RecordBatch is not a column of keys: pass one of its columns",
        ),
        (
            TABLE.to_reader,
            "a pyarrow.RecordBatchReader is not a column of keys: pass one of its columns",
        ),
        (lambda: {"a"}, "keys of type set are not a column: pass list(keys)"),
        (lambda: (each for each in "ab"), "keys of type generator are not a column: pass list(keys)"),
        ({"a": 1}.values, "keys of type dict_values are not a column: pass list(keys)"),
        (object, "keys of type object are not a column: pass an Arrow array, a list of str"),
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


def test_whole_numbers_that_pandas_made_floats_are_told_the_way_back() -> None:
    orders = pd.DataFrame({"id": [42, None, 43]})
    for ask in (
        lambda: pw.partition_for_key(orders["id"], 15),
        lambda: pw.check_contract(orders, key="id", n=15, max_share=0.9),
    ):
        with pytest.raises(
            pw.KeyTypeError, match=r"these whole numbers into float64.*astype\('Int64'\) with .*digits"
        ):
            ask()
    with pytest.raises(pw.KeyTypeError, match=r"pass keys.astype\('Int64'\)$"):
        pw.partition_for_key(orders["id"], 15, key_type="java:long")
    mended = orders["id"].astype("Int64")
    assert pw.partition_for_key(mended, 15, key_type="digits").tolist() == [
        pw.partition_for_key("42", 15),
        pd.NA,
        pw.partition_for_key("43", 15),
    ]


@pytest.mark.parametrize("values", [[1.5, None], [float("inf")], [None]])
def test_floats_that_are_no_whole_numbers_keep_their_own_sentence(values: list[float | None]) -> None:
    with pytest.raises(pw.KeyTypeError, match="double has no key bytes of its own"):
        pw.partition_for_key(pd.Series(values, dtype="float64"), 15)


def test_a_column_of_spark_is_no_single_key() -> None:
    """Whatever attribute is asked for, the answer is another column, which is neither true nor false."""

    class Column:
        __module__ = "pyspark.sql.classic.column"

        def __getattr__(self, name: str) -> Column:
            if name.startswith("__"):
                raise AttributeError(name)
            return self

        def __eq__(self, other: object) -> Column:  # type: ignore[override]
            return self

        def __bool__(self) -> bool:
            raise ValueError("neither true nor false")

        __hash__ = None  # type: ignore[assignment]

    with pytest.raises(
        pw.KeyTypeError, match=r"a pyspark\.Column is not a column of keys: call the function"
    ):
        pw.partition_for_key(Column(), 15)  # type: ignore[call-overload]
