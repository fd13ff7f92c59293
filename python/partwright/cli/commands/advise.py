"""`partwright advise`: how many partitions a topic needs, and what more of them would cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from partwright.cli.input.options import assignor_names
from partwright.cli.output import output_options
from partwright.cli.parsing import Command, Listed, as_typed, first_given, heading, option, repeated
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.group_sizes import ReplicaCounts
    from partwright.cli.output import Output

# Plain numbers only: no underscores, and no more digits than a measurement has.
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,15})?"
_COUNTS = re.compile(r"([0-9]{1,9})(?:\.\.([0-9]{1,9}))?")
_RANGE = re.compile(rf"({_NUMBER})(?:\.\.({_NUMBER}))?")
_RATE = re.compile(rf"({_NUMBER}(?:\.\.{_NUMBER})?) *([kmg])b/s", re.IGNORECASE)
_IN_MB = {"k": 1e-3, "m": 1, "g": 1e3}
_TARGET = "TARGET"


def _one(text: str) -> float:
    return float(text) if "." in text else int(text)


def _number(typed: str, spelling: str) -> float:
    if not re.fullmatch(_NUMBER, typed):
        raise PartwrightError(f"{spelling} takes a number above 0, such as 100 or 2.5, not {typed!r}")
    return _one(typed)


def _range(typed: str, spelling: str) -> float | tuple[float, float]:
    ends = _RANGE.fullmatch(typed)
    if ends is None:
        raise PartwrightError(
            f"{spelling} takes a number above 0 or a range, such as 10 or 8..12, not {typed!r}"
        )
    return _one(ends[1]) if ends[2] is None else (_one(ends[1]), _one(ends[2]))


def _rate(typed: str, spelling: str) -> float | tuple[float, float]:
    """MB/s, as a number or with a unit: 100MB/s, 1.5GB/s."""
    with_unit = _RATE.fullmatch(typed)
    read = _number if spelling == _TARGET else _range
    value = read(typed if with_unit is None else with_unit[1], spelling)
    if with_unit is None or (factor := _IN_MB[with_unit[2].lower()]) == 1:
        return value
    return (value[0] * factor, value[1] * factor) if isinstance(value, tuple) else value * factor


def _counts(typed: str, spelling: str) -> tuple[int, int]:
    ends = _COUNTS.fullmatch(typed)
    if ends is None:
        raise PartwrightError(f"{spelling} takes numbers of replicas, such as 1..50 or 7, not {typed!r}")
    return int(ends[1]), int(ends[2] or ends[1])


def _powers(typed: str, spelling: str) -> list[float]:
    parts = [each.strip() for each in typed.split(",")]
    if not all(re.fullmatch(_NUMBER, each) for each in parts):
        raise PartwrightError(f"{spelling} takes a number for each broker, such as 1,1,2, not {typed!r}")
    return [_one(each) for each in parts]


def _target(ctx: click.Context, argument: click.Parameter, typed: str | None) -> object:
    del ctx, argument
    return None if typed is None else _rate(typed, _TARGET)


@click.command("advise", cls=Command)
@click.argument("target_mb_s", metavar="[TARGET]", required=False, callback=_target)
@heading("What the topic carries")
@option(
    "--produce P",
    "MB/s that one partition takes from producers (default: 10..50).",
    "produce_mb_s",
    read=_rate,
)
@option(
    "--consume C", "MB/s that one consumer reads and processes (default: 10..50).", "consume_mb_s", read=_rate
)
@option("--consumers N", "Members of a group that should be busy (default: 1).", type=int)
@option("--groups N", "Groups that read the topic (default: 1).", type=int)
@option("--producers N", "Producers that write to it (default: 1).", type=int)
@option("--growth G", "The factor by which TARGET will grow (default: 1).", read=_number)
@heading("What the cluster has")
@option("--brokers N", "Brokers of the cluster (default: 3, or as many as --power has).", type=int)
@option("--replication-factor N", "Replicas of a partition (default: 3, or one per broker).", type=int)
@option(
    "--power W,W,...",
    "The brokers' relative power, such as 1,1,2 (default: all the same).",
    cls=Listed,
    read=_powers,
)
@option("--held N", "Replicas that each broker has already (default: 0).", type=int)
@option("--segments S", "Segments of a replica, a number or a range (default: 1..10).", read=_range)
@option("--batch-size N", "The producers' batch.size (default: 16384).", type=int)
@option("--buffer-memory N", "The producers' buffer.memory (default: 33554432).", type=int)
@option("--replica-fetchers N", "The brokers' num.replica.fetchers (default: 1).", type=int)
@option("--cleaner-threads N", "The brokers' log.cleaner.threads (default: 1).", type=int)
@option(
    "--clean-s S", "Seconds in which one compacted log is cleaned (default: 0.1..10, a guess).", read=_range
)
@option(
    "--platform P",
    "The provider of the brokers, for its published limits: msk:SIZE (such as msk:m7g.large) or redpanda.",
)
@heading("How many consumers read it")
@option(
    "--replicas N..M",
    "Instead of TARGET: how evenly do N to M replicas read --topic, and what moves with each additional one?",
    read=_counts,
)
@repeated("--topic NAME=N", "With --replicas: a topic that they read; may be repeated.", "topics")
@option("--threads T", "With --replicas: consumers in each replica (default: 1).", type=int)
@option(
    "--assignor A",
    "With --replicas: the assignor (default: range); see partwright assign.",
    shell_complete=assignor_names,
)
@output_options
def command(
    target_mb_s: float | None,
    replicas: tuple[int, int] | None,
    topics: tuple[str, ...],
    threads: int | None,
    assignor: str | None,
    output: Output,
    **options: Any,
) -> None:
    """How many partitions does a topic with a peak of TARGET MB/s need?  And what would more of them cost?

    It needs the largest of TARGET / P, TARGET / C, the number of consumers and the number of brokers, rounded up so
    that the brokers share them evenly. P, C and S may be ranges such as 8..12: measure P with
    kafka-producer-perf-test.sh, and C on your own consumer.

    With --replicas, how many replicas should read existing topics? For each number: how many partitions the busiest
    and the least busy replica have, how many are idle, what moves when the last one joins, and what an autoscaler that
    takes only divisors of the partitions gets wrong.

    \b
    Exit code: 0 answered, 2 wrong use.

    \b
    Examples:
      partwright advise 100MB/s
      partwright advise 100 --produce 8..12 --consume 20 --consumers 6
      partwright advise 40 --produce 10 --consume 5..8 --brokers 5 --growth 2
      partwright advise 100 --power 1,1,2 --replication-factor 2 --json
      partwright advise --replicas 1..50 --topic orders=126 --assignor cooperative-sticky
    """
    if replicas is not None:
        if target_mb_s is not None:
            raise PartwrightError(
                "TARGET asks for partitions, and --replicas for replicas: leave one of them out"
            )
        of_target = {each.opts[0]: options[each.name] for each in command.params if each.name in options}
        _refuse_others("--replicas", of_target)
        output.show(_replica_counts(replicas, topics, threads, assignor))
        return
    _refuse_others(_TARGET, {"--topic": topics, "--threads": threads, "--assignor": assignor})
    if target_mb_s is None:
        raise PartwrightError(
            "name TARGET, the topic's MB/s at its peak, or ask about numbers of replicas with --replicas"
        )
    from partwright.cluster import BrokerFleet, TopicClients, advise

    settings = {name: value for name, value in options.items() if value is not None}
    growth = settings.pop("growth", 1.0)
    of_clients = {name: settings.pop(name) for name in TopicClients.__slots__ if name in settings}
    try:
        advice = advise(target_mb_s, TopicClients(**of_clients), BrokerFleet(**settings), growth=growth)
    except PartwrightError as error:
        spellings = {each.name or "": each.opts[0] for each in command.params} | {"target_mb_s": _TARGET}
        raise as_typed(error, spellings) from None
    output.show(advice)


def _refuse_others(question: str, others: Mapping[str, object]) -> None:
    """Refuse options that belong to the other question."""
    if strange := first_given(others):
        raise PartwrightError(f"{strange} is not for {question}: leave one of them out")


def _replica_counts(
    replicas: tuple[int, int], topics: tuple[str, ...], threads: int | None, assignor: str | None
) -> ReplicaCounts:
    if not topics:
        raise PartwrightError("--replicas needs the topics that they read: name each with --topic NAME=N")
    from partwright.assignors.group_sizes import replica_counts
    from partwright.assignors.pasted_group import read_topics

    least, most = replicas
    return replica_counts(
        read_topics(",".join(topics)),
        most,
        least,
        threads=1 if threads is None else threads,
        assignor=assignor or "range",
    )
