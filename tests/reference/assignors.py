"""Asks assignors, Kafka's own and other clients', about stories of groups, round by round; keeps their answers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from asking import PATIENCE_A_QUESTION_S, ask, golden_file
from builds import build_java, build_librdkafka_assignors, build_python_assignors
from groups import ASSIGNORS, Story
from server_groups import ASSIGNORS as SERVER_ASSIGNORS
from server_groups import FewStory, ServerStory
from thread_groups import ASSIGNORS as THREADED
from thread_groups import ThreadStory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

__all__ = ["PROGRAMS", "Program", "ask", "build", "client_golden", "golden", "rounds"]

PATIENCE_A_GROUP_S = {"librdkafka": 3.0, "kafka": 4.0, "aiokafka": 4.0}
"""By how a program's name begins, where that is longer than usual: librdkafka runs under the address sanitizer, and a
few of very many groups are slow in Python."""
GOLDEN = 0
"""The seed of the golden files, whose lines are short."""
ROUNDS = 5


class Program(NamedTuple):
    """A program over real assignors."""

    build: Callable[[Path], list[str]]
    """Builds its runtime, in a folder, and gives the command that its name goes behind."""
    name: str
    assignors: tuple[str, ...]
    golden_stories: int
    """How many of each assignor the golden file has."""
    longest: int = 1_000_000
    """How many letters a line of it may have."""


SHORT = 3_000
PROGRAMS = (
    Program(build_java, "partwright.AssignorAnswers", ASSIGNORS, 25),
    Program(build_java, "partwright.ServerAnswers", SERVER_ASSIGNORS, 32, 4_500),
    Program(
        partial(build_java, kafka="2.8"),
        "partwright.v2_8.StickyAnswers",
        ("sticky@2.8", "cooperative-sticky@2.8"),
        13,
    ),
    Program(partial(build_java, kafka="2.3"), "partwright.v2_3.StickyAnswers", ("sticky@2.3",), 15),
    Program(partial(build_java, kafka="0.10"), "partwright.v0_10.ThreadAnswers", THREADED, 17),
    Program(
        build_librdkafka_assignors,
        "librdkafka",
        ("librdkafka:range", "librdkafka:roundrobin", "librdkafka:cooperative-sticky"),
        30,
        SHORT,
    ),
    *(
        Program(
            partial(build_librdkafka_assignors, version=version),
            f"librdkafka-{version}",
            assignors,
            30,
            SHORT,
        )
        for version, assignors in (
            ("2.6.0", ("librdkafka:cooperative-sticky@2.6.0",)),
            ("2.1", ("librdkafka:range@2.1", "librdkafka:cooperative-sticky@2.1")),
            ("1.6", ("librdkafka:cooperative-sticky@1.6",)),
        )
    ),
    Program(
        build_python_assignors,
        "kafka-python",
        (
            "kafka-python:range",
            "kafka-python:roundrobin",
            "kafka-python:sticky",
            "kafka-python:cooperative-sticky",
        ),
        30,
        SHORT,
    ),
    Program(
        build_python_assignors,
        "aiokafka",
        ("aiokafka:range", "aiokafka:roundrobin", "aiokafka:sticky"),
        30,
        SHORT,
    ),
    Program(
        partial(build_python_assignors, kafka_python="3.0.11"),
        "kafka-python",
        ("kafka-python:sticky@3.0.11", "kafka-python:cooperative-sticky@3.0.11"),
        30,
        SHORT,
    ),
    Program(
        partial(build_python_assignors, kafka_python="2.2.21"),
        "kafka-python-2",
        ("kafka-python:range@2.2", "kafka-python:roundrobin@2.2"),
        30,
        SHORT,
    ),
)


def build(assignor: str, folder: Path) -> list[str]:
    """The command that asks an assignor, built in a folder."""
    program = next(program for program in PROGRAMS if assignor in program.assignors)
    return [*program.build(folder), program.name]


def rounds(
    command: Sequence[str], seed: int, stories: int, assignors: Sequence[str]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each group with its answer: this many stories for every assignor, with at most `ROUNDS` rounds each.

    Groups for which Java's answer varies, because it depends on where objects are in memory, are left out.
    """
    going = [
        _story(name, seed, number)(f"{seed}:{name}:{number}", name)
        for name in assignors
        for number in range(stories)
    ]
    patience_s = PATIENCE_A_GROUP_S.get(command[-1].partition("-")[0], PATIENCE_A_QUESTION_S)
    for _ in range(ROUNDS):
        groups = [story.group for story in going]
        _, answers = ask(command, groups, patience_s)
        pairs = zip(groups, answers, strict=True)
        yield from ((group, answer) for group, answer in pairs if "undetermined" not in answer)
        for story, answer in zip(going, answers, strict=True):
            if "assignment" in answer:
                story.go_on(answer["assignment"])
        going = [story for story, answer in zip(going, answers, strict=True) if "assignment" in answer]


def golden(command: Sequence[str]) -> str:
    """The golden file of groups: a line of provenance, then a line for each group with its answer."""
    return _golden(command, next(program for program in PROGRAMS if program.name == command[-1]))


def client_golden(client: str, folder: Path) -> str:
    """The golden file of another client, with older versions after today's."""
    of_client = [each for each in PROGRAMS if each.assignors[0].startswith(f"{client}:")]
    return "".join(_golden([*program.build(folder), program.name], program) for program in of_client)


def _golden(command: Sequence[str], program: Program) -> str:
    provenance, _ = ask(command, [])
    rows = (
        {**group, **answer, **_ids(group, answer)}
        for group, answer in rounds(command, GOLDEN, program.golden_stories, program.assignors)
    )
    return golden_file(command, provenance, rows, program.longest)


def _ids(group: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The IDs that a group gives its topics, and those that were made for others (`made_ids`)."""
    if "topic_ids" not in answer:
        return {}
    given = group.get("topic_ids", {})
    return {
        "topic_ids": given,
        "made_ids": {name: text for name, text in answer["topic_ids"].items() if name not in given},
    }


def _story(assignor: str, seed: int, number: int) -> type[Story | ThreadStory]:
    if assignor in THREADED:
        return ThreadStory
    if assignor in SERVER_ASSIGNORS and seed != GOLDEN and number % 5 == 0:
        return FewStory
    return ServerStory if assignor in SERVER_ASSIGNORS else Story
