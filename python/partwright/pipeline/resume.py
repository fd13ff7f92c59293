"""Resume a run: compare its recorded settings and source with those of now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.pipeline.ledger import RecordedRun, RunLedger
    from partwright.pipeline.settings import RunSettings
    from partwright.pipeline.source import Source
    from partwright.pipeline.targets import Target, TargetState


@dataclass(frozen=True)
class SourceFacts:
    """What shows whether a source has changed; see the same fields of `RecordedRun`."""

    files: Mapping[str, tuple[int, int]]
    cut: Mapping[str, str]
    tasks: int


def find_earlier(
    ledger: RunLedger, settings: RunSettings, source: Source, target: Target, first: TargetState
) -> RecordedRun | None:
    """Find the run that `--resume` continues, and refuse before Spark starts what can already be refused.

    Args:
        ledger: The ledger of runs.
        settings: What the run is asked to do.
        source: What the run reads.
        target: Where the run writes.
        first: What the target holds.

    Returns:
        The earlier run; None if no run is known and the target is empty, as a run leaves it that was killed before its
        first record.

    Raises:
        PartwrightError: No run is known although the target holds records, the run was another one, its topic has
            been replaced, or what it read of a source topic was deleted.
    """
    earlier = ledger.read(source.topic, source.identity)
    if earlier is None:
        if not first.records:
            return None
        raise PartwrightError(
            f"no run of {source.name} into {target} is known that could go on: run it without --resume, or name its "
            "ledger with --state"
        )
    deciding_settings = settings.deciding(source.format, source.key)
    for why in _differences(
        earlier, deciding_settings, settings.exactly_once, settings.asked_partitions, source, first
    ):
        raise cannot_go_on(earlier, why)
    return earlier


def _differences(
    earlier: RecordedRun,
    deciding_settings: Mapping[str, str | None],
    exactly_once: bool,
    n: int | None,
    source: Source,
    first: TargetState,
) -> Iterator[str]:
    # In this order, because the seed of another strategy is not what somebody changed.
    for option, now in deciding_settings.items():
        was = earlier.options.get(option)
        if was != now:
            instead = "" if now is None else f", not {now}"
            yield (
                f"it was begun without {option} {now}"
                if was is None
                else f"it was begun with {option} {was}{instead}"
            )
    if earlier.exactly_once != exactly_once:
        yield f"it was begun {'with' if earlier.exactly_once else 'without'} --exactly-once"
    if n not in {None, earlier.n}:
        yield f"it was begun with -n {earlier.n}, not {n}"
    if first.partitions is None:
        yield f"the topic {source.topic!r} is gone"
    if first.topic_id != earlier.topic_id:
        yield f"the topic {source.topic!r} was deleted since, and made again"
    if first.partitions != earlier.n:
        yield f"its topic had {counted(earlier.n, 'partition')}, and has {first.partitions} now"
    for partition, (begin, end) in (earlier.windows or {}).items():
        if (gone := min(source.first.get(partition, begin), end) - begin) > 0:
            yield f"Kafka has deleted {counted(gone, 'offset')} of partition {partition} of its source since"


def cannot_go_on(earlier: RecordedRun, why: str) -> PartwrightError:
    """The error that the run differs from the earlier one."""
    return PartwrightError(
        f"the run of {earlier.began} cannot go on, because {why}: give it what it was begun with, or run without "
        "--resume into another --topic"
    )
