"""Shared by tests of faults: a broker that dies and comes back, a watched command, and the records that result."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import psutil

import partwright as pw
from partwright.errors import BrokerError
from partwright.kafka import EmbeddedKafka, topics
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.reading import records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PATIENCE_S = 400.0
LIGHT = [
    *["--master", "local[2]", "--conf", "spark.sql.shuffle.partitions=2"],
    *["--conf", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"],
]
"""What makes a run of a few seconds take less of them."""


def records_file(path: Path, count: int, seed: int = 5, first: int = 0, wide: int = 0) -> Path:
    """Records with few keys, some without any, as JSON lines; `text` counts them, `wide` characters make them large."""
    drawn = random.Random(seed)
    lines = []
    for number in range(first, first + count):
        key = None if drawn.random() < 0.06 else f"key {drawn.randrange(900)}"
        lines.append(json.dumps({"id": key, "text": number, "wide": "x" * wide}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def writers(seed: int, count: int) -> list[bool]:
    """Whether a run writes exactly once: one of the two cases or both, because each takes a minute."""
    return random.Random(seed).sample([False, True], min(2, count))


class Found(NamedTuple):
    """The records of a source that a topic has, read by a consumer of our own."""

    lost: int
    twice: int
    moved: int
    disordered: int


def read_directly(servers: str, topic: str, source: Sequence[Path], n: int) -> Found:
    """Compares a topic with the files that were written to it, without using any of the run's own checks."""
    given = [json.loads(line) for file in source for line in file.read_text(encoding="utf-8").splitlines()]
    keys = {each["text"]: each["id"] for each in given}
    copies: Counter[int] = Counter()
    moved = disordered = 0
    last: dict[str, int] = {}
    windows = {each: (0, end) for each, end in topics.end_offsets(servers, topic).items()}
    for message in records(KafkaConfig.read({}, servers=servers), topic, windows, committed=True):
        text = json.loads(message.value() or b"")["text"]
        key = keys[text]
        assert (message.key() or b"").decode() == (key or "")
        copies[text] += 1
        if key is None:
            continue
        moved += message.partition() != pw.partition_for_key(key, n)
        if copies[text] == 1:
            disordered += text < last.get(key, -1)
            last[key] = text
    return Found(len(keys.keys() - copies), sum(copies.values()) - len(copies), moved, disordered)


def held(servers: str, topic: str) -> int:
    """The number of offsets in a topic; 0 if it does not exist yet."""
    try:
        return sum(topics.end_offsets(servers, topic).values())
    except BrokerError:
        return 0


class Watched:
    """The command as a process in its own group, and the lines that it has printed.

    Args:
        words: The command's arguments, `run` and so on.
        folder: Where its state and temporary files are.
        environment: More variables.
    """

    def __init__(self, words: Sequence[object], folder: Path, **environment: str) -> None:
        self.temporary = folder / "temporary"
        self.temporary.mkdir(parents=True, exist_ok=True)
        self.state = folder / "state"
        self.lines: list[str] = []
        self._came = threading.Condition()
        self._ended = False
        self.process = subprocess.Popen(
            [sys.executable, "-m", "partwright", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=os.environ
            | {"PARTWRIGHT_STATE": str(self.state), "TMPDIR": str(self.temporary)}
            | environment,
        )
        self._readers = [threading.Thread(target=self._read_errors), threading.Thread(target=self._read_out)]
        for reader in self._readers:
            reader.start()

    def _read_errors(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            with self._came:
                self.lines.append(line.rstrip("\n"))
                self._came.notify_all()
        with self._came:
            self._ended = True
            self._came.notify_all()

    def _read_out(self) -> None:
        assert self.process.stdout
        self.out = self.process.stdout.read()

    def until(self, step: str, seconds: float = PATIENCE_S) -> bool:
        """Waits for the end of a step; returns whether it came before the command's own end."""
        with self._came:
            self._came.wait_for(lambda: self._ended or self._has(step), seconds)
            return self._has(step)

    def until_held(self, servers: str, topic: str, count: int, seconds: float = PATIENCE_S) -> bool:
        """Waits until a topic has this many offsets; returns whether that was before the command's own end."""
        deadline = time.monotonic() + seconds
        while held(servers, topic) < count:
            if self.process.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def _has(self, step: str) -> bool:
        return any(line.startswith(step) for line in self.lines)

    def signal(self, number: int, *, group: bool = False) -> None:
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(self.process.pid, number)

    def end(self, seconds: float = PATIENCE_S) -> int:
        """Waits for its end; returns the exit code."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL, group=True)
            raise
        for reader in self._readers:
            reader.join(30)
        return code

    @property
    def sentences(self) -> list[str]:
        """The lines that it printed that are not about a step of a run."""
        return [line for line in self.lines if line.startswith("partwright: ")]

    @property
    def report(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.out)
        return found

    def processes(self) -> list[psutil.Process]:
        """Its processes, and all that they started."""
        state = str(self.state)
        return [
            process
            for process in psutil.process_iter(["environ"])
            if (process.info["environ"] or {}).get("PARTWRIGHT_STATE") == state
        ]

    def workers(self) -> list[psutil.Process]:
        """Spark's Python workers, without the daemon that forks them."""
        found = []
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                if "pyspark.daemon" in process.cmdline() and "pyspark.daemon" in process.parent().cmdline():
                    found.append(process)
        return found

    def left(self, seconds: float = 30) -> list[str]:
        """Processes and temporary files that remain after its end."""
        deadline = time.monotonic() + seconds
        while True:
            names = [f"process {process.pid} {process.name()}" for process in _alive(self.processes())]
            # PySpark's own, if it is killed while it starts Java: an empty folder that nobody can recognise.
            files = [path.name for path in self.temporary.iterdir() if not path.name.startswith("tmp")]
            names += files
            if not names or time.monotonic() > deadline:
                return names
            time.sleep(0.2)

    def close(self) -> None:
        """Ends it, however far it is."""
        self.signal(signal.SIGKILL, group=True)
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(30)
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe
            pipe.close()


def _alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


class Mortal:
    """A broker that is killed, and comes back at the same address with its records."""

    def __init__(self, kafka: EmbeddedKafka) -> None:
        self.kafka = kafka

    @property
    def servers(self) -> str:
        return self.kafka.bootstrap_servers

    def kill(self) -> None:
        self.kafka.kill()

    def is_alive(self) -> bool:
        return self.kafka.process.is_running

    def come_back(self) -> None:
        """Starts it again, and returns once it answers."""
        self.kafka.start()


@contextlib.contextmanager
def mortal(parent: Path | None = None, **overrides: str) -> Iterator[Mortal]:
    """A broker of the test's own."""
    with EmbeddedKafka(parent=parent, overrides=overrides) as kafka:
        yield Mortal(kafka)
