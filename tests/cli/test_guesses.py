"""What people type by guessing: each is taken, or refused with the word that is right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    file = tmp_path / "orders.csv"
    file.write_text("user;amount\nTT0124;1\nN14228;2\n")
    return file


def answer(command: Command, *words: object) -> Any:
    code, out, err = command(*words)
    assert (code, err) == (0, ""), err
    return json.loads(out)


@pytest.mark.parametrize(
    ("guess", "own"),
    [
        (("coordinator", "--group", "billing"), ("coordinator", "billing")),
        (("advise", "100MB/s"), ("advise", "100")),
        (("advise", "0.1 GB/s", "--produce", "8000..12000kB/s"), ("advise", "100", "--produce", "8..12")),
        (
            ("which", "42", "-n", 12, "--key-type", "long"),
            ("which", "42", "-n", 12, "--key-type", "java:long"),
        ),
    ],
)
def test_it_is_the_same_as_the_own_word(
    command: Command, guess: tuple[object, ...], own: tuple[object, ...]
) -> None:
    assert answer(command, *guess, "--json") == answer(command, *own, "--json")


def test_a_separator_and_a_number_of_partitions(command: Command, orders: Path) -> None:
    words = ("resize", orders, "--key", "user", "--to", 16, "--json")
    found = answer(command, *words, "-n", 12, "--sep", ";")
    assert found == answer(command, *words, "--from", 12, "--delimiter", ";")


def test_members_without_a_file(command: Command, refusal: Refusal) -> None:
    words = ("assign", "--topics", "orders=6", "--assignor", "range")
    found = answer(command, *words, "--members", "c1,c2", "--json")["assignment"]
    assert found == {
        name: [list(pair) for pair in pairs]
        for name, pairs in pw.assign({"orders": 6}, ["c1", "c2"]).to_dict().items()
    }
    code, out, _ = command("assign", "--topics", "orders=6", "--members", "c1,c2", "--compare", "--json")
    assert code == 0
    assert len(json.loads(out)["assignors"]) == 6
    assert "takes the members' ids, such as c1,c2,c3, not how many: '3'" in refusal(*words, "--members", 3)
    assert "--members has an empty id" in refusal(*words, "--members", "c1,,c2")
    assert "name them with --topics" in refusal("assign", "--members", "c1,c2")
    assert "leave out 'group.json'" in refusal(*words, "group.json", "--members", "c1")
    assert "which group? Name its FILE" in refusal("assign")


def test_several_keys(command: Command, refusal: Refusal) -> None:
    code, out, _ = command("which", "TT0124", "N14228", "-n", 15, "--json")
    found = [json.loads(line)["partitions"] for line in out.decode().splitlines()]
    assert (code, found) == (0, [pw.which("TT0124", 15), pw.which("N14228", 15)])
    assert "a page or a picture is of one key, and 2 keys are named" in refusal(
        "which", "a", "b", "-n", 15, "--output", "html"
    )


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (
            "42",
            "As a number it is another key: partition {long} as java:long, {int} as java:int (--key-type).",
        ),
        ("3000000000", "As a number it is another key: partition {long} as java:long (--key-type)."),
    ],
)
def test_digits_say_where_they_are_as_numbers(command: Command, key: str, line: str) -> None:
    placed = {
        each: pw.partition_for_key(int(key), 12, key_type=each)
        for each in (("long", "int") if int(key) < 2**31 else ("long",))
    }
    _, out, _ = command("which", key, "-n", 12, "--client", "java")
    assert line.format(**placed) in " ".join(out.decode().split())
    for words in (("a42",), (key, "--key-type", "java:long"), ("3432", "--hex"), ("99999999999999999999",)):
        _, out, _ = command("which", *words, "-n", 12)
        assert b"another key" not in out


@pytest.mark.parametrize(
    ("client", "meant"),
    [
        ("python", "librdkafka, kafka-python or aiokafka"),
        ("spark", "java"),
        ("kafkacat", "librdkafka"),
        ("pyflink", "java"),
        ("go", "franz-go, sarama, kafka-go:hash or librdkafka"),
        ("node", "kafkajs or librdkafka"),
        ("rust", "librdkafka"),
        ("dotnet", "librdkafka"),
    ],
)
def test_a_language_is_refused_with_its_clients(refusal: Refusal, client: str, meant: str) -> None:
    wanted = f'there is no client "{client}"; did you mean {meant}?'
    assert wanted in refusal("which", "a", "-n", 12, "--client", client)
    assert all(name in pw.clients()["client"].to_pylist() for name in meant.replace(" or ", ", ").split(", "))
    with pytest.raises(pw.PartwrightError, match=f"did you mean {meant.split(' or ', maxsplit=1)[0]}"):
        pw.partition_for_key(["a"], 12, client.upper())


@pytest.mark.parametrize(
    ("name", "own"), [("default", "sticky@4.4"), ("uniform-sticky", "uniform-sticky@2.4")]
)
def test_a_strategy_without_a_version_is_the_newest(name: str, own: str) -> None:
    assert pw.Producer({"t": 3}, name).strategy == own


def test_csv_on_stdin_is_refused_with_the_option(process: Any) -> None:
    found = process("check", "-", "--key", "user", "-n", 12, stdin=b"user,amount\nTT0124,1\n")
    assert found.returncode == 2
    assert found.stderr.decode().endswith("give one object a line, or name its format, as in --format csv\n")
    found = process(
        "check", "-", "--key", "user", "-n", 12, "--format", "csv", stdin=b"user,amount\nTT0124,1\n"
    )
    assert b"holds 100.0% of the records" in found.stdout
