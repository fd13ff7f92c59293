"""`partwright reassign`: brokers join or leave, and replicas follow: a plan, and on demand its execution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from partwright._check import counted, is_topic
from partwright.cli.input.broker_lists import read_brokers, read_factors, read_ids, read_numbers, read_size
from partwright.cli.input.connection import connection_options
from partwright.cli.output import echo, output_options
from partwright.cli.parsing import POSITIVE, Command, Listed, first_given, flag, heading, option, repeated
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection
    from partwright.cli.output import Output
    from partwright.cluster import Cluster
    from partwright.cluster.pasted_cluster import PastedCluster
    from partwright.cluster.reassignment import Batch, Reassignment
    from partwright.cluster.reassignment.saved import CheckedPlan
    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.throttles import Throttles


@click.command("reassign", cls=Command)
@click.argument("source")
@heading("What to move")
@repeated("--topic NAME", "A topic whose replicas may move (default: all).", "topics")
@option("--brokers IDS", "All brokers that are to have replicas, such as 0,2-5 or 6=rack-a.", cls=Listed)
@option("--add IDS", "Brokers that are to have replicas as well, such as 3,4 or 3=rack-a.", cls=Listed)
@option("--remove IDS", "Brokers that are to have no replicas.", cls=Listed)
@repeated(
    "--replication-factor N|NAME=N",
    "Replicas of each partition, of all topics or of one; may be repeated (default: as many as today).",
    "factors",
)
@heading("What to make even")
@option(
    "--sizes FILE|kafka",
    "The partitions' bytes: what kafka-log-dirs.sh --describe prints, or JSON of lists by topic; - is stdin, and "
    "kafka asks SOURCE.",
)
@option("--power ID=N,...", "How much a broker carries compared with the others, which have 1.", cls=Listed)
@option("--disks ID=SIZE,...", "Each broker's disk space, such as 0-2=1TB,3=2TB.", cls=Listed)
@option("--within P", "How far from its share of bytes a broker may be.", default="10%")
@flag("--no-racks", "Ignore racks.")
@option(
    "--min-insync N",
    "min.insync.replicas, for counting losses.",
    type=click.IntRange(1, 2**31 - 1),
    default=1,
)
@heading("How much at once")
@option("--throttle SIZE", "The most bytes per second that a broker copies, such as 50MB.")
@option("--max-replicas N", "The most replicas that one batch copies.", type=int)
@option("--max-bytes SIZE", "The most bytes that one batch copies.")
@option("--max-seconds S", "The most seconds that one batch takes at the throttle.", type=float)
@heading("Going on")
@option("--out DIR", "Write the plan into this new folder: Kafka's JSON, its way back, its batches.")
@option("--plan DIR", "Take the plan that --out wrote instead of a new one.", "saved")
@flag("--execute", "Give the plan to Kafka, batch by batch, and wait for each.")
@flag(
    "--unthrottle",
    "Remove the throttles that an interrupted execution has left in SOURCE, and do nothing else.",
)
@option("--timeout S", "Seconds that --execute waits for each batch.", type=POSITIVE, default=3600)
@connection_options
@output_options
def command(
    source: str,
    throttle: str | None,
    out: str | None,
    saved: str | None,
    execute: bool,
    unthrottle: bool,
    timeout: float,
    output: Output,
    connection: Connection,
    **of_plan: Any,
) -> None:
    """Brokers join or leave a cluster: which partitions move where, with the fewest moves that make it even.

    SOURCE is a live Kafka (kafka://host:port), the JSON of a cluster (brokers with their racks, and topics with each
    partition's replicas), or what kafka-topics.sh --describe, kafka-log-dirs.sh --describe, kcat -L, kcat -L -J, rpk
    cluster info -d or kafka-reassign-partitions.sh prints; - is stdin. The plan makes replicas, leaders and, with
    --sizes, bytes as even as racks and --power let them be. It says how few moves any plan needs, and what the loss of
    each broker and rack costs before and after it.

    --out writes the files that kafka-reassign-partitions.sh takes. --execute runs Kafka's own tool in Java, and then
    elects the preferred leaders. --plan DIR --execute takes a saved plan, refuses it if the cluster has changed since,
    and continues if a part of it was already executed. Each end removes the throttle or says what is left;
    --unthrottle finds and removes what a killed execution left.

    \b
    Exit code: 0 planned or executed, 2 wrong use or bad input, 130 interrupted.

    \b
    Examples:
      partwright reassign kafka://127.0.0.1:9092 --add 3 --out plan
      partwright reassign kafka://127.0.0.1:9092 --plan plan --throttle 50MB --execute
      partwright reassign cluster.json --remove 2 --sizes log-dirs.json --throttle 50MB --max-seconds 3600
      partwright reassign cluster.json --replication-factor orders=3 --report plan.html
    """
    rate = None if throttle is None else read_size(throttle, "--throttle")
    is_live = is_topic(source)
    if (needing := first_given({"--execute": execute, "--unthrottle": unthrottle})) and not is_live:
        raise PartwrightError(
            f"{needing} needs a live Kafka: give kafka://host:port, not {source!r}", path=source
        )
    if not is_live:
        connection.refuse_unused("name it, as kafka://host:port")
    if unthrottle:
        _refuse_others("--unthrottle removes throttles and does nothing else", {"unthrottle"})
        output.show(_unthrottle(connection.config(_servers(source))))
        return
    if saved is not None:
        _refuse_others("--plan takes a plan that is there", {"saved", "execute", "throttle", "timeout"})
        output.show(_run_saved(source, saved, rate, connection, timeout, executes=execute))
        return
    plan = _planned(source, connection, rate, **of_plan)
    if out is not None:
        from partwright.cluster.reassignment.saved import save

        path = save(plan, out)
        click.get_current_context().call_on_close(lambda: echo(f"plan: {path}", err=True))
    output.show(plan, source)
    if execute:
        _execute(source, plan.before, plan.parts, plan.partitions_to_elect, rate, connection, timeout)


_READERS: dict[str, Callable[[str, str], Any]] = {
    "brokers": read_brokers,
    "add": read_brokers,
    "remove": read_ids,
    "power": read_numbers,
    "disks": partial(read_numbers, sizes=True),
    "max_bytes": read_size,
}


def _planned(source: str, connection: Connection, rate: int | None, **options: Any) -> Reassignment:
    """A new plan, in batches."""
    from partwright.audit.skew import read_share
    from partwright.cluster import Capacity, reassign

    values = {
        name: None if options[name] is None else read(options[name], f"--{name.replace('_', '-')}")
        for name, read in _READERS.items()
    }
    cluster, assumed = _cluster(source, connection)
    plan = reassign(
        cluster,
        options["topics"] or None,
        brokers=values["brokers"],
        add=values["add"] or (),
        remove=values["remove"] or (),
        replication_factor=read_factors(options["factors"]),
        rack_aware=not options["no_racks"],
        capacity=Capacity(
            sizes=None if options["sizes"] is None else _sizes(options["sizes"], source, connection),
            power=values["power"],
            disks=values["disks"],
            bytes_within=read_share(options["within"], "--within") or 0.0,
        ),
    )
    limits = {"max_replicas": options["max_replicas"], "max_seconds": options["max_seconds"]}
    batches = plan.batches(rate, max_bytes=values["max_bytes"], **limits)
    return replace(plan, min_insync_replicas=options["min_insync"], parts=batches, assumed=assumed)


def _refuse_others(why: str, fitting: AbstractSet[str]) -> None:
    """Refuse options of a plan that is to be made, where none is."""
    ctx = click.get_current_context()
    fits = {"source", "form", "as_json", "command_config", "settings", *fitting}
    for each in ctx.command.params:
        name = each.name or ""
        if name not in fits and ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise PartwrightError(f"{why}: leave out {each.opts[-1]}")


def _unthrottle(config: KafkaConfig) -> Throttles:
    from partwright.kafka.throttles import Throttles, find_throttles, remove_throttles

    throttles = find_throttles(config)
    if throttles is not None:
        remove_throttles(config, throttles)
    return throttles or Throttles({}, ())


def _cluster(source: str, connection: Connection) -> PastedCluster:
    from partwright.cluster.pasted_cluster import PastedCluster, read_pasted_cluster

    if is_topic(source):
        from partwright.kafka.reassign import live

        return PastedCluster(live(connection.config(_servers(source))))
    from partwright.cli.input.json import lines, named, read_json

    text = "".join(lines(source))
    try:
        read = read_pasted_cluster(read_json(text) if text.lstrip().startswith("{") else text)
    except PartwrightError as error:
        raise error.within(named(source), path=source) from None
    if not read.notes:
        return read
    back = "--out DIR writes plan.json, which kafka-reassign-partitions.sh takes, and rollback.json, the way back"
    return read._replace(notes=(*read.notes, back))


def _servers(source: str) -> str | None:
    from partwright.kafka.address import parse_kafka

    servers, topic = parse_kafka(source)
    if topic is not None:
        raise PartwrightError(
            f"{source!r} names a topic: write kafka://host:port alone, and --topic {topic}", path=source
        )
    return servers


def _sizes(file: str, source: str, connection: Connection) -> Mapping[str, object]:
    if file != "kafka":
        return _json(file)
    if not is_topic(source):
        raise PartwrightError(
            f"--sizes kafka asks a live Kafka, and SOURCE is {source!r}: name a file of sizes"
        )
    from partwright.kafka.reassign import live_sizes

    return live_sizes(connection.config(_servers(source)))


def _execute(
    source: str,
    before: Cluster,
    batches: Sequence[Batch],
    elect: Sequence[tuple[str, int]],
    rate: int | None,
    connection: Connection,
    timeout: float,
) -> None:
    from partwright.cli.progress import working
    from partwright.kafka.reassign import execute

    config, note = connection.config(_servers(source)), partial(echo, err=True)
    with working("reassigning", "partitions") as done:
        elected = execute(
            config, before, batches, elect=elect, throttle=rate, timeout=timeout, progress=done, note=note
        )
    moved = sum(len(each.moves) for each in batches)
    where = counted(moved, "partition is where the plan has it", "partitions are where the plan has them")
    elections = counted(
        elected, "partition got its preferred leader", "partitions got their preferred leaders"
    )
    echo(f"executed: {where if moved else 'no replica moved'}, and {elections}", err=True)


def _run_saved(
    source: str, folder: str, rate: int | None, connection: Connection, timeout: float, *, executes: bool
) -> CheckedPlan:
    """Check a saved plan, and execute it if asked to."""
    from partwright.cluster.reassignment.saved import CheckedPlan, load, refuse_changed

    saved = load(folder)
    if executes:
        _execute(source, saved.before, saved.batches, saved.partitions_to_elect, rate, connection, timeout)
    else:
        refuse_changed(saved.before, saved.moves, _cluster(source, connection).cluster)
    return CheckedPlan(folder, saved, executes)


def _json(file: str) -> Mapping[str, object]:
    from partwright.cli.input.json import lines, named, read_json

    text = list(lines(file))
    # Kafka's tool prints messages before its JSON.
    text = text[next((at for at, line in enumerate(text) if line.startswith("{")), 0) :]
    try:
        value = read_json("".join(text))
    except PartwrightError as error:
        raise error.within(named(file), path=file) from None
    if not isinstance(value, dict):
        raise PartwrightError(
            f"{named(file)} is not a JSON object: see `partwright reassign --help`", path=file
        )
    return value
