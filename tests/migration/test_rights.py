"""docs/rights.md: `migrate` works with exactly the rights listed there, and names one that is missing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from migrating import commit

from partwright.kafka import EmbeddedKafka, topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.broker

PAGE = Path(__file__).parents[2] / "docs" / "rights.md"
USER = "alice"
SOURCE, TARGET, LEDGER = "old", "new", "__partwright_migrate-new"
ID = "partwright-migrate-old-new"
RIGHTS = [
    ("READ", "topic", SOURCE),
    ("DESCRIBE_CONFIGS", "topic", SOURCE),
    *[(each, "topic", TARGET) for each in ("CREATE", "READ", "WRITE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS")],
    *[(each, "topic", LEDGER) for each in ("CREATE", "READ", "WRITE", "DESCRIBE_CONFIGS", "DELETE")],
    ("WRITE", "transactional_id", ID),
    ("READ", "group", "billing"),
]


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(security="ACL", heap="192m") as running:
        inside = running.internal_bootstrap_servers
        topics.create_topic(inside, SOURCE, 2)
        with Producer({"bootstrap.servers": inside, "partitioner": "murmur2_random"}) as producer:
            for row in range(200):
                producer.produce(SOURCE, b"v", key=b"key %d" % row)
        commit(inside, "billing", SOURCE, {0: 5, 1: 9})
        yield running


def test_these_rights_are_enough_and_each_one_is_asked_for(
    kafka: EmbeddedKafka, told: Callable[..., tuple[int, str, str]]
) -> None:
    words = ["kafka:///old", "new", "-n", "5", "--command-config", kafka.command_config, "--json"]

    def step(name: str) -> tuple[int, str, str]:
        return told("migrate", name, *words)

    # Groups that a user may not see do not count as missing.
    kafka.allow(USER, "DESCRIBE", "group", "billing")
    given: list[tuple[str, str, str]] = []
    for name in ("plan", "copy", "verify", "cutover", "finish"):
        code, out, err = step(name)
        while code == 2:
            operation, kind, about = _missing(err)
            assert (operation, kind, about) in RIGHTS, err
            assert (operation, kind, about) not in given, err
            kafka.allow(USER, operation, kind, about)
            given.append((operation, kind, about))
            code, out, err = step(name)
        assert (code, err) == (0, ""), err
        assert json.loads(out)["groups"].keys() <= {"billing"}
    assert sorted(given) == sorted(RIGHTS)


def _missing(said: str) -> tuple[str, str, str]:
    found = re.search(r"gives this user no right to (\w+) the ([\w-]+) '([^']+)'", said)
    assert found, said
    return found[1], found[2].replace("-", "_"), found[3]


def test_the_page_names_each() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `migrate")]
    text = " ".join(rows)
    for operation, *_ in RIGHTS:
        assert operation in text, operation
