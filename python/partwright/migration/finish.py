"""End a migration: the new topic gets its own settings, and the ledger is deleted; the old topic stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.kafka.topics import delete_topic
from partwright.migration.copy import not_begun, told
from partwright.migration.ledger import Ledger
from partwright.migration.plan import source_of
from partwright.migration.topics import alter, describe_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright.migration.answer import MigrationStep
    from partwright.migration.settings import Migration

__all__ = ["finish"]


def finish(migration: Migration, groups: Sequence[str] = ()) -> MigrationStep:
    """Give the new topic the old one's settings and delete the ledger: from now on there is no way back.

    The old topic is not touched.

    Args:
        migration: What is migrated.
        groups: Groups that must have been moved; by default all that were.

    Returns:
        The answer, from what the ledger said.

    Raises:
        PartwrightError: Nothing was copied or cut over yet, or one of the groups was not moved.
        BrokerError: No Kafka answers, it gives no right, or a topic is missing or was made again.
    """
    source, ids = source_of(migration)
    state = Ledger(migration.target.config, migration.ledger).last()
    if state is None or state.phase == "new":
        raise not_begun(migration)
    state.check(migration, ids)
    if state.phase != "moved":
        raise PartwrightError(
            f"nothing was cut over to {migration.target.topic!r} yet: partwright migrate cutover comes first",
            value=migration.target.topic,
        )
    for name in groups:
        if name not in state.groups:
            raise PartwrightError(
                f"the group {name!r} was not moved to {migration.target.topic!r}: cut it over first, or leave it out",
                value=name,
            )
    describe_target(migration, state.target[2])
    answer = told("finish", migration, state, [])
    answer.groups = {
        name: {int(target): offset for target, offset in each.offsets.items()}
        for name, each in state.groups.items()
    }
    answer.reread = {name: each.reread for name, each in state.groups.items()}
    answer.lag = max(0, sum(source.ends) - sum(state.at))
    alter(migration.target, state.restore)
    delete_topic(None, migration.ledger, kafka_config=migration.target.config)
    answer.more["configs"] = state.restore
    return answer
