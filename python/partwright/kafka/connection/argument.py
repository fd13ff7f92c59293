"""Reads the argument `kafka_config=` of a function, and shows its notes."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, TypeAlias

from partwright.kafka.connection.config import KafkaConfig

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

__all__ = ["KafkaConfigLike", "configured"]

KafkaConfigLike: TypeAlias = "KafkaConfig | Mapping[str, object] | str | os.PathLike[str] | None"
_PACKAGE = __name__.partition(".")[0]


def configured(given: KafkaConfigLike, servers: str | None = None) -> KafkaConfig:
    """The result of `KafkaConfig.read`; each of its notes becomes a warning.

    A caller with a `KafkaConfig` already has its notes, so they are not repeated.

    Args:
        given: The client configuration.
        servers: They override `bootstrap.servers`.

    Raises:
        PartwrightError: It cannot be read.
        MissingExtraError: A store or a key needs `cryptography`, which is not installed.
    """
    config = KafkaConfig.read(given, servers=servers)
    if not isinstance(given, KafkaConfig):
        level = _callers_level()
        for note in config.notes:
            warnings.warn(note, UserWarning, stacklevel=level)
    return config


def _callers_level() -> int:
    """The `stacklevel` for `warnings.warn` in `configured` that points at the first caller outside partwright."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    return level
