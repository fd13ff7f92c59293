"""`partwright group`: play a script of joins, leaves, crashes and new partitions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from partwright._check import Fields, counted
from partwright._text import plain
from partwright.cli.input.options import assignor_names, key_values, protocol_names
from partwright.cli.input.yaml_files import at_line, read_script_file
from partwright.cli.output import output_options, terminal_look
from partwright.cli.parsing import OUTPUT, Command, flag, heading, option, repeated
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cli.output import Output
    from partwright.group import Cost, Timeline

_NARROWEST, _WIDEST = 40, 1000


@click.command("group", cls=Command)
@click.argument("file", required=False)
@heading("What to simulate")
@option("--events TEXT", "A short form instead of FILE's events: '+4, -1, roll'.")
@repeated("--topic NAME=N", "A topic with N partitions, instead of FILE's; may be repeated.", "topics")
@option("--protocol P", "classic, or consumer (KIP-848).", shell_complete=protocol_names)
@option(
    "--assignor NAME",
    "The members' assignor: range, cooperative-sticky, ..., or a list with commas.",
    shell_complete=assignor_names,
)
@option(
    "--client NAME",
    "The members' client: java, sarama, ..., or java@4.1, an older one of KIP-848; a join may name another one.",
)
@flag("--static", "Static members: each one's name is its group.instance.id.")
@repeated(
    "--config K=V", "A setting by Kafka's name, such as session.timeout.ms=45000; may be repeated.", "configs"
)
@option(
    "--poll-ms MS",
    "The application's milliseconds from one poll to the next (default: 500).",
    type=click.IntRange(min=0),
)
@option(
    "--records-per-s R",
    "Records per second that arrive in each partition, to count those not read and those read twice.",
    type=float,
)
@heading("How to simulate")
@flag("--compare", "Play it under each protocol, with and without static membership.")
@option(
    "--race R",
    "With KIP-848: whether clients' network threads are slow or fast, or the seed that decides.",
    default="slow",
)
@heading(OUTPUT)
@flag("--requests", "Print each request of the members, and its answer.")
@option(
    "--width W",
    "The chart's width in characters (default: as wide as the terminal).",
    type=click.IntRange(min=_NARROWEST, max=_WIDEST),
)
@output_options
def command(
    file: str | None,
    events: str | None,
    topics: tuple[str, ...],
    static: bool,
    configs: tuple[str, ...],
    compare: bool,
    race: str,
    requests: bool,
    width: int | None,
    output: Output,
    **of_script: Any,
) -> None:
    """Simulate a consumer group that follows a script: its generations, who reads what, and what it costs.

    FILE is JSON, or YAML by its suffix, or - for JSON on stdin: {"topics": {"t": 12}, "protocol", "assignor", "client",
    "static", "config": {Kafka's keys}, "events": [{"at_ms": 0, "join": "c1", "topics": ["t"], "instance_id": null},
    {"at_ms": 60000, "leave": "c1"}, {"at_ms": 90000, "crash": "c2"}, {"at_ms": 95000, "add_partitions": {"t": 4}},
    {"at_ms": 99000, "restart": "c3", "client": "sarama"}]}. Other events
    are stall, subscribe, assign, create_topic, delete_topic, move_coordinator, broker and commit: docs/group.md has
    them all. Events may be a short form: +4 (join), -1 (leave), x1 (crash), roll (a rolling restart; roll5, five at a
    time; roll/30s; roll to franz-go, to another client), surge2 (new ones first), node3 (three crash at once), scale
    4..12: 100 900 / 75 (an autoscaler), broker (the coordinator moves), wait 90s, t+4 (partitions).
    Options override FILE; with --events and --topic you need no FILE.

    The chart has a row for each member, with the fewest partitions that it read in each span of time; the last row
    counts those that nobody read.

    \b
    Exit code: 0 played, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright group script.json
      partwright group --topic t=12 --events '+3, -1, roll' --assignor cooperative-sticky
      partwright group --topic t=12 --client sarama --events '+3, roll to franz-go' --assignor range
      partwright group script.yaml --compare --records-per-s 100
      partwright group script.json --json
    """
    if file is None and (events is None or not topics):
        raise PartwrightError("name a FILE, or give --events and --topic")
    if compare and (requests or race != "slow"):
        spelling = "--requests" if requests else "--race"
        raise PartwrightError(f"{spelling} is for one play: leave out --compare")
    of_script |= {"events": events, "topics": _topics(topics), "static": static or None}
    script, line_of = _script(file, of_script, configs)
    # Imported only here, because it imports pyarrow.
    from partwright import group
    from partwright.cli.progress import working

    try:
        if compare:
            with working("playing", "lives") as played:
                lives = group.compare(script, played=played)
            output.show(lives, file)
            return
        _refuse_large(script)
        with working("playing", "lives"):
            timeline = group.play(script, requests=requests, race=_race(race))
            if not (requests or output.form == "json"):
                timeline.races = _raced(script)
    except PartwrightError as error:
        if file is None:
            raise
        raise at_line(file, error, line_of) from None
    if requests and output.form in {"text", "json"}:
        _print_requests(timeline, file, output)
        return
    timeline.chart_width = width or min(max(terminal_look().width, _NARROWEST), _WIDEST)
    output.show(timeline, file)


def _script(
    file: str | None, of_options: Fields, configs: tuple[str, ...]
) -> tuple[Any, Callable[[int], int | None]]:
    """The script, of which options override the file's fields, and what tells an event's line."""
    script, line_of = ({}, _nowhere) if file is None else read_script_file(file)
    if of_options["events"] is not None:
        # The event came from an option, so an error must not name the file.
        line_of = _nowhere
    if isinstance(script, dict):
        script |= {name: value for name, value in of_options.items() if value is not None}
        config = script.get("config") or {}
        if configs and isinstance(config, dict):
            script["config"] = {**config, **key_values("--config", configs)}
    return script, line_of


def _print_requests(timeline: Timeline, file: str | None, output: Output) -> None:
    """Each request and its answer, a line each, for programs that search lines; and the timeline's files."""
    if output.has_file:
        output.save(timeline, file)
    rows = timeline.requests().to_pylist()
    if output.form == "json":
        for row in rows:
            click.echo(json.dumps(row))
        return
    lines = [["at, s", "member", "request", "answer", "generation", "leader"]]
    for row in rows:
        leader = row["leader_id"] or ""
        if row["members"]:
            leader += f", who is told of {counted(row['members'], 'member')}"
        cells = (row["member"], row["request"], row["error"], row["generation"], leader)
        lines.append([f"{row['at_ms'] / 1000:,.1f}", *map(plain, cells)])
    first, *widths = (max(map(len, cells)) for cells in zip(*lines, strict=True))
    for at, *texts in lines:
        shown = "   ".join(text.ljust(width) for text, width in zip(texts, widths, strict=True))
        click.echo(f"{at:>{first}}   {shown}".rstrip())


def _race(typed: str) -> int | str:
    """A number is a seed."""
    digits = typed.removeprefix("-")
    return int(typed) if digits.isascii() and digits.isdecimal() else typed


_MOST_READ = 5_000_000


def _refuse_large(script: Fields) -> None:
    """Refuse too large a play: a chart keeps in memory who read each partition between events."""
    from partwright.group.script import read_script

    read = read_script(script)
    counts = [count or 0 for count in read.topics.values()]
    for _, action in read.actions:
        if "topic" in action:
            place, count = action["topic"]
            counts[place] = max(counts[place], count or 0)
    if sum(counts) * len(read.actions) > _MOST_READ:
        raise PartwrightError(
            f"{counted(sum(counts), 'partition')} in a play of "
            f"{counted(len(read.actions), 'step')} are too many for a chart, where "
            f"partitions times steps may be {_MOST_READ} at most: play fewer, or --compare"
        )


def _nowhere(_number: int) -> int | None:
    return None


def _topics(typed: tuple[str, ...]) -> dict[str, int] | None:
    pairs = key_values("--topic", typed)
    for name, count in pairs.items():
        if not (count.isascii() and count.isdecimal()) or len(count) > len("1000000"):
            raise PartwrightError(f"--topic takes NAME=N, a number of partitions, not {name}={count}")
    return {name: int(count) for name, count in pairs.items()} or None


def _raced(script: Fields) -> dict[str, Cost]:
    """The costs with slow and with fast threads, if the client has threads that race."""
    from partwright import group

    return group.races(script) if script.get("protocol") == "consumer" else {}
