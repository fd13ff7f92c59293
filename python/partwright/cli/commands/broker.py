"""`partwright broker`: the embedded Kafka, with one broker or several, kept running between commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from partwright._check import Json, counted
from partwright.cli.input.options import key_values, new_topic_options, partitions_option, security_names
from partwright.cli.output import echo
from partwright.cli.parsing import OUTPUT, Command, Listed, first_given, flag, heading, option, repeated
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.kafka.embedded_detached import DetachedKafka

_LOG_LINES = 5

_json = flag("--json", "Print only one JSON object on stdout.", "as_json")
_some = click.argument("ids", metavar="[BROKER]...", nargs=-1, type=int)


@click.group(name="broker", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """The embedded Kafka: on 127.0.0.1 only, for trying things, not for production."""


def _subcommand(function: Callable[..., None]) -> click.Command:
    """A command of `partwright broker`, which also prints JSON."""
    return command.command(cls=Command)(heading(OUTPUT)(_json(function)))


@_subcommand
@_some
@heading("What to start")
@option("--brokers", "How many brokers; one by default.", type=click.IntRange(1, 100))
@option("--rack A,B,...", "The rack (broker.rack) of each broker; none by default.", "racks", cls=Listed)
@option("--port", "The port for clients; a free one by default.", type=click.IntRange(1, 65535))
@repeated(
    "--config K=V",
    "A setting of every broker, by Kafka's name, such as offsets.topic.num.partitions=50; may be repeated.",
    "configs",
)
@option(
    "--security NAME",
    "How clients reach it: PLAINTEXT (default), PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, SSL, mTLS, "
    "SASL_SSL, SASL_SSL:SCRAM-SHA-512, ACL, ...; passwords and certificates are made for it.",
    shell_complete=security_names,
)
def start(
    ids: tuple[int, ...],
    brokers: int | None,
    racks: str | None,
    port: int | None,
    configs: tuple[str, ...],
    security: str | None,
    *,
    as_json: bool,
) -> None:
    """Start a broker in the background, or several, and print the bootstrap servers.

    With BROKER, the ID of a broker that was stopped or killed, start that one again, on its port and with its records.
    """
    from partwright.kafka import embedded_detached

    options = {"--brokers": brokers, "--rack": racks, "--port": port, "--config": configs}
    if ids and (other := first_given({**options, "--security": security})):
        raise PartwrightError(f"broker {ids[0]} starts again as it was: leave out {other}")
    with _spinner() as progress:
        if ids:
            progress("starting Kafka")
            _print_kafka(embedded_detached.start_again(ids), "runs again", ids, as_json=as_json)
            return
        each_rack = None if racks is None else [rack.strip() for rack in racks.split(",")]
        overrides = key_values("--config", configs)
        started = embedded_detached.start(
            port, brokers=brokers, racks=each_rack, overrides=overrides, security=security, progress=progress
        )
    kafka = started.kafka
    if as_json:
        cleaned = _object(started.cleaned) if started.cleaned else None
        _print({**_object(kafka), "already": started.already, "cleaned": cleaned})
        return
    if started.cleaned:
        _say(f"Cleaned up after {_gone(started.cleaned)}.")
    if started.already:
        _print_running(kafka, f"already running, since {kafka.started}")
    else:
        _print_running(kafka, "running", "; `partwright broker stop` ends it")


@_subcommand
@heading("What to start")
@option("--rack RACK", "Its rack (broker.rack), if the other brokers have racks.")
def add(rack: str | None, *, as_json: bool) -> None:
    """Add one broker to those that run; it has no partitions until some are moved there."""
    from partwright.kafka import embedded_detached

    with _spinner() as progress:
        progress("starting one more broker")
        kafka = embedded_detached.add(rack)
    _print_kafka(kafka, "is added", [kafka.brokers[-1].id], as_json=as_json)


@_subcommand
@click.argument("ids", metavar="BROKER...", nargs=-1, type=int, required=True)
def kill(ids: tuple[int, ...], *, as_json: bool) -> None:
    """End brokers at once, as a crash would; their records stay, and `start BROKER` brings them back."""
    from partwright.kafka import embedded_detached

    _print_kafka(embedded_detached.kill(ids), "is killed", ids, as_json=as_json)


@_subcommand
@click.pass_context
def status(context: click.Context, *, as_json: bool) -> None:
    """Show whether a broker runs, and where; exit with 1 if none does."""
    from partwright.kafka import embedded_detached

    kafka = embedded_detached.status()
    if as_json:
        _print({"running": False} if kafka is None else _object(kafka))
    elif kafka is None:
        _say("No broker is running: `partwright broker start` starts one.")
    elif kafka.running:
        _print_running(kafka, f"running since {kafka.started}")
    else:
        _say(
            f"No broker is running, but there was {_gone(kafka)}: the next start or stop cleans up after it."
        )
        for line in kafka.brokers[0].log_tail(_LOG_LINES):
            _say(f"  {line}")
    if kafka is None or not kafka.running:
        context.exit(1)


@_subcommand
@_some
def stop(ids: tuple[int, ...], *, as_json: bool) -> None:
    """Stop all brokers, and remove their records and logs.

    With BROKER, stop only that one, in good order: its records stay, and `start BROKER` brings it back.
    """
    from partwright.kafka import embedded_detached

    with _spinner() as progress:
        progress("stopping Kafka")
        if ids:
            _print_kafka(embedded_detached.kill(ids, in_order=True), "is stopped", ids, as_json=as_json)
            return
        kafka = embedded_detached.stop()
    if as_json:
        running = kafka is not None and kafka.running
        state = _object(kafka) if kafka else None
        _print({"stopped": state if running else None, "cleaned": None if running else state})
    elif kafka is None:
        _say("No broker is running: there is nothing to stop.")
    elif kafka.running:
        _say(f"Kafka {kafka.version} at {kafka.bootstrap_servers} is stopped, and its records are removed.")
    else:
        _say(f"Cleaned up after {_gone(kafka)}.")


@_subcommand
@click.argument("name", metavar="NAME")
@heading("The new topic")
@partitions_option("How many partitions it gets.")
@new_topic_options
def topic(
    name: str,
    partitions: int | None,
    replication_factor: int | None,
    replica_assignment: str | None,
    topic_configs: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Create a topic on the running brokers, and print where its replicas are, as 1:2,2:3,3:1."""
    from partwright.cluster import Cluster
    from partwright.cluster.placement import Placement
    from partwright.kafka import embedded_detached, topics
    from partwright.kafka.topics import NewTopic

    configs = key_values("--topic-config", topic_configs)
    new_topic = NewTopic.read(partitions, replication_factor, replica_assignment, configs)
    count = new_topic.partitions or partitions
    if count is None:
        raise PartwrightError(f"the topic {name!r} gets no partitions: say -n, or --replica-assignment")
    servers = embedded_detached.internal_servers()
    topics.create_topic({"bootstrap.servers": servers}, name, count, new_topic)
    placed = Placement.of(Cluster.from_kafka(servers, [name], kafka_config={}), name)
    if as_json:
        _print({"topic": name, "partitions": count, "replicas": [list(each) for each in placed.replicas]})
    else:
        for line in placed.to_text().split("\n"):
            echo(line)


def _print_kafka(kafka: DetachedKafka, what: str, ids: Sequence[int], *, as_json: bool) -> None:
    """Print the state after a change of some brokers."""
    if as_json:
        _print(_object(kafka))
        return
    for broker in kafka.brokers:
        if broker.id in ids:
            _say(f"Broker {broker.id} {what}.")
    _say_brokers(kafka)
    echo(kafka.bootstrap_servers)


def _print_running(kafka: DetachedKafka, how: str, then: str = "") -> None:
    """Print that Kafka runs: its process, or a line for each broker; then how clients reach it."""
    if len(kafka.brokers) == 1:
        _say(f"Kafka {kafka.version} is {how} (process {kafka.brokers[0].pid}){then}.")
        if then:
            _say(f"Its log is {kafka.brokers[0].log}.")
    else:
        _say(f"Kafka {kafka.version} is {how}, with {counted(len(kafka.brokers), 'broker')}{then}.")
        _say_brokers(kafka)
    if kafka.command_config is not None:
        # An address alone is not enough.
        _say(
            f"Its security is {kafka.security}; what a client needs, passwords included, is in the properties file:"
        )
        topic = f"kafka://{kafka.bootstrap_servers}/TOPIC"
        _say(f"  partwright which KEY --topic {topic} --command-config {kafka.command_config}")
    echo(kafka.bootstrap_servers)


def _say_brokers(kafka: DetachedKafka) -> None:
    """Each broker's state in one line."""
    for broker in kafka.brokers:
        rack = "" if broker.rack is None else f", rack {broker.rack}"
        state = f"process {broker.pid}" if broker.running else "not running"
        _say(f"  broker {broker.id}{rack}: {broker.bootstrap_servers}, {state}, log {broker.log}")


def _gone(kafka: DetachedKafka) -> str:
    processes = ", ".join(str(broker.pid) for broker in kafka.brokers)
    which, had = ("process", "broker") if len(kafka.brokers) == 1 else ("processes", "brokers")
    return (
        f"the {had} at {kafka.bootstrap_servers} ({which} {processes}, started {kafka.started}), which "
        "had ended without being stopped"
    )


def _object(kafka: DetachedKafka) -> Json:
    brokers: list[Json] = [{**asdict(each), "log": str(each.log)} for each in kafka.brokers]
    return {**asdict(kafka), "brokers": brokers, "running": kafka.running}


def _print(value: Json) -> None:
    click.echo(json.dumps(value))


def _say(words: str) -> None:
    echo(words, err=True)


@contextmanager
def _spinner() -> Iterator[Callable[[str], None]]:
    """A function to call with the words of each step, which a terminal shows while the step lasts."""
    if not sys.stderr.isatty():
        yield lambda _words: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as shown:
        yield shown.update
