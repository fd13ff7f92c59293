"""The description of a group as it is: it must agree with `assign` on the group with one member more or fewer."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright.assignors.current_group import GroupNow, group_now
from partwright.report import document

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]


def words(now: GroupNow) -> str:
    return " ".join(verdict.text for verdict in document(now).verdicts)


PASTE = str(Path(__file__).parent / "consumer_groups" / "modern-4.3.1.txt")


def owning(given: pw.assignors.assignment.Assignment, topics: list[str]) -> list[dict[str, Any]]:
    """The members of an assignment, with the partitions that it gave them."""
    return [
        {"id": member, "topics": topics, "owned": pairs, "generation": 1}
        for member, pairs in given.to_dict().items()
    ]


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky", "server-uniform"])
def test_a_group_at_rest_would_stay_and_its_neighbours_are_what_assign_says(assignor: str, seed: int) -> None:
    drawn = random.Random(seed)
    topics = {f"t{number}": drawn.randint(1, 9) for number in range(3)}
    given = pw.assign(topics, {f"c{number}": list(topics) for number in range(drawn.randint(2, 6))}, assignor)
    members = owning(given, list(topics))
    now = group_now(topics, members, assignor)
    assert (now.would_move, now.unread) == (0, 0), seed
    assert {member: sum(those.values()) for member, those in now.reads.items()} == {
        member: len(pairs) for member, pairs in given.to_dict().items()
    }, seed

    def moves(asked: list[dict[str, Any]]) -> int:
        found = pw.assign(topics, asked, assignor).moved_from(given).to_pylist()
        return sum(each["from"] is not None and each["to"] is not None for each in found)

    joined = [moves([*members, {"id": f"{sign}newcomer", "topics": list(topics)}]) for sign in "!~"]
    assert now.joiner_moves == (min(joined), max(joined)), seed
    left = [moves([each for each in members if each is not gone]) for gone in members]
    assert now.leaver_moves is not None
    assert (now.leaver_moves[0][0], now.leaver_moves[1][0]) == (min(left), max(left)), seed


def test_what_members_own_may_be_pairs_as_json_has_them() -> None:
    members = [{"id": "c1", "topics": ["t"], "owned": [["t", 0], ["t", 1]], "generation": 1}]
    now = group_now({"t": 2}, json.loads(json.dumps(members)), "range")
    assert (now.reads, now.unread) == ({"c1": {"t": 2}}, 0)
    with pytest.raises(
        pw.PartwrightError, match=r"^member 'c1': owned is a list of \[topic, partition\], not"
    ):
        group_now({"t": 2}, [{**members[0], "owned": [["t", 0, 1]]}], "range")


def test_range_is_uneven_over_many_small_topics() -> None:
    topics = {f"t{number}": 1 for number in range(4)}
    given = pw.assign(topics, {"c1": [*topics], "c2": [*topics]}, "range")
    now = group_now(topics, owning(given, [*topics]), "range")
    assert now.idle == ["c2"]
    (why,) = now.uneven
    assert why.startswith("range shares each topic on its own, the first members getting what is left over")
    assert why.endswith("and 4 of 4 topics have fewer partitions than there are members")


def test_who_leaves_may_leave_partitions_without_a_reader() -> None:
    """Nobody else subscribes to their topic, so a count of those that move hides them."""
    members = [
        {"id": "w1", "topics": ["a"], "owned": {"a": [0, 1, 2]}, "generation": 1},
        {"id": "w2", "topics": ["b"], "owned": {"b": [0]}, "generation": 1},
    ]
    now = group_now({"a": 3, "b": 1}, members, "range")
    assert (now.leaver_moves, now.leaver_unread) == (((0, "w1"), (0, "w2")), (3, "w1"))
    assert ", and 3 partitions would have no reader without w1." in words(now)
    gone = [{**members[0], "topics": []}, members[1]]
    now = group_now({"a": 3, "b": 1}, gone, "range")
    assert (now.would_move, now.would_be_unread) == (0, 3)
    assert "A rebalance now would move nothing, and leave 3 partitions without a reader." in words(now)


def test_unequal_subscriptions_and_unread_partitions_are_told() -> None:
    members = [
        {"id": "c1", "topics": ["a", "b"], "owned": {"a": [0, 1, 2]}, "generation": 1},
        {"id": "c2", "topics": ["b"], "owned": {}, "generation": 1},
    ]
    now = group_now({"a": 3, "b": 1}, members, "sticky")
    assert now.unread == 1
    assert "members subscribe to different topics" in now.uneven
    assert group_now({"a": 3, "b": 1}, members[:1], "sticky").leaver_moves is None


def test_the_command_explains_a_paste(command: Command) -> None:
    code, out, _ = command("assign", PASTE, "--assignor", "server-uniform", "--explain")
    assert code == 0
    text = " ".join(out.decode().split())
    assert text.startswith(
        "2 members read 4 partitions each under server-uniform. A rebalance now would move nothing. Read as "
    )
    assert " If one more member joined, " in text
    code, out, _ = command("assign", PASTE, "--assignor", "server-uniform", "--explain", "--json")
    assert json.loads(out)["would_move"] == 0
    code, out, _ = command("assign", PASTE, "--explain", "--json")
    answer = json.loads(out)
    assert (code, answer["assignor"]) == (0, "server-uniform")
    assert (
        "assumed assignor: server-uniform, the default; name another one with --assignor" in answer["assumed"]
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((PASTE, "--explain", "--compare"), "--explain is about one group as it is: leave out --compare"),
        (("g.json", "--explain"), "g.json: no member reports what it owns"),
    ],
)
def test_what_cannot_be_explained_is_refused(
    words: tuple[str, ...], sentence: str, command: Command, own_folder: None
) -> None:
    del own_folder
    Path("g.json").write_text(
        '{"topics": {"t": 1}, "assignor": "range", "members": [{"id": "c", "topics": ["t"]}]}'
    )
    code, out, err = command("assign", *words)
    assert (code, out) == (2, b"")
    assert sentence in err


def test_a_group_of_named_clients_is_explained_only_with_an_assignor(
    command: Command, own_folder: None
) -> None:
    del own_folder
    Path("g.json").write_text(
        '{"topics": {"t": 1}, "members": [{"id": "c", "topics": ["t"], "owned": {"t": [0]}, "client": "sarama"}]}'
    )
    code, _, err = command("assign", "g.json", "--explain")
    assert (code, err) == (2, "partwright: g.json: the group has no assignor: name it (or give --assignor)\n")
    assert command("assign", "g.json", "--explain", "--assignor", "range")[0] == 0
