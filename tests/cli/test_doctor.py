"""`partwright doctor`: how the Kafka is named on the command line."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from partwright.documents.doctor import document, of_executor, of_step
from partwright.kafka.probe import ProbeStep
from partwright.spark.executors.diagnosis import ExecutorDiagnosis, ExecutorRow

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]


def test_an_address_is_taken_as_other_commands_take_it(command: Command) -> None:
    code, out, _ = command("doctor", "kafka://127.0.0.1:1/orders", "--json")
    found = json.loads(out)
    assert code == 1
    assert not found["ok"]
    # Nothing listens there, so it ends before it asks for the topic.
    assert {step["where"] for step in found["steps"]} == {"127.0.0.1:1"}
    assert (code, out) == command("doctor", "--bootstrap", "127.0.0.1:1", "--topic", "orders", "--json")[:2]


def test_text_has_each_step_as_it_goes_and_the_verdict_last(command: Command) -> None:
    code, out, _ = command("doctor", "kafka://127.0.0.1:1/orders")
    lines = out.decode().splitlines()
    assert code == 1
    assert [line for line in lines if line[:1] in {"✓", "✗"}] == [
        "✓ configuration 127.0.0.1:1: PLAINTEXT",
        "✓ resolve 127.0.0.1:1: 127.0.0.1 is an address",
        next(line for line in lines if line.startswith("✗ connect 127.0.0.1:1: no Kafka answers at ")),
        "✗ 1 of 3 steps failed: connect 127.0.0.1:1.",
    ]


def test_a_document_has_all_steps(command: Command) -> None:
    code, out, _ = command("doctor", "kafka://127.0.0.1:1", "--output", "markdown")
    assert code == 1
    assert "**✗ 1 of 3 steps failed: connect 127.0.0.1:1.**" in out.decode()
    assert out.decode().count("\n| passed | ") == 2
    assert "**no Kafka answers at 127.0.0.1:1 (Connection refused): " in out.decode()
    code, out, _ = command("doctor", "kafka://127.0.0.1:1", "--json")
    assert json.loads(out)["summary"] == "1 of 3 steps failed: connect 127.0.0.1:1."


def test_executors_are_a_document_too() -> None:
    rows = [
        ExecutorRow("0", "a", "3.11 /usr/bin/python3", "1.0", "18.0.0", True, None, "Linux x86_64", 8),
        ExecutorRow(None, "b", None, None, None, False, "it did not answer within 60 s", None, None),
    ]
    found = document(ExecutorDiagnosis(tuple(rows)))
    assert [each.text for each in found.verdicts] == ["1 of 2 executors failed: one without a name."]
    assert [row["result"] for row in found.sections[0].rows] == ["passed", "failed"]
    assert document(ExecutorDiagnosis((rows[0],))).verdicts[0].text == "The 1 executor passed."
    assert of_executor(rows[1]).text == "executor b: it did not answer within 60 s"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("", "no Kafka is named: give its address, such as kafka://host:port"),
        ("127.0.0.1:1", "'127.0.0.1:1' does not name a Kafka: write kafka://host:port"),
        ("kafka://a:1 --bootstrap b:1", "'kafka://a:1' names the brokers: leave out --bootstrap"),
        ("kafka://a:1/t --topic u", "'kafka://a:1/t' names a topic: leave out --topic"),
        ("kafka://a:1 --spark", "--spark looks at executors: leave out ADDRESS"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    given: str, sentence: str, refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PARTWRIGHT_COMMAND_CONFIG", raising=False)
    assert sentence in refusal("doctor", *shlex.split(given))


def test_a_name_of_others_stays_on_its_line() -> None:
    step = ProbeStep("group", "billing\n✓ topic orders", False, "there is no such group yet")
    assert of_step(step).text == "group billing\\u000a✓ topic orders: there is no such group yet"
