"""One Spark session for all tests here: classic, or of the server that PARTWRIGHT_TEST_REMOTE names."""

from __future__ import annotations

import io
import os
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

REMOTE = os.environ.get("PARTWRIGHT_TEST_REMOTE")

# Without the extra `spark` there is nothing to test here.
collect_ignore_glob = [] if find_spec("pyspark") else ["test_*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.spark)
            # PySpark 4.1 leaves the sockets of its collected results to the garbage collector.
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    from partwright import spark as pws

    if REMOTE:
        session = SparkSession.builder.remote(REMOTE).getOrCreate()
    else:
        log = tmp_path_factory.mktemp("spark log") / "spark.log"
        session = pws.session(master="local[2]", kafka=True, log_file=log)
    session.conf.set("spark.sql.shuffle.partitions", 4)
    yield session
    session.stop()


@pytest.fixture
def table(spark: SparkSession) -> Callable[[pa.Table], DataFrame]:
    return spark.createDataFrame


@pytest.fixture
def configured(spark: SparkSession) -> Callable[..., object]:
    """With Spark's runtime settings, and afterwards without: `with configured({"spark.sql...": 7}): ...`."""

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
