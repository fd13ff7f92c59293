"""The sticky partition of each topic, through the calls that Kafka itself makes inside a producer.

>>> from partwright import Producer, ProducerConfig
>>> producer = Producer({"orders": 4}, ProducerConfig("sticky", {"batch.size": 100}, seed=7))
>>> [producer.sticky.append("orders", 60) for _ in range(4)]
[0, 0, 2, 2]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import bits, listed, shown
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partwright import _core

__all__ = ["INT", "LONG", "Sticky"]

INT = range(-(2**31), 2**31)
LONG = range(-(2**63), 2**63)


class Sticky:
    """The calls of a `RecordAccumulator` to `StickyPartitionCache` (2.4 to 3.2) and `BuiltInPartitioner` (since).

    `Producer.sticky` returns it. You do not need it to place records; it is for tests that follow Kafka's own, call by
    call, and for tools that know a producer's queues.

    Args:
        core: The strategy's state.
        place_of: A topic's place among the core's topics; it refuses an unknown topic and a closed producer.
        client_rack: The producer's `client.rack`.
    """

    def __init__(self, core: _core.Producer, place_of: Callable[[str], int], client_rack: str | None) -> None:
        self._core, self._place_of, self._client_rack = core, place_of, client_rack

    def next_partition(self, topic: str, previous: int = -1) -> int:
        """The next sticky partition.

        Up to 3.2 (`StickyPartitionCache.nextPartition`) the sticky partition stays if it is no longer `previous`; since
        3.3 (`BuiltInPartitioner.nextPartition`) this is a draw that is not kept.

        Raises:
            PartwrightError: As for `Producer.partition`; the strategy is not sticky.
        """
        return self._core.next_partition(self._place_of(topic), bits(previous, "a partition", INT))

    def append(self, topic: str, produced: int, *, enable_switch: bool = True) -> int:
        """Count bytes that go to the sticky partition (`BuiltInPartitioner.updatePartitionInfo`).

        Args:
            topic: The topic.
            produced: How many bytes.
            enable_switch: Whether another partition may be sticky after `batch.size`; after twice as much
                it is anyway.

        Returns:
            The partition that they went to.

        Raises:
            PartwrightError: As for `Producer.partition`; the strategy is not `sticky` of 3.3 or later.
        """
        place = self._place_of(topic)
        if not isinstance(enable_switch, bool):
            raise PartwrightError(f"enable_switch is true or false, not {shown(enable_switch)}")
        return self._core.append(place, bits(produced, "bytes", INT), enable_switch)

    def load_stats(
        self,
        topic: str,
        queue_sizes: Sequence[int] | None,
        partition_ids: Sequence[int] = (),
        *,
        leader_racks: Sequence[str | None] | None = None,
        length: int | None = None,
    ) -> None:
        """How many batches wait for each partition (`BuiltInPartitioner.updatePartitionLoadStats`).

        The next draws depend on them: the longer its queue, the less often a partition is drawn.

        Args:
            topic: The topic.
            queue_sizes: A number for each partition with a leader; with None, all are equally likely.
            partition_ids: These partitions.
            leader_racks: The racks of their leaders, for a rack-aware producer.
            length: How many of them count; all by default.

        Raises:
            PartwrightError: As for `append`; Kafka's own throws.
        """
        place = self._place_of(topic)
        queues = None if queue_sizes is None else listed(queue_sizes, "queue_sizes")
        sizes = None if queues is None else [bits(size, "a queue's size", INT) for size in queues]
        racks = None if leader_racks is None else listed(leader_racks, "leader_racks")
        near = None if racks is None else [rack == self._client_rack for rack in racks]
        ids = [bits(each, "a partition", INT) for each in listed(partition_ids, "partition_ids")]
        counted = len(sizes or ()) if length is None else bits(length, "the length", INT)
        self._core.load_stats(place, sizes, ids, near, counted)
