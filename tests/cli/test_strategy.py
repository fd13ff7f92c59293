"""`partwright strategy`: the answers to a line, and each way in which a line is invalid."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright.cli import main
from partwright.producer.replay import replay_strategy

if TYPE_CHECKING:
    from pathlib import Path

T = {"topics": {"t": 3}}
# The line of the interface's description; only its topic has three partitions here.
LINE = {
    "strategy": "sticky@3.3",
    "configs": {"batch.size": 16384, "partitioner.rack.aware": False, "client.rack": "r0"},
    "brokers": [{"id": 0, "rack": None}],
    "topics": {"t": [{"id": 0, "leader": 0}, {"id": 1, "leader": None}, {"id": 2, "leader": 0}]},
    "counters": {"t": 0},
    "draws": [-1305717246, 346897026, 5],
    "events": [
        {"op": "partition", "topic": "t", "key": "6b6579"},
        {"op": "on_new_batch", "topic": "t", "prev": 1},
        {"op": "next_partition", "topic": "t", "prev": 1},
        {"op": "append", "topic": "t", "bytes": 512, "enable_switch": True},
        {
            "op": "load_stats",
            "topic": "t",
            "queue_sizes": [1, 7, 2],
            "partition_ids": [0, 1, 2],
            "leader_racks": None,
            "length": 3,
        },
        {"op": "next_partition", "topic": "t", "prev": 1},
        {"op": "cluster", "topic": "t", "partitions": [{"id": 0, "leader": 1}]},
        {"op": "partition", "topic": "t", "key": "6b6579"},
    ],
}


def test_each_call_has_its_answer() -> None:
    # 841766402 % 2 and 346897026 % 2 of the partitions with a leader; then 5 of 7 + 1 + 6 in all.
    assert replay_strategy(LINE) == {
        "results": [pw.partition_for_key("key", 3), None, 0, 0, None, 0, None, 0]
    }


def test_a_topic_that_is_not_there_has_no_partitions() -> None:
    events = [{"op": "partition", "topic": "u"}, {"op": "on_new_batch", "topic": "u", "prev": 0}]
    results = replay_strategy({**T, "strategy": "round-robin", "events": events})["results"]
    assert "/ by zero" in results[0]["error"]
    assert results[1] is None


def test_ids_may_have_holes() -> None:
    topics = {"t": [{"id": 7, "leader": 0}, {"id": 3, "leader": 0}]}
    events = [{"op": "partition", "topic": "t"}] * 3
    assert replay_strategy({"strategy": "round-robin", "topics": topics, "events": events}) == {
        "results": [7, 3, 7]
    }


def test_an_event_may_name_its_partition() -> None:
    events = [{"op": "partition", "topic": "t", "partition": each} for each in (2, 3, None)]
    results = replay_strategy({**T, "strategy": "explicit", "events": events})["results"]
    assert results[0] == 2
    assert all("error" in each for each in results[1:])


def test_a_seed_stands_for_the_draws() -> None:
    events = [{"op": "partition", "topic": "t"}] * 20
    once = replay_strategy({**T, "strategy": "random", "seed": 4, "events": events})
    assert once == replay_strategy({**T, "strategy": "random", "seed": 4, "events": events})
    assert once != replay_strategy({**T, "strategy": "random", "seed": 5, "events": events})


def test_records_are_put_into_batches() -> None:
    records = [["t", None, None, 100, at] for at in range(6)]
    line = {
        **T,
        "strategy": "sticky@2.4",
        "configs": {"batch.size": 300},
        "draws": [0, 1, 2, 3],
        "records": records,
    }
    assert replay_strategy(line) == {"placed": [1, 1, 2, 2, 0, 0]}
    lingering = {**line, "configs": {"linger.ms": 1}}
    assert replay_strategy(lingering) == {"placed": [1, 1, 2, 2, 0, 0]}
    assert replay_strategy({**line, "records": []}) == {"placed": []}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ([], "a replay is an object with topics, not []"),
        ({"strategy": "sticky"}, "a replay has no topics: name it"),
        ({**T, "event": []}, "event"),
        (T, "a replay has either events or records"),
        ({**T, "events": [], "records": []}, "a replay has either events or records"),
        ({**T, "events": {}}, "events is a list, not {}"),
        ({**T, "configs": [1], "events": []}, "configs is an object, not [1]"),
        ({**T, "strategy": 5, "events": []}, "a strategy is named by text, not 5"),
        ({**T, "strategy": "mine.X", "events": []}, "the replay names 'mine.X', but a file must not choose"),
        ({**T, "configs": {"partitioner.class": "mine:X"}, "events": []}, "the replay names 'mine:X', but a file"),
        ({**T, "draws": [2**31], "events": []}, "a draw is a whole number of 32 bits, not 2147483648"),
        ({**T, "seed": "a", "events": []}, "the seed is a whole number of 64 bits, not 'a'"),
        ({**T, "counters": {"u": 1}, "events": []}, "there is no topic 'u'"),
        ({**T, "events": [4]}, "event 0: there is no op None: it is partition, on_new_batch"),
        ({**T, "events": [{"op": "fly", "topic": "t"}]}, "event 0: there is no op 'fly'"),
        ({**T, "events": [{"op": "partition"}]}, "event 0 (partition) has no topic"),
        ({**T, "events": [{"op": "partition", "topic": 4}]}, "event 0: a topic's name is text, not 4"),
        ({**T, "events": [{"op": "partition", "topic": "t", "keys": 4}]}, "keys"),
        (
            {**T, "events": [{"op": "partition", "topic": "t", "key": "x"}]},
            "event 0: a key is bytes in hex, or null, not 'x'",
        ),
        ({**T, "events": [{"op": "append", "topic": "t"}]}, "event 0: bytes is a whole number of 32 bits, not None"),
        (
            {**T, "events": [{"op": "on_new_batch", "topic": "t", "prev": "1"}]},
            "event 0: prev is a whole number of 32 bits, not '1'",
        ),
        (
            {**T, "events": [{"op": "append", "topic": "t", "bytes": 1, "enable_switch": 1}]},
            "event 0: enable_switch is true or false, not 1",
        ),
        (
            {**T, "events": [{"op": "load_stats", "topic": "t", "queue_sizes": ["a"]}]},
            "event 0: queue_sizes is a list of whole numbers, not ['a']",
        ),
        (
            {**T, "events": [{"op": "load_stats", "topic": "t", "queue_sizes": [1], "leader_racks": [1]}]},
            "event 0: leader_racks is a list of names, or null, not [1]",
        ),
        ({**T, "records": [["t", None]]}, "record 0 is a list of topic, partition, key, value size, time, not"),
        ({**T, "records": [["t", None, "0", 1, 0]]}, "record 0: a key is bytes in hex, or null, not '0'"),
        (
            {**T, "records": [["t", None, None, 1, 0], ["t", None, None, 2**31, 0]]},
            "record 1: value size is a whole number of 32 bits, not 2147483648",
        ),
        ({**T, "records": [["t", 1.5, None, 1, 0]]}, "record 0: partition is a whole number of 32 bits, not 1.5"),
        ({**T, "records": [["t", None, None, 1, 0.5]]}, "record 0: time is a whole number of 64 bits, not 0.5"),
        ({**T, "records": [["\ud800", None, None, 1, 0]]}, "the topic's name '\\ud800' is not UTF-8"),
        (
            {**T, "events": [{"op": "partition", "topic": "t", "at_ms": 2**63}]},
            "event 0: at_ms is a whole number of 64 bits, not 9223372036854775808",
        ),
        (
            {**T, "events": [{"op": "load_stats", "topic": "t", "queue_sizes": [2**31]}]},
            "event 0: queue_sizes, each of them, is a whole number of 32 bits, not 2147483648",
        ),
        ({**T, "seed": False, "events": []}, "the seed is a whole number of 64 bits, not False"),
        ({**T, "client": "", "events": []}, 'there is no client ""'),
        ({**T, "draws": {"a": "x" * 999}, "events": []}, "draws is a list, not {'a': 'xxxxxxxxxxxx"),
        ({**T, "records": [["t", 3, None, 1, 0]]}, "row 0: the record names partition 3"),
        ({**T, "records": [["u", None, None, 1, 0]]}, "row 0: the record names topic 'u', which"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_one_sentence(line: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        replay_strategy(line)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_command_answers_a_line_each_and_names_the_wrong_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "replays.jsonl"
    file.write_text(f"{json.dumps(LINE)}\n\n{json.dumps({**T, 'records': []})}\n[1\n", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["strategy", str(file), "--jsonl"])
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert [json.loads(line) for line in said.out.splitlines()] == [replay_strategy(LINE), {"placed": []}]
    assert said.err.startswith(f"partwright: {file}, line 4: this is not JSON: ")
    assert len(said.err.splitlines()) == 1


def test_the_command_reads_one_object_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "replay.json"
    file.write_text(json.dumps(LINE, indent=2), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["strategy", str(file)])
    assert not ended.value.code
    assert json.loads(capsys.readouterr().out) == replay_strategy(LINE)


def test_a_closed_stdin_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SystemExit) as ended:
        main(["strategy", "-", "--jsonl"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "partwright: stdin is closed: name a file, or give it one\n"
