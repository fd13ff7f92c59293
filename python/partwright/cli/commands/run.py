"""`partwright run`: place records, write them, prove it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from partwright.cli.input.connection import reading_options, within_offsets
from partwright.cli.input.options import keys_of_file
from partwright.cli.input.run_options import run_settings, target_option, with_run_options
from partwright.cli.output import output_options
from partwright.cli.parsing import Command, Listed, flag, heading, option, repeated
from partwright.cli.progress import ConsoleProgress

if TYPE_CHECKING:
    from partwright.cli.output import Output
    from partwright.kafka.bounds import Bounds
    from partwright.pipeline.runner import RunnerKind
    from partwright.pipeline.settings import RunSettings


@click.command("run", cls=Command)
@click.argument("source", required=False)
@heading("How to run")
@option(
    "--runner",
    "What does the work: Spark, or this process (default: this process for a source that it can read, of at most "
    "128 MB or 1,000,000 records; else Spark).",
    type=click.Choice(["spark", "local"]),
)
@with_run_options
@target_option(
    "kafka://host:port, parquet:DIR or parquet:s3a://bucket/path (default: an embedded Kafka that lives as long as the "
    "run)."
)
@heading("Where to place")
@option(
    "--partition COL",
    "The column with the partition that a record itself names, if any; it comes before any rule.",
)
@option("--field COL", "The column for the strategy field.")
@option(
    "--null-keys",
    "Who places records without a key: spread evenly by their place in the source, or left to the producer. "
    "A run with producer cannot be resumed.",
    type=click.Choice(["spread", "producer"]),
    default="spread",
)
@reading_options
@heading("Which part of a topic")
@option(
    "--from-offsets P:O,...",
    "Read these partitions of a topic from these offsets on, such as 0:100,3:250.",
    cls=Listed,
)
@option("--to-offsets P:O,...", "Read these partitions up to these offsets.", cls=Listed)
@heading("What to read")
@repeated(
    "--only-keys KEY", "Read only the records of this key, written as --key-type says; may be repeated."
)
@option("--only-keys-file FILE", "Read only the records of the keys in this file, one key per line.")
@option("--limit N", "Read only the source's first N records.", type=int)
@heading("How to check")
@flag("--check/--no-check", "Read every record back and check it (default: on).", default=True)
@flag(
    "--proof/--no-proof",
    "Write the records once more to a topic that is deleted afterwards, where a Java producer chooses the "
    "partitions, and compare (default: on).",
    default=True,
)
@heading("Going on")
@flag("--resume", "Resume the last run of this source into this topic, on this machine or another one.")
@option(
    "--state URI",
    "The folder of the run's ledger, which --resume needs (default: the topic __partwright_runs of --to).",
)
@heading("How to check")
@option(
    "--dedupe FILE",
    "Write the offsets of duplicate copies to a csv file, for readers of the topic.",
    type=click.Path(dir_okay=False),
)
@output_options
def command(
    bounds: Bounds | None,
    from_offsets: str | None,
    to_offsets: str | None,
    only_keys: tuple[str, ...],
    only_keys_file: str | None,
    output: Output,
    **options: Any,
) -> int:
    """Read records, give each its partition, write them to Kafka, read them back, check each one, report.

    SOURCE is a csv, json or parquet file or folder, kafka://host:port/topic, or with --format whatever Spark reads.
    Without SOURCE it reads the 336,776 flights that left New York in 2013, with tailnum as key.

    Your own class (--strategy mine.MyPartitioner) is also looked for in the current folder, and sent to Spark's workers
    with the modules of this folder that it imports.

    \b
    Exit code: 0 every record is in its place, 1 one is not, or the topic's number of partitions has changed,
     2 wrong use or bad input, or the run stopped, 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP.

    \b
    Examples:
      partwright run
      partwright run orders.csv --key customer --topic orders -n 48 --to kafka://127.0.0.1:9092
      partwright run o.csv --key id --to kafka://kafka:9092 --exactly-once --replication-factor 3
      partwright run o.csv --key id --to kafka://kafka:9092 --exactly-once --resume
      partwright run orders.csv --key customer --strategy sticky --producer-property batch.size=32768
      partwright run kafka://127.0.0.1:9092/orders --since 2026-11-24 --only-keys c17 --topic replay
      partwright run ids.parquet --key id --key-type java:long --to parquet:out --report run.html
    """
    settings = run_settings(
        **options,
        bounds=within_offsets(bounds, from_offsets, to_offsets),
        only_keys=only_keys + keys_of_file(only_keys_file),
    )
    from partwright.cli.input.runner_choice import with_runner
    from partwright.pipeline.batch_run import run

    settings, why, inspected = with_runner(settings)
    with ConsoleProgress(None if why is None else f"runner: {settings.runner} ({why})") as progress:
        report = run(settings, progress, _kind(settings), inspected)
    return output.show(report, settings.source)


def _kind(settings: RunSettings) -> RunnerKind[Any, Any]:
    if settings.is_local:
        from partwright.pipeline.local_runner import LocalKind

        return LocalKind()
    # It reports a missing PySpark.
    import partwright.spark  # noqa: F401
    from partwright.pipeline.spark_runner import SparkKind

    return SparkKind(master=settings.master, configs=settings.configs)
