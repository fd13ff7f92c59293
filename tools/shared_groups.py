"""Writes the tables of docs/shared-groups.md: random groups of two clients, and what moves when the leader changes.

`python tools/shared_groups.py` prints them; `--groups 300 --seed 7` are the defaults. Each group has 2 to 6 members and
1 to 4 topics. A member of the first client leads until the group rests. Then a member of the second client leads,
and nothing else changes.
"""

# ruff: noqa: INP001, S311, T201
from __future__ import annotations

import argparse
import random
from typing import TYPE_CHECKING

from partwright.assignors.mixed.clients import DEFAULT_ASSIGNORS, assignors_of
from partwright.assignors.mixed.group import Mixed, MixedMember
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Iterator

PROTOCOLS = ("range", "roundrobin", "sticky", "cooperative-sticky")
MOST_ROUNDS = 30
AT_ONCE = 2
"""So many rebalances a cooperative group takes anyway: one to give up, one to take."""
SMALL = 0.01
"""A smaller share is not rounded to nothing."""
EQUAL = 0.7
"""How likely a member subscribes to all topics."""


def drawn(draw: random.Random, one: str, other: str, assignor: str) -> Mixed:
    """A group that nobody has led yet; each client has at least one member, and the first member the first client."""
    topics = {f"t{number}": draw.randint(1, 12) for number in range(draw.randint(1, 4))}
    clients = [one, other, *(draw.choice([one, other]) for _ in range(draw.randint(0, 4)))]
    members = []
    for number, client in enumerate(clients):
        read = (
            list(topics) if draw.random() < EQUAL else draw.sample(list(topics), draw.randint(1, len(topics)))
        )
        members.append(
            MixedMember.of(
                {"id": f"m{number}-{draw.randrange(1 << 32):08x}", "topics": read, "client": client}
            )
        )
    return Mixed(topics, tuple(members), assignor)


def rested(group: Mixed, leader: str) -> tuple[Mixed, int]:
    """The group at rest under a leader, and the number of rebalances until then."""
    for rounds in range(1, MOST_ROUNDS + 1):
        given = group.rebalance(leader)
        must_revoke = group.must_revoke(given)
        group = group.after(given, leader)
        if not must_revoke:
            return group, rounds
    return group, MOST_ROUNDS


def cell(assignor: str, one: str, other: str, groups: int, seed: int) -> str:
    """The results of groups of two clients."""
    draw = random.Random(f"{assignor} {one} {other} {seed}")
    moved = partitions = failed = most_rounds = 0
    for _ in range(groups):
        group = drawn(draw, one, other, assignor)
        try:
            group, _ = rested(group, one)
            before = group.owners
            group, rounds = rested(group, other)
        except PartwrightError:
            failed += 1
            continue
        after = group.owners
        partitions += len(before)
        moved += sum(after.get(pair) != member for pair, member in before.items())
        most_rounds = max(most_rounds, rounds)
    if failed == groups:
        return "fails"
    share = f"{moved / partitions:.0%}" if moved / max(partitions, 1) >= SMALL else f"under {SMALL:.0%}"
    said = f"{share} move" if moved else "fine"
    if failed:
        said += f", {failed / groups:.0%} of the groups fail"
    return said if most_rounds <= AT_ONCE else f"{said}, up to {most_rounds} rebalances"


def rows(assignor: str, groups: int, seed: int) -> Iterator[list[str]]:
    """The rows of one assignor's table: for each client that leads first, a cell for each that leads next."""
    clients = [client for client in DEFAULT_ASSIGNORS if assignor in assignors_of(client)]
    yield [f"`{assignor}`: led by ↓, then by →", *clients]
    for one in clients:
        yield [one, *("" if one == other else cell(assignor, one, other, groups, seed) for other in clients)]


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    for assignor in PROTOCOLS:
        head, *body = rows(assignor, given.groups, given.seed)
        print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
        for row in body:
            print(f"| {' | '.join(row)} |")
        print()


if __name__ == "__main__":
    main()
