"""Users and rights of a running embedded Kafka, set by an admin client over its internal listener."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright._check import unknown
from partwright.errors import BrokerError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from confluent_kafka.admin import (
        AclBinding,
        AclBindingFilter,
        AdminClient,
        UserScramCredentialAlteration,
    )

__all__ = ["Right", "add_acl", "add_scram_users", "can_log_in", "remove_acls"]

_TIMEOUT_S = 10.0
_POLL_S = 0.02
# Kafka's least, RFC 7677's too: who is logged in must not wait for it.
_ITERATIONS = 4096
# librdkafka's name for each of Kafka's resource types.
_RESOURCES = {"TOPIC": "TOPIC", "GROUP": "GROUP", "CLUSTER": "BROKER", "TRANSACTIONAL_ID": "TRANSACTIONAL_ID"}
_OPERATIONS = (
    *("ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION"),
    *("DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE"),
)
_PATTERNS = ("LITERAL", "PREFIXED")
# ACLs may be of one host; these hold for all.
_EVERYWHERE = "*"


def add_scram_users(bootstrap: str, mechanism: str, passwords: Mapping[str, str]) -> None:
    """Give users their passwords, which the broker keeps salted and hashed (KIP-554).

    The format command takes them too, but as arguments, which all users of the machine see.

    Args:
        bootstrap: Where the broker can be reached without a name.
        mechanism: `SCRAM-SHA-256` or `SCRAM-SHA-512`.
        passwords: The users' passwords by their names.

    Raises:
        MissingExtraError: confluent-kafka is missing.
        BrokerError: The broker refuses, or does not answer.
    """
    with _admin(bootstrap) as admin:
        from confluent_kafka.admin import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

        hashed = ScramCredentialInfo(ScramMechanism[mechanism.replace("-", "_")], _ITERATIONS)
        users: list[UserScramCredentialAlteration] = [
            UserScramCredentialUpsertion(user, hashed, password.encode())
            for user, password in passwords.items()
        ]
        asked = admin.alter_user_scram_credentials(users, request_timeout=_TIMEOUT_S)
        for answer in asked.values():
            answer.result(_TIMEOUT_S)


def can_log_in(settings: Mapping[str, str], timeout: float) -> bool:
    """Whether a broker answers to a client of these settings.

    Args:
        settings: librdkafka's settings.
        timeout: Seconds until it must have answered.
    """
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    # librdkafka tries a refused login again, and would write each on stderr.
    with AdminClient({**settings, "log_level": 0}) as client:
        try:
            client.list_topics(timeout=timeout)
        except KafkaException:
            return False
    return True


@dataclass(frozen=True)
class Right:
    """Something that a user may be allowed or denied; all but the names in capital letters or not.

    Attributes:
        user: The user's name.
        operation: Kafka's name of an operation, such as `READ`.
        resource_type: `topic`, `group`, `cluster` or `transactional_id`.
        name: A name, such as a topic's; `*` for all, and `kafka-cluster` for the cluster.
        pattern: `literal`, or `prefixed` for all whose names begin with `name`.
    """

    user: str
    operation: str
    resource_type: str
    name: str
    pattern: str

    def checked(self) -> tuple[str, str, str, str, str]:
        """In librdkafka's terms: resource type, name, pattern, principal and operation.

        Raises:
            PartwrightError: There is no such operation, resource type or pattern.

        Examples:
            >>> Right("alice", "read", "cluster", "kafka-cluster", "literal").checked()
            ('BROKER', 'kafka-cluster', 'LITERAL', 'User:alice', 'READ')
        """
        for given, what, names in (
            (self.operation, "operation", _OPERATIONS),
            (self.resource_type, "resource type", tuple(_RESOURCES)),
            (self.pattern, "pattern", _PATTERNS),
        ):
            if str(given).upper() not in names:
                raise unknown(given, what, names, "ACLs")
        resource = _RESOURCES[self.resource_type.upper()]
        return resource, self.name, self.pattern.upper(), f"User:{self.user}", self.operation.upper()


def add_acl(brokers: Sequence[str], right: Right, *, deny: bool) -> None:
    """Allow or deny a user something, and return when that applies on every broker.

    Args:
        brokers: Where each broker can be reached as a super user.
        right: What, and whom.
        deny: Whether to deny it, which overrides whatever is allowed.

    Raises:
        PartwrightError: There is no such operation, resource type or pattern.
        BrokerError: The broker has no authorizer, or does not answer.
    """
    resource, name, pattern, principal, operation = right.checked()
    with _admin(",".join(brokers)) as admin:
        from confluent_kafka.admin import AclBinding

        permission = "DENY" if deny else "ALLOW"
        acl = AclBinding(resource, name, pattern, principal, _EVERYWHERE, operation, permission)
        for answer in admin.create_acls([acl], request_timeout=_TIMEOUT_S).values():
            answer.result(_TIMEOUT_S)
    _wait_until(brokers, right, lambda found: acl in found)


def remove_acls(brokers: Sequence[str], right: Right) -> int:
    """Take back what a user was allowed or denied, and return when that applies on every broker.

    Args:
        brokers: Where each broker can be reached as a super user.
        right: What, and whom, as it was allowed or denied.

    Returns:
        How many ACLs that were; 0 if there were none.

    Raises:
        PartwrightError: There is no such operation, resource type or pattern.
        BrokerError: The broker has no authorizer, or does not answer.
    """
    with _admin(",".join(brokers)) as admin:
        asked = admin.delete_acls([_filter(right)], request_timeout=_TIMEOUT_S)
        removed = sum(len(answer.result(_TIMEOUT_S)) for answer in asked.values())
    _wait_until(brokers, right, lambda found: not found)
    return removed


def _filter(right: Right) -> AclBindingFilter:
    from confluent_kafka.admin import AclBindingFilter

    resource, name, pattern, principal, operation = right.checked()
    return AclBindingFilter(resource, name, pattern, principal, _EVERYWHERE, operation, "ANY")


def _wait_until(brokers: Sequence[str], right: Right, so: Callable[[Sequence[AclBinding]], bool]) -> None:
    """Wait until the brokers have the state of a right from their controller."""
    deadline = time.monotonic() + _TIMEOUT_S
    for broker in brokers:
        # The client asks only the broker to which it is connected, although it learns of the others.
        with _admin(broker) as admin:
            while not so(admin.describe_acls(_filter(right), request_timeout=_TIMEOUT_S).result(_TIMEOUT_S)):
                if time.monotonic() > deadline:
                    raise BrokerError(
                        f"the broker took the ACL of {right.user!r}, but does not show it: see its log"
                    )
                time.sleep(_POLL_S)


@contextmanager
def _admin(bootstrap: str) -> Iterator[AdminClient]:
    """An admin client for one task, whose refusals are sentences."""
    try:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient
    except ImportError as error:
        raise MissingExtraError("confluent-kafka is missing: pip install 'partwright[kafka]'") from error
    try:
        with AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}) as admin:
            yield admin
    except KafkaException as error:
        refusal = error.args[0]
        if refusal.name() == "SECURITY_DISABLED":
            raise BrokerError("this Kafka has no ACLs: start one with security='ACL'") from error
        raise BrokerError(f"the Kafka at {bootstrap} refused: {refusal.str()}") from error
    except TimeoutError as error:
        raise BrokerError(f"the Kafka at {bootstrap} did not answer in {_TIMEOUT_S:g} s") from error
