"""`partwright advise`: how many partitions a topic needs, and what more of them would cost."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

import click

from partwright._check import refused
from partwright.cli.input.options import json_option
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["command"]

# Numbers of Python's own notation alone: no underscores, and no more digits than any measurement has.
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,15})?"
_F = TypeVar("_F", bound="Callable[..., object]")
_RANGE = re.compile(rf"({_NUMBER})(?:\.\.({_NUMBER}))?")


def _one(text: str) -> float:
    return float(text) if "." in text else int(text)


def _typed(option: click.Parameter) -> str:
    """What an argument of `advise` is called in a terminal."""
    return option.opts[0] if option.param_type_name == "option" else "TARGET"


def _read_range(
    _ctx: click.Context, option: click.Parameter, given: str | None
) -> float | tuple[float, float] | None:
    if given is None:
        return None
    found = _RANGE.fullmatch(given)
    if found is None:
        raise PartwrightError(
            f"{option.opts[0]} takes a number above 0 or a range, 10 or 8..12 say, not {given!r}"
        )
    return _one(found[1]) if found[2] is None else (_one(found[1]), _one(found[2]))


def _read_number(_ctx: click.Context, option: click.Parameter, given: str | None) -> float | None:
    if given is None:
        return None
    if not re.fullmatch(_NUMBER, given):
        raise PartwrightError(f"{_typed(option)} takes a number above 0, 100 or 2.5 say, not {given!r}")
    return _one(given)


def _read_powers(_ctx: click.Context, option: click.Parameter, given: str | None) -> list[float] | None:
    if given is None:
        return None
    parts = [each.strip() for each in given.split(",")]
    if not all(re.fullmatch(_NUMBER, each) for each in parts):
        raise PartwrightError(f"{option.opts[0]} takes a number for each broker, 1,1,2 say, not {given!r}")
    return [_one(each) for each in parts]


def _ranged(name: str, key: str, metavar: str, text: str) -> Callable[[_F], _F]:
    return click.option(name, key, metavar=metavar, callback=_read_range, help=text)


def _whole(name: str, key: str, text: str) -> Callable[[_F], _F]:
    return click.option(name, key, type=int, metavar="N", help=text)


@click.command("advise")
@click.argument("target_mb_s", metavar="TARGET", callback=_read_number)
@_ranged(
    "--produce",
    "produce_mb_s",
    "P",
    "MB/s that one partition takes from producers (default: 10..50).",
)
@_ranged("--consume", "consume_mb_s", "C", "MB/s that one consumer reads and works off (default: 10..50).")
@_whole("--consumers", "consumers", "Members of a group that are to be busy (default: 1).")
@_whole("--groups", "groups", "Groups that read the topic (default: 1).")
@_whole("--producers", "producers", "Producers that write to it (default: 1).")
@_whole("--brokers", "brokers", "Brokers of the cluster (default: 3, or as many as --power has).")
@_whole(
    "--replication-factor", "replication_factor", "Replicas of a partition (default: 3, or one a broker)."
)
@click.option(
    "--power",
    metavar="W,W,...",
    callback=_read_powers,
    help="What brokers can do beside each other, 1,1,2 say (default: all the same).",
)
@click.option(
    "--growth", metavar="G", callback=_read_number, help="TARGET will grow so many times (default: 1)."
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
@json_option
def command(target_mb_s: float, as_json: bool, **given: Any) -> None:
    """How many partitions does a topic need that takes TARGET MB/s at its peak?  And what would more of them cost?

    The largest of TARGET / P, TARGET / C, the number of consumers and the number of brokers, up to what the brokers
    share evenly. P, C and S may be ranges, 8..12 say: measure P with kafka-producer-perf-test.sh, and C on your own
    consumer.

    \b
    Exit code: 0 answered, 2 wrong use.

    \b
    Examples:
      partwright advise 100
      partwright advise 100 --produce 8..12 --consume 20 --consumers 6
      partwright advise 40 --produce 10 --consume 5..8 --brokers 5 --growth 2
      partwright advise 100 --power 1,1,2 --replication-factor 2 --json
    """
    from partwright.cluster import advise

    try:
        advice = advise(target_mb_s, **{name: value for name, value in given.items() if value is not None})
    except PartwrightError as error:
        raise _as_typed(error) from None
    if as_json:
        click.echo(json.dumps(advice.to_dict()))
    else:
        from partwright.cli.tables.advise import print_advice

        print_advice(advice, target_mb_s)


def _as_typed(error: PartwrightError) -> PartwrightError:
    """A sentence about an argument of `advise`, under the name that it has in a terminal."""
    option = next((each for each in command.params if each.name == error.field), None)
    if option is None or error.reason is None:
        return error
    return refused(error.value, _typed(option), error.reason)
