"""Every way partwright refuses: one base, and a subclass where a caller would want to tell them apart.

The message of each is one sentence with the offending value and, where there is one, the row.
"""

from __future__ import annotations

from typing import Any

__all__ = ["BrokerError", "ContractError", "KeyTypeError", "MissingExtraError", "PartwrightError"]


class PartwrightError(ValueError):
    """Base of every error that partwright raises; bad values are raised as this class itself."""


class KeyTypeError(PartwrightError, TypeError):
    """A key's type has no key bytes, or not under the key type that was named."""


class MissingExtraError(PartwrightError, ImportError):
    """What the bare package does not bring is missing or too old; the sentence names what to install."""


class BrokerError(PartwrightError):
    """A Kafka broker did not start, did not answer, or refused."""


class ContractError(PartwrightError, AssertionError):
    """Records do not keep a contract on skew; an `AssertionError` too, so that a test that raises it has failed.

    Attributes:
        found: What the check found: a `partwright.placement.Placement`, or what `partwright.spark.check` gives.
    """

    def __init__(self, sentence: str, found: Any) -> None:  # noqa: ANN401 - of either, which know this module
        super().__init__(sentence)
        self.found = found

    def __reduce__(self) -> tuple[type[ContractError], tuple[str, Any]]:
        # By default it would be made anew of its sentence alone.
        return type(self), (str(self), self.found)
