"""`partwright copartition` on files: which options count for which file, the text, the exit codes, the refusals."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, str, str]]

KEYS = [f"user-{row}" for row in range(300)]
BY_JAVA, BY_LIBRDKAFKA = (pw.partition_for_key(KEYS, 12, client) for client in ("java", "librdkafka"))
KEYED = ["--key", "k"]
WHERE = ["--key", "k", "--partition", "p"]


@pytest.fixture(autouse=True)
def _files(_own_folder: None) -> None:
    """Two files: the same keys where java puts them and where librdkafka puts them."""
    write("a.csv", k=KEYS, p=BY_JAVA)
    write("b.parquet", k=KEYS, id=KEYS, p=BY_LIBRDKAFKA, q=BY_JAVA)


def write(name: str, **columns: Any) -> None:
    table = pa.table(columns)
    if name.endswith(".parquet"):
        pq.write_table(table, name)
    else:
        pa.csv.write_csv(table, name)


@pytest.fixture
def command(told: Command) -> Command:
    return partial(told, "copartition")


@pytest.mark.parametrize(
    ("words", "code", "about"),
    [
        # Placed by java, and by other clients.
        ([*KEYED, "-n", 12], 0, (12, "java", 12, "java")),
        ([*KEYED, "-n", 12, "--client", "sarama"], 0, (12, "sarama", 12, "sarama")),
        ([*KEYED, "-n", 12, "--client-b", "sarama"], 1, (12, "java", 12, "sarama")),
        ([*KEYED, "-n", 12, "--n-b", 24], 1, (12, "java", 24, "java")),
        ([*KEYED, "--key-b", "id", "-n", 12], 0, (12, "java", 12, "java")),
        # With known places: B's options are A's, except those of its own.
        (WHERE, 1, (12, None, 12, None)),
        ([*WHERE, "--partition-b", "q"], 0, (12, None, 12, None)),
        ([*WHERE, "--partition-b", "q", "-n", 13], 0, (13, None, 13, None)),
        ([*WHERE, "--partition-b", "q", "-n", 13, "--n-b", 12], 1, (13, None, 12, None)),
        # One file with known places, the other placed.
        ([*WHERE, "--client-b", "kafkajs", "--n-b", 12], 0, (12, None, 12, "kafkajs")),
        ([*KEYED, "-n", 12, "--client", "librdkafka", "--partition-b", "p"], 0, (12, "librdkafka", 12, None)),
        ([*KEYED, "-n", 12, "--partition-b", "p"], 1, (12, "java", 12, None)),
    ],
)
def test_the_options_say_where_each_is(
    words: list[object], code: int, about: tuple[object, ...], command: Command
) -> None:
    found, out, err = command("a.csv", "b.parquet", *words, "--json")
    assert (found, err) == (code, "")
    answer = json.loads(out)
    assert answer["ok"] == (code == 0)
    assert tuple(answer[letter][name] for letter in "ab" for name in ("n", "client")) == about
    assert answer["keys_shared"] == 300


def test_every_name_of_the_answer_is_there(command: Command) -> None:
    answer = json.loads(command("a.csv", "b.parquet", *WHERE, "--json")[1])
    assert answer["a"]["writer"]["family"][0] == "java"
    assert answer["b"]["writer"]["verdict"] == "one-writer"
    assert answer["reasons"] == [
        {"kind": "client", "sentence": "A's keys are put by java, and B's by librdkafka"}
    ]
    apart = sum(a != b for a, b in zip(BY_JAVA.to_pylist(), BY_LIBRDKAFKA.to_pylist(), strict=True))
    assert answer["keys_meeting"] == 300 - apart
    assert answer["share_of_keys"] == answer["share_of_rows"] == apart / 300
    assert (answer["readings"], answer["is_sampled"], len(answer["examples"])) == (None, False, 10)
    assert set(answer["examples"][0]) == {"key", "a", "b"}


def test_the_words_say_who_and_what_to_do(command: Command) -> None:
    code, out, err = command("a.csv", "b.parquet", *WHERE)
    assert (code, err) == (1, "")
    assert out.startswith("✗ They do not meet: ")
    assert re.search(r"\n table +a\.csv +b\.parquet\n partitions +12, found by its keys +12, found by", out)
    assert "client: A's keys are put by java, and B's by librdkafka\n" in out
    assert "To put every key where java puts it\n  librdkafka: partitioner=murmur2_random\n" in out
    assert "\nKeys that do not meet, those with the most records\n" in out
    code, out, err = command("a.csv", "a.csv", *WHERE)
    assert (code, err) == (0, "")
    assert out.startswith("✓ They meet: all 300 shared keys are in the same partition in both.\n")
    assert "To put" not in out
    write("quoted.csv", k=[f'"{key}"' for key in KEYS])
    code, out, _ = command("a.csv", "quoted.csv", *KEYED, "-n", 12)
    assert code == 1
    assert out.startswith("✗ They do not meet: 0 of 300 keys of A and 300 of B are in both.\n")
    reason = "key-bytes: 300 keys are the same if A's are read as they are and B's without JSON's quotes"
    assert reason in " ".join(out.split())


def test_markup_in_keys_and_names_is_text(command: Command) -> None:
    write("[bold].csv", k=["[red]x", "[/]"])
    code, out, _ = command("[bold].csv", "[bold].csv", *KEYED, "-n", 50, "--client-b", "librdkafka")
    assert code == 1
    assert "   [bold].csv" in out
    assert "[red]x" in out
    assert " [/] " in out


def test_numbers_are_compared_as_bytes(command: Command) -> None:
    write("numbers.parquet", k=pa.array(range(100), pa.int64()))
    write("text.csv", k=[str(each) for each in range(100)])
    words = ["numbers.parquet", "text.csv", *KEYED, "-n", 12, "--json", "--key-type", "java:long"]
    code, out, _ = command(*words, "--key-type-b", "utf8")
    answer = json.loads(out)
    assert (code, answer["readings"], answer["keys_shared"]) == (1, {"a": "java:long", "b": None}, 0)
    # As csv's text too, once the key type is given.
    assert command(*words)[0] == 0


def test_one_of_them_may_be_stdin() -> None:
    lines = "".join(json.dumps({"k": key}) + "\n" for key in KEYS)
    for files in (["-", "a.csv"], ["a.csv", "-"]):
        done = subprocess.run(
            [sys.executable, "-m", "partwright", "copartition", *files, *KEYED, "-n", "12"],
            input=lines.encode(),
            capture_output=True,
            check=True,
        )
        assert done.stdout.decode().startswith("✓ They meet: all 300 shared keys")


def test_empty_and_keyless_files_do_not_meet(command: Command) -> None:
    write("empty.csv", k=pa.array([], pa.string()))
    write("null.parquet", k=pa.nulls(9, pa.string()), p=[3] * 9)
    for other, sentence in (
        ("empty.csv", "B has no records"),
        ("null.parquet", "B has no record with a key"),
    ):
        code, out, _ = command("a.csv", other, *KEYED, "-n", 12, "--json")
        answer = json.loads(out)
        assert (code, answer["ok"], answer["share_of_keys"], answer["examples"]) == (1, False, None, [])
        assert {"kind": "no-shared-keys", "sentence": sentence} in answer["reasons"]
        assert command("a.csv", other, *KEYED, "-n", 12)[1].startswith(
            "✗ They do not meet: 0 of 300 keys of A and 0"
        )
    assert command("empty.csv", "empty.csv", *KEYED, "-n", 12)[0] == 1
    assert command("null.parquet", "null.parquet", *WHERE, "-n", 12)[0] == 1


TOPIC = "kafka://127.0.0.1:9/t"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("- - --key k -n 12", "'-' cannot be both: stdin is read once"),
        ("a.csv --key k -n 12", "Missing argument 'B'"),
        ("a.csv b.parquet -n 12", "name the key's column of 'a.csv' with --key"),
        ("a.csv b.parquet --key k", "give the number of partitions that 'a.csv' would have with -n"),
        ("a.csv b.parquet --key k --n-b 12", "give the number of partitions that 'a.csv' would have with -n"),
        ("a.csv b.parquet --key k --partition p --client-b java",
         "give the number of partitions that 'b.parquet' would have with --n-b"),
        ("a.csv b.parquet --key k --partition p --client java",
         "--partition says where the records of 'a.csv' are, and --client where they would be"),
        ("a.csv b.parquet --key k --partition p --partition-b q --client-b java",
         "--partition-b says where the records of 'b.parquet' are, and --client-b"),
        ("a.csv b.parquet --key k --partition k", "'k' cannot be both the key and the partition"),
        ("a.csv b.parquet --key k --partition p --key-b p",
         "'p' cannot be both the key and the partition: name another column with --partition-b"),
        ("a.csv b.parquet --key k -n 0", "n, the number of partitions, must be from 1"),
        ("a.csv b.parquet --key k -n 12 --n-b -1", "n, the number of partitions, must be from 1"),
        ("a.csv b.parquet --key k -n 12 --client-b jav", 'there is no client "jav"'),
        ("a.csv b.parquet --key k -n 12 --key-type-b lnog", 'there is no key type "lnog"'),
        ("a.csv b.parquet --key q -n 12", "there is no column 'q' in 'a.csv'"),
        ("a.csv b.parquet --key k --key-b '' -n 12", "--key-b is empty: name a column"),
        ("a.csv absent.csv --key k -n 12", "there is no file 'absent.csv'"),
        ("a.csv b.parquet --key k --partition p -n 4",
         "a record of A is in partition 11, which a topic of 4 partitions has not: check -n"),
        ("a.csv b.parquet --key k --partition p --n-b 11",
         "a record of B is in partition 11, which a topic of 11 partitions has not: check --n-b"),
        ("a.csv odd.csv --key k --partition p", "'odd.csv': row 1 is in -1, which is not a partition"),
        ("odd.csv a.csv --key k --partition f", "'odd.csv': row 0 is in '4.5', which is not a partition"),
        ("odd.csv odd.csv --key k -n 5 --key-type java:long", "odd.csv"),
        ("few.csv few.csv --key k --partition p", "nothing tells how many partitions A has: say it with -n"),
        # A topic has its own.
        (f"{TOPIC} {TOPIC} --key k", "--key 'k' names a column of a file"),
        (f"{TOPIC} {TOPIC} -n 12", f"-n 12 is for a file: '{TOPIC}' has its own number of partitions, leave it out"),
        (f"{TOPIC} {TOPIC} --client java", "--client 'java' is for a file: the records of"),
        (f"{TOPIC} {TOPIC} --key-type java:int", "a topic's keys are bytes already"),
        (f"a.csv {TOPIC} --key k --partition p --key-b k",
         "--key-b 'k' names a column of a file: a topic's records have their own key,"),
        (f"a.csv {TOPIC} --key k --partition p --partition-b p", "--partition-b 'p' names a column of a file"),
        (f"a.csv {TOPIC} --key k --partition p --n-b 12", "--n-b 12 is for a file"),
        (f"a.csv {TOPIC} --key k --partition p --client-b java", "--client-b 'java' is for a file"),
        (f"{TOPIC} a.csv --key k --partition p --n-b 12 -n 12", "-n 12 is for a file"),
        (f"{TOPIC} a.csv --partition p", "name the key's column of 'a.csv' with --key-b"),
        (f"{TOPIC} a.csv --key k", "give the number of partitions that 'a.csv' would have with --n-b"),
        (f"a.csv {TOPIC} --key k -n 12 --key-type java:string", "no Kafka answers at 127.0.0.1:9"),
        (f"{TOPIC} a.csv --key k --partition p", "no Kafka answers at 127.0.0.1:9"),
        ("kafka:/x a.csv --key k --partition p", "'kafka:/x' is not a topic's address"),
        ("a.csv kafka://127.0.0.1:9 --key k --partition p", "names no topic: write kafka://host:port/topic"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_sentence(words: str, sentence: str, command: Command) -> None:
    write("odd.csv", k=["a", "b"], p=[4, -1], f=[4.5, 5])
    write("few.csv", k=["a"], p=[4])
    code, out, err = command(*shlex.split(words))
    assert (code, out) == (2, "")
    assert err.startswith("partwright: ")
    assert sentence in err
    assert err.count("\n") == 1


def test_each_files_format_may_be_told(command: Command) -> None:
    for name in ("a.txt", "b.txt"):
        Path(name).write_text("k;v\n" + "".join(f"{key};1\n" for key in KEYS), encoding="utf-8")
    semicolons = ["--format", "csv", "--delimiter", "semicolon"]
    of_b = ["--format-b", "csv", "--delimiter-b", ";"]
    assert command("a.txt", "b.parquet", *KEYED, "-n", 12, *semicolons)[0] == 0
    assert command("b.parquet", "a.txt", *KEYED, "-n", 12, *of_b)[0] == 0
    assert command("a.txt", "b.txt", *KEYED, "-n", 12, *semicolons, *of_b)[0] == 0
    # A's options do not apply to B: without B's own, the name of its file tells the format.
    code, _, said = command("a.txt", "b.txt", *KEYED, "-n", 12, *semicolons)
    assert code == 2
    assert "name its format with --format if it is csv" in said
    code, _, said = command("a.csv", "kafka://127.0.0.1:1/t", *KEYED, "-n", 12, "--format-b", "csv")
    assert code == 2
    assert "--format and --delimiter are for files, and a topic is named" in said


def test_keys_that_are_all_empty_are_told_first(command: Command) -> None:
    write("a.csv", k=[""] * 3, p=["9", "9.0", " 9"])
    write("b.csv", k=["x", "y", "z"], p=[1, 2, 3])
    for other in ("a.csv", "b.csv"):
        _, out, err = command("a.csv", other, *WHERE, "-n", 12)
        assert err == ""
        whose = "Every key" if other == "a.csv" else "Every key of A"
        assert " ".join(out.split()).startswith(
            f"{whose} is empty, and none is null: probably these records have no key"
        )
    assert "Every key of B is empty" in command("b.csv", "a.csv", *WHERE, "-n", 12)[1]
    assert json.loads(command("a.csv", "b.csv", *WHERE, "-n", 12, "--json")[1])["a"]["is_all_empty"]
