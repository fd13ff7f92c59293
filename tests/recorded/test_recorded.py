"""Every answer of every command is as recorded: in terminals of 80 and 120 columns, a pipe, JSON and its page.

Whoever changes what a command shows writes the files of `outputs` anew, and looks at their difference.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import json
import os
import re
import shlex
import shutil
import time
import tomllib
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from recorded.page_text import page_text
from recorded.saved_answers import SAVED

import partwright as pw
from partwright import report
from partwright.cli import main, partwright
from partwright.cli.output import terminal_look
from partwright.rendering.terminal import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).parent
OUTPUTS = FOLDER / "outputs"
TABLE = tomllib.loads((FOLDER / "cases.toml").read_text(encoding="utf-8"))
CASES: dict[str, list[str]] = {name: shlex.split(line) for name, line in TABLE["cases"].items()}
LIVE: list[str] = TABLE["live"]["commands"]
WRITES = "PARTWRIGHT_RECORD=1 .venv/bin/python -m pytest tests/recorded"
IS_WRITTEN = os.environ.get("PARTWRIGHT_RECORD") == "1"
WIDTHS = {"80": "80", "120": "120", "pipe": None}
UNSEEN = re.compile(r"(?:\x1b\[[0-9;?]*[A-Za-z]| +(?=(?:\x1b\[[0-9;?]*[A-Za-z]| )*$))", re.MULTILINE)
LINE = 110
SHORT = {"check", "fingerprint", "copartition"}
"""Commands whose first verdict has at most 200 characters."""


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the inputs, and an environment in which nothing of this machine is shown."""
    folder = shutil.copytree(FOLDER / "inputs", tmp_path / "inputs")
    monkeypatch.chdir(folder)
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"LC_ALL": "en_US.UTF-8", "TERM": "xterm", "PARTWRIGHT_STATE": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    # A millisecond passes whenever somebody looks at the clock.
    ticks = count()
    for clock in ("monotonic", "perf_counter"):
        monkeypatch.setattr(time, clock, lambda: next(ticks) / 1000)


def printed(
    show: Callable[[], object], columns: str | None, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str]:
    """What is on stdout and on stderr, on a terminal of so many columns or, without any, in a pipe."""
    err = io.StringIO()
    with (
        monkeypatch.context() as patch,
        Path("stdout").open("wb") as file,
        (io.TextIOWrapper if columns is None else Terminal)(file, encoding="utf-8") as out,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        if columns is not None:
            patch.setenv("COLUMNS", columns)
        show()
    text = Path("stdout").read_text(encoding="utf-8")
    # Blanks at the end of a line cannot be seen in a terminal.
    return text if columns is None else UNSEEN.sub("", text), err.getvalue()


def same_everywhere(number: str) -> float:
    """A number without its last digits, in which machines may differ."""
    return float(f"{float(number):.12g}")


def laid_out(value: Any, indent: str = "") -> str:
    """JSON in which what fits is one line, and other lists and objects have a line for each of theirs."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent + line) <= LINE or not isinstance(value, dict | list):
        return line
    inner = indent + " "
    if isinstance(value, dict):
        rows = [f"{json.dumps(name)}: {laid_out(each, inner)}" for name, each in value.items()]
    else:
        rows = [laid_out(each, inner) for each in value]
    opens, closes = "{}" if isinstance(value, dict) else "[]"
    return f"{opens}\n{inner}" + f",\n{inner}".join(rows) + f"\n{indent}{closes}"


def leaves(command: click.Command, names: str = "") -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield names.strip(), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inside = command.get_command(context, name)
        assert inside is not None
        yield from leaves(inside, f"{names} {name}")


COMMANDS = dict(leaves(partwright))


def command_of(words: list[str]) -> str:
    return next(name for name in COMMANDS if words[: len(name.split())] == name.split())


def command_outputs(words: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """What a command line shows, by the ending of the file in which it is recorded."""
    codes = []

    def run(*more: str) -> Callable[[], None]:
        def show() -> None:
            with pytest.raises(SystemExit) as ended:
                main([*words, *more])
            codes.append(ended.value.code or 0)

        return show

    for ending, columns in WIDTHS.items():
        out, err = printed(run(), columns, monkeypatch)
        messages = "".join(f"stderr: {line}\n" for line in err.splitlines())
        yield f"{ending}.txt", f"$ partwright {shlex.join(words)}\n{out}{messages}exit code: {codes[-1]}\n"
    options = {option for each in COMMANDS[command_of(words)].params for option in each.opts}
    if "--json" in options:
        out, err = printed(run("--json"), None, monkeypatch)
        is_json = out.startswith("{") and out.count("\n") == 1
        found = json.loads(out, parse_float=same_everywhere) if is_json else {"stdout": out, "stderr": err}
        yield "json", laid_out(found) + "\n"
    if "--report" in options:
        _, err = printed(run("--report", "page.html"), None, monkeypatch)
        page = Path("page.html")
        yield "page.txt", page_text(page.read_text(encoding="utf-8")) if page.exists() else err


def print_document(answer: object) -> None:
    click.echo(text(report.document(answer), terminal_look()), nl=False)


def saved_outputs(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """The same of a saved answer."""
    answer = SAVED[name]
    for ending, columns in WIDTHS.items():
        yield f"{ending}.txt", printed(lambda: print_document(answer), columns, monkeypatch)[0]
    yield "json", laid_out(report.document(answer).answer) + "\n"
    yield "page.txt", page_text(report.page(answer))


def difference(file: Path, text: str) -> str:
    """How a text differs from the file that records it, for people; empty if they are equal."""
    recorded = file.read_text(encoding="utf-8") if file.exists() else "(there is no such file)"
    lines = difflib.unified_diff(
        recorded.splitlines(), text.splitlines(), f"recorded/{file.name}", f"now/{file.name}", lineterm=""
    )
    return "\n".join(lines)


@pytest.mark.parametrize("name", [*CASES, *SAVED])
def test_an_answer_is_as_recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = saved_outputs(name, monkeypatch) if name in SAVED else command_outputs(CASES[name], monkeypatch)
    now = {OUTPUTS / f"{name}.{ending}": text.replace(pw.__version__, "VERSION") for ending, text in shown}
    there = {file for file in OUTPUTS.glob("*") if file.name.partition(".")[0] == name}
    if IS_WRITTEN:
        OUTPUTS.mkdir(exist_ok=True)
        for file in there - now.keys():
            file.unlink()
        for file, text in now.items():
            file.write_text(text, encoding="utf-8")
        return
    changed = [
        difference(file, now.get(file, "(nothing shows this any more)")) for file in sorted({*there, *now})
    ]
    if any(changed):
        pytest.fail("\n".join([*filter(None, changed), f"If this is meant: {WRITES}"]), pytrace=False)


@pytest.mark.parametrize("name", [name for name in CASES if name.partition("-")[0] in SHORT])
def test_a_verdict_is_short(name: str) -> None:
    summary = json.loads((OUTPUTS / f"{name}.json").read_text(encoding="utf-8"))["summary"]
    assert len(summary) <= 200, summary


def test_every_command_has_a_case() -> None:
    recorded = {command_of(words) for words in CASES.values()}
    assert COMMANDS.keys() - recorded - set(LIVE) == set(), "these commands have no case in cases.toml"
    assert set(LIVE) & recorded == set(), "these are said to need a broker, and have a case"
    assert set(LIVE) <= COMMANDS.keys(), "there are no such commands"


def test_every_recorded_file_has_a_case() -> None:
    assert CASES.keys() & SAVED.keys() == set()
    stale = [file for file in OUTPUTS.glob("*") if file.name.partition(".")[0] not in {*CASES, *SAVED}]
    if IS_WRITTEN:
        for file in stale:
            file.unlink()
        return
    assert not stale, f"no case has {', '.join(sorted(file.name for file in stale))}: {WRITES}"
