"""Puts the questions of tests/golden to the newest release of every real client.

It works on a copy of tests/: there each package manager moves the clients to their newest releases, and
tests/reference/generate.py asks them. Exit code 0: nothing is newer, or the answers are the same; 1: an answer differs,
and the report (Markdown, its first line a title) says which; 2: a client could not be moved or asked, and why.
"""

# ruff: noqa: INP001, S603, T201
from __future__ import annotations

import argparse
import difflib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parent.parent
GO = ("github.com/IBM/sarama", "github.com/segmentio/kafka-go", "github.com/twmb/franz-go")
PYTHON = ("confluent-kafka", "kafka-python", "aiokafka")
NPM = {"node": "kafkajs", "librdkafka": "@confluentinc/kafka-javascript"}
KAFKA = re.compile(r"<kafka\.version>(.*?)</kafka\.version>")
SHOWN = 40
WIDTH = 200


class CannotAskError(Exception):
    """A client cannot be moved or asked; the message says why."""


def run(command: Sequence[str], folder: Path) -> str:
    """Standard output of a command in a folder."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotAskError(
            f"{' '.join(command)} ended with {done.returncode}: {(done.stderr or done.stdout).strip()}"
        )
    return done.stdout


def versions(reference: Path) -> dict[str, str]:
    """By client: the version that tests/reference pins, by Maven, Go, pip and npm."""
    kafka = KAFKA.search((reference / "java" / "pom.xml").read_text(encoding="utf-8"))
    found = {"kafka-clients": kafka[1] if kafka else ""}
    modules = (reference / "go" / "go.mod").read_text(encoding="utf-8")
    locked = (reference / "python" / "requirements.txt").read_text(encoding="utf-8")
    for pattern, names, text in ((r"^\t{} v(\S+)", GO, modules), (r"^{}==(\S+)", PYTHON, locked)):
        for name in names:
            pinned = re.search(pattern.format(re.escape(name)), text, re.MULTILINE)
            found[name] = pinned[1] if pinned else ""
    for folder, name in NPM.items():
        found[name] = json.loads((reference / folder / "package.json").read_bytes())["dependencies"][name]
    if missing := [name for name, version in found.items() if not version]:
        raise CannotAskError(f"tests/reference pins no version of {', '.join(missing)}")
    return found


def move(reference: Path) -> None:
    """Moves every client to its newest release, each by its package manager."""
    pom = reference / "java" / "pom.xml"
    before = pom.read_text(encoding="utf-8")
    update = "org.codehaus.mojo:versions-maven-plugin:2.18.0:update-properties"
    words = [
        "-DincludeProperties=kafka.version",
        "-DgenerateBackupPoms=false",
        "-Dmaven.version.ignore=.*-rc.*",
    ]
    run(["mvn", "-q", "-B", "-f", str(pom), update, *words], reference)
    # The profiles are older Kafkas, which stay.
    newest = KAFKA.findall(pom.read_text(encoding="utf-8"))[0]
    pom.write_text(KAFKA.sub(f"<kafka.version>{newest}</kafka.version>", before, count=1), encoding="utf-8")
    run(["go", "get", *(f"{module}@latest" for module in GO)], reference / "go")
    run(["go", "mod", "tidy"], reference / "go")
    for folder, name in NPM.items():
        quiet = ["--save-exact", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        run(["npm", "install", *quiet, f"{name}@latest"], reference / folder)
    locked = reference / "python" / "requirements.txt"
    upgrade = [word for name in PYTHON for word in ("--upgrade-package", name)]
    lock = [
        sys.executable,
        "-m",
        "uv",
        "--quiet",
        "pip",
        "compile",
        "--universal",
        "--generate-hashes",
        "--no-header",
    ]
    asked = re.sub(
        r"(?m)^(\S+)==\S+.*$", r"\1", re.sub(r"(?m)^ +(--hash|#).*\n", "", locked.read_text(encoding="utf-8"))
    )
    (reference / "python" / "asked.txt").write_text(asked, encoding="utf-8")
    run([*lock, *upgrade, "--output-file", str(locked), "asked.txt"], reference / "python")


def differences(kept: Path, fresh: Path, moved: Mapping[str, tuple[str, str]]) -> dict[str, list[str]]:
    """By golden file: the lines that differ in more than the moved versions."""
    found: dict[str, list[str]] = {}
    for file in sorted(each for each in fresh.rglob("*.json*") if each.is_file()):
        name = str(file.relative_to(fresh))
        recorded = (kept / name).read_text(encoding="utf-8") if (kept / name).is_file() else ""
        for before, after in moved.values():
            recorded = recorded.replace(f'"{before}"', f'"{after}"')
        lines = difflib.unified_diff(
            recorded.splitlines(), file.read_text(encoding="utf-8").splitlines(), n=0, lineterm=""
        )
        changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
        if changed:
            found[name] = changed
    return found


def report(moved: Mapping[str, tuple[str, str]], found: Mapping[str, Sequence[str]]) -> str:
    """The issue's text."""
    named = ", ".join(f"{name} {after}" for name, (_, after) in moved.items())
    lines = [
        f"# Newer clients answer otherwise: {named}",
        "",
        "| client | asked before | asked now |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {name} | {before} | {after} |" for name, (before, after) in moved.items()]
    for name, changed in found.items():
        lines += ["", f"`tests/golden/{name}`: {len(changed)} lines (- before, + now)", "", "```diff"]
        lines += [line if len(line) <= WIDTH else f"{line[:WIDTH]}…" for line in changed[:SHOWN]] + ["```"]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Runs the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Ask the newest real clients for the golden files.")
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="where the differences are written, if there are any"
    )
    chosen = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="partwright-newer-") as folder:
            copied = Path(folder) / "tests"
            for name in ("reference", "golden"):
                shutil.copytree(ROOT / "tests" / name, copied / name)
            before = versions(copied / "reference")
            move(copied / "reference")
            after = versions(copied / "reference")
            moved = {
                name: (version, after[name]) for name, version in before.items() if after[name] != version
            }
            if not moved:
                print("No client has a newer release.")
                return 0
            print("Newer:", ", ".join(f"{name} {old} -> {new}" for name, (old, new) in moved.items()))
            run([sys.executable, str(copied / "reference" / "generate.py"), "--write"], copied)
            found = differences(ROOT / "tests" / "golden", copied / "golden", moved)
    except (CannotAskError, OSError) as refused:
        print(f"newer_clients.py: {refused}", file=sys.stderr)
        return 2
    if not found:
        print("They give the same answers.")
        return 0
    said = report(moved, found)
    print(said, end="")
    if chosen.report:
        chosen.report.write_text(said, encoding="utf-8")
    return 1


if __name__ == "__main__":
    sys.exit(main())
