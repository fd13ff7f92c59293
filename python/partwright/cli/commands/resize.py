"""`partwright resize`: what moves when a topic gets another number of partitions?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from partwright.cli.input.connection import connection_options, reading_options, refuse_for_file
from partwright.cli.input.files import files_argument
from partwright.cli.input.options import (
    client_option,
    column_option,
    is_topic,
    key_type_option,
    named_topic,
    topic_key_type,
)
from partwright.cli.input.topic_reading import TopicReading
from partwright.cli.output import output_options
from partwright.cli.parsing import OUTPUT, Command, heading
from partwright.cli.reading_progress import reading
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.audit.resize import Resize
    from partwright.cli.input.connection import Connection
    from partwright.cli.input.files import Source
    from partwright.cli.output import Output
    from partwright.kafka.bounds import Bounds

__all__ = ["command"]


@click.command("resize", cls=Command)
@files_argument
@column_option("--key", "The column with the records' keys.")
@column_option("--partition", "The column with each record's partition (default: where the client puts it).")
@column_option("--offset", "The column with offsets, to say up to which one consumers must have read.")
@column_option("--size", "The column with each record's size in bytes.")
@heading("Where to place")
@click.option(
    "--from",
    "-n",
    "from_",
    type=int,
    metavar="N",
    help="The topic's number of partitions (default: that of kafka://host:port/topic).",
)
@click.option("--to", type=int, required=True, metavar="M", help="The new number of partitions.")
@client_option("The client that writes to the topic; `partwright which x -n 1` lists all.")
@key_type_option
@reading_options
@connection_options
@heading(OUTPUT)
@click.option(
    "--plan", "with_plan", is_flag=True, help="Also print the steps, with each partition's numbers."
)
@output_options
def command(
    file: str,
    source: Source,
    key: str | None,
    from_: int | None,
    to: int,
    client: str,
    key_type: str | None,
    partition: str | None,
    offset: str | None,
    size: str | None,
    with_plan: bool,
    output: Output,
    connection: Connection,
    bounds: Bounds | None,
) -> int:
    """Show which keys and records change partition when a topic gets more partitions, or a new topic has fewer.

    FILE is csv (.csv, .tsv), JSON (.json, .jsonl, .ndjson), parquet, Arrow (.arrow, .feather, .ipc), Avro (.avro), text
    also as .gz, .bz2 or .zst; a folder, a pattern or an address (s3://, gs://, abfs://, https://) of these; - is JSON
    on stdin; kafka://host:port/topic is read from its beginning to its present end. Several files are read as one.

    Kafka moves no record: a key's old records stay in its old partition, and its new ones go to the new one. So the
    order of each key that moves is at risk until the old records are consumed, and in a compacted topic its old record
    is never replaced. --plan prints the steps: in place, with the offset that consumers must have reached in each
    partition, or by an ordered replay into a new topic.

    \b
    Exit code: 0 there is an answer, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright resize orders.csv --key customer --from 12 --to 24
      partwright resize kafka://127.0.0.1:9092/orders --to 24 --client librdkafka --plan
    """
    names = {"--key": key, "--partition": partition, "--offset": offset, "--size": size}
    read = None
    code = 0
    if with_plan and bounds is not None:
        raise PartwrightError(
            "--plan shows up to where to drain each partition, which needs the whole topic: leave out --since, "
            "--until, --last and --only-partitions, or --plan"
        )
    if is_topic(file):
        plan, topic = _of_topic(file, names, from_, to, client, key_type, connection, bounds)
        read, code = topic.told(), topic.exit_code(code)
        if topic.is_part:
            plan.forget_offsets()
            with_plan = False
    else:
        refuse_for_file(file, connection, bounds)
        plan = _of_file(file, source, names, from_, to, client, key_type)
    output.show(plan, file, read, with_details=with_plan)
    return code


def _of_file(
    file: str,
    source: Source,
    names: dict[str, str | None],
    from_: int | None,
    to: int,
    client: str,
    key_type: str | None,
) -> Resize:
    # Imported only here, so that --help is fast.
    from partwright.audit.resize import Resize
    from partwright.files import ColumnRequest, text_type

    key, *others = names.values()
    if key is None:
        raise PartwrightError(f"name the key's column of {file!r} with --key", path=file)
    if from_ is None:
        raise PartwrightError(
            f"give the number of partitions of the topic of {file!r} with --from", path=file
        )
    plan = Resize(from_, to, client, key_type)
    given = [name for name in others if name is not None]
    if len({key, *given}) <= len(given):
        raise PartwrightError("one column cannot be two of key, partition, offset and size: name another one")
    wanted = [
        ColumnRequest(key, text_type(key_type)),
        *(ColumnRequest(name, text_type("java:long"), lenient=True) for name in given),
    ]
    with source.open() as records, reading(file) as read:
        for keys, *columns in records.read(wanted):
            found = iter(columns)
            plan.add(keys, *(None if name is None else next(found) for name in others))
            read(plan.seen, records.done)
    return plan


def _of_topic(
    address: str,
    names: dict[str, str | None],
    from_: int | None,
    to: int,
    client: str,
    key_type: str | None,
    connection: Connection,
    bounds: Bounds | None,
) -> tuple[Resize, TopicReading]:
    from partwright.audit.resize import Resize
    from partwright.keys.hashing import partition_for_key

    servers, topic = named_topic(address, names)
    key_type = topic_key_type(key_type)
    # Errors in the options are reported before a broker is asked.
    partition_for_key(None, to, client, key_type)
    records = TopicReading(servers, topic, connection, bounds, sizes=True)
    n = records.partitions if from_ is None else from_
    plan = Resize(n, to, client, key_type, among=records.among if n == records.partitions else None)
    for batch in records.batches(lambda: plan.seen):
        plan.add(batch.keys, batch.partitions, batch.offsets, batch.sizes)
    return plan, records
