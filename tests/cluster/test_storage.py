"""Names of topics, of their folders and of the files in them, compared with Kafka's own classes; and each refusal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import partwright as pw
from partwright.cluster import storage

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

GOLDEN = Path(__file__).parents[1] / "golden" / "placement" / "names.jsonl"
LETTERS = "abzAZ019._-"
CASES = 1000


def answer_names(question: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Our answer to a question about a name."""
    if "directory" in question:
        try:
            found = storage.read_directory(question["directory"])
        except pw.PartwrightError:
            return {"error": "KafkaException"}
        return {"topic": found.topic, "partition": found.partition}
    if "offset" in question:
        kinds = ("log", "index", "timeindex", "txnindex", "snapshot")
        return {kind: storage.segment_file(question["offset"], kind) for kind in kinds}
    if "file" in question:
        return answer_file(question["file"], said)
    if "partition" in question:
        return answer_folders(question["topic"], question["partition"], said)
    topic, other = question["topic"], question["other"]
    try:
        valid = storage.check_topic(topic) == topic
    except pw.PartwrightError:
        valid = False
    collides = topic.replace(".", "_") == other.replace(".", "_")
    if valid and topic != other and set(other) - {".", "_"} and len(other) < 250:
        collides = storage.collisions([topic, other]) != []
    return {**said, "valid": valid, "collides": collides}


def answer_file(name: str, said: dict[str, Any]) -> dict[str, Any]:
    """Its offset. Kafka reads only the part before the first point; a tool that lists a folder must know each file."""
    try:
        return {"offset": storage.read_segment_file(name).base_offset}
    except pw.PartwrightError:
        offset, _, ending = name.partition(".")
        is_file = offset.isascii() and len(offset) == 20 and ending != "" and "error" not in said
        return {"error": "we refuse what Kafka takes"} if is_file else said


def answer_folders(topic: str, partition: int, said: dict[str, Any]) -> dict[str, Any]:
    """A folder's name, and names that Kafka gave a folder, read back."""
    try:
        directory = storage.log_directory(topic, partition)
    except pw.PartwrightError:
        # Such as "." or "..": the class does not check that.
        assert topic in {".", ".."}, topic
        directory = f"{topic}-{partition}"
    for state in ("delete", "stray", "future"):
        found = storage.read_directory(said["deleted" if state == "delete" else state])
        assert (found.partition, found.state, found.id) == (partition, state, "ID")
        # Kafka cuts a long name if the folder's would exceed 255 characters, but not for a folder that moves.
        longest = 255 - len(f"-{partition}.{'0' * 32}-{state}")
        assert found.topic == (topic if state == "future" else topic[:longest])
    return {**said, "directory": directory}


def test_names_are_those_of_kafka() -> None:
    cases = [json.loads(line) for line in GOLDEN.read_text(encoding="ascii").splitlines()[1:]]
    assert len(cases) > 200
    kinds = {frozenset(case["question"]) for case in cases}
    assert len(kinds) == 5
    for case in cases:
        assert answer_names(case["question"], case["answer"]) == case["answer"], case["question"]


@given(
    st.text(LETTERS, min_size=1, max_size=249).filter(lambda name: name not in {".", ".."}),
    st.integers(0, 2**31 - 1),
)
def test_a_folders_name_is_read_back(topic: str, partition: int) -> None:
    assume(topic not in {".", ".."})
    found = storage.read_directory(storage.log_directory(topic, partition))
    assert found == storage.LogDirectory(topic, partition)


@given(st.integers(0, 2**63 - 1))
def test_a_segments_names_are_read_back_and_sort_as_numbers(offset: int) -> None:
    for name in storage.segment_files(offset):
        found = storage.read_segment_file(name)
        assert (found.base_offset, found.suffix) == (offset, "")
        assert storage.read_segment_file(f"{name}.deleted") == found._replace(suffix="deleted")
        assert storage.segment_file(found.base_offset, found.kind) == name
    if offset:
        assert storage.segment_file(offset - 1) < storage.segment_file(offset)


def test_the_documents_example() -> None:
    assert storage.log_directories("firstTopic", 3) == ["firstTopic-0", "firstTopic-1", "firstTopic-2"]
    # Kafka has no folder with the underscore that one of the documents writes.
    with pytest.raises(pw.PartwrightError, match="'firstTopic_0' is not a partition's folder"):
        storage.read_directory("firstTopic_0")


def test_a_listing_is_told_apart() -> None:
    names = [
        "orders-0",
        "orders-1.0123456789abcdef0123456789abcdef-delete",
        "__cluster_metadata-0",
        "meta.properties",
        ".lock",
        "cleaner-offset-checkpoint",
        "recovery-point-offset-checkpoint.tmp",
        "lost+found",
    ]
    found = storage.read_listing(names)
    assert [(log.topic, log.partition, log.state) for log in found.logs] == [
        ("orders", 0, "log"),
        ("orders", 1, "delete"),
        ("__cluster_metadata", 0, "log"),
    ]
    assert found.own == tuple(names[3:7])
    assert found.others == ("lost+found",)
    assert storage.read_listing([]) == ((), (), ())


def test_colliding_names_are_found() -> None:
    assert storage.collisions(["a.b", "c", "a_b", "a.b", "a-b", "x.y_z", "x_y.z"]) == [
        ("a.b", "a_b"),
        ("x.y_z", "x_y.z"),
    ]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: storage.check_topic(""), "a topic's name is text of at least one letter, not ''"),
        (lambda: storage.check_topic(None), "not None"),
        (lambda: storage.check_topic(b"t"), "not b't'"),
        (lambda: storage.check_topic(".."), "a topic cannot be called '..'"),
        (lambda: storage.check_topic("订单"), "a topic cannot be called '订单': use a-z"),
        (lambda: storage.check_topic("t\n"), "a topic cannot be called 't\\n'"),
        (lambda: storage.check_topic("a" * 250), "has 250"),
        (lambda: storage.log_directory("t", -1), "a partition is a whole number, 0 to 2147483647, not -1"),
        (lambda: storage.log_directory("t", True), "not True"),
        (lambda: storage.log_directories("t", 0), "partitions is a whole number, 1 to 1000000, not 0"),
        (lambda: storage.read_directory("a/b-0"), "'a/b-0' is not a partition's folder"),
        (lambda: storage.read_directory(7), "a folder's name is text, not 7"),
        (lambda: storage.read_directory(""), "'' is not a partition's folder"),
        (lambda: storage.read_listing("t-0"), "names: a list is needed, not 't-0'"),
        (lambda: storage.read_listing([None]), "a folder's name is text, not None"),
        (lambda: storage.read_listing([["t-0"]]), "a folder's name is text, not ['t-0']"),
        (lambda: storage.segment_file(-1), "base_offset is a whole number, 0 to 9223372036854775807, not -1"),
        (lambda: storage.segment_file(2**63), "base_offset is a whole number"),
        (lambda: storage.segment_file(0, "LOG"), "a segment has no file 'LOG': it has log, index"),
        (lambda: storage.read_segment_file("0.log"), "'0.log' is not a segment's file"),
        (lambda: storage.read_segment_file(f"{2**63:020}.log"), "is not a segment's file"),
        (lambda: storage.read_segment_file("leader-epoch-checkpoint"), "is not a segment's file"),
        (lambda: storage.read_segment_file(None), "None is not a segment's file"),
        (lambda: storage.collisions(["a b"]), "a topic cannot be called 'a b'"),
    ],
)
def test_what_is_wrong_is_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        call()
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.reference
def test_random_names_are_those_of_kafka(
    reference: Callable[[str], ModuleType], tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> None:
    """A failure prints the seed: PARTWRIGHT_SEED repeats it, and PARTWRIGHT_CASES asks more questions."""
    asking = reference("placements")
    count = cases(CASES)
    questions = list(asking.program("names").questions(seed, count))
    _, answers = asking.ask(asking.build("names", tmp_path), questions)
    assert len(answers) >= count
    for question, said in zip(questions, answers, strict=True):
        assert answer_names(question, said) == said, question
