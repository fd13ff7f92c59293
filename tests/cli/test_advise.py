"""`partwright advise`: its text, the same as JSON, and each refusal."""

from __future__ import annotations

import json
import shlex
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
    assert " ".join(lines).startswith(
        "Take 15 partitions for 100 MB/s: it needs 9 to 13, rounded up to what brokers share evenly. The largest need "
        "is produce: target divided by what a partition takes (Jun Rao 2015). "
    )
    assert "consumers 6 6 a partition is read by one member of a group at a time" in lines
    assert "open files 15 to 150 30 to 300 150 to 1,500" in lines
    assert "open files 1 to 10 segments a replica measured" in lines
    assert any(line.startswith("Jun Rao 2015: ") for line in lines)


def test_json_is_what_python_gives(command: Command) -> None:
    words = "--produce 10 --consume 5..8.5 --power 1,1,2 --growth 2 --replication-factor 2 --held 7 --segments 3 --json"
    code, out, _ = command("advise", "40", *words.split())
    assert code == 0
    advice = pw.cluster.advise(
        40,
        pw.cluster.TopicClients(produce_mb_s=10, consume_mb_s=(5, 8.5)),
        pw.cluster.BrokerFleet(power=[1, 1, 2], replication_factor=2, held=7, segments=3),
        growth=2,
    )
    told = json.loads(out)
    assert told.pop("summary").startswith(f"Take {advice.recommended} partitions for 40 MB/s: ")
    assert told == json.loads(json.dumps(advice.to_dict()))


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
        is_client = name in pw.cluster.TopicClients.__slots__
        part, kind = ("clients", pw.cluster.TopicClients) if is_client else ("fleet", pw.cluster.BrokerFleet)
        expected = pw.cluster.advise(100, **{part: kind(**{name: value})}).to_dict()
        told = json.loads(out)
        assert told.pop("summary")
        assert told == json.loads(json.dumps(expected)), option
        assert out != plain, option


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "name TARGET, the topic's MB/s at its peak"),
        ("ten", "TARGET takes a number above 0, such as 100 or 2.5, not 'ten'"),
        ("0", "TARGET is a number above 0"),
        ("nan", "TARGET takes a number above 0"),
        ("1e9", "TARGET takes a number above 0"),
        ("100 --growth 1_0", "--growth takes a number above 0, such as 100 or 2.5, not '1_0'"),
        (
            "100 --produce 8-12",
            "--produce takes a number above 0 or a range, such as 10 or 8..12, not '8-12'",
        ),
        ("100 --produce 12..8", "--produce is a range from 12 to 8: turn it round"),
        ("100 --produce ٨", "--produce takes a number above 0"),
        ("100 --power 1,,2", "--power takes a number for each broker, such as 1,1,2, not '1,,2'"),
        ("100 --power ''", "--power takes a number for each broker"),
        ("100 --power 1,2 --brokers 3", "power has 2 numbers and brokers is 3"),
        ("100 --consumers -1", "consumers is a whole number, 1 to 1000000, not -1"),
        ("100 --consumers x", "'x' is not a valid integer"),
        ("100 --brokers 2 --replication-factor 3", "3 replicas of a partition need as many brokers"),
        ("1000000 --produce 0.001", "need more than 100,000 partitions"),
    ],
)
def test_what_is_wrong_is_one_sentence(words: str, sentence: str, refusal: Refusal) -> None:
    assert sentence in refusal("advise", *shlex.split(words))


def test_one_is_one(command: Command) -> None:
    code, out, _ = command(
        "advise", "1", "--brokers", "1", "--segments", "1", "--clean-s", "2", "--batch-size", "64000000"
    )
    text = " ".join(out.decode().split())
    assert code == 0
    assert text.startswith("Take 1 partition for 1 MB/s: ")
    assert "1 partition: open batches" in text
    assert "1 segment a replica" in text
    assert ", 2 s each" in text
    assert "1 partitions" not in text
    _, _, said = command("advise", "1", "--brokers", "1", "--replication-factor", "2")
    assert said == (
        "partwright: 2 replicas of a partition need as many brokers, and there is 1: take fewer replicas\n"
    )


def test_numbers_of_replicas_are_what_python_says(command: Command) -> None:
    from partwright.assignors.group_sizes import replica_counts

    words = "--replicas 2..9 --topic a=12 --topic b=5 --threads 2 --assignor roundrobin"
    code, out, err = command("advise", *words.split(), "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    summary = told.pop("summary")
    assert summary.startswith(
        "No number of these replicas lets all consumers read equally many partitions under"
    )
    assert told == replica_counts({"a": 12, "b": 5}, 9, 2, threads=2, assignor="roundrobin").to_dict()
    code, out, _ = command("advise", *words.split())
    assert code == 0
    text = " ".join(out.decode().split())
    assert text.startswith(f"{summary} An autoscaler's divisor rule never takes ")
    _, out, _ = command("advise", "--replicas", "2..4", "--topic", "a=12")
    assert " ".join(out.decode().split()).startswith(
        "All consumers read equally many partitions with 2, 3 and 4 replicas under range."
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "name TARGET, the topic's MB/s at its peak, or ask about numbers of replicas with --replicas"),
        ("100 --replicas 1..5 --topic t=3", "TARGET asks for partitions, and --replicas for replicas"),
        ("--replicas 1..5", "name each with --topic NAME=N"),
        ("--replicas 5..1 --topic t=3", "the smallest number of replicas is above the largest: 5 to 1"),
        (
            "--replicas many --topic t=3",
            "--replicas takes numbers of replicas, such as 1..50 or 7, not 'many'",
        ),
        ("--replicas 3 --topic t=3 --brokers 5", "--brokers is not for --replicas: leave one of them out"),
        ("100 --topic t=3", "--topic is not for TARGET: leave one of them out"),
        ("--replicas 3 --topic t", "topics are named as orders=12,users=7, not 't'"),
        ("--replicas 3 --topic t=3 --threads 0", "threads is a whole number from 1 to 1000, not 0"),
    ],
)
def test_replicas_are_refused_in_one_sentence(words: str, sentence: str, refusal: Refusal) -> None:
    assert sentence in refusal("advise", *words.split())


def test_a_platform_says_what_its_provider_publishes(command: Command) -> None:
    code, out, _ = command("advise", 100, "--platform", "msk:m7g.large", "--produce", "0.1", "--json")
    told = json.loads(out)
    assert code == 0
    row = next(
        each for each in told["choices"][0]["figures"] if each["name"] == "replicas recommended at most"
    )
    assert (row["low"], row["source"]) == (1000, "AWS MSK")
    assert "bestpractices.html" in told["sources"]["AWS MSK"]
    # 1,002 partitions with three replicas on three brokers.
    assert any(
        "1,002 replicas on a broker are more than the 1,000 that AWS recommends for kafka.m7g.large" in each
        and "take kafka.m7g.2xlarge, or more brokers" in each
        for each in told["choices"][0]["warnings"]
    )
    code, out, _ = command("advise", 100, "--platform", "redpanda", "--json")
    figures = {each["name"]: each["low"] for each in json.loads(out)["choices"][0]["figures"]}
    assert figures["memory of a broker"] == 2_000_000 * figures["replicas"]


@pytest.mark.parametrize(
    ("size", "most"),
    [
        ("t3.small", 300),
        ("m5.large", 1000),
        ("kafka.m7g.xlarge", 1000),
        ("m5.2xlarge", 2000),
        ("m7g.4xlarge", 4000),
        ("m5.24xlarge", 4000),
    ],
)
def test_msk_sizes_have_their_published_numbers(size: str, most: int) -> None:
    from partwright.cluster.sizing.costs import platform_of

    assert platform_of(f"msk:{size}").most_replicas == most


@pytest.mark.parametrize("platform", ["msk", "msk:", "msk:m9.large", "confluent", ""])
def test_no_other_platform_is_known(platform: str, refusal: Refusal) -> None:
    assert "--platform is redpanda or msk:SIZE with one of t3.small" in refusal(
        "advise", 100, "--platform", platform
    )
