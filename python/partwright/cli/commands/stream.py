"""`partwright stream`: place and write records without an end, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from partwright.cli.input.run_options import run_options, target_option
from partwright.cli.output import answer_options
from partwright.cli.parsing import Command, heading

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.cli.output import Output
    from partwright.pipeline.settings import RunSettings

__all__ = ["command"]


@click.command("stream", cls=Command)
@click.argument("source")
@run_options
@target_option("kafka://host:port, with the topic if you like: kafka://host:port/topic.", required=True)
@heading("Going on")
@click.option(
    "--checkpoint",
    metavar="DIR",
    required=True,
    help="Where the stream notes its progress, to continue from there; any file system that Spark knows.",
)
@click.option(
    "--available-now", is_flag=True, help="End when everything that is there now is written and checked."
)
@heading("How to check")
@click.option(
    "--check/--no-check", default=True, help="With --available-now, read every record back (default: on)."
)
@heading("Going on")
@click.option("--every", type=float, metavar="SECONDS", help="Begin a batch every SECONDS.")
@click.option(
    "--follow-partitions",
    is_flag=True,
    help="Continue if the topic gets more partitions (default: stop and say why).",
)
@click.option(
    "--real-time",
    metavar="DURATION",
    help="Spark's real-time mode, with a checkpoint every DURATION, such as '5 minutes': at least once, n fixed.",
)
@answer_options
def command(
    source: str,
    settings_of: Callable[..., RunSettings],
    checkpoint: str,
    available_now: bool,
    check: bool,
    every: float | None,
    follow_partitions: bool,
    real_time: str | None,
    output: Output,
) -> int:
    """Write a folder's new files, or a topic's new records, to a topic until it is stopped, batch by batch.

    SOURCE is a folder of csv, json or parquet files, or kafka://host:port/topic. Each record gets its exact partition,
    and each key stays in order. After a crash or a stop, start it again with the same --checkpoint: nothing is lost,
    and nothing is written twice.

    \b
    Exit code: 0 it ended and every record that was looked at is in its place, 1 one is not,
     2 wrong use or bad input, or it stopped, 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP.

    \b
    Examples:
      partwright stream inbox/ --key id --topic orders --to kafka://kafka:9092 --checkpoint c
      partwright stream inbox/ --key id --topic orders --to kafka://kafka:9092 --checkpoint c --available-now
      partwright stream kafka://kafka:9092/orders --topic by-customer --to kafka://kafka:9092 --checkpoint s3a://b/c
    """
    from partwright.cli.progress import ConsoleProgress
    from partwright.pipeline.stream import stream
    from partwright.spark import StreamOptions

    settings = settings_of(check=check)
    options = StreamOptions(
        available_now=available_now, every=every, follow_partitions=follow_partitions, real_time=real_time
    )
    with ConsoleProgress() as progress:
        report = stream(settings, checkpoint, options, progress)
    output.show(report, source)
    return 0 if report.ok else 1
