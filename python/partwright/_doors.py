"""The only imports from a lower layer to a higher one, made when a function here is called.

Everywhere else imports go one way (tests/architecture). These go the other way because users start from the lower
object: they read a cluster from Kafka, check a Spark table, or show an answer as a page in a notebook.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from pathlib import Path
    from types import ModuleType

__all__ = ["kafka_metadata", "notebook", "polars_namespace", "save", "spark"]


def _behind(door: str) -> ModuleType:
    return import_module(f"{__package__}.{door}")


def kafka_metadata() -> ModuleType:
    """`partwright.kafka.metadata`, by which `Cluster.from_kafka` reads a live cluster."""
    return _behind("kafka.metadata")


def polars_namespace(expression: object) -> Any:
    """The namespace `kafka` of a polars expression, for functions that take an expression of keys and return one."""
    return _behind("polars").KafkaNamespace(expression)


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


def save(answer: object, file: str | os.PathLike[str]) -> Path:
    """Writes an answer in the form that the file's suffix names, as `partwright.report.write` does: `Answer.save`."""
    path: Path = _behind("report").write(answer, file)
    return path
