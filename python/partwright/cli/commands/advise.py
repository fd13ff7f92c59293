"""`partwright advise`: how many partitions a topic needs, and what more of them would cost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import click

from partwright._check import refused
from partwright.cli.input.completion import assignor_names
from partwright.cli.output import output_options
from partwright.cli.parsing import Command, Listed, heading, option, repeated
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from partwright.assignors.replica_counts import ReplicaCounts
    from partwright.cli.output import Output

__all__ = ["command"]

# Plain numbers only: no underscores, and no more digits than a measurement has.
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,15})?"
_F = TypeVar("_F", bound="Callable[..., object]")
_COUNTS = re.compile(r"([0-9]{1,9})(?:\.\.([0-9]{1,9}))?")
_RANGE = re.compile(rf"({_NUMBER})(?:\.\.({_NUMBER}))?")
_RATE = re.compile(rf"({_NUMBER}(?:\.\.{_NUMBER})?) *([kmg])b/s", re.IGNORECASE)
_IN_MB = {"k": 1e-3, "m": 1, "g": 1e3}


def _one(text: str) -> float:
    return float(text) if "." in text else int(text)


def _typed(option: click.Parameter) -> str:
    """The command-line name of an argument of `advise`."""
    return option.opts[0] if option.param_type_name == "option" else "TARGET"


def _read_range(
    _ctx: click.Context, option: click.Parameter, given: str | None
) -> float | tuple[float, float] | None:
    if given is None:
        return None
    found = _RANGE.fullmatch(given)
    if found is None:
        raise PartwrightError(
            f"{option.opts[0]} takes a number above 0 or a range, such as 10 or 8..12, not {given!r}"
        )
    return _one(found[1]) if found[2] is None else (_one(found[1]), _one(found[2]))


def _read_number(_ctx: click.Context, option: click.Parameter, given: str | None) -> float | None:
    if given is None:
        return None
    if not re.fullmatch(_NUMBER, given):
        raise PartwrightError(f"{_typed(option)} takes a number above 0, such as 100 or 2.5, not {given!r}")
    return _one(given)


def _read_rate(
    ctx: click.Context, option: click.Parameter, given: str | None
) -> float | tuple[float, float] | None:
    """MB/s, as a number or with a unit: 100MB/s, 1.5GB/s."""
    found = None if given is None else _RATE.fullmatch(given)
    read = _read_number if option.param_type_name == "argument" else _read_range
    value = read(ctx, option, given if found is None else found[1])
    if found is None or value is None or (factor := _IN_MB[found[2].lower()]) == 1:
        return value
    return value * factor if isinstance(value, (int, float)) else (value[0] * factor, value[1] * factor)


def _read_counts(_ctx: click.Context, option: click.Parameter, given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    found = _COUNTS.fullmatch(given)
    if found is None:
        raise PartwrightError(
            f"{option.opts[0]} takes numbers of replicas, such as 1..50 or 7, not {given!r}"
        )
    return int(found[1]), int(found[2] or found[1])


def _read_powers(_ctx: click.Context, option: click.Parameter, given: str | None) -> list[float] | None:
    if given is None:
        return None
    parts = [each.strip() for each in given.split(",")]
    if not all(re.fullmatch(_NUMBER, each) for each in parts):
        raise PartwrightError(
            f"{option.opts[0]} takes a number for each broker, such as 1,1,2, not {given!r}"
        )
    return [_one(each) for each in parts]


def _ranged(
    name: str, key: str, metavar: str, text: str, read: Callable[..., object] = _read_range
) -> Callable[[_F], _F]:
    return click.option(name, key, metavar=metavar, callback=read, help=text)


def _whole(name: str, key: str, text: str) -> Callable[[_F], _F]:
    return click.option(name, key, type=int, metavar="N", help=text)


@click.command("advise", cls=Command)
@click.argument("target_mb_s", metavar="[TARGET]", required=False, callback=_read_rate)
@heading("What the topic carries")
@_ranged(
    "--produce",
    "produce_mb_s",
    "P",
    "MB/s that one partition takes from producers (default: 10..50).",
    _read_rate,
)
@_ranged(
    "--consume",
    "consume_mb_s",
    "C",
    "MB/s that one consumer reads and processes (default: 10..50).",
    _read_rate,
)
@_whole("--consumers", "consumers", "Members of a group that should be busy (default: 1).")
@_whole("--groups", "groups", "Groups that read the topic (default: 1).")
@_whole("--producers", "producers", "Producers that write to it (default: 1).")
@option("--growth G", "The factor by which TARGET will grow (default: 1).", callback=_read_number)
@heading("What the cluster has")
@_whole("--brokers", "brokers", "Brokers of the cluster (default: 3, or as many as --power has).")
@_whole(
    "--replication-factor", "replication_factor", "Replicas of a partition (default: 3, or one per broker)."
)
@option(
    "--power W,W,...",
    "The brokers' relative power, such as 1,1,2 (default: all the same).",
    cls=Listed,
    callback=_read_powers,
)
@_whole("--held", "held", "Replicas that each broker has already (default: 0).")
@_ranged("--segments", "segments", "S", "Segments of a replica, a number or a range (default: 1..10).")
@_whole("--batch-size", "batch_size", "The producers' batch.size (default: 16384).")
@_whole("--buffer-memory", "buffer_memory", "The producers' buffer.memory (default: 33554432).")
@_whole("--replica-fetchers", "replica_fetchers", "The brokers' num.replica.fetchers (default: 1).")
@_whole("--cleaner-threads", "cleaner_threads", "The brokers' log.cleaner.threads (default: 1).")
@_ranged(
    "--clean-s", "clean_s", "S", "Seconds in which one compacted log is cleaned (default: 0.1..10, a guess)."
)
@option(
    "--platform P",
    "The provider of the brokers, for its published limits: msk:SIZE (such as msk:m7g.large) or redpanda.",
)
@heading("How many consumers read it")
@option(
    "--replicas N..M",
    "Instead of TARGET: how evenly do N to M replicas read --topic, and what moves with each additional one?",
    callback=_read_counts,
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
    **given: Any,
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
    of_replicas = {"--topic": topics, "--threads": threads, "--assignor": assignor}
    if replicas is not None:
        if target_mb_s is not None:
            raise PartwrightError(
                "TARGET asks for partitions, and --replicas for replicas: leave one of them out"
            )
        _refuse("--replicas", {option: given[name] for option, name in _options(given)})
        output.show(_counts(replicas, topics, threads, assignor))
        return
    _refuse("TARGET", of_replicas)
    if target_mb_s is None:
        raise PartwrightError(
            "name TARGET, the topic's MB/s at its peak, or ask about numbers of replicas with --replicas"
        )
    from partwright.cluster import BrokerFleet, TopicClients, advise

    settings = {name: value for name, value in given.items() if value is not None}
    growth = settings.pop("growth", 1.0)
    of_clients = {name: settings.pop(name) for name in TopicClients.__slots__ if name in settings}
    try:
        advice = advise(target_mb_s, TopicClients(**of_clients), BrokerFleet(**settings), growth=growth)
    except PartwrightError as error:
        raise _as_typed(error) from None
    output.show(advice)


def _options(given: dict[str, Any]) -> list[tuple[str, str]]:
    """The options for TARGET, as typed, with their argument names."""
    return [(each.opts[0], each.name) for each in command.params if each.name in given]


def _refuse(asked: str, others: Mapping[str, object]) -> None:
    """Refuse options that belong to the other question."""
    strange = next((option for option, value in others.items() if value not in (None, ())), None)
    if strange is not None:
        raise PartwrightError(f"{strange} is not for {asked}: leave one of them out")


def _counts(
    replicas: tuple[int, int], topics: tuple[str, ...], threads: int | None, assignor: str | None
) -> ReplicaCounts:
    if not topics:
        raise PartwrightError("--replicas needs the topics that they read: name each with --topic NAME=N")
    from partwright.assignors.replica_counts import replica_counts
    from partwright.assignors.tool_output import read_topics

    least, most = replicas
    return replica_counts(
        read_topics(",".join(topics)),
        most,
        least,
        threads=1 if threads is None else threads,
        assignor=assignor or "range",
    )


def _as_typed(error: PartwrightError) -> PartwrightError:
    """An error about an argument of `advise`, with the argument's command-line name."""
    option = next((each for each in command.params if each.name == error.field), None)
    if option is None or error.reason is None:
        return error
    return refused(error.value, _typed(option), error.reason)
