"""The only imports from a lower layer to a higher one, made when a function here is called.

Everywhere else imports go one way (tests/architecture). These go the other way because users start from the lower
object: they read a cluster from Kafka, check a Spark table, or show an answer as a page in a notebook.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    import pyarrow as pa

__all__ = [
    "kafka_metadata",
    "notebook",
    "page",
    "pandas_frame",
    "polars_expression",
    "polars_frame",
    "replica_placement",
    "save",
    "series_like",
    "spark",
]

_WITH_SERIES = ("pandas", "polars")


def _behind(door: str) -> ModuleType:
    return import_module(f"{__package__}.{door}")


def kafka_metadata() -> ModuleType:
    """`partwright.kafka.metadata`, by which `Cluster.from_kafka` reads a live cluster."""
    return _behind("kafka.metadata")


def polars_expression(
    keys: object, function: Callable[[Any], Any], returns: pa.DataType, name: str | None
) -> Any:
    """The polars expression of a function of columns; see `partwright.polars.expression`."""
    return _behind("polars").expression(keys, function, returns, name)


def replica_placement() -> ModuleType:
    """`partwright.cluster.placement`, which makes clusters, and by which `Cluster` places topics that are numbers."""
    return _behind("cluster.placement")


def series_like(values: object, column: Any, name: str | None) -> Any:
    """A column as the library of other values has it: a Series if they are one of pandas or polars, else as it is.

    Args:
        values: What the caller passed.
        column: The answer's Arrow column, as long.
        name: The Series' name; None for that of `values`.
    """
    for library in _WITH_SERIES:
        # Who has a Series has imported its library.
        series = getattr(sys.modules.get(library), "Series", None)
        if series is not None and isinstance(values, series):
            return _behind(library).series_like(values, column, name)
    return column


def pandas_frame(table: pa.Table) -> Any:
    """A table as a frame of pandas, whose numbers stay whole where one is null."""
    return _behind("pandas").frame(table)


def polars_frame(table: pa.Table) -> Any:
    """A table as a frame of polars."""
    return _behind("polars").frame(table)


def spark() -> ModuleType:
    """`partwright.spark`, by which a contract checks a Spark DataFrame.

    Raises:
        MissingExtraError: PySpark is missing or too old.
    """
    return _behind("spark")


def notebook(answer: object) -> str:
    """An answer's HTML for a notebook, made by `partwright.report.notebook` and used by `_repr_html_`."""
    shown: str = _behind("report").notebook(answer)
    return shown


def page(answer: object) -> str:
    """An answer's page, made by `partwright.report.page`."""
    made: str = _behind("report").page(answer)
    return made


def save(answer: object, file: str | os.PathLike[str]) -> Path:
    """Writes an answer in the form that the file's suffix names, as `partwright.report.write` does: `Answer.save`."""
    path: Path = _behind("report").write(answer, file)
    return path
