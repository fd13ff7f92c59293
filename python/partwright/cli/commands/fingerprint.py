"""`partwright fingerprint`: which client wrote this topic?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from partwright.cli.input.connection import connection_options, reading_options, refuse_for_file
from partwright.cli.input.files import files_argument
from partwright.cli.input.options import (
    column_option,
    is_topic,
    key_type_option,
    named_topic,
    partitions_option,
    topic_key_type,
)
from partwright.cli.input.topic_reading import TopicReading
from partwright.cli.output import output_options
from partwright.cli.parsing import Command
from partwright.cli.reading_progress import reading
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.audit import Fingerprint
    from partwright.cli.input.connection import Connection
    from partwright.cli.input.files import Source
    from partwright.cli.output import Output
    from partwright.kafka.bounds import Bounds

__all__ = ["command"]


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
    file: str,
    source: Source,
    key: str | None,
    partition: str | None,
    n: int | None,
    timestamp: str | None,
    offset: str | None,
    key_type: str | None,
    output: Output,
    connection: Connection,
    bounds: Bounds | None,
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
    read = None
    code = 0
    if is_topic(file):
        names = {"--key": key, "--partition": partition, "--timestamp": timestamp, "--offset": offset}
        found, topic = _of_topic(file, names, n, key_type, connection, bounds)
        read, code = topic.told(), topic.exit_code(code)
    else:
        refuse_for_file(file, connection, bounds)
        found = _of_file(file, source, key, partition, timestamp, offset, n, key_type)
    output.show(found, file, read)
    return code


def _of_file(
    file: str,
    source: Source,
    key: str | None,
    partition: str | None,
    timestamp: str | None,
    offset: str | None,
    n: int | None,
    key_type: str | None,
) -> Fingerprint:
    # Imported only here, so that --help is fast.
    from partwright.audit.columns import columns
    from partwright.audit.fingerprint import judge
    from partwright.audit.key_sums import Observed
    from partwright.files import ColumnRequest, text_type
    from partwright.keys.hashing import partition_for_key

    for option, name in (("--key", key), ("--partition", partition)):
        if name is None:
            what = option.removeprefix("--")
            raise PartwrightError(f"name the {what}'s column of {file!r} with {option}", path=file)
    partition_for_key(None, 1 if n is None else n, key_type=key_type)
    names = {"key": key, "partition": partition, "timestamps": timestamp, "offsets": offset}
    given = {what: name for what, name in names.items() if name is not None}
    twice = [name for name in given.values() if list(given.values()).count(name) > 1]
    if twice:
        raise PartwrightError(f"{twice[0]!r} cannot be two of the columns: name another one")
    wanted = [
        ColumnRequest(name, text_type(key_type if what == "key" else "java:long"), lenient=what != "key")
        for what, name in given.items()
    ]
    seen = Observed()
    with source.open() as records, reading(file) as read:
        for batch in records.read(wanted):
            keys, partitions, *others = batch
            rest = dict(zip(list(given)[2:], others, strict=True))
            seen.add(*columns(keys, partitions, **rest, key_type=key_type, first_row=seen.rows))
            read(seen.rows, records.done)
    return judge(seen, n)


def _of_topic(
    address: str,
    names: dict[str, str | None],
    n: int | None,
    key_type: str | None,
    connection: Connection,
    bounds: Bounds | None,
) -> tuple[Fingerprint, TopicReading]:
    from partwright.audit.columns import columns
    from partwright.audit.fingerprint import judge
    from partwright.audit.key_sums import Observed
    from partwright.keys.hashing import partition_for_key

    servers, topic = named_topic(address, names)
    key_type = topic_key_type(key_type)
    # Errors in the options are reported before a broker is asked.
    partition_for_key(None, 1 if n is None else n, key_type=key_type)
    records = TopicReading(servers, topic, connection, bounds)
    seen = Observed()
    for batch in records.batches(lambda: seen.rows):
        seen.add(*columns(batch.keys, batch.partitions, batch.timestamps, batch.offsets, key_type, seen.rows))
    return judge(seen, records.partitions if n is None else n), records
