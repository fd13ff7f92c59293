"""A producer in Python: the order of preference, tables of records, each strategy's rule, and every refusal."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright.cluster import Broker, Partition
from partwright.producer.replay import replay_strategy

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "strategies").glob("*.jsonl"))
# "polygenelubricants".hashCode() is Integer.MIN_VALUE.
MIN_VALUE = "polygenelubricants"
THREE = {"orders": 3}
UNLED = pw.Cluster([Broker(0)], {"orders": [Partition(0, leader=0), Partition(1), Partition(2, leader=0)]})
LEADERLESS = pw.Cluster([], {"orders": [Partition(0), Partition(1), Partition(2)]})


def producer_of(cluster: Any, **options: Any) -> pw.Producer:
    """A producer by the names of its settings, those of `ProducerConfig` among them."""
    own = ("draws", "counters", "lingers", "leader")
    config = pw.ProducerConfig(**{name: each for name, each in options.items() if name not in own})
    return pw.Producer(cluster, config, **{name: options[name] for name in own if name in options})


def placed(strategy: Any, records: dict[str, Any], cluster: Any = None, **options: Any) -> list[int | None]:
    producer = producer_of(THREE if cluster is None else cluster, strategy=strategy, **options)
    found: list[int | None] = producer.place(records).to_pylist()
    return found


# The real clients' answers, once more through Python.


def test_there_are_golden_files_of_five_kafkas() -> None:
    assert {path.stem for path in GOLDEN} == {"client", "client-2.3", "client-2.8", "client-3.9", "old"}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_lines_are_replayed_as_the_real_classes_answered(path: Path) -> None:
    def told(answers: list[Any]) -> list[Any]:
        return ["error" if isinstance(each, dict) else each for each in answers]

    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) > 30
    for line in lines:
        question = json.loads(line)
        ((kind, answers),) = replay_strategy(question).items()
        assert told(answers) == told(question[kind]), line


# The order of preference.


@pytest.mark.parametrize("strategy", [*pw.strategies().column("strategy").to_pylist(), "sticky"])
def test_a_records_own_partition_comes_first(strategy: str) -> None:
    records = {"partition": [2, 0, 1], "key": ["TT0124"] * 3, "size": [1, 2, 3], "field": ["a", "b", "c"]}
    configs = {"leader.host": "*", "partitioner.ignore.keys": True}
    assert placed(strategy, records, configs=configs) == [2, 0, 1]


def test_a_configured_partitioner_takes_records_with_keys_and_the_others_do_not() -> None:
    keys = [f"k{number}" for number in range(50)]
    by_key = pw.partition_for_key(keys, 3).to_pylist()
    records = {"key": keys, "size": [10] * 50}
    for strategy in ["key", "sticky", "sticky@3.3", "sticky@2.4", "old-null-key", "default@2.3"]:
        assert placed(strategy, records) == by_key, strategy
    assert placed("round-robin", records) == [number % 3 for number in range(50)]
    for strategy in ["random", "uniform-sticky@2.4"]:
        assert placed(strategy, records) != by_key, strategy


def test_ignore_keys_is_the_built_in_partitioners() -> None:
    records = {"key": [f"k{number}" for number in range(50)], "size": [10] * 50}
    configs = {"partitioner.ignore.keys": "true"}
    for strategy in ["sticky", "sticky@3.3"]:
        assert len(set(placed(strategy, records, configs=configs))) == 1
    assert len(set(placed("sticky@2.4", records, configs=configs))) == 3


def test_an_empty_key_is_a_key_and_a_null_key_is_none() -> None:
    assert placed("key", {"key": ["", None]}) == [pw.partition_for_key("", 3), None]
    assert placed("key", {"key": ["", None]}, client="librdkafka") == [None, None]


def test_keys_go_by_the_clients_rule_and_the_key_type() -> None:
    numbers = list(range(40))
    records = {"key": pa.array(numbers, pa.int64()), "size": [1] * 40}
    found = placed("sticky", records, client="sarama", key_type="java:long")
    assert found == pw.partition_for_key(pa.array(numbers), 3, "sarama", "java:long").to_pylist()


# Each strategy.


def test_kafka_0_8_has_a_partition_where_maths_abs_has_none() -> None:
    """`kafka.utils.Utils.abs`; the golden file of 0.8.2.2 has the same keys."""
    keys = ["polygenelubricants", "TT0124", "orders"]
    with pytest.raises(pw.PartwrightError, match=r"^row 0: .* hashCode -2147483648"):
        pw.Producer({"t": 12}, pw.ProducerConfig("key", client="java:string-hash")).place({"key": keys})
    old = pw.Producer({"t": 12}, pw.ProducerConfig("default@0.8", client="java:string-hash"))
    others = pw.partition_for_key(keys[1:], 12, "java:string-hash").to_pylist()
    assert old.place({"key": keys}).to_pylist() == [0, *others]
    assert (
        [old.partition("t", key) for key in keys]
        == [old.place_record("t", key) for key in keys]
        == [0, *others]
    )


def test_explicit_needs_a_partition_unless_it_is_said_what_else() -> None:
    assert placed("explicit", {"partition": [2, 0]}) == [2, 0]
    with pytest.raises(
        pw.PartwrightError, match=r"row 1: the strategy explicit has no partition .* names no partition"
    ):
        placed("explicit", {"partition": [2, None]})
    otherwise = {"otherwise": "round-robin"}
    assert placed("explicit", {"partition": [None, 2, None, None]}, configs=otherwise) == [0, 2, 1, 2]


def test_minus_one_names_no_partition_where_it_is_said_what_else() -> None:
    otherwise = {"otherwise": "round-robin"}
    assert placed("explicit", {"partition": [-1, 2, None, -1, 0]}, configs=otherwise) == [0, 2, 1, 2, 0]
    for partitions, strategy, configs in (
        ([0, -1], "explicit", {}),
        ([0, -2], "explicit", otherwise),
        ([0, -1], "round-robin", otherwise),
    ):
        with pytest.raises(
            pw.PartwrightError, match=rf"^row 1: the record names partition {partitions[1]}, "
        ):
            placed(strategy, {"partition": partitions}, configs=configs)


@pytest.mark.parametrize("partition", [-1, 3])
def test_a_partition_that_the_topic_does_not_have_is_refused_with_its_row(partition: int) -> None:
    with pytest.raises(
        pw.PartwrightError, match=rf"^row 1: the record names partition {partition}, .* has 3"
    ):
        placed("sticky", {"partition": [0, partition], "size": [1, 1]})


def test_round_robin_goes_over_those_with_a_leader_or_over_all() -> None:
    assert placed("round-robin", {"key": [None] * 4}, UNLED) == [0, 2, 0, 2]
    assert placed("round-robin", {"key": [None] * 4}, LEADERLESS) == [0, 1, 2, 0]


def test_round_robin_follows_the_metadatas_order_and_wraps() -> None:
    cluster = pw.Cluster.of({"orders": 12}).in_metadata_order()
    assert placed("round-robin", {"key": [None] * 13}, cluster) == [7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7]
    last = 2**31 - 1
    counters = {"orders": last}
    assert placed("round-robin", {"key": [None] * 3}, counters=counters) == [last % 3, 0, 1]


def test_the_skew_of_round_robin_by_version() -> None:
    records = {"size": [100] * 400}
    of_2_8 = placed("round-robin@2.8", records, {"orders": 4})
    assert set(of_2_8) == {1, 3}
    assert placed("round-robin@3.9.1", records, {"orders": 4}) == of_2_8
    for strategy in ["round-robin@3.9.2", "round-robin@4.0", "round-robin"]:
        assert [placed(strategy, records, {"orders": 4}).count(each) for each in range(4)] == [100] * 4


def test_random_draws_from_all_or_from_those_with_a_leader() -> None:
    records = {"key": [None] * 300}
    assert set(placed("random", records, UNLED)) == {0, 1, 2}
    assert set(placed("random", records, UNLED, configs={"random.available": True})) == {0, 2}
    assert placed("random", records, seed=4) == placed("random", records, seed=4)
    assert placed("random", records, seed=4) != placed("random", records, seed=5)
    assert placed("random", records) != placed("random", records, {"orders": 4})


@pytest.mark.parametrize("strategy", ["sticky@2.4", "uniform-sticky@2.4"])
def test_the_sticky_partition_of_2_4_is_never_the_one_before(strategy: str) -> None:
    found = placed(strategy, {"size": [100] * 500}, configs={"batch.size": 1})
    assert set(found) == {0, 1, 2}
    assert all(one != other for one, other in pairwise(found))


def test_on_new_batch_moves_the_sticky_partition_only_if_it_is_the_previous_one() -> None:
    producer = pw.Producer(THREE, "sticky@2.4", draws=[0, 0, 1])
    assert producer.partition("orders") == 0
    producer.on_new_batch("orders", 2)
    assert producer.partition("orders") == 0
    producer.on_new_batch("orders", 0)
    assert (producer.partition("orders"), producer.drawn) == (1, 3)


@pytest.mark.parametrize(
    ("produced", "enable_switch", "moves"),
    [(99, True, False), (100, True, True), (199, False, False), (200, False, True)],
)
def test_the_built_in_partitioner_moves_on_after_batch_size_or_twice_that(
    produced: int, enable_switch: bool, moves: bool
) -> None:
    producer = pw.Producer(THREE, pw.ProducerConfig("sticky", configs={"batch.size": 100}), draws=[0, 1])
    assert producer.sticky.append("orders", produced, enable_switch=enable_switch) == 0
    assert producer.partition("orders") == int(moves)
    assert producer.drawn == 1 + moves


def test_the_built_in_partitioner_may_draw_the_same_again_and_weighs_queues() -> None:
    producer = pw.Producer(
        THREE, pw.ProducerConfig("sticky", configs={"batch.size": 1}), draws=[4, 4, 7, 3, 0]
    )
    assert [producer.sticky.append("orders", 1) for _ in range(2)] == [1, 1]
    producer = pw.Producer(THREE, "sticky", draws=[0, 3, 4, 5, 7, 8])
    producer.sticky.load_stats("orders", [0, 3, 1], [0, 1, 2])
    assert [producer.sticky.next_partition("orders") for _ in range(6)] == [0, 0, 1, 2, 2, 0]


def test_racks_matter_since_4_4_and_where_asked_for() -> None:
    racks = [Broker(0, rack="a"), Broker(1, rack="b")]
    cluster = pw.Cluster(racks, {"orders": [Partition(each, leader=each % 2) for each in range(6)]})
    configs = {"partitioner.rack.aware": True, "client.rack": "b", "batch.size": 1}
    records = {"size": [10] * 200}
    assert set(placed("sticky", records, cluster, configs=configs)) == {1, 3, 5}
    assert set(placed("sticky@4.3", records, cluster, configs=configs)) == set(range(6))
    assert set(
        placed("sticky", records, cluster, configs={**configs, "partitioner.rack.aware": False})
    ) == set(range(6))
    assert set(placed("sticky", records, cluster, configs={**configs, "client.rack": "c"})) == set(range(6))


def test_the_old_null_key_partition_is_kept_until_the_metadata_is_refreshed() -> None:
    times = [0, 1, 600_000, 600_001, 600_002, 1_200_002]
    found = placed("old-null-key", {"time": times}, draws=[0, 1, 2])
    assert found == [0, 0, 0, 1, 1, 2]
    with pytest.raises(pw.PartwrightError, match=r"row 0: .*LeaderNotAvailableException"):
        placed("default@0.8", {"time": [0]}, LEADERLESS)


def test_batches_linger_where_records_have_times() -> None:
    records = {"size": [10] * 3, "time": [0, 5, 11]}
    stays = placed("sticky@2.4", {"size": [10] * 3}, draws=[0, 1, 2])
    assert stays == [1, 1, 1]
    assert placed("sticky@2.4", records, configs={"linger.ms": 5}, draws=[0, 1, 2]) == [1, 1, 2]
    moments = pa.array([datetime(2026, 1, 1, 0, 0, 0, ms * 1000, tzinfo=UTC) for ms in records["time"]])
    assert placed("sticky@2.4", {**records, "time": moments}, configs={"linger.ms": 5}, draws=[0, 1, 2]) == [
        1,
        1,
        2,
    ]


@pytest.mark.parametrize(
    ("configs", "found"),
    [
        ({"leader.rack": "eu-1b"}, {1, 4}),
        ({"leader.rack": "eu-*"}, {0, 1, 3, 4}),
        ({"leader.host": "10.1.0.0/16"}, {0, 3}),
        ({"leader.host": "10.*"}, {0, 1, 3, 4}),
        ({"leader.region": "us"}, {2}),
        ({"leader.rack": "eu-*", "leader.host": "10.2.3.4"}, {1, 4}),
    ],
)
def test_leader_goes_by_host_rack_or_region(configs: dict[str, str], found: set[int]) -> None:
    brokers = [
        Broker(0, host="10.1.2.3", rack="eu-1a", region="eu"),
        Broker(1, host="10.2.3.4", rack="eu-1b", region="eu"),
        Broker(2, host="kafka-3", rack="us-1a", region="us"),
    ]
    partitions = [*(Partition(each, leader=each % 3) for each in range(5)), Partition(5)]
    cluster = pw.Cluster(brokers, {"orders": partitions})
    assert set(placed("leader", {"key": [None] * 200}, cluster, configs=configs)) == found
    for among, first in [("first", [min(found)] * 3), ("round-robin", (sorted(found) * 3)[:3])]:
        chosen = {**configs, "leader.among": among}
        assert placed("leader", {"key": [None] * 3}, cluster, configs=chosen) == first
    by_key = placed("leader", {"key": ["a", "b", "a"]}, cluster, configs={**configs, "leader.among": "key"})
    assert by_key[0] == by_key[2]
    assert set(by_key) <= found


def test_leader_says_so_where_none_matches() -> None:
    configs = {"leader.rack": "nowhere"}
    with pytest.raises(pw.PartwrightError, match=r"row 0: .* no leader is where it should be"):
        placed("leader", {"key": [None]}, UNLED, configs=configs)
    assert placed("leader", {"key": [None] * 2}, UNLED, configs={**configs, "otherwise": "round-robin"}) == [
        0,
        2,
    ]
    assert placed("leader", {"key": [None]}, UNLED, leader=lambda broker: broker.id == 0, draws=[1]) == [2]
    with pytest.raises(pw.PartwrightError, match=r"set leader\.host, leader\.rack or leader\.region"):
        pw.Producer(UNLED, "leader")


def test_field_goes_by_a_value_or_by_a_network() -> None:
    countries = ["de", "fr", "de", "us"] * 10
    assert placed("field", {"field": countries}) == pw.partition_for_key(countries, 3).to_pylist()
    addresses = [f"10.1.{net}.{host}" for net in range(20) for host in (1, 77)]
    configs = {"field.type": "address", "field.prefix.ipv4": 24}
    found = placed("field", {"field": addresses}, {"orders": 7}, configs=configs)
    assert found[::2] == found[1::2]
    assert len(set(found)) > 3
    assert found[0] == pw.partition_for_key(bytes([10, 1, 0, 0]), 7)
    six = placed(
        "field", {"field": ["2001:db8::1", "2001:db8::2"]}, configs={**configs, "field.prefix.ipv6": 64}
    )
    assert six == [pw.partition_for_key(bytes.fromhex("20010db8") + bytes(12), 3)] * 2
    one = pw.Producer({"orders": 7}, pw.ProducerConfig("field", configs=configs))
    assert [one.partition("orders", address) for address in addresses] == found
    with pytest.raises(pw.PartwrightError, match="5 is not an IP address"):
        one.partition("orders", 5)
    numbers = pw.Producer({"orders": 7}, pw.ProducerConfig("field", key_type="java:long"))
    want = [pw.partition_for_key(number, 7, key_type="java:long") for number in range(9)]
    assert numbers.place({"field": list(range(9))}).to_pylist() == want
    assert [numbers.partition("orders", number) for number in range(9)] == want
    with pytest.raises(pw.PartwrightError, match=r"'10\.1\.2' is not an IP address"):
        placed("field", {"field": ["10.1.2"]}, configs=configs)
    with pytest.raises(pw.PartwrightError, match=r"row 1: .* its field is null"):
        placed("field", {"field": ["a", None]})


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        ("default@0.8.2", "old-null-key"),
        ("default@0.9", "default@2.3"),
        ("default@2.3.1", "default@2.3"),
        ("default@2.4", "sticky@2.4"),
        ("default@3.2", "sticky@2.4"),
        ("default@3.3", "sticky@3.3"),
        ("default@4.3.1", "sticky@3.3"),
        ("default@4.4", "sticky@4.4"),
        ("sticky@3.0", "sticky@2.4"),
        ("sticky", "sticky@4.4"),
        ("round-robin@2.4", "round-robin@2.8"),
        ("round-robin@3.9.2", "round-robin@3.9.2"),
        ("round-robin@4.4.0", "round-robin"),
        ("org.apache.kafka.clients.producer.RoundRobinPartitioner", "round-robin"),
        ("org.apache.kafka.clients.producer.UniformStickyPartitioner", "uniform-sticky@2.4"),
        ("org.apache.kafka.clients.producer.internals.DefaultPartitioner", "sticky@2.4"),
    ],
)
def test_a_strategy_has_one_name_for_each_version(name: str, strategy: str) -> None:
    assert pw.Producer(THREE, name).strategy == strategy
    assert pw.Producer(THREE, pw.ProducerConfig(configs={"partitioner.class": name})).strategy == strategy


# Tables.


def test_a_table_of_several_topics_goes_by_each_ones_partitions() -> None:
    cluster = pw.Cluster.of({"orders": 3, "users": 7})
    keys = [f"k{number}" for number in range(60)]
    topics = ["orders", "users", "users"] * 20
    found = pw.Producer(cluster, "sticky").place({"topic": topics, "key": keys, "size": [1] * 60}).to_pylist()
    assert found == [
        pw.partition_for_key(key, 3 if topic == "orders" else 7)
        for key, topic in zip(keys, topics, strict=True)
    ]
    turns = pw.Producer(cluster, "round-robin").place({"topic": topics}).to_pylist()
    assert [turn for turn, topic in zip(turns, topics, strict=True) if topic == "users"] == [
        at % 7 for at in range(40)
    ]
    users = pw.Producer(cluster, "round-robin").place({"key": keys}, topic="users").to_pylist()
    assert users == [at % 7 for at in range(60)]


def test_batches_of_a_table_are_one_stream_of_records() -> None:
    sizes = [7, 900, None, 0, 33, 5000] * 60
    keys = [None, "a", None, None, "", None] * 60
    whole = pa.table({"key": keys, "size": pa.array(sizes, pa.int64())})
    cut = pa.Table.from_batches(whole.to_batches(max_chunksize=37))
    configs = {"batch.size": 1000}
    for strategy in ["sticky", "sticky@2.4", "round-robin@2.8"]:
        producer = pw.Producer(THREE, pw.ProducerConfig(strategy, configs=configs, seed=3))
        found = producer.place(cut)
        assert [len(chunk) for chunk in found.chunks] == [37] * 9 + [27]
        assert found.to_pylist() == placed(strategy, {"key": keys, "size": sizes}, configs=configs, seed=3)
        assert cut.append_column("partition", found).num_columns == 3


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["", "x" * 100, None]),
        pa.array([b"", b"x" * 100, None], pa.large_binary()),
        pa.array(["", "x" * 100, None], pa.string_view()),
        pa.array(["", "x" * 100, None]).dictionary_encode(),
    ],
    ids=lambda values: str(values.type),
)
def test_values_count_by_their_bytes(values: Any) -> None:
    configs = {"batch.size": 150}
    sizes = pa.chunked_array([pa.array([0, 100, None], pa.int32())] * 30)
    expected = placed("sticky", {"size": sizes}, configs=configs)
    assert len(set(expected)) == 3
    assert placed("sticky", {"value": pa.chunked_array([values] * 30)}, configs=configs) == expected


def test_a_slice_is_its_rows() -> None:
    table = pa.table({"key": [f"k{at}" for at in range(100)], "size": list(range(100))})
    part = table.slice(13, 40)
    assert (
        placed("sticky", {"key": part["key"], "size": part["size"]})
        == pw.Producer(THREE, "sticky").place(part).to_pylist()
    )


def test_columns_may_have_other_names() -> None:
    table = pa.table({"id": ["a", "b"], "bytes": [1, 2]})
    assert pw.Producer(THREE).place(table, pw.Workload(key="id", size="bytes")).to_pylist() == [
        pw.partition_for_key(key, 3) for key in ("a", "b")
    ]


def test_no_records_have_no_partitions() -> None:
    found = pw.Producer(THREE, "round-robin").place({"key": []})
    assert (found.to_pylist(), str(found.type)) == ([], "int32")


def test_a_row_is_counted_from_the_tables_start() -> None:
    table = pa.Table.from_batches(pa.table({"partition": [0] * 99 + [9]}).to_batches(max_chunksize=30))
    with pytest.raises(pw.PartwrightError, match=r"^row 99: the record names partition 9"):
        pw.Producer(THREE, "explicit").place(table)


@pytest.mark.parametrize(
    ("options", "column", "sentence"),
    [
        ({"client": "java:string-hash"}, {"key": ["a", "b", "a", MIN_VALUE]}, 'the key "polygenelubricants"'),
        ({"strategy": "random"}, {"topic": ["orders"] * 3 + ["users"]}, "the record names topic 'users'"),
        ({"strategy": "random"}, {"partition": [0, 0, 0, 2**40]}, "a partition is a number of 32 bits"),
        ({"strategy": "sticky"}, {"size": [1, 1, 1, -1]}, "a value has 0 bytes or more, not -1"),
        ({"strategy": "random"}, {"time": [1, 1, 1, None]}, "a record must have a time if others have one"),
        (
            {"strategy": "field", "configs": {"field.type": "address"}},
            {"field": ["::1", "10.0.0.1", "::1", "10.0.0"]},
            "'10.0.0' is not an IP address",
        ),
    ],
)
def test_every_refusal_counts_its_row_from_the_tables_start(
    options: dict[str, Any], column: dict[str, Any], sentence: str
) -> None:
    table = pa.Table.from_batches(pa.table(column).to_batches(max_chunksize=2))
    with pytest.raises(pw.PartwrightError, match=f"^row 3: {sentence}"):
        producer_of({"orders": 12}, **{"strategy": "key", **options}).place(table)


def test_a_refused_key_has_its_row_of_a_table_of_several_topics() -> None:
    table = {"topic": ["a", "b", "a", "b"], "key": ["k", "k", "k", MIN_VALUE]}
    with pytest.raises(pw.PartwrightError, match=f'^row 3: the key "{MIN_VALUE}"'):
        pw.Producer({"a": 4, "b": 12}, pw.ProducerConfig("key", client="java:string-hash")).place(table)


def test_a_key_that_decides_nothing_is_not_hashed() -> None:
    keys = {"key": [MIN_VALUE, "a"], "size": [1, 1]}
    hashed = pw.Producer({"orders": 12}, pw.ProducerConfig("key", client="java:string-hash"))
    assert hashed.place({**keys, "partition": [5, None]}).to_pylist() == [5, hashed.partition("orders", "a")]
    ignoring = pw.Producer(
        {"orders": 12},
        pw.ProducerConfig(configs={"partitioner.ignore.keys": True}, client="java:string-hash"),
        draws=[7],
    )
    assert ignoring.place(keys).to_pylist() == [7, 7]


@pytest.mark.parametrize("data_type", [pa.string_view(), pa.binary_view(), pa.large_string()])
def test_keys_of_several_topics_are_of_any_type(data_type: pa.DataType) -> None:
    table = {"topic": ["a", "b", "b"], "key": pa.array(["k", None, "l"], pa.string()).cast(data_type)}
    want = [pw.partition_for_key("k", 3), None, pw.partition_for_key("l", 7)]
    assert pw.Producer({"a": 3, "b": 7}, "key").place(table).to_pylist() == want


def test_keys_without_bytes_are_refused_in_several_topics_too() -> None:
    keys = pa.RunEndEncodedArray.from_arrays([1, 2], pa.array(["k", "l"]))
    with pytest.raises(pw.KeyTypeError, match="run_end_encoded has no key bytes"):
        pw.Producer({"a": 3, "b": 7}, "key").place({"topic": ["a", "b"], "key": keys})


def test_a_stream_that_breaks_off_is_refused_in_one_sentence() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"size": [1]})
        raise RuntimeError("two\nlines")

    stream = pa.RecordBatchReader.from_batches(pa.schema({"size": pa.int64()}), batches())
    with pytest.raises(pw.PartwrightError, match="the table of records ends in an error") as refused:
        pw.Producer(THREE).place(stream)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("strategy", pw.strategies()["strategy"].to_pylist())
def test_a_record_alone_goes_where_it_goes_in_a_table(strategy: str) -> None:
    if strategy in {"leader", "field"}:
        configs = {"otherwise": "round-robin", "leader.host": "none"}
    else:
        configs = {"batch.size": 300, "linger.ms": 3, "otherwise": "random"}
    sizes = [None if number % 13 == 0 else number % 90 for number in range(400)]
    keys = [f"k{number}" if number % 4 == 0 else None for number in range(400)]
    own = [number % 7 if number % 10 == 0 else None for number in range(400)]
    if strategy == "field":
        keys = [None] * 400
    table = {"key": keys, "size": sizes, "partition": own, "time": list(range(400)), "field": [None] * 400}
    column = pw.Producer({"t": 7}, pw.ProducerConfig(strategy, configs=configs, seed=5)).place(
        {
            name: pa.array(each, pa.string() if name in {"key", "field"} else pa.int64())
            for name, each in table.items()
        }
    )
    alone = pw.Producer({"t": 7}, pw.ProducerConfig(strategy, configs=configs, seed=5))
    found = [
        alone.place_record("t", key, None if size is None else b"v" * size, partition=named, time=time)
        for time, (key, size, named) in enumerate(zip(keys, sizes, own, strict=True))
    ]
    assert found == column.to_pylist()


def test_a_record_alone_is_ones_own_partitioners_too() -> None:
    table = {"key": ["a", None, "b"] * 20, "value": ["v" * 30] * 60}
    configs = {"batch.size": 200}
    wanted = pw.Producer({"t": 5}, pw.ProducerConfig(Told(), configs=configs)).place(table).to_pylist()
    assert len(set(wanted)) == 3
    alone = pw.Producer({"t": 5}, pw.ProducerConfig(Told(), configs=configs))
    assert [alone.place_record("t", key, "v" * 30) for key in table["key"]] == wanted
    assert alone.place_record("t", partition=4) == 4
    with pytest.raises(pw.PartwrightError, match=r"^ByBatch gives the partitions of batches: it is asked by"):
        pw.Producer(THREE, ByBatch).place_record("orders")


def test_new_metadata_may_name_its_topics_in_another_order() -> None:
    producer = pw.Producer({"a": 3, "b": 12}, "key")
    producer.update(pw.Cluster.of({"c": 7, "b": 12, "a": 3}))
    topics, keys = list("abcabc"), list("ppprrr")
    want = [producer.partition(*record) for record in zip(topics, keys, strict=True)]
    assert producer.place({"topic": topics, "key": keys}).to_pylist() == want
    assert want == [
        pw.partition_for_key(k, {"a": 3, "b": 12, "c": 7}[t]) for t, k in zip(topics, keys, strict=True)
    ]


def test_new_metadata_keeps_what_is_kept() -> None:
    producer = pw.Producer(THREE, "round-robin")
    assert producer.place({"key": [None] * 2}).to_pylist() == [0, 1]
    producer.update(pw.Cluster.of({"orders": 5, "users": 2}))
    assert producer.place({"key": [None] * 4}, topic="orders").to_pylist() == [2, 3, 4, 0]
    assert producer.partition("users") == 0
    with pytest.raises(pw.PartwrightError, match="orders"):
        producer.update(pw.Cluster.of({"users": 2}))


def test_a_closed_producer_places_nothing() -> None:
    producer = pw.Producer(THREE)
    producer.close()
    with pytest.raises(pw.PartwrightError, match="closed"):
        producer.place({"size": [1]})


# A partitioner of one's own.


class Told:
    """Moves on at each new batch, as a user's own class of Kafka 2.4 may."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.said: list[Any] = []
        self.now = 0

    def configure(self, configs: dict[str, Any]) -> None:
        self.said.append(configs)

    def partition(
        self, topic: str, key: Any, key_bytes: Any, value: Any, value_bytes: Any, cluster: Any
    ) -> int:
        self.said.append((topic, key, key_bytes, value, value_bytes, len(cluster.partitions(topic))))
        return self.now

    def on_new_batch(self, topic: str, cluster: Any, previous: int) -> None:
        del topic, cluster
        self.now = (previous + 1) % 3

    def close(self) -> None:
        self.said.append("closed")


class Odd:
    """A number that is not a partition."""

    def __index__(self) -> int:
        raise RuntimeError("odd")

    def __repr__(self) -> str:
        return "odd"


class ByBatch:
    """All records go to the last partition but one."""

    def partitions(self, batch: pa.RecordBatch, cluster: Any) -> list[int]:
        return [len(cluster.partitions("orders")) - 2] * batch.num_rows


class Wrong:
    """Returns the value that it was made with."""

    def __init__(self, answer: Any) -> None:
        """Keeps it."""
        self.answer = answer

    def partition(self, *_: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_ones_own_partitioner_has_the_calls_of_kafkas() -> None:
    own = Told()
    producer = pw.Producer(THREE, pw.ProducerConfig(own, configs={"batch.size": 1}))
    records = {
        "key": ["a", None, "b"],
        "value": ["x" * 50, b"y" * 50 and "y" * 50, None],
        "partition": [None, 2, None],
    }
    assert producer.place(records).to_pylist() == [1, 2, 1]
    producer.close()
    first = ("orders", "a", b"a", "x" * 50, b"x" * 50, 3)
    assert own.said[:3] == [{"batch.size": 1}, first, first]
    assert own.said[-1] == "closed"


def test_ones_own_class_is_found_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        "class Last:\n"
        "    def partition(self, topic, key, key_bytes, value, value_bytes, cluster):\n"
        "        return len(cluster.partitions(topic)) - 1\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    for path in ["mine.Last", "mine:Last"]:
        assert placed(path, {"key": ["a", None]}) == [2, 2]
        assert (
            pw.Producer(THREE, pw.ProducerConfig(configs={"partitioner.class": path})).partition("orders")
            == 2
        )
    assert placed(ByBatch, {"key": ["a", None]}) == [1, 1]


HUGE = pytest.param(10**5000, "a value of type int", id="huge")


@pytest.mark.parametrize(
    ("answer", "shown"), [(3, "3"), (-1, "-1"), (None, "None"), (True, "True"), HUGE, (Odd(), "odd")]
)
def test_ones_own_answer_is_a_partition(answer: Any, shown: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        placed(Wrong(answer), {"key": ["a"]})
    assert str(refused.value) == f"row 0: Wrong gives the partition {shown}, and topic 'orders' has 0 to 2"


def test_ones_own_error_is_one_sentence() -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        placed(Wrong(ValueError("no\nway")), {"key": ["a"]})
    assert str(refused.value) == "row 0: Wrong.partition raised ValueError: no"


# Refusals.


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"strategy": "stiky"}, 'there is no strategy "stiky".*did you mean sticky'),
        ({"strategy": "sticky@2.3"}, "there is no sticky@2.3: Kafka's producers are sticky since 2.4"),
        ({"strategy": "uniform-sticky@4.0"}, "there is no uniform-sticky@4.0: .* from 2.4 to 3.9"),
        ({"strategy": "default@0.7"}, "there is no default@0.7: Kafka's versions begin with 0.8"),
        ({"strategy": "default@x"}, "default@x names no version of Kafka: write it like default@2.8"),
        ({"strategy": "no_module.Mine"}, "the partitioner 'no_module.Mine' cannot be imported"),
        ({"strategy": object()}, "object is not a partitioner: it has no partition"),
        ({"client": "jav"}, 'there is no client "jav"'),
        ({"configs": {"batch.size": -1}}, "batch.size is a whole number from 0 to 2147483647, not -1"),
        ({"configs": {"batch.size": 2**31}}, "batch.size is a whole number from 0 to 2147483647, not 2147483648"),
        ({"configs": {"linger.ms": "5ms"}}, "linger.ms is a whole number .* not '5ms'"),
        ({"configs": {"partitioner.ignore.keys": 1}}, "partitioner.ignore.keys is true or false, not 1"),
        ({"configs": {"partitioner.ignore.key": True}}, "did you mean partitioner.ignore.keys?"),
        ({"configs": {"client.rack": 4}}, "client.rack is text, not 4"),
        ({"configs": {"otherwise": "drop"}}, "otherwise is error, round-robin or random, not 'drop'"),
        ({"seed": 2**63}, "the seed is a whole number of 64 bits, not 9223372036854775808"),
        ({"seed": True}, "the seed is a whole number of 64 bits, not True"),
        ({"draws": [2**31]}, "a draw is a whole number of 32 bits, not 2147483648"),
        ({"counters": {"order": 1}}, "order"),
        ({"strategy": b"sticky"}, "bytes is not a partitioner"),
        ({"strategy": "builtins.str"}, "str is not a partitioner"),
        ({"configs": 5}, "configs are Kafka's keys and their values, not 5"),
        ({"configs": {"batch.size": 10**5000}}, "batch.size is .* from 0 to 2147483647, not a value of type int"),
        ({"configs": {"batch.size": "1_000"}}, "batch.size is a whole number from 0 to 2147483647, not '1_000'"),
        ({"seed": 10**5000}, "the seed is a whole number of 64 bits, not a value of type int"),
        ({"draws": 5}, "draws: a list is needed, not 5"),
        ({"counters": [1]}, "counters are numbers by topic, not"),
        ({"strategy": "leader", "leader": "eu"}, "leader= says which brokers the strategy leader wants: 'eu'"),
        ({"strategy": "sticky", "leader": bool}, "leader= says which brokers .* does not for sticky@4.4"),
        ({"strategy": "leader", "leader": len}, "leader of broker 0 raised TypeError"),
    ],
)  # fmt: skip
def test_a_wrong_producer_is_one_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(pw.PartwrightError, match=sentence) as refused:
        producer_of(THREE, **options)
    assert "\n" not in str(refused.value)


class Broken:
    """A table that cannot be read."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise KeyError("broken")


@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        ({"key": ["a"]}, "the strategy sticky@4.4 counts bytes: give the records' values"),
        ({"size": [1, -1]}, "^row 1: a value has 0 bytes or more, not -1"),
        ({"size": ["10"]}, "the column of each record's size has whole numbers, not string"),
        ({"size": [1, 2**31]}, "^row 1: a size is a number of 32 bits, not 2147483648"),
        ({"size": [1], "partition": [0.5]}, "the column of each record's partition has whole numbers, not double"),
        ({"size": [1, 2], "time": [1, None]}, "row 1: a record must have a time if others have one, not null"),
        ({"size": [1], "key": [4]}, "name the key type"),
        ({"size": [1, 1], "topic": ["orders", "users"]},
         "^row 1: the record names topic 'users', which the cluster does not have"),
        ({"size": [1], "topic": [None]}, "^row 0: the record names a null topic"),
        ({"size": [1], "topic": pa.array([["orders"]])}, "topic has text, not list<item: string>"),
        ({"size": [1], "topic": pa.array([b"\xff"])}, "topic has text, not binary"),
        ({"size": [1], "time": pa.array([2**62], pa.timestamp("s"))}, "a time is not a number of 64 bits"),
        ({"size": [1], "key": ["a", "b"]}, "cannot become a table of records"),
        ([1, 2], "this list is not a table of records"),
        ({"size": [2**70]}, "^the column 'size' .a list. cannot become a table of records: OverflowError"),
        ({"size": [1, [1]]}, "^row 1: a list is not a value of a record, in the column 'size'"),
        ({5: [1]}, "a column is named by text, not 5"),
        (Broken(), "a Broken cannot become a table of records: KeyError: 'broken'"),
        ({"size": Broken()}, "the column 'size' .a Broken. cannot become a table of records: KeyError: 'broken'"),
    ],
)  # fmt: skip
def test_wrong_records_are_one_sentence(records: Any, sentence: str) -> None:
    test_a_wrong_call_is_one_sentence(lambda it: it.place(records), sentence)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda it: it.partition("orders", ["a"]), "a record has one key, not a list"),
        (lambda it: it.partition("orders", time=2**63), "a time is a whole number of 64 bits"),
        (lambda it: it.partition("orders", time=1.5), "a time is a whole number of 64 bits, not 1.5"),
        (lambda it: it.sticky.append("orders", 1, enable_switch=1), "enable_switch is true or false, not 1"),
        (lambda it: it.sticky.load_stats("orders", 5), "queue_sizes: a list is needed, not 5"),
        (lambda it: it.sticky.load_stats("orders", [1], 5), "partition_ids: a list is needed, not 5"),
        (lambda it: it.sticky.load_stats("orders", [1], [0], leader_racks=5), "leader_racks: a list"),
        (lambda it: it.place_record("orders", partition=3), "the record names partition 3, and topic"),
        (lambda it: it.place_record("orders", partition=True), "a partition is a whole number of 32"),
        (lambda it: it.place_record("orders", value=7), "a record's value is text or bytes, not 7"),
        (lambda it: it.place_record("order"), "order"),
        (lambda it: it.place_record("orders", b"k", time=0.5), "a time is a whole number of 64 bits"),
        (lambda it: it.update(5), "topics has lists of partitions by name, not 5"),
        (lambda it: it.place({"size": [1]}, pw.Workload(key=5)), "each record's key is named by text, not 5"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_one_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError, match=sentence) as refused:
        call(pw.Producer(THREE))
    assert "\n" not in str(refused.value)


def test_python_objects_of_polars_are_refused_as_their_addresses_would_be_hashed() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"key": polars.Series([object()], dtype=polars.Object), "size": [1]})
    for records in (frame, {"field": frame["key"]}):
        with pytest.raises(pw.PartwrightError, match="a polars column of Python objects"):
            pw.Producer(THREE, "field").place(records)


def test_a_value_that_is_no_text_is_refused() -> None:
    with pytest.raises(pw.PartwrightError, match=r"the value '\\ud800' is not UTF-8"):
        pw.Producer(THREE, Wrong(0)).partition("orders", None, "\ud800")


def test_ones_own_batch_is_checked_where_records_name_no_partition() -> None:
    class Nulls:
        def partitions(self, batch: pa.RecordBatch, _: Any) -> list[int | None]:
            return [None if own is not None else 1 for own in batch.column("partition").to_pylist()]

    assert placed(Nulls, {"partition": [2, None]}) == [2, 1]


def test_ones_own_partitioner_is_closed_once() -> None:
    class Closed:
        times = 0

        def partition(self, *_: Any) -> int:
            return 0

        def close(self) -> None:
            Closed.times += 1
            raise ValueError("closed")

    producer = pw.Producer(THREE, Closed)
    with pytest.raises(pw.PartwrightError, match=r"Closed\.close raised ValueError: closed"):
        producer.close()
    producer.close()
    assert Closed.times == 1


def test_draws_come_to_their_end() -> None:
    with pytest.raises(pw.PartwrightError, match="row 1: 1 draw is taken, and one more is needed"):
        placed("random", {"key": [None, None]}, draws=[5])


def test_a_batch_size_that_stops_kafka_is_refused() -> None:
    with pytest.raises(pw.PartwrightError, match=r"batch\.size=1073741824 .* appends no record, ever"):
        placed("sticky", {"size": [1]}, configs={"batch.size": 2**30})
    assert placed("sticky", {"size": [1]}, configs={"batch.size": 2**30 - 1}, draws=[1]) == [1]


def test_a_cluster_and_its_producers_settings_survive_pickling() -> None:
    cluster = pickle.loads(pickle.dumps(UNLED))  # noqa: S301 - what it has just made
    assert placed("round-robin", {"key": [None] * 3}, cluster) == [0, 2, 0]


def test_a_producer_is_neither_pickled_nor_copied() -> None:
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(pw.PartwrightError, match="cannot be pickled or copied"):
            copied(pw.Producer(THREE))
