"""Parquet folders at an address and on this machine: written in place, manifest last, and read back against it."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parquet_files import held

import partwright as pw
from partwright.errors import PartwrightError
from partwright.pipeline.parquet_folders import RunManifest
from partwright.pipeline.parquet_target import RemoteFolders
from partwright.pipeline.settings import ParquetTarget, RunSettings, parse_target
from partwright.spark.hadoop_files import HadoopFolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from partwright.pipeline.report import Report

    Go = Callable[..., Report]

session = pytest.mark.spark
N, ROWS = 5, 60
KEYS = [f"key {number % 7}" if number % 6 else None for number in range(ROWS)]


@pytest.fixture
def run(go: Go, tmp_path: Path) -> Callable[..., Report]:
    """Places 60 records, 10 of them without a key, into folders of topic t."""
    pq.write_table(
        pa.table({"id": KEYS, "text": [f"{each:02}" for each in range(ROWS)]}), tmp_path / "in.parquet"
    )
    return lambda place, **more: go(
        source=str(tmp_path / "in.parquet"), key="id", value="text", topic="t", partitions=N,
        target=ParquetTarget(place), **more,
    )  # fmt: skip


def assert_is_of(manifest: Any, there: dict[str, list[dict[str, Any]]], folder: str) -> None:
    """The manifest names each file with its rows and offsets, in its partition."""
    partitions = manifest["partitions"]
    assert [each["partition"] for each in partitions] == [*range(N), None]
    told = {file["path"]: file for each in partitions for file in each["files"]}
    assert told.keys() == there.keys()
    for each in partitions:
        rows = [row for file in each["files"] for row in there[file["path"]]]
        assert [row["offset"] for row in rows] == list(range(each["rows"]))
        for row in rows:
            key = None if row["key"] is None else bytes(row["key"])
            assert pw.partition_for_key(key, N) == each["partition"]
        for file in each["files"]:
            offsets = [row["offset"] for row in there[file["path"]]]
            assert (file["rows"], file["first_offset"], file["last_offset"]) == (
                len(offsets), min(offsets), max(offsets),
            )  # fmt: skip
            number = "null" if each["partition"] is None else each["partition"]
            assert file["path"].startswith(
                folder.format(number).replace("=null", "=__HIVE_DEFAULT_PARTITION__")
            )
    assert (manifest["rows"], manifest["n"], manifest["topic"], manifest["client"]) == (ROWS, N, "t", "java")
    assert partitions[-1]["rows"] == KEYS.count(None)


class TestWithSpark:
    """Each test has a folder of its own."""

    pytestmark = session

    @pytest.mark.parametrize(
        ("keys", "key_type"),
        [
            (pa.array([Decimal("19.90"), Decimal("0.00"), None] * 9), "decimal"),
            (pa.array([date(2024, 1, 31), date(1582, 10, 4), None] * 9), "iso-date"),
            (pa.array([datetime(2024, 1, 31, 12, tzinfo=UTC), None] * 9), "iso-timestamp"),
        ],
    )
    def test_each_key_type_that_a_file_has_is_taken(
        self, go: Go, tmp_path: Path, keys: pa.Array, key_type: str
    ) -> None:
        pq.write_table(pa.table({"k": keys}), tmp_path / "in.parquet")
        report = go(
            source=str(tmp_path / "in.parquet"), key="k", key_type=key_type, topic="t", partitions=N,
            target=ParquetTarget(str(tmp_path / "out")),
        )  # fmt: skip
        assert report.ok
        wire, places = pw.encode(keys, key_type), pw.partition_for_key(keys, N, key_type=key_type)
        assert Counter(
            (row["key"], path.split("partition=")[1].split("/")[0].removeprefix("__HIVE_DEFAULT_PARTITION__"))
            for path, rows in held(tmp_path / "out").items()
            for row in rows
        ) == Counter(
            (key, "" if place is None else str(place))
            for key, place in zip(wire.to_pylist(), places.to_pylist(), strict=True)
        )

    def test_an_address_is_written_in_place_and_its_manifest_last(self, run: Go, tmp_path: Path) -> None:
        out = tmp_path / "out put"
        report = run(out.as_uri().replace("%20", " "))
        assert report.ok
        manifest = json.loads((out / "t" / "_partwright.json").read_bytes())
        assert_is_of(manifest, held(out / "t"), "partition={}/")
        assert {path.name for path in (out / "t").iterdir()} - {"_SUCCESS"} <= {
            *(f"partition={number}" for number in range(N)), "partition=__HIVE_DEFAULT_PARTITION__",
            "_partwright.json", "._partwright.json.crc", "._SUCCESS.crc",
        }  # fmt: skip
        with pytest.raises(
            PartwrightError,
            match=rf"holds 60 records already, from run {manifest['run']}: nothing was written",
        ):
            run(out.as_uri().replace("%20", " "))

    def test_what_stopped_is_refused_by_name(self, run: Go, tmp_path: Path) -> None:
        uri = (tmp_path / "out").as_uri()
        (tmp_path / "out" / "t" / "partition=3").mkdir(parents=True)
        with pytest.raises(
            PartwrightError,
            match=r"out/t' has no manifest \(_partwright.json\): a run stopped while it wrote, or",
        ):
            run(uri)
        (tmp_path / "out" / "t" / "_partwright.json").write_text("{}", encoding="utf-8")
        with pytest.raises(PartwrightError, match=r"_partwright\.json' is not a manifest of partwright"):
            run(uri)

    def test_a_write_that_stops_leaves_nothing(
        self, run: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It stops when all files exist, but not the manifest."""
        create = HadoopFolder.create_whole

        def full(self: HadoopFolder, name: str, content: bytes) -> None:
            if name == RemoteFolders.MANIFEST:
                assert (tmp_path / "out" / "t" / RemoteFolders.UNFINISHED).exists()
                assert held(tmp_path / "out" / "t")
                raise PartwrightError("no space")
            create(self, name, content)

        monkeypatch.setattr(HadoopFolder, "create_whole", full)
        with pytest.raises(PartwrightError, match=r"stopped: no space; 0 of 60 records are written"):
            run((tmp_path / "out").as_uri())
        assert not (tmp_path / "out" / "t").exists()

    def test_files_that_changed_since_are_not_read_as_the_runs(
        self, run: Go, tmp_path: Path, spark: SparkSession
    ) -> None:
        out = tmp_path / "out"
        assert run(out.as_uri(), check=False).ok
        target = RemoteFolders(out.as_uri(), "t", RunSettings().rule)
        target = dataclasses.replace(target, opened=HadoopFolder(spark, target.uri))
        assert target.read(spark).count() == ROWS
        path, other = sorted(out.rglob("*.parquet"))[:2]
        (path.parent / "foreign.parquet").write_bytes(other.read_bytes())
        path.unlink()
        (path.parent / f".{path.name}.crc").unlink()
        with pytest.raises(PartwrightError) as refused:
            target.read(spark)
        assert f"{path.parent.name}/{path.name} is missing; " in str(refused.value)
        assert f"{path.parent.name}/foreign.parquet is not of this run" in str(refused.value)

    def test_folders_of_this_machine_have_a_manifest_too(self, run: Go, tmp_path: Path) -> None:
        out = tmp_path / "out"
        assert run(out).ok
        manifest = out / "_partwright.t.json"
        assert_is_of(json.loads(manifest.read_bytes()), held(out), "t-{}/")
        assert sorted(path.name for path in out.iterdir()) == [
            "_partwright.t.json", *(f"t-{number}" for number in range(N)), "t-null",
        ]  # fmt: skip
        manifest.unlink()
        with pytest.raises(
            PartwrightError,
            match="from an earlier run, which stopped before its manifest was written: nothing",
        ):
            run(out)

    def test_a_file_system_that_spark_does_not_have(self, run: Go) -> None:
        with pytest.raises(PartwrightError) as refused:
            run("nosuch://bucket/path")
        assert str(refused.value) == (
            "'nosuch://bucket/path/t' cannot be reached by Spark (No FileSystem for scheme \"nosuch\"): look at its "
            "address, and give Spark the jars and settings of this file system with --conf"
        )


@pytest.mark.parametrize(
    "place", ["s3a://bucket/a", "gs://b/a", "abfs://box@account.dfs.core.windows.net/a", "file:///a"]
)
def test_an_address_is_taken_as_it_is(place: str) -> None:
    target, topic = parse_target(f"parquet:{place}", pytest.fail)  # type: ignore[arg-type]
    assert (target, topic, str(target)) == (ParquetTarget(place), None, f"parquet:{place}")


def test_an_address_with_a_password_is_refused_and_not_shown() -> None:
    with pytest.raises(PartwrightError, match="has a password in its address") as refused:
        parse_target("parquet:s3a://key:hidden@bucket/a", pytest.fail)  # type: ignore[arg-type]
    assert "hidden" not in str(refused.value)


def test_an_address_that_spark_takes_for_a_pattern() -> None:
    with pytest.raises(
        PartwrightError, match=r"takes the address 's3a://b/a\*' for a pattern, because of its \*"
    ):
        RemoteFolders("s3a://b/a*", "t", RunSettings())


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"version": 1}', b'{"version": 1, "partitions": [{}]}']
)
def test_what_is_no_manifest_is_a_sentence(content: bytes) -> None:
    with pytest.raises(PartwrightError, match=r"'m\.json' is not a manifest of partwright"):
        RunManifest.read(content, "m.json")


def test_a_manifest_of_a_later_version_is_not_read() -> None:
    with pytest.raises(PartwrightError, match=r"'m\.json' is the manifest of another version of partwright"):
        RunManifest.read(b'{"version": 2}', "m.json")
