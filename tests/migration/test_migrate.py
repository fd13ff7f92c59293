"""`partwright migrate` on a real Kafka: records of real clients, real groups, and each step in turn."""

from __future__ import annotations

import json
import random
import threading
import time
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from migrating import DAY_MS, Migrate, by_key, commit, committed, fill, read

import partwright as pw
from partwright.kafka import EmbeddedKafka, topics

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.broker


def drained(servers: str, group: str, topic: str, expected: int) -> list[tuple[bytes | None, bytes | None]]:
    """The records that a group gets after it subscribes to a topic, until nothing more comes."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "auto.offset.reset": "error",
            "session.timeout.ms": 6000,
        }
    )
    consumer.subscribe([topic])
    found = []
    quiet = time.monotonic() + 30
    while time.monotonic() < quiet:
        for message in consumer.consume(500, 0.2):
            assert message.error() is None, message.error()
            found.append((message.key(), message.value()))
            quiet = time.monotonic() + (1.5 if len(found) >= expected else 30)
    consumer.close()
    return found


def own_settings(servers: str, topic: str) -> dict[str, str]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    admin = AdminClient({"bootstrap.servers": servers})
    told = admin.describe_configs([resource])[resource].result()
    return {name: entry.value for name, entry in told.items() if int(entry.source) == 1}


def test_a_topic_moves_with_its_groups(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], seed: int
) -> None:
    servers, rng = broker.bootstrap_servers, random.Random(seed)
    settings = {"retention.ms": str(400 * DAY_MS), "message.timestamp.type": "CreateTime"}
    topics.create_topic(servers, "sales", 6, topics.NewTopic(configs=settings))
    fill(servers, "sales", rng, 9000)
    ends = topics.end_offsets(servers, "sales")
    groups = {
        "near": {p: max(0, end - 30) for p, end in ends.items()},
        "far": {p: end // 3 for p, end in ends.items()},
        "odd": {p: end * 9 // 10 if p % 2 else end // 10 for p, end in ends.items()},
        "done": ends,
    }
    for group, offsets in groups.items():
        commit(servers, group, "sales", offsets)
    before = read(servers, "sales")
    unread = {
        g: [row for row in before if row.offset >= offsets[row.partition]] for g, offsets in groups.items()
    }
    run = migrate("sales", "sales-16", 16)

    planned = run("plan")
    assert (planned["records"], planned["written"], planned["out_of_order"]) == (len(before), 0, 0)
    assert topics.partition_count(servers, "sales-16") is None
    assert {g: planned["unread"][g] for g in groups} == {g: len(rows) for g, rows in unread.items()}
    assert {g: planned["reread"][g] for g in ("near", "far", "done")} == {"near": 0, "far": 0, "done": 0}

    copied = run("copy")
    assert (copied["records"], copied["written"], copied["lag"]) == (len(before), len(before), 0)
    after = read(servers, "sales-16")
    assert by_key(after) == by_key(before)
    keys = pw.partition_for_key([row.key or b"" for row in after], 16).to_pylist()
    assert [row.partition for row in after if row.key is not None] == [
        at for at, row in zip(keys, after, strict=True) if row.key is not None
    ]
    assert own_settings(servers, "sales-16")["retention.ms"] == "-1"

    verified = run("verify")
    wrong = {name: verified[name] for name in ("lost", "twice", "out_of_order", "changed", "skipped")}
    assert set(wrong.values()) == {0}, verified
    assert verified["records"] == len(before)

    moved = run("cutover")
    assert (moved["reread"]["near"], moved["reread"]["far"], moved["reread"]["done"]) == (0, 0, 0)
    assert moved["reread"]["odd"] <= planned["reread"]["odd"]
    for group, offsets in groups.items():
        assert committed(servers, group, "sales-16") == {int(q): o for q, o in moved["groups"][group].items()}
        # The way back: nothing in the old topic has changed.
        assert committed(servers, group, "sales") == offsets
    for group in ("near", "odd"):
        got = drained(servers, group, "sales-16", len(unread[group]))
        assert len(got) == len(unread[group]) + moved["reread"][group]
        assert not {(row.key, row.value) for row in unread[group]} - set(got)

    finished = run("finish")
    assert finished["written"] == len(before)
    assert own_settings(servers, "sales-16") == settings
    # The ledger remembers the end, and nothing else.
    ledger = "__partwright_migrate-sales-16"
    assert [json.loads(row.value or b"")["phase"] for row in read(servers, ledger)] == ["finished"]


def test_of_a_multiple_no_group_reads_anything_again(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], seed: int
) -> None:
    servers, rng = broker.bootstrap_servers, random.Random(seed)
    topics.create_topic(servers, "multiple", 3)
    fill(servers, "multiple", rng, 3000)
    ends = topics.end_offsets(servers, "multiple")
    for group in ("a", "b", "c"):
        commit(servers, f"multiple-{group}", "multiple", {p: rng.randint(0, end) for p, end in ends.items()})
    run = migrate("multiple", "multiple-15", 15)
    assert set(run("plan")["reread"].values()) == {0}
    run("copy")
    moved = run("cutover")
    assert set(moved["reread"].values()) == {0}
    assert len(moved["groups"]) == 3
    assert moved["written"] == len(read(servers, "multiple-15")) == len(read(servers, "multiple"))


def test_records_that_come_while_it_is_copied_come_along(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], refusal: Callable[..., str]
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "live", 4)
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random", "linger.ms": 5})
    stop = threading.Event()
    sent = 0

    def write() -> None:
        nonlocal sent
        while not stop.is_set():
            for _ in range(20):
                producer.produce("live", key=b"k%d" % (sent % 97), value=b"%d" % sent)
                sent += 1
            producer.poll(0)
            time.sleep(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        time.sleep(1)
        run = migrate("live", "live-10", 10)
        run("copy", "--rate", 5000)
        assert "records still come to 'live'" in refusal("migrate", "cutover", *run.words)
    finally:
        stop.set()
        writer.join()
    producer.flush()
    moved = run("cutover")
    assert moved["written"] == sent
    assert by_key(read(servers, "live-10")) == by_key(read(servers, "live"))
    # The new writers' own records do not affect a group that moves later.
    producer.produce("live-10", key=b"new", value=b"new")
    producer.flush()
    commit(servers, "late", "live", topics.end_offsets(servers, "live"))
    run("cutover", "--group", "late")
    assert drained(servers, "late", "live-10", 1) == [(b"new", b"new")]


def test_a_group_that_runs_is_refused_by_its_name(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], refusal: Callable[..., str]
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "busy", 2)
    fill(servers, "busy", random.Random(3), 300)
    commit(servers, "idle", "busy", {0: 5, 1: 0})
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "runs", "auto.offset.reset": "earliest"})
    consumer.subscribe(["busy"])
    while not consumer.consume(10, 0.5):
        pass
    consumer.commit(asynchronous=False)
    run = migrate("busy", "busy-3", 3)
    assert sorted(run("copy")["groups"]) == ["idle", "runs"]
    said = refusal("migrate", "cutover", *run.words)
    assert "stop every consumer of 'runs' (its state is STABLE, 1 member) first" in said
    assert committed(servers, "idle", "busy-3") == {}
    assert list(run("cutover", "--group", "idle")["groups"]) == ["idle"]
    consumer.close()
    assert sorted(run("cutover")["groups"]) == ["idle", "runs"]


def test_there_is_a_way_back_until_it_is_finished(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], refusal: Callable[..., str]
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "back", 3)
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
    for row in range(500):
        producer.produce("back", key=b"%d" % (row % 9), value=b"%d" % row)
    producer.flush()
    commit(servers, "returns", "back", {0: 10, 1: 10, 2: 10})
    run = migrate("back", "back-5", 5)
    run("copy")
    run("cutover")
    assert "read 'back-5' already" in refusal("migrate", "copy", *run.words)
    assert run("cutover", "--back")["written_since"] == 0
    producer.produce("back", key=b"3", value=b"later")
    producer.flush()
    assert run("copy")["copied_now"] == 1
    run("cutover")
    producer.produce("back-5", key=b"3", value=b"new writer")
    producer.flush()
    assert run("verify")["twice"] == 0
    assert run("cutover", "--back")["written_since"] == 1
    assert "1 record that this migration did not write" in refusal("migrate", "copy", *run.words)


def test_a_step_that_was_done_says_so(
    broker: EmbeddedKafka,
    migrate: Callable[[str, str, int], Migrate],
    told: Callable[..., tuple[int, str, str]],
    refusal: Callable[..., str],
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "done", 2)
    fill(servers, "done", random.Random(3), 300)
    for group in ("moves", "stays"):
        commit(servers, group, "done", {0: 3, 1: 0})
    run = migrate("done", "done-3", 3)

    def says(step: str, *more: object) -> str:
        code, out, err = told("migrate", step, *run.words, *more)
        assert (code, err) == (0, ""), (out, err)
        return " ".join(out.split())

    assert "Next Stop the writers and the groups, then run partwright migrate cutover." in (
        says("copy") and says("verify")
    )
    says("cutover", "--group", "moves")
    # Nobody is sent back to a step that was done.
    for step in ("plan", "verify"):
        assert "Next When all is well, run partwright migrate finish;" in says(step)
    assert "Keep the old topic: 1 group has not moved, such as stays." in says("finish")
    for step in ("finish", "verify", "plan", "copy", "cutover", "finish"):
        said = says(step)
        assert said.startswith("✓ This migration is finished already, and 1 group was moved to the new topic")
        assert "Next" not in said
        assert "elete" not in said
    answer = run("finish")
    assert (answer["already"], answer["phase"], set(answer["groups"])) == (True, "finished", {"moves"})
    assert "is finished: there is no way back any more" in refusal("migrate", "cutover", *run.words, "--back")
    assert (
        "began with -n 3, and not with 4: say the same, or give another new topic, since 'done-3' is in use"
        in (refusal("migrate", "copy", *run.words[:2], "-n", 4))
    )
    # Even without the old topic.
    topics.delete_topic(servers, "done")
    assert "finished already" in says("finish")
    # Once nobody has the new topic any more, a migration may begin anew.
    topics.delete_topic(servers, "done-3")
    assert "delete its ledger '__partwright_migrate-done-3' to begin anew" in refusal(
        "migrate", "copy", *run.words
    )


def test_a_topic_that_groups_read_is_not_to_be_deleted(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate], refusal: Callable[..., str]
) -> None:
    servers = broker.bootstrap_servers
    for topic, n in (("from", 2), ("read", 3), ("unread", 3)):
        topics.create_topic(servers, topic, n)
        fill(servers, topic, random.Random(3), 100)
    commit(servers, "its-reader", "read", {0: 1})
    for n in (3, 4):
        for step in ("plan", "copy"):
            said = refusal("migrate", step, *migrate("from", "read", n).words)
            assert said.endswith(": give another name, since the group 'its-reader' reads it\n")
            said = refusal("migrate", step, *migrate("from", "unread", n).words)
            assert said.endswith(": give another name, or delete it first\n")


def test_a_compacted_topic_keeps_its_last_values(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate]
) -> None:
    servers = broker.bootstrap_servers
    settings = {"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"}
    topics.create_topic(servers, "table", 3, topics.NewTopic(configs=settings))
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
    for row in range(3000):
        producer.produce("table", key=b"%d" % (row % 70), value=None if row % 11 == 0 else b"%d" % row)
        if row % 500 == 0:
            producer.flush()
            time.sleep(0.15)
    producer.flush()
    run = migrate("table", "table-7", 7)
    run("copy")
    verified = run("verify")
    assert verified["compared"] == "last value of each key"
    assert (verified["lost"], verified["twice"], verified["changed"]) == (0, 0, 0)
    last = {row.key: row.value for row in read(servers, "table") if row.key is not None}
    copied = {row.key: row.value for row in read(servers, "table-7")}
    assert {key: value for key, value in copied.items() if value is not None} == {
        key: value for key, value in last.items() if value is not None
    }


def test_a_topic_moves_to_another_cluster(
    broker: EmbeddedKafka, told: Callable[..., tuple[int, str, str]], seed: int
) -> None:
    topics.create_topic(broker.bootstrap_servers, "away", 4)
    fill(broker.bootstrap_servers, "away", random.Random(seed), 1500)
    commit(broker.bootstrap_servers, "travels", "away", {0: 20, 1: 20, 2: 20, 3: 20})
    with EmbeddedKafka(heap="192m") as other:
        source, target = (f"kafka://{each.bootstrap_servers}/away" for each in (broker, other))
        run = Migrate(told, source, target, 6)
        for step in ("plan", "copy", "verify"):
            assert run(step)["ok"]
        moved = run("cutover")
        assert committed(other.bootstrap_servers, "travels", "away") == {
            int(q): o for q, o in moved["groups"]["travels"].items()
        }
        assert by_key(read(other.bootstrap_servers, "away")) == by_key(read(broker.bootstrap_servers, "away"))
        run("finish")


def test_what_it_says_is_for_people_too(
    broker: EmbeddedKafka, told: Callable[..., tuple[int, str, str]]
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "told", 2)
    fill(servers, "told", random.Random(1), 200)
    commit(servers, "reads", "told", {0: 3, 1: 0})
    words = [f"kafka://{servers}/told", "told-3", "-n", "3"]
    for step, said in {
        "plan": "can be copied with each key in order",
        "copy": "records are copied",
        "verify": "0 lost, 0 twice",
        "cutover": "1 group has its offsets",
        "finish": "Finished",
    }.items():
        code, out, err = told("migrate", step, *words)
        assert (code, err) == (0, "")
        assert said in " ".join(out.split())
        assert "\n\nNext\n" in out


def test_verify_finds_what_is_wrong(
    broker: EmbeddedKafka,
    migrate: Callable[[str, str, int], Migrate],
    told: Callable[..., tuple[int, str, str]],
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "verified", 2)
    fill(servers, "verified", random.Random(2), 400)
    run = migrate("verified", "verified-5", 5)
    run("copy")
    producer = Producer({"bootstrap.servers": servers})
    producer.produce("verified-5", key=b"x", value=b"foreign", partition=3)
    producer.flush()
    code, out, _ = told("migrate", "verify", *run.words, "--json")
    answer = json.loads(out.splitlines()[-1])
    assert (code, answer["ok"], answer["lost"], answer["twice"]) == (1, False, 0, 1)
    assert "of partition 3 of the new topic is not a copy" in answer["first_wrong"]
    first, *_, last = answer["summary"].split(". ")
    assert (first, last) == ("The copy is wrong", "Do not cut over.")
    assert f" {answer['records']} records: 0 lost, 1 twice or foreign, " in answer["summary"]
