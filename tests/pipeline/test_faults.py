"""Runs that are stopped at any moment of any step, by signals, `kill -9` or the broker's end, and then continue."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from faults import LIGHT, Found, Mortal, Watched, held, mortal, read_directly, records_file, writers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from partwright.kafka import EmbeddedKafka

pytestmark = [pytest.mark.spark, pytest.mark.broker]

RECORDS, N = 12_000, 5
SPECULATED = Path(__file__).with_name("speculated_task.py")
# Each step, and the one before it, whose end is its beginning.
STEPS = [
    ("start Spark", None),
    ("read and place", "start Spark"),
    ("make the topic", "read and place"),
    ("write", "make the topic"),
    ("read back and check", "write"),
    ("let the Java producer choose", "read back and check"),
    ("compare", "let the Java producer choose"),
]
# About how long they last; a moment in that time is drawn. If the step is done by then, the next one is hit. The
# write has a number of records instead.
LASTS_S = {"start Spark": 5.0, "read and place": 3.0, "read back and check": 1.5}
FAULTS = ["kill -9 of all", "kill -9 of the driver", "SIGINT", "SIGTERM", "the broker's end"]
CODES = {
    "kill -9 of all": -9,
    "kill -9 of the driver": -9,
    "SIGINT": 130,
    "SIGTERM": 143,
    "the broker's end": 2,
}


@dataclass(frozen=True)
class Drawn:
    """One case: where and how the runs are stopped, one after the other."""

    exactly_once: bool
    stops: tuple[tuple[str, str, float], ...]

    @classmethod
    def by(cls, rng: random.Random) -> Drawn:
        def stop() -> tuple[str, str, float]:
            # Only the write can lose records: it is drawn as often as all other steps together.
            step = "write" if rng.random() < 0.4 else rng.choice(STEPS)[0]
            return rng.choice(FAULTS), step, rng.random() * LASTS_S.get(step, 1.0)

        return cls(rng.random() < 0.5, tuple(stop() for _ in range(rng.choice([1, 1, 2]))))


@pytest.fixture(scope="module")
def broker_of_its_own() -> Iterator[Mortal]:
    with mortal() as broker:
        yield broker


def test_runs_that_are_stopped_at_any_moment_go_on(
    broker_of_its_own: Mortal, tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> None:
    source = records_file(tmp_path / "some.jsonl", RECORDS, wide=700)
    for case in range(cases(2)):
        drawn = Drawn.by(random.Random(f"{seed} {case}"))
        print(f"case {case}: {drawn}")  # noqa: T201 - pytest shows it if the test fails
        found, twice = stopped_and_gone_on(drawn, broker_of_its_own, source, f"t{case}", tmp_path / str(case))
        assert (found.lost, found.moved, found.twice) == (0, 0, twice)
        assert twice == 0 or not drawn.exactly_once
        assert twice or not found.disordered


def stopped_and_gone_on(
    drawn: Drawn, broker: Mortal, source: Path, topic: str, folder: Path
) -> tuple[Found, int]:
    """The records at the end, and how many doubles the last run has named."""
    words = [
        *["run", source, "--key", "id", "--topic", topic, "-n", N, "--to", f"kafka://{broker.servers}"],
        # Each batch goes to the broker's disk by itself, so that the write takes a while.
        *["--topic-config", "flush.messages=1", "--json", *LIGHT],
        *["--exactly-once"] * drawn.exactly_once,
    ]
    resume: list[str] = []
    for stop in drawn.stops:
        run = Watched([*words, *resume], folder)
        try:
            happens(stop, run, broker, topic)
            ended(stop[0], run)
        finally:
            run.close()
            if not broker.is_alive():
                broker.come_back()
        resume = ["--resume"]
    last = Watched([*words, *resume], folder)
    try:
        code = last.end()
        print("\n".join(last.lines))  # noqa: T201 - the same
        twice = int(str(last.report["twice"]))
        assert code == (1 if twice else 0), last.lines
        assert last.left() == []
    finally:
        last.close()
    assert not [name for name in topics_of(broker) if ".proof-" in name]
    return read_directly(broker.servers, topic, [source], N), twice


@pytest.mark.parametrize("step", ["write", "read back and check"])
def test_a_run_whose_broker_goes_away_says_how_far_it_is(
    step: str, broker_of_its_own: Mortal, tmp_path: Path
) -> None:
    source = records_file(tmp_path / "some.jsonl", RECORDS, wide=700)
    topic = f"gone-{step[:5].strip()}"
    words = [
        "run",
        source,
        "--key",
        "id",
        "--topic",
        topic,
        "-n",
        N,
        "--to",
        f"kafka://{broker_of_its_own.servers}",
    ]
    # librdkafka's own patience with a broker that is gone, which is a minute for Java's producer.
    run = Watched([*words, "--topic-config", "flush.messages=1", "--exactly-once", *LIGHT], tmp_path)
    try:
        if step == "write":
            run.until_held(broker_of_its_own.servers, topic, RECORDS // 4)
        else:
            run.until("write")
        broker_of_its_own.kill()
        assert run.end() == 2, run.lines
    finally:
        run.close()
        broker_of_its_own.come_back()
    (said,) = run.sentences
    assert said.count("; add --resume to go on") == 1, said
    how_far = (
        f"how many of the {RECORDS:,} records arrived is not known, for the broker does not answer"
        if step == "write"
        else f"after all {RECORDS:,} records were written to topic {topic!r} at {broker_of_its_own.servers}"
    )
    assert how_far in said


def topics_of(broker: Mortal) -> list[str]:
    from confluent_kafka.admin import AdminClient

    with AdminClient({"bootstrap.servers": broker.servers}) as admin:
        return list(admin.list_topics(timeout=30).topics)


def happens(stop: tuple[str, str, float], run: Watched, broker: Mortal, topic: str) -> None:
    fault, step, after = stop
    before = dict(STEPS)[step]
    if before is not None:
        run.until(before)
    if step == "write":
        run.until_held(broker.servers, topic, int(after * RECORDS))
    else:
        time.sleep(after)
    if fault == "the broker's end":
        broker.kill()
    elif fault == "kill -9 of all":
        run.signal(signal.SIGKILL, group=True)
    else:
        run.signal({"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}.get(fault, signal.SIGKILL))


def ended(fault: str, run: Watched) -> None:
    """With the right code and one sentence, and leaves nothing."""
    code = run.end()
    print(f"{fault}: {code}\n" + "\n".join(run.lines))  # noqa: T201 - the same
    # It may have been done by then, and have found the doubles of an earlier run.
    assert code in {CODES[fault], 0, 1}, run.lines
    # After Ctrl-C a terminal has begun a line.
    others = [line for line in run.lines if line and not line.endswith(" s")]
    assert others == run.sentences, run.lines
    assert len(run.sentences) == (1 if code in {2, 130, 143} else 0), run.lines
    assert code in {0, 1} or not run.out
    if fault != "kill -9 of all":
        assert run.left() == []


def test_a_python_worker_that_is_killed_alone(
    kafka: EmbeddedKafka, topic: str, tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> None:
    """Spark's own sink has no worker in its write. A worker that writes is retried, or ends the run in one sentence."""
    for exactly_once in writers(seed, cases(1)):
        folder = tmp_path / str(exactly_once)
        worker_is_killed(exactly_once, kafka.bootstrap_servers, f"{topic}-{exactly_once}", folder)


def worker_is_killed(exactly_once: bool, servers: str, topic: str, tmp_path: Path) -> None:
    tmp_path.mkdir()
    source = records_file(tmp_path / "some.jsonl", 40_000, wide=700)
    words = [
        *[
            "run",
            source,
            "--key",
            "id",
            "--topic",
            topic,
            "-n",
            N,
            "--to",
            f"kafka://{servers}",
            "--json",
            *LIGHT,
        ],
        *["--topic-config", "flush.messages=1", "--no-proof", *["--exactly-once"] * exactly_once],
    ]
    first = Watched(words, tmp_path)
    try:
        if exactly_once:
            killed_amid(first, servers, topic, 1)
        else:
            first.until("start Spark")
            while not first.workers():
                assert first.process.poll() is None, first.lines
            killed(first)
        assert first.end() == 2, first.lines
        (sentence,) = first.sentences
        assert "a Python worker of Spark's ended in the middle of a task" in sentence, sentence
        assert sentence.endswith("add --resume to go on") == exactly_once, sentence
        assert first.left() == []
    finally:
        first.close()
    # This master lets Spark try a task again.
    patient = ["local[2,4]" if each == "local[2]" else each for each in words]
    second = Watched([*patient, "--resume"], tmp_path)
    try:
        killed_amid(second, servers, topic, held(servers, topic) + 1)
        assert second.end() == 0, second.lines
        report = second.report
        assert (report["lost"], report["moved"], report["twice"]) == (0, 0, 0)
        assert second.left() == []
    finally:
        second.close()
    assert read_directly(servers, topic, [source], N) == (0, 0, 0, 0)


def killed_amid(run: Watched, servers: str, topic: str, count: int) -> None:
    """Kills all workers once the topic has this many offsets."""
    assert run.until_held(servers, topic, count), run.lines
    killed(run)


def killed(run: Watched) -> None:
    for worker in run.workers():
        worker.kill()


def test_slow_tasks_that_run_a_second_time(kafka: EmbeddedKafka, topic: str, tmp_path: Path) -> None:
    """On a cluster, exactly once: each attempt shuts out the one before, which waits for its end and fails nothing."""
    source = records_file(tmp_path / "some.jsonl", 8_000)
    words = [kafka.bootstrap_servers, source, topic, tmp_path]
    done = subprocess.run(
        [sys.executable, SPECULATED, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "tries").iterdir())) > 1, "no task ran a second time"
    report = json.loads(done.stdout)
    assert (report["lost"], report["moved"], report["twice"]) == (0, 0, 0)
    assert (report["written"], report["already_there"]) == (8_000, 0)
    assert "spark.speculation=true" in " ".join(report["notes"])
    assert read_directly(kafka.bootstrap_servers, topic, [source], 4) == (0, 0, 0, 0)


def test_spark_s_sink_refuses_second_tasks(
    refusal: Callable[..., str], kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    source = records_file(tmp_path / "some.jsonl", 5)
    words = ["run", source, "--key", "id", "--to", f"kafka://{kafka.bootstrap_servers}"]
    assert "add --exactly-once" in refusal(*words, "--conf", "spark.speculation=true")
