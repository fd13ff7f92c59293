"""The examples in docstrings run as shown; Spark's run in tests/spark, and those that need a broker in tests/kafka."""

from __future__ import annotations

import docstrings
import pytest

# They need a session; importing them needs PySpark.
FAST = [name for name in docstrings.modules() if not name.startswith("partwright.spark")]


def test_modules_with_examples_are_found() -> None:
    assert {"partwright", "partwright.keys.hashing", "partwright.group.play_script"} <= set(FAST)


@pytest.mark.parametrize("name", FAST)
def test_a_modules_docstrings(name: str) -> None:
    for found in docstrings.docstrings(name):
        if found.name not in docstrings.AT_A_BROKER and not docstrings.is_skipped(found):
            docstrings.run(found)


def test_what_no_test_runs_is_listed_with_why() -> None:
    skipped = {
        found.name
        for name in docstrings.modules()
        for found in docstrings.docstrings(name)
        if docstrings.is_skipped(found)
    }
    assert skipped == set(docstrings.SKIPPED)
