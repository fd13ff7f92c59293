"""What to pass instead, for each thing that people pass as keys and that is not a column."""

from __future__ import annotations

from typing import Any

__all__ = ["right_form", "whole_floats"]


_FORMS = {
    "pandas.DataFrame": "pass one of its columns, df['key']",
    "pandas.DataFrameGroupBy": "pass one of its columns before it is grouped, df['key']",
    "pandas.SeriesGroupBy": "pass the Series before it is grouped",
    "pandas.Expression": "pass the column itself, df['key']",
    "polars.DataFrame": "pass pl.col('key') within its with_columns, or df['key']",
    "polars.LazyFrame": "pass pl.col('key') within its with_columns",
    "pyarrow.Table": "pass one of its columns, table['key']",
    "pyarrow.RecordBatch": "pass one of its columns, batch['key']",
    "pyarrow.RecordBatchReader": "pass one of its columns, reader.read_all()['key']",
    "duckdb.DuckDBPyRelation": "pass one of its columns, relation['key']",
    "duckdb.Expression": "pass the column itself, relation['key']",
    "datafusion.DataFrame": "call the function of this name in partwright.datafusion, with df, 'key'",
    "datafusion.Expr": "call the function of this name in partwright.datafusion, with df, 'key'",
    "pyspark.DataFrame": "call partwright.spark.with_partition(df, key='key', n=N)",
    "pyspark.Column": "call the function of this name in partwright.spark",
}
"""What to do instead, by the type of another library."""
# They are iterable, but lack the order or the length of a column. A dict is left out: list(dict) gives its names, so a
# user who passes a dict of columns would hash those.
_ONE_BY_ONE = ("set", "frozenset", "generator", "range", "map", "filter", "dict_keys", "dict_values")
# The key types under which a user means whole numbers; None because floats have no key bytes of their own.
_WHOLE = {None, "digits", "java:short", "java:int", "java:long"}


def right_form(values: object) -> str | None:
    """The sentence for something that is not a column, with what to pass instead; None if nothing is known about it.

    Examples:
        >>> import pyarrow as pa
        >>> right_form(pa.table({"k": ["a"]}))
        "a pyarrow.Table is not a column of keys: pass one of its columns, table['key']"
        >>> right_form({"a"})
        'keys of type set are not a column: pass list(keys)'
    """
    # A library's own subclasses count too: Spark has one Column for classic and one for Connect.
    for type_ in type(values).__mro__:
        name = f"{type_.__module__.split('.', 1)[0].lstrip('_')}.{type_.__name__}"
        if name in _FORMS:
            return f"a {name} is not a column of keys: {_FORMS[name]}"
    name = type(values).__name__
    return f"keys of type {name} are not a column: pass list(keys)" if name in _ONE_BY_ONE else None


def whole_floats(values: Any, key_type: str | None) -> str | None:
    """The sentence for a refused pandas column of floats that are all whole numbers; None for any other column.

    pandas has no null in `int64`, so one null makes floats of a column of whole numbers.

    Examples:
        >>> import pandas as pd
        >>> whole_floats(pd.Series([42, None]), "java:long")
        "pandas turned these whole numbers into float64, as it does if one is null: pass keys.astype('Int64')"
        >>> whole_floats(pd.Series([1.5, None]), "java:long")
    """
    if key_type not in _WHOLE or not type(values).__module__.startswith("pandas."):
        return None
    name = str(values.dtype)
    if name not in {"float32", "float64"}:
        return None
    known = values.dropna()
    if known.empty or not (known % 1 == 0).all():
        return None
    sentence = (
        f"pandas turned these whole numbers into {name}, as it does if one is null: pass keys.astype('Int64')"
    )
    if key_type is not None:
        return sentence
    return (
        f"{sentence} with key_type='digits' (the number as text) or the java: type that its producer writes; "
        "java:double takes the floats as they are"
    )
