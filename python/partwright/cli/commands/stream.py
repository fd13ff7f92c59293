"""`partwright stream`: place and write records without an end, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from partwright.cli.input.run_options import run_settings, target_option, with_run_options
from partwright.cli.output import answer_options
from partwright.cli.parsing import Command, flag, heading, option
from partwright.cli.progress import ConsoleProgress

if TYPE_CHECKING:
    from partwright.cli.output import Output


@click.command("stream", cls=Command)
@click.argument("source")
@with_run_options
@target_option("kafka://host:port, with the topic if you like: kafka://host:port/topic.", required=True)
@heading("Going on")
@option(
    "--checkpoint DIR",
    "Where the stream notes its progress, to continue from there; any file system that Spark knows.",
    required=True,
)
@flag("--available-now", "End when everything that is there now is written and checked.")
@heading("How to check")
@flag("--check/--no-check", "With --available-now, read every record back (default: on).", default=True)
@heading("Going on")
@option("--every SECONDS", "Begin a batch every SECONDS.", type=float)
@flag("--follow-partitions", "Continue if the topic gets more partitions (default: stop and say why).")
@option(
    "--real-time DURATION",
    "Spark's real-time mode, with a checkpoint every DURATION, such as '5 minutes': at least once, n fixed.",
)
@answer_options
def command(
    checkpoint: str,
    available_now: bool,
    every: float | None,
    follow_partitions: bool,
    real_time: str | None,
    output: Output,
    **options: Any,
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
    settings = run_settings(**options)
    # The settings have refused a missing PySpark.
    from partwright.pipeline.stream_run import stream
    from partwright.spark import StreamOptions

    of_stream = StreamOptions(
        available_now=available_now, every=every, follow_partitions=follow_partitions, real_time=real_time
    )
    with ConsoleProgress() as progress:
        report = stream(settings, checkpoint, of_stream, progress)
    return output.show(report, settings.source)
