"""`partwright copartition`: do two topics or tables meet, and if not, why?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from partwright._check import is_topic
from partwright.cli.input.connection import Connection, connection_options, reading_options
from partwright.cli.input.files import (
    FileOptions,
    columns_option,
    delimiter_option,
    format_option,
    key_encoding_option,
)
from partwright.cli.input.options import (
    client_names,
    column_option,
    key_type_names,
    key_type_option,
    partitions_option,
    whole_key_type,
)
from partwright.cli.output import exit_code, output_options
from partwright.cli.parsing import Command, heading, option
from partwright.cli.progress import reading

if TYPE_CHECKING:
    from partwright.cli.output import Output
    from partwright.kafka.bounds import Bounds
    from partwright.record_source import RecordSource, Watch


@click.command("copartition", cls=Command)
@click.argument("a")
@click.argument("b")
@heading("What to read")
@column_option("--key", "The column with the records' keys.")
@column_option("--key-b", "The same for B (default: as for A).")
@column_option(
    "--partition", "The column with each record's partition (default: where the client would put it)."
)
@column_option("--partition-b", "The same for B (default: as for A).")
@format_option(of="A", names="its name")
@format_option("-b", "B", "its name")
@delimiter_option(of="A's csv")
@delimiter_option("-b", "B's csv")
@columns_option
@key_encoding_option
@heading("Where to place")
@partitions_option("The number of partitions (default: a topic's own; with --partition, it is found).", "n")
@option("--n-b N", "The same for B (default: as for A).", type=int)
@option(
    "--client C",
    "The client that would put the records of a file into partitions (default: java); `partwright which x -n 1` "
    "names all.",
    shell_complete=client_names,
)
@option("--client-b C", "The same for B (default: as for A).", shell_complete=client_names)
@key_type_option
@option(
    "--key-type-b T",
    "The same for B (default: as for A).",
    read=whole_key_type,
    shell_complete=key_type_names,
)
@reading_options
@connection_options
@output_options
def command(
    a: str,
    b: str,
    key_b: str | None,
    partition_b: str | None,
    n_b: int | None,
    client_b: str | None,
    key_type_b: str | None,
    format_: str | None,
    format_b_: str | None,
    delimiter: str | None,
    delimiter_b: str | None,
    header_columns: str | None,
    key_encoding: str | None,
    output: Output,
    connection: Connection,
    bounds: Bounds | None,
    **of_a: Any,
) -> int:
    """Check whether records of one key are in the same partition of two topics or tables, and if not, show why.

    A and B are each csv (.csv, .tsv), JSON (.json, .jsonl, .ndjson), parquet, Arrow (.arrow, .feather, .ipc) or Avro,
    - for stdin, JSON unless --format says otherwise, or kafka://host:port/topic, which is read from its beginning to
    its present end.

    A join in Kafka Streams, or of two DataFrames laid out like their topics, matches each partition of A only with the
    same number of B: records that do not meet are lost without an error. Keys meet if they have the same bytes, both
    have the same number of partitions, and the same client put them there.

    A file's records are where --partition says, or else where --client would put them. A topic has its own keys,
    partitions and n: if A or B is a topic, these options are for the other one.

    \b
    Exit code: 0 they meet, 1 they do not, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright copartition kafka://127.0.0.1:9092/orders kafka://127.0.0.1:9092/users
      partwright copartition orders.parquet users.csv --key user --key-b id --partition partition -n 12
      partwright copartition kafka://127.0.0.1:9092/orders users.csv --key user -n 12 --client librdkafka --json
    """
    # Imported only here, so that --help is fast.
    from partwright.audit.copartition import JoinSide
    from partwright.audits import copartition

    # Options for the one file that is read count for it, wherever it stands.
    if is_topic(a) and not is_topic(b):
        format_, format_b_ = (format_ if format_b_ else None), format_b_ or format_
        delimiter, delimiter_b = (delimiter if delimiter_b else None), delimiter_b or delimiter

    def records(source: FileOptions, other: str, watch: Watch | None = None) -> RecordSource:
        # Options for topics are not the file's.
        if is_topic(other) and not is_topic(source.name):
            return source.records(Connection(None, {}), None)
        return source.records(connection, bounds, watch)

    # Interrupted at A, nothing is known about B, so there is no answer.
    first, second = (
        FileOptions(
            (name,), of_file, between, *((None, None) if is_topic(name) else (header_columns, key_encoding))
        )
        for name, of_file, between in ((a, format_, delimiter), (b, format_b_, delimiter_b))
    )
    side_b = records(second, a)
    meeting = copartition(
        records(first, b, reading), JoinSide(side_b, key_b, n_b, client_b, key_type_b, partition_b), **of_a
    )
    return exit_code(output.show(meeting, f"{a} and {b}"), *(meeting.read or ()))
