"""Write copies and the ledger's record of them in one transaction: either all of it is there, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import methodcaller
from typing import TYPE_CHECKING, cast

from partwright.errors import BrokerError
from partwright.kafka.errors import no_right
from partwright.kafka.reading import headers_of
from partwright.kafka.writing import Writing, WritingAdvice
from partwright.migration.ledger import MAPPING, encoded

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

    from partwright.kafka.reading import Record
    from partwright.kafka.writing import Delivered
    from partwright.migration.ledger import State
    from partwright.migration.settings import Migration
    from partwright.migration.translate import Slice

_TUNED: dict[str, object] = {
    "compression.type": "lz4",
    "queue.buffering.max.messages": 1_000_000,
    "queue.buffering.max.kbytes": 512 << 10,
}
_BATCH_BYTES = 1_000_000


class _Edges:
    """The first and the last copy in each new partition; the others are between them.

    Attributes:
        first: By new partition, the offset of the first copy.
        last: The offset of the last copy.
        refused: Why a copy is missing; None if all are there.
    """

    def __init__(self) -> None:
        self.first: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.refused: KafkaError | None = None

    def callbacks(self, targets: Sequence[int]) -> list[Delivered | None]:
        """For each copy, the function that is told where it is. Most copies have none, because each call takes time."""
        functions: list[Delivered | None] = [None] * len(targets)
        lasts = {target: row for row, target in enumerate(targets)}
        firsts = {target: len(targets) - 1 - row for row, target in enumerate(reversed(targets))}
        for row in (*firsts.values(), *lasts.values()):
            functions[row] = self._note
        return functions

    def _note(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.refused = error
            return
        target, offset = cast("int", message.partition()), cast("int", message.offset())
        # They are called in order.
        self.first.setdefault(target, offset)
        self.last[target] = offset


class MigrationWriter:
    """A transactional producer of one migration; a later one ends the earlier ones.

    Args:
        migration: What is migrated.
        most_bytes: The largest batch of records that the new topic takes.

    Raises:
        BrokerError: No Kafka answers, or it has no transactions, or gives no right to them.
    """

    def __init__(self, migration: Migration, most_bytes: int) -> None:
        self._topic, self._ledger = migration.target.topic, migration.ledger
        name = migration.transactional_id
        advice = WritingAdvice(
            taken_over=(
                "another copy of this migration was started and goes on in place of this one: leave one of them running"
            ),
            unsupported=(
                "without them no copy can be taken up exactly where it stopped: copy to Kafka 0.11 or later"
            ),
            denied=no_right("WRITE", "transactional-id", name),
            record="a record",
            again="run the same step again",
        )
        tuned = {**_TUNED, "batch.size": min(_BATCH_BYTES, most_bytes)}
        self._writing = Writing(migration.target.config, self._topic, name, advice, tuned)

    def close(self) -> None:
        """Abort what is open, and end its threads."""
        self._writing.close()

    def write(self, records: Sequence[Record], places: Slice, state: Callable[[Slice], State]) -> State:
        """Write copies of some records and then, knowing where they are, the ledger's record.

        Args:
            records: The records, in the order of the copies.
            places: Their old places and new partitions, without bases.
            state: Returns the progress after that.

        Returns:
            The progress.

        Raises:
            BrokerError: Kafka refuses them, or another copy of this migration was started.
        """
        edges = _Edges()
        with self._writing.aborted_if_refused():
            self._writing.begin()
            self._writing.send(
                self._topic,
                list(map(methodcaller("value"), records)),
                map(methodcaller("key"), records),
                places.targets,
                map(headers_of, records),
                timestamps=[max(0, record.timestamp()[1]) for record in records],
                delivered=edges.callbacks(places.targets),
            )
            self._writing.flush(lambda: edges.refused)
            copies = replace(places, bases=edges.first)
            for target, count in copies.counts().items():
                if edges.last[target] - edges.first[target] + 1 != count:
                    raise BrokerError(
                        f"another program writes to partition {target} of {self._topic!r} as it is copied, or deleted "
                        f"the topic and made it again: stop it, delete {self._topic!r} and {self._ledger!r}, and begin "
                        "anew",
                        value=self._topic,
                    )
            return self._committed(state(copies), [(MAPPING, encoded(copies))])

    def note(self, state: State) -> State:
        """Write the ledger's record without any copy."""
        with self._writing.aborted_if_refused():
            self._writing.begin()
            return self._committed(state, [])

    def _committed(self, state: State, headers: list[tuple[str, bytes]]) -> State:
        self._writing.send(self._ledger, [state.json()], [None], [0], [headers])
        self._writing.commit()
        return state
