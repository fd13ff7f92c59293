"""Client settings as people have them: JAAS in quotes, other programs' prefixes, and files as services give them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from partwright.errors import PartwrightError
from partwright.kafka.connection import KafkaConfig

if TYPE_CHECKING:
    from connection_material import Material

SAMPLES = Path(__file__).parent / "downloaded"
MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"
LOGIN = "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nbootstrap.servers=h:1\n"
GOOD = f'{MODULE} username="u" password="hunter2";'


def config(folder: Path, text: str) -> KafkaConfig:
    path = folder / "client.properties"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return KafkaConfig.read(path)


@pytest.mark.parametrize(
    ("jaas", "sentence"),
    [
        (
            f"'{GOOD}'",
            "it begins with a quote, and a file of settings has none around a value: leave out both",
        ),
        (f'"{MODULE} username=u password=hunter2;"', "it begins with a quote"),
        (GOOD.replace('"', r"\"").join('""'), "it begins with a quote"),
        (GOOD.replace(" required ", r"\x20required\x20"), r"it has \x20 instead of a blank"),
        (
            f'{MODULE} username="u" password="hun"ter2";',
            r'write \" for a quote in it, which is \\" in a file',
        ),
        (
            f'{MODULE} username="u" password="hun\\"ter2";',
            r'write \" for a quote in it, which is \\" in a file',
        ),
        (f'{MODULE} username="u" password="hunter2;', "a value in quotes ends early, or never"),
        (f"KafkaClient {{ {GOOD} }};", "it is a whole login file: give what stands between { and }"),
        (f">- {GOOD}", "it is a block of YAML"),
    ],
)
def test_a_jaas_text_that_kafka_refuses_is_explained(jaas: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(PartwrightError) as refused:
        config(tmp_path, f"{LOGIN}sasl.jaas.config={jaas}\n")
    assert "client.properties, line 4: sasl.jaas.config: " in str(refused.value)
    assert sentence in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_quote_in_a_password_that_is_escaped(tmp_path: Path) -> None:
    found = config(tmp_path, LOGIN + f'sasl.jaas.config={MODULE} username="u" password="a\\\\"b";\n')
    assert found.librdkafka()["sasl.password"] == 'a"b'


@pytest.mark.parametrize(
    "prefix",
    ["spring.kafka.properties.", "spring.kafka.consumer.properties.", "kafkastore.", "kafka.", "KAFKA_"],
)
def test_another_programs_prefix_is_left_out(prefix: str, tmp_path: Path) -> None:
    lines = [line.split("=", 1) for line in f"{LOGIN}sasl.jaas.config={GOOD}".splitlines()]
    if prefix.isupper():
        lines = [[f"export {prefix}{name.upper().replace('.', '_')}", f"'{value}'"] for name, value in lines]
    else:
        lines = [[prefix + name, value] for name, value in lines]
    found = config(tmp_path, "\n".join("=".join(line) for line in lines))
    assert found == config(tmp_path, f"{LOGIN}sasl.jaas.config={GOOD}\n")
    again = config(tmp_path, "\n".join("=".join(line) for line in lines))
    first = lines[0][0].removeprefix("export ")
    assert again.notes == (
        f"{tmp_path / 'client.properties'}: {first} and the like were read as security.protocol",
    )
    assert "hunter2" not in repr(again)
    assert again.redacted("hunter2") == "[hidden]"


def test_names_that_kafka_itself_does_not_have(tmp_path: Path) -> None:
    assert config(tmp_path, "spring.kafka.bootstrap-servers=h:1\n").servers == "h:1"
    assert config(tmp_path, "KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS=h:1\n").servers == "h:1"
    assert KafkaConfig.read({"kafka.bootstrap.servers": "h:1"}).servers == "h:1"
    for name in ("spring.kafka.ssl.trust-store-location", "KAFKA_HEAP_OPTS", "kafkastore.topic"):
        with pytest.raises(
            PartwrightError, match=f"line 1: {name} is another program's own setting.*: write Kafka's"
        ):
            config(tmp_path, f"{name}=x\n")


def test_files_as_services_give_them(
    material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = KafkaConfig.read(SAMPLES / "confluent-cloud.properties")
    assert (found.mechanism, found.librdkafka()["sasl.username"]) == ("PLAIN", "KEY")
    assert KafkaConfig.read(SAMPLES / "msk-iam.properties").mechanism == "AWS_MSK_IAM"
    for name, of in {"service.key": "key.pem", "service.cert": "chain.pem", "ca.pem": "ca.pem"}.items():
        shutil.copy(material.path(of), tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert KafkaConfig.read(SAMPLES / "aiven-kcat.conf").security_protocol == "SSL"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "kafka_client_jaas.conf",
            "is a login file of JAAS: write what stands between { and } of KafkaClient in one line",
        ),
        (
            "rpk-profile.yaml",
            "is YAML, as a profile of rpk or application.yml: write its settings into a file of lines",
        ),
    ],
)
def test_files_of_another_form_are_named(name: str, sentence: str) -> None:
    with pytest.raises(PartwrightError) as refused:
        KafkaConfig.read(SAMPLES / name)
    assert sentence in str(refused.value)
    assert "secret" not in str(refused.value)


def test_json_is_named(tmp_path: Path) -> None:
    with pytest.raises(PartwrightError, match="is JSON: write its settings into a file of lines NAME=VALUE"):
        config(tmp_path, '{"bootstrap.servers": "h:1", "sasl.password": "hunter2"}')
