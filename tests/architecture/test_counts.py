"""A count and its noun agree by one function: `counted` in Python, and the core's in Rust."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python/partwright"
NOUNS = "|".join(
    [
        *(
            "arguments",
            "assignors",
            "batches",
            "brokers",
            "buffers",
            "bytes",
            "candidates",
            "cells",
            "children",
        ),
        *(
            "clients",
            "columns",
            "consumers",
            "copies",
            "draws",
            "events",
            "fields",
            "files",
            "flows",
            "generations",
        ),
        *(
            "groups",
            "jars",
            "keys",
            "leaders",
            "members",
            "nulls",
            "numbers",
            "offsets",
            "partitions",
            "pods",
        ),
        *(
            "processes",
            "producers",
            "racks",
            "rebalances",
            "records",
            "replicas",
            "requests",
            "rolls",
            "rows",
        ),
        *("segments", "steps", "subscriptions", "tasks", "threads", "tombstones", "topics"),
    ]
)
PLURAL = re.compile(rf"^(?:\[/\])? (?:(?:more|other|old|new|different) )?({NOUNS})\b(?!/s)")
ALLOWED = {
    "_check.py": "MOST_MADE and more",
    "assignors/quotas.py": "a list of lengths",
    "cluster/sizing/advice.py": "more than MOST_MADE",
    "cluster/sizing/costs.py": "several, or two ends; more bytes than buffer.memory",
    "documents/fingerprint.py": "several numbers of partitions",
}
"""Files in which something that is not one number, or never 1, is before a noun, and what it is."""


def test_python_counts_with_one_function() -> None:
    found = {
        (str(file.relative_to(PACKAGE)), words)
        for file in sorted(PACKAGE.rglob("*.py"))
        for words in uncounted(file.read_text(encoding="utf-8"))
    }
    assert {each for each in found if each[0] not in ALLOWED} == set()
    assert ALLOWED.keys() <= {file for file, _ in found}, "these count no more"


@pytest.mark.parametrize(
    "code",
    [
        "f'{n} partitions'",
        "f'of {len(rows):,} records are'",
        "f'[bold]{n:,}[/] records of'",
        "f'{more} more topics'",
        "f'''{n} partition{'' if n == 1 else 's'}'''",
        "f'{a} ' f'rows'",
    ],
)
def test_what_counts_on_its_own_is_found(code: str) -> None:
    assert uncounted(code)


@pytest.mark.parametrize(
    "code",
    ["f'''{counted(n, 'partition')}'''", "f'{name} hashes it'", "f'{MOST} partitions'", "f'{rows} rows/s'"],
)
def test_what_does_not_count_is_not(code: str) -> None:
    assert not uncounted(code)


def uncounted(source: str) -> list[str]:
    """The counts in texts that are put before a plural without `counted`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.IfExp)
            and ast.unparse(node).startswith("'' if ")
            and ast.unparse(node.orelse) == "'s'"
        ):
            found.append(ast.unparse(node))
        if isinstance(node, ast.JoinedStr):
            for value, after in zip(node.values, node.values[1:], strict=False):
                if isinstance(value, ast.FormattedValue) and isinstance(after, ast.Constant):
                    noun = PLURAL.match(str(after.value))
                    if noun and _may_be_one(value.value):
                        found.append(f"{{{ast.unparse(value.value)}}} {noun[1]}")
    return found


def _may_be_one(value: ast.expr) -> bool:
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    called = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
    return not (
        called in {"counted", "shown", "name"}
        or (names and all(name.isupper() for name in names))
        or (isinstance(value, ast.IfExp) and isinstance(value.body, ast.Constant))
    )
