"""The jars' cache, against a Maven repository of this test's own on 127.0.0.1."""

from __future__ import annotations

import hashlib
import os
import pty
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING

import pytest

from partwright.kafka import jars as module
from partwright.kafka.jars import (
    CONNECTORS,
    Jar,
    JarError,
    JarSet,
    SparkBuild,
    connector_set,
    jar_files,
    locked,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CONTENT = {f"org.example:part-{i}:1.{i}": bytes([65 + i]) * (100_000 * i + 7) for i in range(4)}
JARS = tuple(Jar(name, hashlib.sha256(data).hexdigest(), len(data)) for name, data in CONTENT.items())
PATHS = {jar.path: CONTENT[jar.coordinates] for jar in JARS}


class Repository:
    """A Maven repository over HTTP that counts its requests, and may fail."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        # For a path's n-th request (from 1): the status, and a body instead of the true one.
        self.answer: Callable[[str, int], tuple[int, bytes]] = lambda path, _n: (200, PATHS[path])
        self.claimed_length: int | None = None
        self.delay_s = 0.0
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"http://127.0.0.1:{self._server.server_port}/"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        repository = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.lstrip("/")
                with repository._lock:
                    repository.asked[path] += 1
                    status, body = repository.answer(path, repository.asked[path])
                time.sleep(repository.delay_s)
                self.send_response(status)
                self.send_header("Content-Length", str(repository.claimed_length or len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Repository]:
    """The repository, which the lock is made to name, and an empty cache."""
    served = Repository()
    monkeypatch.setattr(module, "locked", lambda name: JarSet(name, served.address, JARS))
    monkeypatch.setattr(module, "_BACKOFF_S", 0.001)
    monkeypatch.setenv("PARTWRIGHT_CACHE", str(tmp_path / "cache"))
    yield served
    served.close()


def left_over(tmp_path: Path) -> set[str]:
    """The files of the cache, by their paths in a repository."""
    folder = tmp_path / "cache" / "jars"
    return {str(file.relative_to(folder)) for file in folder.rglob("*.*") if file.is_file()} - {".fetching"}


@pytest.mark.parametrize(
    ("version", "scala", "clients", "connector"),
    [
        ("3.5.0", "2.12", "3.4.1", "3.5.7"),
        ("3.5.9", "2.12", "3.4.1", "3.5.7"),
        ("3.5.9", "2.13", "3.4.1", "3.5.9"),
        ("4.0.5", "2.13", "3.9.1", "4.0.4"),
        ("4.1.4", "2.13", "3.9.1", "4.1.3"),
        ("4.2.0", "2.13", "3.9.2", "4.2.0"),
        ("4.3.0", "2.13", "3.9.2", "4.2.0"),
        ("4.3.1-SNAPSHOT", "2.13", "3.9.2", "4.2.0"),
    ],
)
def test_a_spark_has_the_connector_of_its_version(
    version: str, scala: str, clients: str, connector: str
) -> None:
    found = locked(connector_set(SparkBuild(version, scala)))
    assert len(found.jars) == 4
    assert found.version("kafka-clients") == clients
    assert found.version(f"spark-sql-kafka-0-10_{scala}") == connector
    assert found.version(f"spark-token-provider-kafka-0-10_{scala}")[:3] == connector[:3]
    assert found.version("commons-pool2")


@pytest.mark.parametrize(("version", "scala"), [("3.4.4", "2.12"), ("4.0.5", "2.12"), ("4.4.0", "2.12")])
def test_a_spark_without_a_connector_is_refused(version: str, scala: str) -> None:
    with pytest.raises(JarError) as refusal:
        connector_set(SparkBuild(version, scala))
    assert str(refusal.value) == (
        f"there is no Kafka connector here for Spark {version} (Scala {scala}), only for Spark 3.5 (Scala 2.12), 3.5 "
        "(Scala 2.13), 4.0 (Scala 2.13), 4.1 (Scala 2.13), 4.2 (Scala 2.13), 4.3 (Scala 2.13): leave out kafka and "
        "name the connector in spark.jars.packages"
    )


@pytest.mark.parametrize("newer", ["4.4.0", "4.10.1", "5.0.0"])
def test_a_newer_spark_gets_the_newest_connector(newer: str) -> None:
    assert connector_set(SparkBuild(newer, "2.13")) == CONNECTORS["4.3", "2.13"]


def test_the_lock_names_the_sets_exactly() -> None:
    broker = locked("broker")
    assert len(broker.jars) == 46
    assert broker.version("kafka_2.13") == "4.3.1"
    assert broker.version("slf4j-simple") == broker.version("slf4j-api")
    names = {"broker", "tools", *CONNECTORS.values()}
    for name in names:
        assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in locked(name).jars)
    with pytest.raises(JarError) as refusal:
        locked("spark")
    assert str(refusal.value) == f"'spark' is not a set of jars: say one of {', '.join(sorted(names))}"


def test_another_repository_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTWRIGHT_MAVEN_REPOSITORY", "http://127.0.0.1:1/mirror")
    assert locked("connector-4.2.0_2.13").repository == "http://127.0.0.1:1/mirror/"


@pytest.mark.parametrize("address", ["/srv/maven", "ftp://127.0.0.1/", "maven"])
def test_a_repository_that_is_no_address_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("PARTWRIGHT_MAVEN_REPOSITORY", address)
    with pytest.raises(JarError, match=f"PARTWRIGHT_MAVEN_REPOSITORY is '{address}'"):
        locked("broker")


def test_all_are_fetched_once_and_then_kept(repository: Repository) -> None:
    first = jar_files("broker")
    assert [file.read_bytes() for file in first] == list(CONTENT.values())
    assert jar_files("broker") == first
    assert repository.asked == dict.fromkeys(PATHS, 1)


def test_a_folder_is_a_repository_too(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jar_files("broker")
    # The cache is laid out as a Maven repository, so it can be passed on as one.
    kept = (tmp_path / "cache" / "jars").as_uri() + "/"
    monkeypatch.setattr(module, "locked", lambda name: JarSet(name, kept, JARS))
    monkeypatch.setenv("PARTWRIGHT_CACHE", str(tmp_path / "second"))
    assert [file.read_bytes() for file in jar_files("broker")] == list(CONTENT.values())
    assert sum(repository.asked.values()) == len(JARS)


@pytest.mark.parametrize("damaged", [b"", b"A" * 3, b"B" * 7, b"A" * 8])
def test_a_damaged_jar_alone_is_fetched_again(repository: Repository, damaged: bytes) -> None:
    first = jar_files("broker")[0]
    first.write_bytes(damaged)
    assert jar_files("broker")[0].read_bytes() == CONTENT[JARS[0].coordinates]
    assert repository.asked == {**dict.fromkeys(PATHS, 1), JARS[0].path: 2}


def test_another_file_than_the_locked_one_is_refused(repository: Repository, tmp_path: Path) -> None:
    wrong = b"x" * JARS[2].size
    repository.answer = lambda path, _n: (200, wrong if path == JARS[2].path else PATHS[path])
    with pytest.raises(JarError) as refusal:
        jar_files("broker")
    sentence = str(refusal.value)
    assert sentence.startswith("org.example:part-2:1.2 from http://127.0.0.1:")
    assert JARS[2].sha256 in sentence
    assert hashlib.sha256(wrong).hexdigest() in sentence
    assert repository.asked[JARS[2].path] == 1
    assert JARS[2].path not in left_over(tmp_path)
    assert not any(name.endswith(".part") for name in left_over(tmp_path))


def test_too_long_a_file_is_refused(repository: Repository) -> None:
    repository.answer = lambda path, _n: (200, PATHS[path] + b"x")
    with pytest.raises(
        JarError, match=r"is not the file that was locked.*\(8 bytes\) instead of .*\(7 bytes\)"
    ):
        jar_files("broker")


@pytest.mark.parametrize("claims", [None, JARS[3].size])
def test_a_truncated_answer_is_fetched_again(repository: Repository, claims: int | None) -> None:
    repository.claimed_length = claims
    repository.answer = lambda path, n: (200, PATHS[path][: 5 if n == 1 else None])
    only = JarSet("broker", repository.address, JARS[3:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "locked", lambda _name: only)
        (file,) = jar_files("broker")
    assert file.read_bytes() == CONTENT[JARS[3].coordinates]
    assert repository.asked[JARS[3].path] == 2


def test_an_answer_that_stays_truncated_is_refused(repository: Repository, tmp_path: Path) -> None:
    repository.answer = lambda path, _n: (200, PATHS[path][:5])
    with pytest.raises(
        JarError, match=r"^org\.example:part-0:1\.0 cannot be fetched .*\(2 of its 7 bytes did not come\)"
    ):
        jar_files("broker")
    assert left_over(tmp_path) == set()


def test_a_server_that_is_busy_is_asked_again(repository: Repository) -> None:
    repository.answer = lambda path, n: (503, b"") if n < 3 else (200, PATHS[path])
    jar_files("broker")
    assert set(repository.asked.values()) == {3}


def test_what_is_not_there_is_refused_at_once(repository: Repository) -> None:
    repository.answer = lambda path, _n: (404, b"") if path == JARS[0].path else (200, PATHS[path])
    with pytest.raises(
        JarError, match=r"^org\.example:part-0:1\.0 cannot be fetched from http.*\(Not Found\)"
    ):
        jar_files("broker")
    assert repository.asked[JARS[0].path] == 1


def test_a_folder_without_the_jar_is_refused(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty = replace(module.locked("broker"), repository=tmp_path.as_uri() + "/")
    monkeypatch.setattr(module, "locked", lambda _name: empty)
    with pytest.raises(JarError, match=r"^org\.example:part-0:1\.0 cannot be fetched from file:"):
        jar_files("broker")
    assert not repository.asked


def test_no_network_says_what_to_do(repository: Repository) -> None:
    repository.close()
    with pytest.raises(
        JarError, match=r"\(.*Connection refused\): check the network, or name a mirror in PARTWRIGHT"
    ):
        jar_files("broker")
    repository.__init__()  # type: ignore[misc]


def test_a_cache_that_cannot_be_written_is_named(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PARTWRIGHT_CACHE", str(tmp_path / "file"))
    with pytest.raises(
        JarError, match=r"no jars can be kept in .*file/jars \(.*\): name another folder in PARTWRIGHT"
    ):
        jar_files("broker")
    assert not repository.asked


def test_the_rest_of_a_killed_fetch_is_no_hindrance(repository: Repository, tmp_path: Path) -> None:
    part = tmp_path / "cache" / "jars" / f"{JARS[1].path}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"half")
    jar_files("broker")
    assert repository.asked == dict.fromkeys(PATHS, 1)
    assert left_over(tmp_path) == set(PATHS)


def test_progress_rises_to_the_total(repository: Repository) -> None:
    told: list[tuple[int, int]] = []
    jar_files("broker", lambda fetched, total: told.append((fetched, total)))
    assert repository.asked
    assert told == sorted(told)
    total = sum(jar.size for jar in JARS)
    assert told[-1] == (total, total)
    told.clear()
    jar_files("broker", lambda fetched, total: told.append((fetched, total)))
    assert told == []


FETCH = """
import sys
from partwright.kafka import jars
wanted = [jars.Jar(*word.split("=")[:2], int(word.split("=")[2])) for word in sys.argv[2:]]
jars.locked = lambda name: jars.JarSet(name, sys.argv[1], tuple(wanted))
print(len(jars.jar_files("broker")))
"""


def fetch_command(repository: Repository) -> list[str]:
    words = [f"{jar.coordinates}={jar.sha256}={jar.size}" for jar in JARS]
    return [sys.executable, "-c", FETCH, repository.address, *words]


def test_two_processes_at_once_fetch_each_jar_once(repository: Repository) -> None:
    repository.delay_s = 0.5
    both = [subprocess.Popen(fetch_command(repository), stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=60)[0].strip() for process in both] == ["4", "4"]
    assert repository.asked == dict.fromkeys(PATHS, 1)


def test_a_bar_is_drawn_on_a_terminal_only(repository: Repository, tmp_path: Path) -> None:
    quiet = subprocess.run(fetch_command(repository), capture_output=True, timeout=60, check=True)
    assert quiet.stderr == b""
    environment = {
        **os.environ,
        "PARTWRIGHT_CACHE": str(tmp_path / "second"),
        "TERM": "xterm",
        "COLUMNS": "100",
    }
    reader, terminal = pty.openpty()
    subprocess.run(
        fetch_command(repository),
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        env=environment,
        timeout=60,
        check=True,
    )
    os.close(terminal)
    assert b"Fetching 4 jars (broker)" in os.read(reader, 1 << 16)
    os.close(reader)
