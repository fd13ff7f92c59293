"""The Python in the documents runs, and prints what they show."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Their examples are `>>>` sessions that need no Spark and no broker.
SESSIONS = [document for document in DOCUMENTS if ">>> " in document.read_text(encoding="utf-8")]


def test_there_are_documents_with_examples() -> None:
    assert ROOT / "README.md" in SESSIONS
    assert len(DOCUMENTS) > 1


@pytest.mark.parametrize("document", SESSIONS, ids=lambda document: document.name)
def test_a_documents_sessions(document: Path) -> None:
    found = doctest.testfile(str(document), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_a_documents_links_lead_somewhere(document: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)", document.read_text(encoding="utf-8")):
        if "://" not in link:
            assert (document.parent / link).exists(), link


def test_the_differences_from_kafka_have_tests_that_are_there() -> None:
    text = (ROOT / "docs" / "documents-and-kafka.md").read_text(encoding="utf-8")
    linked = {ROOT / link for link in re.findall(r"\]\(\.\./(tests/[^)]+)\)", text)}
    code = "".join(path.read_text(encoding="utf-8") for path in linked)
    examples = (ROOT / "tests" / "assignors" / "assign_examples.json").read_text(encoding="ascii")
    rows = [line.rsplit(" | ", 1)[1] for line in text.splitlines() if line.startswith("| ") and " | " in line]
    shown = [row for row in rows if row not in {"shown by |", "--- |"}]
    assert len(shown) > 20
    for row in shown:
        names = re.findall(r"`(test_\w+)(?:\[([^\]]+)\])?`", row)
        assert names or row == "the same two |", row
        for name, example in names:
            assert f"def {name}(" in code, name
            assert not example or f'"{example}"' in examples, example


def test_a_run_asks_as_many_random_questions_as_is_told() -> None:
    text = (ROOT / "docs" / "exactness.md").read_text(encoding="utf-8")
    table = text.partition("<!-- random -->\n")[2].partition("<!-- /random -->")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    assert len(rows) > 5
    test = ""
    for *_, number, link in rows:
        if link != "the same file":
            (path,) = re.findall(r"\(\.\./(tests/[^)]+)\)", link)
            test = (ROOT / path).read_text(encoding="utf-8")
        count = int(number.split()[0].replace(",", ""))
        assert re.search(rf"^[A-Z_]+ = {count:_}$|^[A-Z_]+ = {count}$", test, re.MULTILINE), (link, number)


def test_the_table_of_tests_names_files_that_are_there() -> None:
    tests = ROOT / "tests"
    text = (tests / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| ((?:`[^`]+`(?:, )?)+) \|", text, re.MULTILINE)
    paths = [path for cell in named for path in re.findall(r"`([^`]+)`", cell)]
    assert len(paths) > 40
    assert [path for path in paths if not (tests / path).exists()] == []
