"""Files as people have them: compressed, in folders, with other delimiters, nested, pretty-printed, and elsewhere."""

from __future__ import annotations

import bz2
import gzip
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest

import partwright as pw
from partwright.errors import PartwrightError
from partwright.files import ColumnRequest, json_documents, open_records
from partwright.files.json_documents import DocumentLines

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.files.compressed import Peeked

KEYS = [f"k{number}" for number in range(3000)]
CSV = ("k,v\n" + "".join(f"{key},{at}\n" for at, key in enumerate(KEYS))).encode()


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def keys_of(*names: str, key: str = "k", **how: Any) -> list[Any]:
    with open_records(names[0] if len(names) == 1 else names, **how) as records:
        return [
            value
            for (column,) in records.read([ColumnRequest(key, pa.string())])
            for value in column.to_pylist()
        ]


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".zst", zstd)])
def test_a_compressed_file_is_read_and_written(
    command: Callable[..., tuple[int, bytes, str]], suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    # In two parts, as `cat a.gz b.gz` makes it.
    Path(f"x.csv{suffix}").write_bytes(pack(CSV[:10_000]) + pack(CSV[10_000:]))
    assert keys_of(f"x.csv{suffix}") == KEYS
    place = ["place", f"x.csv{suffix}", "--key", "k", "-n", 12]
    code, plain, _ = command(*place)
    assert code == 0
    assert plain.splitlines()[1] == b"k0,0," + str(pw.partition_for_key("k0", 12)).encode()
    assert command(*place, "--out", f"y.csv{suffix}")[0] == 0
    Path("plain.csv").write_bytes(plain)
    assert Path(f"y.csv{suffix}").read_bytes()[:2] == pack(b"")[:2]
    assert keys_of(f"y.csv{suffix}", key="partition") == keys_of("plain.csv", key="partition")
    # The file's content decides, whatever its name says.
    Path("named.csv").write_bytes(pack(CSV))
    assert keys_of("named.csv") == KEYS


def test_a_compressed_file_that_is_cut_off(refusal: Callable[..., str]) -> None:
    Path("x.csv.gz").write_bytes(gzip.compress(CSV)[:-2000])
    assert "'x.csv.gz' cannot be unpacked by gzip (" in refusal("check", "x.csv.gz", "--key", "k", "-n", 3)


@pytest.mark.parametrize(
    ("suffix", "codec"), [(".gz", "gzip"), (".bz2", "bz2"), (".zst", "zstd"), (".GZ", "gzip")]
)
def test_a_compressed_file_that_begins_with_other_bytes(
    suffix: str, codec: str, refusal: Callable[..., str]
) -> None:
    Path(f"x.csv{suffix}").write_bytes(b"\x1e" + gzip.compress(CSV)[1:])
    said = refusal("check", f"x.csv{suffix}", "--key", "k", "-n", 3)
    assert f"'x.csv{suffix}' is not {codec}, which its name says: its first bytes are others" in said


def test_a_blank_name_of_a_column_is_shown_in_quotes(refusal: Callable[..., str]) -> None:
    pa_feather.write_feather(pa.table({"": [1], " ": [2], "v": [3]}), "x.arrow", compression="uncompressed")
    assert "it has '', ' ', v" in refusal("place", "x.arrow", "--key", "kk", "-n", 3)


def test_a_parquet_file_is_not_compressed_as_a_whole(refusal: Callable[..., str]) -> None:
    Path("x.parquet.gz").write_bytes(gzip.compress(b"PAR1"))
    said = refusal("check", "x.parquet.gz", "--key", "k", "-n", 3)
    assert (
        "'x.parquet.gz' is compressed with gzip as a whole, and parquet is read in any order: unpack it"
        in said
    )


@pytest.mark.parametrize("delimiter", [";", "|", "\t", "^", "-", "]", "\\", "."])
def test_any_delimiter(delimiter: str, command: Callable[..., tuple[int, bytes, str]]) -> None:
    data = f'k{delimiter}v\na{delimiter}1\n"b{delimiter}""x"{delimiter}2\n'
    Path("x.txt").write_text(data, encoding="utf-8")
    assert keys_of("x.txt", delimiter=delimiter) == ["a", f'b{delimiter}"x']
    code, out, _ = command("place", "x.txt", "--key", "k", "-n", 12, "--delimiter", delimiter)
    lines = out.decode().split("\n")
    assert (code, lines[0]) == (0, f"k{delimiter}v{delimiter}partition")
    assert lines[1] == f"a{delimiter}1{delimiter}{pw.partition_for_key('a', 12)}"


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n", "é"])
def test_what_is_no_delimiter(delimiter: str) -> None:
    with pytest.raises(PartwrightError, match="a delimiter is one ASCII character other than a quote"):
        open_records("x.csv", delimiter=delimiter)


def test_a_header_with_other_delimiters_says_which_option(refusal: Callable[..., str]) -> None:
    Path("x.csv").write_text("k;v\na;1\n", encoding="utf-8")
    assert "seems to be delimited by semicolons: say so with --delimiter ';'" in refusal(
        "check", "x.csv", "--key", "k", "-n", 3
    )


def test_csv_on_stdin(process: Callable[..., Any]) -> None:
    words = ["place", "-", "--format", "csv", "--key", "k", "-n", 12]
    assert process(*words, stdin=b"k\na\n").stdout == b"k,partition\na,4\n"
    assert process(*words, stdin=gzip.compress(b"k\na\n")).stdout == b"k,partition\na,4\n"


def test_folders_patterns_and_several_files(command: Callable[..., tuple[int, bytes, str]]) -> None:
    for at, day in enumerate(["day=1", "day=2"]):
        folder = Path("out") / day / f"partition={at}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"k": [f"{day}a", f"{day}b"]}), folder / "part-0.parquet")
        (folder / ".part-0.parquet.crc").write_bytes(b"x")
    Path("out/_SUCCESS").touch()
    Path("out/_temporary").mkdir()
    Path("out/_temporary/x.csv").write_text("k\nz\n", encoding="utf-8")
    every = ["day=1a", "day=1b", "day=2a", "day=2b"]
    assert keys_of("out") == every
    assert keys_of("out/day=*/*/*.parquet") == every
    assert keys_of("out/day=2", "out/day=1") == every[2:] + every[:2]
    # The folders' names become a column.
    code, out, _ = command("check", "out", "--key", "k", "--partition", "partition", "-n", 2, "--json")
    found = json.loads(out)
    wanted = [pw.partition_for_key(key, 2) for key in every]
    assert (code, found["rows"]) == (1, 4)
    assert found["misplaced"] == sum(a != b for a, b in zip(wanted, [0, 0, 1, 1], strict=True))


def test_files_of_several_formats_are_one(command: Callable[..., tuple[int, bytes, str]]) -> None:
    Path("a.csv").write_text("k\na\n", encoding="utf-8")
    Path("b.jsonl").write_text('{"k": "b"}\n', encoding="utf-8")
    pq.write_table(pa.table({"k": ["c"]}), "c.parquet")
    pa_feather.write_feather(pa.table({"k": ["d"]}), "d.arrow")
    code, out, _ = command(
        "check", "a.csv", "b.jsonl", "c.parquet", "d.arrow", "--key", "k", "-n", 3, "--json"
    )
    assert (code, json.loads(out)["rows"]) == (0, 4)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["empty"], "the folder 'empty' has no file of records"),
        (["*.csv"], "no file is named like '*.csv': check the pattern"),
        (["a.csv"], "there is no file 'a.csv': check its name"),
        (["-", "a.csv"], "stdin is one file, and no other is read with it"),
        (
            ["x.parquet", "--delimiter", ";"],
            "a delimiter is for csv, and 'x.parquet' is parquet: leave it out",
        ),
        (["kafka://h:1/t", "a.csv"], "a topic is read alone: name one topic, or files"),
        (
            ["kafka://h:1/t", "--format", "csv"],
            "--format and --delimiter are for files, and a topic is named",
        ),
    ],
)
def test_what_cannot_be_read_is_one_sentence(
    words: list[str], sentence: str, refusal: Callable[..., str]
) -> None:
    Path("empty").mkdir()
    assert sentence in refusal("check", *words, "--key", "k", "-n", 3)


def test_place_writes_one_file(refusal: Callable[..., str]) -> None:
    Path("a.csv").write_text("k\na\n", encoding="utf-8")
    Path("b.csv").write_text("k\nb\n", encoding="utf-8")
    assert "2 files are named, and one is written at a time" in refusal(
        "place", "a.csv", "b.csv", "--key", "k", "-n", 3
    )


NESTED = [{"id": "a"}, {"id": None}, None, {"id": "d", "more": [1]}]
FLAT = ["a", None, None, "d"]


def test_nested_keys_of_json() -> None:
    Path("x.jsonl").write_text(
        "".join(json.dumps({"user": each}) + "\n" for each in NESTED), encoding="utf-8"
    )
    assert keys_of("x.jsonl", key="user.id") == FLAT
    # In objects that have it, a member with exactly that name wins.
    Path("y.jsonl").write_text(
        '{"user.id": "x", "user": {"id": "y"}}\n{"user": {"id": "z"}}\n', encoding="utf-8"
    )
    assert keys_of("y.jsonl", key="user.id") == ["x", "z"]
    with pytest.raises(PartwrightError, match=r"there is no member 'user\.name'"):
        keys_of("x.jsonl", key="user.name")


def test_nested_keys_that_are_there_twice() -> None:
    Path("x.jsonl").write_text('{"user": {"id": "y", "id": "z"}}\n', encoding="utf-8")
    with pytest.raises(PartwrightError, match="several members named 'id' in one object"):
        keys_of("x.jsonl", key="user.id")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_nested_keys_of_structures(kind: str, command: Callable[..., tuple[int, bytes, str]]) -> None:
    user = pa.array(NESTED, pa.struct([("id", pa.string()), ("more", pa.list_(pa.int64()))]))
    table = pa.table({"user": user, "a.b": KEYS[:4]})
    (pq.write_table if kind == "parquet" else pa_feather.write_feather)(table, f"x.{kind}")
    assert keys_of(f"x.{kind}", key="user.id") == FLAT
    assert keys_of(f"x.{kind}", key="a.b") == KEYS[:4]
    with pytest.raises(PartwrightError, match=r"there is no field of 'user' 'nme'"):
        keys_of(f"x.{kind}", key="user.nme")
    words = ["place", f"x.{kind}", "--key", "user.id", "-n", 12, "--out", f"y.{kind}"]
    assert command(*words)[0] == 0
    read = pq.read_table(f"y.{kind}") if kind == "parquet" else pa_feather.read_table(f"y.{kind}")
    assert read["partition"].to_pylist() == pw.partition_for_key(FLAT, 12).to_pylist()


OBJECTS = [{"k": "a\n", "n": 1.50}, {"k": "é\u2028"}, {"x": [{"k": 1}], "k": None}]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(OBJECTS),
        json.dumps(OBJECTS, indent=2),
        "\n".join(json.dumps(each, indent=2) for each in OBJECTS),
        "\r\n".join(json.dumps(each, indent=1, ensure_ascii=False) for each in OBJECTS),
        "\ufeff" + json.dumps(OBJECTS, indent=2),
        "[\n" + ",\n".join(json.dumps(each) for each in OBJECTS) + "\n]\n",
    ],
)
def test_json_that_is_no_lines(data: str, command: Callable[..., tuple[int, bytes, str]]) -> None:
    Path("x.json").write_bytes(data.encode())
    assert keys_of("x.json") == [each["k"] for each in OBJECTS]
    code, out, _ = command("place", "x.json", "--key", "k", "-n", 12)
    assert code == 0
    placed = [json.loads(line) for line in out.decode().split("\n") if line]
    assert [{**each, "partition": None} for each in OBJECTS] == [
        {**each, "partition": None} for each in placed
    ]


def test_json_documents_larger_than_what_is_read_at_once() -> None:
    objects = [{"k": f"{number}", "v": "ä€😀" * 5000} for number in range(60)]
    Path("x.json").write_text(json.dumps(objects, indent=1, ensure_ascii=False), encoding="utf-8")
    assert keys_of("x.json") == [each["k"] for each in objects]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ('[{"k": "a"}, {"k": ', "'x.json' is not JSON: the value in line 1"),
        (
            '[{"k": "a"} {"k": "b"}]',
            "'x.json' is not JSON: the value in line 1 (there is '{' behind an element)",
        ),
        ('[{"k": "a"},\n\n {"k": }]', "'x.json' is not JSON: the value in line 3"),
        ('[{"k": "a"}', "its array has no end"),
        ("[1, 2]", "object 1 of 'x.json' is not a JSON object (not an object)"),
        ("[]", "'x.json' is empty: it has no records"),
        ('{\n"k": "a"\n}\n[', "'x.json' is not JSON"),
    ],
)
def test_json_that_is_broken(data: str, sentence: str) -> None:
    Path("x.json").write_text(data, encoding="utf-8")
    with pytest.raises(PartwrightError) as refused:
        keys_of("x.json")
    assert sentence in str(refused.value)


def test_what_is_there_is_kept(
    command: Callable[..., tuple[int, bytes, str]], refusal: Callable[..., str]
) -> None:
    Path("x.csv").write_text("k\na\n", encoding="utf-8")
    Path("y.csv").write_text("mine\n", encoding="utf-8")
    place = ["place", "x.csv", "--key", "k", "-n", 12]
    assert "--out 'y.csv' is there already: give --force to replace it" in refusal(*place, "--out", "y.csv")
    assert "--out 'x.csv' is the file that is read: give --in-place instead" in refusal(
        *place, "--out", "x.csv", "--force"
    )
    Path("link.csv").symlink_to("x.csv")
    assert "is the file that is read" in refusal(*place, "--out", "link.csv", "--force")
    assert "--in-place replaces FILE" in refusal(*place, "--in-place", "--out", "y.csv")
    assert "--in-place replaces FILE" in refusal("place", "-", "--key", "k", "-n", 3, "--in-place")
    assert (Path("x.csv").read_text(encoding="utf-8"), Path("y.csv").read_text(encoding="utf-8")) == (
        "k\na\n",
        "mine\n",
    )
    assert command(*place, "--out", "y.csv", "--force")[0] == 0
    assert command(*place, "--in-place")[0] == 0
    assert Path("x.csv").read_bytes() == Path("y.csv").read_bytes() == b"k,partition\na,4\n"
    assert command("place", "y.csv", "--key", "k", "-n", 12, "--column", "q", "--out", "-")[1].startswith(
        b"k,partition,q"
    )


def test_avro() -> None:
    fastavro = pytest.importorskip("fastavro")
    schema = {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "k", "type": ["null", "string"]},
            {"name": "id", "type": "long"},
            {
                "name": "u",
                "type": {"type": "record", "name": "User", "fields": [{"name": "id", "type": "bytes"}]},
            },
        ],
    }
    rows = [{"k": "a", "id": 1, "u": {"id": b"x"}}, {"k": None, "id": 2, "u": {"id": b"y"}}]
    with Path("x.avro").open("wb") as file:
        fastavro.writer(file, fastavro.parse_schema(schema), rows, codec="deflate")
    assert keys_of("x.avro") == ["a", None]
    assert keys_of("x.avro", key="u.id") == [b"x", b"y"]
    assert keys_of("x.avro", key="id") == [1, 2]
    with pytest.raises(PartwrightError, match=r"there is no column 'c' in 'x.avro'"):
        keys_of("x.avro", key="c")
    Path("y.avro").write_bytes(Path("x.avro").read_bytes()[:-9])
    with pytest.raises(PartwrightError, match=r"'y\.avro' is not a whole Avro file"):
        keys_of("y.avro")


def test_an_address_of_pyarrows_file_systems(tmp_path: Path) -> None:
    folder = tmp_path / "far"
    folder.mkdir()
    (folder / "a.csv").write_bytes(CSV)
    (folder / "b.csv.gz").write_bytes(gzip.compress(b"k,v\nz,1\n"))
    pq.write_table(pa.table({"k": ["p"]}), folder / "c.parquet")
    pa_feather.write_feather(pa.table({"k": ["q"]}), folder / "d.arrow")
    address = f"file://{folder}"
    assert keys_of(f"{address}/a.csv") == KEYS
    assert keys_of(f"{address}/c.parquet") == ["p"]
    assert keys_of(f"{address}/d.arrow") == ["q"]
    assert keys_of(address) == [*KEYS, "z", "p", "q"]
    with pytest.raises(PartwrightError, match=r"cannot be read .* check its name and your credentials"):
        keys_of(f"{address}/none.csv")


@pytest.mark.parametrize(
    ("pattern", "keys"),
    [
        ("far/*.csv", ["a"]),
        ("far/day=*/*.csv", ["x", "y"]),
        ("far/day=*", ["x", "y"]),
        ("far/**/*.csv", ["a", "x", "y", "z"]),
        ("far/*/deep/*", ["z"]),
        ("f*", ["a", "x", "y", "z"]),
        ("**", ["a", "x", "y", "z"]),
        ("far/[ab].csv", None),
        ("far/*.parquet", None),
        ("none/*.csv", None),
    ],
)
def test_a_pattern_at_an_address(pattern: str, keys: list[str] | None, tmp_path: Path) -> None:
    files = {"a.csv": "a", "day=1/b.csv": "x", "day=2/b.csv": "y", "o/deep/c.csv": "z", "day=1/_no.csv": "-"}
    for name, key in files.items():
        file = tmp_path / "far" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"k\n{key}\n")
    address = f"file://{tmp_path}/{pattern}"
    if keys is None:
        with pytest.raises(PartwrightError, match=r"check"):
            keys_of(address)
    else:
        assert sorted(map(str, keys_of(address))) == keys


def test_an_address_of_the_web(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    (tmp_path / "a.csv").write_bytes(CSV)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        where = f"http://127.0.0.1:{server.server_port}"
        assert keys_of(f"{where}/a.csv?signature=secret") == KEYS
        with pytest.raises(PartwrightError, match=r"cannot be read") as refused:
            keys_of(f"{where}/none.csv?signature=secret")
        assert "secret" not in str(refused.value)
    finally:
        server.shutdown()
        server.server_close()


def test_a_long_json_value_is_decoded_only_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    class File(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            sizes.append(size or 0)
            return super().read(size)

    monkeypatch.setattr(json_documents, "_CHUNK", 10)
    text = json.dumps([{"k": "x" * 100_000}]).encode()
    lines = DocumentLines("x.json", cast("Peeked", File(text)))
    assert json.loads(lines.read(1 << 20)) == {"k": "x" * 100_000}
    assert len(sizes) < 30
