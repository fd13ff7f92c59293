"""Lists have the same order everywhere: clients as in their table, assignors as in their list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import partwright as pw
from partwright.assignors.names import assignors

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
SOURCES = sorted((ROOT / "python").rglob("*.py"))
CLIENTS = list(dict.fromkeys(name.partition(":")[0] for name in pw.clients()["client"].to_pylist()))
# Two assignors are often a list of preferences, whose order has a meaning.
WORDS = {"clients": (CLIENTS, 2), "assignors": (assignors(), 3)}


def enumerations(text: str, names: list[str], least: int) -> list[list[str]]:
    """The names in each list of at least `least` names, with commas or "and" or "or" between them."""
    name = rf"(?<![\w@:./-])(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})(?![\w@:./-])"
    listed = rf"`?{name}`?(?:(?:,|,? and|,? or)\s+`?{name}`?){{{least - 1},}}"
    return [re.findall(name, found[0].lower()) for found in re.finditer(listed, text, re.IGNORECASE)]


@pytest.mark.parametrize("kind", WORDS)
def test_lists_have_the_order_of_the_table(kind: str) -> None:
    names, least = WORDS[kind]
    seen = 0
    for page in [*PAGES, *SOURCES]:
        for found in enumerations(page.read_text(encoding="utf-8"), names, least):
            assert found == sorted(found, key=names.index), (page, found)
            seen += 1
    assert seen > 5


def test_a_list_in_another_order_is_found() -> None:
    text = "as aiokafka, `kafka-python` and sarama do; range or sticky"
    assert enumerations(text, CLIENTS, 2) == [["aiokafka", "kafka-python", "sarama"]]
    assert enumerations(text, assignors(), 3) == []
