"""Send modules of the current folder, such as a user's own partitioner, to executors; installed packages stay."""

from __future__ import annotations

import hashlib
import sys
import tempfile
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING

from partwright._check import first_line
from partwright.errors import PartwrightError
from partwright.spark import classic

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from pyspark.sql import SparkSession

__all__ = ["files_of", "send_own_code"]

# The oldest time that an archive can hold, so that the same files make the same archive.
_EPOCH = (1980, 1, 1, 0, 0, 0)


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
        spark.sparkContext.addPyFile(str(_archive(files, place)))
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
    found: dict[str, Path] = {}
    for module in list(modules):
        spec = getattr(module, "__spec__", None)
        if spec is None or "." in spec.name:
            continue
        for place in spec.submodule_search_locations or ():
            package = Path(place).resolve()
            if package == folder / spec.name:
                found |= {
                    str(file.relative_to(folder).as_posix()): file
                    for file in sorted(package.rglob("*"))
                    if file.is_file() and "__pycache__" not in file.parts
                }
        if spec.has_location and spec.origin and Path(spec.origin).resolve().parent == folder:
            found[Path(spec.origin).name] = Path(spec.origin)
    return found


def _archive(files: dict[str, Path], place: Path) -> Path:
    """An archive named by its contents, because Spark takes a second file of the same name for the first."""
    contents = {name: file.read_bytes() for name, file in sorted(files.items())}
    digest = hashlib.sha256(repr(list(contents.items())).encode()).hexdigest()[:16]
    archive = place / f"partwright-code-{digest}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in contents.items():
            zipped.writestr(zipfile.ZipInfo(name, _EPOCH), content)
    return archive
