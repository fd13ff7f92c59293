"""`--runner local` into folders of Parquet: what they hold, and what a run that stops leaves behind."""

from __future__ import annotations

import errno
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parquet_files import held

import partwright as pw
from partwright.errors import PartwrightError
from partwright.pipeline import local_folders
from partwright.pipeline.parquet_folders import ParquetFolders
from partwright.pipeline.settings import ParquetTarget, RunSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.pipeline.report import Report

    Go = Callable[..., Report]

N, ROWS = 7, 2_000


@pytest.fixture
def records(seed: int) -> list[tuple[str | None, str]]:
    drawn = random.Random(seed)
    keys = [drawn.choice([None, "", f"k{drawn.randrange(200)}"]) for _ in range(ROWS)]
    return [(key, f"{at} {'x' * drawn.randrange(99)}") for at, key in enumerate(keys)]


@pytest.fixture
def asked(records: list[tuple[str | None, str]], tmp_path: Path) -> dict[str, Any]:
    """What places these records into folders of topic t."""
    keys, texts = (list(column) for column in zip(*records, strict=True))
    table = pa.table({"id": pa.array(keys, pa.string()), "text": texts})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=90)
    return {
        "source": str(tmp_path / "in.parquet"), "key": "id", "value": "text", "topic": "t", "partitions": N,
        "target": ParquetTarget(tmp_path / "out"),
    }  # fmt: skip


def expected(records: list[tuple[str | None, str]]) -> dict[str, list[tuple[int, bytes | None, str]]]:
    """Offset, key and value of each record in its folder."""
    found: dict[str, list[tuple[int, bytes | None, str]]] = {}
    for key, value in records:
        number = pw.partition_for_key(key, N)
        rows = found.setdefault(f"t-{'null' if number is None else number}", [])
        rows.append((len(rows), None if key is None else key.encode(), value))
    return found


def found(folder: Path) -> dict[str, list[tuple[int, bytes | None, str]]]:
    return {
        path.partition("/")[0]: [(row["offset"], row["key"], row["value"]) for row in rows]
        for path, rows in held(folder).items()
    }


@pytest.mark.parametrize("in_memory", [64 << 20, 1_000])
def test_each_partition_is_one_file_in_the_sources_order(
    in_memory: int,
    records: list[tuple[str | None, str]],
    asked: dict[str, Any],
    local: Go,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if records are kept on disk, sorted in many parts, and written in many row groups."""
    monkeypatch.setattr("partwright.pipeline.local_placing.KeptRecords.__init__.__defaults__", (in_memory,))
    monkeypatch.setattr(local_folders, "_GROUP", in_memory)
    report = local(**asked)
    assert report.ok
    assert report.checks is not None
    assert [each.partition for each in report.checks.partitions] == [None, *range(N)]
    assert (report.records, report.null_keys) == (ROWS, sum(key is None for key, _ in records))
    out = tmp_path / "out"
    assert found(out) == expected(records)
    manifest = json.loads((out / "_partwright.t.json").read_bytes())
    assert [(each["partition"], each["rows"]) for each in manifest["partitions"]] == [
        *((number, len(expected(records).get(f"t-{number}", ()))) for number in range(N)),
        (None, report.null_keys),
    ]
    assert sorted(path.name for path in out.iterdir()) == [
        "_partwright.t.json", *(f"t-{number}" for number in range(N)), "t-null",
    ]  # fmt: skip
    with pytest.raises(
        PartwrightError, match="holds 't-0' already, from an earlier run: nothing was written"
    ):
        local(**asked)


def test_partitions_without_records_have_empty_folders(local: Go, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,text\n,one\n", encoding="utf-8")
    target = ParquetTarget(tmp_path / "in.d" / "out")
    report = local(source=str(tmp_path / "in.csv"), key="id", topic="t", partitions=2, target=target)
    assert report.ok
    assert found(tmp_path / "in.d" / "out") == {"t-null": [(0, None, '{"id":null,"text":"one"}')]}
    assert [path.name for path in sorted((tmp_path / "in.d" / "out").glob("t-*"))] == ["t-0", "t-1", "t-null"]


@pytest.mark.parametrize(
    ("kind", "check", "written"),
    [
        (pa.string(), True, pa.string()),
        (pa.large_string(), True, pa.string()),
        (pa.binary(), True, pa.binary()),
        (pa.binary(3), False, pa.binary()),
    ],
)
def test_values_keep_being_text_or_binary(
    kind: pa.DataType, check: bool, written: pa.DataType, local: Go, tmp_path: Path
) -> None:
    values = pa.array([b"abc", None, b"def"], pa.binary()).cast(
        pa.binary(3) if kind == pa.binary(3) else pa.binary()
    )
    pq.write_table(pa.table({"id": ["a", "b", None], "v": values.cast(kind)}), tmp_path / "in.parquet")
    target = ParquetTarget(tmp_path / "out")
    asked: dict[str, Any] = {"source": str(tmp_path / "in.parquet"), "key": "id", "value": "v", "topic": "t"}
    assert local(**asked, partitions=1, target=target, check=check).ok
    (file,) = (tmp_path / "out" / "t-0").iterdir()
    assert pq.read_schema(file).field("value").type == written
    assert [(row["value"], row["headers"] is None) for row in pq.read_table(file).to_pylist()] == [
        ("abc" if written == pa.string() else b"abc", not check),
        (None, not check),
    ]


class TestStopped:
    """A run that stops while it writes."""

    @pytest.mark.parametrize("moment", ["file", "manifest"])
    def test_a_full_disk_is_a_sentence_and_leaves_nothing(
        self, moment: str, asked: dict[str, Any], local: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = []

        def full(*_: object) -> None:
            calls.append(sorted(path.name for path in (tmp_path / "out").iterdir()))
            if moment == "manifest" or len(calls) == 3:
                raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space")

        place = (pq.ParquetWriter, "write_batch") if moment == "file" else (ParquetFolders, "_finish")
        monkeypatch.setattr(*place, full)
        with pytest.raises(PartwrightError) as refused:
            local(**asked)
        assert str(refused.value) == (
            f"writing to folder {str(tmp_path / 'out')!r} stopped: No space left on device; 0 of 2,000 records are "
            "written, the others are not"
        )
        assert calls[-1] == (
            [".t.unfinished"] if moment == "file" else [*(f"t-{number}" for number in range(N)), "t-null"]
        )
        assert list((tmp_path / "out").iterdir()) == []
        monkeypatch.undo()
        assert local(**asked).ok

    @pytest.mark.parametrize(
        ("moment", "refusal"),
        [
            (
                "ArrowFolders._name_whole",
                "is what an earlier run left when it stopped while writing: remove it",
            ),
            (
                "ArrowFolders._finish",
                "from an earlier run, which stopped before its manifest was written: nothing",
            ),
        ],
    )
    def test_a_killed_run_has_no_manifest_and_the_next_one_is_refused(
        self, moment: str, refusal: str, asked: dict[str, Any], local: Go, tmp_path: Path
    ) -> None:
        lines = [
            "import os, sys",
            "from partwright.pipeline.local_folders import ArrowFolders",
            f"{moment} = lambda *_: os._exit(9)",
            "from partwright.cli import main",
            "sys.argv[0] = 'partwright'",
            "main()",
        ]
        words = ["run", asked["source"], "--key", "id", "--value", "text", "--topic", "t", "-n", str(N)]
        words += ["--to", f"parquet:{tmp_path / 'out'}", "--runner", "local"]
        killed = subprocess.run(
            [sys.executable, "-c", "\n".join(lines), *words],
            env=os.environ, check=False, capture_output=True, timeout=60,
        )  # fmt: skip
        assert killed.returncode == 9, killed.stderr
        assert not (tmp_path / "out" / "_partwright.t.json").exists()
        with pytest.raises(PartwrightError, match=refusal):
            local(**asked)

    def test_a_folder_that_cannot_be_made(self, asked: dict[str, Any], local: Go, tmp_path: Path) -> None:
        target = ParquetTarget(tmp_path / "in.parquet" / "out")
        with pytest.raises(PartwrightError, match=r"in.parquet/out' cannot be written to: Not a directory"):
            local(**asked | {"target": target})


class TestChanged:
    """Files that somebody changed before they were read back."""

    @pytest.mark.parametrize(
        ("change", "refusal"),
        [
            (lambda file: file.unlink(), "is missing: somebody else changed it"),
            (lambda file: pq.write_table(pa.table({"a": [1]}), file.with_name("b")), "t-null/b is not of this run"),
            (lambda file: pq.write_table(pq.read_table(file)[1:], file), "(offsets 1 to "),
            (lambda file: file.write_bytes(b"PAR1"), "cannot be read back: "),
        ],
    )  # fmt: skip
    def test_they_are_named(
        self,
        change: Callable[[Path], object],
        refusal: str,
        asked: dict[str, Any],
        local: Go,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        finish = ParquetFolders._finish

        def then_changed(self: ParquetFolders, files: Any) -> None:
            finish(self, files)
            change(min((tmp_path / "out" / "t-null").iterdir()))

        monkeypatch.setattr(ParquetFolders, "_finish", then_changed)
        with pytest.raises(PartwrightError) as refused:
            local(**asked)
        assert refusal in str(refused.value)
        assert "t-null/" in str(refused.value)

    def test_records_with_other_bytes_are_counted(
        self, asked: dict[str, Any], local: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        finish = ParquetFolders._finish

        def then_changed(self: ParquetFolders, files: Any) -> None:
            finish(self, files)
            (file,) = (tmp_path / "out" / "t-null").iterdir()
            rows = pq.read_table(file)
            other = pa.array(["other", *rows["value"].to_pylist()[1:]])
            pq.write_table(rows.set_column(2, rows.schema.field("value"), other), file)

        monkeypatch.setattr(ParquetFolders, "_finish", then_changed)
        report = local(**asked)
        assert report.checks is not None
        assert not report.ok
        assert [name for name in report.checks.PROMISES if getattr(report.checks, name)] == ["value_changed"]
        assert "asked for any partition and is in partition None at offset 0" in report.checks.examples[0]


@pytest.mark.parametrize(
    ("settings", "refusal"),
    [
        ({"resume": True}, "--resume is for a topic that stays"),
        ({"append": True}, "--append is for a topic that stays"),
        ({"exactly_once": True}, "--exactly-once is for a topic that stays"),
        ({"topic_configs": {"a": "b"}}, "is a folder: leave them out"),
        ({"timestamp": "t"}, "--timestamp t would be lost, for --to parquet:"),
        ({"target": ParquetTarget("s3a://bucket/a")}, "--to parquet:s3a://bucket/a is for Spark"),
    ],
)
def test_what_folders_do_not_have_is_refused_before_anything_is_read(
    settings: dict[str, Any], refusal: str, asked: dict[str, Any]
) -> None:
    with pytest.raises(PartwrightError) as refused:
        RunSettings(runner="local", **asked | settings)
    assert refusal in str(refused.value)


def test_neither_spark_nor_pandas_is_imported(
    asked: dict[str, Any], tmp_path: Path, printed_with_imports: Callable[[list[str]], list[str]]
) -> None:
    words = [
        "run",
        asked["source"],
        "--key",
        "id",
        "--to",
        f"parquet:{tmp_path / 'out'}",
        "--runner",
        "local",
    ]
    printed = printed_with_imports(words)
    assert printed[0].startswith("✓ All 2,000 records")
    assert printed[-1] == "[]"
