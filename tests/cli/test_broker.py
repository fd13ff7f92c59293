"""`partwright broker` as a user runs it: each command a process of its own."""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
import pytest

from partwright.kafka import embedded_detached, topics

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.broker, pytest.mark.timeout(180)]

PATIENCE_S = 60.0


class Said(NamedTuple):
    """The result of a command."""

    code: int
    data: str
    words: str

    @property
    def object(self) -> Any:
        assert self.words == ""
        return json.loads(self.data)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "partwright", "broker", *words]


def partwright(*words: str) -> Said:
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A state folder of the test's own; the test leaves nothing running in it."""
    folder = tmp_path / "state"
    monkeypatch.setenv("PARTWRIGHT_STATE", str(folder))
    yield folder
    embedded_detached.stop()
    assert not processes_of(folder)


def processes_of(folder: Path) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if any(f"{folder}/partwright-kafka-" in word for word in process.cmdline()):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def wait_until_none(folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while processes_of(folder) or list(folder.glob("partwright-kafka-*")):
        assert time.monotonic() < deadline, "something is left"
        time.sleep(0.05)


def kill(*pids: int) -> None:
    for pid in pids:
        process = psutil.Process(pid)
        process.kill()
        deadline = time.monotonic() + PATIENCE_S
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_start_status_stop(state: Path) -> None:
    assert partwright("status") == Said(
        1, "", "No broker is running: `partwright broker start` starts one.\n"
    )
    started = partwright("start")
    bootstrap = started.data.strip()
    assert (started.code, started.data) == (0, f"{bootstrap}\n")
    assert started.words.startswith("Kafka 4.3.1 is running (process ")
    topics.create_topic(bootstrap, "kept-between-commands", 3)

    status = partwright("status")
    assert (status.code, status.data) == (0, started.data)
    assert status.words.startswith("Kafka 4.3.1 is running since 20")
    assert topics.partition_count(bootstrap, "kept-between-commands") == 3

    stopped = partwright("stop")
    assert stopped == Said(0, "", f"Kafka 4.3.1 at {bootstrap} is stopped, and its records are removed.\n")
    assert not processes_of(state)
    assert {file.name for file in state.iterdir()} <= {"broker.lock"}
    assert partwright("stop") == Said(0, "", "No broker is running: there is nothing to stop.\n")
    assert partwright("status").code == 1


def test_the_same_as_json(state: Path) -> None:
    state.mkdir()
    state.chmod(0o775)
    assert partwright("status", "--json").object == {"running": False}
    assert partwright("stop", "--json").object == {"stopped": None, "cleaned": None}
    started = partwright("start", "--json").object
    assert (started["running"], started["already"], started["cleaned"]) == (True, False, None)
    (broker,) = started["brokers"]
    assert sorted(processes_of(state)) == sorted([broker["pid"], broker["supervisor"]])
    assert Path(broker["log"]).is_relative_to(state)
    shown = [path for path in [state, *state.rglob("*")] if path.stat().st_mode & 0o077]
    assert shown == [], "all that a broker writes is its user's alone"
    again = partwright("start", "--json").object
    assert again == {**started, "already": True}
    status = partwright("status", "--json")
    assert status.code == 0
    assert status.object == {name: started[name] for name in started.keys() - {"already", "cleaned"}}
    assert partwright("stop", "--json").object == {"stopped": status.object, "cleaned": None}


def test_a_second_start_says_that_it_runs_already() -> None:
    first = partwright("start")
    second = partwright("start")
    assert (second.code, second.data) == (0, first.data)
    assert second.words.startswith("Kafka 4.3.1 is already running, since 20")
    port = first.data.strip().split(":")[1]
    assert partwright("start", "--port", port).code == 0
    # A port that only ends in the same digits is another one.
    other = partwright("start", "--port", port[1:])
    assert (other.code, other.data) == (2, "")
    assert other.words == (
        f"partwright: a broker runs already at {first.data.strip()}, not on port {int(port[1:])}: "
        "stop it first with `partwright broker stop`\n"
    )


def test_a_secured_broker_says_what_its_clients_need(state: Path) -> None:
    started = partwright("start", "--security", "sasl_ssl:scram-sha-256", "--json").object
    assert started["security"] == "SASL_SSL:SCRAM-SHA-256"
    config = Path(started["command_config"])
    assert config == Path(started["brokers"][0]["folder"]) / "client.properties"
    told = dict(line.split("=", 1) for line in config.read_text(encoding="ascii").splitlines())
    assert told["bootstrap.servers"] == started["bootstrap_servers"]
    password = told["sasl.jaas.config"].split('password="')[1].removesuffix('";')

    status, again = partwright("status"), partwright("start")
    for said in (status, again):
        assert (said.code, said.data) == (0, f"{started['bootstrap_servers']}\n")
        assert "Its security is SASL_SSL:SCRAM-SHA-256; " in said.words
        assert f" --command-config {config}\n" in said.words
    assert partwright("start", "--security", "SASL_SSL:SCRAM-SHA-256", "--json").object["already"]
    other = partwright("start", "--security", "PLAINTEXT")
    assert (other.code, other.data) == (2, "")
    assert other.words == (
        f"partwright: a broker runs already at {started['bootstrap_servers']} with SASL_SSL:SCRAM-SHA-256, not "
        "PLAINTEXT: stop it first with `partwright broker stop`\n"
    )
    shown = (
        json.dumps(started) + status.words + again.words + (state / "broker.json").read_text(encoding="utf-8")
    )
    assert len(password) == 24
    assert password not in shown

    assert partwright("stop").code == 0
    assert not config.exists()


def test_a_plain_broker_needs_no_file_and_is_another_than_a_secured_one() -> None:
    started = partwright("start", "--json").object
    assert (started["security"], started["command_config"]) == ("PLAINTEXT", None)
    assert "security" not in partwright("status").words
    other = partwright("start", "--security", "ssl")
    assert (other.code, other.data) == (2, "")
    assert f"runs already at {started['bootstrap_servers']} with PLAINTEXT, not SSL: " in other.words


def test_an_unknown_security_is_a_sentence(state: Path) -> None:
    refused = partwright("start", "--security", "kerberos")
    assert (refused.code, refused.data) == (2, "")
    assert refused.words.startswith(
        "partwright: the embedded Kafka has no security 'kerberos': say one of PLAIN"
    )
    assert not processes_of(state)


def test_two_starts_at_once_start_one(state: Path) -> None:
    both = [
        subprocess.Popen(command("start"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=PATIENCE_S) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert said[0][0] == said[1][0]
    assert sorted("already" in words for _, words in said) == [False, True]
    assert len(processes_of(state)) == 2


def test_a_port_can_be_asked_for_and_one_in_use_is_a_sentence(state: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = partwright("start", "--port", str(port))
        assert (refused.code, refused.data) == (2, "")
        assert refused.words.startswith(f"partwright: port {port} on 127.0.0.1 cannot be used ")
        assert not processes_of(state)
    assert partwright("start", "--port", str(port)).data == f"127.0.0.1:{port}\n"


def test_no_port_is_wrong_use() -> None:
    refused = partwright("start", "--port", "0")
    assert (refused.code, refused.data) == (2, "")
    assert "0 is not in the range 1<=x<=65535" in refused.words


def test_a_broker_that_crashed_is_found_said_and_cleaned_up() -> None:
    crashed = partwright("start", "--json").object
    (broker,) = crashed["brokers"]
    kill(broker["pid"])
    folder = Path(broker["folder"])
    status = partwright("status")
    assert (status.code, status.data) == (1, "")
    which = f"process {broker['pid']}, started {crashed['started']}"
    gone = f"the broker at {crashed['bootstrap_servers']} ({which})"
    assert status.words.startswith(f"No broker is running, but there was {gone}, which had ended without")
    assert "Kafka Server started" in status.words
    found = {**crashed, "running": False, "brokers": [{**broker, "running": False}]}
    assert partwright("status", "--json").object == {
        name: found[name] for name in found.keys() - {"already", "cleaned"}
    }
    assert folder.exists()

    started = partwright("start")
    assert started.code == 0
    assert started.words.startswith(f"Cleaned up after {gone}, which had ended without being stopped.\n")
    assert not folder.exists()
    assert started.data.strip() == partwright("status", "--json").object["bootstrap_servers"]


def test_stop_cleans_up_after_a_crash_of_all(state: Path) -> None:
    (broker,) = partwright("start", "--json").object["brokers"]
    kill(broker["supervisor"], broker["pid"])
    assert partwright("status").code == 1
    assert partwright("stop").words.startswith("Cleaned up after the broker at ")
    assert {file.name for file in state.iterdir()} <= {"broker.lock"}


def test_a_broker_whose_supervisor_was_killed_still_runs_and_stops(state: Path) -> None:
    started = partwright("start", "--json").object
    (broker,) = started["brokers"]
    kill(broker["supervisor"])
    assert partwright("status").code == 0
    assert topics.cluster_id(started["bootstrap_servers"])
    assert "is stopped" in partwright("stop").words
    assert not processes_of(state)
    assert not Path(broker["folder"]).exists()


def write_state(state: Path, folder: Path, pid: int, created: float) -> None:
    state.mkdir(exist_ok=True)
    broker = embedded_detached.DetachedBroker(1, None, "127.0.0.1:1", pid, created, pid, created, str(folder))
    kafka = embedded_detached.DetachedKafka("127.0.0.1:1", "4.3.1", "2026-01-01T00:00:00", (broker,))
    written = asdict(kafka)
    del written["brokers"][0]["running"]
    (state / "broker.json").write_text(json.dumps(written))


@pytest.mark.parametrize(("names_folder", "hours_apart"), [(False, 0), (True, 2), (False, 2)])
def test_a_process_id_that_another_process_got_is_left_alone(
    state: Path, names_folder: bool, hours_apart: int
) -> None:
    folder = state / "partwright-kafka-gone"
    sleep = [sys.executable, "-c", "import time; time.sleep(600)", *([str(folder)] if names_folder else [])]
    bystander = subprocess.Popen(sleep)
    created = psutil.Process(bystander.pid).create_time() - 3600 * hours_apart
    write_state(state, folder, bystander.pid, created)
    folder.mkdir()
    status = partwright("status")
    stopped = partwright("stop")
    alive = bystander.poll() is None
    bystander.kill()
    bystander.wait()
    assert alive
    assert status.code == 1
    assert stopped.words.startswith("Cleaned up after the broker at 127.0.0.1:1 ")
    assert not folder.exists()


@pytest.mark.parametrize("name", ["partwright-kafka-precious", "elsewhere/precious"])
def test_a_folder_that_is_not_the_brokers_is_never_removed(state: Path, tmp_path: Path, name: str) -> None:
    precious = tmp_path / name
    precious.mkdir(parents=True)
    write_state(state, precious, 2**22 + 1, 0.0)
    assert partwright("stop").words.startswith("Cleaned up after the broker at 127.0.0.1:1 ")
    assert precious.exists()


def test_a_state_that_cannot_be_read_is_a_sentence(state: Path) -> None:
    state.mkdir()
    nobody = '{"bootstrap_servers": "a:1", "version": "4", "started": "2026", "brokers": []}'
    for text in ("{", "[]", "{}", nobody):
        (state / "broker.json").write_text(text)
        for word in ("status", "start", "stop"):
            refused = partwright(word)
            assert (refused.code, refused.data) == (2, "")
            assert refused.words.startswith(f"partwright: {state / 'broker.json'} cannot be read (")
    (state / "broker.json").unlink()


def test_a_state_folder_that_cannot_be_used_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    with monkeypatch.context() as patch:
        patch.setenv("PARTWRIGHT_STATE", str(tmp_path / "file"))
        refused = partwright("start")
    assert (refused.code, refused.data) == (2, "")
    assert refused.words.endswith(": name another in PARTWRIGHT_STATE\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_start_that_is_interrupted_leaves_nothing(state: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        command("start"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + PATIENCE_S
    while len(processes_of(state)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, number)
    data, words = process.communicate(timeout=PATIENCE_S)
    assert data == ""
    if number == signal.SIGINT:
        assert (process.returncode, words.strip()) == (130, "partwright: interrupted")
    wait_until_none(state)
    assert partwright("status").words.startswith("No broker is running: ")


def test_the_broker_outlives_its_terminal(state: Path) -> None:
    reader, terminal = pty.openpty()
    process = subprocess.Popen(
        command("start"),
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(terminal)
    assert process.communicate(timeout=PATIENCE_S)[0].startswith("127.0.0.1:")
    shown = os.read(reader, 1 << 16).decode()
    os.close(reader)
    # On a terminal each step is shown while it lasts.
    assert "starting Kafka 4.3.1" in shown
    time.sleep(1)
    assert partwright("status").code == 0
    assert len(processes_of(state)) == 2


def test_start_and_stop_within_one_process(state: Path) -> None:
    started = embedded_detached.start()
    assert not started.already
    found = embedded_detached.status()
    assert found == started.kafka
    assert embedded_detached.start().already
    assert embedded_detached.stop() == started.kafka
    assert not [
        process
        for process in psutil.Process().children()
        if process.pid == started.kafka.brokers[0].supervisor
    ]
    assert embedded_detached.status() is None
    assert {file.name for file in state.iterdir()} <= {"broker.lock"}


def test_three_brokers_are_started_killed_returned_and_joined_by_their_ids(state: Path) -> None:
    words = ["--brokers", "3", "--rack", "a,b,c", "--config", "offsets.topic.num.partitions=50"]
    started = partwright("start", *words)
    assert started.code == 0
    first, *lines = started.words.splitlines()
    assert first == "Kafka 4.3.1 is running, with 3 brokers; `partwright broker stop` ends it."
    servers = started.data.strip().split(",")
    assert [line.split(", process")[0] for line in lines] == [
        f"  broker {each}, rack {rack}: {at}"
        for each, rack, at in zip((1, 2, 3), "abc", servers, strict=True)
    ]
    assert len(processes_of(state)) == 6
    assert partwright("start", *words, "--json").object["already"]
    assert partwright("topic", "orders", "--replica-assignment", "1:2,2:3,3:1").data == "1:2,2:3,3:1\n"

    killed = partwright("kill", "2", "--json").object
    assert [(each["id"], each["running"]) for each in killed["brokers"]] == [(1, True), (2, False), (3, True)]
    assert "broker 2, rack b: " + servers[1] + ", not running" in partwright("status").words
    returned = partwright("start", "2", "--json").object
    assert [each["running"] for each in returned["brokers"]] == [True] * 3
    assert returned["bootstrap_servers"] == started.data.strip()
    assert returned["brokers"][1]["pid"] != killed["brokers"][1]["pid"]
    stopped = partwright("stop", "3")
    assert (stopped.code, stopped.words.splitlines()[0]) == (0, "Broker 3 is stopped.")
    assert partwright("start", "3").words.splitlines()[0] == "Broker 3 runs again."
    added = partwright("add", "--rack", "d", "--json").object
    assert [(each["id"], each["rack"]) for each in added["brokers"]] == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
        (4, "d"),
    ]
    assert partwright("topic", "new", "--replica-assignment", "4:1").data == "4:1\n"

    for refused, said in (
        (["start", "--brokers", "3"], "with 4 brokers, not 3: stop it first"),
        (["start", "--rack", "a,b,c"], "with the racks a, b, c, d, not a, b, c: stop it first"),
        (["start", "--config", "x=1"], ", not started with --config x=1: stop it first"),
        (["start", "1", "--port", "9092"], "broker 1 starts again as it was: leave out --port"),
        (["start", "1"], f"broker 1 runs already at {servers[0]}"),
        (["kill", "9"], "there is no broker 9: there are the brokers 1, 2, 3 and 4"),
        (["add"], "the rack of broker 5 is missing: the other brokers have one"),
        (["topic", "t"], "the topic 't' gets no partitions: say -n, or --replica-assignment"),
        (
            ["topic", "t", "-n", "1", "--replication-factor", "5"],
            "ask for fewer replicas, or start more brokers",
        ),
        (["topic", "t", "--replica-assignment", "1:9"], "name brokers that are there"),
    ):
        found = partwright(*refused)
        assert (found.code, found.data, found.words.count("\n")) == (2, "", 1), found.words
        assert said in found.words
    assert "is stopped, and its records are removed" in partwright("stop").words
    assert not processes_of(state)
    assert {file.name for file in state.iterdir()} <= {"broker.lock"}


def test_brokers_that_do_not_fit_are_sentences(state: Path) -> None:
    for refused, said in (
        (
            ["start", "--brokers", "3", "--rack", "a,,c"],
            "the rack of broker 2 is missing: name one for each broker",
        ),
        (
            ["start", "--rack", "a,b"],
            "2 racks cannot be those of 1 broker: name one for each",
        ),
        (["start", "--brokers", "0"], "0 is not in the range 1<=x<=100"),
        (["start", "--config", "broker.rack"], "--config takes NAME=VALUE, not 'broker.rack'"),
        (["start", "--config", "min.isr.replication.factor=2"], "asks for 2 replicas, and there is 1 broker"),
        (["start", "1"], "no broker is there: `partwright broker start` starts one"),
        (["add"], "no broker is there: "),
        (["kill"], "Missing argument"),
        (["topic", "t", "-n", "1"], "no broker is running: "),
    ):
        found = partwright(*refused)
        assert (found.code, found.data) == (2, ""), found.words
        assert said in found.words
    assert not processes_of(state)
