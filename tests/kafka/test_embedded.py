"""The embedded Kafka: it works, listens only on loopback, and leaves nothing behind however it ends."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil
import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from live_cluster import PATIENCE_S, wait_for

from partwright.errors import BrokerError, MissingExtraError, PartwrightError
from partwright.kafka import EmbeddedKafka, embedded, embedded_cluster, topics
from partwright.kafka.embedded_properties import FOLDER_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = [pytest.mark.broker, pytest.mark.timeout(180)]

THE_YEAR_2013_MS = 1_357_034_400_000


def words_of(process: psutil.Process) -> list[str]:
    """A process's command line; empty if it has ended."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def processes_of(folder: Path) -> list[psutil.Process]:
    """Every process that was started for a broker under the folder."""
    started = f"{folder}/{FOLDER_PREFIX}"
    return [each for each in psutil.process_iter() if any(started in word for word in words_of(each))]


def assert_nothing_left(folder: Path) -> None:
    wait_for("a process is left", lambda: not processes_of(folder))
    wait_for(f"{list(folder.rglob('*'))[:5]} is left", lambda: not list(folder.iterdir()))


def test_a_record_comes_back_as_it_was_sent(broker: EmbeddedKafka) -> None:
    topics.create_topic(broker.bootstrap_servers, "there-and-back", 3)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        sent = producer.send("there-and-back", b"value", b"key", partition=2, timestamp_ms=THE_YEAR_2013_MS)
        assert sent.get(10).offset == 0
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest")
    consumer.assign([TopicPartition("there-and-back", 2)])
    record = next(consumer)
    consumer.close()
    assert (record.key, record.value, record.timestamp) == (b"key", b"value", THE_YEAR_2013_MS)


def test_old_records_are_not_retired(tmp_path: Path) -> None:
    # Kafka's default retention of a week would remove the record at the first check, half a second after the start.
    looks = {"log.retention.check.interval.ms": "500", "log.initial.task.delay.ms": "500"}
    with EmbeddedKafka(parent=tmp_path, overrides=looks) as kafka:
        topics.create_topic(kafka.bootstrap_servers, "old", 1)
        with KafkaProducer(bootstrap_servers=kafka.bootstrap_servers) as producer:
            producer.send("old", b"value", timestamp_ms=THE_YEAR_2013_MS).get(10)
        time.sleep(3)
        assert topics.beginning_offsets(kafka.bootstrap_servers, "old") == {0: 0}


def test_only_loopback_is_listened_on(broker: EmbeddedKafka) -> None:
    listening = [
        c.laddr for c in psutil.Process(broker.pid).net_connections("inet") if c.status == psutil.CONN_LISTEN
    ]
    assert {address.ip for address in listening} == {"127.0.0.1"}
    assert broker.port in {address.port for address in listening}
    assert len(listening) == 2


def test_topics_are_not_made_by_mistake(broker: EmbeddedKafka) -> None:
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, max_block_ms=500)
    with producer, pytest.raises(Exception, match=r"[Mm]etadata|Timeout"):
        producer.send("mistyped", b"value").get(1)
    assert topics.partition_count(broker.bootstrap_servers, "mistyped") is None


def test_a_block_that_ends_leaves_nothing(tmp_path: Path) -> None:
    with EmbeddedKafka(parent=tmp_path) as kafka:
        assert [folder.name for folder in tmp_path.iterdir()] == [kafka.folder.name]
        assert len(processes_of(tmp_path)) == 2
        pid = kafka.pid
    # No waiting: it holds as soon as the block has ended.
    assert not psutil.pid_exists(pid)
    assert not processes_of(tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_exception_in_the_block_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), EmbeddedKafka(parent=tmp_path):
        _ = 1 / 0
    assert not processes_of(tmp_path)
    assert not list(tmp_path.iterdir())


def test_java_writes_into_the_folder_only(broker: EmbeddedKafka) -> None:
    java = psutil.Process(broker.pid)
    # Anything written elsewhere would stay there when Java is killed.
    assert {
        Path(file.path).is_relative_to(broker.folder) for file in java.open_files() if file.mode != "r"
    } == {True}
    assert java.cwd() == str(broker.folder)
    assert f"-Djava.io.tmpdir={broker.folder / 'tmp'}" in java.cmdline()
    assert not list(Path(tempfile.gettempdir()).glob(f"hsperfdata_*/{broker.pid}"))


def test_a_killed_broker_is_gone_at_once_and_can_be_read_about(tmp_path: Path) -> None:
    with EmbeddedKafka(parent=tmp_path) as kafka:
        bootstrap, pid = kafka.bootstrap_servers, kafka.pid
        kafka.kill()
        began = time.monotonic()
        with pytest.raises(BrokerError, match=rf"^no Kafka answers at {bootstrap} \(Connection refused\)"):
            topics.partition_count(bootstrap, "t")
        assert time.monotonic() - began < 5
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        assert any("Kafka Server started" in line for line in kafka.log_tail(50))
        kafka.kill()
    assert_nothing_left(tmp_path)


def test_a_killed_supervisor_is_made_up_for(tmp_path: Path) -> None:
    with EmbeddedKafka(parent=tmp_path) as kafka:
        kafka.process.supervisor.kill()
        kafka.process.supervisor.wait()
        assert psutil.pid_exists(kafka.pid)
    assert not processes_of(tmp_path)
    assert not list(tmp_path.iterdir())


def test_two_run_beside_each_other_and_one_object_only_once(tmp_path: Path) -> None:
    with EmbeddedKafka(parent=tmp_path) as one, EmbeddedKafka(parent=tmp_path) as other:
        assert one.port != other.port
        assert topics.cluster_id(one.bootstrap_servers) != topics.cluster_id(other.bootstrap_servers)
        with pytest.raises(BrokerError, match=f"already running at {one.bootstrap_servers}"), one:
            pass
        assert topics.cluster_id(one.bootstrap_servers)
    with pytest.raises(BrokerError, match="is not running: use it as `with"):
        _ = one.port


def test_a_port_in_use_is_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BrokerError, match=f"^port {port} on 127.0.0.1 cannot be used .*: name another"):
            EmbeddedKafka(parent=tmp_path, port=port).__enter__()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_no_port_is_a_sentence(port: int) -> None:
    with pytest.raises(PartwrightError, match=f"^{port} is not a port"):
        EmbeddedKafka(port=port)


def test_a_port_lost_to_another_is_chosen_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choose, chosen = embedded_cluster.free_ports, []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        def lose_the_first(wanted: Sequence[int | None]) -> list[int]:
            port, *others = choose(wanted)
            chosen.append(port)
            return [port if len(chosen) > 1 else taken.getsockname()[1], *others]

        monkeypatch.setattr(embedded, "free_ports", lose_the_first)
        with EmbeddedKafka(parent=tmp_path) as kafka:
            assert kafka.port == chosen[1]
            assert len(list(tmp_path.iterdir())) == 1
    assert_nothing_left(tmp_path)


def test_a_start_that_fails_shows_why(tmp_path: Path) -> None:
    with (
        pytest.raises(BrokerError) as failure,
        EmbeddedKafka(parent=tmp_path, overrides={"num.io.threads": "-1"}),
    ):
        pass
    first, *log = str(failure.value).splitlines()
    assert first == "Kafka 4.3.1 ended with exit code 1 while starting; the last lines of its log:"
    assert log[-1].endswith("Invalid value -1 for configuration num.io.threads: Value must be at least 1")
    assert_nothing_left(tmp_path)


def test_a_broker_that_dies_while_starting_shows_its_log(tmp_path: Path) -> None:
    # Formatting accepts it, the broker itself does not: the second command ends.
    with pytest.raises(
        BrokerError, match=r"(?s)ended with exit code 1 while starting.*Too small maximum heap"
    ):
        EmbeddedKafka(parent=tmp_path, heap="1k").__enter__()
    assert_nothing_left(tmp_path)


def test_a_broker_that_is_killed_while_starting_is_told_by_its_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill_and_see(_settings: object) -> set[int]:
        for process in processes_of(tmp_path):
            if "kafka.Kafka" in process.cmdline():
                process.kill()
        return set()

    monkeypatch.setattr(embedded_cluster, "brokers_seen", kill_and_see)
    with pytest.raises(
        BrokerError, match=r"^Kafka 4\.3\.1 was ended by signal 9 while starting; the last lines"
    ):
        EmbeddedKafka(parent=tmp_path).__enter__()
    assert_nothing_left(tmp_path)


def test_a_start_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(
        BrokerError, match=r"^Kafka 4\.3\.1 did not answer at 127\.0\.0\.1:\d+ in 0\.5 s; the last"
    ):
        EmbeddedKafka(parent=tmp_path, timeout=0.5).__enter__()
    assert_nothing_left(tmp_path)


def test_a_folder_that_cannot_hold_it_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BrokerError, match=r"^the folder .*/absent is not there"):
        EmbeddedKafka(parent=tmp_path / "absent").__enter__()
    usage = shutil.disk_usage(tmp_path)._replace(free=3 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(BrokerError, match=r"^only 3 MiB are free in .*, and the embedded Kafka needs 64"):
        EmbeddedKafka(parent=tmp_path).__enter__()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded.secrets, "token_hex", lambda _bytes: "taken")
    taken = tmp_path / f"{FOLDER_PREFIX}taken"
    taken.mkdir()
    (taken / "precious").write_text("")
    with pytest.raises(BrokerError, match=r"cannot be run \(.*File exists"):
        EmbeddedKafka(parent=tmp_path).__enter__()
    assert (taken / "precious").exists()


@pytest.mark.parametrize(
    ("module", "package"),
    [("confluent_kafka", "confluent-kafka"), ("psutil", "psutil"), ("cryptography", "cryptography")],
)
def test_a_missing_extra_is_named(module: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda name: None if name == module else object())
    said = rf"^{package} is missing: pip install 'partwright\[kafka\]'"
    with pytest.raises(MissingExtraError, match=said), EmbeddedKafka(security="SSL"):
        pass


PROGRAM = """
import os, sys, time
from pathlib import Path
from partwright.kafka import EmbeddedKafka

with EmbeddedKafka(parent=Path(sys.argv[1])) as kafka:
    if sys.argv[2] == "fork" and os.fork() == 0:
        time.sleep(600)
    print(kafka.pid, kafka.process.supervisor.pid, flush=True)
    time.sleep(600)
"""


class Program(NamedTuple):
    """A process with an embedded Kafka in it."""

    process: subprocess.Popen[str]
    kafka: int
    supervisor: int


def launch(folder: Path, then: str) -> subprocess.Popen[str]:
    # Its own session, whose process group stands for the processes that a terminal's Ctrl-C reaches.
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, folder, then],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run_program(folder: Path, then: str) -> Program:
    process = launch(folder, then)
    assert process.stdout is not None
    kafka, supervisor = process.stdout.readline().split()
    return Program(process, int(kafka), int(supervisor))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_leaves_nothing_and_the_broker_stops_in_order(
    tmp_path: Path, number: signal.Signals
) -> None:
    program = run_program(tmp_path, "sleep")
    assert {process.pid for process in processes_of(tmp_path)} == {program.kafka, program.supervisor}
    (log,) = tmp_path.glob("*/broker.log")
    with log.open() as still_readable:
        os.killpg(program.process.pid, number)
        program.process.communicate(timeout=PATIENCE_S)
        assert program.process.returncode == -number
        assert_nothing_left(tmp_path)
        # The signal itself did not reach the broker.
        assert "shut down completed" in still_readable.read()


def test_a_forked_child_does_not_keep_the_broker(tmp_path: Path) -> None:
    program = run_program(tmp_path, "fork")
    child = psutil.Process(program.process.pid).children()
    program.process.kill()
    program.process.wait()
    assert_nothing_left(tmp_path)
    forked = [process for process in child if process.pid != program.supervisor]
    assert len(forked) == 1
    assert forked[0].is_running()
    forked[0].kill()
    program.process.communicate(timeout=PATIENCE_S)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("moment", ["folder", "java", "kafka.Kafka"])
def test_a_signal_while_starting_leaves_nothing(tmp_path: Path, number: signal.Signals, moment: str) -> None:
    process = launch(tmp_path, "sleep")

    def is_moment() -> bool:
        words = [word for found in processes_of(tmp_path) for word in words_of(found)]
        return bool(list(tmp_path.iterdir())) and (
            moment == "folder" or any(moment in word for word in words)
        )

    wait_for("it does not start", is_moment)
    os.killpg(process.pid, number)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == -number
    assert_nothing_left(tmp_path)
