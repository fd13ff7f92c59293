"""`partwright place`: a file of records with each one's partition."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import click

from partwright._check import counted, is_topic
from partwright.cli.input.files import files_argument
from partwright.cli.input.options import (
    client_option,
    column_name,
    column_option,
    json_option,
    key_type_option,
    partitions_option,
)
from partwright.cli.output import echo
from partwright.cli.parsing import OUTPUT, Command, flag, heading, option
from partwright.cli.progress import reading
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cli.input.files import FileOptions


@click.command("place", cls=Command)
@files_argument
@column_option("--key", "The column with the record's key.", required=True)
@heading("Where to place")
@partitions_option("How many partitions the topic has.", required=True)
@client_option("The client whose rule places the records; `partwright which x -n 1` lists all.")
@key_type_option
@heading("How to write")
@option("--column NAME", "The new column's name.", default="partition", read=column_name)
@option("--out FILE", "The file to write, of the same format; - is stdout, which is the default.")
@flag("--force", "Replace the file that --out names, if it exists.")
@flag("--in-place", "Replace FILE itself, in one step, after all of it is read.")
@heading(OUTPUT)
@json_option
def command(
    source: FileOptions,
    key: str,
    partitions: int,
    client: str,
    key_type: str | None,
    column: str,
    out: str | None,
    force: bool,
    in_place: bool,
    as_json: bool,
) -> None:
    """Add to each record of a file the partition that a client's producer gives it.

    FILE is csv (.csv, .tsv), JSON (.json, .jsonl, .ndjson), parquet, or Arrow (.arrow, .feather, .ipc), text also as
    .gz, .bz2 or .zst, or what Kafka's tools print (.txt, .log, .out, --format text), which is written as JSON lines; -
    is stdin, JSON or what a tool prints unless --format says otherwise. Everything else in it stays as it is: a csv
    field's quotes, the digits of a JSON number, parquet's pages. JSON over several lines becomes one object per line.
    The partition is null if the client does not determine one, as java does not for a null key. In csv an empty field
    is null and "" is the empty string; in JSON a null or missing member is null.

    --out is written next to its place and moved there when it is complete, so a failure leaves the old file. An
    existing file is replaced only with --force, and FILE itself only with --in-place. For JSON lines nothing is
    written, not even to stdout, until one object has the key.

    \b
    Exit code: 0 the file is written, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright place orders.csv --key customer -n 12 --out placed.csv
      partwright place ids.parquet --key id --key-type java:long -n 48 --client java --in-place
      partwright place events.jsonl.gz --key user.id -n 12 | head
      kcat -C -e -J -t orders | partwright place - --key key -n 12
    """
    # Imported only here, so that --help is fast.
    from partwright.audit.check import Placer
    from partwright.files import open_sink
    from partwright.keys.key_text import decoded, key_request

    file = source.name
    if is_topic(file):
        raise PartwrightError(
            f"place reads files, and {file!r} is a topic: `partwright check` reads topics", path=file
        )
    if in_place and (out is not None or file == "-" or "://" in file):
        raise PartwrightError(
            "--in-place replaces FILE, a file of this machine: leave out --out, or --in-place"
        )
    to_stdout = not in_place and out in {None, "-"}
    if as_json and to_stdout:
        raise PartwrightError(
            "--json prints a summary to stdout, where the records go: name a file with --out"
        )
    if force and out is None and not in_place:
        raise PartwrightError("--force replaces the file that --out names: name one, or leave --force out")
    placer = Placer(partitions, client, key_type)
    began = time.monotonic()
    new, old, is_forced = file if in_place else out, None if in_place else file, force or in_place
    with (
        source.open() as records,
        open_sink(new, records, old, format_name=source.named_format, force=is_forced) as sink,
        reading(file) as read,
    ):

        def placed(keys: Any) -> object:
            if source.key_encoding is not None:
                keys = decoded(keys, source.key_encoding, file, placer.rows)
            partition_column = placer.place(keys)
            read(placer.rows, records.done)
            return partition_column

        records.extend(key_request(key, key_type, source.key_encoding), column, placed, sink)
    seconds = time.monotonic() - began
    if records.read_as is not None:
        echo(f"{file} was read as {records.read_as}", err=True)
    if as_json:
        summary = {"file": file, "out": new, "partitions": partitions, "client": client, "rows": placer.rows}
        click.echo(json.dumps({**summary, "null_keys": placer.null_keys, "seconds": round(seconds, 3)}))
        return
    rate = f", {placer.rows / seconds:,.0f} rows/s" if placer.rows else ""
    echo(
        f"{counted(placer.rows, 'row')} placed, {placer.null_keys:,} with a null key, in {seconds:.1f} s{rate}",
        err=True,
    )
