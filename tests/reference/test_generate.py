"""Each golden file, made again by the real client that wrote it: tests/reference/generate.py, client by client."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CLIENTS = [
    *["java", "lives-classic", "lives-consumer"],
    *["lives-consumer-4.0", "lives-consumer-4.1", "lives-consumer-4.2", "lives-consumer-4.3"],
    *["kafka-3.9", "kafka-2.8", "kafka-2.3", "kafka-0.10", "kafka-0.8"],
    *["librdkafka", "sarama", "kafka-go", "franz-go", "franz-go-1.21", "franz-go-1.20"],
    *["kafkajs", "kafka-python", "aiokafka"],
]


def test_every_golden_file_has_a_client_that_wrote_it(reference: Callable[[str], ModuleType]) -> None:
    clients = reference("generate").CLIENTS
    assert [client.name for client in clients] == CLIENTS
    written = [name for client in clients for name in client.files()]
    assert sorted(written) == sorted(path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.json*"))


@pytest.mark.reference
@pytest.mark.go
@pytest.mark.node
@pytest.mark.compiler
@pytest.mark.parametrize("name", CLIENTS)
def test_the_real_client_still_says_the_same(
    name: str, reference: Callable[[str], ModuleType], capsys: pytest.CaptureFixture[str]
) -> None:
    generate = reference("generate")
    code = generate.main(["--check", "--client", name])
    said = capsys.readouterr()
    assert code == 0, said.out + said.err
    (client,) = (each for each in generate.CLIENTS if each.name == name)
    assert said.out.splitlines() == [f"{file}: the client says the same" for file in client.files()]
    assert client.files()
