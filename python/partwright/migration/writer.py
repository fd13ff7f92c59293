"""Write copies and the ledger's record of them in one transaction: either all of it is there, or nothing."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn, TypeAlias, cast

from partwright.errors import BrokerError
from partwright.kafka.client import SILENT, TIMEOUT_S, confluent_kafka, connected, refused_settings
from partwright.kafka.errors import Meaning, RetriableError, meaning, no_right
from partwright.kafka.headers import headers_of
from partwright.kafka.transactional import own_error
from partwright.kafka.troubles import Troubles
from partwright.migration.ledger import MAPPING, encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

    from confluent_kafka import KafkaError, KafkaException, Message, Producer

    from partwright.kafka.reading import Record
    from partwright.migration.ledger import State
    from partwright.migration.settings import Migration
    from partwright.migration.translate import Slice

__all__ = ["Writer"]

_START_S, _WRITE_S = 30.0, 120.0
_TUNED: dict[str, object] = {
    "linger.ms": 20,
    "compression.type": "lz4",
    "queue.buffering.max.messages": 1_000_000,
    "queue.buffering.max.kbytes": 512 << 10,
}


if TYPE_CHECKING:
    _Callback: TypeAlias = Callable[[KafkaError | None, Message], None]


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

    def callbacks(self, targets: Sequence[int]) -> list[_Callback | None]:
        """For each copy, the function that is told where it is. Most copies have none, because each call takes time."""
        found: list[_Callback | None] = [None] * len(targets)
        lasts = {target: row for row, target in enumerate(targets)}
        firsts = {target: len(targets) - 1 - row for row, target in enumerate(reversed(targets))}
        for row in (*firsts.values(), *lasts.values()):
            found[row] = self._note
        return found

    def _note(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.refused = error
            return
        target, offset = cast("int", message.partition()), cast("int", message.offset())
        # They are called in order.
        self.first.setdefault(target, offset)
        self.last[target] = offset


class Writer:
    """A transactional producer of one migration; a later one ends the earlier ones.

    Args:
        migration: What is migrated.
        most_bytes: The largest batch of records that the new topic takes.

    Raises:
        BrokerError: No Kafka answers, or it has no transactions, or gives no right to them.
    """

    def __init__(self, migration: Migration, most_bytes: int) -> None:
        self._topic, self._ledger = migration.target.topic, migration.ledger
        # The topics that it writes to, which an error does not name.
        self._writes_to = self._topic
        self._config = migration.target.config
        self._id = migration.transactional_id
        self._troubles = Troubles(self._config)
        given = {
            **_TUNED,
            **self._config.librdkafka(),
            "transactional.id": self._id,
            # The broker counts compressed bytes, librdkafka uncompressed ones: a record that was accepted once is
            # accepted again, alone.
            "message.max.bytes": 1_000_000_000,
            "batch.size": min(1_000_000, most_bytes),
            "error_cb": self._troubles.note,
        }
        kafka = confluent_kafka()
        with refused_settings(self._config):
            self._producer: Producer = kafka.Producer(given, logger=SILENT)
        self._error: type[KafkaException] = kafka.KafkaException
        connected(self._producer, self._topic, TIMEOUT_S)
        self._until(lambda: self._producer.init_transactions(_START_S / 10), _START_S, "begin")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            # Uncommitted records are aborted; if nobody answers, the next writer does that.
            self._producer.purge()
        # Its threads end with the last reference to it.
        del self._producer

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
        self._writes_to = self._topic
        self._begin()
        try:
            with own_error(self._producer):
                self._send(records, places.targets, edges)
                self._flush(edges)
        except self._error as error:
            self._refuse(error)
        copies = replace(places, bases=edges.first)
        for target, many in copies.counts().items():
            if edges.last[target] - edges.first[target] + 1 != many:
                raise BrokerError(
                    f"another program writes to partition {target} of {self._topic!r} as it is copied, or deleted the "
                    f"topic and made it again: stop it, delete {self._topic!r} and {self._ledger!r}, and begin anew",
                    value=self._topic,
                )
        return self._commit(state(copies), copies)

    def note(self, state: State) -> State:
        """Write the ledger's record without any copy."""
        self._begin()
        return self._commit(state, None)

    def _begin(self) -> None:
        self._until(self._producer.begin_transaction, _START_S, "begin")

    def _send(self, records: Sequence[Record], targets: Sequence[int], edges: _Edges) -> None:
        """Send the records, and note where the first and the last one of each new partition are."""
        # Its annotations know only headers of text, and a cast in each of these calls would take time.
        send = cast("Callable[..., None]", partial(self._producer.produce, self._topic))
        for record, target, note in zip(records, targets, edges.callbacks(targets), strict=True):
            time_ms, headers = max(0, record.timestamp()[1]), headers_of(record)
            while True:
                try:
                    send(record.value(), record.key(), target, note, timestamp=time_ms, headers=headers)
                    break
                except BufferError:
                    self._producer.poll(0.1)

    def _flush(self, edges: _Edges) -> None:
        until = time.monotonic() + _WRITE_S
        while self._producer.flush(1.0) and edges.refused is None:
            self._troubles.check()
            if time.monotonic() > until:
                raise self._troubles.late()
        if edges.refused is not None:
            self._refuse_error(edges.refused)

    def _commit(self, state: State, copies: Slice | None) -> State:
        self._writes_to = self._ledger
        headers: list[tuple[str, str | bytes | None]] = []
        if copies is not None:
            headers.append((MAPPING, encoded(copies)))
        try:
            self._producer.produce(self._ledger, state.json(), None, 0, headers=headers)
        except self._error as error:
            self._refuse(error)
        self._until(lambda: self._producer.commit_transaction(_WRITE_S / 10), _WRITE_S, "commit")
        return state

    def _until(self, do: Callable[[], object], seconds: float, what: str) -> None:
        """Do something that may have to be repeated, as librdkafka tells."""
        until = time.monotonic() + seconds
        while True:
            try:
                do()
            except self._error as error:
                if not error.args[0].retriable():
                    self._refuse(error)
                self._troubles.check()
                if time.monotonic() > until:
                    raise RetriableError(
                        f"Kafka at {self._config.servers} does not {what} a transaction in {seconds:g} s "
                        f"({error.args[0].str()}): see in its log whether it can make transactions"
                    ) from error
            else:
                return

    def _refuse(self, error: KafkaException) -> NoReturn:
        self._refuse_error(error.args[0])

    def _refuse_error(self, error: KafkaError) -> NoReturn:
        if meaning(error) is Meaning.PRODUCER_ENDED:
            # The reason is raised where the transaction, which can no longer be committed, would be committed.
            try:
                self._producer.commit_transaction(_START_S)
            except self._error as reason:
                error = reason.args[0]
        where = f"Kafka at {self._config.servers}"
        if meaning(error) is Meaning.FENCED:
            raise BrokerError(
                f"another copy of this migration was started and goes on in place of this one ({error.name()}): leave "
                "one of them running",
                value=error.name(),
            )
        if meaning(error) is Meaning.NO_RIGHT:
            kind, name = ("transactional-id", self._id), ("topic", self._writes_to)
            of = kind if error.name() == "TRANSACTIONAL_ID_AUTHORIZATION_FAILED" else name
            raise BrokerError(f"{where} gives {no_right('WRITE', *of)}", value=error.name())
        if meaning(error) in {Meaning.UNSUPPORTED, Meaning.NO_TRANSACTION}:
            raise BrokerError(
                f"{where} has no transactions ({error.name()}), without which no copy can be taken up exactly where it "
                "stopped: copy to Kafka 0.11 or later",
                value=error.name(),
            )
        raise RetriableError(
            f"{where} does not take the copies ({self._config.redacted(error.str())}): see the broker's log",
            value=error.name(),
        )
