"""Groups of several clients under the released clients' own leaders, which are given the bytes that members send."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright.assignors.mixed.believed import believed
from partwright.assignors.mixed.clients import DEFAULT_ASSIGNORS, assignors_of
from partwright.assignors.mixed.group import Mixed, MixedMember
from partwright.assignors.mixed.sent import sent

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from partwright.assignors.mixed.group import Rebalanced

pytestmark = [pytest.mark.slow, pytest.mark.reference]
CASES = 200
PROTOCOLS = ("range", "roundrobin", "sticky", "cooperative-sticky")


def drawn(draw: random.Random, assignor: str, leader: str) -> Mixed:
    """A group that some other client may have led before, so that its members own partitions."""
    topics = {f"t{number}": draw.randint(1, 5) for number in range(draw.randint(1, 3))}
    able = [client for client in DEFAULT_ASSIGNORS if assignor in assignors_of(client)]
    clients = [leader, *(draw.choice(able) for _ in range(draw.randint(1, 3)))]
    members = [
        MixedMember.of(
            {
                "id": f"m{number}-{draw.randrange(1 << 16):04x}",
                "topics": draw.sample(list(topics), draw.randint(1, len(topics))),
                "client": client,
            }
        )
        for number, client in enumerate(clients)
    ]
    # A leader does not ask the brokers for topics that nobody reads.
    read = {topic for member in members for topic in member.held.topics}
    topics = {topic: count for topic, count in topics.items() if topic in read}
    group = Mixed(topics, tuple(members), assignor)
    for _ in range(draw.randint(0, 2)):
        before = draw.choice(clients)
        try:
            group = group.after(group.rebalance(before), before)
        except pw.PartwrightError:
            continue
    return group


def question(group: Mixed, name: str) -> dict[str, Any]:
    members = [
        {
            "id": member.id,
            "topics": list(member.held.topics),
            "metadata": sent(member.client, group.assignor, member.held).hex(),
        }
        for member in group.members
    ]
    return {"assignor": name, "topics": dict(group.topics), "members": members}


def kept(group: Mixed, client: str, assignment: dict[str, list[Any]]) -> int:
    """How many partitions stay where the leader believes them to be."""
    owned = {}
    for member in group.members:
        seen = believed(client, group.assignor, member.id, sent(member.client, group.assignor, member.held))
        claim = seen.claim if seen is not None else None
        if client == "franz-go" and claim is not None and claim.generation < 0:
            claim = None
        owned[member.id] = {
            (topic, each) for topic, numbers in (claim.owned if claim else ()) for each in numbers
        }
    return sum(tuple(pair) in owned[name] for name, pairs in assignment.items() for pair in pairs)


def rebalanced(group: Mixed, client: str) -> Rebalanced | None:
    """What our leader gives; None where it fails."""
    with contextlib.suppress(pw.PartwrightError):
        return group.rebalance(client)
    return None


@pytest.mark.parametrize("client", ["sarama", "franz-go", "kafka-python", "aiokafka"])
def test_a_leader_reads_what_members_of_any_client_send(
    client: str,
    reference: Callable[[str], ModuleType],
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    cases: Callable[[int], int],
) -> None:
    builds, asking = reference("builds"), reference("asking")
    folder = tmp_path_factory.mktemp("leaders")
    if client in ("sarama", "franz-go"):
        command = [*builds.build_go(folder), "groups", client]
    else:
        command = [*builds.build_python_assignors(folder), client]
    draw = random.Random(f"{seed}:{client}")
    answered = failed = 0
    for assignor in PROTOCOLS:
        if assignor not in assignors_of(client):
            continue
        name = f"{client}:{assignor}"
        groups = [drawn(draw, assignor, client) for _ in range(cases(CASES))]
        _, answers = asking.ask(command, [question(group, name) for group in groups])
        for group, answer in zip(groups, answers, strict=True):
            ours = rebalanced(group, client)
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
