"""A script of a group's life from a file: JSON or YAML, and the line of each of its events."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from partwright.cli.input.json import fields_of, lines, named, read_json
from partwright.cli.input.yaml_text import yaml_documents
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["at_line", "read_script_file"]

_YAML = (".yaml", ".yml")
_BETWEEN = re.compile(r"[\s,\[]*")


def read_script_file(file: str) -> tuple[Any, Callable[[int], int | None]]:
    """A file's script, and a function from an event's number, counted from 1, to its line in the file.

    Args:
        file: Its name; YAML by the suffix .yaml or .yml, JSON by any other; - is JSON on stdin.

    Raises:
        PartwrightError: It cannot be read, or is neither YAML nor JSON.
        MissingExtraError: It is YAML, and PyYAML is missing.
    """
    text = "".join(lines(file))
    if file.lower().endswith(_YAML):
        said = yaml_documents(file, text, several=False)[0]
        starts = _starts(text)
        return said, lambda number: starts[number - 1] if number <= len(starts) else None
    try:
        return read_json(text), lambda number: _line_in_json(text, number)
    except PartwrightError as error:
        raise error.within(named(file), path=file) from None


def at_line(file: str, error: PartwrightError, line_of: Callable[[int], int | None]) -> PartwrightError:
    """An error about an event, with its file and line."""
    line = None if error.row is None else line_of(error.row + 1)
    return error.within(named(file) if line is None else f"{named(file)}, line {line}", path=file)


def _line_in_json(text: str, number: int) -> int | None:
    """The positions of the events in the text, in order."""
    begins = next((end for path, _, end in fields_of(text) if path == ["events"]), None)
    if begins is None:
        return None
    decoder, place = json.JSONDecoder(), begins
    for each in range(1, number + 1):
        between = _BETWEEN.match(text, place)
        place = between.end() if between else place
        if each == number:
            return text.count("\n", 0, place) + 1
        try:
            _, place = decoder.raw_decode(text, place)
        except ValueError:
            return None
    return None


def _starts(text: str) -> list[int]:
    """The line in which each event begins; for an alias its own line, not its anchor's."""
    import yaml

    starts: list[int] = []
    depth, nodes, field = 0, 0, None
    for event in yaml.parse(text, yaml.SafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            if depth == 1:
                # Names and values alternate.
                field = getattr(event, "value", None) if nodes % 2 == 0 else field
                nodes += 1
            elif depth == 2 and field == "events":  # noqa: PLR2004 - in the list of the object
                starts.append(event.start_mark.line + 1)
            depth += isinstance(event, yaml.CollectionStartEvent)
    return starts
