"""A script of a group's life from a file: JSON or YAML, and the line of each of its events."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from partwright.cli.json_input import fields_of, lines, named, read_json
from partwright.errors import MissingExtraError, PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["at_line", "read_script_file"]

_YAML = (".yaml", ".yml")
_EVENT = re.compile(r"event (\d+)\b")
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
        raise PartwrightError(f"{named(file)}: {error}") from None


def at_line(file: str, error: PartwrightError, line_of: Callable[[int], int | None]) -> PartwrightError:
    """A sentence about an event, with the file and the line that it stands in."""
    found = _EVENT.match(str(error))
    line = line_of(int(found[1])) if found else None
    where = named(file) if line is None else f"{named(file)}, line {line}"
    return type(error)(f"{where}: {error}")


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


def _refuse_twice(file: str, root: Any) -> None:  # noqa: ANN401 - a node of PyYAML's
    """No field may be there twice: YAML would silently take the last."""
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
            if isinstance(key.value, str):
                if key.value in names:
                    line = key.start_mark.line + 1
                    raise PartwrightError(f"{file}, line {line}: {key.value!r} is there twice in one object")
                names.add(key.value)
            waiting += [key, value]
        waiting += [each for each in node.value if not isinstance(each, tuple)]


def _read_yaml(file: str, text: str) -> tuple[Any, Callable[[int], int | None]]:
    try:
        import yaml  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("PyYAML is missing: pip install 'partwright[yaml]', or write JSON") from error
    try:
        loader = _without_dates(yaml)(text)
        root = loader.get_single_node()
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
    except ValueError:
        raise PartwrightError(f"{file}: this has a number of more digits than Python reads") from None
    _refuse_twice(file, root)
    return said, lambda number: starts[number - 1] if number <= len(starts) else None


def _without_dates(yaml: Any) -> Any:  # noqa: ANN401 - PyYAML, which is an extra
    """A loader to which a date is text: no script has one, and what is none would be an error without a line."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc] # a module that is not always there
        pass

    Loader.yaml_implicit_resolvers = {
        first: [pair for pair in resolvers if pair[0] != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


def _starts(yaml: Any, text: str) -> list[int]:  # noqa: ANN401
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
