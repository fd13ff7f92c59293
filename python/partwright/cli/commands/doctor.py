"""`partwright doctor`: which step on the way to a Kafka fails, and what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from partwright.cli.input.connection import connection_options
from partwright.cli.input.options import json_option
from partwright.cli.tables.console import stdout_console
from partwright.errors import PartwrightError
from partwright.report.colours import FAILS, HOLDS, TERMINAL

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection
    from partwright.kafka.probe import Step

__all__ = ["command"]


@click.command("doctor")
@click.option(
    "--bootstrap",
    metavar="HOST:PORT",
    help="Where the brokers are, several with commas between (default: bootstrap.servers of the configuration).",
)
@click.option("--topic", metavar="T", help="Describe this topic and read a record of it, too.")
@click.option("--group", metavar="G", help="Describe this consumer group, too.")
@connection_options
@json_option
def command(
    bootstrap: str | None,
    topic: str | None,
    group: str | None,
    as_json: bool,
    connection: Connection,
) -> int:
    """Go the way to a Kafka step by step: name, port, TLS, user, each broker's own address, a topic, a group.

    Each step is printed as it is gone, with what was found or with what to do. Nothing is written, no group is joined.

    \b
    Exit code: 0 every step passed, 1 one failed, 2 wrong use or bad configuration, 130 interrupted.

    \b
    Examples:
      partwright doctor --bootstrap 127.0.0.1:9092
      partwright doctor --bootstrap broker:9093 --command-config client.properties --topic orders --group billing
    """
    if bootstrap is not None and "://" in bootstrap:
        raise PartwrightError(f"--bootstrap is host:port, not {bootstrap!r}")
    # Imported here alone: --help is there at once.
    from partwright.kafka.doctor import examine

    config = connection.config(bootstrap)
    console = stdout_console()
    steps: list[Step] = []
    for step in examine(None, topic=topic, group=group, kafka_config=config):
        steps.append(step)
        if not as_json:
            mark = f"[{TERMINAL[HOLDS]}]✓[/]" if step.passed else f"[{TERMINAL[FAILS]}]✗[/]"
            console.print(f"{mark} {step.name} {escape(step.where)}: {escape(step.said)}", soft_wrap=True)
    passed = all(step.passed for step in steps)
    if as_json:
        click.echo(json.dumps({"ok": passed, "steps": [step._asdict() for step in steps]}))
    return 0 if passed else 1
