"""Lists the tests that a change can break, and why: affected.py [BASE] [-- PYTEST ...] runs them too.

The change is everything since the branch left BASE (main), with what is not yet committed. A test is chosen if it
imports, calls or mentions a touched module, or one that imports it. If nothing says what a file does, all are chosen.
"""

# A program of its own, in no package.
# ruff: noqa: INP001, S603, S607, T201

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
ALL = "tests"
# Fixtures of tests/conftest.py that use the package by themselves.
FIXTURES = {"broker": "partwright.kafka", "spark": "partwright.spark"}
# What runs a command in a test: a fixture, or a process of its own.
RUNS = re.compile(r'\b(command|told|refusal|process): |"-m",? "?partwright')
# Their effect is on these tests alone; of a file in no line, it may be on every test.
ELSEWHERE = {
    r"docs/|mkdocs\.yml|README\.md|examples/": ["tests/docs", "tests/architecture"],
    r"benches/": ["tests/tools", "tests/docs/test_readme.py"],
    r"[A-Z]\w+\.md|tests/README\.md|\.github/|\.ci/|tools/|Makefile|LICENSE|fuzz/": [
        "tests/tools",
        "tests/architecture",
    ],
}


def text_of(path: Path) -> str:
    """The text of a source."""
    return path.read_text(encoding="utf-8")


class Graph:
    """Which modules import which, and which tests need which."""

    def __init__(self) -> None:
        self.graph = grimp.build_graph("partwright", cache_dir=None)
        self.modules = frozenset(self.graph.modules)
        # Every module imports `partwright._core` through the package, which imports them all by name.
        for importer in self.graph.find_modules_that_directly_import("partwright"):
            self.graph.remove_import(importer=importer, imported="partwright")
        for imported in self.graph.find_modules_directly_imported_by("partwright"):
            self.graph.remove_import(importer="partwright", imported=imported)
        self.commands = {
            name.rpartition(".")[2] for name in self.modules if name.startswith("partwright.cli.commands.")
        }

    @cached_property
    def public(self) -> dict[str, str]:
        """The module of each of the package's names."""
        tree = ast.parse(text_of(ROOT / "python/partwright/__init__.py"))
        return {
            alias.name: self.known(f"{node.module}.{alias.name}")
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("partwright")
            for alias in node.names
        }

    def known(self, name: str) -> str:
        """The module itself, or the one that has the name."""
        while name not in self.modules and "." in name:
            name = name.rpartition(".")[0]
        return name

    def affected_by(self, touched: set[str]) -> set[str]:
        """The touched modules, and all that import them."""
        found = set(touched)
        for name in touched & self.modules:
            found |= self.graph.find_downstream_modules(name)
        # The command line finds its commands by name.
        if any(re.match(r"partwright\.cli(?!\.commands\.)", name) for name in found):
            found |= {f"partwright.cli.commands.{name}" for name in self.commands} | {"partwright.cli"}
        if any(name.startswith("partwright.cli.commands.") for name in found):
            found.add("partwright.cli")
        return found | (set(self.modules) if "partwright" in touched else set())

    def needed_by(self, code: str) -> set[str]:
        """Modules that a test imports, calls as `pw.name` or mentions, and the commands that it runs."""
        needed = {self.known(name) for name in re.findall(r"\bpartwright(?:\.\w+)+", code)}
        for module, names in re.findall(r"from (partwright[\w.]*) import \(?([\w\s,]+)", code):
            needed |= {
                self.public.get(name) or self.known(f"{module}.{name}") for name in re.findall(r"\w+", names)
            }
        needed |= {self.public.get(name, f"partwright.{name}") for name in re.findall(r"\bpw\.(\w+)", code)}
        needed |= {module for name, module in FIXTURES.items() if re.search(rf"\b{name}: ", code)}
        if RUNS.search(code):
            named = {name for name in self.commands if re.search(rf"\b{name}\b", code)}
            # Who names no command may run any.
            needed |= {f"partwright.cli.commands.{name}" for name in named} or {"partwright.cli"}
        return needed


def callers_of_rust(paths: list[str]) -> set[str]:
    """Python modules that call the parts of `_core` that use the touched folders of the core."""
    core = {path.split("/")[3].removesuffix(".rs") for path in paths if path.startswith("rust/core/src/")}
    files = {path: text_of(path) for path in (ROOT / "rust/py/src").rglob("*.rs")}
    sources: dict[str, str] = {}
    for path in (ROOT / "rust/core/src").rglob("*.rs"):
        part = path.relative_to(ROOT / "rust/core/src").parts[0].removesuffix(".rs")
        sources[part] = sources.get(part, "") + text_of(path)
    size = 0
    while size < len(core):
        size = len(core)
        uses = re.compile(rf"crate::(\{{[^;]*\b)?({'|'.join(map(re.escape, sorted(core)))})\b")
        core |= {part for part, code in sources.items() if uses.search(code)}
    bound = {path for path in files if f"rust/{path.relative_to(ROOT / 'rust').as_posix()}" in paths}
    bound |= {path for path, code in files.items() for part in core if re.search(rf"\b{part}\b", code)}
    names = {
        name
        for path in bound
        for name in re.findall(
            r"#\[py(?:function|class)[^\n]*\](?:\s*#\[[^\n]*\])*\s*pub\S* (?:fn|struct) (\w+)", files[path]
        )
    }
    everything = any(
        not path.startswith(("rust/core/src/", "rust/py/src/")) or path.endswith("/lib.rs") for path in paths
    )
    return {
        ".".join(path.relative_to(ROOT / "python").with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "python/partwright").rglob("*.py")
        if "_core" in (code := text_of(path))
        and (everything or any(re.search(rf"\b{name}\b", code) for name in names))
    }


def helpers_of(code: str) -> set[str]:
    """Files next to the tests that a test imports."""
    names = re.findall(r"^(?:from|import) ([\w.]+)", code, re.MULTILINE)
    return {f"tests/{name.replace('.', '/')}.py" for name in names}


def tests_near(path: str) -> dict[str, str]:
    """The tests that a file below tests/ is one of, or that name its folder."""
    if path.endswith(".py"):
        return {path: f"{path} changed"}
    folder = path.split("/")[1]
    return {
        each.relative_to(ROOT).as_posix(): f"{path} changed"
        for each in (ROOT / "tests").rglob("*.py")
        if folder in each.parts or re.search(rf"\b{folder}\b", text_of(each))
    }


def spread(reasons: dict[str, str], sources: dict[str, str]) -> None:
    """What a helper or a conftest needs, the tests that use it need."""
    size = 0
    while size < len(reasons):
        size = len(reasons)
        folders = [path.removesuffix("conftest.py") for path in reasons if path.endswith("/conftest.py")]
        for path, code in sources.items():
            used = sorted(helpers_of(code) & reasons.keys())
            used += [f"{folder}conftest.py" for folder in folders if path.startswith(folder)]
            if used and path not in reasons:
                reasons[path] = f"uses {used[0]}: {reasons[used[0]]}"


def affected(paths: list[str]) -> dict[str, str]:
    """Test files and folders, each with the reason; `tests` stands for all."""
    graph = Graph()
    chosen, reasons = dict[str, str](), dict[str, str]()
    rust = [path for path in paths if path.startswith(("rust/", "Cargo."))]
    touched = callers_of_rust(rust) if rust else set()
    for path in (path for path in paths if path not in rust):
        if path.startswith("python/partwright/"):
            name = path.removeprefix("python/").rpartition(".")[0].replace("/", ".")
            touched.add(graph.known(name.removesuffix(".__init__")))
        elif places := next(
            (places for pattern, places in ELSEWHERE.items() if re.match(pattern, path)), None
        ):
            chosen |= dict.fromkeys(places, f"{path} changed")
        elif path.startswith("tests/") and path != "tests/conftest.py":
            reasons |= tests_near(path)
        else:
            return {ALL: f"{path} may change every test"}
    sources = {each.relative_to(ROOT).as_posix(): text_of(each) for each in (ROOT / "tests").rglob("*.py")}
    del sources["tests/conftest.py"]
    modules = graph.affected_by(touched)
    for path, code in sources.items():
        if needed := sorted(graph.needed_by(code) & modules):
            reasons.setdefault(path, f"needs {needed[0]}")
    spread(reasons, sources)
    chosen.setdefault("tests/architecture", "it reads all sources")
    return chosen | {
        path: why for path, why in sorted(reasons.items()) if Path(path).name.startswith("test_")
    }


def changed(base: str) -> list[str]:
    """The files that differ from where the branch left the base."""

    def git(*words: str) -> list[str]:
        done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    (fork,) = git("merge-base", base, "HEAD")
    return sorted({*git("diff", "--name-only", fork), *git("ls-files", "--others", "--exclude-standard")})


def main() -> int:
    """List the tests, or run them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", nargs="?", default="main")
    parser.add_argument("command", nargs="*", help="after `--`: how pytest is called")
    options = parser.parse_args()
    paths = changed(options.base)
    chosen = affected(paths) if paths else {}
    for path, why in chosen.items():
        print(f"{path}: {why}", flush=True)
    if not options.command or not paths:
        return 0
    if any(
        path.startswith(("rust/", "Cargo.", "tests/rust/")) or path.endswith((".json", ".jsonl"))
        for path in paths
    ):
        print("cargo test: Rust or its data changed", flush=True)
        subprocess.run(["cargo", "test", "--workspace", "--locked", "--quiet"], check=True, cwd=ROOT)
    places = [path for path in chosen if not any(path.startswith(f"{other}/") for other in chosen)]
    return subprocess.run([*options.command, *places], check=False, cwd=ROOT).returncode if places else 0


if __name__ == "__main__":
    sys.exit(main())
