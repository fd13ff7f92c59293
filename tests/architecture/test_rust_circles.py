"""No two files of a Rust crate depend on each other, directly or through others: lower ones do not know higher ones.

A module and its own files count as one, as in Rust: a file may use what the `mod.rs` above it keeps for all
of them. A name that a `mod.rs` exports with `pub use` counts as coming from the file that defines it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CRATES = ["rust/core/src", "rust/py/src"]

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", re.DOTALL)
_USE = re.compile(r"(?:^|\n)[ \t]*(pub(?:\([^)]*\))? )?use ([^;]+);")
_PATH = re.compile(r"(?<![\w:])(\w+(?:::\w+)+)")

Module = tuple[str, ...]


@dataclass
class File:
    """A file of a crate: its module, and the names that it uses."""

    path: Path
    module: Module
    # By the name that a `use` introduces: the path that it stands for, and whether other files may use it from here.
    uses: dict[str, tuple[Module, bool]] = field(default_factory=dict)
    paths: set[Module] = field(default_factory=set)


def _expanded(tree: str) -> list[tuple[str, Module]]:
    """The names of a `use`, each with its whole path: `a::{b, c as d}` is b for a::b and d for a::c."""
    tree = tree.strip()
    if "{" in tree:
        head, _, rest = tree.partition("{")
        inner, depth, start, parts = rest[: rest.rindex("}")], 0, 0, []
        for place, letter in enumerate(inner):
            depth += (letter == "{") - (letter == "}")
            if letter == "," and depth == 0:
                parts.append(inner[start:place])
                start = place + 1
        parts.append(inner[start:])
        return [name for part in parts if part.strip() for name in _expanded(head.strip() + part.strip())]
    path, _, alias = tree.partition(" as ")
    segments = tuple(path.strip().split("::"))
    if segments[-1] == "self":
        segments = segments[:-1]
    return [(alias.strip() or segments[-1], segments)]


def _read(crate: Path) -> dict[Module, File]:
    """The files of a crate by their modules, without their tests."""
    files = {}
    for path in sorted(crate.rglob("*.rs")):
        parts = path.relative_to(crate).with_suffix("").parts
        module = parts[:-1] if parts[-1] in ("mod", "lib") else parts
        if "tests" in module:
            continue
        text = _TESTS.sub("", _COMMENT.sub("", path.read_text(encoding="utf-8")))
        file = files[module] = File(path.relative_to(crate), module)
        for public, tree in _USE.findall(text):
            for name, segments in _expanded(tree):
                file.uses[name] = (segments, bool(public))
        file.paths = {tuple(found.split("::")) for found in _PATH.findall(_USE.sub("\n", text))}
    return files


Seen = frozenset[tuple[Module, Module]]


def _found(
    files: dict[Module, File], origin: Module, path: Module, seen: Seen = frozenset()
) -> Module | None:
    """The module whose file defines a path of another module; None for a path outside this crate."""
    if (origin, path) in seen:
        return None
    seen |= {(origin, path)}
    first, rest = path[0], path[1:]
    starts = {"crate": (), "self": origin, "super": origin[:-1]}
    if first in starts:
        return _below(files, starts[first], rest, seen)
    if (*origin, first) in files:
        return _below(files, (*origin, first), rest, seen)
    if first in files[origin].uses:
        return _found(files, origin, files[origin].uses[first][0] + rest, seen)
    return None


def _below(files: dict[Module, File], module: Module, path: Module, seen: Seen) -> Module | None:
    """The same for a path relative to a module: down to its files, up, or wherever a `use` of the module leads."""
    for place, name in enumerate(path):
        if name == "super":
            module = module[:-1]
        elif (*module, name) in files:
            module = (*module, name)
        elif name in files[module].uses:
            return _found(files, module, files[module].uses[name][0] + path[place + 1 :], seen)
        else:
            break
    return module


def arrows(crate: Path) -> dict[Path, set[Path]]:
    """The files from which each file of a crate uses something."""
    files = _read(crate)
    taken: dict[Path, set[Path]] = {}
    for file in files.values():
        own = [path for path, public in file.uses.values() if not public]
        found = {_found(files, file.module, path) for path in [*own, *file.paths]}
        others = {module for module in found if module is not None and file.module[: len(module)] != module}
        taken[file.path] = {files[module].path for module in others}
    return taken


def circle(crate: Path) -> list[str]:
    """The files of a circle, with the first once more at the end; empty if there is no circle."""
    try:
        TopologicalSorter(arrows(crate)).prepare()
    except CycleError as error:
        return [path.as_posix() for path in error.args[1]]
    return []


@pytest.mark.parametrize("crate", CRATES)
def test_no_files_take_from_each_other(crate: str) -> None:
    assert circle(ROOT / crate) == []


def test_arrows_are_seen_through_doors_and_groups() -> None:
    found = arrows(ROOT / CRATES[0])
    assert Path("assignors/client/owned_partitions.rs") in found[Path("assignors/legacy/mod.rs")]
    assert Path("assignors/lists.rs") in found[Path("group/play/on_leader_elected.rs")], "by `pub use`"
    assert Path("error.rs") in found[Path("group/play/on_leader_elected.rs")], "by `pub use` of lib.rs"
    assert Path("columnar/keys.rs") in found[Path("columnar/encode.rs")]


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ("pub struct Node;", []),
        ("use super::Sender;\npub struct Node;", ["a/node.rs", "a/sender.rs"]),
        ("pub struct Node(crate::a::Sender);", ["a/node.rs", "a/sender.rs"]),
        ("use crate::{a::{Other, Sender}, b};\npub struct Node;", ["a/node.rs", "a/sender.rs"]),
        ("use super::sender;\npub struct Node(sender::Sender);", ["a/node.rs", "a/sender.rs"]),
        ("use super::Shared;\n// use super::Sender;\npub struct Node;", []),
        ("#[cfg(test)]\nmod tests {\n    use super::super::Sender;\n}", []),
    ],
)
def test_a_circle_is_found(tmp_path: Path, below: str, expected: list[str]) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\n")
    (tmp_path / "b.rs").write_text("pub struct B;\n")
    (tmp_path / "a/mod.rs").write_text(
        "mod node;\nmod sender;\npub use sender::Sender;\npub struct Shared;\n"
    )
    (tmp_path / "a/sender.rs").write_text("use super::node::Node;\npub struct Sender(Node);\n")
    (tmp_path / "a/node.rs").write_text(below)
    assert sorted(set(circle(tmp_path))) == expected
