"""The columns that a file declares, and their types, before any of its records is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from partwright.files import open_records

if TYPE_CHECKING:
    from pathlib import Path

TABLE = pa.table({"id": pa.array([1], pa.int16()), "text": ["a"]})
DECLARED = {"id": pa.int16(), "text": pa.string()}


def types(*paths: Path | str) -> list[dict[str, pa.DataType]]:
    with open_records([str(path) for path in paths]) as records:
        return [dict(each) for each in records.types()]


def test_each_format_declares_its_columns(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    with pa.ipc.new_file(tmp_path / "t.arrow", TABLE.schema) as file:
        file.write_table(TABLE)
    with pa.ipc.new_stream(tmp_path / "s.arrow", TABLE.schema) as stream:
        stream.write_table(TABLE)
    for name in ("t.parquet", "t.arrow", "s.arrow"):
        assert types(tmp_path / name) == [DECLARED]
    (tmp_path / "t.tsv").write_text('id\t"te\txt"\n1\ta\n', encoding="utf-8")
    assert types(tmp_path / "t.tsv") == [{"id": pa.string(), "te\txt": pa.string()}]
    schema = {"type": "record", "name": "r", "fields": [{"name": "id", "type": ["null", "int"]}]}
    with (tmp_path / "t.avro").open("wb") as avro:
        fastavro.writer(avro, schema, [{"id": 1}])
    assert types(tmp_path / "t.avro") == [{"id": pa.null()}]


def test_nothing_is_known_of_columns_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,a\n1,2\n", encoding="utf-8")
    assert types(tmp_path / "t.csv") == []


def test_json_shows_its_members_as_it_is_read(tmp_path: Path) -> None:
    lines = ['{"a": 1, "b": null}', '{"a": 2.5, "c": {"d": [1]}, "e": true}', '{"c": {"f": "x"}, "e": 1}']
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = {"a": pa.float64(), "b": pa.null(), "c": pa.struct([("f", pa.string())]), "e": pa.string()}
    assert types(tmp_path / "t.jsonl")[-1] == found
    # Objects over several lines, too.
    (tmp_path / "t.json").write_text(f"[{','.join(lines)}]", encoding="utf-8")
    assert types(tmp_path / "t.json")[-1] == found


def test_several_files_have_the_columns_of_all(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "u.jsonl").write_text('{"x": "y"}', encoding="utf-8")
    both = types(tmp_path / "t.parquet", tmp_path / "day=1" / "u.jsonl")
    assert both == [DECLARED, {**DECLARED, "day": pa.null(), "x": pa.string()}]
