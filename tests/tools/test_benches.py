"""Joining the benches' results: layers that disagree are refused, and goals are computed from the figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[2] / "benches"
GO = "seed: {seed}\ngo: go1.26\nBenchmarkPartition/bytes_12-2  20  {ns} ns/op  1000000 rows/op  {total} sum\n"
RUN = {
    "date": "2026-01-02",
    "seed": "7",
    "commit": "abc",
    "machine": {"cores": 2, "processor": "a processor", "system": "Linux"},
    "load": "0.1 0.1 0.1",
    "took": {"go": 1.0},
    "versions": {},
}


def compare(bench: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        str(BENCHES / "compare.py"),
        "--bench",
        str(bench),
        "--criterion",
        str(bench / "none"),
    ]
    return subprocess.run([*command, *options], capture_output=True, text=True, check=False)


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    (tmp_path / "go.txt").write_text(GO.format(seed=7, ns=9000000, total=55))
    java = {"seed": "7", "java": "17", "kafka-clients": "4.4.0", "sums": {"bytes_12": 55}}
    (tmp_path / "java.json").write_text(json.dumps(java))
    return tmp_path


def test_layers_that_agree_are_joined(bench: Path) -> None:
    done = compare(bench)
    assert done.returncode == 0, done.stderr
    assert "| Go | 12 bytes | 1,000,000 | franz-go |  | 9.00 |" in done.stdout
    assert "The partitions of JVM, Go were compared" in done.stdout


def test_another_sum_is_refused(bench: Path) -> None:
    (bench / "go.txt").write_text(GO.format(seed=7, ns=9000000, total=56))
    done = compare(bench)
    assert done.returncode == 1
    assert "the partitions of bytes_12 do not add up to the same: JVM 55, Go 56" in done.stderr
    assert not done.stdout


def test_keys_of_another_seed_are_refused(bench: Path) -> None:
    (bench / "go.txt").write_text(GO.format(seed=8, ns=9000000, total=55))
    done = compare(bench)
    assert done.returncode == 1
    assert "Go made its keys with seed 8, and the run's is 7" in done.stderr


@pytest.mark.parametrize(("java", "verdict"), [(1.5, "15.0 | reached"), (1.4, "14.0 | not reached")])
def test_a_goal_is_reckoned_from_the_figures(bench: Path, java: float, verdict: str) -> None:
    case = {"name": "range, equal, fresh", "partitions": 10, "java": [java, java], "core": [0.1, 0.1]}
    (bench / "assignors.json").write_text(json.dumps({"seed": "7", "cases": [case]}))
    done = compare(bench)
    assert f"Java's time, ours = 1 | at least 15 | {verdict} |" in done.stdout


def test_the_shares_in_a_spark_worker_are_those_of_its_own_batch(bench: Path) -> None:
    other = {"rows": 10, "call_rows": 5, "call_s": 4, "kernel_rows": 5, "kernel_s": 3, "worker_s": 10}
    mine = {"rows": 10, "call_rows": 4, "call_s": 0.8, "kernel_rows": 6, "kernel_s": 0.6, "worker_s": 50}
    # A round without a batch that was timed this way has no share.
    none = {**mine, "kernel_rows": 0, "kernel_s": 0}
    rounds = {"1000": [other], "10000": [mine, none]}
    (bench / "spark_worker.json").write_text(json.dumps({"batches": rounds}))
    said = compare(bench).stdout
    assert "| the kernel's share of a Spark worker's time | at most 3 % | 2.00 % | reached |" in said
    assert (
        "| how much of a Spark worker's time goes to partwright | at most 3 % | 4.00 % | not reached |"
        in said
    )


def test_goals_name_what_is_measured() -> None:
    lab = json.loads((BENCHES / "cases.json").read_text())
    names = {case["name"] for case in lab["cases"]}
    assignors = (BENCHES / "python" / "assignor_groups.py").read_text()
    for goal in json.loads((BENCHES / "goals.json").read_text()):
        assert ("at_least" in goal) != ("at_most" in goal), goal
        for key in (goal.get("of"), goal.get("by"), goal.get("less")):
            assert key is None or key[1] in names, goal
        if not goal.get("assignor", "server").startswith("server"):
            _, shape, event = goal["assignor"].split(", ")
            assert f", {shape}, {event}" in assignors, goal


def test_what_readme_says_in_plain_words_are_goals() -> None:
    code = "import json, report; print(json.dumps([*report.IN_PLAIN_WORDS]))"
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=BENCHES, capture_output=True, text=True, check=True
    )
    texts = [goal["goal"] for goal in json.loads((BENCHES / "goals.json").read_text())]
    plain = json.loads(done.stdout)
    assert len(plain) == 5
    assert [texts.count(text) for text in plain] == [1] * 5
