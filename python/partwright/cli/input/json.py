"""JSON for commands: from a file or stdin, as a whole or one object per line."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from partwright import _check
from partwright.errors import PartwrightError

_Answer = TypeVar("_Answer")

# Some Windows editors begin a file with it.
_BOM = "\ufeff"
# Brackets of objects and lists, and texts, with the colon after those that are field names.
_TOKEN = re.compile(r'[{}\[\]]|("(?:[^"\\]|\\.)*+")(\s*:)?')


def named(file: str) -> str:
    """A file's name in a sentence.

    Examples:
        >>> named("-")
        'stdin'
    """
    return "stdin" if file == "-" else file


def lines(file: str) -> Iterator[str]:
    """The lines of a file or of stdin, with their line ends.

    Raises:
        PartwrightError: It cannot be read, or is not UTF-8.
    """
    try:
        if file == "-" and sys.stdin is None:
            raise PartwrightError("stdin is closed: name a file, or give it one")
        if file == "-":
            for line in sys.stdin.buffer:
                yield line.decode("utf-8").removeprefix(_BOM)
        else:
            with open(file, encoding="utf-8-sig") as lines:  # noqa: PTH123 - the name may be a descriptor's
                yield from lines
    except UnicodeDecodeError as error:
        raise PartwrightError(f"{named(file)} is not UTF-8 ({error.reason})") from None
    except OSError as error:
        raise PartwrightError(f"{file!r} cannot be read: {error.strerror}", path=file) from None


def read_json(text: str) -> Any:
    """Parse a text of JSON.

    Raises:
        PartwrightError: It is not JSON, or an object has a field twice.
    """
    try:
        return _check.read_json(text, lambda: _again_in(text))
    except PartwrightError:
        # A PartwrightError is a ValueError, too.
        raise
    except json.JSONDecodeError as error:
        raise PartwrightError(f"this is not JSON: {error}") from None
    except ValueError:
        raise PartwrightError("this has a number of more digits than Python reads") from None
    except RecursionError:
        raise PartwrightError("this is nested too deeply") from None


def print_answers(file: str, answer: Callable[[Any], object], *, jsonl: bool) -> None:
    """Print the answer to the question in a file, or to each of its lines.

    Args:
        file: Its name, or - for stdin.
        answer: A function from a question to its answer, both JSON.
        jsonl: Whether each line is a question.

    Raises:
        PartwrightError: A question is invalid; the sentence has the file's name and the line.
    """
    if not jsonl:
        click.echo(json.dumps(answer_of(file, answer)))
    for number, line in enumerate(lines(file) if jsonl else (), 1):
        if line.strip():
            click.echo(json.dumps(_answered(line.strip(), answer, f"{named(file)}, line {number}")))


def answer_of(file: str, answer: Callable[[Any], _Answer]) -> _Answer:
    """The answer to the question in a file, or on stdin if that is named -.

    Raises:
        PartwrightError: The question is invalid; the sentence has the file's name.
    """
    return _answered("".join(lines(file)), answer, named(file))


def _answered(text: str, answer: Callable[[Any], _Answer], where: str) -> _Answer:
    try:
        return answer(read_json(text))
    except PartwrightError as error:
        raise error.within(where) from None


def _again_in(text: str) -> str:
    """The line of the first repeated field."""
    if "\n" not in text.strip():
        return ""
    place = next(end for _, is_second, end in fields_of(text) if is_second)
    return f", again in line {text.count(chr(10), 0, place) + 1}"


def fields_of(text: str) -> Iterator[tuple[list[str], bool, int]]:
    """The fields of the objects in a text of JSON, in their order.

    Yields:
        For each field, the names of the fields around it and its own, with an empty name for each list; whether its
        object had it before; and where the colon after its name ends.

    Examples:
        >>> list(fields_of('{"a": [{"b": 1, "b": 2}]}'))
        [(['a'], False, 5), (['a', '', 'b'], False, 12), (['a', '', 'b'], True, 20)]
    """
    inside: list[tuple[str, set[str]]] = []
    for token in _TOKEN.finditer(text):
        if token[0] in "{[":
            inside.append(("", set()))
        elif token[0] in "}]":
            inside[-1:] = []
        elif token[2] is not None and inside:
            name, known = json.loads(token[1], strict=False), inside[-1][1]
            inside[-1] = (name, known)
            yield [each for each, _ in inside], name in known, token.end()
            known.add(name)
