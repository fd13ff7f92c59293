"""The options of `run` and `stream`: the records that are read, what places them, and the topic that gets them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partwright.cli.input.connection import connection_options
from partwright.cli.input.options import (
    client_names,
    key_type_option,
    key_values,
    new_topic_options,
    partitions_option,
    strategy_names,
)
from partwright.cli.parsing import flag, heading, option, repeated
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from click.decorators import FC

    from partwright.cli.input.connection import Connection
    from partwright.pipeline.settings import RunSettings

_OPTIONS = (
    heading("What to read"),
    option("--key COL", "The column with the record's key."),
    key_type_option,
    option("--value COL", "The column with the record's value (default: all columns as JSON)."),
    option(
        "--timestamp COL",
        "The column with the records' timestamps, for --exactly-once (default: a source topic's own).",
    ),
    option("--format F", "Spark's name for the source's format, if its name does not show it."),
    repeated("--option K=V", "An option of Spark's reader; may be repeated.", "options"),
    heading("How to write"),
    option("--topic NAME", "The topic to write to (default: named after the source)."),
    partitions_option(
        "How many partitions a new topic gets (default: 12); an existing topic keeps its own number."
    ),
    new_topic_options,
    heading("Where to place"),
    option(
        "--client",
        "The client whose rule places the records; `partwright which x -n 1` lists all.",
        default="java",
        shell_complete=client_names,
    ),
    option(
        "--strategy NAME",
        "The producer's strategy for records that the client does not place by their key: sticky, round-robin, "
        "default@2.8 and so on, or your own class, such as mine.MyPartitioner (default: that of the producer that "
        "writes them). Each of Spark's tasks is one producer.",
        shell_complete=strategy_names,
    ),
    option("--seed", "The seed of the strategy's draws.", default=0),
    repeated(
        "--producer-property K=V",
        "A producer setting for the strategy, such as batch.size=32768; may be repeated.",
        "properties",
    ),
    heading("How to run Spark"),
    option("--master", "Spark's master.", default="local[*]"),
    repeated("--conf K=V", "A setting of Spark's session; may be repeated.", "configs"),
    heading("How to reach Kafka"),
    option(
        "--from-config FILE",
        "The client configuration for a SOURCE that is a topic (default: --command-config).",
    ),
    option("--to-config FILE", "The client configuration for --to kafka:// (default: --command-config)."),
    connection_options,
    heading("How to write"),
    flag(
        "--exactly-once",
        "Write in transactions, so that consumers that read only committed records get each one once, and keep "
        "records' timestamps (default: Spark's own sink, which may write some twice when it retries a task).",
    ),
    flag("--append", "Write to the topic even if it holds records already."),
)


def target_option(text: str, *, required: bool = False) -> Callable[[FC], FC]:
    """Where the records go, which `run_settings` reads."""
    target: Callable[[FC], FC] = option("--to TARGET", text, required=required)
    return lambda command: heading("How to write")(target(command))


def with_run_options(command: FC) -> FC:
    """The options that `run` and `stream` share, for `run_settings`."""
    return functools.reduce(lambda decorated, each: each(decorated), reversed(_OPTIONS), command)


def run_settings(
    source: str | None,
    to: str | None,
    from_config: str | None,
    to_config: str | None,
    connection: Connection,
    topic: str | None,
    strategy: str | None,
    **others: Any,
) -> RunSettings:
    """The settings of a run, from the values of its options by their names.

    Raises:
        PartwrightError: The options do not fit together.
        MissingExtraError: PySpark is missing.
    """
    # Spark is imported only here, so that --help does not need it; the first import reports if it is missing.
    if others.get("runner", "spark") == "spark":
        import partwright.spark  # noqa: F401
    from partwright.kafka.address import parse_kafka
    from partwright.pipeline.settings import RunSettings, parse_target
    from partwright.producer.custom import is_path

    if strategy is not None and is_path(strategy):
        # A module may be in the current folder, as for `python -m`.
        sys.path.insert(0, str(Path.cwd()))
    target = source_config = None
    _refuse_unused(source, to, from_config, to_config, connection)
    if source is not None and source.startswith("kafka:"):
        source_config = connection.of(from_config).config(parse_kafka(source)[0])
    if to is not None:
        target, of_target = parse_target(to, connection.of(to_config).config)
        if of_target and topic and of_target != topic:
            raise PartwrightError(
                f"--to names topic {of_target!r} and --topic {topic!r}: give only one of them"
            )
        topic = topic or of_target
    others |= {name: key_values(spelling, others[name]) for name, spelling in _PAIRS.items()}
    return RunSettings(
        source=source, source_config=source_config, target=target, topic=topic, strategy=strategy, **others
    )


_PAIRS = {
    "options": "--option",
    "topic_configs": "--topic-config",
    "properties": "--producer-property",
    "configs": "--conf",
}


def _refuse_unused(
    source: str | None, to: str | None, from_config: str | None, to_config: str | None, connection: Connection
) -> None:
    """Refuse a configuration without a Kafka, which would silently not be used."""
    is_from, is_to = ((each or "").startswith("kafka:") for each in (source, to))
    if from_config is not None and not is_from:
        raise PartwrightError(
            f"--from-config {from_config!r} is for a SOURCE that is kafka://host:port/topic: leave it out"
        )
    if to_config is not None and not is_to:
        raise PartwrightError(f"--to-config {to_config!r} is for --to kafka://host:port: leave it out")
    if not (is_from or is_to):
        connection.refuse_unused("name one as SOURCE or with --to, or leave them out")
