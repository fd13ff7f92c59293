"""What is passed as keys and is no column, and the form in which its library takes part."""

from __future__ import annotations

__all__ = ["right_form"]


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
    "duckdb.DuckDBPyRelation": "pass one of its columns, relation.to_arrow_table()['key']",
    "duckdb.Expression": "pass the column itself, relation.to_arrow_table()['key']",
    "datafusion.DataFrame": "pass one of its columns, df.to_arrow_table()['key']",
    "datafusion.Expr": "pass the column itself, df.to_arrow_table()['key']",
    "pyspark.DataFrame": "call partwright.spark.with_partition(df, key='key', n=N)",
    "pyspark.Column": "call the function of this name in partwright.spark",
}
"""By another library's type what to do instead."""
# What has values one after the other, but neither order nor length as a column has them. A dict is not among them: its
# list would be its names, and a user who passes a dict of columns would hash these.
_ONE_BY_ONE = ("set", "frozenset", "generator", "range", "map", "filter", "dict_keys", "dict_values")


def right_form(values: object) -> str | None:
    """The sentence for what is no column, with what to pass instead; None where nothing is known of it.

    Examples:
        >>> import pyarrow as pa
        >>> right_form(pa.table({"k": ["a"]}))
        "a pyarrow.Table is no column of keys: pass one of its columns, table['key']"
        >>> right_form({"a"})
        'keys of type set are no column: pass list(keys)'
    """
    # Those of a library's own subclasses, too: Spark has a Column each for classic and Connect.
    for type_ in type(values).__mro__:
        name = f"{type_.__module__.split('.', 1)[0].lstrip('_')}.{type_.__name__}"
        if name in _FORMS:
            return f"a {name} is no column of keys: {_FORMS[name]}"
    name = type(values).__name__
    return f"keys of type {name} are no column: pass list(keys)" if name in _ONE_BY_ONE else None
