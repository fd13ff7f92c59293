"""Move consumer groups to the new topic once writers have stopped, and back while it is not finished; finish it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from partwright._check import counted
from partwright.errors import BrokerError, PartwrightError
from partwright.migration.answer import MigrationStep
from partwright.migration.copier import Copier
from partwright.migration.copy_step import (
    finished_before,
    most_bytes,
    not_begun,
    opened,
    records_behind,
    step_answer,
    translated,
)
from partwright.migration.groups import MigratedGroup, commit, groups_of, refuse_running
from partwright.migration.ledger import MigrationLedger, MovedGroup, State
from partwright.migration.settings import Migration, Side
from partwright.migration.topics import alter, describe_target, described_topic, source_of
from partwright.migration.translate import committed_or_begin
from partwright.migration.writer import MigrationWriter

# For this many seconds no record may arrive in the old topic.
_STILL_S = 2.0


def cutover(
    migration: Migration,
    groups: Sequence[str] = (),
    *,
    still: float = _STILL_S,
    copying: Callable[[int, int], None] = lambda _copied, _left: None,
) -> MigrationStep:
    """Copy what is left, and set the offsets of stopped groups in the new topic.

    The old topic and the groups' offsets there stay as they are: see `back`.

    Args:
        migration: What is migrated.
        groups: The groups that move; by default every one that has committed offsets of the old topic.
        still: For how many seconds nothing may be written to the old topic.
        copying: Called after each transaction with how many records are copied, and how many offsets are left.

    Returns:
        The answer: the offsets that were set, and what each group re-reads.

    Raises:
        PartwrightError: Nothing was copied yet, or with other settings.
        BrokerError: A group runs, records still arrive in the old topic, no Kafka answers, or it refuses.
    """
    if done := finished_before("cutover", migration):
        return done
    names = [group.name for group in groups_of(migration.source, groups)]
    # Once, if both topics are on the same Kafka.
    sides = (migration.target, migration.source)
    for config in {side.config.servers: side.config for side in sides}.values():
        refuse_running(config, names)
    # Now that no group runs, none reads on.
    moving = groups_of(migration.source, groups)
    with opened(migration, groups, lambda _records, _done: None, must_exist=True) as (writer, now):
        ends = _still(migration.source, still)
        if now.phase == "moved" and ends != now.at:
            raise BrokerError(
                f"{counted(sum(ends) - sum(now.at), 'offset')} came to {migration.source.topic!r} since groups "
                f"were moved, and "
                "nothing is copied any more: stop its writers; if those records matter, go back with cutover --back",
                value=migration.source.topic,
            )
        is_copied = now.phase == "moved"
        state = now if is_copied else _rest_copied(migration, now, ends, moving, writer, copying)
        staying = [group for group in moving if group.name not in state.groups]
        where = translated(migration, state, staying)
        for group in staying:
            at, reread, _ = where[group.name]
            commit(migration.target.config, group.name, migration.target.topic, at)
            committed = committed_or_begin(group.committed, state.begin)
            moved = MovedGroup(committed, {str(target): offset for target, offset in at.items()}, reread)
            state = writer.note(state.moved(group.name, moved))
        if not moving:
            state = writer.note(replace(state, phase="moved"))
    more = {"order": migration.order, "moved_now": [group.name for group in staying]}
    # Groups that were moved earlier have read on since.
    known = state.moved_groups([group.name for group in moving])
    return step_answer("cutover", migration, state, staying, more, **known)


def _still(source: Side, seconds: float) -> list[int]:
    """The old topic's ends, after some seconds without a new record.

    Raises:
        BrokerError: Records arrived, or a transaction is open.
    """
    before = described_topic(source)
    time.sleep(seconds)
    after = described_topic(source)
    if before.tails != after.tails:
        came = sum(after.tails) - sum(before.tails)
        raise BrokerError(
            f"records still come to {source.topic!r} ({counted(came, 'offset')} in {seconds:g} s): stop its writers "
            "first, then cut over again",
            value=came,
        )
    open_ = [p for p, (end, tail) in enumerate(zip(after.ends, after.tails, strict=True)) if end != tail]
    if open_:
        raise BrokerError(
            f"a transaction is open in partition {open_[0]} of {source.topic!r}: let its writer end it, or wait until "
            "the broker does (transaction.timeout.ms, a minute by default), then cut over again",
            value=open_[0],
        )
    return after.ends


def _rest_copied(
    migration: Migration,
    state: State,
    ends: Sequence[int],
    moving: Sequence[MigratedGroup],
    writer: MigrationWriter,
    copying: Callable[[int, int], None],
) -> State:
    whole = sum(ends)

    def progress(copied: int) -> None:
        copying(copied, whole - sum(copier.state.at))

    with closing(Copier(migration, state, writer, progress)) as copier:
        copier.to(ends, moving)
        copier.settle()
    return copier.state


def back(migration: Migration) -> MigrationStep:
    """Go back to the old topic, as long as the migration is not finished; copying may continue later.

    Nothing has to be reset: the old topic and its groups' offsets are as they were at the cut-over. Records that were
    written to the new topic since are not in the old one; they are counted.

    Args:
        migration: What is migrated.

    Returns:
        The answer; `written_since` is how many records others wrote to the new topic since the cut-over.

    Raises:
        PartwrightError: No group was moved.
        BrokerError: A moved group runs, or no Kafka answers.
    """
    if finished_before("back", migration):
        raise PartwrightError(
            f"the migration to {migration.target.topic!r} is finished: there is no way back any more",
            value=migration.target.topic,
        )
    with opened(migration, (), lambda _records, _done: None, must_exist=True) as (writer, moved):
        if moved.phase != "moved":
            raise PartwrightError(
                f"nothing was cut over to {migration.target.topic!r} yet: there is no way back to go",
                value=migration.target.topic,
            )
        refuse_running(migration.target.config, sorted(moved.groups))
        state = writer.note(replace(moved, phase="copying", groups={}))
        ends = described_topic(migration.target).ends
        written = records_behind(migration, state.ends, ends, committed=True)
    return step_answer("back", migration, state, [], {"written_since": written})


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
    more = {"configs": state.restore, "staying": staying}
    lag = max(0, sum(source.ends) - sum(state.at))
    return step_answer("finish", migration, state, [], more, lag=lag, **state.moved_groups())
