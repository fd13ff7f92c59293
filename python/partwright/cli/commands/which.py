"""`partwright which`: where each client puts a key, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from partwright._check import counted
from partwright.cli.commands.which_topic import print_ways, topic_of, ways_to_read
from partwright.cli.input.completion import client_names, key_type_names
from partwright.cli.input.connection import connection_options
from partwright.cli.input.options import partitions_option
from partwright.cli.tables.plain import Cell, Column, Page
from partwright.errors import PartwrightError
from partwright.keys.clients import KeyPlacement, key_bytes_of, key_types, placements
from partwright.keys.key_text import short
from partwright.keys.summary import in_one_sentence
from partwright.keys.typed_text import read_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partwright._check import Json
    from partwright.cli.input.connection import Connection
    from partwright.keys.hashing import Key

__all__ = ["command"]

_WIDTH = 120
_WIDE = 96
_NARROW = 72


@click.command("which")
@click.argument("key", required=False)
@partitions_option(
    "The topic's number of partitions (default: that of --topic kafka://host:port/topic).", "n"
)
@click.option(
    "--client",
    metavar="C",
    shell_complete=client_names,
    help="Ask about one client only, such as librdkafka:murmur2 (default: all of them).",
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
    help="Print how to read the key's partition of this topic: a name, or kafka://host:port/topic.",
)
@click.option(
    "--servers", metavar="HOST:PORT", help="The brokers, if TOPIC is only a name (default: localhost:9092)."
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
    """Where does each client, or one of them, put a record with this KEY, and why?

    With --topic it also prints how to read that one partition, where --client (default: java) put the key, with kcat,
    Kafka's console consumer and Spark.

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
    # Errors in the options are reported before a broker is asked.
    placements(value, 1 if n is None else n, client, key_type)
    name, brokers, n, protocol = topic_of(topic, servers, n, connection)
    found = placements(value, n, client, key_type)
    key_bytes = key_bytes_of(value, key_type)
    ways = None if name is None else ways_to_read(name, brokers, value, n, client or "java", key_type)
    summary = in_one_sentence(short(_named(value, key_bytes)), n, found)
    if as_json:
        answer = {"summary": summary, **_object(key_bytes, n, found)}
        click.echo(json.dumps(answer | ({"read": ways} if ways else {})))
        return
    page = Page(_WIDTH)
    page.line(Cell(summary, bold=True))
    _print_key(page, value, key_bytes, n, key_type)
    _print_table(page, found)
    _print_notes(page, found, n)
    if ways:
        print_ways(page, ways, protocol)
    if explain:
        _print_steps(page, found, n)
        # Hex digits are not a word that could be a key of other types.
        _print_types(page, None if as_hex else key, n, client, shown=key_type)


def _value(key: str | None, key_type: str | None, *, as_hex: bool, is_null: bool) -> Key | None:
    """Convert the text of the command line to a value for the key type."""
    if is_null:
        if key is not None:
            raise PartwrightError(f"--null means no key: leave out the key {key!r}")
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


def _named(value: object, key: bytes | None) -> str:
    """How sentences name a key."""
    if not key:
        return "a record without a key" if key is None else "an empty key"
    # For a date or a decimal, show the text that it becomes.
    return f"key {repr(value) if isinstance(value, (str, bytes, int, float)) else key.decode()}"


def _print_key(page: Page, value: object, key: bytes | None, n: int, key_type: str | None) -> None:
    among = f" among {counted(n, 'partition')}"
    if key is None:
        page.line("no key", among)
        return
    shown = _named(value, key)
    named = f" as {key_type}" if key_type else ""
    bytes_ = f", {counted(len(key), 'byte')}: {key.hex(' ')}" if key else ""
    page.line(shown, named, among, bytes_)


def _print_table(page: Page, found: list[KeyPlacement]) -> None:
    """A row for each rule, with the clients that have it; Java's first, last the clients that do not use the key."""
    rows: dict[tuple[int | None, str, str], list[KeyPlacement]] = {}
    for each in found:
        rows.setdefault((each.partition, each.hash_name if each.why is None else "", _then(each)), []).append(
            each
        )
    # On a narrow terminal, clients' names are not broken; --explain has the steps.
    is_wide = page.width >= _WIDE
    columns = [Column("partition", right=True, whole=True), Column("hash", whole=page.width >= _NARROW)]
    columns += [Column("then")] * is_wide + [Column("clients")]
    shown: list[list[str | Cell]] = []
    for (partition, hash_name, then), those in sorted(rows.items(), key=_javas_first):
        agrees = any(each.client == "java" for each in those)
        shown.append(
            [
                Cell(_shown(partition), bold=True, colour="green" if agrees else None),
                f"{hash_name} {those[0].hash}" if hash_name else "",
                *([then] * is_wide),
                ", ".join(each.client for each in those),
            ]
        )
    page.table(columns, shown)


def _javas_first(row: tuple[tuple[int | None, str, str], list[KeyPlacement]]) -> tuple[bool, bool]:
    (partition, _, _), clients = row
    return partition is None, clients[0].client != "java"


def _then(each: KeyPlacement) -> str:
    """The step from the hash to the partition, or how the client chooses without it."""
    return each.sign if each.why is None else each.why


def _print_notes(page: Page, found: list[KeyPlacement], n: int) -> None:
    settings: dict[str, list[str]] = {}
    for each in found:
        if each.setting is not None:
            settings.setdefault(each.setting, []).append(each.client)
        if each.partition is not None and each.partition < 0:
            words = (
                f"{each.client}: Math.abs({each.hash}) is negative, and so is its remainder by {n}: a producer with "
                "this partitioner fails at this key"
            )
            page.line(Cell(words, colour="red"))
    if settings:
        page.line(Cell("To put every key where java puts it:", bold=True))
    for setting, those in settings.items():
        whose = those[0] if len(those) == 1 else those[0].split(":")[0]
        # Printed for copying, on one line however narrow the terminal.
        page.copied(f"  {whose}: {setting}")


def _print_steps(page: Page, found: list[KeyPlacement], n: int) -> None:
    page.line("")
    seen = set()
    for each in found:
        if each.hash is None or (each.hash_name, each.sign) in seen:
            continue
        seen.add((each.hash_name, each.sign))
        page.line(_steps(each, n))


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


def _print_types(page: Page, key: str | None, n: int, client: str | None, shown: str | None) -> None:
    """The key that the same command-line word is under each other key type that accepts it."""
    if key is None:
        return
    rows = []
    for key_type in key_types():
        try:
            value = read_key(key, key_type)
            [placed] = placements(value, n, client or "java", key_type)
            key_bytes = key_bytes_of(value, key_type) or b""
        except PartwrightError:
            continue
        mark = " (asked for)" if key_type == (shown or "utf8") else ""
        rows.append((key_type + mark, key_bytes.hex(" "), _shown(placed.partition)))
    columns = ["the same KEY as", "key bytes", f"partition by {client or 'java'}"]
    page.table([Column(name, right=name is columns[-1]) for name in columns], rows)
