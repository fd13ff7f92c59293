"""`partwright assign`: who of a consumer group reads what."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partwright._check import Json, refuse_many
from partwright.cli.commands.assign_led import is_of_leader, led, names_clients, refuse_clients
from partwright.cli.input.completion import assignor_names
from partwright.cli.input.connection import connection_options, refuse_for_file
from partwright.cli.input.group_sources import is_real, real_group
from partwright.cli.input.json import lines, named, read_json
from partwright.cli.input.options import is_topic, report_option, save_report
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection

__all__ = ["command"]

_FIELDS = (
    "assignor",
    "topics",
    "topic_ids",
    "racks",
    "partition_order",
    "seed",
    "balance_racks",
    "members",
)


@click.command("assign")
@click.argument("file")
@click.option(
    "--assignor",
    metavar="A",
    shell_complete=assignor_names,
    help="The assignor, in place of the one that the group names; mine.MyAssignor is a class of yours.",
)
@click.option("--jsonl", is_flag=True, help="FILE has a group a line; the answers are a line each.")
@click.option("--compare", "is_compared", is_flag=True, help="Today's assignors side by side, in figures.")
@click.option(
    "--leader",
    metavar="ID",
    help="The member that leads: its client's assignor answers. all: each member in turn, as JSON.",
)
@click.option(
    "--clients", "by_client", is_flag=True, help="What a leader of each client gives, next to Java's answer."
)
@click.option(
    "--json", "as_json", is_flag=True, help="With --compare or --clients: print the figures as JSON."
)
@click.option(
    "--topics",
    metavar="T=N,...",
    help="FILE is what kafka-consumer-groups.sh prints of members, and these are the topics' partitions.",
)
@click.option(
    "--group", "group_id", metavar="G", help="FILE is kafka://host:port, and this is a group there."
)
@connection_options
@report_option
def command(
    file: str,
    assignor: str | None,
    jsonl: bool,
    is_compared: bool,
    leader: str | None,
    by_client: bool,
    as_json: bool,
    topics: str | None,
    group_id: str | None,
    report: Path | None,
    connection: Connection,
) -> None:
    """Say who of a consumer group reads what, exactly as Kafka's own assignor does.

    FILE is a group in JSON, or - for stdin: {"assignor", "topics": {name: partitions}, "members": [{"id", "topics"}]}.
    A member may have "owned", "generation", "instance_id" and "rack", the group "racks" of the replicas;
    docs/assign.md says what each is. The assignors are range, roundrobin, sticky and cooperative-sticky; the broker's
    own, server-uniform, server-range and server-simple, which look at the group's "topic_ids" too; of older versions
    sticky@2.8, cooperative-sticky@2.8, sticky@2.3, and by consumer thread, of which a member has as many as its
    "streams" (a number, or numbers by topic), old-range and old-roundrobin, which takes a "partition_order" of the
    group; or a Python class of your own, whose module is looked for where you are, too. Kafka's class names do as well.
    Those of other clients are CLIENT:ASSIGNOR, such as librdkafka:range: the members stand in the order of the
    JoinGroup response, the topics in that of the Metadata response, and the group may have a "seed" for what the client
    leaves to chance, and "balance_racks" for franz-go.

    The answer is one JSON object, {"assignment": {member: [[topic, partition], ...]}}, each list in the order of
    Kafka's own list; those of the broker's are sorted, and "topic_ids" are said. Where a client leaves something to
    chance, "chance" says why, and what all of its answers have in common.

    A real group comes from a live Kafka, kafka://host:port with --group, or from the text that
    kafka-consumer-groups.sh --describe --group G --members --verbose prints, with --topics. What its members read is
    what they own.

    --compare prints what the assignors of today's groups, the client's four and the broker's two, would make of the
    group instead: how many partitions members have, how uneven one topic is among them, what moves of that which they
    own, what nobody reads until the next rebalance, what is read in its rack, and how long it took; with --assignor
    your own in one more line.

    Members may be of several clients: "client" is java, librdkafka, sarama, kafka-go, franz-go, kafkajs, kafka-python
    or aiokafka, with @VERSION where an answer depends on it. The leader's client decides: that of --leader, or of the
    first member. The assignor is the group's, or the one that the coordinator chooses among what these clients have by
    default; CLIENT:ASSIGNOR, and one of the broker's, answers whoever leads. --leader all prints
    {"leaders": {member: {"assignor", "assignment", "rounds", "moved", ...}}}. --clients prints a table: what a leader
    of each client gives, and with which assignors it gives what Java gives.

    \b
    Exit code: 0 assigned, 2 wrong use or bad input, or Kafka's own assignor throws, 130 interrupted.

    \b
    Examples:
      partwright assign group.json
      partwright assign group.json --assignor cooperative-sticky
      partwright assign group.json --compare
      cat groups.jsonl | partwright assign - --jsonl
      partwright assign kafka://127.0.0.1:9092 --group billing --compare
      partwright assign members.txt --topics orders=12,users=7 --compare
      partwright assign group.json --assignor sarama:roundrobin
      partwright assign mixed.json --leader all
      partwright assign group.json --assignor roundrobin --clients
    """
    is_own = assignor is not None and _is_own(assignor)
    if is_own:
        # A module lies beside what is worked on, as for `python -m`.
        sys.path.insert(0, str(Path.cwd()))
    is_one = is_real(file, topics, group_id)
    if not is_topic(file):
        refuse_for_file(file, connection, None)
    if report is not None and jsonl:
        raise PartwrightError("--report is of one group: leave out --jsonl")
    _refuse_misuse(assignor if is_own else None, assignor, jsonl, is_one, is_compared)
    refuse_clients(leader, report, jsonl, is_own, is_compared, by_client)

    if not jsonl:
        text = "" if is_topic(file) else "".join(lines(file))
        if is_one:
            text = real_group(file, text, topics, group_id, connection, says_clients=not is_compared)
        if is_compared:
            _compare(text, named(file), [] if assignor is None else [assignor], report, as_json=as_json)
        elif by_client:
            _by_client(text, assignor, named(file), as_json=as_json)
        else:
            click.echo(_answer(text, assignor, named(file), report, leader))
    else:
        for number, line in enumerate(lines(file), 1):
            if line.strip():
                click.echo(_answer(line, assignor, f"{named(file)}, line {number}", leader=leader))


def _refuse_misuse(
    own: str | None, assignor: str | None, jsonl: bool, is_one: bool, is_compared: bool
) -> None:
    if is_compared and (jsonl or assignor != own):
        other = "--jsonl" if jsonl else f"--assignor {assignor}"
        raise PartwrightError(f"--compare asks today's assignors about one group: leave out {other}")
    if is_one and jsonl:
        raise PartwrightError("--jsonl is for groups in JSON: a live Kafka or a tool's text has one group")


def _answer(
    text: str, assignor: str | None, where: str, report: Path | None = None, leader: str | None = None
) -> str:
    from partwright.assignors.assign import assign

    try:
        group = _group(text, assignor, needs_assignor=leader is None)
        if leader is not None or (names_clients(group) and is_of_leader(group.get("assignor"))):
            return json.dumps(led(group, leader, report, where))
        found = assign(
            group["topics"],
            group["members"],
            group["assignor"],
            racks=group.get("racks"),
            topic_ids=group.get("topic_ids"),
            partition_order=group.get("partition_order"),
            seed=group.get("seed", 0),
            balance_racks=group.get("balance_racks", False),
        )
    except PartwrightError as error:
        raise error.within(where) from None
    save_report(report, found, where, assignor=group["assignor"])
    ids = {} if found.topic_ids is None else {"topic_ids": found.topic_ids}
    chance = {} if found.chance is None else {"chance": found.chance._asdict()}
    return json.dumps({"assignment": found.to_dict(), **ids, **chance})


def _by_client(text: str, assignor: str | None, where: str, *, as_json: bool) -> None:
    from partwright.assignors.mixed.by_client import by_client

    try:
        group = _group(text, assignor, is_by_client=True)
        _refuse_order(group, "--clients")
        found = by_client(
            group["topics"],
            group["members"],
            group["assignor"],
            racks=group.get("racks"),
            seed=group.get("seed", 0),
            balance_racks=group.get("balance_racks", False),
        )
    except PartwrightError as error:
        raise error.within(where) from None
    if as_json:
        click.echo(json.dumps({"clients": [each.to_dict() for each in found]}))
        return
    from partwright.cli.tables.clients import print_clients

    print_clients(found, group["assignor"])


def _is_own(assignor: str) -> bool:
    from partwright.assignors.names import is_own

    return is_own(assignor)


def _compare(text: str, where: str, own: list[str], report: Path | None, *, as_json: bool) -> None:
    from partwright.assignors.compare import compare

    try:
        # Whichever the group names.
        group = _group(text, "range")
        _refuse_order(group, "--compare")
        found = compare(
            group["topics"],
            group["members"],
            racks=group.get("racks"),
            topic_ids=group.get("topic_ids"),
            clock=time.perf_counter,
            own=own,
        )
    except PartwrightError as error:
        raise error.within(where) from None
    save_report(report, found, where, topics=group["topics"], members=group["members"])
    if as_json:
        click.echo(json.dumps([each.to_dict() for each in found]))
        return
    from partwright.cli.tables.assign import print_comparison

    print_comparison(found, group["topics"], group["members"])


def _refuse_order(group: Json, option: str) -> None:
    if group.get("partition_order") is not None:
        raise PartwrightError(f"partition_order is for old-roundrobin alone: leave it out with {option}")


def _group(
    text: str, assignor: str | None, *, needs_assignor: bool = True, is_by_client: bool = False
) -> Json:
    group = read_json(text)
    if not isinstance(group, dict):
        raise PartwrightError("a group is an object with assignor, topics and members")
    for field in group:
        if field not in _FIELDS:
            known = f"{', '.join(_FIELDS[:-1])} and {_FIELDS[-1]}"
            raise PartwrightError(f"a group has no field {field!r}: there are {known}")
    _choose(group, assignor)
    for field in ("assignor", "topics", "members"):
        is_chosen = not is_by_client and (not needs_assignor or names_clients(group))
        if field == "assignor" and is_chosen:
            continue
        if field not in group:
            also = " (or give --assignor)" if field == "assignor" else ""
            raise PartwrightError(f"the group has no {field}: name it{also}")
    if isinstance(group["members"], dict):
        raise PartwrightError('members is a list of objects with "id" and "topics", not an object')
    _refuse_many(group)
    return group


def _refuse_many(group: Json) -> None:
    """Each partition that somebody subscribes to is printed; what is no group is left for the group's own checks."""
    members = group["members"] if isinstance(group["members"], list) else []
    lists = [member.get("topics") for member in members if isinstance(member, dict)]
    read = {
        topic for topics in lists if isinstance(topics, list) for topic in topics if isinstance(topic, str)
    }
    topics = group["topics"] if isinstance(group["topics"], dict) else {}
    refuse_many(
        sum(count for topic, count in topics.items() if topic in read and isinstance(count, int)), "assign"
    )


def _choose(group: Json, assignor: str | None) -> None:
    if assignor is not None:
        group["assignor"] = assignor
    elif isinstance(group.get("assignor"), str) and _is_own(group["assignor"]):
        raise PartwrightError(
            f"the group names {group['assignor']!r}, and no file may say which code is run: give it as --assignor"
        )
