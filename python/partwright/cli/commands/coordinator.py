"""`partwright coordinator`: where a consumer group's offsets are stored, and which broker coordinates it."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import click

from partwright.cli.input.connection import connection_options
from partwright.cli.input.options import json_option, partitions_option
from partwright.cli.tables.plain import Cell, Column, Page
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright._check import Json
    from partwright.cli.input.connection import Connection

__all__ = ["command"]

_WIDTH = 160
_GROUPS, _TRANSACTIONS = "__consumer_offsets", "__transaction_state"
_FORMATTERS = {
    _GROUPS: "org.apache.kafka.tools.consumer.OffsetsMessageFormatter",
    _TRANSACTIONS: "org.apache.kafka.tools.consumer.TransactionLogMessageFormatter",
}


@click.command("coordinator")
@click.argument("group")
@partitions_option(
    "The internal topic's number of partitions (default: 50, Redpanda's 16, or with --broker the live topic's).",
    "n",
)
@click.option(
    "--transactional",
    is_flag=True,
    help="GROUP is a producer's transactional.id, which is kept in __transaction_state.",
)
@click.option(
    "--broker-kind",
    metavar="KIND",
    default="kafka",
    show_default=True,
    help="Whose rule: kafka, or redpanda, which has another one (read from its source, not tried).",
)
@click.option(
    "--broker",
    metavar="HOST:PORT",
    help="Ask a live Kafka who coordinates the group, whether the rule holds there, and what the group has committed.",
)
@connection_options
@json_option
def command(
    group: str,
    n: int | None,
    transactional: bool,
    broker_kind: str,
    broker: str | None,
    as_json: bool,
    connection: Connection,
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
      partwright coordinator billing -n 100
      partwright coordinator payments-1 --transactional
      partwright coordinator billing --broker 127.0.0.1:9092
      partwright coordinator billing --broker-kind redpanda -n 16
    """
    from partwright import _core
    from partwright.keys.clients import key_bytes_of, placements
    from partwright.keys.coordinators import broker_kind_named

    _refuse_empty(group, transactional)
    kind = broker_kind_named(broker_kind)
    if transactional and kind.name != "kafka":
        raise PartwrightError(
            f"--broker-kind {kind.name} is for groups: its transactional ids are not in {_TRANSACTIONS}"
        )
    topic = _TRANSACTIONS if transactional else _GROUPS
    found: Json = {"n": kind.partitions if n is None else n}
    # This needs no pyarrow, unlike `partwright.coordinator_partition` for columns.
    _core.check(found["n"], "java", None)
    found["partition"] = kind.of_bytes(key_bytes_of(group), found["n"])
    if broker is None and connection.is_given:
        raise PartwrightError("--command-config and -X are for reaching a Kafka: name it with --broker")
    if broker is not None:
        if n is not None:
            raise PartwrightError("--broker already tells how many partitions the topic has: leave out -n")
        from partwright.kafka.address import plain_servers
        from partwright.kafka.coordinators import coordinator

        broker = plain_servers(broker)
        found = coordinator(None, group, topic, broker_kind=kind.name, kafka_config=connection.config(broker))
    # A producer's rule that starts with the same hash, but continues differently.
    (hashed,) = placements(group, found["n"], "java:string-hash")
    rule = {"broker_kind": kind.name, "formula": kind.formula, "evidence": kind.evidence}
    answer = {
        "id": group,
        "topic": topic,
        "hash": hashed.hash if kind.name == "kafka" else None,
        "rule": rule,
        **found,
    }
    answer["read"] = _reading(topic, found["partition"], broker or "localhost:9092")
    if as_json:
        click.echo(json.dumps(answer))
    else:
        _print(Page(_WIDTH), answer, broker)


def _refuse_empty(group: str, transactional: bool) -> None:
    if group == "" and transactional:
        raise PartwrightError("a transactional.id is empty, which Kafka's producer refuses: name one")
    if group == "":
        raise PartwrightError(
            "the group's id is empty, which Kafka's coordinator refuses of members as INVALID_GROUP_ID: name a group"
        )


def _reading(topic: str, partition: int | None, servers: str) -> str | None:
    if partition is None:
        return None
    words = ["kafka-console-consumer.sh", "--bootstrap-server", servers, "--topic", topic]
    return shlex.join(
        [*words, "--partition", str(partition), "--from-beginning", "--formatter", _FORMATTERS[topic]]
    )


def _print(page: Page, answer: Json, broker: str | None) -> None:
    if answer["partition"] is None:
        at = f"broker {answer['leader']['id']} at {answer['leader']['host']}:{answer['leader']['port']}"
        page.line(
            Cell(answer["id"], bold=True),
            f": coordinated by {at}, as FindCoordinator answers",
        )
        page.line(
            Cell("The rule is wrong here", colour="yellow"),
            f": {_by_rule(answer)} of {answer['topic']}, which another broker leads. Which partition has the group is "
            "unknown: if these brokers are not Kafka, try another --broker-kind.",
        )
    else:
        where = f": partition {answer['partition']} of the {answer['n']:,} of {answer['topic']}"
        page.line(Cell(answer["id"], bold=True), where)
        least = ", because Kafka's absolute value of the lowest int is 0"
        page.line(f"{_by_rule(answer)}{least if answer['hash'] == -(2**31) else ''}")
        _print_leader(page, answer, asked=broker is not None)
    if answer.get("offsets"):
        columns = [Column("topic"), Column("partition", right=True, whole=True)]
        columns += [Column("next offset", right=True, whole=True), Column("metadata")]
        page.table(
            columns,
            [
                (each["topic"], f"{each['partition']}", f"{each['offset']:,}", each["metadata"])
                for each in answer["offsets"]
            ],
        )
    elif "offsets" in answer:
        page.line("The group has committed no offset.")
    if answer["read"] is not None:
        page.line("To read that partition (Kafka 3.9 and later):")
        page.copied(f"  {answer['read']}")


def _by_rule(answer: Json) -> str:
    n, partition = answer["n"], answer.get("by_rule", answer["partition"])
    if answer["rule"]["broker_kind"] == "kafka":
        return f"abs(hashCode) % n: abs({answer['hash']}) % {n} = {partition}"
    return f"{answer['rule']['formula']} = {partition} for n = {n}"


def _print_leader(page: Page, answer: Json, *, asked: bool) -> None:
    rule = answer["rule"]
    if not asked:
        name = rule["broker_kind"].capitalize()
        page.line(
            f"This is {name}'s rule, {rule['evidence']}; brokers of another kind may have another (--broker-kind)."
        )
        page.line(
            "The broker that leads this partition is the coordinator; --broker shows which one that is."
        )
    elif answer["leader"] is None:
        page.line(
            Cell("No broker leads this partition", colour="yellow"),
            ", so there is no coordinator until one does.",
        )
    else:
        leader = answer["leader"]
        confirmed = {
            True: "leads it: FindCoordinator names it too.",
            None: "leads it. That is by the rule alone: "
            + (
                "one broker leads all partitions, so its answer confirms nothing."
                if answer["leads_all"]
                else "no broker could be asked who coordinates this ID."
            ),
        }[answer["rule_agrees"]]
        page.line(
            f"The coordinator is broker {leader['id']} at {leader['host']}:{leader['port']}, which {confirmed}"
        )
