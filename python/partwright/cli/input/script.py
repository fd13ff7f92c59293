"""A script of a group's life from a file: JSON or YAML, and the line of each of its events."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from partwright._check import same_name_twice
from partwright.cli.input.json import fields_of, lines, named, read_json
from partwright.errors import MissingExtraError, PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from yaml import Node, SafeLoader

__all__ = ["at_line", "read_script_file"]

_YAML = (".yaml", ".yml")
_MERGE = "tag:yaml.org,2002:merge"
_MOST_VALUES = 1_000_000
"""With what aliases stand for: each is looked at, and a few lines of aliases can stand for any number."""
_BETWEEN = re.compile(r"[\s,\[]*")


def read_script_file(file: str) -> tuple[Any, Callable[[int], int | None]]:
    """What a file says, and a function that knows in which of its lines an event stands, by its number from 1.

    Args:
        file: Its name; YAML by the suffix .yaml or .yml, JSON by any other; - is JSON on stdin.

    Raises:
        PartwrightError: It cannot be read, or is none of them.
        MissingExtraError: It is YAML, and PyYAML is missing.
    """
    text = "".join(lines(file))
    if file.lower().endswith(_YAML):
        return _read_yaml(file, text)
    try:
        return read_json(text), lambda number: _line_in_json(text, number)
    except PartwrightError as error:
        raise error.within(named(file), path=file) from None


def at_line(file: str, error: PartwrightError, line_of: Callable[[int], int | None]) -> PartwrightError:
    """A sentence about an event, with the file and the line that it stands in."""
    line = None if error.row is None else line_of(error.row + 1)
    return error.within(named(file) if line is None else f"{named(file)}, line {line}", path=file)


def _line_in_json(text: str, number: int) -> int | None:
    """Where the events are, one behind the other, in the text that was read already."""
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


def _refuse_twice(file: str, root: Node | None) -> None:
    """No field is there twice, of which YAML would silently take the last, nor `<<`, which may merge without end."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        # What an alias names was looked at where its anchor is.
        if node is None or id(node) in seen or isinstance(node.value, str):
            continue
        seen.add(id(node))
        pairs = [each for each in node.value if isinstance(each, tuple)]
        names: set[str] = set()
        for key, value in pairs:
            line = key.start_mark.line + 1
            if key.tag == _MERGE:
                raise PartwrightError(
                    f"{file}, line {line}: '<<' would merge objects, which no script may: write their fields out"
                )
            if isinstance(key.value, str):
                if key.value in names:
                    raise same_name_twice(key.value, f"{file}, line {line}: ")
                names.add(key.value)
            waiting += [key, value]
        waiting += [each for each in node.value if not isinstance(each, tuple)]


def _values(file: str, node: Node, known: dict[int, int]) -> int:
    """How many values a node stands for, aliases written out; `known` has those of nodes that were met.

    Raises:
        PartwrightError: There are too many.
    """
    if id(node) in known:
        return known[id(node)]
    # An alias inside of what it names is written out no further.
    known[id(node)] = 1
    parts = () if isinstance(node.value, str) else node.value
    inside = (part for each in parts for part in (each if isinstance(each, tuple) else (each,)))
    count = 1 + sum(_values(file, part, known) for part in inside)
    if count > _MOST_VALUES:
        raise PartwrightError(
            f"{file}, line {node.start_mark.line + 1}: with its aliases this has more than {_MOST_VALUES} values"
        )
    known[id(node)] = count
    return count


def _read_yaml(file: str, text: str) -> tuple[Any, Callable[[int], int | None]]:
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("PyYAML is missing: pip install 'partwright[yaml]', or write JSON") from error
    try:
        loader = _without_dates(yaml)(text)
        root = loader.get_single_node()
        if root is not None:
            _refuse_twice(file, root)
            _values(file, root, {})
        said = None if root is None else loader.construct_document(root)
        starts = _starts(yaml, text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = file if mark is None else f"{file}, line {mark.line + 1}"
        raise PartwrightError(f"{where}: this is no YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise PartwrightError(f"{file}: this is no YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise PartwrightError(f"{file}: this is nested too deeply") from None
    except PartwrightError:
        # Which is a ValueError, too.
        raise
    except ValueError:
        raise PartwrightError(f"{file}: this has a number of more digits than Python reads") from None
    return said, lambda number: starts[number - 1] if number <= len(starts) else None


def _without_dates(yaml: Any) -> type[SafeLoader]:
    """A loader to which a date is text: no script has one, and what is none would be an error without a line."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc] # a module that is not always there
        pass

    Loader.yaml_implicit_resolvers = {
        first: [pair for pair in resolvers if pair[0] != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


def _starts(yaml: ModuleType, text: str) -> list[int]:
    """The line in which each event begins; of an alias its own, and not its anchor's."""
    starts: list[int] = []
    depth, nodes, field = 0, 0, None
    for event in yaml.parse(text, yaml.SafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            if depth == 1:
                # Names and what they name take turns.
                field = getattr(event, "value", None) if nodes % 2 == 0 else field
                nodes += 1
            elif depth == 2 and field == "events":  # noqa: PLR2004 - in the list of the object
                starts.append(event.start_mark.line + 1)
            depth += isinstance(event, yaml.CollectionStartEvent)
    return starts
