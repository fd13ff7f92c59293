"""Stores and files of certificates and keys, in every format: given to librdkafka, Java and `ssl`; or refused."""

from __future__ import annotations

import contextlib
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from connection_material import KEY_PASSWORD, PASSWORD, Material
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12
from hypothesis import given, settings
from hypothesis import strategies as st

from partwright.errors import PartwrightError
from partwright.kafka.connection import KafkaConfig, jks
from partwright.kafka.embedded_certificates import Authority

SSL = {"security.protocol": "SSL", "bootstrap.servers": "127.0.0.1:1"}
TRUST, TRUST_PASSWORD = "ssl.truststore.location", "ssl.truststore.password"
STORE, STORE_PASSWORD, KEYS_OWN = "ssl.keystore.location", "ssl.keystore.password", "ssl.key.password"
CHAIN, KEY = "ssl.certificate.location", "ssl.key.location"


def read(material: Material, given: dict[str, str]) -> KafkaConfig:
    """Reads settings in which a value that begins with @ names a file."""
    placed = {name: material.path(value[1:]) if value[:1] == "@" else value for name, value in given.items()}
    return KafkaConfig.read(SSL | placed)


def clients_take(config: KafkaConfig, folder: Path) -> None:
    """The installed library and Python's ssl accept what they get."""
    Consumer({**config.librdkafka(), "group.id": "g"}).close()
    found = config.tls
    assert found is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if found.ca_pem is not None:
        context.load_verify_locations(cadata=found.ca_pem)
    if found.client is not None:
        file = folder / "pair.pem"
        file.write_text(found.client.certificate_pem + found.client.key.clear(), encoding="ascii")
        context.load_cert_chain(file)


@pytest.mark.parametrize(
    "given",
    [
        {"ssl.ca.location": "@ca.pem"},
        {TRUST: "@ca.pem", "ssl.truststore.type": "PEM"},
        {TRUST: "@ca.pem", "ssl.truststore.type": "pem"},
        {TRUST: "@trust.p12", "ssl.truststore.type": "PKCS12", TRUST_PASSWORD: PASSWORD},
        {TRUST: "@trust.p12", "ssl.truststore.type": "JKS", TRUST_PASSWORD: PASSWORD},
        {TRUST: "@trust.p12", TRUST_PASSWORD: PASSWORD},
        {TRUST: "@trust.p12", TRUST_PASSWORD: PASSWORD, "ssl.ca.location": "@ca.pem"},
    ],
)
def test_a_trust_store_is_the_ca_for_every_client(
    given: dict[str, str], material: Material, tmp_path: Path
) -> None:
    config = read(material, given)
    assert config.librdkafka()["ssl.ca.pem"] == material.ca
    java = config.java()
    assert (java["ssl.truststore.type"], java["ssl.truststore.certificates"]) == ("PEM", material.ca)
    assert not java.keys() & {TRUST, TRUST_PASSWORD}
    assert config == KafkaConfig.read(SSL | {"ssl.ca.pem": material.ca})
    clients_take(config, tmp_path)


@pytest.mark.parametrize(
    "given",
    [
        {CHAIN: "@chain.pem", KEY: "@key.pem"},
        {CHAIN: "@chain.pem", KEY: "@sec1.pem"},
        {CHAIN: "@chain.pem", KEY: "@sealed.pem", KEYS_OWN: KEY_PASSWORD},
        {CHAIN: "@chain.pem", KEY: "@old.pem", KEYS_OWN: KEY_PASSWORD},
        {CHAIN: "@both.pem", KEY: "@both.pem"},
        {STORE: "@both.pem", "ssl.keystore.type": "PEM"},
        {STORE: "@key.p12", STORE_PASSWORD: PASSWORD},
        {STORE: "@key.p12", "ssl.keystore.type": "PKCS12", STORE_PASSWORD: PASSWORD},
    ],
)
def test_a_key_store_is_the_client_for_every_client(
    given: dict[str, str], material: Material, tmp_path: Path
) -> None:
    config = read(material, given)
    assert config.librdkafka()["ssl.certificate.pem"] == material.chain
    java = config.java()
    assert (java["ssl.keystore.type"], java["ssl.keystore.certificate.chain"]) == ("PEM", material.chain)
    assert java["ssl.keystore.key"] == material.key
    assert not java.keys() & {STORE, STORE_PASSWORD, KEYS_OWN}
    clients_take(config, tmp_path)
    assert "PRIVATE KEY" not in repr(config.tls)


def test_texts_are_taken_as_they_are(material: Material, tmp_path: Path) -> None:
    java = {"ssl.keystore.type": "PEM", "ssl.keystore.certificate.chain": material.chain}
    of_java = KafkaConfig.read(SSL | java | {"ssl.keystore.key": material.key})
    own = {"ssl.certificate.pem": material.chain, "ssl.key.pem": material.key}
    assert of_java == KafkaConfig.read(SSL | own)
    assert of_java.librdkafka().items() >= own.items()
    clients_take(of_java, tmp_path)


@pytest.mark.parametrize("given", [{}, {"ssl.ca.location": "probe"}])
def test_without_a_trust_store_it_is_the_systems(
    given: dict[str, str], material: Material, tmp_path: Path
) -> None:
    config = read(material, given)
    assert "ssl.ca.pem" not in config.librdkafka()
    assert not any(name.startswith("ssl.truststore") for name in config.java())
    clients_take(config, tmp_path)


def test_a_folder_of_hashed_names_is_taken(material: Material, tmp_path: Path) -> None:
    (tmp_path / "0a1b2c3d.0").write_text(material.ca, encoding="ascii")
    (tmp_path / "other.pem").write_text("nothing", encoding="ascii")
    config = KafkaConfig.read(SSL | {"ssl.ca.location": str(tmp_path)})
    assert config.librdkafka()["ssl.ca.pem"] == material.ca


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("nowhere", "no such file or directory"),
        ("", "is a directory"),
        ("empty", "it is empty"),
        ("text", "it is neither PEM nor PKCS12 nor JKS"),
        ("bytes", "it is neither PEM nor PKCS12 nor JKS"),
        ("cut.p12", "its password is wrong: look at ssl.{store}.password, or it is not a whole PKCS12 store"),
        ("jceks", "it is JCEKS: make PKCS12 of it by keytool -importkeystore -deststoretype PKCS12"),
        ("cut.jks", "its password is wrong, or it was changed"),
        ("ca.pem", "is PEM, which Kafka's clients do not detect: set ssl.{store}.type=PEM"),
        ("x" * 5000, "file name too long"),
    ],
)
@pytest.mark.parametrize("store", ["truststore", "keystore"])
def test_a_store_that_cannot_be_used_is_one_sentence_with_its_path(
    file: str, said: str, store: str, material: Material
) -> None:
    with pytest.raises(PartwrightError) as refused:
        read(material, {f"ssl.{store}.location": f"@{file}", f"ssl.{store}.password": PASSWORD})
    sentence = str(refused.value)
    assert sentence.startswith(f"kafka_config: ssl.{store}.location '{material.path(file)}' ")
    assert sentence.endswith(said.format(store=store))
    assert PASSWORD not in sentence
    assert "\n" not in sentence
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_one_store_in_the_others_place_is_told(material: Material) -> None:
    with pytest.raises(PartwrightError, match=r"key\.p12' has a private key: it is a key store"):
        read(material, {TRUST: "@key.p12", TRUST_PASSWORD: PASSWORD})
    with pytest.raises(PartwrightError, match=r"trust\.p12' has no private key: it is a trust store$"):
        read(material, {STORE: "@trust.p12", STORE_PASSWORD: PASSWORD})


@pytest.mark.parametrize("password", ["wrong-secret-17", "", "ä" * 40, None])
@pytest.mark.parametrize("store", ["trust", "key"])
def test_a_wrong_password_is_told_without_it(store: str, password: str | None, material: Material) -> None:
    given = {f"ssl.{store}store.location": f"@{store}.p12"}
    if password is not None:
        given[f"ssl.{store}store.password"] = password
    said = rf"{store}\.p12' cannot be read: .*ssl\.{store}store\.password"
    with pytest.raises(PartwrightError, match=said) as refused:
        read(material, given)
    assert not password or password not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ssl.ca.location": "@nowhere"}, "cannot be read: no such file or directory"),
        ({"ssl.ca.location": "@empty"}, "is not PEM: for a PKCS12 or JKS store give ssl.truststore.location"),
        ({"ssl.ca.location": "@trust.p12"}, "is not PEM: for a PKCS12 or JKS store"),
        ({"ssl.ca.location": "@"}, "is a folder without certificates that are named by their hash"),
        ({"ssl.ca.location": "@cut.pem"}, "(not PEM|that cannot be read): it is cut off or changed"),
        ({"ssl.ca.location": "@key.pem"}, "has a private key and no certificate in PEM"),
        ({"ssl.ca.pem": "hunter2"}, "has no certificate in PEM"),
        ({TRUST: "@ca.pem", "ssl.truststore.type": "BCFKS"}, r"ssl\.truststore\.type 'BCFKS' is not one of"),
        (
            {TRUST: "@ca.pem", "ssl.truststore.type": "PEM", TRUST_PASSWORD: "hunter2"},
            r"is PEM, which has no ssl\.truststore\.password: leave it out",
        ),
        ({TRUST_PASSWORD: "hunter2"}, r"ssl\.truststore\.password has no ssl\.truststore\.location"),
        ({STORE_PASSWORD: "hunter2"}, r"ssl\.keystore\.password has no ssl\.keystore\.location"),
        ({KEYS_OWN: "hunter2"}, r"ssl\.key\.password has no ssl\.keystore\.location"),
        ({CHAIN: "@chain.pem"}, "a client's certificate and its key go together"),
        ({KEY: "@key.pem"}, "a client's certificate and its key go together"),
        ({CHAIN: "@chain.pem", KEY: "@ca.pem"}, "has no private key in PEM"),
        ({CHAIN: "@chain.pem", KEY: "@sealed.pem"}, r"is encrypted: set ssl\.key\.password"),
        (
            {CHAIN: "@chain.pem", KEY: "@sealed.pem", KEYS_OWN: "hunter2"},
            r"cannot be read: ssl\.key\.password does not open it",
        ),
        (
            {STORE: "@key.p12", STORE_PASSWORD: PASSWORD, CHAIN: "@ca.pem", KEY: "@key.pem"},
            "and the settings of a certificate next to it differ: leave one out",
        ),
        (
            {CHAIN: "@ca.pem", KEY: "@key.pem"},
            r"ssl\.certificate\.location and kafka_config: ssl\.key\.location do not go together: name a",
        ),
        (
            {CHAIN: "@ca.pem", KEY: "@old.pem", KEYS_OWN: KEY_PASSWORD},
            r"ssl\.certificate\.location and kafka_config: ssl\.key\.location do not go together: name a",
        ),
        (
            {STORE: "@turned.pem", "ssl.keystore.type": "PEM"},
            r"the first certificate and the key of kafka_config: ssl\.keystore\.location do not go together",
        ),
        ({"ssl.engine.factory.class": "com.example.Factory"}, "is a class that runs in Java alone"),
        ({"ssl.endpoint.identification.algorithm": "ldaps"}, "is https, or none or empty .*, not 'ldaps'"),
        ({"enable.ssl.certificate.verification": "no"}, "is true or false, not 'no'"),
    ],
)
def test_what_does_not_fit_is_one_sentence(given: dict[str, str], said: str, material: Material) -> None:
    with pytest.raises(PartwrightError, match=said) as refused:
        read(material, given)
    assert "hunter2" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["ssl.ca.location", TRUST, STORE, KEY])
def test_a_key_in_the_place_of_a_path_is_not_shown(name: str, material: Material) -> None:
    given = {name: material.key} | ({CHAIN: material.path("chain.pem")} if name == KEY else {})
    with pytest.raises(PartwrightError, match="is the path of a file, and PEM text stands there") as refused:
        KafkaConfig.read(SSL | given)
    assert "PRIVATE" not in str(refused.value)


def test_a_key_that_others_may_read_is_told(material: Material, tmp_path: Path) -> None:
    key = tmp_path / "my key.pem"
    key.write_text(material.key, encoding="ascii")
    for mode, told in ((0o644, 1), (0o640, 1), (0o600, 0)):
        key.chmod(mode)
        notes = read(material, {CHAIN: "@chain.pem", KEY: str(key)}).notes
        assert list(notes) == [f"others may read the private key in {key}: chmod 600 '{key}'"] * told


@pytest.mark.timeout(10)
def test_many_beginnings_of_pem_take_no_time(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("-----BEGIN CERTIFICATE-----\n" * 100_000, encoding="ascii")
    with pytest.raises(PartwrightError, match="has no certificate in PEM"):
        KafkaConfig.read(SSL | {"ssl.ca.location": str(file)})


@given(st.binary(max_size=300))
def test_any_bytes_of_a_jks_are_read_or_refused(data: bytes) -> None:
    for begun in (b"\0\0\0\2\0\0\0\1\0\0\0\1", b"\0\0\0\2", b""):
        with contextlib.suppress(PartwrightError):
            assert not jks.read(jks.MAGIC + begun + data, None).keys
    with pytest.raises(PartwrightError):
        jks.opened(data, "x")


def test_of_a_store_the_keys_own_chain_is_taken(material: Material, tmp_path: Path) -> None:
    other = Authority.new()
    store = tmp_path / "many.p12"
    above = [other.certificate, material.authority.certificate, other.issue("bob").certificate]
    store.write_bytes(
        pkcs12.serialize_key_and_certificates(
            b"alice",
            material.client.key,
            material.client.certificate,
            above,
            BestAvailableEncryption(PASSWORD.encode()),
        )
    )
    config = KafkaConfig.read(SSL | {STORE: str(store), STORE_PASSWORD: PASSWORD})
    assert config.librdkafka()["ssl.certificate.pem"] == material.chain
    # None of them has an alias, unlike those that Java trusts.
    with pytest.raises(PartwrightError, match="has a private key: it is a key store; name a store with the"):
        KafkaConfig.read(SSL | {TRUST: str(store), TRUST_PASSWORD: PASSWORD})


def run_keytool(*words: str) -> None:
    tool = shutil.which("keytool")
    if tool is None:
        pytest.skip("keytool is part of the JDK")
    subprocess.run([tool, *words], check=True, capture_output=True)


@pytest.fixture(scope="module")
def keytool(material: Material, tmp_path_factory: pytest.TempPathFactory) -> Material:
    """The same stores, made by Java's own tool."""
    made = Material(tmp_path_factory.mktemp("keytool"), material.authority, material.client)
    for kind, ending, own in (("JKS", "jks", KEY_PASSWORD), ("PKCS12", "p12", PASSWORD)):
        trust = ["-importcert", "-alias", "ca", "-file", material.path("ca.pem"), "-storetype", kind]
        trust += ["-keystore", made.path(f"trust.{ending}"), "-storepass", PASSWORD, "-noprompt"]
        keys = ["-importkeystore", "-srckeystore", material.path("key.p12"), "-srcstorepass", PASSWORD]
        keys += ["-destkeystore", made.path(f"key.{ending}"), "-deststoretype", kind, "-noprompt"]
        keys += ["-deststorepass", PASSWORD, "-destkeypass", own, "-srcalias", "alice"]
        for words in (trust, keys):
            run_keytool(*words)
    return made


@pytest.mark.reference
@pytest.mark.parametrize("ending", ["jks", "p12"])
def test_javas_own_stores_are_read(ending: str, keytool: Material, tmp_path: Path) -> None:
    given = {TRUST: f"@trust.{ending}", TRUST_PASSWORD: PASSWORD}
    given |= {STORE: f"@key.{ending}", STORE_PASSWORD: PASSWORD}
    config = read(keytool, given | ({KEYS_OWN: KEY_PASSWORD} if ending == "jks" else {}))
    java = config.java()
    assert java["ssl.truststore.certificates"] == keytool.ca
    assert java["ssl.keystore.certificate.chain"] == keytool.chain
    assert java["ssl.keystore.key"] == keytool.key
    clients_take(config, tmp_path)


@pytest.mark.reference
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {TRUST: "@trust.jks", TRUST_PASSWORD: "hunter2"},
            r"trust\.jks' .*: its password is wrong, or it was",
        ),
        ({TRUST: "@key.jks", TRUST_PASSWORD: PASSWORD}, r"key\.jks' has a private key: it is a key store"),
        ({STORE: "@trust.jks", STORE_PASSWORD: PASSWORD}, r"trust\.jks' has no private keys: one is needed"),
        ({STORE: "@key.jks", STORE_PASSWORD: "hunter2"}, r"key\.jks' .*: its password is wrong, or it was"),
        (
            {STORE: "@key.jks", STORE_PASSWORD: PASSWORD, KEYS_OWN: "hunter2"},
            r"key\.jks' cannot be read: the password of its key is wrong",
        ),
        ({STORE: "@key.jks"}, r"key\.jks' needs ssl\.keystore\.password"),
    ],
)
def test_javas_own_stores_are_refused_by_a_sentence(
    given: dict[str, str], said: str, keytool: Material
) -> None:
    with pytest.raises(PartwrightError, match=said) as refused:
        read(keytool, given)
    assert "hunter2" not in str(refused.value)


@pytest.mark.reference
def test_one_file_of_javas_may_be_both_stores(keytool: Material, tmp_path: Path) -> None:
    other = Authority.new()
    (tmp_path / "other.pem").write_bytes(other.pem)
    (tmp_path / "both.p12").write_bytes(Path(keytool.path("key.p12")).read_bytes())
    words = ["-importcert", "-alias", "other", "-file", str(tmp_path / "other.pem"), "-noprompt"]
    run_keytool(*words, "-keystore", str(tmp_path / "both.p12"), "-storepass", PASSWORD)
    both = {TRUST: str(tmp_path / "both.p12"), TRUST_PASSWORD: PASSWORD}
    config = KafkaConfig.read(SSL | both | {STORE: both[TRUST], STORE_PASSWORD: PASSWORD})
    # The authority of the key's chain is not trusted by that alone, in Java either.
    assert config.java()["ssl.truststore.certificates"] == other.pem.decode()
    assert config.java()["ssl.keystore.certificate.chain"] == keytool.chain


@pytest.mark.reference
def test_of_two_keys_in_javas_store_none_is_taken(keytool: Material, tmp_path: Path) -> None:
    store = tmp_path / "two.p12"
    store.write_bytes(Path(keytool.path("key.p12")).read_bytes())
    words = ["-genkeypair", "-alias", "bob", "-dname", "CN=bob", "-keyalg", "EC"]
    run_keytool(*words, "-keystore", str(store), "-storepass", PASSWORD)
    with pytest.raises(PartwrightError, match=r"two\.p12' has 2 private keys: one is needed"):
        KafkaConfig.read(SSL | {STORE: str(store), STORE_PASSWORD: PASSWORD})
    with pytest.raises(PartwrightError, match="has a private key: it is a key store; name a store with the"):
        KafkaConfig.read(SSL | {TRUST: str(store), TRUST_PASSWORD: PASSWORD})


@pytest.mark.reference
@settings(deadline=None)
@given(data=st.data())
def test_a_store_that_is_cut_or_changed_is_refused(data: st.DataObject, keytool: Material) -> None:
    whole = bytearray(Path(keytool.path("key.jks")).read_bytes())
    cut = bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    for changed in (bytes(whole), cut):
        Path(keytool.path("changed.jks")).write_bytes(changed)
        with pytest.raises(PartwrightError, match=r"changed\.jks'"):
            read(keytool, {STORE: "@changed.jks", STORE_PASSWORD: PASSWORD, KEYS_OWN: KEY_PASSWORD})
