"""A consumer group of a live Kafka: its members, what each subscribes to and reads, over kafka-python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.errors import BrokerError
from partwright.kafka.topics import admin_client, partition_count_of

if TYPE_CHECKING:
    from partwright._check import Json

__all__ = ["consumer_group"]

_TIMEOUT_S = 5.0


def consumer_group(bootstrap: str, group: str, *, timeout: float = _TIMEOUT_S) -> Json:
    """A stable group of the classic protocol, as `partwright.assign` takes one.

    Args:
        bootstrap: Where the broker is, `host:port`.
        group: The group's id.
        timeout: Seconds, for reaching the broker and again for each of its answers.

    Returns:
        `assignor` (the one that the group runs), `topics` (those that members subscribe to or read, as far as they
        exist) and `members`, in the coordinator's order: `id`, `topics`, `owned` (what it reads), `generation`, the
        same for all, `instance_id` and `rack`.

    Raises:
        BrokerError: No Kafka answers; there is no such group, it has no members, it is rebalancing, its members are no
            consumers, or it is of the protocol of KIP-848, which this client does not describe.

    Examples:
        >>> consumer_group("127.0.0.1:9092", "billing")["assignor"]
        'range'
    """
    with admin_client(bootstrap, timeout) as admin:
        found = admin.describe_groups([group])[group]
        members = [_member(each) for each in _described(found, group, bootstrap)]
        names = sorted({topic for each in members for topic in (*each["topics"], *each["owned"])})
        counts = {name: partition_count_of(admin, name) for name in names}
    topics = {name: count for name, count in counts.items() if count is not None}
    return {"assignor": found["protocol_data"], "topics": topics, "members": members}


def _described(found: Json, group: str, bootstrap: str) -> list[Json]:
    who = f"the group {group!r} at {bootstrap}"
    if "not a classic group" in str(found["error"]):
        raise BrokerError(
            f"{who} is of the protocol of KIP-848: give what kafka-consumer-groups.sh --members --verbose says of it"
        )
    if found["error"] or found["group_state"] == "Dead":
        raise BrokerError(f"there is no group {group!r} at {bootstrap}: check its id")
    if found["group_state"] == "Empty":
        raise BrokerError(f"{who} has no members: there is nobody to assign anything to")
    if found["group_state"] != "Stable":
        raise BrokerError(
            f"{who} is rebalancing (its state is {found['group_state']}): ask again in a moment"
        )
    members: list[Json] = found["members"]
    if found["protocol_type"] != "consumer" or not all(
        isinstance(each[part], dict) for each in members for part in ("member_metadata", "member_assignment")
    ):
        raise BrokerError(f"{who} is one of {found['protocol_type'] or 'no protocol'}, and not of consumers")
    return members


def _member(told: Json) -> Json:
    assigned = told["member_assignment"].get("assigned_partitions") or ()
    return {
        "id": told["member_id"],
        "topics": told["member_metadata"]["topics"],
        "owned": {each["topic"]: each["partitions"] for each in assigned},
        # A stable group's members all have what they have of one generation, which this answer does not tell.
        "generation": 1,
        "instance_id": told["group_instance_id"],
        "rack": told["member_metadata"].get("rack_id") or None,
    }
