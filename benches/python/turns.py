"""Runs a program that takes turns: it gets a question, then answers each empty line with a turn's nanoseconds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

__all__ = ["Program", "build_java", "build_rust", "timed"]

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "reference"))

from builds import CannotAskError  # noqa: E402 - only now can it be found
from builds import build_java as _build_java  # noqa: E402


class Program:
    """A running program, until the `with` ends."""

    def __init__(self, command: Sequence[str]) -> None:
        # The programs are part of this project.
        self._running = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.__exit__(kind, error, trace)

    def ask(self, line: str) -> int:
        """The number with which it answers a line."""
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        self._running.stdin.write(f"{line}\n")
        self._running.stdin.flush()
        said = self._running.stdout.readline()
        if not said:
            raise SystemExit(f"{self._running.args!r} ended without an answer to {line[:80]!r}")
        return int(said)

    def turn(self) -> float:
        """The seconds of one more turn."""
        return self.ask("") / 1e9


def timed(work: Callable[[], object]) -> float:
    """The seconds of a turn of our own."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def build_java(heap: str) -> list[str]:
    """Compiles benches/java, and returns the command to which a program's name is added; exits if it cannot."""
    try:
        java, *rest = _build_java(ROOT / "target" / "bench-java", project=ROOT / "benches" / "java")
    except CannotAskError as missing:
        print(missing, file=sys.stderr)
        raise SystemExit(2) from None
    return [java, f"-Xms{heap}", f"-Xmx{heap}", *rest]


def build_rust(bench: str) -> list[str]:
    """Compiles a bench of the core as for a release, and returns its command."""
    cargo = [
        "cargo",
        "bench",
        "--locked",
        "--no-run",
        "--message-format=json",
        "--package",
        "partwright-core",
        "--features",
        "arrow",
    ]
    # cargo's messages to a reader still go to standard error.
    done = subprocess.run(  # noqa: S603
        [*cargo, "--bench", bench], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    built = [json.loads(line) for line in done.stdout.splitlines()]
    return [next(each["executable"] for each in built if each.get("target", {}).get("name") == bench)]
