"""The names of librdkafka's settings, compared with the installed library; and names that nobody has."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, KafkaException

from partwright.errors import PartwrightError
from partwright.kafka.connection import KafkaConfig, names

UNKNOWN = 'No such configuration property: "{}"'


def refusal(name: str) -> str:
    """The library's answer to a setting without a value: for an unknown name, that it is unknown."""
    try:
        Consumer({name: "", "group.id": "g"}).close()
    except KafkaException as refused:
        return str(refused.args[0].str())
    return ""


def test_the_library_knows_each_of_its_names() -> None:
    assert refusal("no.such.setting") == UNKNOWN.format("no.such.setting")
    assert [name for name in sorted(names.LIBRDKAFKA) if refusal(name) == UNKNOWN.format(name)] == []


def bounds(setting: names._Common) -> list[str]:
    if setting.least is not None:
        return [str(each) for each in (setting.least, setting.most, setting.own_least, setting.own_most)]
    return list(setting.words)


@pytest.mark.parametrize("name", sorted(each for each in names.COMMON if bounds(names.COMMON[each])))
def test_the_library_takes_what_is_said_to_it_at_each_bound(name: str) -> None:
    for value in bounds(names.COMMON[name]):
        config = KafkaConfig.read({name: value})
        Consumer({**config.librdkafka(), **config.reading(), "group.id": "g"}).close()


@pytest.mark.parametrize("name", sorted(each for each in names.COMMON if bounds(names.COMMON[each])))
def test_what_is_beyond_the_bounds_is_refused(name: str) -> None:
    setting = names.COMMON[name]
    beyond = ["", "x", "1_0", "\uff11", "9" * 5000, "1.5", "\x1b[31m"]
    if setting.least is not None:
        beyond += [str(setting.least - 1), str(setting.most + 1)]
    for value in beyond:
        with pytest.raises(PartwrightError, match=name.replace(".", r"\.")) as refused:
            KafkaConfig.read({name: value})
        assert "\x1b" not in str(refused.value)
        assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("sasl.mechanics", "'sasl.mechanism'"),
        ("ssl.truststore.pasword", "'ssl.truststore.password'"),
        ("bootstrap.server", "'bootstrap.servers'"),
        ("security.protocols", "'security.protocol'"),
        ("request.timeout", "'request.timeout.ms'"),
    ],
)
def test_a_name_that_is_not_known_is_refused_with_the_nearest(name: str, near: str) -> None:
    with pytest.raises(PartwrightError, match=f"no client of Kafka has a setting '{name}'") as refused:
        KafkaConfig.read({name: "x"})
    assert str(refused.value).endswith(f"did you mean {near}?")
    assert refused.value.field == name


@pytest.mark.parametrize(
    "name", ["hunter2", "a\nb", "", "\x1b[31m", "x" * 100_000, "confluent.\x1b[31m", "ä.b"]
)
def test_what_may_be_anything_is_refused_without_showing_it(name: str) -> None:
    with pytest.raises(
        PartwrightError, match=r"^kafka_config: no client of Kafka has a setting of this name"
    ) as refused:
        KafkaConfig.read({name: "x"})
    assert name not in str(refused.value) or not name


def test_settings_that_do_not_matter_here_are_told_once() -> None:
    notes = KafkaConfig.read({"acks": "all", "schema.registry.url": "http://x", "linger.ms": 5}).notes
    assert notes == (
        "not used, since they do not matter for reaching a Kafka: acks, linger.ms, schema.registry.url",
    )


def test_settings_of_java_alone_go_to_java_alone() -> None:
    config = KafkaConfig.read({"default.api.timeout.ms": 60000})
    assert config.notes == (
        "only Spark's Java client gets default.api.timeout.ms: librdkafka has no such setting",
    )
    assert config.java()["default.api.timeout.ms"] == "60000"
    assert "default.api.timeout.ms" not in config.librdkafka()
