"""What the Parquet files of a folder hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, LocalFileSystem

if TYPE_CHECKING:
    from pathlib import Path


def held(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The content of each Parquet file, by its path in the folder, as pyarrow's own file system reads it."""
    files = LocalFileSystem()
    found = files.get_file_info(FileSelector(str(folder), recursive=True))
    paths = sorted(info.path for info in found if info.path.endswith(".parquet"))
    return {
        path.removeprefix(f"{folder}/"): pq.ParquetFile(files.open_input_file(path)).read().to_pylist()
        for path in paths
    }
