"""Asks the assignors of sarama, kafka-go, franz-go and kafkajs about random groups, round by round.

If a client leaves something to chance, the order of Go's maps, a small group is asked so often that all of the client's
possible answers are seen: the answer to a group with `runs` is `assignments`.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asking import ask, golden_file
from groups import Story

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ASSIGNORS = {
    "sarama": ("range", "roundrobin", "sticky", "cooperative-sticky"),
    "sarama-1.27": ("range@1.34.0", "roundrobin@1.27"),
    "franz-go": ("range", "roundrobin", "sticky", "cooperative-sticky"),
    "franz-go-1.21": ("range@1.21", "sticky@1.21", "cooperative-sticky@1.21"),
    "franz-go-1.20": ("sticky@1.20", "cooperative-sticky@1.20"),
    "kafka-go": ("range", "roundrobin", "rack-affinity"),
    "kafkajs": ("RoundRobinAssigner",),
}
"""By program, which is a client or an older version of it, the assignors that it asks."""
CHANCE = ("sticky", "cooperative-sticky", "rack-affinity")
GOLDEN = 0
"""The seed of the golden files."""
GOLDEN_STORIES, LONGEST = 16, 3_000
GOLDEN_ANSWERS = 6
"""A group with more answers has some that even many runs may miss."""
ROUNDS = 5
RUNS = 1_000
"""How often a small group is asked."""
GOLDEN_RUNS = 10_000
"""The same for the golden files, where not one of few answers may be missing."""


def assignors(program: str) -> list[str]:
    """The names of a program's assignors.

    >>> assignors("sarama-1.27")
    ['sarama:range@1.34.0', 'sarama:roundrobin@1.27']
    """
    client = re.sub(r"-\d.*", "", program)
    return [f"{client}:{name}" for name in ASSIGNORS[program]]


def has_chance(assignor: str) -> bool:
    """Whether a client leaves an assignor's answer to chance."""
    return re.sub(r".*:|@.*", "", assignor) in CHANCE


def command(built: Sequence[str], program: str) -> list[str]:
    """The command that asks a program, once its runtime's is built."""
    if program == "kafkajs":
        return [built[0], str(Path(built[1]).with_name("groups.js"))]
    client = "franz-go" if program.startswith("franz-go") else program
    return [*built, "groups", client]


class ClientStory(Story):
    """A group of one client's members; some of franz-go's set BalanceRacks."""

    def __init__(self, seed: str, assignor: str) -> None:
        """Draws topics and members; `seed` names the story."""
        super().__init__(seed, assignor)
        self.balance_racks = assignor.startswith("franz-go:") and "@" not in assignor and self._happens(0.4)

    @property
    def group(self) -> dict[str, Any]:
        """The question, in the format of `partwright assign`."""
        return super().group | ({"balance_racks": True} if self.balance_racks else {})


class SmallStory(ClientStory):
    """A group so small that few orders of Go's maps make a difference."""

    def __init__(self, seed: str, assignor: str) -> None:
        """Draws topics and members; `seed` names the story."""
        drawn = random.Random(f"small {seed}")
        super().__init__(seed, assignor)
        names = list(self.topics)[: drawn.randint(1, 3)]
        self.topics = {name: drawn.randint(1, 3) for name in names}
        self.replicas = {name: [] for name in names if self.replicas}
        self._place()
        self.members = self.members[: drawn.randint(1, 3)]
        for member in self.members:
            self._stay(member)

    def go_on(self, assignment: dict[str, list[list[Any]]]) -> None:
        """Lets the members own what they got, and lets something happen."""
        super().go_on(assignment)
        del self.members[3:]
        self.topics = {name: min(count, 3) for name, count in self.topics.items()}
        self._place()
        for member in self.members:
            self._stay(member)

    def _stay(self, member: dict[str, Any]) -> None:
        member["topics"] = [name for name in member["topics"] if name in self.topics]
        if "owned" in member:
            member["owned"] = [pair for pair in member["owned"] if pair[0] in self.topics]


def rounds(
    command: Sequence[str], seed: int, stories: int, assignor: str, runs: int = 0
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each group with its answer: this many stories, with at most `ROUNDS` rounds each.

    With `runs` the groups are small, each is asked that often, and `assignments` are all answers.
    """
    story = SmallStory if runs else ClientStory
    going: list[ClientStory] = [story(f"{seed}:{assignor}:{number}", assignor) for number in range(stories)]
    often = {"runs": runs} if runs else {}
    for _ in range(ROUNDS):
        groups = [story.group for story in going]
        _, answers = ask(command, [group | often for group in groups])
        yield from zip(groups, answers, strict=True)
        pairs = [pair for pair in zip(going, answers, strict=True) if "error" not in pair[1]]
        for one, answer in pairs:
            one.go_on(answer["assignments"][0] if runs else answer["assignment"])
        going = [one for one, _ in pairs]
        if not going:
            return


def golden(command: Sequence[str], program: str) -> str:
    """The golden file of a program: for answers that depend on chance, small groups with all answers."""
    provenance, _ = ask(command, [])
    rows = (
        {**group, **answer}
        for name in assignors(program)
        for group, answer in rounds(
            command, GOLDEN, GOLDEN_STORIES, name, GOLDEN_RUNS if has_chance(name) else 0
        )
        if len(answer.get("assignments", ())) <= GOLDEN_ANSWERS
    )
    return golden_file(["groups"], provenance, rows, LONGEST)
