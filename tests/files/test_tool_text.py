"""Text that Kafka's tools print of records, text and csv without a header, and keys in another encoding."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright.errors import PartwrightError
from partwright.files import ColumnRequest, open_records
from partwright.files.formats import text_type

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parent / "tool_samples"
# What the topic of the samples has, each key in its partition.
KEYS = {
    0: ["user-8", '{"id":1}', "with-headers"],
    1: ["TT0124", "käse", "a b", None],
    2: ["N14228", "user-7", "tab-key", ""],
}
# Where a tool prints an empty key as it prints none.
EMPTY_AS_NULL = {**KEYS, 2: [*KEYS[2][:-1], None]}
OWN_FORMAT = r"%p %o %K %k\n"


def rows_of(path: Path | str, **how: Any) -> list[tuple[Any, ...]]:
    requests = [ColumnRequest("key", text_type(None)), ColumnRequest("partition", text_type("java:long"))]
    with open_records(str(path), **how) as records:
        return [
            row
            for batch in records.read(requests)
            for row in zip(*(column.to_pylist() for column in batch), strict=True)
        ]


def by_partition(rows: list[tuple[Any, ...]]) -> dict[int, list[Any]]:
    keys: dict[int, list[Any]] = {}
    for key, partition in rows:
        keys.setdefault(partition, []).append(key)
    return keys


@pytest.mark.parametrize(
    ("name", "how", "keys"),
    [
        ("kcat-1.7.1-J.jsonl", {}, KEYS),
        ("kcat-1.7.1-f-help.txt", {}, EMPTY_AS_NULL),
        ("kcat-1.7.1-f-readme.txt", {}, KEYS),
        ("kcat-1.7.1-f-own.txt", {"columns": OWN_FORMAT}, KEYS),
        ("console-4.3.1-all.txt", {}, KEYS),
        ("console-4.3.1-partition-key.txt", {}, KEYS),
        ("console-4.3.1-partition-key.txt", {"columns": "partition,key,value"}, EMPTY_AS_NULL),
        ("console-4.3.1-headers.txt", {"columns": ["partition", "headers", "key"]}, EMPTY_AS_NULL),
        ("console-3.9.2-bar.txt", {}, KEYS),
        ("console-tabs-and-bar.txt", {"delimiter": " | "}, {1: [None], 0: [None], 2: [None]}),
        ("dump-log-4.3.1.txt", {}, KEYS),
        ("dump-log-0.10.txt", {}, {1: [None, None, "Message_3"]}),
        ("rpk-23.json", {}, {0: [None], 1: ["TT0124"]}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_sample_is_read(
    name: str, how: dict[str, Any], keys: dict[int, list[Any]], ends: str, mark: str
) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    Path(name).write_bytes((mark + text.replace("\n", ends)).encode())
    assert by_partition(rows_of(name, **how)) == keys


def test_members_of_other_names(command: Callable[..., tuple[int, bytes, str]]) -> None:
    words = [
        "check",
        SAMPLES / "kafkactl-5.json",
        "--key",
        "Key",
        "--partition",
        "Partition",
        "-n",
        3,
        "--json",
    ]
    assert json.loads(command(*words)[1])["misplaced"] == 0


def test_a_dump_of_an_old_folder_has_no_partition() -> None:
    with open_records(str(SAMPLES / "dump-log-2.3.1.txt")) as records:
        (batch,) = records.read(
            [ColumnRequest("key", text_type(None)), ColumnRequest("offset", text_type("java:long"))]
        )
        assert [column.to_pylist() for column in batch] == [["DemoKey"], [0]]
    with pytest.raises(PartwrightError, match="there is no member 'partition'"):
        rows_of(SAMPLES / "dump-log-2.3.1.txt")


def test_the_commands_say_what_they_took_it_for(
    command: Callable[..., tuple[int, bytes, str]], process: Callable[..., Any]
) -> None:
    file = SAMPLES / "console-4.3.1-all.txt"
    code, out, err = command("check", file, "--key", "key", "--partition", "partition", "-n", 3, "--json")
    assert (code, json.loads(out)["misplaced"]) == (1, 1)
    as_what = "lines of kafka-console-consumer.sh with timestamp, partition, offset, key and value"
    assert err == f"{file} was read as {as_what}\n"
    place = ["place", file, "--key", "key", "-n", 3, "--column", "p", "--out", "placed.jsonl"]
    assert f"{file} was read as {as_what}\n" in command(*place)[2]
    placed = [json.loads(line) for line in Path("placed.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["p"] for row in placed if row["key"]] == [row["partition"] for row in placed if row["key"]]
    words = ["check", "-", "--key", "key", "--partition", "partition", "-n", 3, "--json"]
    assert json.loads(process(*words, stdin=file.read_bytes()).stdout)["misplaced"] == 1


def test_a_python_answer_says_it_too() -> None:
    found = pw.check(str(SAMPLES / "dump-log-4.3.1.txt"), "key", 3, partition="partition")
    assert found.question.facts()[-1] == ("read as", "records of kafka-dump-log.sh --print-data-log")


def test_what_kcat_prints_around_json_is_left_out() -> None:
    text = (SAMPLES / "kcat-1.7.1-J.jsonl").read_text(encoding="utf-8")
    text = "% Auto-selecting Consumer mode (use -P or -C to override)\n" + text
    for name in ("x.txt", "x.jsonl"):
        Path(name).write_text(text + "% Reached end of topic orders [0] at offset 3\n", encoding="utf-8")
        assert by_partition(rows_of(name)) == KEYS


def test_a_value_over_several_lines_of_a_dump() -> None:
    line = (
        "| offset: {} CreateTime: 1 keySize: 1 valueSize: 9 sequence: -1 headerKeys: [] key: {} payload: {}\n"
    )
    head = "Dumping /data/t-4/0.log\nbaseOffset: 0 isControl: {}\n"
    control = (
        "| offset: 2 CreateTime: 1 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxnMarker: COMMIT\n"
    )
    Path("x.log").write_text(
        head.format("false") + line.format(0, "a", "{\n Pa\n}\n  ") + line.format(1, "b", "\ufffd\n\n??")
        + "baseOffset: 2 isControl: true\n" + control, encoding="utf-8",
    )  # fmt: skip
    assert rows_of("x.log") == [("a", 4), ("b", 4)]


@pytest.mark.parametrize(
    ("text", "how", "sentence"),
    [
        ("Partition:0\ta\tx\nPartition:1\n", {}, "line 2 of 'x.txt' is not one with partition, key and value"),
        ("Partition:0\tOffset:1\ta\tx\nOffset:2\tPartition:0\ta\tx\n", {}, "line 2 of 'x.txt' is not one"),
        ("Partition:0\ta\tx\nDumping /x/t-0/0.log\n", {}, "line 2 of 'x.txt' is not one with partition"),
        ("Dumping /x/t-0/0.log\nPartition:0\ta\n", {}, "line 2 of 'x.txt' is neither a batch nor a reco"),
        ("| offset: 0 CreateTime: 17", {}, "line 1 of 'x.txt' is no whole record"),
        ("Partition:0\ta\tb\tc\td\n", {}, "'x.txt' does not tell which of its fields is the key: name"),
        ("GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG\n", {}, "'x.txt' tells about a consumer gro"),
        ("GROUP TOPIC PARTITION NEW-OFFSET\ng t 0 0\n", {}, "'x.txt' tells about a consumer group, and no record"),
        ("hello\n", {}, "(its first line is 'hello'): print one of these, name its format"),
        ("Topic t [0] at offset 0: key a: x\nTopic t [0]\n", {}, "line 2 of 'x.txt' is not one with topic"),
        ("a:1\n", {"columns": "key,value"}, "line 1 of 'x.txt' is not one with key and value ('a:1')"),
        ('{"id":1}:{"n":2}\n', {"columns": "key,value", "delimiter": ":"}, "has a key of JSON in which the text"),
        ("0 0 2 abc\n", {"columns": OWN_FORMAT}, "has a key that is not text, or has the format's own words"),
        ("a\n", {"columns": "%k"}, r"'%k' does not end with \n"),
        ("a\n", {"columns": r"%k{hex}\n"}, "has %k, which is not read back"),
        ("a\n", {"columns": r"%q\n"}, "has %q, which is not read back"),
        ("a\n", {"columns": "key,,x"}, "names each column once, such as key,partition,value"),
        ("a\n", {"columns": "key,key"}, "names each column once"),
        ("\0\0\0\0\0\0\0\0", {}, "'x.txt' is not text: of a segment of Kafka's log"),
        ("Partition:0\t\udcff\tx\n", {}, "which is not UTF-8: keys and values that are not text"),
        ("", {}, "'x.txt' is empty"),
        (" \n\n", {}, "there is no member 'key' in 'x.txt': it has no columns"),
    ],
)  # fmt: skip
def test_other_text_is_one_sentence(text: str, how: dict[str, Any], sentence: str) -> None:
    Path("x.txt").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(PartwrightError) as refused:
        rows_of("x.txt", **how)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_utf_16_is_named() -> None:
    Path("x.txt").write_text("Partition:0\ta\tx\n", encoding="utf-16")
    with pytest.raises(PartwrightError, match=r"'x\.txt' is UTF-16, and only UTF-8 is read"):
        rows_of("x.txt")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("dump-log-4.3.1-bare", "has no record: add --print-data-log"),
        (
            "dump-log-4.3.1-deep",
            "line 4 of 'x.txt' has sizes alone, as kafka-dump-log.sh without --print-data-log",
        ),
        ("dump-log-4.3.1-skip", "line 4 of 'x.txt' is no whole record, as without --skip-record-metadata"),
        ("kcat-1.7.1-K", "is not text of kafka-console-consumer.sh"),
        ("console-4.3.1-headers", "there is no member 'key' in 'x.txt': it has partition, headers, value"),
    ],
)
def test_the_sentence_names_the_command_that_is_read(
    name: str, sentence: str, refusal: Callable[..., str]
) -> None:
    shutil.copy(SAMPLES / f"{name}.txt", "x.txt")
    assert sentence in refusal("check", "x.txt", "--key", "key", "--partition", "partition", "-n", 3)


def test_csv_without_a_header(command: Callable[..., tuple[int, bytes, str]]) -> None:
    Path("x.csv").write_bytes(b'TT0124,10,"a, b"\r\n,3,\n')
    assert rows_of("x.csv", columns="key,partition,v") == [("TT0124", 10), (None, 3)]
    code, out, _ = command(
        "place", "x.csv", "--columns", "key,partition,v", "--key", "key", "-n", 15, "--column", "p"
    )
    assert (code, out) == (0, b'TT0124,10,"a, b",10\r\n,3,,\n')
    Path("orders.txt").write_text("key|partition\nTT0124|10\n", encoding="utf-8")
    assert rows_of("orders.txt", delimiter="|") == [("TT0124", 10)]


def test_the_names_of_files_of_connects_sinks() -> None:
    for partition in (0, 7):
        Path(f"orders+{partition}+0000000150.json").write_text('{"key": "a"}\n', encoding="utf-8")
    assert rows_of("orders+7+0000000150.json") == [("a", 7)]
    assert rows_of("*.json") == [("a", 0), ("a", 7)]


ENVELOPE = {
    "schema": {"type": "struct", "name": "dbserver1.inventory.products.Key" * 3},
    "payload": {"id": 106},
}


@pytest.mark.parametrize(
    ("key", "shown", "ways"),
    [
        (ENVELOPE, '{"schema":...,"payload":{"id":106}}', "--key key.payload.id a field"),
        (
            {"schema": {"type": "int32"}, "payload": 5},
            '{"schema":{"type":"int32"},"payload":5}',
            "--key key.payload a field",
        ),
        ({"a": "ä", "b": 1.50}, '{"a":"ä","b":1.5}', "--key key.a or key.b a field"),
    ],
)
def test_a_key_that_is_an_object(
    key: dict[str, Any], shown: str, ways: str, refusal: Callable[..., str]
) -> None:
    Path("x.jsonl").write_text(json.dumps({"key": key}) + "\n", encoding="utf-8")
    sentence = refusal("check", "x.jsonl", "--key", "key", "-n", 3)
    assert f"member 'key' is an object, {shown}, and Kafka hashes the bytes that a serializer" in sentence
    assert "--key-encoding json hashes its serialized text" in sentence
    assert ways in sentence


@pytest.mark.parametrize(
    ("encoding", "texts", "key"),
    [
        ("base64", ["AAAAKg==", None, ""], b"\0\0\0*"),
        ("hex", ["0000002a", None, ""], b"\0\0\0*"),
        ("hex", ["0x0000002A", None, ""], b"\0\0\0*"),
        ("json", [{"id": 1, "ä": [1.50, "x"]}, None, ""], '{"id":1,"ä":[1.5,"x"]}'.encode()),
    ],
)
def test_a_key_in_another_encoding(
    encoding: str, texts: list[Any], key: bytes, command: Callable[..., tuple[int, bytes, str]]
) -> None:
    Path("x.jsonl").write_text("".join(json.dumps({"key": each}) + "\n" for each in texts), encoding="utf-8")
    code, out, _ = command("place", "x.jsonl", "--key", "key", "--key-encoding", encoding, "-n", 12)
    keys = [key, None, b""]
    placed = [json.loads(line)["partition"] for line in out.splitlines()]
    assert (code, placed) == (0, [None if each is None else pw.partition_for_key(each, 12) for each in keys])
    source = pw.RecordSource("x.jsonl", key_encoding=encoding)
    assert [row["key"] for row in pw.check(source, "key", 12).to_dict()["heavy_keys"]] != []


@pytest.mark.parametrize(
    ("encoding", "sentence"),
    [("hex", "row 1 of 'x.csv' has the key 'xyz'"), ("base64", "row 0 of 'x.csv' has the key '00'")],
)
def test_an_encoding_that_does_not_fit(encoding: str, sentence: str, refusal: Callable[..., str]) -> None:
    Path("x.csv").write_text("key\n00\nxyz\n", encoding="utf-8")
    assert sentence in refusal("check", "x.csv", "--key", "key", "-n", 3, "--key-encoding", encoding)


def test_an_encoding_that_is_not_known() -> None:
    with pytest.raises(PartwrightError, match="is one of base64, hex, json, not 'rot13'"):
        pw.check(pw.RecordSource("x.csv", key_encoding="rot13"), "key", 3)
