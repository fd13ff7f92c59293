"""Streams whose process is killed at any moment and started again: nothing lost, nothing elsewhere, nothing twice."""

from __future__ import annotations

import random
import signal
import time
from typing import TYPE_CHECKING

import psutil
import pytest
from faults import LIGHT, Watched, held, read_directly, records_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partwright.kafka import EmbeddedKafka

pytestmark = [pytest.mark.spark, pytest.mark.broker]

N, ROWS, FILES, KILLS = 5, 1_500, 4, 2


def test_a_stream_that_is_killed_at_any_moment(
    kafka: EmbeddedKafka, topic: str, tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> None:
    for case in range(cases(1)):
        rng = random.Random(f"{seed} {case}")
        killed_and_started_again(kafka.bootstrap_servers, f"{topic}-{case}", tmp_path / str(case), rng)


def test_a_stream_whose_java_is_killed(kafka: EmbeddedKafka, topic: str, tmp_path: Path) -> None:
    """One sentence, with what docs/run-failures.md promises, and how to go on."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    source = records_file(inbox / "0.jsonl", ROWS)
    words = [
        *[
            "stream",
            inbox,
            "--key",
            "id",
            "--topic",
            topic,
            "-n",
            N,
            "--to",
            f"kafka://{kafka.bootstrap_servers}",
        ],
        *["--checkpoint", tmp_path / "checkpoint", *LIGHT],
    ]
    run = Watched(words, tmp_path)
    try:
        assert run.until("batch 0: "), run.lines
        (java,) = (each for each in psutil.Process(run.process.pid).children() if each.name() == "java")
        java.kill()
        assert run.end() == 2, run.lines
        (said,) = run.sentences
        (log,) = (run.state / "logs").iterdir()
        assert said == (
            f"partwright: Spark's Java process was ended by SIGKILL while the stream wrote to topic {topic!r} at "
            f"{kafka.bootstrap_servers}: {ROWS:,} records in 1 batch are written: start again with the same "
            f"--checkpoint to go on; Spark's log is {str(log)!r}"
        )
        assert run.left() == []
        again = Watched([*words, "--available-now", "--json"], tmp_path)
        assert again.end() == 0, again.lines
    finally:
        run.close()
    assert read_directly(kafka.bootstrap_servers, topic, [source], N) == (0, 0, 0, 0)


def killed_and_started_again(servers: str, topic: str, folder: Path, rng: random.Random) -> None:
    exactly_once = rng.random() < 0.5
    inbox = folder / "inbox"
    inbox.mkdir(parents=True)
    words = [
        *["stream", inbox, "--key", "id", "--topic", topic, "-n", N, "--to", f"kafka://{servers}"],
        *["--checkpoint", folder / "checkpoint", "--option", "maxFilesPerTrigger=1", *LIGHT],
        *["--topic-config", "flush.messages=1", *["--exactly-once"] * exactly_once],
    ]
    files: list[Path] = []

    def more() -> None:
        for _ in range(FILES):
            name = inbox / f"{len(files)}.jsonl"
            # Spark's stream takes a file as it first sees it, so the file must appear complete.
            part = records_file(folder / "part", ROWS, len(files), len(files) * ROWS, 300)
            part.rename(name)
            files.append(name)
            time.sleep(0.01)

    for kill in range(KILLS):
        more()
        there = held(servers, topic)
        run = Watched(words, folder)
        try:
            # In the middle of a batch, its notes or its commit; sometimes before the first one.
            if rng.random() < 0.8:
                run.until_held(servers, topic, there + rng.randrange(1, 3 * ROWS))
            time.sleep(rng.random())
            whole = rng.random() < 0.5
            print(f"kill {kill}: {exactly_once=}, {whole=}, {held(servers, topic)}")  # noqa: T201 - for a failure
            run.signal(signal.SIGKILL, group=whole)
            assert run.end() == -signal.SIGKILL, run.lines
            assert not run.sentences
            # Only Java is still ending; a stream that is started again at once waits for that.
        finally:
            if whole:
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
