"""`partwright fingerprint` on files: every format, the words, the refusals."""

from __future__ import annotations

import json
import random
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from fingerprinting import fingerprint
from table_files import write_table

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, str, str]]

DRAW = random.Random(20261121)
KEYS = [None if DRAW.random() < 0.01 else f"user-{DRAW.randrange(300)}" for _ in range(4000)]
BEFORE, AFTER = (
    [
        DRAW.randrange(12) if place is None else place
        for place in pw.partition_for_key(KEYS, 12, client).to_pylist()
    ]
    for client in ("java", "librdkafka")
)
TABLE = pa.table(
    {
        "k": KEYS,
        "p": pa.array(BEFORE[:1500] + AFTER[1500:], pa.int32()),
        "ts": pa.array(range(1_700_000_000_000, 1_700_000_000_000 + 4000), pa.int64()),
        "o": pa.array(range(4000), pa.int64()),
    }
)
OPTIONS = ["--key", "k", "--partition", "p", "--timestamp", "ts", "--offset", "o"]


@pytest.fixture
def command(told: Command) -> Command:
    return partial(told, "fingerprint")


def write(name: str, table: pa.Table = TABLE) -> None:
    write_table(table, name, rows_a_part=700)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet", "x.arrow"])
def test_every_format_gives_the_functions_answer(name: str, command: Command) -> None:
    write(name)
    code, out, err = command(name, *OPTIONS, "--json")
    assert (code, err) == (0, "")
    wanted = fingerprint(TABLE["k"], TABLE["p"], TABLE["ts"], offsets=TABLE["o"])
    assert wanted.verdict == "writer-change"
    told = json.loads(out)
    assert told.pop("summary").startswith("writer-change: from java to librdkafka, for 12 partitions")
    assert told == json.loads(json.dumps(wanted.to_dict()))
    assert (
        json.loads(command(name, "--key", "k", "--partition", "p", "-n", 12, "--json")[1])["verdict"]
        == "mixture"
    )


def test_json_lines_come_by_stdin_too() -> None:
    write("x.jsonl")
    done = subprocess.run(
        [sys.executable, "-m", "partwright", "fingerprint", "-", *OPTIONS, "--json"],
        input=Path("x.jsonl").read_bytes(),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["verdict"] == "writer-change"


def test_numbers_are_keys_under_a_key_type(command: Command) -> None:
    numbers = pa.array(range(500), pa.int64())
    places = pw.partition_for_key(numbers, 12, key_type="java:long")
    for name in ("x.csv", "x.parquet", "x.jsonl"):
        write(name, pa.table({"k": numbers, "p": places}))
        code, out, _ = command(name, *OPTIONS[:4], "--key-type", "java:long", "--json")
        assert (code, json.loads(out)["verdict"]) == (0, "one-writer")
    # As text, in csv, they are other keys.
    assert json.loads(command("x.csv", *OPTIONS[:4], "--json")[1])["verdict"] == "no-rule"


def words(command: Command, partitions: list[Any], *more: object, keys: Any = KEYS) -> str:
    write("x.parquet", TABLE.set_column(0, "k", pa.array(keys)).set_column(1, "p", pa.array(partitions)))
    code, out, err = command("x.parquet", *OPTIONS[:4], *more)
    assert (code, err) == (0, "")
    return out


def joined(out: str) -> str:
    """Printed words, however their lines are broken."""
    return " ".join(out.split())


def test_words_say_who_and_when_and_what_to_do(command: Command) -> None:
    out = words(command, BEFORE)
    assert re.match(
        r"one-writer: java explains where all 3,\d+ records with a key are, for 12 partitions\. "
        r"These clients share one rule, so keys cannot distinguish them: java, librdkafka:murmur2_random",
        joined(out),
    )
    assert re.search(r"\n300 different keys; \d+ of 4,000 records have none\.\n", out)
    assert "To put every key where java puts it" not in out
    out = words(command, AFTER)
    assert out.startswith("one-writer: librdkafka explains where all 3,")
    assert "\nTo put every key where java puts it\n  librdkafka: partitioner=murmur2_random\n" in out
    out = words(command, TABLE["p"].to_pylist(), "--timestamp", "ts")
    assert out.startswith("writer-change: from java to librdkafka, for 12 partitions (librdkafka 6")
    assert "\nWhen: the last record by the old rule: 2023-11-14T22:13:21.49" in out
    assert "keys are in several partitions\n" in out
    out = words(command, [row % 12 for row in range(4000)])
    told = (
        "round-robin: records have keys, which are ignored: partitions are taken in turn, for 12 partitions."
    )
    assert joined(out).startswith(told)
    out = words(command, [row // 7 % 12 for row in range(4000)])
    assert out.startswith("no-rule: records have keys, and no client's rule puts them where they are")
    out = words(command, BEFORE, keys=pa.nulls(4000, pa.string()))
    assert "no-keys: no record has a key" in out
    quoted = [key and f'"{key}"' for key in KEYS]
    assert "Keys are taken without their JSON quotes (json-unquote)." in words(command, BEFORE, keys=quoted)


def test_words_name_the_faulty_rule_of_one_writer(command: Command) -> None:
    hashes = pw.murmur2(KEYS).to_pylist()
    unsigned = [0 if hash_ is None else hash_ % 2**32 % 12 for hash_ in hashes]
    out = words(command, unsigned)
    assert joined(out).startswith(
        "faulty-rule: one writer whose rule is java's without the sign mask (murmur2 % n, unsigned; not "
        "(murmur2 & 0x7fffffff) % n) explains where all 3,"
    )
    assert "It is the rule of platformatic. java itself would put " in joined(out)
    assert "mixture" not in out
    answer = json.loads(words(command, unsigned, "--json"))
    assert (answer["verdict"], answer["family"], answer["shares"], answer["n"]) == ("no-rule", [], {}, 12)
    assert (answer["fault"]["name"], answer["fault"]["client"]) == ("murmur2-unsigned", "java")
    written = [key and key.encode("utf-16-le") for key in KEYS]
    places = [at or 0 for at in pw.partition_for_key(written, 12).to_pylist()]
    out = words(command, places)
    assert joined(out).startswith(
        "one-writer: java's rule, with keys as UTF-16 in little-endian order, where Java's serializer has UTF-8, "
        "explains where all 3,"
    )
    assert re.search(r"\njava itself would put [23],\d+ of 3,\d+ records elsewhere \(utf-16-le\)\.\n", out)


def test_the_help_names_the_answer_of_a_faulty_rule_and_its_verdict(command: Command) -> None:
    code, out, _ = command("--help")
    assert code == 0
    assert "faulty-rule    one writer has a client's hash" in out
    assert 'the verdict of a faulty-rule is no-rule, and "fault" describes it' in out


def test_keys_that_are_all_empty_are_told_first(command: Command) -> None:
    out = words(command, [9] * 4000, "-n", 12, keys=[""] * 4000)
    assert joined(out).startswith(
        "Every key is empty, and none is null: probably these records have no key, and their writer"
    )
    answer = json.loads(words(command, [9] * 4000, "-n", 12, "--json", keys=[""] * 4000))
    assert answer["is_all_empty"]
    assert answer["summary"].startswith("Every key is empty")
    draw = random.Random(1)
    out = words(command, [draw.randrange(12) for _ in range(4000)], "-n", 12, keys=[""] * 4000)
    assert "no-rule: these records are in several partitions, as records without a key are." in out
    assert "custom partitioner" not in out


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("x.csv --partition p", "name the key's column of 'x.csv' with --key"),
        ("x.csv --key k", "name the partition's column of 'x.csv' with --partition"),
        (
            "x.csv --key k --partition k",
            "'k' cannot be both the key and the partition: name another column with --partition",
        ),
        ("x.csv --key k --partition q", "there is no column 'q' in 'x.csv'"),
        (
            "null.csv --key k --partition p",
            "row 1 is in no partition: they are whole numbers from 0 to 2147483646; leave out rows without one",
        ),
        ("x.csv --key k --partition f", "row 0 is in '4.5', which is not a partition"),
        ("x.csv --key k --partition p --timestamp f", "the timestamps from row 0 on are not times"),
        ("x.csv --key k --partition p -n 4", "a record is in partition 4, which a topic of 4 partitions"),
        ("x.csv --key k --partition p -n 0", "n, the number of partitions, must be from 1"),
        ("x.csv --key k --partition p --key-type lnog", 'there is no key type "lnog"'),
        ("x.parquet --key p --partition k", "int64 has no key bytes of its own"),
        ("absent.csv --key k --partition p", "there is no file 'absent.csv'"),
        ("kafka://127.0.0.1:9/t --key k", "--key 'k' names a column of a file"),
        ("kafka://127.0.0.1:9/t -n 0", "n, the number of partitions, must be from 1"),
        ("kafka://127.0.0.1:9/t --key-type java:int", "a topic's keys are bytes already"),
        ("kafka://127.0.0.1:9/t", "no Kafka answers at 127.0.0.1:9"),
        ("kafka://127.0.0.1:9", "names no topic: write kafka://host:port/topic"),
    ],
)
def test_wrong_use_is_one_sentence(given: str, sentence: str, command: Command) -> None:
    table = pa.table({"k": ["a"], "p": [4], "f": [4.5]})
    write("x.csv", table)
    write("x.parquet", table)
    write("null.csv", pa.table({"k": ["a", "b"], "p": [4, None]}))
    code, out, err = command(*shlex.split(given))
    assert (code, out) == (2, "")
    assert err.startswith("partwright: ")
    assert sentence in err
    assert err.count("\n") == 1


def test_an_empty_file_has_no_keys(command: Command) -> None:
    write("x.parquet", TABLE[:0])
    code, out, _ = command("x.parquet", *OPTIONS, "--json")
    assert (code, json.loads(out)["verdict"]) == (0, "no-keys")
