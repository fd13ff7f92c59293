"""Every way partwright refuses: one base, and a subclass where a caller would want to tell them apart.

The message of each is one sentence with the offending value and, where there is one, the row.
"""

from __future__ import annotations

__all__ = ["BrokerError", "KeyTypeError", "MissingExtraError", "PartwrightError"]


class PartwrightError(ValueError):
    """Base of every error that partwright raises; bad values are raised as this class itself."""


class KeyTypeError(PartwrightError, TypeError):
    """A key's type has no key bytes, or not under the key type that was named."""


class MissingExtraError(PartwrightError, ImportError):
    """What the bare package does not bring is missing or too old; the sentence names what to install."""


class BrokerError(PartwrightError):
    """A Kafka broker did not start, did not answer, or refused."""
