"""Signals that end a process as Ctrl-C does: through every `finally`, with the exit code that a shell gives."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Handler = Callable[[int, FrameType | None], object]

# Ctrl-C, `kill` and service managers, a terminal that was closed; Windows has no SIGHUP.
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(KeyboardInterrupt):
    """This process received a signal that ends it.

    Attributes:
        number: The signal's number.
    """

    def __init__(self, number: int, message: str = "") -> None:
        self.number = number
        name = signal.Signals(number).name
        super().__init__(message or ("interrupted" if number == signal.SIGINT else f"ended by {name}"))

    @property
    def exit_code(self) -> int:
        """A shell's exit code for a process that the signal ended."""
        return 128 + self.number


@contextmanager
def raised() -> Iterator[None]:
    """While the block lasts, a signal that would end the process at once raises `Ended`, as Ctrl-C raises anyway.

    Only the first one counts: a closed terminal sends SIGHUP, and so may its shell. Later ones are ignored
    until the process ends, because the next could come while its last words are printed.
    """

    def raise_it(number: int, frame: FrameType | None) -> None:
        del frame
        for each in ours:
            signal.signal(each, signal.SIG_IGN)
        raise Ended(number)

    # An ignored signal stays ignored, as nohup wants; and only the main thread gets signals.
    ours = [number for number in ENDING if _in_main_thread() and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, raise_it)
    try:
        with interrupts():
            yield
    finally:
        for number in ours:
            if signal.getsignal(number) is raise_it:
                signal.signal(number, signal.SIG_DFL)


@contextmanager
def interrupts() -> Iterator[None]:
    """Raise an interrupt as it came, even where a function of confluent-kafka made `SystemError` of it.

    Its functions in C release the interpreter's lock and call back (seen in `describe_cluster` of 2.16.1). A signal's
    exception that comes there is only the cause of "returned a result with an exception set".

    Examples:
        >>> try:
        ...     with interrupts():
        ...         raise SystemError("describe_cluster returned a result with an exception set") from Ended(15)
        ... except Ended as error:
        ...     print(error)
        ended by SIGTERM
    """
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        raise


@contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """During the block, `handler` gets the signals of `ENDING` that this process already handles.

    Outside the main thread, which gets all signals, this does nothing.

    Args:
        handler: As for `signal.signal`.
    """
    if not _in_main_thread():
        yield
        return
    of_now = {number: signal.getsignal(number) for number in ENDING}
    before = {number: theirs for number, theirs in of_now.items() if callable(theirs)}
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, theirs in before.items():
            signal.signal(number, theirs)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
