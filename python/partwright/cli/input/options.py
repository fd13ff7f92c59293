"""Options that several commands share."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from partwright import _core
from partwright.cli.input.completion import client_names, key_type_names
from partwright.cli.parsing import flag, option, repeated
from partwright.errors import PartwrightError
from partwright.question import Question, masked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from click.decorators import FC

    from partwright._check import Json

__all__ = [
    "WORDS",
    "client_option",
    "column_name",
    "column_option",
    "json_always_option",
    "json_option",
    "key_type_option",
    "key_values",
    "keys_of_file",
    "new_topic_options",
    "partitions_option",
    "question_of",
    "share",
    "whole_key_type",
]


def whole_key_type(ctx: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """The key type by its whole name, for a short one such as `long`.

    Raises:
        PartwrightError: There is no such key type.
    """
    del ctx, option
    return _core.check(1, "java", given)


key_type_option = option(
    "--key-type T",
    "How the value becomes key bytes: utf8, bytes, java:long, digits, java:uuid, ... (default: text as UTF-8).",
    callback=whole_key_type,
    shell_complete=key_type_names,
)
json_option = flag("--json", "Print the answer as JSON.", "as_json")
json_always_option = flag(
    "--json", "Accepted for scripts: the answer is always JSON.", "as_json", expose_value=False
)


def report_path(ctx: click.Context, option: click.Parameter, given: str | None) -> Path | None:
    """Check where a report will be written, before anything slow begins.

    Raises:
        PartwrightError: Nothing can be written there.
        MissingExtraError: The package that makes reports is missing.
    """
    del ctx, option
    if given is None:
        return None
    # Imported only here, so that --help is fast.
    from partwright.report import check

    return check(given)


def plot_path(ctx: click.Context, option: click.Parameter, given: str | None) -> Path | None:
    """Check where a picture will be written, before anything slow begins.

    Raises:
        PartwrightError: Nothing can be written there.
        MissingExtraError: The package that draws pictures is missing.
    """
    del ctx, option
    if given is not None:
        from partwright.rendering.picture import check

        path = check(given)
        if not path.parent.is_dir():
            raise PartwrightError(
                f"there is no folder {str(path.parent)!r} for the picture: make it, or name another file"
            )
        return path
    return None


def question_of(ctx: click.Context, source: str | None, read: Json | None) -> Question:
    """The question that a page repeats: the command, what was read, and the options without their secrets."""
    return Question((), str(ctx.info_name), source, _settings(ctx), read, _line(ctx))


def _settings(ctx: click.Context) -> dict[str, str]:
    """The given options, by name."""
    found = {}
    for option in ctx.command.params:
        told = ctx.get_parameter_source(option.name or "")
        value = ctx.params.get(option.name or "")
        if not isinstance(option, click.Option) or option.name in {"report", "plot"}:
            continue
        if told is not click.core.ParameterSource.COMMANDLINE:
            continue
        name = max(option.opts if value is not False else option.secondary_opts, key=len)
        if isinstance(value, bool):
            found[name] = "yes"
        else:
            values = value if isinstance(value, tuple) else (value,)
            found[name] = ", ".join(masked(str(each)) for each in values)
    return found


WORDS = "partwright.words"
"""The key under which a command's context keeps its command line."""


def _line(ctx: click.Context) -> str | None:
    """The command line quoted for a shell, without secrets."""
    words = ctx.meta.get(WORDS)
    return None if words is None else shlex.join(["partwright", *(masked(word) for word in words)])


def column_name(ctx: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """Check the name of a column.

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


_NEW_TOPIC = (
    option(
        "--replication-factor N",
        "How many replicas each partition of a new topic has (default: the cluster's).",
        type=int,
    ),
    option(
        "--replica-assignment 0:1,1:2",
        "The brokers of each partition of a new topic, instead of -n and --replication-factor.",
    ),
    repeated(
        "--topic-config K=V",
        "A new topic's own setting, such as cleanup.policy=compact; may be repeated.",
        "topic_configs",
    ),
)


def new_topic_options(command: FC) -> FC:
    """The options for a new topic: `replication_factor`, `replica_assignment` and `topic_configs`."""
    for each in reversed(_NEW_TOPIC):
        command = each(command)
    return command


def client_option(text: str) -> Callable[[FC], FC]:
    """The client whose rule counts; Java's by default."""
    return option("--client C", text, default="java", shell_complete=client_names)


def key_values(option: str, given: Iterable[str], *, may_be_secret: bool = False) -> dict[str, str]:
    """The pairs of an option that takes K=V.

    Args:
        option: Its name.
        given: The option's values.
        may_be_secret: Whether a value that is not a pair may be a secret, which no sentence may show.

    Raises:
        PartwrightError: One of them is not a pair, or a name occurs twice.

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
    """The keys of a text file, one per line; empty if no file is named.

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
            f"--only-keys-file {file!r} is not UTF-8 ({error.reason} at byte {error.start}): write one key per line",
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


def share(ctx: click.Context, option: click.Parameter, given: str | None) -> float | None:
    """A share, 0 to 1, from a percentage or a fraction.

    Raises:
        PartwrightError: It is not a share.
    """
    from partwright.audit.skew import read_share

    del ctx
    return read_share(given, option.opts[0])
