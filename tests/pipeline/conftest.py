"""A run's targets and the place of its notes, and how a test runs it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from partwright.kafka import EmbeddedKafka
    from partwright.pipeline.report import Report
    from partwright.pipeline.settings import KafkaTarget


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        # PySpark 4.1 leaves the sockets of its collected results to the garbage collector.
        item.add_marker(pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"))
        # PySpark 3.5 imports distutils, of which Python 3.11 warns.
        item.add_marker(pytest.mark.filterwarnings("ignore:.*distutils:DeprecationWarning"))


class Silent:
    """A progress that remembers the names of the steps."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        self.steps.append(name)
        yield

    def spark(self, spark: SparkSession) -> None:
        del spark


@pytest.fixture(scope="session")
def kafka(broker: EmbeddedKafka) -> EmbeddedKafka:
    return broker


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """The test's own, which does not exist yet."""
    return f"run-{abs(hash(request.node.nodeid)):x}"


@pytest.fixture
def to(kafka: EmbeddedKafka) -> KafkaTarget:
    from partwright.kafka.connection import KafkaConfig
    from partwright.pipeline.settings import KafkaTarget

    return KafkaTarget(KafkaConfig.read({}, servers=kafka.bootstrap_servers))


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTWRIGHT_STATE", str(tmp_path / "state"))


@pytest.fixture
def go(spark: SparkSession) -> Callable[..., Report]:
    """Runs `partwright run` in the tests' session."""
    from partwright.pipeline.batch_run import run
    from partwright.pipeline.settings import RunSettings
    from partwright.pipeline.spark_runner import SparkKind

    def once(**settings: object) -> Report:
        return run(RunSettings(**settings), Silent(), SparkKind(spark))  # type: ignore[arg-type]

    return once


@pytest.fixture
def local() -> Callable[..., Report]:
    """Runs `partwright run --runner local` in this process."""
    from partwright.pipeline.batch_run import run
    from partwright.pipeline.local_runner import LocalKind
    from partwright.pipeline.settings import RunSettings

    def once(**settings: object) -> Report:
        return run(RunSettings(runner="local", **settings), Silent(), LocalKind())  # type: ignore[arg-type]

    return once


@pytest.fixture
def printed_with_imports() -> Callable[[list[str]], list[str]]:
    """The lines that a command prints, and a last one with those of pyspark and pandas that it has imported."""

    def run(words: list[str]) -> list[str]:
        lines = [
            "import sys",
            "from partwright.cli import main",
            f"sys.argv = {['partwright', *words]!r}",
            "try: main()",
            "finally: print([name for name in ('pyspark', 'pandas') if name in sys.modules])",
        ]
        done = subprocess.run(
            [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=60, check=False
        )
        print(done.stderr)  # noqa: T201 - shown if the test fails
        return done.stdout.splitlines()

    return run


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """The command in its own process group, with its own notes, like another machine."""
    running: list[subprocess.Popen[str]] = []

    def start(*words: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "partwright", "run", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=os.environ | {"PARTWRIGHT_STATE": str(tmp_path / f"machine {len(running)}")},
        )
        running.append(process)
        return process

    yield start
    for process in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
