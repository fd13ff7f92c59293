"""`partwright copartition`: do two topics or tables meet, and if not, why?"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import click

from partwright.cli.input.completion import client_names, key_type_names
from partwright.cli.input.connection import connection_options, reading_options, refuse_for_file
from partwright.cli.input.files import Source, delimiter_option, format_option
from partwright.cli.input.options import (
    column_option,
    is_topic,
    key_type_option,
    named_topic,
    partitions_option,
    topic_key_type,
    whole_key_type,
)
from partwright.cli.input.topic_reading import TopicReading
from partwright.cli.output import output_options
from partwright.cli.parsing import Command, heading
from partwright.cli.reading_progress import reading
from partwright.errors import PartwrightError
from partwright.signals import Ended

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partwright.audit.copartition import Side
    from partwright.cli.input.connection import Connection
    from partwright.cli.output import Output
    from partwright.kafka.bounds import Bounds

__all__ = ["command"]


@dataclass(frozen=True)
class _Options:
    """The options for A, or for B, whose option names end with `suffix`."""

    key: str | None
    partition: str | None
    n: int | None
    client: str | None
    key_type: str | None
    format: str | None
    delimiter: str | None
    suffix: str = ""

    @property
    def n_option(self) -> str:
        return f"--n{self.suffix}" if self.suffix else "-n"


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
@heading("Where to place")
@partitions_option("The number of partitions (default: a topic's own; with --partition, it is found).", "n")
@click.option("--n-b", type=int, metavar="N", help="The same for B (default: as for A).")
@click.option(
    "--client",
    metavar="C",
    shell_complete=client_names,
    help="The client that would put the records of a file into partitions (default: java); `partwright which x -n 1` "
    "names all.",
)
@click.option(
    "--client-b", metavar="C", shell_complete=client_names, help="The same for B (default: as for A)."
)
@key_type_option
@click.option(
    "--key-type-b",
    metavar="T",
    callback=whole_key_type,
    shell_complete=key_type_names,
    help="The same for B (default: as for A).",
)
@reading_options
@connection_options
@output_options
def command(
    a: str,
    b: str,
    key: str | None,
    key_b: str | None,
    partition: str | None,
    partition_b: str | None,
    n: int | None,
    n_b: int | None,
    client: str | None,
    client_b: str | None,
    key_type: str | None,
    key_type_b: str | None,
    format_: str | None,
    format_b_: str | None,
    delimiter: str | None,
    delimiter_b: str | None,
    output: Output,
    connection: Connection,
    bounds: Bounds | None,
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
    from partwright.audit.copartition import meet

    if a == b == "-":
        raise PartwrightError("'-' cannot be both: stdin is read once, name a file for A or for B")
    plain = _Options(key, partition, n, client, key_type, format_, delimiter)
    own = _Options(key_b, partition_b, n_b, client_b, key_type_b, format_b_, delimiter_b, "-b")
    of_a, of_b = _resolved(a, b, plain, own)
    for address, options in ((a, of_a), (b, of_b)):
        (_check_topic if is_topic(address) else _check_file)(address, options)
    if not (is_topic(a) or is_topic(b)):
        refuse_for_file(a, connection, bounds)
    topics = [_opened(each, connection, bounds) if is_topic(each) else None for each in (a, b)]
    sides = []
    for each, options, topic in zip((a, b), (of_a, of_b), topics, strict=True):
        sides.append(_file(each, options) if topic is None else _topic(topic, options))
        if topic is not None and topic.interrupted and len(sides) == 1:
            # Nothing is known about B, so there is no answer.
            raise Ended(signal.SIGINT)
    found = meet(*sides)
    if not found.keys_shared and found.a.n == found.b.n and any(topic and topic.is_part for topic in topics):
        raise PartwrightError(
            "no key is in both of the parts that were read, so it is open whether the topics meet: read more of them"
        )
    read = tuple(None if topic is None else topic.told() for topic in topics)
    found = replace(found, names=(a, b), read=read if any(read) else None)
    output.show(found, f"{a} and {b}")
    code = 0 if found.ok else 1
    return max(code if topic is None else topic.exit_code(code) for topic in topics)


def _resolved(a: str, b: str, of_a: _Options, of_b: _Options) -> tuple[_Options, _Options]:
    """The options for each of the two; B's default to A's."""
    given = {field.name: (getattr(of_a, field.name), getattr(of_b, field.name)) for field in fields(_Options)}
    first = {name: plain for name, (plain, _) in given.items()}
    second = {name: plain if own is None else own for name, (plain, own) in given.items()}
    # B's own column or its own client each replace both of A's.
    if of_b.client is not None and of_b.partition is None:
        second["partition"] = None
    if of_b.partition is not None and of_b.client is None:
        second["client"] = None
    if not is_topic(a):
        # B's format follows from its own name.
        second |= {"format": of_b.format, "delimiter": of_b.delimiter}
    if is_topic(a) != is_topic(b):
        # An option for the one file does not apply to the topic.
        if is_topic(a):
            first.update({name: None for name, (_, own) in given.items() if own is None})
        else:
            second = {name: own for name, (_, own) in given.items()}
    return _Options(**{**first, "suffix": ""}), _Options(**{**second, "suffix": "-b"})


def _check_topic(address: str, options: _Options) -> None:
    """Report errors in the options before a broker is asked."""
    suffix = options.suffix
    Source((address,), options.format, options.delimiter).refuse_for_topic()
    named_topic(address, {f"--key{suffix}": options.key, f"--partition{suffix}": options.partition})
    topic_key_type(options.key_type)
    if options.n is not None:
        raise PartwrightError(
            f"{options.n_option} {options.n} is for a file: {address!r} has its own number of partitions, leave it out"
        )
    if options.client is not None:
        raise PartwrightError(
            f"--client{suffix} {options.client!r} is for a file: the records of {address!r} are where they "
            "are, leave it out"
        )


def _check_file(path: str, options: _Options) -> None:
    """Report errors in the options before a file is read."""
    from partwright.keys.hashing import partition_for_key

    key, partition, suffix = options.key, options.partition, options.suffix
    if key is None:
        raise PartwrightError(f"name the key's column of {path!r} with --key{suffix}", path=path)
    if partition is not None and options.client is not None:
        raise PartwrightError(
            f"--partition{suffix} says where the records of {path!r} are, and --client{suffix} where they would "
            "be: give one of them",
            path=path,
        )
    if partition == key:
        raise PartwrightError(
            f"{key!r} cannot be both the key and the partition: name another column with --partition{suffix}"
        )
    if partition is None and options.n is None:
        raise PartwrightError(
            f"give the number of partitions that {path!r} would have with {options.n_option}", path=path
        )
    partition_for_key(None, 1 if options.n is None else options.n, options.client or "java", options.key_type)


def _opened(address: str, connection: Connection, bounds: Bounds | None) -> TopicReading:
    return TopicReading(*named_topic(address, {}), connection, bounds)


def _topic(topic: TopicReading, options: _Options) -> Side:
    from partwright.audit.columns import columns
    from partwright.audit.copartition import Side
    from partwright.audit.key_sums import Observed

    key_type, seen = topic_key_type(options.key_type), Observed()
    for batch in topic.batches(lambda: seen.rows):
        seen.add(*columns(batch.keys, batch.partitions, batch.timestamps, batch.offsets, key_type, seen.rows))
    return Side(seen, topic.partitions)


def _file(path: str, options: _Options) -> Side:
    from partwright.audit.check import Placer
    from partwright.audit.columns import columns
    from partwright.audit.copartition import Side, add_placed
    from partwright.audit.key_sums import Observed
    from partwright.files import ColumnRequest, text_type

    key_type, seen = options.key_type, Observed()
    wanted = [ColumnRequest(str(options.key), text_type(key_type))]
    client = None if options.partition else options.client or "java"
    placer = None if client is None else Placer(options.n or 0, client, key_type)
    if options.partition is not None:
        wanted.append(ColumnRequest(options.partition, text_type("java:long"), lenient=True))
    source = Source((path,), options.format, options.delimiter)
    with _named(path), source.open() as records, reading(path) as read:
        for keys, *places in records.read(wanted):
            if placer is None:
                seen.add(*columns(keys, places[0], key_type=key_type, first_row=seen.rows))
            else:
                add_placed(seen, placer, keys)
            read(seen.rows, records.done)
    return Side(seen, options.n, client, key_type)


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Let an error about a row name the file that it is in."""
    try:
        yield
    except PartwrightError as error:
        if error.path == path:
            raise
        raise error.within(repr(path), path=path) from error
