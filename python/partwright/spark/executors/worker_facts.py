"""What a Spark worker sees of its Python, packages and machine; sent by value, because it may lack our package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.spark.executors.sealed import finder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["facts_reader"]


def facts_reader(keys: Sequence[bytes], names: Sequence[str], folder: str) -> Callable[[int], str]:
    """A function that is sent by value and returns what it sees as JSON.

    Args:
        keys: Keys for the core there to hash, as a proof that it works.
        names: The packages whose versions are reported.
        folder: Where `ship` puts the package.
    """
    # Everything that it calls is in its closure, or imported by the function itself.
    find, texts, lanes = finder(), [key.hex() for key in keys], _lanes()

    def look(row: int) -> str:
        import contextlib
        import json
        import os
        import platform
        import socket
        import sys
        from importlib import metadata

        from pyspark import TaskContext

        del row
        packages: dict[str, str | None] = dict.fromkeys(names)
        for name in names:
            with contextlib.suppress(metadata.PackageNotFoundError):
                packages[name] = metadata.version(name)
        version, broken = find(folder)
        hashes = None
        if version is not None and broken is None and packages.get("pyarrow"):
            try:
                from partwright.keys.hashing import murmur2

                hashes = murmur2([bytes.fromhex(text) for text in texts]).to_pylist()
            except Exception as error:  # noqa: BLE001 - whatever an old or a broken one raises
                broken = repr(error)
        context = TaskContext.get()
        libc, glibc = platform.libc_ver()
        found = {
            "task": None if context is None else context.taskAttemptId(),
            "host": socket.gethostname(),
            "process": os.getppid(),
            "python": platform.python_version(),
            "path": sys.executable,
            "system": sys.platform,
            "machine": platform.machine(),
            "glibc": glibc if libc == "glibc" else None,
            "lanes": lanes(),
            "partwright": version,
            "broken": broken,
            "hashes": hashes,
            "packages": packages,
        }
        return json.dumps(found)

    return look


def _lanes() -> Callable[[], int]:
    """Another function that is sent by value."""

    def lanes() -> int:
        """How many keys the core would hash at once, by the processor check of rust/core/src/hashing/lanes.

        The core itself may not be here yet.
        """
        from pathlib import Path

        try:
            lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        except OSError:
            return 1
        flags = next((set(line.split()) for line in lines if line.startswith("flags")), set())
        if {"avx512f", "avx512bw", "avx512vbmi"} <= flags:
            return 16
        return 8 if "avx2" in flags else 1

    return lanes
