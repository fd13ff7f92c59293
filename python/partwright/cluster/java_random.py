"""`java.util.Random`, as far as placements draw from it: numbers below a bound, of a seed or of a recorded list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwright.cluster.parts import listed, shown
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from typing import Protocol

    class Draws(Protocol):
        """Where numbers come from."""

        drawn: list[int]

        def below(self, bound: int) -> int:
            """The next number, from 0 to the bound less 1."""


__all__ = ["JavaRandom", "RecordedDraws", "draws_of"]

_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1
_INT = 1 << 31


class JavaRandom:
    """Java's linear congruential generator of 48 bits, whose documentation fixes every number (`java.util.Random`).

    Examples:
        >>> random = JavaRandom(42)
        >>> [random.below(10) for _ in range(8)]
        [0, 3, 8, 4, 0, 5, 5, 8]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK
        self.drawn: list[int] = []

    def below(self, bound: int) -> int:
        """`nextInt(bound)`: a number from 0 to the bound less 1."""
        if bound & (bound - 1) == 0:
            found = (bound * self._bits()) >> 31
        else:
            while True:
                bits = self._bits()
                found = bits % bound
                # The last part of the range is shorter than the bound: Java draws again.
                if bits - found + bound - 1 < _INT:
                    break
        self.drawn.append(found)
        return found

    def _bits(self) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> 17


class RecordedDraws:
    """The numbers that somebody wrote down, one after the other."""

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self._numbers = numbers
        self.drawn: list[int] = []

    def below(self, bound: int) -> int:
        """The next number, if there is one and it is below the bound."""
        place = len(self.drawn)
        if place >= len(self._numbers):
            raise PartwrightError(
                f"draws ends after {place} of them, and this placement draws more: record them all"
            )
        found = self._numbers[place]
        if type(found) is not int or not 0 <= found < bound:
            raise PartwrightError(
                f"draws: the number at {place} is drawn from 0 to {bound - 1}, and cannot be {shown(found)}"
            )
        self.drawn.append(found)
        return found


def draws_of(seed: Any, draws: Any) -> Draws:  # noqa: ANN401 - what is checked here
    """What a caller says of random numbers: a seed of `java.util.Random`, or the numbers themselves.

    Raises:
        PartwrightError: Both are given, the seed is no long of Java's, or the numbers are no list.

    Examples:
        >>> draws_of(None, [2, 0]).below(3)
        2
    """
    if draws is not None:
        if seed is not None:
            raise PartwrightError("a seed stands for all draws: give seed or draws, not both")
        return RecordedDraws(listed(draws, "draws"))
    seed = 0 if seed is None else seed
    if type(seed) is not int or not -(2**63) <= seed < 2**63:
        raise PartwrightError(f"seed is a whole number of Java's long, not {shown(seed)}")
    return JavaRandom(seed)
