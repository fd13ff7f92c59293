"""A migration at the session's broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from migrating import Migrate

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.kafka import EmbeddedKafka


@pytest.fixture
def migrate(
    told: Callable[..., tuple[int, str, str]], broker: EmbeddedKafka
) -> Callable[[str, str, int], Migrate]:
    """Makes a `Migrate` of a topic of the broker."""

    def of(source: str, target: str, n: int) -> Migrate:
        return Migrate(told, f"kafka://{broker.bootstrap_servers}/{source}", target, n)

    return of
