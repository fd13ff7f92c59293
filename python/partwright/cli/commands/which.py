"""`partwright which`: where each client puts a key, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from partwright._check import Json, counted, is_topic
from partwright.cli.input.connection import connection_options
from partwright.cli.input.options import client_names, key_type_names, partitions_option, whole_key_type
from partwright.cli.output import echo, output_options
from partwright.cli.parsing import OUTPUT, Command, flag, heading, option
from partwright.errors import PartwrightError
from partwright.keys.client_profiles import KeyPlacements, key_types, placements, under_each_type
from partwright.keys.key_text import read_key

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection
    from partwright.cli.output import Output
    from partwright.keys.hashing import Key

_SERVERS = "localhost:9092"
_PLAIN = "PLAINTEXT"


@click.command("which", cls=Command)
@click.argument("keys", metavar="[KEY]...", nargs=-1)
@heading("Where to place")
@partitions_option(
    "The topic's number of partitions (default: that of --topic kafka://host:port/topic).", "n"
)
@option(
    "--client C",
    "Ask about one client or product only, such as librdkafka:murmur2 or telegraf (default: all libraries).",
    shell_complete=client_names,
)
@flag("--products", "Ask about products that write to Kafka, such as Filebeat, in place of libraries.")
@heading("What the key is")
@option(
    "--key-type T",
    f"How the key becomes bytes: {', '.join(key_types())} (default: text as UTF-8).",
    read=whole_key_type,
    shell_complete=key_type_names,
)
@flag("--hex", "KEY is bytes, written in hex.", "as_hex")
@flag("--null", "The record has no key; KEY is left out.", "is_null")
@heading("How to reach Kafka")
@option(
    "--topic TOPIC",
    "Print how to read the key's partition of this topic: a name, or kafka://host:port/topic.",
)
@option("--servers HOST:PORT", "The brokers, if TOPIC is only a name (default: localhost:9092).")
@connection_options
@heading(OUTPUT)
@flag("--explain", "Show the arithmetic, and what KEY becomes under other key types.")
@output_options
def command(
    keys: tuple[str, ...],
    n: int | None,
    client: str | None,
    products: bool,
    key_type: str | None,
    as_hex: bool,
    is_null: bool,
    topic: str | None,
    servers: str | None,
    explain: bool,
    connection: Connection,
    output: Output,
) -> None:
    """Where does each client, or one of them, put a record with this KEY, and why?  Several keys are answered in turn.

    With --topic it also prints how to read that one partition, where --client (default: java) put the key, with kcat,
    Kafka's console consumer and Spark.

    \b
    Examples:
      partwright which TT0124 -n 15
      partwright which TT0124 -n 15 --products
      partwright which TT0124 N14228 -n 15 --client librdkafka --explain
      partwright which 42 -n 12 --key-type java:long
      partwright which 0000000029a1 -n 12 --hex --key-type confluent:strip-id
      partwright which "" -n 7          (an empty key)
      partwright which --null -n 7      (no key)
      partwright which -n 12 -- -42     (a key that begins with -)
      partwright which TT0124 --topic kafka://127.0.0.1:9092/flights
    """
    if len(keys) > 1 and (output.has_file or output.form == "html"):
        raise PartwrightError(
            f"a page or a picture is of one key, and {counted(len(keys), 'key')} are named: name one"
        )
    words = keys or (None,)
    values = [_value(word, key_type, as_hex=as_hex, is_null=is_null) for word in words]
    if products and client is not None:
        raise PartwrightError(
            f"--products asks about all products, and --client about {client}: leave one of them out"
        )
    # Errors in the options are reported before a broker is asked.
    for value in values:
        placements(value, 1 if n is None else n, client, key_type)
    name, brokers, n, protocol = _topic_of(topic, servers, n, connection)
    for word, value in zip(words, values, strict=True):
        answer = KeyPlacements(
            value,
            n,
            tuple(placements(value, n, client, key_type, products=products)),
            key_type,
            None if name is None else _ways_to_read(name, brokers, value, n, client or "java", key_type),
            protocol,
            # Hex digits are not a word that could be a key of other types.
            under_each_type(word, n, client or "java") if explain and word is not None and not as_hex else (),
        )
        output.show(answer, with_details=explain)


def _value(key: str | None, key_type: str | None, *, as_hex: bool, is_null: bool) -> Key | None:
    """Convert the text of the command line to a value for the key type."""
    if is_null:
        if key is not None:
            raise PartwrightError(f"--null means no key: leave out the key {key!r}")
        if as_hex:
            raise PartwrightError(
                "--null means no key, and --hex says how one is written: leave one of them out"
            )
        return None
    if key is None:
        raise PartwrightError("which key? Name it before -n, write '' for an empty one, or --null for none")
    if as_hex:
        try:
            return bytes.fromhex(key)
        except ValueError:
            raise PartwrightError(f"--hex takes two hex digits a byte, not {key!r}") from None
    return read_key(key, key_type)


def _topic_of(
    topic: str | None, servers: str | None, n: int | None, connection: Connection
) -> tuple[str | None, str, int, str]:
    """The topic's name, where its brokers are, how many partitions it has, and its `security.protocol`.

    Args:
        topic: The value of --topic: a name, an address, or nothing.
        servers: The value of --servers.
        n: The value of -n; by default a live topic is asked.
        connection: How its Kafka is reached.

    Raises:
        PartwrightError: The options do not fit together, or n is unknown.
        BrokerError: No Kafka answers, or there is no such topic.
    """
    if topic is None and servers is not None:
        raise PartwrightError(
            f"--servers {servers!r} are those of a topic: name it with --topic, or leave them out"
        )
    if servers is not None and not servers.strip():
        raise PartwrightError("--servers is empty: name one, such as localhost:9092")
    if topic is not None and is_topic(topic):
        if servers is not None:
            raise PartwrightError(f"{topic!r} says where its brokers are: leave out --servers")
        return _live(topic, n, connection)
    connection.refuse_unused("name its topic with --topic kafka://host:port/topic")
    if n is None:
        raise PartwrightError(
            "give the topic's number of partitions with -n or --topic kafka://host:port/topic"
        )
    return topic, _SERVERS if servers is None else servers, n, _PLAIN


def _live(address: str, n: int | None, connection: Connection) -> tuple[str, str, int, str]:
    from partwright.kafka.address import parse_topic
    from partwright.kafka.topics import end_offsets

    servers, topic = parse_topic(address)
    config = connection.config(servers)
    partitions = len(end_offsets(config, topic))
    if n not in {None, partitions}:
        echo(f"the topic has {counted(partitions, 'partition')}, -n says {n}", err=True)
    return topic, config.required_servers(), partitions if n is None else n, config.security_protocol


def _ways_to_read(
    topic: str, servers: str, key: Key | None, n: int, client: str, key_type: str | None
) -> Json:
    """How to read a key's records without other partitions, as an object for the JSON output.

    Raises:
        PartwrightError: The client does not place the key, or the topic's name is invalid.
    """
    from partwright.kafka.point_reads import assign_json, read_commands
    from partwright.keys.hashing import partition_for_key

    return {
        "topic": topic,
        "servers": servers,
        "client": client,
        "partition": partition_for_key(key, n, client, key_type),
        "assign": assign_json(topic, key, n, client, key_type),
        **read_commands(topic, key, n, servers=servers, client=client, key_type=key_type),
    }
