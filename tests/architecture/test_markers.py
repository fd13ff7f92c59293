"""Which tests are slow follows from what they need: no test carries the marker by hand. What a sample of them has."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]
BY_HAND = re.compile(r"mark\.slow\b")
LIST = re.compile(r"^SLOW = \((.*)\)$", re.MULTILINE)


def test_no_test_is_slow_by_hand() -> None:
    files = [path for path in TESTS.rglob("*.py") if path.name != "test_markers.py"]
    assert len(files) > 300
    assert [path.name for path in files if BY_HAND.search(path.read_text(encoding="utf-8"))] == []


def test_each_marker_but_slow_makes_a_test_slow() -> None:
    config = (TESTS.parent / "pyproject.toml").read_text(encoding="utf-8")
    (section,) = re.findall(r"^markers = \[\n(.*?)^\]", config, re.MULTILINE | re.DOTALL)
    markers = re.findall(r'^  "(\w+): ', section, re.MULTILINE)
    (listed,) = LIST.findall((TESTS / "conftest.py").read_text(encoding="utf-8"))
    assert {"slow", *re.findall(r"\w+", listed)} == set(markers)


def test_a_sample_has_all_tests_of_a_broker_or_none() -> None:
    """Of one broker in three, each of which has its own security."""
    words = ["-m", "pytest", "--collect-only", "-q", "-m", "slow", "tests/kafka/test_secured.py"]
    env = os.environ | {"PARTWRIGHT_ONE_OF": "3", "PARTWRIGHT_SEED": "7"}
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=True, cwd=TESTS.parent, env=env
    )
    securities = r"::\w+\[(?:.*-)?(PLAIN|SCRAM-SHA-\d+|\w*SSL|mTLS|OAUTHBEARER)\b"
    counts = Counter(re.findall(securities, done.stdout))
    assert 2 <= len(counts) <= 3
    assert len(set(counts.values())) == 1
    assert counts.total() > 20
