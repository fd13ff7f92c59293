"""A verb is three files: an answer, its document and its command. Here is one, which every rendering shows."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import click
import pyarrow as pa
import pytest
from click.testing import CliRunner

from partwright import report
from partwright.answer import Answer
from partwright.cli.output import Output, output_options
from partwright.errors import PartwrightError
from partwright.rendering.document import Column, Document, Section, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from partwright._check import Json


@dataclass(frozen=True)
class Lengths(Answer):
    """How many letters each word has."""

    DOCUMENT = "lengths"
    ROWS = "words"

    words: tuple[str, ...]

    def to_dict(self) -> Json:
        return {"words": [{"word": each, "letters": len(each)} for each in self.words]}


def document(lengths: Lengths) -> Document:
    answer = lengths.to_dict()
    longest = max(answer["words"], key=lambda each: each["letters"])
    verdict = Verdict("said", f"The longest word is {longest['word']}.")
    columns = (Column("word", "word", "text"), Column("letters", "letters"))
    section = Section("words", "Letters a word", columns=columns, rows=tuple(answer["words"]), bar="letters")
    return Document("Letters", (verdict,), (section,), {"summary": verdict.text, **answer})


@click.command("lengths")
@click.argument("words", nargs=-1)
@output_options
def command(words: tuple[str, ...], output: Output) -> None:
    output.show(Lengths(words), "the command line")


@pytest.fixture(autouse=True)
def _verb(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("partwright.documents.lengths")
    module.document = document  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)


def run(*words: str) -> tuple[str, str]:
    done = CliRunner().invoke(command, words, catch_exceptions=False)
    return done.stdout, done.stderr


def test_each_rendering_shows_it(tmp_path: Path) -> None:
    text, _ = run("kafka", "partition")
    assert text.startswith("The longest word is partition.\n\nLetters a word\n word        letters\n")
    assert json.loads(run("kafka", "--json")[0]) == json.loads(run("kafka", "--output", "json")[0])
    assert "| `kafka` | 5 |" in run("kafka", "--output", "markdown")[0]
    page, _ = run("kafka", "--output", "html")
    assert "<h1>Letters: the command line</h1>" in page
    _, err = run("kafka", "--report", str(tmp_path / "page.html"))
    assert err == f"report: {tmp_path / 'page.html'}\n"


def test_the_answer_is_a_table_and_is_saved_by_its_suffix(tmp_path: Path) -> None:
    answer = Lengths(("kafka", "partition"))
    assert pa.table(answer).to_pylist() == answer.to_dict()["words"]
    assert "Letters a word" in answer._repr_html_()
    for suffix, start in ((".html", "<!DOCTYPE html>"), (".md", "### Letters"), (".json", '{"summary": ')):
        assert answer.save(tmp_path / f"x{suffix}").read_text(encoding="utf-8").startswith(start)
    assert report.document(answer).answer == json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    # Its table has bars, which are its picture.
    assert answer.save(tmp_path / "x.svg").read_text(encoding="utf-8").count('data-said="word: ') == 2
    with pytest.raises(
        PartwrightError, match=r"^an answer is written as .html, .md, .json, .svg, .png or .pdf"
    ):
        answer.save(tmp_path / "x.txt")


def test_two_outputs_are_refused() -> None:
    with pytest.raises(PartwrightError, match=r"^--json prints JSON, and --output says markdown: "):
        run("kafka", "--json", "--output", "markdown")
    assert "'text', 'json', 'markdown', 'html'" in CliRunner().invoke(command, ["--output", "yaml"]).output
