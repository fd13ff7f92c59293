"""Streams from a topic whose Python, Java or worker is killed within batches, and started again each time."""

from __future__ import annotations

import contextlib
import json
import random
import re
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING

import psutil
import pytest
from faults import LIGHT, PATIENCE_S, Watched, held, read_directly, records_file, writers

from partwright.kafka import topics

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partwright.kafka import EmbeddedKafka

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.timeout(3600)]

N, ROWS, BATCH, KILLS = 5, 2_000, 700, 3
VICTIMS = ("python", "java", "worker", "all")
# When a batch is at work, and how many seconds at most its next part takes: the first one of a start, which repeats
# what was killed, has workers; a later one has noted its offsets; or has its note, which precedes its first record.
MOMENTS = {"workers": 2.5, "offsets": 1.2, "partwright": 0.4}


def test_a_stream_of_a_topic_that_is_killed_within_batches(
    kafka: EmbeddedKafka, topic: str, tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> None:
    """PARTWRIGHT_CASES=10 kills each of the two kinds of streams ten times."""
    for exactly_once in writers(seed, cases(1)):
        own = tmp_path / str(exactly_once)
        own.mkdir()
        rng = random.Random(f"{seed} {exactly_once}")
        killed_within_batches(
            kafka.bootstrap_servers, f"{topic}-{exactly_once}", own, rng, exactly_once, cases(KILLS)
        )


def killed_within_batches(
    servers: str, topic: str, folder: Path, rng: random.Random, exactly_once: bool, kills: int
) -> None:
    source, checkpoint = f"{topic}-source", folder / "checkpoint"
    topics.create_topic(servers, source, 3)
    words = [
        *["stream", f"kafka://{servers}/{source}", "--topic", topic, "-n", N, "--to", f"kafka://{servers}"],
        *["--checkpoint", checkpoint, "--option", f"maxOffsetsPerTrigger={BATCH}", *LIGHT],
        *["--topic-config", "flush.messages=1", *["--exactly-once"] * exactly_once],
    ]
    files: list[Path] = []
    within: Counter[str] = Counter()

    def more() -> None:
        files.append(records_file(folder / f"{len(files)}.jsonl", ROWS, len(files), len(files) * ROWS, 300))
        write(servers, source, files[-1])

    with contextlib.ExitStack() as stack:

        def started(*more_words: str) -> Watched:
            run = Watched([*words, *more_words], folder)
            stack.callback(run.close)
            return run

        while within.total() < kills:
            assert len(files) < 3 * kills, f"most kills were between batches: {within}"
            more()
            # Two batches and more are to come.
            batch = last(checkpoint / "offsets") + rng.choice((1, 2))
            victim, moment = rng.choice(VICTIMS), rng.choice(list(MOMENTS))
            run = started()
            wait_for(run, moment, checkpoint, batch)
            time.sleep(rng.random() * MOMENTS[moment])
            ended = kill(run, victim, checkpoint)
            if open_ := last(checkpoint / "offsets") > last(checkpoint / "commits"):
                within[ended] += 1
            print(  # noqa: T201 - for a failure
                f"{exactly_once=}, {within.total()}: SIGKILL of {victim}, ended by that of {ended}, after {moment}, "
                f"within a batch: {open_}, {held(servers, topic)} held; {run.sentences}"
            )
        more()
        final = started("--available-now", "--json")
        assert final.end() == 0, final.lines
        assert [final.report[each] for each in ("lost", "moved", "twice")] == [0, 0, 0]
        assert final.left() == []
    found = read_directly(servers, topic, files, N)
    print(f"{exactly_once=}, {len(files) * ROWS} records, {dict(within)}, {found}")  # noqa: T201 - for a failure
    assert found == (0, 0, 0, 0), found


def wait_for(run: Watched, moment: str, checkpoint: Path, batch: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not (parts(run, "worker") if moment == "workers" else last(checkpoint / moment) >= batch):
        assert run.process.poll() is None, run.lines
        assert time.monotonic() < deadline, run.lines
        time.sleep(0.01)


def last(notes: Path) -> int:
    """The last batch that a folder of a checkpoint has a file of; -1 if there is none."""
    names = (re.fullmatch(r"(?:batch-)?(\d+)(?:\.json)?", each.name) for each in notes.glob("*"))
    return max((int(name[1]) for name in names if name), default=-1)


def kill(run: Watched, victim: str, checkpoint: Path) -> str:
    """Kills a part of it, and its Python if it goes on without that part; returns what ended it."""
    if victim in {"java", "worker"}:
        batch = last(checkpoint / "offsets")
        for part in parts(run, victim):
            with contextlib.suppress(psutil.NoSuchProcess):
                part.kill()
        # Spark starts other workers for those that had nothing to do, and the batch is committed.
        while run.process.poll() is None and (victim == "java" or last(checkpoint / "commits") < batch):
            time.sleep(0.01)
        if run.process.poll() is not None:
            assert run.end() == 2, run.lines
            (sentence,) = run.sentences
            assert "Traceback" not in "".join(run.lines), run.lines
            assert "start again with the same --checkpoint to go on" in sentence
            return victim
    run.signal(signal.SIGKILL, group=victim == "all")
    assert run.end() == -signal.SIGKILL, run.lines
    assert not run.sentences
    if victim == "all":
        # Workers have a group of their own.
        run.close()
        return victim
    # Only Java is still ending; a stream that is started again at once waits for that.
    return "python"


def parts(run: Watched, kind: str) -> list[psutil.Process]:
    """Its Java, or its workers; those of an earlier start may still be ending."""
    with contextlib.suppress(psutil.NoSuchProcess):
        own = psutil.Process(run.process.pid).children(recursive=True)
        some = run.workers() if kind == "worker" else [each for each in own if each.name() == "java"]
        return [each for each in some if each in own]
    return []


def write(servers: str, topic: str, records: Path) -> None:
    """Writes a file's records with their keys, by a producer that has nothing to do with the stream."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for line in records.read_text(encoding="utf-8").splitlines():
        producer.produce(topic, line.encode(), key=json.loads(line)["id"])
        producer.poll(0)
    assert not producer.flush(120)
