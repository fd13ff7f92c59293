"""Damaged and hostile binary files, and bombs: an answer or one sentence, in bounded memory and time, never a crash."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import random
import re
import shlex
import zlib
from typing import TYPE_CHECKING, Any

import fastavro
import pyarrow as pa
import pytest
from limited import limited_commands
from pyarrow import feather, parquet

from partwright.files import thrift
from partwright.files.avro import UncompressedAvro
from partwright.files.footer import MAGIC, chunks_of, footer_length
from partwright.files.thrift import List, Struct, read_struct, write_struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Run = Callable[[list[str]], dict[str, Any]]

# The libraries take less than 200 MiB; a file may take 512 more.
MIB, SECONDS = 712, 30
COMMANDS = (
    "batch FILE -n 3 --time o --size p --key k",
    "check FILE -n 3 --key k --partition p",
    "copartition FILE FILE --key k --partition p",
    "fingerprint FILE --key k --partition p",
    "place FILE -n 3 --key k --out out.FILE --force",
    "place FILE -n 3 --key s.k --out out.FILE --force",
    "resize FILE --from 3 --to 4 --key k --plan",
)
ROWS = [
    {
        "k": None if row % 7 == 3 else f"key {row % 40}",
        "p": row % 3,
        "o": row,
        "s": {"k": "a" * (row % 5)},
        "l": [row],
    }
    for row in range(300)
]
TYPES = {"k": pa.string(), "p": pa.int32(), "o": pa.int64(), "s": pa.struct({"k": pa.string()})}
TABLE = pa.Table.from_pylist(ROWS, pa.schema([*TYPES.items(), ("l", pa.list_(pa.int64()))]))
AVRO = {
    "type": "record",
    "name": "r",
    "fields": [
        {"name": "k", "type": ["null", "string"]},
        {"name": "p", "type": "int"},
        {"name": "o", "type": "long"},
        {"name": "s", "type": {"type": "record", "name": "s", "fields": [{"name": "k", "type": "string"}]}},
        {"name": "l", "type": {"type": "array", "items": "long"}},
    ],
}
ODD = (0, 1, -1, 2, 127, 2**15, 2**31 - 1, -(2**31), 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63))


def whole_files() -> dict[str, bytes]:
    """Files of every kind, each whole."""
    made = {}
    for name, settings in {
        "plain": {"compression": "none", "use_dictionary": False, "column_encoding": None},
        "dictionary": {"compression": "snappy", "row_group_size": 100},
        "second": {"compression": "zstd", "data_page_version": "2.0", "write_page_index": True},
        "delta": {
            "compression": "gzip",
            "use_dictionary": False,
            "column_encoding": {"k": "DELTA_BYTE_ARRAY", "p": "DELTA_BINARY_PACKED"},
        },
        "pages": {"compression": "lz4", "data_page_size": 64, "write_batch_size": 16},
    }.items():
        out = io.BytesIO()
        parquet.write_table(TABLE, out, **settings)
        made[f"{name}.parquet"] = out.getvalue()
    for codec in ("uncompressed", "zstd", "lz4"):
        out = io.BytesIO()
        feather.write_feather(TABLE, out, compression=codec, chunksize=100)
        made[f"{codec}.arrow"] = out.getvalue()
    for codec in ("null", "deflate", "bzip2", "xz"):
        out = io.BytesIO()
        fastavro.writer(out, AVRO, ROWS, codec=codec, sync_interval=500)
        made[f"{codec}.avro"] = out.getvalue()
    text = "k,p,o\n" + "".join(f"key {row % 40},{row % 3},{row}\n" for row in range(300))
    packed = {"gz": gzip.compress(text.encode()), "bz2": bz2.compress(text.encode())}
    packed |= {"zst": zstd(text.encode())}
    return made | {f"r.csv.{suffix}": data for suffix, data in packed.items()}


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return packed


def damaged(data: bytes, rng: random.Random) -> bytes:
    """A file that was cut, or with other bytes: anywhere, or near its ends, where formats have what matters."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        near = rng.choice((len(out), min(64, len(out)), min(400, len(out))))
        at = rng.randrange(near) if rng.random() < 0.5 else len(out) - 1 - rng.randrange(near)
        way = rng.randrange(6)
        if way == 0:
            del out[at:]
        elif way == 1:
            out[at] ^= 1 << rng.randrange(8)
        elif way == 2:
            out[at : at + 4] = (rng.choice(ODD) & 0xFFFFFFFF).to_bytes(4, "little")
        elif way == 3:
            out[at : at + 8] = b"\xff" * rng.randrange(1, 9)
        elif way == 4:
            end = at + rng.randrange(1, 40)
            out[at:at] = out[at:end]
        else:
            del out[at : at + rng.randrange(1, 20)]
        if not out:
            break
    return bytes(out)


def values(struct: Struct) -> Iterator[tuple[Any, Any]]:
    """Where each number, text and list of a footer is: what holds it, and under which field or place."""
    for field, (_, value) in struct.items():
        yield struct, field
        if isinstance(value, Struct):
            yield from values(value)
        elif isinstance(value, List):
            for place, item in enumerate(value.items):
                yield value.items, place
                if isinstance(item, Struct):
                    yield from values(item)


def lying(data: bytes, rng: random.Random) -> bytes:
    """A Parquet file whose footer can be read, and lies: about rows, values, offsets, sizes, types, children."""
    length = footer_length(data[-8:])
    footer = read_struct(data[-8 - length : -8])
    for _ in range(rng.choice((1, 1, 2, 4))):
        holder, field = rng.choice(list(values(footer)))
        value = holder.get_value(field) if isinstance(holder, Struct) else holder[field]
        if isinstance(value, bool) or not isinstance(value, (int, bytes, List)):
            if isinstance(holder, Struct) and rng.random() < 0.3:
                del holder[field]
            continue
        if isinstance(value, int):
            changed: Any = rng.choice((*ODD, value + 1, value - 1, rng.randrange(len(data))))
        elif isinstance(value, bytes):
            changed = rng.choice((b"", b"k", b"\xff\xfe", value * 2, b"x" * 70_000))
        else:
            items = value.items
            changed = List(value.type, rng.choice(([], items[:1], items * 2, items * 50, items[::-1])))
        if isinstance(holder, Struct):
            holder.set_value(field, changed)
        else:
            holder[field] = changed
    end = write_struct(footer)
    return data[: -8 - length] + end + len(end).to_bytes(4, "little") + MAGIC


def judge(run: Run, words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """What a command took, and what is wrong with its end."""
    cost = run(words)
    text = cost["stderr"]
    wrong = [] if cost["code"] in {0, 1, 2} else [f"exit code {cost['code']}"]
    wrong += ["traceback"] * ("Traceback" in text or "panicked" in text)
    if cost["code"] == 2:
        wrong += ["not one sentence"] * (text.count("\n") != 1 or not text.startswith("partwright: "))
    wrong += [f"{cost['mib']} MiB"] * (cost["mib"] > MIB)
    wrong += [f"{cost['seconds']:.0f} s"] * (cost["seconds"] > SECONDS)
    return cost, wrong


def number(value: int) -> bytes:
    """A number of Avro's."""
    value = ((value << 1) ^ (value >> 63)) & (2**64 - 1)
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def avro(*blocks: tuple[int, int, bytes], codec: str = "null", schema: Any = None) -> bytes:
    """An Avro file of blocks, each with the number of records and of bytes that it claims, and its bytes."""
    kept = {"avro.schema": json.dumps(schema or record(k="string", p="int")), "avro.codec": codec}
    pairs = [number(len(each)) + each.encode() for pair in kept.items() for each in pair]
    sync = b"between 2 blocks"
    parts = [number(records) + number(size) + data + sync for records, size, data in blocks]
    return b"".join([b"Obj\x01", number(len(kept)), *pairs, number(0), sync, *parts])


def record(**fields: Any) -> dict[str, Any]:
    named = [{"name": name, "type": type_} for name, type_ in fields.items()]
    return {"type": "record", "name": "r", "fields": named}


def deflated(mib: int) -> bytes:
    packing = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b"".join(packing.compress(bytes(1 << 20)) for _ in range(mib)) + packing.flush()


def small_footer(change: Callable[[Struct], None]) -> bytes:
    """A Parquet file of two rows whose footer was changed."""
    out = io.BytesIO()
    parquet.write_table(pa.table({"k": ["a", "b"], "p": [0, 1]}), out, store_schema=False)
    data = out.getvalue()
    length = footer_length(data[-8:])
    footer = read_struct(data[-8 - length : -8])
    change(footer)
    end = write_struct(footer)
    return data[: -8 - length] + end + len(end).to_bytes(4, "little") + MAGIC


def first_meta(footer: Struct) -> Struct:
    meta: Struct = footer.get_value(4).items[0].get_value(1).items[0].get_value(3)
    return meta


def histogram(footer: Struct) -> None:
    """Counts of three definition levels, where the column has two: pyarrow's own look at it ends the process."""
    first_meta(footer).get_value(16).set_value(3, List(6, [0, 2, 0]))


def name_in_no_text(footer: Struct) -> None:
    footer.get_value(2).items[1].set_value(4, b"\xff\xfe")


def ended_early() -> bytes:
    """An Arrow file whose first batch says that it is the stream's end."""
    data = bytearray(whole_files()["zstd.arrow"])
    at = 16 + int.from_bytes(data[12:16], "little")
    data[at + 4 : at + 8] = bytes(4)
    return bytes(data)


NOT_AS_SAID = "(the bytes of a record are not what its schema says): it may be cut off"
CLAIMS = [
    ("a block of 10 bytes has -5 records", "avro", lambda: avro((-5, 10, bytes(10)))),
    ("a part has -3 bytes", "avro", lambda: avro((5, -3, bytes(10)))),
    ("a part has 1,152,921,504,606,846,976 bytes", "avro", lambda: avro((5, 1 << 60, bytes(10)))),
    ("it ends within a block", "avro", lambda: avro((5, 1 << 20, bytes(10)))),
    ("it ends where a part should begin", "avro", lambda: b"Obj\x01" + number(1)),
    ("records", "avro", lambda: avro((1 << 62, 2, bytes(2)))),
    ("records", "avro", lambda: avro((1 << 62, 0, b""), schema=record(k="null", p="null"))),
    (NOT_AS_SAID, "avro", lambda: avro((1, 8, number(1 << 33) + b"abc"))),
    (NOT_AS_SAID, "avro", lambda: avro((1, 4, number(-29) + b"abc"))),
    ("its schema cannot be read: ", "avro", lambda: avro((1, 2, bytes(2)), schema="evil")),
    ("its codec 'evil' is none of null, deflate", "avro", lambda: avro((1, 2, bytes(2)), codec="evil")),
    ("a block has more than 67,108,864 bytes", "avro", lambda: bomb("deflate", deflated(100))),
    ("a block has more than 67,108,864 bytes", "avro", lambda: bomb("zstandard", zstd(bytes(100 << 20)))),
    ("a block has more than 67,108,864 bytes", "avro", lambda: bomb("snappy", b"\xff\xff\xff\xff\x07" + bytes(9))),
    ("a block has more than 67,108,864 bytes", "avro", lambda: bomb("lz4", b"\xff\xff\xff\x7f" + bytes(9))),
    ("it has an array of nulls", "avro", lambda: nulls({"type": "array", "items": "null"})),
    ("it has an array of nulls", "avro", lambda: nulls({"type": "map", "values": {"type": "array", "items": "null"}})),
    (
        "its record 'r' has itself as a part",
        "avro",
        lambda: avro((1, 400_001, number(1) * 200_000 + bytes(200_001)), schema=record(k=["null", "r"], p="int")),
    ),
    ("maximum recursion depth", "avro", lambda: b"Obj\x01" + deep_schema(50_000) + bytes(17)),
    ("", "parquet", lambda: small_footer(histogram)),
    ("", "parquet", lambda: small_footer(name_in_no_text)),
    ("", "arrow", ended_early),
]  # fmt: skip


def bomb(codec: str, data: bytes) -> bytes:
    return avro((1, len(data), data), codec=codec)


def nulls(schema: Any) -> bytes:
    return avro((1, 8, bytes(8)), schema=record(k="string", p="int", a=schema))


def deep_schema(levels: int) -> bytes:
    text = b'{"type":"array","items":' * levels + b'"int"' + b"}" * levels
    return number(1) + number(11) + b"avro.schema" + number(len(text)) + text


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Run]]:
    folder = tmp_path_factory.mktemp("claims")
    with limited_commands(folder) as run:
        yield folder, run


@pytest.mark.parametrize("part", range(len(CLAIMS)))
def test_a_file_that_claims_what_it_has_not(part: int, run: tuple[Path, Run]) -> None:
    sentence, suffix, make = CLAIMS[part]
    folder, command = run
    (folder / f"c.{suffix}").write_bytes(make())
    name = f"c.{suffix}"
    cost, wrong = judge(command, ["check", name, "--key", "k", "--partition", "p", "-n", "3"])
    assert not wrong, (wrong, cost)
    if suffix == "avro":
        assert (cost["code"], sentence in cost["stderr"]) == (2, True), cost
    cost, wrong = judge(
        command, ["place", name, "--key", "k", "-n", "3", "--out", f"out.{suffix}", "--force"]
    )
    assert not wrong, (wrong, cost)


def of_values(file: Path, size: int, count: int, *, nested: bool) -> None:
    """One row group of equal values, each written out, which compression makes small."""
    part = pa.array([b"x" * size] * min(count, 1000), pa.binary())
    key = pa.StructArray.from_arrays([part], ["k"]) if nested else part
    rows = pa.table({"k": key, "p": [0] * len(part)})
    table = pa.concat_tables([rows] * (count // len(part)))
    parquet.write_table(table, file, compression="zstd", use_dictionary=False, write_statistics=False)


@pytest.mark.parametrize("nested", [False, True], ids=["field", "in-struct"])
@pytest.mark.parametrize(
    ("size", "count", "said"),
    [
        (100 << 20, 1, "the values of 'k' in 'c.parquet' have up to 104,857,6.. bytes on average"),
        (20_000, 60_000, "60,000 rows placed"),
        (15 << 20, 1, "1 row placed"),
    ],
)
def test_a_small_parquet_file_of_large_values(
    size: int, count: int, said: str, nested: bool, run: tuple[Path, Run]
) -> None:
    folder, command = run
    of_values(folder / "c.parquet", size, count, nested=nested)
    assert (folder / "c.parquet").stat().st_size < 1 << 20
    key = "k.k" if nested else "k"
    cost, wrong = judge(
        command, ["place", "c.parquet", "--key", key, "-n", "3", "--out", "o.parquet", "--force"]
    )
    assert not wrong, (wrong, cost)
    assert re.match(f"(partwright: )?{said}", cost["stderr"]), cost


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz", "snappy", "lz4"])
def test_a_block_of_each_codec_is_unpacked(codec: str) -> None:
    out = io.BytesIO()
    try:
        fastavro.writer(out, AVRO, ROWS, codec=codec, sync_interval=500)
    except ValueError:
        pytest.skip(f"fastavro lacks what it writes {codec} with")
    out.seek(0)
    assert list(fastavro.reader(UncompressedAvro(out))) == ROWS


def wide_footer(columns: int, groups: int) -> bytes:
    """The footer of a file with text columns, two rows in each row group."""
    out = io.BytesIO()
    rows = pa.table({f"c{column}": [f"{column}"] * 2 * groups for column in range(columns)})
    parquet.write_table(rows, out, row_group_size=2)
    data = out.getvalue()
    return data[-8 - footer_length(data[-8:]) : -8]


def test_a_footer_is_read_once_and_what_is_not_asked_for_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    footer = wide_footer(30, 4)
    groups = read_struct(footer).get_value(4).items
    metas = [[chunk.get_value(3) for chunk in group.get_value(1).items] for group in groups]
    structs: list[int] = []
    whole = thrift._ThriftReader.struct

    def counting(reader: thrift._ThriftReader, depth: int) -> Struct:
        structs.append(depth)
        return whole(reader, depth)

    monkeypatch.setattr(thrift._ThriftReader, "struct", counting)
    found = chunks_of(footer, [29, 3, 3], 4)
    # Each meta, and the statistics, the size statistics and the encodings' counts in it.
    assert len(structs) < 2 * 4 * 8
    assert sorted(found) == [3, 29]
    for leaf, chunks in found.items():
        sizes = [(chunk.codec, chunk.values, chunk.size) for chunk in chunks]
        assert sizes == [tuple(group[leaf].get_value(field) for field in (4, 5, 6)) for group in metas]
    with pytest.raises(ValueError, match="a row group lacks a column chunk"):
        chunks_of(footer, [3, 30], 4)
    for size in range(0, len(footer), 7):
        with pytest.raises(ValueError, match="the bytes end within a struct"):
            chunks_of(footer[:size], [3], 4)


def test_a_value_of_any_type_is_skipped() -> None:
    """What comes after it is found."""
    inner = Struct({1: (1, True), 40: (2, False), 41: (8, b"a" * 300), 42: (7, bytes(8)), 43: (6, 1 << 40)})
    for type_, value in [
        (1, True),
        (2, False),
        (3, 5),
        (5, -(1 << 30)),
        (7, bytes(range(8))),
        (8, b"x" * 200),
        (9, List(2, [1, 2] * 20)),
        (10, List(8, [b"", b"abc"])),
        (9, List(5, [1, -1000] * 20)),
        (9, List(12, [inner, Struct(), inner])),
        (12, inner),
    ]:
        data = write_struct(Struct({1: (type_, value), 90: (5, 42)}))
        assert list(thrift.values_at(data, [90])) == [42], type_
    with pytest.raises(ValueError, match="more than 64 deep"):
        list(thrift.values_at(b"\x19" * 200_000, [9]))
    with pytest.raises(ValueError, match="a value of type 13"):
        list(thrift.values_at(b"\x1d\x00", [9]))
    with pytest.raises(ValueError, match="the bytes end within a struct"):
        list(thrift.values_at(b"\x19\xf3\xff\xff\xff\xff\x0f", [9]))


def test_lists_within_lists_to_any_depth_are_refused() -> None:
    with pytest.raises(ValueError, match="more than 64 deep"):
        read_struct(b"\x19" * 200_000)


def test_a_zstandard_block_is_unpacked() -> None:
    rows = number(1) + b"a" + number(2)
    made = avro((1, len(zstd(rows)), zstd(rows)), codec="zstandard")
    assert list(fastavro.reader(UncompressedAvro(io.BytesIO(made)))) == [{"k": "a", "p": 2}]


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(whole_files()))
def test_a_damaged_file(name: str, tmp_path: Path, seed: int, cases: Callable[[int], int]) -> None:
    data = whole_files()[name]
    file = tmp_path / name
    codes: dict[int, int] = {}
    bad = []
    with limited_commands(tmp_path) as run:
        for case in range(cases(40)):
            rng = random.Random(f"{seed} {name} {case}")
            lies = name.endswith(".parquet") and rng.random() < 0.6
            file.write_bytes(lying(data, rng) if lies else damaged(data, rng))
            words = rng.choice(COMMANDS).replace("FILE", name).split()
            cost, wrong = judge(run, words)
            codes[cost["code"]] = codes.get(cost["code"], 0) + 1
            if wrong:
                bad.append(f"case {case}: {shlex.join(words)}\n  {wrong} {cost['stderr'][-1500:]}")
    print(f"{seed=} {name}: {codes}")  # noqa: T201 - for a failure
    assert not bad, "\n".join(bad)
