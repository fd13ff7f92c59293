"""The group of `partwright assign`: in JSON, from a live Kafka, or from the text of Kafka's own tool."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from partwright._check import Json, enumeration, is_topic, refuse_many, shown
from partwright.assignors.subscriptions import check_subscriptions, parse_subscription
from partwright.cli.input.json import lines, named, read_json
from partwright.cli.parsing import repeated
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.assignors.described_group import DescribedGroup
    from partwright.assignors.mixed.guess import Guess
    from partwright.cli.input.connection import Connection

_FIELDS = ["assignor", "topics", "topic_ids", "racks", "partition_order", "seed", "balance_racks", "members"]


@contextmanager
def within(where: str) -> Iterator[None]:
    """Errors in the block name the place of the group."""
    try:
        yield
    except PartwrightError as error:
        raise error.within(where) from None


def is_own(assignor: str) -> bool:
    """Whether an assignor's name is the path of a user's class."""
    from partwright.assignors import names

    return names.is_own(assignor)


def names_clients(group: Json) -> bool:
    """Whether a member names its client."""
    members = group.get("members")
    listed = members if isinstance(members, list) else []
    return any(isinstance(member, dict) and member.get("client") is not None for member in listed)


def read_group(
    text: str, assignor: str | None, *, needs_assignor: bool = True, is_named: bool = False
) -> Json:
    """The group, with `assignor` instead of its own.

    Args:
        text: The JSON.
        assignor: The value of --assignor.
        needs_assignor: Whether the group must name one unless its members' clients choose it.
        is_named: Whether it must name one in any case.

    Raises:
        PartwrightError: It is not a group.
    """
    try:
        group = read_json(text)
    except PartwrightError as error:
        tools = "no text of kafka-consumer-groups.sh --describe or rpk group describe"
        is_json = not text.strip() or text.lstrip().startswith(("{", "["))
        raise (error if is_json else PartwrightError(f"{error}, and {tools}")) from None
    if not isinstance(group, dict):
        raise PartwrightError("a group is an object with assignor, topics and members")
    for field in group:
        if field not in _FIELDS:
            raise PartwrightError(f"a group has no field {field!r}: use {enumeration(_FIELDS)}")
    if assignor is not None:
        group["assignor"] = assignor
    elif isinstance(group.get("assignor"), str) and is_own(group["assignor"]):
        raise PartwrightError(
            f"the group names {group['assignor']!r}, but a file must not choose which code runs: give it as --assignor"
        )
    # The clients of members may choose it.
    needs = is_named or (needs_assignor and not names_clients(group))
    for field in ("assignor", "topics", "members")[not needs :]:
        if field not in group:
            also = " (or give --assignor)" if field == "assignor" else ""
            raise PartwrightError(f"the group has no {field}: name it{also}")
    _check_form(group)
    if isinstance(group["members"], list):
        from partwright.assignors.members import listed_members

        group["members"] = listed_members(group["members"], group["topics"])
    _refuse_many(group)
    return group


def _check_form(group: Json) -> None:
    if isinstance(group["members"], dict):
        raise PartwrightError('members is a list of objects with "id" and "topics", not an object')
    # Where the functions of Python take a file's name: no group in JSON opens files.
    for field in ("topics", "members", "racks"):
        if isinstance(group.get(field), str):
            raise PartwrightError(f"{field} is JSON within the group, not {shown(group[field])}")


def _refuse_many(group: Json) -> None:
    """Refuse an answer that is too long: it names each subscribed partition. Invalid groups are checked elsewhere."""
    members = group["members"] if isinstance(group["members"], list) else []
    lists = [member.get("topics") for member in members if isinstance(member, dict)]
    read = {
        topic for topics in lists if isinstance(topics, list) for topic in topics if isinstance(topic, str)
    }
    topics = group["topics"] if isinstance(group["topics"], dict) else {}
    refuse_many(
        sum(count for topic, count in topics.items() if topic in read and isinstance(count, int)), "assign"
    )


def refuse_order(group: Json, option: str) -> None:
    """Refuse the one field that only the oldest assignor reads.

    Raises:
        PartwrightError: The group has it.
    """
    if group.get("partition_order") is not None:
        raise PartwrightError(f"partition_order is for old-roundrobin alone: leave it out with {option}")


subscriptions_option = repeated(
    "--subscriptions M=T,...|FILE",
    "The topics that member or client ID M subscribes to, where the source does not say it; may be repeated.",
)


def is_real(file: str, topics: str | None, group_id: str | None) -> bool:
    """Whether the group comes from another source than JSON.

    Raises:
        PartwrightError: The options do not fit together.
    """
    if is_topic(file):
        if topics is not None:
            raise PartwrightError(
                f"{file!r} knows how many partitions its topics have: leave out --topics", path=file
            )
        if group_id is None:
            raise PartwrightError(f"{file!r} has many groups: name one with --group", path=file)
        return True
    return topics is not None or group_id is not None


class RealGroup(NamedTuple):
    """A group that does not come as JSON.

    Attributes:
        json: It as a JSON object.
        assumed: What was assumed because the source does not say it, a sentence each.
    """

    json: str
    assumed: tuple[str, ...] = ()


def real_group(
    file: str,
    text: str | tuple[str, DescribedGroup],
    topics: str | None,
    group_id: str | None,
    connection: Connection,
    subscriptions: Mapping[str, Sequence[str]] | None,
    *,
    says_clients: bool = True,
    assumes_assignor: bool = False,
) -> RealGroup:
    """The group as a JSON object, and what was assumed.

    Args:
        file: The command's argument.
        text: The file's text, if it is a file; or what a tool's JSON or YAML describes.
        topics: The value of --topics, for a text.
        group_id: The value of --group, for a live Kafka, or for a text with several groups.
        connection: How a live Kafka is reached.
        subscriptions: The values of --subscriptions.
        says_clients: Whether its members' clients, which were guessed, matter.
        assumes_assignor: Whether a text without an assignor has its client's default.

    Raises:
        PartwrightError: There is no valid group.
        BrokerError: No Kafka answers, or it has no such group.
    """
    if not is_topic(file):
        from partwright.assignors.pasted_group import read_pasted, read_topics

        counts = None if topics is None else read_topics(topics)
        try:
            pasted = read_pasted(
                text, counts, subscriptions, group_id=group_id, assumes_assignor=assumes_assignor
            )
        except PartwrightError as error:
            raise PartwrightError(f"{'stdin' if file == '-' else file}, {error}", path=file) from None
        return RealGroup(json.dumps(pasted.group), pasted.notes + (pasted.clients if says_clients else ()))
    from partwright.assignors.mixed.guess import guesses_said

    group, guesses = live_group(file, group_id or "", connection, subscriptions)
    assumed = group.pop("assumed")
    del group["guessed"]
    if group.pop("protocol") == "consumer":
        for member in group["members"]:
            # The broker assigns, whatever the members' clients are.
            del member["client"]
        return RealGroup(json.dumps({**group, "assignor": f"server-{group['assignor']}"}), assumed)
    return RealGroup(json.dumps(group), tuple(guesses_said(guesses)) if says_clients else ())


def tools_group(file: str, text: str) -> tuple[str, DescribedGroup] | None:
    """The group, with its name, of kafkactl's JSON or YAML, or of AKHQ's JSON; None if it is another text.

    Raises:
        PartwrightError: A field of it is missing or has another form.
        MissingExtraError: It is YAML, and PyYAML is missing.
    """
    from partwright.assignors.pasted_documents import documented_group, is_tools_document

    start = text.lstrip("\ufeff \t\r\n")[:200]
    if start.startswith(("{", "[")):
        try:
            value = read_json(text)
        except PartwrightError:
            return None
    elif start.startswith(("group:\n", "group:\r\n")):
        from partwright.cli.input.yaml_files import read_yaml

        value = read_yaml(named(file), text)
    else:
        return None
    if not is_tools_document(value):
        return None
    with within(named(file)):
        return documented_group(value)


def live_group(
    address: str, group_id: str, connection: Connection, subscriptions: Mapping[str, Sequence[str]] | None
) -> tuple[Json, list[Guess]]:
    """A live group, as `partwright.kafka.groups.any_group` reads it, and which client each member seems to have.

    Raises:
        PartwrightError: The address names a topic.
        BrokerError: No Kafka answers, or it has no such group.
    """
    from partwright.assignors.mixed.guess import Guess
    from partwright.kafka.address import parse_kafka
    from partwright.kafka.groups import any_group

    servers, topic = parse_kafka(address)
    if topic is not None:
        raise PartwrightError(
            f"{address!r} names a topic, and a group reads several: write kafka://{servers or ''} --group {group_id}",
            path=address,
        )
    group = any_group(connection.config(servers), group_id, subscriptions=subscriptions)
    reasons = group["guessed"]
    return group, [Guess(member["client"], reasons[member["id"]]) for member in group["members"]]


def read_subscriptions(values: Sequence[str]) -> dict[str, list[str]] | None:
    """The subscriptions that the values of --subscriptions name: `member=topic,topic`, or a file.

    A file has such a line for each member, or one JSON object of members and lists of topics.

    Raises:
        PartwrightError: A value or a file has another form, or names a member twice.
    """
    subscribed: dict[str, list[str]] = {}
    for value in values:
        pairs = [parse_subscription(value)] if "=" in value else _of_file(value)
        for member, topics in pairs:
            if member in subscribed:
                raise PartwrightError(f"--subscriptions names {member!r} twice: give it one list of topics")
            subscribed[member] = topics
    return subscribed if values else None


def _of_file(file: str) -> list[tuple[str, list[str]]]:
    text = "".join(lines(file))
    try:
        if text.lstrip().startswith("{"):
            return list(check_subscriptions(read_json(text)).items())
        subscribed = [parse_subscription(line) for line in text.splitlines() if line.strip()]
    except PartwrightError as error:
        raise PartwrightError(f"{named(file)}, {error}", path=file) from None
    if not subscribed:
        raise PartwrightError(f"{named(file)} names no member: write member=topic,topic in it", path=file)
    return subscribed
