"""The console sessions of docs/ run, one after the other, and must print what their document shows."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from docs.warm import CLIENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DOCS = Path(__file__).parents[2] / "docs"
# A command, and the document about it.
DOCUMENTS = {
    "advise": "how-many-partitions.md",
    "assign": "assign.md",
    "place": "files.md",
    "check": "files.md",
    "fingerprint": "fingerprint.md",
    "resize": "resize.md",
    "copartition": "copartition.md",
    "doctor": "connect.md",
    "strategy": "strategies.md",
    "batch": "batching.md",
    "coordinator": "offsets.md",
    "group": "group.md",
    "rollout": "rollouts.md",
    "reassign": "reassign.md",
}
# Options for reaching a Kafka and for reading a part of a topic are the same everywhere, and documented once.
REACHING = {"--command-config", "--since", "--until", "--last", "--only-partitions"}
# docs/test_clients.py has one of them, and the broker's own tests the other.
ELSEWHERE = {"broker.md", "clients.md"}
TITLED = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIMES = re.compile(r" +ms *$|in [\d.]+ s, [\d,]+ rows/s|^[a-zA-Z ]+: [\d.]+ s$|process \d+|Its log is .*")
# A slow machine's milliseconds widen the last column, and the rule below its name; this happens in no other table.
TIMED_RULE = re.compile(r"(?<= ms)( *\n *)─+ *$", re.MULTILINE)
MODULES = {"pytest": "-m pytest", "python": ""}
TOPIC = "127.0.0.1:9092"
BROKER = "partwright broker start --port 9092"
PAGES = {
    page.relative_to(DOCS).as_posix(): page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))
}
# Pages that start a Kafka of their own; the others use the tutorial's topic.
WITH_A_BROKER = [page for page, text in PAGES.items() if BROKER in text and page not in ELSEWHERE]
DOCUMENTS_WITH_SESSIONS = [
    page for page, text in PAGES.items() if "```console" in text and page not in {*ELSEWHERE, *WITH_A_BROKER}
]


def examples(document: str) -> list[tuple[str, str]]:
    """Each command with its output."""
    found = []
    for session in SESSION.findall(PAGES[document]):
        for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            found.append((command, printed))
    return found


def steady(text: str) -> list[str]:
    """Without the parts that differ from run to run, and without the blanks that fill tables."""
    return [TIMES.sub("#", line).rstrip() for line in TIMED_RULE.sub(r"\1─", text).strip().splitlines()]


@pytest.fixture(scope="session")
def warm() -> Iterator[str]:
    """The text of a program that does the same as the command, without the time for imports."""
    # A socket's path may have about a hundred characters.
    with tempfile.TemporaryDirectory(prefix="warm") as folder:
        address = f"{folder}/s"
        with subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("warm.py")), address],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        ) as server:
            try:
                while not Path(address).exists():
                    assert server.poll() is None
                    time.sleep(0.02)
                yield CLIENT.format(python=sys.executable, address=address)
            finally:
                server.terminate()


@pytest.fixture
def shell(tmp_path: Path, warm: str) -> Callable[[str], str]:
    """Runs a line in a shell that knows the command, in a folder with the document's files."""
    (tmp_path / "bin").mkdir()
    programs = {
        name: f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n' for name, module in MODULES.items()
    }
    for name, text in {"partwright": warm, **programs}.items():
        program = tmp_path / "bin" / name
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
        "PARTWRIGHT_STATE": str(tmp_path / "state"),
        # As an installed wheel brings it.
        "PYTEST_ADDOPTS": "-p partwright.pytest_plugin",
    }

    def run(line: str) -> str:
        return subprocess.run(
            ["bash", "-c", line],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            cwd=tmp_path,
            env=environment,
        ).stdout

    return run


def test_each_document_with_sessions_is_executed() -> None:
    # Its sessions would need other people's clusters.
    assert set(DOCUMENTS.values()) - {"connect.md"} <= set(DOCUMENTS_WITH_SESSIONS)
    assert {"tutorial.md", "how-to/spark-without-a-jar.md"} == set(WITH_A_BROKER)
    assert sum(page.startswith("how-to/") for page in [*DOCUMENTS_WITH_SESSIONS, *WITH_A_BROKER]) == 11
    assert [
        page
        for page, text in PAGES.items()
        if page.startswith("how-to/") and "\n$ " not in text and ">>>" not in text
    ] == ["how-to/index.md"]
    assert all("```console" in PAGES[page] for page in ELSEWHERE)


@pytest.mark.parametrize("document", DOCUMENTS_WITH_SESSIONS)
def test_the_sessions_print_what_they_say(document: str, shell: Callable[[str], str], tmp_path: Path) -> None:
    told = [(command, printed) for command, printed in examples(document) if TOPIC not in command]
    assert told
    save(document, tmp_path)
    play(told, shell, tmp_path)


def save(document: str, folder: Path, port: str = "9092") -> None:
    """Write the files that a page tells its reader to save."""
    for name, text in TITLED.findall(PAGES[document]):
        (folder / name).write_text(text.replace("9092", port), encoding="utf-8")


def play(told: list[tuple[str, str]], shell: Callable[[str], str], folder: Path) -> None:
    """Run commands, whose output must equal the text; a file that is shown but does not exist is written."""
    for command, printed in told:
        if command.startswith("cat "):
            file = folder / command.removeprefix("cat ")
            if not file.exists():
                file.write_text(printed, encoding="utf-8")
        assert steady(shell(command)) == steady(printed), command


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.parametrize("document", WITH_A_BROKER)
def test_the_sessions_with_a_broker_print_what_they_say(
    document: str, shell: Callable[[str], str], tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    told = [
        (command.replace("9092", port), printed.replace("9092", port))
        for command, printed in examples(document)
    ]
    save(document, tmp_path, port)
    try:
        play(told, shell, tmp_path)
    finally:
        shell("partwright broker stop")


@pytest.mark.broker
def test_the_sessions_with_a_topic_print_what_they_say(shell: Callable[[str], str]) -> None:
    from confluent_kafka import Producer

    from partwright.kafka import EmbeddedKafka, topics

    told = [each for document in DOCUMENTS_WITH_SESSIONS for each in examples(document) if TOPIC in each[0]]
    assert len(told) > 1
    with EmbeddedKafka() as kafka:
        topics.create_topic(kafka.bootstrap_servers, "orders", 12)
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "partitioner": "murmur2_random"})
        for order in range(1000):
            producer.produce("orders", b"v", key=b"customer %d" % (order % 80))
        producer.flush()
        for command, printed in told:
            wanted = [line.replace(TOPIC, kafka.bootstrap_servers) for line in steady(printed)]
            assert steady(shell(command.replace(TOPIC, kafka.bootstrap_servers))) == wanted, command


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_document_names_every_option(name: str, shell: Callable[[str], str]) -> None:
    text = PAGES[DOCUMENTS[name]]
    options = set(re.findall(r"^ +(?:-n, )?(--[a-z-]+)", shell(f"partwright {name} --help"), re.MULTILINE))
    assert options
    if options & REACHING:
        assert "connect.md" in text or DOCUMENTS[name] == "connect.md"
    for option in options - {"--help", "--partitions"}:
        assert option in (PAGES["connect.md"] if option in REACHING else text), option
