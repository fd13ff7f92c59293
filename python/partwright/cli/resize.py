"""`partwright resize`: what moves when a topic gets another number of partitions?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from partwright.cli.options import (
    column_name,
    is_topic,
    json_option,
    key_type_option,
    named_topic,
    topic_key_type,
)
from partwright.cli.reading import reading
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.audit.resize import Resize

__all__ = ["command"]


@click.command("resize")
@click.argument("file")
@click.option("--key", callback=column_name, metavar="COL", help="The column of the records' keys.")
@click.option(
    "--from",
    "from_",
    type=int,
    metavar="N",
    help="How many partitions the topic has (default: as many as kafka://host:port/topic has).",
)
@click.option("--to", type=int, required=True, metavar="M", help="How many partitions it would have.")
@click.option(
    "--client",
    default="java",
    show_default=True,
    metavar="C",
    help="The client that writes to it; `partwright which x -n 1` names all.",
)
@key_type_option
@json_option
def command(
    file: str, key: str | None, from_: int | None, to: int, client: str, key_type: str | None, as_json: bool
) -> None:
    """Say which keys and records go to another partition when a topic gets more partitions, or a new topic has fewer.

    FILE is csv (.csv, .tsv), JSON lines (.json, .jsonl, .ndjson), parquet, Arrow (.arrow, .feather, .ipc), - for JSON
    lines on stdin, or kafka://host:port/topic, which is read from its beginning to its present end.

    Kafka moves no record: what a key has written before stays in its old partition, and what it writes afterwards goes
    to the new one. So the order of each key that moves is at risk until the old records are consumed; of a compacted
    topic, its old record is never replaced.

    \b
    Exit code: 0 there is an answer, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright resize orders.csv --key customer --from 12 --to 24
      partwright resize kafka://127.0.0.1:9092/orders --to 24 --client librdkafka
    """  # noqa: D301 - click keeps the lines of a paragraph that begins with a backspace
    plan = (_of_topic if is_topic(file) else _of_file)(file, key, from_, to, client, key_type)
    if as_json:
        click.echo(json.dumps(plan.to_dict()))
        return
    from partwright.cli.resize_report import print_report  # noqa: PLC0415 - rich takes a while to import

    print_report(plan, file)


def _of_file(
    file: str, key: str | None, from_: int | None, to: int, client: str, key_type: str | None
) -> Resize:
    # Imported here alone: --help is there at once.
    from partwright.audit.resize import Resize  # noqa: PLC0415
    from partwright.files import Wanted, open_records, text_type  # noqa: PLC0415

    if key is None:
        raise PartwrightError(f"say which column of {file!r} is the key, with --key")
    if from_ is None:
        raise PartwrightError(f"say how many partitions the topic of {file!r} has, with --from")
    plan = Resize(from_, to, client, key_type)
    with open_records(file) as records, reading(file) as read:
        for (keys,) in records.read([Wanted(key, text_type(key_type))]):
            plan.add(keys)
            read(plan.seen, records.done)
    return plan


def _of_topic(
    address: str, key: str | None, from_: int | None, to: int, client: str, key_type: str | None
) -> Resize:
    from partwright.audit.resize import Resize  # noqa: PLC0415
    from partwright.hashing import partition_for_key  # noqa: PLC0415
    from partwright.kafka.records import TopicRecords  # noqa: PLC0415

    servers, topic = named_topic(address, {"--key": key})
    key_type = topic_key_type(key_type)
    # What is wrong with the options is said before a broker is asked.
    partition_for_key(None, to, client, key_type)
    records = TopicRecords(servers, topic)
    plan = Resize(records.partitions if from_ is None else from_, to, client, key_type)
    with reading(address) as read:
        for batch in records.batches():
            plan.add(batch.keys)
            read(plan.seen, records.done)
    return plan
