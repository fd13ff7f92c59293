"""Parquet and Arrow: one more column, and everything else as other readers saw it before."""

from __future__ import annotations

import io
import json
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import partwright as pw
from partwright.files import ColumnRequest, open_records
from partwright.files.thrift import List, Struct, read_struct, write_struct

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]

ROWS = 1000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int64()),
        "k": pa.array([None if row % 7 == 0 else f"key {row % 50}" for row in range(ROWS)]),
        "nested": pa.array([[{"k": str(row), "x": [row, None]}] for row in range(ROWS)]),
        "at": pa.array([row * 10**6 for row in range(ROWS)], pa.timestamp("us", "UTC")),
        "a.k": pa.array([row / 3 for row in range(ROWS)]),
    }
).replace_schema_metadata({"about": "some records", "pandas": json.dumps({"columns": []})})


def expected(table: pa.Table, key: str = "k") -> list[int | None]:
    found: list[int | None] = pw.partition_for_key(table[key], 12).to_pylist()
    return found


PARQUETS: dict[str, dict[str, Any]] = {
    "as pyarrow writes": {},
    "row groups": {"row_group_size": 70, "compression": "zstd"},
    "indexes": {"write_page_index": True, "write_page_checksum": True, "row_group_size": 300},
    "plain": {"compression": "none", "use_dictionary": False},
    "second pages": {"data_page_version": "2.0", "compression": "gzip"},
    "first version": {"version": "1.0", "compression": "lz4"},
    "no schema of Arrow's": {"store_schema": False, "compression": "brotli"},
    "sorted": {"sorting_columns": [pq.SortingColumn(0)]},
}


@pytest.mark.parametrize("options", PARQUETS.values(), ids=PARQUETS)
def test_a_parquet_file_has_one_column_more(options: dict[str, Any], command: Command) -> None:
    pq.write_table(TABLE, "x.parquet", **options)
    before, data = pq.ParquetFile("x.parquet"), Path("x.parquet").read_bytes()
    code, _, err = command("place", "x.parquet", "--key", "k", "-n", 12, "--force", "--out", "y.parquet")
    assert code == 0, err
    after = pq.ParquetFile("y.parquet", page_checksum_verification=True)
    assert after.read().drop_columns(["partition"]).equals(before.read(), check_metadata=True)
    assert after.read()["partition"].to_pylist() == expected(TABLE)
    assert after.schema_arrow.field("partition") == pa.field("partition", pa.int32())
    # Another reader, unrelated to pyarrow.
    other = pl.read_parquet("y.parquet", columns=["id", "k", "partition"])
    assert other["partition"].to_list() == expected(TABLE)
    assert other["id"].to_list() == list(range(ROWS))
    # No byte of the old columns has moved, and the footer describes them as before.
    old, new = before.metadata, after.metadata
    assert Path("y.parquet").read_bytes().startswith(data[: -8 - old.serialized_size])
    assert (new.num_rows, new.num_row_groups, new.created_by) == (
        old.num_rows,
        old.num_row_groups,
        old.created_by,
    )
    leaves = old.num_columns
    for group in range(old.num_row_groups):
        ours, theirs = new.row_group(group), old.row_group(group)
        assert ours.num_rows == theirs.num_rows
        assert ours.sorting_columns == theirs.sorting_columns
        for leaf in range(leaves):
            assert ours.column(leaf).to_dict() == theirs.column(leaf).to_dict()
        mine = ours.column(leaves)
        assert mine.path_in_schema == "partition"
        assert mine.compression == theirs.column(1).compression
        assert mine.num_values == ours.num_rows
        assert ours.total_byte_size == theirs.total_byte_size + mine.total_uncompressed_size


@pytest.mark.parametrize("values", [10, 60_000])
def test_a_dictionary_of_keys_is_read_as_one_where_it_is_one(values: int, command: Command) -> None:
    """After a megabyte of dictionary, its writer continues with the values themselves."""
    keys = [None if row % 11 == 0 else f"a rather long key {row % values:08}" for row in range(90_000)]
    pq.write_table(pa.table({"k": keys}), "x.parquet")
    with open_records("x.parquet") as records:
        found = [column for (column,) in records.read([ColumnRequest("k", pa.string())])]
    assert {pa.types.is_dictionary(column.type) for column in found} == {values == 10}
    assert command("place", "x.parquet", "--key", "k", "-n", 12, "--in-place")[0] == 0
    assert pq.read_table("x.parquet")["partition"].to_pylist() == pw.partition_for_key(keys, 12).to_pylist()
    code, out, _ = command("check", "x.parquet", "--key", "k", "-n", 12, "--partition", "partition", "--json")
    assert code == 0
    assert sum(part["keys"] for part in json.loads(out)["partitions"]) == len(set(keys) - {None})


def test_a_type_without_key_bytes_is_refused_before_anything_is_written(refusal: Refusal) -> None:
    pq.write_table(TABLE, "x.parquet")
    assert "has no key bytes" in refusal("place", "x.parquet", "--key", "nested", "-n", 12)


def test_parquet_statistics_of_the_new_column_serve_a_filter(command: Command) -> None:
    pq.write_table(TABLE, "x.parquet", row_group_size=100)
    assert command("place", "x.parquet", "--key", "k", "-n", 12, "--force", "--out", "y.parquet")[0] == 0
    found = pq.read_table("y.parquet", filters=[("partition", "==", 3)])
    assert found["id"].to_pylist() == [row for row, one in enumerate(expected(TABLE)) if one == 3]
    assert pl.scan_parquet("y.parquet").filter(pl.col("partition") == 3).collect().height == found.num_rows


SPARK, AVRO = "org.apache.spark.sql.parquet.row.metadata", "parquet.avro.schema"
NEW = {
    SPARK: {"name": "p_1", "type": "integer", "nullable": True, "metadata": {}},
    AVRO: {"name": "p_1", "type": ["null", "int"], "default": None},
    "avro.schema": {"name": "p_1", "type": ["null", "int"], "default": None},
}


@pytest.mark.parametrize("name", NEW)
def test_a_schema_in_the_footer_has_the_new_column_too(name: str, command: Command) -> None:
    """Spark sees only the columns of its schema, and parquet-avro refuses a file that has others."""
    fields = [{"name": "ключ", "type": "string", "nullable": True}]
    schema = {"type": "struct", "fields": fields}
    table = pa.table({"ключ": ["a", "b"]}).replace_schema_metadata({name: json.dumps(schema), "x": "y"})
    pq.write_table(table, "x.parquet")
    words = ["--key", "ключ", "-n", 12, "--column", "p_1", "--force", "--out", "y.parquet"]
    assert command("place", "x.parquet", *words)[0] == 0
    # In the footer, and in the schema of Arrow that also has it.
    for known in (pq.read_metadata("y.parquet").metadata, pq.read_schema("y.parquet").metadata):
        assert json.loads(known[name.encode()]) == {"type": "struct", "fields": [*fields, NEW[name]]}
        assert known[b"x"] == b"y"


@pytest.mark.parametrize("schema", ["", "[]", "7", '{"fields": 7}', "StructType(List())"])
@pytest.mark.parametrize("name", NEW)
def test_a_schema_in_the_footer_that_is_none_is_one_sentence(
    name: str, schema: str, refusal: Refusal
) -> None:
    pq.write_table(TABLE.replace_schema_metadata({name: schema}), "x.parquet")
    err = refusal("place", "x.parquet", "--key", "k", "-n", 12)
    assert err.startswith("partwright: the footer of 'x.parquet' cannot be read: ")


def test_a_name_that_avro_cannot_have_is_one_sentence(command: Command) -> None:
    pq.write_table(TABLE.replace_schema_metadata({AVRO: '{"fields": []}'}), "x.parquet")
    code, _, err = command("place", "x.parquet", "--key", "k", "-n", 12, "--column", "p art")
    assert code == 2
    assert "its Avro schema cannot have a field 'p art', give it another name with --column" in err


@pytest.mark.parametrize("groups", [0, 1])
def test_a_parquet_file_without_rows_stays_without(groups: int, command: Command) -> None:
    with pq.ParquetWriter("x.parquet", TABLE.schema) as writer:
        for _ in range(groups):
            writer.write_table(TABLE[:0])
    assert command("place", "x.parquet", "--key", "k", "-n", 12, "--force", "--out", "y.parquet")[0] == 0
    assert pq.read_table("y.parquet").schema.names == [*TABLE.schema.names, "partition"]
    assert pq.read_metadata("y.parquet").num_rows == 0


def test_polars_parquet_files_are_extended(command: Command) -> None:
    pl.from_arrow(TABLE.select(["id", "k"])).write_parquet("x.parquet", row_group_size=64)  # type: ignore[union-attr]
    assert command("place", "x.parquet", "--key", "k", "-n", 12, "--in-place")[0] == 0
    assert pl.read_parquet("x.parquet")["partition"].to_list() == expected(TABLE)
    assert pq.read_table("x.parquet")["partition"].to_pylist() == expected(TABLE)


@pytest.mark.parametrize("codec", ["uncompressed", "lz4", "zstd"])
def test_polars_arrow_files_are_extended(codec: Any, command: Command) -> None:
    """The part before a file's first batch is framed in another way than pyarrow frames it."""
    frame = pl.from_arrow(TABLE.select(["id", "k"]))
    assert isinstance(frame, pl.DataFrame)
    frame.write_ipc("x.arrow", compression=codec)
    assert command("place", "x.arrow", "--key", "k", "-n", 12, "--force", "--out", "y.arrow")[0] == 0
    placed = pl.read_ipc(Path("y.arrow").read_bytes())
    assert placed["partition"].to_list() == expected(TABLE)
    assert placed.drop("partition").equals(frame)
    assert Path("y.arrow").stat().st_size < Path("x.arrow").stat().st_size + 5 * ROWS + 1500
    code, out, _ = command("check", "y.arrow", "--key", "k", "-n", 12, "--partition", "partition", "--json")
    assert code == 0
    assert json.loads(out)["null_keys"] == TABLE["k"].null_count


def test_what_is_damaged_within_is_one_sentence(command: Command) -> None:
    """Not all damage can be seen; damage that is seen is never a traceback."""
    with pa.ipc.new_stream("x.arrow", DICTIONARIES.schema) as writer:
        writer.write_table(DICTIONARIES, max_chunksize=300)
    whole = Path("x.arrow").read_bytes()
    refused = 0
    for place in range(0, len(whole), 61):
        Path("x.arrow").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        code, _, err = command("place", "x.arrow", "--key", "k", "-n", 12, "--force", "--out", "y.arrow")
        assert code in {0, 2}, (place, err)
        assert err.count("\n") == 1, (place, err)
        refused += code == 2
    assert refused > 10


@pytest.mark.parametrize("key_type", [None, "java:long"])
def test_a_key_keeps_its_type(key_type: str | None, command: Command) -> None:
    pq.write_table(TABLE, "x.parquet")
    pa.feather.write_feather(TABLE, "x.arrow")
    for name in ("x.parquet", "x.arrow"):
        words = ["--key-type", key_type] if key_type else []
        code, _, err = command(
            "place", name, "--key", "id", "-n", 12, *words, "--force", "--out", f"y{name[1:]}"
        )
        if key_type:
            assert code == 0
        else:
            assert code == 2
            assert "int64 has no key bytes of its own: name the key type" in err
    if key_type:
        wanted = pw.partition_for_key(TABLE["id"], 12, key_type=key_type).to_pylist()
        assert pq.read_table("y.parquet")["partition"].to_pylist() == wanted
        assert pa.feather.read_table("y.arrow")["partition"].to_pylist() == wanted


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_an_errors_row_is_that_of_the_file(name: str, command: Command) -> None:
    rows = 600_000
    table = pa.table({"k": pa.array([*range(rows - 1), 2**31])})
    if name == "x.parquet":
        pq.write_table(table, name, row_group_size=rows // 2)
    else:
        with pa.ipc.new_file(name, table.schema) as writer:
            writer.write_table(table, max_chunksize=1000)
    code, _, err = command(
        "place", name, "--key", "k", "-n", 12, "--key-type", "java:int", "--force", "--out", "y" + name[1:]
    )
    assert code == 2
    assert err == "partwright: row 599999: 2147483648 does not fit into a 32-bit int\n"
    assert [path.name for path in Path().iterdir()] == [name]


DICTIONARIES = TABLE.set_column(1, "k", TABLE["k"].dictionary_encode())


@pytest.mark.parametrize("kind", [pa.ipc.new_file, pa.ipc.new_stream], ids=["file", "stream"])
@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("table", [TABLE, DICTIONARIES, TABLE[:0]], ids=["text", "dictionary", "empty"])
def test_an_arrow_file_has_one_column_more(
    kind: Callable[..., Any], codec: str | None, table: pa.Table, command: Command
) -> None:
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with kind("x.arrow", table.schema, options=options) as writer:
        for place, batch in enumerate(table.to_batches(max_chunksize=300)):
            writer.write_batch(batch, custom_metadata={"place": str(place)})
    code, _, err = command("place", "x.arrow", "--key", "k", "-n", 12, "--force", "--out", "y.arrow")
    assert code == 0, err
    assert Path("y.arrow").read_bytes()[:4] == Path("x.arrow").read_bytes()[:4]
    old, new = (
        (read_stream if kind is pa.ipc.new_stream else read_file)(name) for name in ("x.arrow", "y.arrow")
    )
    assert len(old) == len(new)
    for (before, about), (after, still) in zip(old, new, strict=True):
        assert after.select(table.schema.names).equals(before)
        assert about == still
        assert (
            after.column("partition").to_pylist() == pw.partition_for_key(before.column("k"), 12).to_pylist()
        )
    opened = (pa.ipc.open_stream if kind is pa.ipc.new_stream else pa.ipc.open_file)("y.arrow")
    assert opened.schema.remove(len(table.schema)).equals(table.schema, check_metadata=True)
    # Compressed as before: the new column adds its few bytes.
    assert Path("y.arrow").stat().st_size < Path("x.arrow").stat().st_size + 5 * len(table) + 1500


def read_file(name: str) -> list[tuple[pa.RecordBatch, Any]]:
    reader = pa.ipc.open_file(name)
    read = [reader.get_batch_with_custom_metadata(place) for place in range(reader.num_record_batches)]
    return [(one.batch, one.custom_metadata) for one in read]


def read_stream(name: str) -> list[tuple[pa.RecordBatch, Any]]:
    reader = pa.ipc.open_stream(name)
    return [(one.batch, one.custom_metadata) for one in reader.iter_batches_with_custom_metadata()]


def test_a_streams_dictionaries_may_differ_from_batch_to_batch(command: Command) -> None:
    batches = [
        pa.record_batch({"k": pa.array(words).dictionary_encode()})
        for words in (["a", "b"], ["c"], ["b", "d"])
    ]
    with pa.ipc.new_stream("x.arrow", batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    assert command("place", "x.arrow", "--key", "k", "-n", 12, "--force", "--out", "y.arrow")[0] == 0
    table = pa.ipc.open_stream("y.arrow").read_all()
    assert table["k"].to_pylist() == ["a", "b", "c", "b", "d"]
    assert table["partition"].to_pylist() == pw.partition_for_key(["a", "b", "c", "b", "d"], 12).to_pylist()


def test_columns_are_read_in_the_order_that_is_asked_for() -> None:
    pq.write_table(TABLE, "x.parquet", row_group_size=90)
    pa.feather.write_feather(TABLE, "x.feather", chunksize=90)
    for name in ("x.parquet", "x.feather"):
        with open_records(name) as records:
            found = list(
                records.read(
                    [
                        ColumnRequest("k", pa.string()),
                        ColumnRequest("id", pa.int64()),
                        ColumnRequest("a.k", pa.string()),
                    ]
                )
            )
        for place, column in enumerate(("k", "id", "a.k")):
            assert (
                pa.chunked_array([batch[place] for batch in found]).to_pylist() == TABLE[column].to_pylist()
            )


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.ipc"])
@pytest.mark.parametrize("command_", ["place", "check"])
@pytest.mark.parametrize("kept", [0.02, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_one_sentence(
    name: str, command_: str, kept: float, refusal: Refusal
) -> None:
    write(name)
    data = Path(name).read_bytes()
    Path(name).write_bytes(data[: int(len(data) * kept)])
    out = ["--force", "--out", "y" + name[1:]] if command_ == "place" else []
    err = refusal(command_, name, "--key", "k", "-n", 12, *out)
    assert f"'{name}' is not a whole " in err
    assert err.endswith("it may be cut off\n")
    assert [path.name for path in Path().iterdir()] == [name]


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_what_is_something_else_is_one_sentence(name: str, command: Command) -> None:
    Path(name).write_text("k,v\n1,2\n" * 10, encoding="utf-8")
    code, _, err = command("place", name, "--key", "k", "-n", 12, "--force", "--out", "y" + name[1:])
    assert code == 2
    assert f"'{name}' is not a whole " in err


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_a_pipe_is_no_file_of_a_binary_format(name: str, command: Command) -> None:
    os.mkfifo(name)
    # Opened at both ends, it blocks nobody.
    pipe = os.open(name, os.O_RDWR)
    os.write(pipe, b"PAR1ARROW1")
    code, _, err = command("place", name, "--key", "k", "-n", 12, "--force", "--out", "y" + name[1:])
    os.close(pipe)
    assert code == 2
    assert f"'{name}' is not a regular file, and its format is not read in one go: copy it to one" in err


def test_the_first_feather_is_told_apart(command: Command) -> None:
    Path("x.feather").write_bytes(b"FEA1" + bytes(100))
    assert (
        "'x.feather' is a Feather file of version 1"
        in command("place", "x.feather", "--key", "k", "-n", 1)[2]
    )


def test_an_encrypted_or_scattered_parquet_file_is_refused(command: Command) -> None:
    pq.write_table(TABLE.select(["k"]), "x.parquet")
    data = Path("x.parquet").read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    for change, sentence in (
        (lambda footer: footer.update({9: (8, b"key")}), "is encrypted or signed"),
        (elsewhere, "are in other files"),
    ):
        footer = read_struct(data[-8 - length : -8])
        change(footer)
        written = write_struct(footer)
        Path("y.parquet").write_bytes(
            data[: -8 - length] + written + struct.pack("<i", len(written)) + b"PAR1"
        )
        code, _, err = command("place", "y.parquet", "--key", "k", "-n", 12, "--force", "--out", "z.parquet")
        assert code == 2
        assert sentence in err


def elsewhere(footer: Struct) -> None:
    footer[4][1].items[0][1][1].items[0][1] = (8, b"part-0.parquet")


def write(name: str) -> None:
    if name == "x.parquet":
        pq.write_table(TABLE, name)
    else:
        with (pa.ipc.new_file if name == "x.arrow" else pa.ipc.new_stream)(name, TABLE.schema) as writer:
            writer.write_table(TABLE)


def test_thrift_is_written_as_it_was_read() -> None:
    for options in PARQUETS.values():
        out = io.BytesIO()
        pq.write_table(TABLE, out, **options)
        data = out.getvalue()
        length = int.from_bytes(data[-8:-4], "little")
        assert write_struct(read_struct(data[-8 - length : -8])) == data[-8 - length : -8]


def test_thrift_of_every_type_is_written_as_it_was_read() -> None:
    inner = Struct(
        {1: (1, True), 2: (1, False), 3: (3, 200), 4: (4, -1), 5: (5, 2**31 - 1), 6: (6, -(2**63))}
    )
    whole = Struct(
        {7: (7, struct.pack("<d", 1.5)), 8: (8, b"x" * 300), 300: (12, inner), 301: (9, List(1, [1, 2]))}
    )
    whole[302] = (9, List(12, [inner] * 20))
    data = write_struct(whole)
    assert write_struct(read_struct(data)) == data
    assert read_struct(data)[300][1] == read_struct(data)[302][1].items[19]
    for end in range(len(data)):
        with pytest.raises(ValueError, match="the bytes end within a struct"):
            read_struct(data[:end])
    with pytest.raises(ValueError, match="a value of type 11"):
        read_struct(b"\x1b\x00")
    with pytest.raises(ValueError, match="more than 64 deep"):
        read_struct(b"\x1c" * 100)
