"""Copy a topic into the new one; each call continues where the last one stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from partwright._check import Json, counted, shown
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.errors import RetriableError
from partwright.kafka.marks import settled_ends
from partwright.kafka.reading import records
from partwright.kafka.topics import NewTopic, cluster_id, create_topic
from partwright.migration.answer import MigrationStep
from partwright.migration.copier import Copier
from partwright.migration.groups import MigratedGroup, groups_of
from partwright.migration.ledger import MigrationLedger, State
from partwright.migration.ledger import settings_of as asked_for
from partwright.migration.scan import refuse_scattered, scan_topic
from partwright.migration.settings import Migration, Side
from partwright.migration.topics import (
    DescribedTopic,
    alter,
    describe_target,
    described_topic,
    ends_of,
    is_there,
    make_ledger,
    make_target,
    meanwhile,
    patiently,
    refuse_foreign,
    refuse_other_target,
    settings_of,
    source_of,
)
from partwright.migration.translate import Translation, committed_or_begin
from partwright.migration.writer import MigrationWriter

_LAG = 1000
_MOST_BYTES = 1_000_000
_LIKE_THE_OLD = NewTopic()


def copy(
    migration: Migration,
    groups: Sequence[str] = (),
    *,
    rate: float | None = None,
    lag: int = _LAG,
    follow: bool = False,
    new_topic: NewTopic | None = None,
    scanning: Callable[[int, float | None], None] = lambda _records, _done: None,
    copying: Callable[[int, int], None] = lambda _copied, _left: None,
) -> MigrationStep:
    """Copy what is not copied yet, and then what was written meanwhile, until little of that is left.

    Args:
        migration: What is migrated.
        groups: The consumer groups that move; by default every one that has committed offsets of the old topic.
        rate: The most records per second; None for no limit.
        lag: It ends once at most this many offsets of the old topic are left to copy.
        follow: Whether it continues until it is interrupted.
        new_topic: The new topic's other properties; an existing topic must have them.
        scanning: Called while the old topic is scanned, with the number of records and its share of the whole.
        copying: Called after each transaction with how many records are copied, and how many offsets are left.

    Returns:
        The answer: the copies, and where each group would begin now.

    Raises:
        PartwrightError: Keys are in several partitions, another client wrote the topic, the copy began with other
            settings, a group was moved already, or the new topic is not as asked.
        BrokerError: No Kafka answers, it gives no right, or it refuses.
    """
    if rate is not None and not rate > 0:
        raise PartwrightError(f"--rate is records a second, more than 0, not {shown(rate)}", value=rate)
    if lag < 0:
        raise PartwrightError(f"--lag is a number of offsets, 0 or more, not {lag}", value=lag)
    if done := finished_before("copy", migration):
        return done
    began = time.monotonic()
    with opened(migration, groups, scanning, new_topic=new_topic or _LIKE_THE_OLD) as (writer, began_at):
        if began_at.phase == "moved":
            raise PartwrightError(
                f"the groups {', '.join(map(repr, began_at.groups))} read {migration.target.topic!r} already, where "
                "nothing is copied any more: finish, or go back with cutover --back",
                value=list(began_at.groups),
            )
        now = partial(patiently, partial(ends_of, migration, began_at))
        source_ends = list(began_at.at)

        def progress(copied: int) -> None:
            copying(copied, max(0, sum(source_ends) - sum(copier.state.at)))

        with closing(Copier(migration, began_at, writer, progress, rate=rate)) as copier:
            while True:
                source_ends = now()
                moving = patiently(partial(groups_of, migration.source, groups))
                copier.to(source_ends, moving)
                left = sum(now()) - sum(copier.state.at)
                if left <= lag and not follow:
                    break
                if not left:
                    time.sleep(1.0)
            copier.settle()
        more = {
            "copied_now": copier.state.copied - began_at.copied,
            "seconds": round(time.monotonic() - began, 1),
            "order": migration.order,
        }
        return step_answer("copy", migration, copier.state, moving, more, lag=left)


@contextmanager
def opened(
    migration: Migration,
    groups: Sequence[str],
    scanning: Callable[[int, float | None], None],
    *,
    must_exist: bool = False,
    new_topic: NewTopic = _LIKE_THE_OLD,
) -> Iterator[tuple[MigrationWriter, State]]:
    """A migration's writer and progress; it is begun, and its topics are created, if it was not.

    Args:
        migration: What is migrated.
        groups: The groups that move.
        scanning: Called while the old topic is scanned.
        must_exist: Whether to refuse a migration that has not begun.
        new_topic: The new topic's properties.

    Raises:
        PartwrightError: See `copy`.
        BrokerError: See `copy`.
    """
    source, ids = source_of(migration)
    ledger = MigrationLedger(migration)
    state = ledger.last()
    if state is None and must_exist:
        raise not_begun(migration)
    if is_there(migration.target):
        refuse_other_target(migration, new_topic, state.restore if state else None)
    begin = state or _begun(migration, source, ids, groups, scanning, new_topic)
    with (
        _going_on("cutover" if must_exist else "copy"),
        closing(MigrationWriter(migration, most_bytes(migration))) as writer,
    ):
        # By now, everything that an earlier writer wrote is committed or aborted.
        now = ledger.last() or writer.note(begin)
        now.check(migration, ids)
        if len(source.begin) != len(now.at):
            ends_of(migration, now)
        if now.phase == "new":
            yield writer, writer.note(_target_made(migration, now, new_topic))
        else:
            yield writer, _same_target(migration, now)


@contextmanager
def _going_on(step: str) -> Iterator[None]:
    """Say how to go on with a migration that has begun, where the step may succeed later."""
    try:
        yield
    except RetriableError as error:
        raise error.followed_by(f"run {step} again: it goes on where it stopped") from error


def most_bytes(migration: Migration) -> int:
    """The largest batch of records that the old topic takes, and so the new one."""
    return int(settings_of(migration.source).all.get("max.message.bytes", _MOST_BYTES))


def finished_before(step: str, migration: Migration) -> MigrationStep | None:
    """A step's answer where the migration is finished, from what the ledger remembers; None where it is not.

    Raises:
        PartwrightError: It was finished with other settings, or the new topic was deleted since.
        BrokerError: No Kafka answers, or it gives no right.
    """
    state = MigrationLedger(migration).last()
    if state is None or state.phase != "finished":
        return None
    # The old topic may be gone by now.
    state.check(migration, (cluster_id(migration.source.config), state.source[2]))
    if not is_there(migration.target) or described_topic(migration.target).topic_id != state.target[2]:
        raise PartwrightError(
            f"this migration is finished, and the topic {migration.target.topic!r} was deleted since: delete its "
            f"ledger {migration.ledger!r} to begin anew",
            value=migration.target.topic,
        )
    return step_answer(step, migration, state, [], {"already": True}, **state.moved_groups())


def not_begun(migration: Migration) -> PartwrightError:
    """The error that nothing was copied yet."""
    return PartwrightError(
        f"nothing was copied to {migration.target.topic!r} yet: partwright migrate copy comes first",
        value=migration.target.topic,
    )


def _begun(
    migration: Migration,
    source: DescribedTopic,
    ids: tuple[str, str],
    groups: Sequence[str],
    scanning: Callable[[int, float | None], None],
    new_topic: NewTopic,
) -> State:
    """The ledger's first record; afterwards its topic exists."""
    target = described_topic(migration.target) if is_there(migration.target) else None
    if target is not None:
        refuse_foreign(migration, target)
    else:
        to = migration.target
        # Its Kafka says what it would refuse.
        create_topic(to.config, to.topic, migration.partitions, new_topic, validate_only=True)
    own = {**settings_of(migration.source).own, **new_topic.configs}
    seen = scan_topic(migration, source, groups_of(migration.source, groups), scanning)
    refuse_scattered(migration, seen)
    is_older = migration.order == "generation"
    if MigrationLedger(migration).extent() is None:
        make_ledger(migration)
    known = settings_of(Side(migration.target.config, migration.ledger)).all
    if target is not None:
        own = settings_of(migration.target).own
    return State(
        source=[ids[0], migration.source.topic, ids[1]],
        target=[
            cluster_id(migration.target.config),
            migration.target.topic,
            target.topic_id if target else "",
        ],
        settings=asked_for(migration),
        phase="new",
        begin=source.begin,
        at=source.begin,
        ends=[0] * migration.partitions,
        every_key_at_home=not seen.away and migration.order is None,
        restore={name: own.get(name) for name in meanwhile(known)},
        older=seen.older if is_older else None,
        older_ends=source.ends if is_older else [],
    )


def _target_made(migration: Migration, state: State, new_topic: NewTopic) -> State:
    """Create the new topic if it is missing, and give it the settings for the time of the copy."""
    known = settings_of(Side(migration.target.config, migration.ledger)).all
    if not is_there(migration.target):
        topic_id = make_target(migration, settings_of(migration.source).own, known, new_topic)
    else:
        target = described_topic(migration.target)
        refuse_foreign(migration, target)
        alter(migration.target, meanwhile(known))
        topic_id = target.topic_id
    return replace(state, phase="copying", target=[*state.target[:2], topic_id])


def _same_target(migration: Migration, state: State) -> State:
    """Refuse another new topic of the same name, and one to which others write; counts what was aborted."""
    target = describe_target(migration, state)
    if state.phase == "moved":
        return state
    if target.ends != target.tails:
        # It is not this migration's, whose producer has just started.
        settled_ends(
            migration.target.config,
            migration.target.topic,
            range(len(target.tails)),
            again="run the same step again",
        )
        target = describe_target(migration, state)
    looked = state.looked or target.begin
    behind = [max(each) for each in zip(state.ends, target.begin, looked, strict=True)]
    every = records_behind(migration, behind, target.tails, committed=False)
    foreign = records_behind(migration, behind, target.ends, committed=True) if every else 0
    if foreign:
        raise BrokerError(
            f"the topic {migration.target.topic!r} has {counted(foreign, 'record')} that this migration did not write: "
            f"stop whoever writes to it, delete it and {migration.ledger!r}, and begin anew",
            value=foreign,
        )
    return replace(state, aborted=state.aborted + every, looked=target.tails)


def records_behind(
    migration: Migration, start: Sequence[int], ends: Sequence[int], *, committed: bool
) -> int:
    """How many records the new topic has from some offsets on."""
    windows = dict(enumerate(zip(start, ends, strict=False)))
    return sum(
        1 for _ in records(migration.target.config, migration.target.topic, windows, committed=committed)
    )


def translated(
    migration: Migration, state: State, groups: Sequence[MigratedGroup]
) -> dict[str, tuple[Mapping[int, int], int, int]]:
    """Where groups begin in the new topic, and how many records each one reads again and has not read.

    Args:
        migration: What is migrated.
        state: The progress.
        groups: The groups, with their offsets in the old topic.
    """
    if not groups:
        return {}
    translations = {
        group.name: Translation(committed_or_begin(group.committed, state.begin)) for group in groups
    }
    ledger = MigrationLedger(migration)
    committed = [list(each.committed) for each in translations.values()]
    # In the order of generations or times, a later copy may be of an earlier offset.
    at: list[int] | None = None
    for then, copies in ledger.entries(None if state.older is not None else committed):
        if copies is not None:
            some = None
            for each in translations.values():
                if at is not None and each.has_none_below(at):
                    each.add_unread(copies.bases, copies.count)
                else:
                    some = some or copies.slice()
                    each.add(some)
        at = then.at
    return {name: (each.offsets(state.ends), each.reread, each.unread) for name, each in translations.items()}


def step_answer(
    step: str,
    migration: Migration,
    state: State,
    groups: Sequence[MigratedGroup],
    more: Json | None = None,
    /,
    **known: Any,
) -> MigrationStep:
    """A step's answer, from the ledger.

    Args:
        step: The step.
        migration: What is migrated.
        state: The progress.
        groups: The groups whose offsets are translated.
        more: The fields that only this step has.
        known: What the step knows better than the ledger, by the answer's fields.
    """
    where = translated(migration, state, groups)
    fields = {
        "records": state.copied,
        "written": state.copied,
        "groups": {name: each[0] for name, each in where.items()},
        "reread": {name: each[1] for name, each in where.items()},
        "unread": {name: each[2] for name, each in where.items()},
        "more": {
            "deleted": state.deleted,
            "aborted": state.aborted,
            "untimed": state.untimed,
            "phase": state.phase,
            "moved": sorted(state.groups),
            **(more or {}),
        },
    }
    sides = str(migration.source), str(migration.target)
    return MigrationStep(step, *sides, len(state.at), migration.partitions, **{**fields, **known})
