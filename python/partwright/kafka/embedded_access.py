"""Users and rights of a running embedded Kafka, set by an admin client over its internal listener."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from partwright._check import unknown
from partwright.errors import BrokerError
from partwright.kafka.client import admin_client, confluent_kafka
from partwright.kafka.connection import configured
from partwright.kafka.errors import try_again

if TYPE_CHECKING:
    from concurrent.futures import Future

    from confluent_kafka.admin import AclBinding, AclBindingFilter

    from partwright.kafka.client import Admin

_TIMEOUT_S = 10.0
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
    kafka = confluent_kafka().admin
    hashed = kafka.ScramCredentialInfo(kafka.ScramMechanism[mechanism.replace("-", "_")], _ITERATIONS)
    users = [
        kafka.UserScramCredentialUpsertion(user, hashed, password.encode())
        for user, password in passwords.items()
    ]
    with admin_client(configured({}, bootstrap), _TIMEOUT_S) as admin:
        answers = admin.client.alter_user_scram_credentials(users, request_timeout=_TIMEOUT_S)
        for answer in answers.values():
            admin.answer(answer, "ALTER")


def can_log_in(settings: Mapping[str, str], timeout: float) -> bool:
    """Whether a broker answers to a client of these settings.

    Args:
        settings: librdkafka's settings.
        timeout: Seconds until it must have answered.
    """
    kafka = confluent_kafka()
    # librdkafka tries a refused login again, and would write each on stderr.
    with kafka.admin.AdminClient({**settings, "log_level": 0}) as client:
        try:
            client.list_topics(timeout=timeout)
        except kafka.KafkaException:
            return False
    return True


class Right(NamedTuple):
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

    def checked(self) -> tuple[str, str, str, str, str, str]:
        """In librdkafka's terms: resource type, name, pattern, principal, host and operation.

        Raises:
            PartwrightError: There is no such operation, resource type or pattern.

        Examples:
            >>> Right("alice", "read", "cluster", "kafka-cluster", "literal").checked()
            ('BROKER', 'kafka-cluster', 'LITERAL', 'User:alice', '*', 'READ')
        """
        for value, what, names in (
            (self.operation, "operation", _OPERATIONS),
            (self.resource_type, "resource type", tuple(_RESOURCES)),
            (self.pattern, "pattern", _PATTERNS),
        ):
            if str(value).upper() not in names:
                raise unknown(value, what, names, "ACLs")
        resource, who = _RESOURCES[self.resource_type.upper()], f"User:{self.user}"
        return resource, self.name, self.pattern.upper(), who, _EVERYWHERE, self.operation.upper()


def add_acl(brokers: Sequence[str], right: Right, permission: str) -> None:
    """Allow or deny a user something, and return when that applies on every broker.

    Args:
        brokers: Where each broker can be reached as a super user.
        right: What, and whom.
        permission: `ALLOW`; or `DENY`, which overrides whatever is allowed.

    Raises:
        PartwrightError: There is no such operation, resource type or pattern.
        BrokerError: The broker has no authorizer, or does not answer.
    """
    acl = confluent_kafka().admin.AclBinding(*right.checked(), permission)
    with admin_client(configured({}, ",".join(brokers)), _TIMEOUT_S) as admin:
        for answer in admin.client.create_acls([acl], request_timeout=_TIMEOUT_S).values():
            _refuse_without_acls(admin, answer)
            admin.answer(answer, "ALTER")
    _wait_until(brokers, right, lambda acls: acl in acls)


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
    removed = 0
    with admin_client(configured({}, ",".join(brokers)), _TIMEOUT_S) as admin:
        for answer in admin.client.delete_acls([_filter(right)], request_timeout=_TIMEOUT_S).values():
            _refuse_without_acls(admin, answer)
            removed += len(admin.answer(answer, "ALTER"))
    _wait_until(brokers, right, operator.not_)
    return removed


def _filter(right: Right) -> AclBindingFilter:
    acls: AclBindingFilter = confluent_kafka().admin.AclBindingFilter(*right.checked(), "ANY")
    return acls


def _refuse_without_acls(admin: Admin, answer: Future[Any]) -> None:
    error = admin.error(answer)
    if error is not None and error.name() == "SECURITY_DISABLED":
        raise BrokerError("this Kafka has no ACLs: start one with security='ACL'")


def _wait_until(brokers: Sequence[str], right: Right, so: Callable[[Sequence[AclBinding]], bool]) -> None:
    """Wait until the brokers have the state of a right from their controller."""
    for broker in brokers:
        # The client asks only the broker to which it is connected, although it learns of the others.
        with admin_client(configured({}, broker), _TIMEOUT_S) as admin:

            def is_so(admin: Admin = admin) -> bool:
                answer = admin.client.describe_acls(_filter(right), request_timeout=_TIMEOUT_S)
                return so(admin.answer(answer))

            if not try_again(is_so, _TIMEOUT_S, answer=operator.not_):
                raise BrokerError(
                    f"the broker took the ACL of {right.user!r}, but does not show it: see its log"
                )
