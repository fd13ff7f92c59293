"""A contract on skew: the most that one partition may have, and how many partitions must have records.

>>> found = check_contract(["TT0124", "N14228", None], n=15, max_share="50%")
>>> found.used, found.largest_share
(2, 0.5)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ParamSpec, TypeVar, cast

import pyarrow as pa

from partwright import _upward
from partwright._check import Fields, Json, counted, shown
from partwright.audit.check import Check, CheckLimits
from partwright.errors import ContractError, PartwrightError
from partwright.keys.key_columns import key_arrays
from partwright.keys.key_text import short

P = ParamSpec("P")
R = TypeVar("R")

# How many of the heaviest keys a message names.
_NAMED = 3


def contract(
    key: str | None = None,
    n: int | None = None,
    client: str = "java",
    key_type: str | None = None,
    *,
    max_share: float | str | None = None,
    min_used: float | str | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: the records that the function returns keep a contract on skew, or `ContractError` is raised.

    The function's result is returned unchanged. If it is an iterator of batches, each is passed on as it comes, and the
    contract is checked at the end: a caller that takes all batches gets the error then, a caller that stops earlier
    gets none.

    Args:
        key: The column with the record's key; None if the function returns the keys.
        n: How many partitions the topic has, 1 to 2^31-1.
        client: The client profile, a name in `partwright.clients()`.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        max_share: The largest share of the rows that a partition may have: 0.05 or "5%". Rows that the client does not
            place by their key are not counted, and without rows it always holds.
        min_used: The smallest share of the partitions that must have rows: 0.9 or "90%".

    Returns:
        The decorator. Its function may return whatever `check_contract` takes.

    Raises:
        PartwrightError: At once: n, the client, the key type or a share is invalid, neither share is given, or the
            function is asynchronous. When the function is called: it returns something that `check_contract` does not
            take.

    Examples:
        >>> @contract(n=12, key="country", max_share="20%")
        ... def orders():
        ...     return [{"country": "US"}] * 900 + [{"country": f"country-{n}"} for n in range(100)]
        >>> orders()
        Traceback (most recent call last):
            ...
        partwright.errors.ContractError: orders: partition 8 has 90.5% of the rows, more than 20%, with the key US (900 rows): US alone has more than that whatever n is, so make the key finer, or raise max_share
    """  # noqa: E501 - the error's sentence is one line
    promised = _Contract(n, key, client, key_type, CheckLimits(max_share, min_used))

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = getattr(function, "__name__", type(function).__name__)
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise PartwrightError(f"{name} is asynchronous: give what it returns to check_contract instead")

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            records = function(*args, **kwargs)
            if isinstance(records, Iterator):
                return cast("R", promised.pass_on(records, name))
            promised.check(records, name)
            return records

        return checked

    return decorate


def check_contract(
    records: object,
    key: str | None = None,
    n: int | None = None,
    client: str = "java",
    key_type: str | None = None,
    *,
    max_share: float | str | None = None,
    min_used: float | str | None = None,
) -> Check:
    """Refuse records that break a contract on skew, and show how they would be spread if they keep it.

    Args:
        records: With `key`: an Arrow table, record batch or stream, a DataFrame of pandas, polars or Spark, a list of
            dicts, or an iterator of these, which is read to its end. Without it: a column of keys as
            `partwright.partition_for_key` takes it, or an iterator of such columns.
        key: The column with the record's key; None if the records are the keys.
        n: How many partitions the topic has, 1 to 2^31-1.
        client: The client profile, a name in `partwright.clients()`.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        max_share: The largest share of the rows that a partition may have; see `contract`.
        min_used: The smallest share of the partitions that must have rows; see `contract`.

    Returns:
        The result; for a Spark DataFrame what `partwright.spark.check` returns.

    Raises:
        ContractError: They break it; the result is its `found`.
        PartwrightError: n, the client, the key type or a share is invalid, neither share is given, the records have no
            such column, or a key has no key bytes.

    Examples:
        >>> check_contract(["TT0124", "N14228", "N24211"], n=2, min_used="100%").used
        2
        >>> check_contract([{"user": 1}, {"user": 2}], "user", 12, key_type="java:long", max_share=0.4)
        Traceback (most recent call last):
            ...
        partwright.errors.ContractError: partition 0 has 100.0% of the rows, more than 40%, with the keys 1 (1 row) and 2 (1 row): 1 alone has more than that whatever n is, so make the key finer, or raise max_share
    """  # noqa: E501 - the error's sentence is one line
    return _Contract(n, key, client, key_type, CheckLimits(max_share, min_used)).check(records)


@dataclass(frozen=True)
class _Contract:
    """A contract on records; see `contract`."""

    n: int | None
    key: str | None
    client: str
    key_type: str | None
    limits: CheckLimits

    def __post_init__(self) -> None:
        if not isinstance(self.key, str | None):
            raise PartwrightError(f"key is the name of a column, not {shown(self.key)}")
        if not self.new_check().has_contract:
            raise PartwrightError("a contract says something: give max_share, min_used or both")

    def new_check(self) -> Check:
        """A new check, without records."""
        if self.n is None:
            raise PartwrightError("give the number of partitions with n=", field="n")
        return Check(self.n, self.client, self.key_type, limits=self.limits)

    def check(self, records: object, name: str | None = None) -> Check:
        """Check records that can be read again, or that nobody else will read."""
        if hasattr(records, "mapInArrow"):
            answer = self._check_in_spark(records)
        else:
            answer = self.new_check()
            self._add(records, answer)
        self._judge(answer, name)
        return answer

    def pass_on(self, batches: Iterable[object], name: str) -> pa.RecordBatchReader | Iterator[object]:
        """Pass batches on one by one, and check the contract after the last."""
        if not hasattr(batches, "__arrow_c_stream__"):
            return self._passed(batches, name)
        reader = pa.RecordBatchReader.from_stream(batches)
        return pa.RecordBatchReader.from_batches(reader.schema, self._passed(reader, name))

    def _passed(self, batches: Iterable[object], name: str) -> Iterator[object]:
        answer = self.new_check()
        for batch in batches:
            self._add(batch, answer)
            yield batch
        self._judge(answer, name)

    def _add(self, records: object, answer: Check) -> None:
        for keys in key_arrays(records, self.key, self.key_type):
            answer.add(keys)

    def _check_in_spark(self, records: object) -> Check:
        if self.key is None:
            raise PartwrightError("a Spark DataFrame has columns: say which of them is the key, with key=")
        check: Check = _upward.module("spark").check(
            records, self.key, self.n, client=self.client, key_type=self.key_type, limits=self.limits
        )
        return check

    def _judge(self, answer: Check, name: str | None) -> None:
        if not answer.broken:
            return
        sentence = _sentence(answer.broken, answer.to_dict(), self.limits.shares()[0])
        raise ContractError(sentence if name is None else f"{name}: {sentence}", answer)


def _sentence(broken: list[str], check: Fields, max_share: float | None) -> str:
    """Say which part is broken, which keys are to blame, and what to do.

    Args:
        broken: A sentence for each term that does not hold.
        check: As in `partwright check --json`.
        max_share: The share that a partition may have at most.
    """
    words = " and ".join(broken)
    placed = sum(each["rows"] for each in check["partitions"])
    if not placed:
        return (
            f"{words}: none of {counted(check['rows'], 'row')} has a key that client {check['client']} places"
        )
    fullest = max(check["partitions"], key=lambda each: each["rows"])["partition"]
    is_too_full = max_share is not None and check["largest_share"] > max_share
    heavy = [each for each in check["heavy_keys"] or [] if not is_too_full or each["partition"] == fullest]
    if heavy:
        named = _named(heavy[:_NAMED], at_least=check["keys_estimated"])
        words += f", with the key{'s' * (len(heavy) > 1)} {named}"
    if is_too_full and max_share is not None:
        return f"{words}: {_less_full(check, heavy, placed, max_share)}"
    return (
        f"{words}: by chance, this many keys use {check['expected_used']:,.1f}, so take fewer partitions or a key with "
        "more values, or lower min_used"
    )


def _less_full(check: Fields, heavy: list[Json], placed: int, max_share: float) -> str:
    """Say what to do about a partition that is too full."""
    even = 1 / check["n"]
    if max_share < even:
        return f"among {counted(check['n'], 'partition')} one has {100 * even:.2g}% at least, so raise max_share, or n"
    if heavy and heavy[0]["rows"] > max_share * placed:
        heaviest = short(heavy[0]["key"])
        return f"{heaviest} alone has more than that whatever n is, so make the key finer, or raise max_share"
    return "take a finer key or another n, of which `partwright resize` compares some, or raise max_share"


def _named(heavy: list[Json], *, at_least: bool) -> str:
    more = " at least" if at_least else ""
    each = [f"{short(key['key'])} ({key['rows']:,} row{'s' * (key['rows'] > 1)}{more})" for key in heavy]
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"
