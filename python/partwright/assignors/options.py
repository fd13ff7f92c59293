"""Options for other clients' assignors: a seed for random choices, and franz-go's BalanceRacks."""

from __future__ import annotations

from typing import NamedTuple

from partwright._check import shown
from partwright.errors import PartwrightError

__all__ = ["Options"]

_SEEDS = 2**64


class Options(NamedTuple):
    """The options in the form that the core takes."""

    seed: int = 0
    balance_racks: bool = False
    as_read: bool = False
    """Whether members' owned partitions are already what the leader read, as in a group of several clients."""

    @classmethod
    def of(cls, assignor: object, seed: object, *, balance_racks: object) -> Options:
        """Check the options that a caller gives for an assignor.

        Raises:
            PartwrightError: A value is of another type, or the assignor has no such option.

        Examples:
            >>> Options.of("franz-go:sticky", 7, balance_racks=True)
            Options(seed=7, balance_racks=True, as_read=False)
        """
        found = cls.checked(seed, balance_racks=balance_racks)
        if found.balance_racks and not (isinstance(assignor, str) and assignor.startswith("franz-go:")):
            raise PartwrightError(f"balance_racks is an option of franz-go's assignors, not of {assignor}")
        return found

    @classmethod
    def checked(cls, seed: object, *, balance_racks: object) -> Options:
        """Check the same options before the assignor is known.

        Raises:
            PartwrightError: A value is of another type.
        """
        if type(seed) is not int or not 0 <= seed < _SEEDS:
            raise PartwrightError(f"seed is a whole number from 0 to {_SEEDS - 1}, not {shown(seed)}")
        if type(balance_racks) is not bool:
            raise PartwrightError(f"balance_racks is true or false, not {shown(balance_racks)}")
        return cls(seed, balance_racks)
