"""`partwright which` as a user runs it, and `pw.which` and `pw.clients` below it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest

import partwright as pw
from partwright.cli import main
from partwright.keys.client_profiles import client_names, key_types, placements

if TYPE_CHECKING:
    from collections.abc import Callable

CLIENTS = client_names()
HASHES = {"murmur2", "crc32", "fnv1a", "murmur2-kafkajs-legacy", "string-hash"}


class Said(NamedTuple):
    """The result of a command."""

    code: int
    data: str
    words: str


@pytest.fixture
def which(capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def run(*words: str) -> Said:
        with pytest.raises(SystemExit) as ended:
            main(["which", *words])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return Said(int(ended.value.code or 0), captured.out, captured.err)

    return run


def test_json_is_what_is_promised(which: Callable[..., Said]) -> None:
    said = which("TT0124", "-n", "15", "--json")
    assert (said.code, said.words) == (0, "")
    answer = json.loads(said.data)
    assert list(answer) == ["summary", "key_hex", "n", "partitions", "hashes"]
    # The same verdict as for people.
    words = " ".join(which("TT0124", "-n", "15").data.split())
    assert words.startswith(f"{answer['summary']} The key has 6 bytes: 54 54 30 31 32 34. ")
    assert answer["summary"].startswith(
        "java puts key 'TT0124' into partition 10 of 15, like 8 of the other 22"
    )
    assert (answer["key_hex"], answer["n"]) == ("545430313234", 15)
    assert list(answer["partitions"]) == CLIENTS
    assert answer["partitions"] == pw.which("TT0124", 15)
    assert (answer["partitions"]["java"], answer["partitions"]["librdkafka"]) == (10, 9)
    assert set(answer["hashes"]) == HASHES
    assert answer["hashes"]["murmur2"] == pw.murmur2("TT0124")


# Threads in which people asked this question, and the cause that they found.
THREADS = [
    ("TT0124", 15, "librdkafka", 9),
    ("TT0124", 15, "kafkajs", 10),
    ('Struct{documentKey={"_id": "638d1b94ce8def06be68b439"}}', 50, "java", 40),
    ('Struct{documentKey={"_id": "638d1b94ce8def06be68b439"}}', 50, "librdkafka", 36),
    ("fd7af248-ce5c-46a5-93d7-1c0c9005b99d", 32, "java", 26),
    ("100:48069", 12, "java", 9),
    ("test", 840, "franz-go:sarama-crc32", 76),
    ('"A"', 3, "java", 2),
    ("A", 3, "java", 1),
    ("30142322.022108_2000", 32, "kafka-go:hash", 28),
    ("20", 16, "kafka-go:hash", 1),
    ("20", 16, "kafka-go:reference", 15),
    ("1468509572224", 50, "sarama", 48),
]


@pytest.mark.parametrize(("key", "n", "client", "partition"), THREADS)
def test_one_client(which: Callable[..., Said], key: str, n: int, client: str, partition: int) -> None:
    said = which(key, "-n", str(n), "--client", client, "--json")
    assert json.loads(said.data)["partitions"] == {client: partition}


@pytest.mark.parametrize(
    ("words", "key", "key_type"),
    [
        (["42", "--key-type", "java:long"], 42, "java:long"),
        (["--key-type", "java:int", "--", "-42"], -42, "java:int"),
        (["1.5", "--key-type", "java:double"], 1.5, "java:double"),
        (["nan", "--key-type", "java:float"], float("nan"), "java:float"),
        (["True", "--key-type", "java:boolean"], True, "java:boolean"),
        (["0188C0F2-7A93-7000-8000-00000000ABCD", "--key-type", "java:uuid"], None, "java:uuid"),
        (["ключ", "--key-type", "bytes"], "ключ".encode(), "bytes"),
        (["00000000017a", "--hex", "--key-type", "confluent:strip-id"], b"\0\0\0\0\1z", "confluent:strip-id"),
        (["00 2A", "--hex"], b"\0*", None),
    ],
)
def test_a_key_of_each_type(which: Callable[..., Said], words: list[str], key: Any, key_type: str) -> None:
    said = which("-n", "7", "--json", *words)
    assert (said.code, said.words) == (0, "")
    wanted = pw.which(words[0].lower() if key is None else key, 7, key_type=key_type)
    assert json.loads(said.data)["partitions"] == wanted


def test_an_empty_key_and_none(which: Callable[..., Said]) -> None:
    empty, none = (json.loads(which(*words, "-n", "7", "--json").data) for words in [[""], ["--null"]])
    assert (empty["key_hex"], none["key_hex"]) == ("", None)
    assert {client for client, partition in empty["partitions"].items() if partition is None} == {
        "librdkafka",
        "kafka-go:crc32",
    }
    assert {client for client, partition in none["partitions"].items() if partition is not None} == {
        "librdkafka:consistent",
        "librdkafka:murmur2",
        "librdkafka:fnv1a",
    }


def test_for_people_every_client_is_named_once_with_its_step(
    which: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    said = which("TT0124", "-n", "15")
    table = said.data.split("Partition by client")[1].split("To put every key")[0]
    names = [word.strip(",") for word in table.split()]
    assert [names.count(client) for client in CLIENTS] == [1] * len(CLIENTS)
    for shown in (
        "54 54 30 31 32 34",
        str(pw.murmur2("TT0124")),
        "& 0x7fffffff",
        "partitioner=murmur2_random",
    ):
        assert shown in said.data


def test_the_arithmetic_is_right(which: Callable[..., Said]) -> None:
    said = which("a", "-n", "12", "--explain")
    lines = [line for line in said.data.splitlines() if ": " in line and " % 12 = " in line]
    assert len(lines) == 6
    for line in lines:
        for step in line.split(": ", 1)[1].split("; ")[1:]:
            left, right = step.split(" = ")
            # In Java and Go a remainder has its dividend's sign, in Python the divisor's.
            if "%" in left:
                dividend, divisor = map(int, left.split(" % "))
                assert abs(dividend) % divisor * (-1 if dividend < 0 else 1) == int(right)
            else:
                assert eval(left) == int(right)  # noqa: S307 - our own output


def test_the_same_word_as_other_key_types(which: Callable[..., Said]) -> None:
    said = which("42", "-n", "12", "--explain", "--key-type", "java:long")
    assert re.search(r"^ java:long \(asked for\) +\d+   00 00 00 00 00 00 00 2a$", said.data, re.MULTILINE)
    for key_type in ("utf8", "java:int"):
        value = 42 if key_type == "java:int" else "42"
        line = next(line for line in said.data.splitlines() if line.split()[:1] == [key_type])
        assert int(line.split()[1]) == pw.partition_for_key(value, 12, key_type=key_type)


def test_a_negative_partition_is_shown_and_explained(which: Callable[..., Said]) -> None:
    said = which("polygenelubricants", "-n", "12", "--client", "java:string-hash")
    assert said.code == 0
    assert " -8 " in said.data
    assert "Math.abs(-2147483648) is negative" in said.data
    assert pw.which("polygenelubricants", 4)["java:string-hash"] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("a", "give the topic's number of partitions with -n or --topic kafka://host:port/topic"),
        ("a -n 0", "n, the number of partitions, must be from 1 to 2147483647, not 0"),
        ("a -n 2147483648", "n, the number of partitions, must be from 1 to 2147483647, not 2147483648"),
        ("a -n 99999999999999999999", "n, the number of partitions, must be"),
        ("a -n x", "Invalid value for '-n'"),
        ("a -n 3 --client sarma", 'there is no client "sarma"; did you mean sarama?'),
        ("a -n 3 --key-type lnog", 'there is no key type "lnog"'),
        ("a -n 3 --key-type java:long", "key type java:long takes a whole number, not 'a'"),
        ("1_0 -n 3 --key-type java:int", "key type java:int takes a whole number, not '1_0'"),
        ("1.5 -n 3 --key-type java:int", "key type java:int takes a whole number, not '1.5'"),
        ("70000 -n 3 --key-type java:short", "70000 does not fit into a 16-bit short"),
        ("x -n 3 --key-type java:float", "key type java:float takes a number, not 'x'"),
        ("yes -n 3 --key-type java:boolean", "key type java:boolean takes true or false, not 'yes'"),
        ("abc -n 3 --key-type java:uuid", '"abc" is not the 36-character text of a UUID'),
        ("abc -n 3 --hex", "--hex takes two hex digits a byte, not 'abc'"),
        ("61 -n 3 --hex --key-type java:long", "key type java:long takes whole numbers, not binary"),
        ("a -n 3 --null", "--null means no key: leave out the key 'a'"),
        ("-n 3 --null --hex", "--null means no key, and --hex says how one is written: leave one of them"),
        ("-n 3", "which key? Name it before -n, write '' for an empty one, or --null for none"),
        (
            "a -n 3 --client java:string-hash --key-type java:uuid",
            "client java:string-hash hashes the characters of text, and a key of type java:uuid is not text",
        ),
        (
            "4 -n 3 --client java:string-hash --key-type java:int",
            "client java:string-hash hashes the characters of text, and a key of type java:int is not text",
        ),
    ],
)
def test_a_refusal_is_one_sentence(which: Callable[..., Said], words: str, sentence: str) -> None:
    said = which(*words.split())
    assert (said.code, said.data) == (2, "")
    assert said.words.startswith(f"partwright: {sentence}"), said.words
    assert said.words.count("\n") == 1


def test_the_table_of_clients() -> None:
    table = pw.clients()
    rows = {row["client"]: row for row in table.to_pylist()}
    assert len(rows) == table.num_rows
    assert list(rows)[: len(CLIENTS)] == CLIENTS
    assert {rows[client]["hash"] for client in CLIENTS} == HASHES
    for client, row in rows.items():
        is_product = client not in CLIENTS
        assert (row["key_bytes"] is not None) == (row["evidence"] is not None) == is_product, client
        # Nothing makes some products agree.
        assert row["setting"] is None or not row["agrees_with_java"], client
        assert is_product or row["agrees_with_java"] == (row["setting"] is None), client
        assert row["stands_for"] in {None, *CLIENTS}, client
        keys = pa.array(["a", "b", "20", "1468509572224", "", None])
        same = pw.partition_for_key(keys, 1000, client).equals(pw.partition_for_key(keys, 1000))
        assert same == row["agrees_with_java"], client
    nullable = {field.name for field in table.schema if field.nullable}
    assert nullable == {"setting", "stands_for", "key_bytes", "evidence"}


def test_what_has_no_partition_says_why() -> None:
    for key, column in [(None, "null_key"), ("", "empty_key")]:
        rows = {row["client"]: row for row in pw.clients().to_pylist()}
        for each in placements(key, 7):
            assert (each.partition is None) == (each.why is not None)
            if each.why is not None:
                assert each.why == rows[each.client][column] != "hashed"


def test_no_text_has_no_string_hash() -> None:
    assert pw.which(b"\xff", 7)["java:string-hash"] is None
    assert pw.which(7, 7, key_type="java:int")["java:string-hash"] is None
    assert placements(b"\xff", 7, "java:string-hash")[0].why == "the key is not text"


def test_one_client_may_be_asked_for() -> None:
    assert pw.which("TT0124", 15, "librdkafka") == {"librdkafka": 9}
    assert pw.which(42, 100, "java", "java:long") == {"java": 52}
    with pytest.raises(pw.PartwrightError, match="there is no client"):
        pw.which("a", 3, "sarma")


@pytest.mark.parametrize("keys", [["a"], pa.array(["a"]), pa.chunked_array([["a"]]), ()])
def test_a_column_is_refused(keys: Any) -> None:
    with pytest.raises(
        pw.KeyTypeError, match=r"one key is looked up, not .*: partition_for_key takes a column"
    ):
        pw.which(keys, 3)


def test_every_key_type_is_named() -> None:
    assert key_types()[0] == "utf8"
    assert len(key_types()) == 15


@pytest.mark.parametrize(
    ("text", "key_type", "bits"),
    [
        # As java.lang.Float.parseFloat reads them; through a double, the first would be 3f800002.
        ("1.00000017881393421514957253748434595763683319091796875001", "java:float", "3f800001"),
        ("16777217.0000000000000000000001", "java:float", "4b800001"),
        ("7.0064923216240854e-46", "java:float", "00000001"),
        ("3.4028236e38", "java:float", "7f800000"),
        ("1e400", "java:double", "7ff0000000000000"),
        ("-Infinity", "java:float", "ff800000"),
        ("NaN", "java:double", "7ff8000000000000"),
    ],
)
def test_a_number_is_rounded_once(which: Callable[..., Said], text: str, key_type: str, bits: str) -> None:
    said = which("-n", "12", "--key-type", key_type, "--json", "--", text)
    assert json.loads(said.data)["key_hex"] == bits


@pytest.mark.parametrize("text", [" 12", "12 ", "١٢", "+5", "1_0", "0x10", ""])
@pytest.mark.parametrize("key_type", ["java:int", "java:long"])
def test_what_a_file_would_not_have_as_a_number_is_none(
    which: Callable[..., Said], text: str, key_type: str
) -> None:
    said = which(text, "-n", "12", "--key-type", key_type)
    assert (said.code, said.data) == (2, "")
    assert said.words == f"partwright: key type {key_type} takes a whole number, not {text!r}\n"


def test_hex_digits_are_no_word(which: Callable[..., Said]) -> None:
    said = which("41", "-n", "12", "--hex", "--explain")
    assert "1 byte: 41." in said.data
    assert "The same KEY" not in said.data


def command_line(words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    script = f'set -o pipefail; "$0" -m partwright {words}'
    done = subprocess.run(
        ["bash", "-c", script, sys.executable],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("words", ["which TT0124 -n 3", "which TT0124 -n 3 --json"])
def test_a_reader_that_has_seen_enough_is_no_failed_check(words: str) -> None:
    """1 would mean that a check did not hold."""
    assert command_line(f"{words} | (exec <&-; sleep 2)").returncode == 141


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_stream_that_has_not_every_letter(encoding: str) -> None:
    done = command_line("which ключ🔑 -n 3", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert "d0 ba d0 bb" in done.stdout
    assert json.loads(command_line("which ключ🔑 -n 3 --json", PYTHONIOENCODING=encoding).stdout)["n"] == 3


def test_a_defect_is_no_failed_check(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("partwright.cli.partwright.main", broken)
    with pytest.raises(SystemExit) as ended:
        main(["which"])
    assert ended.value.code == 70
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_a_narrow_terminal_keeps_names_whole(
    monkeypatch: pytest.MonkeyPatch, which: Callable[..., Said]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = which("TT0124", "-n", "15")
    words = said.data.replace(",", " ").split()
    assert set(client_names()) <= set(words)
    assert max(map(len, said.data.splitlines()[:20])) <= 80


@pytest.mark.parametrize(
    ("text", "key_type"),
    [
        ("42", "digits"),
        ("19.90", "decimal"),
        ("2024-01-31", "iso-date"),
        ("2024-01-31T12:00:00Z", "iso-timestamp"),
    ],
)
def test_a_key_that_becomes_text_is_shown_as_that_text(text: str, key_type: str) -> None:
    done = command_line(f"which {text} -n 12 --key-type {key_type} --client java")
    assert done.returncode == 0
    words = " ".join(done.stdout.split())
    assert f"java puts key {text} into partition" in words
    assert f"As {key_type} the key has {len(text)} bytes: {text.encode().hex(' ')}." in words


def test_at_most_64_bytes_of_a_key_are_shown_its_beginning_and_its_end(which: Callable[..., Said]) -> None:
    key = "".join(f"{at:03}" for at in range(60))
    shown = " ".join(which(key, "-n", "9").data.split())
    half = [key.encode()[part].hex(" ") for part in (slice(32), slice(-32, None))]
    assert f"The key has 180 bytes: {half[0]} … {half[1]}." in shown
    assert "java puts key '000001002003004005…" in shown
    for length, mark in ((64, 0), (65, 1)):
        assert which("a" * length, "-n", "9").data.count(" … ") == mark


def test_each_form_has_the_arithmetic_that_a_terminal_shows_on_request(which: Callable[..., Said]) -> None:
    title = "The arithmetic of each rule"
    assert title not in which("a", "-n", "12").data
    assert title in which("a", "-n", "12", "--output", "markdown").data
    page = which("a", "-n", "12", "--output", "html").data
    assert page.startswith("<!DOCTYPE html>")
    assert title in page
