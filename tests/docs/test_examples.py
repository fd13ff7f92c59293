"""The programs of examples/ run unchanged, in a folder of their own, and succeed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
# A line that each program prints, among others.
FAST = {
    "rolling_restart.py": r"^cooperative-sticky +static +0 ",
    "resize.py": r"^12 -> 24: 4,895 of 10,000 records",
    "polars_frame.py": r"^partition 7 is the largest",
    "duckdb_sql.py": r"^920 of 10,000 records .* explains 920$",
}
SLOW = {
    "producer.py": r"^TT0124 is in partition 10$",
    "spark_to_kafka.py": r"^4 records, 0 of them not where",
    "business_partitioner.py": r"^by-run: all 20 orders are where ByTenant wants them$",
}


def run(folder: Path, *words: str) -> str:
    """The output of a program, run in a copy of the folder of the examples."""
    shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder / "examples",
        env={**os.environ, "PYTHONWARNINGS": "default"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_program_is_run_and_listed() -> None:
    programs = {path.name for path in EXAMPLES.glob("*.py")}
    # pytest runs one of them, and the other is imported.
    assert programs == {*FAST, *SLOW, "test_pipeline.py", "by_tenant.py"}
    listed = re.findall(
        r"^\| \[`([^`]+)`\]", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(listed) == sorted(programs - {"by_tenant.py"})


@pytest.mark.parametrize("program", FAST)
def test_a_program_runs(program: str, tmp_path: Path) -> None:
    assert re.search(FAST[program], run(tmp_path, program), re.MULTILINE)


def test_the_check_of_a_pipeline_runs(tmp_path: Path) -> None:
    # As an installed wheel brings the plug-in.
    assert "2 passed" in run(
        tmp_path, "-m", "pytest", "-q", "-p", "partwright.pytest_plugin", "test_pipeline.py"
    )


@pytest.mark.broker
@pytest.mark.parametrize("program", SLOW)
def test_a_program_with_a_broker_runs(program: str, tmp_path: Path) -> None:
    assert re.search(SLOW[program], run(tmp_path, program), re.MULTILINE)
