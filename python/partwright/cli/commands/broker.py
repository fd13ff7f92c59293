"""`partwright broker`: the embedded single-node Kafka, kept running between commands."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from partwright.cli.input.completion import security_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from partwright._check import Json
    from partwright.kafka.embedded_detached import DetachedBroker

__all__ = ["command"]

_LOG_LINES = 5

_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, and no words.")


@click.group(name="broker", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """The embedded single-node Kafka: on 127.0.0.1 only, for trying things, not for production."""


@command.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Where clients reach it; a free port by default.")
@click.option(
    "--security",
    metavar="NAME",
    shell_complete=security_names,
    help="How clients reach it: PLAINTEXT (default), PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, SSL, mTLS, "
    "SASL_SSL, SASL_SSL:SCRAM-SHA-512, ACL, ...; with passwords and certificates of its own.",
)
@_json
def start(port: int | None, security: str | None, *, as_json: bool) -> None:
    """Start a broker in the background, and print its bootstrap servers."""
    from partwright.kafka import embedded_detached

    with _spinner() as progress:
        started = embedded_detached.start(port, security=security, progress=progress)
    broker = started.broker
    if as_json:
        cleaned = _object(started.cleaned) if started.cleaned else None
        _print({**_object(broker), "already": started.already, "cleaned": cleaned})
        return
    if started.cleaned:
        _say(f"Cleaned up after {_gone(started.cleaned)}.")
    if started.already:
        _say(f"Kafka {broker.version} is running already, since {broker.started} (process {broker.pid}).")
    else:
        _say(f"Kafka {broker.version} is running (process {broker.pid}); `partwright broker stop` ends it.")
        _say(f"Its log is {broker.log}.")
    _say_security(broker)
    click.echo(broker.bootstrap_servers)


@command.command()
@_json
@click.pass_context
def status(context: click.Context, *, as_json: bool) -> None:
    """Say whether a broker runs and where; exit 1 if none does."""
    from partwright.kafka import embedded_detached

    broker = embedded_detached.status()
    if as_json:
        _print({"running": False} if broker is None else _object(broker))
    elif broker is None:
        _say("No broker is running: `partwright broker start` starts one.")
    elif broker.running:
        _say(f"Kafka {broker.version} is running since {broker.started} (process {broker.pid}).")
        _say_security(broker)
        click.echo(broker.bootstrap_servers)
    else:
        _say(
            f"No broker is running, but there was {_gone(broker)}: the next start or stop cleans up after it."
        )
        for line in broker.log_tail(_LOG_LINES):
            _say(f"  {line}")
    if broker is None or not broker.running:
        context.exit(1)


@command.command()
@_json
def stop(*, as_json: bool) -> None:
    """Stop the broker, and remove its records and its log."""
    from partwright.kafka import embedded_detached

    with _spinner() as progress:
        progress("stopping Kafka")
        broker = embedded_detached.stop()
    if as_json:
        running = broker is not None and broker.running
        found = _object(broker) if broker else None
        _print({"stopped": found if running else None, "cleaned": None if running else found})
    elif broker is None:
        _say("No broker is running: there is nothing to stop.")
    elif broker.running:
        _say(f"Kafka {broker.version} at {broker.bootstrap_servers} is stopped, and its records are removed.")
    else:
        _say(f"Cleaned up after {_gone(broker)}.")


def _gone(broker: DetachedBroker) -> str:
    return (
        f"the broker at {broker.bootstrap_servers} (process {broker.pid}, started {broker.started}), which "
        "had ended without being stopped"
    )


def _say_security(broker: DetachedBroker) -> None:
    """How clients reach a secured broker; nothing where an address is enough."""
    if broker.command_config is None:
        return
    _say(
        f"Its security is {broker.security}; what a client needs, passwords included, is in the properties file:"
    )
    topic = f"kafka://{broker.bootstrap_servers}/TOPIC"
    _say(f"  partwright which KEY --topic {topic} --command-config {broker.command_config}")


def _object(broker: DetachedBroker) -> Json:
    return {**asdict(broker), "log": str(broker.log)}


def _print(value: Json) -> None:
    click.echo(json.dumps(value))


def _say(words: str) -> None:
    click.echo(words, err=True)


@contextmanager
def _spinner() -> Iterator[Callable[[str], None]]:
    """What to call with the words of each step: they are shown while it lasts, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _words: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as shown:
        yield shown.update
