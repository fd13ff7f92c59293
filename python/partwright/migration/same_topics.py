"""Both topics must still be those with which the copy began; otherwise, how to begin anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.errors import BrokerError, PartwrightError
from partwright.migration.topics import described_topic

if TYPE_CHECKING:
    from partwright.migration.ledger import State
    from partwright.migration.settings import Migration
    from partwright.migration.topics import DescribedTopic

__all__ = ["describe_target", "ends_of", "made_again"]


def ends_of(migration: Migration, state: State) -> list[int]:
    """The offset after the last committed record of each partition of the old topic.

    Args:
        migration: What is migrated.
        state: The progress.

    Raises:
        BrokerError: No Kafka answers, it gives no right, or there is no such topic.
        PartwrightError: It has been replaced by another topic, or has another number of partitions.
    """
    now, topic = described_topic(migration.source), migration.source.topic
    if now.topic_id != state.source[2]:
        raise PartwrightError(
            f"the topic {topic!r} was deleted and made again while it was copied: {state.begin_anew(migration)}",
            value=topic,
        )
    if len(now.ends) != len(state.at):
        raise PartwrightError(
            f"the topic {topic!r} has {counted(len(now.ends), 'partition')} by now, and had {len(state.at)} as its "
            f"copy began: {state.begin_anew(migration)}",
            value=len(now.ends),
        )
    return now.ends


def describe_target(migration: Migration, state: State) -> DescribedTopic:
    """The new topic as it is now.

    Args:
        migration: What is migrated.
        state: The progress.

    Raises:
        BrokerError: No Kafka answers, it gives no right, there is no such topic, or it has been replaced by another.
    """
    now = described_topic(migration.target)
    if now.topic_id != state.target[2]:
        raise made_again(migration, state)
    return now


def made_again(migration: Migration, state: State) -> BrokerError:
    """The error that the new topic is not the one into which copies were written."""
    topic = migration.target.topic
    return BrokerError(
        f"the topic {topic!r} was deleted and made again since the copy into it began: {state.begin_anew(migration)}",
        value=topic,
    )
