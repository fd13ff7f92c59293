"""The installed wheel: which machines it fits, and its files as an archive that imports elsewhere."""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from importlib.metadata import distribution, version
from pathlib import Path
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.folders import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partwright._check import Json

__all__ = ["misfit", "packed"]

_PACKAGE = "partwright"
# What its modules import besides pyarrow and PySpark, all in pure Python: a worker need not have these either.
_WITH = ("filelock", "platformdirs")
_TAG = re.compile(r"^Tag: cp3(\d+)-\w+-(manylinux|linux|macosx|win)(?:_(\d+)_(\d+))?_(\w+)$", re.MULTILINE)
_SYSTEMS = {"manylinux": "linux", "linux": "linux", "macosx": "darwin", "win": "win32"}
# The oldest time that an archive can hold, so that the same files make the same archive whenever it is made.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def misfit(found: Json) -> str | None:
    """Why this wheel cannot run elsewhere, as far as its tag shows; None if it can.

    Args:
        found: The other place's `python`, `system`, `machine` and `glibc`, as `looking` reports them.
    """
    tag = _TAG.search(distribution(_PACKAGE).read_text("WHEEL") or "")
    if tag is None:
        return None
    minor, kind, major, lesser, machine = tag.groups()
    if int(found["python"].split(".")[1]) < int(minor):
        return f"it needs Python 3.{minor} or later, and {found['python']} is there"
    theirs = f"{found['system']} {found['machine'].lower()}"
    machines = ("x86_64", "arm64") if machine == "universal2" else (machine,)
    if theirs not in {f"{_SYSTEMS[kind]} {each}" for each in machines}:
        return f"it is for {_SYSTEMS[kind]} {machine}, and {theirs} is there"
    if kind != "manylinux":
        return None
    glibc = found["glibc"] or "no glibc"
    fits = found["glibc"] and _numbers(glibc)[:2] >= (int(major), int(lesser))
    return None if fits else f"it needs glibc {major}.{lesser} or later, and {glibc} is there"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def packed() -> Path:
    """The installed package as an archive in the cache folder, made once, with only the files that pip installed.

    Raises:
        PartwrightError: It was not installed from a wheel; the archive cannot be written.
    """
    names = [each for package in (_PACKAGE, *_WITH) for each in _files(package)]
    if not any(name.startswith(f"{_PACKAGE}/_core.") for name, _ in names):
        raise PartwrightError(
            "partwright is not installed from a wheel here, so it cannot be sent: install its wheel"
        )
    contents = [(name, file.read_bytes()) for name, file in names]
    archive = cache_folder() / f"{_PACKAGE}-{version(_PACKAGE)}-{_digest(contents)}.zip"
    try:
        if not archive.exists():
            archive.parent.mkdir(parents=True, exist_ok=True)
            # A name for this process only: two processes would overwrite each other's file.
            part = archive.with_suffix(f".{os.getpid()}.part")
            with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as written:
                for name, content in contents:
                    written.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
            part.replace(archive)
    except OSError as error:
        raise PartwrightError(
            f"the archive {str(archive)!r} cannot be written ({error.strerror}): name another folder in "
            "PARTWRIGHT_CACHE"
        ) from error
    return archive


def _files(package: str) -> list[tuple[str, Path]]:
    """A package's files by name, without Python's bytecode and without commands, which are outside the package."""
    files = sorted((str(each), Path(str(each.locate()))) for each in distribution(package).files or ())
    return [
        (name, file)
        for name, file in files
        if not name.startswith("..") and "__pycache__" not in name and file.is_file()
    ]


def _digest(contents: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, content in contents:
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
