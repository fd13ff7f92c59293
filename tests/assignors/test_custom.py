"""A user's own assignor: its input, the check of its answer, and every place where it can stand instead of a name."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright.assignors.comparison import COMPARED, compare
from partwright.assignors.consumer_partition_assignor import (
    ConsumerGroupMetadata,
    ConsumerPartitionAssignor,
    GroupCluster,
    MemberAssignment,
    PartitionInfo,
    Subscription,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MODULE = '''
"""An assignor of whoever runs the command."""

class First:
    """Everything to the first member that subscribes to it."""
    name = "first"

    def assign(self, cluster, group_subscription):
        given = {name: [] for name in group_subscription}
        for topic in cluster.topics():
            first = next(name for name, said in group_subscription.items() if topic in said.topics)
            given[first] += [(each.topic, each.partition) for each in cluster.partitions_for_topic(topic)]
        return given

class Marked(First):
    name = "[/b]"

class Fails(First):
    name = "fails"

    def assign(self, cluster, group_subscription):
        raise RuntimeError("no idea\\nat all")
'''
TOPICS = {"t": 2, "u": 1, "unread": 4}
MEMBERS = [{"id": "c1", "topics": ["t"]}, {"id": "c2", "topics": ["t", "u", "absent"]}]
FIRST = {"c1": [("t", 0), ("t", 1)], "c2": [("u", 0)]}


class Recorder(ConsumerPartitionAssignor):
    """Remembers its input, and gives the answer that it was made with."""

    name = "recorder"

    def __init__(self, answer: Any = None) -> None:
        self.answer = {} if answer is None else answer
        self.told: list[Any] = []

    def subscription_user_data(self, topics: set[str]) -> bytes | None:
        self.told.append(topics)
        return ",".join(sorted(topics)).encode()

    def assign(self, cluster: GroupCluster, group_subscription: Mapping[str, Subscription]) -> Any:
        self.told.append((cluster, group_subscription))
        return self.answer

    def on_assignment(self, assignment: MemberAssignment, metadata: ConsumerGroupMetadata) -> None:
        self.told.append((assignment, metadata))


def test_it_is_told_what_kafkas_assignor_is_told() -> None:
    members: list[dict[str, Any]] = [
        {"id": "c2", "topics": ["u", "t", "absent"], "owned": {"t": [1, 0]}, "generation": 4, "rack": "b"},
        {"id": "c1", "topics": ["t"], "instance_id": "i"},
    ]
    racks: dict[str, list[list[str | None]]] = {"t": [["a", "b"], [None]]}
    assignor = Recorder({"c1": [("t", 0)], "c2": MemberAssignment([("u", 0)], b"kept")})
    found = pw.assign(TOPICS, members, assignor, racks=racks)
    assert found.to_dict() == {"c2": [("u", 0)], "c1": [("t", 0)]}
    assert assignor.told[:2] == [{"u", "t", "absent"}, {"t"}]
    cluster, subscriptions = assignor.told[2]
    assert cluster.topics() == ["t", "u"]
    assert cluster.partitions_for_topic("t") == [PartitionInfo("t", 0, ["a", "b"]), PartitionInfo("t", 1, [])]
    assert cluster.partitions_for_topic("absent") == []
    assert (cluster.partition_count_for_topic("u"), cluster.partition_count_for_topic("absent")) == (1, None)
    assert list(subscriptions.items()) == [
        ("c2", Subscription(["u", "t", "absent"], b"absent,t,u", [("t", 1), ("t", 0)], 4, None, "b")),  # type: ignore[list-item]
        ("c1", Subscription(["t"], b"t", [], None, "i", None)),
    ]
    assert assignor.told[3:] == [
        (MemberAssignment([("u", 0)], b"kept"), ConsumerGroupMetadata(5, "c2", None)),
        (MemberAssignment([("t", 0)]), ConsumerGroupMetadata(5, "c1", "i")),
    ]


def test_who_is_left_out_gets_nothing_and_so_does_a_partition() -> None:
    found = pw.assign(TOPICS, MEMBERS, Recorder({"c2": iter([["u", 0]])}))
    assert found.to_dict() == {"c1": [], "c2": [("u", 0)]}
    assert found.spread().mean == 0.5
    assert pw.assign(TOPICS, [], Recorder()).to_dict() == {}
    numpy = pytest.importorskip("numpy")
    assert pw.assign(TOPICS, MEMBERS, Recorder({"c1": [("t", numpy.int64(1))]})).owner_of("t", 1) == "c1"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The module of an assignor, in a place where Python finds it."""
    (tmp_path / "own_first.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "own_first"


def test_it_stands_wherever_a_name_does(module: str) -> None:
    for path in (f"{module}.First", f"{module}:First"):
        assert pw.assign(TOPICS, MEMBERS, path).to_dict() == FIRST
    first = getattr(__import__(module), "First")  # noqa: B009 - mypy does not know the module
    assert (
        pw.assign(TOPICS, MEMBERS, first).to_dict() == pw.assign(TOPICS, MEMBERS, first()).to_dict() == FIRST
    )
    table = {"group": ["g", "g"], "member": ["c1", "c2"], "topics": [each["topics"] for each in MEMBERS]}
    rows = pw.assign_groups(table, TOPICS, first).select(["member", "topic", "partition"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (name, *pair) for name, pairs in FIRST.items() for pair in pairs
    ]
    *_, last = compare(TOPICS, MEMBERS, [*COMPARED, first])
    assert (last.assignor, last.error, last.spread.max, last.unread) == ("first", None, 2, 0)
    *_, last = compare(TOPICS, MEMBERS, f"{module}.Fails")
    assert last.error == "Fails.assign raised RuntimeError: no idea"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (5, "assign gives lists of (topic, partition) by member, not 5"),
        ({"x": []}, "it gives partitions to 'x', and there is no such member in the group"),
        ({"c1": 5}, "what it gives to 'c1' is a list of (topic, partition), not 5"),
        ({"c1": "t"}, "what it gives to 'c1' is a list of (topic, partition), not 't'"),
        ({"c1": ["t0"]}, "what it gives to 'c1' is a list of (topic, partition), not 't0'"),
        ({"c1": [("t", True)]}, "what it gives to 'c1' is a list of (topic, partition), not ('t', True)"),
        ({"c1": None}, "what it gives to 'c1' is a list of (topic, partition), not None"),
        (
            {"c1": [("u", 0)]},
            "it gives 'c1' partition 0 of 'u', a topic that this member does not subscribe to",
        ),
        (
            {"c2": [("v", 0)]},
            "it gives 'c2' partition 0 of 'v', a topic that this member does not subscribe to",
        ),
        ({"c1": [("t", 2)]}, "it gives 'c1' partition 2 of 't', which has 2 partitions"),
        ({"c1": [("t", -1)]}, "it gives 'c1' partition -1 of 't', which has 2 partitions"),
        ({"c2": [("absent", 0)]}, "it gives 'c2' partition 0 of 'absent', which has 0 partitions"),
        (
            {"c1": [("t", 0)], "c2": [("t", 0)]},
            "it gives 'c2' partition 0 of 't' and 'c1' too: each partition is for one member, once",
        ),
        (
            {"c1": [("t", 0), ("t", 0)]},
            "it gives 'c1' partition 0 of 't' twice: each partition is for one member, once",
        ),
    ],
)
def test_an_answer_that_is_none_is_refused(answer: Any, sentence: str) -> None:
    assignor = Recorder(answer)
    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign(TOPICS, MEMBERS, assignor)
    assert str(refused.value) == f"assignor 'recorder': {sentence}"
    assert not any(isinstance(told[0], MemberAssignment) for told in assignor.told if isinstance(told, tuple))


def test_a_cooperative_one_takes_nothing_away_at_once() -> None:
    """As `ConsumerCoordinator.validateCooperativeAssignment`: what one member gets may not be revoked from another."""
    members = [{**MEMBERS[0], "owned": [("t", 0), ("t", 1)]}, {**MEMBERS[1], "owned": [("t", 1)]}]

    class Cooperative(Recorder):
        supported_protocols = ("COOPERATIVE", "EAGER")

    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign(TOPICS, members, Cooperative({"c1": [], "c2": [("t", 0)]}))
    assert str(refused.value) == (
        "assignor 'recorder': it gives 'c2' partition 0 of 't' while 'c1' owns it: a cooperative assignor withholds it "
        "once (Kafka's own consumer throws IllegalStateException)"
    )
    # The owner keeps it, or nobody has it for a while; a member that is left out is not checked.
    for fine in ({"c1": [], "c2": [("t", 1)]}, {"c1": [("t", 0)]}, {}, {"c2": [("t", 0)]}):
        assert pw.assign(TOPICS, members, Cooperative(fine)).to_dict() == {"c1": [], "c2": [], **fine}
    assert pw.assign(TOPICS, members, Recorder({"c2": [("t", 0)]})).owner_of("t", 0) == "c2"


def test_what_its_code_raises_is_one_sentence_with_its_cause() -> None:
    class Broken(Recorder):
        def assign(self, *_: Any) -> Any:
            raise KeyError("lost")

    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign(TOPICS, MEMBERS, Broken())
    assert str(refused.value).endswith("Broken.assign raised KeyError: 'lost'")
    assert isinstance(refused.value.__cause__, KeyError)
    late = ((topic, {}[topic]) for topic in "t")
    with pytest.raises(pw.PartwrightError, match=r"^Recorder\.assign raised KeyError: 't'$"):
        pw.assign(TOPICS, MEMBERS, Recorder({"c1": late}))
    table = {"group": ["g"], "member": ["c1"], "topics": [["t"]]}
    with pytest.raises(
        pw.PartwrightError, match=r"^group 'g': .*Broken\.assign raised KeyError: 'lost'$"
    ) as refused:
        pw.assign_groups(table, TOPICS, Broken())
    assert isinstance(refused.value.__cause__, KeyError)


class Nameless:
    """Has no name."""


class Idle:
    """Has no `assign`."""

    name = "idle"


class Lazy(Idle):
    """Has a protocol that does not exist."""

    supported_protocols = ("LAZY",)

    def assign(self, *_: Any) -> Any:
        raise NotImplementedError


class Versioned(Lazy):
    """Has a version that does not exist."""

    supported_protocols = ("EAGER",)
    version = -1


class Unhashable(Versioned):
    """Of protocols that are lists."""

    supported_protocols: Any = (["EAGER"],)


class Hidden(Versioned):
    """Of a version that it does not say."""

    @property
    def version(self) -> int:  # type: ignore[override]
        raise ValueError("not yet")


class Strict:
    """Cannot be made without being told how."""

    def __init__(self, how: str) -> None:
        self.how = how


@pytest.mark.parametrize(
    ("assignor", "sentence"),
    [
        (Nameless(), "an assignor has a name: Nameless.name is None"),
        (Idle, "an assignor assigns: Idle has no assign(cluster, group_subscription)"),
        (Lazy, "Lazy.supported_protocols is a list of EAGER and COOPERATIVE, not ('LAZY',)"),
        (Versioned, "Versioned.version is 0 to 32767, not -1"),
        (Unhashable, "Unhashable.supported_protocols is a list of EAGER and COOPERATIVE, not (['EAGER'],)"),
        (Hidden, "Hidden.version raised ValueError: not yet"),
        (
            Strict,
            "Strict() raised TypeError: Strict.__init__() missing 1 required positional argument: 'how'",
        ),
        ("nowhere.Mine", "the assignor 'nowhere.Mine' cannot be imported (ModuleNotFoundError: No module named "),
        ("json:Mine", "there is no assignor 'json:Mine': the module json has no Mine"),
        ("json:dumps", "an assignor has a name: function.name is None"),
        (5, "an assignor is named by text, not 5"),
    ],
)  # fmt: skip
def test_what_is_no_assignor_is_refused(assignor: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign(TOPICS, MEMBERS, assignor)
    assert str(refused.value).startswith(sentence)


def run(folder: Path, *words: str, group: Any) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "partwright", "assign", "-", *words],
        input=json.dumps(group),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_command_finds_it_where_it_is_run(module: str, tmp_path: Path) -> None:
    group = {"topics": TOPICS, "members": MEMBERS}
    code, out, said = run(tmp_path, "--assignor", f"{module}.First", "--json", group=group)
    assert (code, json.loads(out)["assignment"], said) == (0, json.loads(json.dumps(FIRST)), "")
    code, out, said = run(tmp_path, "--compare", "--assignor", f"{module}:First", "--json", group=group)
    assert (code, said) == (0, "")
    assert [each["assignor"] for each in json.loads(out)["assignors"]][-1] == "first"
    unordered = {**group, "partition_order": None}
    code, out, said = run(tmp_path, "--compare", "--assignor", f"{module}.Marked", group=unordered)
    assert (code, out.split("\n")[-2].split()[0], said) == (0, "[/b]", "")
    code, out, said = run(tmp_path, "--assignor", f"{module}.Fails", group=group)
    assert (code, out, said) == (2, "", "partwright: stdin: Fails.assign raised RuntimeError: no idea\n")
    assert run(tmp_path, "--compare", "--assignor", "sticky", group=group)[2] == (
        "partwright: --compare asks today's assignors about one group: leave out --assignor sticky\n"
    )


def test_no_file_says_which_code_is_run(module: str, tmp_path: Path) -> None:
    group = {"topics": TOPICS, "members": MEMBERS, "assignor": f"{module}.First"}
    code, out, said = run(tmp_path, group=group)
    assert (code, out) == (2, "")
    assert said == (
        f"partwright: stdin: the group names '{module}.First', but a file must not choose which code runs: give it as "
        "--assignor\n"
    )
    assert run(tmp_path, "--assignor", "range", group=group)[0] == 0
