"""Topics' IDs, by which the broker's own assignors know topics: given ones, those made from names, and each refusal."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import uuid
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = {"t": 2, "\u00e9t\u00e9": 1, "\U0001f600": 0}
MEMBERS = [{"id": "c1", "topics": list(TOPICS)}, {"id": "c2", "topics": ["t"]}]
ID = "qqLWNgD3cE5N4Q9mk2oxjQ"


def made(name: str) -> str:
    """Java's `UUID.nameUUIDFromBytes`: version 3 of a UUID, without a namespace."""
    digest = hashlib.md5(name.encode(), usedforsecurity=False).digest()
    return urlsafe_b64encode(uuid.UUID(bytes=digest, version=3).bytes).decode().rstrip("=")


def test_a_topic_without_an_id_has_that_of_its_name() -> None:
    found = pw.assign(TOPICS, MEMBERS, "server-range", topic_ids={"t": ID, "of another group": ID})
    assert found.topic_ids == {"t": ID, **{name: made(name) for name in TOPICS if name != "t"}}
    names = [f"orders-{number}{'x' * number}" for number in range(150)]
    assert pw.assign(dict.fromkeys(names, 1), {}, "server-uniform").topic_ids == {
        name: made(name) for name in names
    }


def test_a_topic_that_is_not_there_has_no_id_in_the_answer() -> None:
    members = [{"id": "c1", "topics": ["t", "gone"], "owned": {"gone": [0]}}]
    assert pw.assign({"t": 1}, members, "server-simple").topic_ids == {"t": made("t")}


def test_a_client_s_assignor_looks_at_no_ids() -> None:
    assert pw.assign(TOPICS, MEMBERS, "range", topic_ids={"t": "nonsense"}).topic_ids is None


def test_an_id_is_written_as_kafka_writes_it() -> None:
    # Four bits of the last letter mean nothing, in Java as well.
    assert pw.assign({"t": 1}, [], "server-range", topic_ids={"t": f"{ID[:-1]}f"}).topic_ids == {"t": ID}


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        (["t"], "topic_ids has an id by topic, not ['t']"),
        (
            {"t": "abc"},
            "topic_ids: 't' has 'abc', which is not an id as Kafka writes it: 22 letters of A-Z, a-z, 0-9, - and _",
        ),
        (
            {"t": 7},
            "topic_ids: 't' has 7, which is not an id as Kafka writes it: 22 letters of A-Z, a-z, 0-9, - and _",
        ),
        ({"t": ID, "u": ID}, f"topic_ids: 't' and 'u' have the same id, {ID}: each its own"),
        ({"t": made("u")}, f"topic_ids: 't' and 'u' have the same id, {made('u')}: each its own"),
    ],
)
def test_what_is_wrong_with_ids_is_a_sentence(ids: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.assign({"t": 1, "u": 1}, {"c": ["t"]}, "server-uniform", topic_ids=ids)
    assert str(refused.value) == sentence


def answered(*words: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "partwright", "assign", *words, "--json"], capture_output=True, check=True
    )
    answer = json.loads(done.stdout)
    assert answer.pop("summary")
    return answer


def test_the_command_s_answer_has_the_ids(tmp_path: Path) -> None:
    file = tmp_path / "group.json"
    group = {"assignor": "server-uniform", "topics": {"t": 2}, "members": MEMBERS[1:]}
    file.write_text(json.dumps({**group, "topic_ids": {"t": ID}}), encoding="utf-8")
    assert answered(str(file)) == {"assignment": {"c2": [["t", 0], ["t", 1]]}, "topic_ids": {"t": ID}}
    assert answered(str(file), "--assignor", "sticky") == {"assignment": {"c2": [["t", 0], ["t", 1]]}}


@pytest.mark.parametrize("name", ["Uniform", "Range", "Simple"])
def test_the_brokers_class_stands_for_its_name(name: str) -> None:
    members = {"c1": ["t", "u"], "c2": ["t", "u"]}
    found = pw.assign(
        {"t": 3, "u": 2}, members, f"org.apache.kafka.coordinator.group.assignor.{name}Assignor"
    )
    named = pw.assign({"t": 3, "u": 2}, members, f"server-{name.lower()}")
    assert (found.to_dict(), found.topic_ids) == (named.to_dict(), named.topic_ids)
    assert found.topic_ids is not None
