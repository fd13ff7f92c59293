"""When real members of Go's clients give up their partitions, next to members of a play."""

from __future__ import annotations

import json
import subprocess
import threading
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from live_cluster import wait_for
from live_groups import PATIENCE_S, settled

from partwright.group import play
from partwright.kafka.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from partwright.kafka import EmbeddedKafka

pytestmark = [pytest.mark.broker, pytest.mark.reference, pytest.mark.timeout(600), pytest.mark.go]

N = 6
BOTH = ["cooperative-sticky", "range"]


class Member:
    """A process that is a member, and what it has taken and given up."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.told: list[tuple[str, set[int]]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            for what, partitions in json.loads(line).items():
                self.told.append((what, set(partitions or ())))

    def given_up(self) -> set[int]:
        return set().union(*(partitions for what, partitions in self.told if what == "gives_up"))

    def has(self) -> set[int]:
        found: set[int] = set()
        for what, partitions in self.told:
            found = found | partitions if what == "takes" else found - partitions
        return found

    def end(self) -> None:
        # It ends when its input does.
        self._process.communicate(timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def program(reference: Callable[[str], ModuleType], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    command: list[str] = reference("builds").build_go(tmp_path_factory.mktemp("go"))
    return command


@pytest.fixture
def join(broker: EmbeddedKafka, program: list[str]) -> Iterator[Callable[[str, str, list[str]], Member]]:
    members: list[Member] = []

    def start(client: str, group: str, assignors: list[str]) -> Member:
        command = [*program, "member", client, broker.bootstrap_servers, group, group, ",".join(assignors)]
        members.append(Member(command))
        return members[-1]

    yield start
    for each in members:
        each.end()


def given_up_in_a_play(client: str, assignors: list[str]) -> set[int]:
    """What the first member of a play stops reading when a second one joins."""
    script: dict[str, Any] = {"topics": {"t": N}, "client": client, "assignor": assignors, "events": "+1, +1"}
    spans = play(script).ownership().to_pylist()
    return {each["partition"] for each in spans if each["member"] == "c1" and each["to_ms"] is not None}


@pytest.mark.parametrize(
    ("client", "assignors", "count"),
    [
        ("franz-go", ["cooperative-sticky"], 3),
        # It goes by the assignor that the coordinator chose.
        ("franz-go", BOTH, 3),
        ("franz-go", ["range"], N),
        ("sarama", ["cooperative-sticky"], 3),
        # As Java's consumer it is cooperative only where all of its assignors are.
        ("sarama", BOTH, N),
    ],
)
def test_what_a_member_gives_up_when_another_one_joins(
    client: str, assignors: list[str], count: int, broker: EmbeddedKafka, join: Any
) -> None:
    group = f"go-{uuid4().hex[:8]}"
    create_topic(broker.bootstrap_servers, group, N)
    first = join(client, group, assignors)
    wait_for("the first has not all", lambda: len(first.has()) == N)
    second = join(client, group, assignors)
    wait_for("they have not half each", lambda: len(first.has()) == len(second.has()) == N // 2)
    assert settled(broker.bootstrap_servers, group, 2)["assignor"] == assignors[0]
    assert len(first.given_up()) == count
    assert len(given_up_in_a_play(client, assignors)) == count


def test_a_member_of_franz_go_gives_up_all_when_the_group_is_not_cooperative_any_more(
    broker: EmbeddedKafka, join: Any
) -> None:
    group = f"go-{uuid4().hex[:8]}"
    create_topic(broker.bootstrap_servers, group, N)
    first = join("franz-go", group, BOTH)
    wait_for("the first has not all", lambda: len(first.has()) == N)
    second = join("franz-go", group, ["range"])
    wait_for("they have not half each", lambda: len(first.has()) == len(second.has()) == N // 2)
    # It has kept them while it joined, and lets all of them go before it takes its new ones.
    (_, taken), (what, given), (_, again) = [each for each in first.told if each[1]]
    assert (taken, what, given, len(again)) == (set(range(N)), "gives_up", set(range(N)), N // 2)
