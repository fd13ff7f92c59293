"""`partwright advise`: what it prints, the same as JSON, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]


def test_a_count_its_reasons_and_its_costs(command: Command) -> None:
    code, out, err = command("advise", 100, "--produce", "8..12", "--consume", "20", "--consumers", 6)
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.decode().splitlines()]
    assert lines[0] == "15 partitions for 100 MB/s: 9 to 13 at least, up to what brokers share evenly"
    assert "consumers 6 a partition is read by one member of a group at a time" in lines
    assert "open files 15 to 150 30 to 300 150 to 1,500 (3)" in lines
    assert any(line.startswith("(3) 1 to 10 segments a replica (measured)") for line in lines)
    assert any(line.startswith("Jun Rao 2015: ") for line in lines)


def test_json_is_what_python_gives(command: Command) -> None:
    words = "--produce 10 --consume 5..8.5 --power 1,1,2 --growth 2 --replication-factor 2 --held 7 --segments 3 --json"
    code, out, _ = command("advise", "40", *words.split())
    assert code == 0
    advice = pw.cluster.advise(
        40,
        produce_mb_s=10,
        consume_mb_s=(5, 8.5),
        power=[1, 1, 2],
        growth=2,
        replication_factor=2,
        held=7,
        segments=3,
    )
    assert json.loads(out) == json.loads(json.dumps(advice.to_dict()))


def test_all_options_reach_the_advice(command: Command) -> None:
    words = {
        "--consumers": ("consumers", 4),
        "--groups": ("groups", 2),
        "--producers": ("producers", 3),
        "--brokers": ("brokers", 5),
        "--batch-size": ("batch_size", 1000),
        "--buffer-memory": ("buffer_memory", 100),
        "--replica-fetchers": ("replica_fetchers", 2),
        "--cleaner-threads": ("cleaner_threads", 3),
        "--clean-s": ("clean_s", 2),
    }
    _, plain, _ = command("advise", 100, "--json")
    for option, (name, value) in words.items():
        _, out, _ = command("advise", 100, option, value, "--json")
        expected = pw.cluster.advise(100, **{name: value}).to_dict()
        assert json.loads(out) == json.loads(json.dumps(expected)), option
        assert out != plain, option


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Missing argument 'TARGET'"),
        (["ten"], "TARGET takes a number above 0, 100 or 2.5 say, not 'ten'"),
        (["0"], "TARGET is a number above 0"),
        (["nan"], "TARGET takes a number above 0"),
        (["1e9"], "TARGET takes a number above 0"),
        (["100", "--growth", "1_0"], "--growth takes a number above 0, 100 or 2.5 say, not '1_0'"),
        (
            ["100", "--produce", "8-12"],
            "--produce takes a number above 0 or a range, 10 or 8..12 say, not '8-12'",
        ),
        (["100", "--produce", "12..8"], "--produce is a range from 12 to 8: turn it round"),
        (["100", "--produce", "٨"], "--produce takes a number above 0"),
        (["100", "--power", "1,,2"], "--power takes a number for each broker, 1,1,2 say, not '1,,2'"),
        (["100", "--power", ""], "--power takes a number for each broker"),
        (["100", "--power", "1,2", "--brokers", "3"], "power has 2 numbers and brokers is 3"),
        (["100", "--consumers", "-1"], "consumers is a whole number, 1 to 1000000, not -1"),
        (["100", "--consumers", "x"], "'x' is not a valid integer"),
        (
            ["100", "--brokers", "2", "--replication-factor", "3"],
            "3 replicas of a partition need as many brokers",
        ),
        (["1000000", "--produce", "0.001"], "need more than 100,000 partitions"),
    ],
)
def test_what_is_wrong_is_one_sentence(words: list[str], sentence: str, refusal: Refusal) -> None:
    assert sentence in refusal("advise", *words)


def test_one_is_one(command: Command) -> None:
    code, out, _ = command(
        "advise", "1", "--brokers", "1", "--segments", "1", "--clean-s", "2", "--batch-size", "64000000"
    )
    text = out.decode()
    assert code == 0
    assert text.startswith("1 partition for 1 MB/s: ")
    assert "1 partition: open batches" in text
    assert "1 segment a replica" in text
    assert ", 2 s each" in " ".join(text.split())
    assert "1 partitions" not in text
    _, _, said = command("advise", "1", "--brokers", "1", "--replication-factor", "2")
    assert said == (
        "partwright: 2 replicas of a partition need as many brokers, and there is 1: take fewer replicas\n"
    )
