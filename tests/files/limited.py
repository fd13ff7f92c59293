"""Runs commands, each in its own process, and prints the cost of each: a program for `test_hostile_files.py`.

A line of JSON in has a command's arguments; a line out has its exit code, stderr, peak memory in MiB and processor
time in seconds. All are forked from one process that has imported everything, so a command's cost is only its own.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from importlib import import_module
from pkgutil import walk_packages

from partwright import cli

# The modules that commands import on demand, and pyarrow with them.
_PACKAGES = ("assignors", "batching", "group", "producer", "cli")
_ADDRESSES = 4 << 30
_SECONDS = 60


def _command(words: list[str], stderr: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
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
    }


if __name__ == "__main__":
    for package in (import_module(f"partwright.{name}") for name in _PACKAGES):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    for asked in sys.stdin:
        sys.stdout.write(json.dumps(_run(json.loads(asked))) + "\n")
        sys.stdout.flush()
