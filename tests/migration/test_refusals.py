"""Migrations that are impossible are refused in one sentence, before anything is written."""

from __future__ import annotations

import random
import shlex
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from migrating import Migrate, commit, fill, read
from raw_records import produce_raw

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.connection import KafkaConfig
from partwright.migration import Migration, Side, copy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HERE = KafkaConfig.read({"bootstrap.servers": "127.0.0.1:1"})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("kafka://h:1/a b -n 0", "is a whole number, 1 to 1000000, not 0"),
        ("kafka://h:1 b -n 3", "SOURCE 'kafka://h:1' names no topic"),
        ("orders.csv b -n 3", "'orders.csv' does not name a Kafka"),
        ("kafka://h:1/a kafka://g:1 -n 3", "TARGET 'kafka://g:1' names no topic"),
        ("kafka://h:1/a 'b c' -n 3", "'b c' cannot be a topic's name"),
        ("kafka://h:1/a b -n 3 --order size", "the order is time or generation, not 'size'"),
        ("kafka://h:1/a b -n 3 --client jav", "jav"),
        ("kafka://h:1/a b -n 3 --key-type java:long", "leave out --key-type java:long"),
        ("kafka:///a b -n 3", "no Kafka is named"),
        ("kafka://127.0.0.1:1/a b -n 3", "127.0.0.1:1"),
    ],
)
def test_wrong_words(words: str, said: str, refusal: Callable[..., str]) -> None:
    for step in ("plan", "copy", "verify", "cutover", "finish"):
        assert said in refusal("migrate", step, *shlex.split(words))


@pytest.mark.parametrize(
    ("options", "times"),
    [
        ("-X sasl.username=u", 1),
        ("--command-config a", 1),
        ("--from-config a --to-config a", 1),
        # Each of them has to be corrected.
        ("--from-config a --to-config b", 2),
    ],
)
def test_a_note_about_a_configuration_is_shown_once(
    options: str,
    times: int,
    command: Callable[..., tuple[int, bytes, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).write_text("sasl.username=u\n", encoding="utf-8")
    code, _, err = command(
        "migrate", "plan", "kafka://127.0.0.1:1/a", "kafka://127.0.0.1:2/b", "-n", 3, *shlex.split(options)
    )
    assert code == 2
    assert (
        err.count("not used, since security.protocol is PLAINTEXT, which is the default: sasl.user") == times
    )


def test_a_name_that_leaves_none_for_the_ledger() -> None:
    with pytest.raises(PartwrightError, match="at most 228"):
        Migration(Side(HERE, "a"), Side(HERE, "b" * 229), 3)
    assert len(Migration(Side(HERE, "a"), Side(HERE, "b" * 228), 3).ledger) == 249


def test_what_a_broker_says(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], refusal: Callable[..., str]
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "given", 3)
    topics.create_topic(servers, "other", 3)
    fill(servers, "given", random.Random(4), 300)
    fill(servers, "other", random.Random(4), 300)
    commit(servers, "here", "given", {0: 1})
    commit(servers, "there", "other", {0: 1})
    words = migrate("given", "given-5", 5).words
    source = words[0]

    def refuses(step: str, said: str, *more: object, target: str = "given-5", n: int = 5) -> None:
        assert said in refusal("migrate", step, source, target, "-n", n, *more)

    refuses("plan", "are both 'given' of one cluster", target="given")
    refuses("copy", "offsets that this migration did not write", target="other", n=3)
    refuses("copy", "has 3 partitions, not 5", target="other")
    refuses("plan", "there is no group 'hre'", "--group", "hre")
    refuses("plan", "'there' has committed no offset of the topic 'given'", "--group", "there")
    refuses("copy", "more than 0, not", "--rate", 0)
    refuses("copy", "0 or more, not -1", "--lag", -1)
    refuses("verify", "nothing was copied to 'given-5' yet")
    refuses("cutover", "nothing was copied to 'given-5' yet")
    refuses("cutover", "nothing was copied to 'given-5' yet", "--back")
    refuses("finish", "nothing was copied to 'given-5' yet")
    assert topics.partition_count(servers, "given-5") is None
    run = migrate("given", "given-5", 5)
    run("copy")
    refuses("finish", "nothing was cut over")
    refuses("cutover", "nothing was cut over", "--back")
    refuses("copy", "began with -n 5, and not with 6", n=6)
    refuses("copy", "began with --client java, and not with sarama", "--client", "sarama")
    assert "is being copied from 'given'" in refusal(
        "migrate", "copy", f"kafka://{servers}/other", "given-5", "-n", 5
    )
    assert "there is no topic 'gven'" in refusal("migrate", "copy", f"kafka://{servers}/gven", "x", "-n", 5)
    producer = Producer({"bootstrap.servers": servers})
    producer.produce("__partwright_migrate-given-5", value=b'{"version": 99}')
    producer.flush()
    refuses("copy", "is of version 99, and this partwright reads 1")


def test_a_header_name_that_is_not_utf8(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], refusal: Callable[..., str]
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "odd-headers", 2)
    produce_raw(servers, "odd-headers", 0, [(b"k", b"v", [("é".encode(), b"1"), (b"", None)])] * 3)
    run = migrate("odd-headers", "odd-headers-3", 3)
    assert run("plan", "--client", "java")["records"] == 3
    run("copy")
    assert run("verify")["changed"] == 0
    # It comes after the first look.
    produce_raw(servers, "odd-headers", 0, [(b"k", b"v", [(b"ok", b"1")]), (b"k", b"v", [(b"a\xffb", b"1")])])
    said = "the record at offset 4 of partition 0 of 'odd-headers' has a header name that is not UTF-8, which"
    assert said in refusal("migrate", "copy", *run.words)
    assert len(read(servers, "odd-headers-3")) == 3
    # It is there from the beginning: nothing is made.
    words = [run.words[0], "odd-headers-4", "-n", "4"]
    for step in ("plan", "copy"):
        assert said in refusal("migrate", step, *words)
    assert topics.partition_count(servers, "odd-headers-4") is None
    assert topics.partition_count(servers, "__partwright_migrate-odd-headers-4") is None


def test_the_limit_that_a_header_name_ends_at_its_nul(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate]
) -> None:
    """As docs/migrate.md says. If confluent-kafka gives whole names one day, the limit can go."""
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "cut-headers", 1)
    produce_raw(servers, "cut-headers", 0, [(b"k", b"v", [(b"a\0b", b"1")])])
    assert [row.headers for row in read(servers, "cut-headers")] == [(("a", b"1"),)]
    run = migrate("cut-headers", "cut-headers-2", 2)
    run("copy")
    assert run("verify")["changed"] == 0
    assert [row.headers for row in read(servers, "cut-headers-2")] == [(("a", b"1"),)]


def test_an_empty_topic_and_one_that_is_made_anew(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], refusal: Callable[..., str]
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "without-records", 2)
    run = migrate("without-records", "without-records-3", 3)
    for step in ("plan", "copy", "verify", "cutover"):
        found = run(step)
        assert (found["records"], found["written"], found["groups"]) == (0, 0, {})
    topics.delete_topic(servers, "without-records")
    topics.create_topic(servers, "without-records", 2)
    assert "was deleted and made again" in refusal("migrate", "verify", *run.words)
    assert read(servers, "without-records-3") == []


@pytest.mark.parametrize("when", ["first", "last"])
def test_a_new_topic_that_is_made_anew_during_the_copy(
    when: str, broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], refusal: Callable[..., str]
) -> None:
    """After the first transaction, or after the last: the copy is not complete, whatever was written since."""
    servers, old, new = broker.bootstrap_servers, f"anew-{when}", f"anew-{when}-3"
    topics.create_topic(servers, old, 2)
    fill(servers, old, random.Random(8), 900)
    records = len(read(servers, old))
    moments = [1 if when == "first" else records]

    def make_anew(copied: int, _left: int) -> None:
        if moments and copied >= moments[0]:
            moments.clear()
            topics.delete_topic(servers, new)
            topics.create_topic(servers, new, 3)

    config = KafkaConfig.read({}, servers=servers)
    with pytest.raises(BrokerError, match="was deleted and made again since the copy into it began"):
        copy(Migration(Side(config, old), Side(config, new), 3), rate=300, copying=make_anew)
    # What was written after the first transaction is not there either.
    assert read(servers, new) == []
    run = migrate(old, new, 3)
    for step in ("copy", "verify", "cutover"):
        assert "was deleted and made again since the copy into it began" in refusal(
            "migrate", step, *run.words
        )
