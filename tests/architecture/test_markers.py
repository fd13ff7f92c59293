"""Which tests are slow follows from what they need: no test carries the marker by hand."""

from __future__ import annotations

import re
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
