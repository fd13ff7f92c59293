"""Which batch.size and linger.ms suit given records: the grid, its order, and the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import partwright as pw
from partwright.batching import Delivery, Tuning, compare, tune

RECORDS = {
    "time": [number // 4 for number in range(4000)],
    "size": [50 + number % 300 for number in range(4000)],
}
TOPIC = {"orders": 6}


def settings(found: Tuning) -> list[tuple[int, int]]:
    columns = found.settings.select(["batch_size", "linger_ms"]).to_pydict()
    return list(zip(columns["batch_size"], columns["linger_ms"], strict=True))


def test_each_setting_is_what_compare_says() -> None:
    sizes, lingers = [1000, 16384], [0, 20]
    producer, delivery = pw.ProducerConfig(seed=5), Delivery(latency_ms=3)
    found = tune(RECORDS, TOPIC, [producer], delivery=delivery, batch_sizes=sizes, lingers_ms=lingers)
    # Kafka's own setting is tried too.
    assert sorted(settings(found)) == sorted(
        [(16384, 5), *((size, linger) for size in sizes for linger in lingers)]
    )
    grid = {
        f"{size} {linger}": replace(producer, configs={"batch.size": size, "linger.ms": linger})
        for size, linger in settings(found)
    }
    wanted = compare(RECORDS, TOPIC, grid, delivery=delivery).to_arrow()
    columns = [name for name in wanted.column_names if name not in {"name", "strategy"}]
    assert found.settings.select(columns).equals(wanted.select(columns))
    assert found.settings["rank"].to_pylist() == [1, 2, 3, 4, 5]


def test_the_fewest_requests_within_the_delay_are_recommended() -> None:
    found = tune(RECORDS, TOPIC, at_most_ms=30)
    rows = found.settings.to_pylist()
    within = [row for row in rows if row["p99_delay_ms"] <= 30]
    assert rows[: len(within)] == within
    assert rows[0]["requests"] == min(row["requests"] for row in within)
    assert [row["p99_delay_ms"] for row in rows[len(within) :]] == sorted(
        row["p99_delay_ms"] for row in rows[len(within) :]
    )
    assert found.recommended == rows[0]
    assert found.default["p99_delay_ms"] < rows[0]["p99_delay_ms"]
    assert found.default["requests"] > rows[0]["requests"]
    said = f"sends {rows[0]['requests']:,} requests instead of {found.default['requests']:,}, with a p99 delay of"
    assert said in found.reason
    assert found.reason.endswith("the fewest requests of all with 30 ms or less")


def test_twice_the_present_delay_is_the_limit_where_none_is_named() -> None:
    found = tune(RECORDS, TOPIC)
    twice = tune(RECORDS, TOPIC, at_most_ms=2 * found.default["p99_delay_ms"])
    assert found.settings.equals(twice.settings)
    assert found.reason == twice.reason


def test_the_front_is_what_no_other_beats() -> None:
    rows = tune(RECORDS, TOPIC, ["sticky", "round-robin"]).settings.to_pylist()
    for row in rows:
        mine = (row["requests"], row["p99_delay_ms"])
        others = [(other["requests"], other["p99_delay_ms"]) for other in rows]
        beaten = any(other != mine and other[0] <= mine[0] and other[1] <= mine[1] for other in others)
        assert row["is_on_front"] is not beaten
    assert {row["is_on_front"] for row in rows} == {True, False}
    assert {row["strategy"] for row in rows} == {"sticky@4.4", "round-robin"}


def test_what_gains_nothing_is_no_reason_for_a_change() -> None:
    found = tune({"time": [0, 1000], "size": [5, 5]}, TOPIC, lingers_ms=[5], batch_sizes=[4096, 16384, 65536])
    assert settings(found)[0] == (16384, 5)
    assert found.reason == (
        "sticky@4.4 with batch.size=16384 and linger.ms=5, as it is set now, sends 2 requests, with a p99 delay of "
        "6 ms: none sends fewer with 12 ms or less"
    )


def test_a_limit_that_none_reaches_is_said() -> None:
    found = tune(RECORDS, TOPIC, at_most_ms=0, delivery=Delivery(latency_ms=4))
    assert found.reason.startswith(
        "no setting has a p99 delay of 0 ms or less: the nearest is sticky@4.4 with batch"
    )
    assert found.recommended["p99_delay_ms"] == min(found.settings["p99_delay_ms"].to_pylist())


def test_present_settings_are_those_that_are_given() -> None:
    found = tune(RECORDS, TOPIC, [pw.ProducerConfig(configs={"linger.ms": 70, "batch.size": 3000})])
    assert (found.default["linger_ms"], found.default["batch_size"]) == (70, 3000)
    assert (3000, 70) in settings(found)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"batch_sizes": []},
            "there is no setting to try: name at least a strategy, a batch.size and a linger.ms",
        ),
        ({"strategies": "sticky"}, "strategies: a list is needed"),
        ({"batch_sizes": [-1]}, "batch.size is a whole number from 0 to 2147483647, not -1"),
        ({"lingers_ms": ["5ms"]}, "linger.ms is a whole number from 0 to"),
        ({"at_most_ms": 0.5}, "at_most_ms is a whole number of milliseconds, not 0.5"),
        ({"at_most_ms": True}, "at_most_ms is a whole number of milliseconds, not True"),
        ({"strategies": ["stick"]}, 'there is no strategy "stick"'),
        ({"strategies": [pw.ProducerConfig(configs=5)]}, "configs are Kafka's keys and their values, not 5"),
        (
            {"strategies": ["sticky", pw.ProducerConfig(client="sarama")]},
            "two producers have the strategy sticky and differ in their settings",
        ),
        ({"delivery": 5}, "delivery is a partwright.batching.Delivery(...), not 5"),
    ],
)
def test_a_refusal_is_one_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        tune(RECORDS, TOPIC, **options)
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


def test_a_topic_without_leaders_has_nothing_to_compare() -> None:
    cluster = pw.Cluster.from_dict({"brokers": [{"id": 0}], "topics": {"t": [{"id": 0, "leader": None}]}})
    with pytest.raises(pw.PartwrightError, match=r"^no record arrives, so that there is nothing to compare"):
        tune({"time": [0], "size": [1]}, cluster)
