"""Consumer groups from kaf's text, from kafkactl's JSON or YAML, and from the JSON of AKHQ's address for members.

kaf 0.2 (`kaf group describe G`) has sections; kafkactl 5 (`kafkactl describe consumer-group G -o json`, or yaml) names
its fields as Go does; AKHQ's page for members runs topics and partitions together when it is copied, and
`/api/CLUSTER/group/G/members` has them apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from partwright._check import Json, listed, number, shown
from partwright._text import paste_lines, plain
from partwright.assignors.described_group import DescribedGroup
from partwright.errors import PartwrightError

_PROTOCOL = re.compile(r"\s*Protocol:\s*(\S*)")
_HOST = re.compile(r"\s*Host:\s*(\S+)")
_NAMED = re.compile(r"\s*(\S.*):")
_OFFSET = re.compile(r"\s*(\d+)(?:\s+-?\d+){3}\b")
_READ = re.compile(r"\s*(\S+)\s+\[([\d ]*)\]")


def is_kaf(text: str) -> bool:
    r"""Whether a text is what `kaf group describe` prints.

    Examples:
        >>> is_kaf("Group ID:  g\nState:  Stable\nProtocol:  range\nProtocol Type:  consumer\n")
        True
    """
    return "Group ID:" in text and "Protocol Type:" in text


def kaf_group(text: str) -> DescribedGroup:
    """The group of kaf's text, with its members by client ID and host.

    Raises:
        PartwrightError: The text has no members' section, or a line of it is cut.
    """
    group = DescribedGroup("kaf group describe", lists_idle=True)
    above, _, below = text.partition("Members:")
    if not below:
        raise PartwrightError("kaf's text has no Members: paste all of it, without --no-members")
    _add_offsets(group, above)
    client_id, member = "", None
    for number_, line in paste_lines(below):
        if host := _HOST.match(line):
            member = group.add_unnamed(client_id, host[1])
        elif name := _NAMED.fullmatch(line):
            client_id = client_id if name[1] in {"Assignments", "Metadata"} else name[1]
        elif read := _READ.fullmatch(line):
            group.read(member, read[1], map(int, read[2].split()))
        elif "[" in line:
            at = number_ + above.count("\n")
            raise PartwrightError(f"line {at}: {shown(line.strip())} is cut: paste whole lines")
    return group


def _add_offsets(group: DescribedGroup, text: str) -> None:
    """The sections above the members: the assignor, and the partitions of each topic."""
    topic = ""
    for _, line in paste_lines(text):
        if field := _PROTOCOL.match(line):
            group.assignor = field[1]
        elif name := _NAMED.fullmatch(line):
            topic = name[1]
        elif offset := _OFFSET.match(line):
            group.read(None, topic, [int(offset[1])])


def is_tools_document(value: object) -> bool:
    """Whether JSON or YAML is kafkactl's description of a group, or AKHQ's members."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(each, Mapping) and "assignments" in each for each in value)
    return isinstance(value, Mapping) and {"group", "protocol", "state"} <= set(_lower(value))


def documented_group(value: Any) -> tuple[str, DescribedGroup]:
    """The name of the group that a document describes, empty if it does not say it, and the group.

    Raises:
        PartwrightError: A field is missing or has another form.
    """
    if isinstance(value, list):
        return "", _of_akhq(value)
    fields = _lower(value)
    group = DescribedGroup("kafkactl describe consumer-group", assignor=str(fields["protocol"] or ""))
    for topic in listed(fields.get("topics") or (), "topics", Mapping):
        own = _lower(topic)
        parts = (_lower(each) for each in listed(own.get("partitions") or (), "partitions", Mapping))
        group.read(
            None, plain(own.get("name")), [number(each.get("partition"), "a partition") for each in parts]
        )
    for each in listed(fields.get("members") or (), "members", Mapping):
        own = _lower(each)
        ids = (plain(own.get(name) or "") for name in ("clientid", "clienthost", "groupinstanceid"))
        member = group.add_unnamed(*ids)
        for read in map(_lower, listed(own.get("assignedpartitions") or (), "assignedPartitions", Mapping)):
            numbers = listed(read.get("partitions") or (), "partitions")
            group.read(member, plain(read.get("name")), [number(at, "a partition") for at in numbers])
    name = fields["group"]
    return str(_lower(name).get("name") or "") if isinstance(name, Mapping) else str(name), group


def _of_akhq(members: list[Json]) -> DescribedGroup:
    group = DescribedGroup("AKHQ, /api/CLUSTER/group/G/members", lists_idle=True)
    for each in members:
        member = plain(each.get("id"))
        group.add(member, plain(each.get("clientId") or ""))
        for read in listed(each["assignments"], "assignments", Mapping):
            group.read(member, plain(read.get("topic")), [number(read.get("partition"), "a partition")])
    return group


def _lower(fields: Mapping[Any, Any]) -> dict[str, Any]:
    """An object's fields with lower-case names: kafkactl's JSON and YAML write them differently."""
    return {str(name).lower(): value for name, value in fields.items()}
