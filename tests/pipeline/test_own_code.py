"""A user's own partitioner in a run: found in the current folder, and sent to workers that do not have it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from partwright.errors import PartwrightError
from partwright.pipeline.settings import ParquetTarget
from partwright.spark.executors.archives import files_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from pathlib import Path

    from partwright.pipeline.report import Report

    Go = Callable[..., Report]

N = 5
# A package with a module next to a helper in the folder, as people lay out their code.
CODE = {
    "{name}/__init__.py": "",
    "{name}/places.py": (
        "import {name}_helper\n"
        "class Last:\n"
        "    def partition(self, topic, key, key_bytes, value, value_bytes, cluster):\n"
        "        return len(cluster.partitions(topic)) - {name}_helper.BACK\n"
    ),
    "{name}_helper.py": "BACK = 2\n",
}
CSV = "id,text\n" + "".join(f"key {number % 7},{number}\n" for number in range(30))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "some.csv").write_text(CSV, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def write_code(folder: Path, name: str) -> str:
    (folder / name).mkdir()
    for file, text in CODE.items():
        (folder / file.format(name=name)).write_text(text.format(name=name), encoding="utf-8")
    return f"{name}.places.Last"


def held(folder: Path) -> list[int]:
    """The number of records in each partition's folder."""
    return [
        sum(pq.read_metadata(file).num_rows for file in (folder / f"some-{number}").glob("*.parquet"))
        for number in range(N)
    ]


@pytest.mark.spark
def test_workers_without_the_folder_get_it(go: Go, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session's workers were started elsewhere."""
    monkeypatch.syspath_prepend(str(here))
    strategy = write_code(here, "own_code_of_a_session")
    report = go(
        source="some.csv", key="id", partitions=N, strategy=strategy, target=ParquetTarget(here / "out")
    )
    assert (report.ok, report.strategy) == (True, "Last")
    assert held(here / "out") == [0, 0, 0, 30, 0]


@pytest.mark.spark
def test_executors_of_a_cluster_get_it(here: Path) -> None:
    """The command `partwright` has no current folder on its path, and the executors run in their own folders."""
    strategy = write_code(here, "own_code_of_a_cluster")
    words = [
        "run",
        "some.csv",
        "--key",
        "id",
        "-n",
        str(N),
        "--strategy",
        strategy,
        "--to",
        "parquet:out",
        "--json",
    ]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "partwright", *words, "--master", "local-cluster[2,1,1024]"],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env={**os.environ, "PYTHONSAFEPATH": "1", "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["strategy"] == "Last"
    assert held(here / "out") == [0, 0, 0, 30, 0]


def test_what_is_in_the_folder_is_sent_and_what_is_installed_is_not(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(here))
    name = "own_code_of_files"
    write_code(here, name)
    (here / name / "table.txt").write_text("a package's data go with it", encoding="utf-8")
    (here / name / "__pycache__").mkdir()
    (here / name / "__pycache__" / "old.pyc").write_bytes(b"")
    (here / "unrelated.py").write_text("", encoding="utf-8")
    installed = here / "venv"
    (installed / "site_packages").mkdir(parents=True)
    (installed / "site_packages" / "own_code_installed.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(installed / "site_packages"))
    __import__(f"{name}.places")
    __import__("own_code_installed")
    found = files_of(sys.modules.values(), here)
    assert sorted(found) == [
        f"{name}/__init__.py",
        f"{name}/places.py",
        f"{name}/table.txt",
        f"{name}_helper.py",
    ]


def test_a_compiled_module_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.machinery import EXTENSION_SUFFIXES
    from importlib.util import spec_from_file_location

    from partwright.spark.executors.archives import send_own_code

    file = here / f"fast{EXTENSION_SUFFIXES[0]}"
    file.write_bytes(b"")
    module = ModuleType("fast")
    spec: ModuleSpec | None = spec_from_file_location("fast", file)
    module.__spec__ = spec
    monkeypatch.setitem(sys.modules, "fast", module)
    with pytest.raises(
        PartwrightError, match=r"^fast.* is compiled, and Python imports it from no archive: install"
    ):
        send_own_code(None, here)  # type: ignore[arg-type]


def test_a_class_that_is_not_there_is_named(
    here: Path, process: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    (here / "mine.py").write_text("class Biz: pass\n", encoding="utf-8")
    for strategy, sentence in [
        ("mine.Bizz", "there is no partitioner 'mine.Bizz': the module mine has no Bizz"),
        ("mine.Biz", "Biz is not a partitioner: it has no partition(topic, key,"),
        ("absent.Biz", "the partitioner 'absent.Biz' cannot be imported (ModuleNotFoundError: No module"),
    ]:
        done = process("run", "some.csv", "--key", "id", "--strategy", strategy)
        assert (done.returncode, done.stdout) == (2, b"")
        assert sentence in done.stderr.decode()
        assert done.stderr.count(b"\n") == 1
