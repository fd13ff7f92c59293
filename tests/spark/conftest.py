"""Shared by the tests on Spark: their marks, tables, settings and plans."""

from __future__ import annotations

import io
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

HERE = Path(__file__).parent
# The errors without PySpark need no PySpark themselves.
WITHOUT_SPARK = HERE / "test_requirements.py"

# How a layout may be made: by salts in every PySpark, by ID if there is `repartitionById`.
WAYS = ["by salts"]
if find_spec("pyspark"):
    from pyspark.sql import DataFrame as _DataFrame

    WAYS += ["by id"] * hasattr(_DataFrame, "repartitionById")

# Without the extra `spark` there is nothing else to test here.
collect_ignore = [] if find_spec("pyspark") else [*({*HERE.glob("test_*.py")} - {WITHOUT_SPARK})]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and item.path != WITHOUT_SPARK:
            item.add_marker(pytest.mark.spark)
            # PySpark 4.1 leaves the sockets of its collected results to the garbage collector.
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"))
            # PySpark 3.5 imports distutils, of which Python 3.11 warns.
            item.add_marker(pytest.mark.filterwarnings("ignore:.*distutils:DeprecationWarning"))


@pytest.fixture
def table(spark: SparkSession) -> Callable[[pa.Table], DataFrame]:
    import pyspark

    def made(rows: pa.Table) -> DataFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        # By itself, Spark makes an instant of a time without a zone.
        schema = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
        if int(pyspark.__version__[0]) >= 4:
            return spark.createDataFrame(rows, schema)
        # PySpark 3.5 takes no Arrow table.
        return spark.createDataFrame([tuple(row.values()) for row in rows.to_pylist()], schema)

    return made


@pytest.fixture
def configured(spark: SparkSession) -> Callable[..., object]:
    """With Spark's runtime settings, then without again: `with configured({"spark.sql...": 7}): ...`."""

    @contextmanager
    def settings(values: dict[str, object]) -> Iterator[None]:
        before = {name: spark.conf.get(name, None) for name in values}
        for name, value in values.items():
            spark.conf.set(name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                spark.conf.unset(name) if value is None else spark.conf.set(name, value)

    return settings


@pytest.fixture
def plan() -> Callable[[DataFrame], str]:
    """A table's physical plan, as `explain` prints it."""

    def explained(df: DataFrame) -> str:
        text = io.StringIO()
        with redirect_stdout(text):
            df.explain()
        return text.getvalue()

    return explained


@pytest.fixture(params=WAYS)
def layout_columns(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, configured: Callable[..., object]
) -> Iterator[list[str]]:
    """The columns that `copartition` adds, in each way that this PySpark has; salts work in every version."""
    from partwright.spark import partition_layout

    if request.param == "by id":
        yield ["partition"]
        return
    monkeypatch.setattr(partition_layout, "_BY_ID", False)
    with configured({"spark.sql.requireAllClusterKeysForCoPartition": "false"}):
        yield ["partition", "salt"]
