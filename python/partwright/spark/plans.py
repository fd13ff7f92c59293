"""A table's plan in Spark's words."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["explained"]


def explained(df: DataFrame, mode: str) -> str:
    """What `df.explain(mode)` prints: PySpark has no other door to it, in Spark Connect as in classic Spark."""
    text = io.StringIO()
    with redirect_stdout(text):
        df.explain(mode)
    return text.getvalue()
