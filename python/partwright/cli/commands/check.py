"""`partwright check`: is every record of a file or a topic where its client puts it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from partwright._check import counted
from partwright.cli.input.connection import connection_options, reading_options
from partwright.cli.input.files import files_argument
from partwright.cli.input.options import (
    client_option,
    column_option,
    key_type_option,
    partitions_option,
    share,
)
from partwright.cli.output import echo, output_options
from partwright.cli.parsing import OUTPUT, Command, heading, option

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection
    from partwright.cli.input.files import FileOptions
    from partwright.cli.output import Output
    from partwright.kafka.bounds import Bounds


@click.command("check", cls=Command)
@files_argument
@column_option("--key", "The column with the record's key; a topic's records bring their own.")
@column_option("--partition", "The column with each record's partition; a topic's records bring their own.")
@heading("Where to place")
@partitions_option("The topic's number of partitions (default: that of kafka://host:port/topic).", "n")
@client_option("The client whose rule says which partition is right; `partwright which x -n 1` lists all.")
@key_type_option
@heading("What to demand")
@option(
    "--max-share P", "The largest share of the records that one partition may have: 5% or 0.05.", read=share
)
@option(
    "--min-used P", "The smallest share of the partitions that must have records: 90% or 0.9.", read=share
)
@reading_options
@connection_options
@heading(OUTPUT)
@option("--show N", "How many misplaced records to show.", type=click.IntRange(min=0), default=10)
@output_options
def command(
    source: FileOptions,
    max_share: float | None,
    min_used: float | None,
    show: int,
    output: Output,
    connection: Connection,
    bounds: Bounds | None,
    **columns: Any,
) -> int:
    """Check that each record is in the partition that a client's producer gives it.

    FILE is csv (.csv, .tsv), JSON (.json, .jsonl, .ndjson), parquet, Arrow (.arrow, .feather, .ipc), Avro (.avro), text
    also as .gz, .bz2 or .zst; what Kafka's tools print (.txt, .log, .out, --format text); a folder, a pattern or an
    address (s3://, gs://, abfs://, https://) of these; - is JSON or what a tool prints, on stdin;
    kafka://host:port/topic is read from its beginning to its present end. Several files are read as one.

    A record is also misplaced if its partition is null, which an empty value is too, or is not from 0 to n-1. If the
    client does not determine the partition, as java does not for a null key, any partition is right, and so is null:
    such a record counts as undetermined. 7.0 is 7; a value that is not a whole number is refused with its row. Rows are
    counted from 0, without the header. Without --partition no place is compared: the answer says so, and its shares are
    those that the client would produce.

    --max-share and --min-used are a contract on the shares: if it is broken, the exit code is also 1.

    \b
    Exit code: 0 all is in its place and the contract holds, 1 otherwise,
    2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright check placed.csv --key customer -n 12 --partition partition
      partwright check kafka://127.0.0.1:9092/orders --client librdkafka
      partwright check ids.parquet --key id --key-type java:long -n 48 --json
      partwright check orders.csv --key country -n 48 --max-share 5% --min-used 90% --report check.html
    """
    # Imported only here, so that --help is fast.
    from partwright.audit.check import CheckLimits
    from partwright.audits import check

    limits = CheckLimits(max_share, min_used, show)
    answer = check(source.records(connection, bounds), limits=limits, **columns)
    read = answer.question.read
    if read is not None and answer.n != read["partitions"]:
        echo(f"the topic has {counted(read['partitions'], 'partition')}, -n says {answer.n}", err=True)
    return output.show(answer, source.name)
