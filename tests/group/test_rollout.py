"""Rollouts: Kubernetes' rules, what is measured of a roll, and which candidate is taken."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any

import pytest

import partwright as pw
from partwright.documents.rollout import document
from partwright.errors import PartwrightError
from partwright.group import PodConsumers, RolledPods, play
from partwright.group.durations import read_duration
from partwright.group.kubernetes import Deployment, PodTimes, StatefulSet, read_manifest, read_workload
from partwright.group.rollouts.answer import PlaySpread, Rollout, Tried, recommended
from partwright.group.rollouts.candidates import (
    CLIENTS,
    Candidate,
    Client,
    all_candidates,
    client_lines,
    covering,
)
from partwright.group.rollouts.play import Lived, Pods, play_roll, play_surge

SEED = 7
TIMES = PodTimes(start_ms=10_000, ready_ms=5000, stop_ms=2000)


def unavailable(workload: Deployment | StatefulSet) -> tuple[int, int]:
    """The fewest available pods, and the most pods that run, at any instant of a roll."""
    roll = workload.roll(lambda: TIMES)
    edges = []
    for each in roll:
        created = each.starts_at_ms - TIMES.start_ms
        edges += [(each.stops_at_ms, -1, -1), (created, 0, 1), (each.starts_at_ms + TIMES.ready_ms, 1, 0)]
    available = running = workload.replicas
    least, most = available, running
    # What becomes available at an instant is what lets the next pod be stopped at the same one.
    for at_ms in sorted({edge[0] for edge in edges}):
        available += sum(edge[1] for edge in edges if edge[0] == at_ms)
        running += sum(edge[2] for edge in edges if edge[0] == at_ms and edge[1] != -1)
        running -= sum(1 for edge in edges if edge[0] == at_ms and edge[1] == -1)
        least, most = min(least, available), max(most, running)
    return least, most


@pytest.mark.parametrize("replicas", [1, 2, 3, 10, 50])
@pytest.mark.parametrize(("surge", "missing"), [(1, 0), (0, 1), (3, 2), ("25%", "25%"), ("100%", 0)])
def test_a_deployment_keeps_within_its_bounds(replicas: int, surge: int | str, missing: int | str) -> None:
    workload = read_workload("Deployment", replicas, surge, missing)
    least, most = unavailable(workload)
    assert least >= replicas - workload.max_unavailable
    assert most <= replicas + workload.max_surge
    roll = workload.roll(lambda: TIMES)
    assert len(roll) == replicas


@pytest.mark.parametrize("missing", [1, 2, 5])
def test_a_stateful_set_goes_from_the_highest_number_down(missing: int) -> None:
    roll = StatefulSet(5, missing).roll(lambda: TIMES)
    assert [each.pod for each in roll] == [4, 3, 2, 1, 0]
    assert all(each.starts_at_ms - each.stops_at_ms == TIMES.stop_ms + TIMES.start_ms for each in roll)
    # At most so many are away at once.
    away = [sum(a.stops_at_ms <= b.stops_at_ms < a.starts_at_ms + TIMES.ready_ms for a in roll) for b in roll]
    assert max(away) == missing


def test_a_partition_leaves_lower_pods_as_they_are() -> None:
    assert [each.pod for each in StatefulSet(5, partition=3).roll(lambda: TIMES)] == [4, 3]


def test_recreate_stops_all_before_any_starts() -> None:
    roll = read_workload("Deployment", 3, recreate=True).roll(lambda: TIMES)
    assert {(each.stops_at_ms, each.starts_at_ms) for each in roll} == {(0, 12_000)}


@pytest.mark.parametrize(
    ("kind", "replicas", "surge", "missing", "expected"),
    [
        ("Deployment", 10, None, None, (3, 2)),
        ("Deployment", 3, None, None, (1, 0)),
        ("Deployment", 50, "14%", "14%", (7, 7)),
        # Percentages that are rounded to nothing, both: one pod at a time (ResolveFenceposts).
        ("Deployment", 3, "0%", "5%", (0, 1)),
        ("Deployment", 2, 0, "200%", (0, 2)),
        ("StatefulSet", 10, None, "25%", (0, 3)),
        ("StatefulSet", 10, 0, None, (0, 1)),
    ],
)
def test_percentages_are_rounded_as_kubernetes_does(
    kind: str, replicas: int, surge: Any, missing: Any, expected: tuple[int, int]
) -> None:
    workload = read_workload(kind, replicas, surge, missing)
    assert (workload.max_surge, workload.max_unavailable) == expected


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"replicas": None}, "there are no replicas: say how many pods the deployment has"),
        ({"replicas": 0}, "replicas is a whole number from 1 to 10000, not 0"),
        ({"replicas": True}, "replicas is a whole number from 1 to 10000, not True"),
        ({"max_surge": 0, "max_unavailable": 0}, "max surge and max unavailable are both 0"),
        ({"max_surge": "0%", "max_unavailable": "0%"}, "max surge and max unavailable are both 0"),
        ({"max_surge": -1}, "max surge is a number of pods or a percentage, such as 1 or 25%, not -1"),
        ({"max_surge": 1.5}, "max surge is a number of pods or a percentage, such as 1 or 25%, not 1.5"),
        ({"max_unavailable": "many"}, "max unavailable is a number of pods or a percentage"),
        ({"kind": "StatefulSet", "max_surge": 1}, "a StatefulSet has no max surge, and 1 was given"),
        ({"kind": "StatefulSet", "max_unavailable": 0}, "max unavailable of a StatefulSet cannot be 0"),
        ({"kind": "Pod"}, "the kind is Deployment or StatefulSet, not 'Pod'"),
        ({"start": "soon"}, "start is a time such as 20s, 1m30s or 500ms"),
        ({"ready": -1}, "ready is a time from 0 to 24h, not -1"),
        ({"grace": "5s..1s"}, "grace begins with the shorter time, not '5s..1s'"),
        ({"grace": []}, r"grace has no samples: name at least one"),
        ({"start": "25h"}, "start is a time from 0 to 24h, not '25h'"),
        ({"poll": "5m"}, "poll may take 300000 ms, and max.poll.interval.ms is 300000"),
        ({"config": {"group.protocol": "new"}}, "group.protocol is classic or consumer, not 'new'"),
        ({"config": {"no.such": 1}}, "config has no field 'no.such'"),
        ({"topics": {}}, "there are no topics: name at least one"),
        ({"topics": {"t": 0}}, "t"),
        ({"plays": 0}, "plays is a whole number from 1 to 10000, not 0"),
        ({"seed": -1}, "the seed is a whole number from 0"),
        ({"records_per_s": -1}, "records_per_s is a number from 0 to 1e"),
        ({"records_per_s": float("nan")}, "records_per_s is a number from 0 to 1e"),
        ({"subscriptions": [["t"]]}, "there are subscriptions of 1 pod, and 3 replicas"),
        ({"client": "sarma"}, "there is no client 'sarma' in a rollout: did you mean 'sarama'"),
        (
            {"client": ["java", "sarama"]},
            "client is one for all pods or one for each, and there are 2 clients for 3",
        ),
        ({"client": 7}, "client is a name"),
        ({"client": ["java", "java", "kafkajs"]}, "java and kafkajs have no assignor in common"),
        (
            {"client": "sarama", "config": {"group.protocol": "consumer"}},
            "group.protocol is consumer, and sarama does not speak KIP-848",
        ),
        (
            {"client": "librdkafka", "config": {"partition.assignment.strategy": "sticky"}},
            "librdkafka, which has no assignor 'sticky'",
        ),
        ({"manifest": {"kind": "Service"}}, "the manifest has no Deployment and no StatefulSet"),
    ],
)
def test_what_is_refused(given: dict[str, Any], sentence: str) -> None:
    asked = {"topics": {"t": 3}, "replicas": 3, "plays": 1, **given}
    pods, consumers = (
        kind(**{name: asked.pop(name) for name in [*asked] if name in kind.__slots__})
        for kind in (RolledPods, PodConsumers)
    )
    with pytest.raises(PartwrightError, match=re.escape(sentence)) as caught:
        pw.group.rollout(asked.pop("topics"), pods, consumers, **asked)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "low", "high"),
    [
        ("20s", 20_000, 20_000),
        ("1m30s..2m", 90_000, 120_000),
        ("0.5", 500, 500),
        ([3, 1, 2], 1000, 3000),
        (0, 0, 0),
    ],
)
def test_times(given: Any, low: int, high: int) -> None:
    found = read_duration(given, "start")
    drawn = random.Random(1)
    assert (found.low_ms, found.high_ms) == (low, high)
    values = {found.draw(drawn) for _ in range(200)}
    assert min(values) >= low
    assert max(values) <= high
    assert read_duration(str(found), "start") == found


def test_a_static_member_is_unread_while_it_is_away_and_nothing_moves() -> None:
    answer = pw.group.rollout({"t": 12}, RolledPods(4, kind="StatefulSet", start=20, grace=2), plays=3)
    static = next(each for each in answer.tried if each.candidate.static)
    # Each pod is away for 22 s with 3 partitions, and rejoins in two answers of 10 ms.
    assert static.unread_s.median == pytest.approx(4 * 3 * 22, rel=0.01)
    assert static.longest_unread_s.median == pytest.approx(22, rel=0.01)
    assert (static.rebalances, static.moved) == (0, 0)
    assert static.still_s.median < 0.1


@pytest.mark.parametrize(
    ("client", "assignors", "has_static", "speaks_kip_848"),
    [
        ("java", ["range", "roundrobin", "sticky", "cooperative-sticky"], True, True),
        ("librdkafka", ["range", "roundrobin", "cooperative-sticky"], True, True),
        ("librdkafka@1.6", ["range", "roundrobin", "cooperative-sticky"], True, False),
        ("sarama", ["range", "roundrobin", "sticky", "cooperative-sticky"], True, False),
        ("sarama@1.27", ["roundrobin"], False, False),
        ("franz-go", ["range", "roundrobin", "sticky", "cooperative-sticky"], True, True),
        ("kafka-go", ["range", "roundrobin"], False, False),
        ("kafkajs", ["RoundRobinAssigner"], False, False),
        ("kafka-python", ["range", "roundrobin", "sticky", "cooperative-sticky"], True, False),
        ("kafka-python@2.2", ["range", "roundrobin", "sticky"], False, False),
        ("aiokafka", ["range", "roundrobin", "sticky"], True, False),
    ],
)
def test_the_candidates_are_what_the_client_has(
    client: str, assignors: list[str], has_static: bool, speaks_kip_848: bool
) -> None:
    answer = pw.group.rollout({"t": 6}, 3, PodConsumers(client=client), plays=1)
    asked = [each.candidate for each in answer.tried]
    assert sorted({each.assignor for each in asked if each.protocol == "classic"}) == sorted(assignors)
    assert {each.static for each in asked} == ({False, True} if has_static else {False})
    assert any(each.protocol == "consumer" for each in asked) == speaks_kip_848
    said = "; ".join(answer.left_out)
    assert ("KIP-848" in said, "static members" in said) == (not speaks_kip_848, not has_static)
    assert not any(each.failures for each in answer.tried)
    # Of the range of so old a sarama, which is its default, nothing is known.
    assert (answer.today is None) == (client == "sarama@1.27")
    (told,) = answer.settings().items()
    assert told[0] == client
    assert isinstance(told[1], list)
    # Every candidate that is played has its lines under the client's own names, which name no other client's.
    for each in asked:
        lines = client_lines(each, [client])[client]
        assert isinstance(lines, list), lines
    assert answer.to_dict()["clients"] == [client]


def test_a_leader_of_another_client_assigns_in_the_roll() -> None:
    config = {"partition.assignment.strategy": "roundrobin"}
    topics = {"a": 11, "b": 3}
    java, go = (
        pw.group.rollout(topics, 4, PodConsumers(client, config), plays=1) for client in ("java", "kafka-go")
    )
    assert java.today is not None
    assert go.today is not None
    # kafka-go begins each topic at the first member.
    idle = [play(each.tried[each.today].lived[0].played) for each in (java, go)]
    sizes = [sorted(len(pairs) for pairs in next(each.generations())["assignment"].values()) for each in idle]
    assert sizes == [[3, 3, 4, 4], [2, 4, 4, 4]]


def test_older_consumers_of_java_differ_in_kip_848_alone() -> None:
    answers = {
        client: pw.group.rollout({"t": 6}, RolledPods(replicas=3), PodConsumers(client=client), plays=3)
        for client in ("java", "java@4.4", "java@4.1")
    }
    today, newest, older = answers.values()
    assert [each.candidate for each in today.tried] == [each.candidate for each in older.tried]
    assert newest.to_dict() == today.to_dict()
    differ = {
        one.candidate.protocol
        for one, other in zip(today.tried, older.tried, strict=True)
        if one.to_dict() != other.to_dict()
    }
    assert differ == {"consumer"}
    assert older.assumed == today.assumed
    assert list(older.settings()) == ["java@4.1"]


def test_pods_of_several_clients_have_the_candidates_that_all_can_run() -> None:
    clients = ["java", "sarama", "aiokafka"]
    answer = pw.group.rollout({"t": 6}, 3, PodConsumers(client=clients), plays=1)
    labels = [each.candidate.label for each in answer.tried]
    assert labels == [
        f"{name}, {kind} members"
        for kind in ("dynamic", "static")
        for name in ("range", "roundrobin", "sticky")
    ]
    assert answer.left_out == ("KIP-848: sarama and aiokafka do not have it",)
    assert list(answer.settings()) == clients
    script = answer.best.lived[0].played
    assert [event["client"] for event in script["events"][:3]] == clients


def test_a_static_member_needs_a_session_of_its_own_clients_length() -> None:
    pods = RolledPods(3, "StatefulSet", start=10, grace=2)
    for client, session_ms in (("sarama", 30_000), ("aiokafka", 30_000), ("java", None)):
        answer = pw.group.rollout({"t": 6}, pods, PodConsumers(client), plays=1)
        static = [each for each in answer.tried if each.candidate.static]
        assert {each.candidate.config.get("session.timeout.ms") for each in static} <= {session_ms, None}
        assert all(each.rebalances == 0 for each in static)
    lines = client_lines(
        static_range := Candidate("classic", "range", static=True, config={"session.timeout.ms": 30_000})
    )
    assert static_range.static
    assert "config.Consumer.Group.Session.Timeout = 30000 * time.Millisecond" in lines["sarama"]


@pytest.mark.parametrize(
    ("clients", "told"),
    [
        ((), "librdkafka and kafka-python refuse a list of both: stop all consumers of librdkafka and kafka-python"),
        (("librdkafka",), "librdkafka refuses a list of both, cooperative-sticky and range: stop all consumers"),
        (("java", "librdkafka"), "librdkafka refuses a list of both: stop all consumers of librdkafka in between"),
        (("sarama",), "the first with cooperative-sticky and range, the second with cooperative-sticky alone."),
    ],
)  # fmt: skip
def test_how_to_change_over_depends_on_the_client(clients: tuple[str, ...], told: str) -> None:
    tried = tuple(
        Tried(Candidate("classic", name, static=False), Deployment(2), (lived(1, 1),))
        for name in ("range", "cooperative-sticky")
    )
    (step,) = Rollout(tried, 1, 0, Deployment(2), clients=clients).steps()
    assert told in step
    assert ("Change the assignor in two rolls" in step) == (clients != ("librdkafka",))


def test_a_session_that_is_too_short_is_lengthened_for_static_members() -> None:
    client = Client.read({"session.timeout.ms": 10_000})
    assert covering(Candidate("classic", "range", static=True), client, 5000) == Candidate(
        "classic", "range", static=True, config={"session.timeout.ms": 15_000}
    )
    kip_848 = covering(Candidate("consumer", "uniform", static=True), client, 60_000)
    assert kip_848 is not None
    assert kip_848.config == {"group.consumer.session.timeout.ms": 105_000}
    assert covering(Candidate("classic", "range", static=True), client, 3_600_000) is None
    dynamic = Candidate("classic", "range", static=False)
    assert covering(dynamic, client, 3_600_000) is dynamic


def test_the_start_up_does_not_count() -> None:
    drawn = random.Random(7)
    lived = play_roll(
        Pods({"t": 4}, 2),
        [],
        {"protocol": "consumer"},
        same_names=True,
        poll=read_duration(1, "poll"),
        drawn=drawn,
    )
    assert (lived.unread_ms, lived.moved, lived.rebalances, lived.still_ms) == (0, 0, 0, (0, 0))


def words(answer: Rollout) -> str:
    """All verdicts, which are short sentences each."""
    verdicts = document(answer).verdicts
    assert len(verdicts[0].text) <= 200
    return " ".join(verdict.text for verdict in verdicts)


def test_pods_without_partitions_are_idle_and_do_not_stand_still() -> None:
    answer = pw.group.rollout({"t": 2}, 4, plays=1)
    assert all(each.idle == 2 for each in answer.tried)
    assert "2 pods are idle with it" in words(answer)


READINESS = [
    # replicas, surge, unavailable, partitions: whether a probe that waits for a partition blocks the roll.
    (1, 1, 0, 1, True),
    (1, 0, 1, 1, None),
    (1, 1, 1, 1, False),
    (1, 1, 0, 2, None),
    (3, 1, 0, 3, True),
    (3, 2, 0, 4, False),
    (3, 1, 1, 3, False),
    (4, 1, 1, 3, True),
    (2, 5, 0, 3, False),
]


@pytest.mark.parametrize(("replicas", "surge", "unavailable", "partitions", "blocks"), READINESS)
def test_a_pod_without_a_partition_is_told_to_whose_probe_waits_for_one(
    replicas: int, surge: int, unavailable: int, partitions: int, blocks: bool | None
) -> None:
    answer = pw.group.rollout(
        {"t": partitions},
        RolledPods(replicas, max_surge=surge, max_unavailable=unavailable),
        plays=1,
    )
    said = answer.to_dict().get("readiness")
    if blocks is None:
        assert (said, answer.readiness()) == (None, None)
        return
    # Under these the order of member IDs decides whether an old pod keeps its partition.
    may = (
        bool(blocks) and partitions >= replicas and answer.best.candidate.assignor in {"range", "roundrobin"}
    )
    assert (said["blocks_roll"], said["may_block_roll"]) == (blocks and not may, may)
    assert said["readers_at_once"] == partitions
    assert said["pods_at_once"] == replicas + min(surge, replicas)
    assert "A readiness probe that waits for a partition" in said["text"]
    assert said["text"] in [verdict.text for verdict in document(answer).verdicts]
    assert blocks == is_blocked(replicas, surge, unavailable, partitions)


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky", "cooperative-sticky"])
@pytest.mark.parametrize(
    ("old", "new", "partitions"), [(1, 1, 1), (2, 1, 2), (2, 2, 3), (3, 1, 3), (3, 2, 1)]
)
def test_who_reads_in_a_surge_is_what_the_assignor_gives_in_each_order_of_ids(
    assignor: str, old: int, new: int, partitions: int
) -> None:
    found = play_surge(
        Pods({"t": partitions}, old), new, {"assignor": assignor}, random.Random(SEED), draws=9
    )
    counts = []
    for ids in itertools.permutations(f"c{number}" for number in range(old + new)):
        members: list[dict[str, Any]] = [{"id": name, "topics": ["t"]} for name in ids]
        # The cooperative assignor needs a second rebalance for what an old member gives up in the first.
        for generation, those in enumerate((members[:old], members, members), 1):
            assigned = pw.assign({"t": partitions}, those, assignor).to_dict()
            for member in those:
                owned = {"t": [place for _, place in assigned[member["id"]]]}
                member |= {"owned": owned, "generation": generation}
        counts.append(sum(bool(assigned[name]) for name in ids[old:]))
    assert found == (min(old + new, partitions), min(old, partitions), min(counts), max(counts))


@pytest.mark.parametrize(("assignor", "expected"), [("uniform", (1, 1, 0, 0)), ("range", (1, 1, 0, 1))])
def test_a_broker_that_assigns_leaves_a_surge_pod_without_a_partition_or_not(
    assignor: str, expected: tuple[int, ...]
) -> None:
    settings = {"protocol": "consumer", "assignor": assignor}
    found = play_surge(Pods({"t": 1}, 1), 1, settings, random.Random(SEED), draws=2, after_ms=90_000)
    assert found == expected


def test_a_range_is_not_said_to_block_every_roll() -> None:
    answer = pw.group.rollout({"t": 1}, 1, plays=10)
    assert answer.best.candidate.assignor == "range"
    # In most rolls the new pod reads while the old one lives, which takes it at least 10 s to be ready.
    assert answer.best.still_s.median < 1
    assert (answer.blocks_roll, answer.may_block_roll) == (False, True)
    text = answer.readiness()
    assert text is not None
    assert "never" not in text
    assert "blocks the roll for ever if no surge pod gets one" in text


def is_blocked(replicas: int, surge: int, unavailable: int, partitions: int) -> bool:
    """Whether the controller stops for ever if only pods with a partition are ready, and old ones keep theirs."""
    old, new = replicas, 0
    while old or new < replicas:
        before = old, new
        new += max(0, min(replicas - new, replicas + surge - old - new))
        old_ready = min(old, partitions)
        ready = old_ready + min(new, partitions - old_ready)
        # Old pods that are not ready are removed first.
        gone = min(old, (old - old_ready) + max(0, ready - (replicas - unavailable)))
        old -= gone
        if (old, new) == before:
            return True
    return partitions < replicas


@pytest.mark.parametrize("poll", ["2m", "1s..4m"])
def test_pods_that_poll_rarely_read_no_less(poll: str) -> None:
    answer = pw.group.rollout(
        {"t": 4},
        RolledPods(3, max_surge=1, max_unavailable=0),
        PodConsumers(poll=poll),
        plays=1,
    )
    assert (answer.readers_at_once, answer.readiness()) == (4, None)


def test_other_strategies_have_no_surge_but_may_have_idle_pods() -> None:
    recreate = {
        "kind": "Deployment",
        "spec": {"replicas": 1, "strategy": {"type": "Recreate"}, "template": {}},
    }
    assert pw.group.rollout({"t": 1}, RolledPods(manifest=recreate), plays=1).readiness() is None
    assert pw.group.rollout({"t": 2}, RolledPods(2, kind="StatefulSet"), plays=1).readiness() is None
    idle = pw.group.rollout({"t": 2}, RolledPods(3, kind="StatefulSet"), plays=1).readiness()
    assert idle is not None
    assert idle.startswith("1 of 3 pods never gets a partition.")


def test_the_clients_own_assignor_says_how_many_pods_can_read() -> None:
    for client in ("kafkajs", "sarama", "java@4.1"):
        answer = pw.group.rollout(
            {"t": 2},
            RolledPods(2, max_surge=1, max_unavailable=0),
            PodConsumers(client=client),
            plays=1,
        )
        assert (answer.readers_at_once, "for ever" in (answer.readiness() or "")) == (2, True), client


def test_who_leaves_fewer_pods_idle_is_taken_before_who_leaves_less_unread() -> None:
    answer = pw.group.rollout({f"t{number}": 1 for number in range(6)}, 3, plays=1)
    # Range gives the one partition of each topic to the same member.
    assert answer.tried[0].idle == 2
    assert answer.best.idle == 0
    assert "Today's range leaves 2 pods idle" in words(answer)


def test_plays_are_repeated_by_their_seed_and_differ_without_it() -> None:
    pods = RolledPods(3, start="5s..40s")
    first, again, other = (
        pw.group.rollout({"t": 6}, pods, plays=2, seed=seed).to_dict() for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_the_answer_has_the_fields_that_are_promised() -> None:
    answer = pw.group.rollout({"t": 6}, 3, PodConsumers(records_per_s=10), plays=2).to_dict()
    assert isinstance(answer["summary"], str)
    assert 0 <= answer["recommended"] < len(answer["candidates"]) == 12
    for each in answer["candidates"]:
        assert each["protocol"] in {"classic", "consumer"}
        for figure in (
            "unread_s",
            "longest_unread_s",
            "still_s_per_member",
            "records_behind",
            "records_read_twice",
        ):
            assert each[figure].keys() == {"median", "p95"}
            assert each[figure]["median"] <= each[figure]["p95"]
        assert isinstance(each["rebalances"], int)
        assert isinstance(each["moved"], int)


def test_no_play_begins_after_the_time_limit_but_each_candidate_has_one() -> None:
    answer = pw.group.rollout({"t": 6}, 3, plays=500, time_limit_s=0)
    assert [len(each.lived) for each in answer.tried] == [1] * 12


def test_a_manifest_is_read_and_arguments_stand_above_it() -> None:
    deployment = {
        "kind": "Deployment",
        "spec": {
            "replicas": 4,
            "minReadySeconds": 5,
            "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {
                "spec": {
                    "terminationGracePeriodSeconds": 20,
                    "containers": [
                        {"readinessProbe": {"periodSeconds": 3, "successThreshold": 2}},
                        {"name": "side"},
                    ],
                }
            },
        },
    }
    told = read_manifest([{"kind": "Service"}, deployment])
    assert (told.grace, told.ready) == ("0s..20s", "8s..11s")
    answer = pw.group.rollout({"t": 4}, RolledPods(manifest=deployment), plays=1)
    assert answer.workload == Deployment(4, 1, 0)
    assert any(each.startswith("grace: 0s..20s") for each in answer.assumed)
    assert pw.group.rollout(
        {"t": 4}, RolledPods(2, manifest=[deployment], max_surge=2), plays=1
    ).workload == Deployment(2, 2, 0)
    stateful = {
        "kind": "List",
        "items": [{"kind": "StatefulSet", "spec": {"replicas": 3, "updateStrategy": {}}}],
    }
    assert pw.group.rollout({"t": 4}, RolledPods(manifest=stateful), plays=1).workload == StatefulSet(3)


@pytest.mark.parametrize("pods", [["c1", "c2"], {"t": 12}])
def test_pods_are_counted(pods: Any) -> None:
    with pytest.raises(PartwrightError, match=r"^pods is how many there are, as in pw\.rollout\(") as refused:
        pw.rollout({"t": 12}, pods)
    assert str(refused.value).endswith(f"not {pods}")


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        ([], "no Deployment and no StatefulSet"),
        (
            [{"kind": "Deployment"}, {"kind": "StatefulSet"}],
            "2 workloads, Deployment and StatefulSet: name one with --workload",
        ),
        (
            [{"kind": "StatefulSet", "spec": {"updateStrategy": {"type": "OnDelete"}}}],
            "is not rolled by Kubernetes",
        ),
        (
            [{"kind": "StatefulSet", "spec": {"updateStrategy": {"type": "Recreate"}}}],
            "is not rolled by Kubernetes",
        ),
        ([{"kind": "Deployment", "spec": []}], "spec of the manifest's Deployment is an object"),
        ([{"kind": "Deployment", "spec": {"replicas": "4"}}], "the manifest's replicas is a whole number"),
        (["text", None, 7], "no Deployment and no StatefulSet"),
    ],
)
def test_what_is_refused_of_a_manifest(documents: list[object], sentence: str) -> None:
    with pytest.raises(PartwrightError, match=re.escape(sentence)):
        read_manifest(documents)


def test_every_client_has_a_line_or_a_reason_for_every_candidate() -> None:
    for each in all_candidates():
        lines = client_lines(each)
        assert tuple(lines) == CLIENTS
        assert all(lines.values())
    assert client_lines(Candidate("consumer", "range", static=False))["java"] == [
        "group.protocol=consumer",
        "group.remote.assignor=range",
    ]
    assert (
        client_lines(Candidate("classic", "sticky", static=False))["librdkafka"]
        == "librdkafka does not have sticky"
    )


def lived(unread_ms: int, moved: int, *failures: str) -> Lived:
    """A roll of which only that counts which a verdict looks at."""
    return Lived(unread_ms, unread_ms, (0,), 1, moved, 0, 0.0, failures, 0, {})


def test_of_candidates_that_move_equally_many_none_that_another_beats_is_taken() -> None:
    each = [lived(13_000, 0), lived(13_000, 0)._replace(rebalances=2), lived(12_500, 0)]
    tried = [
        Tried(Candidate("classic", name, static=False), Deployment(1), (one,))
        for name, one in zip(("range", "sticky", "cooperative-sticky"), each, strict=True)
    ]
    assert recommended(tried, None) == 2
    assert recommended(tried[:2], None) == 0
    assert recommended(tried[::-1][1:], None) == 1
    assert recommended(tried, 0) == 0


def tried(**rolls: list[Lived]) -> tuple[Tried, ...]:
    return tuple(
        Tried(Candidate("classic", name.replace("_", "-"), static=False), Deployment(2), tuple(each))
        for name, each in rolls.items()
    )


def test_the_least_unread_is_taken_and_of_equals_the_fewest_moves() -> None:
    each = tried(
        range=[lived(100_000, 50)],
        sticky=[lived(104_000, 10)],
        cooperative_sticky=[lived(50_000, 0, "UNKNOWN_MEMBER_ID")],
    )
    # Within 5 % of the least: today's is kept, and without one the fewest moves count.
    assert recommended(each, 0) == 0
    assert recommended(each, 1) == 1
    assert recommended(each, 2) == recommended(each, None) == 1
    assert recommended(each[:1], None) == 0
    assert recommended(each[2:], None) == 0
    answer = Rollout(each, 1, 0, Deployment(2))
    assert "4 % more than with today's range" in answer.summary
    assert answer.steps() == [
        "Change the assignor in two rolls: the first with sticky and range, the second with sticky alone."
    ]


@pytest.mark.parametrize(
    ("today", "other", "is_kept"),
    [
        # Medians of 30 and 20 s; the rolls of one of them differ by 11 s, then by 9 s.
        ([30_000] * 3, [20_000, 20_000, 31_000], True),
        ([30_000] * 3, [20_000, 20_000, 29_000], False),
        ([30_000, 30_000, 41_000], [20_000] * 3, True),
        ([30_000, 30_000, 39_000], [20_000] * 3, False),
        # A second, and 5 %.
        ([2_900], [2_000], True),
        ([3_100], [2_000], False),
        ([41_900], [40_000], True),
        ([42_100], [40_000], False),
        ([20_000], [30_000], True),
    ],
)
def test_a_candidate_that_is_better_by_less_than_rolls_differ_changes_nothing(
    today: list[int], other: list[int], is_kept: bool
) -> None:
    each = tried(range=[lived(unread, 50) for unread in today], sticky=[lived(unread, 1) for unread in other])
    assert recommended(each, 0) == (0 if is_kept else 1)
    assert recommended(each[::-1], 1) == (1 if is_kept else 0)
    answer = Rollout(each, recommended(each, 0), 0, Deployment(2))
    assert answer.summary.startswith("Keep range" if is_kept else "Take sticky")
    assert ("no candidate has less" in answer.summary) == (is_kept and today < other)
    assert answer.steps() == [] or not is_kept


def test_a_spread_is_the_median_and_what_95_of_100_do_not_exceed() -> None:
    assert PlaySpread.of(list(range(1, 101))) == PlaySpread(50.5, 95)
    assert PlaySpread.of([]) == PlaySpread(0, 0)
    assert PlaySpread.of([7]) == PlaySpread(7, 7)


def test_a_verdict_says_more_less_and_what_fails() -> None:
    candidates_, workload = (
        [Candidate("classic", name, static=False) for name in ("range", "sticky")],
        Deployment(2),
    )

    def said(now: Lived, best: Lived) -> str:
        tried = (Tried(candidates_[0], workload, (now,)), Tried(candidates_[1], workload, (best,)))
        return Rollout(tried, 1, 0, workload).summary

    assert "75 % less than with today's range" in said(lived(40_000, 5), lived(10_000, 5))
    assert "50 % more than with today's range" in said(lived(10_000, 5), lived(15_000, 0))
    assert "1 % more than with today's range" in said(lived(10_000, 5), lived(10_100, 0))
    assert "about as much as with today's range" in said(lived(10_000, 5), lived(10_010, 0))
    failed = said(lived(10_000, 5, "GROUP_MAX_SIZE_REACHED"), lived(15_000, 0))
    assert "Today's range, dynamic members fail: one ends with GROUP_MAX_SIZE_REACHED." in failed


def test_how_far_behind_a_group_is_at_most(seed: int) -> None:
    from partwright.group.rollouts.play import _behind

    drawn = random.Random(seed)
    for _ in range(200):
        gaps = [
            (begun, begun + drawn.randint(1, 9))
            for begun in (drawn.randint(0, 20) for _ in range(drawn.randint(0, 6)))
        ]
        at_each = [sum(at - begun for begun, ended in gaps if begun < at <= ended) for at in range(31)]
        assert _behind(gaps) == max(at_each), seed
