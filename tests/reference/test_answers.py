"""The programs of tests/reference without the clients: what they make of answers, and which answers they refuse."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import ModuleType

PARTITIONS = [1, 2, 3, 6, 7, 10, 12, 16, 17, 50, 100, 1000]

# A client with two profiles: the key's length, or in turn without a key; and its first byte, if there is one
# below 80.
CLIENT = """
import itertools, json, sys

VERSION = "1.0"
turn = itertools.count()
print(json.dumps({"library": "lengths", "version": VERSION, "functions": {"lengths": "len()", "first": "[0]"}}))
print("lengths first")
for line in sys.stdin:
    written, n = line.split(" ")
    key = None if written == "null" else bytes.fromhex(written)
    length = (next(turn) if key is None else len(key)) % int(n)
    print(length, key[0] % int(n) if key and key[0] < 0x80 else "-")
"""


@pytest.fixture
def answers(reference: Callable[[str], ModuleType]) -> ModuleType:
    return reference("answers")


@pytest.fixture
def generate(
    reference: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ModuleType:
    """generate.py with the one client `lengths`, and its own golden files."""
    generate = reference("generate")
    client = generate.Client("lengths", lambda _: program(tmp_path), "argument")
    monkeypatch.setattr(generate, "CLIENTS", (client,))
    monkeypatch.setattr(generate, "GOLDEN", tmp_path / "golden")
    return generate


def program(folder: Path, code: str = CLIENT) -> list[str]:
    (folder / "client.py").write_text(code, encoding="utf-8")
    return [sys.executable, str(folder / "client.py")]


# The files made from answers.


def test_each_answer_stands_beside_its_key(
    answers: ModuleType, reference: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    text = answers.golden(program(tmp_path))
    assert text.isascii()
    golden = json.loads(text)
    assert list(golden) == ["provenance", "partitions", "profiles", "null", "empty", "keys"]
    assert golden["provenance"] == {
        "library": "lengths",
        "version": "1.0",
        "functions": {"lengths": "len()", "first": "[0]"},
    }
    assert golden["partitions"] == PARTITIONS
    assert golden["profiles"] == ["lengths", "first"]
    keys = reference("questions").keys()
    assert golden["keys"] == [
        [
            name,
            key.hex(),
            [len(key) % n for n in PARTITIONS],
            [key[0] % n for n in PARTITIONS] if key[0] < 0x80 else None,
        ]
        for name, key in keys.items()
    ]
    # One key per line.
    assert len([line for line in text.splitlines() if line.startswith('  ["')]) == len(keys)


def test_what_was_seen_without_a_key_is_recorded(answers: ModuleType, tmp_path: Path) -> None:
    golden = json.loads(answers.golden(program(tmp_path)))
    assert golden["null"] == {
        "lengths": {"7": list(range(7)), "12": list(range(12))},
        "first": {"7": [], "12": []},
    }
    assert golden["empty"] == {"lengths": {"7": [0], "12": [0]}, "first": {"7": [], "12": []}}


def test_keys_reach_the_client_as_they_are(answers: ModuleType, tmp_path: Path) -> None:
    said = answers.ask(program(tmp_path), [(None, 3), (b"", 3), (b"\x00\x7f", 5), (b"\x80", 7), (None, 3)])
    assert said.profiles == ["lengths", "first"]
    assert said.partitions == [[0, None], [0, None], [2, 0], [1, None], [1, None]]


# Output that is not an answer.


@pytest.mark.parametrize(
    ("line", "instead", "message"),
    [
        ("print(length,", "print(int(n),", r"^lengths puts 6b6579 into partition 12 of 12$"),
        ("print(length,", "print(-1,", r"^lengths puts 6b6579 into partition -1 of 12$"),
        ("print(length,", "print('x',", r"^lengths answers 'x 11', which is not one partition for each of"),
        ("print(length,", "print(", r"^lengths answers '11', which is not one partition for each of"),
        (
            "print(length,",
            "print(1, 1,",
            r"^lengths answers '1 1 11', which is not one partition for each of",
        ),
        ("print(length,", "if key: print(length,", r"^lengths was asked 2 questions and gave 1 answers$"),
        (
            "print(length,",
            "print('0 0')\n    print(length,",
            r"^lengths was asked 2 questions and gave 4 answers$",
        ),
        ('print("lengths first")', "", r"has the profiles \['3', '11'\], and functions for"),
        ('print("lengths first")', 'print("lengths second")', r"and functions for \['lengths', 'first'\]$"),
        ("print(json.dumps(", "print((", r"does not say who answers: "),
        ('"functions": {"lengths": "len()", "first": "[0]"}', "", r"does not say who answers: "),
        ('VERSION = "1.0"', "sys.exit()", r"does not say who answers: \[\]$"),
        ('VERSION = "1.0"', "sys.exit('no such client')", r"ended with 1 and said:\nno such client$"),
    ],
)
def test_a_broken_answer_is_noticed(
    line: str, instead: str, message: str, answers: ModuleType, tmp_path: Path
) -> None:
    assert line in CLIENT
    with pytest.raises(answers.CannotAskError, match=message):
        answers.ask(program(tmp_path, CLIENT.replace(line, instead)), [(b"key", 12), (b"", 7)])


# The command line.


def run(generate: ModuleType, *arguments: str) -> int:
    code: int = generate.main(arguments)
    return code


def test_what_is_written_is_equal_afterwards(
    generate: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(generate, "--check") == 1
    assert "clients/lengths.json is not there yet; the client writes" in capsys.readouterr().out
    assert run(generate, "--write") == 0
    capsys.readouterr()
    assert run(generate) == 0
    assert capsys.readouterr().out == "clients/lengths.json: the client says the same\n"


def test_a_client_that_says_something_else_is_noticed(
    generate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(generate, "--write")
    capsys.readouterr()
    golden = tmp_path / "golden" / "clients" / "lengths.json"
    recorded = golden.read_bytes()
    moved = CLIENT.replace("print(length,", "print(0 if key == b'hejsan' else length,")
    monkeypatch.setattr(
        generate, "CLIENTS", (generate.Client("lengths", lambda _: program(tmp_path, moved), "argument"),)
    )
    assert run(generate, "--check", "--client", "lengths") == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("clients/lengths.json differs from what the client says now in 2 lines")
    assert [line.split(",")[0] for line in said[1:3]] == ['-  ["clients/hejsan"', '+  ["clients/hejsan"']
    assert golden.read_bytes() == recorded


def test_a_client_that_cannot_be_asked_is_one_sentence(
    generate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["generate.py"])
    silent = generate.Client("lengths", lambda _: program(tmp_path, "pass"), "argument")
    monkeypatch.setattr(generate, "CLIENTS", (silent,))
    assert run(generate, "--check") == 2
    assert "does not say who answers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        ("build_java", "Kafka's Java client needs a JDK: install JDK 17 or later."),
        ("build_go", "The Go clients are built with Go: install Go 1.26.0 or later (go)."),
        ("build_node", "kafkajs runs on Node: install Node 20 or later with npm."),
    ],
)
def test_a_missing_tool_is_one_sentence(
    build: str,
    sentence: str,
    reference: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    builds = reference("builds")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(builds.CannotAskError) as refused:
        getattr(builds, build)(tmp_path)
    assert str(refused.value) == sentence


STALLS = """
import sys, time
from pathlib import Path
tries = Path(sys.argv[1])
tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
time.sleep(60 if len(tries.read_text()) <= int(sys.argv[2]) else 0)
"""


@pytest.mark.parametrize(("stalled", "tries"), [(0, 1), (1, 2), (2, 2)])
def test_a_download_that_stalls_is_tried_once_more(
    stalled: int,
    tries: int,
    reference: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    builds = reference("builds")
    monkeypatch.setattr(builds, "FETCH_PATIENCE_S", 3)
    command = [sys.executable, "-c", STALLS, str(tmp_path / "tries"), str(stalled)]
    if stalled < tries:
        builds.fetch(command)
    else:
        with pytest.raises(builds.CannotAskError, match=r"had no answer after 3 s, 2 times over$"):
            builds.fetch(command)
    assert (tmp_path / "tries").read_text() == "x" * tries


def test_a_build_gives_the_command_that_answers(
    generate: ModuleType, answers: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(generate, "--build", str(tmp_path / "built"), "--client", "lengths") == 0
    command: Sequence[str] = json.loads(capsys.readouterr().out)
    assert command == [sys.executable, str(tmp_path / "client.py"), "argument"]
    assert answers.ask(command, [(b"key", 12)]).partitions == [[3, 107 % 12]]


def test_a_runtime_is_built_once(generate: ModuleType, tmp_path: Path) -> None:
    folders: list[Path] = []

    def build(folder: Path) -> list[str]:
        folders.append(folder)
        return ["program"]

    clients = [generate.Client(name, build, name) for name in ["one", "two"]]
    assert [command for _, command in generate.build(clients, tmp_path)] == [["program"], ["program"]]
    assert folders == [tmp_path]
