"""`partwright run` as a command: the demo's numbers, exit codes, one sentence on stderr, and nothing left behind."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTWRIGHT_STATE", str(tmp_path / "own state"))


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "partwright", *words]


def partwright(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words),
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env={**os.environ, **environment},
    )


def children_of(marker: str) -> list[str]:
    """The processes that belong to the run whose state folder is `marker`."""
    found = []
    for process in psutil.process_iter(["environ", "cmdline"]):
        environment, words = process.info["environ"] or {}, process.info["cmdline"] or []
        if environment.get("PARTWRIGHT_STATE") == marker and process.pid != os.getpid():
            found.append(" ".join(words)[:200])
    return found


def assert_nothing_runs(marker: str) -> None:
    """Spark's Java process ends by itself a moment after its Python has gone."""
    deadline = time.monotonic() + 30
    while children_of(marker) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not children_of(marker)


@pytest.mark.spark
@pytest.mark.broker
def test_the_demo_is_proven() -> None:
    # docs/test_readme.py checks all of it.
    done = partwright("run", "--runner", "spark", "--json", "--limit", "60000")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["ok"] is True
    counts = report["records"], report["keyed"], report["null_keys"], report["keys"]
    assert counts == (60_000, 59_752, 248, 3_589)
    assert (report["n"], report["topic"], report["client"]) == (12, "flights", "java")
    assert {name: report["proof"][name] for name in ("keyed", "equal", "different", "lost")} == {
        "keyed": 59_752,
        "equal": 59_752,
        "different": 0,
        "lost": 0,
    }
    checks = report["checks"]
    assert checks["records"] == 60_000
    assert sum(part["records"] for part in checks["partitions"]) == 60_000
    assert sum(part["null_keys"] for part in checks["partitions"]) == 248
    assert [part["first_offset"] for part in checks["partitions"]] == [0] * 12
    assert report["heaviest_keys"][0] == {"key": "N725MQ", "records": 111, "partition": 11}
    # stderr has a line per step and nothing from Spark.
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == [
        step["name"] for step in report["steps"]
    ]
    assert_nothing_runs(os.environ["PARTWRIGHT_STATE"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("run absent.csv --key id", "there is no file or folder 'absent.csv'"),
        ("run -n 0", "n, the number of partitions, must be from 1 to 2147483647, not 0"),
        ("run -n x", "'x' is not a valid integer"),
        ("run --client jav", 'there is no client "jav"'),
        ("run --to nowhere", "--to takes kafka://host:port or parquet:DIR"),
        ("run --to kafka://host:", "'kafka://host:' does not name a Kafka: write kafka://host:port"),
        ("run --to kafka://h:1/a --topic b", "--to names topic 'a' and --topic 'b'"),
        ("run --conf spark", "--conf takes NAME=VALUE, not 'spark'"),
        ("run --to kafka://127.0.0.1:9", "no Kafka answers at 127.0.0.1:9"),
        ("run --nonsense", "No such option"),
        (
            "fly",
            "there is no command 'fly': there are advise, assign, batch, broker, check, coordinator, copartition,",
        ),
        ("plcae", "there is no command 'plcae': did you mean place?"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_code_2(words: str, sentence: str, tmp_path: Path) -> None:
    done = partwright(*shlex.split(words), PARTWRIGHT_STATE=str(tmp_path))
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_help_tells_of_every_option() -> None:
    done = partwright("run", "--help")
    assert done.returncode == 0
    for option in (
        "--key",
        "--key-type",
        "--value",
        "--topic",
        "-n",
        "--to",
        "--client",
        "--master",
        "--limit",
    ):
        assert option in done.stdout
    assert "--no-check" in done.stdout
    assert "--json" in done.stdout


def until(step: str, process: subprocess.Popen[str]) -> None:
    """Returns when the run has finished a step."""
    assert process.stderr
    for line in process.stderr:
        if line.startswith(step):
            return
    pytest.fail(f"the run ended before the step {step!r} did")


@pytest.mark.spark
@pytest.mark.broker
@pytest.mark.parametrize(
    ("step", "number"),
    [("start Kafka", signal.SIGINT), ("make the topic", signal.SIGINT), ("make the topic", signal.SIGTERM)],
)
def test_an_interrupt_leaves_nothing_running(step: str, number: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C while Spark starts, and while records are written; SIGTERM ends the same way."""
    state = str(tmp_path / "state")
    with subprocess.Popen(
        command("run", "--runner", "spark"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PARTWRIGHT_STATE": state},
    ) as process:
        assert process.stderr
        assert process.stdout
        until(step, process)
        time.sleep(0.5)
        process.send_signal(number)
        said = process.stderr.read()
        assert process.stdout.read() == ""
    assert process.returncode == 128 + number
    sentences = [line for line in said.splitlines() if line.startswith("partwright: ")]
    assert len(sentences) == 1, said
    assert "Traceback" not in said
    if step == "make the topic":
        assert re.search(
            r"interrupted while writing to .*: [\d,]+ of 336,776 records are written", sentences[0]
        )
    assert_nothing_runs(state)


@pytest.mark.spark
@pytest.mark.broker
def test_a_killed_java_is_told_as_such_and_leaves_nothing(tmp_path: Path) -> None:
    """Killed as the kernel kills when memory runs out: the topic itself shows what is written."""
    from partwright.kafka import EmbeddedKafka, topics

    rows = "".join(f"key {number % 1000},{number}\n" for number in range(300_000))
    (tmp_path / "many.csv").write_text(f"id,text\n{rows}", encoding="utf-8")
    temporary, state = tmp_path / "a tmp", tmp_path / "state"
    temporary.mkdir()
    with EmbeddedKafka() as kafka:
        words = ["run", str(tmp_path / "many.csv"), "--key", "id", "--topic", "t", "-n", "4"]
        with subprocess.Popen(
            command(
                *words,
                "--to",
                f"kafka://{kafka.bootstrap_servers}",
                "--conf",
                f"spark.local.dir={temporary}/l",
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # The Java process of a test may not write anywhere else either.
            env={**os.environ, "PARTWRIGHT_STATE": str(state), "TMPDIR": str(temporary)},
        ) as process:
            until("make the topic", process)
            (folder,) = temporary.glob("partwright-run-*")
            assert [path for path in folder.iterdir() if path.name.startswith("spark-")]
            assert folder.stat().st_mode & 0o077 == 0
            java = [child for child in psutil.Process(process.pid).children() if child.name() == "java"]
            while not sum(topics.end_offsets(kafka.bootstrap_servers, "t").values()):
                assert process.poll() is None
            assert len(java) == 1
            java[0].kill()
            assert process.stderr
            said = process.stderr.read()
        arrived = sum(topics.end_offsets(kafka.bootstrap_servers, "t").values())
    assert process.returncode == 2
    (sentence,) = said.splitlines()
    assert sentence.startswith(
        "partwright: Spark's Java process was ended by SIGKILL while it wrote to topic 't' at "
    )
    assert f": {arrived:,} of 300,000 records are written (" in sentence
    (log,) = (state / "logs").iterdir()
    assert sentence.endswith(f"; add --resume to go on; Spark's log is {str(log)!r}")
    assert [path.name for path in temporary.rglob("*")] == ["l"]
    modes = {path.name: path.stat().st_mode & 0o777 for path in [state, log.parent, log]}
    assert modes == {"state": 0o700, "logs": 0o700, log.name: 0o600}


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("partwright fing", ["fingerprint"]),
        ("partwright check --client librdkafka:m", ["librdkafka:murmur2", "librdkafka:murmur2_random"]),
        ("partwright which k --key-type java:u", ["java:uuid"]),
        ("partwright assign g.json --assignor coop", ["cooperative-sticky", "cooperative-sticky@2.8"]),
        (
            "partwright group g.json --assignor range,coop",
            ["range,cooperative-sticky", "range,cooperative-sticky@2.8"],
        ),
        ("partwright group g.json --protocol c", ["classic", "consumer"]),
        ("partwright broker start --security SCRAM", ["SCRAM-SHA-256", "SCRAM-SHA-512"]),
        ("partwright batch r.csv --strategy round", ["round-robin", "round-robin@3.9.2", "round-robin@2.8"]),
        ("partwright place x.csv --client nobody", []),
    ],
)
def test_a_shell_completes_names(typed: str, names: list[str]) -> None:
    # fish passes the typed part of a word unchanged; bash breaks words at colons.
    *_, last = typed.split(" ")
    done = partwright(_PARTWRIGHT_COMPLETE="fish_complete", COMP_WORDS=typed, COMP_CWORD=last)
    found = [line.removeprefix("plain,").partition("\t")[0] for line in done.stdout.splitlines() if line]
    assert found == names, done
