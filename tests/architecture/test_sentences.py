"""No code reads one of partwright's own sentences: everything it needs of an error or a verdict is in an attribute.

A sentence may be printed, returned, kept or put whole into another one. It may not be searched, cut or compared,
because then a new wording would break code. Sentences of foreign libraries (Java's, Spark's, pyarrow's) may be read:
they have no attributes.
"""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python/partwright"
ERRORS = {"PartwrightError", "KeyTypeError", "MissingExtraError", "BrokerError", "ContractError"}
PATTERN = {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
ALLOWED: dict[str, str] = {}
"""File and function of a place that may read a sentence all the same, and why."""


def test_no_code_reads_a_sentence() -> None:
    found = {
        f"{file.relative_to(PACKAGE)}:{function}": line
        for file in sorted(PACKAGE.rglob("*.py"))
        for function, line in readers(file.read_text(encoding="utf-8"))
    }
    assert {place: line for place, line in found.items() if place not in ALLOWED} == {}
    assert ALLOWED.keys() <= found.keys(), "these read no sentence any more"


@pytest.mark.parametrize(
    "code",
    [
        "start, colon, reason = str(error).partition(': ')",
        "raise type(error)(moved(str(error), 3))",
        "named = ROW.sub(where, str(error))",
        "found = re.match('event', f'{error}')",
        "if repr(path) in str(error): raise",
        "said = str(error)",
        "if error.args[0] == 'x': raise",
        "raise ValueError(str(error)[4:])",
        "said = '%s' % error\nsaid.split()",
    ],
)
def test_what_reads_an_error_is_found(code: str) -> None:
    assert readers(f"def ask():\n    try:\n        work()\n    except PartwrightError as error:\n{_in(code)}")
    assert readers(f"def ask(error: PartwrightError):\n{_in(code)}")


@pytest.mark.parametrize(
    "code", ["bold, _, rest = moved.text.partition(' rows (')", "if ': ' in verdict.text: pass"]
)
def test_what_reads_a_verdict_is_found(code: str) -> None:
    source = "from partwright.documents.sentences import of_check\n"
    assert readers(f"{source}def ask():\n{_in(code)}")


@pytest.mark.parametrize(
    "code",
    [
        "raise PartwrightError(f'{where}: {error}') from None",
        "return refuse(str(error))",
        "return {'error': str(error)}",
        "raise error.moved(to)",
        "raise error.within('a.csv') if error.path is None else error",
    ],
)
def test_a_sentence_may_be_handed_on_whole(code: str) -> None:
    assert not readers(
        f"def ask():\n    try:\n        work()\n    except PartwrightError as error:\n{_in(code)}"
    )


def readers(source: str) -> list[tuple[str, int]]:
    """The functions that read a sentence, and the lines in which they do so."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found: list[tuple[str, int]] = []
    for scope, name in _errors(tree):
        named = (node for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id == name)
        found += [(_function(node, parents), node.lineno) for node in named if _is_read(node, parents)]
    if "documents.sentences" in source or "rendering.document" in source:
        found += [
            (_function(node, parents), node.lineno)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr == "text" and _is_cut(node, parents)
        ]
    return found


def _errors(tree: ast.AST) -> list[tuple[ast.AST, str]]:
    """The places where one of partwright's own errors has a name, and the name."""
    found: list[tuple[ast.AST, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.name and node.type and _is_ours(node.type):
            found.append((node, node.name))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            found += [(node, each.arg) for each in taken if each.annotation and _is_ours(each.annotation)]
    return found


def _is_ours(kind: ast.AST) -> bool:
    names = {node.id for node in ast.walk(kind) if isinstance(node, ast.Name)}
    return bool(names & ERRORS)


def _is_read(name: ast.Name, parents: dict[ast.AST, ast.AST]) -> bool:
    parent = parents[name]
    if isinstance(parent, ast.Attribute):
        return parent.attr == "args"
    if isinstance(parent, ast.BinOp):
        return True
    if isinstance(parent, ast.FormattedValue):
        return _is_cut(parents[parent], parents)
    if (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Name)
        and parent.func.id in {"str", "repr", "format"}
    ):
        return _is_cut(parent, parents)
    return False


def _is_cut(text: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a text is searched, cut, compared, or kept under a name, which makes these possible."""
    parent = parents[text]
    if isinstance(parent, ast.Call):
        called = parent.func
        # A call with the text and further arguments, of a function that is not a class, cuts it.
        is_pattern = isinstance(called, ast.Attribute) and called.attr in PATTERN
        is_moved = isinstance(called, ast.Name) and called.id.islower() and len(parent.args) > 1
        return is_pattern or (is_moved and called.id != "escape")
    if isinstance(parent, ast.Assign):
        return not isinstance(text, ast.Attribute)
    return isinstance(parent, (ast.Attribute, ast.Subscript, ast.Compare, ast.NamedExpr))


def _function(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    while not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        node = parents[node]
    return getattr(node, "name", "")


def _in(code: str) -> str:
    return textwrap.indent(code, " " * 8)
