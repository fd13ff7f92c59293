"""What the tables of several commands share: a console of stdout, tables of numbers, bars, and verdicts."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.markup import escape as without_markup
from rich.table import Table

from partwright._text import plain, plain_lines
from partwright.cli.output import is_ascii
from partwright.rendering.colours import ACCENT, FAILS, HOLDS, OPEN, TERMINAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.segment import Segment
    from rich.text import Text

    from partwright.rendering.document import Verdict

__all__ = [
    "bar",
    "escape",
    "print_summary",
    "print_verdicts",
    "right_table",
    "stdout_console",
]

_BAR = 16
_WIDTH = 160
_BLANKS = re.compile("[ ]+$", re.MULTILINE)
# The ASCII replacement of each mark.
_PLAIN = {"✓": "ok:", "✗": "FAILED:"}


class _Console(Console):
    @property
    def encoding(self) -> str:
        """Rich draws tables in ASCII if this is ASCII."""
        return "ascii" if is_ascii() else super().encoding

    def render_str(self, text: str, **options: Any) -> Text:
        """Each text of ours comes through here, also those of tables: what it has from outside must not act."""
        return super().render_str(plain_lines(text), **options)

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        """In a pipe, remove the blanks with which rich pads each line of a table."""
        text = super()._render_buffer(buffer)
        return text if self.is_terminal else _BLANKS.sub("", text)

    def on_broken_pipe(self) -> None:
        """Let the command handle this: rich would exit with 1, which is the exit code of a failed check."""
        raise BrokenPipeError


def stdout_console(width: int = _WIDTH) -> Console:
    """A terminal keeps its width; a pipe is as wide as a report needs."""
    return _Console(highlight=False, width=None if sys.stdout.isatty() else width)


def right_table(*columns: str) -> Table:
    """A table of numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        # In a narrow terminal, long cells are broken, not cut.
        table.add_column(name, justify="right", overflow="fold", min_width=_least(name))
    return table


def _least(name: str) -> int | None:
    """The least width of a column: a partition's number is never dropped."""
    return len(name) if name == "partition" else None


def bar(count: float, largest: float) -> str:
    """A bar in proportion to the largest count."""
    mark = "#" if is_ascii() else "█"
    return f"[{TERMINAL[ACCENT]}]{mark * round(_BAR * count / (largest or 1))}[/]"


def escape(text: str) -> str:
    """A text from outside as part of a line or a cell, without markup and without an end of line."""
    return without_markup(plain(text))


_STYLES = {"holds": TERMINAL[HOLDS], "fails": TERMINAL[FAILS]}


def print_verdicts(console: Console, *verdicts: Verdict) -> None:
    """Sentences of an answer with coloured marks; if something was not checked, its headline is coloured."""
    for verdict in verdicts:
        mark, text = escape(verdict.mark.strip()), _written(verdict.text)
        mark = _PLAIN.get(mark, mark) if is_ascii() else mark
        if mark:
            console.print(f"[{_STYLES[verdict.state]}]{mark}[/] {text}")
        elif verdict.state == "open" and verdict.headline:
            console.print(f"[{TERMINAL[OPEN]}]{escape(verdict.headline)}[/]{escape(verdict.rest)}")
        else:
            console.print(text)


def print_summary(console: Console, verdict: Verdict) -> None:
    """Print an answer's verdict, first and in bold."""
    mark = verdict.mark.strip()
    mark = _PLAIN.get(mark, mark) if is_ascii() else mark
    told = f"[bold {_STYLES[verdict.state]}]{mark}[/] " if mark else ""
    console.print(f"{told}[bold]{_written(verdict.text)}[/]", soft_wrap=True)


def _written(text: str) -> str:
    """A sentence for a terminal: nothing hidden, and in ASCII if the terminal has only that."""
    lines = plain_lines(text)
    return without_markup(lines.replace("\u00d7", "x") if is_ascii() else lines)
