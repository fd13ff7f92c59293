"""The report that README shows is the one that the demo prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"

# What differs from run to run: times and rates, where the producer put null keys, the log's name.
_STEP = re.compile(r"^ (start|read|make|write|let|compare)\b.*$")
_SHARE = re.compile(r"^( +\d+ .*%) +█*( +[\d,]+ *)$")


def steady(report: str) -> list[str]:
    lines = []
    for line in report.strip().splitlines():
        step = re.sub(r"[\d.,]+", "#", line) if _STEP.match(line) else line
        share = _SHARE.sub(lambda match: match[1], step)
        nulls = re.sub(r"into \d+ of", "into # of", share)
        lines.append("Spark's log" if nulls.startswith("Spark's log") else re.sub(" +", " ", nulls.rstrip()))
    return [line for line in lines if line]


def shown() -> str:
    match = re.search(
        r"<!-- demo -->\n```\n(.*?)```\n<!-- /demo -->", README.read_text(encoding="utf-8"), re.DOTALL
    )
    assert match, "README shows no report of the demo"
    return match[1]


def test_the_report_in_readme_holds_the_proof() -> None:
    report = shown()
    assert (
        "the Java producer, given no partition, chose the same one for 334,264 of 334,264 keyed records"
        in report
    )
    assert "another for 0" in report


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.broker
def test_the_demo_prints_what_readme_shows(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "partwright", "run"],
        capture_output=True,
        text=True,
        check=True,
        timeout=500,
        env={**os.environ, "PARTWRIGHT_STATE": str(tmp_path / "state")},
    )
    printed = steady(done.stdout)
    assert len(printed) > 30
    assert printed == steady(shown())
