"""Write records in transactions: exactly-once writes, copies and their ledgers all go through `Writing`.

A transaction is committed as a whole, or nobody who reads committed records sees any of it. A producer that starts with
the same transactional id ends the transaction that an earlier one left open, and fences that one off
(`initTransactions`, KIP-98). What can pass is tried again: for half a minute before a transaction, and for two minutes
at its end, as long as some broker answers. Whatever else is refused ends in one sentence, after the transaction was
aborted, so that no reader waits for it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from partwright.errors import BrokerError
from partwright.kafka.client import SILENT, TIMEOUT_S, confluent_kafka, connected, refused_settings
from partwright.kafka.errors import Meaning, RetriableError, meaning, refusal, remedy, try_again
from partwright.kafka.troubles import Troubles

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

    from partwright.kafka.connection import KafkaConfig

    Delivered: TypeAlias = Callable[[KafkaError | None, Message], None]

_START_S, _END_S = 30.0, 120.0
_POLL_S, _FLUSH_S = 0.1, 1.0
_TUNED: dict[str, object] = {
    "linger.ms": 20,
    # librdkafka leaves half of this between two connections, and each writer needs several.
    "reconnect.backoff.ms": 20,
}
_FIXED: dict[str, object] = {
    # The coordinator ends the transaction of a killed producer after the first of these times.
    "transaction.timeout.ms": 60_000,
    "message.timeout.ms": 45_000,
    # The topic decides how large a record may be. It counts compressed bytes, librdkafka uncompressed ones.
    "message.max.bytes": 1_000_000_000,
}


class WritingAdvice(NamedTuple):
    """What errors say that depends on why the records are written.

    Attributes:
        taken_over: That another producer has taken the transactional id, and what to do.
        unsupported: What to do about a Kafka without transactions.
        denied: The end of the sentence that Kafka gives this user no right to the transactional id.
        record: Which record a topic does not take, such as `a record for partition 3`.
        again: How to go on once that is corrected.
    """

    taken_over: str
    unsupported: str
    denied: str
    record: str
    again: str


class Writing:
    """The transactions of one transactional id, one after the other; without an id, records on their own.

    Without an id the producer is idempotent: records arrive once and in order, but those that were sent before an error
    stay.

    Args:
        config: How the Kafka is reached.
        topic: The topic that is written to.
        transactional_id: The id, which fences an earlier producer off; None writes without transactions.
        advice: What errors say about this writing.
        tuned: Settings of librdkafka's that suit it.

    Attributes:
        count: How many records the open transaction has; 0 if none is open.

    Raises:
        BrokerError: No Kafka answers, it has no transactions, or it gives no right to the id.
    """

    def __init__(
        self,
        config: KafkaConfig,
        topic: str,
        transactional_id: str | None,
        advice: WritingAdvice,
        tuned: Mapping[str, object],
    ) -> None:
        self.count = 0
        self._is_open = False
        self._is_transactional = transactional_id is not None
        # Why a record was not delivered. With transactions nobody notes it: their end says it, too, and a call for each
        # record would take time.
        self._refused: KafkaError | None = None
        self._config, self._topic, self._advice = config, topic, advice
        self._troubles = Troubles(config)
        settings = {
            **_TUNED,
            **tuned,
            **config.librdkafka(),
            **_FIXED,
            **self._own(transactional_id),
            "error_cb": self._troubles.note,
        }
        with refused_settings(config):
            self._producer: Producer = confluent_kafka().Producer(settings, logger=SILENT)
        connected(self._producer, topic, TIMEOUT_S)
        if self._is_transactional:
            with self.aborted_if_refused():
                self._until(lambda: self._producer.init_transactions(TIMEOUT_S), _START_S, "begin")

    def _own(self, transactional_id: str | None) -> dict[str, object]:
        """The settings with transactions, or without."""
        if transactional_id is not None:
            return {"transactional.id": transactional_id}
        return {
            "enable.idempotence": True,
            "delivery.report.only.error": True,
            "on_delivery": self._note_refused,
        }

    def _note_refused(self, error: KafkaError | None, _: Message) -> None:
        """Called for each record that is not delivered."""
        self._refused = self._refused or error

    def begin(self) -> None:
        """Begin a transaction; this and the following run within `aborted_if_refused`."""
        if self._is_transactional:
            self._until(self._producer.begin_transaction, _START_S, "begin")
        self._is_open = True

    def send(
        self,
        topic: str,
        values: Sequence[bytes | None],
        keys: Iterable[bytes | None],
        partitions: Iterable[int],
        headers: Iterable[object],
        *,
        timestamps: Iterable[int] = repeat(0),
        delivered: Iterable[Delivered | None] = repeat(None),
    ) -> None:
        """Send records in the open transaction, without waiting for them.

        Args:
            topic: The topic.
            values: Their value bytes.
            keys: Their key bytes.
            partitions: Their partitions.
            headers: Their headers, a list of pairs or a dict each.
            timestamps: Milliseconds since 1970; 0 for now.
            delivered: Functions that are called with a record's place, or with the error instead; each call takes time.
        """
        self._topic = topic
        # The annotations say that headers are text. The cost of each of these calls matters.
        send = cast("Callable[..., None]", partial(self._producer.produce, topic))
        rows = zip(values, keys, partitions, delivered, timestamps, headers, strict=False)
        for value, key, partition, note, at, header in rows:
            while True:
                try:
                    send(value, key, partition, note, timestamp=at, headers=header)
                    break
                except BufferError:
                    self._producer.poll(_POLL_S)
                    self._troubles.check()
                    self._refuse()
        self._producer.poll(0)
        self.count += len(values)
        self._refuse()

    def flush(self, refused: Callable[[], KafkaError | None]) -> None:
        """Wait until all records of the open transaction are delivered.

        Args:
            refused: The error of a record, if one of the functions in `delivered` got it.
        """
        until = time.monotonic() + _END_S
        with own_error(self._producer):
            while self._producer.flush(_FLUSH_S) and refused() is None:
                self._troubles.check()
                if time.monotonic() > until:
                    raise self._troubles.late()
        if (error := refused()) is not None:
            raise confluent_kafka().KafkaException(error)

    def commit(self) -> None:
        """Commit the open transaction; without transactions, wait until all records are delivered."""
        if not self._is_transactional:
            self.flush(lambda: self._refused)
            self._is_open, self.count = False, 0
            return
        self._until(lambda: self._producer.commit_transaction(TIMEOUT_S), _END_S, "commit")
        self._is_open, self.count = False, 0

    def abort(self) -> None:
        """Abort the open transaction, if there is one. If nobody answers, the broker or the next producer does that."""
        if self._is_open:
            self._is_open, self.count = False, 0
            if not self._is_transactional:
                self._producer.purge()
                return
            with contextlib.suppress(confluent_kafka().KafkaException):
                self._producer.abort_transaction(TIMEOUT_S)

    def close(self) -> None:
        """Abort what is open; the producer's threads end with the last reference to it."""
        self.abort()
        self._producer.purge()
        del self._producer

    @contextlib.contextmanager
    def aborted_if_refused(self) -> Iterator[None]:
        """Turn Kafka's errors into ours. After an error, the open transaction is aborted.

        Raises:
            BrokerError: Kafka refuses, or another producer has taken the transactional id.
        """
        try:
            yield
        except confluent_kafka().KafkaException as error:
            reason = self._reason(error.args[0])
            self.abort()
            raise self._refusal(reason) from None
        except BaseException:
            # Also Ctrl-C: until then readers of committed records would wait, and without transactions the queue would
            # still be sent.
            self.abort()
            raise

    def _refuse(self) -> None:
        """Raise the error of a record, if one was noted."""
        if self._refused is not None:
            raise confluent_kafka().KafkaException(self._refused)

    def _until(self, do: Callable[[], object], seconds: float, what: str) -> None:
        """Do something that may have to be repeated, as librdkafka tells."""

        def may_pass(error: BaseException) -> bool:
            if not (isinstance(error, confluent_kafka().KafkaException) and error.args[0].retriable()):
                return False
            # Other brokers may take over from one that died.
            self._troubles.check()
            return True

        try:
            try_again(do, seconds, error=may_pass)
        except confluent_kafka().KafkaException as error:
            if not error.args[0].retriable():
                raise
            self._troubles.check(0)
            raise RetriableError(
                f"Kafka at {self._config.servers} does not {what} a transaction in {seconds:g} s "
                f"({error.args[0].str()}): see in its log whether it can make transactions"
            ) from error

    def _reason(self, error: KafkaError) -> KafkaError:
        """The reason for an error, which may say only that the producer or the transaction cannot go on."""
        if self._is_transactional and meaning(error) is Meaning.PRODUCER_ENDED:
            # It is raised where the transaction, which can no longer be committed, would be committed.
            try:
                self._producer.commit_transaction(TIMEOUT_S)
            except confluent_kafka().KafkaException as reason:
                error = reason.args[0]
        return error

    def _refusal(self, error: KafkaError) -> BrokerError:
        where, what, advice = f"Kafka at {self._config.servers}", meaning(error), self._advice
        then = f"{remedy(error)}, then {advice.again}"
        if what is Meaning.FENCED:
            sentence = advice.taken_over
        elif what is Meaning.UNSUPPORTED:
            sentence = f"{where} has no transactions: {advice.unsupported}"
        elif error.name() == "TRANSACTIONAL_ID_AUTHORIZATION_FAILED":
            sentence = f"{where} gives {advice.denied}"
        elif what is Meaning.TOO_LARGE:
            sentence = f"{advice.record} is larger than the topic {self._topic!r} takes: {then}"
        elif what is Meaning.WRONG_TIMESTAMP:
            sentence = f"{advice.record} has a timestamp that the topic {self._topic!r} does not take: {then}"
        else:
            return refusal(self._config, error, "WRITE", f"the topic {self._topic!r}")
        return BrokerError(sentence, value=error.name())


@contextlib.contextmanager
def own_error(producer: Producer) -> Iterator[None]:
    """Raises a producer's fatal error, even where confluent-kafka raises `SystemError` in its place.

    `Producer.flush` of confluent-kafka (seen with 2.16.1) sets the fatal error as Python's current exception, and then
    goes on calling the functions for deliveries, errors and log lines. One of these fails because of it, or removes it
    by handling an exception of its own, as Python's `logging` does when it first sees a level. Both end in
    `SystemError`. `commit_transaction` and a short `poll` end at once, and need nothing.

    Args:
        producer: A transactional producer. After a `SystemError` its open transaction is aborted.

    Raises:
        KafkaException: The fatal error.

    Source:
        `error_cb` in confluent_kafka.c and `Producer_flush` in Producer.c; `rd_kafka_abort_transaction` of librdkafka
        2.16, which raises a fatal error again each time.
    """
    try:
        yield
    except SystemError as error:
        try:
            producer.abort_transaction(TIMEOUT_S)
        except confluent_kafka().KafkaException as reason:
            if reason.args[0].fatal():
                raise reason from None
        # A producer without transactions has nothing to abort that would say the reason.
        if isinstance(error.__cause__, confluent_kafka().KafkaException):
            raise error.__cause__ from None
        raise
