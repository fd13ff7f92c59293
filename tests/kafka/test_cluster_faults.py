"""Brokers that fail, and topics that are made anew, while a job writes: a consumer compares all with what was sent.

`FAULTS` and `ANEW` are the tables of which fault hits which job. The seed draws the moment, broker and duration.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias
from uuid import uuid4

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from faults import LIGHT, Watched, records_file
from live_cluster import PATIENCE_S, SETTINGS, in_sync, leaders, wait_for
from migrating import commit, committed, read

from partwright.kafka import EmbeddedKafka

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence
    from pathlib import Path

    Content: TypeAlias = tuple[bytes | None, Hashable]
    """A record's key, and everything else that must stay."""

pytestmark = [pytest.mark.broker, pytest.mark.timeout(1200)]

RECORDS, OLD, N = 9_000, 4, 6
# All transactions have the same coordinator, and every topic survives a broker.
OVERRIDES = SETTINGS | {
    "transaction.state.log.num.partitions": "1",
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
}
COORDINATORS = "__transaction_state"
# A broker that is silent is missed after 6 s; our own questions wait for 5 s, and a dead one may be back before.
AWAY_S, SHORT_S, LONG_S = (0.0, 9.0), (0.5, 4.0), (12.0, 35.0)


class Differences(NamedTuple):
    """How many records of a topic are not as they were sent; `disordered` counts keys."""

    lost: int
    twice: int
    moved: int
    disordered: int


NONE = Differences(0, 0, 0, 0)


def differences(sent: Sequence[Content], rows: Sequence[tuple[Content, int]], n: int) -> Differences:
    """Compares what was sent with the contents and partitions that a consumer got."""
    before, after = Counter(sent), Counter(content for content, _ in rows)
    moved = sum(key is not None and _home(key, n) != partition for (key, _), partition in rows)
    orders: tuple[dict[bytes | None, list[Hashable]], ...] = (defaultdict(list), defaultdict(list))
    for order, contents in zip(orders, (sent, dict.fromkeys(content for content, _ in rows)), strict=True):
        for key, rest in contents:
            if (key, rest) in before and (key, rest) in after:
                order[key].append(rest)
    # Records without a key have no order.
    disordered = sum(orders[0][key] != orders[1][key] for key in orders[0] if key is not None)
    return Differences((before - after).total(), (after - before).total(), moved, disordered)


def _home(key: bytes, n: int) -> int:
    """Where a key belongs, by kafka-python's hash."""
    from kafka.partitioner.default import murmur2

    return int((murmur2(key) & 0x7FFFFFFF) % n)


def test_the_comparison_sees_each_difference() -> None:
    sent = [(b"k%d" % (row % 5), row) for row in range(20)] + [(None, 20)]
    rows = [(content, -1 if content[0] is None else _home(content[0], N)) for content in sent]
    assert differences(sent, rows, N) == NONE
    assert differences(sent, rows[1:], N) == NONE._replace(lost=1)
    assert differences(sent, [*rows, rows[3]], N) == NONE._replace(twice=1)
    assert differences(sent, [*rows, ((None, 21), 0)], N) == NONE._replace(twice=1)
    (content, home), *others = rows
    assert differences(sent, [(content, (home + 1) % N), *others], N) == NONE._replace(moved=1)
    assert differences(sent, [*others, rows[0]], N) == NONE._replace(disordered=1)
    changed = ((content[0], "changed"), home)
    assert differences(sent, [changed, *others], N) == NONE._replace(lost=1, twice=1)


class Run:
    """`partwright run` of a file."""

    # Each batch goes to the brokers' disks by itself, so that the write takes a while.
    configs: ClassVar[dict[str, str]] = {"min.insync.replicas": "2", "flush.messages": "1"}
    how_to_go_on = "add --resume to go on"

    def __init__(self, three: EmbeddedKafka, folder: Path, rng: random.Random, *, exactly_once: bool) -> None:
        self.servers, self.topic = three.bootstrap_servers, f"run-{uuid4().hex[:8]}"
        self.source = records_file(folder / "some.jsonl", RECORDS, rng.getrandbits(30), wide=700)
        self._words = [
            *["run", self.source, "--key", "id", "--topic", self.topic, "-n", N],
            *["--to", f"kafka://{self.servers}", "--replication-factor", 3, "--no-proof", "--json", *LIGHT],
            *[word for each in self.configs.items() for word in ("--topic-config", "=".join(each))],
            *["--exactly-once"] * exactly_once,
        ]

    def words(self, *, again: bool) -> list[object]:
        """The command, or the one that goes on."""
        return [*self._words, *["--resume"] * again]

    def differences(self) -> Differences:
        """What is wrong in the topic now."""
        rows = [
            ((row.key, _fields(row.value or b"")), row.partition) for row in read(self.servers, self.topic)
        ]
        lines = self.source.read_bytes().splitlines()
        return differences([(_key(line), _fields(line)) for line in lines], rows, N)

    def check_report(self, last: Watched, wrong: Differences) -> None:
        """The last run's report says what the consumer found."""
        report = last.report
        assert (report["lost"], report["twice"], report["moved"]) == wrong[:3], report

    def check_rest(self, folder: Path) -> None:
        """Nothing else follows from a run."""


def _key(line: bytes) -> bytes | None:
    key = json.loads(line)["id"]
    return None if key is None else str(key).encode()


def _fields(value: bytes) -> Hashable:
    """A record's fields: Spark's JSON leaves null out."""
    return tuple(sorted((name, field) for name, field in json.loads(value).items() if field is not None))


class Copy:
    """`partwright migrate copy`, of a topic with groups."""

    configs: ClassVar[dict[str, str]] = {}
    how_to_go_on = "run copy again: it goes on where it stopped"

    def __init__(self, source: EmbeddedKafka, target: EmbeddedKafka, rng: random.Random) -> None:
        name = uuid4().hex[:8]
        self.old, self.topic = f"old-{name}", f"new-{name}"
        self.source, self.servers = source.bootstrap_servers, target.bootstrap_servers
        create(self.source, self.old, OLD, min(3, len(source.nodes)))
        _fill(self.source, self.old, rng)
        self.before = read(self.source, self.old)
        self.groups = {
            f"{group}-{name}": {
                p: 1 + rng.randrange(sum(row.partition == p for row in self.before)) for p in range(OLD)
            }
            for group in ("a", "b")
        }
        for group, offsets in self.groups.items():
            commit(self.source, group, self.old, offsets)
        self._migration = [
            f"kafka://{self.source}/{self.old}",
            f"kafka://{self.servers}/{self.topic}",
            "-n",
            N,
        ]

    def words(self, *, again: bool) -> list[object]:
        """The command, which is the same when it goes on; slow enough for a fault in the middle of it."""
        rate = [] if again else ["--rate", RECORDS // 5]
        return ["migrate", "copy", *self._migration, "--json", *rate]

    def differences(self) -> Differences:
        """What is wrong in the new topic now."""
        rows = [(_copied(row), row.partition) for row in read(self.servers, self.topic)]
        return differences([_copied(row) for row in self.before], rows, N)

    def check_report(self, last: Watched, wrong: Differences) -> None:
        """A copy that ends well has copied all."""
        assert (last.report["written"], wrong) == (RECORDS, NONE)

    def step(self, step: str, folder: Path) -> tuple[int, dict[str, Any], list[str]]:
        """Another step's exit code, answer and sentences."""
        watched = Watched(["migrate", step, *self._migration, "--json"], folder)
        try:
            code = watched.end()
            return code, watched.report if watched.out else {}, watched.lines
        finally:
            watched.close()

    def check_rest(self, folder: Path) -> None:
        """`verify` says that all is right, and no group misses a record that it had not read."""
        code, verified, lines = self.step("verify", folder)
        assert (code, verified["ok"], verified["records"]) == (0, True, RECORDS), (verified, lines)
        code, _, lines = self.step("cutover", folder)
        assert code == 0, lines
        after = read(self.servers, self.topic)
        for group, offsets in self.groups.items():
            begins = committed(self.servers, group, self.topic)
            unread = {_copied(row) for row in self.before if row.offset >= offsets[row.partition]}
            assert unread <= {_copied(row) for row in after if row.offset >= begins[row.partition]}


def _copied(row: Any) -> Content:
    return row.key, (row.value, row.headers, row.timestamp)


def _fill(servers: str, topic: str, rng: random.Random) -> None:
    """Records that differ from each other, some without a key; headers and times of their own."""
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random", "log_level": 0})
    begin = int(time.time() * 1000) - 10 * RECORDS
    for row in range(RECORDS):
        key = None if rng.random() < 0.03 else b"k%d" % int(rng.expovariate(1 / 200))
        headers = [("trace", b"%d" % row), ("none", None)] if rng.random() < 0.2 else None
        producer.produce(topic, b"%d " % row + b"x" * 300, key, timestamp=begin + 10 * row, headers=headers)
        if not row % 1000:
            producer.poll(0.1)
    assert not producer.flush(PATIENCE_S)


def create(
    servers: str, topic: str, partitions: int, replicas: int, configs: dict[str, str] | None = None
) -> None:
    """Makes a topic, as soon as one of the same name is gone."""

    def is_made() -> bool:
        try:
            new = NewTopic(topic, partitions, replicas, config=configs or {})
            admin.create_topics([new])[topic].result(PATIENCE_S)
        except KafkaException as error:
            if error.args[0].name() != "TOPIC_ALREADY_EXISTS":
                raise
            return False
        return True

    with AdminClient({"bootstrap.servers": servers, "log_level": 0}) as admin:
        wait_for("it is not made", is_made)


# ---- faults; each returns once everything is back ----


def kill_one(kafka: EmbeddedKafka, rng: random.Random) -> None:
    """Any broker."""
    _kill(kafka, rng.choice(sorted(kafka.nodes)), rng)


def kill_coordinator(kafka: EmbeddedKafka, rng: random.Random) -> None:
    """The broker that coordinates the transactions."""
    (leader,) = leaders(kafka, COORDINATORS)
    assert leader is not None
    _kill(kafka, leader, rng)


def _kill(kafka: EmbeddedKafka, broker: int, rng: random.Random) -> None:
    kafka.kill(broker)
    time.sleep(rng.uniform(*AWAY_S))
    kafka.start(broker)


def stop_shortly(kafka: EmbeddedKafka, rng: random.Random) -> None:
    """Any broker, for less than it takes to be missed."""
    _stop(kafka, rng, SHORT_S)


def stop_long(kafka: EmbeddedKafka, rng: random.Random) -> None:
    """Any broker, until others lead what it led, and our own questions have waited too long for it."""
    _stop(kafka, rng, LONG_S)


def _stop(kafka: EmbeddedKafka, rng: random.Random, seconds: tuple[float, float]) -> None:
    pid = kafka.nodes[rng.choice(sorted(kafka.nodes))].pid
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(rng.uniform(*seconds))
    finally:
        os.kill(pid, signal.SIGCONT)


def make_anew(servers: str, topic: str, configs: dict[str, str], rng: random.Random) -> None:
    """Deletes a topic, and makes it again after a while, maybe at once."""
    with AdminClient({"bootstrap.servers": servers, "log_level": 0}) as admin:
        admin.delete_topics([topic])[topic].result(PATIENCE_S)
    time.sleep(rng.choice([0.0, rng.uniform(0.0, 3.0)]))
    create(servers, topic, N, 3, configs)


# ---- the tables ----

Scene: TypeAlias = "Callable[[EmbeddedKafka, Callable[[], EmbeddedKafka], Path, random.Random], Run | Copy]"
JOBS: dict[str, Scene] = {
    "run": lambda three, _other, folder, rng: Run(three, folder, rng, exactly_once=False),
    "run --exactly-once": lambda three, _other, folder, rng: Run(three, folder, rng, exactly_once=True),
    "copy": lambda three, _other, _folder, rng: Copy(three, three, rng),
    "copy to another cluster": lambda three, other, _folder, rng: Copy(three, other(), rng),
    "copy from another cluster": lambda three, other, _folder, rng: Copy(other(), three, rng),
}
# The job, the fault, and whether it hits a broker of the other cluster.
FAULTS = [
    ("run --exactly-once", kill_coordinator, False),
    ("run --exactly-once", stop_shortly, False),
    ("run --exactly-once", stop_long, False),
    ("copy", kill_one, False),
    ("copy", kill_coordinator, False),
    ("copy", stop_shortly, False),
    ("copy", stop_long, False),
    ("copy to another cluster", kill_one, False),
    ("copy to another cluster", kill_one, True),
    ("copy from another cluster", kill_one, True),
]
ANEW = ["run", "run --exactly-once", "copy"]


@pytest.fixture(scope="module")
def three() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(brokers=3, overrides=OVERRIDES, timeout=300) as running:
        # The first transaction makes the coordinators' topic.
        settings = {"bootstrap.servers": running.bootstrap_servers, "log_level": 0}
        producer = Producer({**settings, "transactional.id": "first"})
        producer.init_transactions(PATIENCE_S)
        yield running


@pytest.fixture(scope="module")
def other() -> Iterator[Callable[[], EmbeddedKafka]]:
    """A cluster of one broker, started when it is needed."""
    running: list[EmbeddedKafka] = []

    def started() -> EmbeddedKafka:
        if not running:
            running.append(EmbeddedKafka(heap="256m").__enter__())
        return running[0]

    yield started
    for each in running:
        each.__exit__(None, None, None)


def name(part: object) -> str:
    """Names a part of a row: a job, a fault, or which cluster it hits."""
    return (
        {True: "at the other", False: "here"}[part]
        if isinstance(part, bool)
        else getattr(part, "__name__", str(part))
    )


def ended(job: Run | Copy, watched: Watched) -> int:
    """The exit code of a command that ends with its answer, or with one sentence, and leaves nothing."""
    code = watched.end()
    others = [line for line in watched.lines if line and not line.endswith(" s")]
    assert (others, len(others)) == (watched.sentences, code == 2), watched.lines
    assert code in {0, 1, 2}, watched.lines
    assert bool(watched.out) == (code != 2)
    assert watched.left() == []
    if code == 2:
        print(f"  {job.topic}: {watched.sentences[0]}")  # noqa: T201 - pytest shows it if the test fails
    return code


@pytest.mark.spark
@pytest.mark.parametrize(("job", "fault", "at_other"), FAULTS, ids=name)
def test_nothing_is_lost_or_doubled_while_a_broker_fails(
    job: str,
    fault: Callable[[EmbeddedKafka, random.Random], None],
    at_other: bool,
    three: EmbeddedKafka,
    other: Callable[[], EmbeddedKafka],
    tmp_path: Path,
    seed: int,
    cases: Callable[[int], int],
) -> None:
    for case in range(cases(1)):
        began, folder = time.monotonic(), tmp_path / str(case)
        rng = random.Random(f"{seed} {case} {job} {name(fault)} {at_other}")
        folder.mkdir()
        work = JOBS[job](three, other, folder, rng)
        first = Watched(work.words(again=False), folder)
        try:
            count = rng.randrange(1, RECORDS * 2 // 3)
            assert first.until_held(work.servers, work.topic, count), first.lines
            fault(other() if at_other else three, rng)
            code = ended(work, first)
        finally:
            first.close()
        last = first
        if code == 2:
            assert work.how_to_go_on in first.sentences[0], first.sentences
            last = Watched(work.words(again=True), folder)
            try:
                code_last = ended(work, last)
            finally:
                last.close()
            assert code_last == 0, last.lines
        wrong = work.differences()
        print(  # noqa: T201 - pytest shows it if the test fails
            f"{job}, {name(fault)} {name(at_other)}, {seed=} {case=}: at {count}, ended with {code}, {wrong}, "
            f"{time.monotonic() - began:.0f} s"
        )
        assert wrong == NONE
        work.check_report(last, wrong)
        work.check_rest(folder)
        wait_for("a broker does not catch up", lambda: in_sync(three, COORDINATORS) == [{1, 2, 3}])


@pytest.mark.spark
@pytest.mark.parametrize("job", ANEW)
def test_a_topic_that_is_made_anew_is_reported(
    job: str,
    three: EmbeddedKafka,
    other: Callable[[], EmbeddedKafka],
    tmp_path: Path,
    seed: int,
    cases: Callable[[int], int],
) -> None:
    for case in range(cases(1)):
        began, rng, folder = time.monotonic(), random.Random(f"{seed} {case} {job}"), tmp_path / str(case)
        folder.mkdir()
        work = JOBS[job](three, other, folder, rng)
        first = Watched(work.words(again=False), folder)
        try:
            count = rng.randrange(1, RECORDS * 2 // 3)
            assert first.until_held(work.servers, work.topic, count), first.lines
            make_anew(work.servers, work.topic, work.configs, rng)
            code = ended(work, first)
        finally:
            first.close()
        wrong = work.differences()
        print(  # noqa: T201 - the same
            f"{job}, made anew, {seed=} {case=}: at {count}, ended with {code}, {wrong}, "
            f"{time.monotonic() - began:.0f} s"
        )
        # What is missing is never called right.
        assert code != 0 or wrong == NONE
        if code == 1:
            work.check_report(first, wrong)
        # Nor is anybody sent on to what is refused then.
        assert not any("--resume" in sentence for sentence in first.sentences), first.sentences
        again = Watched(work.words(again=True), folder)
        try:
            code = ended(work, again)
        finally:
            again.close()
        assert code == 2
        assert "was deleted" in again.sentences[0], again.sentences
