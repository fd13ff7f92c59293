"""Every way partwright refuses: one base, and a subclass where a caller would want to tell them apart.

The message of each is one sentence with the offending value and, where there is one, the row. What a program needs of
it is in the error's attributes: no sentence has to be read, and any may be worded anew.

>>> import partwright as pw
>>> try:
...     pw.partition_for_key([7, 2**31], 6, key_type="java:int")
... except pw.PartwrightError as error:
...     print(error.row, error.reason, sep=": ")
1: 2147483648 does not fit into a 32-bit int
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BrokerError", "ContractError", "KeyTypeError", "MissingExtraError", "PartwrightError"]


_Error = TypeVar("_Error", bound="PartwrightError")


class PartwrightError(ValueError):
    """Base of every error that partwright raises; bad values are raised as this class itself.

    Attributes:
        row: The row of a column, the record of a table or the event of a script that was refused, counted from 0.
        field: The argument, setting or field that was refused.
        path: The file that was refused.
        value: What was given and refused.
        reason: What the sentence says behind the row or the field that it begins with.

    Each is None where it is not known.

    Examples:
        >>> error = PartwrightError("row 2: no number", row=2, reason="no number")
        >>> print(error, error.row, error.field)
        row 2: no number 2 None
    """

    # Here, for ImportError has a `path` of its own, which nothing would set.
    row: int | None = None
    field: str | None = None
    path: str | None = None
    value: object = None
    reason: str | None = None

    def __init__(
        self,
        sentence: object = "",
        *,
        row: int | None = None,
        field: str | None = None,
        path: str | None = None,
        value: object = None,
        reason: str | None = None,
    ) -> None:
        super().__init__(sentence)
        self.row, self.field, self.path, self.value, self.reason = row, field, path, value, reason

    def at_row(self, row: int, called: str | None = None) -> Self:
        """The same refusal, of this row; where it was of one already, of this one instead.

        Args:
            row: The row.
            called: What the sentence calls it; `row 7` by default.

        Examples:
            >>> print(PartwrightError("no number").at_row(7))
            row 7: no number
        """
        where = f"row {row}" if called is None else called
        reason = str(self) if self.row is None or self.reason is None else self.reason
        return self._again(f"{where}: {reason}", row=row, reason=reason)

    def moved(self, to: Callable[[int], int]) -> Self:
        """The same refusal, its row counted elsewhere: that of a batch becomes one of its table. None is moved nowhere.

        Examples:
            >>> print(PartwrightError("row 2: no number", row=2, reason="no number").moved(lambda row: row + 5))
            row 7: no number
        """
        return self if self.row is None else self.at_row(to(self.row))

    def within(self, where: str, *, path: str | None = None) -> Self:
        """The same refusal, with words before its sentence that say where it was.

        Examples:
            >>> print(PartwrightError("row 2: no number", row=2).within("a.csv", path="a.csv"))
            a.csv: row 2: no number
        """
        return self._again(f"{where}: {self}", path=self.path if path is None else path)

    def knowing(self, **known: object) -> Self:
        """The same refusal, which knows more; its sentence is the same."""
        return self._again(str(self), **known)

    def _again(self, sentence: str, **known: object) -> Self:
        anew = _anew(type(self), (sentence, *self.args[1:]))
        anew.__dict__.update(vars(self), **known)
        return anew

    def __reduce__(self) -> tuple[object, ...]:
        # By default a subclass would be made anew of its sentence alone.
        return _anew, (type(self), self.args), {**vars(self), "value": _picklable(self.value)}


class KeyTypeError(PartwrightError, TypeError):
    """A key's type has no key bytes, or not under the key type that was named."""


class MissingExtraError(PartwrightError, ImportError):
    """What the bare package does not bring is missing or too old; the sentence names what to install."""


class BrokerError(PartwrightError):
    """A Kafka broker did not start, did not answer, or refused."""


class ContractError(PartwrightError, AssertionError):
    """Records do not keep a contract on skew; an `AssertionError` too, so that a test that raises it has failed.

    Attributes:
        found: What the check found: a `partwright.audit.check.Check`, or what `partwright.spark.check` gives.
    """

    def __init__(self, sentence: str, found: Any) -> None:
        super().__init__(sentence)
        self.found = found


def _anew(class_: type[_Error], args: tuple[object, ...]) -> _Error:
    return class_.__new__(class_, *args)


def _picklable(value: object) -> object:
    """A value as it comes to another process: what cannot be sent there is left out, and the error arrives."""
    try:
        pickle.dumps(value)
    except Exception:  # noqa: BLE001 - whatever the value's own code raises
        return None
    return value
