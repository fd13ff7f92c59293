"""`partwright rollout`: the verdict first, JSON, manifests, and each refusal in one sentence."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]

ASKED = ("rollout", "--topic", "t=6", "--replicas", "3", "--plays", "2")
MANIFEST = """kind: Service
---
kind: Deployment
spec:
  replicas: 3
  template: {spec: {containers: [{readinessProbe: {periodSeconds: 5}}]}}
"""


def test_the_verdict_comes_first_and_every_client_has_its_lines(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    code, out, err = command(*ASKED, "--records-per-s", "100")
    text = out.decode()
    assert (code, err) == (0, "")
    assert text.startswith(("Take ", "Keep "))
    assert "kafkajs" in text
    assert text.split("Candidates side by side")[1].count("KIP-848 (uniform)") == 2
    assert "read twice" in text
    assert "Assumed: start: 10s" in text


@pytest.mark.parametrize(
    ("assignor", "sentence", "blocks"),
    [
        # Range sorts members by their IDs: a new pod may come first.
        (
            "range",
            "A readiness probe that waits for a partition blocks the roll for ever if no surge pod gets one: take",
            (False, True),
        ),
        # A sticky assignor leaves the partition where it is.
        (
            "sticky",
            "A readiness probe that waits for a partition blocks the roll for ever: take",
            (True, False),
        ),
    ],
)
def test_a_surge_pod_that_gets_no_partition_is_said_in_text_json_and_page(
    assignor: str, sentence: str, blocks: tuple[bool, bool], command: Command, tmp_path: Path
) -> None:
    # Of candidates that cost the same, today's is kept.
    today = f"partition.assignment.strategy={assignor}"
    asked = ("rollout", "--topic", "t=1", "--replicas", "1", "--plays", "1", "--config", today)
    page = tmp_path / "roll.html"
    code, out, _ = command(*asked, "--report", page)
    assert code == 0
    assert sentence in " ".join(out.decode().split())
    assert sentence in page.read_text(encoding="utf-8")
    code, out, _ = command(*asked, "--json")
    found = json.loads(out)["readiness"]
    assert (code, found.pop("text").count(sentence)) == (0, 1)
    assert found == {
        "pods_at_once": 2,
        "readers_at_once": 1,
        "blocks_roll": blocks[0],
        "may_block_roll": blocks[1],
    }


def test_what_was_assumed_of_a_live_group_is_a_sentence_of_its_own(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from partwright.assignors.subscriptions import subscriptions_of
    from partwright.kafka import groups

    read = {"c1": {"t"}, "c2": {"u"}}
    topics, assumed = subscriptions_of(["t", "u"], read)
    members = [
        {"id": name, "topics": topics[name], "owned": [], "instance_id": None, "client": "java"}
        for name in read
    ]
    group = {
        "protocol": "consumer",
        "assignor": "uniform",
        "topics": {"t": 4, "u": 4},
        "members": members,
        "guessed": dict.fromkeys(read, "the client id 'c'"),
        "assumed": assumed,
    }
    monkeypatch.setattr(groups, "any_group", lambda *_, **__: group)
    live = ("rollout", "kafka://127.0.0.1:1", "--group", "g", "--plays", "1")
    code, out, _ = command(*live)
    text = " ".join(out.decode().split())
    assert code == 0
    assert "Assumed: start: 10s" in text
    assert "for an answer of the coordinator. Assumed subscriptions, as members read" in text
    assert "1 member to u; correct them with --subscriptions. " in text
    code, out, _ = command(*live, "--json")
    assert (code, json.loads(out)["assumed"][-1]) == (0, *assumed)


def test_json_is_what_python_says(command: Command) -> None:
    import partwright as pw

    code, out, _ = command(*ASKED, "--json", "--start", "5s..9s", "--seed", "3")
    assert code == 0
    assert (
        json.loads(out)
        == pw.group.rollout({"t": 6}, pw.group.RolledPods(3, start="5s..9s"), plays=2, seed=3).to_dict()
    )


def test_candidates_within_the_spread_of_rolls_are_the_same_and_the_present_one_is_kept(
    command: Command,
) -> None:
    # Both sticky assignors move fewer partitions, and no candidate is better by more than rolls differ.
    code, out, _ = command("rollout", "--topic", "orders=7", "--replicas", "5", "--plays", "2", "--seed", "7")
    assert code == 0
    assert " ".join(out.decode().split()).startswith(
        "Keep range, dynamic members: 42.3 s of partitions without a reader (median of 2 rolls). KIP-848 (uniform), "
        "dynamic members saves 0.7 s, too little to change: up to 3.6 s is the same."
    )
    assert out.count(b"range (keep)") == 1


def test_the_recommended_candidate_is_marked_without_bold_type_too(command: Command) -> None:
    code, out, _ = command(*ASKED)
    _, told, _ = command(*ASKED, "--json")
    found = json.loads(told)
    marked = [line.split() for line in out.decode().splitlines() if "(take)" in line or "(keep)" in line]
    assert code == 0
    assert len(marked) == 1
    assert found["candidates"][found["recommended"]]["assignor"] in marked[0]


def test_a_client_has_its_own_candidates_and_names(command: Command) -> None:
    import partwright as pw

    code, out, _ = command(*ASKED, "--client", "sarama", "--json")
    assert code == 0
    assert (
        json.loads(out)
        == pw.group.rollout({"t": 6}, 3, pw.group.PodConsumers(client="sarama"), plays=2).to_dict()
    )
    code, out, _ = command(*ASKED, "--client", "kafkajs")
    text = out.decode()
    assert code == 0
    assert "partitionAssigners: [PartitionAssigners.roundRobin]" in text
    assert "librdkafka" not in text
    left_out = "Not played: KIP-848: kafkajs does not have it; static members: kafkajs does not have them."
    assert left_out in " ".join(text.split())


def test_a_manifest_says_what_options_do_not(command: Command) -> None:
    pytest.importorskip("yaml")
    Path("m.yaml").write_text(MANIFEST, encoding="utf-8")
    code, out, _ = command("rollout", "--topic", "t=6", "--manifest", "m.yaml", "--plays", "1", "--json")
    assert code == 0
    assert (
        "ready: 0s..5s from its consumer's first poll until the pod is available by the manifest"
        in json.loads(out)["assumed"]
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("--topic t=3", "the deployment has (--replicas N, or --manifest FILE)"),
        ("--topic t=3 --replicas 2 --client sarma", "did you mean 'sarama'"),
        ("--topic t=3 --replicas 2 --start soon", "--start is a time such as 20s"),
        ("--topic t=3 --replicas 2 --max-surge 2x", "--max-surge is a number of pods or a percentage"),
        ("--topic t=x --replicas 2", "topics are named as orders=12,users=7, not 't=x'"),
        ("--replicas 2", "name the topics: --topic NAME=N"),
        ("t.csv --replicas 2", "'t.csv' is not a Kafka address"),
        ("--group g", "--group names a group of a live Kafka"),
        ("kafka://127.0.0.1:9092 --topic t=3", "leave out --topic"),
        ("kafka://127.0.0.1:9092", "names no topic"),
        ("kafka://127.0.0.1:9092/t --group g", "names a topic, and a group reads several"),
        ("--topic t=3 -X a=b", "--command-config and -X are for reaching a Kafka"),
        ("--topic t=3 --manifest none.yaml", "'none.yaml' cannot be read"),
        ("--topic t=3 --manifest helm.yaml", "(render a chart first, by helm template)"),
        ("--topic t=3 --manifest bad.json", "bad.json: this is not JSON"),
        ("--topic t=3 --manifest none.json", "cannot be read"),
        ("--topic t=3 --manifest empty.json", "no Deployment and no StatefulSet"),
        ("--topic t=3 --manifest empty.yaml", "no Deployment and no StatefulSet"),
    ],
)
def test_what_is_refused(given: str, sentence: str, refusal: Refusal) -> None:
    pytest.importorskip("yaml")
    Path("helm.yaml").write_text("kind: Deployment\nspec:\n  replicas: {{ .Values.n }}\n", encoding="utf-8")
    Path("bad.json").write_text("{", encoding="utf-8")
    Path("empty.json").write_text("[]", encoding="utf-8")
    Path("empty.yaml").touch()
    assert sentence in refusal("rollout", *shlex.split(given))
