"""The sources of a real group for `partwright assign`: a live Kafka, or the text of Kafka's own tool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from partwright.cli.echo import echo
from partwright.cli.input.options import is_topic
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection

__all__ = ["is_real", "real_group"]


def is_real(file: str, topics: str | None, group_id: str | None) -> bool:
    """Whether the group comes from another source than JSON.

    Raises:
        PartwrightError: The options do not fit together.
    """
    if topics is not None and group_id is not None:
        raise PartwrightError(
            "--topics is for the text of kafka-consumer-groups.sh, and --group for a live Kafka"
        )
    if is_topic(file):
        if topics is not None:
            raise PartwrightError(
                f"{file!r} knows how many partitions its topics have: leave out --topics", path=file
            )
        if group_id is None:
            raise PartwrightError(f"{file!r} has many groups: name one with --group", path=file)
        return True
    if group_id is not None:
        raise PartwrightError(
            f"--group names a group of a live Kafka, kafka://host:port, and {file!r} is a file", path=file
        )
    return topics is not None


def real_group(
    file: str,
    text: str,
    topics: str | None,
    group_id: str | None,
    connection: Connection,
    *,
    says_clients: bool = True,
) -> str:
    """The group as a JSON object.

    Args:
        file: The command's argument.
        text: The file's text, if it is a file.
        topics: The value of --topics, for a text.
        group_id: The value of --group, for a live Kafka.
        connection: How that is reached.
        says_clients: Whether to print on stderr how its members' clients were guessed.

    Raises:
        PartwrightError: There is no valid group.
        BrokerError: No Kafka answers, or it has no such group.
    """
    if not is_topic(file):
        from partwright.assignors.pasted_group import is_pasted, read_pasted
        from partwright.assignors.tool_output import read_members, read_topics

        counts = None if topics is None else read_topics(topics)
        try:
            if counts is not None and not is_pasted(text):
                # This reports what is missing.
                return json.dumps(read_members(text, counts))
            pasted = read_pasted(text, counts)
        except PartwrightError as error:
            raise PartwrightError(f"{'stdin' if file == '-' else file}, {error}", path=file) from None
        for note in (*pasted.notes, *(pasted.clients if says_clients else ())):
            echo(note, err=True)
        return json.dumps(pasted.group)
    from partwright.assignors.mixed.guess import Guess, guesses_said
    from partwright.kafka.address import parse_kafka
    from partwright.kafka.groups import any_group

    servers, topic = parse_kafka(file)
    if topic is not None:
        raise PartwrightError(
            f"{file!r} names a topic, and a group reads several: write kafka://{servers or ''} --group G",
            path=file,
        )
    group = any_group(None, group_id or "", kafka_config=connection.config(servers))
    why = group.pop("guessed")
    if group.pop("protocol") == "consumer":
        echo(
            f"the members of {group_id!r} are of KIP-848's protocol and do not reveal their subscriptions: each is "
            f"assumed to subscribe to all that the group reads, {', '.join(group['topics']) or 'nothing'}",
            err=True,
        )
        for member in group["members"]:
            # The broker assigns, whatever the members' clients are.
            del member["client"]
        return json.dumps({**group, "assignor": f"server-{group['assignor']}"})
    guesses = [Guess(member["client"], why[member["id"]]) for member in group["members"]]
    for said in guesses_said(guesses) if says_clients else ():
        echo(said, err=True)
    return json.dumps(group)
