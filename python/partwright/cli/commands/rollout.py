"""`partwright rollout`: what a deployment's restart costs, and which settings would make it cheaper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click

from partwright._check import Json, is_topic
from partwright.cli.input.connection import connection_options
from partwright.cli.input.groups import live_group, read_subscriptions, subscriptions_option
from partwright.cli.input.options import key_values
from partwright.cli.output import echo, output_options
from partwright.cli.parsing import POSITIVE, Command, as_typed, heading, option, repeated
from partwright.errors import BrokerError, PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.mixed.guess import Guess
    from partwright.cli.input.connection import Connection
    from partwright.cli.output import Output


@click.command("rollout", cls=Command)
@click.argument("source", required=False)
@heading("What is rolled out")
@repeated("--topic NAME=N", "A topic with N partitions; may be repeated.", "topics")
@option("--group G", "A live group, when SOURCE is kafka://host:port.", "group_id")
@subscriptions_option
@option(
    "--manifest FILE",
    "The YAML (or .json) of a Deployment, StatefulSet, Rollout (Argo), KafkaConnect or KafkaMirrorMaker2 (Strimzi).",
)
@option("--workload NAME", "Which of several workloads in the manifest; also KIND/NAME.")
@option("--kind K", "Deployment (the default) or StatefulSet.")
@option("--replicas N", "The number of pods, each with one consumer.", type=int)
@option("--max-surge N|P%", "Extra pods allowed during a roll (default: 25%).")
@option(
    "--max-unavailable N|P%",
    "Replicas that may be missing during a roll (default: 25% of a Deployment, 1 of a StatefulSet).",
)
@heading("How long things take")
@option("--start T", "Time from a pod's creation until its consumer subscribes (default: 10s).")
@option("--ready T", "Time from there until the pod is available (default: 10s).")
@option("--grace T", "Time from SIGTERM, when its consumer closes, until the pod is gone (default: 2s).")
@option("--poll T", "Time from one poll to the next, as measured (default: 500ms).")
@option("--latency T", "Time until the coordinator's answer arrives (default: 10ms).")
@heading("What the clients do")
@repeated(
    "--config K=V",
    "Today's settings, by Kafka's names: group.protocol, partition.assignment.strategy, ...; may be repeated.",
    "configs",
)
@option(
    "--client NAME",
    "The pods' client: java, sarama, java@4.1, ... (default: java, or what the members of --group seem to be).",
)
@option("--records-per-s R", "Records per second that arrive in each partition.", type=float)
@heading("How to simulate")
@option("--plays N", "How many rolls each candidate goes through.", default=20)
@option("--seed S", "The seed of the rolls.", default=0)
@option(
    "--time-limit S",
    "Seconds after which no new roll starts; each candidate gets at least one.",
    type=POSITIVE,
    default=60,
)
@connection_options
@output_options
def command(
    source: str | None,
    topics: tuple[str, ...],
    group_id: str | None,
    subscriptions: tuple[str, ...],
    manifest: str | None,
    configs: tuple[str, ...],
    plays: int,
    seed: int,
    time_limit: float,
    output: Output,
    connection: Connection,
    **options: Any,
) -> None:
    """What does a deployment's restart cost its consumer group, and which settings would make it cheaper?

    Each assignor of the classic protocol and of KIP-848, with dynamic and with static members, is simulated through the
    same rolls, in which pods are replaced as Kubernetes does. The verdict comes first: which one to use, what it saves
    against today's settings (--config), and the settings to write for each client. The group's start before a roll is
    not counted. With --client, only that client's assignors and protocols are tried, and the settings have its own
    names.

    Topics come from --topic, from a live topic (kafka://host:port/topic), or with --group from a live group, whose
    members, their clients, assignor and subscriptions are read. --manifest reads a workload's replicas (within the
    bounds of an autoscaler in the same file), strategy, grace period and readiness; options override it. T is a time
    (20s, 1m30s, 500ms), a range (20s..40s) or samples (18s,25s,31s).

    \b
    Exit code: 0 played, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright rollout --topic orders=100 --replicas 50 --start 20s..40s
      partwright rollout --topic orders=12 --manifest deployment.yaml --records-per-s 200
      partwright rollout --topic orders=12 --replicas 4 --client sarama
      partwright rollout kafka://127.0.0.1:9092 --group billing --config session.timeout.ms=30000
      partwright rollout --topic orders=100 --replicas 50 --kind StatefulSet --json
    """
    options |= {"topics": _topics(topics), "config": key_values("--config", configs)}
    if source is None:
        connection.refuse_unused("name it, as kafka://host:port")
    if group_id is not None and (source is None or not is_topic(source)):
        raise PartwrightError("--group names a group of a live Kafka: give kafka://host:port before it")
    if subscriptions and group_id is None:
        raise PartwrightError("--subscriptions is for a live group of KIP-848: name it with --group")
    if source is not None:
        options |= _live(source, group_id, options, connection, read_subscriptions(subscriptions))
    if not options["topics"]:
        raise PartwrightError(
            "name the topics: --topic NAME=N, kafka://host:port/topic, or kafka://host:port --group G"
        )
    if manifest is None and options["workload"] is not None:
        raise PartwrightError("--workload names one of a manifest: give its --manifest")
    if manifest is not None:
        from partwright.cli.input.yaml_files import read_manifest_file

        options["manifest"] = read_manifest_file(manifest)
    # Imported only here, because it imports pyarrow.
    from partwright.cli.progress import working
    from partwright.group.rollouts.rolled_pods import PodConsumers, RolledPods, rollout

    of_group = options.pop("assumed", ())
    try:
        with working("playing", "rolls") as played:
            pods = RolledPods(**{each.name: options.get(each.name) for each in fields(RolledPods)})
            clients = PodConsumers(**{each.name: options.get(each.name) for each in fields(PodConsumers)})
            answer = rollout(
                options["topics"],
                pods,
                clients,
                plays=plays,
                seed=seed,
                time_limit_s=time_limit,
                played=played,
            )
    except PartwrightError as error:
        if error.field == "replicas" and error.reason is None:
            raise PartwrightError(f"{error} (--replicas N, or --manifest FILE)") from None
        raise as_typed(error, _SPELLINGS) from None
    output.show(replace(answer, of_group=of_group), source or manifest)


def _topics(options: Sequence[str]) -> dict[str, int]:
    from partwright.assignors.pasted_group import read_topics

    return read_topics(",".join(options)) if options else {}


def _live(
    source: str,
    group_id: str | None,
    options: Json,
    connection: Connection,
    subscriptions: Mapping[str, Sequence[str]] | None,
) -> Json:
    """Ask a live Kafka: for a topic's partitions, or a group's members, assignor and subscriptions."""
    if not is_topic(source):
        raise PartwrightError(
            f"{source!r} is not a Kafka address: write kafka://host:port/topic", path=source
        )
    if options["topics"]:
        raise PartwrightError(f"{source!r} knows how many partitions its topics have: leave out --topic")
    if group_id is not None:
        return _of_group(*live_group(source, group_id, connection, subscriptions), options)
    from partwright.kafka.address import parse_kafka
    from partwright.kafka.topics import partition_count

    servers, topic = parse_kafka(source)
    if topic is None:
        raise PartwrightError(f"{source!r} names no topic: write kafka://host:port/topic, or give --group")
    config = connection.config(servers)
    count = partition_count(config, topic)
    if count is None:
        raise BrokerError(
            f"there is no topic {topic!r} at {config.required_servers()}: check its name, or name it with its "
            f"partitions, --topic {topic}=N"
        )
    return {"topics": {topic: count}}


def _of_group(group: Json, guesses: Sequence[Guess], options: Json) -> Json:
    """A live group for a rollout: its client and topics, and a pod for each member unless their number is given."""
    from partwright.assignors.mixed.guess import guesses_said

    lists = [sorted(each["topics"]) for each in group["members"]]
    read = {name for topics in lists for name in topics if name in group["topics"]}
    config = dict(options["config"])
    if group["protocol"] == "consumer":
        config.setdefault("group.protocol", "consumer")
        config.setdefault("group.remote.assignor", group["assignor"] or "uniform")
    else:
        config.setdefault("partition.assignment.strategy", group["assignor"])
    if any(each["instance_id"] for each in group["members"]):
        config.setdefault("group.instance.id", "read from the group")
    of_group: Json = {
        "topics": {name: group["topics"][name] for name in sorted(read)},
        "config": config,
        "assumed": group["assumed"],
    }
    if options["replicas"] is None:
        of_group["replicas"] = len(lists)
    if options["client"] is None:
        clients = [each["client"] for each in group["members"]]
        for note in guesses_said(guesses):
            echo(note, err=True)
        of_group["client"] = clients[0] if len(set(clients)) == 1 else clients
    if any(each != lists[0] for each in lists):
        of_group["subscriptions"] = [[name for name in each if name in read] for each in lists]
    return of_group


_SPELLINGS = {
    "max unavailable": "--max-unavailable",
    "max surge": "--max-surge",
    "the kind": "--kind",
    "records_per_s": "--records-per-s",
    "the seed": "--seed",
    **{
        name: f"--{name}"
        for name in ["replicas", "client", "start", "ready", "grace", "poll", "latency", "plays"]
    },
}
