"""Which runner does a run that names none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partwright.cli.input import runner_choice
from partwright.cli.input.runner_choice import with_runner
from partwright.errors import PartwrightError
from partwright.pipeline.settings import ParquetTarget, RunSettings

if TYPE_CHECKING:
    from collections.abc import Mapping


@pytest.fixture
def orders(tmp_path: Path) -> str:
    path = tmp_path / "orders.csv"
    path.write_text("id,customer\n1,a\n2,b\n", encoding="utf-8")
    return str(path)


def choice(source: str, **settings: Any) -> tuple[str | None, str | None]:
    made, why, _ = with_runner(RunSettings(source=source, key=settings.pop("key", "id"), **settings))
    return made.runner, why


def test_this_process_takes_a_small_file(orders: str) -> None:
    assert choice(orders) == ("local", f"{orders} has 20 B; --runner spark uses Spark")


def test_spark_takes_what_is_large(orders: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_choice, "MOST_BYTES", 20)
    assert choice(orders)[0] == "local"
    monkeypatch.setattr(runner_choice, "MOST_BYTES", 19)
    assert choice(orders) == ("spark", f"{orders} has 20 B; --runner local does without Spark")


def test_the_files_of_a_folder_count_together(orders: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(orders).parent
    (folder / "more.csv").write_text("id,customer\n3,c\n", encoding="utf-8")
    monkeypatch.setattr(runner_choice, "MOST_BYTES", 35)
    assert choice(str(folder)) == ("spark", f"{folder} has 36 B; --runner local does without Spark")


@pytest.mark.parametrize(
    ("settings", "option"),
    [
        ({"master": "local[1]"}, "--master"),
        ({"configs": {"spark.ui.enabled": "false"}}, "--conf"),
        ({"null_keys": "producer"}, "--null-keys producer"),
        ({"target": ParquetTarget("s3a://bucket/folder")}, "--to parquet:s3a://bucket/folder"),
    ],
)
def test_an_option_of_spark_chooses_spark(orders: str, settings: Mapping[str, Any], option: str) -> None:
    assert choice(orders, **settings) == ("spark", f"{option} is for Spark")


def test_spark_takes_what_this_process_cannot_read(tmp_path: Path) -> None:
    path = tmp_path / "days.parquet"
    pq.write_table(pa.table({"id": ["a"], "tags": [["x"]]}), path)
    runner, why = choice(str(path))
    assert runner == "spark"
    assert why is not None
    assert why.startswith("this process does not take it: ")
    assert choice(str(path), value="id")[0] == "local"


def test_a_remote_file_is_for_spark() -> None:
    assert choice("s3a://bucket/orders.csv") == (
        "spark",
        "s3a://bucket/orders.csv has a size that only Spark finds out; --runner local does without Spark",
    )


@pytest.mark.parametrize("runner", ["spark", "local"])
def test_the_runner_that_one_names_stays(orders: str, runner: str) -> None:
    assert choice(orders, runner=runner) == (runner, None)


def test_a_mistake_comes_before_a_runner_starts(tmp_path: Path) -> None:
    with pytest.raises(PartwrightError, match="there is no file or folder"):
        choice(str(tmp_path / "none.csv"))
