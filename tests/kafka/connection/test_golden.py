"""Files of settings, texts of JAAS and names of settings, compared with Kafka's own clients and librdkafka."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from partwright.errors import PartwrightError
from partwright.kafka.connection import jaas, names, properties

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

GOLDEN = Path(__file__).parents[2] / "golden" / "connection" / "client.jsonl"
CASES = 2000


def said(question: dict[str, Any]) -> dict[str, Any]:
    """Our answer to a question: of an error, only that there is one."""
    try:
        if "names" in question:
            return {"names": sorted(names.JAVA)}
        if "properties" in question:
            read = properties.read(question["properties"])
            return {"settings": {each.key: each.value for each in read}}
        login = jaas.parse(question["jaas"])
    except PartwrightError:
        return {"error": True}
    return {"module": login.module, "options": dict(login.options)}


def agree(question: dict[str, Any], answer: dict[str, Any]) -> bool:
    """Whether we agree with the client. Java keeps half a character, which no broker could be sent; we refuse it."""
    ours = said(question)
    if "error" in ours or "error" in answer:
        return "error" in ours and ("error" in answer or "\\uDE00" in question.get("properties", ""))
    return ours == answer


def test_we_read_as_the_real_client_does() -> None:
    cases = [json.loads(line) for line in GOLDEN.read_text(encoding="ascii").splitlines()[1:]]
    kinds = {
        name: sum(name in case["question"] for case in cases) for name in ("names", "properties", "jaas")
    }
    assert kinds == {"names": 1, "properties": 164, "jaas": 168}
    assert 20 < sum("error" in case["answer"] for case in cases) < 150
    for case in cases:
        assert agree(case["question"], case["answer"]), case["question"]


@pytest.mark.reference
def test_random_files_and_texts_are_read_as_the_real_client_does(
    reference: Callable[[str], ModuleType], tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> None:
    asking = reference("connection")
    questions = list(asking.questions(seed, cases(CASES)))
    _, answers = asking.ask(asking.build(tmp_path), questions)
    for question, answer in zip(questions, answers, strict=True):
        assert agree(question, answer), question


def refusal(settings: dict[str, object]) -> str:
    """librdkafka's error when it refuses a setting; empty if it accepts it."""
    try:
        AdminClient(settings)
    except KafkaException as error:
        return str(error.args[0].str())
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def test_librdkafka_knows_each_of_its_names() -> None:
    assert "No such configuration property" in refusal({"sasl.mechanics": "PLAIN"})
    assert len(names.LIBRDKAFKA) > 150
    for name in sorted(names.LIBRDKAFKA - {"plugin.library.paths"}):
        assert "No such" not in refusal({name: "\x01", "log_level": "0"}), name


def test_librdkafka_has_the_bounds_of_the_table() -> None:
    seen = 0
    for name, setting in names.COMMON.items():
        # A consumer accepts fewer of these than the library's own table: see test_names.
        if setting.librdkafka in {None, "fetch.max.bytes", "fetch.min.bytes"} or setting.least is None:
            continue
        for value in (setting.own_least, setting.own_most):
            assert "allowed range" not in refusal({setting.librdkafka: value, "log_level": 0}), (name, value)
        # One beyond an int is cut to one of its bits.
        for value in {setting.own_least - 1, setting.own_most + 1} - {2**31}:
            assert "allowed range" in refusal({setting.librdkafka: value, "log_level": 0}), (name, value)
        seen += 1
    assert seen > 20


def test_each_name_that_means_something_is_a_known_one() -> None:
    known = names.JAVA | names.LIBRDKAFKA
    for table in (names.ALIASES, names.SECRETS, names.READING, names.EMPTY, names.COMMON):
        assert set(table) <= known
    assert names.JAVA_ALONE <= names.JAVA
    assert names.REACHING - known == {"oauth_cb"}
    assert not names.REACHING & names.COMMON.keys()
    # A setting with two names is kept under one of them everywhere.
    for table in (names.SECRETS, names.READING, names.REACHING, names.JAVA_ALONE, names.COMMON):
        assert not set(table) & names.ALIASES.keys()
