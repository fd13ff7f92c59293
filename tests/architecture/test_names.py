"""Names that nobody can search do not come back, and a class is called as no other in the package."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PYTHON = sorted((ROOT / "python" / "partwright").rglob("*.py"))
# Bare participles, adverbs and question words do not say what a value, a function, a class or a file is.
BARE = frozenset(
    {
        "asked",
        "chosen",
        "continued",
        "door",
        "doors",
        "given",
        "led",
        "look",
        "looks",
        "many",
        "otherwise",
    }
    | {"rest", "said", "sent", "settled", "there", "told", "wanted"}
)
# A variable may be called `found` where it is the result of a search; nothing else may.
BARE_DEFINITIONS = BARE | {"found"}
# Fields of fixed JSON, and Kafka's words.
FIXED = {("kafka/probe.py", "said"), ("producer/configs.py", "otherwise")}


def bare_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        name, bare = "", BARE
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            name, bare = node.name, BARE_DEFINITIONS
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.attr
        if name.strip("_").lower() in bare:
            yield name, getattr(node, "lineno", 0)


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_name_says_what_it_is_of(path: Path) -> None:
    place = path.relative_to(ROOT / "python" / "partwright").as_posix()
    found = [
        f"{name} in line {line}" for name, line in bare_names(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not [each for each in found if (place, each.split()[0]) not in FIXED]


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_function_hides_its_module(path: Path) -> None:
    """A package that gives the function could not give the module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert path.stem not in functions


def test_bare_names_are_seen() -> None:
    code = "def told(given, x):\n  _asked = there = 1\n  self.rest = found = 2\n  for many in x: pass\nclass Found: 0\n"
    assert [name for name, _ in bare_names(ast.parse(code))] == [
        "told", "Found", "given", "_asked", "there", "rest", "many"
    ]  # fmt: skip


def test_a_file_has_the_name_of_what_is_in_it() -> None:
    rust = [path for part in ("core", "py") for path in (ROOT / "rust" / part / "src").rglob("*.rs")]
    assert len(rust) > 100
    play = ROOT / "rust" / "core" / "src" / "group" / "play"
    assert not [
        path
        for path in [*PYTHON, *rust]
        if path.stem.strip("_") in BARE_DEFINITIONS and play not in path.parents
    ]


def test_a_class_is_called_as_no_other() -> None:
    files = defaultdict(list)
    for path in PYTHON:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files[node.name.strip("_")].append(path.relative_to(ROOT).as_posix())
    assert not {name: paths for name, paths in files.items() if len(paths) > 1}
