"""Print the public interface: names with their parameters, exceptions, options, and the fields of JSON answers.

`make interface` writes it to docs/reference/interface.md, and a test compares that with the code: whoever changes the
interface sees it in the difference.
"""

# A program of its own, in no package.
# ruff: noqa: INP001

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from partwright.cli import partwright
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
MODULES = (
    "partwright",
    "partwright.assignors.quotas",
    "partwright.audit",
    "partwright.batching",
    "partwright.cluster",
    "partwright.cluster.placement",
    "partwright.cluster.storage",
    "partwright.group",
    "partwright.kafka",
    "partwright.keys.hashing",
    "partwright.migration",
    "partwright.report",
    "partwright.spark",
)
ANSWERS = ROOT / "tests" / "recorded" / "outputs"
FIELD = re.compile(r"[a-z][a-z0-9_]*")
# Objects whose fields are topics, members, clients or configs.
NAMED = re.compile(
    r"assignment|leaders|explained|sources|shares|hashes|partitions|groups|reread|unread|unowned_ms|configs|settings"
    r"|.*\.(assignment|shares|first_offset_after)|.*\[\]\.(topics|rows|config)"
)
HEAD = """\
# The whole interface

Every public name, parameter, option and JSON field, as `make interface` writes them here; a test compares them with the
code. A change of this page is a change of what partwright promises.
"""


def page() -> str:
    """The page."""
    parts = {
        "Python": python(),
        "Exceptions": exceptions(PartwrightError),
        "Commands": options(partwright, "partwright"),
        "JSON": fields(),
    }
    blocks = ("\n".join((f"## {title}", "", "```text", *lines, "```")) for title, lines in parts.items())
    return "\n\n".join((HEAD.rstrip(), *blocks)) + "\n"


def python() -> Iterator[str]:
    """Each public name of each module with its parameters, and a class's own methods and attributes below it."""
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if inspect.ismodule(value):
                continue
            yield f"{module_name}.{name}{parameters(value)}"
            if inspect.isclass(value) and not issubclass(value, Exception):
                yield from (f"    .{member}" for member in members(value))


def parameters(value: object) -> str:
    """A function's or class's parameters with their defaults, without types; nothing for what is not called."""
    if not callable(value):
        return ""
    signature = inspect.signature(value)
    plain = [
        each.replace(
            annotation=each.empty, default="..." if inspect.isfunction(each.default) else each.default
        )
        for each in signature.parameters.values()
    ]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def members(kind: type[Any]) -> Iterator[str]:
    """The public methods and attributes of a class."""
    ours = {name for each in kind.__mro__ if each.__module__.startswith("partwright") for name in vars(each)}
    for name, value in inspect.getmembers_static(kind):
        if name.startswith("_") or name not in ours:
            continue
        bound = getattr(kind, name, value)
        if not isinstance(value, property) and callable(bound):
            yield name + parameters(bound).replace("(self, ", "(").replace("(self)", "()")
        elif name not in getattr(kind, "__dataclass_fields__", ()):
            yield name


def exceptions(kind: type[BaseException], indent: str = "") -> Iterator[str]:
    """An exception with what else it is, and the kinds of it below."""
    others = [each.__name__ for each in kind.__bases__ if each.__module__ == "builtins"]
    yield f"{indent}{kind.__name__}" + (f" ({', '.join(others)})" if others else "")
    for each in sorted(kind.__subclasses__(), key=lambda one: one.__name__):
        if not each.__name__.startswith("_") and each.__module__ == "partwright.errors":
            yield from exceptions(each, f"{indent}    ")


def options(command: click.Command, name: str) -> Iterator[str]:
    """A command's arguments and options, and the commands below it."""
    if command.hidden:
        return
    shown = [line for each in command.params if (line := option(each))]
    yield " ".join((name, *(line for line in shown if not line.startswith("-"))))
    yield from (f"    {line}" for line in shown if line.startswith("-"))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            yield from options(command.get_command(context, each) or command, f"{name} {each}")


def option(parameter: click.Parameter) -> str:
    """One argument or option; empty if it is hidden."""
    metavar = parameter.make_metavar(click.Context(partwright))
    if isinstance(parameter, click.Argument):
        return metavar
    if not isinstance(parameter, click.Option) or parameter.hidden:
        return ""
    names = ", ".join((*parameter.opts, *parameter.secondary_opts))
    if parameter.is_flag or parameter.count:
        return names
    more = "..." if parameter.multiple and not metavar.endswith("...") else ""
    default = parameter.default
    shown = f" = {default}" if isinstance(default, str | int | float) and str(default) else ""
    return f"{names} {metavar}{more}{shown}"


def fields() -> Iterator[str]:
    """Every field of each command's JSON, as the recorded answers have them."""
    by_command: dict[str, set[str]] = {}
    for file in sorted(ANSWERS.glob("*.json")):
        command = file.stem.partition("-")[0]
        answer = json.loads(file.read_text(encoding="utf-8"))
        # What a command that also prints a file has recorded.
        if answer.keys() != {"stdout", "stderr"}:
            by_command.setdefault(command, set()).update(paths(answer))
    for command, found in sorted(by_command.items()):
        yield command
        yield from (f"    {path}" for path in sorted(found))


def paths(value: object, path: str = "") -> Iterable[str]:
    """The fields of a value: `a.b` for a field of an object, `a[]` for those of a list, `a.*` for any name."""
    if isinstance(value, dict):
        named = NAMED.fullmatch(path) or not all(FIELD.fullmatch(name) for name in value)
        for name, each in value.items():
            yield from paths(each, f"{path}.*" if named else f"{path}.{name}".lstrip("."))
    elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        for each in value:
            yield from paths(each, f"{path}[]")
    else:
        yield path


if __name__ == "__main__":
    sys.stdout.write(page())
