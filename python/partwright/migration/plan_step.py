"""Plan a migration, and whether it is possible: reads the old topic once, and writes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from partwright.migration.answer import MigrationStep
from partwright.migration.copy_step import finished_before
from partwright.migration.groups import groups_of
from partwright.migration.ledger import MigrationLedger
from partwright.migration.scan import scan_topic
from partwright.migration.settings import Migration
from partwright.migration.topics import described_topic, is_there, refuse_foreign, settings_of, source_of

# A copy, which scans too, takes about this many times as long as the scan; see benches/python/migrating.py.
_COPY_OVER_SCAN = 2.5
_OF_THE_SCAN = ("bytes", "tombstones", "keyless", "untimed", "keys", "scattered_keys")


def plan(
    migration: Migration,
    groups: Sequence[str] = (),
    progress: Callable[[int, float | None], None] = lambda _records, _done: None,
) -> MigrationStep:
    """Find what would be copied, in which order, and what groups would re-read.

    Args:
        migration: What is migrated.
        groups: The consumer groups that move; by default every one that has committed offsets of the old topic.
        progress: Called with the number of records read, and their share of the whole.

    Returns:
        The answer, with `scan`. Its offsets of groups count copies, without the markers of transactions.

    Raises:
        PartwrightError: The topics are the same.
        BrokerError: No Kafka answers or it denies the right; the old topic or a group does not exist; the new topic
            exists and holds other records.
    """
    if done := finished_before("plan", migration):
        return done
    source, _ = source_of(migration)
    own = settings_of(migration.source).own
    state = MigrationLedger(migration).last()
    if state is None and is_there(migration.target):
        refuse_foreign(migration, described_topic(migration.target))
    moving = groups_of(migration.source, groups)
    began = time.monotonic()
    seen = scan_topic(migration, source, moving, progress)
    seconds = time.monotonic() - began
    return MigrationStep(
        "plan",
        str(migration.source),
        str(migration.target),
        len(source.begin),
        migration.partitions,
        records=seen.records,
        written=state.copied if state else 0,
        out_of_order=seen.scattered_records,
        groups={name: each.positions for name, each in seen.groups.items()},
        reread={name: each.reread for name, each in seen.groups.items()},
        unread={name: each.unread for name, each in seen.groups.items()},
        lag=sum(source.ends) - sum(state.at if state else source.begin),
        more={
            **{name: getattr(seen, name) for name in _OF_THE_SCAN},
            "keys_looked_at": f"1 of {seen.sampled}",
            "away": seen.away,
            "writer": seen.fingerprint.verdict if seen.fingerprint else "no-keys",
            "family": list(seen.fingerprint.family) if seen.fingerprint else [],
            "partitions_before": seen.older,
            "order": migration.order,
            "configs": own,
            "phase": state.phase if state else "new",
            "scan_s": round(seconds, 1),
            "copy_s": round(seconds * _COPY_OVER_SCAN, 1),
        },
        scan=seen,
    )
