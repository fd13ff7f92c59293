"""Signals that end a process, as Ctrl-C does: through every `finally`, with the exit code that a shell gives."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object]

__all__ = ["ENDING", "Ended", "handled", "raised"]

# Ctrl-C, `kill` and service managers, a terminal that was closed; Windows has no SIGHUP.
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(KeyboardInterrupt):
    """A signal that ends this process was sent to it.

    Attributes:
        number: The signal's number.
    """

    def __init__(self, number: int, said: str = "") -> None:
        self.number = number
        name = signal.Signals(number).name
        super().__init__(said or ("interrupted" if number == signal.SIGINT else f"ended by {name}"))

    @property
    def exit_code(self) -> int:
        """What a shell gives for a process that the signal ended."""
        return 128 + self.number


@contextmanager
def raised() -> Iterator[None]:
    """While the block lasts, a signal that would end the process at once raises `Ended`, as Ctrl-C raises anyway.

    The first one alone: a terminal that is closed sends SIGHUP, and so may its shell. After it all of them are ignored
    until the process ends, for the next could come while its last words are said.
    """

    def raise_it(number: int, frame: FrameType | None) -> None:
        del frame
        for each in ours:
            signal.signal(each, signal.SIG_IGN)
        raise Ended(number)

    # One that is ignored stays ignored, which is what nohup asks for; and only the main thread gets signals.
    ours = [number for number in ENDING if _in_main_thread() and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, raise_it)
    try:
        yield
    finally:
        for number in ours:
            if signal.getsignal(number) is raise_it:
                signal.signal(number, signal.SIG_DFL)


@contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """While the block lasts, `handler` gets those of `ENDING` that somebody in this process handles already.

    Outside of the main thread, which gets them all, nothing is done.

    Args:
        handler: As `signal.signal` takes it.
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
