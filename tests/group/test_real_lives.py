"""Lives of whole real consumers: the recorded ones reach the corners, and ours are set next to them and to random ones.

The seed is printed with a failure: PARTWRIGHT_SEED repeats it, and PARTWRIGHT_CASES asks more lives a protocol.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

FOLDER = Path(__file__).parents[1] / "golden" / "groups"
PROTOCOLS = ("classic", "consumer")
OLDER = {"4.0": "4.0.2", "4.1": "4.1.1", "4.2": "4.2.0", "4.3": "4.3.1"}
"""The older consumers of KIP-848, with the releases that were asked."""
KINDS = (*PROTOCOLS, *(f"consumer-{kafka}" for kafka in OLDER))
CASES, OLDER_CASES = 60, 12
RIGHT = 0.95
"""The share of random lives that must be right. 98.5 % is the goal: 543 of 550 classic lives and 992 of 1,000 of
KIP-848's are right. If 13 lives of 1,000 are wrong, more than 3 of 60 are so in 0.8 % of all samples, by the binomial
distribution."""
OLDER_WRONG = 3
"""So many of the few lives of an older version may always be wrong. If four lives of a hundred are, as of 150 lives of
4.2, more than 3 of 12 are so in 0.1 % of all samples; a play of 4.4 would be wrong for most of the lives."""
DIFFERENT: dict[str, set[str]] = {
    "consumer-4.0": {"0:consumer:4"},
    "consumer-4.1": {"0:consumer:4"},
    "consumer-4.2": {"0:consumer:18"},
    "consumer-4.3": {"new partitions, and a topic that is made, uniform"},
}
"""The recorded lives that ours differ from by more than a poll interval. Strike out each that becomes right.

`0:consumer:4`: c1's timer of automatic commits ends its wait inside `poll()` at 46,368 ms in our life, 3 ms after the
answer with an assignment, which that round takes up. The real one takes it up in its next call, at 51,355 ms, and so
does ours if `auto.commit.interval.ms` is 10 ms shorter."""


def recorded(kind: str) -> dict[str, dict[str, Any]]:
    """A golden file's lives by their names, with scripts that name the client."""
    lines = (FOLDER / f"lives-{kind}.jsonl").read_text(encoding="ascii").splitlines()[1:]
    return {life["name"]: {**life, "script": of(kind, life["script"])} for life in map(json.loads, lines)}


def of(kind: str, script: dict[str, Any]) -> dict[str, Any]:
    """A script whose members are the consumers of a kind of life."""
    _, _, kafka = kind.partition("-")
    return {**script, "client": f"java@{kafka}"} if kafka else script


def first_read(life: dict[str, Any], name: str) -> int:
    """When a member first reads anything."""
    found: int = next(at_ms for at_ms, _, _, reader in life["changes"] if reader == name)
    return found


def played(
    lives: ModuleType, script: dict[str, Any], life: dict[str, Any]
) -> dict[tuple[str, int], list[Any]]:
    """By partition, who reads it from when on in our life of a script."""
    changes = []
    asked = lives.with_ids(script, life)
    race = {"race": asked.pop("race")} if "race" in asked else {}
    for row in pw.group.play(asked, **race).ownership().to_pylist():
        place = (row["topic"], row["partition"])
        changes.append((row["from_ms"], *place, row["member"]))
        if row["to_ms"] is not None:
            changes.append((row["to_ms"], *place, None))
    # Who takes a partition at the instant at which another one gives it up reads it from then on.
    changes.sort(key=lambda change: (change[0], change[3] is not None))
    found: dict[tuple[str, int], list[Any]] = lives.readers(changes)
    return found


def wrong(lives: ModuleType, asked: Iterable[tuple[str, dict[str, Any], dict[str, Any]]]) -> dict[str, str]:
    """By the name of each life that ours is not like, the first moment of which they say something else."""
    found = {}
    for name, script, life in asked:
        differs = lives.disagreement(script, lives.readers(life["changes"]), played(lives, script, life))
        if differs:
            found[name] = differs
    return found


@pytest.mark.parametrize(
    ("name", "took_ms"),
    [
        ("range", {5000: 8100, 10_000: 16_190}),
        ("cooperative-sticky", {5000: 33_090, 10_000: 66_180}),
        ("uniform", {5000: 18_090, 10_000: 26_180}),
    ],
)
def test_how_long_a_joiner_waits_beside_a_busy_member(name: str, took_ms: dict[int, int]) -> None:
    lives = recorded("consumer" if name == "uniform" else "classic")
    for poll_ms, took in took_ms.items():
        life = lives[f"a joiner beside 1 busy members that poll every {poll_ms} ms, {name}"]
        assert first_read(life, "j") - 60_000 == took


def test_who_polls_more_seldom_than_its_session_gets_in_when_another_joins() -> None:
    life = recorded("classic")["polls more seldom than its session, until another joins, range"]
    assert min(at_ms for at_ms, _, _, reader in life["changes"] if reader) > 840_000
    assert len([at_ms for at_ms, _ in life["generations"] if at_ms < 840_000]) > 20


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_who_polls_more_seldom_than_max_poll_interval_reads_and_leaves_by_turns(protocol: str) -> None:
    assignor = "uniform" if protocol == "consumer" else "range"
    life = recorded(protocol)[f"polls more seldom than max.poll.interval.ms, idle for long, {assignor}"]
    turns = [reader for _, _, partition, reader in life["changes"] if partition == 0]
    assert turns[:6] == ["c1", None] * 3
    assert not life["failures"]


def test_the_recorded_lives_end_with_errors_where_kafka_ends_them() -> None:
    ended = {
        error
        for protocol in PROTOCOLS
        for life in recorded(protocol).values()
        for *_, error in life["failures"]
    }
    assert ended >= {
        "FencedInstanceIdException",
        "UnreleasedInstanceIdException",
        "GroupMaxSizeReachedException",
    }
    assert sum(len(recorded(protocol)) for protocol in PROTOCOLS) >= 150


def test_two_lives_are_the_same_within_a_poll_interval(reference: Callable[[str], ModuleType]) -> None:
    lives = reference("lives")
    script = {"poll_ms": 500, "until_ms": 10_000, "events": [{"at_ms": 0, "join": "c1"}]}
    real = lives.readers([(1000, "t", 0, "c1"), (5000, "t", 0, None), (5020, "t", 0, "c2")])
    near = lives.readers([(1600, "t", 0, "c1"), (4420, "t", 0, "c2")])
    assert lives.disagreement(script, real, near) == ""
    for other, words in [
        ([(1601, "t", 0, "c1"), (5000, "t", 0, "c2")], "c1 reads t-0 at 1000 ms"),
        ([(1000, "t", 0, "c2"), (5000, "t", 0, "c1")], "c1 reads t-0 at 1000 ms"),
        (
            [(1000, "t", 0, "c1"), (3000, "t", 0, "c3"), (3010, "t", 0, "c1"), (5000, "t", 0, "c2")],
            "c3 does not read t-0",
        ),
        ([], "c1 reads t-0 at 1000 ms"),
    ]:
        assert words in lives.disagreement(script, real, lives.readers(other))


@pytest.mark.parametrize(
    ("kafka", "took_ms"),
    [
        ("4.0", {500: 5809, 5000: 18_090, 10_000: 16_180}),
        ("4.1", {500: 5809, 5000: 18_090, 10_000: 16_180}),
        ("4.2", {500: 5309, 5000: 13_090, 10_000: 26_180}),
        ("4.3", {500: 5809, 5000: 28_090, 10_000: 36_180}),
    ],
)
def test_how_long_a_joiner_waits_beside_a_busy_member_of_an_older_version(
    kafka: str, took_ms: dict[int, int]
) -> None:
    lives = recorded(f"consumer-{kafka}")
    for poll_ms, took in took_ms.items():
        life = lives[f"a joiner beside 1 busy members that poll every {poll_ms} ms, uniform"]
        assert first_read(life, "j") - 60_000 == took
        ours = pw.group.play(life["script"]).ownership().to_pylist()
        first_ms = min(row["from_ms"] for row in ours if row["member"] == "j")
        assert abs(first_ms - 60_000 - took) <= 100


@pytest.mark.parametrize("kind", KINDS)
def test_the_recorded_lives_are_ours_but_for_those_that_are_known_to_differ(
    kind: str, reference: Callable[[str], ModuleType]
) -> None:
    asked = [(name, life["script"], life) for name, life in recorded(kind).items()]
    differ = wrong(reference("lives"), asked)
    words = "\n".join(f"{name}: {how}" for name, how in differ.items())
    assert set(differ) == DIFFERENT.get(kind, set()), words


@pytest.mark.reference
@pytest.mark.parametrize("kind", KINDS)
def test_random_lives_are_those_of_real_consumers(
    kind: str,
    reference: Callable[[str], ModuleType],
    tmp_path: Path,
    seed: int,
    cases: Callable[[int], int],
) -> None:
    lives = reference("lives")
    _, _, kafka = kind.partition("-")
    count, may_be_wrong = (OLDER_CASES, OLDER_WRONG) if kafka else (CASES, 0)
    asked = list(lives.questions(kind, seed, cases(count)))
    provenance, answers = lives.lives(
        lives.build(tmp_path, kafka), [question["script"] for question in asked]
    )
    assert provenance["version"] == OLDER.get(kafka, "4.4.0")
    told = [(each["name"], of(kind, each["script"]), life) for each, life in zip(asked, answers, strict=True)]
    differ = wrong(lives, told)
    words = "\n".join(f"{name}: {how}" for name, how in differ.items())
    assert len(differ) <= max(may_be_wrong, len(asked) * (1 - RIGHT)), words


@pytest.mark.reference
def test_a_life_is_the_same_each_time(reference: Callable[[str], ModuleType], tmp_path: Path) -> None:
    """It depends on the script alone: not on the machine, the day or the scripts before."""
    lives = reference("lives")
    scripts = [question["script"] for protocol in PROTOCOLS for question in lives.questions(protocol, 1, 6)]
    command = lives.build(tmp_path)
    _, answers = lives.lives(command, scripts)
    _, again = lives.lives(command, scripts[::-1])
    assert again[::-1] == answers


@pytest.mark.reference
def test_the_classic_protocols_members_of_3_9_live_as_todays(
    reference: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    """They have no `CloseOptions`, and read on what they have unsubscribed from: such scripts are left out."""
    lives = reference("lives")
    newer = ('"operation"', '"subscribe"')
    kept = [
        life
        for life in recorded("classic").values()
        if not any(word in json.dumps(life["script"]) for word in newer)
    ]
    provenance, answers = lives.lives(lives.build(tmp_path, "3.9"), [life["script"] for life in kept])
    assert provenance["version"] == "3.9.2"
    assert [answer["changes"] for answer in answers] == [life["changes"] for life in kept]
