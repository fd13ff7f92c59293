"""`partwright reassign`: plans as text, JSON and Kafka's own files; saved plans; and each refusal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from partwright.cli.commands.reassign import command
from partwright.cluster import Broker, Cluster, reassign
from partwright.cluster.placement import explicit
from partwright.cluster.reassignment.saved import load
from partwright.errors import PartwrightError
from partwright.kafka import reassign as live_reassign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.testing import Result

LISTS = "0:1,1:0,0:1,1:0,0:1,1:0"
LOG_DIRS = """Querying brokers for log directories information
Received log directory information from brokers 0,1
{"version":1,"brokers":[{"broker":0,"logDirs":[{"logDir":"/d","error":null,"partitions":[PARTITIONS]}]}]}
"""


@pytest.fixture(autouse=True)
def _cluster(own_folder: None) -> None:
    del own_folder
    brokers = [Broker(0, rack="a"), Broker(1, rack="b")]
    Path("cluster.json").write_text(json.dumps(explicit(LISTS, brokers).to_cluster("orders").to_dict()))
    rows = [json.dumps({"partition": f"orders-{at}", "size": 1000, "isFuture": False}) for at in range(6)]
    Path("log-dirs.txt").write_text(LOG_DIRS.replace("PARTITIONS", ",".join(rows)))


def run(*words: str) -> Result:
    return CliRunner().invoke(command, ["cluster.json", *words], catch_exceptions=False)


def test_the_plan_is_what_kafkas_tools_take() -> None:
    done = run(
        "--add",
        "2=a,3=b",
        "--sizes",
        "log-dirs.txt",
        "--throttle",
        "1kB",
        "--max-replicas",
        "2",
        "--out",
        "plan",
        "--json",
    )
    told = json.loads(done.stdout)
    plan = json.loads(Path("plan/plan.json").read_text())
    assert plan == told["plan"]
    assert told["replicas_moved"] == told["bounds"]["replicas"] == 6
    assert told["bytes_moved"] == 6000
    batches = [json.loads(each.read_text()) for each in sorted(Path("plan/batches").iterdir())]
    assert len(batches) == len(told["batches"])
    assert sum(each["replicas"] for each in told["batches"]) == 6
    for each in told["batches"]:
        # One broker receives, or sends, at least half of the copied bytes.
        assert each["bytes"] / 2 <= each["seconds"] * 1000 <= each["bytes"]
    moved = sorted((each["partition"], each["replicas"]) for batch in batches for each in batch["partitions"])
    assert moved == sorted((each["partition"], each["replicas"]) for each in plan["partitions"])
    today = {at: [int(id_) for id_ in each.split(":")] for at, each in enumerate(LISTS.split(","))}
    for each in json.loads(Path("plan/rollback.json").read_text())["partitions"]:
        assert each["replicas"] == today[each["partition"]]


def test_a_saved_plan_is_checked() -> None:
    run("--replication-factor", "1", "--out", "plan")
    done = run("--plan", "plan")
    assert "the cluster is as it was planned for" in done.stdout
    cluster = json.loads(Path("cluster.json").read_text())
    topic = cluster["topics"]["orders"]
    topic[2]["replicas"], topic[2]["in_sync_replicas"] = [1], [1]
    topic.append({"id": 6, "leader": 0, "replicas": [0]})
    Path("cluster.json").write_text(json.dumps(cluster))
    with pytest.raises(PartwrightError, match="topic orders has 7 partitions, and had 6") as error:
        run("--plan", "plan")
    assert "make a new plan" in str(error.value)


REFUSED = [
    (["--add", "2=a,x"], "--add takes brokers' ids, as 0,2-5, or with its rack as 3=rack-a, not 'x'"),
    (["--add", "2"], "broker 2 has no rack and others have one"),
    (["--remove", "1"], "topic 'orders' needs 2 brokers for as many replicas, and 1 broker is left"),
    (["--remove", "5-1"], "--remove takes brokers' ids, as 0,2-5, not '5-1'"),
    (["--throttle", "fast"], "--throttle takes a size above 0, such as 50MB or 1.5GiB, not 'fast'"),
    (["--max-seconds", "9"], "max_seconds needs a throttle"),
    (
        ["--add", "2=a,3=b", "--throttle", "1MB", "--max-seconds", "9"],
        "max_bytes and max_seconds need the partitions' sizes",
    ),
    (["--power", "0"], "--power takes ID=NUMBER,..., not '0'"),
    (["--power", "0=1,0=2"], "--power names broker 0 twice: each once"),
    (["--disks", "0=1kB,1=0"], "--disks takes a size above 0"),
    (["--replication-factor", "orders=x"], "--replication-factor takes N once, or NAME=N for each topic"),
    (["--sizes", "cluster.json"], "sizes lacks topic 'orders'"),
    (["--sizes", "kafka"], "--sizes kafka asks a live Kafka"),
    (["--execute"], "--execute needs a live Kafka"),
    (["--unthrottle"], "--unthrottle needs a live Kafka"),
    (["-X", "a=b"], "--command-config and -X are for reaching a Kafka"),
    (["--plan", "nowhere"], "'nowhere' is not a plan"),
    (["--plan", "nowhere", "--add", "3"], "--plan takes a plan that is there: leave out --add"),
    (["--topic", "order"], "there is no topic 'order' in the cluster: did you mean 'orders'?"),
    (["--out", "."], "'.' is there and not empty"),
    (["--within", "5"], "--within"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=[" ".join(words) for words, _ in REFUSED])
def test_what_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(PartwrightError) as error:
        run(*words)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


DAMAGED = [
    "",
    "{",
    "[]",
    '{"partitions": 3}',
    '{"partitions": [{"topic": "x", "partition": 0, "replicas": [1]}]}',
]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_plan_is_refused(text: str) -> None:
    run("--replication-factor", "1", "--out", "plan")
    next(Path("plan/batches").iterdir()).write_text(text)
    with pytest.raises(PartwrightError, match=r"0001\.json"):
        run("--plan", "plan")


def led_by_another() -> None:
    """A cluster whose broker 1 is preferred twice, while each of two brokers leads one partition."""
    partitions = [{"id": at, "leader": at, "replicas": [1, 0]} for at in range(2)]
    text = json.dumps({"brokers": [{"id": 0}, {"id": 1}], "topics": {"t": partitions}})
    Path("cluster.json").write_text(text)


def test_a_partition_without_another_replica_gets_no_leader() -> None:
    partitions = [{"id": 0, "leader": 1, "replicas": [1]}]
    Path("cluster.json").write_text(
        json.dumps({"brokers": [{"id": 1}, {"id": 2}], "topics": {"o": partitions}})
    )
    said = "1 \u2192 {} offline, 0 \u2192 0 closed for acks=all, 0 \u2192 {} with a new leader"
    assert said.format(1, 0) in " ".join(run("--add", "3").stdout.split())
    assert said.format(0, 1) in " ".join(run("--replication-factor", "2").stdout.split())


def test_leaders_today_are_those_of_the_file() -> None:
    led_by_another()
    text = run().stdout
    said = (
        "leaders: 1 today, 1 after it; preferred leaders: 0 to 2 today, 1 after it (1 partition is not led by its "
        "preferred leader today)."
    )
    assert said in " ".join(text.split())
    assert "1 → 1 with a new leader" in " ".join(text.split())
    assert "fewer replicas" not in text
    rows = [line.split() for line in text.splitlines() if line.startswith((" 0 ", " 1 "))]
    assert [row[3:5] for row in rows] == [["1", "1"], ["1", "1"]]
    told = json.loads(run("--json").stdout)
    assert [(each["leaders_before"], each["preferred_before"]) for each in told["brokers"]] == [
        (1, 0),
        (1, 2),
    ]
    assert told["leaders_elected"] == 0


def test_an_election_moves_leaders() -> None:
    """All lists prefer their leaders today, and three get another one."""
    text = " ".join(run("--add", "2=a,3=b").stdout.split())
    assert "3 partitions change their leader, by a preferred leader election at the end" in text
    assert "preferred leaders:" not in text
    assert "2 (joins)" in text


def test_a_saved_plan_keeps_the_leaders_of_today() -> None:
    led_by_another()
    run("--out", "plan")
    assert [each["leader"] for each in json.loads(Path("plan/cluster.json").read_text())["topics"]["t"]] == [
        0,
        1,
    ]
    assert json.loads(Path("plan/elections.json").read_text()) == {"partitions": []}


def led_by_one() -> None:
    """A cluster that is even, but one broker leads all."""
    partitions = [{"id": 0, "leader": 2, "replicas": [1, 2]}, {"id": 1, "leader": 2, "replicas": [2, 1]}]
    text = json.dumps({"brokers": [{"id": 1}, {"id": 2}], "topics": {"t": partitions}})
    Path("cluster.json").write_text(text)


def test_a_plan_without_a_move_gives_leaders_back() -> None:
    led_by_one()
    text = run("--out", "plan").stdout
    assert text.startswith("No replica moves; 1 partition gets its preferred leader back.\n")
    assert "Nothing moves" not in text
    assert load("plan").partitions_to_elect == (("t", 0),)
    done = run("--plan", "plan")
    said = "0 partitions in 0 batches, and 1 preferred leader to elect: the cluster is as it was planned for."
    assert " ".join(done.stdout.split()) == said
    assert json.loads(run("--plan", "plan", "--json").stdout)["leaders_elected"] == 1


def test_an_even_cluster_led_by_its_preferred_leaders_has_nothing_to_do() -> None:
    assert run().stdout.startswith("Nothing moves: the cluster is as even as it can be.\n")


@pytest.mark.parametrize("from_folder", [False, True])
def test_execute_holds_the_election_that_the_plan_announces(
    monkeypatch: pytest.MonkeyPatch, from_folder: bool
) -> None:
    led_by_one()
    cluster = Cluster.from_dict(json.loads(Path("cluster.json").read_text()))
    run("--out", "plan")
    elected: list[object] = []

    def elect(config: object, partitions: Sequence[object]) -> int:
        del config
        elected.extend(partitions)
        return len(partitions)

    monkeypatch.setattr(live_reassign, "live", lambda _: cluster)
    monkeypatch.setattr(live_reassign, "_elect", elect)
    words = ["kafka://127.0.0.1:1", "--execute", *["--plan", "plan"] * from_folder]
    done = CliRunner().invoke(command, words, catch_exceptions=False)
    assert elected == [("t", 0)]
    assert "executed: no replica moved, and 1 partition got its preferred leader\n" in done.stderr


@pytest.mark.parametrize("text", [*DAMAGED[:4], '{"partitions": [{"topic": "x", "partition": 0}]}'])
def test_damaged_elections_are_refused(text: str) -> None:
    led_by_one()
    run("--out", "plan")
    Path("plan/elections.json").write_text(text)
    with pytest.raises(PartwrightError, match=r"elections\.json"):
        run("--plan", "plan")


ALONE = [
    *[["--plan", "plan"], ["--execute"], ["--throttle", "1MB"], ["--add", "3"], ["--power", "1=2"]],
    *[["--max-replicas", "1"], ["--disks", "1=1TB"], ["--within", "10%"], ["--no-racks"]],
    *[["--max-bytes", "1MB"], ["--max-seconds", "1"], ["--min-insync", "1"], ["--timeout", "3600"]],
    ["--plot", "plan.svg"],
]


@pytest.mark.parametrize("words", ALONE)
def test_unthrottle_does_nothing_else(words: list[str]) -> None:
    with pytest.raises(PartwrightError, match=f"does nothing else: leave out {words[0]}"):
        CliRunner().invoke(command, ["kafka://127.0.0.1:1", "--unthrottle", *words], catch_exceptions=False)


@pytest.mark.parametrize("words", ALONE[4:-2])
def test_a_plan_that_is_there_takes_no_option_of_a_new_one(words: list[str]) -> None:
    with pytest.raises(PartwrightError, match=f"a plan that is there: leave out {words[0]}"):
        run("--plan", "plan", *words)


def test_both_ends_that_look_the_same_are_one_number() -> None:
    """Never `4 to 4 replicas`, and no `1.0 kB to 1.0 kB`."""
    sizes = {"orders": [1000, 1001, 1002, 1000, 1001, 1002]}
    Path("sizes.json").write_text(json.dumps(sizes))
    text = " ".join(run("--sizes", "sizes.json").stdout.split())
    assert (
        "Replicas of a broker: 6 today, 6 after it; leaders: 3 today, 3 after it; bytes: 6.0 kB today, "
        in text
    )


def test_an_answer_carries_its_batches_and_what_losses_count(tmp_path: Path) -> None:
    plan = reassign(explicit("0:1,1:0,0:1,1:0").to_cluster("t"), add=[2, 3])
    plan = replace(plan, min_insync_replicas=2, parts=plan.batches(max_replicas=2))
    told = plan.to_dict()
    assert [each["replicas"] for each in told["batches"]] == [2, 2]
    assert max(each["below_min_insync"] for each in told["losses"]["before"]) == 4
    assert json.loads(plan.save(tmp_path / "plan.json").read_text()) == {
        "summary": "4 of 8 replicas move, and 2 partitions get another preferred leader.", **told
    }  # fmt: skip
    assert "4 → 2 closed for acks=all" in plan.save(tmp_path / "plan.md").read_text()


def test_a_check_of_a_saved_plan_has_every_form_and_no_page(tmp_path: Path) -> None:
    run("--replication-factor", "1", "--out", "plan")
    assert run("--plan", "plan", "--output", "markdown").stdout.startswith(
        "### The plan plan\n\n**6 partitions in "
    )
    told = json.loads(run("--plan", "plan", "--json").stdout)
    assert told["summary"].startswith("6 partitions in ")
    assert told["executed"] is False
    with pytest.raises(PartwrightError, match="leave out --report"):
        run("--plan", "plan", "--report", str(tmp_path / "page.html"))
