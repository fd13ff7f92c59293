"""How a live broker appends, caches and sends records: its system calls, as strace sees them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from partwright.kafka import EmbeddedKafka, topics

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.broker,
    pytest.mark.skipif(
        not sys.platform.startswith("linux") or shutil.which("strace") is None,
        reason="strace shows the calls",
    ),
]

TOPIC = "traced"
RECORDS, SIZE = 20_000, 500
TRACED = "sendfile,write,pwrite64,writev,pwritev,read,pread64,readv,lseek,fsync,fdatasync"
CALL = re.compile(rf"^(\d+) +(\w+)\(.*/{TOPIC}-0/\d+\.log>")
RESULT = re.compile(r"= (\d+)$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>")


class Calls:
    """The calls that a broker made on the topic's one segment: how often each, and with how many bytes."""

    def __init__(self, lines: list[str]) -> None:
        self.count: Counter[str] = Counter()
        self.size: Counter[str] = Counter()
        waiting: dict[str, str] = {}
        for line in lines:
            if call := CALL.match(line):
                thread, name = call.groups()
                self.count[name] += 1
                if line.endswith("<unfinished ...>"):
                    waiting[thread] = name
                    continue
            elif (resumed := RESUMED.match(line)) and resumed[1] in waiting:
                name = waiting.pop(resumed[1])
            else:
                continue
            if result := RESULT.search(line):
                self.size[name] += int(result[1])


@contextmanager
def traced(broker: EmbeddedKafka, folder: Path) -> Iterator[list[str]]:
    """The broker's calls during the block, one per line, after the block is left."""
    found: list[str] = []
    output = folder / "calls"
    words = ["strace", "-f", "-y", "-e", f"trace={TRACED}", "-o", str(output), "-p", str(broker.pid)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as strace:
        assert strace.stderr is not None
        said = strace.stderr.readline()
        try:
            if "attached" not in said:
                pytest.skip(f"strace may not look at the broker: {said.strip()}")
            yield found
        finally:
            strace.terminate()
            strace.communicate()
    found += output.read_text(encoding="utf-8", errors="replace").splitlines()


def from_disk(broker: EmbeddedKafka) -> int:
    """How many bytes the broker's reads got from a disk, not from the page cache."""
    text = Path(f"/proc/{broker.pid}/io").read_text(encoding="ascii")
    return int(re.findall(r"^read_bytes: (\d+)$", text, re.MULTILINE)[0])


def write(config: dict[str, str]) -> None:
    producer = Producer(config)
    for _ in range(RECORDS):
        producer.produce(TOPIC, b"x" * SIZE)
        producer.poll(0)
    assert producer.flush(60) == 0


def read(config: dict[str, str]) -> None:
    consumer = Consumer({**config, "group.id": "traced", "enable.auto.commit": "false"})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    count = 0
    while count < RECORDS:
        taken = consumer.consume(1000, timeout=60)
        assert taken
        assert not any(message.error() for message in taken)
        count += len(taken)
    consumer.close()


@pytest.mark.parametrize("security", ["PLAINTEXT", "SSL"])
def test_a_broker_appends_without_a_flush_and_sends_files_unless_it_encrypts(
    security: str, tmp_path: Path
) -> None:
    with EmbeddedKafka(security=security) as broker:
        topics.create_topic(broker.internal_bootstrap_servers, TOPIC, 1)
        config = {"bootstrap.servers": broker.bootstrap_servers}
        if security != "PLAINTEXT":
            config = broker.client_properties(form="librdkafka")
        with traced(broker, tmp_path) as written:
            write(config)
        before = from_disk(broker)
        with traced(broker, tmp_path) as sent:
            read(config)
        came_from_disk = from_disk(broker) - before
    bytes_of_values = RECORDS * SIZE
    appended, served = Calls(written), Calls(sent)
    assert appended.size["write"] > bytes_of_values
    assert not {"pwrite64", "writev", "pwritev", "lseek", "fsync", "fdatasync"} & appended.count.keys()
    assert came_from_disk < bytes_of_values / 10
    if security == "PLAINTEXT":
        assert served.size["sendfile"] > bytes_of_values
        assert served.size["pread64"] < bytes_of_values / 1000
    else:
        assert served.count["sendfile"] == 0
        assert served.size["pread64"] > bytes_of_values
