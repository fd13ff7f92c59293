"""Groups of several clients under the released clients' own leaders, which get the bytes that members send."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright.assignors.mixed.clients import (
    DEFAULT_ASSIGNORS,
    answering_version,
    assignors_of,
    client_of,
    versions_of,
)
from partwright.assignors.mixed.group import Mixed, MixedMember
from partwright.assignors.mixed.leaders_view import view_member
from partwright.assignors.mixed.subscription import member_metadata

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from partwright.assignors.mixed.group import Rebalanced

pytestmark = [pytest.mark.reference, pytest.mark.go, pytest.mark.compiler]
CASES = 200
PROTOCOLS = ("range", "roundrobin", "sticky", "cooperative-sticky")
RACKS = ("r1", "r2", "r3")
HAVE_RACKS = 0.5
LEADERS = (
    "librdkafka",
    "librdkafka@2.6.0",
    "librdkafka@2.1",
    "librdkafka@1.6",
    "sarama",
    "franz-go",
    "kafka-python",
    "kafka-python@2.2",
    "aiokafka",
)


def drawn(draw: random.Random, assignor: str, leader: str) -> Mixed:
    """A group that another client may have led before, so that its members own partitions.

    Under librdkafka there may be racks; only librdkafka and franz-go's balancers use them.
    """
    topics = {f"t{number}": draw.randint(1, 5) for number in range(draw.randint(1, 3))}
    able = [client for client in DEFAULT_ASSIGNORS if assignor in assignors_of(client)]
    able += [client + version for client in able for version in versions_of(client, assignor)]
    has_racks = leader.startswith("librdkafka") and draw.random() < HAVE_RACKS
    clients = [leader, *(draw.choice(able) for _ in range(draw.randint(1, 3)))]
    members = [
        MixedMember.of(
            {
                "id": f"m{number}-{draw.randrange(1 << 16):04x}",
                "topics": draw.sample(list(topics), draw.randint(1, len(topics))),
                "client": client,
                "rack": draw.choice([None, *RACKS]) if has_racks else None,
            }
        )
        for number, client in enumerate(clients)
    ]
    # A leader does not ask the brokers for topics that nobody reads.
    read = {topic for member in members for topic in member.held.topics}
    topics = {topic: count for topic, count in topics.items() if topic in read}
    racks = {topic: [draw.sample(RACKS, 2) for _ in range(count)] for topic, count in topics.items()}
    group = Mixed(topics, tuple(members), assignor, racks if has_racks else None)
    for _ in range(draw.randint(0, 2)):
        before, version = client_of(draw.choice(clients), "leader")
        try:
            group = group.after(group.rebalance(before, version), before)
        except pw.PartwrightError:
            continue
    return group


def question(group: Mixed, name: str) -> dict[str, Any]:
    members = [
        {
            "id": member.id,
            "topics": list(member.held.topics),
            "metadata": member_metadata(member.client, group.assignor, member.held, member.version).hex(),
        }
        for member in group.members
    ]
    racks = {} if group.racks is None else {"racks": group.racks}
    return {"assignor": name, "topics": dict(group.topics), "members": members, **racks}


def kept(group: Mixed, client: str, assignment: dict[str, list[Any]]) -> int:
    """How many partitions stay where the leader believes that they are."""
    owned = {}
    for member in group.members:
        metadata = member_metadata(member.client, group.assignor, member.held, member.version)
        seen = view_member(client, group.assignor, member.id, metadata)
        claim = seen.claim if seen is not None else None
        if client == "franz-go" and claim is not None and claim.generation < 0:
            claim = None
        owned[member.id] = {
            (topic, each) for topic, numbers in (claim.owned if claim else ()) for each in numbers
        }
    return sum(tuple(pair) in owned[name] for name, pairs in assignment.items() for pair in pairs)


def rebalanced(group: Mixed, client: str) -> Rebalanced | None:
    """Our leader's answer; None if it fails."""
    with contextlib.suppress(pw.PartwrightError):
        return group.rebalance(*client_of(client, "leader"))
    return None


def command_of(builds: ModuleType, folder: Path, leader: str) -> list[str]:
    """The command that asks a leader's own assignors."""
    client, _, version = leader.partition("@")
    if client == "librdkafka":
        return [*builds.build_librdkafka_assignors(folder, version), client]
    if client in ("sarama", "franz-go"):
        return [*builds.build_go(folder), "groups", client]
    if version:
        return [*builds.build_python_assignors(folder, "2.2.21"), "kafka-python-2"]
    return [*builds.build_python_assignors(folder), client]


@pytest.mark.parametrize("leader", LEADERS)
def test_a_leader_reads_what_members_of_any_client_send(
    leader: str,
    reference: Callable[[str], ModuleType],
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    cases: Callable[[int], int],
) -> None:
    builds, asking = reference("builds"), reference("asking")
    command = command_of(builds, tmp_path_factory.mktemp("leaders"), leader)
    draw = random.Random(f"{seed}:{leader}")
    client, version = client_of(leader, "leader")
    answered = failed = 0
    for assignor in PROTOCOLS:
        if assignor not in assignors_of(client) or answering_version(client, assignor, version) is None:
            continue
        name = f"{client}:{assignor}"
        groups = [drawn(draw, assignor, leader) for _ in range(cases(CASES))]
        _, answers = asking.ask(command, [question(group, name) for group in groups])
        for group, answer in zip(groups, answers, strict=True):
            ours = rebalanced(group, leader)
            assert (ours is None) == ("error" in answer), (question(group, name), ours, answer)
            if ours is None:
                failed += 1
                continue
            answered += 1
            lists = {member: [list(pair) for pair in pairs] for member, pairs in ours.assignment.items()}
            theirs = {member: [] for member in lists} | answer["assignment"]
            if ours.chance is None:
                assert lists == theirs, question(group, name)
                continue
            if "sizes" in ours.chance.same:
                assert sorted(map(len, lists.values())) == sorted(map(len, theirs.values())), question(
                    group, name
                )
            if "moves" in ours.chance.same:
                assert kept(group, client, lists) == kept(group, client, theirs), question(group, name)
    assert answered > failed
