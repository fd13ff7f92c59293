"""Runs commands, each in its own process, and tells the cost of each: shared by the tests of hostile files and options.

As a program: a line of JSON in has a command's arguments; a line out has its exit code, stderr, peak memory in MiB, and
processor and elapsed time in seconds. All are forked from one process that has imported everything, so a command's cost
is only its own.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

from partwright import cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# The modules that commands import on demand, and pyarrow with them.
_PACKAGES = ("assignors", "batching", "group", "producer", "cli")
_WRITABLE = 4 << 30
_SECONDS = 60


@contextmanager
def limited_commands(
    folder: Path | None = None, **environment: str
) -> Iterator[Callable[[list[str]], dict[str, Any]]]:
    """Runs a command with these arguments in a folder, and returns its cost."""
    words = [sys.executable, __file__]
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | environment,
    ) as running:
        asked, answers = running.stdin, running.stdout
        assert asked is not None
        assert answers is not None

        def run(words: list[str]) -> dict[str, Any]:
            asked.write(f"{json.dumps(words)}\n")
            asked.flush()
            cost: dict[str, Any] = json.loads(answers.readline())
            return cost

        yield run
        asked.close()


def _command(words: list[str], stderr: int) -> None:
    # Not of all addresses: what draws pictures reserves more of those than it ever uses.
    resource.setrlimit(resource.RLIMIT_DATA, (_WRITABLE, _WRITABLE))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    # One that waits for something that never comes ends, too.
    signal.alarm(5 * _SECONDS)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor, target in ((nowhere, 0), (nowhere, 1), (stderr, 2)):
        os.dup2(descriptor, target)
    # Python took the earlier streams for pipes, which these are not.
    sys.stdout, sys.stderr = (os.fdopen(descriptor, "w", encoding="utf-8") for descriptor in (1, 2))
    code = 70
    try:
        cli.main(words)
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.stderr.flush()
        os._exit(code)


def _run(words: list[str]) -> dict[str, object]:
    begun = time.monotonic()
    said, stderr = os.pipe()
    child = os.fork()
    if child == 0:
        _command(words, stderr)
    os.close(stderr)
    with os.fdopen(said, "rb") as told:
        text = told.read().decode(errors="replace")
    _, status, took = os.wait4(child, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "stderr": text,
        "mib": took.ru_maxrss >> 10,
        "seconds": took.ru_utime + took.ru_stime,
        "elapsed": time.monotonic() - begun,
    }


if __name__ == "__main__":
    for package in (import_module(f"partwright.{name}") for name in _PACKAGES):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    for asked in sys.stdin:
        sys.stdout.write(json.dumps(_run(json.loads(asked))) + "\n")
        sys.stdout.flush()
