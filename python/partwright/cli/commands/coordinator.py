"""`partwright coordinator`: where a consumer group's offsets live, and which broker coordinates it."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import click
from rich.markup import escape
from rich.text import Text

from partwright.cli.input.connection import connection_options
from partwright.cli.input.options import json_option, partitions_option
from partwright.cli.tables.console import right_table, stdout_console
from partwright.errors import PartwrightError
from partwright.keys.clients import placements
from partwright.keys.hashing import coordinator_partition
from partwright.report.text import plain

if TYPE_CHECKING:
    from rich.console import Console

    from partwright._check import Json
    from partwright.cli.input.connection import Connection

__all__ = ["command"]

_GROUPS, _TRANSACTIONS = "__consumer_offsets", "__transaction_state"
_PARTITIONS = 50
_FORMATTERS = {
    _GROUPS: "org.apache.kafka.tools.consumer.OffsetsMessageFormatter",
    _TRANSACTIONS: "org.apache.kafka.tools.consumer.TransactionLogMessageFormatter",
}


@click.command("coordinator")
@click.argument("group")
@partitions_option(
    f"The internal topic's number of partitions (default: {_PARTITIONS}, as Kafka has it; with --broker its own).",
    "n",
)
@click.option(
    "--transactional",
    is_flag=True,
    help="GROUP is a producer's transactional.id, whose state __transaction_state has.",
)
@click.option(
    "--broker",
    metavar="HOST:PORT",
    help="Ask a live Kafka who leads that partition, and what the group has committed.",
)
@connection_options
@json_option
def command(
    group: str,
    n: int | None,
    transactional: bool,
    broker: str | None,
    as_json: bool,
    connection: Connection,
) -> None:
    """Which partition of __consumer_offsets has the offsets of GROUP?  Its leader coordinates the group.

    That is abs(hashCode) % N of the group's id, as Java's String has it, and 0 instead of the absolute value of the
    least int. The coordinator is the broker that leads this partition, however busy it is.

    \b
    Exit code: 0 answered, 2 wrong use or no such topic, 130 interrupted.

    \b
    Examples:
      partwright coordinator KafkaConsumerDemo
      partwright coordinator billing -n 100
      partwright coordinator payments-1 --transactional
      partwright coordinator billing --broker 127.0.0.1:9092
    """
    _refuse_empty(group, transactional)
    topic = _TRANSACTIONS if transactional else _GROUPS
    found: Json = {"n": _PARTITIONS if n is None else n}
    found["partition"] = coordinator_partition(group, found["n"])
    if broker is None and connection.is_given:
        raise PartwrightError("--command-config and -X are for reaching a Kafka: name it with --broker")
    if broker is not None:
        if n is not None:
            raise PartwrightError("--broker says itself how many partitions the topic has: leave out -n")
        from partwright.kafka.coordinators import coordinator

        found = coordinator(None, group, topic, kafka_config=connection.config(broker))
    # A producer's rule that begins with the same hash, and goes on otherwise.
    (hashed,) = placements(group, found["n"], "java:string-hash")
    answer = {"id": group, "topic": topic, "hash": hashed.hash, **found}
    answer["read"] = _reading(topic, found["partition"], broker or "localhost:9092")
    if as_json:
        click.echo(json.dumps(answer))
    else:
        _print(stdout_console(), answer, broker)


def _refuse_empty(group: str, transactional: bool) -> None:
    if group == "" and transactional:
        raise PartwrightError("a transactional.id is empty, which Kafka's producer refuses: name one")
    if group == "":
        raise PartwrightError(
            "the group's id is empty, which Kafka's coordinator refuses of members as INVALID_GROUP_ID: name a group"
        )


def _reading(topic: str, partition: int, servers: str) -> str:
    words = ["kafka-console-consumer.sh", "--bootstrap-server", servers, "--topic", topic]
    return shlex.join(
        [*words, "--partition", str(partition), "--from-beginning", "--formatter", _FORMATTERS[topic]]
    )


def _print(console: Console, answer: Json, broker: str | None) -> None:
    least = ", for Kafka's absolute value of the least int is 0" if answer["hash"] == -(2**31) else ""
    where = f"partition [bold]{answer['partition']}[/] of the {answer['n']:,} of {answer['topic']}"
    console.print(f"[bold]{escape(plain(answer['id']))}[/]: {where}")
    console.print(f"abs(hashCode) % n: abs({answer['hash']}) % {answer['n']} = {answer['partition']}{least}")
    if broker is None:
        console.print("The broker that leads this partition is the coordinator; --broker asks who that is.")
    elif answer["leader"] is None:
        console.print(
            "[yellow]No broker leads this partition[/]: there is no coordinator as long as that is so."
        )
    else:
        leader = answer["leader"]
        console.print(
            f"The coordinator is broker {leader['id']} at {leader['host']}:{leader['port']}, which leads it."
        )
    if answer.get("offsets"):
        table = right_table()
        table.add_column("topic")
        for name in ("partition", "next offset"):
            table.add_column(name, justify="right")
        table.add_column("metadata")
        for each in answer["offsets"]:
            table.add_row(
                escape(each["topic"]), f"{each['partition']}", f"{each['offset']:,}", escape(each["metadata"])
            )
        console.print(table)
    elif "offsets" in answer:
        console.print("The group has committed no offset.")
    console.print("To read that partition (Kafka 3.9 and later):")
    console.print(Text(f"  {answer['read']}"), soft_wrap=True)
