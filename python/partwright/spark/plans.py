"""A table's plan in Spark's words."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["explained"]


def explained(df: DataFrame, mode: str) -> str:
    """The text that `df.explain(mode)` prints; PySpark offers no other way to get it, classic or Connect."""
    text = io.StringIO()
    with redirect_stdout(text):
        df.explain(mode)
    return text.getvalue()
