"""Simulations over tables: compared with the real accumulators' answers, with each other, and each refusal."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from partwright import Cluster, PartwrightError, Producer, ProducerConfig, Workload
from partwright.batching import Delivery, compare, replay, simulate

GOLDEN = Path(__file__).parents[1] / "golden" / "batching"
SCENARIO: dict[str, Any] = {
    "strategy": "sticky@4.4",
    "brokers": [{"id": 0, "latency_ms": 1}],
    "partitions": [{"id": 0, "leader": 0}],
    "records": [[10, None, None, 5]],
}
RECORDS = {"time": [0, 0, 1, 40], "size": [100, 100, 100, 100]}


HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def scenarios() -> list[dict[str, Any]]:
    """The scenarios of the golden files."""
    found = []
    for path in sorted(GOLDEN.glob("*.jsonl")):
        found += [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()[1:]]
    return found


def named(sizes: list[int | None] | None) -> list[tuple[str, bytes | None]] | None:
    """Headers of these sizes, as a scenario names them."""
    if sizes is None:
        return None
    values = [None if size is None else bytes(size) for size in sizes]
    return [(f"h{number}", value) for number, value in enumerate(values)]


def simulated(line: dict[str, Any], batches: int) -> dict[str, Any]:
    """A scenario as a table in several record batches."""
    times, keys, partitions, sizes = zip(*(record[:4] for record in line["records"]), strict=True)
    table = pa.table(
        {
            "time": pa.array(times, pa.int64()),
            "key": pa.array([None if key is None else bytes.fromhex(key) for key in keys], pa.binary()),
            "partition": pa.array(partitions, pa.int32()),
            "size": pa.array(sizes, pa.int32()),
            "headers": pa.array(
                [named(*record[4:]) if record[4:] else None for record in line["records"]], HEADERS
            ),
        }
    )
    brokers = [{"id": each["id"], "rack": each["rack"]} for each in line["brokers"]]
    cluster = Cluster.from_dict({"brokers": brokers, "topics": {"t": line["partitions"]}}, strict=False)
    found = simulate(
        pa.Table.from_batches(table.to_batches(max_chunksize=-(-len(table) // batches))),
        cluster,
        ProducerConfig(line["strategy"], line["config"]),
        delivery=Delivery(
            brokers={
                each["id"]: {name: each[name] for name in ("latency_ms", "away")} for each in line["brokers"]
            },
            sender=line["sender"],
            flush_ms=line["flush_ms"],
            failed_requests=line["failed_requests"],
        ),
        draws=line["draws"],
    )
    columns = found.records.to_pydict()
    sent = {batch["batch"]: batch["sent_ms"][:1] for batch in found.batches.to_pylist()}
    waited = [
        sent[batch][0] - time if sent[batch] else None
        for batch, time in zip(columns["batch"], times, strict=True)
    ]
    assert columns["waited_ms"] == waited
    check_summary(found.summary.to_pylist()[0], found, times)
    return {
        "placed": [list(pair) for pair in zip(columns["partition"], columns["batch"], strict=True)],
        "acked": found.batches.column("acked_ms").to_pylist(),
        "requests": found.requests.column("batches").to_pylist(),
    }


def check_summary(summary: dict[str, Any], found: Any, times: tuple[int, ...]) -> None:
    """The summary equals the sums over the tables."""
    batches = found.batches.to_pylist()
    records = found.records.to_pylist()
    assert summary["records"] == len(records)
    assert summary["batches"] == len(batches)
    assert summary["requests"] == len(found.requests)
    assert summary["unsent"] == sum(batch["records"] for batch in batches if not batch["sent_ms"])
    assert summary["mean_fill"] == pytest.approx(sum(batch["fill"] for batch in batches) / len(batches))
    waited = sorted(record["waited_ms"] for record in records if record["waited_ms"] is not None)
    acked = [batches[record["batch"]]["acked_ms"] for record in records]
    delays = sorted(done - time for done, time in zip(acked, times, strict=True) if done is not None)
    for name, values in (("waited", waited), ("delay", delays)):
        for percent in (50, 99):
            wanted = values[max(0, -(-len(values) * percent // 100) - 1)] if values else None
            assert summary[f"p{percent}_{name}_ms"] == wanted
    of_partition: dict[int, int] = {}
    for batch in batches:
        of_partition[batch["partition"]] = of_partition.get(batch["partition"], 0) + batch["bytes"]
    assert {each["partition"]: each["bytes"] for each in summary["partitions"]} == of_partition


def test_a_table_is_simulated_as_its_scenario_is_replayed() -> None:
    lines = scenarios()
    assert len(lines) > 90
    assert sum(any(record[4:] and record[4] for record in line["records"]) for line in lines) > 20
    for number, line in enumerate(lines):
        assert simulated(line, 1 + number % 3) == {
            "placed": line["placed"],
            "acked": [batch["acked_ms"] for batch in line["batches"]],
            "requests": [request["batches"] for request in line["requests"]],
        }, f"scenario {number}"


def test_nine_records_that_are_smaller_than_a_batch() -> None:
    """The worked example: no batch is full, all leave after linger.ms, and the gain is one batch instead of three."""
    nine = {"time": [0] * 9, "size": [100] * 9}
    found = {name: simulate(nine, {"t": 3}, name).batches for name in ("round-robin", "sticky", "sticky@2.4")}
    records = {name: batches.column("records").to_pylist() for name, batches in found.items()}
    assert records == {"round-robin": [3, 3, 3], "sticky": [9], "sticky@2.4": [9]}
    for name, sent in (("round-robin", 5), ("sticky", 5), ("sticky@2.4", 0)):
        batches = found[name].to_pydict()
        assert set(batches["why"]) <= {"linger", "node"}
        assert {times[0] for times in batches["sent_ms"]} == {sent}


def test_strategies_are_compared_in_one_pass() -> None:
    reader = pa.table(RECORDS).to_reader()
    producers = [ProducerConfig(each, {"linger.ms": 5}) for each in ("sticky", "sticky@2.4")]
    delivery = Delivery(latency_ms=3)
    found = compare(reader, {"t": 3}, producers, delivery=delivery).to_arrow()
    for row, producer in zip(found.to_pylist(), producers, strict=True):
        alone = simulate(RECORDS, {"t": 3}, producer, delivery=delivery).summary
        assert row == alone.to_pylist()[0]
    named = {
        "large": ProducerConfig(configs={"batch.size": 100_000}),
        "small": ProducerConfig(configs={"batch.size": 1}),
    }
    small = compare(RECORDS, {"t": 3}, named).to_arrow().to_pydict()
    assert small["name"] == ["large", "small"]
    assert small["batches"] == [2, 4]


def test_the_slow_brokers_share() -> None:
    cluster = Cluster.from_dict(
        {
            "brokers": [{"id": 0}, {"id": 1}],
            "topics": {"t": [{"id": 0, "leader": 0}, {"id": 1, "leader": 1}]},
        }
    )
    records = {"time": [0, 0, 0], "size": [100, 100, 100], "partition": [0, 1, 1]}
    found = (
        compare(records, cluster, ["sticky"], delivery=Delivery(brokers={1: {"latency_ms": 50}}))
        .to_arrow()
        .to_pylist()[0]
    )
    sizes = {each["partition"]: each["bytes"] for each in found["partitions"]}
    assert found["slow_share"] == sizes[1] / (sizes[0] + sizes[1])
    assert found["p99_delay_ms"] == 55
    assert compare(records, cluster, ["sticky"]).to_arrow().column("slow_share").to_pylist() == [None]


def test_compared_producers_place_keys_by_their_own_clients_rule() -> None:
    records = {"time": [0] * 40, "size": [1] * 40, "key": [f"key {number}" for number in range(40)]}
    producers = {each: ProducerConfig(client=each) for each in ("java", "librdkafka", "sarama")}
    found = compare(records, {"t": 7}, producers).to_arrow()
    assert found["name"].to_pylist() == list(producers)
    alone = [simulate(records, {"t": 7}, each).summary["partitions"][0] for each in producers.values()]
    assert found["partitions"].to_pylist() == [each.as_py() for each in alone]
    assert len({str(each) for each in alone}) == 3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"records": [[10, None, None, 5], [9, None, None, 5]]}, "row 1: time runs backwards, from 10 to 9 ms"),
        ({"records": [[10, None, None, 5], [10, None, None, -1]]}, "row 1: the size of a value is a whole number"),
        ({"records": [[10, None, None, 1_048_576]]}, "row 0: the record is 1048664 bytes when serialized"),
        ({"records": [[10, None, 1, 5]]}, "row 0: the record names partition 1, which the topic does not have"),
        ({"records": [[10, "xyz", None, 5]]}, "row 0: a key is bytes in hex, or null, not 'xyz'"),
        ({"records": [[10, None, None]]}, "row 0: a record is a list of time, key in hex"),
        ({"records": [[-1, None, None, 5]]}, "row 0: a time is a whole number from 0"),
        ({"records": [[10, None, None, 5, [-2]]]}, "row 0: the size of a header is a whole number"),
        ({"records": [[True, None, None, 5]]}, "row 0: a time is a whole number"),
        ({"records": 7}, "records: a list is needed, not 7"),
        ({"partitions": []}, "the topic has no partitions"),
        ({"partitions": [{"id": 0, "leader": 4}]}, "partition 0 is led by the broker 4"),
        ({"partitions": [{"id": 0, "leader": 0}] * 2}, "has the partition 0 twice"),
        ({"brokers": [{"id": 0, "away": [[5, 4]]}]}, "the broker 0 is away from 5 to 4, which is before"),
        ({"brokers": [{"id": 0, "away": [5]}]}, "broker 0: a span is a list of its first time and its end, not 5"),
        ({"brokers": [{"id": 0, "latency_ms": -1}]}, "broker 0: latency_ms is a whole number from 0"),
        ({"brokers": [{"id": 0, "latency_ms": {"from": 1, "to": 2**31}}]},
         "broker 0: latency_ms: to is a whole number from 1 to 2147483647, not 2147483648"),
        ({"config": {"batch.size": -1}}, "batch.size is a whole number from 0 to 2147483647, not -1"),
        ({"config": {"batch.size": 2**30}}, "Kafka's own producer appends no record, ever"),
        ({"config": {"max.in.flight.requests.per.connection": 0}},
         "max.in.flight.requests.per.connection is a whole number from 1 to 2147483647, not 0"),
        ({"config": {"partitioner.rack.aware": True}}, "client.rack must be set where partitioner.rack.aware is true"),
        ({"config": {"compression.type": "lz4"}}, "config has no field 'compression.type'"),
        ({"config": []}, "config is an object, not []"),
        ({"sender": "never"}, "sender is each-instant or each-append, not 'never'"),
        ({"draws": []}, "row 0: 0 draws are taken, and one more is needed"),
        ({"strategy": "stickyy"}, "there is no strategy"),
        ({"strategy": "old-null-key"}, "the batches of the strategy old-null-key are not known"),
        ({"record": []}, "a scenario has no field 'record': did you mean 'records'?"),
    ],
)  # fmt: skip
def test_a_bad_scenario_is_one_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PartwrightError) as refused:
        replay({**SCENARIO, **change})
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("records", "options", "sentence"),
    [
        ({"time": [0, 5, 4], "size": [1, 1, 1]}, {}, "row 2: time runs backwards, from 5 to 4 ms"),
        ({"size": [1]}, {}, "a simulation needs the records' times"),
        ({"time": [1]}, {}, "a simulation counts bytes"),
        ({"time": [1], "size": [-1]}, {}, "row 0: a value has 0 bytes or more, not -1"),
        (RECORDS, {"delivery": Delivery("u")}, "there is no topic 'u' in the cluster"),
        (
            RECORDS,
            {"delivery": Delivery(brokers={7: {"latency_ms": 1}})},
            "there is no broker 7 in the cluster",
        ),
        (RECORDS, {"delivery": Delivery(brokers={0: {"latency": 1}})}, "broker 0 has no field 'latency'"),
        (RECORDS, {"producer": 5}, "a strategy is named by text, not 5"),
        (
            RECORDS,
            {"producer": ProducerConfig(configs=5)},
            "configs are Kafka's keys and their values, not 5",
        ),
        (RECORDS, {"producer": ProducerConfig(client="jav")}, 'there is no client "jav"'),
        (
            RECORDS,
            {"delivery": {"latency_ms": 5}},
            "delivery is a partwright.batching.Delivery(...), not {'latency_ms': 5}",
        ),
        (RECORDS, {"workload": {"key": "id"}}, "workload is a partwright.Workload(...), not {'key': 'id'}"),
        (RECORDS, {"workload": Workload(size=5)}, "the column of each record's size is named by text, not 5"),
        (RECORDS, {"workload": Workload(size="bytes")}, "there is no column 'bytes'"),
    ],
)
def test_a_bad_table_is_one_sentence(records: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PartwrightError) as refused:
        simulate(records, {"t": 3}, **options)
    assert sentence in str(refused.value)


def bytes_of(headers: Any) -> list[int]:
    """The size of each record's batch, in which it is alone."""
    rows = len(headers)
    table = {"time": [number * 1000 for number in range(rows)], "size": [10] * rows, "headers": headers}
    found: list[int] = simulate(table, {"t": 1}).batches["bytes"].to_pylist()
    return found


def test_a_header_counts_by_its_name_and_its_value() -> None:
    plain, *others = bytes_of(
        [None, [], [("a", b"")], [("abc", b"")], [("é", None)], [("a", b"xyz"), ("b", b"xy")]]
    )
    # Before each header stand the lengths of its name and of its value, a byte each; é is two bytes.
    assert [size - plain for size in others] == [0, 3, 5, 4, 6 + 5]
    long, longer = bytes_of([[("n" * 20, b"v")], [("n" * 33, b"v")]])
    assert longer - long == 13


ENTRIES = [[("x", b"12")], None, [], [("yy", None), ("zzz", b"")], [("w", b"1" * 40)]]
NUMBERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.int64())]))


@pytest.mark.parametrize(
    "data_type",
    [
        pa.list_(pa.struct([("name", pa.binary()), ("value", pa.string())])),
        pa.large_list(pa.struct([("key", pa.large_string()), ("value", pa.binary_view())])),
        pa.map_(pa.string(), pa.binary()),
    ],
    ids=["list", "large-list", "map"],
)
def test_headers_are_lists_and_maps_whole_and_in_slices(data_type: pa.DataType) -> None:
    wanted = bytes_of(ENTRIES)
    assert len(set(wanted)) > 3
    column = pa.array([[("out", b"side")], *ENTRIES, [("out", b"side")]], data_type)
    assert bytes_of(column.slice(1, 5)) == wanted
    assert bytes_of(column.slice(3, 3)) == wanted[2:]
    chunks = pa.chunked_array([column.slice(1, 2), column.slice(3, 0), column.slice(3, 3)])
    assert bytes_of(chunks) == wanted
    assert bytes_of(pa.nulls(5)) == [wanted[1]] * 5


def test_what_is_behind_a_null_list_does_not_count() -> None:
    pairs = pa.array([("a", b"1"), (None, b"2"), ("b", b"3")], HEADERS.value_type)
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3]), pairs, mask=pa.array([False, True, False]))
    first, none, last = bytes_of(lists)
    assert (first, last) == (none + 4, none + 4)


@pytest.mark.parametrize(
    ("headers", "sentence"),
    [
        ([[], [(None, b"x")]], "row 1: a header must have a name, not null"),
        ([[], [("a", b""), None]], "row 1: a header must have a name, not null"),
        (
            pa.array([[1], [2]]),
            "the column of each record's headers has lists of structs of a name and a value, not list<item: int64>",
        ),
        (
            pa.array([5, 6]),
            "the column of each record's headers has lists of structs of a name and a value, not int64",
        ),
        (
            pa.array([[("a", 1)], []], NUMBERS),
            "a header's value of int64 has no bytes of its own: give its bytes",
        ),
        ([5, 6], "the column 'headers' (a list) cannot become a table of records: "),
    ],
)
def test_what_is_no_header_is_one_sentence(headers: Any, sentence: str) -> None:
    with pytest.raises(PartwrightError) as refused:
        bytes_of(headers)
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


def test_headers_have_a_column_of_any_name() -> None:
    columns = {"time": [0, 1], "size": [10, 10], "tags": [[("a", b"b")], []]}
    found = (
        compare(columns, {"t": 1}, ["sticky"], workload=Workload(headers="tags")).to_arrow().to_pylist()[0]
    )
    del columns["tags"]
    without = compare(columns, {"t": 1}, ["sticky"]).to_arrow().to_pylist()[0]
    assert found["partitions"][0]["bytes"] == without["partitions"][0]["bytes"] + 4
    with pytest.raises(PartwrightError, match="there is no column 'tag'"):
        compare(columns, {"t": 1}, ["sticky"], workload=Workload(headers="tag")).to_arrow()


def test_a_producer_counts_headers_too() -> None:
    """A batch of 200 bytes has room for six records of 17 to 20 bytes, or for two whose headers take 30 more."""
    configs = {"batch.size": 200}
    records: dict[str, Any] = {"size": [10] * 12}
    with_headers = {**records, "headers": [[("a", b"x" * 40)]] * 12}
    plain, headed = (
        Producer({"t": 3}, ProducerConfig("sticky@2.4", configs=configs, seed=1)).place(each).to_pylist()
        for each in (records, with_headers)
    )
    switches = [sum(one != other for one, other in itertools.pairwise(placed)) for placed in (plain, headed)]
    assert switches[0] < switches[1]
    timed = {"time": [0] * 12, **with_headers}
    simulated = simulate(timed, {"t": 3}, ProducerConfig("sticky@2.4", {"linger.ms": 5, **configs}, seed=1))
    assert simulated.records["partition"].to_pylist() == headed


DRAWN: list[dict[str, Any]] = [{"from": 1, "to": 9}, {"p50": 3, "p99": 60}, {"among": [1, 1, 2, 50]}]


def waits(found: Any) -> list[int]:
    """How long each request took."""
    rows = found.requests.to_pylist()
    return [row["done_ms"] - row["sent_ms"] for row in rows]


@pytest.mark.parametrize("latency", DRAWN, ids="-".join)
def test_latencies_are_drawn_for_each_request(latency: dict[str, Any]) -> None:
    # One batch per second, so that no answer waits for the one before it.
    records = {"time": [second * 1000 for second in range(500)], "size": [10] * 500}
    producer, delivery = ProducerConfig(seed=3), Delivery(latency_ms=latency)
    found = waits(simulate(records, {"t": 1}, producer, delivery=delivery))
    assert len(found) == 500
    if "from" in latency:
        assert set(found) == set(range(1, 10))
    elif "among" in latency:
        assert set(found) == {1, 2, 50}
        assert 200 < found.count(1) < 300
    else:
        assert 2 <= sorted(found)[249] <= 4
        assert 30 < sorted(found)[494] < 120
    of_broker = Delivery(brokers={0: {"latency_ms": latency}})
    assert found == waits(simulate(records, {"t": 1}, producer, delivery=of_broker))
    assert found != waits(simulate(records, {"t": 1}, ProducerConfig(seed=4), delivery=delivery))
    scenario = {**SCENARIO, "seed": 3, "brokers": [{"id": 0, "latency_ms": latency}]}
    lines = [[time, None, None, 10] for time in records["time"]]
    requests = replay({**scenario, "records": lines})["requests"]
    assert [each["done_ms"] - each["sent_ms"] for each in requests] == found


def test_drawn_latencies_leave_the_strategys_draws_alone() -> None:
    """Without adaptive weights, and if no batch waits for an answer, partitions depend only on records and draws."""
    in_flight = {"max.in.flight.requests.per.connection": 1000}
    configs = {"partitioner.adaptive.partitioning.enable": False, "batch.size": 500, **in_flight}
    records = {"time": [row // 3 for row in range(600)], "size": [100 + row % 50 for row in range(600)]}

    def placed(latency: Any, seed: int = 0, draws: Any = None) -> list[int]:
        producer = ProducerConfig(configs=configs, seed=seed)
        found = simulate(
            records, {"t": 4}, producer, delivery=Delivery(latency_ms=latency), draws=draws
        ).records
        partitions: list[int] = found["partition"].to_pylist()
        return partitions

    for drawn in ((5,), (0, list(range(-9, 991, 7)))):
        constant = placed(2, *drawn)
        assert len(set(constant)) == 4
        for latency in DRAWN:
            assert placed(latency, *drawn) == constant


def test_recorded_draws_leave_the_seed_for_the_latencies() -> None:
    records = {"time": [second * 1000 for second in range(20)], "size": [10] * 20}
    delivery = Delivery(latency_ms={"from": 1, "to": 900})
    one, other = (
        simulate(records, {"t": 1}, ProducerConfig(seed=seed), delivery=delivery, draws=[0, 0])
        for seed in (1, 2)
    )
    assert one.records["partition"].equals(other.records["partition"])
    assert waits(one) != waits(other)


def test_the_slow_broker_is_the_one_with_the_longest_median() -> None:
    partitions = [{"id": number, "leader": number} for number in range(2)]
    cluster = Cluster.from_dict({"brokers": [{"id": 0}, {"id": 1}], "topics": {"t": partitions}})
    records = {"time": [0, 0, 0], "size": [10] * 3, "partition": [0, 0, 1]}

    def share(first: Any, second: Any) -> float | None:
        delivery = Delivery(brokers={0: {"latency_ms": first}, 1: {"latency_ms": second}})
        found: float | None = (
            compare(records, cluster, ["sticky"], delivery=delivery).to_arrow()["slow_share"][0].as_py()
        )
        return found

    more, less = share(9, 1), share(1, 9)
    assert more is not None
    assert less is not None
    assert more > less
    assert (
        share({"from": 1, "to": 17}, 8) == share({"p50": 9, "p99": 9}, 8) == share({"among": [9]}, 8) == more
    )
    assert share({"p50": 7, "p99": 1000}, 8) == share({"among": [1, 7, 90]}, 8) == less
    assert share({"from": 1, "to": 17}, 9) is None


@pytest.mark.parametrize(
    ("latency", "sentence"),
    [
        (-1, "latency_ms is a whole number from 0 to 9223372036854775807, not -1"),
        (2**63, "latency_ms is a whole number from 0 to 9223372036854775807, not 9223372036854775808"),
        (None, "latency_ms is a number, or an object of from and to, p50 and p99, or among, not None"),
        (1.5, "latency_ms is a number, or an object of from and to, p50 and p99, or among, not 1.5"),
        (True, "latency_ms is a number, or an object of from and to, p50 and p99, or among, not True"),
        ("5", "latency_ms is a number, or an object of from and to, p50 and p99, or among, not '5'"),
        ({}, "latency_ms is a number, or an object of from and to, p50 and p99, or among, not {}"),
        ({"from": 1}, "latency_ms is a number, or an object of from and to"),
        ({"from": 1, "p99": 5}, "latency_ms is a number, or an object of from and to"),
        ({"from": 9, "to": 1}, "latency_ms: to is a whole number from 9 to 2147483647, not 1"),
        ({"from": -1, "to": 1}, "latency_ms: from is a whole number from 0 to 2147483647, not -1"),
        ({"p50": 0, "p99": 1}, "latency_ms: p50 is a whole number from 1 to 2147483647, not 0"),
        ({"p50": 5, "p99": 4}, "latency_ms: p99 is a whole number from 5 to 2147483647, not 4"),
        ({"p50": 5, "p99": 2**31}, "latency_ms: p99 is a whole number from 5 to 2147483647, not 2147483648"),
        ({"p50": 1.5, "p99": 4}, "latency_ms: p50 is a whole number from 1 to 2147483647, not 1.5"),
        ({"among": []}, "latency_ms: among has no latency: name at least one"),
        ({"among": 5}, "latency_ms: among: a list is needed, not 5"),
        ({"among": [1, -5]}, "latency_ms: each of among is a whole number from 0 to 2147483647, not -5"),
    ],
)
def test_what_is_no_latency_is_one_sentence(latency: Any, sentence: str) -> None:
    with pytest.raises(PartwrightError) as refused:
        simulate(RECORDS, {"t": 3}, delivery=Delivery(latency_ms=latency))
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)
    if latency is not None:
        with pytest.raises(PartwrightError) as refused:
            replay({**SCENARIO, "brokers": [{"id": 0, "latency_ms": latency}]})
        assert str(refused.value).startswith(f"broker 0: {sentence}")


def test_the_row_of_a_later_batch_is_that_of_the_table() -> None:
    table = pa.table({"time": [0, 1, 2, 1], "size": [1, 1, 1, 1]})
    with pytest.raises(PartwrightError, match=r"^row 3: time runs backwards"):
        simulate(pa.Table.from_batches(table.to_batches(max_chunksize=2)), {"t": 3})


def batch(text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "partwright", "batch", "-", *flags]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_the_command_answers_line_by_line() -> None:
    other = {**SCENARIO, "records": []}
    done = batch(f"{json.dumps(SCENARIO)}\n\n{json.dumps(other)}\n", "--jsonl")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers == [replay(SCENARIO), replay(other)]
    assert answers[1] == {"placed": [], "batches": [], "requests": []}
    done = batch(json.dumps(SCENARIO, indent=1), "--json")
    assert json.loads(done.stdout) == answers[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "stdin, line 1: this is not JSON"),
        ('{"records": [], "records": []}', "stdin, line 1: 'records' is there twice in one object"),
        ("[]", "stdin, line 1: a scenario is an object with records, not []"),
        (json.dumps({**SCENARIO, "partitions": []}), "stdin, line 1: the topic has no partitions"),
    ],
)
def test_the_command_refuses_with_the_line_and_exit_code_2(text: str, sentence: str) -> None:
    done = batch(text, "--jsonl")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
