"""`partwright place`: a file of records with the partition of each."""

from __future__ import annotations

import time

import click

from partwright.cli.input.options import (
    client_option,
    column_name,
    column_option,
    is_topic,
    key_type_option,
    partitions_option,
)
from partwright.cli.reading_progress import reading
from partwright.errors import PartwrightError

__all__ = ["command"]


@click.command("place")
@click.argument("file")
@column_option("--key", "The column whose value is the record's key.", required=True)
@partitions_option("How many partitions the topic has.", required=True)
@client_option("The client whose partitions are taken; `partwright which x -n 1` names all.")
@key_type_option
@click.option(
    "--column",
    default="partition",
    show_default=True,
    callback=column_name,
    metavar="NAME",
    help="What the new column is called.",
)
@click.option(
    "--out",
    metavar="FILE",
    help="The file to write, of the same format; it may be the one that is read (default: stdout).",
)
def command(
    file: str, key: str, partitions: int, client: str, key_type: str | None, column: str, out: str | None
) -> None:
    """Add to each record of a file the partition that a client's producer gives it.

    FILE is csv (.csv, .tsv), JSON lines (.json, .jsonl, .ndjson), parquet, or Arrow (.arrow, .feather, .ipc); - is JSON
    lines on stdin. All else in it stays as it is: a csv field's quotes, the digits of a JSON number, parquet's pages.
    The partition is null where the client does not determine one, as java does not for a null key. In csv an
    empty field is null and "" is the empty string; in JSON a member that is null or not there is null.

    --out is written beside its place and takes it when it is complete: if that fails, what was there stays.
    Of JSON lines nothing is written, to stdout either, before an object that has the key: if none has it, nothing is.

    \b
    Exit code: 0 the file is written, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright place orders.csv --key customer -n 12 --out placed.csv
      partwright place ids.parquet --key id --key-type java:long -n 48 --client java --out ids.parquet
      zcat events.jsonl.gz | partwright place - --key user -n 12 | head
    """
    # Imported here alone: --help is there at once.
    from partwright.audit.check import Placer
    from partwright.files import Wanted, open_records, open_sink, text_type

    if is_topic(file):
        raise PartwrightError(
            f"place reads files, and {file!r} is a topic: `partwright check` reads topics", path=file
        )
    placer = Placer(partitions, client, key_type)
    began = time.monotonic()
    with open_records(file) as records, open_sink(out, records) as sink, reading(file) as read:

        def placed(keys: object) -> object:
            found = placer.place(keys)
            read(placer.rows, records.done)
            return found

        records.extend(Wanted(key, text_type(key_type)), column, placed, sink)
    seconds = time.monotonic() - began
    rate = f", {placer.rows / seconds:,.0f} rows/s" if placer.rows else ""
    click.echo(
        f"{placer.rows:,} rows placed, {placer.null_keys:,} with a null key, in {seconds:.1f} s{rate}",
        err=True,
    )
