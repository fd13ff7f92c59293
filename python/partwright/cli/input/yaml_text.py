"""Read YAML from anybody safely: without Python's tags, merges or endless aliases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwright._check import same_name_twice
from partwright.errors import MissingExtraError, PartwrightError

if TYPE_CHECKING:
    from yaml import Node, SafeLoader

__all__ = ["yaml_documents"]

_MERGE = "tag:yaml.org,2002:merge"
_MOST_VALUES = 1_000_000
"""With what aliases stand for: each is looked at, and a few lines of aliases can stand for any number."""


def yaml_documents(file: str, text: str, *, several: bool, hint: str = "") -> list[Any]:
    """What each document of a text says; an empty text is one document, None.

    Args:
        file: What an error calls it.
        text: The YAML.
        several: Whether it may have more documents than one.
        hint: What an error about the syntax says behind it.

    Raises:
        PartwrightError: It is no YAML, has a field twice or a `<<`, or stands for too many values.
        MissingExtraError: PyYAML is missing.
    """
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("PyYAML is missing: pip install 'partwright[yaml]', or write JSON") from error
    try:
        loader = _without_dates(yaml)(text)
        roots: list[Node | None] = []
        while several and loader.check_node():
            roots.append(loader.get_node())
        roots = roots or [loader.get_single_node()]
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
        # Which is a ValueError, too.
        raise
    except ValueError:
        raise PartwrightError(f"{file}: this has a number of more digits than Python reads") from None


def _refuse_twice(file: str, root: Node) -> None:
    """No field is there twice, of which YAML would silently take the last, nor `<<`, which may merge without end."""
    waiting: list[Node] = [root]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        # What an alias names was looked at where its anchor is.
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


def _without_dates(yaml: Any) -> type[SafeLoader]:
    """A loader to which a date is text: no script has one, and what is none would be an error without a line."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc] # a module that is not always there
        pass

    Loader.yaml_implicit_resolvers = {
        first: [pair for pair in resolvers if pair[0] != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader
