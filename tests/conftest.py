"""Shared by the tests of several packages: a broker, Spark, the command, and the programs of tests/reference."""

from __future__ import annotations

import importlib
import os
import random
import secrets
import shutil
import subprocess
import sys
import warnings
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# It is not installed where wheels are tested.
with warnings.catch_warnings(), suppress(ImportError):
    # kafka-python warns when it is imported, whichever test imports it first.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from pyspark.sql import SparkSession

    from partwright.kafka import EmbeddedKafka

TESTS = Path(__file__).resolve().parent
REFERENCE = TESTS / "reference"
LONGEST = [
    *["spark/test_connect.py", "docs/test_sessions.py", "cli/test_run.py", "reference/test_generate.py"],
    *["kafka/test_group_timeline.py", "producer/test_differential.py", "assignors/test_differential.py"],
    *["group/test_differential.py", "report/test_browser.py", "docs/test_readme.py"],
    *[
        "pipeline/test_resume.py",
        "spark/test_write_stream.py",
        "pipeline/test_run.py",
        "migration/test_migrate.py",
    ],
]
"""Files that take minutes: begun last, one of them alone would keep one process waiting for the other."""
# A test that uses one of these fixtures needs what the marker names.
FIXTURES = {
    "broker": {"broker", "broker_of_its_own", "secured", "three"},
    "spark": {"spark"},
    "browser": {"chromium"},
}
# What no fast test needs: these markers make a test slow.
SLOW = ("broker", "spark", "reference", "go", "node", "compiler", "browser", "long")
KEPT_WORKERS = {"spark.python.task.killTimeout": "120s"}
"""If a job fails, Spark kills the workers of its other tasks once they have taken 2 s more. Spark 3.5 then gives such
a worker to the next job, which fails with `Socket is closed`: a test that expects an error would spoil the next one."""


# First, because hypothesis reads its option when it is configured.
@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # The width of the terminal in which tests run, which parallel workers are told, decides how wide commands print.
    os.environ.pop("COLUMNS", None)
    # One seed for the whole run. Parallel workers, and processes that tests start, inherit it.
    seed = os.environ.get("PARTWRIGHT_SEED") or str(secrets.randbits(32))
    os.environ["PARTWRIGHT_SEED"] = seed
    if config.getoption("--hypothesis-seed", None) is None:
        config.option.hypothesis_seed = seed


def pytest_report_header() -> list[str]:
    # The Makefile leaves this file where it installed the unoptimized build.
    build = ["partwright: built by `make try`"] if Path(sys.prefix, "try").exists() else []
    return [f"PARTWRIGHT_SEED={os.environ['PARTWRIGHT_SEED']}", *build]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    first = {TESTS / name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path, len(first)))
    for item in items:
        for needed, fixtures in FIXTURES.items():
            if not fixtures.isdisjoint(getattr(item, "fixturenames", ())):
                item.add_marker(needed)
        if any(map(item.get_closest_marker, SLOW)):
            item.add_marker("slow")
    # A sample is one test in so many of each file, slow or fast, so it takes as long whatever the seed is.
    if (one_of := int(os.environ.get("PARTWRIGHT_ONE_OF") or 1)) > 1:
        drawn = random.Random(f"sample {os.environ['PARTWRIGHT_SEED']}")
        together: dict[object, list[pytest.Item]] = {}
        for item in items:
            together.setdefault(shared_by(item), []).append(item)
        order = sorted(
            together.values(),
            key=lambda some: (str(some[0].path), "slow" in some[0].keywords, drawn.random()),
        )
        sample = set(chain.from_iterable(order[drawn.randrange(one_of) :: one_of]))
        config.hook.pytest_deselected(items=[item for item in items if item not in sample])
        items[:] = [item for item in items if item in sample]


def shared_by(item: pytest.Item) -> object:
    """The parameter of a fixture that a test shares with others, or the test itself.

    Tests of one broker are drawn together: one in so many of them would start every broker for a test or two.
    """
    drawn: Any = getattr(item, "callspec", None)
    names = [] if drawn is None else drawn.indices
    shared = [name for name in names if drawn._arg2scope[name].value != "function"]
    return (item.path, *((name, drawn.indices[name]) for name in shared)) if shared else item.nodeid


@pytest.fixture(scope="session")
def reference() -> Iterator[Callable[[str], ModuleType]]:
    """Imports a module of tests/reference, a folder of scripts, as the modules there import each other."""
    sys.path.insert(0, str(REFERENCE))
    importlib.import_module("builds").SHARED = REFERENCE.parents[1] / "target" / "reference"
    yield importlib.import_module
    sys.path.remove(str(REFERENCE))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The machine's own browser: none is downloaded."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.fail("Chromium was not found on PATH: install it (Debian: apt-get install chromium)")
    # Its sandbox does not work for root, as in a container.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=arguments)
        yield running
        running.close()


@pytest.fixture
def seed() -> int:
    """The seed of random questions: PARTWRIGHT_SEED repeats those of a test that failed."""
    drawn = os.environ["PARTWRIGHT_SEED"]
    print(f"PARTWRIGHT_SEED={drawn}")  # noqa: T201 - pytest shows it if the test fails
    return int(drawn)


@pytest.fixture
def cases() -> Callable[[int], int]:
    """How many random questions a test asks: its own number, or PARTWRIGHT_CASES."""
    return lambda usual: int(os.environ.get("PARTWRIGHT_CASES") or usual)


@pytest.fixture
def asked(
    reference: Callable[[str], ModuleType], tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> Callable[[str, str, int], Iterator[tuple[dict[str, Any], dict[str, Any]]]]:
    """Random questions to a version of Kafka, each with its answer: those of `strategies` or of `batching`."""

    def ask(about: str, kafka: str, usual: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        asking = reference(about)
        program = next(program for program in asking.PROGRAMS if program.kafka == kafka)
        questions = list(asking.questions(program.strategies, seed, cases(usual)))
        _, answers = asking.ask(asking.build(kafka, tmp_path), questions)
        return zip(questions, answers, strict=True)

    return ask


@pytest.fixture(scope="session")
def broker() -> Iterator[EmbeddedKafka]:
    """A broker that runs until the process's last test is done; each test uses topics and groups of its own."""
    from partwright.kafka import EmbeddedKafka

    with EmbeddedKafka() as running:
        yield running


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The process's one session: classic, or of the server that PARTWRIGHT_TEST_REMOTE names."""
    from pyspark.sql import SparkSession

    from partwright import spark as pws

    if remote := os.environ.get("PARTWRIGHT_TEST_REMOTE"):
        session = SparkSession.builder.remote(remote).getOrCreate()
    else:
        log = tmp_path_factory.mktemp("spark log") / "spark.log"
        session = pws.session(master="local[2]", kafka=True, configs=KEPT_WORKERS, log_file=log)
    session.conf.set("spark.sql.shuffle.partitions", 4)
    yield session
    session.stop()


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder is the test's own, and empty."""
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.chdir(folder)


@pytest.fixture
def command(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., tuple[int, bytes, str]]:
    """Calls the command in this process: its exit code, stdout and stderr."""
    from partwright.cli import main

    def call(*words: object) -> tuple[int, bytes, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        out, err = capfdbinary.readouterr()
        return int(ended.value.code or 0), out, err.decode()

    return call


@pytest.fixture
def told(command: Callable[..., tuple[int, bytes, str]]) -> Callable[..., tuple[int, str, str]]:
    """Like `command`, with stdout as text."""

    def call(*words: object) -> tuple[int, str, str]:
        code, out, err = command(*words)
        return code, out.decode(), err

    return call


@pytest.fixture
def refusal(command: Callable[..., tuple[int, bytes, str]]) -> Callable[..., str]:
    """The one sentence of the command's refusal."""

    def call(*words: object) -> str:
        code, out, err = command(*words)
        assert (code, out, err.count("\n")) == (2, b"", 1), err
        return err

    return call


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs the command as its own process, with `stdin`."""

    def run(*words: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "partwright", *map(str, words)],
            input=stdin,
            capture_output=True,
            check=False,
            timeout=300,
            env=os.environ,
        )

    return run
