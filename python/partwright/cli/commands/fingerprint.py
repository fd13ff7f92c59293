"""`partwright fingerprint`: which client wrote this topic?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from partwright.cli.input.connection import connection_options, reading_options
from partwright.cli.input.files import files_argument
from partwright.cli.input.options import column_option, key_type_option, partitions_option
from partwright.cli.output import output_options
from partwright.cli.parsing import Command

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection
    from partwright.cli.input.files import FileOptions
    from partwright.cli.output import Output
    from partwright.kafka.bounds import Bounds


@click.command("fingerprint", cls=Command)
@files_argument
@column_option("--key", "The column with the records' keys.")
@column_option("--partition", "The column with each record's partition.")
@partitions_option("The number of partitions (default: a topic's own; otherwise it is found).", "n")
@column_option("--timestamp", "The column with timestamps, to say when a change happened.")
@column_option("--offset", "The column with offsets, to say where in each partition a change happened.")
@key_type_option
@reading_options
@connection_options
@output_options
def command(
    source: FileOptions, connection: Connection, bounds: Bounds | None, output: Output, **columns: Any
) -> int:
    """Find which client wrote a topic, and for how many partitions, from where its keys are.

    FILE is csv (.csv, .tsv), JSON (.json, .jsonl, .ndjson), parquet, Arrow (.arrow, .feather, .ipc), Avro (.avro), text
    also as .gz, .bz2 or .zst; a folder, a pattern or an address (s3://, gs://, abfs://, https://) of these; - is JSON
    on stdin; kafka://host:port/topic is read from its beginning to its present end. Several files are read as one.

    Timestamps are whole numbers of milliseconds, or times; in text ISO 8601 too. Keys are tried as they are, then
    without a schema registry's five bytes, then without JSON's quotes. Clients with the same rule put every key into
    the same partition, so keys cannot distinguish them, and all of them are named.

    \b
    The answer is one of
      one-writer     a client's rule explains where the records are
      mixture        several clients' rules do, or one explains a part
      n-change       the topic got more partitions, and keys moved
      writer-change  another client's rule explains them from some time on
      round-robin    there are keys, but partitions are taken in turn
      faulty-rule    one writer has a client's hash and a rule of its own
      no-rule        there are keys, but no client's rule fits, nor a faulty one
      no-keys        no record has a key
      undecided      too few keys to tell the clients apart
    With --json, the verdict of a faulty-rule is no-rule, and "fault" describes it.

    \b
    Exit code: 0 there is an answer, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright fingerprint kafka://127.0.0.1:9092/orders
      partwright fingerprint dump.parquet --key user --partition partition --timestamp ts
      partwright fingerprint dump.csv --key user --partition partition -n 12 --json
    """
    # Imported only here, so that --help is fast.
    from partwright import audits

    return output.show(audits.fingerprint(source.records(connection, bounds), **columns), source.name)
