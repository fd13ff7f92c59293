"""`partwright which`: where each client puts a key, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich import box
from rich.table import Table
from rich.text import Text

from partwright.cli.commands.which_topic import print_ways, topic_of, ways_to_read
from partwright.cli.input.completion import client_names, key_type_names
from partwright.cli.input.connection import connection_options
from partwright.cli.input.options import partitions_option
from partwright.cli.tables.console import stdout_console
from partwright.errors import PartwrightError
from partwright.keys.clients import KeyPlacement, key_types, placements
from partwright.keys.hashing import encode
from partwright.keys.typed_text import read_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from partwright._check import Json
    from partwright.cli.input.connection import Connection

__all__ = ["command"]

_WIDTH = 120
_WIDE = 96


@click.command("which")
@click.argument("key", required=False)
@partitions_option(
    "The topic's number of partitions (default: as many as --topic kafka://host:port/topic has).", "n"
)
@click.option(
    "--client",
    metavar="C",
    shell_complete=client_names,
    help="One client profile only (default: all of them).",
)
@click.option(
    "--key-type",
    metavar="T",
    shell_complete=key_type_names,
    help=f"How the key becomes bytes: {', '.join(key_types())} (default: text as UTF-8).",
)
@click.option("--hex", "as_hex", is_flag=True, help="KEY is bytes, written in hex.")
@click.option("--null", "is_null", is_flag=True, help="The record has no key; KEY is left out.")
@click.option(
    "--topic",
    metavar="TOPIC",
    help="Print how to read the key's one partition of this topic, a name or kafka://host:port/topic.",
)
@click.option(
    "--servers", metavar="HOST:PORT", help="The brokers of a TOPIC that is a name (default: localhost:9092)."
)
@click.option(
    "--explain", is_flag=True, help="Show the arithmetic, and what KEY becomes under other key types."
)
@connection_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    key: str | None,
    n: int | None,
    client: str | None,
    key_type: str | None,
    as_hex: bool,
    is_null: bool,
    topic: str | None,
    servers: str | None,
    explain: bool,
    as_json: bool,
    connection: Connection,
) -> None:
    """Where does a record with this KEY go?  By each client, or by one, and why.

    With --topic it prints, too, how to read that one partition with kcat, Kafka's console consumer and Spark, where
    --client (default: java) has put the key.

    \b
    Examples:
      partwright which TT0124 -n 15
      partwright which TT0124 -n 15 --client librdkafka --explain
      partwright which 42 -n 12 --key-type java:long
      partwright which 0000000029a1 -n 12 --hex --key-type confluent:strip-id
      partwright which "" -n 7          (an empty key)
      partwright which --null -n 7      (no key)
      partwright which -n 12 -- -42     (a key that begins with -)
      partwright which TT0124 --topic kafka://127.0.0.1:9092/flights
    """
    value = _value(key, key_type, as_hex=as_hex, is_null=is_null)
    # What is wrong with the options is said before a broker is asked.
    placements(value, 1 if n is None else n, client, key_type)
    name, brokers, n, protocol = topic_of(topic, servers, n, connection)
    found = placements(value, n, client, key_type)
    key_bytes = encode(value, key_type)
    ways = None if name is None else ways_to_read(name, brokers, value, n, client or "java", key_type)
    if as_json:
        click.echo(json.dumps(_object(key_bytes, n, found) | ({"read": ways} if ways else {})))
        return
    console = stdout_console(_WIDTH)
    _print_key(console, value, key_bytes, n, key_type)
    _print_table(console, found)
    _print_notes(console, found, n)
    if ways:
        print_ways(console, ways, protocol)
    if explain:
        _print_steps(console, found, n)
        # Hex digits are no word that is a key of other types, too.
        _print_types(console, None if as_hex else key, n, client, shown=key_type)


def _value(
    key: str | None, key_type: str | None, *, as_hex: bool, is_null: bool
) -> str | bytes | float | None:
    """The key as the key type takes it, from the text of the command line."""
    if is_null:
        if key is not None:
            raise PartwrightError(f"--null stands for no key: leave out the key {key!r}")
        return None
    if key is None:
        raise PartwrightError("which key? Name it before -n, write '' for an empty one, or --null for none")
    if as_hex:
        try:
            return bytes.fromhex(key)
        except ValueError:
            raise PartwrightError(f"--hex takes two hex digits a byte, not {key!r}") from None
    return read_key(key, key_type)


def _object(key: bytes | None, n: int, found: Iterable[KeyPlacement]) -> Json:
    return {
        "key_hex": None if key is None else key.hex(),
        "n": n,
        "partitions": {each.client: each.partition for each in found},
        "hashes": {each.hash_name: each.hash for each in found if each.hash is not None},
    }


def _print_key(console: Console, value: object, key: bytes | None, n: int, key_type: str | None) -> None:
    among = f" among {n} partitions"
    if key is None:
        console.print(Text.assemble(("no key", "bold"), among))
        return
    shown = "an empty key" if value in {"", b""} else f"key {value!r}"
    named = f" as {key_type}" if key_type else ""
    bytes_ = f", {len(key)} bytes: {key.hex(' ')}" if key else ""
    console.print(Text.assemble((shown, "bold"), named, among, bytes_))


def _print_table(console: Console, found: list[KeyPlacement]) -> None:
    """A row for each rule, with the clients that have it; Java's first, those that do not go by the key last."""
    rows: dict[tuple[int | None, str, str], list[KeyPlacement]] = {}
    for each in found:
        rows.setdefault((each.partition, each.hash_name if each.why is None else "", _then(each)), []).append(
            each
        )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("partition", justify="right")
    # On a narrow terminal a client's name is kept whole; --explain has the steps.
    is_wide = console.width >= _WIDE
    for name in ("hash", "then", "clients") if is_wide else ("hash", "clients"):
        table.add_column(name, overflow="fold", no_wrap=name == "hash")
    for (partition, hash_name, then), those in sorted(rows.items(), key=_javas_first):
        agrees = any(each.client == "java" for each in those)
        hashed = f"{hash_name} {those[0].hash}" if hash_name else ""
        table.add_row(
            Text(_shown(partition), style="bold green" if agrees else "bold"),
            *((hashed, then) if is_wide else (hashed,)),
            ", ".join(each.client for each in those),
        )
    console.print(table)


def _javas_first(row: tuple[tuple[int | None, str, str], list[KeyPlacement]]) -> tuple[bool, bool]:
    (partition, _, _), clients = row
    return partition is None, clients[0].client != "java"


def _then(each: KeyPlacement) -> str:
    """The step from the hash to the partition, or how the client chooses without it."""
    return each.sign if each.why is None else each.why


def _print_notes(console: Console, found: list[KeyPlacement], n: int) -> None:
    settings: dict[str, list[str]] = {}
    for each in found:
        if each.setting is not None:
            settings.setdefault(each.setting, []).append(each.client)
        if each.partition is not None and each.partition < 0:
            words = (
                f"{each.client}: Math.abs({each.hash}) is negative, and so is its remainder by {n}: a producer with "
                "this partitioner fails at this key"
            )
            console.print(Text(words, style="red"))
    if settings:
        console.print("To put every key where java puts it:", style="bold")
    for setting, those in settings.items():
        whose = those[0] if len(those) == 1 else those[0].split(":")[0]
        # To be copied as it is, however narrow the terminal.
        console.print(Text(f"  {whose}: {setting}"), soft_wrap=True)


def _print_steps(console: Console, found: list[KeyPlacement], n: int) -> None:
    console.print()
    seen = set()
    for each in found:
        if each.hash is None or (each.hash_name, each.sign) in seen:
            continue
        seen.add((each.hash_name, each.sign))
        console.print(Text(_steps(each, n)))


def _steps(each: KeyPlacement, n: int) -> str:
    """The arithmetic of one rule in one line."""
    steps = [f"{each.hash_name} = {each.hash}"]
    if "0x7fffffff" in each.sign:
        steps.append(f"{each.hash} & 0x7fffffff = {each.dividend}")
    elif each.dividend != each.hash:
        steps.append(f"abs({each.hash}) = {each.dividend}")
    steps.append(f"{each.dividend} % {n} = {each.remainder}")
    if each.remainder != each.partition:
        steps.append(f"abs({each.remainder}) = {each.partition}")
    return f"{each.client}: " + "; ".join(steps)


def _shown(partition: int | None) -> str:
    return "-" if partition is None else str(partition)


def _print_types(console: Console, key: str | None, n: int, client: str | None, shown: str | None) -> None:
    """What the same word on the command line is as a key of each type that takes it."""
    if key is None:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("the same KEY as", no_wrap=True)
    table.add_column("key bytes", overflow="fold")
    table.add_column(f"partition by {client or 'java'}", justify="right")
    for key_type in key_types():
        try:
            value = read_key(key, key_type)
            [placed] = placements(value, n, client or "java", key_type)
            key_bytes = encode(value, key_type)
        except PartwrightError:
            continue
        mark = " (asked for)" if key_type == (shown or "utf8") else ""
        table.add_row(key_type + mark, key_bytes.hex(" "), _shown(placed.partition))
    console.print()
    console.print(table)
