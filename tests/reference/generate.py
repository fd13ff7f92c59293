"""Asks the real clients again: regenerates the golden files and compares them, or writes them.

`python tests/reference/generate.py` (or with `--check`) builds the programs beside this file in a temporary
folder, lets them write every golden file there and compares: it ends with 0 where all are equal, 1 and a
summary where they differ, 2 and a sentence where a tool is missing or a program does not build.
`--write` puts what the clients said into tests/golden.

Standard library only: it runs before anything of the project is built.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

REFERENCE = Path(__file__).resolve().parent
GOLDEN = REFERENCE.parent / "golden"
OLDEST_JDK = 17
SHOWN_LINES = 20
SHOWN_WIDTH = 160


class CannotAskError(Exception):
    """A client cannot be asked on this machine; the message says why, and what to install."""


@dataclass(frozen=True)
class Client:
    """One real client: how its programs are built, and which golden file each of them writes."""

    name: str
    build: Callable[[Path], Sequence[str]]
    """Builds in the folder given; the command that it returns takes a program's name and its arguments."""
    writes: Mapping[str, str]
    """By golden file, the program that writes it to the path that is its one argument."""


def build_java(folder: Path) -> list[str]:
    """Compiles the Maven program of `java/` into the folder, with the jars that it needs beside it."""
    java, javac, mvn = (_java_tool("java"), _java_tool("javac"), shutil.which("mvn"))
    if java is None or javac is None:
        raise CannotAskError(f"Kafka's Java client needs a JDK: install JDK {OLDEST_JDK} or later.")
    if mvn is None:
        raise CannotAskError("Kafka's Java client is built with Maven: install Maven 3.8 or later (mvn).")
    version = _run([javac, "-version"]).strip()
    found = re.search(r"javac (\d+)", version)
    if found is None or int(found[1]) < OLDEST_JDK:
        raise CannotAskError(f"Kafka's Java client needs JDK {OLDEST_JDK} or later; found {version}.")
    pom = REFERENCE / "java" / "pom.xml"
    target = folder / "java"
    quiet = ["-q", "-B", "-Dstyle.color=never"]
    _run([mvn, *quiet, "-f", str(pom), f"-Dpartwright.target={target}", "process-classes"])
    classpath = os.pathsep.join([str(target / "classes"), str(target / "lib" / "*")])
    return [java, "-cp", classpath]


CLIENTS = (Client("java", build_java, {"hashing.json": "partwright.HashingVectors"}),)


def generate(client: Client, work: Path, golden: Path) -> list[str]:
    """Lets a client write its golden files into a folder; returns their names."""
    command = client.build(work)
    for name, program in client.writes.items():
        _run([*command, program, str(golden / name)])
    return list(client.writes)


def differences(name: str, fresh: Path, kept: Path) -> str:
    """What a person needs to see of two versions of a golden file; empty where they are equal."""
    said = fresh.read_text(encoding="utf-8")
    if not kept.is_file():
        return f"{name} is not there yet; the client writes {len(said.splitlines())} lines.\n"
    recorded = kept.read_text(encoding="utf-8")
    if recorded == said:
        return ""
    diff = [
        line
        for line in difflib.unified_diff(recorded.splitlines(), said.splitlines(), n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]
    shown = [line if len(line) <= SHOWN_WIDTH else f"{line[:SHOWN_WIDTH]}…" for line in diff[:SHOWN_LINES]]
    left = len(diff) - len(shown)
    summary = f"{name} differs from what the client says now in {len(diff)} lines (- recorded, + the client):"
    return "\n".join([summary, *shown, *([f"… and {left} lines more"] if left else []), ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Ask the real clients for the golden files again.")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="compare with tests/golden; the default")
    mode.add_argument("--write", action="store_true", help="write tests/golden")
    names = [client.name for client in CLIENTS]
    parser.add_argument("--client", action="append", choices=names, help="only this client; may be repeated")
    chosen = parser.parse_args(arguments)
    found: list[str] = []
    equal: list[str] = []
    with tempfile.TemporaryDirectory(prefix="partwright-golden-") as folder:
        work = Path(folder) / "work"
        fresh = Path(folder) / "golden"
        work.mkdir()
        fresh.mkdir()
        for client in CLIENTS:
            if chosen.client and client.name not in chosen.client:
                continue
            try:
                written = generate(client, work, fresh)
            except CannotAskError as error:
                sys.stderr.write(f"{error}\n")
                return 2
            for name in written:
                difference = differences(name, fresh / name, GOLDEN / name)
                (found if difference else equal).append(difference or name)
                if chosen.write and difference:
                    GOLDEN.mkdir(exist_ok=True)
                    shutil.copyfile(fresh / name, GOLDEN / name)
    sys.stdout.writelines(found)
    sys.stdout.writelines(f"{name}: the client says the same\n" for name in equal)
    if found and chosen.write:
        sys.stdout.write(f"Written to {GOLDEN}.\n")
    return 1 if found and not chosen.write else 0


def _java_tool(name: str) -> str | None:
    """The JDK's tool that Maven would use too: JAVA_HOME's, else the one on PATH."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(name, path=str(Path(home) / "bin")) if home else shutil.which(name)


def _run(command: Sequence[str]) -> str:
    """Standard output of a command; where it fails, the error shows what it said."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        # Maven resets the colours even where it uses none.
        said = re.sub(r"\x1b\[\d*m", "", done.stdout + done.stderr).strip().splitlines()
        failure = f"{Path(command[0]).name} ended with {done.returncode} and said:"
        raise CannotAskError("\n".join([failure, *said[:SHOWN_LINES]]))
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
