"""`partwright coordinator`: where a consumer group's offsets are stored, and which broker coordinates it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from partwright._check import Json
from partwright.cli.input.connection import connection_options
from partwright.cli.input.options import partitions_option
from partwright.cli.output import output_options
from partwright.cli.parsing import Command, flag, heading, option
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection
    from partwright.cli.output import Output

_GROUPS, _TRANSACTIONS = "__consumer_offsets", "__transaction_state"
_FORMATTERS = {
    _GROUPS: "org.apache.kafka.tools.consumer.OffsetsMessageFormatter",
    _TRANSACTIONS: "org.apache.kafka.tools.consumer.TransactionLogMessageFormatter",
}


@click.command("coordinator", cls=Command)
@click.argument("group", required=False)
@heading("What to look up")
@option("--group GROUP", "GROUP, as Kafka's own tools take it.", "named")
@partitions_option(
    "The internal topic's number of partitions (default: 50, Redpanda's 16, or with --broker the live topic's).",
    "n",
)
@flag("--transactional", "GROUP is a producer's transactional.id, which is kept in __transaction_state.")
@option(
    "--broker-kind KIND",
    "Whose rule: kafka, or redpanda, which has another one (read from its source, not tried).",
    default="kafka",
)
@option(
    "--broker HOST:PORT",
    "Ask a live Kafka who coordinates the group, whether the rule holds there, and what the group has committed.",
)
@connection_options
@output_options
def command(
    group: str | None,
    named: str | None,
    n: int | None,
    transactional: bool,
    broker_kind: str,
    broker: str | None,
    connection: Connection,
    output: Output,
) -> None:
    """Which partition of __consumer_offsets has the offsets of GROUP?  Its leader coordinates the group.

    That is abs(hashCode) % N of the group's ID, with Java's String.hashCode, and 0 as the absolute value of the lowest
    int. The coordinator is the broker that leads this partition, however busy it is. Brokers that are not Kafka may
    have another rule: --broker asks one who coordinates the group, and says if the rule is wrong there.

    \b
    Exit code: 0 answered, 2 wrong use or no such topic, 130 interrupted.

    \b
    Examples:
      partwright coordinator KafkaConsumerDemo
      partwright coordinator --group billing -n 100
      partwright coordinator payments-1 --transactional
      partwright coordinator billing --broker 127.0.0.1:9092
      partwright coordinator billing --broker-kind redpanda -n 16
    """
    from partwright import _core
    from partwright.keys.client_profiles import key_bytes_of, placements
    from partwright.keys.coordinators import Coordination, broker_kind_named

    if group is not None and named is not None:
        raise PartwrightError(f"{group!r} and --group {named!r} name a group: leave one out")
    group = _one_group(named if group is None else group, transactional)
    kind = broker_kind_named(broker_kind)
    if transactional and kind.name != "kafka":
        raise PartwrightError(
            f"--broker-kind {kind.name} is for groups: its transactional ids are not in {_TRANSACTIONS}"
        )
    topic = _TRANSACTIONS if transactional else _GROUPS
    facts: Json = {"n": kind.partitions if n is None else n}
    # This needs no pyarrow, unlike `partwright.coordinator_partition` for columns.
    _core.check(facts["n"], "java", None)
    facts["partition"] = kind.of_bytes(key_bytes_of(group), facts["n"])
    if broker is None:
        connection.refuse_unused("name it with --broker")
    else:
        if n is not None:
            raise PartwrightError("--broker already tells how many partitions the topic has: leave out -n")
        from partwright.kafka.address import plain_servers
        from partwright.kafka.groups import coordinator

        broker = plain_servers(broker)
        facts = coordinator(connection.config(broker), group, topic, broker_kind=kind.name)
    # A producer's rule that starts with the same hash, but continues differently.
    (hashed,) = placements(group, facts["n"], "java:string-hash")
    group_hash = hashed.hash if kind.name == "kafka" else None
    reading = _reading(topic, facts["partition"], broker or "localhost:9092")
    output.show(Coordination(group, topic, kind, group_hash, facts, reading))


def _one_group(group: str | None, transactional: bool) -> str:
    if group is None:
        raise PartwrightError("which group? Name it, as in partwright coordinator billing")
    if group == "" and transactional:
        raise PartwrightError("a transactional.id is empty, which Kafka's producer refuses: name one")
    if group == "":
        raise PartwrightError(
            "the group's id is empty, which Kafka's coordinator refuses of members as INVALID_GROUP_ID: name a group"
        )
    return group


def _reading(topic: str, partition: int | None, servers: str) -> str | None:
    if partition is None:
        return None
    where = f"--bootstrap-server {shlex.quote(servers)} --topic {topic} --partition {partition}"
    return f"kafka-console-consumer.sh {where} --from-beginning --formatter {_FORMATTERS[topic]}"
