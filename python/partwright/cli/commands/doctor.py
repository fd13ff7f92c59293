"""`partwright doctor`: which step on the way to a Kafka fails, or which Spark executor, and what to do."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partwright.cli.input.connection import connection_options
from partwright.cli.input.options import json_option
from partwright.cli.tables.plain import Cell, Page, is_ascii
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection
    from partwright.kafka.probe import Step

__all__ = ["command"]

_WIDTH = 160

_FROM_ENVIRONMENT = ""


@click.command("doctor")
@click.argument("address", required=False)
@click.option(
    "--bootstrap",
    metavar="HOST:PORT",
    help="The brokers' addresses, with commas between (default: bootstrap.servers of the configuration).",
)
@click.option("--topic", metavar="T", help="Also describe this topic and read one of its records.")
@click.option("--group", metavar="G", help="Also describe this consumer group.")
@click.option(
    "--spark",
    metavar="[ADDRESS]",
    is_flag=False,
    flag_value=_FROM_ENVIRONMENT,
    help="Look at the executors of a Spark instead of a Kafka: a master such as spark://HOST:7077, or a Spark "
    "Connect server such as sc://HOST (default: the application that spark-submit runs, or SPARK_REMOTE, or local[*]). "
    "Their Python is PYSPARK_PYTHON, or this one.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="With --spark: how many seconds executors have to answer.",
)
@connection_options
@json_option
def command(
    address: str | None,
    bootstrap: str | None,
    topic: str | None,
    group: str | None,
    spark: str | None,
    timeout: float,
    as_json: bool,
    connection: Connection,
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
        return _executors(spark, timeout, as_json)
    if bootstrap is not None and "://" in bootstrap:
        raise PartwrightError(f"--bootstrap is host:port, not {bootstrap!r}")
    if address is not None:
        bootstrap, topic = _addressed(address, bootstrap, topic)
    # Imported only here, so that --help is fast.
    from partwright.kafka.doctor import examine

    config = connection.config(bootstrap)
    page = Page(_WIDTH)
    steps: list[Step] = []
    for step in examine(None, topic=topic, group=group, kafka_config=config):
        steps.append(step)
        if not as_json:
            page.copied(_mark(step.passed), f" {step.name} {step.where}: {step.said}")
    passed = all(step.passed for step in steps)
    if as_json:
        click.echo(json.dumps({"ok": passed, "steps": [step._asdict() for step in steps]}))
    return 0 if passed else 1


def _addressed(address: str, bootstrap: str | None, topic: str | None) -> tuple[str | None, str | None]:
    """The servers and the topic of an address; refuse options that name them again."""
    from partwright.kafka.address import parse_kafka

    servers, named = parse_kafka(address)
    if servers is not None and bootstrap is not None:
        raise PartwrightError(f"{address!r} names the brokers: leave out --bootstrap")
    if named is not None and topic is not None:
        raise PartwrightError(f"{address!r} names a topic: leave out --topic")
    return servers or bootstrap, named or topic


def _executors(address: str, timeout: float, as_json: bool) -> int:
    """Check the executors of a Spark, and print each with its troubles."""
    from partwright.spark.executors.doctor import examined
    from partwright.spark.executors.session import looked_at

    # If Spark does not start, the error names its log, which is kept.
    folder = Path(tempfile.mkdtemp(prefix="partwright-doctor-"))
    with looked_at(address or None, folder / "spark.log", timeout) as spark:
        rows = examined(spark, timeout)
    shutil.rmtree(folder, ignore_errors=True)
    passed = all(row.ok for row in rows)
    if as_json:
        click.echo(json.dumps({"ok": passed, "executors": [row._asdict() for row in rows]}))
        return 0 if passed else 1
    page = Page(_WIDTH)
    for row in rows:
        seen = f"Python {row.python}, partwright {row.partwright}, pyarrow {row.pyarrow}, {row.platform}"
        page.copied(_mark(row.ok), f" {row.where}: {row.why or seen}")
    return 0 if passed else 1


def _mark(passed: bool) -> Cell:
    if is_ascii():
        return Cell("ok" if passed else "FAILED", colour="green" if passed else "red")
    return Cell("✓", colour="green") if passed else Cell("✗", colour="red")
