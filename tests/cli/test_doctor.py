"""`partwright doctor`: how the Kafka is named on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

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


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "no Kafka is named: give its address, such as kafka://host:port"),
        (["127.0.0.1:1"], "'127.0.0.1:1' does not name a Kafka: write kafka://host:port"),
        (["kafka://a:1", "--bootstrap", "b:1"], "'kafka://a:1' names the brokers: leave out --bootstrap"),
        (["kafka://a:1/t", "--topic", "u"], "'kafka://a:1/t' names a topic: leave out --topic"),
        (["kafka://a:1", "--spark"], "--spark looks at executors: leave out ADDRESS"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    given: list[str], sentence: str, refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PARTWRIGHT_COMMAND_CONFIG", raising=False)
    assert sentence in refusal("doctor", *given)
