"""Streams from a topic whose Python, Java or worker is killed ten times within batches, and started again each time."""

from __future__ import annotations

import json
import random
import signal
import time
from typing import TYPE_CHECKING

import psutil
import pytest
from faults import LIGHT, Watched, held, read_directly, records_file

from partwright.kafka import topics

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partwright.kafka import EmbeddedKafka

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.broker, pytest.mark.timeout(3600)]

N, ROWS, KILLS = 5, 2_000, 10
VICTIMS = ("python", "java", "worker", "all")


@pytest.mark.parametrize("exactly_once", [False, True], ids=["plain", "exactly-once"])
def test_a_stream_of_a_topic_that_is_killed_ten_times(
    exactly_once: bool,
    kafka: EmbeddedKafka,
    topic: str,
    tmp_path: Path,
    seed: int,
    cases: Callable[[int], int],
) -> None:
    killed_ten_times(
        kafka, topic, tmp_path, random.Random(f"{seed} {exactly_once}"), exactly_once, cases(KILLS)
    )


def killed_ten_times(
    kafka: EmbeddedKafka, topic: str, folder: Path, rng: random.Random, exactly_once: bool, kills: int
) -> None:
    servers = kafka.bootstrap_servers
    source = f"{topic}-source"
    topics.create_topic(servers, source, 3)
    words = [
        *["run", f"kafka://{servers}/{source}", "--topic", topic, "-n", N, "--to", f"kafka://{servers}"],
        *["--stream", "--checkpoint", folder / "checkpoint", "--option", "maxOffsetsPerTrigger=700", *LIGHT],
        *["--topic-config", "flush.messages=1", *["--exactly-once"] * exactly_once],
    ]
    files: list[Path] = []

    def more() -> None:
        files.append(records_file(folder / f"{len(files)}.jsonl", ROWS, len(files), len(files) * ROWS, 300))
        send(servers, source, files[-1])

    for kill in range(kills):
        more()
        there = held(servers, topic)
        run = Watched(words, folder)
        try:
            victim = rng.choice(VICTIMS)
            # In the middle of one of its batches, their notes or their commits.
            run.until_held(servers, topic, there + rng.randrange(1, ROWS))
            time.sleep(rng.random() / 2)
            print(f"kill {kill} of {victim}: {exactly_once=}, {held(servers, topic)} held")  # noqa: T201
            if victim in {"java", "worker"} and kill_part(run, victim):
                # It says so itself and ends; if Spark started another worker, it goes on.
                time.sleep(3 if victim == "worker" else 0)
                if victim == "java" or run.process.poll() is not None:
                    assert run.end() == 2, run.lines
                    (sentence,) = run.sentences
                    assert "Traceback" not in "".join(run.lines), run.lines
                    print(f"  {sentence}")  # noqa: T201
                    continue
            run.signal(signal.SIGKILL, group=victim == "all")
            assert run.end() == -signal.SIGKILL, run.lines
            assert not run.sentences
        finally:
            if victim == "all":
                run.close()
    more()
    last = Watched([*words, "--available-now", "--json"], folder)
    try:
        assert last.end() == 0, last.lines
        report = last.report
        assert (report["lost"], report["moved"], report["twice"]) == (0, 0, 0)
        assert last.left() == []
    finally:
        last.close()
    found = read_directly(servers, topic, files, N)
    assert found == (0, 0, 0, 0), found


def kill_part(run: Watched, victim: str) -> bool:
    """Kills its Java or one of its workers; returns whether there was one."""
    parts = (
        run.workers() if victim == "worker" else [each for each in run.processes() if each.name() == "java"]
    )
    for part in parts[:1]:
        try:
            part.kill()
        except psutil.NoSuchProcess:
            return False
    return bool(parts)


def send(servers: str, topic: str, records: Path) -> None:
    """Writes a file's records with their keys, by a producer that has nothing to do with the stream."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for line in records.read_text(encoding="utf-8").splitlines():
        producer.produce(topic, line.encode(), key=json.loads(line)["id"])
        producer.poll(0)
    assert not producer.flush(120)
