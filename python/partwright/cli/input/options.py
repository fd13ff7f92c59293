"""What several commands read from their options in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from partwright.cli.input.completion import client_names, key_type_names
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from click.decorators import FC

    from partwright._check import Json

__all__ = [
    "client_option",
    "column_name",
    "column_option",
    "is_topic",
    "json_always_option",
    "json_option",
    "key_type_option",
    "key_values",
    "keys_of_file",
    "named_topic",
    "partitions_option",
    "report_option",
    "save_report",
    "share",
    "topic_key_type",
]

key_type_option = click.option(
    "--key-type",
    metavar="T",
    shell_complete=key_type_names,
    help="How the value becomes key bytes: utf8, bytes, java:long, java:int, java:uuid, ... (default: text as UTF-8).",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
json_always_option = click.option(
    "--json", "as_json", is_flag=True, expose_value=False, help="The answer is JSON with this and without it."
)


def report_path(ctx: click.Context, option: click.Parameter, given: str | None) -> Path | None:
    """Where a report is written to, before anything that takes long begins.

    Raises:
        PartwrightError: None can be written there.
        MissingExtraError: What makes reports is missing.
    """
    del ctx, option
    if given is None:
        return None
    # Imported here alone: --help is there at once.
    from partwright.report import check

    return check(given)


report_option = click.option(
    "--report",
    "report",
    callback=report_path,
    metavar="FILE",
    help="Write the answer as a page, too: a .html file with plots and numbers that needs no network.",
)


def save_report(
    report: Path | None, answer: object, source: str | None, read: Json | None = None, **more: object
) -> None:
    """Write the page of an answer, if one was asked for, and say at the command's end where it is.

    Args:
        report: The page; None for none.
        answer: The answer.
        source: What was read.
        read: Of a topic, what was read of how much.
        more: See `partwright.report.html_page`.
    """
    if report is None:
        return
    from partwright.report import Asked, write

    ctx = click.get_current_context()
    path = write(answer, report, asked=Asked(str(ctx.info_name), source, _settings(ctx), read), **more)
    # What is printed meanwhile may break off, as by `head`; the page is there all the same.
    ctx.call_on_close(lambda: click.echo(f"report: {path}", err=True))


# What a page does not repeat of settings: it is passed on to others.
_SECRETS = ("password", "secret", "token", "jaas", "credential", "ssl.key", "keystore.key", "basic.auth")


def _settings(ctx: click.Context) -> dict[str, str]:
    """What was said on the command line, by option."""
    found = {}
    for option in ctx.command.params:
        told = ctx.get_parameter_source(option.name or "")
        value = ctx.params.get(option.name or "")
        if not isinstance(option, click.Option) or option.name == "report":
            continue
        if told is not click.core.ParameterSource.COMMANDLINE:
            continue
        name = option.opts[-1] if value is not False else option.secondary_opts[-1]
        if isinstance(value, bool):
            found[name] = "yes"
        else:
            values = value if isinstance(value, tuple) else (value,)
            found[name] = ", ".join(_masked(str(each)) for each in values)
    return found


def _masked(text: str) -> str:
    name, equals, _ = text.partition("=")
    return f"{name}=..." if equals and any(each in name.lower() for each in _SECRETS) else text


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


def column_option(name: str, text: str, *, required: bool = False) -> Callable[[FC], FC]:
    """An option that names a column of the records."""
    return click.option(name, required=required, callback=column_name, metavar="COL", help=text)


def partitions_option(
    text: str, parameter: str = "partitions", *, required: bool = False
) -> Callable[[FC], FC]:
    """How many partitions a topic has, which the command's function gets as `parameter`."""
    return click.option("-n", "--partitions", parameter, type=int, required=required, metavar="N", help=text)


def client_option(text: str) -> Callable[[FC], FC]:
    """The client whose rule counts: Java's where nobody says another."""
    return click.option(
        "--client", default="java", show_default=True, metavar="C", shell_complete=client_names, help=text
    )


def key_values(option: str, given: Iterable[str], *, may_be_secret: bool = False) -> dict[str, str]:
    """The pairs of an option that takes K=V.

    Args:
        option: Its name.
        given: What was said.
        may_be_secret: Whether what is no pair may be a secret, which no sentence shows.

    Raises:
        PartwrightError: One of them is no pair, or a name is there twice.

    Examples:
        >>> key_values("--conf", ["spark.sql.ansi.enabled=true"])
        {'spark.sql.ansi.enabled': 'true'}
    """
    pairs = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.strip():
            told = "what was given (not shown: it may be a secret)" if may_be_secret else repr(each)
            raise PartwrightError(f"{option} takes NAME=VALUE, not {told}")
        if name.strip() in pairs:
            raise PartwrightError(f"{option} names {name.strip()!r} twice: give it one value")
        pairs[name.strip()] = value
    return pairs


def keys_of_file(file: str | None) -> tuple[str, ...]:
    """The keys of a file of text, one a line; none where no file is named.

    Raises:
        PartwrightError: It cannot be read, is not UTF-8, or has no key, or an empty line.
    """
    if file is None:
        return ()
    from pathlib import Path

    try:
        lines = Path(file).read_bytes().decode().removesuffix("\n").split("\n")
    except OSError as error:
        raise PartwrightError(
            f"--only-keys-file {file!r} cannot be read: {error.strerror}", path=file
        ) from None
    except UnicodeDecodeError as error:
        raise PartwrightError(
            f"--only-keys-file {file!r} is not UTF-8 ({error.reason} at byte {error.start}): write one key a line",
            path=file,
        ) from None
    keys = tuple(line.removesuffix("\r") for line in lines)
    if "" in keys:
        raise PartwrightError(
            f"line {keys.index('') + 1} of --only-keys-file {file!r} is empty: take it out, and name an empty key with "
            "--only-keys ''",
            path=file,
        )
    return keys


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
        # What has an @ may have a password.
        told, path = ("this", None) if "@" in file else (repr(file), file)
        raise PartwrightError(f"{told} is no address of a topic: write kafka://host:port/topic", path=path)
    return False


def named_topic(address: str, columns: Mapping[str, str | None]) -> tuple[str | None, str]:
    """The servers and the topic of kafka://host:port/topic; None for servers that the configuration names.

    Args:
        address: What `is_topic` takes for one.
        columns: By option the column that was named, as of a file: a topic's records have their own.

    Raises:
        PartwrightError: It names no topic, or an option names a column that no topic has, or no Kafka is named.
    """
    # Imported here alone, for it brings half of the package along.
    from partwright.kafka.address import parse_kafka

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
    from partwright.audit.skew import read_share

    del ctx
    return read_share(given, option.opts[0])
