"""`partwright doctor`: which step on the way to a Kafka fails, or which Spark executor, and what to do."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partwright.cli.input.connection import connection_options
from partwright.cli.output import output_options, terminal_look
from partwright.cli.parsing import POSITIVE, Command, heading, option
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection
    from partwright.cli.output import Output
    from partwright.rendering.document import Verdict

_FROM_ENVIRONMENT = ""


@click.command("doctor", cls=Command)
@click.argument("address", required=False)
@heading("What to look at")
@option(
    "--bootstrap HOST:PORT",
    "The brokers' addresses, with commas between (default: bootstrap.servers of the configuration).",
)
@option("--topic T", "Also describe this topic and read one of its records.")
@option("--group G", "Also describe this consumer group.")
@option(
    "--spark [ADDRESS]",
    "Look at the executors of a Spark instead of a Kafka: a master such as spark://HOST:7077, or a Spark "
    "Connect server such as sc://HOST (default: the application that spark-submit runs, or SPARK_REMOTE, or local[*]). "
    "Their Python is PYSPARK_PYTHON, or this one.",
    is_flag=False,
    flag_value=_FROM_ENVIRONMENT,
)
@option(
    "--timeout SECONDS", "With --spark: how many seconds executors have to answer.", type=POSITIVE, default=60
)
@connection_options
@output_options
def command(
    address: str | None,
    bootstrap: str | None,
    topic: str | None,
    group: str | None,
    spark: str | None,
    timeout: float,
    connection: Connection,
    output: Output,
) -> int:
    """Test each step of the way to a Kafka: name, port, TLS, user, each broker's own address, a topic, a group.

    Each step is printed with what was found, or what to do. Nothing is written, and no group is joined.
    ADDRESS is kafka://host:port, or kafka://host:port/topic, which sets --topic as well. With --spark, every executor
    is asked for its Python, its packages and a few hashes.

    \b
    Exit code: 0 every step passed, 1 one failed, 2 wrong use or bad configuration, 130 interrupted.

    \b
    Examples:
      partwright doctor kafka://127.0.0.1:9092
      partwright doctor --bootstrap broker:9093 --command-config client.properties --topic orders --group billing
      partwright doctor --spark spark://10.0.0.1:7077
    """
    if spark is not None:
        if address or bootstrap or topic or group or connection.is_given:
            raise PartwrightError(
                "--spark looks at executors: leave out ADDRESS, --bootstrap, --topic, --group, --command-config and "
                "-X, which are for Kafka"
            )
        return _executors(spark, timeout, output)
    if bootstrap is not None and "://" in bootstrap:
        raise PartwrightError(f"--bootstrap is host:port, not {bootstrap!r}")
    if address is not None:
        bootstrap, topic = _addressed(address, bootstrap, topic)
    # Imported only here, so that --help is fast.
    from partwright.documents.doctor import of_step
    from partwright.kafka.doctor import examine
    from partwright.kafka.probe import Diagnosis

    steps = []
    for step in examine(connection.config(bootstrap), topic=topic, group=group):
        steps.append(step)
        _print(of_step(step), output)
    return output.show(Diagnosis(tuple(steps)))


def _print(verdict: Verdict, output: Output) -> None:
    """What is known meanwhile, as text; the other forms have it in the answer."""
    from partwright.rendering.terminal import verdict_lines

    if output.form == "text":
        click.echo("\n".join(verdict_lines(verdict, terminal_look())))


def _addressed(address: str, bootstrap: str | None, topic: str | None) -> tuple[str | None, str | None]:
    """The servers and the topic of an address; refuse options that name them again."""
    from partwright.kafka.address import parse_kafka

    servers, named = parse_kafka(address)
    if servers is not None and bootstrap is not None:
        raise PartwrightError(f"{address!r} names the brokers: leave out --bootstrap")
    if named is not None and topic is not None:
        raise PartwrightError(f"{address!r} names a topic: leave out --topic")
    return servers or bootstrap, named or topic


def _executors(address: str, timeout: float, output: Output) -> int:
    """Check the executors of a Spark, and print each with its troubles."""
    from partwright.documents.doctor import of_executor
    from partwright.spark.executors.diagnosis import ExecutorDiagnosis, examined, looked_at

    # If Spark does not start, the error names its log, which is kept.
    folder = Path(tempfile.mkdtemp(prefix="partwright-doctor-"))
    with looked_at(address or None, folder / "spark.log", timeout) as spark:
        rows = examined(spark, timeout)
    shutil.rmtree(folder, ignore_errors=True)
    for row in rows:
        _print(of_executor(row), output)
    return output.show(ExecutorDiagnosis(tuple(rows)))
