"""What happens to both topics while one is copied: transactions of others, markers at the end, deleted records."""

from __future__ import annotations

import importlib
from functools import partial
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from migrating import by_key, commit, committed, read

from partwright.errors import BrokerError
from partwright.kafka import topics
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.marks import settled_ends
from partwright.migration import Migration, Side, copy, cutover, verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker

# The package has the function of the same name.
COPY = importlib.import_module("partwright.migration.copy_step")


def write(servers: str, topic: str, rows: range, name: str | None = None) -> Producer:
    """Records of a few keys; with a transactional ID, in a transaction that stays open."""
    settings = {"bootstrap.servers": servers, "partitioner": "murmur2_random", "log_level": "0"}
    producer = Producer(settings | ({"transactional.id": name} if name else {}))
    if name:
        producer.init_transactions(30)
        producer.begin_transaction()
    for row in rows:
        producer.produce(topic, b"%d" % row, b"k%d" % (row % 20))
    assert producer.flush(30) == 0
    return producer


@pytest.fixture
def moving(broker: EmbeddedKafka) -> Callable[[str], Migration]:
    """The migration of a topic of 2 partitions and 100 records into 3 partitions."""

    def of(old: str) -> Migration:
        config = KafkaConfig.read({}, servers=broker.bootstrap_servers)
        topics.create_topic(broker.bootstrap_servers, old, 2)
        write(broker.bootstrap_servers, old, range(100))
        return Migration(Side(config, old), Side(config, f"{old}-3"), 3)

    return of


def test_open_transactions_in_the_old_topic(
    broker: EmbeddedKafka, moving: Callable[[str], Migration]
) -> None:
    """A copy ends before them, and takes along what follows once they have ended; no group is moved meanwhile."""
    servers = broker.bootstrap_servers
    migration = moving("undecided")
    committing = write(servers, "undecided", range(100, 150), "committing")
    aborting = write(servers, "undecided", range(150, 200), "aborting")
    write(servers, "undecided", range(200, 250))
    done = copy(migration)
    assert (done.written, done.lag) == (100, 0)
    with pytest.raises(
        BrokerError, match=r"a transaction is open in partition . of 'undecided': let its writer"
    ):
        cutover(migration, still=0)
    assert len(read(servers, "undecided-3")) == 100
    committing.commit_transaction(30)
    aborting.abort_transaction(30)
    settled_ends(migration.source.config, "undecided", [0, 1])
    # Now a marker is the last record of each partition.
    done = copy(migration)
    assert (done.written, done.lag) == (200, 0)
    assert by_key(read(servers, "undecided-3")) == by_key(read(servers, "undecided"))
    assert verify(migration).ok


def test_an_open_transaction_in_the_new_topic(
    broker: EmbeddedKafka, moving: Callable[[str], Migration], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is waited for: as long as it is open, nobody knows whether somebody else has written there."""
    servers = broker.bootstrap_servers
    migration = moving("shared")
    copy(migration)
    other = write(servers, "shared-3", range(5), "shared")
    write(servers, "shared", range(100, 150))
    monkeypatch.setattr(COPY, "settled_ends", partial(settled_ends, patience=0.5))
    with pytest.raises(
        BrokerError,
        match=r"another producer holds a transaction open in partition . of 'shared-3' .* run the same step again$",
    ):
        copy(migration)
    assert len(read(servers, "shared-3")) == 100
    monkeypatch.undo()
    other.abort_transaction(30)
    done = copy(migration)
    assert (done.written, done.more["aborted"]) == (150, 5)
    assert by_key(read(servers, "shared-3")) == by_key(read(servers, "shared"))
    write(servers, "shared-3", range(5), "shared").commit_transaction(30)
    with pytest.raises(BrokerError, match="has 5 records that this migration did not write"):
        copy(migration)


def test_records_that_retention_removes_before_they_are_copied(
    broker: EmbeddedKafka, moving: Callable[[str], Migration]
) -> None:
    """They are counted, everything else is there once, and a group that had not read them begins after them."""
    servers = broker.bootstrap_servers
    migration = moving("ageing")
    copy(migration)
    write(servers, "ageing", range(100, 300))
    before = read(servers, "ageing")
    # Some that are copied, and some that are not.
    first = {p: end - 30 for p, end in topics.end_offsets(servers, "ageing").items()}
    copied = {p: sum(row.partition == p and int(row.value or b"") < 100 for row in before) for p in first}
    commit(servers, "late", "ageing", {p: end + 5 for p, end in copied.items()})
    with AdminClient({"bootstrap.servers": servers, "log_level": 0}) as admin:
        for done in admin.delete_records([TopicPartition("ageing", *at) for at in first.items()]).values():
            done.result(30)
    done_ = copy(migration)
    gone = sum(first.values()) - sum(copied.values())
    assert gone > 0
    assert (done_.written, done_.more["deleted"]) == (300 - gone, gone)
    there = [row for row in before if int(row.value or b"") < 100 or row.offset >= first[row.partition]]
    after = read(servers, "ageing-3")
    assert by_key(after) == by_key(there)
    verified = verify(migration)
    assert (verified.ok, verified.more["gone"]) == (True, 100)
    cutover(migration, still=0)
    begins = committed(servers, "late", "ageing-3")
    unread = {row.content for row in there if row.offset >= first[row.partition]}
    assert unread <= {row.content for row in after if row.offset >= begins[row.partition]}
