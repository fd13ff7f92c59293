"""How a command shows its answer: `--output`, `--json`, `--report` and `--plot`; and lines for people."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from partwright._check import Json
from partwright._text import plain
from partwright.answer import Question, masked
from partwright.cli.parsing import OUTPUT, combined, flag, heading, option
from partwright.errors import PartwrightError
from partwright.signals import Ended

if TYPE_CHECKING:
    from partwright.answer import Answer
    from partwright.rendering.document import Document
    from partwright.rendering.terminal import TerminalStyle

WORDS = "partwright.words"
"""The key under which a command's context keeps its command line."""


def echo(line: str, *, err: bool = False) -> None:
    """Print one line for people, in which text from outside cannot act on the terminal."""
    click.echo(plain(line), err=err)


class Output(NamedTuple):
    """In which form an answer goes to stdout, and which files of it are written.

    Attributes:
        form: text, json, markdown or html.
        report: The page's file; None for none.
        plot: The picture's file; None for none.
        is_named: Whether the form was named.
    """

    form: str
    report: Path | None
    plot: Path | None
    is_named: bool

    @property
    def has_file(self) -> bool:
        """Whether a page or a picture is written."""
        return self.report is not None or self.plot is not None

    def show(self, answer: Answer, source: str | None = None, *, with_details: bool = False) -> int:
        """Write an answer's files, and print it.

        Args:
            answer: The answer; its question says how much was read of a topic.
            source: What was read.
            with_details: Whether the text has the sections that are shown on request.

        Returns:
            The command's exit code: 1 if the answer is about a check that did not hold.
        """
        document = self.save(answer, source)
        if self.form == "json":
            text = f"{json.dumps(document.answer)}\n"
        elif self.form == "text":
            from partwright.rendering import terminal

            text = terminal.text(document, terminal_look(), with_details=with_details)
        elif self.form == "markdown":
            from partwright.rendering import markdown

            text = markdown.text(document)
        else:
            from partwright.rendering.html import html_page

            text = html_page(document)
        click.echo(text, nl=False)
        return exit_code(0 if getattr(answer, "ok", True) else 1, answer.question.read)

    def save(self, answer: Answer, source: str | None = None) -> Document:
        """Only write an answer's files, for a command that prints something else."""
        # Imported only here, so that --help is fast.
        from partwright import documents

        ctx = click.get_current_context()
        words = ctx.meta.get(WORDS)
        line = None if words is None else shlex.join(["partwright", *map(masked, words)])
        question = Question((), str(ctx.info_name), source, _settings(ctx), answer.question.read, line)
        document = documents.document(answer.with_question(question))
        # First, because it is refused where there is nothing to draw.
        if self.plot is not None:
            from partwright.rendering.picture import draw

            draw(document, self.plot)
            _note(ctx, f"plot: {self.plot}")
        if self.report is not None:
            from partwright.rendering.html import html_page, save

            _note(ctx, f"report: {save(html_page(document), self.report)}")
        return document


def _settings(ctx: click.Context) -> dict[str, str]:
    """The given options, by name, without their secrets."""
    settings = {}
    for each in ctx.command.params:
        name, value = each.name or "", ctx.params.get(each.name or "")
        is_given = ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if isinstance(each, click.Option) and is_given and name not in {"report", "plot"}:
            values = value if isinstance(value, tuple) else (value,)
            words = "yes" if isinstance(value, bool) else ", ".join(masked(str(one)) for one in values)
            settings[max(each.opts if value is not False else each.secondary_opts, key=len)] = words
    return settings


def _note(ctx: click.Context, line: str) -> None:
    # Printing may break off meanwhile, for example with `head`; the page is written all the same.
    ctx.call_on_close(lambda: echo(line, err=True))


def _report_path(file: str, option: str) -> Path:
    """Where a report will be written, checked before anything slow begins."""
    del option
    # Imported only here, so that --help is fast.
    from partwright.rendering.html import check

    return check(file)


def _plot_path(file: str, option: str) -> Path:
    """Where a picture will be written, checked before anything slow begins."""
    del option
    from partwright.rendering.picture import check

    path = check(file)
    if not path.parent.is_dir():
        raise PartwrightError(
            f"there is no folder {str(path.parent)!r} for the picture: make it, or name another file"
        )
    return path


def _output(form: str | None, as_json: bool, report: Path | None, plot: Path | None = None) -> Output:
    if as_json and form not in {None, "json"}:
        raise PartwrightError(f"--json prints JSON, and --output says {form}: leave one of them out")
    if form == "html":
        _report_path("report.html", "--output")
    return Output("json" if as_json else form or "text", report, plot, as_json or form is not None)


_FORM_OPTIONS = (
    heading(OUTPUT),
    option(
        "--output",
        "The form of the answer on stdout: text (default), json, markdown for a ticket, or html.",
        "form",
        type=click.Choice(["text", "json", "markdown", "html"]),
    ),
    flag("--json", "Print the answer as JSON: --output json.", "as_json"),
    option(
        "--report FILE",
        "Also write the answer as a page: a .html file with plots and numbers that needs no network.",
        read=_report_path,
    ),
)

answer_options = combined("output", _output, *_FORM_OPTIONS)
"""`--output`, `--json` and `--report`, for a command that has nothing to draw, as `output`."""

output_options = combined(
    "output",
    _output,
    *_FORM_OPTIONS,
    option(
        "--plot FILE",
        "Draw the answer's first figure, for a ticket or a chat: a .svg, .png or .pdf file.",
        read=_plot_path,
    ),
)
"""`--output`, `--json`, `--report` and `--plot`, which the command's function gets as `output`."""


def exit_code(code: int, *read: Json | None) -> int:
    """A command's exit code, which is Ctrl-C's if that ended the reading of a topic."""
    is_ended = any(each is not None and each["interrupted"] for each in read)
    return Ended(signal.SIGINT).exit_code if is_ended else code


def terminal_look() -> TerminalStyle:
    """What stdout can show: it is as wide as COLUMNS says, else as the terminal is, and a pipe 88 columns."""
    from partwright.rendering.terminal import TerminalStyle

    is_terminal = sys.stdout.isatty()
    is_styled = is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return TerminalStyle(_width(is_terminal=is_terminal), is_styled, _is_ascii())


def _width(*, is_terminal: bool) -> int:
    from partwright.rendering.terminal import WIDTH

    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    if is_terminal:
        # Not by shutil, whose import takes longer than all else here.
        with contextlib.suppress(OSError):
            return os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH
    return WIDTH


def _is_ascii() -> bool:
    """Whether only ASCII is wanted: because of the locale C or POSIX, or a stream that has nothing else."""
    locale = next((os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)), "")
    if locale == "C.UTF-8" and "LC_ALL" not in os.environ:
        # Python's value of LC_CTYPE if the locale is C.
        locale = os.environ.get("LANG", "")
    if locale in {"C", "POSIX"}:
        return True
    return not (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
