"""Every error that partwright raises: one base class, and a subclass where a caller may want to tell them apart.

Each message is one sentence with the offending value and, if there is one, the row. The attributes hold everything a
program needs: no sentence has to be parsed, and any sentence may be reworded.

>>> import partwright as pw
>>> try:
...     pw.partition_for_key([7, 2**31], 6, key_type="java:int")
... except pw.PartwrightError as error:
...     print(error.row, error.reason, sep=": ")
1: 2147483648 does not fit into a 32-bit int
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

from partwright._text import plain, plain_lines

__all__ = ["BrokerError", "ContractError", "KeyTypeError", "MissingExtraError", "PartwrightError"]

_Error = TypeVar("_Error", bound="PartwrightError")


class PartwrightError(Exception):
    """Base of every error that partwright raises; bad values are raised as this class itself, and are `ValueError`s.

    Attributes:
        row: The refused row of a column, record of a table or event of a script, counted from 0.
        field: The argument, setting or field that was refused.
        path: The file that was refused.
        value: The refused value.
        reason: The sentence without the row or the field that it begins with.

    Each is None if it is not known.

    Examples:
        >>> error = PartwrightError("row 2: no number", row=2, reason="no number")
        >>> print(error, error.row, error.field)
        row 2: no number 2 None
    """

    # Set here, because ImportError's own `path` would stay None.
    row: int | None = None
    field: str | None = None
    path: str | None = None
    value: object = None
    reason: str | None = None

    def __new__(cls, *args: object, **known: object) -> Self:
        """A bad value's error is also a ValueError; that of a broker, which has the same base, is not."""
        made: Self = super().__new__(_BadValueError if cls is PartwrightError else cls, *args, **known)  # type: ignore[assignment]
        return made

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

    def __str__(self) -> str:
        # Names in it are often those of a file or a topic, and a traceback prints it as well as the command.
        return plain(super().__str__())

    def at_row(self, row: int, called: str | None = None) -> Self:
        """The same refusal with this row; it replaces a row that is already set.

        Args:
            row: The row.
            called: How the sentence names it; `row 7` by default.

        Examples:
            >>> print(PartwrightError("no number").at_row(7))
            row 7: no number
        """
        where = f"row {row}" if called is None else called
        reason = str(self) if self.row is None or self.reason is None else self.reason
        return self._again(f"{where}: {reason}", row=row, reason=reason)

    def moved(self, to: Callable[[int], int]) -> Self:
        """The same refusal with its row counted from another start: a batch's row becomes its table's. None stays None.

        Examples:
            >>> print(PartwrightError("row 2: no number", row=2, reason="no number").moved(lambda row: row + 5))
            row 7: no number
        """
        return self if self.row is None else self.at_row(to(self.row))

    def within(self, where: str, *, path: str | None = None) -> Self:
        """The same refusal, with where it happened in front of its sentence.

        Examples:
            >>> print(PartwrightError("row 2: no number", row=2).within("a.csv", path="a.csv"))
            a.csv: row 2: no number
        """
        return self._again(f"{where}: {self}", path=self.path if path is None else path)

    def followed_by(self, more: str) -> Self:
        """The same refusal, with more behind its sentence.

        Examples:
            >>> print(PartwrightError("no such topic").followed_by("nothing was written"))
            no such topic; nothing was written
        """
        return self._again(f"{self}; {more}")

    def knowing(self, **known: object) -> Self:
        """The same refusal with more attributes set; its sentence does not change."""
        return self._again(str(self), **known)

    def _again(self, sentence: str, **known: object) -> Self:
        anew = _anew(type(self), (sentence, *self.args[1:]))
        anew.__dict__.update(vars(self), **known)
        return anew

    def __reduce__(self) -> tuple[object, ...]:
        # By default, pickle would rebuild a subclass from its sentence only.
        class_ = PartwrightError if type(self) is _BadValueError else type(self)
        return _anew, (class_, self.args), {**vars(self), "value": _picklable(self.value)}


class _BadValueError(PartwrightError, ValueError):
    """What `PartwrightError(...)` makes."""


# As people see it in a traceback.
_BadValueError.__name__ = _BadValueError.__qualname__ = PartwrightError.__name__


class KeyTypeError(_BadValueError, TypeError):
    """A key's type has no key bytes, or not under the key type that was named."""


class MissingExtraError(_BadValueError, ImportError):
    """An optional dependency is missing or too old; the sentence names what to install."""


class BrokerError(PartwrightError):
    """A Kafka broker did not start, did not answer, or refused. It is not a `ValueError`."""

    def __str__(self) -> str:
        # The last lines of a broker's log may be in it.
        return plain_lines(Exception.__str__(self))


class ContractError(_BadValueError, AssertionError):
    """Records break a contract on skew. This is also an `AssertionError`, so a test that raises it fails.

    Attributes:
        found: The result of the check: a `partwright.audit.check.Check`, or what `partwright.spark.check` returns.
    """

    def __init__(self, sentence: str, found: Any) -> None:
        super().__init__(sentence)
        self.found = found


def _anew(class_: type[_Error], args: tuple[object, ...]) -> _Error:
    return class_.__new__(class_, *args)


def _picklable(value: object) -> object:
    """A value on its way to another process: what cannot be sent is left out, and the error still arrives."""
    import pickle  # noqa: PLC0415 - errors rarely leave their process, and every command would wait for it

    try:
        pickle.dumps(value)
    except Exception:  # noqa: BLE001 - whatever the value's own code raises
        return None
    return value
