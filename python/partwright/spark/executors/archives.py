"""Archives that Spark sends to executors: the installed wheel, and modules of the current folder, such as a user's own.

Each is named by its contents, because Spark takes a second file of the same name for the first.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import distribution, version
from pathlib import Path
from types import ModuleType

from pyspark.sql import SparkSession

from partwright._check import Json, first_line
from partwright.errors import PartwrightError
from partwright.folders import cache_folder

_PACKAGE = "partwright"
# What its modules import besides pyarrow and PySpark, all in pure Python: a worker need not have these either.
_WITH = ("filelock", "platformdirs")
_TAG = re.compile(r"^Tag: cp3(\d+)-\w+-(manylinux|linux|macosx|win)(?:_(\d+)_(\d+))?_(\w+)$", re.MULTILINE)
_SYSTEMS = {"manylinux": "linux", "linux": "linux", "macosx": "darwin", "win": "win32"}
# The oldest time that an archive can hold, so that the same files make the same archive whenever it is made.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def misfit(facts: Json) -> str | None:
    """Why this wheel cannot run elsewhere, as far as its tag shows; None if it can.

    Args:
        facts: The other place's `python`, `system`, `machine` and `glibc`, as `read_facts` reports them.
    """
    tag = _TAG.search(distribution(_PACKAGE).read_text("WHEEL") or "")
    if tag is None:
        return None
    minor, kind, major, lesser, machine = tag.groups()
    if int(facts["python"].split(".")[1]) < int(minor):
        return f"it needs Python 3.{minor} or later, and {facts['python']} is there"
    theirs = f"{facts['system']} {facts['machine'].lower()}"
    machines = ("x86_64", "arm64") if machine == "universal2" else (machine,)
    if theirs not in {f"{_SYSTEMS[kind]} {each}" for each in machines}:
        return f"it is for {_SYSTEMS[kind]} {machine}, and {theirs} is there"
    if kind != "manylinux":
        return None
    glibc = facts["glibc"] or "no glibc"
    fits = facts["glibc"] and _numbers(glibc)[:2] >= (int(major), int(lesser))
    return None if fits else f"it needs glibc {major}.{lesser} or later, and {glibc} is there"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def packed() -> Path:
    """The installed package as an archive in the cache folder, made once, with only the files that pip installed.

    Raises:
        PartwrightError: It was not installed from a wheel; the archive cannot be written.
    """
    files = {name: file for package in (_PACKAGE, *_WITH) for name, file in _installed(package)}
    if not any(name.startswith(f"{_PACKAGE}/_core.") for name in files):
        raise PartwrightError(
            "partwright is not installed from a wheel here, so it cannot be sent: install its wheel"
        )
    folder = cache_folder()
    try:
        return _archive(files, folder, f"{_PACKAGE}-{version(_PACKAGE)}")
    except OSError as error:
        raise PartwrightError(
            f"an archive in {str(folder)!r} cannot be written ({error.strerror}): name another folder in "
            "PARTWRIGHT_CACHE"
        ) from error


def _installed(package: str) -> list[tuple[str, Path]]:
    """A package's files by name, without Python's bytecode and without commands, which are outside the package."""
    files = sorted((str(each), Path(str(each.locate()))) for each in distribution(package).files or ())
    return [
        (name, file)
        for name, file in files
        if not name.startswith("..") and "__pycache__" not in name and file.is_file()
    ]


def send_own_code(spark: SparkSession, folder: Path) -> list[str]:
    """Send every module that was imported from a folder to all executors, including later ones.

    Args:
        spark: A classic session.
        folder: The folder that was put on Python's path.

    Returns:
        The names of the modules and packages that were sent; empty if everything is installed.

    Raises:
        PartwrightError: One of them is compiled, or Spark does not take the archive.
    """
    from partwright.spark import classic  # noqa: PLC0415 - pyspark-client has nothing of what it imports

    files = files_of(sys.modules.values(), folder)
    for name in files:
        if name.endswith(tuple(EXTENSION_SUFFIXES)):
            raise PartwrightError(
                f"{name} is compiled, and Python imports it from no archive: install it where Spark's workers run"
            )
    if not files:
        return []
    # Spark's Java serves the archive to executors as long as Java runs.
    place = Path(tempfile.mkdtemp(prefix="partwright-code-"))
    classic.removed_with_java(spark, place)
    try:
        spark.sparkContext.addPyFile(str(_archive(files, place, "partwright-code")))
    except Exception as error:  # py4j's own, too
        raise PartwrightError(
            f"Spark does not take the modules of {str(folder)!r} ({first_line(error)}): install them where its workers "
            "run"
        ) from error
    return sorted({name.partition("/")[0].removesuffix(".py") for name in files})


def files_of(modules: Iterable[ModuleType], folder: Path) -> dict[str, Path]:
    """The files of modules directly in a folder, by their names there; a package is sent whole.

    Modules deeper in it, for example in a virtual environment, are installed ones that Python found by another path.

    Args:
        modules: All modules that were imported.
        folder: The folder.
    """
    folder = folder.resolve()
    files: dict[str, Path] = {}
    for module in list(modules):
        spec = getattr(module, "__spec__", None)
        if spec is None or "." in spec.name:
            continue
        for place in spec.submodule_search_locations or ():
            package = Path(place).resolve()
            if package == folder / spec.name:
                files |= {
                    str(file.relative_to(folder).as_posix()): file
                    for file in sorted(package.rglob("*"))
                    if file.is_file() and "__pycache__" not in file.parts
                }
        if spec.has_location and spec.origin and Path(spec.origin).resolve().parent == folder:
            files[Path(spec.origin).name] = Path(spec.origin)
    return files


def _archive(files: Mapping[str, Path], folder: Path, name: str) -> Path:
    contents = {each: file.read_bytes() for each, file in sorted(files.items())}
    digest = hashlib.sha256()
    for each, content in contents.items():
        digest.update(f"{each}\0{len(content)}\0".encode() + content)
    archive = folder / f"{name}-{digest.hexdigest()[:16]}.zip"
    if not archive.exists():
        folder.mkdir(parents=True, exist_ok=True)
        # A name for this process only: two processes would overwrite each other's file.
        part = archive.with_suffix(f".{os.getpid()}.part")
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as written:
            for each, content in contents.items():
                written.writestr(zipfile.ZipInfo(each, _EPOCH), content, zipfile.ZIP_DEFLATED)
        part.replace(archive)
    return archive
