"""`partwright resize`: what moves when a topic gets another number of partitions?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from partwright.cli.input.connection import connection_options, reading_options
from partwright.cli.input.files import files_argument
from partwright.cli.input.options import client_names, client_option, column_option, key_type_option
from partwright.cli.output import output_options
from partwright.cli.parsing import OUTPUT, Command, flag, heading, option
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection
    from partwright.cli.input.files import FileOptions
    from partwright.cli.output import Output
    from partwright.kafka.bounds import Bounds


@click.command("resize", cls=Command)
@files_argument
@column_option("--key", "The column with the records' keys.")
@column_option("--partition", "The column with each record's partition (default: where the client puts it).")
@column_option("--offset", "The column with offsets, to say up to which one consumers must have read.")
@column_option("--size", "The column with each record's size in bytes.")
@heading("Where to place")
@option(
    "--from -n N",
    "The topic's number of partitions (default: that of kafka://host:port/topic).",
    "from_",
    type=int,
)
@option("--to M", "The new number of partitions (default with --to-client: the same as before).", type=int)
@client_option("The client that writes to the topic; `partwright which x -n 1` lists all.")
@option(
    "--to-client C",
    "The client or product that would write to it afterwards (default: the same).",
    shell_complete=client_names,
)
@key_type_option
@reading_options
@connection_options
@heading(OUTPUT)
@flag("--plan", "Also print the steps, with each partition's numbers.", "with_plan")
@output_options
def command(
    source: FileOptions,
    partition: str | None,
    offset: str | None,
    size: str | None,
    with_plan: bool,
    output: Output,
    connection: Connection,
    bounds: Bounds | None,
    **others: Any,
) -> int:
    """Show which keys and records change partition when a topic gets more partitions, or its writer another rule.

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
      partwright resize logs.jsonl --key host --from 3 --client filebeat:7.12 --to-client filebeat
    """
    # Imported only here, so that --help is fast.
    from partwright import audits
    from partwright.audit.resize import RecordColumns

    if with_plan and bounds is not None:
        raise PartwrightError(
            "--plan shows up to where to drain each partition, which needs the whole topic: leave out --since, "
            "--until, --last and --only-partitions, or --plan"
        )
    columns = RecordColumns(partition, offset, size)
    answer = audits.resize(source.records(connection, bounds), columns=columns, **others)
    read = answer.question.read
    is_interrupted = read is not None and read["interrupted"]
    return output.show(answer, source.name, with_details=with_plan and not is_interrupted)
