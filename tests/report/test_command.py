"""`--report`: refused before anything is done, written in one step, and nothing else changes."""

from __future__ import annotations

import html
import json
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright import report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_stdout_and_the_exit_code_are_the_same(
    name: str,
    page: Callable[[str], Path],
    run: Callable[..., Any],
    tmp_path: Path,
) -> None:
    with_page, without = run(name, "--report", str(tmp_path / "page.htm")), run(name)
    if name == "assign-compare":
        # It contains the milliseconds that each assignor took.
        assert with_page.stdout.splitlines()[0] == without.stdout.splitlines()[0]
        return
    assert (with_page.stdout, with_page.returncode) == (without.stdout, without.returncode)
    assert with_page.stderr == f"{without.stderr}report: {tmp_path / 'page.htm'}\n"
    # Everything except the name of the file that it was written to, which is in the command line.
    again = (tmp_path / "page.htm").read_text(encoding="utf-8")
    assert again.replace(str(tmp_path / "page.htm"), f"{name}.html") == page(name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("report.pdf", "a report is a .html or .htm file by its suffix, not 'report.pdf'"),
        ("", "a report is a .html or .htm file by its suffix, not '.'"),
        ("nowhere/report.html", "there is no folder 'nowhere' for the report: make it, or name another file"),
        ("folder.html", "'folder.html' is a folder: name a file for the report"),
    ],
)
@pytest.mark.parametrize("command", ["check", "fingerprint", "resize", "assign", "group", "batch", "run"])
def test_a_page_that_cannot_be_written_is_refused_first(
    command: str, file: str, sentence: str, run: Callable[..., Any], folder: Path
) -> None:
    (folder / "folder.html").mkdir(exist_ok=True)
    more = {"resize": ["--to", "24"], "group": []}.get(command, [])
    # The files that they would read do not exist, which would be reported later.
    done = (
        run(f"{command}", "absent.csv", *more, "--report", file)
        if command == "run"
        else run(command, "--report", file)
    )
    assert done.returncode == 2
    assert done.stderr == f"partwright: {sentence}\n"
    assert done.stdout == ""


@pytest.mark.parametrize("missing", ["vl_convert", "jinja2"])
def test_a_missing_extra_is_one_sentence(missing: str, folder: Path) -> None:
    program = (
        "import importlib.util, sys\n"
        "find = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *more: None if name == {missing!r} else find(name, *more)\n"
        "from partwright.cli import main\n"
        "main(['check', 'orders.csv', '--key', 'customer', '-n', '3', '--report', 'extra.html'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 2
    assert done.stderr == f"partwright: {missing} is missing: pip install 'partwright[report]'\n"
    assert not (folder / "extra.html").exists()


@pytest.mark.parametrize("name", ["assign", "batch-scenario"])
def test_a_page_is_of_one_line(name: str, run: Callable[..., Any]) -> None:
    done = run(name, "--jsonl", "--report", "lines.html")
    assert done.returncode == 2
    assert "leave out --jsonl" in done.stderr


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pathlib

    file = tmp_path / "page.html"
    file.write_text("before", encoding="utf-8")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pathlib.Path, "replace", full)
    with pytest.raises(pw.PartwrightError, match=r"cannot be written \(No space left on device\)"):
        report.write(pw.assign({"t": 1}, {"c": ["t"]}), file)
    assert file.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_what_was_asked_is_said_and_secrets_are_not(run: Callable[..., Any], folder: Path) -> None:
    masked = "ssl.key.password=hunter2"
    done = run(
        "batch", "--producer-property", "linger.ms=7", "--producer-property", masked, "--report", "asked.html"
    )
    assert done.returncode == 0, done.stderr
    text = (folder / "asked.html").read_text(encoding="utf-8")
    assert "hunter2" not in text
    assert "<dd>linger.ms=7, ssl.key.password=...</dd>" in text
    assert run("check", "--report", "told.html").returncode == 1
    told = (folder / "told.html").read_text(encoding="utf-8")
    assert "<dt>--max-share</dt><dd>0.1</dd>" in told
    assert "<dt>source</dt><dd>orders.csv</dd>" in told


def test_a_reader_that_goes_away_leaves_the_page(folder: Path) -> None:
    words = "check orders.csv --key customer -n 5000 --json --report gone.html"
    line = f'"{sys.executable}" -m partwright {words} | head -c 1'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, cwd=folder)
    assert done.stdout == "{"
    assert "report: gone.html" in done.stderr
    assert (folder / "gone.html").read_text(encoding="utf-8").endswith("</html>")


def test_the_command_line_that_made_it_is_said_without_secrets(run: Callable[..., Any], folder: Path) -> None:
    words = ["--producer-property=ssl.key.password=hunter2", "--producer-property", "client.id=a b"]
    assert run("batch", *words, "--report", "line.html").returncode == 0
    text = html.unescape((folder / "line.html").read_text(encoding="utf-8"))
    line = text.split('<code id="line">')[1].split("</code>")[0]
    assert shlex.split(line) == [
        "partwright", "batch", "orders.csv", "-n", "12", "--time", "ts", "--size", "bytes", "--compare",
        "--producer-property=ssl.key.password=...", "--producer-property", "client.id=a b", "--report", "line.html",
    ]  # fmt: skip
    assert "hunter2" not in text


@pytest.mark.parametrize(
    "name", ["check", "assign-compare", "group-compare", "batch-tune", "copartition", "advise"]
)
def test_a_picture_alone_has_the_verdict(name: str, run: Callable[..., Any], folder: Path) -> None:
    done = run(name, "--plot", "alone.svg")
    assert done.stderr.splitlines()[-1] == "plot: alone.svg"
    drawn = (folder / "alone.svg").read_text(encoding="utf-8")
    shown = html.unescape("".join(re.findall(r">([^<]+)<", drawn))).replace(" ", "")
    summary = json.loads(run(name, "--json").stdout)["summary"]
    assert summary.replace(" ", "").replace("\n", "") in shown
    assert run(name, "--plot", "alone.gif").stderr == (
        "partwright: a picture is a .svg, .png or .pdf file by its suffix, not 'alone.gif'\n"
    )


def test_where_nothing_can_be_drawn_no_page_is_written(run: Callable[..., Any], folder: Path) -> None:
    done = run("coordinator", "g", "--report", "none.html", "--plot", "none.svg")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "partwright: there is nothing to draw: leave out --plot\n"
    assert not [*folder.glob("none.*")]
