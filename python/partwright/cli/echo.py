"""A line for people; what a program reads is printed with `click.echo` as it is."""

from __future__ import annotations

import click

from partwright._text import plain

__all__ = ["echo"]


def echo(line: str, *, err: bool = False) -> None:
    """Print one line, in which text from outside cannot act on the terminal."""
    click.echo(plain(line), err=err)
