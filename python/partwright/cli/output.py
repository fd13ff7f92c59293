"""How a command shows its answer: `--output`, `--json`, `--report` and `--plot`."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from partwright.cli.input.options import plot_path, question_of, report_path
from partwright.cli.parsing import OUTPUT, flag, heading, option
from partwright.errors import PartwrightError
from partwright.signals import Ended

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partwright._check import Json
    from partwright.answer import Answer
    from partwright.rendering.document import Document
    from partwright.rendering.terminal import TerminalStyle

__all__ = ["Output", "answer_options", "exit_code", "is_ascii", "output_options", "terminal_look"]

_Result = TypeVar("_Result")

_FORMS = ("text", "json", "markdown", "html")
# How wide a pipe is, and a terminal that does not say it, unless COLUMNS says otherwise.
_PIPE = 88


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

    def show(
        self,
        answer: Answer,
        source: str | None = None,
        *,
        with_details: bool = False,
    ) -> None:
        """Write an answer's files, and print it.

        Args:
            answer: The answer; its question says how much was read of a topic.
            source: What was read.
            with_details: Whether the text has the sections that are shown on request.
        """
        document = self._saved(answer, source)
        click.echo(self._written(document, with_details=with_details), nl=False)

    def save(self, answer: Answer, source: str | None = None) -> None:
        """Only write an answer's files, for a command that prints something else."""
        self._saved(answer, source)

    def _saved(self, answer: Answer, source: str | None) -> Document:
        # Imported only here, so that --help is fast.
        from partwright import documents

        ctx = click.get_current_context()
        document = documents.document(answer.with_question(question_of(ctx, source, answer.question.read)))
        # First, because it is refused where there is nothing to draw.
        if self.plot is not None:
            from partwright.rendering.picture import draw

            draw(document, self.plot)
            _note(ctx, f"plot: {self.plot}")
        if self.report is not None:
            from partwright.rendering.html import html, save

            _note(ctx, f"report: {save(html(document), self.report)}")
        return document

    def _written(self, document: Document, *, with_details: bool) -> str:
        if self.form == "json":
            return f"{json.dumps(document.answer)}\n"
        if self.form == "markdown":
            from partwright.rendering.markdown import text

            return text(document)
        if self.form == "html":
            from partwright.rendering.html import html

            return html(document)
        from partwright.rendering.terminal import text as lines

        return lines(document, terminal_look(), with_details=with_details)


def _note(ctx: click.Context, line: str) -> None:
    from partwright.cli.echo import echo

    # Printing may break off meanwhile, for example with `head`; the page is written all the same.
    ctx.call_on_close(lambda: echo(line, err=True))


def output_options(command: Callable[..., _Result]) -> Callable[..., _Result]:
    """`--output`, `--json`, `--report` and `--plot`, which the command's function gets as `output`."""
    return answer_options(heading(OUTPUT)(_plot_option(command)))


_plot_option = option(
    "--plot FILE",
    "Draw the answer's first figure, for a ticket or a chat: a .svg, .png or .pdf file.",
    callback=plot_path,
)


def answer_options(command: Callable[..., _Result]) -> Callable[..., _Result]:
    """`--output`, `--json` and `--report`, for a command that has nothing to draw, as `output`."""

    @heading(OUTPUT)
    @option(
        "--output",
        "The form of the answer on stdout: text (default), json, markdown for a ticket, or html.",
        "form",
        type=click.Choice(_FORMS),
    )
    @flag("--json", "Print the answer as JSON: --output json.", "as_json")
    @option(
        "--report FILE",
        "Also write the answer as a page: a .html file with plots and numbers that needs no network.",
        callback=report_path,
    )
    @functools.wraps(command)
    def with_output(
        *given: object,
        form: str | None,
        as_json: bool,
        report: Path | None,
        plot: Path | None = None,
        **more: object,
    ) -> _Result:
        if as_json and form not in {None, "json"}:
            raise PartwrightError(f"--json prints JSON, and --output says {form}: leave one of them out")
        if form == "html":
            from partwright.rendering.html import check

            check("report.html")
        output = Output("json" if as_json else form or "text", report, plot, as_json or form is not None)
        return command(*given, output=output, **more)

    return with_output


def exit_code(code: int, *read: Json | None) -> int:
    """A command's exit code, which is Ctrl-C's if that ended the reading of a topic."""
    is_ended = any(each is not None and each["interrupted"] for each in read)
    return Ended(signal.SIGINT).exit_code if is_ended else code


def terminal_look() -> TerminalStyle:
    """What stdout can show: it is as wide as COLUMNS says, else as the terminal is, and a pipe 88 columns."""
    from partwright.rendering.terminal import TerminalStyle

    is_terminal = sys.stdout.isatty()
    is_styled = is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return TerminalStyle(_width(is_terminal=is_terminal), is_styled, is_ascii())


def _width(*, is_terminal: bool) -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    if is_terminal:
        # Not by shutil, whose import takes longer than all else here.
        with contextlib.suppress(OSError):
            return os.get_terminal_size(sys.stdout.fileno()).columns or _PIPE
    return _PIPE


def is_ascii() -> bool:
    """Whether only ASCII is wanted: because of the locale C or POSIX, or a stream that has nothing else."""
    locale = next((os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)), "")
    if locale == "C.UTF-8" and "LC_ALL" not in os.environ:
        # Python's value of LC_CTYPE if the locale is C.
        locale = os.environ.get("LANG", "")
    if locale in {"C", "POSIX"}:
        return True
    return not (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
