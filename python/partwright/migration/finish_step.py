"""End a migration: the new topic gets its own settings, and the ledger remembers the end; the old topic stays."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from partwright.errors import PartwrightError
from partwright.migration.copy_step import finished_before, most_bytes, not_begun, step_answer
from partwright.migration.groups import groups_of
from partwright.migration.ledger import MigrationLedger
from partwright.migration.same_topics import describe_target
from partwright.migration.topics import alter, source_of
from partwright.migration.writer import MigrationWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Json
    from partwright.migration.answer import MigrationStep
    from partwright.migration.settings import Migration

__all__ = ["finish"]


def finish(migration: Migration, groups: Sequence[str] = ()) -> MigrationStep:
    """Give the new topic the old one's settings: from now on there is no way back.

    The old topic is not touched. Only the last record of the ledger stays, so that each step knows that all is done.

    Args:
        migration: What is migrated.
        groups: Groups that must have been moved; by default all that were.

    Returns:
        The answer, from what the ledger said.

    Raises:
        PartwrightError: Nothing was copied or cut over yet, or one of the groups was not moved.
        BrokerError: No Kafka answers, it gives no right, or a topic is missing or was made again.
    """
    ledger = MigrationLedger(migration)
    if done := finished_before("finish", migration):
        ledger.keep_last()
        return done
    source, ids = source_of(migration)
    state = ledger.last()
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
    describe_target(migration, state)
    staying = [each.name for each in groups_of(migration.source, ()) if each.name not in state.groups]
    state = replace(state, phase="finished")
    alter(migration.target, state.restore)
    with closing(MigrationWriter(migration, most_bytes(migration))) as writer:
        writer.note(state)
    ledger.keep_last()
    known: Json = {"groups": state.offsets(), "reread": state.rereads()}
    known["lag"] = max(0, sum(source.ends) - sum(state.at))
    return step_answer(
        "finish", migration, state, [], {"configs": state.restore, "staying": staying}, **known
    )
