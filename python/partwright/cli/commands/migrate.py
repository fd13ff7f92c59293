"""`partwright migrate`: move a topic into another number of partitions, in order, with its groups' offsets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from partwright.cli.input.connection import connection_options
from partwright.cli.input.options import client_names, key_type_option, key_values, partitions_option
from partwright.cli.output import output_options
from partwright.cli.parsing import Command, combined, flag, heading, option, repeated
from partwright.cli.progress import reading, working
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection
    from partwright.cli.output import Output
    from partwright.migration.settings import Migration


@click.group(name="migrate", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Copy a topic into another number of partitions: each key in order, and no consumer group skips a record.

    \b
    The steps, each of which may be repeated:
      plan      shows what would move, and what each group would re-read; writes nothing
      copy      copies, continues where it was interrupted, and follows what is written meanwhile
      verify    compares every record with its copy
      cutover   once writers and consumers are stopped: copies the rest, sets the groups' offsets
      finish    the new topic gets its own retention; until then `cutover --back` goes back

    \b
    Examples:
      partwright migrate plan kafka://127.0.0.1:9092/orders orders-24 -n 24
      partwright migrate copy kafka://127.0.0.1:9092/orders orders-24 -n 24 --rate 20000
      partwright migrate copy kafka://old:9092/orders kafka://new:9092/orders -n 24
    """


def _migration(
    source: str,
    target: str,
    partitions: int,
    client: str | None,
    key_type: str | None,
    order: str | None,
    from_config: str | None,
    to_config: str | None,
    connection: Connection,
) -> Migration:
    # Imported only here, so that --help is fast.
    from partwright.kafka.address import parse_kafka
    from partwright.kafka.connection import KafkaConfig
    from partwright.migration.settings import Migration, Side
    from partwright.record_source import topic_key_type

    servers, topic = parse_kafka(source)
    if topic is None:
        raise PartwrightError(
            f"SOURCE {source!r} names no topic: write kafka://host:port/topic", value=source
        )
    source_config = connection.of(from_config).config(servers)
    source_config.required_servers()
    new_servers, new_topic = parse_kafka(target) if ":" in target or "/" in target else (None, target)
    if not new_topic:
        raise PartwrightError(
            f"TARGET {target!r} names no topic: write kafka://host:port/topic, or the name alone for a topic of the "
            "same Kafka",
            value=target,
        )
    target_config = source_config
    if to_config or new_servers:
        target_config = connection.of(to_config).config(new_servers)
    if target_config.servers is None:
        target_config = KafkaConfig.read(target_config, servers=source_config.required_servers())
    sides, key_type = (Side(source_config, topic), Side(target_config, new_topic)), topic_key_type(key_type)
    return Migration(*sides, partitions, client or "java", key_type, order, is_client_said=client is not None)


_options = combined(
    "migration",
    _migration,
    click.argument("source"),
    click.argument("target"),
    heading("What to read"),
    repeated(
        "--group G",
        "A consumer group to move; may be repeated (default: each one with offsets in SOURCE).",
        "groups",
    ),
    option(
        "--order ORDER",
        "How records of a key that is in several partitions are merged: time, or generation (those from before "
        "partitions were added first); by default such keys are refused.",
    ),
    heading("Where to place"),
    partitions_option("How many partitions the new topic has.", "partitions", required=True),
    option(
        "--client C",
        "The client whose rule places each key; `partwright which x -n 1` lists all (default: java).",
        shell_complete=client_names,
    ),
    key_type_option,
    heading("How to reach Kafka"),
    option("--from-config FILE", "The client configuration of SOURCE (default: --command-config)."),
    option("--to-config FILE", "The client configuration of TARGET (default: --command-config)."),
    connection_options,
    output_options,
)
"""The options that every step takes; its function gets a `Migration` and the groups."""


def _step(function: Callable[..., int]) -> click.Command:
    """A command of `partwright migrate`."""
    return command.command(cls=Command)(_options(function))


@_step
def plan(migration: Migration, groups: tuple[str, ...], *, output: Output) -> int:
    """Show what would move, what groups would re-read, and how long it takes; read SOURCE once and write nothing.

    SOURCE is kafka://host:port/topic, TARGET another one, or a name alone for a topic of the same Kafka.

    \b
    Exit code: 0 it can be copied in order, 1 keys are in several partitions, 2 wrong use or bad input.
    """
    from partwright.migration import plan as planned

    with reading(f"looking at {migration.source.topic}") as read:
        answer = planned(migration, groups, read)
    return output.show(answer)


@_step
@heading("How to write")
@option("--rate N", "The most records per second (default: no limit).", type=float)
@option("--lag N", "End when at most N offsets are left to copy.", default=1000)
@flag("--follow", "Continue as records arrive, until Ctrl-C.")
@option(
    "--replication-factor N",
    "How many replicas each partition of TARGET has (default: the cluster's).",
    type=int,
)
@repeated("--topic-config K=V", "A setting of TARGET instead of SOURCE's; may be repeated.", "topic_configs")
def copy(
    migration: Migration,
    groups: tuple[str, ...],
    *,
    replication_factor: int | None,
    topic_configs: tuple[str, ...],
    output: Output,
    **limits: Any,
) -> int:
    """Copy SOURCE into TARGET, each key in order; continue where the last copy stopped, whatever stopped it.

    Both topics may be in use: SOURCE is only read, and TARGET is created with SOURCE's own settings. Copies and their
    progress are in one transaction, so that nothing is doubled or missing after a crash. An existing TARGET must
    match --replication-factor and --topic-config: it is not altered.

    \b
    Exit code: 0 copied, 2 wrong use or bad input, or it cannot be copied in order, 130 interrupted.
    """
    from partwright.kafka.topics import NewTopic
    from partwright.migration import copy as copied

    new_topic = NewTopic.read(None, replication_factor, None, key_values("--topic-config", topic_configs))
    with ExitStack() as bar:
        shown: list[Callable[[int, int], None]] = []

        def copying(done: int, left: int) -> None:
            if not shown:
                # Only one bar at a time.
                bar.close()
                shown.append(bar.enter_context(working(f"copying to {migration.target.topic}", "records")))
            shown[0](done, done + left)

        read = bar.enter_context(reading(f"looking at {migration.source.topic}"))
        answer = copied(migration, groups, new_topic=new_topic, scanning=read, copying=copying, **limits)
    return output.show(answer)


@_step
def verify(migration: Migration, groups: tuple[str, ...], *, output: Output) -> int:
    """Compare each record with its copy (key, value, headers, time, place, order), and the groups' offsets.

    \b
    Exit code: 0 all is right, 1 something is wrong, 2 wrong use or bad input.
    """
    from partwright.migration import verify as verified

    with working(f"comparing {migration.source.topic} and {migration.target.topic}", "records") as work:
        answer = verified(migration, groups, work)
    return output.show(answer)


@_step
@heading("Going on")
@flag("--back", "Go back to SOURCE, as long as `finish` has not run.", "is_back")
def cutover(migration: Migration, groups: tuple[str, ...], *, is_back: bool, output: Output) -> int:
    """Copy the rest and set the groups' offsets in TARGET, once SOURCE's writers and the groups are stopped.

    A running group is refused by name, and so is a SOURCE that still receives records. SOURCE and the groups' offsets
    there stay as they are: --back shows how to go back to them.

    \b
    Exit code: 0 the groups may start on TARGET, 2 wrong use or bad input, or something still runs.
    """
    from partwright.migration import back
    from partwright.migration import cutover as cut_over

    if is_back:
        return output.show(back(migration))
    with working(f"copying the rest to {migration.target.topic}", "records") as work:
        answer = cut_over(migration, groups, copying=lambda done, left: work(done, done + left))
    return output.show(answer)


@_step
def finish(migration: Migration, groups: tuple[str, ...], *, output: Output) -> int:
    """Give TARGET its own retention and end the migration; SOURCE stays, but there is no way back.

    \b
    Exit code: 0 finished, 2 wrong use or bad input.
    """
    from partwright.migration import finish as finished

    return output.show(finished(migration, groups))
