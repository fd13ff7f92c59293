"""`partwright assign`: who in a consumer group reads what."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from partwright._check import Json, counted, is_topic
from partwright.cli.input.connection import connection_options, refuse_for_file
from partwright.cli.input.groups import (
    RealGroup,
    is_own,
    is_real,
    names_clients,
    read_group,
    read_subscriptions,
    real_group,
    refuse_order,
    subscriptions_option,
    tools_group,
    within,
)
from partwright.cli.input.json import lines, named
from partwright.cli.input.options import assignor_names
from partwright.cli.output import output_options
from partwright.cli.parsing import OUTPUT, Command, Listed, first_given, flag, heading, option
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.assignment import Assignment
    from partwright.assignors.comparison import Comparison
    from partwright.assignors.current_group import GroupNow
    from partwright.assignors.mixed.assignors_by_client import ClientAnswers
    from partwright.assignors.mixed.group_leaders import LeaderAnswer, Leaders
    from partwright.assignors.mixed.rolling import Rolls
    from partwright.cli.input.connection import Connection
    from partwright.cli.output import Output

_ALL = "all"
_MOST_ANSWERS = 10_000_000
"""The most partitions that are printed, counted once for each leader."""
_MINE, _TABLES = "--assignor with a class of yours", "--compare and --clients"
# What an option asks, and the others that do not go with it; of --assignor, those that are not the user's own.
_ALONE = {
    "--compare": ("asks today's assignors about one group", ("--jsonl", "--assignor")),
    "--clients": ("asks each client about one group", ("--jsonl", "--compare", "--leader")),
    "--leader": ("asks a member's client", ("--compare", _MINE)),
    "--roll-to": ("plays the steps of one group", ("--leader", "--jsonl", _MINE, _TABLES)),
    "--explain": (
        "is about one group as it is",
        ("--jsonl", "--compare", "--clients", "--leader", "--roll-to"),
    ),
}


@click.command("assign", cls=Command)
@click.argument("file", required=False)
@heading("What to read")
@flag("--jsonl", "FILE has one group per line, and each answer is one line.")
@option(
    "--group G",
    "A live group, when FILE is kafka://host:port, or one of several in a tool's text.",
    "group_id",
)
@option(
    "--topics T=N,...",
    "The topics' partitions, when FILE is the text that kafka-consumer-groups.sh or rpk prints, or of --members.",
    cls=Listed,
)
@option(
    "--members ID,...", "Instead of FILE: the members' ids; each subscribes to all of --topics.", cls=Listed
)
@subscriptions_option
@heading("Who assigns")
@option(
    "--assignor A",
    "The assignor, instead of the one that the group names; mine.MyAssignor is your own class.",
    shell_complete=assignor_names,
)
@option("--leader ID", "The leader, whose client's assignor answers; all asks each member in turn.")
@flag("--clients", "What a leader of each client would assign, next to Java's answer.", "by_client")
@option(
    "--roll-to CLIENT",
    "What it costs to replace the members one by one with CLIENT's, and which order is safe.",
)
@connection_options
@heading(OUTPUT)
@flag("--compare", "Compare today's assignors: balance, moves, racks, time.", "is_compared")
@flag(
    "--explain",
    "Explain the group as it is: who reads what, what a rebalance would move, why it is uneven.",
    "is_explained",
)
@output_options
def command(
    file: str | None,
    members: str | None,
    assignor: str | None,
    jsonl: bool,
    is_compared: bool,
    leader: str | None,
    by_client: bool,
    roll_to: str | None,
    is_explained: bool,
    topics: str | None,
    subscriptions: tuple[str, ...],
    group_id: str | None,
    connection: Connection,
    output: Output,
) -> None:
    """Show which member of a consumer group reads what, exactly as Kafka's own assignor decides.

    FILE is a group in JSON, or - for stdin: {"assignor", "topics": {name: partitions}, "members": [{"id", "topics"}]}.
    A member may have "owned", "generation", "instance_id" and "rack", the group "racks" of the replicas; docs/assign.md
    explains each.

    The assignors of Kafka's client are range, roundrobin, sticky and cooperative-sticky. Those of the broker are
    server-uniform, server-range and server-simple, which also use the group's "topic_ids". Those of older versions are
    sticky@2.8, cooperative-sticky@2.8, sticky@2.3, old-range and old-roundrobin. The last two assign to consumer
    threads: a member's "streams" is its number of threads, or one number by topic. old-roundrobin takes the group's
    "partition_order". Kafka's class names work as well, and so does a Python class of your own, whose module is also
    looked for in the current folder.

    Assignors of other clients are CLIENT:ASSIGNOR, such as librdkafka:range. For them, list the members in the order of
    the JoinGroup response and the topics in that of the Metadata response. The group may have a "seed" for what the
    client leaves to chance, and "balance_racks" for franz-go.

    The answer is a verdict and a table of the members. --json prints one JSON object, {"summary", "assignment":
    {member: [[topic, partition], ...]}}, each list in the order of Kafka's own list; the lists of the broker's
    assignors are sorted, and "topic_ids" are included. If a client leaves something to chance, "chance" says why, and
    what all of its answers have in common. --jsonl prints such an object for each group, and its "summary" only with
    --json.

    A real group comes from a live Kafka, kafka://host:port with --group, or from pasted text: what
    kafka-consumer-groups.sh --describe --group G prints, best with --members --verbose, or another tool
    (docs/pastes.md), even if its blanks were collapsed. --group names one of several groups in a text. Each member owns
    what it reads there. --topics says how many partitions topics have, if they have more than the text shows. Neither
    such a text nor a live group of KIP-848 has subscriptions: if no member reads topics of two sets, nor two members
    with one client ID (other than a library's default, such as rdkafka), each is assumed to subscribe to its own set;
    otherwise all to all. The answer says what was assumed, and --subscriptions corrects it: member=topic,topic, or a
    file with such lines or with a JSON object of lists.

    --compare prints what each of today's assignors, the client's four and the broker's two, would give the group
    instead: how many partitions members have, how unevenly each topic is spread, how many partitions move, how many
    nobody reads until the next rebalance, how many are read in their own rack, and how long the assignor took. With
    --assignor, your own assignor gets a line too.

    Members may be of several clients: "client" is java, librdkafka, sarama, kafka-go, franz-go, kafkajs, kafka-python
    or aiokafka, with @VERSION where an answer depends on it. The leader's client decides: the leader is the member that
    --leader names, or else the first one. The assignor is the group's own, or the one that the coordinator chooses from
    these clients' defaults; CLIENT:ASSIGNOR and the broker's assignors do not depend on the leader. --leader all prints
    a row for each leader, and as JSON {"leaders": {member: {"assignor", "assignment", "rounds", "moved", ...}}}.
    --clients prints what a leader of each client assigns, and with which assignors it agrees with Java. --roll-to
    prints what happens step by step when members are replaced by those of another client.

    --explain describes the group as it is: how many partitions each member reads, what a rebalance would move now, what
    one more or one fewer member would move, and why some members read more than others. It needs the group's assignor;
    for a text that names none, the default of its client counts.

    \b
    Exit code: 0 assigned, 2 wrong use or bad input, or Kafka's own assignor throws, 130 interrupted.

    \b
    Examples:
      partwright assign group.json
      partwright assign group.json --assignor cooperative-sticky
      partwright assign group.json --compare
      partwright assign --topics orders=12,users=7 --members c1,c2,c3 --compare
      cat groups.jsonl | partwright assign - --jsonl
      partwright assign kafka://127.0.0.1:9092 --group billing --compare
      partwright assign kafka://127.0.0.1:9092 --group billing --explain
      partwright assign members.txt --topics orders=12,users=7 --compare
      partwright assign members.txt --subscriptions app-1=orders --subscriptions app-2=users --compare
      kafka-consumer-groups.sh --describe --group billing ... | partwright assign - --compare
      partwright assign group.json --assignor sarama:roundrobin
      partwright assign mixed.json --leader all
      partwright assign group.json --assignor roundrobin --clients
      partwright assign group.json --roll-to franz-go
    """
    is_mine = assignor is not None and is_own(assignor)
    if is_mine:
        # A module may be in the current folder, as for `python -m`.
        sys.path.insert(0, str(Path.cwd()))
    file = _file(file, members, topics, subscriptions)
    is_one = members is not None or is_real(file, topics, group_id)
    if not is_topic(file):
        refuse_for_file(file, connection, None)
    values = {"--jsonl": jsonl, "--compare": is_compared, "--clients": by_client, "--leader": leader}
    values |= {"--roll-to": roll_to, "--explain": is_explained, "--assignor": not is_mine and assignor}
    _refuse_together(values | {_MINE: is_mine, _TABLES: is_compared or by_client})
    if jsonl:
        if is_one or subscriptions:
            raise PartwrightError(
                "--jsonl is for groups in JSON: a live Kafka or a tool's text has one group"
            )
        _print_each(file, assignor, leader, output)
        return
    others = first_given(values | {"--explain": False, _MINE: is_mine})
    flags = {"says_clients": not is_compared, "assumes_assignor": others is None}
    group = (
        _group(file, topics, group_id, subscriptions, connection, flags)
        if members is None
        else _typed_group(members, topics)
    )
    where = named(file)
    with within(where):
        if is_explained:
            answer: Any = _now(read_group(group.json, assignor, is_named=True))
        elif is_compared:
            answer = _comparison(read_group(group.json, "range"), [] if assignor is None else [assignor])
        elif roll_to is not None:
            answer = _rolls(read_group(group.json, assignor, needs_assignor=False), roll_to)
        elif by_client:
            answer = _by_client(read_group(group.json, assignor, is_named=True))
        else:
            answer = _answer(group.json, assignor, leader)
    output.show(_assuming(answer, group.assumed), where)


def _refuse_together(values: Mapping[str, object]) -> None:
    """Refuse options that do not go together."""
    for option_name, (what, others) in _ALONE.items():
        other = first_given({each: values[each] for each in others})
        if other is not None and first_given({option_name: values[option_name]}):
            value = f" {values[other]}" if other == "--assignor" else ""
            raise PartwrightError(f"{option_name} {what}: leave out {other}{value}")


def _assuming(answer: Any, assumed: Sequence[str]) -> Any:
    """An answer with what was assumed about its group, before what it assumes itself."""
    whole = (*assumed, *answer.assumed)
    if is_dataclass(answer):
        return replace(answer, assumed=whole)  # type: ignore[type-var]
    answer.assumed = whole
    return answer


def _print_each(file: str, assignor: str | None, leader: str | None, output: Output) -> None:
    """Print a line of JSON for each line of a file, which begins with its verdict if --json says so."""
    forms = {"--report": output.report, "--plot": output.plot}
    other = first_given({**forms, f"--output {output.form}": output.form in {"markdown", "html"}})
    if other is not None:
        raise PartwrightError(f"{other} is for one group: leave out --jsonl")
    for number, line in enumerate(lines(file), 1):
        if line.strip():
            with within(f"{named(file)}, line {number}"):
                answer = _answer(line, assignor, leader)
            if output.form == "json":
                # Imported only here, so that plain lines do not wait for it.
                from partwright.report import document

                click.echo(json.dumps(document(answer).answer))
            else:
                click.echo(json.dumps(answer.json_object()))


def _file(file: str | None, members: str | None, topics: str | None, subscriptions: tuple[str, ...]) -> str:
    """FILE, or the name of the option that stands for it."""
    if members is None:
        if file is None:
            raise PartwrightError(
                "which group? Name its FILE, or give its --members and --topics, such as --members c1,c2 --topics "
                "orders=12"
            )
        return file
    if file is not None or subscriptions:
        other = "--subscriptions" if file is None else repr(file)
        raise PartwrightError(f"--members are a group without a FILE, who read all topics: leave out {other}")
    if topics is None:
        raise PartwrightError("--members read topics: name them with --topics, such as orders=12,users=7")
    return "--members"


def _typed_group(members: str, topics: str | None) -> RealGroup:
    from partwright.assignors.pasted_group import read_topics

    ids = [each.strip() for each in members.split(",")]
    if "" in ids:
        raise PartwrightError(f"--members has an empty id: name each, such as c1,c2, not {members!r}")
    if len(ids) == 1 and ids[0].isdecimal():
        raise PartwrightError(
            f"--members takes the members' ids, such as c1,c2,c3, not how many: {members!r}"
        )
    return RealGroup(json.dumps({"topics": read_topics(topics or ""), "members": ids}))


def _group(
    file: str,
    topics: str | None,
    group_id: str | None,
    subscriptions: tuple[str, ...],
    connection: Connection,
    flags: dict[str, bool],
) -> RealGroup:
    """The group, as the file has it or from a tool's text or a live Kafka, with what was assumed."""
    from partwright.assignors.pasted_group import is_pasted

    if file == "-" and "-" in subscriptions:
        raise PartwrightError("stdin is the group: give --subscriptions another file")
    known = read_subscriptions(subscriptions)
    text = "" if is_topic(file) else "".join(lines(file))
    documented = None if is_topic(file) else tools_group(file, text)
    is_json = text.lstrip("\ufeff \r\n\t").startswith(("{", "["))
    if documented or is_topic(file) or topics is not None or (not is_json and is_pasted(text)):
        return real_group(file, documented or text, topics, group_id, connection, known, **flags)
    if group_id is not None:
        raise PartwrightError(
            f"--group names a group of a live Kafka, kafka://host:port, or of a tool's text, and {file!r} is neither",
            path=file,
        )
    if known is not None:
        raise PartwrightError(
            "--subscriptions is for a tool's text and for a live group of KIP-848: in JSON, members have their topics"
        )
    return RealGroup(text)


def _answer(text: str, assignor: str | None, leader: str | None) -> Assignment | LeaderAnswer | Leaders:
    """The answer for one group: under the leader that decides, or by an assignor that does not depend on it."""
    from partwright.assignors.group_assignment import assign

    group = read_group(text, assignor, needs_assignor=leader is None)
    if leader is not None or (names_clients(group) and _is_of_leader(group.get("assignor"))):
        return _answer_under(group, leader)
    return assign(
        group["topics"],
        group["members"],
        group["assignor"],
        topic_ids=group.get("topic_ids"),
        partition_order=group.get("partition_order"),
        **_of_clients(group),
    )


def _of_clients(group: Json) -> Json:
    """What a group says for the assignors of all clients."""
    return {
        "racks": group.get("racks"),
        "seed": group.get("seed", 0),
        "balance_racks": group.get("balance_racks", False),
    }


def _now(group: Json) -> GroupNow:
    """A group as it is now, and what would happen to it."""
    from partwright.assignors.current_group import group_now

    if not any(isinstance(each, dict) and each.get("owned") for each in group["members"]):
        raise PartwrightError(
            "no member reports what it owns, so there is nothing to explain: leave out --explain"
        )
    return group_now(group["topics"], group["members"], group["assignor"])


def _comparison(group: Json, own: list[str]) -> Comparison:
    from partwright.assignors.comparison import COMPARED, compare

    refuse_order(group, "--compare")
    topic_ids, clock = group.get("topic_ids"), time.perf_counter
    topics, members, racks = group["topics"], group["members"], group.get("racks")
    return compare(topics, members, [*COMPARED, *own], racks=racks, topic_ids=topic_ids, clock=clock)


def _by_client(group: Json) -> ClientAnswers:
    from partwright.assignors.mixed.assignors_by_client import by_client

    refuse_order(group, "--clients")
    return by_client(group["topics"], group["members"], group["assignor"], **_of_clients(group))


def _rolls(group: Json, to: str) -> Rolls:
    """What it costs to roll a group to another client."""
    from partwright.assignors.mixed.rolling import roll

    refuse_order(group, "--roll-to")
    rolls = roll(group["topics"], group["members"], to, group.get("assignor"), **_of_clients(group))
    java = "assumed client of each member: java; its field client can name another"
    return rolls if names_clients(group) else replace(rolls, assumed=(java,))


def _is_of_leader(assignor: object) -> bool:
    """Whether the leader's client decides: a broker's assignor, or CLIENT:ASSIGNOR, does not depend on the leader."""
    from partwright.assignors.mixed.clients import DEFAULT_ASSIGNORS, assignors_of
    from partwright.assignors.names import assignors, client_assignors, short_name

    if not isinstance(assignor, str):
        return True
    name = short_name(assignor)
    offered = {each for client in DEFAULT_ASSIGNORS for each in assignors_of(client)}
    others = {*assignors(), *client_assignors(), *(f"java:{each}" for each in assignors())}
    return name in offered or not (name in others or is_own(assignor))


def _answer_under(group: Json, leader: str | None) -> LeaderAnswer | Leaders:
    """The group's answer under one leader, the first member by default, or under each."""
    from partwright.assignors.mixed.group_leaders import leaders

    if group.get("partition_order") is not None:
        raise PartwrightError("partition_order is for old-roundrobin alone, which no member's client has")
    members = group["members"] if isinstance(group["members"], list) else []
    if leader == _ALL:
        _refuse_all(group["topics"], members)
    first = next((member.get("id") for member in members[:1] if isinstance(member, dict)), None)
    answers = leaders(
        group["topics"],
        group["members"],
        group.get("assignor"),
        leader=None if leader == _ALL else first if leader is None else leader,
        **_of_clients(group),
    )
    if leader == _ALL:
        return answers
    (only,) = answers
    if only.answer is None:
        raise PartwrightError(only.error or "the leader gives no assignment")
    return only


def _refuse_all(topics: object, members: list[object]) -> None:
    """Refuse an answer that is too long, as it names each partition for each leader; the group is checked elsewhere."""
    counts = topics.values() if isinstance(topics, dict) else ()
    partitions = sum(count for count in counts if isinstance(count, int))
    if partitions * len(members) > _MOST_ANSWERS:
        raise PartwrightError(
            f"--leader all would print {counted(partitions, 'partition')} for each of "
            f"{counted(len(members), 'leader')}: name one with --leader ID, or ask with --clients"
        )
