"""An error's attributes besides its sentence: row, field, file, value and reason; in any process."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright import batching, cluster, group
from partwright.assignors.names import resolve
from partwright.errors import BrokerError, ContractError, KeyTypeError, MissingExtraError, PartwrightError
from partwright.files import ColumnRequest, open_records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PARTS = ("row", "field", "path", "value", "reason")
LARGE = 2**31
TOO_LARGE = f"{LARGE} does not fit into a 32-bit int"
JOINS = {"at_ms": 0, "join": "a"}


def known(call: Callable[[], Any]) -> dict[str, Any]:
    """The attributes of a call's error."""
    with pytest.raises(PartwrightError) as raised:
        call()
    error = raised.value
    found = {name: getattr(error, name) for name in PARTS if getattr(error, name) is not None}
    if error.reason is not None:
        assert str(error).endswith(error.reason)
    return found


def test_a_bad_value_is_a_value_error_and_a_silent_broker_is_not() -> None:
    refused = PartwrightError("no number", row=2)
    assert isinstance(refused, ValueError)
    assert (type(refused).__name__, repr(refused)) == ("PartwrightError", "PartwrightError('no number')")
    for again in (copy.copy(refused), refused.at_row(7)):
        assert type(again) is type(refused)
    with pytest.raises(BrokerError, match="no Kafka answers") as silent:
        pw.check("kafka://127.0.0.1:9/orders")
    assert isinstance(silent.value, PartwrightError)
    for error in (silent.value, BrokerError("gone").followed_by("run it again")):
        assert not isinstance(error, ValueError)


@pytest.mark.parametrize("rows", [[], [1, 2]])
def test_a_row_of_a_column_is_known_over_its_chunks(rows: list[int]) -> None:
    keys = pa.chunked_array([pa.array(rows, pa.int64()), pa.array([3, LARGE])])
    found = known(lambda: pw.partition_for_key(keys, 3, key_type="java:int"))
    assert found == {"row": len(rows) + 1, "reason": TOO_LARGE}


def test_a_single_key_has_no_row() -> None:
    found = known(lambda: pw.partition_for_key(LARGE, 3, key_type="java:int"))
    assert found == {"reason": TOO_LARGE}


@pytest.mark.parametrize(
    ("call", "field", "value"),
    [
        (lambda: pw.partition_for_key(["a"], 3, client="jav"), "client", "jav"),
        (lambda: pw.partition_for_key(["a"], 3, key_type="utf"), "key_type", "utf"),
        (lambda: pw.partition_for_key(["a"], "3"), "n", "3"),
        (lambda: pw.partition_for_key(["a"], 3, client=7), "client", 7),
        (lambda: pw.assign({"t": 1}, {"a": ["t"]}, "rage"), "assignor", "rage"),
        (lambda: resolve("rage"), "assignor", "rage"),
        (lambda: cluster.advise(0), "target_mb_s", 0),
        (lambda: cluster.advise(10, cluster.TopicClients(consumers=0)), "consumers", 0),
        (lambda: pw.Producer({"t": 3}, pw.ProducerConfig(configs={"batch.size": -1})), "batch.size", -1),
        (lambda: pw.Producer({"t": 3}, pw.ProducerConfig(seed=2**64)), "the seed", 2**64),
        (lambda: cluster.Cluster.from_json('{"topics": {}, "topics": {}}'), "topics", None),
    ],
)
def test_a_field_and_its_value_are_known(call: Callable[[], Any], field: str, value: object) -> None:
    found = known(call)
    assert (found.get("field"), found.get("value"), found.get("row")) == (field, value, None)


def test_a_partition_number_is_known() -> None:
    reason = "must be from 1 to 2147483647, not 0"
    assert known(lambda: pw.partition_for_key(["a"], 0)) == {"field": "n", "value": 0, "reason": reason}
    assert known(lambda: pw.resize({"k": ["a"]}, "k", 12, 0)) == {"field": "to", "value": 0, "reason": reason}


@pytest.mark.parametrize(
    ("event", "field"),
    [
        ({"at_ms": -1, "join": "b"}, "at_ms"),
        ({"at_ms": 5, "stall": "a", "for_ms": 0}, "for_ms"),
        ({"at_ms": 5, "jion": "b"}, None),
        ("late", None),
        ({"at_ms": 5, "create_topic": {"?": 3}}, None),
    ],
)
def test_an_event_of_a_script_is_known(event: object, field: str | None) -> None:
    with pytest.raises(PartwrightError, match=r"^event 2\b") as raised:
        group.play({"topics": {"t": 1}, "events": [JOINS, event]})
    assert (raised.value.row, raised.value.field) == (1, field)


def test_a_record_is_known_over_batches() -> None:
    batches = [pa.record_batch({"size": [1], "partition": [each]}) for each in (0, 1, 9)]
    producer = pw.Producer({"t": 3})
    found = known(lambda: producer.place(pa.Table.from_batches(batches), topic="t"))
    assert found["row"] == 2


def test_a_record_of_several_topics_is_known() -> None:
    table = pa.table({"topic": ["t", "u", "t", "u"], "key": [1, 2, 3, LARGE], "size": [1] * 4})
    producer = pw.Producer({"t": 3, "u": 2}, pw.ProducerConfig(key_type="java:int"))
    found = known(lambda: producer.place(table))
    assert found == {"row": 3, "reason": TOO_LARGE}


def test_a_record_whose_time_runs_backwards_is_known() -> None:
    table = pa.table({"time": [5, 4], "size": [1, 1]})
    found = known(lambda: batching.simulate(table, {"t": 1}))
    assert found == {"row": 1, "reason": "time runs backwards, from 5 to 4 ms"}


def test_a_file_is_known(tmp_path: Path) -> None:
    path = str(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("a,b\n1,2,3\n", encoding="utf-8")
    assert known(lambda: open_records(path + "x"))["path"] == path + "x"
    with open_records(path) as records:
        assert known(lambda: list(records.read([ColumnRequest("c", pa.string())])))["path"] == path


@pytest.mark.parametrize("class_", [PartwrightError, KeyTypeError, MissingExtraError, BrokerError])
def test_an_error_survives_a_pickle(class_: type[PartwrightError]) -> None:
    error = class_("row 3: no", row=3, field="f", path="p", value=[1], reason="no")
    error.add_note("a note")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - as a pool of processes does
        assert type(again) is type(error)
        assert isinstance(again, class_)
        assert str(again) == "row 3: no"
        assert [getattr(again, name) for name in PARTS] == [3, "f", "p", [1], "no"]
        assert again.__notes__ == ["a note"]


def test_a_broken_contract_knows_what_was_found() -> None:
    error = ContractError("no", {"a": 1})
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(again), again.found, again.row) == ("no", {"a": 1}, None)
    assert (str(error.within("a.csv")), error.within("a.csv").found) == ("a.csv: no", {"a": 1})


def test_a_value_that_cannot_be_pickled_stays_behind() -> None:
    error = PartwrightError("no", value=lambda: None, field="f")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(again), again.value, again.field) == ("no", None, "f")


def _place(keys: list[int]) -> None:
    pw.partition_for_key(keys, 3, key_type="java:int")


def test_an_error_comes_back_from_another_process() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = known(lambda: pool.submit(_place, [1, LARGE]).result())
    assert found == {"row": 1, "reason": TOO_LARGE}


def test_an_error_moves_and_is_prefixed_without_a_look_at_its_sentence() -> None:
    error = KeyTypeError("row 2: no", row=2, reason="no", field="f")
    moved = error.moved(lambda row: row + 5)
    assert (type(moved), str(moved), moved.row, moved.field) == (KeyTypeError, "row 7: no", 7, "f")
    assert str(error.at_row(9, "line 10")) == "line 10: no"
    assert str(error) == "row 2: no"
    whole = PartwrightError("f is no", field="f", reason="is no")
    assert whole.moved(lambda row: row + 5) is whole
    assert (str(whole.at_row(1)), str(whole.at_row(1).at_row(2))) == ("row 1: f is no", "row 2: f is no")
    within = error.within("a.csv", path="a.csv")
    assert (str(within), within.path, within.row) == ("a.csv: row 2: no", "a.csv", 2)
