"""`partwright run`: place records, write them, prove it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partwright.cli.input.completion import client_names, strategy_names
from partwright.cli.input.connection import connection_options, reading_options, within_offsets
from partwright.cli.input.options import (
    key_type_option,
    key_values,
    keys_of_file,
    new_topic_options,
    partitions_option,
)
from partwright.cli.output import output_options
from partwright.cli.parsing import Command, Listed, heading
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partwright.cli.input.connection import Connection
    from partwright.cli.output import Output
    from partwright.kafka.bounds import Bounds
    from partwright.pipeline.settings import RunSettings

__all__ = ["command"]


@click.command("run", cls=Command)
@click.argument("source", required=False)
@heading("What to read")
@click.option("--key", metavar="COL", help="The column with the record's key.")
@key_type_option
@click.option(
    "--value", metavar="COL", help="The column with the record's value (default: all columns as JSON)."
)
@heading("How to write")
@click.option("--topic", metavar="NAME", help="The topic to write to (default: named after the source).")
@partitions_option(
    "How many partitions a new topic gets (default: 12); an existing topic keeps its own number."
)
@new_topic_options
@click.option(
    "--to",
    metavar="TARGET",
    help="kafka://host:port, parquet:DIR or parquet:s3a://bucket/path (default: an embedded Kafka that lives as long "
    "as the run).",
)
@heading("Where to place")
@click.option(
    "--client",
    default="java",
    show_default=True,
    shell_complete=client_names,
    help="The client whose rule places the records; `partwright which x -n 1` lists all.",
)
@click.option(
    "--strategy",
    metavar="NAME",
    shell_complete=strategy_names,
    help="The producer's strategy for records that the client does not place by their key: sticky, round-robin, "
    "default@2.8 and so on, or your own class, such as mine.MyPartitioner (default: that of the producer that writes "
    "them). Each of Spark's tasks is one producer.",
)
@click.option(
    "--partition",
    metavar="COL",
    help="The column with the partition that a record itself names, if any; it comes before any rule.",
)
@click.option("--field", metavar="COL", help="The column for the strategy field.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the strategy's draws.")
@click.option(
    "--producer-property",
    "properties",
    multiple=True,
    metavar="K=V",
    help="A producer setting for the strategy, such as batch.size=32768; may be repeated.",
)
@heading("What to read")
@click.option(
    "--format",
    "format_",
    metavar="F",
    help="Spark's name for the source's format, if its name does not show it.",
)
@click.option(
    "--option", "options", multiple=True, metavar="K=V", help="An option of Spark's reader; may be repeated."
)
@heading("How to run Spark")
@click.option("--master", default="local[*]", show_default=True, help="Spark's master.")
@click.option(
    "--conf", "configs", multiple=True, metavar="K=V", help="A setting of Spark's session; may be repeated."
)
@reading_options
@heading("Which part of a topic")
@click.option(
    "--from-offsets",
    cls=Listed,
    metavar="P:O,...",
    help="Read these partitions of a topic from these offsets on, such as 0:100,3:250.",
)
@click.option(
    "--to-offsets", cls=Listed, metavar="P:O,...", help="Read these partitions up to these offsets."
)
@heading("What to read")
@click.option(
    "--only-keys",
    multiple=True,
    metavar="KEY",
    help="Read only the records of this key, written as --key-type says; may be repeated.",
)
@click.option(
    "--only-keys-file",
    metavar="FILE",
    help="Read only the records of the keys in this file, one key per line.",
)
@click.option("--limit", type=int, metavar="N", help="Read only the source's first N records.")
@heading("How to check")
@click.option("--check/--no-check", default=True, help="Read every record back and check it (default: on).")
@click.option(
    "--proof/--no-proof",
    default=True,
    help="Write the records once more to a topic that is deleted afterwards, where a Java producer chooses the "
    "partitions, and compare (default: on).",
)
@heading("How to reach Kafka")
@click.option(
    "--from-config",
    metavar="FILE",
    help="The client configuration for a SOURCE that is a topic (default: --command-config).",
)
@click.option(
    "--to-config",
    metavar="FILE",
    help="The client configuration for --to kafka:// (default: --command-config).",
)
@connection_options
@heading("How to write")
@click.option(
    "--exactly-once",
    is_flag=True,
    help="Write in transactions, so that consumers that read only committed records get each one once, and keep "
    "records' timestamps (default: Spark's own sink, which may write some twice when it retries a task).",
)
@heading("Going on")
@click.option(
    "--resume",
    is_flag=True,
    help="Resume the last run of this source into this topic, on this machine or another one.",
)
@heading("How to check")
@click.option(
    "--dedupe",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write the offsets of duplicate copies to a csv file, for readers of the topic.",
)
@heading("Going on")
@click.option(
    "--state",
    metavar="URI",
    help="The folder of the run's ledger, which --resume needs (default: the topic __partwright_runs of --to).",
)
@heading("Where to place")
@click.option(
    "--null-keys",
    type=click.Choice(["spread", "producer"]),
    default="spread",
    show_default=True,
    help="Who places records without a key: spread evenly by their place in the source, or left to the producer. "
    "A run with producer cannot be resumed.",
)
@heading("What to read")
@click.option(
    "--timestamp",
    metavar="COL",
    help="The column with the records' timestamps, for --exactly-once (default: a source topic's own).",
)
@heading("Without an end")
@click.option(
    "--stream",
    "as_stream",
    is_flag=True,
    help="Run until stopped: a folder's new files, or a topic's new records, batch by batch.",
)
@click.option(
    "--checkpoint", metavar="DIR", help="Where a stream notes its progress, to continue from there."
)
@click.option(
    "--available-now", is_flag=True, help="End the stream when everything that is there now is written."
)
@click.option("--every", type=float, metavar="SECONDS", help="Begin a batch of the stream every SECONDS.")
@click.option(
    "--follow-partitions",
    is_flag=True,
    help="Let the stream continue if the topic gets more partitions (default: it stops and says why).",
)
@click.option(
    "--real-time",
    metavar="DURATION",
    help="Spark's real-time mode, with a checkpoint every DURATION, such as '5 minutes': at least once, n fixed.",
)
@heading("How to write")
@click.option("--append", is_flag=True, help="Write to the topic even if it holds records already.")
@output_options
def command(
    source: str | None,
    key: str | None,
    key_type: str | None,
    value: str | None,
    topic: str | None,
    partitions: int | None,
    replication_factor: int | None,
    replica_assignment: str | None,
    topic_configs: tuple[str, ...],
    to: str | None,
    client: str,
    strategy: str | None,
    partition: str | None,
    field: str | None,
    seed: int,
    properties: tuple[str, ...],
    format_: str | None,
    options: tuple[str, ...],
    master: str,
    configs: tuple[str, ...],
    from_offsets: str | None,
    to_offsets: str | None,
    only_keys: tuple[str, ...],
    only_keys_file: str | None,
    limit: int | None,
    check: bool,
    proof: bool,
    from_config: str | None,
    to_config: str | None,
    exactly_once: bool,
    resume: bool,
    dedupe: str | None,
    state: str | None,
    null_keys: str,
    timestamp: str | None,
    as_stream: bool,
    checkpoint: str | None,
    available_now: bool,
    every: float | None,
    follow_partitions: bool,
    real_time: str | None,
    append: bool,
    output: Output,
    connection: Connection,
    bounds: Bounds | None,
) -> int:
    """Read records with Spark, give each its partition, write them to Kafka, read them back, check each one, report.

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
      partwright run inbox/ --key id --topic orders --to kafka://kafka:9092 --stream --checkpoint c
      partwright run orders.csv --key customer --strategy sticky --producer-property batch.size=32768
      partwright run kafka://127.0.0.1:9092/orders --since 2026-11-24 --only-keys c17 --topic replay
      partwright run ids.parquet --key id --key-type java:long --to parquet:out --report run.html
    """
    # Spark is imported only here, so that --help does not need it; the first import reports if it is missing.
    import partwright.spark  # noqa: F401
    from partwright.cli.progress import ConsoleProgress
    from partwright.kafka.address import parse_kafka
    from partwright.pipeline.run import run
    from partwright.pipeline.settings import RunSettings, parse_target
    from partwright.producer.custom import is_path

    if strategy is not None and is_path(strategy):
        # A module may be in the current folder, as for `python -m`.
        sys.path.insert(0, str(Path.cwd()))
    target = source_config = None
    _refuse_unused(source, to, from_config, to_config, connection)
    if source is not None and source.startswith("kafka:"):
        source_config = connection.of(from_config).config(parse_kafka(source)[0])
    if to is not None:
        target, named = parse_target(to, connection.of(to_config).config)
        if named and topic and named != topic:
            raise PartwrightError(f"--to names topic {named!r} and --topic {topic!r}: give only one of them")
        topic = topic or named
    settings = RunSettings(
        source=source,
        format=format_,
        options=key_values("--option", options),
        key=key,
        key_type=key_type,
        value=value,
        topic=topic,
        partitions=partitions,
        replication_factor=replication_factor,
        replica_assignment=replica_assignment,
        topic_configs=key_values("--topic-config", topic_configs),
        source_config=source_config,
        target=target,
        client=client,
        strategy=strategy,
        partition=partition,
        field=field,
        seed=seed,
        properties=key_values("--producer-property", properties),
        master=master,
        bounds=within_offsets(bounds, from_offsets, to_offsets),
        only_keys=only_keys + keys_of_file(only_keys_file),
        limit=limit,
        check=check,
        proof=proof,
        append=append,
        resume=resume,
        dedupe=dedupe,
        state=state,
        exactly_once=exactly_once,
        null_keys=null_keys,
        timestamp=timestamp,
        configs=key_values("--conf", configs),
    )
    if as_stream:
        return _stream(settings, checkpoint, available_now, every, follow_partitions, real_time, output)
    _refuse_of_streams(
        {
            "--checkpoint": checkpoint,
            "--available-now": available_now,
            "--every": every,
            "--follow-partitions": follow_partitions,
            "--real-time": real_time,
        }
    )
    with ConsoleProgress() as progress:
        found = run(settings, progress)
    output.show(found, source)
    return 0 if found.ok else 1


def _stream(
    settings: RunSettings,
    checkpoint: str | None,
    available_now: bool,
    every: float | None,
    follow_partitions: bool,
    real_time: str | None,
    output: Output,
) -> int:
    from partwright.cli.progress import ConsoleProgress
    from partwright.pipeline.stream import StreamSettings, stream

    if output.plot is not None:
        raise PartwrightError("a stream's report has nothing to draw: leave out --plot")
    if checkpoint is None:
        raise PartwrightError("--stream needs --checkpoint DIR, where it notes its progress")
    asked = StreamSettings(checkpoint, available_now, every, follow_partitions, real_time)
    with ConsoleProgress() as progress:
        found = stream(settings, asked, progress)
    output.show(found, settings.source)
    return 0 if found.ok else 1


def _refuse_of_streams(options: Mapping[str, object]) -> None:
    for option, given in options.items():
        if given:
            raise PartwrightError(f"{option} is for --stream: add it, or leave {option} out")


def _refuse_unused(
    source: str | None, to: str | None, from_config: str | None, to_config: str | None, connection: Connection
) -> None:
    """Refuse a configuration without a Kafka, which would silently not be used."""
    is_from, is_to = ((each or "").startswith("kafka:") for each in (source, to))
    if from_config is not None and not is_from:
        raise PartwrightError(
            f"--from-config {from_config!r} is for a SOURCE that is kafka://host:port/topic: leave it out"
        )
    if to_config is not None and not is_to:
        raise PartwrightError(f"--to-config {to_config!r} is for --to kafka://host:port: leave it out")
    if connection.is_given and not (is_from or is_to):
        raise PartwrightError(
            "--command-config and -X are for reaching a Kafka: name one as SOURCE or with --to, or leave them out"
        )
