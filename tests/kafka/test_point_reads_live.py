"""`partwright which --topic kafka://...` on a live topic, and its command for kcat, if there is a kcat to run it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

import partwright as pw
from partwright.kafka import topics

if TYPE_CHECKING:
    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker


def which(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "partwright", "which", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture(scope="module")
def topic(broker: EmbeddedKafka) -> str:
    """The address of a topic of 7 partitions with text keys, and others with numbers."""
    topics.create_topic(broker.bootstrap_servers, "looked-up", 7)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "partitioner": "murmur2_random"})
    for number in range(500):
        producer.produce("looked-up", b"text %d" % number, key=b"user-%d" % number)
    assert producer.flush() == 0
    return f"kafka://{broker.bootstrap_servers}/looked-up"


def test_the_topic_itself_says_how_many_partitions_it_has(topic: str) -> None:
    said = which("user-17", "--topic", topic, "--json")
    assert (said.returncode, said.stderr) == (0, "")
    answer = json.loads(said.stdout)
    assert answer["n"] == 7
    assert answer["partitions"] == pw.which("user-17", 7)
    assert answer["read"]["partition"] == pw.partition_for_key("user-17", 7)
    other = which("user-17", "--topic", topic, "-n", 12, "--json")
    assert other.stderr == "the topic has 7 partitions, -n says 12\n"
    assert json.loads(other.stdout)["read"]["partition"] == pw.partition_for_key("user-17", 12)


def test_a_topic_that_is_not_there_is_a_sentence(broker: EmbeddedKafka) -> None:
    said = which("user-17", "--topic", f"kafka://{broker.bootstrap_servers}/nowhere")
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == (
        f"partwright: there is no topic 'nowhere' at {broker.bootstrap_servers}: check its name, or make it first\n"
    )


@pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed")
def test_kcats_line_finds_the_record(topic: str) -> None:
    line = json.loads(which("user-17", "--topic", topic, "--json").stdout)["read"]["kcat"]
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, timeout=60)
    found = done.stdout.splitlines()
    assert "user-17\ttext 17" in found
    keys = [f"user-{number}" for number in range(500)]
    here = [
        place
        for place in pw.partition_for_key(keys, 7).to_pylist()
        if place == pw.partition_for_key("user-17", 7)
    ]
    assert len(found) == len(here) < 100
