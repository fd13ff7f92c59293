"""The wheel in an empty environment: the columns work there without Rust, and a missing package is one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

WHEELS = Path(__file__).parents[2] / "target" / "wheels"


@pytest.fixture(scope="module")
def wheel() -> Path:
    (only,) = WHEELS.glob("partwright-*.whl")
    return only


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """A new environment's bin folder, with the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    # It finds no compiler there.
    path = f"{folder / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    subprocess.run(pip, check=True, env={**os.environ, "PATH": path})
    return folder / "bin"


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)


def test_the_wheel_is_abi3_and_holds_what_it_should(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "partwright/_core.abi3.so",
        "partwright/py.typed",
        "partwright/_core.pyi",
        "partwright/kafka/jars.lock",
    ):
        assert wanted in names
    assert not [name for name in names if name.endswith((".rs", ".pyc")) or "tests" in name]
    for ends in (
        "licenses/LICENSE",
        "licenses/THIRD-PARTY-LICENSES.txt",
        "sboms/partwright.cyclonedx.json",
    ):
        assert any(name.endswith(ends) for name in names), ends


def test_the_wheel_brings_the_pytest_plug_in(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (points,) = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
    assert "[pytest11]\npartwright.pytest_plugin=partwright.pytest_plugin\n" in archive.read(points).decode()


def test_columns_work_without_rust_pandas_or_spark(empty: Path) -> None:
    lines = "import partwright as pw, sys; print(pw.partition_for_key(['TT0124', None], 15).to_pylist());"
    done = run(empty / "python", "-c", lines + " print('pandas' in sys.modules, 'pyspark' in sys.modules)")
    assert done.stdout.splitlines() == ["[10, None]", "False False"], done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run"], "pip install 'partwright[demo]'"),
        (["run", "--runner", "spark"], "pip install 'partwright[spark]'"),
        (["broker", "start"], "pip install 'partwright[kafka]'"),
    ],
)
def test_a_missing_extra_is_one_sentence(empty: Path, words: list[str], sentence: str) -> None:
    done = run(empty / "partwright", *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_help_needs_no_extra(empty: Path) -> None:
    for words in (["--help"], ["run", "--help"], ["broker", "--help"], ["--version"]):
        assert run(empty / "partwright", *words).returncode == 0
