"""What several commands read from their options in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from partwright.errors import PartwrightError
from partwright.skew import read_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "column_name",
    "is_topic",
    "json_option",
    "key_type_option",
    "key_values",
    "named_topic",
    "share",
    "topic_key_type",
]

key_type_option = click.option(
    "--key-type",
    metavar="T",
    help="How the value becomes key bytes: utf8, bytes, java:long, java:int, java:uuid, ... (default: text as UTF-8).",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")


def column_name(ctx: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """The name of a column; what is none is refused.

    Raises:
        PartwrightError: It is empty, or its bytes are not UTF-8.
    """
    del ctx
    if given == "":
        raise PartwrightError(f"{option.opts[0]} is empty: name a column")
    try:
        (given or "").encode()
    except UnicodeEncodeError:
        raise PartwrightError(f"{option.opts[0]} {given!r} is not UTF-8, as every column's name is") from None
    return given


def key_values(option: str, given: Iterable[str]) -> dict[str, str]:
    """The pairs of an option that takes K=V.

    Raises:
        PartwrightError: One of them is no pair.

    Examples:
        >>> key_values("--conf", ["spark.sql.ansi.enabled=true"])
        {'spark.sql.ansi.enabled': 'true'}
    """
    pairs = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.strip():
            raise PartwrightError(f"{option} takes NAME=VALUE, not {each!r}")
        pairs[name.strip()] = value
    return pairs


def is_topic(file: str) -> bool:
    """Whether a topic is named instead of a file.

    Raises:
        PartwrightError: It is named wrongly.

    Examples:
        >>> is_topic("kafka://127.0.0.1:9092/orders"), is_topic("orders.csv")
        (True, False)
    """
    if file.startswith("kafka://"):
        return True
    if file.lower().startswith("kafka:"):
        raise PartwrightError(f"{file!r} is no address of a topic: write kafka://host:port/topic")
    return False


def named_topic(address: str, columns: Mapping[str, str | None]) -> tuple[str, str]:
    """The servers and the topic of kafka://host:port/topic.

    Args:
        address: What `is_topic` takes for one.
        columns: By option the column that was named, as of a file: a topic's records have their own.

    Raises:
        PartwrightError: It names no topic, or an option names a column that no topic has.
    """
    # Imported here alone, for it brings half of the package along.
    from partwright.pipeline.settings import parse_kafka  # noqa: PLC0415

    servers, topic = parse_kafka(address)
    if topic is None:
        raise PartwrightError(f"{address!r} names no topic: write kafka://host:port/topic")
    for option, given in columns.items():
        own = option.removeprefix("--").removesuffix("-b")
        if given not in {None, own}:
            raise PartwrightError(
                f"{option} {given!r} names a column of a file: a topic's records have their own {own}, leave it out"
            )
    return servers, topic


def topic_key_type(given: str | None) -> str | None:
    """The key type of a topic's keys, which are bytes already.

    Raises:
        PartwrightError: It would make other bytes of them.

    Examples:
        >>> topic_key_type("utf8"), topic_key_type("confluent:strip-id")
        (None, 'confluent:strip-id')
    """
    if given in {None, "bytes", "utf8", "java:string"}:
        return None
    if given != "confluent:strip-id":
        raise PartwrightError(
            f"a topic's keys are bytes already, whatever they stand for: leave out --key-type {given}, or give "
            "confluent:strip-id to hash what is behind a schema's id"
        )
    return given


def share(ctx: click.Context, option: click.Parameter, given: str | None) -> float | None:
    """A share, 0 to 1, of its percent or its fraction.

    Raises:
        PartwrightError: It is none.
    """
    del ctx
    return read_share(given, option.opts[0])
