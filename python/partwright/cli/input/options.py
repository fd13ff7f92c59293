"""Options that several commands share, and what a shell completes their values with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from partwright import _core
from partwright.cli.parsing import flag, option, repeated
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    import click
    from click.decorators import FC


def _completed(names: Callable[[], list[str]]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """The names that begin with the typed text, or with the part after its last comma."""

    def complete(ctx: click.Context, option: click.Parameter, typed: str) -> list[str]:
        del ctx, option
        before, comma, last = typed.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return complete


# Each is imported when needed, so that --help is fast.
@_completed
def client_names() -> list[str]:
    """The clients that a shell completes."""
    from partwright.keys.client_profiles import client_names as names

    return names()


@_completed
def key_type_names() -> list[str]:
    """The key types that a shell completes."""
    from partwright.keys.client_profiles import key_types

    return key_types()


@_completed
def security_names() -> list[str]:
    """The securities of an embedded Kafka that a shell completes."""
    from partwright.kafka.embedded_security import security_names as names

    return names()


strategy_names = _completed(lambda: [row[0] for row in _core.strategies()])
assignor_names = _completed(lambda: [*_core.assignors(), *_core.client_assignors()])
protocol_names = _completed(lambda: ["classic", "consumer"])


def whole_key_type(typed: str, spelling: str) -> str | None:
    """The key type by its whole name, for a short one such as `long`.

    Raises:
        PartwrightError: There is no such key type.
    """
    del spelling
    return _core.check(1, "java", typed)


key_type_option = option(
    "--key-type T",
    "How the value becomes key bytes: utf8, bytes, java:long, digits, java:uuid, ... (default: text as UTF-8).",
    read=whole_key_type,
    shell_complete=key_type_names,
)
json_option = flag("--json", "Print the answer as JSON.", "as_json")
json_always_option = flag(
    "--json", "Accepted for scripts: the answer is always JSON.", "as_json", expose_value=False
)


def column_name(typed: str, spelling: str) -> str:
    """Check the name of a column.

    Raises:
        PartwrightError: It is empty, or its bytes are not UTF-8.
    """
    if typed == "":
        raise PartwrightError(f"{spelling} is empty: name a column")
    try:
        typed.encode()
    except UnicodeEncodeError:
        raise PartwrightError(f"{spelling} {typed!r} is not UTF-8, as every column's name is") from None
    return typed


def column_option(name: str, text: str, *, required: bool = False) -> Callable[[FC], FC]:
    """An option that names a column of the records."""
    return option(f"{name} COL", text, read=column_name, required=required)


def partitions_option(
    text: str, parameter: str = "partitions", *, required: bool = False
) -> Callable[[FC], FC]:
    """How many partitions a topic has, which the command's function gets as `parameter`."""
    return option("-n --partitions N", text, parameter, type=int, required=required)


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


def key_values(option: str, values: Iterable[str], *, may_be_secret: bool = False) -> dict[str, str]:
    """The pairs of an option that takes K=V.

    Args:
        option: Its name.
        values: The option's values.
        may_be_secret: Whether a value that is not a pair may be a secret, which no sentence may show.

    Raises:
        PartwrightError: One of them is not a pair, or a name occurs twice.

    Examples:
        >>> key_values("--conf", ["spark.sql.ansi.enabled=true"])
        {'spark.sql.ansi.enabled': 'true'}
    """
    pairs: dict[str, str] = {}
    for each in values:
        name, equals, value = each.partition("=")
        name = name.strip()
        if not equals or not name:
            shown = "what was given (not shown: it may be a secret)" if may_be_secret else repr(each)
            raise PartwrightError(f"{option} takes NAME=VALUE, not {shown}")
        if name in pairs:
            raise PartwrightError(f"{option} names {name!r} twice: give it one value")
        pairs[name] = value
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


def share(typed: str, spelling: str) -> float | None:
    """A share, 0 to 1, from a percentage or a fraction.

    Raises:
        PartwrightError: It is not a share.
    """
    from partwright.audit.skew import read_share

    return read_share(typed, spelling)
