"""The manual page of the command, from its help texts: `partwright --man | man -l -`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from partwright.cli.parsing import under_headings

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["man_page"]


def man_page(group: click.Group) -> str:
    r"""The page in man's own language, roff.

    Args:
        group: The command whose help texts it has.

    Examples:
        >>> print(man_page(click.Group("wing", help="Fly.")))
        .TH WING 1
        .SH NAME
        wing \- Fly.
        .SH SYNOPSIS
        wing COMMAND [OPTIONS] ...
    """
    name = group.name or ""
    context = group.make_context(name, [], resilient_parsing=True)
    about = (group.help or "").split("\n\n", 1)[0]
    lines = [f".TH {name.upper()} 1", ".SH NAME", f"{name} \\- {_text(about)}"]
    lines += [".SH SYNOPSIS", f"{name} COMMAND [OPTIONS] ..."]
    for each in group.list_commands(context):
        lines += _command(group.get_command(context, each), context, f"{name} {each}")
    return "\n".join(lines)


def _command(command: click.Command | None, parent: click.Context, path: str) -> Iterator[str]:
    if command is None:
        return
    context = click.Context(command, parent=parent, info_name=path.rsplit(" ", 1)[1])
    yield f".SH {_text(path.upper())}"
    yield _text(f"{path} {' '.join(command.collect_usage_pieces(context))}")
    for paragraph in (command.help or "").split("\n\n"):
        yield ".PP"
        if "\b" in paragraph:
            # Lines that are not refilled.
            kept = paragraph.replace("\b", "").strip("\n").splitlines()
            yield from (".nf", *map(_text, kept), ".fi")
        else:
            yield _text(" ".join(paragraph.split()))
    for title, records in under_headings(command, context).items():
        yield f".SS {_text(title)}"
        for option, words in records:
            if words:
                yield from (".TP", rf"\fB{_text(option)}\fR", _text(" ".join(words.split())))
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            yield from _command(command.get_command(context, each), context, f"{path} {each}")


def _text(text: str) -> str:
    """A line of text, with backslashes, hyphens and a leading dot escaped for roff."""
    shown = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^(?=[.'])", r"\\&", shown)
