"""`partwright group`: plays a script of joins, leaves, crashes and new partitions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from partwright.cli.input.completion import assignor_names, protocol_names
from partwright.cli.input.options import json_option, key_values, report_option, save_report
from partwright.cli.input.script import at_line, read_script_file
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from pathlib import Path

    from partwright._check import Fields

__all__ = ["command"]


@click.command("group")
@click.argument("file", required=False)
@click.option("--events", metavar="TEXT", help="A short form in place of FILE's events: '+4, -1, roll'.")
@click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="NAME=N",
    help="A topic with N partitions, in place of FILE's; may be repeated.",
)
@click.option(
    "--protocol", metavar="P", shell_complete=protocol_names, help="classic, or consumer (KIP-848)."
)
@click.option(
    "--assignor",
    metavar="NAME",
    shell_complete=assignor_names,
    help="The members' assignor: range, cooperative-sticky, ... or a list with commas.",
)
@click.option("--static", is_flag=True, help="Members have a group.instance.id, which is their name.")
@click.option(
    "--config", "configs", multiple=True, metavar="K=V", help="One of Kafka's keys; may be repeated."
)
@click.option(
    "--poll-ms",
    type=click.IntRange(min=0),
    metavar="MS",
    help="How long an application takes from poll to poll (default: 500).",
)
@click.option(
    "--records-per-s",
    type=float,
    metavar="R",
    help="How many records come to each partition: what was not read, and what was read twice.",
)
@click.option(
    "--compare", is_flag=True, help="Play it under each protocol, with and without static membership."
)
@click.option("--requests", is_flag=True, help="Print each request of the members, and what was answered.")
@click.option(
    "--width",
    type=click.IntRange(min=40, max=1000),
    default=100,
    show_default=True,
    metavar="W",
    help="How wide the chart may be.",
)
@json_option
@report_option
def command(
    file: str | None,
    events: str | None,
    topics: tuple[str, ...],
    protocol: str | None,
    assignor: str | None,
    static: bool,
    configs: tuple[str, ...],
    poll_ms: int | None,
    records_per_s: float | None,
    compare: bool,
    requests: bool,
    width: int,
    as_json: bool,
    report: Path | None,
) -> None:
    """Play a script of a consumer group's life: rebalances, generations, who reads what, and what it costs.

    FILE is JSON, or YAML by its suffix, or - for JSON on stdin: {"topics": {"t": 12}, "protocol", "assignor", "static",
    "config": {Kafka's keys}, "events": [{"at_ms": 0, "join": "c1", "topics": ["t"], "instance_id": null}, {"at_ms":
    60000, "leave": "c1"}, {"at_ms": 90000, "crash": "c2"}, {"at_ms": 95000, "add_partitions": {"t": 4}}]}. Other events
    are restart, stall, subscribe, assign, create_topic, delete_topic, move_coordinator and commit: docs/group.md has
    them all. Events may be a short form: +4 (join), -1 (leave), x1 (crash), roll (a rolling restart), t+4 (partitions).
    Options stand above what FILE says; with --events and --topic there need not be any.

    The chart has a row a member and, in each span of time, how many partitions it read at least; the last row is how
    many nobody read.

    \b
    Exit code: 0 played, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright group script.json
      partwright group --topic t=12 --events '+3, -1, roll' --assignor cooperative-sticky
      partwright group script.yaml --compare --records-per-s 100
      partwright group script.json --json
    """
    script, line_of = ({}, _nowhere) if file is None else read_script_file(file)
    told = {
        "events": events,
        "topics": _topics(topics),
        "protocol": protocol,
        "assignor": assignor,
        "static": static or None,
        "poll_ms": poll_ms,
        "records_per_s": records_per_s,
    }
    if file is None and (events is None or not topics):
        raise PartwrightError("name a FILE, or give --events and --topic")
    if events is not None:
        # Whatever is wrong with an event is not in the file.
        line_of = _nowhere
    if isinstance(script, dict):
        script |= {name: value for name, value in told.items() if value is not None}
        config = script.get("config") or {}
        if configs and isinstance(config, dict):
            script["config"] = {**config, **key_values("--config", configs)}
    # Imported here alone, for it brings pyarrow along.
    from partwright import group
    from partwright.cli.reading_progress import working
    from partwright.cli.tables import group as shown

    try:
        if compare:
            _refuse_both(requests)
            with working("playing", "lives") as played:
                compared = group.compare(script, played=played)
            save_report(report, compared, file)
            click.echo(json.dumps(group.costs(compared))) if as_json else shown.print_compared(compared)
            return
        _refuse_large(script)
        with working("playing", "lives"):
            timeline = group.play(script, requests=requests)
    except PartwrightError as error:
        if file is None:
            raise
        raise at_line(file, error, line_of) from None
    save_report(report, timeline, file)
    if requests:
        shown.print_requests(timeline, as_json=as_json)
    elif as_json:
        click.echo(json.dumps(timeline.to_dict()))
    else:
        shown.print_timeline(timeline, width)


_MOST_READ = 5_000_000


def _refuse_large(script: Fields) -> None:
    """A chart has who read each partition from each event to the next, all of which is kept in memory."""
    from partwright.group.script import read_script

    read = read_script(script)
    counts = [count or 0 for count in read.topics.values()]
    for _, action in read.actions:
        if "topic" in action:
            place, count = action["topic"]
            counts[place] = max(counts[place], count or 0)
    if sum(counts) * len(read.actions) > _MOST_READ:
        raise PartwrightError(
            f"{sum(counts)} partitions in a play of {len(read.actions)} steps are more than a chart takes, whose "
            f"partitions by steps are {_MOST_READ} at most: play fewer, or --compare"
        )


def _nowhere(number: int) -> int | None:
    del number
    return None


def _topics(given: tuple[str, ...]) -> dict[str, int] | None:
    pairs = key_values("--topic", given)
    for name, count in pairs.items():
        if not (count.isascii() and count.isdecimal()) or len(count) > len("1000000"):
            raise PartwrightError(f"--topic takes NAME=N, a number of partitions, not {name}={count}")
    return {name: int(count) for name, count in pairs.items()} or None


def _refuse_both(requests: bool) -> None:
    if requests:
        raise PartwrightError("--requests is of one play: leave out --compare")
