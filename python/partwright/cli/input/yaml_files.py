"""Files in YAML or JSON: a script of a group's life with the line of each of its events, and a Kubernetes manifest.

YAML is untrusted: it is read without Python's tags, merges or endless aliases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from partwright._check import same_name_twice
from partwright.cli.input.json import fields_of, lines, named, read_json
from partwright.errors import MissingExtraError, PartwrightError

if TYPE_CHECKING:
    from yaml import Node, SafeLoader

_YAML = (".yaml", ".yml")
_BETWEEN = re.compile(r"[\s,\[]*")
_MERGE = "tag:yaml.org,2002:merge"
_MOST_VALUES = 1_000_000
"""Counted with aliases written out: every value is checked, and a few lines of aliases can stand for any number of
values."""


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
        script = _documents(file, text, several=False)[0]
        starts = _starts(text)
        return script, lambda number: starts[number - 1] if number <= len(starts) else None
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


def read_yaml(file: str, text: str) -> Any:
    """The one document of a text of YAML.

    Raises:
        PartwrightError: It is not YAML.
        MissingExtraError: PyYAML is missing.
    """
    return _documents(file, text, several=False)[0]


def read_manifest_file(file: str) -> list[Any]:
    """The documents of a manifest; - is stdin.

    Raises:
        PartwrightError: It cannot be read, or is neither YAML nor JSON.
        MissingExtraError: It is YAML, and PyYAML is missing.
    """
    text = "".join(lines(file))
    hint = " (render a chart first, by helm template)" if "{{" in text else ""
    if file.lower().endswith(".json"):
        try:
            return [read_json(text)]
        except PartwrightError as error:
            raise error.within(named(file), path=file) from None
    try:
        return _documents(named(file), text, several=True, hint=hint)
    except PartwrightError as error:
        error.path = file
        raise


def _documents(file: str, text: str, *, several: bool, hint: str = "") -> list[Any]:
    """The documents of a text; an empty text is one document, None.

    Args:
        file: Its name in errors.
        text: The YAML.
        several: Whether it may have more than one document.
        hint: The end of an error about the syntax.

    Raises:
        PartwrightError: It is not YAML, has a repeated field or a `<<`, or stands for too many values.
        MissingExtraError: PyYAML is missing.
    """
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("PyYAML is missing: pip install 'partwright[yaml]', or write JSON") from error
    try:
        loader = _without_dates(yaml)(text)
        roots: list[Node | None] = [] if several else [loader.get_single_node()]
        while several and loader.check_node():
            roots.append(loader.get_node())
        roots = roots or [None]
        for root in roots:
            if root is not None:
                _refuse_twice(file, root)
                _values(file, root, {})
        return [None if root is None else loader.construct_document(root) for root in roots]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = file if mark is None else f"{file}, line {mark.line + 1}"
        raise PartwrightError(f"{where}: this is not YAML: {error.problem or error.context}{hint}") from None
    except yaml.YAMLError as error:
        raise PartwrightError(f"{file}: this is not YAML: {' '.join(str(error).split())}{hint}") from None
    except RecursionError:
        raise PartwrightError(f"{file}: this is nested too deeply") from None
    except PartwrightError:
        # A PartwrightError is a ValueError, too.
        raise
    except ValueError:
        raise PartwrightError(f"{file}: this has a number of more digits than Python reads") from None


def _refuse_twice(file: str, root: Node) -> None:
    """Refuse a repeated field, of which YAML would silently take the last, and `<<`, which may merge without end."""
    waiting: list[Node] = [root]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        # An alias's value was checked at its anchor.
        if id(node) in seen or isinstance(node.value, str):
            continue
        seen.add(id(node))
        pairs = [each for each in node.value if isinstance(each, tuple)]
        names: set[str] = set()
        for key, value in pairs:
            line = key.start_mark.line + 1
            if key.tag == _MERGE:
                raise PartwrightError(
                    f"{file}, line {line}: '<<' would merge objects, which no file may do here: write their fields out"
                )
            if isinstance(key.value, str):
                if key.value in names:
                    raise same_name_twice(key.value, f"{file}, line {line}: ")
                names.add(key.value)
            waiting += [key, value]
        waiting += [each for each in node.value if not isinstance(each, tuple)]


def _values(file: str, node: Node, known: dict[int, int]) -> int:
    """How many values a node stands for, with aliases written out; `known` has the counts of visited nodes.

    Raises:
        PartwrightError: There are too many.
    """
    if id(node) in known:
        return known[id(node)]
    # An alias inside its own value is not expanded further.
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


def _without_dates(yaml: Any) -> type[SafeLoader]:
    """A loader that reads dates as text: no script has dates, and an invalid one would be an error without a line."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc] # a module that is not always there
        pass

    Loader.yaml_implicit_resolvers = {
        first: [pair for pair in resolvers if pair[0] != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader
