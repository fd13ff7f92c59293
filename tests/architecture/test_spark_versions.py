"""The tested versions of PySpark are the same in three places: the matrix here, GitHub's, and the connectors."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from partwright.kafka.jars import CONNECTORS

ROOT = Path(__file__).resolve().parents[2]


def listed() -> list[str]:
    command = ["bash", "tools/spark_matrix.sh", "--list"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def test_each_minor_version_is_tested_once_and_has_a_connector() -> None:
    minors = [version.rpartition(".")[0] for version in listed()]
    assert len(minors) == len({*minors})
    assert {*minors} == {spark for spark, _ in CONNECTORS}


def test_github_tests_the_same() -> None:
    text = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    (found,) = re.findall(r"^ +pyspark: \[(.+)\]$", text, flags=re.MULTILINE)
    assert re.findall(r'"([\d.]+)"', found) == listed()
