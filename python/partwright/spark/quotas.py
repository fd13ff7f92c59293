"""The assignors' arithmetic of `partwright.quotas` as Spark columns and as SQL functions.

The columns are marked as nondeterministic and the SQL functions are not: `partwright.spark.columns` and
`partwright.spark.sql` say why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from pyspark.sql import Column
from pyspark.sql import functions as sf
from pyspark.sql.types import BooleanType, IntegerType

from partwright.assignors import quotas
from partwright.errors import PartwrightError
from partwright.spark.columns import as_column, shown_name
from partwright.spark.engines import arrow

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

Numbers: TypeAlias = str | int | Column
"""A column, by name or as a Column, or one number for all rows."""


def min_quota(partitions: Numbers, members: Numbers) -> Column:
    """The least that every member has of `partitions`; see `partwright.assignors.quotas.min_quota`.

    Args:
        partitions: The number of partitions: a column's name, a Column or a number.
        members: How many members share them, likewise.

    Returns:
        An int column, null where one of them is null.

    Raises:
        PartwrightError: At once: a number is out of range. As Spark's `PythonException`, when a job runs: a column's
            value is; `partwright.spark.first_sentence` finds the sentence in it.

    Examples:
        >>> groups.select(min_quota("partitions", "members"))
        DataFrame[min_quota(partitions, members): int]
    """
    return _column(quotas.min_quota, partitions, members)


def max_quota(partitions: Numbers, members: Numbers) -> Column:
    """The most that a member has; see `partwright.assignors.quotas.max_quota`.

    Args:
        partitions: See `min_quota`.
        members: See `min_quota`.

    Returns:
        As `min_quota` does.

    Raises:
        PartwrightError: As `min_quota` does.
    """
    return _column(quotas.max_quota, partitions, members)


def under_min_quota(owned: Numbers, partitions: Numbers, members: Numbers) -> Column:
    """Whether a member should get more; see `partwright.assignors.quotas.under_min_quota`.

    Args:
        owned: How many partitions the member has: a column's name, a Column or a number.
        partitions: See `min_quota`.
        members: See `min_quota`.

    Returns:
        A boolean column, null where one of them is null.

    Raises:
        PartwrightError: As `min_quota` does.
    """
    return _column(quotas.under_min_quota, owned, partitions, members)


def over_max_quota(owned: Numbers, partitions: Numbers, members: Numbers) -> Column:
    """Whether a member should lose some; see `partwright.assignors.quotas.over_max_quota`.

    Args:
        owned: See `under_min_quota`.
        partitions: See `min_quota`.
        members: See `min_quota`.

    Returns:
        As `under_min_quota` does.

    Raises:
        PartwrightError: As `min_quota` does.
    """
    return _column(quotas.over_max_quota, owned, partitions, members)


def range_start(index: Numbers, partitions: Numbers, members: Numbers) -> Column:
    """The first partition that `RangeAssignor` gives to a member; see `partwright.assignors.quotas.range_start`.

    Args:
        index: The member's place among the topic's readers, from 0: a column's name, a Column or a number.
        partitions: See `min_quota`.
        members: See `min_quota`.

    Returns:
        As `min_quota` does.

    Raises:
        PartwrightError: As `min_quota` does.
    """
    return _column(quotas.range_start, index, partitions, members)


def range_length(index: Numbers, partitions: Numbers, members: Numbers) -> Column:
    """How many partitions `RangeAssignor` gives to a member; see `partwright.assignors.quotas.range_length`.

    Args:
        index: See `range_start`.
        partitions: See `min_quota`.
        members: See `min_quota`.

    Returns:
        As `min_quota` does.

    Raises:
        PartwrightError: As `min_quota` does.
    """
    return _column(quotas.range_length, index, partitions, members)


_RETURNS: dict[Callable[..., Any], DataType] = {
    quotas.min_quota: IntegerType(),
    quotas.max_quota: IntegerType(),
    quotas.under_min_quota: BooleanType(),
    quotas.over_max_quota: BooleanType(),
    quotas.range_start: IntegerType(),
    quotas.range_length: IntegerType(),
}
SQL_FUNCTIONS = {f"kafka_{function.__name__}": (function, returns) for function, returns in _RETURNS.items()}
"""By name, `kafka_min_quota` and so on, the function over a batch and its type."""


def _column(function: Callable[..., Any], *numbers: Numbers) -> Column:
    # A wrong number is refused before a job; columns are replaced by valid numbers for this check.
    function(*(None if _is_col(each) else each for each in numbers))
    for each in cast("tuple[object, ...]", numbers):
        if not (each is None or _is_col(each) or hasattr(each, "__index__")):
            words = f"{function.__name__} takes columns, by name or as Columns, and whole numbers"
            raise PartwrightError(f"{words}, not {type(each).__name__}")
    cols = [as_column(cast("str | Column", each)) if _is_col(each) else sf.lit(each) for each in numbers]
    names = [shown_name(cast("str | Column", each)) if _is_col(each) else str(each) for each in numbers]
    return arrow.column(function.__name__, function, _RETURNS[function], names, cols)


def _is_col(each: object) -> bool:
    return isinstance(each, str) or arrow.is_column(each)
