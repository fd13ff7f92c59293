"""The only imports from a lower layer to a higher one, made when a function here is called.

Everywhere else imports go one way (tests/architecture). These go the other way because users start from the lower
object: they read a cluster from Kafka, check a Spark table, or show an answer as a page in a notebook.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_ABOVE = {
    "cluster.pasted_cluster": "makes clusters from what tools print",
    "cluster.placement": "makes clusters, and places topics of `Cluster` that are only numbers",
    "kafka.metadata": "reads a live cluster",
    "pandas": "has a table as a frame",
    "polars": "has a table as a frame, and a function of columns as an expression",
    "report": "makes an answer's page, its part of a notebook, and its files",
    "spark": "checks a DataFrame for a contract; PySpark may be missing or too old",
}


def module(name: str) -> ModuleType:
    """A higher module by its name in `partwright`, one of those that are listed here with the reason.

    Raises:
        MissingExtraError: It needs a package that is missing.
    """
    if name not in _ABOVE:
        raise LookupError(name)
    return import_module(f"{__package__}.{name}")


def series_like(values: object, column: Any, name: str | None) -> Any:
    """A column as the library of other values has it: a Series if they are one of pandas or polars, else as it is.

    Args:
        values: What the caller passed.
        column: The answer's Arrow column, as long.
        name: The Series' name; None for that of `values`.
    """
    for library in ("pandas", "polars"):
        # Who has a Series has imported its library.
        series = getattr(sys.modules.get(library), "Series", None)
        if series is not None and isinstance(values, series):
            return module(library).series_like(values, column, name)
    return column
