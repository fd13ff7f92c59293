"""One embedded Kafka for all tests that only talk to it, and kafka-python, whose import warns."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

from partwright.kafka import EmbeddedKafka

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def broker() -> Iterator[EmbeddedKafka]:
    """A broker that runs until the last test is done; each test uses topics of its own."""
    with EmbeddedKafka() as running:
        yield running
