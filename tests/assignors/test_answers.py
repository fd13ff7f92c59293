"""Every answer about a group needs nothing else to be a table, a page, Markdown, JSON, a notebook's cell and text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright import report
from partwright.assignors.comparison import compare
from partwright.assignors.current_group import group_now
from partwright.assignors.group_sizes import replica_counts
from partwright.assignors.mixed.assignors_by_client import by_client
from partwright.assignors.mixed.group_leaders import leaders
from partwright.assignors.mixed.rolling import roll
from partwright.rendering.terminal import TerminalStyle, text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EVIL = "<b>\u202e|`m`\x1b[31m"
TOPICS = {"t": 4, "u": 3}
MEMBERS: list[dict[str, Any]] = [
    {"id": EVIL, "topics": [*TOPICS], "client": "java", "owned": {"t": [0, 1, 2, 3]}, "generation": 1},
    {"id": "b", "topics": ["u"], "client": "kafka-go"},
    {"id": "c", "topics": ["t"], "client": "sarama"},
]
ALIKE = [{name: value for name, value in each.items() if name != "client"} for each in MEMBERS]
# By name: an answer, and how many rows its main table has.
ANSWERS: dict[str, tuple[Callable[[], Any], int]] = {
    "advice": (lambda: pw.cluster.advise(100), 4),
    "replicas": (lambda: replica_counts(TOPICS, 9, 2), 8),
    "assignment": (lambda: pw.assign(TOPICS, ALIKE, "range"), 7),
    "comparison": (lambda: compare(TOPICS, ALIKE), 6),
    "now": (lambda: group_now(TOPICS, ALIKE, "range"), 3),
    "clients": (lambda: by_client(TOPICS, ALIKE, "roundrobin"), 8),
    "leaders": (lambda: leaders(TOPICS, MEMBERS, "range"), 3),
    "leader": (lambda: leaders(TOPICS, ALIKE, "range", leader="b")[0], 7),
    "rolls": (lambda: roll(TOPICS, MEMBERS, "sarama", "range"), 2),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_needs_nothing_else_in_any_form(name: str, tmp_path: Path) -> None:
    ask, rows = ANSWERS[name]
    answer = ask()
    assert (len(answer.to_arrow()), len(pa.table(answer))) == (rows, rows)
    document = report.document(answer)
    first = document.verdicts[0]
    assert len(first.text) <= 200
    for width in (40, 80, 120):
        lines = text(document, TerminalStyle(width)).splitlines()
        # Sources are for copying, in one line however long.
        laid_out = lines[: lines.index("Sources")] if "Sources" in lines else lines
        assert max(map(len, laid_out)) <= width
        assert " ".join(lines).startswith(first.mark + first.text)
    files = {
        suffix: answer.save(tmp_path / f"a{suffix}").read_text(encoding="utf-8")
        for suffix in (".html", ".md", ".json")
    }
    assert json.loads(files[".json"])["summary"] == first.text
    shown = [*files.values(), answer._repr_html_(), *lines]
    assert not any(sign in each for each in shown for sign in ("<b>\u202e", "\x1b"))
    assert files[".html"] == report.page(ask())


def test_several_answers_are_a_sequence() -> None:
    for name in ("comparison", "clients", "leaders", "rolls"):
        found = ANSWERS[name][0]()
        assert [*found] == [found[place] for place in range(len(found))] == list(found[:])
        assert found[-1] in found
