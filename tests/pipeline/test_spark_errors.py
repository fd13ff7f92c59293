"""One sentence for the end of Spark's Java, at any moment; no Spark."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.connection import KafkaConfig
from partwright.pipeline.batch_run import Prepared, _before, _how_to_go_on, _written
from partwright.pipeline.spark_session import explained_end
from partwright.pipeline.spark_targets import SparkTopic
from partwright.pipeline.stream_run import _kept, _standing
from partwright.spark import StreamOptions, classic
from partwright.spark.errors import first_sentence
from partwright.spark.streams.batches import BatchDone

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.pipeline.context import Context
    from partwright.pipeline.targets import Target


def ended(error: Exception, interrupted: list[int], log: Path | None = None) -> Exception:
    with pytest.raises(type(error) if interrupted else PartwrightError) as raised:  # noqa: SIM117 - what is tested
        with explained_end(lambda: "while it wrote: 3 of 7; add --resume to go on", interrupted, log):
            raise error
    return raised.value


@pytest.fixture
def java(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    return lambda how: monkeypatch.setattr(classic, "how_java_ended", lambda: how)


def test_javas_end(java: Callable[[str | None], None]) -> None:
    """PySpark throws whatever it meets first, such as a refused connection."""
    java("was ended by SIGKILL")
    for error in (
        ConnectionRefusedError(111, "Connection refused"),
        RuntimeError("?"),
        BrokerError("no answer"),
    ):
        assert str(ended(error, [], Path("a.log"))) == (
            "Spark's Java process was ended by SIGKILL while it wrote: 3 of 7; add --resume to go on; Spark's log is "
            "'a.log'"
        )
        # Ctrl-C ends Java, too.
        assert ended(error, [2]) is error


def test_any_other_error_stays(java: Callable[[str | None], None]) -> None:
    java(None)
    for error in (BrokerError("there is no topic 't'"), PartwrightError("there is no column 'id'")):
        assert ended(error, []) is error


def test_how_far_a_stream_is_when_java_ends() -> None:
    target = cast("SparkTopic", "topic 't' at h:1")
    go_on = "start again with the same --checkpoint to go on"
    begun = f"before the stream had written a whole batch to topic 't' at h:1: {go_on}"
    assert _standing("before", target, []) == begun
    assert _standing("while", target, []) == begun
    done = [BatchDone(0, b"", 3, 5, 0, 1.0, 2)]
    written = f"the stream wrote to topic 't' at h:1: 5 records in 1 batch are written: {go_on}"
    assert _standing("while", target, done) == f"while {written}"
    assert _standing("after", target, done) == f"after {written}"


def test_an_endless_stream_forgets_where_its_batches_began() -> None:
    """Only a check needs that: a topic's thousands of partitions, each few seconds, would fill the memory."""
    batch = BatchDone(0, b"", 3, 5, 0, 1.0, 2, begin={0: 7, 1: 9})
    grown = BatchDone(0, b"", 3, 5, 0, 1.0, 2, grown_from=1, begin={0: 7, 1: 9})
    endless, ends = StreamOptions(), StreamOptions(available_now=True)
    assert (_kept(batch, endless).begin, _kept(batch, ends)) == ({}, batch)
    assert _kept(grown, endless) == grown


def test_a_topic_that_is_not_made_yet_is_not_gone() -> None:
    """Java may end before the run has made its topic: nothing was deleted then."""
    target = SparkTopic(KafkaConfig.read({}, servers="127.0.0.1:9"), "t")
    context = cast("Context", SimpleNamespace(target=target, earlier=None))
    assert _before(context) == "before it wrote anything to topic 't' at 127.0.0.1:9"
    assert _how_to_go_on(Prepared(target, can_resume=True)) == "; add --resume to go on"


@pytest.mark.parametrize(
    ("offsets", "records", "said"),
    [
        (5, 10, "at most 5 of 10 records are committed, each once"),
        (1, 10, "at most 1 of 10 records is committed, each once"),
        # The end of a transaction has an offset, too.
        (2, 1, "at most 1 of 1 record is committed, each once"),
    ],
)
def test_how_far_a_run_in_transactions_is(offsets: int, records: int, said: str) -> None:
    target = cast("Target", SimpleNamespace(written=lambda: {0: offsets, 1: 0}))
    context = cast("Context", SimpleNamespace(settings=SimpleNamespace(exactly_once=True)))
    assert _written(context, target, records) == said


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "org.apache.spark.api.python.PythonException: {}",
        "java.lang.RuntimeException: {}",
        # Spark Connect's client of PySpark 3.5.
        "(java.lang.RuntimeException) {}",
        "[USER_RAISED_EXCEPTION] {} SQLSTATE: P0001",
        "Traceback (most recent call last):\n  File ...\n{}\n\tat java",
    ],
)
def test_the_sentence_of_a_worker_is_found_whatever_is_around_it(around: str) -> None:
    error = RuntimeError(around.format("partwright.errors.PartwrightError: a row has the partition 7.5"))
    assert first_sentence(error) == "a row has the partition 7.5"
    assert first_sentence(RuntimeError(around.format("ValueError: of somebody else"))) is None
